/*-------------------------------------------------------------------------
 *
 * fuzz_weights.c
 *		Any hashes with any weights.
 *
 * Real weights are added up exactly: in any order, in parts that are merged,
 * and when others are added and taken away again.  Whole ones by every kind of
 * instructions that the processor has, and by definition.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include <math.h>

#include "core/weights/exact.h"
#include "core/weights/idf.h"

#define PAIRS_MAX	80

static uint64_t hashes[PAIRS_MAX];
static double reals[PAIRS_MAX];
static uint32_t wholes[PAIRS_MAX];
static size_t n;

static void *arena[3 * SH_DIGITS];
static int	used;

/* Allocate what release_all gives back. */
static void *
allocate(void *context, size_t bytes)
{
	(void) context;
	CHECK(used < (int) (sizeof arena / sizeof *arena));
	return arena[used++] = malloc(bytes);
}

static void
release_all(void)
{
	while (used > 0)
		free(arena[--used]);
}

/* Hashes and weights; users can give no weight that is not finite. */
static void
take_pairs(Input * input)
{
	for (n = 0; n < PAIRS_MAX && input->left > 0; n++)
	{
		uint64_t	bits;

		hashes[n] = take(input, 8);
		bits = take(input, 8);
		memcpy(&reals[n], &bits, sizeof bits);
		if (!isfinite(reals[n]))
			reals[n] = (double) (int64_t) bits;
		wholes[n] = (uint32_t) (bits % SH_IDF_WEIGHT_MAX);
	}
}

/* Exact sums do not depend on how they came about. */
static void
check_exact(void)
{
	ShExact		sums[3];
	uint64_t	results[2] = {0};
	bool		exists[2];

	for (int i = 0; i < 3; i++)
		sh_exact_begin(&sums[i], allocate, NULL);
	for (size_t i = 0; i < n; i++)
	{
		sh_exact_add(&sums[0], hashes[i], reals[i]);
		sh_exact_add(&sums[1 + hashes[i] % 2], hashes[n - 1 - i],
					 reals[n - 1 - i]);
		sh_exact_add(&sums[1], ~hashes[i], reals[n - 1 - i]);
		sh_exact_add(&sums[2], ~hashes[i], -reals[n - 1 - i]);
	}
	sh_exact_merge(&sums[1], &sums[2]);
	for (int i = 0; i < 2; i++)
		exists[i] = sh_exact_fingerprint(&sums[i], &results[i]);
	CHECK(exists[0] == exists[1] && results[0] == results[1]);

	/* Nothing is left when all is taken away. */
	for (size_t i = 0; i < n; i++)
		sh_exact_add(&sums[0], hashes[i], -reals[i]);
	CHECK(!sh_exact_fingerprint(&sums[0], &results[0]));
	release_all();
}

/* The fingerprint of hashes with whole weights, by definition. */
static uint64_t
by_definition(void)
{
	uint64_t	result = 0;

	for (int bit = 0; bit < 64; bit++)
	{
		int64_t		sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += hashes[i] >> bit & 1 ? wholes[i] : -(int64_t) wholes[i];
		result |= (uint64_t) (sum > 0) << bit;
	}
	return result;
}

/* Whole weights. */
static void
check_whole(void)
{
	ShIdfSums	sums;
	uint64_t	result;

	sh_idf_sums_begin(&sums);
	sh_idf_sums_add_all(&sums, hashes, wholes, n);
	if (sh_idf_sums_fingerprint(&sums, &result))
		CHECK(result == by_definition());
	else
		CHECK(by_definition() == 0);
}

/* The k heaviest features, by definition. */
static void
check_top(size_t k)
{
	static ShIdfEntry top[PAIRS_MAX];
	size_t		taken;

	for (size_t i = 0; i < n; i++)
	{
		top[i].hash = hashes[i];
		top[i].value = wholes[i];
	}
	taken = sh_idf_take_top(top, n, k, k, no_pause);
	CHECK(taken == (k < n ? k : n));
	for (size_t i = 0; i < n; i++)
	{
		ShIdfEntry	entry = {hashes[i], wholes[i]};
		size_t		before = 0;
		bool		listed = false;

		for (size_t j = 0; j < n; j++)
		{
			ShIdfEntry	other = {hashes[j], wholes[j]};

			before += sh_idf_before(&other, &entry);
		}
		for (size_t j = 0; j < taken; j++)
			listed |= top[j].hash == hashes[i] && top[j].value == wholes[i];
		CHECK(listed || before >= k);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	Input		input = {bytes, length};
	size_t		k = (size_t) take_between(&input, 1, PAIRS_MAX);

	take_pairs(&input);
	check_exact();
	check_whole();
	check_top(k);
	return 0;
}
