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

#include "index/hamming_build.h"

/* A check: what stays, and what moves. */
typedef struct HammingCheck
{
	/* stays */
	Relation	heap;
	Relation	index;
	const ShLayout *layout;
	bool		quiet;			/* vacuum is kept out */

	/* moves */
	HammingSort *entries;		/* of the index; NULL: not wanted */
	HammingSort *rows;			/* of the table, likewise */
} HammingCheck;

/* hamming_check_pages.c */
extern void hamming_check_pages(HammingCheck *check);

#endif							/* HAMMING_CHECK_H */
