/*-------------------------------------------------------------------------
 *
 * rows.h
 *		Rows sorted and collapsed by fingerprint, before pairs are sought.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_ROWS_H
#define SH_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "core/pairs/compare.h"

#define SH_PAIRS_ROWS	INT32_MAX	/* the most rows */

/*
 * Rows by fingerprint.  Distinct fingerprints are numbered in ascending
 * order; rows[first[i]] up to rows[first[i + 1] - 1] are the rows that have
 * number i, in ascending order.  Where rows are in groups, a fingerprint is
 * that of a row combined with its group, and all rows that have it are in the
 * same group.  Where fingerprints have several words, hashes stand in for them,
 * and distinct fingerprints are numbered in the order of these.
 */
typedef struct ShPairs
{
	uint32_t	n;				/* rows */
	uint32_t	distinct;		/* different fingerprints */
	uint64_t   *values;			/* fingerprints of the rows, then distinct */
	uint64_t   *work;			/* two arrays to work in, free for the caller */
	uint64_t   *spare;			/* between calls */
	uint32_t   *rows;
	uint32_t   *first;
	uint32_t   *directory;		/* where values with given leading bits begin */
	int			directory_shift;
	uint32_t   *ends;			/* where the values with each key end */

	const uint32_t *groups;		/* of the rows, or NULL if all are in one */
	uint64_t	seed;			/* any number, for hashes */

	const uint64_t *wide;		/* the words of each row, or NULL */
	int			words;			/* of a row, if so */

	const ShCompareKind *kind;	/* how to compare */

	/*
	 * Called now and then with the part that is done, 0 to 1; need not
	 * return.
	 */
	void		(*progress) (void *context, double done);
	void	   *progress_context;
	double		progress_start; /* what is done before the search */
	double		progress_share; /* what the search adds */
} ShPairs;

/* Tell that such a part is done, if anybody wants to know. */
static inline void
sh_pairs_tell(const ShPairs *pairs, double done)
{
	if (pairs->progress != NULL)
		pairs->progress(pairs->progress_context, done);
}

/* The hash of a group, by any number. */
static inline uint64_t
sh_group_hash(uint64_t seed, uint32_t group)
{
	return sh_mix(seed + group * UINT64_C(0x9e3779b97f4a7c15));
}

/* The row that comes first of those with a fingerprint. */
static inline uint32_t
sh_pairs_first_row(const ShPairs *pairs, uint32_t number)
{
	return pairs->rows[pairs->first[number]];
}

/* The group of the rows that have a fingerprint. */
static inline uint32_t
sh_pairs_group(const ShPairs *pairs, uint32_t number)
{
	return pairs->groups == NULL ? 0
		: pairs->groups[sh_pairs_first_row(pairs, number)];
}

extern size_t sh_pairs_bytes(uint32_t n);
extern int	sh_pairs_key_bits(uint32_t n);
extern void sh_pairs_begin(ShPairs *pairs, uint64_t *values, void *memory,
						   uint32_t n);
extern void sh_pairs_collapse(ShPairs *pairs);
extern void sh_pairs_fetch_number(const ShPairs *pairs, uint64_t value);
extern uint32_t sh_pairs_number(const ShPairs *pairs, uint64_t value);
extern uint32_t *sh_pairs_number_rows(const ShPairs *pairs);

#endif							/* SH_ROWS_H */
