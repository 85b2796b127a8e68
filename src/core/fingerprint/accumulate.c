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
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/fingerprint/families.h"

#include <string.h>

#define ROUND			16		/* hashes added in one go */

/* Add a and b to *sum, which keeps the ones; the twos are returned. */
static inline uint64_t
add_words(uint64_t *sum, uint64_t a, uint64_t b)
{
	uint64_t	s = *sum;
	uint64_t	u = s ^ a;

	*sum = u ^ b;
	return (s & a) | (u & b);
}

/* Add eight hashes to the planes 0 to 2; the eights are returned. */
static inline uint64_t
add_eight(uint64_t *plane, const uint64_t *h)
{
	uint64_t	two = add_words(&plane[0], h[0], h[1]);
	uint64_t	four = add_words(&plane[1], two, add_words(&plane[0], h[2], h[3]));

	two = add_words(&plane[0], h[4], h[5]);
	return add_words(&plane[2], four,
					 add_words(&plane[1], two, add_words(&plane[0], h[6], h[7])));
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
	uint64_t	low[4];			/* the planes 0 to 3, in registers */

	memcpy(low, sums->planes, sizeof low);
	sums->total += n;
	for (size_t done = 0; done < n; done += ROUND)
	{
		const uint64_t *h = hashes + done;
		uint64_t	last[ROUND];
		uint64_t	carry;

		if (n - done < ROUND)
		{
			memset(last, 0, sizeof last);
			h = memcpy(last, h, (n - done) * sizeof *h);
		}
		carry = add_eight(low, h);
		carry = add_words(&low[3], carry, add_eight(low, h + 8));

		for (uint64_t *plane = sums->planes + 4; carry != 0; plane++)
		{
			uint64_t	both = *plane & carry;

			*plane ^= carry;
			carry = both;
		}
	}
	memcpy(sums->planes, low, sizeof low);
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
