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
#include "core/blocks/entries.h"

/* The layout that is tested. */
static ShLayout layout;

/* The layout of a width that has one. */
static ShLayout
layout_of(int width)
{
	ShLayout	result;

	CHECK(sh_make_layout(width, &result));
	return result;
}

/* The bit of a fingerprint that is given as bytes. */
static int
bit_of(const unsigned char *bytes, int place)
{
	return bytes[place / 8] >> (7 - place % 8) & 1;
}

/* Words lie one behind the other, and blocks of some 16 bits in them. */
static void
test_cut(const ShLayout *of)
{
	unsigned char bytes[SH_MOST_WIDTH / 8];
	ShValue		value;
	int			offset = 0;

	CHECK(of->words == (of->width + 63) / 64);
	CHECK(of->blocks >= 2 && of->blocks <= SH_WORD_BLOCKS);
	CHECK(of->shift >= of->kept);
	CHECK(of->words * of->blocks <= 1 << (64 - of->shift));
	CHECK(of->lost == of->width - of->words * of->kept);
	CHECK(of->lost <= 7 * of->words);
	for (int block = 0; block < of->blocks; block++)
	{
		CHECK(of->offsets[block] == offset);
		CHECK(of->widths[block] >= 13 && of->widths[block] <= 20);
		offset += of->widths[block];
	}
	CHECK(offset == of->kept);

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char) random_bits();
	sh_cut(of, bytes, &value);
	for (int word = 0; word < of->words; word++)
	{
		int			start = of->width * word / of->words;
		int			end = of->width * (word + 1) / of->words;

		CHECK(end - start >= of->kept);
		CHECK(value.words[word] >> (of->kept - 1) >> 1 == 0);
		for (int i = 0; i < of->kept; i++)
			CHECK((value.words[word] >> (of->kept - 1 - i) & 1) ==
				  (uint64_t) bit_of(bytes, start + i));
	}
}

/* Every width has a layout, and no other. */
static void
test_layouts(void)
{
	for (int width = SH_LEAST_WIDTH; width <= SH_MOST_WIDTH; width++)
	{
		layout = layout_of(width);
		test_cut(&layout);
	}
	CHECK(!sh_make_layout(SH_LEAST_WIDTH - 1, &layout));
	CHECK(!sh_make_layout(SH_MOST_WIDTH + 1, &layout));
	CHECK(!sh_make_layout(0, &layout));
	CHECK(!sh_make_layout(-64, &layout));
}

/* That of 64 bits is for good. */
static void
test_64(void)
{
	uint64_t	fp = random_bits();
	unsigned char bytes[8];
	ShValue		value;
	ShValue		same;

	layout = layout_of(64);
	CHECK(layout.words == 1 && layout.blocks == 4 && layout.kept == 62 &&
		  layout.shift == 62 && layout.lost == 2);
	CHECK(layout.widths[0] == 16 && layout.widths[1] == 16 &&
		  layout.widths[2] == 15 && layout.widths[3] == 15);
	sh_cut_word(&layout, fp, &value);
	CHECK(value.words[0] == fp >> 2);
	for (int i = 0; i < 8; i++)
		bytes[i] = (unsigned char) (fp >> (56 - 8 * i));
	sh_cut(&layout, bytes, &same);
	CHECK(same.words[0] == value.words[0]);
	CHECK(sh_entry(&layout, fp >> 2, 0, 0) == fp >> 2);
	CHECK(sh_entry(&layout, fp >> 2, 0, 1) ==
		  ((UINT64_C(1) << 62) | (fp >> 2 << 18 >> 2) | fp >> 48));
}

/* Where the bits of block "of" lie in an entry of block "block". */
static uint64_t
entry_mask(int block, int of)
{
	int			width = layout.widths[of];
	uint64_t	bits = (UINT64_C(1) << width) - 1;

	bits <<= layout.kept - layout.offsets[of] - width;
	return sh_rotate_kept(&layout, bits, layout.offsets[block]) <<
		(layout.shift - layout.kept);
}

