/*-------------------------------------------------------------------------
 *
 * hamming_cursor.c
 *		Leaf page after leaf page of a hamming index, as a plan wants them read.
 *
 * A pass of the plan goes through one block and reads the entries within its
 * reach, in the order of their keys (entries.c).  A run is a range of keys to
 * read, on one leaf page or two: one prefix that is within reach, or several
 * with so few entries between them that to read on is cheaper than to begin
 * anew.
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
 * of the 54 pages have runs on them, and the others are not read.  So this
 * does not depend on how entries are spread over the index as a whole.
 *
 * Leaf pages lie all over the memory, and waiting for them is most of what a
 * search costs.  So up to HAMMING_AHEAD runs are laid out before the first of
 * them is read: the tree is asked for the page of each, and that page is
 * fetched into the processor's cache meanwhile.  Pages that are on disk are asked
 * for together.
 *
 * The pin on a leaf page is the interlock with vacuum.  A scan with an MVCC
 * snapshot does without: should a row be gone and its place taken by another
 * one before we look, that one is not visible to the snapshot.  Any other scan
 * keeps the page pinned until its matches have been returned.  So does an
 * index-only scan, as the executor may not look at the row at all.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

#include "storage/predicate.h"

/*
 * Entries fewer than this between two prefixes are read, not searched across;
 * and prefixes are so long that about as many share a page.
 */
#define HAMMING_SKIP_ENTRIES	64
#define HAMMING_PAGE_PREFIXES	16

/* So many pages in a row, and the operating system reads those that follow. */
#define HAMMING_STREAK			8

/* Begin to read what a plan says. */
void
hamming_cursor_begin(HammingCursor *cursor, const HammingPlan *plan)
{
	cursor->plan = plan;
	cursor->pass = 0;
	cursor->next = 0;
	cursor->leaf.blkno = cursor->parent.blkno = InvalidBlockNumber;
	cursor->have_run = false;
	cursor->nahead = cursor->next_ahead = cursor->nasked = 0;
}

/* Go to the right neighbour of a page, if it is known to serve a key. */
static inline bool
go_right(const HammingBounds *from, int64 key, HammingBounds *to)
{
	if (!BlockNumberIsValid(from->blkno) ||
		!BlockNumberIsValid(from->next) ||
		key <= from->high || key > from->next_high)
		return false;
	to->blkno = from->next;
	to->low = from->high + 1;
	to->high = from->next_high;
	to->next = InvalidBlockNumber;
	return true;
}

/*
 * Tell where a run begins: at a leaf page, or at one to the left of it by the
 * time that we get there.  Returns what is known of that page, or NULL if the
 * index is empty.
 */
static const HammingBounds *
locate(IndexScanDesc scan, HammingCursor *cursor, HammingRun *run)
{
	const HammingBounds *start = &cursor->plan->starts[run->pass->block];
	HammingBounds *leaf = &cursor->leaf;

	if (hamming_serves(start, run->low))
		*leaf = *start;
	else if (!hamming_serves(leaf, run->low) && !go_right(leaf, run->low, leaf) &&
			 !go_right(start, run->low, leaf) &&
			 !hamming_descend(scan, run->low, &cursor->parent, leaf))
		return NULL;
	run->blkno = leaf->blkno;
	run->place = hamming_place(leaf, run->low);
	run->steps = 0;
	return leaf;
}

/*
 * The lowest bit of prefixes to look at: of those that a sixteenth of a page
 * shares, or less.  As long as a page has all entries under a key, there is
 * nothing to be gained by looking beyond the key; and if there is but one key of
 * the block, that is told in full at no cost.
 */
static inline int
pass_fine(const ShLayout *layout, const HammingPass *pass, uint64 span)
{
	int			key = sh_ring_end(layout, pass->block, 0);
	int			fine = Max(sh_bit_length(span / HAMMING_PAGE_PREFIXES) - 1, 0);

	if (span >> key != 0)
		fine = Max(fine, key);
	if (pass->reach.within[0] == 0)
		fine = Min(fine, key);
	return Min(fine, layout->kept);
}

/* The next range of a pass. */
static inline bool
next_range(const HammingPlan *plan, const HammingPass *pass, uint64 from,
		   int fine, uint64 *low, uint64 *high)
{
	const ShLayout *layout = plan->extent.layout;
	uint64		center =
	sh_bare_entry(layout, hamming_entry(plan->keys[pass->block]));

	return sh_next_range(layout, &pass->reach, &pass->done[pass->block],
						 pass->block, center, from, fine, low, high);
}

/*
 * The last bare entry of a block up to a key that is not less than one of them.
 */
