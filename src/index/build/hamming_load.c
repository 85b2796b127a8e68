/*-------------------------------------------------------------------------
 *
 * hamming_load.c
 *		Writing the pages of an index that is being built.
 *
 * The result is what a btree build would have written, in the format that
 * src/include/access/nbtree.h describes: a page that is not the rightmost of
 * its level begins with a high key, which is the pivot of its right neighbour;
 * the first item of an inner page stands for minus infinity; a pivot carries a
 * TID only where the keys to its left and right are the same.
 *
 * All entries have the same size, or less where the key is NULL, and their
 * number is known, so it is known as well which of them each leaf page gets.  Leaf
 * pages are blocks 1, 2, 3 and so on; inner pages come behind them.  With 366
 * entries to a page:
 *
 *		entries			leaf	block	pivot
 *		0 .. 365		0		1		minus infinity
 *		366 .. 731		1		2		key of entry 366
 *		732 .. 1097		2		3		key of entry 732
 *
 * A leaf page that is full hands up the pivot of the next one, and so does each
 * level above for each page that it has finished.
 *
 * Pages are written past the buffer manager and logged as images, as nobody
 * else can see the index yet.  An inner page gets its number when it is begun,
 * and those of upper levels are finished late, so their places are filled with
 * zeros for the time being.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/backend_progress.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/hamming.h"
#include "index/build/hamming_build.h"

/* Place for a tuple and its line pointer. */
#define ITEM_SIZE(tuple_size)	(MAXALIGN(tuple_size) + sizeof(ItemIdData))

/* A pivot tuple, at most: header, key, TID. */
typedef union HammingPivot
{
	IndexTupleData tuple;
	char		bytes[sizeof(IndexTupleData) + sizeof(int64) +
					  MAXALIGN(sizeof(ItemPointerData))];
	int64		align;
} HammingPivot;

/* The page being filled on one level. */
typedef struct HammingLevel
{
	Page		page;
	BlockNumber blkno;
	BlockNumber left;			/* left neighbour */
	HammingPivot low;			/* pivot of this page, for the parent */
	OffsetNumber count;			/* items on the page */
	Size		used;			/* bytes that they take */
} HammingLevel;

typedef struct HammingLoad
{
	/* stays */
	Relation	index;
	bool		use_wal;
	HammingRead read;			/* what the index is to have */
	int			per_leaf;
	BlockNumber leaves;
	Size		inner_target;	/* bytes of items that fill a page */

	/* moves */
	BlockNumber linked;			/* leaf pages that have a downlink */
	BlockNumber allocated;		/* pages that have a number */
	BlockNumber written;		/* length of the file */
	char	   *zeros;
	int			height;			/* of the tree so far; -1: nothing in it */
	HammingLevel levels[HAMMING_MAX_HEIGHT];
} HammingLoad;

/* Is an entry one of NULL? */
static inline bool
is_null(const HammingEntry *entry)
{
	return (entry->tid & HAMMING_NULL_ENTRY) != 0;
}

/*
 * Put the key of an entry into a tuple whose other bytes are zero, as the
 * bitmap of NULL is.
 */
static void
put_key(HammingPivot *tuple, const HammingEntry *entry)
{
	if (is_null(entry))
		tuple->tuple.t_info = HAMMING_NULL_SIZE | INDEX_NULL_MASK;
	else
	{
		tuple->tuple.t_info = HAMMING_ENTRY_SIZE;
		memcpy(tuple->bytes + sizeof(IndexTupleData), &entry->key,
			   sizeof(entry->key));
	}
}

/*
 * Make the pivot that says: what is to the right begins here.  A TID of 0 is
 * none.
 */
