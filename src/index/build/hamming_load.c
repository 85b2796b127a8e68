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
 * A page that is full hands up its pivot and its number to the level above,
 * before the next one is begun.
 *
 * Pages are written past the buffer manager and logged as images, as nobody
 * else can see the index yet.  A page gets its number when it is begun, and
 * those of upper levels are finished late, so their places are filled with
 * zeros for the time being.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/hamming.h"

#include "access/xloginsert.h"
#include "commands/progress.h"
#include "utils/backend_progress.h"

#include "index/build/hamming_sort.h"

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
	HammingPivot low;			/* pivot of this page, for the parent */
	Size		target;			/* bytes of items that fill a page */
	Size		used;			/* bytes that they take */
} HammingLevel;

typedef struct HammingLoad
{
	Relation	index;
	bool		use_wal;
	HammingEntry last;			/* the entry that was added last */
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
	memset(pivot, 0, sizeof *pivot);
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
		smgrextend(smgr, MAIN_FORKNUM, load->written++, (char *) page,
				   skip_fsync);
	else
		smgrwrite(smgr, MAIN_FORKNUM, blkno, (char *) page, skip_fsync);
}

/* Begin a page of a level; the place of the high key is left open. */
static void
begin_page(HammingLoad *load, int level, BlockNumber left)
{
	HammingLevel *here = &load->levels[level];
	BTPageOpaque opaque;

	PageInit(here->page, BLCKSZ, sizeof(BTPageOpaqueData));
	opaque = BTPageGetOpaque(here->page);
	opaque->btpo_prev = left;
	opaque->btpo_next = P_NONE;
	opaque->btpo_level = level;
	opaque->btpo_flags = level == 0 ? BTP_LEAF : 0;
	((PageHeader) here->page)->pd_lower += sizeof(ItemIdData);
	here->used = 0;
}

/* Begin the level above the present root. */
static void
begin_level(HammingLoad *load)
{
	int			level = ++load->height;
	HammingLevel *here = &load->levels[level];
	BTOptions  *options = (BTOptions *) load->index->rd_options;
	int			fillfactor = options != NULL ? options->fillfactor :
	BTREE_DEFAULT_FILLFACTOR;

	if (level > 0)
		fillfactor = BTREE_NONLEAF_FILLFACTOR;
	here->target = Min(BLCKSZ - SizeOfPageHeaderData -
					   MAXALIGN(sizeof(BTPageOpaqueData)) -
					   ITEM_SIZE(sizeof(HammingPivot)),
					   BLCKSZ * fillfactor / 100);
	make_minus_infinity(&here->low);
	here->page = (Page) simhash_alloc_page();
	here->blkno = load->allocated++;
	begin_page(load, level, P_NONE);
}

/* Is there no place for a tuple on the page being filled?  It takes two. */
static inline bool
is_full(const HammingLevel *here, Size tuple_size)
{
	return here->used + ITEM_SIZE(tuple_size) > here->target &&
		PageGetMaxOffsetNumber(here->page) > P_FIRSTKEY;
}

/* Add a tuple to the page being filled. */
static void
add_item(HammingLevel *here, IndexTuple tuple)
{
	if (PageAddItem(here->page, (char *) tuple, IndexTupleSize(tuple),
					PageGetMaxOffsetNumber(here->page) + 1,
					false, false) == InvalidOffsetNumber)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not add an item to an index page")));
	here->used += ITEM_SIZE(IndexTupleSize(tuple));
}

/* Write a finished page, given its right neighbour and the pivot of that. */
static void
finish_page(HammingLoad *load, HammingLevel *here, const HammingPivot *pivot,
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

static void next_page(HammingLoad *load, int level, const HammingPivot *pivot);

/* Add the downlink of the page at hand of a level to the level above it. */
static void
add_downlink(HammingLoad *load, int level)
{
	HammingPivot pivot = load->levels[level].low;
	HammingLevel *above = &load->levels[level + 1];

	if (level == load->height)
		begin_level(load);
	else if (is_full(above, sizeof(HammingPivot)))
		next_page(load, level + 1, &pivot);
	if (above->used == 0)
		make_minus_infinity(&pivot);
	BTreeTupleSetDownLink(&pivot.tuple, load->levels[level].blkno);
	add_item(above, &pivot.tuple);
}

/*
 * Finish the page of a level, given the pivot of the page that comes next, and
 * begin that page.
 */
static void
next_page(HammingLoad *load, int level, const HammingPivot *pivot)
{
	HammingLevel *here = &load->levels[level];
	BlockNumber left = here->blkno;
	BlockNumber next = load->allocated++;

	finish_page(load, here, pivot, next);
	add_downlink(load, level);
	here->low = *pivot;
	here->blkno = next;
	begin_page(load, level, left);
}

/*
 * Add an entry to the last leaf page, or to a new one.  The pivot of that has a
 * TID only if the entry before has the same key.
 */
static void
add_entry(HammingLoad *load, const HammingEntry *entry)
{
	HammingLevel *leaf = &load->levels[0];
	HammingPivot tuple = {0};

	if (load->height < 0)
		begin_level(load);
	else if (is_full(leaf, HAMMING_ENTRY_SIZE))
	{
		HammingEntry bound = {entry->key, entry->tid & HAMMING_NULL_ENTRY};
		HammingPivot pivot;

		if (entry->key == load->last.key &&
			is_null(entry) == is_null(&load->last))
			bound.tid = load->last.tid;
		make_pivot(&pivot, &bound);
		next_page(load, 0, &pivot);
	}
	put_key(&tuple, entry);
	hamming_unpack_tid(entry->tid & ~HAMMING_NULL_ENTRY, &tuple.tuple.t_tid);
	add_item(leaf, &tuple.tuple);
	load->last = *entry;
}

/* Finish the rightmost pages, then the metapage. */
static void
end_load(HammingLoad *load)
{
	BlockNumber root = P_NONE;
	Page		meta = (Page) simhash_alloc_page();

	for (int level = 0; level <= load->height; level++)
	{
		HammingLevel *here = &load->levels[level];

		if (level < load->height)
			add_downlink(load, level);
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

/* Fill an empty index with the entries that a sort hands out. */
void
hamming_load(Relation index, HammingSort *sort)
{
	HammingLoad *load = (HammingLoad *) palloc0(sizeof(HammingLoad));
	HammingEntry entry;
	int64		done = 0;

	load->index = index;
	load->use_wal = RelationNeedsWAL(index);
	load->allocated = BTREE_METAPAGE + 1;
	load->height = -1;
	while (hamming_sort_next(sort, &entry))
	{
		add_entry(load, &entry);
		if (++done % HAMMING_PER_PAGE != 0)
			continue;
		CHECK_FOR_INTERRUPTS();
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, done);
	}
	end_load(load);
}
