/*-------------------------------------------------------------------------
 *
 * ascii.c
 *		ASCII text -> normalised text, cut into words.
 *
 * Most text is ASCII for the most part, and there a word is a run of letters
 * and digits.  Looking at one byte after another takes a few instructions for
 * each, and a jump that the processor cannot foresee at the end of each word;
 * copying one word after another takes more.  We take 64 bytes at once.
 *
 * First, bytes are classified, and copied aside in lower case with a space in
 * place of whatever is of no word.  Setting the bit 0x20 makes capitals small,
 * turns no other byte into a small letter, and leaves digits alone; it is also
 * all that a space has.  Bit i of the mask "word" tells that byte i is a letter
 * or digit.  Shift that mask by one, the byte before the block coming in, and
 * each bit stands beside that of the byte before.  To be kept is what is of a
 * word or comes just behind one.
 *
 * Mostly words are one byte apart, and all is kept.  Otherwise what is kept
 * comes in stretches of several words, which are then moved together.  Each is
 * copied with whatever follows it, since copying 64 bytes takes less time than
 * asking how many it has to be, and the next one overwrites what is too much.
 *
 * For example, in a block of eight bytes, byte 0 on the left:
 *
 *		bytes          O h , _ n o ! _		("_" is a space)
 *		copy           o h _ _ n o _ _
 *		word           1 1 0 0 1 1 0 0
 *		word << 1      0 1 1 0 0 1 1 0
 *		keep           1 1 1 0 1 1 1 0		"oh_" and "no_"
 *
 * Last, the spaces of what was written are found, 64 bytes at once again.  They
 * are where words end, and one behind each the next word starts.  The bits are
 * taken from the mask one by one, least significant first, four at a time: some
 * writes are in vain, but there is no jump for each word.
 *
 * What a byte is, is found for 32 bytes at a time with AVX2, which is chosen
 * when the program runs, or for 16 with the vectors that every x86-64 (SSE2)
 * and every AArch64 (NEON) has; elsewhere for 8 in an ordinary register.  The
 * loops are written once, as inline functions of what differs.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "ascii.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "cpu.h"

#define BLOCK		SH_ASCII_BLOCK
#define BLOCKS_MAX	(SH_ASCII_BYTES / BLOCK)

#define ALWAYS_INLINE	static inline __attribute__((always_inline))

/* Copy bytes, classify them; tell which of 64 bytes are spaces. */
typedef ShBlock (*ShClassify) (const unsigned char *bytes,
							   unsigned char *normal);
typedef uint64_t (*ShSpaces) (const unsigned char *bytes);

/* --- the loops ------------------------------------------------------------ */

/*
 * Classify the first of n bytes, as far as words are seen to be complete.  Sets
 * the mask of what to keep of each block, and *blocks to how many there are.
 * Stops before a word that fills a block: it may be longer than a piece.
 */
ALWAYS_INLINE size_t
classify_blocks(const unsigned char *bytes, size_t n, unsigned char *normal,
				uint64_t *keep, size_t *blocks, ShClassify classify)
{
	uint64_t	before = 0;		/* 1 when the byte before is of a word */
	uint64_t	between = 0;	/* what is of no word, in the last block */
	size_t		count = 0;
	int			last;

	if (n > SH_ASCII_BYTES)
		n = SH_ASCII_BYTES;
	for (size_t at = 0; at < n; at += BLOCK)
	{
		unsigned char copy[BLOCK];
		const unsigned char *from = bytes + at;
		ShBlock		block;
		uint64_t	rest;

		if (n - at < BLOCK)
		{
			/* What is behind the end is as little known as what is no ASCII. */
			memset(copy, 0x80, sizeof copy);
			memcpy(copy, from, n - at);
			from = copy;
		}
		block = classify(from, normal + at);
		rest = ~block.word & ((block.other & -block.other) - 1);
		if (rest == 0)
			break;
		keep[count++] = block.word | block.word << 1 | before;
		between = rest;
		before = block.word >> 63;
		if (block.other != 0)
			break;
	}
	*blocks = count;
	if (count == 0)
		return 0;
	last = 63 - __builtin_clzll(between);
	keep[count - 1] &= (UINT64_C(2) << last) - 1;
	return (count - 1) * BLOCK + (size_t) last + 1;
}

