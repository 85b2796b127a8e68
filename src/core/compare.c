/*-------------------------------------------------------------------------
 *
 * compare.c
 *		Fingerprints compared each with each, by the fastest instructions.
 *
 * There are two functions, each once in portable C and once for AVX2, which
 * is chosen when the server runs.  "one" compares one fingerprint with many.
 * "runs" takes values of which run i ends before ends[i] and the first begins
 * at 0, and compares each with each within every run of 2 to limit values;
 * most runs are of two or three, so that a call for each would cost more
 * than the comparing.  Whoever is within the radius is told to "match".
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare.h"

/*
 * Count bits without an instruction for it: the compiler's own substitute
 * looks up tables.
 */
static inline int
portable_distance(uint64_t a, uint64_t b)
{
#if defined(__POPCNT__) || !defined(__x86_64__)
	return sh_distance(a, b);
#else
	uint64_t	x = a ^ b;

	x -= x >> 1 & UINT64_C(0x5555555555555555);
	x = (x & UINT64_C(0x3333333333333333)) +
		(x >> 2 & UINT64_C(0x3333333333333333));
	x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (int) (x * UINT64_C(0x0101010101010101) >> 56);
#endif
}

static void
one_portable(const ShCompare *compare, uint64_t one,
			 const uint64_t *many, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		if (portable_distance(one, many[i]) <= compare->radius)
			compare->match(compare->context, one, many[i]);
	}
}

static void
runs_portable(const ShCompare *compare, const uint64_t *values,
			  const uint32_t *ends, size_t n, size_t limit)
{
	size_t		start = 0;

	for (size_t run = 0; run < n; start = ends[run++])
	{
		if (ends[run] - start > limit)
			continue;
		for (size_t i = start; i + 1 < ends[run]; i++)
			one_portable(compare, values[i], values + i + 1,
						 ends[run] - i - 1);
	}
}

#ifdef __x86_64__

#include <immintrin.h>

#define SIMHASH_AVX2 __attribute__((target("avx2,popcnt")))

/* One bit for each of four values: is it within the radius? */
static inline SIMHASH_AVX2 int
near_four(__m256i one, const uint64_t *many, __m256i limit)
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
	__m256i		bytes = _mm256_add_epi8(_mm256_shuffle_epi8(counts, low),
										_mm256_shuffle_epi8(counts, high));
	__m256i		bits = _mm256_sad_epu8(bytes, _mm256_setzero_si256());

	return _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(limit,
																	 bits)));
}

static inline SIMHASH_AVX2 void
one_inline(const ShCompare *compare, uint64_t one,
		   const uint64_t *many, size_t n)
{
	const		__m256i ones = _mm256_set1_epi64x((long long) one);
	const		__m256i limit = _mm256_set1_epi64x(compare->radius + 1);
	size_t		i = 0;

	for (; i + 8 <= n; i += 8)
	{
		int			near = near_four(ones, many + i, limit) |
		near_four(ones, many + i + 4, limit) << 4;

		for (; near != 0; near &= near - 1)
			compare->match(compare->context, one,
						   many[i + (size_t) __builtin_ctz((unsigned) near)]);
	}
	for (; i < n; i++)
	{
		if (_mm_popcnt_u64(one ^ many[i]) <= compare->radius)
			compare->match(compare->context, one, many[i]);
	}
}

static SIMHASH_AVX2 void
one_avx2(const ShCompare *compare, uint64_t one,
		 const uint64_t *many, size_t n)
{
	one_inline(compare, one, many, n);
}

static SIMHASH_AVX2 void
runs_avx2(const ShCompare *compare, const uint64_t *values,
		  const uint32_t *ends, size_t n, size_t limit)
{
	size_t		start = 0;

	for (size_t run = 0; run < n; start = ends[run++])
	{
		if (ends[run] - start > limit)
			continue;
		for (size_t i = start; i + 1 < ends[run]; i++)
			one_inline(compare, values[i], values + i + 1,
					   ends[run] - i - 1);
	}
}

#endif							/* __x86_64__ */

/* Use the portable functions, whatever the processor. */
void
sh_compare_portable(ShCompare *compare)
{
	compare->one = one_portable;
	compare->runs = runs_portable;
}

/* Begin to compare; choose by what the processor can do. */
void
sh_compare_begin(ShCompare *compare, int radius,
				 void (*match) (void *, uint64_t, uint64_t), void *context)
{
	compare->radius = radius;
	compare->match = match;
	compare->context = context;
	sh_compare_portable(compare);
#ifdef __x86_64__
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"))
	{
		compare->one = one_avx2;
		compare->runs = runs_avx2;
	}
#endif
}
