/*-------------------------------------------------------------------------
 *
 * hamming_tree.c
 *		Going down the tree of a hamming index.
 *
 * The tree is read by the rules of src/backend/access/nbtree/README; what is
 * assumed of it stands in the README here.
 *
 * A descent ends above the leaf page that it is about: the parent knows which
 * page that is, between which bounds its keys lie, and which is to its right.
 * The leaf page itself is neither pinned nor looked at.  By the time that
 * it is read, it may have been split, or deleted.  Page splits move
 * keys to the right only, and the deletion of a page hands its keys to its
 * right neighbour; so what is sought is on that page or to the right of it. A
 * deleted page leads to the right, and is not put to other use as long as our
 * snapshot lasts.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

#include "storage/predicate.h"

/* Steps from page to page after which to ask how many pages there are. */
#define STEPS_UNASKED	4096

/*
 * Complain of a page that cannot be a page of this index, or has more entries
 * than there is room for where matches are gathered.
 */
static void
require_page(Relation rel, Buffer buffer)
{
	if (unlikely(!hamming_is_page(BufferGetPage(buffer))))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" contains an unexpected page at block %u",
						RelationGetRelationName(rel),
						BufferGetBlockNumber(buffer)),
				 errhint("Please REINDEX it.")));
}

/* Pin and share-lock a page, and see that it is in order. */
Buffer
hamming_get_page(IndexScanDesc scan, BlockNumber blkno)
{
	Buffer		buffer = hamming_pin_page(scan->indexRelation, blkno);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	require_page(scan->indexRelation, buffer);
	simhash_test_old_snapshot(scan->xs_snapshot, scan->indexRelation,
							  BufferGetPage(buffer));
	return buffer;
}

/*
 * Complain if links have been followed from page to page more often than there
 * are pages: they go round in a circle.  How many there are is asked now and
 * then.
 */
void
hamming_note_step(IndexScanDesc scan, BlockNumber *steps)
{
	if (++*steps % STEPS_UNASKED == 0 &&
		*steps > RelationGetNumberOfBlocks(scan->indexRelation))
		hamming_corrupted(scan->indexRelation,
						  "links between pages of index \"%s\" form a cycle");
}

/* The page to the right of one. */
BlockNumber
hamming_right_page(IndexScanDesc scan, Page page)
{
	BlockNumber next = BTPageGetOpaque(page)->btpo_next;

	if (next == P_NONE)
		hamming_corrupted(scan->indexRelation,
						  "fell off the end of index \"%s\"");
	return next;
}

/*
 * Where is the root?  Answer from the relation's cache, as the btree does, or
 * else from the metapage.  Returns NULL if the index is empty.
 */
static BTMetaPageData *
get_meta(Relation rel, bool *cached)
{
	BTMetaPageData *meta = (BTMetaPageData *) rel->rd_amcache;
	Buffer		buffer;

	*cached = meta != NULL;
	if (*cached)
		return meta;

	buffer = ReadBuffer(rel, BTREE_METAPAGE);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	require_page(rel, buffer);
	meta = BTPageGetMeta(BufferGetPage(buffer));
	if (meta->btm_magic != BTREE_MAGIC || meta->btm_version != BTREE_VERSION)
		hamming_corrupted(rel, "index \"%s\" is not a hamming index");
	if (meta->btm_root != P_NONE)
		hamming_copy_metapage(rel, meta);
	UnlockReleaseBuffer(buffer);
	return (BTMetaPageData *) rel->rd_amcache;
}

/*
 * Pin and share-lock the root, or the lowest page that is alone on its level.
 * InvalidBuffer if the index is empty.
 *
 * What the cache says may be long out of date, so it will do only for a page
 * that is alone to this day.  What the metapage says just now will do for any
 * page of that level, as the keys that have left it are to its right: it may
 * have been split meanwhile, or before a crash that came between the split and
 * the new root.
 */