/* See ShAsciiKind.read. */
ALWAYS_INLINE size_t
read_blocks(const unsigned char *bytes, size_t n, unsigned char *text,
			size_t *used, ShClassify classify)
{
	unsigned char normal[SH_ASCII_BYTES + BLOCK];
	uint64_t	keep[BLOCKS_MAX];
	size_t		blocks;
	size_t		done;
	unsigned char *to = text + *used;

	done = classify_blocks(bytes, n, normal, keep, &blocks, classify);
	for (size_t i = 0; i < blocks; i++)
	{
		const unsigned char *block = normal + i * BLOCK;
		uint64_t	rest = keep[i];

		if (rest == UINT64_MAX)
		{
			memcpy(to, block, BLOCK);
			to += BLOCK;
			continue;
		}
		while (rest != 0)
		{
			int			start = __builtin_ctzll(rest);

			memcpy(to, block + start, BLOCK);
			to += __builtin_ctzll(~(rest >> start));
			rest &= rest + (UINT64_C(1) << start);
		}
	}
	*used = (size_t) (to - text);
	return done;
}

/*
 * Write the place of the least significant bit, as that of a byte from "at"
 * on, and take the bit away.  When there is none, any place will do.
 */
ALWAYS_INLINE void
take_bit(uint16_t *place, uint64_t *mask, size_t at)
{
	*place = (uint16_t) (at + (size_t) __builtin_ctzll(*mask | UINT64_C(1) << 63));
	*mask &= *mask - 1;
}

/* See ShAsciiKind.find_spaces. */
ALWAYS_INLINE size_t
find_blocks(const unsigned char *text, size_t from, size_t to,
			uint16_t *places, ShSpaces spaces)
{
	size_t		count = 0;

	for (size_t at = from; at < to; at += BLOCK)
	{
		uint64_t	mask = spaces(text + at);
		uint16_t   *place = places + count;

		if (to - at < BLOCK)
			mask &= (UINT64_C(1) << (to - at)) - 1;
		count += (size_t) __builtin_popcountll(mask);
		for (; mask != 0; place += 4)
		{
			take_bit(&place[0], &mask, at);
			take_bit(&place[1], &mask, at);
			take_bit(&place[2], &mask, at);
			take_bit(&place[3], &mask, at);
		}
	}
	return count;
}

/* --- portable ------------------------------------------------------------- */

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

/* Eight bytes, the first one least significant. */
static inline uint64_t
load(const unsigned char *bytes)
{
	uint64_t	c = 0;

	for (int i = 0; i < 8; i++)
		c |= (uint64_t) bytes[i] << 8 * i;
	return c;
}

static ShBlock
classify_portable(const unsigned char *bytes, unsigned char *normal)
{
	ShBlock		block = {0, 0};

	for (int i = 0; i < BLOCK; i += 8)
	{
		uint64_t	c = load(bytes + i);
		uint64_t	ascii = c & EIGHT(0x7f);
		uint64_t	lower = ascii | EIGHT(0x20);
		uint64_t	word;

		word = (at_least(lower, 'a') & ~at_least(lower, 'z' + 1)) |
			(at_least(ascii, '0') & ~at_least(ascii, '9' + 1));
		word &= ~c;
		block.word |= gather(word) << i;
		block.other |= gather(c & EIGHT(0x80)) << i;
		/* 0x80 - 0x01 is 0x7f: all of an ASCII byte. */
		c = (ascii & (word - (word >> 7))) | EIGHT(0x20);
		for (int j = 0; j < 8; j++)
			normal[i + j] = (unsigned char) (c >> 8 * j);
	}
	return block;
}

