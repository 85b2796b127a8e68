/*-------------------------------------------------------------------------
 *
 * hamming_sort.h
 *		Sorting the entries of an index, or what is found in several words.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef HAMMING_SORT_H
#define HAMMING_SORT_H

#include "storage/itemptr.h"

/* An entry on its way into the index; or any two numbers, in this order. */
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

#endif							/* HAMMING_SORT_H */
