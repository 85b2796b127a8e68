/*-------------------------------------------------------------------------
 *
 * unit_bits.c
 *		Unit tests of blocks, probes, sums and lanes, against their definitions.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "core/fingerprint/families.h"
#include "core/bits.h"
#include "core/lanes.h"
#include "core/blocks/probes.h"

/* A fingerprint with n random bits set. */
static uint64_t
random_flips(int n)
{
	uint64_t	flips = 0;

	while (sh_distance(flips, 0) < n)
		flips |= UINT64_C(1) << random_below(SH_BITS);
	return flips;
}

/* Blocks and keys of a known value. */
static void
test_blocks(void)
{
	uint64_t	f = UINT64_C(0x0123456789abcdef);

	CHECK((uint16_t) sh_block_key(f, 0) == 0x0123);
	CHECK((uint16_t) sh_block_key(f, 1) == 0x4567);
	CHECK((uint16_t) sh_block_key(f, 2) == 0x89ab);
	CHECK((uint16_t) sh_block_key(f, 3) == 0xcdef);
	CHECK(sh_distance(0, UINT64_MAX) == 64);
	CHECK(sh_distance(f, f ^ 5) == 2);
}

/* Probes: each key within the radius once, nearest first, and no other. */
static void
test_probes(void)
{
	static char seen[SH_KEYS];

	for (int radius = -1; radius <= SH_BLOCK_BITS; radius++)
	{
		int16_t		center = (int16_t) random_bits();
		ShProbes	probes;
		int16_t		key;
		int			distance;
		int			last = 0;
		int			count = 0;
		int			within = 0;

		memset(seen, 0, sizeof seen);
		sh_probes_begin(&probes, center, radius);
		while ((distance = sh_probes_next(&probes, &key)) >= 0)
		{
			CHECK(!seen[(uint16_t) key]++);
			CHECK(distance == sh_distance((uint16_t) key, (uint16_t) center));
			CHECK(distance >= last);
			last = distance;
			count++;
		}
		for (int other = 0; other < SH_KEYS; other++)
			within += sh_distance((uint64_t) other, (uint16_t) center) <= radius;
		CHECK(count == within);
		CHECK(sh_probe_count(radius) == within);
	}
}

/* The guarantee: at distance k, some block is within its radius. */
static void
test_guarantee(void)
{
	for (int i = 0; i < 200000; i++)
	{
		int			k = (int) random_below(SH_BITS + 1);
		uint64_t	flips = random_flips((int) random_below(k + 1));
		int			found = 0;

		for (int block = 0; block < SH_BLOCKS; block++)
			found |= sh_distance((uint16_t) sh_block_key(flips, block), 0)
				<= sh_block_radius(k, block);
		CHECK(found);
	}
}

/*
 * No radius of a block could be smaller: some pair would escape.  And there
 * are never more probes than a block has keys.
 */
static void
test_no_waste(void)
{
	for (int k = 0; k <= SH_BITS; k++)
	{
		int			least = 0;
		int			probes = 0;

		for (int block = 0; block < SH_BLOCKS; block++)
			probes += sh_probe_count(sh_block_radius(k, block));
		CHECK(probes <= SH_KEYS);
		if (probes == SH_KEYS)
			continue;

		/* What a pair must differ in, at least, to escape. */
		for (int block = 0; block < SH_BLOCKS; block++)
			least += sh_block_radius(k, block) + 1;
		CHECK(least == k + 1);
	}
}

/* Sums, against a count bit by bit, for every number of hashes. */
static void
test_sums(void)
{
	static uint64_t hashes[2000];
	ShSums		sums = {0};		/* begun anew for each */

	for (size_t n = 0; n <= 2000; n += n < 600 ? 1 : 97)
	{
		uint64_t	fingerprint;
		uint64_t	expected = 0;
		uint64_t	keep = n % 3 == 0 ? UINT64_MAX : 0;
		size_t		half = n > 0 ? random_below(n) : 0;

		for (size_t i = 0; i < n; i++)
			hashes[i] = random_bits() | keep;
		sh_sums_begin(&sums);
		sh_sums_add(&sums, hashes, half);
		sh_sums_add(&sums, hashes + half, n - half);
		CHECK(sums.total == n);
		for (int bit = 0; bit < SH_BITS; bit++)
		{
			uint64_t	ones = 0;

			for (size_t i = 0; i < n; i++)
				ones += hashes[i] >> bit & 1;
			if ((int64_t) (ones - (n - ones)) > 0)
				expected |= UINT64_C(1) << bit;
		}
		CHECK(sh_sums_fingerprint(&sums, &fingerprint) == (n > 0));
		CHECK(fingerprint == expected);
	}
}

/* 64 numbers compared at once, at the limits of what they can be. */
static void
test_lanes(void)
{
	static const uint16_t edges[] = {0, 1, 8, 9, 16, 17, 32767, 32768, 65535};
	const int	n = sizeof edges / sizeof *edges;

	for (int round = 0; round < 20000; round++)
	{
		uint16_t	values[SH_LANES];
		uint16_t	limit = edges[random_below((size_t) n)];
		uint64_t	mask;

		if (round % 2)
			limit = (uint16_t) random_bits();
		for (int i = 0; i < SH_LANES; i++)
			values[i] = random_below(4) ? edges[random_below((size_t) n)]
				: (uint16_t) (limit + random_below(3) - 1);
		mask = sh_at_most(values, limit);
		for (int i = 0; i < SH_LANES; i++)
			CHECK((mask >> i & 1) == (values[i] <= limit));
	}
}

int
main(void)
{
	seed_random();
	test_blocks();
	test_probes();
	test_guarantee();
	test_no_waste();
	test_sums();
	test_lanes();
	return 0;
}
