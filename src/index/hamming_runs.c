/*-------------------------------------------------------------------------
 *
 * hamming_runs.c
 *		What to read of a hamming index, in the order of its keys.
 *
 * A pass goes through one block and reads the entries within its reach, in the
 * order of their keys (entries.c).  A run is a range of keys to read, on one
 * leaf page or two: one prefix that is within reach, or several with so few
 * entries between them that to read on is cheaper than to begin anew.
 *
 * For example, block 0 is searched within 1 around the key 0x0004.  Its probes
 * are 0000, 0004, 0005, 0006, 000c, 0014 and so on.  With 100 entries under
 * each key, 0004 to 0006 are one run, and all others runs of their own, as far
 * as they are on one page.  With one entry under each, 0000 to 0084 are one
 * run, as there are less than 64 entries between any two probes up to there.
 *
 * With 20,000 entries under each, on 54 pages, the bits of block 1 are looked
 * at as well, since where a page begins and ends tells how long a prefix is
 * that a sixteenth of it shares.  If block 1 may differ in one bit, ten or so
 * of the 54 pages have runs on them, and the others are not read.  So nobody
 * has to know how entries are spread over the index as a whole.
 *
 * Leaf pages lie all over the memory, and waiting for them is most of what a
 * search costs.  So up to HAMMING_AHEAD runs are laid out before the first of
 * them is read: the tree is asked for the page of each, and that page is
 * fetched into the processor's cache meanwhile.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "core/bits.h"
#include "index/hamming_scan.h"
#include "index/hamming_tricks.h"

/*
 * Entries fewer than this between two prefixes are read, not searched across;
 * and prefixes are so long that about as many share a page.
 */
#define HAMMING_SKIP_ENTRIES	64
#define HAMMING_PAGE_PREFIXES	16

/* Drop all passes. */
void
hamming_drop_passes(HammingRuns *runs)
{
	runs->have_run = false;
	runs->nahead = runs->next_ahead = 0;
	runs->npasses = 0;
	runs->pass = 0;
	runs->next = 0;
}

/*
 * Add a pass through what is to be searched of a block, around runs->center.
 * "done" tells what has been searched of each block: what that has found, this
 * pass leaves out.
 *
 * Precondition: passes are added in the order of their blocks.
 */
void
hamming_add_pass(HammingScan *so, int block, ShReach reach,
				 const ShReach *done)
{
	HammingRuns *runs = &so->runs;
	HammingPass *pass = &runs->passes[runs->npasses++];

	pass->block = block;
	pass->reach = reach;
	memcpy(pass->done, done, sizeof(pass->done));
	pass->center_key = hamming_key(sh_entry(so->layout, runs->center,
											runs->word, block));
	runs->kept_for = -1;
}

/* Add the passes of the search before, around another center. */
void
hamming_keep_passes(HammingScan *so)
{
	HammingRuns *runs = &so->runs;
	int			i;

	runs->npasses = runs->nkept;
	for (i = 0; i < runs->npasses; i++)
		runs->passes[i].center_key =
			hamming_key(sh_entry(so->layout, runs->center, runs->word,
								 runs->passes[i].block));
}

/*
 * Find where a run begins.  Returns NULL if the index is empty.
 *
 * A serializable transaction must hold a predicate lock on what it has looked
 * at, and an empty index has no page to lock, so it locks the relation.  An
 * insertion may have come in between: so we look again afterwards.
 */
static const HammingChild *
locate(IndexScanDesc scan, HammingRun *run)
{
	const HammingChild *leaf = hamming_locate(scan, run);

	if (leaf != NULL || !IsolationIsSerializable())
		return leaf;
	PredicateLockRelation(scan->indexRelation, scan->xs_snapshot);
	return hamming_locate(scan, run);
}

/*
 * The bare entries between the bounds of a page, as many as there are before
 * any page is found.
 */
static uint64
usual_span(const ShExtent *extent)
{
	return (uint64) (sh_kept_mask(extent->layout) /
					 (extent->rows / extent->per_page + 1));
}

