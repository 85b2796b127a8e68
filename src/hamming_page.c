/*-------------------------------------------------------------------------
 *
 * hamming_page.c
 *		Reading the pages of a hamming index.
 *
 * A pass goes through the entries of one block, in the order of their keys,
 * and visits those under the probes that it was given.  A run is a range of
 * keys to visit: one probe, or several with so little between them that reading
 * on is cheaper than searching.  Entries are compared on the page, under its
 * share lock; only matches are copied.
 *
 * The tree is read by the rules of src/backend/access/nbtree/README.  Keys come
 * in ascending order, so the inner pages of the last descent usually serve the
 * next one as well: they stay pinned, not locked, and are looked at again
 * before use.  Page splits only move entries to the right, deletion of pages
 * only hands key space to the right neighbour, so such a page still lies at or
 * to the left of what is looked for; if it was deleted we go up.  Pins on inner
 * pages hold up nobody, as vacuum wants leaf pages alone for itself.
 *
 * The pin on a leaf page is the interlock with vacuum.  A scan with an MVCC
 * snapshot does without: should a row be gone and its place taken by another
 * one before we look, that one is not visible to the snapshot.  Any other scan
 * keeps the page pinned until its matches have been returned, and so does the
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
#include "hamming.h"

/*
 * The comparison of entries is the hot loop.  A compiler for plain x86-64 must
 * do without the instruction that counts bits, so there we carry a second copy
 * of the loop and choose at run time.
 */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__POPCNT__)
#define HAMMING_POPCNT_AT_RUN_TIME
#endif

/*
 * Bits are counted many times over; entries fewer than this between two runs
 * are read rather than searched across.
 */
#define HAMMING_SKIP_ENTRIES	64.0

/* How far from its guessed place an entry usually is, on a page. */
#define HAMMING_GUESS_SLACK		24

/* Inner pages whose buffers are remembered. */
#define HAMMING_RECENT_PAGES	2048

typedef struct RecentPage
{
	Oid			relid;
	BlockNumber blkno;
	Buffer		buffer;
} RecentPage;

/* Complain of a page that cannot be a page of this index. */
static void
check_page(Relation rel, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);

	if (unlikely(PageIsNew(page) ||
				 PageGetSpecialSize(page) != MAXALIGN(sizeof(BTPageOpaqueData))))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" contains an unexpected page at block %u",
						RelationGetRelationName(rel),
						BufferGetBlockNumber(buffer)),
				 errhint("Please REINDEX it.")));
}

/*
 * Pin an inner page.
 *
 * There are few of these and each search needs some of them, so it pays to
 * remember their buffers: that spares the buffer manager's hash table, which
 * is large and hence not in the processor's cache.  An outdated memory is no
 * harm, since the buffer manager checks it.
 */
static Buffer
pin_inner_page(Relation rel, BlockNumber blkno)
{
	static RecentPage recent[HAMMING_RECENT_PAGES];
	RecentPage *known = &recent[(blkno ^ RelationGetRelid(rel) * 31) %
								HAMMING_RECENT_PAGES];

	if (known->relid == RelationGetRelid(rel) && known->blkno == blkno &&
		ReadRecentBuffer(*simhash_locator(rel), MAIN_FORKNUM, blkno,
						 known->buffer))
	{
		pgstat_count_buffer_read(rel);
		pgstat_count_buffer_hit(rel);
		return known->buffer;
	}
	known->relid = RelationGetRelid(rel);
	known->blkno = blkno;
	known->buffer = ReadBuffer(rel, blkno);
	return known->buffer;
}

/* Share-lock a pinned page and see that it is in order. */
static void
lock_page(IndexScanDesc scan, Buffer buffer)
{
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	check_page(scan->indexRelation, buffer);
	simhash_test_old_snapshot(scan->xs_snapshot, scan->indexRelation,
							  BufferGetPage(buffer));
}

static inline IndexTuple
page_tuple(Page page, OffsetNumber offset)
{
	return (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));
}

