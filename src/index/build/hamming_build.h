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
#include "storage/itemptr.h"
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

/* hamming_sort.c */
extern HammingSort *hamming_sort_begin(int kilobytes);
extern void hamming_sort_put(HammingSort *sort, int64 key, uint64 tid);
extern void hamming_sort_perform(HammingSort *sort);
extern bool hamming_sort_next(HammingSort *sort, HammingEntry *entry);
extern void hamming_sort_end(HammingSort *sort);

/* hamming_load.c */
extern void hamming_load(Relation index, const HammingRead *read,
						 HammingSort *sort);

#endif							/* HAMMING_BUILD_H */
