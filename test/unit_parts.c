/*-------------------------------------------------------------------------
 *
 * unit_parts.c
 *		Unit tests of the search for pairs by parts, against brute force.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit_pairs.h"

#include "core/pairs/parts.h"

/* The pairs of two parts of a block, or of one; into found. */
static void
find_in_parts(Found * found, const ShPairPlan *plan, int block, int prefix,
			  const uint32_t *part)
{
	const ShPairs *all = found->pairs;
	uint32_t	width = (uint32_t) (plan->block[block].width - prefix);
	uint64_t   *values = malloc((all->distinct + 1) * sizeof *values);
	void	   *memory = malloc(sh_pairs_bytes(all->distinct));
	uint32_t   *ends = malloc(2 * sizeof *ends << width);
	uint32_t	n = 0;
	uint32_t	of_first = 0;
	Found		some = {0};
	ShPairPlan	turned;
	int			by = sh_turn_plan(plan, block, &turned);
	ShPairs		pairs;

	if (random_below(4) == 0)
	{
		by = 0;
		turned = *plan;
	}
	for (uint32_t i = 0; i < all->distinct; i++)
	{
		uint64_t	value = sh_turn(all->values[i], by);
		uint32_t	at = sh_part_of(value, &turned.block[block], prefix);

		CHECK(at == sh_part_of(all->values[i], &plan->block[block], prefix));
		if (at == part[0] || at == part[1])
			values[n++] = value;
		of_first += at == part[0];
	}
	if (part[0] != part[1] && (of_first == 0 || of_first == n))
		n = 0;
	sh_pairs_begin(&pairs, values, memory, n);
	pairs.kind = some_kind();
	sh_pairs_collapse(&pairs);
	sh_pairs_begin_search(&pairs);
	some.pairs = &pairs;
	some.radius = found->radius;
	sh_pairs_find_in_parts(&pairs, &turned, block, prefix, found->radius,
						   ends, note_pair, &some);
	for (size_t i = 0; i < some.count; i++)
	{
		int			back = (SH_BITS - by) % SH_BITS;
		uint64_t	a = sh_turn(pairs.values[some.pair[i] >> 32], back);
		uint64_t	b = sh_turn(pairs.values[(uint32_t) some.pair[i]], back);

		note_pair(found, sh_pairs_number(all, a), sh_pairs_number(all, b),
				  sh_distance(a, b));
	}
	free(some.pair);
	free(ends);
	free(memory);
	free(values);
}

/*
 * A search by parts finds what one in memory does, each pair once.  The plan is
 * that for so many rows: for few there are blocks of radius 0 only, or it is best
 * to compare all.
 */
static void
test_parts(int kind, int radius, uint32_t n, uint32_t planned)
{
	uint64_t   *values = malloc((n + 1) * sizeof *values);
	void	   *memory = malloc(sh_pairs_bytes(n));
	uint64_t	bits = 0;
	Found		parts = {0};
	ShPairPlan	plan;
	ShPairs		pairs;
	Found		found;

	for (uint32_t i = 0; i < n; i++)
	{
		values[i] = random_value(kind, values, i, radius);
		bits |= values[i] ^ values[0];
	}
	sh_pairs_begin(&pairs, values, memory, n);
	sh_pairs_collapse(&pairs);
	check_pairs(&pairs, radius, &found);
	parts.pairs = &pairs;
	parts.radius = radius;
	sh_pairs_plan_parts(&plan, bits, planned, radius);
	for (int block = 0; block < plan.blocks; block++)
	{
		int			width = plan.block[block].width;
		int			prefix = (int) random_below(width < 4 ? width + 1u : 5);
		uint32_t	part[2];

		for (part[0] = 0; part[0] < UINT32_C(1) << prefix; part[0]++)
		{
			for (part[1] = 0; part[1] <= part[0]; part[1]++)
			{
				if (sh_parts_meet(&plan.block[block], part[0], part[1]))
					find_in_parts(&parts, &plan, block, prefix, part);
			}
		}
	}
	check_same(&parts, &found);
	free(parts.pair);
	free(found.pair);
	free(memory);
	free(values);
}

int
main(void)
{
	seed_random();
	for (int radius = 0; radius <= SH_PAIRS_RADIUS; radius++)
	{
		for (int kind = 0; kind < KINDS; kind++)
		{
			uint32_t	n = (uint32_t) random_below(3000);

			test_parts(kind, radius, n, n);
			test_parts(kind, radius, n / 4, 20000);
			test_parts(kind, radius, n / 4, 100000);
		}
	}
	return 0;
}
