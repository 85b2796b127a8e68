/*-------------------------------------------------------------------------
 *
 * hamming_tree.c
 *		Going down the tree of a hamming index.
 *
 * The tree is read by the rules of src/backend/access/nbtree/README; what is
 * assumed of it stands in the README here.
 *
 * Runs come in ascending order of their keys, so the pages of the last descent
 * usually serve the next one as well.  They make up the path: by level, the
 * number of a page and the bounds of its keys, as its parent gave them.  For
 * example, a search for key 1000 came from the root, which has the keys up to
 * 9000, through page 7, 900 to 2000, to leaf page 52, 980 to 1010.  A run that
 * begins at 1005 is on page 52; one at 1800 is found by way of page 7; one at
 * 3000 from the root.
 *
 * A page of the path may have changed since, and is looked at under a lock
 * before use.  Page splits move keys to the right only, and the deletion of a
 * page hands its keys to its right neighbour.  So the page sought is the one
 * of the path or lies to the right of it.  If a page of the path is deleted,
 * we go up a level.  It is not put to other use as long as our snapshot lasts.
 *
 * While pages are being read, the inner pages of the path stay pinned, but not
 * locked.  That holds up nobody, as vacuum wants leaf pages alone for itself.
 * But many scans may be open at once, and buffers few, so these pins are let
 * go whenever a batch of matches is handed out.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/hamming_scan.h"
#include "index/hamming_tricks.h"

/* Steps from page to page after which to ask how many pages there are. */
#define STEPS_UNASKED	4096

/*
 * Complain of a page that cannot be a page of this index, or has more entries
 * than there is room for where matches are gathered.
 */
static void
check_page(Relation rel, Buffer buffer)
{
	if (unlikely(!hamming_is_page(BufferGetPage(buffer))))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" contains an unexpected page at block %u",
						RelationGetRelationName(rel),
						BufferGetBlockNumber(buffer)),
				 errhint("Please REINDEX it.")));
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

/* Complain that the keys of inner pages are out of order. */
void
hamming_went_back(IndexScanDesc scan)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("keys of index \"%s\" are out of order",
					RelationGetRelationName(scan->indexRelation)),
			 errhint("Please REINDEX it.")));
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
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("links of index \"%s\" go round in a circle",
						RelationGetRelationName(scan->indexRelation)),
				 errhint("Please REINDEX it.")));
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
		Buffer		buffer = hamming_pin_page(rel, meta->btm_fastroot);
		BTPageOpaque opaque;

		hamming_lock_page(scan, buffer);
		opaque = BTPageGetOpaque(BufferGetPage(buffer));
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
 * How far between the bounds of a page a key is.  That is where its entry is
 * to be expected, were keys spread evenly: 0 first, 1 last.
 */
static inline float
place_of(const HammingChild *page, int64 key)
{
	uint64		span = (uint64) page->high - (uint64) page->low;

	return (float) ((uint64) key - (uint64) page->low) / ((float) span + 1);
}

/* Do keys >= key begin on a page, going by its bounds? */
static inline bool
serves(const HammingChild *page, int64 key)
{
	return page->low <= key && key <= page->high;
}

/* Have a page serve no key. */
static inline void
forget(HammingChild *page)
{
	page->low = PG_INT64_MAX;
	page->high = PG_INT64_MIN;
	page->next = InvalidBlockNumber;
}

/* Let go of the pin on an inner page. */
static inline void
unpin_step(HammingStep *step)
{
	if (BufferIsValid(step->buffer))
		ReleaseBuffer(step->buffer);
	step->buffer = InvalidBuffer;
}

/*
 * Find the child of an inner page where keys >= key begin.  "known" has the
 * bounds of the page.  Returns false if the page lies to the left of the key,
 * or is deleted.
 *
 * Precondition: the page is locked.
 *
 * Note: the first pivot of the page stands for minus infinity and has no key.
 * The high key is read only when all pivots are less than the key.
 */