static Buffer
get_root(IndexScanDesc scan)
{
	Relation	rel = scan->indexRelation;
	BTMetaPageData *meta;
	bool		cached;

	while ((meta = get_meta(rel, &cached)) != NULL)
	{
		Buffer		buffer = hamming_get_page(scan, meta->btm_fastroot);
		BTPageOpaque opaque = BTPageGetOpaque(BufferGetPage(buffer));

		if (opaque->btpo_level == meta->btm_fastlevel && P_LEFTMOST(opaque) &&
			(!cached || (P_RIGHTMOST(opaque) && !P_IGNORE(opaque))))
			return buffer;
		if (!cached)
			ereport(ERROR,
					(errcode(ERRCODE_INDEX_CORRUPTED),
					 errmsg("index \"%s\" has no root at block %u",
							RelationGetRelationName(rel), meta->btm_fastroot),
					 errhint("Please REINDEX it.")));

		/* The tree has grown or shrunk since; ask again. */
		UnlockReleaseBuffer(buffer);
		pfree(rel->rd_amcache);
		rel->rd_amcache = NULL;
	}
	return InvalidBuffer;
}

/*
 * Find the child of an inner page where keys >= key begin.  Returns false if the
 * page lies to the left of the key, or is deleted.
 *
 * Note: the first pivot of the page stands for minus infinity and has no key.
 * The high key is read only when all pivots are less than the key.
 */
bool
hamming_find_child(Page page, int64 key, const HammingBounds *here,
				   HammingBounds *child)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber first = P_FIRSTDATAKEY(opaque);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	OffsetNumber offset;

	if (P_IGNORE(opaque))
		return false;
	offset = hamming_search(page, first + 1, last + 1, key);
	child->high = PG_INT64_MAX;
	if (offset <= last)
		child->high = hamming_page_key(page, offset);
	else if (!P_RIGHTMOST(opaque))
		child->high = hamming_page_key(page, P_HIKEY);
	if (child->high < key)
		return false;

	child->low = here->low;
	if (offset > first + 1)
		child->low = hamming_page_key(page, offset - 1) + 1;
	child->blkno = BTreeTupleGetDownLink(hamming_page_tuple(page, offset - 1));
	child->next = InvalidBlockNumber;
	if (offset < last)
	{
		child->next = BTreeTupleGetDownLink(hamming_page_tuple(page, offset));
		child->next_high = hamming_page_key(page, offset + 1);
	}
	child->part = here->part / (last - first + 1);
	child->before = here->before + child->part * (offset - 1 - first);
	return true;
}

/*
 * The page at which a descent begins, locked; InvalidBuffer if the index is empty.  A
 * serializable transaction must hold a predicate lock on what it has looked at: an empty
 * index has no page to lock, so it locks the relation.  An insertion may have come in
 * between, so we look again.
 */
static Buffer
begin_descent(IndexScanDesc scan)
{
	Buffer		buffer = get_root(scan);

	if (BufferIsValid(buffer))
		return buffer;
	PredicateLockRelation(scan->indexRelation, scan->xs_snapshot);
	return get_root(scan);
}

/*
 * Go down to the leaf page where keys >= key begin, or one to the left of it.
 * Returns false if the index is empty.
 *
 * The inner page above it is remembered in *parent, unless that is NULL: who
 * asks for one key after the other mostly comes to the same one.  It is looked
 * at again as any page would be that a link leads to.
 */
bool
hamming_descend(IndexScanDesc scan, int64 key, HammingBounds *parent,
				HammingBounds *leaf)
{
	HammingBounds here = {.low = PG_INT64_MIN,.high = PG_INT64_MAX,.part = 1};
	Buffer		buffer;
	BlockNumber steps = 0;

	if (parent != NULL && hamming_serves(parent, key))
	{
		here = *parent;
		buffer = hamming_get_page(scan, here.blkno);
	}
	else
	{
		buffer = begin_descent(scan);
		if (!BufferIsValid(buffer))
			return false;
		here.blkno = BufferGetBlockNumber(buffer);
	}
	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		uint32		level = BTPageGetOpaque(page)->btpo_level;
		bool		found;

		if (level == 0 && !P_IGNORE(BTPageGetOpaque(page)))
		{
			*leaf = here;
			leaf->next = InvalidBlockNumber;
			break;
		}
		found = level > 0 && hamming_find_child(page, key, &here, leaf);
		if (found && level == 1)
		{
			if (parent != NULL)
				*parent = here;
			break;
		}
		if (found)
			here = *leaf;
		else
		{
			here.blkno = hamming_right_page(scan, page);
			here.low = key;
			here.high = PG_INT64_MAX;
		}
		UnlockReleaseBuffer(buffer);
		hamming_note_step(scan, &steps);
		CHECK_FOR_INTERRUPTS();
		buffer = hamming_get_page(scan, here.blkno);
	}
	UnlockReleaseBuffer(buffer);
	return true;
}