static uint64_t
spaces_portable(const unsigned char *bytes)
{
	uint64_t	mask = 0;

	/* A byte that is above 0 when that bit is taken out is no space. */
	for (int i = 0; i < BLOCK; i += 8)
	{
		uint64_t	c = load(bytes + i) ^ EIGHT(0x20);
		uint64_t	some = ((c & EIGHT(0x7f)) + EIGHT(0x7f)) | c;

		mask |= gather(~some & EIGHT(0x80)) << i;
	}
	return mask;
}

static size_t
read_portable(const unsigned char *bytes, size_t n, unsigned char *text,
			  size_t *used)
{
	return read_blocks(bytes, n, text, used, classify_portable);
}

static size_t
find_portable(const unsigned char *text, size_t from, size_t to,
			  uint16_t *places)
{
	return find_blocks(text, from, to, places, spaces_portable);
}

#ifdef __x86_64__

/* --- SSE2 ----------------------------------------------------------------- */

/*
 * Of sixteen bytes, those from first to last.  SSE2 compares signed bytes
 * only, so the range is moved down to where these begin.
 */
static inline __m128i
within_sse2(__m128i c, char first, char last)
{
	__m128i		moved = _mm_add_epi8(c, _mm_set1_epi8((char) (-128 - first)));

	return _mm_cmplt_epi8(moved, _mm_set1_epi8((char) (-127 + last - first)));
}

static ShBlock
classify_sse2(const unsigned char *bytes, unsigned char *normal)
{
	const		__m128i space = _mm_set1_epi8(0x20);
	ShBlock		block = {0, 0};

	for (int i = 0; i < BLOCK; i += 16)
	{
		__m128i		c = _mm_loadu_si128((const __m128i *) (bytes + i));
		__m128i		word = _mm_or_si128(within_sse2(_mm_or_si128(c, space),
													'a', 'z'),
										within_sse2(c, '0', '9'));

		block.word |= (uint64_t) _mm_movemask_epi8(word) << i;
		block.other |= (uint64_t) _mm_movemask_epi8(c) << i;
		c = _mm_or_si128(_mm_and_si128(c, word), space);
		_mm_storeu_si128((__m128i *) (normal + i), c);
	}
	return block;
}

static uint64_t
spaces_sse2(const unsigned char *bytes)
{
	uint64_t	mask = 0;

	for (int i = 0; i < BLOCK; i += 16)
	{
		__m128i		c = _mm_loadu_si128((const __m128i *) (bytes + i));

		c = _mm_cmpeq_epi8(c, _mm_set1_epi8(0x20));
		mask |= (uint64_t) _mm_movemask_epi8(c) << i;
	}
	return mask;
}

static size_t
read_sse2(const unsigned char *bytes, size_t n, unsigned char *text,
		  size_t *used)
{
	return read_blocks(bytes, n, text, used, classify_sse2);
}

static size_t
find_sse2(const unsigned char *text, size_t from, size_t to,
		  uint16_t *places)
{
	return find_blocks(text, from, to, places, spaces_sse2);
}

/* --- AVX2 ----------------------------------------------------------------- */

#define AVX2	__attribute__((target("avx2,bmi,popcnt")))

/* Of 32 bytes, those from first to last; see within_sse2. */
AVX2
static inline __m256i
within_avx2(__m256i c, char first, char last)
{
	__m256i		moved = _mm256_add_epi8(c, _mm256_set1_epi8((char) (-128 - first)));

	return _mm256_cmpgt_epi8(_mm256_set1_epi8((char) (-127 + last - first)),
							 moved);
}

AVX2
static inline ShBlock
classify_avx2(const unsigned char *bytes, unsigned char *normal)
{
	const		__m256i space = _mm256_set1_epi8(0x20);
	ShBlock		block = {0, 0};

	for (int i = 0; i < BLOCK; i += 32)
	{
		__m256i		c = _mm256_loadu_si256((const __m256i *) (bytes + i));
		__m256i		word = _mm256_or_si256(within_avx2(_mm256_or_si256(c, space),
													   'a', 'z'),
										   within_avx2(c, '0', '9'));

		block.word |= (uint64_t) (uint32_t) _mm256_movemask_epi8(word) << i;
		block.other |= (uint64_t) (uint32_t) _mm256_movemask_epi8(c) << i;
		c = _mm256_or_si256(_mm256_and_si256(c, word), space);
		_mm256_storeu_si256((__m256i *) (normal + i), c);
	}
	return block;
}