/* The blocks of an entry are the word's, and every kept bit is in one. */
static void
test_entries(void)
{
	for (int round = 0; round < 200; round++)
	{
		uint64_t	a = random_bits() & sh_kept_mask(&layout);
		uint64_t	b = random_bits() & sh_kept_mask(&layout);
		int			word = (int) random_below(layout.words);

		for (int block = 0; block < layout.blocks; block++)
		{
			uint64_t	entry = sh_entry(&layout, a, word, block);
			uint64_t	apart = entry ^ sh_entry(&layout, b, word, block);
			uint32_t	key = sh_entry_key(&layout, a, block);
			uint64_t	all = 0;
			int			by_block[SH_WORD_BLOCKS];

			sh_apart(&layout, block, sh_bare_entry(&layout, apart), by_block);
			CHECK(entry >> layout.shift ==
				  (uint64_t) (word * layout.blocks + block));
			CHECK(sh_distance(apart, 0) == sh_distance(a, b));
			CHECK(sh_bare_entry(&layout, entry) >>
				  (layout.kept - layout.widths[block]) == key);
			CHECK(sh_least_entry(&layout, word, block,
								 sh_bare_entry(&layout, entry)) == entry);
			CHECK(sh_greatest_entry(&layout, word, block,
									sh_kept_mask(&layout)) ==
				  sh_entry_last(&layout, word, block,
								(UINT32_C(1) << layout.widths[block]) - 1));
			CHECK(sh_entry_first(&layout, word, block, key) <= entry);
			CHECK(sh_entry_last(&layout, word, block, key) >= entry);
			for (int of = 0; of < layout.blocks; of++)
			{
				uint64_t	mask = entry_mask(block, of);

				CHECK((all & mask) == 0);
				CHECK(sh_distance(mask, 0) == layout.widths[of]);
				CHECK(sh_distance(apart & mask, 0) == by_block[of]);
				CHECK(by_block[of] ==
					  sh_distance(sh_entry_key(&layout, a, of),
								  sh_entry_key(&layout, b, of)));
				all |= mask;
			}
			CHECK(sh_distance(all, 0) == layout.kept);
		}
	}
}

/* The blocks of an entry come in the order of the ring. */
static void
test_ring(void)
{
	for (int block = 0; block < layout.blocks; block++)
	{
		uint64_t	all = 0;

		for (int i = 0; i < layout.blocks; i++)
		{
			int			end = sh_ring_end(&layout, block, i);

			all |= sh_bare_entry(&layout,
								 entry_mask(block, (block + i) % layout.blocks));
			CHECK(all == sh_kept_mask(&layout) >> end << end);
		}
	}
}

/* In how many bits an entry differs from the query, block by block. */
static void
count_apart(uint64_t apart, int block, int *by_block)
{
	for (int of = 0; of < layout.blocks; of++)
		by_block[of] = sh_distance(apart &
								   sh_bare_entry(&layout,
												 entry_mask(block, of)),
								   0);
}

