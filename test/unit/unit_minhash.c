/*-------------------------------------------------------------------------
 *
 * unit_minhash.c
 *		Unit tests of the minima, as a set and as an estimate.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include "core/fingerprint/families.h"

#define HASHES_MAX	1000

static ShWalks walks;

/* The fingerprint of a set of hashes. */
static uint64_t
minhash(const uint64_t *hashes, size_t n)
{
	ShMinima	minima;
	uint64_t	fingerprint;

	sh_minima_begin(&minima);
	sh_minima_add(&minima, hashes, n);
	CHECK(sh_minima_fingerprint(&minima, &walks, &fingerprint));
	return fingerprint;
}

/* Nothing has no fingerprint; whatever is added, and however, has one. */
static void
test_sets(void)
{
	static const uint64_t extremes[] = {0, UINT64_MAX, 1, UINT64_MAX - 1};
	uint64_t	hashes[HASHES_MAX];
	ShMinima	minima;
	uint64_t	fingerprint;

	sh_minima_begin(&minima);
	CHECK(!sh_minima_fingerprint(&minima, &walks, &fingerprint));
	for (size_t i = 0; i < 4; i++)
		CHECK(minhash(extremes + i, 1) == minhash(extremes + i, 1));
	for (int round = 0; round < 200; round++)
	{
		size_t		n = 1 + random_below(HASHES_MAX / 2);

		for (size_t i = 0; i < n; i++)
			hashes[i] = hashes[2 * n - 1 - i] = random_bits();
		CHECK(minhash(hashes, n) == minhash(hashes + n, n));
		CHECK(minhash(hashes, n) == minhash(hashes, 2 * n));
	}
}

/*
 * Two sets with n hashes each, a share of them in common, differ in about
 * 32 (1 - J) bits; also when the hashes have no more than "bits" bits.
 */
static void
test_estimate(size_t n, size_t shared, int bits)
{
	const int	rounds = 400;
	double		jaccard = (double) shared / (double) (2 * n - shared);
	double		distance = 0;

	for (int round = 0; round < rounds; round++)
	{
		uint64_t	hashes[HASHES_MAX];

		for (size_t i = 0; i < 2 * n - shared; i++)
			hashes[i] = random_bits() >> (64 - bits);
		distance += sh_distance(minhash(hashes, n),
								minhash(hashes + n - shared, n));
	}
	distance /= rounds;
	CHECK(distance > 32 * (1 - jaccard) - 2);
	CHECK(distance < 32 * (1 - jaccard) + 2);
}

int
main(void)
{
	seed_random();
	test_sets();
	for (int bits = 32; bits <= 64; bits += 32)
	{
		test_estimate(2, 1, bits);
		test_estimate(10, 5, bits);
		test_estimate(50, 40, bits);
		test_estimate(400, 200, bits);
		test_estimate(400, 0, bits);
	}
	return 0;
}
