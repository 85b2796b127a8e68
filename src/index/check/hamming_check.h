/*-------------------------------------------------------------------------
 *
 * hamming_check.h
 *		What the files of hamming_index_check() share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef HAMMING_CHECK_H
#define HAMMING_CHECK_H

#include "utils/relcache.h"

#include "index/build/hamming_sort.h"

/* A check: what stays, and what moves. */
typedef struct HammingCheck
{
	/* stays */
	Relation	heap;
	Relation	index;
	HammingIndexState state;
	const ShLayout *layout;		/* of that */
	bool		quiet;			/* vacuum is kept out */

	/* moves */
	HammingSort *entries;		/* of the index; NULL: not wanted */
	HammingSort *rows;			/* of the table, likewise */
} HammingCheck;

/*
 * Places that a row takes in the order of all words, or of all entries: one
 * more for that of NULL.
 */
static inline int
hamming_check_places(int count)
{
	return count + 1;
}

/* hamming_check_pages.c */
extern void hamming_check_pages(HammingCheck *check);

#endif							/* HAMMING_CHECK_H */
