/*-------------------------------------------------------------------------
 *
 * idf_sums.c
 *		64 sums of whole weights.
 *
 * As in accumulate.c only the ones are summed: a weight is added to the sums
 * of the bits that its hash has set.  Sums have 32 bits while that suffices,
 * so that a vector register holds four of them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/weights/idf.h"

#include <string.h>

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

/* Begin with nothing added. */
void
sh_idf_sums_begin(ShIdfSums *sums)
{
	memset(sums, 0, sizeof *sums);
}

/* Bring what the 32-bit sums hold into the 64-bit ones. */
static void
flush_sums(ShIdfSums *sums)
{
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
	for (int bit = 0; bit < SH_BITS; bit++)
		sums->ones[bit] += hash >> bit & 1 ? weight : 0;
	sums->total += weight;
}

/* Add hashes with their weights: as many at once as the 32-bit sums can take. */
void
sh_idf_sums_add_all(ShIdfSums *sums, const uint64_t *hashes,
					const uint32_t *weights, size_t n)
{
	for (size_t start = 0, end; start < n; start = end)
	{
		uint64_t	total = sums->low_total;

		for (end = start; end < n && total + weights[end] <= UINT32_MAX; end++)
			total += weights[end];
		add_half(sums->low, hashes + start, 0, weights + start, end - start);
		add_half(sums->low + SH_BITS / 2, hashes + start, 32, weights + start,
				 end - start);
		sums->low_total = (uint32_t) total;
		if (end < n)
			flush_sums(sums);
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

	flush_sums(sums);
	for (int bit = SH_BITS; bit-- > 0;)
		result = result << 1 | (sums->ones[bit] > sums->total / 2);
	*fingerprint = result;
	return sums->total > 0;
}
