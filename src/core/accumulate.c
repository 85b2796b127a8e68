/*-------------------------------------------------------------------------
 *
 * accumulate.c
 *		Feature hashes -> 64 sums -> fingerprint.
 *
 * A SimHash adds +1 for each set bit of a feature's hash and -1 for each
 * clear one, into a sum per bit position, and keeps the signs (Charikar 2002,
 * "Similarity Estimation Techniques from Rounding Algorithms").  With n
 * hashes of which o have the bit set, the sum is o - (n - o) = 2o - n, so it
 * is enough to count the ones: a positional population count.
 *
 * Adding one hash to 64 counters costs 64 additions when done as it is
 * written.  We instead treat the hashes as columns of bits and let carry-save
 * adders work on all 64 columns at once: fifteen hashes go through a tree of
 * eleven full adders into four words, of which word p holds the bit of weight
 * 2^p of every column's count.  Those four words are spread into counters of
 * eight bits, eight columns to a word, and these into the 64 sums before
 * they can overflow, that is after seventeen rounds of fifteen.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "accumulate.h"

#include <string.h>

#define ROUND			15		/* hashes that four planes can count */
#define ROUNDS_MAX		17		/* rounds that eight bits can count */
#define LOW_BITS		UINT64_C(0x0101010101010101)

/* Add three columns of bits: *carry gets the twos, *sum the ones. */
static inline void
full_adder(uint64_t *carry, uint64_t *sum, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t	u = a ^ b;

	*carry = (a & b) | (u & c);
	*sum = u ^ c;
}

/* Count fifteen hashes; plane[p] gets the bit of weight 2^p of each count. */
static inline void
count_round(uint64_t plane[4], const uint64_t *h)
{
	uint64_t	s,
				t[7],
				f[3];

	full_adder(&t[0], &s, h[0], h[1], h[2]);
	full_adder(&t[1], &s, s, h[3], h[4]);
	full_adder(&t[2], &s, s, h[5], h[6]);
	full_adder(&t[3], &s, s, h[7], h[8]);
	full_adder(&t[4], &s, s, h[9], h[10]);
	full_adder(&t[5], &s, s, h[11], h[12]);
	full_adder(&t[6], &plane[0], s, h[13], h[14]);
	full_adder(&f[0], &s, t[0], t[1], t[2]);
	full_adder(&f[1], &s, s, t[3], t[4]);
	full_adder(&f[2], &plane[1], s, t[5], t[6]);
	full_adder(&plane[3], &plane[2], f[0], f[1], f[2]);
}

/*
 * Add the planes to the counters of eight bits: byte i of counters[j] counts
 * column 8 * i + j.
 */
static inline void
spread_planes(uint64_t counters[8], const uint64_t plane[4])
{
	for (int j = 0; j < 8; j++)
	{
		counters[j] += (plane[0] >> j & LOW_BITS) +
			((plane[1] >> j & LOW_BITS) << 1) +
			((plane[2] >> j & LOW_BITS) << 2) +
			((plane[3] >> j & LOW_BITS) << 3);
	}
}

/* Begin with nothing added. */
void
sh_sums_begin(ShSums *sums)
{
	memset(sums, 0, sizeof *sums);
}

/* Add n hashes, each with weight one. */
void
sh_sums_add(ShSums *sums, const uint64_t *hashes, size_t n)
{
	sums->total += n;
	while (n > 0)
	{
		uint64_t	counters[8] = {0};
		uint64_t	plane[4];

		for (int round = 0; round < ROUNDS_MAX && n > 0; round++)
		{
			uint64_t	last[ROUND] = {0};
			size_t		k = n < ROUND ? n : ROUND;

			if (k < ROUND)
				memcpy(last, hashes, k * sizeof *hashes);
			count_round(plane, k < ROUND ? last : hashes);
			spread_planes(counters, plane);
			hashes += k;
			n -= k;
		}
		for (int bit = 0; bit < SH_BITS; bit++)
			sums->ones[bit] += counters[bit & 7] >> (bit & ~7) & 0xff;
	}
}

/*
 * The fingerprint: bit i is set when its sum is positive.  False when nothing
 * was added; then there is no fingerprint.
 */
bool
sh_sums_fingerprint(const ShSums *sums, uint64_t *fingerprint)
{
	uint64_t	result = 0;

	for (int bit = 0; bit < SH_BITS; bit++)
	{
		if (2 * sums->ones[bit] > sums->total)
			result |= UINT64_C(1) << bit;
	}
	*fingerprint = result;
	return sums->total > 0;
}
