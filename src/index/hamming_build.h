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

#include "storage/itemptr.h"
#include "utils/relcache.h"

/* An entry on its way into the index. */
typedef struct HammingEntry
{
	int64		key;
	uint64		tid;			/* block number << 16 | offset */
} HammingEntry;

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

/* hamming_load.c */
extern HammingLoad *hamming_load_begin(Relation index);
extern void hamming_load_add(HammingLoad *load, const HammingEntry *entry);
extern void hamming_load_end(HammingLoad *load);

#endif							/* HAMMING_BUILD_H */
