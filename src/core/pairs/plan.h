/*-------------------------------------------------------------------------
 *
 * plan.h
 *		How to cut fingerprints into blocks, so that pairs are found soonest.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_PLAN_H
#define SH_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

#define SH_PAIRS_RADIUS	16		/* the greatest radius */
#define SH_DIGIT		11		/* bits of a key to sort by at a time */
#define SH_KEYS_MAX		(2 * SH_DIGIT)	/* bits of a key */

/* Some bits, and in how many of them a pair may differ to be looked at. */
typedef struct ShKeyBlock
{
	uint64_t	mask;
	int			low;			/* the lowest bit */
	int			width;			/* bits of a key, which may have holes */
	int			radius;
	double		share;			/* of the work of the plan */
} ShKeyBlock;

/* Blocks of which every pair within the radius meets one or more. */
typedef struct ShPairPlan
{
	double		cost;			/* estimated, in nanoseconds */
	int			blocks;
	ShKeyBlock	block[SH_PAIRS_RADIUS + 1];
} ShPairPlan;

/* The key of a value in a block. */
static inline uint32_t
sh_block_of(uint64_t value, const ShKeyBlock *block)
{
	return (uint32_t) ((value & block->mask) >> block->low);
}

extern bool sh_pair_plan(ShPairPlan *plan, uint64_t bits, size_t a, size_t b,
						 int radius, int width);

#endif							/* SH_PLAN_H */
