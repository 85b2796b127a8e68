/*-------------------------------------------------------------------------
 *
 * sides.c
 *		Values sorted by the keys of a block, to be searched for pairs.
 *
 * A counting sort by a digit, or by two; where the values with each key end is
 * then known as well.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/engine.h"

#include <string.h>

/* Turn the sizes of parts into where they begin, the first one at "start". */
void
sh_sizes_to_starts(uint32_t *parts, size_t n, uint32_t start)
{
	for (size_t part = 0; part < n; part++)
	{
		uint32_t	size = parts[part];

		parts[part] = start;
		start += size;
	}
}

/* Sort values into another place, by some bits of their keys. */
static void
scatter(const uint64_t *from, uint64_t *to, size_t n, const ShKeyBlock *block,
		int shift, uint32_t mask, uint32_t *ends, uint32_t start)
{
	memset(ends, 0, ((size_t) mask + 1) * sizeof *ends);
	for (size_t i = 0; i < n; i++)
		ends[sh_block_of(from[i], block) >> shift & mask]++;
	sh_sizes_to_starts(ends, (size_t) mask + 1, start);
	for (size_t i = 0; i < n; i++)
		to[ends[sh_block_of(from[i], block) >> shift & mask]++ - start] =
			from[i];
}

/*
 * Sort the values of a side by their keys: at once, or by the leading bits
 * and then, part by part, by the others.
 */
void
sh_sort_side(ShSide *side, const ShKeyBlock *block)
{
	int			low = block->width / 2;
	uint32_t	parts[SH_PARTS];
	uint32_t	start = 0;

	if (block->width <= SH_DIGIT)
	{
		uint64_t   *values = side->values;

		scatter(values, side->room, side->n, block, 0,
				(UINT32_C(1) << block->width) - 1, side->ends, 0);
		side->values = side->room;
		side->room = values;
		return;
	}
	scatter(side->values, side->room, side->n, block, low,
			(UINT32_C(1) << (block->width - low)) - 1, parts, 0);
	for (size_t part = 0; part < (size_t) 1 << (block->width - low); part++)
	{
		scatter(side->room + start, side->values + start, parts[part] - start,
				block, 0, (UINT32_C(1) << low) - 1,
				side->ends + (part << low), start);
		start = parts[part];
	}
}

/* The bits in which values differ from a given one. */
uint64_t
sh_differing_bits(const ShSide *side, uint64_t from)
{
	uint64_t	bits = 0;

	for (size_t i = 0; i < side->n; i++)
		bits |= side->values[i] ^ from;
	return bits;
}

/* Bring the values back to where they were, in whatever order. */
void
sh_restore(const ShSide *side, uint64_t *values)
{
	if (side->values != values)
		memcpy(values, side->values, side->n * sizeof *values);
}
