/*-------------------------------------------------------------------------
 *
 * parts.c
 *		All pairs where memory does not hold all fingerprints.
 *
 * The values are put into parts for each block of a plan, by the leading bits of
 * their keys.  Pairs within the block's radius are in one part, or in two whose
 * numbers differ in that many bits at most.  Where the parts are kept, and which
 * of them are in memory, is for the caller to see to (report_parts.c).
 *
 * A part is searched with several others.  If the bits of all values, and those
 * of the plan, are turned round such that the block comes first, then the values
 * of a part that are sorted are in the order of their keys as well, and those of
 * two parts are, one after the other: nothing has to be sorted again.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/parts.h"

#include <string.h>

/* Turn a value round to the left. */
uint64_t
sh_turn(uint64_t value, int by)
{
	return by == 0 ? value : value << by | value >> (SH_BITS - by);
}

/*
 * How far to turn values round, that a block comes first.  What the plan is for
 * such values goes to "turned", as far as that block needs it: of the others
 * only the masks.
 */
int
sh_turn_plan(const ShPairPlan *plan, int number, ShPairPlan *turned)
{
	ShKeyBlock *block = &turned->block[number];
	int			by;

	*turned = *plan;
	by = block->width == 0 ? 0 : SH_BITS - block->low - block->width;
	for (int i = 0; i < plan->blocks; i++)
		turned->block[i].mask = sh_turn(plan->block[i].mask, by);
	block->low += by;
	return by;
}

/* In which part of a block, cut by the leading "prefix" bits, is a value? */
uint32_t
sh_part_of(uint64_t value, const ShKeyBlock *block, int prefix)
{
	return sh_block_of(value, block) >> (block->width - prefix);
}

/*
 * Plan a search by parts: of so many values, which differ in those bits.  If
 * it is better to compare all, the plan is one block without bits, of which
 * all are in the one part.
 */
void
sh_pairs_plan_parts(ShPairPlan *plan, uint64_t bits, uint32_t n, int radius)
{
	if (sh_pair_plan(plan, bits, n, 0, radius, sh_pairs_key_bits(n), true))
		return;
	memset(plan, 0, sizeof *plan);
	plan->blocks = 1;
	plan->block[0].share = 1;
}

/* The parts of these numbers have pairs that this block finds. */
bool
sh_parts_meet(const ShKeyBlock *block, uint32_t x, uint32_t y)
{
	return sh_distance(x ^ y, 0) <= block->radius;
}

/* Bring the values of the part of the first one to the front; return how many. */
static size_t
split_parts(uint64_t *values, size_t n, const ShKeyBlock *block, int prefix)
{
	size_t		taken = 0;
	uint32_t	part = n > 0 ? sh_part_of(values[0], block, prefix) : 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64_t	value = values[i];

		if (sh_part_of(value, block, prefix) == part)
		{
			values[i] = values[taken];
			values[taken++] = value;
		}
	}
	return taken;
}

/*
 * Search by one block of a plan, where memory does not hold all values.  The
 * values at hand, put in place by sh_pairs_begin_search, are those of one part
 * of the block, cut by its leading "prefix" bits, or of two parts that meet,
 * neither of them empty.  Report the pairs within the one, or between the two,
 * that this block is the first to find.  So all pairs are reported once, when
 * this has been called for each block, each part, and each two parts that meet.
 *
 * "ends" has room for 2 * 2^(width - prefix) numbers.
 */
void
sh_pairs_find_in_parts(ShPairs *pairs, const ShPairPlan *plan, int number,
					   int prefix, int radius, uint32_t *ends,
					   ShPairSink sink, void *context)
{
	const ShKeyBlock *block = &plan->block[number];
	ShKeyBlock	rest = *block;
	size_t		n = split_parts(pairs->work, pairs->distinct, block, prefix);
	ShSide		a = {pairs->work, pairs->spare, n, ends};
	ShSide		b = {pairs->work + n, pairs->spare + n, pairs->distinct - n, NULL};

	if (radius == 0 || n == 0)
		return;
	rest.width -= prefix;
	rest.mask &= (UINT64_C(1) << rest.low << rest.width) - 1;
	sh_sort_side(&a, &rest);
	if (b.n > 0)
	{
		rest.radius -= sh_distance(sh_part_of(a.values[0], block, prefix) ^
								   sh_part_of(b.values[0], block, prefix), 0);
		b.ends = ends + (UINT32_C(1) << rest.width);
		sh_sort_side(&b, &rest);
	}
	sh_pairs_find_by_block(pairs, plan, number, &rest, &a,
						   b.n > 0 ? &b : NULL, radius, sink, context);
}