static bool
find_child(Page page, int64 key, const HammingChild *known,
		   HammingChild *child)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber first = P_FIRSTDATAKEY(opaque);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	OffsetNumber offset;
	IndexTuple	before;

	if (P_IGNORE(opaque))
		return false;
	offset = hamming_find_pivot(page, first + 1, key, place_of(known, key));
	child->next = InvalidBlockNumber;
	if (offset <= last)
	{
		IndexTuple	after = hamming_page_tuple(page, offset);

		child->high = hamming_tuple_key(after);
		if (offset < last)
		{
			child->next = BTreeTupleGetDownLink(after);
			child->next_high = hamming_page_key(page, offset + 1);
		}
	}
	else
	{
		child->high = P_RIGHTMOST(opaque) ? PG_INT64_MAX :
			hamming_high_key(page);
		if (child->high < key)
			return false;
	}

	before = hamming_page_tuple(page, offset - 1);
	child->low = known->low;
	if (offset > first + 1)
		child->low = hamming_tuple_key(before) + 1;
	child->blkno = BTreeTupleGetDownLink(before);
	return true;
}

/*
 * Find the next page down to a key from the lowest inner page of the last
 * descent that serves it, letting go of those that do not.  Returns the level
 * of that inner page, or 0 if there is none.
 */
static int
reuse_path(IndexScanDesc scan, int64 key, HammingChild *child)
{
	HammingTree *tree = &((HammingScan *) scan->opaque)->tree;
	int			level;

	for (level = 1; level <= tree->height; level++)
	{
		HammingStep *step = &tree->path[level];

		if (serves(&step->page, key))
		{
			bool		found;

			if (!BufferIsValid(step->buffer))
				step->buffer = hamming_pin_page(scan->indexRelation,
												step->page.blkno);
			hamming_lock_page(scan, step->buffer);
			found = find_child(BufferGetPage(step->buffer), key, &step->page,
							   child);
			LockBuffer(step->buffer, BUFFER_LOCK_UNLOCK);
			if (found)
				return level;
		}
		unpin_step(step);
		forget(&step->page);
	}
	return 0;
}

/*
 * Put an inner page into the path.  Precondition: it is pinned, not locked;
 * the pin becomes the path's.
 */
static void
keep_step(HammingTree *tree, Buffer buffer, int level, const HammingChild *page)
{
	if (level >= HAMMING_MAX_HEIGHT)
	{
		ReleaseBuffer(buffer);
		return;
	}
	tree->path[level].buffer = buffer;
	tree->path[level].page = *page;
	tree->height = Max(tree->height, level);
}

/*
 * Go down to the leaf page where keys >= key begin, or one to the left of it.
 * Returns false if the index is empty.
 */
bool
hamming_descend(IndexScanDesc scan, int64 key, HammingChild *page)
{
	HammingTree *tree = &((HammingScan *) scan->opaque)->tree;
	int			level = reuse_path(scan, key, page);
	Buffer		buffer = InvalidBuffer;
	BlockNumber steps = 0;

	if (level == 0)
	{
		buffer = get_root(scan);
		if (!BufferIsValid(buffer))
			return false;
		page->blkno = BufferGetBlockNumber(buffer);
		page->next = InvalidBlockNumber;
		page->low = PG_INT64_MIN;
		page->high = PG_INT64_MAX;
	}
	while (level != 1)
	{
		HammingChild child;
		BTPageOpaque opaque;
		BlockNumber next;
		bool		found;

		if (!BufferIsValid(buffer))
		{
			buffer = hamming_pin_page(scan->indexRelation, page->blkno);
			hamming_lock_page(scan, buffer);
		}
		opaque = BTPageGetOpaque(BufferGetPage(buffer));
		next = opaque->btpo_next;
		level = opaque->btpo_level;
		if (P_ISLEAF(opaque) && !P_IGNORE(opaque))
		{
			UnlockReleaseBuffer(buffer);
			return true;
		}
		found = find_child(BufferGetPage(buffer), key, page, &child);
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		if (found)
		{
			keep_step(tree, buffer, level, page);
			*page = child;
		}
		else
		{
			ReleaseBuffer(buffer);
			if (next == P_NONE)
				hamming_fell_off(scan);
			page->blkno = next;
			page->next = InvalidBlockNumber;
			page->low = key;
			page->high = PG_INT64_MAX;
			level++;
		}
		buffer = InvalidBuffer;
		hamming_note_step(scan, &steps);
		CHECK_FOR_INTERRUPTS();
	}
	return true;
}

