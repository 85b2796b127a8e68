/*-------------------------------------------------------------------------
 *
 * compare.c
 *		Fingerprints compared with many others, by the fastest instructions.
 *
 * There are two functions (see engine.h), in portable C and for the
 * instructions of some processors, which are chosen when the server runs.
 * What differs is only "one", which compares one value with many: four at a
 * time with AVX2, where bits are counted by looking up half-bytes, two with
 * NEON.  Each value within the radius is passed to "match".
 *
 * "runs" takes values of which run i ends before ends[i], the first beginning
 * at start.  Most runs are of two or three, so that a call for each would cost
 * more than the comparing.  Hence the loop is written once, as an inline
 * function of "one", and each kind has it compiled around its own.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/engine.h"

#include "core/cpu.h"

#define ALWAYS_INLINE	static inline __attribute__((always_inline))

/* One value against many, as the kinds implement it. */
typedef void (*ShOne) (const ShCompare *compare, uint64_t one,
					   const uint64_t *many, size_t n);

/* --- the loops ------------------------------------------------------------ */

/* See ShCompareKind.runs. */
ALWAYS_INLINE void
each_run(const ShCompare *compare, const uint64_t *values, size_t start,
		 const uint32_t *ends, size_t n, size_t limit, ShOne one)
{
	for (size_t run = 0; run < n; start = ends[run++])
	{
		if (ends[run] - start > limit)
			continue;
		for (size_t i = start; i + 1 < ends[run]; i++)
			one(compare, values[i], values + i + 1, ends[run] - i - 1);
	}
}

/* One by one, by the instructions of the function that this is inlined in. */
ALWAYS_INLINE void
one_by_one(const ShCompare *compare, uint64_t one,
		   const uint64_t *many, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		if (sh_distance(one, many[i]) <= compare->radius)
			compare->match(compare->context, one, many[i]);
	}
}

/*
 * Move the values near to one to the front; how many are they?  Each value is
 * exchanged with the first that is not near, and that place moves on if the
 * value is near: no branch to guess.
 */
size_t
sh_take_near(uint64_t one, int radius, uint64_t *values, size_t n)
{
	size_t		taken = 0;

	for (size_t i = 0; i < n; i++)
	{
		uint64_t	value = values[i];

		values[i] = values[taken];
		values[taken] = value;
		taken += sh_distance(one, value) <= radius;
	}
	return taken;
}

/* --- portable ------------------------------------------------------------- */

static void
runs_portable(const ShCompare *compare, const uint64_t *values,
			  size_t start, const uint32_t *ends, size_t n, size_t limit)
{
	each_run(compare, values, start, ends, n, limit, one_by_one);
}

#ifdef __x86_64__

#include <immintrin.h>

/* --- AVX2 ----------------------------------------------------------------- */

/* In how many bits does each of four values differ? */
static inline SIMHASH_AVX2 __m256i
four_distances(__m256i one, const uint64_t *many)
{
	const		__m256i nibble = _mm256_set1_epi8(0x0f);
	const		__m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3,
												  1, 2, 2, 3, 2, 3, 3, 4,
												  0, 1, 1, 2, 1, 2, 2, 3,
												  1, 2, 2, 3, 2, 3, 3, 4);
	__m256i		x = _mm256_xor_si256(one,
									 _mm256_loadu_si256((const __m256i *) many));
	__m256i		low = _mm256_and_si256(x, nibble);
	__m256i		high = _mm256_and_si256(_mm256_srli_epi16(x, 4), nibble);

	return _mm256_sad_epu8(_mm256_add_epi8(_mm256_shuffle_epi8(counts, low),
										   _mm256_shuffle_epi8(counts, high)),
						   _mm256_setzero_si256());
}

/* One bit for each of four distances: is it below the limit? */
static inline SIMHASH_AVX2 unsigned
four_below(__m256i distances, __m256i limit)
{
	return (unsigned) _mm256_movemask_pd(_mm256_castsi256_pd(
															 _mm256_cmpgt_epi64(limit, distances)));
}

