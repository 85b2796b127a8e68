/*-------------------------------------------------------------------------
 *
 * ascii.c
 *		ASCII text -> normalised text, for the instructions of processors.
 *
 * How words are read is told, and done, in ascii_loops.h, which is included here
 * once for each kind.
 *
 * AVX2 takes 32 bytes at a time, and is chosen when the program runs; elsewhere
 * it is the 16 bytes that every x86-64 (SSE2) and every AArch64 (NEON) has, and
 * that compilers make do without on other processors.  Setting the bit 0x20 makes
 * capitals small, turns no other byte into a small letter, and leaves digits
 * alone; it is also all that a space has.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/ascii.h"

#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
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

/* The place of the least significant bit; when there is none, any will do. */
static inline unsigned
first_bit(uint64_t mask)
{
	return (unsigned) __builtin_ctzll(mask | UINT64_C(1) << 63);
}

/* --- 16 bytes at a time --------------------------------------------------- */

/* Bit 7 of each of 64 bytes. */
static inline uint64_t
gather_plain(const ShBytes16 *set)
{
	uint64_t	mask = 0;

#if defined(__SSE2__)
	for (int i = 0; i < BLOCK / 16; i++)
		mask |= (uint64_t) _mm_movemask_epi8((__m128i) set[i]) << 16 * i;
#elif defined(__ARM_NEON) && defined(__aarch64__)
	static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128,
	1, 2, 4, 8, 16, 32, 64, 128};
	uint8x16_t	bit = vld1q_u8(bits);
	uint8x16_t	one[4];

	for (int i = 0; i < 4; i++)
		one[i] = vandq_u8(vcltzq_s8((int8x16_t) set[i]), bit);
	one[0] = vpaddq_u8(vpaddq_u8(one[0], one[1]), vpaddq_u8(one[2], one[3]));
	mask = vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(one[0], one[0])), 0);
#elif defined(__wasm_simd128__)
	for (int i = 0; i < BLOCK / 16; i++)
		mask |= (uint64_t) wasm_i8x16_bitmask((v128_t) set[i]) << 16 * i;
#else
	for (int i = 0; i < BLOCK; i++)
		mask |= (uint64_t) (set[i / 16][i % 16] >> 7) << i;
#endif
	return mask;
}

#define KIND(name)	name##_plain
#define TARGET
#define VECTOR		ShBytes16
#define SIGNED		ShSigned16
#include "core/text/ascii_loops.h"

#ifdef __x86_64__

/* --- AVX2 ----------------------------------------------------------------- */

/* Bit 7 of each of 64 bytes. */
static inline SIMHASH_AVX2 uint64_t
gather_avx2(const ShBytes32 *set)
{
	return (uint32_t) _mm256_movemask_epi8((__m256i) set[0]) |
		(uint64_t) (uint32_t) _mm256_movemask_epi8((__m256i) set[1]) << 32;
}

#define KIND(name)	name##_avx2
#define TARGET		SIMHASH_AVX2
#define VECTOR		ShBytes32
#define SIGNED		ShSigned32
#include "core/text/ascii_loops.h"

#endif							/* __x86_64__ */

/* --- the kinds, the fastest first ----------------------------------------- */

const ShAsciiKind sh_ascii_kinds[] = {
#ifdef __x86_64__
	{"AVX2", sh_cpu_avx2, classify_avx2, read_avx2, find_spaces_avx2},
#endif
	{"plain", sh_cpu_any, classify_plain, read_plain, find_spaces_plain}
};
const int	sh_ascii_kinds_count =
sizeof sh_ascii_kinds / sizeof *sh_ascii_kinds;

SH_CPU_DEFINE_FASTEST(sh_ascii_fastest, ShAsciiKind, sh_ascii_kinds);
