/*-------------------------------------------------------------------------
 *
 * ascii.c
 *		ASCII text -> normalised text, for the instructions of processors.
 *
 * How words are read is told, and done, in ascii_loops.h, which is included here
 * once for each kind.
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

#include "core/cpu.h"

#define BLOCK		SH_ASCII_BLOCK

/* Bytes as they lie in a text, which need not be aligned as a vector is. */
typedef unsigned char ShBytes16 __attribute__((vector_size(16), aligned(1),
											   may_alias));
typedef signed char ShSigned16 __attribute__((vector_size(16)));
typedef unsigned char ShBytes32 __attribute__((vector_size(32), aligned(1),
											   may_alias));
typedef signed char ShSigned32 __attribute__((vector_size(32)));

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

/* See ShAsciiKind.classify. */
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

/* The place of the least significant bit; when there is none, any will do. */
static inline unsigned
first_bit_portable(uint64_t mask)
{
	return (unsigned) __builtin_ctzll(mask | UINT64_C(1) << 63);
}

/* The spaces among 64 bytes. */
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

#define KIND(name)	name##_portable
#define TARGET
#include "core/text/ascii_loops.h"

#ifdef __x86_64__

/* --- SSE2 ----------------------------------------------------------------- */

/* Bit 7 of each of 64 bytes. */
static inline uint64_t
gather_sse2(const ShBytes16 *set)
{
	uint64_t	mask = 0;

	for (int i = 0; i < BLOCK / 16; i++)
		mask |= (uint64_t) _mm_movemask_epi8((__m128i) set[i]) << 16 * i;
	return mask;
}

#define first_bit_sse2	first_bit_portable
#define KIND(name)	name##_sse2
#define TARGET
#define VECTOR		ShBytes16
#define SIGNED		ShSigned16
#include "core/text/ascii_loops.h"

/* --- AVX2 ----------------------------------------------------------------- */

/* Bit 7 of each of 64 bytes. */
static inline SIMHASH_AVX2 uint64_t
gather_avx2(const ShBytes32 *set)
{
	return (uint32_t) _mm256_movemask_epi8((__m256i) set[0]) |
		(uint64_t) (uint32_t) _mm256_movemask_epi8((__m256i) set[1]) << 32;
}

static inline SIMHASH_AVX2 unsigned
first_bit_avx2(uint64_t mask)
{
	return (unsigned) _tzcnt_u64(mask);
}

#define KIND(name)	name##_avx2
#define TARGET		SIMHASH_AVX2
#define VECTOR		ShBytes32
#define SIGNED		ShSigned32
#include "core/text/ascii_loops.h"

#endif							/* __x86_64__ */

#if defined(__ARM_NEON) && defined(__aarch64__)

/* --- NEON ----------------------------------------------------------------- */

/* Bit 7 of each of 64 bytes. */
static inline uint64_t
gather_neon(const ShBytes16 *set)
{
	static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128,
	1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t	bit = vld1q_u8(bits);
	uint8x16_t	one[4];

	for (int i = 0; i < 4; i++)
		one[i] = vandq_u8(vcltzq_s8((int8x16_t) set[i]), bit);
	one[0] = vpaddq_u8(vpaddq_u8(one[0], one[1]), vpaddq_u8(one[2], one[3]));
	return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(one[0], one[0])), 0);
}

#define first_bit_neon	first_bit_portable
#define KIND(name)	name##_neon
#define TARGET
#define VECTOR		ShBytes16
#define SIGNED		ShSigned16
#include "core/text/ascii_loops.h"

#endif							/* __aarch64__ */

/* --- the kinds, the fastest first ----------------------------------------- */

const ShAsciiKind sh_ascii_kinds[] = {
#ifdef __x86_64__
	{"AVX2", sh_cpu_avx2, classify_avx2, read_avx2, find_spaces_avx2},
	{"SSE2", sh_cpu_any, classify_sse2, read_sse2, find_spaces_sse2},
#endif
#if defined(__ARM_NEON) && defined(__aarch64__)
	{"NEON", sh_cpu_any, classify_neon, read_neon, find_spaces_neon},
#endif
	{"portable", sh_cpu_any, classify_portable, read_portable,
	find_spaces_portable}
};
const int	sh_ascii_kinds_count =
sizeof sh_ascii_kinds / sizeof *sh_ascii_kinds;

SH_CPU_DEFINE_FASTEST(sh_ascii_fastest, ShAsciiKind, sh_ascii_kinds);