/* The upper bound of a page that is not the rightmost one. */
static inline int64
high_key(Page page)
{
	return hamming_tuple_key(page_tuple(page, P_HIKEY));
}

/* Complain that pages to the right have come to an end. */
static void
fell_off(IndexScanDesc scan)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("fell off the end of index \"%s\"",
					RelationGetRelationName(scan->indexRelation))));
}

/* Where is the root?  Answer from the relation's cache, as the btree does. */
static BTMetaPageData *
get_meta(Relation rel)
{
	BTMetaPageData *meta = (BTMetaPageData *) rel->rd_amcache;
	Buffer		buffer;

	if (meta != NULL)
		return meta;

	buffer = ReadBuffer(rel, BTREE_METAPAGE);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	check_page(rel, buffer);
	meta = BTPageGetMeta(BufferGetPage(buffer));
	if (meta->btm_magic != BTREE_MAGIC || meta->btm_version != BTREE_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is not a hamming index",
						RelationGetRelationName(rel))));
	if (meta->btm_root == P_NONE)
	{
		UnlockReleaseBuffer(buffer);
		return NULL;
	}
	rel->rd_amcache = MemoryContextAlloc(rel->rd_indexcxt,
										 sizeof(BTMetaPageData));
	memcpy(rel->rd_amcache, meta, sizeof(BTMetaPageData));
	UnlockReleaseBuffer(buffer);
	return (BTMetaPageData *) rel->rd_amcache;
}

/*
 * Pin and share-lock the root, or the lowest page that is alone on its level.
 * InvalidBuffer if the index is empty.
 */
static Buffer
get_root(IndexScanDesc scan)
{
	Relation	rel = scan->indexRelation;
	BTMetaPageData *meta;

	while ((meta = get_meta(rel)) != NULL)
	{
		Buffer		buffer = pin_inner_page(rel, meta->btm_fastroot);
		BTPageOpaque opaque = BTPageGetOpaque(BufferGetPage(buffer));

		lock_page(scan, buffer);
		if (!P_IGNORE(opaque) && opaque->btpo_level == meta->btm_fastlevel &&
			P_LEFTMOST(opaque) && P_RIGHTMOST(opaque))
			return buffer;

		/* The tree has grown or shrunk since; ask again. */
		UnlockReleaseBuffer(buffer);
		pfree(rel->rd_amcache);
		rel->rd_amcache = NULL;
		CHECK_FOR_INTERRUPTS();
	}
	return InvalidBuffer;
}

