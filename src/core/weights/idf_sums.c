/*-------------------------------------------------------------------------
 *
 * idf_sums.c
 *		64 sums of whole weights.
 *
 * As in accumulate.c only the ones are summed: a weight is added to the sums
 * of the bits that its hash has set.  Sums have 32 bits while that suffices,
 * so that a vector register holds four or eight of them.
 *
 * With AVX2 two hashes, a and b, are added at once.  What a sum gains is one
 * of four numbers, 0, the weight of a, that of b, or both, and the two bits of
 * the hashes say which.  These bits are brought side by side, for all 64 sums,
 * into the lower half of a nibble each, 16 nibbles in each of four lanes; then
 * for eight sums one instruction shifts the nibbles of each to its lower end, a
 * second takes the number that they tell out of the four, and a third adds it.
 * So the sums lie in another order meanwhile.
 *
 * For example, if bit 0 of a is 1 and bit 0 of b is 0, then these two bits
 * are 01, and sum 0 gains number 1, which is the weight of a.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/weights/idf.h"

#include <string.h>

#include "core/cpu.h"

/* --- portable ------------------------------------------------------------- */

#define LANES			4		/* sums in a vector */
#define VECTORS			8		/* in a half of the sums */

/* Sums as they lie in an array, which need not be aligned as a vector is. */
typedef uint32_t ShLanes __attribute__((vector_size(LANES * 4), aligned(4),
										may_alias));

/* One half of the sums: of the bits that 32 bits of the hashes are about. */
static inline void
add_half(uint32_t *sums, const uint64_t *hashes, int shift,
		 const uint32_t *weights, size_t n)
{
	ShLanes    *lanes = (ShLanes *) sums;
	ShLanes		s[VECTORS];

	memcpy(s, lanes, sizeof s);
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	bits = (uint32_t) (hashes[i] >> shift);
		ShLanes		hash = {bits, bits, bits, bits};
		ShLanes		weight = {weights[i], weights[i], weights[i], weights[i]};
		ShLanes		mask = {1, 2, 4, 8};

#pragma GCC unroll 8
		for (int v = 0; v < VECTORS; v++)
		{
			s[v] += (ShLanes) ((hash & mask) == mask) & weight;
			mask <<= LANES;
		}
	}
	memcpy(lanes, s, sizeof s);
}

/* See ShIdfSumsKind.add. */
static void
add_portable(uint32_t *sums, const uint64_t *hashes, const uint32_t *weights,
			 size_t n)
{
	add_half(sums, hashes, 0, weights, n);
	add_half(sums + SH_BITS / 2, hashes, 32, weights, n);
}

#ifdef __x86_64__

#include <immintrin.h>

/* --- AVX2 ----------------------------------------------------------------- */

/*
 * Bits q, q + 4, q + 8 ... of a hash, each as a nibble of the 64-bit lane q,
 * for q from 0 to 3.
 */
static inline SIMHASH_AVX2 __m256i
spread(uint64_t hash)
{
	const		__m256i shifts = _mm256_setr_epi64x(0, 1, 2, 3);
	const		__m256i lowest = _mm256_set1_epi8(0x11);

	return _mm256_and_si256(_mm256_srlv_epi64(_mm256_set1_epi64x((int64_t) hash),
											  shifts), lowest);
}

/* The sums of bits 4k to 4k + 3 and 4k + 32 to 4k + 35, by turns. */
static inline SIMHASH_AVX2 __m256i
load_sums(const uint32_t *sums, int k)
{
	const		__m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
	__m128i		low = _mm_loadu_si128((const __m128i *) (sums + 4 * k));
	__m128i		high = _mm_loadu_si128((const __m128i *) (sums + 4 * k + 32));

	return _mm256_permutevar8x32_epi32(_mm256_set_m128i(high, low), order);
}

/* The same back to where they belong. */
static inline SIMHASH_AVX2 void
store_sums(uint32_t *sums, int k, __m256i s)
{
	const		__m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);

	s = _mm256_permutevar8x32_epi32(s, order);
	_mm_storeu_si128((__m128i *) (sums + 4 * k), _mm256_castsi256_si128(s));
	_mm_storeu_si128((__m128i *) (sums + 4 * k + 32),
					 _mm256_extracti128_si256(s, 1));
}

