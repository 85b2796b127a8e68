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

/* The blocks of an entry come in the order of the ring. */
static void
test_ring(void)
{
	for (int block = 0; block < SH_INDEX_BLOCKS; block++)
	{
		uint64_t	all = 0;

		for (int i = 0; i < SH_INDEX_BLOCKS; i++)
		{
			all |= sh_entry_mask(block, (block + i) % SH_INDEX_BLOCKS);
			CHECK(all == (SH_INDEX_MASK >> sh_ring_end(block, i)
						  << sh_ring_end(block, i)));
		}
	}
}

/* In how many bits an entry differs from the query, block by block. */
static void
count_apart(uint64_t apart, int block, int *by_block)
{
	for (int of = 0; of < SH_INDEX_BLOCKS; of++)
		by_block[of] = sh_distance(apart & sh_entry_mask(block, of), 0);
}

/* By definition: may an entry be within reach, as far as it is known? */
static bool
may_be_within(const ShReach *reach, int block, uint64_t apart, int fine)
{
	int			by_block[SH_INDEX_BLOCKS];

	count_apart(apart >> fine << fine, block, by_block);
	return sh_reaches(reach, block, by_block);
}

/* By definition: must it be within reach, whatever the bits not known? */
static bool
must_be_within(const ShReach *reach, int block, uint64_t apart, int fine)
{
	return may_be_within(reach, block, apart | ((UINT64_C(1) << fine) - 1), 0);
}

/* Limits that rise. */
static ShReach
random_reach(int least, int steps)
{
	ShReach		reach;

	for (int i = 0; i < SH_INDEX_BLOCKS; i++)
	{
		least += (int) random_below(steps);
		reach.within[i] = least;
	}
	return reach;
}

/*
 * Ranges hold all that is within reach and not done, come in order, and begin
 * with what may be so: prefixes of up to 20 bits, one by one.
 */
static void
test_ranges(void)
{
	for (int round = 0; round < 600; round++)
	{
		int			block = (int) random_below(SH_INDEX_BLOCKS);
		int			fine = SH_INDEX_BITS - (int) random_below(21);
		int			given = (int) random_below(fine + 1);
		uint64_t	center = random_bits() & SH_INDEX_MASK;
		uint64_t	from = (random_bits() & SH_INDEX_MASK) >>
		random_below(SH_INDEX_BITS);
		ShReach		reach = random_reach((int) random_below(4), 4);
		ShReach		done = random_reach(-1 - (int) random_below(2), 3);
		uint64_t	low = 0;
		uint64_t	high = 0;
		bool		found;

		if (random_below(2) == 0)
			from ^= center;
		from = from >> given << given;
		if (random_below(4) == 0)
			fine = sh_ring_end(block, 0);
		if (random_below(3) == 0)
			reach = sh_shells((int) random_below(17));
		if (random_below(3) == 0)
			done = sh_shells(reach.within[0] - (int) random_below(2));
		found = sh_next_range(&reach, &done, block, center, from, fine, &low,
							  &high);
		for (uint64_t at = from; at <= SH_INDEX_MASK;
			 at = ((at >> fine) + 1) << fine)
		{
			bool		wanted = may_be_within(&reach, block, at ^ center, fine);

			if (wanted && !must_be_within(&done, block, at ^ center, fine))
			{
				CHECK(found && at >= low && at <= high);
			}
			else if (found && at >= low && at <= high)
			{
				CHECK(wanted && at != low);
			}
			if (found && ((at >> fine) + 1) << fine > high)
			{
				uint64_t	last = high;

				CHECK(low <= high && low >= from);
				found = sh_next_range(&reach, &done, block, center, last + 1,
									  fine, &low, &high);
				CHECK(!found || low > last);
			}
		}
		CHECK(!found);
	}
}

/* One more way of handing out units, each block being given up to k + 1. */
static bool
next_units(int *radius, int k)
{
	for (int block = 0; block < SH_INDEX_BLOCKS; block++)
	{
		int			sum = 0;

		if (++radius[block] <= k)
		{
			for (int i = 0; i < SH_INDEX_BLOCKS; i++)
				sum += radius[i] + 1;
			if (sum <= k + 1)
				return true;
		}
		radius[block] = -1;
	}
	return false;
}

/*
 * The ring holds, for each way of handing out k + 1 units: whoever is within k
 * satisfies some chain, all of which then tell the truth, and of those at k
 * exactly each satisfies one.
 */
static void
test_chains(void)
{
	for (int k = 0; k <= 13; k++)
	{
		int			radius[SH_INDEX_BLOCKS] = {-1, -1, -1, -1};

		while (next_units(radius, k))
		{
			ShReach		reach[SH_INDEX_BLOCKS];
			int			sum = 0;
			int			d[SH_INDEX_BLOCKS];

			for (int block = 0; block < SH_INDEX_BLOCKS; block++)
			{
				sum += radius[block] + 1;
				reach[block] = sh_reach(radius, block);
			}
			if (sum != k + 1)
				continue;
			for (d[0] = 0; d[0] <= k + 1; d[0]++)
				for (d[1] = 0; d[0] + d[1] <= k + 1; d[1]++)
					for (d[2] = 0; d[0] + d[1] + d[2] <= k + 1; d[2]++)
						for (d[3] = 0; d[0] + d[1] + d[2] + d[3] <= k + 1;
							 d[3]++)
						{
							int			found = 0;

							for (int block = 0; block < SH_INDEX_BLOCKS; block++)
								found += sh_reaches(&reach[block], block, d);
							sum = d[0] + d[1] + d[2] + d[3];
							CHECK((found > 0) == (sum <= k));
							CHECK(sum != k || found == 1);
						}
		}
	}
}

/*
 * Step by step: units are handed out one at a time, each block is searched
 * shell by shell, and what is found by no block before is let through.  After
 * as many steps as k + 1, each within k has been let through once.
 */
static void
test_steps(void)
{
	for (int round = 0; round < 2000; round++)
	{
		int			done[SH_INDEX_BLOCKS] = {-1, -1, -1, -1};
		int			d[SH_INDEX_BLOCKS];
		int			sum = 0;
		int			found = 0;

		for (int block = 0; block < SH_INDEX_BLOCKS; block++)
		{
			d[block] = (int) random_below(5);
			sum += d[block];
		}
		for (int reached = 0; reached <= 20; reached++)
		{
			int			block = (int) random_below(SH_INDEX_BLOCKS);
			ShReach		reach = sh_shells(done[block] + 1);
			bool		before = false;

			for (int of = 0; of < SH_INDEX_BLOCKS; of++)
			{
				ShReach		shells = sh_shells(done[of]);

				before |= sh_reaches(&shells, of, d);
			}
			found += sh_reaches(&reach, block, d) && !before;
			done[block]++;
			CHECK(found <= 1);
			CHECK(found == 1 || sum > reached);
		}
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
	test_ring();
	test_ranges();
	test_chains();
	test_steps();
	test_plans();
	test_crowds();
	return 0;
}