AVX2
static inline uint64_t
spaces_avx2(const unsigned char *bytes)
{
	uint64_t	mask = 0;

	for (int i = 0; i < BLOCK; i += 32)
	{
		__m256i		c = _mm256_loadu_si256((const __m256i *) (bytes + i));

		c = _mm256_cmpeq_epi8(c, _mm256_set1_epi8(0x20));
		mask |= (uint64_t) (uint32_t) _mm256_movemask_epi8(c) << i;
	}
	return mask;
}

AVX2
static size_t
read_avx2(const unsigned char *bytes, size_t n, unsigned char *text,
		  size_t *used)
{
	return read_blocks(bytes, n, text, used, classify_avx2);
}

AVX2
static size_t
find_avx2(const unsigned char *text, size_t from, size_t to,
		  uint16_t *places)
{
	return find_blocks(text, from, to, places, spaces_avx2);
}

#endif							/* __x86_64__ */

#if defined(__ARM_NEON) && defined(__aarch64__)

/* --- NEON ----------------------------------------------------------------- */

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
within_neon(uint8x16_t c, uint8_t first, uint8_t last)
{
	return vcleq_u8(vsubq_u8(c, vdupq_n_u8(first)),
					vdupq_n_u8((uint8_t) (last - first)));
}

static ShBlock
classify_neon(const unsigned char *bytes, unsigned char *normal)
{
	const		uint8x16_t space = vdupq_n_u8(0x20);
	uint8x16_t	word[4];
	uint8x16_t	other[4];
	ShBlock		block;

	for (int i = 0; i < 4; i++)
	{
		uint8x16_t	c = vld1q_u8(bytes + 16 * i);

		word[i] = vorrq_u8(within_neon(vorrq_u8(c, space), 'a', 'z'),
						   within_neon(c, '0', '9'));
		other[i] = vcgeq_u8(c, vdupq_n_u8(0x80));
		vst1q_u8(normal + 16 * i, vorrq_u8(vandq_u8(c, word[i]), space));
	}
	block.word = gather_neon(word);
	block.other = gather_neon(other);
	return block;
}

static uint64_t
spaces_neon(const unsigned char *bytes)
{
	uint8x16_t	set[4];

	for (int i = 0; i < 4; i++)
		set[i] = vceqq_u8(vld1q_u8(bytes + 16 * i), vdupq_n_u8(0x20));
	return gather_neon(set);
}

static size_t
read_neon(const unsigned char *bytes, size_t n, unsigned char *text,
		  size_t *used)
{
	return read_blocks(bytes, n, text, used, classify_neon);
}

static size_t
find_neon(const unsigned char *text, size_t from, size_t to,
		  uint16_t *places)
{
	return find_blocks(text, from, to, places, spaces_neon);
}

#endif							/* __aarch64__ */

/* --- the kinds, the fastest first ----------------------------------------- */

const ShAsciiKind sh_ascii_kinds[] = {
#ifdef __x86_64__
	{"AVX2", sh_cpu_avx2_bmi, classify_avx2, read_avx2, find_avx2},
	{"SSE2", sh_cpu_any, classify_sse2, read_sse2, find_sse2},
#endif
#if defined(__ARM_NEON) && defined(__aarch64__)
	{"NEON", sh_cpu_any, classify_neon, read_neon, find_neon},
#endif
	{"portable", sh_cpu_any, classify_portable, read_portable, find_portable}
};
const int	sh_ascii_kinds_count =
sizeof sh_ascii_kinds / sizeof *sh_ascii_kinds;

/* The fastest kind that can be used here. */
const ShAsciiKind *
sh_ascii_fastest(void)
{
	static const ShAsciiKind *fastest = NULL;

	if (fastest == NULL)
	{
		const ShAsciiKind *kind = sh_ascii_kinds;

		while (!kind->usable())
			kind++;
		fastest = kind;
	}
	return fastest;
}
