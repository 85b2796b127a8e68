/*-------------------------------------------------------------------------
 *
 * tally.h
 *		How often features occur, and when that adds to their weight.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_TALLY_H
#define SH_TALLY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bits.h"

/* Part of the specification: features after which counting starts anew. */
#define SH_SECTION		(1 << 20)

/* How the number of times that a feature occurs becomes its weight. */
typedef enum ShDamping
{
	SH_DAMP_COUNT,				/* n */
	SH_DAMP_SQRT,				/* floor(sqrt(n)) */
	SH_DAMP_LOG,				/* 1 + floor(log2(n)) */
	SH_DAMP_BINARY,				/* 1 */
	SH_DAMP_CAPPED				/* 2 min(n, 4) - 1 */
} ShDamping;

/* Part of the specification: what occurs more often weighs no more. */
#define SH_CAP			4

/*
 * How often each feature of a section has occurred.  The multiplier, odd and
 * best chosen at random, spreads hashes over the table in a way that the
 * author of a document cannot foresee; no result depends on it.
 */
typedef struct ShTally
{
	/* what stays */
	void	   *(*allocate) (size_t bytes);
	void		(*release) (void *memory);
	uint64_t	multiplier;

	/* what moves */
	size_t		slots;			/* a power of two, or 0 */
	size_t		occupied;
	uint32_t	seen;			/* features since the section began */
	uint64_t   *hashes;
	uint32_t   *counts;			/* behind the hashes; 0 marks a free slot */
} ShTally;

extern void sh_tally_begin(ShTally *tally);
extern uint32_t *sh_tally_count(ShTally *tally, uint64_t hash);
extern uint32_t sh_tally_add(ShTally *tally, ShDamping damping, uint64_t hash);
extern size_t sh_tally_sift(ShTally *tally, ShDamping damping,
							uint64_t *hashes, size_t n);
extern size_t sh_tally_list(const ShTally *tally, size_t *slot,
							uint64_t *hashes, uint32_t *counts, size_t max);
extern void sh_tally_end(ShTally *tally);

/*
 * What a feature weighs that occurs n times in a section: what sh_tally_add
 * adds up one by one, for those who count first.
 */
static inline uint32_t
sh_damp(ShDamping damping, uint32_t n)
{
	switch (damping)
	{
		case SH_DAMP_COUNT:
			return n;
		case SH_DAMP_SQRT:
			return (uint32_t) sqrt((double) n);
		case SH_DAMP_LOG:
			return (uint32_t) sh_bit_length(n);
		case SH_DAMP_BINARY:
			return n > 0;
		case SH_DAMP_CAPPED:
			return n == 0 ? 0 : 2 * (n < SH_CAP ? n : SH_CAP) - 1;
	}
	return 0;
}

#endif							/* SH_TALLY_H */
