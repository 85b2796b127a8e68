/*-------------------------------------------------------------------------
 *
 * hamming_check_pages.c
 *		Checking the pages of a hamming index: form, order, and links.
 *
 * Each level is read from left to right, each page under a share lock and
 * copied, so that writers may go on meanwhile.  They can only split pages:
 * deletion of pages is up to vacuum, which the caller keeps out.  A split
 * lowers the high key of a page and never its first key, so what is asked of
 * a child by its parent stays true.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/hamming.h"

#include "index/build/hamming_sort.h"

/* What is checked. */
typedef struct PageCheck
{
	Relation	index;
	const ShLayout *layout;
	bool		quiet;			/* vacuum is kept out */
	HammingSort *entries;		/* where to put the entries; NULL: nowhere */
} PageCheck;

/* The page being checked. */
typedef struct CheckedPage
{
	BlockNumber blkno;
	uint32		level;
	PGAlignedBlock copy;
} CheckedPage;

#define PAGE(checked)	((Page) (checked)->copy.data)
#define OPAQUE(checked) BTPageGetOpaque(PAGE(checked))

/* Complain of a page. */
static void
damaged(PageCheck *check, BlockNumber blkno, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is damaged at block %u",
					RelationGetRelationName(check->index), blkno),
			 errdetail("%s", what),
			 errhint("Please REINDEX it.")));
}

/* Copy a page, and see that its header is that of an index page. */
static void
copy_header(PageCheck *check, BlockNumber blkno, CheckedPage *checked)
{
	Buffer		buffer = ReadBuffer(check->index, blkno);
	Page		page = PAGE(checked);
	PageHeader	header = (PageHeader) page;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(page, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);

	checked->blkno = blkno;
	if (!hamming_is_page(page) || header->pd_lower > header->pd_upper ||
		header->pd_upper > header->pd_special)
		damaged(check, blkno, "The page header is not that of an index page.");
}

/*
 * May a page that a link leads to be deleted, as it says that it is?  The last
 * one of a level never is.  An inner page is deleted at one stroke with the links
 * to it, and so is a leaf page which was half-dead until then; only vacuum does
 * either.
 */
static bool
may_be_deleted(const PageCheck *check, BTPageOpaque opaque)
{
	if (P_RIGHTMOST(opaque))
		return false;
	if (P_ISDELETED(opaque))
		return !check->quiet;
	return P_ISLEAF(opaque);
}

/* Copy a page of the tree, and see that its items lie within it. */
static void
copy_page(PageCheck *check, BlockNumber blkno, CheckedPage *checked)
{
	Page		page = PAGE(checked);
	PageHeader	header = (PageHeader) page;

	if (blkno == P_NONE || blkno >= RelationGetNumberOfBlocks(check->index))
		damaged(check, blkno, "A link leads to a page that does not exist.");
	copy_header(check, blkno, checked);
	if (P_IGNORE(OPAQUE(checked)))
	{
		if (!may_be_deleted(check, OPAQUE(checked)))
			damaged(check, blkno, "A page is deleted, yet links lead to it.");
		return;
	}

	for (OffsetNumber offset = 1;
		 offset <= PageGetMaxOffsetNumber(page); offset++)
	{
		ItemId		iid = PageGetItemId(page, offset);

		if (!ItemIdHasStorage(iid) ||
			ItemIdGetOffset(iid) < header->pd_upper ||
			ItemIdGetOffset(iid) + ItemIdGetLength(iid) > header->pd_special ||
			ItemIdGetLength(iid) < sizeof(IndexTupleData) ||
			ItemIdGetOffset(iid) != MAXALIGN(ItemIdGetOffset(iid)))
			damaged(check, blkno, "An item does not lie within the page.");
	}
}

static inline IndexTuple
checked_item(CheckedPage *checked, OffsetNumber offset)
{
	return (IndexTuple) PageGetItem(PAGE(checked),
									PageGetItemId(PAGE(checked), offset));
}

/* The key of an item, NULL after all others. */
typedef struct CheckedKey
{
	int64		key;
	bool		null;
} CheckedKey;

/* The size of a leaf entry with the key that an item has. */
static inline Size
entry_size(IndexTuple itup)
{
	return IndexTupleHasNulls(itup) ? HAMMING_NULL_SIZE : HAMMING_ENTRY_SIZE;
}

/* The key of an item, which must have one. */
static CheckedKey
item_key(PageCheck *check, CheckedPage *checked, OffsetNumber offset)
{
	IndexTuple	itup = checked_item(checked, offset);
	CheckedKey	key;

	if (ItemIdGetLength(PageGetItemId(PAGE(checked), offset)) <
		entry_size(itup))
		damaged(check, checked->blkno, "An item has no key.");
	key.null = IndexTupleHasNulls(itup);
	key.key = hamming_tuple_key(itup);
	if (key.null && ((uint8 *) itup)[sizeof(IndexTupleData)] != 0)
		damaged(check, checked->blkno, "An item has no key, but is not marked as NULL.");
	return key;
}