/*
 * Sixteen at a time: what is near is rare, so one look at the least of four
 * distances saves most of the looking.  The last sixteen may reach beyond the
 * end, where what is near does not count.
 */
static inline SIMHASH_AVX2 void
one_avx2(const ShCompare *compare, uint64_t one,
		 const uint64_t *many, size_t n)
{
	const		__m256i ones = _mm256_set1_epi64x((long long) one);
	const		__m256i limit = _mm256_set1_epi64x(compare->radius + 1);

	for (size_t i = 0; i < n; i += 16)
	{
		__m256i		a = four_distances(ones, many + i);
		__m256i		b = four_distances(ones, many + i + 4);
		__m256i		c = four_distances(ones, many + i + 8);
		__m256i		d = four_distances(ones, many + i + 12);
		__m256i		least = _mm256_min_epi16(_mm256_min_epi16(a, b),
											 _mm256_min_epi16(c, d));
		unsigned	near = four_below(least, limit);

		if (near == 0)
			continue;
		near = four_below(a, limit) | four_below(b, limit) << 4 |
			four_below(c, limit) << 8 | four_below(d, limit) << 12;
		if (n - i < 16)
			near &= (1u << (n - i)) - 1;
		for (; near != 0; near &= near - 1)
			compare->match(compare->context, one,
						   many[i + (size_t) __builtin_ctz(near)]);
	}
}

static SIMHASH_AVX2 void
runs_avx2(const ShCompare *compare, const uint64_t *values,
		  size_t start, const uint32_t *ends, size_t n, size_t limit)
{
	each_run(compare, values, start, ends, n, limit, one_avx2);
}

#endif							/* __x86_64__ */

#ifdef __aarch64__

#include <arm_neon.h>

/* --- NEON ----------------------------------------------------------------- */

/* Two at a time, four in a round; every 64-bit ARM processor can. */
static inline void
one_neon(const ShCompare *compare, uint64_t one,
		 const uint64_t *many, size_t n)
{
	const		uint64x2_t ones = vdupq_n_u64(one);
	const		uint16x8_t limit = vdupq_n_u16((uint16_t) compare->radius);
	size_t		i = 0;

	for (; i + 4 <= n; i += 4)
	{
		uint8x16_t	a = vreinterpretq_u8_u64(veorq_u64(ones,
													   vld1q_u64(many + i)));
		uint8x16_t	b = vreinterpretq_u8_u64(veorq_u64(ones,
													   vld1q_u64(many + i + 2)));
		uint8x16_t	pairs = vpaddq_u8(vcntq_u8(a), vcntq_u8(b));
		uint8x16_t	fours = vpaddq_u8(pairs, pairs);
		uint8x16_t	eights = vpaddq_u8(fours, fours);
		uint16x8_t	near = vcleq_u16(vmovl_u8(vget_low_u8(eights)), limit);
		uint64_t	mask = vgetq_lane_u64(vreinterpretq_u64_u16(near), 0);

		for (int j = 0; mask != 0; j++, mask >>= 16)
		{
			if (mask & 1)
				compare->match(compare->context, one, many[i + (size_t) j]);
		}
	}
	one_by_one(compare, one, many + i, n - i);
}

static void
runs_neon(const ShCompare *compare, const uint64_t *values,
		  size_t start, const uint32_t *ends, size_t n, size_t limit)
{
	each_run(compare, values, start, ends, n, limit, one_neon);
}

#endif							/* __aarch64__ */

/* --- the kinds, the fastest first ----------------------------------------- */

const ShCompareKind sh_compare_kinds[] = {
#ifdef __x86_64__
	{"AVX2", sh_cpu_avx2, one_avx2, runs_avx2},
#endif
#ifdef __aarch64__
	{"NEON", sh_cpu_any, one_neon, runs_neon},
#endif
	{"portable", sh_cpu_any, one_by_one, runs_portable}
};
const int	sh_compare_kinds_count =
sizeof sh_compare_kinds / sizeof *sh_compare_kinds;

SH_CPU_DEFINE_FASTEST(sh_compare_fastest, ShCompareKind, sh_compare_kinds);