static void
make_pivot(HammingPivot *pivot, const HammingEntry *entry)
{
	uint64		tid = entry->tid & ~HAMMING_NULL_ENTRY;

	memset(pivot, 0, sizeof(HammingPivot));
	put_key(pivot, entry);
	if (tid != 0)
	{
		ItemPointerData pointer;

		hamming_unpack_tid(tid, &pointer);
		pivot->tuple.t_info += MAXALIGN(sizeof(ItemPointerData));
		memcpy(pivot->bytes + IndexTupleSize(&pivot->tuple) -
			   sizeof(ItemPointerData), &pointer, sizeof(ItemPointerData));
	}
	BTreeTupleSetNAtts(&pivot->tuple, 1, tid != 0);
}

/* Make the pivot that stands for minus infinity. */
static void
make_minus_infinity(HammingPivot *pivot)
{
	memset(pivot, 0, sizeof(HammingPivot));
	pivot->tuple.t_info = sizeof(IndexTupleData);
	BTreeTupleSetNAtts(&pivot->tuple, 0, false);
}

/* Write a page to its place in the file. */
static void
write_page(HammingLoad *load, BlockNumber blkno, Page page)
{
	SMgrRelation smgr = RelationGetSmgr(load->index);
	bool		skip_fsync = load->use_wal;

	if (load->use_wal)
		log_newpage(simhash_locator(load->index), MAIN_FORKNUM, blkno, page,
					true);
	while (load->written < blkno)
	{
		if (load->zeros == NULL)
			load->zeros = simhash_alloc_page();
		smgrextend(smgr, MAIN_FORKNUM, load->written++, load->zeros,
				   skip_fsync);
	}
	simhash_set_checksum(page, blkno);
	if (blkno == load->written)
	{
		smgrextend(smgr, MAIN_FORKNUM, blkno, (char *) page, skip_fsync);
		load->written++;
	}
	else
		smgrwrite(smgr, MAIN_FORKNUM, blkno, (char *) page, skip_fsync);
}

/* Begin a page of a level; the place of the high key is left open. */
static void
begin_page(HammingLoad *load, int level, BlockNumber blkno)
{
	HammingLevel *here = &load->levels[level];
	BTPageOpaque opaque;

	if (here->page == NULL)
		here->page = (Page) simhash_alloc_page();
	PageInit(here->page, BLCKSZ, sizeof(BTPageOpaqueData));
	opaque = BTPageGetOpaque(here->page);
	opaque->btpo_prev = here->left;
	opaque->btpo_next = P_NONE;
	opaque->btpo_level = level;
	opaque->btpo_flags = level == 0 ? BTP_LEAF : 0;
	opaque->btpo_cycleid = 0;
	((PageHeader) here->page)->pd_lower += sizeof(ItemIdData);

	here->blkno = blkno;
	here->count = 0;
	here->used = 0;
}

static void
add_tuple(Page page, IndexTuple tuple, OffsetNumber offset)
{
	if (PageAddItem(page, (char *) tuple, IndexTupleSize(tuple), offset,
					false, false) == InvalidOffsetNumber)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not add an item to an index page")));
}

/* Add a tuple to the page being filled. */
static void
add_item(HammingLevel *here, IndexTuple tuple)
{
	add_tuple(here->page, tuple, P_FIRSTKEY + here->count);
	here->count++;
	here->used += ITEM_SIZE(IndexTupleSize(tuple));
}

static void add_downlink(HammingLoad *load, int level, HammingPivot *pivot,
						 BlockNumber child);

/* Begin the level above the present root. */
static void
grow(HammingLoad *load)
{
	int			level = ++load->height;
	HammingLevel *here = &load->levels[level];

	if (level >= HAMMING_MAX_HEIGHT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("hamming index has too many levels")));
	here->left = P_NONE;
	make_minus_infinity(&here->low);
	begin_page(load, level, load->allocated++);
}

