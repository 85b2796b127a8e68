/*-------------------------------------------------------------------------
 *
 * exact.h
 *		Hashes and real weights -> 64 exact sums -> fingerprint.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_EXACT_H
#define SH_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

/*
 * Limits of the work done.  A double is a multiple of 2^-1074 below 2^1024;
 * a sum of 2^63 of them has 2161 bits and a sign, hence 69 digits of 32.
 */
#define SH_DIGIT_BITS	32
#define SH_DIGITS		69

/* One digit of each of the 64 sums. */
typedef int64_t ShDigit[SH_BITS];

/* 64 exact sums of weights; see exact.c. */
typedef struct ShExact
{
	/* what stays: "allocate" returns memory of any contents */
	void	   *(*allocate) (void *context, size_t bytes);
	void	   *context;

	/* what moves */
	uint32_t	uncarried;		/* additions since digits were carried */
	ShDigit    *digits[SH_DIGITS];	/* NULL for one that was never needed */
} ShExact;

extern void sh_exact_begin(ShExact *sums,
						   void *(*allocate) (void *context, size_t bytes),
						   void *context);
extern void sh_exact_add(ShExact *sums, uint64_t hash, double weight);
extern void sh_exact_merge(ShExact *sums, ShExact *other);
extern void sh_exact_carry(ShExact *sums);
extern bool sh_exact_fingerprint(ShExact *sums, uint64_t *fingerprint);

#endif							/* SH_EXACT_H */