/* The order of two keys: below 0, 0, or above. */
static inline int
compare_keys(CheckedKey a, CheckedKey b)
{
	if (a.key != b.key)
		return a.key < b.key ? -1 : 1;
	return a.null - b.null;
}

/* The first item of a page that has a key. */
static OffsetNumber
first_key_offset(CheckedPage *checked)
{
	OffsetNumber first = P_FIRSTDATAKEY(OPAQUE(checked));

	return P_ISLEAF(OPAQUE(checked)) ? first : first + 1;
}

/* See that the keys of a page are in order and within the high key. */
static void
check_order(PageCheck *check, CheckedPage *checked)
{
	OffsetNumber last = PageGetMaxOffsetNumber(PAGE(checked));
	OffsetNumber first = first_key_offset(checked);
	bool		leaf = P_ISLEAF(OPAQUE(checked));

	for (OffsetNumber offset = first; offset <= last; offset++)
	{
		CheckedKey	key = item_key(check, checked, offset);

		if (leaf && (BTreeTupleIsPivot(checked_item(checked, offset)) ||
					 BTreeTupleIsPosting(checked_item(checked, offset)) ||
					 IndexTupleSize(checked_item(checked, offset)) !=
					 entry_size(checked_item(checked, offset))))
			damaged(check, checked->blkno, "An item is not a leaf entry.");
		if (offset > first)
		{
			int			order = compare_keys(item_key(check, checked, offset - 1),
											 key);

			if (order > 0 ||
				(leaf && order == 0 &&
				 ItemPointerCompare(&checked_item(checked, offset - 1)->t_tid,
									&checked_item(checked, offset)->t_tid) >= 0))
				damaged(check, checked->blkno, "Entries are out of order.");
		}
		if (!P_RIGHTMOST(OPAQUE(checked)) &&
			compare_keys(key, item_key(check, checked, P_HIKEY)) > 0)
			damaged(check, checked->blkno, "An entry exceeds the high key.");
	}
}

/* See that a downlink leads to a page of the level below that it bounds. */
static void
check_downlink(PageCheck *check, CheckedPage *parent, OffsetNumber offset,
			   CheckedPage *child)
{
	OffsetNumber first = P_FIRSTDATAKEY(OPAQUE(parent));

	copy_page(check, BTreeTupleGetDownLink(checked_item(parent, offset)), child);
	if (P_IGNORE(OPAQUE(child)))
		return;
	if (OPAQUE(child)->btpo_level + 1 != OPAQUE(parent)->btpo_level)
		damaged(check, parent->blkno, "A downlink leads to another level.");
	if (offset > first &&
		first_key_offset(child) <= PageGetMaxOffsetNumber(PAGE(child)) &&
		compare_keys(item_key(check, child, first_key_offset(child)),
					 item_key(check, parent, offset)) < 0)
		damaged(check, child->blkno, "An entry is below its downlink's key.");
	if (offset < PageGetMaxOffsetNumber(PAGE(parent)) &&
		(P_RIGHTMOST(OPAQUE(child)) ||
		 compare_keys(item_key(check, child, P_HIKEY),
					  item_key(check, parent, offset + 1)) > 0))
		damaged(check, child->blkno,
				"The high key exceeds the next downlink's.");
}

/* Hand the entries of a leaf page to the sort. */
static void
note_entries(PageCheck *check, CheckedPage *checked)
{
	OffsetNumber last = PageGetMaxOffsetNumber(PAGE(checked));
	int			row_entries = hamming_row_entries(check->layout);

	for (OffsetNumber offset = first_key_offset(checked); offset <= last;
		 offset++)
	{
		IndexTuple	itup = checked_item(checked, offset);
		uint64		entry = hamming_entry(hamming_tuple_key(itup));
		int64		place = hamming_pack_tid(&itup->t_tid) * (row_entries + 1);

		if (ItemIdIsDead(PageGetItemId(PAGE(checked), offset)))
			continue;
		if (IndexTupleHasNulls(itup))
			hamming_sort_put(check->entries, place + row_entries, 0);
		else
			hamming_sort_put(check->entries,
							 place + (entry >> check->layout->shift), entry);
	}
}

/* Check one page, and the links from it to the level below. */
static void
check_tree_page(PageCheck *check, CheckedPage *checked, CheckedPage *child)
{
	OffsetNumber offset;

	if (OPAQUE(checked)->btpo_level != checked->level ||
		P_ISLEAF(OPAQUE(checked)) != (checked->level == 0))
		damaged(check, checked->blkno, "The page belongs to another level.");
	check_order(check, checked);
	if (checked->level == 0)
	{
		if (check->entries != NULL)
			note_entries(check, checked);
		return;
	}
	offset = P_FIRSTDATAKEY(OPAQUE(checked));
	if (offset > PageGetMaxOffsetNumber(PAGE(checked)))
		damaged(check, checked->blkno, "An inner page is empty.");
	for (; check->quiet && offset <= PageGetMaxOffsetNumber(PAGE(checked));
		 offset++)
	{
		CHECK_FOR_INTERRUPTS();
		check_downlink(check, checked, offset, child);
	}
}

