/*-------------------------------------------------------------------------
 *
 * unit_compare.c
 *		Unit tests of comparing fingerprints, by all instructions there are.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit_pairs.h"

static void
note_match(void *context, uint64_t a, uint64_t b)
{
	*(uint64_t *) context += a * 3 + b;
}

/* What "one" of a kind and sh_take_near do with n values. */
static void
check_one(const ShCompareKind *kind, int radius, uint64_t *values, size_t n)
{
	uint64_t	found = 0;
	uint64_t	expected = 0;
	uint64_t	sum = 0;
	ShCompare	compare = {radius, note_match, &found, kind};
	uint64_t	one = random_below(2) == 0 || n == 0 ? random_bits()
	: values[random_below(n)];
	size_t		near = 0;
	size_t		taken;

	for (size_t i = 0; i < n; i++)
	{
		sum += values[i] * values[i];
		if (sh_distance(one, values[i]) > radius)
			continue;
		note_match(&expected, one, values[i]);
		near++;
	}
	kind->one(&compare, one, values, n);
	CHECK(found == expected);
	taken = sh_take_near(one, radius, values, n);
	CHECK(taken == near);
	for (size_t i = 0; i < n; i++)
	{
		sum -= values[i] * values[i];
		CHECK((sh_distance(one, values[i]) <= radius) == (i < taken));
	}
	CHECK(sum == 0);
}

/* Each kind of instructions does what brute force does. */
static void
test_instructions(const ShCompareKind *kind)
{
	uint64_t	values[300 + SH_COMPARE_BEYOND] = {0};
	uint32_t	ends[300];

	for (int round = 0; round < 2000; round++)
	{
		int			radius = (int) random_below(SH_PAIRS_RADIUS + 1);
		size_t		limit = 2 + random_below(40);
		size_t		n = random_below(5);
		size_t		first = n;
		size_t		runs = random_below(60);
		uint64_t	expected = 0;
		uint64_t	sum = 0;
		ShCompare	compare = {radius, note_match, &sum, kind};

		for (size_t run = 0; run < runs; run++)
		{
			size_t		start = n;
			size_t		size = random_below(5) == 0 ? random_below(50)
			: random_below(4);

			for (; n < start + size && n < 300; n++)
				values[n] = random_value(CLUSTERED, values + first,
										 n - first, radius);
			ends[run] = (uint32_t) n;
			for (size_t i = start; i < n && n - start <= limit; i++)
			{
				for (size_t j = i + 1; j < n; j++)
				{
					if (sh_distance(values[i], values[j]) <= radius)
						note_match(&expected, values[i], values[j]);
				}
			}
		}
		kind->runs(&compare, values, first, ends, runs, limit);
		CHECK(sum == expected);
		check_one(kind, radius, values + first, n - first);
	}
}

int
main(void)
{
	seed_random();
	for (int i = 0; i < sh_compare_kinds_count; i++)
	{
		const ShCompareKind *kind = &sh_compare_kinds[i];

		printf("%s: %s\n", kind->name,
			   kind->usable() ? "tested" : "not on this processor");
		if (kind->usable())
			test_instructions(kind);
	}
	return 0;
}
