/*-------------------------------------------------------------------------
 *
 * ascii.c
 *		Where the words of ASCII text begin and end.
 *
 * Most text is ASCII for the most part, and there a word is a run of letters
 * and digits.  Looking at one byte after another takes a few instructions for
 * each, and a jump that the processor cannot foresee at the end of each word.
 * We look at 64 bytes at once, and need hardly any jump.
 *
 * Bit i of the mask "word" tells that byte i is a letter or digit.  Shift that
 * mask by one, the byte before the block coming in, and each bit stands beside
 * that of the byte before: where only the former is set a word begins, where
 * only the latter is, one has ended.  These bits are taken from their masks
 * one by one, least significant first, four of each at a time: some writes are
 * in vain, but there is no jump for each word.  The first start belongs to the
 * first end, and so on, also where a word goes on from one block to the next.
 *
 * For example, in a block of eight bytes, byte 0 on the left:
 *
 *		bytes          O h , _ n o ! _		("_" is a space)
 *		word           1 1 0 0 1 1 0 0
 *		word << 1      0 1 1 0 0 1 1 0
 *		begins         1 0 0 0 1 0 0 0		at 0 and 4
 *		ended          0 0 1 0 0 0 1 0		at 2 and 6
 *
 * What a byte is, is found for 16 bytes at a time with the vectors that every
 * x86-64 (SSE2) and every AArch64 (NEON) has, so nothing need be chosen when
 * the program runs; elsewhere for 8 bytes at a time in an ordinary register.
 * Setting the bit 0x20 makes capitals small, turns no other byte into a small
 * letter, and leaves digits alone.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "ascii.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#define BLOCK		64			/* bytes that a mask describes */

/* Eight times the same byte. */
#define EIGHT(byte) ((byte) * UINT64_C(0x0101010101010101))

/* Bit 7 of each byte of c, all of which are ASCII: it is at least so much. */
static inline uint64_t
at_least(uint64_t c, unsigned byte)
{
	return (c + EIGHT(0x80 - byte)) & EIGHT(0x80);
}

