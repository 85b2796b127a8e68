/*-------------------------------------------------------------------------
 *
 * hamming_page.c
 *		Reading the leaf pages of a hamming index.
 *
 * Candidates are compared on the page, under its share lock; only matches are
 * copied.  What to read next is up to hamming_runs.c.
 *
 * For example, a search within 3 reads a run of two entries in block 1.  Both
 * are compared with the query, as 62 bits: one is 20 bits away and forgotten,
 * the other 2.  That one is a match, unless it satisfies the chain of block 0
 * too: then the pass through block 0 has returned its row already (entries.c).
 *
 * The pin on a leaf page is the interlock with vacuum.  A scan with an MVCC
 * snapshot does without: should a row be gone and its place taken by another
 * one before we look, that one is not visible to the snapshot.  Any other scan
 * keeps the page pinned until its matches have been returned.  So does one
 * that goes by the index alone, as it may not look at the row at all, and the
 * scan of an index without WAL, which has no LSN to tell whether a page has
 * changed when dead entries are marked.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/hamming_scan.h"
#include "index/hamming_tricks.h"

/*
 * The comparison of entries is the hot loop.  A compiler for plain x86-64 must
 * do without the instruction that counts bits, so there we carry a second copy
 * of the loop, and of what looks closely, and choose at run time.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__POPCNT__)
#define HAMMING_POPCNT_AT_RUN_TIME
#endif

/* Entries compared at once. */
#define HAMMING_STRIDE			8

/* Looks closely at some entries of a page. */
typedef void (*TakeEntries) (HammingScan *so, Buffer buffer,
							 OffsetNumber offset, OffsetNumber end,
							 bool skip_dead);

/*
 * A candidate is at most max_distance away.  Take it for a match if it is of
 * the run at hand, this block is the first to find it, and every condition may
 * hold.
 *
 * Precondition: the page is locked, and there is room for one more match.
 */
static pg_attribute_always_inline void
take_entry(HammingScan *so, Buffer buffer, OffsetNumber offset, int distance)
{
	const HammingPass *pass = so->runs.run.pass;
	const ShLayout *layout = so->layout;
	int			word = so->runs.word;
	IndexTuple	itup = hamming_page_tuple(BufferGetPage(buffer), offset);
	int64		key = hamming_tuple_key(itup);
	HammingMatch *match;
	int			by_block[SH_WORD_BLOCKS];
	bool		recheck = false;
	int			i;

	if (distance < so->runs.min_distance ||
		key < so->runs.run.low || key > so->runs.run.high)
		return;
	sh_apart(layout, pass->block,
			 sh_bare_entry(layout, (uint64) (key ^ pass->center_key)),
			 by_block);
	if (!sh_reaches(layout, &pass->reach, pass->block, by_block))
		return;
	for (i = 0; i < layout->blocks; i++)
	{
		if (sh_reaches(layout, &pass->done[i], i, by_block))
			return;
	}

	for (i = 0; i < so->asked.nballs; i++)
	{
		uint64		center = sh_entry(layout,
									  so->asked.balls[i].center.words[word],
									  word, pass->block);
		int			d = __builtin_popcountll(center ^ hamming_entry(key));

		if (d > so->asked.balls[i].radius)
			return;
		recheck |= d > so->asked.balls[i].certain;
	}

	hamming_prepare_matches(so);
	match = &so->matches.items[so->matches.count++];
	match->tid = itup->t_tid;
	match->offset = offset;
	match->page = hamming_note_page(&so->matches, buffer);
	match->distance = distance;
	match->recheck = recheck;
	match->killed = false;
}

/*
 * Look closely at entries [offset, end), some of which are at most
 * max_distance away.
 */
static pg_attribute_always_inline void
take_entries_body(HammingScan *so, Buffer buffer, OffsetNumber offset,
				  OffsetNumber end, bool skip_dead)
{
	Page		page = BufferGetPage(buffer);
	int64		center = so->runs.run.pass->center_key;

	for (; offset < end; offset++)
	{
		uint64		apart = (uint64) (hamming_page_key(page, offset) ^ center);
		int			distance = __builtin_popcountll(apart);

		if (distance <= so->runs.max_distance &&
			!(skip_dead && ItemIdIsDead(PageGetItemId(page, offset))))
			take_entry(so, buffer, offset, distance);
	}
}

static pg_noinline void
take_entries_plain(HammingScan *so, Buffer buffer, OffsetNumber offset,
				   OffsetNumber end, bool skip_dead)
{
	take_entries_body(so, buffer, offset, end, skip_dead);
}

#ifdef HAMMING_POPCNT_AT_RUN_TIME
__attribute__((target("popcnt")))
static pg_noinline void
take_entries_popcnt(HammingScan *so, Buffer buffer, OffsetNumber offset,
					OffsetNumber end, bool skip_dead)
{
	take_entries_body(so, buffer, offset, end, skip_dead);
}
#endif

/*
 * Is any of the entries from offset on at most "farthest" away?  Sets *key to
 * the key of the last one.
 */