/* The first offset in [low, high) whose key is >= key, or high. */
static OffsetNumber
search_range(Page page, OffsetNumber low, OffsetNumber high, int64 key)
{
	while (low < high)
	{
		OffsetNumber middle = low + (high - low) / 2;

		if (hamming_tuple_key(page_tuple(page, middle)) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Where a key is on a page, given a guess.  Keys of random fingerprints are
 * spread evenly, and a guess spares most of a binary search, each step of which
 * would wait for memory.
 */
static OffsetNumber
search_near(Page page, OffsetNumber first, int64 key, float place)
{
	int			last = PageGetMaxOffsetNumber(page);
	int			low = first + (int) (place * (last - first)) -
		HAMMING_GUESS_SLACK / 2;
	int			high = low + HAMMING_GUESS_SLACK;

	if (low < first || hamming_tuple_key(page_tuple(page, low)) >= key)
		low = first;
	if (high > last || hamming_tuple_key(page_tuple(page, high)) < key)
		high = last + 1;
	return search_range(page, low, high, key);
}

/* Does a page that is not rightmost end before a key?  If equal, not surely. */
static inline bool
ends_before(Page page, int64 key)
{
	return !P_RIGHTMOST(BTPageGetOpaque(page)) && high_key(page) < key;
}

/*
 * Find the child of an inner page under which keys >= key begin.  Returns false
 * if there is none because the page lies to the left of the key, or is no
 * more.
 *
 * On entry, *place is where on this page the key is, were keys spread evenly:
 * 0 first, 1 last.  On return the same for the child.  The first item of the
 * page stands for minus infinity and has no key.  The high key matters only
 * when all items are less, so mostly it need not be fetched from memory.
 */
static bool
find_child(Page page, int64 key, float *place, BlockNumber *child)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber first = P_FIRSTDATAKEY(opaque);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	OffsetNumber offset;

	if (P_IGNORE(opaque))
		return false;
	offset = search_near(page, first + 1, key, *place);
	if (offset > last && ends_before(page, key))
		return false;

	*place = 0;
	if (offset > first + 1 && offset <= last)
	{
		int64		left = hamming_tuple_key(page_tuple(page, offset - 1));
		int64		right = hamming_tuple_key(page_tuple(page, offset));

		if (right > left)
			*place = (float) ((uint64) key - (uint64) left) /
				(float) ((uint64) right - (uint64) left);
	}
	*child = BTreeTupleGetDownLink(page_tuple(page, offset - 1));
	return true;
}

/*
 * Find the next page down to a key from the lowest inner page of the last
 * descent that serves it, letting go of those that do not.  Returns the level
 * of that inner page, or 0 if there is none.
 */
static int
reuse_path(IndexScanDesc scan, int64 key, float *place, BlockNumber *child)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	int			level;

	for (level = 1; level <= so->height; level++)
	{
		HammingStep *step = &so->path[level];
		bool		found = false;

		if (!BufferIsValid(step->buffer))
			continue;
		*place = 0;
		if (step->low <= key)
		{
			lock_page(scan, step->buffer);
			found = find_child(BufferGetPage(step->buffer), key, place, child);
			LockBuffer(step->buffer, BUFFER_LOCK_UNLOCK);
		}
		if (found)
			return level;
		ReleaseBuffer(step->buffer);
		step->buffer = InvalidBuffer;
	}
	return 0;
}

/* Keep an inner page of the way down pinned.  It is not locked any more. */
static void
keep_step(HammingScan *so, Buffer buffer, int level, int64 low)
{
	if (level >= HAMMING_MAX_HEIGHT)
	{
		ReleaseBuffer(buffer);
		return;
	}
	so->path[level].buffer = buffer;
	so->path[level].low = low;
	so->height = Max(so->height, level);
}

/*
 * Pin, but do not lock, the leaf page where keys >= key begin, or one to the
 * left of it.  InvalidBuffer if the index is empty.
 */
static Buffer
seek(IndexScanDesc scan, int64 key, float *place)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	BlockNumber child;
	int			level = reuse_path(scan, key, place, &child);
	Buffer		buffer;

	if (level == 1)
		return ReadBuffer(scan->indexRelation, child);
	if (level > 1)
	{
		buffer = pin_inner_page(scan->indexRelation, child);
		lock_page(scan, buffer);
	}
	else
	{
		*place = 0;
		buffer = get_root(scan);
		if (!BufferIsValid(buffer))
			return InvalidBuffer;
	}

	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		BTPageOpaque opaque = BTPageGetOpaque(page);
		BlockNumber next = opaque->btpo_next;
		bool		root = P_LEFTMOST(opaque) && P_RIGHTMOST(opaque);
		bool		found;

		level = opaque->btpo_level;
		if (P_ISLEAF(opaque) && !P_IGNORE(opaque))
		{
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			return buffer;
		}
		found = find_child(page, key, place, &child);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		if (found)
			keep_step(so, buffer, level, root ? PG_INT64_MIN : key);
		else
		{
			ReleaseBuffer(buffer);
			if (next == P_NONE)
				fell_off(scan);
			child = next;
			level++;
			CHECK_FOR_INTERRUPTS();
		}
		if (level == 1)
			return ReadBuffer(scan->indexRelation, child);
		buffer = pin_inner_page(scan->indexRelation, child);
		lock_page(scan, buffer);
	}
}

