/*-------------------------------------------------------------------------
 *
 * hamming_plan.c
 *		How a search goes through a hamming index: how far in each block.
 *
 * The plan is made by sh_plan_search() (entries.c) for the size of the index,
 * with entries spread evenly.
 *
 * Crowds
 *
 * A crowd is a key of a block that far more rows share than chance would
 * have it.  For example, half a million pages of one web site begin with the
 * same menu, and agree in block 2.  A plan for entries that are spread evenly
 * would read all half million.
 *
 * So the plan looks at the inner pages of the btree first.  They tell where the
 * entries under the query's own key begin in each block, which the search has
 * to know anyway, and whether they end within a reasonable number of leaf
 * pages.  If they do in every block, the search goes ahead as planned.
 * Otherwise the crowds are measured, under the query's keys and under those
 * that differ in one bit, and the search is planned anew, with smaller radii in
 * crowded blocks and greater ones in the others.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

/*
 * An index of so many pages may have its size taken on trust, unless the plan
 * made for that reads all of it, or rows are wanted in order: then it takes more.
 */
#define HAMMING_LARGE_PAGES		200
#define HAMMING_HUGE_PAGES		1000

/*
 * The leaf pages that the entries under one key may take before we call them
 * a crowd: HAMMING_CROWD_PAGES, and HAMMING_CROWD_TIMES the pages that are to
 * be expected besides.  To read that many costs about as much as to measure.
 */
#define HAMMING_CROWD_PAGES		48
#define HAMMING_CROWD_TIMES		4

/*
 * How many rows the index has, from its size.  To ask the file system takes time
 * that short searches would notice, most of all in many partitions, so the size
 * that was last noted in the catalogue does from so many pages on.  If it has
 * grown since, that makes no difference to a plan that looks up few keys.
 */
static void
estimate_rows(IndexScanDesc scan, double trusted)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	double		pages = scan->indexRelation->rd_rel->relpages;

	so->measured = pages < trusted;
	if (so->measured)
		pages = RelationGetNumberOfBlocks(scan->indexRelation);
	so->rows = pages * HAMMING_PER_PAGE / hamming_row_entries(so->layout);
}

/*
 * Begin to plan a search of a word around a center.  Entries are taken for
 * spread evenly, until a survey says otherwise.
 */
static void
begin_plan(IndexScanDesc scan, HammingPlan *plan, int word,
		   const ShValue *center)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	if (plan->crowded || plan->extent.layout == NULL)
	{
		sh_even_extent(&plan->extent, so->layout, so->rows,
					   HAMMING_PER_PAGE);
		plan->k = HAMMING_UNPLANNED;
	}
	plan->crowded = false;
	plan->word = word;
	plan->center = center->words[word];
	for (int block = 0; block < so->layout->blocks; block++)
	{
		plan->starts[block].blkno = InvalidBlockNumber;
		plan->keys[block] = hamming_key(sh_entry(so->layout, plan->center,
												 word, block));
	}
}

/* Decide how far to go in each block to find all within k. */
void
hamming_plan_search(HammingPlan *plan, int k)
{
	if (plan->k == k)
		return;
	sh_plan_search(&plan->extent, k, &plan->search);
	plan->k = k;
	plan->npasses = -1;
}

/* The first key of a probe, and the last one. */
static inline int64
first_key(const HammingPlan *plan, int block, uint32 probe)
{
	return hamming_key(sh_entry_first(plan->extent.layout, plan->word, block,
									  probe));
}

static inline int64
last_key(const HammingPlan *plan, int block, uint32 probe)
{
	return hamming_key(sh_entry_last(plan->extent.layout, plan->word, block,
									 probe));
}

/* The share of all entries that are less than a key, about. */
static double
share_before(IndexScanDesc scan, int64 key)
{
	HammingBounds leaf;

	return hamming_descend(scan, key, NULL, &leaf) ? leaf.before : 0;
}

/* The share of the entries under a probe, about. */
static double
share_under(IndexScanDesc scan, const HammingPlan *plan, int block,
			uint32 probe)
{
	return share_before(scan, last_key(plan, block, probe)) -
		share_before(scan, first_key(plan, block, probe));
}