/* By definition: may an entry be within reach, as far as it is known? */
static bool
may_be_within(const ShReach *reach, int block, uint64_t apart, int fine)
{
	int			by_block[SH_WORD_BLOCKS];

	count_apart(apart >> fine << fine, block, by_block);
	return sh_reaches(&layout, reach, block, by_block);
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

	for (int i = 0; i < SH_WORD_BLOCKS; i++)
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
		int			block = (int) random_below(layout.blocks);
		int			fine = layout.kept - (int) random_below(21);
		int			given = (int) random_below(fine + 1);
		uint64_t	center = random_bits() & sh_kept_mask(&layout);
		uint64_t	from = (random_bits() & sh_kept_mask(&layout)) >>
		random_below(layout.kept);
		ShReach		reach = random_reach((int) random_below(4), 4);
		ShReach		done = random_reach(-1 - (int) random_below(2), 3);
		uint64_t	low = 0;
		uint64_t	high = 0;
		bool		found;

		if (random_below(2) == 0)
			from ^= center;
		from = from >> given << given;
		if (random_below(4) == 0)
			fine = sh_ring_end(&layout, block, 0);
		if (random_below(3) == 0)
			reach = sh_shells((int) random_below(17));
		if (random_below(3) == 0)
			done = sh_shells(reach.within[0] - (int) random_below(2));
		found = sh_next_range(&layout, &reach, &done, block, center, from, fine, &low,
							  &high);
		for (uint64_t at = from; at <= sh_kept_mask(&layout);
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
				found = sh_next_range(&layout, &reach, &done, block, center, last + 1,
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
	for (int block = 0; block < layout.blocks; block++)
	{
		int			sum = 0;

		if (++radius[block] <= k)
		{
			for (int i = 0; i < layout.blocks; i++)
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
		int			radius[SH_WORD_BLOCKS] = {-1, -1, -1, -1};

		while (next_units(radius, k))
		{
			ShReach		reach[SH_WORD_BLOCKS];
			int			sum = 0;
			int			d[SH_WORD_BLOCKS];

			for (int block = 0; block < layout.blocks; block++)
			{
				sum += radius[block] + 1;
				reach[block] = sh_reach(&layout, radius, block);
			}
			if (sum != k + 1)
				continue;
			for (d[0] = 0; d[0] <= k + 1; d[0]++)
				for (d[1] = 0; d[0] + d[1] <= k + 1; d[1]++)
					for (d[2] = 0; d[0] + d[1] + d[2] <= k + 1 &&
						 (d[2] == 0 || layout.blocks > 2); d[2]++)
						for (d[3] = 0; d[0] + d[1] + d[2] + d[3] <= k + 1 &&
							 (d[3] == 0 || layout.blocks > 3); d[3]++)
						{
							int			found = 0;

							for (int block = 0; block < layout.blocks; block++)
								found += sh_reaches(&layout, &reach[block], block, d);
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
		int			done[SH_WORD_BLOCKS] = {-1, -1, -1, -1};
		int			d[SH_WORD_BLOCKS] = {0};
		int			sum = 0;
		int			found = 0;

		for (int block = 0; block < layout.blocks; block++)
		{
			d[block] = (int) random_below(5);
			sum += d[block];
		}
		for (int reached = 0; reached <= 20; reached++)
		{
			int			block = (int) random_below(layout.blocks);
			ShReach		reach = sh_shells(done[block] + 1);
			bool		before = false;

			for (int of = 0; of < layout.blocks; of++)
			{
				ShReach		shells = sh_shells(done[of]);

				before |= sh_reaches(&layout, &shells, of, d);
			}
			found += sh_reaches(&layout, &reach, block, d) && !before;
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
			ShSearchPlan pass;
			int			units = 0;
			double		probes = 0;
			double		rows = 1;

			for (int i = 0; i < magnitude; i++)
				rows *= 10;
			sh_even_extent(&extent, &layout, rows, 330);
			sh_plan_search(&extent, k, &plan);
			sh_plan_search(&extent, layout.width, &pass);
			CHECK(sh_is_pass(&layout, &pass));
			CHECK(plan.total.cost > 0 &&
				  plan.total.cost <= pass.total.cost);
			if (sh_is_pass(&layout, &plan))
			{
				CHECK(plan.blocks[0].entries == extent.rows);
				CHECK(plan.total.entries == extent.rows);
				continue;
			}
			for (int block = 0; block < layout.blocks; block++)
			{
				units += plan.radius[block] + 1;
				probes += plan.blocks[block].probes;
				CHECK(plan.blocks[block].probes ==
					  sh_ball_size(layout.widths[block],
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
	for (int crowded = 0; crowded < layout.blocks; crowded++)
	{
		ShExtent	extent;
		ShSearchPlan plan;
		int			units = 0;

		sh_even_extent(&extent, &layout, 1e7, 330);
		extent.crowd[crowded][0] = 10000;
		sh_plan_search(&extent, SH_NEAR, &plan);
		CHECK(plan.radius[crowded] == -1);
		for (int block = 0; block < layout.blocks; block++)
			units += plan.radius[block] + 1;
		CHECK(units == SH_NEAR + 1);

		/* A crowd everywhere is met once. */
		for (int block = 0; block < layout.blocks; block++)
			extent.crowd[block][0] = 30000;
		sh_plan_search(&extent, SH_NEAR, &plan);
		CHECK(plan.total.entries < 0.8 * extent.rows);
	}
}

/* All that holds for each layout. */
static void
test_width(int width)
{
	layout = layout_of(width);
	test_entries();
	test_ring();
	test_ranges();
	test_chains();
	test_steps();
	test_plans();
}

int
main(void)
{
	seed_random();
	test_layouts();
	test_64();
	/* One width of three, others each time; all of them in a long run. */
	for (int width = SH_LEAST_WIDTH; width <= SH_MOST_WIDTH;
		 width += long_run() ? 4 : 4 + 4 * (int) random_below(5))
	{
		layout = layout_of(width);
		test_entries();
		test_ring();
	}
	test_width(32);
	test_width(50);
	test_width(256);
	test_width(1024);
	test_width(64);
	test_crowds();
	return 0;
}
