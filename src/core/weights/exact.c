/*-------------------------------------------------------------------------
 *
 * exact.c
 *		Hashes and real weights -> 64 exact sums -> fingerprint.
 *
 * Adding doubles rounds, and what is lost depends on the order: 1e16 + 1 - 1e16
 * is 0 one way round and 1 another.  A bit of a fingerprint is the sign of a
 * sum, so a plan that splits the rows otherwise, or a window that has moved
 * on, could answer something else.  We therefore add without any rounding:
 *
 *	- The same (hash, weight) pairs give the same fingerprint in every order,
 *	  and however they are divided among workers.
 *	- To subtract a pair that was added is to have never added it.
 *	- There is no overflow, whatever finite doubles are added.
 *
 * Every finite double is a whole multiple of 2^-1074, so a sum of them is one
 * too: a large integer, which we keep in digits of 32 bits, each in a signed
 * word of 64.  A weight is m * 2^e with m of 53 bits; shifted to where it
 * belongs it covers three digits at most.  We add its three parts to the
 * digits without carrying, for there is room for 2^31 additions, and carry
 * when that room is used up or somebody asks for the result.
 *
 * A digit is kept for all 64 sums together, as an array that the compiler can
 * add to with SIMD, and is allocated when it is first needed.  The weights of
 * one application lie close together, so that three or four arrays of 512
 * bytes out of 69 are all that exist.
 *
 * For example 0.75 is 3 * 2^-2: bit 0 of the 3 stands at 1074 - 2 = 1072 =
 * 33 * 32 + 16, so that 3 << 16 is added to digit 33 of each sum whose bit is
 * set in the hash, and subtracted from that of the others.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/weights/exact.h"

#include <math.h>
#include <string.h>

#define MANTISSA_BITS	52		/* stored; a leading 1 is implied */
#define EXPONENT_MASK	0x7ff
#define DIGIT_MASK		UINT64_C(0xffffffff)
#define UNCARRIED_MAX	(UINT32_C(1) << 30)

/* Begin with nothing added. */
void
sh_exact_begin(ShExact *sums,
			   void *(*allocate) (void *context, size_t bytes),
			   void *context)
{
	memset(sums, 0, sizeof *sums);
	sums->allocate = allocate;
	sums->context = context;
}

/* The digit of that index; made, of zeros, when there is none yet. */
static int64_t *
get_digit(ShExact *sums, int index)
{
	if (sums->digits[index] == NULL)
	{
		sums->digits[index] = sums->allocate(sums->context, sizeof(ShDigit));
		memset(sums->digits[index], 0, sizeof(ShDigit));
	}
	return *sums->digits[index];
}

/* Add to a digit of the sums whose bit is set, subtract from the others. */
static inline void
add_part(int64_t *restrict digit, const int64_t *restrict signs, int64_t part)
{
	for (int bit = 0; bit < SH_BITS; bit++)
		digit[bit] += (part ^ signs[bit]) - signs[bit];
}

/*
 * Add a hash with a finite weight.  One of 0 is as if it were not there, and one
 * with the other sign undoes it.
 */
void
sh_exact_add(ShExact *sums, uint64_t hash, double weight)
{
	uint64_t	bits;
	uint64_t	mantissa;
	int			place;			/* of the lowest bit of the mantissa */
	int			index;
	int			shift;
	uint64_t	parts[3];
	int64_t		signs[SH_BITS];

	if (weight == 0)
		return;
	memcpy(&bits, &weight, sizeof bits);
	mantissa = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
	place = (int) (bits >> MANTISSA_BITS & EXPONENT_MASK);
	if (place > 0)
	{
		mantissa |= UINT64_C(1) << MANTISSA_BITS;	/* not subnormal */
		place--;
	}
	index = place / SH_DIGIT_BITS;
	shift = place % SH_DIGIT_BITS;
	parts[0] = mantissa << shift & DIGIT_MASK;
	parts[1] = mantissa >> (SH_DIGIT_BITS - shift) & DIGIT_MASK;
	parts[2] = mantissa >> 1 >> (2 * SH_DIGIT_BITS - 1 - shift);

	if (weight < 0)
		hash = ~hash;
	for (int bit = 0; bit < SH_BITS; bit++)
		signs[bit] = (int64_t) (hash >> bit & 1) - 1;
	if (sums->uncarried >= UNCARRIED_MAX)
		sh_exact_carry(sums);
	sums->uncarried++;
	for (int i = 0; i < 3; i++)
	{
		if (parts[i] != 0)
			add_part(get_digit(sums, index + i), signs, (int64_t) parts[i]);
	}
}

/* Move what a digit has beyond 0 .. 2^32 - 1 to the next. */
static void
carry_digit(ShExact *sums, int index)
{
	int64_t    *digit = *sums->digits[index];
	int64_t    *next = get_digit(sums, index + 1);

	for (int bit = 0; bit < SH_BITS; bit++)
	{
		int64_t		low = digit[bit] & (int64_t) DIGIT_MASK;

		/* Exact: the difference is a multiple of 2^32. */
		next[bit] += (digit[bit] - low) / (INT64_C(1) << SH_DIGIT_BITS);
		digit[bit] = low;
	}
}

/*
 * Carry: bring every digit into 0 .. 2^32 - 1, but the highest, which keeps
 * the sign and only has to stay small.
 */
void
sh_exact_carry(ShExact *sums)
{
	int			highest = SH_DIGITS - 1;

	while (highest > 0 && sums->digits[highest] == NULL)
		highest--;
	for (int i = 0; i < SH_DIGITS - 1; i++)
	{
		bool		beyond = false;

		if (sums->digits[i] == NULL)
			continue;
		for (int bit = 0; bit < SH_BITS; bit++)
		{
			int64_t		digit = (*sums->digits[i])[bit];

			if (i >= highest && digit < 0)
				digit = ~digit;
			beyond |= (uint64_t) digit > DIGIT_MASK;
		}
		if (beyond)
			carry_digit(sums, i);
	}
	sums->uncarried = 0;
}

/* Add what was added to the other sums.  Both are carried. */
void
sh_exact_merge(ShExact *sums, ShExact *other)
{
	sh_exact_carry(sums);
	sh_exact_carry(other);
	for (int i = 0; i < SH_DIGITS; i++)
	{
		int64_t    *to;

		if (other->digits[i] == NULL)
			continue;
		to = get_digit(sums, i);
		for (int bit = 0; bit < SH_BITS; bit++)
			to[bit] += (*other->digits[i])[bit];
	}
	sums->uncarried = 1;
}

/*
 * The fingerprint: bit i is set when its sum is positive.  False when all sums
 * are 0, as nothing was added, or the weights of each feature cancel; then
 * there is no fingerprint.
 *
 * Once carried, a sum is negative when its highest digit that is not 0 is
 * negative, for the lower ones add less than one to it.
 */
bool
sh_exact_fingerprint(ShExact *sums, uint64_t *fingerprint)
{
	uint64_t	positive = 0;
	uint64_t	negative = 0;

	sh_exact_carry(sums);
	for (int i = SH_DIGITS - 1; i >= 0; i--)
	{
		if (sums->digits[i] == NULL)
			continue;
		for (int bit = 0; bit < SH_BITS; bit++)
		{
			int64_t		digit = (*sums->digits[i])[bit];

			positive |= (uint64_t) (digit > 0) << bit & ~negative;
			negative |= (uint64_t) (digit < 0) << bit & ~positive;
		}
	}
	*fingerprint = positive;
	return (positive | negative) != 0;
}