/* Find where the query's own key begins; is there a crowd under it? */
static bool
meets_crowd(IndexScanDesc scan, HammingPlan *plan, int block,
			HammingBounds *parent)
{
	const ShExtent *extent = &plan->extent;
	const ShLayout *layout = extent->layout;
	HammingBounds *start = &plan->starts[block];
	uint32		probe = sh_entry_key(layout, plan->center, block);
	int64		last = last_key(plan, block, probe);
	double		pages = extent->rows / extent->per_page;
	double		share;

	if (!hamming_descend(scan, first_key(plan, block, probe), parent, start))
	{
		start->blkno = InvalidBlockNumber;
		return false;
	}
	if (last <= start->high || pages < HAMMING_CROWD_PAGES)
		return false;
	share = share_before(scan, last) - start->before;
	return share * pages * hamming_row_entries(layout) >
		HAMMING_CROWD_PAGES +
		HAMMING_CROWD_TIMES * pages / (1 << layout->widths[block]);
}

/* Measure the crowd in a block: how many times more entries than usual. */
static void
measure_crowd(IndexScanDesc scan, HammingPlan *plan, int block)
{
	const ShLayout *layout = plan->extent.layout;
	uint32		probe = sh_entry_key(layout, plan->center, block);
	int			width = layout->widths[block];
	double		usual = 1.0 / ((1 << width) * hamming_row_entries(layout));
	double		beside = 0;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < width; i++)
		beside += share_under(scan, plan, block, probe ^ (1 << i)) / usual;
	plan->extent.crowd[block][0] =
		Max(share_under(scan, plan, block, probe) / usual, 1);
	plan->extent.crowd[block][1] = Max(beside / width, 1);
}

/*
 * Look around the query, in the blocks that are searched.
 * If there is a crowd in some block, the extent says so, and the search is to
 * be planned anew.
 */
static void
survey_crowds(IndexScanDesc scan, HammingPlan *plan)
{
	HammingBounds parent = {.blkno = InvalidBlockNumber};
	bool		crowded = false;

	for (int block = 0; block < plan->extent.layout->blocks; block++)
	{
		if (plan->search.radius[block] >= 0)
			crowded |= meets_crowd(scan, plan, block, &parent);
	}
	if (!crowded)
		return;
	for (int block = 0; block < plan->extent.layout->blocks; block++)
		measure_crowd(scan, plan, block);
	plan->crowded = true;
	plan->k = HAMMING_UNPLANNED;
}

/*
 * Lay out the passes of a plan that is going to be read, block by block.  Each
 * leaves out what those before it find.  A plan that was read before, for another
 * center, has them already.
 */
void
hamming_plan_passes(HammingPlan *plan)
{
	const ShLayout *layout = plan->extent.layout;
	ShReach		done[SH_WORD_BLOCKS];

	if (plan->npasses >= 0)
		return;
	plan->npasses = 0;
	plan->reads_all = sh_is_pass(layout, &plan->search);
	for (int block = 0; block < SH_WORD_BLOCKS; block++)
		done[block] = sh_shells(-1);
	for (int block = 0; block < layout->blocks; block++)
	{
		HammingPass *pass = &plan->passes[plan->npasses];

		if (plan->search.radius[block] < 0)
			continue;
		pass->block = block;
		pass->reach = sh_reach(layout, plan->search.radius, block);
		memcpy(pass->done, done, sizeof(pass->done));
		done[block] = pass->reach;
		plan->npasses++;
	}
}

/*
 * Plan a search within k of a center.
 */
void
hamming_plan_word(IndexScanDesc scan, HammingPlan *plan, int word,
				  const ShValue *center, int k)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	if (so->rows < 0)
		estimate_rows(scan, so->asked.order_by >= 0 ? HAMMING_HUGE_PAGES :
					  HAMMING_LARGE_PAGES);
	begin_plan(scan, plan, word, center);
	hamming_plan_search(plan, k);
	if (sh_is_pass(plan->extent.layout, &plan->search) && !so->measured)
	{
		estimate_rows(scan, HAMMING_HUGE_PAGES);
		plan->extent.layout = NULL;
		begin_plan(scan, plan, word, center);
		hamming_plan_search(plan, k);
	}
	if (!sh_is_pass(plan->extent.layout, &plan->search))
		survey_crowds(scan, plan);
	hamming_plan_search(plan, k);
}
