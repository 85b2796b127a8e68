/*-------------------------------------------------------------------------
 *
 * damping.h
 *		How often a feature occurs, and what it weighs for that.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_DAMPING_H
#define SH_DAMPING_H

#include <math.h>
#include <stdint.h>

#include "core/bits.h"

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
 * What a feature weighs that occurs n times in a section: what sh_tally_add
 * (tally.c) adds up one by one, for those who count first.
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

#endif							/* SH_DAMPING_H */
