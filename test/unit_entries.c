/*-------------------------------------------------------------------------
 *
 * unit_entries.c
 *		Unit tests of index entries, probes and plans, against their
 *		definitions.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "core/bits.h"
#include "core/pairs/entries.h"

/* The blocks of an entry are the fingerprint's, and every kept bit is in one. */
static void
test_entries(void)
{
	for (int round = 0; round < 1000; round++)
	{
		uint64_t	a = random_bits();
		uint64_t	b = random_bits();

		for (int block = 0; block < SH_INDEX_BLOCKS; block++)
		{
			uint64_t	apart = sh_entry(a, block) ^ sh_entry(b, block);
			uint64_t	all = 0;

			CHECK(sh_entry(a, block) >> SH_INDEX_BITS == (uint64_t) block);
			CHECK(sh_distance(apart, 0) ==
				  sh_distance(a >> SH_LOST_BITS, b >> SH_LOST_BITS));
			CHECK(sh_entry_first(block, sh_entry_key(a, block)) <=
				  sh_entry(a, block));
			CHECK(sh_entry_last(block, sh_entry_key(a, block)) >=
				  sh_entry(a, block));
			for (int of = 0; of < SH_INDEX_BLOCKS; of++)
			{
				uint64_t	mask = sh_entry_mask(block, of);

				CHECK((all & mask) == 0);
				CHECK(sh_distance(mask, 0) == sh_block_width(of));
				CHECK(sh_distance(apart & mask, 0) ==
					  sh_distance(sh_entry_key(a, of),
								  sh_entry_key(b, of)));
				all |= mask;
			}
			CHECK(all == SH_INDEX_MASK);
		}
	}
}

/* The next probe is the least one that qualifies. */
static void
test_probe(void)
{
	for (int round = 0; round < 2000; round++)
	{
		int			width = 1 + (int) random_below(16);
		uint32_t	mask = (UINT32_C(1) << width) - 1;
		uint32_t	center = (uint32_t) random_bits() & mask;
		uint32_t	from = (uint32_t) random_bits() & mask;
		int			nearest = (int) random_below(width + 1);
		int			farthest = nearest + (int) random_below(3);
		uint32_t	expected = from;

		while (expected <= mask &&
			   (sh_distance(expected, center) < nearest ||
				sh_distance(expected, center) > farthest))
			expected++;
		CHECK(sh_entry_probe(center, width, nearest, farthest, from) ==
			  (expected <= mask ? expected : SH_NO_PROBE));
		CHECK(sh_entry_probe(center, width, nearest, farthest, mask + 1) ==
			  SH_NO_PROBE);
	}
}

/*
 * A plan reaches everything: no split of k differing bits escapes all radii.
 * Shells come to the same when handed out one by one.
 */
static void
test_plans(void)
{
	for (int magnitude = 1; magnitude <= 9; magnitude++)
		for (int k = 0; k <= 64; k++)
		{
			ShExtent	extent;
			ShSearchPlan plan;
			int			units = 0;
			double		probes = 0;
			double		rows = 1;

			for (int i = 0; i < magnitude; i++)
				rows *= 10;
			sh_even_extent(&extent, rows, 330);
			sh_plan_search(&extent, k, &plan);
			CHECK(plan.total.cost > 0 &&
				  plan.total.cost <= sh_pass_cost(&extent));
			if (sh_is_pass(&plan))
			{
				CHECK(plan.blocks[0].entries == extent.rows);
				CHECK(plan.total.entries == extent.rows);
				continue;
			}
			for (int block = 0; block < SH_INDEX_BLOCKS; block++)
			{
				units += plan.radius[block] + 1;
				probes += plan.blocks[block].probes;
				CHECK(plan.blocks[block].probes ==
					  sh_ball_size(sh_block_width(block),
								   plan.radius[block]));
			}
			CHECK(units == k + 1);
			CHECK(plan.total.probes == probes);
		}
}

/* A plan goes round a crowd, and has as many units as any other. */
static void
test_crowds(void)
{
	for (int crowded = 0; crowded < SH_INDEX_BLOCKS; crowded++)
	{
		ShExtent	extent;
		ShSearchPlan plan;
		int			units = 0;

		sh_even_extent(&extent, 1e7, 330);
		extent.crowd[crowded][0] = 10000;
		sh_plan_search(&extent, SH_NEAR, &plan);
		CHECK(plan.radius[crowded] == -1);
		for (int block = 0; block < SH_INDEX_BLOCKS; block++)
			units += plan.radius[block] + 1;
		CHECK(units == SH_NEAR + 1);

		/* A crowd everywhere is met once. */
		for (int block = 0; block < SH_INDEX_BLOCKS; block++)
			extent.crowd[block][0] = 30000;
		sh_plan_search(&extent, SH_NEAR, &plan);
		CHECK(plan.total.entries < 0.8 * extent.rows);
	}
}

int
main(void)
{
	seed_random();
	test_entries();
	test_probe();
	test_plans();
	test_crowds();
	return 0;
}