/* Go to the right neighbour of a page, if it is known to serve a key. */
static inline bool
go_right(const HammingChild *from, int64 key, HammingChild *to)
{
	if (!BlockNumberIsValid(from->next) || key <= from->high ||
		key > from->next_high)
		return false;
	to->blkno = from->next;
	to->low = from->high + 1;
	to->high = from->next_high;
	to->next = InvalidBlockNumber;
	return true;
}

/* The first key of those that share the query's own key of a block. */
static inline int64
center_key(HammingScan *so, int block)
{
	return hamming_key(sh_entry_first(so->layout, so->runs.word, block,
									  sh_entry_key(so->layout, so->runs.center,
												   block)));
}

/* The leaf page where the query's own key begins in a block of a word. */
HammingChild *
hamming_center(HammingScan *so, int block)
{
	return &so->tree.centers[so->runs.word * so->layout->blocks + block];
}

/* Have a run begin on a page that serves its first key. */
void
hamming_place(const HammingChild *leaf, HammingRun *run)
{
	run->blkno = leaf->blkno;
	run->place = place_of(leaf, run->low);
	run->steps = 0;
}

/*
 * Tell where a run begins: at a leaf page, or at one to the left of it by
 * the time that we get there.  Returns what is known of that page, or NULL if
 * the index is empty.
 *
 * The page is not pinned.  Should it be deleted meanwhile, it cannot be put to
 * other use as long as our snapshot lasts, and leads to the right.
 */
const HammingChild *
hamming_locate(IndexScanDesc scan, HammingRun *run)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingChild *leaf = &so->tree.path[0].page;
	HammingChild *center = hamming_center(so, run->pass->block);

	if (serves(center, run->low))
		leaf = center;
	else if (!serves(leaf, run->low) && !go_right(leaf, run->low, leaf) &&
			 !go_right(center, run->low, leaf) &&
			 !hamming_descend(scan, run->low, leaf))
		return NULL;
	hamming_place(leaf, run);
	return leaf;
}

/*
 * Do the keys from .. to take more than so many leaf pages?
 *
 * Precondition: hamming_descend() was called for "from" just before.  So the
 * lowest inner page of the path knows the leaf page where these keys begin,
 * and we count leaf pages on that inner page alone.  If it ends before we have
 * counted so many, the answer is whether the keys go on beyond it.
 */
