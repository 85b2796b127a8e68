/*-------------------------------------------------------------------------
 *
 * hamming_plan.c
 *		How far a search goes in each block of a hamming index.
 *
 * The plan is made by sh_plan_search() (entries.c) for the size of the index,
 * and made anew if hamming_survey() finds the query among a crowd.  It is made
 * when a scan begins, and whoever wants to know why a search is slow can see
 * it: at DEBUG2, or by hamming_search_plan().
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "storage/bufmgr.h"
#include "utils/elog.h"
#include "utils/rel.h"

#include "index/hamming_scan.h"

/* An index of so many pages may have its size taken on trust. */
#define HAMMING_LARGE_PAGES		1000

/*
 * How many entries there are, from the size of the index.  To ask the file
 * system takes time that short searches would notice, so the size that was
 * last noted in the catalogue does where that is large.
 */
static ShExtent
get_extent(Relation index, const ShLayout *layout)
{
	ShExtent	extent;
	double		pages = index->rd_rel->relpages;

	if (pages < HAMMING_LARGE_PAGES)
		pages = RelationGetNumberOfBlocks(index);
	sh_even_extent(&extent, layout,
				   pages * HAMMING_PER_PAGE / hamming_row_entries(layout),
				   HAMMING_PER_PAGE);
	return extent;
}

/*
 * Tell the log, and the client that wants it, about the plan of a search in a
 * word, a block a line.
 */
void
hamming_log_plan(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	StringInfoData lines;
	int			block;

	if (!message_level_is_interesting(DEBUG2) ||
		!hamming_may_show_plan(scan->indexRelation))
		return;
	initStringInfo(&lines);
	for (block = 0; block < so->layout->blocks; block++)
	{
		const ShSearchWork *work = &so->plan.blocks[block];

		appendStringInfo(&lines,
						 "%sblock %d: radius %d, probes %.0f, pages %.1f, candidates %.1f, crowd %.1f, crowd_beside %.1f",
						 block > 0 ? "\n" : "",
						 so->runs.word * so->layout->blocks + block,
						 so->plan.radius[block], work->probes, work->pages,
						 work->entries, so->extent.crowd[block][0],
						 so->extent.crowd[block][1]);
	}
	ereport(DEBUG2,
			(errmsg_internal("plan of a search within %d in hamming index \"%s\"",
							 so->runs.max_distance,
							 RelationGetRelationName(scan->indexRelation)),
			 errdetail_internal("%s", lines.data)));
	pfree(lines.data);
}

/* Take the entries for spread evenly, until a survey says otherwise. */
void
hamming_even_extent(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	if (so->extent.rows < 0)
		so->extent = get_extent(scan->indexRelation, so->layout);
	else if (so->crowded)
		sh_even_extent(&so->extent, so->layout, so->extent.rows,
					   so->extent.per_page);
	so->crowded = false;
}

/* Turn to a word, to find what is within k of a center there. */
void
hamming_turn_to_word(HammingScan *so, int word, const ShValue *center, int k)
{
	so->runs.word = word;
	so->runs.center = center->words[word];
	so->runs.min_distance = 0;
	so->runs.max_distance = k;
}

/*
 * Plan the search of the word at hand, within so->runs.max_distance.  If that
 * is to be told by a survey, look for crowds first.
 */
void
hamming_plan_word(IndexScanDesc scan, bool survey)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	int			k = so->runs.max_distance;

	if (so->plan_k != k)
	{
		sh_plan_search(&so->extent, k, &so->plan);
		so->plan_k = k;
	}
	if (survey && !sh_is_pass(so->layout, &so->plan))
		hamming_find_centers(scan);
	if (survey && hamming_survey(scan))
	{
		sh_plan_search(&so->extent, k, &so->plan);
		so->plan_k = -1;
	}
}

/*
 * Plan the search for what is asked in an index of one word, or for all rows,
 * and set so->runs to its center.  A scan in order of distance chooses its
 * steps itself (hamming_knn.c), and only has the crowds looked for.
 *
 * Precondition: some row may match.
 */
void
hamming_plan(IndexScanDesc scan)
{
	static const ShValue nowhere;
	HammingScan *so = (HammingScan *) scan->opaque;

	hamming_even_extent(scan);
	if (so->asked.order_by >= 0)
	{
		hamming_turn_to_word(so, 0, &so->asked.order_center, 0);
		hamming_survey(scan);
		return;
	}
	if (so->asked.nballs > 0)
		hamming_turn_to_word(so, 0, &so->asked.balls[0].center,
							 so->asked.balls[0].radius);
	else
		hamming_turn_to_word(so, 0, &nowhere, so->layout->kept);
	hamming_plan_word(scan, so->asked.nballs > 0);
	hamming_log_plan(scan);
}

/*
 * Lay out the passes of the plan of a word, block by block.  Each leaves out
 * what those before it find.
 */
void
hamming_add_passes(HammingScan *so)
{
	ShReach		done[SH_WORD_BLOCKS];
	int			block;

	if (so->plan_k >= 0 && so->plan_k == so->runs.kept_for)
	{
		hamming_keep_passes(so);
		return;
	}
	for (block = 0; block < SH_WORD_BLOCKS; block++)
		done[block] = sh_shells(-1);
	for (block = 0; block < so->layout->blocks; block++)
	{
		ShReach		reach;

		if (so->plan.radius[block] < 0)
			continue;
		reach = sh_reach(so->layout, so->plan.radius, block);
		hamming_add_pass(so, block, reach, done);
		done[block] = reach;
	}
	so->runs.kept_for = so->plan_k;
	so->runs.nkept = so->runs.npasses;
}
