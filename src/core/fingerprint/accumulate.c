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
 * written.  We turn the counters on their side: plane p is a word that holds
 * binary digit p of all 64 counts, and a hash is a word that holds what to add
 * to them.  A full adder takes three words of the same weight and gives their
 * sum and, of twice the weight, their carry, by five logical operations, for
 * all 64 columns at once.  So plane 0 and two hashes give plane 0 and a carry;
 * two such carries and plane 1 give plane 1 and a carry, and so on: sixteen
 * hashes take fifteen adders, about one for each hash, and leave one carry of
 * weight 16, which is added to the planes from 4 on (Harley and Seal, in
 * Warren, "Hacker's Delight", chapter 5).
 *
 * For example, in columns of one bit each: plane 0 is 1 and the hashes have 1
 * and 1; these are three, so plane 0 stays 1 and the carry is 1.  The next two
 * hashes have 1 and 0, so plane 0 becomes 0, the carry 1.  Plane 1, which was
 * 0, and the two carries: 0 stays, and a carry of weight 4.  In all 4 = 1 + 3.
 *
 * Hashes are taken in pairs, one for each half of a vector register; that is
 * what every x86-64 and every AArch64 has, so nothing need be chosen when the
 * program runs.  (All this is a twelfth of the instructions that a document of
 * 2 kB takes; four to a register, which not all have, could save half of that.)
 * In the end the two halves are added together.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/fingerprint/accumulate.h"

#include <string.h>

#define LANES			2		/* hashes in a vector */
#define ROUND			(16 * LANES)	/* hashes added in one go */
#define PLANES			9		/* digits counted before lanes are joined */
#define HASHES_MAX		(((1 << (PLANES - 4)) - 1) * ROUND) /* added till then */

/*
 * How vectors are passed between functions is not the same on all x86-32, of
 * which gcc warns; none of ours is called from elsewhere.
 */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef uint64_t ShVector __attribute__((vector_size(LANES * 8)));

/* Hashes as they lie in an array, which need not be aligned as a vector is. */
typedef uint64_t ShHashes __attribute__((vector_size(LANES * 8), aligned(8),
										 may_alias));

/* Add a and b to *sum, which keeps the ones; the twos are returned. */
static inline ShVector
add(ShVector *sum, ShVector a, ShVector b)
{
	ShVector	s = *sum;
	ShVector	u = s ^ a;

	*sum = u ^ b;
	return (s & a) | (u & b);
}

/* Add eight vectors to the planes 0 to 2; the eights are returned. */
static inline ShVector
add_eight(ShVector *plane, const ShHashes *h)
{
	ShVector	two = add(&plane[0], h[0], h[1]);
	ShVector	four = add(&plane[1], two, add(&plane[0], h[2], h[3]));

	two = add(&plane[0], h[4], h[5]);
	return add(&plane[2], four,
			   add(&plane[1], two, add(&plane[0], h[6], h[7])));
}

/* Add to the sums what one lane has counted. */
static void
join_lane(ShSums *sums, const ShVector *planes, int n, int lane)
{
	uint64_t	carry = 0;

	for (int p = 0; p < SH_BITS && (p < n || carry != 0); p++)
	{
		uint64_t	a = sums->planes[p];
		uint64_t	b = p < n ? planes[p][lane] : 0;

		sums->planes[p] = a ^ b ^ carry;
		carry = (a & b) | ((a ^ b) & carry);
	}
}

/* Add at most HASHES_MAX hashes. */
static void
add_some(ShSums *sums, const uint64_t *hashes, size_t n)
{
	ShVector	planes[PLANES] = {{0}};
	int			used = sh_bit_length((n + LANES - 1) / LANES);	/* for a lane */

	for (size_t done = 0; done < n; done += ROUND)
	{
		const ShHashes *h = (const ShHashes *) (hashes + done);
		uint64_t	last[ROUND];
		ShVector	carry;

		if (n - done < ROUND)
		{
			memset(last, 0, sizeof last);
			memcpy(last, hashes + done, (n - done) * sizeof *hashes);
			h = (const ShHashes *) last;
		}
		carry = add_eight(planes, h);
		carry = add(&planes[3], carry, add_eight(planes, h + 8));

		for (int p = 4; p < used; p++)
		{
			ShVector	both = planes[p] & carry;

			planes[p] ^= carry;
			carry = both;
		}
	}
	for (int lane = 0; lane < LANES; lane++)
		join_lane(sums, planes, used, lane);
}

/* Begin anew, with nothing added. */
void
sh_sums_begin(ShSums *sums)
{
	memset(sums->planes, 0,
		   (size_t) sh_bit_length(sums->total) * sizeof *sums->planes);
	sums->total = 0;
}

/* Add n hashes, each with weight one. */
void
sh_sums_add(ShSums *sums, const uint64_t *hashes, size_t n)
{
	sums->total += n;
	while (n > 0)
	{
		size_t		k = n < HASHES_MAX ? n : HASHES_MAX;

		add_some(sums, hashes, k);
		hashes += k;
		n -= k;
	}
}

/*
 * The fingerprint: bit i is set when its sum is positive, that is when more
 * than half of the hashes have it set.  False when nothing was added; then
 * there is no fingerprint.
 *
 * All 64 counts are compared with that half at once, from the most significant
 * digit down: the first digit that differs decides.
 */
bool
sh_sums_fingerprint(const ShSums *sums, uint64_t *fingerprint)
{
	uint64_t	half = sums->total / 2;
	uint64_t	more = 0;
	uint64_t	same = UINT64_MAX;

	for (int p = sh_bit_length(sums->total); p-- > 0;)
	{
		uint64_t	digit = half >> p & 1 ? UINT64_MAX : 0;

		more |= same & sums->planes[p] & ~digit;
		same &= ~(sums->planes[p] ^ digit);
	}
	*fingerprint = more;
	return sums->total > 0;
}