/* Write a finished page, given its right neighbour and the pivot of that. */
static void
finish_page(HammingLoad *load, HammingLevel *here, HammingPivot *pivot,
			BlockNumber next)
{
	ItemId		place = PageGetItemId(here->page, P_HIKEY);
	PageHeader	header = (PageHeader) here->page;

	/* The line pointer has been set aside; the tuple goes below the others. */
	header->pd_upper -= MAXALIGN(IndexTupleSize(&pivot->tuple));
	ItemIdSetNormal(place, header->pd_upper, IndexTupleSize(&pivot->tuple));
	memcpy((char *) here->page + header->pd_upper, &pivot->tuple,
		   IndexTupleSize(&pivot->tuple));

	BTPageGetOpaque(here->page)->btpo_next = next;
	write_page(load, here->blkno, here->page);
}

/* The rightmost page of a level has no high key: close up its place. */
static void
finish_rightmost(HammingLoad *load, HammingLevel *here, bool root)
{
	PageHeader	header = (PageHeader) here->page;

	memmove(PageGetItemId(here->page, P_HIKEY),
			PageGetItemId(here->page, P_FIRSTKEY),
			(PageGetMaxOffsetNumber(here->page) - 1) * sizeof(ItemIdData));
	header->pd_lower -= sizeof(ItemIdData);
	if (root)
		BTPageGetOpaque(here->page)->btpo_flags |= BTP_ROOT;
	write_page(load, here->blkno, here->page);
}

/*
 * Finish the page of a level, given the pivot of the page that comes next, and
 * begin that page.
 */
static void
next_page(HammingLoad *load, int level, HammingPivot *pivot)
{
	HammingLevel *here = &load->levels[level];
	BlockNumber blkno = here->blkno;
	BlockNumber next = load->allocated++;
	HammingPivot low = here->low;

	finish_page(load, here, pivot, next);

	here->left = blkno;
	here->low = *pivot;
	begin_page(load, level, next);

	if (level == load->height)
		grow(load);
	add_downlink(load, level + 1, &low, blkno);
}

/* Add the downlink of a finished page to the level above it. */
static void
add_downlink(HammingLoad *load, int level, HammingPivot *pivot,
			 BlockNumber child)
{
	HammingLevel *here = &load->levels[level];

	if (here->count > 1 && here->used + ITEM_SIZE(sizeof(HammingPivot)) >
		load->inner_target)
		next_page(load, level, pivot);

	if (here->count == 0)
		make_minus_infinity(pivot);
	BTreeTupleSetDownLink(&pivot->tuple, child);
	add_item(here, &pivot->tuple);
}

/* The pivot of the next leaf page without a downlink is known: link it. */
static void
link_leaf(HammingLoad *load, const HammingEntry *entry)
{
	HammingPivot pivot;

	make_pivot(&pivot, entry);
	if (load->linked == 0)
	{
		HammingPivot first;

		grow(load);
		make_minus_infinity(&first);
		add_downlink(load, 1, &first, ++load->linked);
	}
	add_downlink(load, 1, &pivot, ++load->linked);
}

/* The leaf pages that the entries take. */
static BlockNumber
count_leaves(const HammingLoad *load)
{
	int64		leaves = (load->read.entries + load->per_leaf - 1) /
	load->per_leaf;

	if (leaves >= MaxBlockNumber)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("hamming index \"%s\" has too many entries",
						RelationGetRelationName(load->index))));
	return (BlockNumber) leaves;
}

/*
 * Prepare to fill an empty index with what was read.  The file becomes as long as
 * the leaf pages need at once: the first inner pages are written before the last
 * of these.
 */
static HammingLoad *
begin_load(Relation index, const HammingRead *read)
{
	HammingLoad *load = (HammingLoad *) palloc0(sizeof(HammingLoad));
	BTOptions  *options = (BTOptions *) index->rd_options;
	int			fillfactor = options != NULL ? options->fillfactor :
	BTREE_DEFAULT_FILLFACTOR;
	Size		most = BLCKSZ - SizeOfPageHeaderData -
	MAXALIGN(sizeof(BTPageOpaqueData)) - ITEM_SIZE(sizeof(HammingPivot));

	load->index = index;
	load->use_wal = RelationNeedsWAL(index);
	load->read = *read;
	load->per_leaf = Min(most, (Size) BLCKSZ * fillfactor / 100) /
		ITEM_SIZE(HAMMING_ENTRY_SIZE);
	load->inner_target = Min(most, BLCKSZ * BTREE_NONLEAF_FILLFACTOR / 100);
	load->leaves = count_leaves(load);
	load->allocated = load->leaves + 1;
	load->written = load->leaves > 0 ? load->leaves + 1 : 0;
	load->height = load->leaves > 0 ? 0 : -1;
	if (load->leaves > 0)
	{
		load->zeros = simhash_alloc_page();
		smgrextend(RelationGetSmgr(index), MAIN_FORKNUM, load->leaves,
				   load->zeros, load->use_wal);
	}
	return load;
}