static inline uint64
last_entry(const HammingPlan *plan, int64 key, int block)
{
	const ShLayout *layout = plan->extent.layout;
	uint64		entry = hamming_entry(key);
	uint64		tag = sh_entry_tag(layout, plan->word, block);

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
extend_range(const HammingCursor *cursor, HammingRun *run, int fine,
			 const HammingBounds *leaf, uint64 high)
{
	const HammingPlan *plan = cursor->plan;
	const ShLayout *layout = plan->extent.layout;
	int			block = run->pass->block;
	uint64		last = last_entry(plan, leaf->high, block);
	uint64		skip = cursor->span / Max(cursor->page_entries, 1) *
	HAMMING_SKIP_ENTRIES;
	uint64		next = high + 1;

	while (high < last)
	{
		uint64		low;
		uint64		end;

		if (!next_range(plan, run->pass, high + 1, fine, &low, &end))
			next = sh_kept_mask(layout) + 1;
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
			last = last_entry(plan, leaf->next_high, block);
		high = Min(high, last);
		next = high + 1;
	}
	run->high = hamming_key(sh_greatest_entry(layout, plan->word, block,
											  high));
	return next;
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
lay_out_run(IndexScanDesc scan, HammingCursor *cursor, HammingRun *run)
{
	const HammingPlan *plan = cursor->plan;
	const ShLayout *layout = plan->extent.layout;
	uint64		low;
	uint64		high;

	/* Before any page is found: as many entries as a page has usually. */
	if (cursor->span == 0)
		cursor->span = (uint64) (sh_kept_mask(layout) /
								 (plan->extent.rows / plan->extent.per_page + 1));
	for (; cursor->pass < plan->npasses; cursor->pass++, cursor->next = 0)
	{
		const HammingPass *pass = &plan->passes[cursor->pass];
		int			fine;

		run->pass = pass;
		fine = pass_fine(layout, pass, cursor->span);
		while (next_range(plan, pass, cursor->next, fine, &low, &high))
		{
			const HammingBounds *leaf;
			int			tried = fine;

			run->low = hamming_key(sh_least_entry(layout, plan->word,
												  pass->block, low));
			leaf = locate(scan, cursor, run);
			if (leaf == NULL)
				return false;
			cursor->next = low;
			cursor->span = ((uint64) leaf->high - (uint64) leaf->low) >>
				(layout->shift - layout->kept);
			fine = pass_fine(layout, pass, cursor->span);
			if (fine < tried)
				continue;
			cursor->next = extend_range(cursor, run, fine, leaf, high);
			if (unlikely(cursor->next <= low))
				hamming_corrupted(scan->indexRelation,
								  "keys of index \"%s\" are out of order");
			return true;
		}
	}
	return false;
}

/* The i-th of the runs ahead. */
static inline HammingRun *
run_ahead(HammingCursor *cursor, int i)
{
	return &cursor->ahead[(cursor->next_ahead + i) % HAMMING_AHEAD];
}

/*
 * Lay out "most" runs ahead, once half of them are used up.  So it is known
 * while a page is read whether the next run begins there, too.
 */
static void
lay_out_ahead(IndexScanDesc scan, HammingCursor *cursor, int most)
{
	int			known = cursor->nahead;

	if (known > most / 2)
		return;
	while (cursor->nahead < most &&
		   lay_out_run(scan, cursor, run_ahead(cursor, cursor->nahead)))
		cursor->nahead++;
	for (; known < cursor->nahead; known++)
	{
		HammingRun *run = run_ahead(cursor, known);

		hamming_fetch_ahead(scan->indexRelation, run->blkno, run->place,
							cursor->page_entries);
		if (BlockNumberIsValid(run->next))
			hamming_fetch_ahead(scan->indexRelation, run->next, 0,
								cursor->page_entries);
	}
}

/*
 * Ask the disk for the pages of the runs ahead: that of the first, which is
 * read next, and "most" besides.  Where many follow each other in the file the
 * operating system reads ahead, and better.
 */
static void
ask_ahead(IndexScanDesc scan, HammingCursor *cursor, int most)
{
	BlockNumber last = InvalidBlockNumber;
	int			pages = 0;

	if (cursor->nahead < 2)
		return;
	for (int i = 0; i < cursor->nahead && pages <= most; i++)
	{
		const HammingRun *run = run_ahead(cursor, i);
		BlockNumber wanted[] = {run->blkno, run->next};

		for (int j = 0; j < (int) lengthof(wanted); j++)
		{
			if (!BlockNumberIsValid(wanted[j]) || wanted[j] == last)
				continue;
			last = wanted[j];
			pages++;
			if (i < cursor->nasked)
				continue;
			cursor->streak = last == cursor->asked + 1 ? cursor->streak + 1 : 0;
			cursor->asked = last;
			if (cursor->streak < HAMMING_STREAK)
				hamming_ask_disk(scan->indexRelation, last);
		}
		cursor->nasked = Max(cursor->nasked, i + 1);
	}
}

/*
 * Turn to the next run, if one is laid out, and if it begins on the given
 * page, or on any if that is InvalidBlockNumber.
 */
static bool
take_run(HammingCursor *cursor, BlockNumber blkno)
{
	cursor->have_run = cursor->nahead > 0 &&
		(!BlockNumberIsValid(blkno) || run_ahead(cursor, 0)->blkno == blkno);
	if (!cursor->have_run)
		return false;
	cursor->run = *run_ahead(cursor, 0);
	cursor->next_ahead = (cursor->next_ahead + 1) % HAMMING_AHEAD;
	cursor->nahead--;
	cursor->nasked = Max(cursor->nasked - 1, 0);
	return true;
}

/*
 * Go to the next leaf page where a run begins or goes on, share-lock it, and
 * find where on it the run is.  False if all is read.
 *
 * The page may have been split or deleted since the tree named it.  Then what
 * is sought lies to the right.
 */
bool
hamming_cursor_next_page(IndexScanDesc scan, HammingCursor *cursor)
{
	HammingRun *run = &cursor->run;

	for (;;)
	{
		int			asks = hamming_disk_concurrency(scan->indexRelation);
		Page		page;

		CHECK_FOR_INTERRUPTS();
		lay_out_ahead(scan, cursor,
					  asks > 0 ? HAMMING_AHEAD : HAMMING_AHEAD_CACHED);
		if (asks > 0)
			ask_ahead(scan, cursor, asks);
		if (!cursor->have_run && !take_run(cursor, InvalidBlockNumber))
			return false;
		cursor->buffer = hamming_get_page(scan, run->blkno);
		PredicateLockPage(scan->indexRelation, run->blkno, scan->xs_snapshot);
		page = BufferGetPage(cursor->buffer);
		if (!P_IGNORE(BTPageGetOpaque(page)))
		{
			cursor->page_entries = PageGetMaxOffsetNumber(page);
			cursor->blkno = run->blkno;
			cursor->offset =
				hamming_find_entry(page, P_FIRSTDATAKEY(BTPageGetOpaque(page)),
								   run->low, run->place);
			return true;
		}
		run->blkno = hamming_right_page(scan, page);
		hamming_note_step(scan, &run->steps);
		UnlockReleaseBuffer(cursor->buffer);
	}
}

/*
 * Turn to the next run on the page at hand, the run at hand having been read
 * up to cursor->offset.  False if there is none: the run continues on another
 * page, or the next one begins there, or all is read.
 *
 * Note: the high key is read only if a run has come to the end of the page.
 * Otherwise it would be one more wait for memory.
 */
bool
hamming_cursor_next_run(IndexScanDesc scan, HammingCursor *cursor)
{
	HammingRun *run = &cursor->run;
	Page		page = BufferGetPage(cursor->buffer);
	int			end = cursor->page_entries + 1;

	if (cursor->offset >= end && hamming_goes_right(page, run->high))
	{
		run->blkno = hamming_right_page(scan, page);
		run->place = 0;
		hamming_note_step(scan, &run->steps);
		return false;
	}
	if (!take_run(cursor, cursor->blkno))
		return false;
	cursor->offset = hamming_find_entry(page, cursor->offset, run->low,
										run->place);
	return true;
}

/*
 * Begin to walk over the leaf pages from the one where keys >= key are, or one
 * to the left of it.
 */
void
hamming_begin_walk(IndexScanDesc scan, int64 key, HammingWalk *walk)
{
	HammingBounds leaf;

	walk->next = hamming_descend(scan, key, NULL, &leaf) ? leaf.blkno : P_NONE;
	walk->steps = 0;
}

/*
 * The next leaf page of a walk, pinned and share-locked; InvalidBuffer at the
 * end.  It may be one that has been deleted, and has no entries then.
 */
Buffer
hamming_walk(IndexScanDesc scan, HammingWalk *walk)
{
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	if (walk->next == P_NONE)
		return InvalidBuffer;
	buffer = hamming_get_page(scan, walk->next);
	PredicateLockPage(scan->indexRelation, walk->next, scan->xs_snapshot);
	walk->next = BTPageGetOpaque(BufferGetPage(buffer))->btpo_next;
	hamming_note_step(scan, &walk->steps);
	return buffer;
}