/* Remember the page that matches are about to come from. */
static int
remember_page(HammingScan *so, Buffer buffer)
{
	BlockNumber blkno = BufferGetBlockNumber(buffer);

	if (so->npages == 0 || so->pages[so->npages - 1].blkno != blkno)
	{
		so->pages[so->npages].blkno = blkno;
		so->pages[so->npages].lsn = BufferGetLSNAtomic(buffer);
		so->npages++;
	}
	return so->npages - 1;
}

/*
 * An entry lies within reach.  Let it through if this block is the first to
 * find it and every condition may hold.
 */
static void
take_entry(HammingScan *so, Buffer buffer, OffsetNumber offset, int distance)
{
	const HammingPass *pass = so->visit.pass;
	IndexTuple	itup = page_tuple(BufferGetPage(buffer), offset);
	int64		key = hamming_tuple_key(itup);
	uint64		apart = (uint64) (key ^ pass->center_key);
	HammingMatch *match;
	bool		recheck = false;
	int			i;

	if (distance < so->min_distance || key < so->visit.low)
		return;
	for (i = 0; i < SH_INDEX_BLOCKS; i++)
	{
		int			d = __builtin_popcountll(apart &
											 sh_entry_mask(pass->block, i));

		if (i == pass->block
			? d < pass->nearest || d > pass->farthest
			: d <= pass->done[i])
			return;
	}

	for (i = 0; i < so->nballs; i++)
	{
		uint64		center = sh_entry(so->balls[i].center, pass->block);
		int			d = __builtin_popcountll(center ^ hamming_entry(key));

		if (d > so->balls[i].radius)
			return;
		recheck |= d > so->balls[i].radius - SH_LOST_BITS;
	}

	hamming_prepare_matches(so);
	match = &so->matches[so->nmatches++];
	match->tid = itup->t_tid;
	match->offset = offset;
	match->page = remember_page(so, buffer);
	match->distance = distance;
	match->recheck = recheck;
	match->killed = false;
}

/*
 * Compare the entries of a page, from offset to where keys exceed those of the
 * visit.  Entries before them are left out by take_entry(), which few ever get
 * to.  Returns the offset where it stopped.
 */
static pg_attribute_always_inline OffsetNumber
compare_entries_body(HammingScan *so, Buffer buffer, OffsetNumber offset,
					 bool skip_dead)
{
	Page		page = BufferGetPage(buffer);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	int64		high = so->visit.high;
	int64		center = so->visit.pass->center_key;
	int			farthest = so->max_distance;

	for (; offset <= last; offset++)
	{
		ItemId		iid = PageGetItemId(page, offset);
		int64		key = hamming_tuple_key((IndexTuple) PageGetItem(page, iid));
		int			distance;

		if (key > high)
			break;
		distance = __builtin_popcountll((uint64) (key ^ center));
		if (unlikely(distance <= farthest) &&
			!(skip_dead && ItemIdIsDead(iid)))
			take_entry(so, buffer, offset, distance);
	}
	return offset;
}

static OffsetNumber
compare_entries_plain(HammingScan *so, Buffer buffer, OffsetNumber offset,
					  bool skip_dead)
{
	return compare_entries_body(so, buffer, offset, skip_dead);
}