/*
 * The lowest bit of prefixes that a sixteenth of a page shares, or less; but
 * as long as a page has all entries under a key, there is nothing to be gained
 * by looking beyond the key.
 */
static inline int
page_fine(const ShLayout *layout, uint64 span, int block)
{
	int			key = sh_ring_end(layout, block, 0);
	int			fine = Max(sh_bit_length(span / HAMMING_PAGE_PREFIXES) - 1, 0);

	return span >> key != 0 ? Max(fine, key) : fine;
}

/*
 * The lowest bit of prefixes to look at.  If there is but one key of the
 * block, that is told in full at no cost.
 */
static inline int
pass_fine(const ShLayout *layout, const HammingPass *pass, uint64 span)
{
	int			fine = page_fine(layout, span, pass->block);

	if (pass->reach.within[0] == 0)
		fine = Min(fine, sh_ring_end(layout, pass->block, 0));
	return Min(fine, layout->kept);
}

/* The next range of a pass. */
static inline bool
next_range(const ShLayout *layout, const HammingPass *pass, uint64 from,
		   int fine, uint64 *low, uint64 *high)
{
	uint64		center = sh_bare_entry(layout, hamming_entry(pass->center_key));

	return sh_next_range(layout, &pass->reach, &pass->done[pass->block], pass->block,
						 center, from, fine, low, high);
}

/*
 * The last bare entry of a block up to a key that is not less than one of them.
 */
static inline uint64
last_entry(HammingScan *so, int64 key, int block)
{
	const ShLayout *layout = so->layout;
	uint64		entry = hamming_entry(key);
	uint64		tag = sh_entry_tag(layout, so->runs.word, block);

	return entry >> layout->shift == tag >> layout->shift ?
		sh_bare_entry(layout, entry) : sh_kept_mask(layout);
}

/*
 * Let a range that ends on a page go on over those that follow there with few
 * entries between, as far as can be expected.  Let one that goes beyond the
 * page end on its right neighbour at the latest.  Returns where to look for
 * the next range.
 */
static uint64
extend_range(HammingScan *so, HammingRun *run, int fine,
			 const HammingChild *leaf, uint64 high)
{
	const HammingRuns *runs = &so->runs;
	int			block = run->pass->block;
	uint64		last = last_entry(so, leaf->high, block);
	uint64		skip = runs->span / Max(runs->page_entries, 1) *
	HAMMING_SKIP_ENTRIES;
	uint64		next = high + 1;

	while (high < last)
	{
		uint64		low;
		uint64		end;

		if (!next_range(so->layout, run->pass, high + 1, fine, &low, &end))
			next = sh_kept_mask(so->layout) + 1;
		else
			next = low;
		if (next > last || next - high > skip)
			break;
		high = end;
		next = high + 1;
	}
	run->next = InvalidBlockNumber;
	if (high >= last)
	{
		run->next = leaf->next;
		if (BlockNumberIsValid(leaf->next))
			last = last_entry(so, leaf->next_high, block);
		high = Min(high, last);
		next = high + 1;
	}
	run->high = hamming_key(sh_greatest_entry(so->layout, runs->word, block,
											  high));
	return next;
}

/*
 * Lay out the run of a pass that reads one key, which is on one page: the most
 * frequent case by far.  Returns false if it is not so, or not known.
 */
static bool
lay_out_key(HammingScan *so, const HammingPass *pass, HammingRun *run)
{
	const ShLayout *layout = so->layout;
	const HammingChild *leaf = hamming_center(so, pass->block);
	int			key = sh_ring_end(layout, pass->block, 0);
	int			empty = layout->shift - layout->kept;
	uint64		span = ((uint64) leaf->high - (uint64) leaf->low) >> empty;
	uint64		rest = (UINT64_C(1) << (key + empty)) - 1;

	if (pass->reach.within[0] != 0 || pass->done[pass->block].within[0] >= 0)
		return false;
	run->low = (int64) ((uint64) pass->center_key & ~rest);
	run->high = (int64) ((uint64) pass->center_key | rest);
	if (run->low < leaf->low || run->high >= leaf->high || span >> key == 0)
		return false;
	run->pass = pass;
	run->next = InvalidBlockNumber;
	hamming_place(leaf, run);
	so->runs.span = span;
	return true;
}