/* See ShIdfSumsKind.add. */
static SIMHASH_AVX2 void
add_avx2(uint32_t *sums, const uint64_t *hashes, const uint32_t *weights,
		 size_t n)
{
	const		__m256i with_a = _mm256_setr_epi32(0, -1, 0, -1, 0, -1, 0, -1);
	const		__m256i with_b = _mm256_setr_epi32(0, 0, -1, -1, 0, 0, -1, -1);
	__m256i		s[8];

	for (int k = 0; k < 8; k++)
		s[k] = load_sums(sums, k);
	for (size_t i = 0; i < n; i += 2)
	{
		size_t		j = i + 1 < n ? i + 1 : i;
		int			of_a = (int) weights[i];
		int			of_b = i + 1 < n ? (int) weights[j] : 0;
		__m256i		bits = spread(hashes[j]);
		__m256i		numbers;

		bits = _mm256_add_epi32(_mm256_add_epi32(bits, bits),
								spread(hashes[i]));
		numbers = _mm256_add_epi32(_mm256_and_si256(with_a,
													_mm256_set1_epi32(of_a)),
								   _mm256_and_si256(with_b,
													_mm256_set1_epi32(of_b)));
#pragma GCC unroll 8
		for (int k = 0; k < 8; k++)
		{
			__m256		gain = _mm256_permutevar_ps(_mm256_castsi256_ps(numbers),
													_mm256_srli_epi32(bits, 4 * k));

			s[k] = _mm256_add_epi32(s[k], _mm256_castps_si256(gain));
		}
	}
	for (int k = 0; k < 8; k++)
		store_sums(sums, k, s[k]);
}

#endif							/* __x86_64__ */

/* --- the kinds, the fastest first ----------------------------------------- */

const ShIdfSumsKind sh_idf_sums_kinds[] = {
#ifdef __x86_64__
	{"AVX2", sh_cpu_avx2, add_avx2},
#endif
	{"portable", sh_cpu_any, add_portable}
};
const int	sh_idf_sums_kinds_count =
sizeof sh_idf_sums_kinds / sizeof *sh_idf_sums_kinds;

SH_CPU_DEFINE_FASTEST(sh_idf_sums_fastest, ShIdfSumsKind, sh_idf_sums_kinds);

/* --- sums ----------------------------------------------------------------- */

/* Begin with nothing added. */
void
sh_idf_sums_begin(ShIdfSums *sums)
{
	sums->kind = sh_idf_sums_fastest();
	sums->flushed = false;
	sums->low_total = 0;
	memset(sums->low, 0, sizeof sums->low);
}

/* Bring what the 32-bit sums hold into the 64-bit ones. */
static void
flush_sums(ShIdfSums *sums)
{
	if (!sums->flushed)
	{
		sums->flushed = true;
		sums->total = 0;
		memset(sums->ones, 0, sizeof sums->ones);
	}
	for (int bit = 0; bit < SH_BITS; bit++)
		sums->ones[bit] += sums->low[bit];
	sums->total += sums->low_total;
	memset(sums->low, 0, sizeof sums->low);
	sums->low_total = 0;
}

/* Add a hash with a weight of any size. */
void
sh_idf_sums_add(ShIdfSums *sums, uint64_t hash, uint64_t weight)
{
	uint32_t	low = (uint32_t) weight;

	if (weight == low)
	{
		sh_idf_sums_add_all(sums, &hash, &low, 1);
		return;
	}
	flush_sums(sums);
	for (int bit = 0; bit < SH_BITS; bit++)
		sums->ones[bit] += hash >> bit & 1 ? weight : 0;
	sums->total += weight;
}

/* Add hashes with their weights. */
void
sh_idf_sums_add_all(ShIdfSums *sums, const uint64_t *hashes,
					const uint32_t *weights, size_t n)
{
	uint64_t	total = 0;

	for (size_t i = 0; i < n; i++)
		total += weights[i];
	if (total > UINT32_MAX - sums->low_total)
		flush_sums(sums);
	if (total > UINT32_MAX)
	{
		size_t		half = n / 2;

		sh_idf_sums_add_all(sums, hashes, weights, half);
		sh_idf_sums_add_all(sums, hashes + half, weights + half, n - half);
		return;
	}
	sums->kind->add(sums->low, hashes, weights, n);
	sums->low_total += (uint32_t) total;
}

/* 32 bits, each of which says whether its sum is more than that. */
static uint32_t
compare_half(const uint32_t *sums, uint32_t limit)
{
	const ShLanes *lanes = (const ShLanes *) sums;
	ShLanes		most = {limit, limit, limit, limit};
	ShLanes		mask = {1, 2, 4, 8};
	ShLanes		more = {0};

	for (int v = 0; v < VECTORS; v++)
	{
		more |= (ShLanes) (lanes[v] > most) & mask;
		mask <<= LANES;
	}
	return more[0] | more[1] | more[2] | more[3];
}

/*
 * The fingerprint: bit i is set when its sum is positive.  False when nothing
 * was added that weighs anything.
 */
bool
sh_idf_sums_fingerprint(ShIdfSums *sums, uint64_t *fingerprint)
{
	uint64_t	result = 0;

	if (!sums->flushed)
	{
		/* few documents weigh so much that the 64-bit sums are needed */
		uint32_t	half = sums->low_total / 2;

		result = compare_half(sums->low + SH_BITS / 2, half);
		*fingerprint = result << 32 | compare_half(sums->low, half);
		return sums->low_total > 0;
	}
	flush_sums(sums);
	for (int bit = SH_BITS; bit-- > 0;)
		result = result << 1 | (sums->ones[bit] > sums->total / 2);
	*fingerprint = result;
	return sums->total > 0;
}