/* Gather bit 7 of the bytes, the first byte's as bit 0. */
static inline uint64_t
gather(uint64_t bits)
{
	return (bits >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

/* Classify 64 bytes, eight at a time. */
static inline ShBlock
classify_portable(const unsigned char *bytes)
{
	ShBlock		block = {0, 0};

	for (int i = 0; i < BLOCK; i += 8)
	{
		uint64_t	c = 0;
		uint64_t	ascii;
		uint64_t	lower;
		uint64_t	word;

		for (int j = 0; j < 8; j++)
			c |= (uint64_t) bytes[i + j] << 8 * j;
		ascii = c & EIGHT(0x7f);
		lower = ascii | EIGHT(0x20);
		word = (at_least(lower, 'a') & ~at_least(lower, 'z' + 1)) |
			(at_least(ascii, '0') & ~at_least(ascii, '9' + 1));
		block.word |= gather(word & ~c) << i;
		block.other |= gather(c & EIGHT(0x80)) << i;
	}
	return block;
}

#if defined(__SSE2__)

/*
 * Of sixteen bytes, those from first to last.  SSE2 compares signed bytes
 * only, so the range is moved down to where these begin.
 */
static inline __m128i
within(__m128i c, char first, char last)
{
	__m128i		moved = _mm_add_epi8(c, _mm_set1_epi8((char) (-128 - first)));

	return _mm_cmplt_epi8(moved, _mm_set1_epi8((char) (-127 + last - first)));
}

/* Classify 64 bytes, sixteen at a time. */
static inline ShBlock
classify_sse2(const unsigned char *bytes)
{
	ShBlock		block = {0, 0};

	for (int i = 0; i < BLOCK; i += 16)
	{
		__m128i		c = _mm_loadu_si128((const __m128i *) (bytes + i));
		__m128i		lower = _mm_or_si128(c, _mm_set1_epi8(0x20));
		__m128i		word = _mm_or_si128(within(lower, 'a', 'z'),
										within(c, '0', '9'));

		block.word |= (uint64_t) _mm_movemask_epi8(word) << i;
		block.other |= (uint64_t) _mm_movemask_epi8(c) << i;
	}
	return block;
}

#define CLASSIFY	classify_sse2
#define CLASSIFIER	{"SSE2", classify_sse2},

#elif defined(__ARM_NEON) && defined(__aarch64__)

/* One bit of each of 64 bytes that are 0 or 255. */
static inline uint64_t
gather_neon(const uint8x16_t * set)
{
	static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128,
	1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t	bit = vld1q_u8(bits);
	uint8x16_t	low = vpaddq_u8(vandq_u8(set[0], bit), vandq_u8(set[1], bit));
	uint8x16_t	high = vpaddq_u8(vandq_u8(set[2], bit), vandq_u8(set[3], bit));
	uint8x16_t	all = vpaddq_u8(low, high);

	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

/* Of sixteen bytes, those from first to last. */
static inline uint8x16_t
within(uint8x16_t c, uint8_t first, uint8_t last)
{
	return vcleq_u8(vsubq_u8(c, vdupq_n_u8(first)),
					vdupq_n_u8((uint8_t) (last - first)));
}

/* Classify 64 bytes, sixteen at a time. */
static inline ShBlock
classify_neon(const unsigned char *bytes)
{
	uint8x16_t	word[4];
	uint8x16_t	other[4];
	ShBlock		block;

	for (int i = 0; i < 4; i++)
	{
		uint8x16_t	c = vld1q_u8(bytes + 16 * i);

		word[i] = vorrq_u8(within(vorrq_u8(c, vdupq_n_u8(0x20)), 'a', 'z'),
						   within(c, '0', '9'));
		other[i] = vcgeq_u8(c, vdupq_n_u8(0x80));
	}
	block.word = gather_neon(word);
	block.other = gather_neon(other);
	return block;
}

#define CLASSIFY	classify_neon
#define CLASSIFIER	{"NEON", classify_neon},

#else

#define CLASSIFY	classify_portable
#define CLASSIFIER

#endif

const ShClassifier sh_classifiers[] = {
	{"portable", classify_portable},
	CLASSIFIER
	{NULL, NULL}
};

/*
 * Write the place of the least significant bit, as that of a byte from "at"
 * on, and take the bit away.  When there is none, any place will do.
 */
static inline void
take_bit(uint16_t *place, uint64_t *mask, size_t at)
{
	*place = (uint16_t) (at + (size_t) __builtin_ctzll(*mask | UINT64_C(1) << 63));
	*mask &= *mask - 1;
}

/* Write the places of all bits of both masks. */
static inline void
take_bits(uint16_t *starts, uint64_t begins, uint16_t *ends, uint64_t ended,
		  size_t at)
{
	for (; (begins | ended) != 0; starts += 4, ends += 4)
	{
		take_bit(&starts[0], &begins, at);
		take_bit(&ends[0], &ended, at);
		take_bit(&starts[1], &begins, at);
		take_bit(&ends[1], &ended, at);
		take_bit(&starts[2], &begins, at);
		take_bit(&ends[2], &ended, at);
		take_bit(&starts[3], &begins, at);
		take_bit(&ends[3], &ended, at);
	}
}

/*
 * Find the words among the first SH_WORDS_BYTES of n bytes, as far as they are
 * ASCII.  Before the first byte is no word.  Returns how many words there are
 * that are seen to be complete; word i is the bytes starts[i] .. ends[i] - 1.
 * Sets *next to where another word may begin, behind all of them.
 */
size_t
sh_ascii_words(const unsigned char *bytes, size_t n, uint16_t *starts,
			   uint16_t *ends, size_t *next)
{
	uint64_t	before = 0;		/* 1 when the byte before is of a word */
	size_t		begun = 0;
	size_t		complete = 0;

	if (n > SH_WORDS_BYTES)
		n = SH_WORDS_BYTES;
	for (size_t at = 0; at < n; at += BLOCK)
	{
		unsigned char last[BLOCK];
		ShBlock		block;
		uint64_t	begins;
		uint64_t	ended;

		if (n - at >= BLOCK)
			block = CLASSIFY(bytes + at);
		else
		{
			/* What is behind the end is as little known as what is no ASCII. */
			memset(last, 0x80, sizeof last);
			memcpy(last, bytes + at, n - at);
			block = CLASSIFY(last);
		}
		begins = block.word & ~(block.word << 1 | before);
		ended = ~block.word & (block.word << 1 | before);
		before = block.word >> 63;
		if (block.other != 0)
		{
			uint64_t	first = block.other & -block.other;

			begins &= first - 1;
			ended &= first - 1;
			n = at + (size_t) __builtin_ctzll(first);
		}
		take_bits(starts + begun, begins, ends + complete, ended, at);
		complete += (size_t) __builtin_popcountll(ended);
		begun += (size_t) __builtin_popcountll(begins);
	}
	*next = begun > complete ? starts[complete] : n;
	return complete;
}
