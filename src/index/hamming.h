/*-------------------------------------------------------------------------
 *
 * hamming.h
 *		The hamming access method: exact Hamming search by an index.
 *
 * In come rows with fingerprints, and scans with conditions "within a radius
 * of" and orders "by the distance from"; out come the rows that meet them, each
 * once and none missing.  The handler, values, columns, costs and insertion are
 * in this folder, CREATE INDEX in build/, scans in scan/, hamming_index_check() in
 * check/.
 *
 * The index is a btree on one bigint key, whatever its columns, kept by
 * PostgreSQL's own btree code: insertion, page splits, vacuum, write-ahead log
 * and recovery are the btree's.  Each row has an entry in it for each block of
 * its fingerprint, four of 64 bits (entries.c, layout.c); a row without one has
 * a single entry, whose key is NULL.  These come last.  Ours are the bulk
 * load, which writes the pages that a btree build would write, and the scan,
 * which reads leaf pages directly and compares fingerprints there.  README says
 * what that rests on.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef HAMMING_H
#define HAMMING_H

#include "core/blocks/entries.h"
#include "search/search.h"

#include "access/itup.h"
#include "access/nbtree.h"

/* Levels of a btree, at most: more than as many pages as a file has can make. */
#define HAMMING_MAX_HEIGHT	16

/*
 * Support functions of the operator classes.  Every class has the comparison of
 * what is stored; one for columns that are compared by = has the hash of a
 * value, too, and no class for fingerprints has it.
 */
#define HAMMING_COMPARE_PROC		1	/* as the btree code wants it */
#define HAMMING_HASH_PROC			2
#define HAMMING_PROCS				2

/* Phases of a build, for pg_stat_progress_create_index. */
#define HAMMING_PHASE_SCAN			2
#define HAMMING_PHASE_SORT			3
#define HAMMING_PHASE_LOAD			4

/*
 * A leaf entry: tuple header and key, or the bitmap that says that the key is
 * NULL.  A line pointer comes besides.
 */
#define HAMMING_ENTRY_SIZE	(sizeof(IndexTupleData) + sizeof(int64))
#define HAMMING_NULL_SIZE \
	MAXALIGN(sizeof(IndexTupleData) + sizeof(IndexAttributeBitMapData))

/* Entries that an index holds of each row that has a fingerprint; and at most. */
#define HAMMING_MOST_ENTRIES	(SH_MAX_WORDS * SH_WORD_BLOCKS)

static inline int
hamming_row_entries(const ShLayout *layout)
{
	return layout->words * layout->blocks;
}

/* Entries that fit on a page, and pivots likewise, of which one has no key. */
#define HAMMING_PAGE_ENTRIES \
	((int) (BLCKSZ / (Min(HAMMING_ENTRY_SIZE, HAMMING_NULL_SIZE) + \
					  sizeof(ItemIdData))))

/* The units of a word, when each has as many as any other, or one more. */
static inline int
hamming_even_units(const ShLayout *layout, int k, int word)
{
	return (k + 1) / layout->words + (word < (k + 1) % layout->words);
}

/* Entries on a leaf page that page splits and fill factor leave, usually. */
#define HAMMING_PER_PAGE	330

/* What is where a tuple has its key, be that NULL or not. */
static inline int64
hamming_raw_key(IndexTuple itup)
{
	return *(int64 *) ((char *) itup + sizeof(IndexTupleData));
}

/* The key of a tuple.  NULL comes last, and may be taken for the greatest key. */
static inline int64
hamming_tuple_key(IndexTuple itup)
{
	return IndexTupleHasNulls(itup) ? PG_INT64_MAX : hamming_raw_key(itup);
}

/* Unsigned entries in the order of the btree's signed keys, and back. */
static inline int64
hamming_key(uint64 entry)
{
	return (int64) (entry ^ (UINT64CONST(1) << 63));
}

static inline uint64
hamming_entry(int64 key)
{
	return (uint64) key ^ (UINT64CONST(1) << 63);
}

/* Can a page be one of an index, with no more items than fit? */
static inline bool
hamming_is_page(Page page)
{
	return !PageIsNew(page) &&
		PageGetSpecialSize(page) == MAXALIGN(sizeof(BTPageOpaqueData)) &&
		PageGetMaxOffsetNumber(page) <= HAMMING_PAGE_ENTRIES;
}

/*
 * A tuple of a page.  A search does not look whether line pointers are in order
 * (hamming_index_check() does): where they are damaged this leads to some other
 * place in shared memory, no farther than 32 kB.  What is found there may only
 * be compared, or be followed by code that looks first where it leads.  So this
 * is not PageGetItem(), which asserts that the line pointer is in order.
 */
static inline IndexTuple
hamming_page_tuple(Page page, OffsetNumber offset)
{
	return (IndexTuple) ((char *) page +
						 ItemIdGetOffset(PageGetItemId(page, offset)));
}

