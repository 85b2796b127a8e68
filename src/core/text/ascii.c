/*-------------------------------------------------------------------------
 *
 * ascii.c
 *		ASCII text -> normalised text, for the instructions of processors.
 *
 * How words are read is told, and done, in ascii_loops.h, whose functions are
 * compiled here around what differs: to classify 64 bytes and copy them in
 * lower case, to copy 64 bytes as they are, to find the spaces among 64 bytes,
 * and to find the first bit of a mask.
 *
 * AVX2 takes 32 bytes at a time, and is chosen when the program runs; the
 * vectors that every x86-64 (SSE2) and every AArch64 (NEON) has take 16;
 * elsewhere it is 8 in an ordinary register.  Setting the bit 0x20 makes
 * capitals small, turns no other byte into a small letter, and leaves digits
 * alone; it is also all that a space has.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/ascii.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "core/text/ascii_loops.h"
#include "core/cpu.h"

#define BLOCK		SH_ASCII_BLOCK

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

static inline void
copy_portable(unsigned char *to, const unsigned char *from)
{
	memcpy(to, from, BLOCK);
}

/* The place of the least significant bit; when there is none, any will do. */
static inline unsigned
first_bit_portable(uint64_t mask)
{
	return (unsigned) __builtin_ctzll(mask | UINT64_C(1) << 63);
}

static uint64_t
spaces_portable(const unsigned char *bytes)
{
	uint64_t	mask = 0;

	/* Spaces become zeros: where a bit remains, the byte is none. */
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
	return sh_read_blocks(bytes, n, text, used, classify_portable,
						  copy_portable, first_bit_portable);
}

static size_t
find_portable(const unsigned char *text, size_t from, size_t to,
			  uint16_t *places)
{
	return sh_find_blocks(text, from, to, places, spaces_portable,
						  first_bit_portable);
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
	return sh_read_blocks(bytes, n, text, used, classify_sse2,
						  copy_portable, first_bit_portable);
}

static size_t
find_sse2(const unsigned char *text, size_t from, size_t to,
		  uint16_t *places)
{
	return sh_find_blocks(text, from, to, places, spaces_sse2,
						  first_bit_portable);
}

/* --- AVX2 ----------------------------------------------------------------- */

/* Of 32 bytes, those from first to last; see within_sse2. */
static inline SIMHASH_AVX2 __m256i
within_avx2(__m256i c, char first, char last)
{
	__m256i		moved = _mm256_add_epi8(c, _mm256_set1_epi8((char) (-128 - first)));

	return _mm256_cmpgt_epi8(_mm256_set1_epi8((char) (-127 + last - first)),
							 moved);
}

static inline SIMHASH_AVX2 ShBlock
classify_avx2(const unsigned char *bytes, unsigned char *normal)
{
	const		__m256i space = _mm256_set1_epi8(0x20);
	ShBlock		block = {0, 0};

#pragma GCC unroll 2
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

static inline SIMHASH_AVX2 void
copy_avx2(unsigned char *to, const unsigned char *from)
{
	__m256i		low = _mm256_loadu_si256((const __m256i *) from);
	__m256i		high = _mm256_loadu_si256((const __m256i *) (from + 32));

	_mm256_storeu_si256((__m256i *) to, low);
	_mm256_storeu_si256((__m256i *) (to + 32), high);
}

static inline SIMHASH_AVX2 unsigned
first_bit_avx2(uint64_t mask)
{
	return (unsigned) _tzcnt_u64(mask);
}

static inline SIMHASH_AVX2 uint64_t
spaces_avx2(const unsigned char *bytes)
{
	uint64_t	mask = 0;

#pragma GCC unroll 2
	for (int i = 0; i < BLOCK; i += 32)
	{
		__m256i		c = _mm256_loadu_si256((const __m256i *) (bytes + i));

		c = _mm256_cmpeq_epi8(c, _mm256_set1_epi8(0x20));
		mask |= (uint64_t) (uint32_t) _mm256_movemask_epi8(c) << i;
	}
	return mask;
}

static SIMHASH_AVX2 size_t
read_avx2(const unsigned char *bytes, size_t n, unsigned char *text,
		  size_t *used)
{
	return sh_read_blocks(bytes, n, text, used, classify_avx2,
						  copy_avx2, first_bit_avx2);
}

static SIMHASH_AVX2 size_t
find_avx2(const unsigned char *text, size_t from, size_t to,
		  uint16_t *places)
{
	return sh_find_blocks(text, from, to, places, spaces_avx2,
						  first_bit_avx2);
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
	return sh_read_blocks(bytes, n, text, used, classify_neon,
						  copy_portable, first_bit_portable);
}

static size_t
find_neon(const unsigned char *text, size_t from, size_t to,
		  uint16_t *places)
{
	return sh_find_blocks(text, from, to, places, spaces_neon,
						  first_bit_portable);
}

#endif							/* __aarch64__ */

/* --- the kinds, the fastest first ----------------------------------------- */

const ShAsciiKind sh_ascii_kinds[] = {
#ifdef __x86_64__
	{"AVX2", sh_cpu_avx2, classify_avx2, read_avx2, find_avx2},
	{"SSE2", sh_cpu_any, classify_sse2, read_sse2, find_sse2},
#endif
#if defined(__ARM_NEON) && defined(__aarch64__)
	{"NEON", sh_cpu_any, classify_neon, read_neon, find_neon},
#endif
	{"portable", sh_cpu_any, classify_portable, read_portable, find_portable}
};
const int	sh_ascii_kinds_count =
sizeof sh_ascii_kinds / sizeof *sh_ascii_kinds;

SH_CPU_DEFINE_FASTEST(sh_ascii_fastest, ShAsciiKind, sh_ascii_kinds);
