/*-------------------------------------------------------------------------
 *
 * unit_exact.c
 *		Exact sums against integers in two halves, and at both ends of double.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <float.h>
#include <math.h>

#include "core/weights/exact.h"

#define PAIRS		200
#define ROUNDS		300
#define SCALE		1048576.0	/* weights are multiples of 2^-20 */

/* A hash with its weight. */
typedef struct ShPair
{
	uint64_t	hash;
	double		weight;
}			ShPair;

static void *arena[1000];
static int	used;

/* Allocate what release_all gives back. */
static void *
allocate(void *context, size_t bytes)
{
	(void) context;
	CHECK(used < 1000);
	return arena[used++] = malloc(bytes);
}

/* Give it all back. */
static void
release_all(void)
{
	while (used > 0)
		free(arena[--used]);
}

/*
 * Is a sum positive by its definition?  It is added up times SCALE, its lower
 * 32 bits apart from the rest.
 */
static bool
is_positive(const ShPair * pairs, int n, int bit)
{
	int64_t		high = 0;
	int64_t		low = 0;

	for (int i = 0; i < n; i++)
	{
		int64_t		w = (int64_t) (pairs[i].weight * SCALE);

		if (!(pairs[i].hash >> bit & 1))
			w = -w;
		high += w >> 32;
		low += w & UINT32_MAX;
	}
	high += low >> 32;
	low &= UINT32_MAX;
	return high > 0 || (high == 0 && low > 0);
}

/* The fingerprint by its definition. */
static uint64_t
by_definition(const ShPair * pairs, int n)
{
	uint64_t	result = 0;

	for (int bit = 0; bit < 64; bit++)
	{
		if (is_positive(pairs, n, bit))
			result |= UINT64_C(1) << bit;
	}
	return result;
}

/* Random pairs, added in two halves, with others added and taken away. */
static void
test_random(void)
{
	ShPair		pairs[PAIRS];
	ShExact		sums[2];
	uint64_t	fingerprint;
	int			n = (int) random_below(PAIRS);

	for (int i = 0; i < 2; i++)
		sh_exact_begin(&sums[i], allocate, NULL);
	for (int i = 0; i < n; i++)
	{
		int			width = (int) random_below(60);
		ShExact    *to = &sums[random_below(2)];
		double		other = ldexp((double) random_bits(), (int) random_below(1000) - 500);

		pairs[i].hash = random_bits();
		pairs[i].weight = (double) (int64_t) (random_bits() >> width) / SCALE;
		pairs[i].weight = trunc(pairs[i].weight * SCALE) / SCALE;
		sh_exact_add(to, pairs[i].hash, pairs[i].weight);
		sh_exact_add(&sums[0], pairs[i].hash + 1, other);
		sh_exact_add(&sums[random_below(2)], pairs[i].hash + 1, -other);
	}
	sh_exact_merge(&sums[0], &sums[1]);
	if (sh_exact_fingerprint(&sums[0], &fingerprint))
		CHECK(fingerprint == by_definition(pairs, n));
	release_all();
}

/* The extremes: neither overflow nor loss. */
static void
test_extremes(void)
{
	ShExact		sums;
	uint64_t	fingerprint;

	sh_exact_begin(&sums, allocate, NULL);
	CHECK(!sh_exact_fingerprint(&sums, &fingerprint));
	sh_exact_add(&sums, 1, 0.0);
	sh_exact_add(&sums, 1, -0.0);
	CHECK(!sh_exact_fingerprint(&sums, &fingerprint));
	for (int i = 0; i < 100000; i++)
		sh_exact_add(&sums, ~UINT64_C(0), DBL_MAX);
	for (int i = 0; i < 100000; i++)
		sh_exact_add(&sums, ~UINT64_C(0), -DBL_MAX);
	CHECK(!sh_exact_fingerprint(&sums, &fingerprint));
	sh_exact_add(&sums, 5, ldexp(1, -1074));
	CHECK(sh_exact_fingerprint(&sums, &fingerprint) && fingerprint == 5);
	sh_exact_add(&sums, 5, -ldexp(1, -1074));
	CHECK(!sh_exact_fingerprint(&sums, &fingerprint));
	/* The last bit of one decides against the highest of others. */
	sh_exact_add(&sums, 1, ldexp(1, 1000));
	sh_exact_add(&sums, 2, ldexp(1, 1000));
	sh_exact_add(&sums, 1, ldexp(1, -1074));
	CHECK(sh_exact_fingerprint(&sums, &fingerprint) && fingerprint == 1);
	release_all();
}

int
main(void)
{
	seed_random();
	for (int i = 0; i < ROUNDS; i++)
		test_random();
	test_extremes();
	return 0;
}
