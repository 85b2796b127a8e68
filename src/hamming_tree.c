/*-------------------------------------------------------------------------
 *
 * hamming_tree.c
 *		Going down the tree of a hamming index.
 *
 * The tree is read by the rules of src/backend/access/nbtree/README.  Keys
 * come in ascending order, so the inner pages of the last descent usually
 * serve the next one as well: they stay pinned, not locked, and are looked at
 * again before use.  Page splits only move entries to the right, deletion of
 * pages only hands key space to the right neighbour, so such a page still lies
 * at or to the left of what is looked for; if it was deleted we go up.  Pins
 * on inner pages hold up nobody, as vacuum wants leaf pages alone for itself.
 *
 * What a search costs is mostly waiting for memory, so it touches as little of
 * a page as it can: places are guessed, and high keys read only when needed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "hamming.h"

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
	Size		special = MAXALIGN(sizeof(BTPageOpaqueData));

	if (unlikely(PageIsNew(page) || PageGetSpecialSize(page) != special))
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
void
hamming_lock_page(IndexScanDesc scan, Buffer buffer)
{
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	check_page(scan->indexRelation, buffer);
	simhash_test_old_snapshot(scan->xs_snapshot, scan->indexRelation,
							  BufferGetPage(buffer));
}

/* Complain that pages to the right have come to an end. */
void
hamming_fell_off(IndexScanDesc scan)
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

		hamming_lock_page(scan, buffer);
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
OffsetNumber
hamming_search(Page page, OffsetNumber low, OffsetNumber high, int64 key)
{
	while (low < high)
	{
		OffsetNumber middle = low + (high - low) / 2;

		if (hamming_tuple_key(hamming_page_tuple(page, middle)) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Where a key is on a page, given a guess.  Keys of random fingerprints are
 * spread evenly, and a guess spares most of a binary search, each step of
 * which would wait for memory.
 */
static OffsetNumber
search_near(Page page, OffsetNumber first, int64 key, float place)
{
	int			last = PageGetMaxOffsetNumber(page);
	int			low = first + (int) (place * (last - first)) -
	HAMMING_GUESS_SLACK / 2;
	int			high = low + HAMMING_GUESS_SLACK;

	if (low < first || hamming_tuple_key(hamming_page_tuple(page, low)) >= key)
		low = first;
	if (high > last || hamming_tuple_key(hamming_page_tuple(page, high)) < key)
		high = last + 1;
	return hamming_search(page, low, high, key);
}

/* Does a page end before a key?  Not if the high key is that key. */
static inline bool
ends_before(Page page, int64 key)
{
	return !P_RIGHTMOST(BTPageGetOpaque(page)) && hamming_high_key(page) < key;
}

/*
 * Find the child of an inner page under which keys >= key begin.  Returns
 * false if there is none because the page lies to the left of the key, or is
 * no more.
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
		IndexTuple	before = hamming_page_tuple(page, offset - 1);
		IndexTuple	after = hamming_page_tuple(page, offset);
		int64		left = hamming_tuple_key(before);
		int64		right = hamming_tuple_key(after);

		if (right > left)
			*place = (float) ((uint64) key - (uint64) left) /
				(float) ((uint64) right - (uint64) left);
	}
	*child = BTreeTupleGetDownLink(hamming_page_tuple(page, offset - 1));
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
			hamming_lock_page(scan, step->buffer);
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
Buffer
hamming_seek(IndexScanDesc scan, int64 key, float *place)
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
		hamming_lock_page(scan, buffer);
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
				hamming_fell_off(scan);
			child = next;
			level++;
			CHECK_FOR_INTERRUPTS();
		}
		if (level == 1)
			return ReadBuffer(scan->indexRelation, child);
		buffer = pin_inner_page(scan->indexRelation, child);
		hamming_lock_page(scan, buffer);
	}
}

/* Let go of the inner pages. */
void
hamming_forget_path(HammingScan *so)
{
	int			level;

	for (level = 1; level <= so->height; level++)
	{
		if (BufferIsValid(so->path[level].buffer))
			ReleaseBuffer(so->path[level].buffer);
		so->path[level].buffer = InvalidBuffer;
	}
}
