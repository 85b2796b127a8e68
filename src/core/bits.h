/*-------------------------------------------------------------------------
 *
 * bits.h
 *		Bit arithmetic on fingerprints: distance, blocks, keys.
 *
 * A fingerprint is 64 bits.  It is cut into four blocks of 16 bits, block 0
 * being the most significant; the value of a block is its key.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_BITS_H
#define SH_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SH_BITS			64		/* bits of a fingerprint */
#define SH_BLOCKS		4		/* blocks of a fingerprint */
#define SH_BLOCK_BITS	16		/* bits of a block, hence of a key */
#define SH_NEAR			3		/* the radius of the operator ~= */

/*
 * Hamming distance: the number of bits in which a and b differ.  Where the
 * compiler may not take an instruction for it, its own substitute looks up
 * tables, which is slower.
 */
static inline int
sh_distance(uint64_t a, uint64_t b)
{
#if defined(__POPCNT__) || !defined(__x86_64__)
	return __builtin_popcountll(a ^ b);
#else
	uint64_t	x = a ^ b;

	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) +
		(x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int) (x * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/* The same of strings of n bytes, which need not be aligned. */
static inline int64_t
sh_distance_bytes(const unsigned char *a, const unsigned char *b, size_t n)
{
	int64_t		distance = 0;
	uint64_t	x = 0;
	uint64_t	y = 0;

	for (; n >= sizeof x; n -= sizeof x, a += sizeof x, b += sizeof x)
	{
		memcpy(&x, a, sizeof x);
		memcpy(&y, b, sizeof y);
		distance += sh_distance(x, y);
	}
	x = y = 0;
	memcpy(&x, a, n);
	memcpy(&y, b, n);
	return distance + sh_distance(x, y);
}

/* Eight bytes, the first one least significant. */
static inline uint64_t
sh_load_little(const unsigned char *bytes)
{
	uint64_t	word;

	memcpy(&word, bytes, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* The key of a block.  Signed, as SQL has no unsigned 16-bit type. */
static inline int16_t
sh_block_key(uint64_t fingerprint, int block)
{
	return (int16_t) (fingerprint >> (SH_BITS - SH_BLOCK_BITS * (block + 1)));
}

/* The number of bits that a number has, without leading zeros. */
static inline int
sh_bit_length(uint64_t x)
{
	return x == 0 ? 0 : SH_BITS - __builtin_clzll(x);
}

/* How many numbers of so many bits lie within a distance of a given one. */
static inline double
sh_ball_size(int bits, int radius)
{
	double		size = 0;
	double		shell = 1;

	for (int d = 0; d <= radius && d <= bits; d++)
	{
		size += shell;
		shell = shell * (bits - d) / (d + 1);
	}
	return size;
}

/* The next greater number with as many bits set as one that is not 0. */
static inline uint32_t
sh_next_of_weight(uint32_t x)
{
	uint32_t	low = x & -x;
	uint32_t	sum = x + low;

	return (((sum ^ x) >> 2) >> __builtin_ctz(x)) | sum;
}

/* Odd, and as good as random.  Part of the specification. */
#define SH_SCRAMBLE		UINT64_C(0x9e3779b97f4a7c15)

/*
 * A value whose bits all depend on all bits of x: the finish of splitmix64.
 * Part of the specification (docs/fingerprint.md).
 */
static inline uint64_t
sh_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/*
 * The slot that a hash is looked for in first, of as many as the mask says, a
 * power of two less 1.  The multiplier is odd, and best chosen at random.
 */
static inline size_t
sh_first_slot(uint64_t hash, uint64_t multiplier, size_t mask)
{
	return (size_t) (hash * multiplier >> 32) & mask;
}

#endif							/* SH_BITS_H */
