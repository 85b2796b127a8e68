/*-------------------------------------------------------------------------
 *
 * plan.c
 *		Chooses how to cut fingerprints into blocks, so that pairs within a
 *		distance are found soonest.
 *
 * For example, all pairs within distance 8 are wanted, and the 64 bits are cut
 * into m = 3 blocks.  In a pair, the differing bits of the blocks add up to at
 * most 8.  If blocks 0, 1 and 2 differed in at least 3, 3 and 3 bits, they
 * would add up to 9: so one of the blocks differs in at most 2 bits, and pairs
 * that do are the candidates to be compared.
 *
 * In general a pair within distance k differs in at most floor(k / m) bits of
 * at least one of m blocks.  For some blocks one bit less is enough (Norouzi,
 * Punjani and Fleet 2012).  With r = k mod m, let the blocks 0 to r have the
 * radius floor(k / m), and the m - r - 1 others floor(k / m) - 1.  A pair that
 * is beyond the radius in each block differs in at least
 *
 *		(r + 1) (floor(k / m) + 1) + (m - r - 1) floor(k / m) = k + 1
 *
 * bits.  In the example r is 2, and all blocks have radius 2; with m = 4,
 * where r is 0, the radii are 2, 1, 1 and 1.  The blocks of the larger radius
 * have more candidates, so they get some bits more than the others.
 *
 * The key of a value is its bits in a block.  Values are grouped by key, and
 * the values of a key are compared with those of all keys within the block's
 * radius. Few blocks make long keys, which few values share, but many keys are
 * within the radius and must be looked up.  Many blocks make short keys; m = k
 * + 1, the radius 0, is what Manku, Jain and Das Sarma (2007) propose.
 *
 * For 64 bits, the part of all pairs that are candidates:
 *
 *		k		m = 3		m = 4		m = k + 1
 *		3		0.0011 %	0.0061 %	0.0061 %
 *		8		0.028 %		0.29 %		6.6 %
 *		12		0.48 %		1.7 %		44 %
 *		16		2.9 %		7.0 %		all, and more
 *
 * A key must be looked up even if no value has it.  So which m is best depends
 * on how many values there are, and we estimate the cost of each m.  The costs
 * were measured with a million to ten million values.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/engine.h"

#include <math.h>

/* Costs in nanoseconds, roughly. */
#define MOVE_COST		3.0		/* of a value, when sorting by a digit */
#define KEY_COST		0.5		/* of a key that may occur */
#define USE_COST		50.0	/* of a key that has values */
#define PROBE_COST		3.5		/* to look up a key */
#define GATHER_COST		0.4		/* of a candidate, once a key */
#define COMPARE_COST	0.25	/* of two values */

#define MORE_MAX		4		/* bits that blocks of a larger radius have
								 * more */

/*
 * The estimated time to find candidates by one block and to compare them: of
 * "a" values among themselves when b is 0, else of "a" values with b others.
 * Of the keys a part e^-load is not used, by the first terms of a series.
 */
static double
block_cost(double a, double b, int width, int radius)
{
	double		keys = (double) (UINT64_C(1) << width);
	double		ball = sh_ball_size(width, radius);
	double		near = ball * (b > 0 ? 1 : 0.5);
	double		load = a / keys;
	double		used = keys * (1 - 1 / (1 + load * (1 + load / 2)));
	double		others = b > 0 ? b : a;

	if (ball > SH_FLIPS_MAX)
		return INFINITY;
	return (a + b) * MOVE_COST * (width > SH_DIGIT ? 2 : 1) +
		keys * KEY_COST * (b > 0 ? 2 : 1) +
		used * (USE_COST + near * (PROBE_COST + others / keys * GATHER_COST)) +
		a * near * others / keys * COMPARE_COST;
}

/*
 * Plan to cut the bits of a mask into blocks, of which those of the larger
 * radius have so many bits more, with keys of up to "width" bits, the leading
 * ones of each block.
 */
static void
cut_into_blocks(ShPairPlan *plan, int blocks, int more, uint64_t bits,
				double a, double b, int radius, int width)
{
	int			wider = radius % blocks + 1;	/* of the larger radius */
	int			count = sh_distance(bits, 0) - wider * more;

	plan->cost = 0;
	plan->blocks = 0;
	for (int i = 0; i < blocks; i++)
	{
		ShKeyBlock *block = &plan->block[plan->blocks];
		int			size = count * (i + 1) / blocks - count * i / blocks +
		(i < wider ? more : 0);
		int			high = sh_bit_length(bits) - 1;

		block->radius = radius / blocks - (i < wider ? 0 : 1);
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
		plan->cost += block->share;
		plan->blocks++;
	}
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
	ShPairPlan	cut;
	int			count = sh_distance(bits, 0);

	plan->cost = (double) a * (b > 0 ? (double) b : (double) a / 2) *
		COMPARE_COST;
	plan->blocks = 0;
	for (int m = 1; m <= radius + 1; m++)
	{
		int			wider = radius % m + 1;

		for (int more = 0; more <= (wider < m ? MORE_MAX : 0) &&
			 m + wider * more <= count; more++)
		{
			cut_into_blocks(&cut, m, more, bits, (double) a, (double) b,
							radius, width);
			if (cut.cost < plan->cost)
				*plan = cut;
		}
	}
	for (int i = 0; i < plan->blocks; i++)
		plan->block[i].share /= plan->cost;
	return plan->blocks > 0;
}
