/*-------------------------------------------------------------------------
 *
 * hamming_load.c
 *		Writing the pages of an index that is being built.
 *
 * Entries come in order, so pages are filled from left to right, each level
 * handing a pivot up for each page that it has finished.  The result is what
 * a btree build would have written, in the format that
 * src/include/access/nbtree.h describes: a page that is not the rightmost of
 * its level begins with a high key, which is the pivot of its right neighbour;
 * the first item of an inner page stands for minus infinity; a pivot carries a
 * TID only where the keys to its left and right are the same.
 *
 * Pages are written past the buffer manager and logged as images, as nobody
 * else can see the index yet.  A page gets its number when it is begun, and
 * pages of upper levels are finished late, so their places are filled with
 * zeros for the time being.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/hamming.h"
#include "index/hamming_build.h"

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

struct HammingLoad
{
	/* stays */
	Relation	index;
	bool		use_wal;
	Size		leaf_target;	/* bytes of items that fill a page */
	Size		inner_target;

	/* moves */
	BlockNumber allocated;		/* pages that have a number */
	BlockNumber written;		/* length of the file */
	char	   *zeros;
	int			height;			/* of the tree so far; -1: nothing in it */
	HammingEntry last;			/* last entry added */
	HammingLevel levels[HAMMING_MAX_HEIGHT];
};

/* Make the pivot that says: what is to the right begins here. */
static void
make_pivot(HammingPivot *pivot, int64 key, const uint64 *tid)
{
	Size		size = HAMMING_ENTRY_SIZE;

	memset(pivot, 0, sizeof(HammingPivot));
	memcpy(pivot->bytes + sizeof(IndexTupleData), &key, sizeof(key));
	if (tid != NULL)
	{
		ItemPointerData pointer;

		hamming_unpack_tid(*tid, &pointer);
		size += MAXALIGN(sizeof(ItemPointerData));
		memcpy(pivot->bytes + size - sizeof(ItemPointerData), &pointer,
			   sizeof(ItemPointerData));
	}
	pivot->tuple.t_info = size;
	BTreeTupleSetNAtts(&pivot->tuple, 1, tid != NULL);
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
	PageSetChecksumInplace(page, blkno);
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
	if (PageAddItem(page, (Item) tuple, IndexTupleSize(tuple), offset,
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
	ItemId		place = PageGetItemId(here->page, P_HIKEY);
	PageHeader	header = (PageHeader) here->page;

	/* The line pointer has been set aside; the tuple goes below the others. */
	header->pd_upper -= MAXALIGN(IndexTupleSize(&pivot->tuple));
	ItemIdSetNormal(place, header->pd_upper, IndexTupleSize(&pivot->tuple));
	memcpy((char *) here->page + header->pd_upper, &pivot->tuple,
		   IndexTupleSize(&pivot->tuple));

	BTPageGetOpaque(here->page)->btpo_next = next;
	write_page(load, blkno, here->page);

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

/* Prepare to fill an empty index. */
HammingLoad *
hamming_load_begin(Relation index)
{
	HammingLoad *load = (HammingLoad *) palloc0(sizeof(HammingLoad));
	BTOptions  *options = (BTOptions *) index->rd_options;
	int			fillfactor = options != NULL ? options->fillfactor :
	BTREE_DEFAULT_FILLFACTOR;
	Size		most = BLCKSZ - SizeOfPageHeaderData -
	MAXALIGN(sizeof(BTPageOpaqueData)) - ITEM_SIZE(sizeof(HammingPivot));

	load->index = index;
	load->use_wal = RelationNeedsWAL(index);
	load->leaf_target = Min(most, (Size) BLCKSZ * fillfactor / 100);
	load->inner_target = Min(most, BLCKSZ * BTREE_NONLEAF_FILLFACTOR / 100);
	load->allocated = BTREE_METAPAGE + 1;
	load->height = -1;
	return load;
}

/* Add the next entry. */
void
hamming_load_add(HammingLoad *load, const HammingEntry *entry)
{
	HammingLevel *leaf = &load->levels[0];
	HammingPivot tuple;

	if (load->height < 0)
		grow(load);
	else if (leaf->used + ITEM_SIZE(HAMMING_ENTRY_SIZE) > load->leaf_target &&
			 leaf->count > 1)
	{
		HammingPivot pivot;

		CHECK_FOR_INTERRUPTS();
		make_pivot(&pivot, entry->key,
				   entry->key == load->last.key ? &load->last.tid : NULL);
		next_page(load, 0, &pivot);
	}

	tuple.tuple.t_info = HAMMING_ENTRY_SIZE;
	hamming_unpack_tid(entry->tid, &tuple.tuple.t_tid);
	memcpy(tuple.bytes + sizeof(IndexTupleData), &entry->key, sizeof(int64));
	add_item(leaf, &tuple.tuple);
	load->last = *entry;
}

/* The rightmost page of a level has no high key: close up its place. */
static void
remove_high_key_place(Page page)
{
	PageHeader	header = (PageHeader) page;

	memmove(PageGetItemId(page, P_HIKEY), PageGetItemId(page, P_FIRSTKEY),
			(PageGetMaxOffsetNumber(page) - 1) * sizeof(ItemIdData));
	header->pd_lower -= sizeof(ItemIdData);
}

/* Finish the rightmost pages, then the metapage. */
void
hamming_load_end(HammingLoad *load)
{
	BlockNumber root = P_NONE;
	Page		meta = (Page) simhash_alloc_page();
	int			level;

	for (level = 0; level <= load->height; level++)
	{
		HammingLevel *here = &load->levels[level];

		if (level < load->height)
			add_downlink(load, level + 1, &here->low, here->blkno);
		else
		{
			BTPageGetOpaque(here->page)->btpo_flags |= BTP_ROOT;
			root = here->blkno;
		}
		remove_high_key_place(here->page);
		write_page(load, here->blkno, here->page);
		pfree(here->page);
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
	if (load->zeros != NULL)
		pfree(load->zeros);
	pfree(load);
}