/*
 * Does a page begin its level?  Pages before it, which its parent does not know any
 * more, may be left half dead by a vacuum that ended in between.
 */
static bool
is_leftmost(PageCheck *check, const CheckedPage *checked, BlockNumber blkno,
			CheckedPage *other)
{
	BlockNumber before = OPAQUE(checked)->btpo_prev;
	BlockNumber pages = 0;

	while (before != P_NONE)
	{
		CHECK_FOR_INTERRUPTS();
		copy_page(check, before, other);
		if (!P_ISHALFDEAD(OPAQUE(other)) || OPAQUE(other)->btpo_next != blkno ||
			++pages > RelationGetNumberOfBlocks(check->index))
			return false;
		blkno = before;
		before = OPAQUE(other)->btpo_prev;
	}
	return true;
}

/*
 * Check a level, given its leftmost page.  Returns the leftmost page of the
 * level below.
 */
static BlockNumber
check_level(PageCheck *check, BlockNumber leftmost, uint32 level,
			CheckedPage *checked, CheckedPage *child)
{
	BlockNumber blkno = leftmost;
	BlockNumber below = P_NONE;
	bool		bounded = false;
	CheckedKey	bound = {0};
	BlockNumber pages = 0;

	while (blkno != P_NONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (++pages > RelationGetNumberOfBlocks(check->index))
			damaged(check, blkno, "The links between the pages of a level form a cycle.");
		copy_page(check, blkno, checked);
		checked->level = level;
		if (blkno == leftmost && !is_leftmost(check, checked, blkno, child))
			damaged(check, blkno, "A level does not begin where it should.");
		if (!P_IGNORE(OPAQUE(checked)))
		{
			OffsetNumber first = first_key_offset(checked);

			check_tree_page(check, checked, child);
			if (bounded && first <= PageGetMaxOffsetNumber(PAGE(checked)) &&
				compare_keys(item_key(check, checked, first), bound) < 0)
				damaged(check, blkno,
						"An entry is below the left neighbour's high key.");
			bounded = !P_RIGHTMOST(OPAQUE(checked));
			if (bounded)
				bound = item_key(check, checked, P_HIKEY);
			first = P_FIRSTDATAKEY(OPAQUE(checked));
			if (below == P_NONE && level > 0)
				below = BTreeTupleGetDownLink(checked_item(checked, first));
		}
		blkno = OPAQUE(checked)->btpo_next;
	}
	return below;
}

/*
 * Check the metapage, and that the fast root which it names can serve as one:
 * a page where its level begins.  Levels of pages never change, nor does the
 * page where one begins unless vacuum deletes it.
 */
static BTMetaPageData
check_meta(PageCheck *check, CheckedPage *checked)
{
	BTMetaPageData meta;

	copy_header(check, BTREE_METAPAGE, checked);
	meta = *BTPageGetMeta(PAGE(checked));
	if (!P_ISMETA(OPAQUE(checked)) || meta.btm_magic != BTREE_MAGIC ||
		meta.btm_version != BTREE_VERSION || meta.btm_allequalimage)
		damaged(check, BTREE_METAPAGE, "The metapage is not that of a hamming index.");
	if (meta.btm_root == P_NONE)
		return meta;
	if (meta.btm_level >= HAMMING_MAX_HEIGHT)
		damaged(check, BTREE_METAPAGE, "The tree is impossibly high.");
	copy_page(check, meta.btm_fastroot, checked);
	if (OPAQUE(checked)->btpo_level != meta.btm_fastlevel ||
		!P_LEFTMOST(OPAQUE(checked)))
		damaged(check, BTREE_METAPAGE, "The fast root is not the page where its level begins.");
	return meta;
}

/*
 * Check the metapage, then each level from the root down.  Entries are put to
 * the sort, if there is one: a row's after each other, that of NULL last.
 */
void
hamming_check_pages(Relation index, const ShLayout *layout, bool quiet,
					HammingSort *entries)
{
	PageCheck	check = {index, layout, quiet, entries};
	CheckedPage *checked = (CheckedPage *) palloc(sizeof(CheckedPage));
	CheckedPage *child = (CheckedPage *) palloc(sizeof(CheckedPage));
	BTMetaPageData meta = check_meta(&check, checked);
	BlockNumber leftmost = meta.btm_root;

	for (int level = meta.btm_level; level >= 0 && leftmost != P_NONE; level--)
		leftmost = check_level(&check, leftmost, level, checked, child);
	pfree(checked);
	pfree(child);
}