static pg_attribute_always_inline bool
any_within(Page page, OffsetNumber offset, int count, uint64 center,
		   int farthest, int64 *key)
{
	bool		any = false;
	int			i;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 8
#endif
	for (i = 0; i < count; i++)
	{
		*key = hamming_page_key(page, offset + i);
		any |= __builtin_popcountll((uint64) *key ^ center) <= farthest;
	}
	return any;
}

/*
 * Compare the entries of a page, from offset to where keys exceed those of the
 * run.  Matches are rare, so eight entries are compared together, and only if
 * there is a match among them is each looked at.  So some entries before and
 * after the run are compared as well; take_entry() leaves them out.  Returns
 * the offset where it stopped.
 */
static pg_attribute_always_inline OffsetNumber
compare_entries_body(HammingScan *so, Buffer buffer, OffsetNumber offset,
					 bool skip_dead, TakeEntries take_entries)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	int64		high = so->runs.run.high;
	uint64		center = (uint64) so->runs.run.pass->center_key;

	while (offset <= last)
	{
		int			count = Min(HAMMING_STRIDE, last - offset + 1);
		int			farthest = so->runs.max_distance;
		int64		key = 0;
		bool		any;

		/* The compiler unrolls the loop where it knows the count. */
		if (count == HAMMING_STRIDE)
			any = any_within(page, offset, HAMMING_STRIDE, center, farthest,
							 &key);
		else
			any = any_within(page, offset, count, center, farthest, &key);
		if (unlikely(any))
			take_entries(so, buffer, offset, offset + count, skip_dead);
		if (key > high)
			break;
		offset += count;
	}
	return offset;
}

static OffsetNumber
compare_entries_plain(HammingScan *so, Buffer buffer, OffsetNumber offset,
					  bool skip_dead)
{
	return compare_entries_body(so, buffer, offset, skip_dead,
								take_entries_plain);
}

#ifdef HAMMING_POPCNT_AT_RUN_TIME
__attribute__((target("popcnt")))
static OffsetNumber
compare_entries_popcnt(HammingScan *so, Buffer buffer, OffsetNumber offset,
					   bool skip_dead)
{
	return compare_entries_body(so, buffer, offset, skip_dead,
								take_entries_popcnt);
}
#endif

static OffsetNumber
compare_entries(HammingScan *so, Buffer buffer, OffsetNumber offset,
				bool skip_dead)
{
#ifdef HAMMING_POPCNT_AT_RUN_TIME
	if (__builtin_cpu_supports("popcnt"))
		return compare_entries_popcnt(so, buffer, offset, skip_dead);
#endif
	return compare_entries_plain(so, buffer, offset, skip_dead);
}

/*
 * Compare the entries of a page that belong to the run at hand, and to those
 * after it that begin on the same page.  Afterwards the run at hand goes on,
 * or the next one begins, on another page; or there is none.
 *
 * Precondition: the page is locked, and it is the one that the run names.
 *
 * Note: the high key is read only if a run has come to the end of the page.
 * Otherwise it would be one more wait for memory.
 */
static void
read_runs(IndexScanDesc scan, Buffer buffer)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingRun *run = &so->runs.run;
	Page		page = BufferGetPage(buffer);
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber offset = P_FIRSTDATAKEY(opaque);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	BlockNumber blkno = run->blkno;
	float		place = run->place;

	so->runs.page_entries = last;

	for (;;)
	{
		offset = hamming_find_entry(page, offset, run->low, place);
		offset = compare_entries(so, buffer, offset,
								 scan->ignore_killed_tuples);
		if (offset > last && !P_RIGHTMOST(opaque) &&
			hamming_high_key(page) <= run->high)
		{
			run->blkno = opaque->btpo_next;
			run->place = 0;
			hamming_note_step(scan, &run->steps);
			return;
		}
		if (!hamming_next_run_on_page(&so->runs, blkno))
			return;
		place = run->place;
	}
}

/*
 * Read one leaf page: all runs that begin or go on there.  Matches are added
 * to those of the scan.  Returns false when the passes have ended.
 *
 * Precondition: there is room for as many matches as a page has entries, so
 * there are less than HAMMING_BATCH, and none if the page is to stay pinned.
 *
 * Note: the page may have been split or deleted since the tree named it.  Then
 * what is sought lies to the right, and the next call reads on there.
 */
bool
hamming_read_page(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingRun *run = &so->runs.run;
	int			before = so->matches.count;
	Buffer		buffer;
	BTPageOpaque opaque;

	CHECK_FOR_INTERRUPTS();
	if (!hamming_next_run(scan))
		return false;

	buffer = hamming_pin_page(scan->indexRelation, run->blkno);
	hamming_lock_page(scan, buffer);
	PredicateLockPage(scan->indexRelation, run->blkno, scan->xs_snapshot);
	opaque = BTPageGetOpaque(BufferGetPage(buffer));
	if (!P_IGNORE(opaque))
		read_runs(scan, buffer);
	else if (P_RIGHTMOST(opaque))
		hamming_fell_off(scan);
	else
	{
		run->blkno = opaque->btpo_next;
		hamming_note_step(scan, &run->steps);
	}

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (so->matches.keep_pin && so->matches.count > before)
		so->matches.pinned = buffer;
	else
		ReleaseBuffer(buffer);
	return true;
}