bool
hamming_reaches(HammingTree *tree, int64 from, int64 to, int pages)
{
	HammingStep *step = &tree->path[1];
	OffsetNumber offset;
	Page		page;
	bool		result = false;

	if (tree->height < 1 || !BufferIsValid(step->buffer) ||
		!serves(&step->page, from))
		return false;
	LockBuffer(step->buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(step->buffer);
	if (!P_IGNORE(BTPageGetOpaque(page)))
	{
		OffsetNumber first = P_FIRSTDATAKEY(BTPageGetOpaque(page)) + 1;
		OffsetNumber last = PageGetMaxOffsetNumber(page);

		offset = hamming_find_pivot(page, first, from,
									place_of(&step->page, from));
		if (offset + pages > last)
			result = !P_RIGHTMOST(BTPageGetOpaque(page)) &&
				hamming_high_key(page) <= to;
		else
		{
			IndexTuple	end = hamming_page_tuple(page, offset + pages);

			result = hamming_tuple_key(end) <= to;
		}
	}
	LockBuffer(step->buffer, BUFFER_LOCK_UNLOCK);
	return result;
}

/*
 * About what share of all entries is less than a key, going by the upper
 * levels of the tree.
 */
double
hamming_share(IndexScanDesc scan, int64 key)
{
	Buffer		buffer = get_root(scan);
	HammingChild page = {InvalidBlockNumber, InvalidBlockNumber,
	PG_INT64_MIN, PG_INT64_MAX, PG_INT64_MAX};
	double		share = 0;
	double		part = 1;
	BlockNumber steps = 0;

	while (BufferIsValid(buffer))
	{
		Page		contents = BufferGetPage(buffer);
		BTPageOpaque opaque = BTPageGetOpaque(contents);
		OffsetNumber first = P_FIRSTDATAKEY(opaque);
		OffsetNumber last = PageGetMaxOffsetNumber(contents);
		HammingChild child;
		bool		found = false;

		if (!P_IGNORE(opaque) && !P_ISLEAF(opaque) && last >= first)
		{
			OffsetNumber offset = hamming_find_pivot(contents, first + 1, key,
													 place_of(&page, key));

			part /= last - first + 1;
			share += part * (offset - 1 - first);
			found = opaque->btpo_level > 1 &&
				find_child(contents, key, &page, &child);
		}
		UnlockReleaseBuffer(buffer);
		if (!found)
			break;
		hamming_note_step(scan, &steps);
		page = child;
		buffer = hamming_pin_page(scan->indexRelation, page.blkno);
		hamming_lock_page(scan, buffer);
	}
	return share;
}

/*
 * Go down from a level of inner pages towards the query's own keys, in all
 * blocks that are searched of the word at hand; "buffer" is the first page, if
 * it is locked already.  Returns false where a page is not what it was.  Keys
 * on the same page follow each other.
 */
static bool
step_to_centers(IndexScanDesc scan, Buffer buffer, uint32 level,
				const int64 *keys)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	BlockNumber blkno = InvalidBlockNumber;
	bool		found = true;
	int			block;

	for (block = 0; found && block < so->layout->blocks; block++)
	{
		HammingChild *center = hamming_center(so, block);
		HammingChild child;

		if (so->plan.radius[block] < 0)
			continue;
		if (BufferIsValid(buffer) && blkno != center->blkno &&
			BlockNumberIsValid(blkno))
		{
			UnlockReleaseBuffer(buffer);
			buffer = InvalidBuffer;
		}
		blkno = center->blkno;
		if (!BufferIsValid(buffer))
		{
			buffer = hamming_pin_page(scan->indexRelation, blkno);
			hamming_lock_page(scan, buffer);
		}
		found = BTPageGetOpaque(BufferGetPage(buffer))->btpo_level == level &&
			find_child(BufferGetPage(buffer), keys[block], center, &child);
		if (found)
			*center = child;
	}
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
	return found;
}

/*
 * Find the leaf pages where the query's own keys begin, in the blocks that are
 * searched of the word at hand, all in one descent.  Whoever needs one that
 * was not found looks for it by hamming_descend().
 */
void
hamming_find_centers(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	Buffer		buffer = get_root(scan);
	int64		keys[SH_WORD_BLOCKS];
	bool		found = true;
	uint32		level;
	int			block;

	if (!BufferIsValid(buffer))
		return;
	level = BTPageGetOpaque(BufferGetPage(buffer))->btpo_level;
	if (level == 0)
	{
		UnlockReleaseBuffer(buffer);
		return;
	}
	for (block = 0; block < so->layout->blocks; block++)
	{
		HammingChild *center = hamming_center(so, block);

		center->blkno = BufferGetBlockNumber(buffer);
		center->low = PG_INT64_MIN;
		center->high = PG_INT64_MAX;
		keys[block] = center_key(so, block);
	}
	for (; found && level > 0; level--)
	{
		found = step_to_centers(scan, buffer, level, keys);
		buffer = InvalidBuffer;
	}
	for (block = 0; block < so->layout->blocks; block++)
	{
		if (!found || so->plan.radius[block] < 0)
			forget(hamming_center(so, block));
	}
}

/* Let go of the inner pages, but remember where they are. */
void
hamming_unpin_path(HammingTree *tree)
{
	int			level;

	for (level = 1; level <= tree->height; level++)
		unpin_step(&tree->path[level]);
}

/* Forget the pages that are remembered. */
void
hamming_forget_path(HammingTree *tree)
{
	int			level;
	int			block;

	hamming_unpin_path(tree);
	for (level = 0; level <= tree->height; level++)
		forget(&tree->path[level].page);
	tree->height = 0;
	for (block = 0; block < tree->ncenters; block++)
		forget(&tree->centers[block]);
}
