/*-------------------------------------------------------------------------
 *
 * hamming_compare.c
 *		The entries of a leaf page that are near to the query.
 *
 * Candidates are compared on the page, under its share lock; only matches are
 * copied.
 *
 * For example, a search within 3 reads a run of two entries in block 1.  Both
 * are compared with the query, as 62 bits: one is 20 bits away and forgotten,
 * the other 2.  That one is a match, unless it satisfies the chain of block 0
 * too: then the pass through block 0 has returned its row already (entries.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

/*
 * A candidate of the run at hand is near enough.  Take it for a match if this
 * block is the first to find it, and every condition may hold.
 *
 * Precondition: there is room for one more match.
 */
static pg_attribute_always_inline void
take_entry(HammingScan *so, IndexTuple itup, int64 key, int distance)
{
	const HammingPass *pass = so->cursor.run.pass;
	const ShLayout *layout = so->layout;
	int			word = so->cursor.plan->word;
	HammingMatch *match;
	int			by_block[SH_WORD_BLOCKS];
	bool		recheck = false;

	if (!so->cursor.plan->reads_all)
	{
		sh_apart(layout, pass->block,
				 sh_bare_entry(layout, (uint64) (key ^ so->cursor.plan->keys[pass->block])),
				 by_block);
		if (!sh_reaches(layout, &pass->reach, pass->block, by_block))
			return;
		for (int i = 0; i < layout->blocks; i++)
		{
			if (sh_reaches(layout, &pass->done[i], i, by_block))
				return;
		}
	}

	for (int i = 0; i < so->asked.nballs; i++)
	{
		uint64		center = sh_entry(layout,
									  so->asked.balls[i].center.words[word],
									  word, pass->block);
		int			d = sh_distance(center, hamming_entry(key));

		if (d > so->asked.balls[i].radius)
			return;
		recheck |= d > so->asked.balls[i].certain;
	}

	match = hamming_add_match(so, &itup->t_tid);
	match->distance = distance;
	match->recheck = recheck;
}

/*
 * Compare the entries of the run at hand on the page at hand, and move
 * cursor->offset behind them.  Entries of NULL, which come last of all, are
 * compared by whatever is where others have their keys, and not taken; to stop
 * at one is right in any case.
 *
 * Precondition: the page is locked, and there is room for as many matches as a
 * page has entries.
 */
static pg_attribute_always_inline void
compare_run(HammingScan *so, int (*distance_of) (uint64_t, uint64_t))
{
	HammingCursor *cursor = &so->cursor;
	Page		page = BufferGetPage(cursor->buffer);
	OffsetNumber offset = cursor->offset;
	int64		low = cursor->run.low;
	int64		high = cursor->run.high;
	uint64		center =
	(uint64) cursor->plan->keys[cursor->run.pass->block];

	for (; offset <= cursor->page_entries; offset++)
	{
		IndexTuple	itup = hamming_page_tuple(page, offset);
		int64		key = hamming_raw_key(itup);
		int			distance = distance_of((uint64) key, center);

		if (key > high)
			break;
		if (unlikely(distance <= so->max_distance) && key >= low &&
			!IndexTupleHasNulls(itup))
			take_entry(so, itup, key, distance);
	}
	cursor->offset = offset;
}

#ifdef __x86_64__
static SIMHASH_AVX2 void
compare_run_avx2(HammingScan *so)
{
	compare_run(so, sh_cpu_avx2_distance);
}
#endif

static void
compare_run_anywhere(HammingScan *so)
{
	compare_run(so, sh_distance);
}

static const HammingCompareKind kinds[] = {
#ifdef __x86_64__
	{sh_cpu_avx2, compare_run_avx2},
#endif
	{sh_cpu_any, compare_run_anywhere}
};

SH_CPU_DEFINE_FASTEST(hamming_compare_fastest, HammingCompareKind, kinds);

/*
 * Read one leaf page of the plan.  Matches are added to those of the scan.
 * Returns false when the plan has been read.
 *
 * Precondition: there is room for as many matches as a page has entries, so
 * there are less than HAMMING_BATCH, and none if the page is to stay pinned.
 */
bool
hamming_read_page(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	int			before = so->matches.count;

	if (!hamming_cursor_next_page(scan, &so->cursor))
		return false;
	do
		so->compare->run(so);
	while (hamming_cursor_next_run(scan, &so->cursor));
	hamming_leave_page(&so->matches, so->cursor.buffer, before);
	return true;
}