#ifdef HAMMING_POPCNT_AT_RUN_TIME
__attribute__((target("popcnt")))
static OffsetNumber
compare_entries_popcnt(HammingScan *so, Buffer buffer, OffsetNumber offset,
					   bool skip_dead)
{
	return compare_entries_body(so, buffer, offset, skip_dead);
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

/* Drop all passes. */
void
hamming_begin_passes(HammingScan *so)
{
	so->visiting = false;
	so->npasses = 0;
	so->pass = 0;
	so->next_probe = 0;
}

/*
 * Add a pass through the shells of a block around so->center.  What is found
 * by other blocks is told by "done".  Blocks must come in order.
 */
void
hamming_add_pass(HammingScan *so, int block, int nearest, int farthest,
				 const int *done)
{
	HammingPass *pass = &so->passes[so->npasses++];

	pass->block = block;
	pass->nearest = nearest;
	pass->farthest = farthest;
	memcpy(pass->done, done, sizeof(pass->done));
	pass->center_key = hamming_key(sh_entry(so->center, block));
	pass->center_probe = sh_entry_key(so->center, block);
}

/*
 * Set so->visit to the next run of the passes.  Returns false, and drops the
 * passes, if there is none.
 */
static bool
next_run(HammingScan *so)
{
	HammingVisit *visit = &so->visit;

	for (; so->pass < so->npasses; so->pass++, so->next_probe = 0)
	{
		HammingPass *pass = &so->passes[so->pass];
		int			width = sh_block_width(pass->block);
		double		density = so->extent.rows / (1 << width);
		uint32		first;
		uint32		last;

		first = last = sh_entry_probe(pass->center_probe, width, pass->nearest,
									  pass->farthest, so->next_probe);
		if (first == SH_NO_PROBE)
			continue;
		if (pass->nearest <= 0 && pass->farthest >= width)
			last = (1 << width) - 1;
		else if (pass->farthest > 0)
			for (;;)
			{
				uint32		next = sh_entry_probe(pass->center_probe, width,
												  pass->nearest,
												  pass->farthest, last + 1);

				if (next == SH_NO_PROBE ||
					(next - last - 1) * density >= HAMMING_SKIP_ENTRIES)
					break;
				last = next;
			}

		visit->pass = pass;
		visit->low = hamming_key(sh_entry_first(pass->block, first));
		visit->high = hamming_key(sh_entry_last(pass->block, last));
		visit->goes_on = InvalidBlockNumber;
		so->next_probe = last + 1;
		return true;
	}
	hamming_begin_passes(so);
	return false;
}

/*
 * Pin the page where the visit begins or goes on.  InvalidBuffer if the index
 * is empty.
 */
static Buffer
pin_visit(IndexScanDesc scan, float *place)
{
	HammingVisit *visit = &((HammingScan *) scan->opaque)->visit;
	Buffer		buffer;

	*place = 0;
	if (BlockNumberIsValid(visit->goes_on))
		return ReadBuffer(scan->indexRelation, visit->goes_on);

	buffer = seek(scan, visit->low, place);
	if (!BufferIsValid(buffer) && IsolationIsSerializable())
	{
		/*
		 * Nothing finer than the relation can be locked in an empty index.
		 * Look again afterwards, lest an insertion slip in between.
		 */
		PredicateLockRelation(scan->indexRelation, scan->xs_snapshot);
		buffer = seek(scan, visit->low, place);
	}
	return buffer;
}

/*
 * The offset from which entries are to be compared: that of the first key >=
 * low, or somewhat less.
 */
static OffsetNumber
first_offset(Page page, OffsetNumber first, int64 low, float place)
{
	OffsetNumber count = PageGetMaxOffsetNumber(page);
	int			guess = (int) (place * count) - HAMMING_GUESS_SLACK;

	if (guess <= first)
		guess = first;
	else if (hamming_tuple_key(page_tuple(page, guess)) >= low)
		return search_range(page, first, guess, low);
	if (guess + 4 * HAMMING_GUESS_SLACK <= count &&
		hamming_tuple_key(page_tuple(page, guess + 4 * HAMMING_GUESS_SLACK)) <
		low)
		return search_range(page, guess, count + 1, low);
	return guess;
}

/*
 * Compare what the runs want of a locked page.  Afterwards so->visit is one to
 * another page, or there is none.
 *
 * Where a run ends before the page does, the high key does not matter.
 */
static void
read_runs(IndexScanDesc scan, Buffer buffer, float place)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingVisit *visit = &so->visit;
	Page		page = BufferGetPage(buffer);
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber offset = P_FIRSTDATAKEY(opaque);
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (;;)
	{
		offset = first_offset(page, offset, visit->low, place);
		offset = compare_entries(so, buffer, offset,
								 scan->ignore_killed_tuples);
		if (offset > last && !P_RIGHTMOST(opaque) &&
			high_key(page) <= visit->high)
		{
			visit->goes_on = opaque->btpo_next;
			return;
		}
		so->visiting = next_run(so);
		if (!so->visiting ||
			(!P_RIGHTMOST(opaque) && high_key(page) <= visit->low))
			return;
		place = 0;
	}
}