/*
 * Lay out the next run of the passes.  Returns false if there is none, or the
 * index is empty.
 *
 * How fine to look depends on the page where the run is, which we know only
 * when we have looked.  Pages nearby are alike, so we try what the last one
 * has told.  If entries turn out to be denser than that, what is sought may be
 * on a later page.
 */
static bool
lay_out_run(IndexScanDesc scan, HammingRun *run)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingRuns *runs = &so->runs;
	const ShLayout *layout = so->layout;
	uint64		low;
	uint64		high;

	if (runs->span == 0)
		runs->span = usual_span(&so->extent);
	for (; runs->pass < runs->npasses; runs->pass++, runs->next = 0)
	{
		const HammingPass *pass = &runs->passes[runs->pass];
		int			fine;

		if (runs->next == 0 && lay_out_key(so, pass, run))
		{
			runs->pass++;
			return true;
		}
		fine = pass_fine(layout, pass, runs->span);
		while (next_range(layout, pass, runs->next, fine, &low, &high))
		{
			const HammingChild *leaf;
			int			tried = fine;

			run->pass = pass;
			run->low = hamming_key(sh_least_entry(layout, runs->word,
												  pass->block, low));
			leaf = locate(scan, run);
			if (leaf == NULL)
				return false;
			runs->next = low;
			runs->span = ((uint64) leaf->high - (uint64) leaf->low) >>
				(layout->shift - layout->kept);
			fine = pass_fine(layout, pass, runs->span);
			if (fine < tried)
				continue;
			runs->next = extend_range(so, run, fine, leaf, high);
			if (unlikely(runs->next <= low))
				hamming_went_back(scan);
			return true;
		}
	}
	return false;
}

/*
 * Turn to the next run that begins on the page at hand, if it is known already
 * that there is one.  Called with that page locked, so it looks at no other.
 */
bool
hamming_next_run_on_page(HammingRuns *runs, BlockNumber blkno)
{
	runs->have_run = runs->nahead > 0 &&
		runs->ahead[runs->next_ahead].blkno == blkno;
	if (runs->have_run)
	{
		runs->run = runs->ahead[runs->next_ahead];
		runs->next_ahead = (runs->next_ahead + 1) % HAMMING_AHEAD;
		runs->nahead--;
	}
	return runs->have_run;
}

/* The i-th of the runs ahead. */
static inline HammingRun *
run_ahead(HammingRuns *runs, int i)
{
	return &runs->ahead[(runs->next_ahead + i) % HAMMING_AHEAD];
}

/*
 * Lay out runs ahead, up to HAMMING_AHEAD, once half of them are used up.  So
 * it is known while a page is read whether the next run begins there, too.
 */
static void
lay_out_ahead(IndexScanDesc scan)
{
	HammingRuns *runs = &((HammingScan *) scan->opaque)->runs;

	int			known = runs->nahead;

	if (known > HAMMING_AHEAD / 2)
		return;
	while (runs->nahead < HAMMING_AHEAD &&
		   lay_out_run(scan, run_ahead(runs, runs->nahead)))
		runs->nahead++;
	for (; known < runs->nahead; known++)
	{
		HammingRun *run = run_ahead(runs, known);

		hamming_fetch_ahead(scan->indexRelation, run->blkno, run->place,
							runs->page_entries);
		if (BlockNumberIsValid(run->next))
			hamming_fetch_ahead(scan->indexRelation, run->next, 0,
								runs->page_entries);
	}
}

/*
 * See to it that there is a run at hand: the one that is, or the next one of
 * the passes.  Returns false, and drops the passes, if there is none.
 */
bool
hamming_next_run(IndexScanDesc scan)
{
	HammingRuns *runs = &((HammingScan *) scan->opaque)->runs;

	lay_out_ahead(scan);
	if (runs->have_run)
		return true;
	if (runs->nahead > 0)
		return hamming_next_run_on_page(runs,
										runs->ahead[runs->next_ahead].blkno);
	hamming_drop_passes(runs);
	return false;
}