/* The key of a tuple of a page. */
static inline int64
hamming_page_key(Page page, OffsetNumber offset)
{
	return hamming_tuple_key(hamming_page_tuple(page, offset));
}

/* May keys up to "high", which is not NULL, go on to the right of a page? */
static inline bool
hamming_goes_right(Page page, int64 high)
{
	IndexTuple	bound = hamming_page_tuple(page, P_HIKEY);

	return !P_RIGHTMOST(BTPageGetOpaque(page)) &&
		!IndexTupleHasNulls(bound) && hamming_raw_key(bound) <= high;
}

/* The first offset in [low, high) whose key is >= key, or high. */
static inline OffsetNumber
hamming_search(Page page, OffsetNumber low, OffsetNumber high, int64 key)
{
	while (low < high)
	{
		OffsetNumber middle = low + (high - low) / 2;

		if (hamming_page_key(page, middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What an index is; see hamming_value.c. */
typedef struct HammingIndexState
{
	int			columns;
	int			fingerprint;	/* the column of fingerprints, from 0 on */
	SimhashSearched indexed;	/* what that has */
	const ShLayout *layout;		/* how it is cut */
} HammingIndexState;

/* hamming_am.c */
extern void hamming_init(void);
extern Datum hamming_handler(PG_FUNCTION_ARGS);
extern Relation hamming_open_index(Oid oid, LOCKMODE table_lock,
								   Relation *table);
extern void hamming_require_usable(Relation index);

/* hamming_validate.c */
extern bool hamming_validate(Oid opclass);

/* hamming_btree.c */
extern void hamming_corrupted(Relation index, const char *message);
extern void hamming_copy_metapage(Relation to, const void *meta);
extern Relation hamming_btree_view(Relation index, MemoryContext context);
extern void hamming_show_view(Relation view, Relation index);
extern void hamming_leave_view(Relation view, Relation index);

/* hamming_columns.c */
extern int	hamming_fingerprint_column(Relation index);
extern Node *hamming_column_expression(Relation index, int column);
extern Oid	hamming_column_type(Relation index, int column);
extern void hamming_check_columns(Relation index);
extern uint64 hamming_add_to_shift(uint64 shift, Relation index, int column,
								   Datum value, Oid type);

/* hamming_value.c */
extern const ShLayout *hamming_layout_of_width(int width);
extern int	hamming_random_radius(const ShLayout *layout, double rows);
extern void hamming_init_state(Relation index, HammingIndexState *state);
extern int	hamming_known_state(Relation index, HammingIndexState *state);
extern void hamming_shift(const ShLayout *layout, uint64 shift,
						  ShValue *value);
extern bool hamming_cut_ball(const HammingIndexState *state, Datum datum,
							 ShValue *center, int *radius);
extern bool hamming_cut(const HammingIndexState *state, Datum datum,
						ShValue *value);
extern int	hamming_row(Relation index, const HammingIndexState *state,
						Datum *values, bool *isnull, uint64 *entries);

struct HammingSort;

/* hamming_build.c */
extern IndexBuildResult *hamming_build(Relation heap, Relation index,
									   IndexInfo *info);

/* hamming_load.c */
extern void hamming_load(Relation index, struct HammingSort *sort);

/*
 * Called when all entries of a row are in an index, with what is in the column of
 * fingerprints; NULL unless the guard wants to know.
 */
typedef void (*HammingInserted) (Relation heap, Oid index, Datum value,
								 ItemPointer tid);

/* hamming_insert.c */
extern HammingInserted hamming_inserted_hook;
extern bool hamming_insert(Relation index, Datum *values, bool *isnull,
						   ItemPointer tid, Relation heap,
						   IndexUniqueCheck check, bool unchanged,
						   IndexInfo *info);

/* hamming_warm.c */
extern void hamming_warm(Relation index, const int64 *keys, int count);

/* hamming_check_pages.c */
extern void hamming_check_pages(Relation index, const ShLayout *layout,
								bool quiet, struct HammingSort *entries);

/* hamming_scan.c */
extern IndexScanDesc hamming_beginscan(Relation index, int nkeys,
									   int norderbys);
extern void hamming_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						   ScanKey orderbys, int norderbys);
extern bool hamming_gettuple(IndexScanDesc scan, ScanDirection dir);
extern int64 hamming_getbitmap(IndexScanDesc scan, TIDBitmap *tbm);
extern void hamming_endscan(IndexScanDesc scan);

/* hamming_cost.c */
extern void hamming_costestimate(PlannerInfo *root, IndexPath *path,
								 double loop_count, Cost *startup,
								 Cost *total, Selectivity *selectivity,
								 double *correlation, double *pages);

#endif							/* HAMMING_H */
