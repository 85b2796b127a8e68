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
get_extent(Relation index)
{
	ShExtent	extent;
	double		pages = index->rd_rel->relpages;

	if (pages < HAMMING_LARGE_PAGES)
		pages = RelationGetNumberOfBlocks(index);
	sh_even_extent(&extent, pages * HAMMING_PER_PAGE / SH_INDEX_BLOCKS,
				   HAMMING_PER_PAGE);
	return extent;
}

/* Tell the log about the plan of a search, a block a line. */
static void
log_plan(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	StringInfoData lines;
	int			block;

	initStringInfo(&lines);
	for (block = 0; block < SH_INDEX_BLOCKS; block++)
	{
		const ShSearchWork *work = &so->plan.blocks[block];

		appendStringInfo(&lines,
						 "%sblock %d: radius %d, probes %.0f, pages %.1f, candidates %.1f, crowd %.1f, crowd_beside %.1f",
						 block > 0 ? "\n" : "", block,
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

/*
 * Plan the search for what is asked, and set so->runs to its center.  A scan
 * in order of distance chooses its steps itself (hamming_knn.c), and only has
 * the crowds looked for.
 *
 * Precondition: some row may match.
 */
void
hamming_plan(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	int			k = so->asked.nballs > 0 ? so->asked.balls[0].radius :
	SH_INDEX_BITS;

	if (so->extent.rows < 0)
		so->extent = get_extent(scan->indexRelation);
	else if (so->crowded)
		sh_even_extent(&so->extent, so->extent.rows, so->extent.per_page);
	so->crowded = false;
	if (so->asked.order_by >= 0)
	{
		so->runs.center = so->asked.order_center;
		hamming_survey(scan);
		return;
	}
	so->runs.center = so->asked.nballs > 0 ? so->asked.balls[0].center : 0;
	so->runs.min_distance = 0;
	so->runs.max_distance = k;
	if (so->plan_k != k)
	{
		sh_plan_search(&so->extent, k, &so->plan);
		so->plan_k = k;
	}
	if (so->asked.nballs > 0 && hamming_survey(scan))
	{
		sh_plan_search(&so->extent, k, &so->plan);
		so->plan_k = -1;
	}
	if (message_level_is_interesting(DEBUG2))
		log_plan(scan);
}
