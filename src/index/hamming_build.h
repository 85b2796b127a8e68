/*-------------------------------------------------------------------------
 *
 * hamming_build.h
 *		What the files of the index build share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef HAMMING_BUILD_H
#define HAMMING_BUILD_H

#include "access/genam.h"
#include "access/tableam.h"
#include "nodes/execnodes.h"
#include "port/atomics.h"
#include "storage/buffile.h"
#include "storage/dsm.h"
#include "storage/fileset.h"
#include "storage/itemptr.h"
#include "storage/shm_toc.h"
#include "utils/relcache.h"

/* An entry on its way into the index. */
typedef struct HammingEntry
{
	int64		key;
	uint64		tid;			/* block number << 16 | offset */
} HammingEntry;

/*
 * An entry of NULL has the greatest key, and this beside its TID, by which it
 * comes after all others.
 */
#define HAMMING_NULL_ENTRY	(UINT64CONST(1) << 63)

/* What is read of a table to be indexed. */
typedef struct HammingRead
{
	double		rows;			/* that the index gets */
	int64		entries;		/* of these */
} HammingRead;

/* A TID as a number, and back. */
static inline uint64
hamming_pack_tid(ItemPointer tid)
{
	return (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
		ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline void
hamming_unpack_tid(uint64 packed, ItemPointer tid)
{
	ItemPointerSet(tid, packed >> 16, packed & 0xFFFF);
}

typedef struct HammingSort HammingSort;
typedef struct HammingLoad HammingLoad;

/* hamming_sort.c */
extern HammingSort *hamming_sort_begin(int kilobytes);
extern void hamming_sort_put(HammingSort *sort, int64 key, uint64 tid);
extern void hamming_sort_perform(HammingSort *sort);
extern bool hamming_sort_next(HammingSort *sort, HammingEntry *entry);
extern void hamming_sort_end(HammingSort *sort);
extern HammingSort *hamming_sort_begin_part(int kilobytes, FileSet *files,
											int part);
extern void hamming_sort_end_part(HammingSort *sort);
extern HammingSort *hamming_sort_open_parts(FileSet *files, int parts);
extern void hamming_sort_divide(HammingSort *sort, int ranges,
								HammingEntry *bounds);
extern int64 hamming_sort_seek(HammingSort *sort, const HammingEntry *from);

/* hamming_load.c */
extern HammingLoad *hamming_load_begin(Relation index,
									   const HammingRead *read);
extern void hamming_load_reserve(HammingLoad *load);
extern void hamming_load_share(HammingLoad *load, BufFile *pivots,
							   pg_atomic_uint32 *loaded);
extern BlockNumber hamming_load_leaf(HammingLoad *load, int64 entry);
extern void hamming_load_leaves(HammingLoad *load, HammingSort *sort,
								int64 number, BlockNumber from,
								BlockNumber to);
extern void hamming_load_all(HammingLoad *load, HammingSort *sort);
extern void hamming_load_pivots(HammingLoad *load, BufFile *pivots);
extern void hamming_load_end(HammingLoad *load);

/*
 * Puts the entries of the rows that a scan hands out to a sort, and how many
 * there are into *read.  Returns the number of rows.
 */
typedef double (*HammingReadRows) (Relation heap, Relation index,
								   IndexInfo *info, HammingSort *sort,
								   TableScanDesc scan, HammingRead *read);

/* hamming_parallel.c */
extern bool hamming_parallel_build(Relation heap, Relation index,
								   IndexInfo *info, int workers,
								   HammingReadRows read_rows,
								   IndexBuildResult *result);
extern void hamming_parallel_work(dsm_segment *seg, shm_toc *toc,
								  HammingReadRows read_rows);

#endif							/* HAMMING_BUILD_H */