/*
 * Read one leaf page, all that is wanted of it.  Matches are appended; there
 * must be room for a page of them.  Returns false when the passes have ended.
 */
bool
hamming_read_page(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	int			before = so->nmatches;
	Buffer		buffer;
	BTPageOpaque opaque;
	float		place;

	CHECK_FOR_INTERRUPTS();
	if (!so->visiting && !next_run(so))
		return false;
	so->visiting = true;

	buffer = pin_visit(scan, &place);
	if (!BufferIsValid(buffer))
	{
		hamming_begin_passes(so);
		return false;
	}
	lock_page(scan, buffer);
	PredicateLockPage(scan->indexRelation, BufferGetBlockNumber(buffer),
					  scan->xs_snapshot);
	opaque = BTPageGetOpaque(BufferGetPage(buffer));
	if (!P_IGNORE(opaque))
		read_runs(scan, buffer, place);
	else if (P_RIGHTMOST(opaque))
		fell_off(scan);
	else
		so->visit.goes_on = opaque->btpo_next;

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (so->keep_pin && so->nmatches > before)
		so->pinned = buffer;
	else
		ReleaseBuffer(buffer);
	return true;
}

/* Let go of all pages. */
void
hamming_release(HammingScan *so)
{
	int			level;

	if (BufferIsValid(so->pinned))
		ReleaseBuffer(so->pinned);
	so->pinned = InvalidBuffer;
	for (level = 1; level <= so->height; level++)
	{
		if (BufferIsValid(so->path[level].buffer))
			ReleaseBuffer(so->path[level].buffer);
		so->path[level].buffer = InvalidBuffer;
	}
}

/*
 * Mark the entries dead whose rows were found dead to everyone, so that the
 * next scan does not return them and the next insertion may remove them.
 *
 * If the page was not pinned in the meantime its LSN tells whether anything
 * was changed on it, in particular whether vacuum has made place for new rows
 * under the same TIDs.  Entries move within a page without a change of LSN
 * never.
 */
static void
kill_on_page(IndexScanDesc scan, int page_no)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingPage *known = &so->pages[page_no];
	Buffer		buffer = ReadBuffer(scan->indexRelation, known->blkno);
	Page		page = BufferGetPage(buffer);
	bool		marked = false;
	int			i;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (so->keep_pin || BufferGetLSNAtomic(buffer) == known->lsn)
	{
		OffsetNumber last = PageGetMaxOffsetNumber(page);

		for (i = 0; i < so->nmatches; i++)
		{
			HammingMatch *match = &so->matches[i];
			ItemId		iid;

			if (match->page != page_no || !match->killed ||
				match->offset > last)
				continue;
			iid = PageGetItemId(page, match->offset);
			if (!ItemIdIsDead(iid) &&
				ItemPointerEquals(&match->tid,
								  &page_tuple(page, match->offset)->t_tid))
			{
				ItemIdMarkDead(iid);
				marked = true;
			}
		}
		if (marked)
		{
			BTPageGetOpaque(page)->btpo_flags |= BTP_HAS_GARBAGE;
			MarkBufferDirtyHint(buffer, true);
		}
	}
	UnlockReleaseBuffer(buffer);
}

void
hamming_kill(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	int			page_no;

	for (page_no = 0; page_no < so->npages; page_no++)
	{
		bool		any = false;
		int			i;

		for (i = 0; i < so->nmatches && !any; i++)
			any = so->matches[i].killed && so->matches[i].page == page_no;
		if (any)
			kill_on_page(scan, page_no);
	}
	so->nkilled = 0;
}
