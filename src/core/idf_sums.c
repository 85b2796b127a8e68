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
 * by a few operations on whole hashes; then for eight sums one instruction
 * shifts the two bits of each to its lower end, a second takes the number that
 * they tell out of the four, and a third adds it.
 *
 * For example, if bit 0 of a is 1 and bit 0 of b is 0, then these two bits
 * are 01, and sum 0 gains number 1, which is the weight of a.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "idf.h"

#include <string.h>

#include "cpu.h"

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

#define SIMHASH_AVX2 __attribute__((target("avx2,popcnt")))

#define EVEN			UINT64_C(0x5555555555555555)

/* Eight sums more than before by what the lower two bits of each lane tell. */
static inline SIMHASH_AVX2 __m256i
gain(__m256i sums, __m256i numbers, __m256i bits)
{
	__m256		gained = _mm256_permutevar_ps(_mm256_castsi256_ps(numbers),
											  bits);

	return _mm256_add_epi32(sums, _mm256_castps_si256(gained));
}

/* See ShIdfSumsKind.add. */
static SIMHASH_AVX2 void
add_avx2(uint32_t *sums, const uint64_t *hashes, const uint32_t *weights,
		 size_t n)
{
	__m256i    *at = (__m256i *) sums;
	const		__m256i shift = _mm256_setr_epi32(0, 0, 2, 2, 4, 4, 6, 6);
	const		__m256i eight = _mm256_set1_epi32(8);
	__m256i		s[8];

	for (int v = 0; v < 8; v++)
		s[v] = _mm256_loadu_si256(at + v);
	for (size_t i = 0; i < n; i += 2)
	{
		bool		both = i + 1 < n;
		uint64_t	a = hashes[i];
		uint64_t	b = hashes[i + both];
		uint32_t	of_a = weights[i];
		uint32_t	of_b = both ? weights[i + 1] : 0;
		uint64_t	even = (a & EVEN) | (b & EVEN) << 1;
		uint64_t	odd = (a >> 1 & EVEN) | (b & ~EVEN);
		__m256i		numbers = _mm256_set1_epi64x((int64_t) ((uint64_t) of_a << 32));
		__m256i		shifts = shift;
		__m256i		low = _mm256_set1_epi64x((int64_t) ((uint32_t) even |
														odd << 32));
		__m256i		high = _mm256_set1_epi64x((int64_t) (even >> 32 |
														 (odd >> 32) << 32));

		/* 0, the weight of a, that of b, and both */
		numbers = _mm256_unpacklo_epi64(numbers,
										_mm256_set1_epi64x((int64_t) (of_b |
																	  (uint64_t) (of_a + of_b) << 32)));
#pragma GCC unroll 4
		for (int v = 0; v < 4; v++)
		{
			s[v] = gain(s[v], numbers, _mm256_srlv_epi32(low, shifts));
			s[v + 4] = gain(s[v + 4], numbers, _mm256_srlv_epi32(high, shifts));
			shifts = _mm256_add_epi32(shifts, eight);
		}
	}
	for (int v = 0; v < 8; v++)
		_mm256_storeu_si256(at + v, s[v]);
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

/* The fastest kind that can be used here. */
static const ShIdfSumsKind *
fastest(void)
{
	const ShIdfSumsKind *kind = sh_idf_sums_kinds;

	while (!kind->usable())
		kind++;
	return kind;
}

/* --- sums ----------------------------------------------------------------- */

/* Begin with nothing added. */
void
sh_idf_sums_begin(ShIdfSums *sums)
{
	static const ShIdfSumsKind *kind = NULL;

	if (kind == NULL)
		kind = fastest();
	sums->kind = kind;
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
	while (n > 0)
	{
		uint64_t	total = sums->low_total;
		size_t		k = 0;

		for (; k < n && total + weights[k] <= UINT32_MAX; k++)
			total += weights[k];
		if (k == 0)
			flush_sums(sums);
		else
			sums->kind->add(sums->low, hashes, weights, k);
		sums->low_total = k == 0 ? 0 : (uint32_t) total;
		hashes += k;
		weights += k;
		n -= k;
	}
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
		for (int bit = SH_BITS; bit-- > 0;)
			result = result << 1 | (sums->low[bit] > sums->low_total / 2);
		*fingerprint = result;
		return sums->low_total > 0;
	}
	flush_sums(sums);
	for (int bit = SH_BITS; bit-- > 0;)
		result = result << 1 | (sums->ones[bit] > sums->total / 2);
	*fingerprint = result;
	return sums->total > 0;
}