/* Add an entry to a leaf page. */
static void
add_entry(HammingLevel *leaf, const HammingEntry *entry)
{
	HammingPivot tuple = {0};

	put_key(&tuple, entry);
	hamming_unpack_tid(entry->tid & ~HAMMING_NULL_ENTRY, &tuple.tuple.t_tid);
	add_item(leaf, &tuple.tuple);
}

/* Write a leaf page, given its first entry; that becomes the next page's. */
static void
load_leaf(HammingLoad *load, HammingSort *sort, BlockNumber leaf,
		  HammingEntry *entry)
{
	HammingLevel *here = &load->levels[0];
	bool		last = leaf + 1 == load->leaves;
	bool		more;
	HammingEntry before;
	HammingEntry next;
	HammingPivot pivot;

	here->left = leaf == 0 ? P_NONE : leaf;
	begin_page(load, 0, leaf + 1);
	do
	{
		add_entry(here, entry);
		before = *entry;
		more = hamming_sort_next(sort, entry);
	} while (more && here->count < load->per_leaf);
	if (more == last)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("number of entries of index \"%s\" is not what it was",
						RelationGetRelationName(load->index))));
	if (last)
	{
		finish_rightmost(load, here, leaf == 0);
		return;
	}

	next.key = entry->key;
	next.tid = entry->tid & HAMMING_NULL_ENTRY;
	if (entry->key == before.key && is_null(entry) == is_null(&before))
		next.tid = before.tid;
	make_pivot(&pivot, &next);
	finish_page(load, here, &pivot, leaf + 2);
	link_leaf(load, &next);
}

/* Write all leaf pages, and the inner pages that they fill. */
static void
load_leaves(HammingLoad *load, HammingSort *sort)
{
	HammingEntry entry;

	if (load->leaves > 0)
		hamming_sort_next(sort, &entry);
	for (BlockNumber leaf = 0; leaf < load->leaves; leaf++)
	{
		CHECK_FOR_INTERRUPTS();
		load_leaf(load, sort, leaf, &entry);
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
									 (int64) (load->read.rows * (leaf + 1) /
											  load->leaves));
	}
}

/* Finish the rightmost pages, then the metapage. */
static void
end_load(HammingLoad *load)
{
	BlockNumber root = load->leaves > 0 ? 1 : P_NONE;
	Page		meta = (Page) simhash_alloc_page();

	for (int level = 1; level <= load->height; level++)
	{
		HammingLevel *here = &load->levels[level];

		if (level < load->height)
			add_downlink(load, level + 1, &here->low, here->blkno);
		finish_rightmost(load, here, level == load->height);
		root = here->blkno;
	}

	_bt_initmetapage(meta, root, Max(load->height, 0), false);
	write_page(load, BTREE_METAPAGE, meta);
	pfree(meta);

	/*
	 * The pages were written behind the back of the checkpointer, so a
	 * checkpoint since then has not made them durable, although recovery
	 * would begin there.
	 */
	if (load->use_wal)
		smgrimmedsync(RelationGetSmgr(load->index), MAIN_FORKNUM);
}

/* Fill an empty index with what was read, which the sort hands out. */
void
hamming_load(Relation index, const HammingRead *read, HammingSort *sort)
{
	HammingLoad *load = begin_load(index, read);

	load_leaves(load, sort);
	end_load(load);
}
