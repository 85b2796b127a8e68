/*-------------------------------------------------------------------------
 *
 * plan.c
 *		How to cut fingerprints into blocks, so that pairs are found soonest.
 *
 * Cut the bits into m blocks.  A pair within distance k differs in at most
 * floor(k / m) bits of at least one of them; and if no block but the first
 * k mod m + 1 did, those would have to differ in one bit more each, so that for
 * the others one bit less is enough (Norouzi, Punjani and Fleet 2012).  The
 * values that lie together by the key of a block, compared with those whose
 * key is near, are the candidates.  Few blocks make long keys, which tell
 * values apart well, but many keys that are near; the radius 0, at m = k + 1,
 * is what Manku, Jain and Das Sarma (2007) propose.
 *
 * For 64 bits, the part of all pairs that are candidates:
 *
 *		k		m = 3		m = 4		m = k + 1
 *		3		0.0011 %	0.0061 %	0.0061 %
 *		8		0.028 %		0.29 %		6.6 %
 *		12		0.48 %		1.7 %		44 %
 *		16		2.9 %		7.0 %		all, and more
 *
 * Which m is best depends on how many values there are, as near keys must be
 * looked up even if no value has them: hence the estimate below.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/plan.h"

/* Costs in nanoseconds, roughly. */
#define MOVE_COST		3.0		/* of a value, when sorting by a digit */
#define KEY_COST		0.5		/* of a key that may occur */
#define PROBE_COST		3.0		/* to look up a key */
#define GATHER_COST		0.7		/* of a candidate, once a key */
#define COMPARE_COST	0.3		/* of two values */

/* How many keys are within a radius of one. */
double
sh_keys_within(int width, int radius)
{
	double		keys = 1;
	double		at = 1;

	for (int i = 1; i <= radius && i <= width; i++)
	{
		at = at * (width - i + 1) / i;
		keys += at;
	}
	return keys;
}

/* The time to search a values among themselves, or with b others, by a block. */
static double
block_cost(double a, double b, int width, int radius)
{
	double		keys = (double) (UINT64_C(1) << width);
	double		near = sh_keys_within(width, radius) * (b > 0 ? 1 : 0.5);
	double		used = a < keys ? a : keys;
	double		others = b > 0 ? b : a;

	return (a + b) * MOVE_COST * (width > SH_DIGIT ? 2 : 1) +
		keys * KEY_COST * (b > 0 ? 2 : 1) +
		used * near * (PROBE_COST + others / keys * GATHER_COST) +
		a * near * others / keys * COMPARE_COST;
}

/* Cut those bits into so many blocks; return what it costs. */
static double
cut(ShPairPlan *plan, int blocks, uint64_t bits, double a, double b, int radius,
	int width)
{
	int			count = sh_distance(bits, 0);
	double		cost = 0;

	plan->blocks = 0;
	for (int i = 0; i < blocks; i++)
	{
		ShKeyBlock *block = &plan->block[plan->blocks];
		int			size = count * (i + 1) / blocks - count * i / blocks;
		int			high = sh_bit_length(bits) - 1;

		block->radius = radius / blocks - (i > radius % blocks ? 1 : 0);
		if (block->radius < 0)
			break;
		block->mask = 0;
		for (; size > 0; size--)
		{
			int			bit = sh_bit_length(bits) - 1;

			bits ^= UINT64_C(1) << bit;
			if (high - bit >= width)
				continue;
			block->mask |= UINT64_C(1) << bit;
			block->low = bit;
		}
		block->width = high - block->low + 1;
		block->share = block_cost(a, b, block->width, block->radius);
		cost += block->share;
		plan->blocks++;
	}
	return cost;
}

/*
 * Plan to search a values among themselves, or with b others, by those bits
 * and with keys of so many bits at most.  False when it is better to compare
 * all.
 */
bool
sh_pair_plan(ShPairPlan *plan, uint64_t bits, size_t a, size_t b, int radius,
			 int width)
{
	double		best = (double) a * (b > 0 ? (double) b : (double) a / 2) *
	COMPARE_COST;
	int			blocks = 0;

	for (int m = 1; m <= radius + 1 && m <= sh_distance(bits, 0); m++)
	{
		double		cost = cut(plan, m, bits, (double) a, (double) b, radius,
							   width);

		if (cost < best)
		{
			best = cost;
			blocks = m;
		}
	}
	if (blocks == 0)
		return false;
	cut(plan, blocks, bits, (double) a, (double) b, radius, width);
	for (int i = 0; i < plan->blocks; i++)
		plan->block[i].share /= best;
	return true;
}
