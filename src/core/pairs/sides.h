/*-------------------------------------------------------------------------
 *
 * sides.h
 *		Values sorted by the keys of a block, to be searched for pairs.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_SIDES_H
#define SH_SIDES_H

#include "core/pairs/plan.h"

#define SH_PARTS		(1 << SH_DIGIT) /* the values of a digit */

/* Values, room for as many, and where those with each key end. */
typedef struct ShSide
{
	uint64_t   *values;
	uint64_t   *room;
	size_t		n;
	uint32_t   *ends;
} ShSide;

/* The values with a key. */
static inline ShSide
sh_side_of_key(const ShSide *side, uint32_t key)
{
	uint32_t	start = key == 0 ? 0 : side->ends[key - 1];
	ShSide		part = {side->values + start, side->room + start,
	side->ends[key] - start, NULL};

	return part;
}

extern void sh_sizes_to_starts(uint32_t *parts, size_t n, uint32_t start);
extern void sh_sort_side(ShSide *side, const ShKeyBlock *block);
extern uint64_t sh_differing_bits(const ShSide *side, uint64_t from);
extern void sh_restore(const ShSide *side, uint64_t *values);

#endif							/* SH_SIDES_H */
