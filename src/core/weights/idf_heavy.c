/*-------------------------------------------------------------------------
 *
 * idf_heavy.c
 *		Of the features of a document, those that may be among the heaviest.
 *
 * A document of 300 features, of which the top 20 are asked for, has 280 that
 * are too light.  To compare them two at a time, as quickselect does, takes long
 * for so many.  Here they are compared with a bound, four or more at a time.
 *
 * The bound is found by counting how many features are at least so heavy, and
 * trying another one between what was too much and what was too little.  Rare
 * features are often equally rare, so that no bound is good: then those that
 * are just as heavy are told apart by their hashes, the smaller ones first.
 * Hashes are as good as random, so those below k / n of all numbers are about
 * k of n, and a little more is enough for what is left to be few.
 *
 * For example, the top 2 of ten features that weigh 7 5 7 1 7 7 3 9 7 7 are asked
 * for: one weighs more than 7, seven at least 7, which is more than twice 2.  Of
 * all hashes the lower three sevenths should be enough, which three of the six
 * that weigh 7 have, or about that.  If they and the 9 were fewer than 2, all
 * seven would be kept.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/weights/idf.h"

#include <string.h>

#include "core/lanes.h"

#define CHUNK			1024	/* features looked at together */
#define COUNTS			16		/* counts at most to find a bound */
#define NUMBERS			4		/* numbers in a vector */

/* Numbers as they lie in an array, which need not be aligned as a vector is. */
typedef int32_t ShNumbers __attribute__((vector_size(NUMBERS * 4), aligned(4),
										 may_alias));

/* The greatest of n numbers, or 0. */
static inline int32_t
find_most(const int32_t *numbers, size_t n)
{
	ShNumbers	most = {0};
	int32_t		result = 0;
	size_t		i = 0;

	for (; i + NUMBERS <= n; i += NUMBERS)
	{
		ShNumbers	next = *(const ShNumbers *) (numbers + i);
		ShNumbers	more = next > most;

		most = (next & more) | (most & ~more);
	}
	for (; i < n; i++)
		result = numbers[i] > result ? numbers[i] : result;
	for (int j = 0; j < NUMBERS; j++)
		result = most[j] > result ? most[j] : result;
	return result;
}

/* How many of n numbers are at least so much? */
static inline size_t
count_from(const int32_t *numbers, size_t n, int32_t least)
{
	const int32_t below = least - 1;
	const ShNumbers limit = {below, below, below, below};
	ShNumbers	counts = {0};
	size_t		count = 0;
	size_t		i = 0;

#pragma GCC unroll 4
	for (; i + NUMBERS <= n; i += NUMBERS)
		counts -= *(const ShNumbers *) (numbers + i) > limit;
	for (; i < n; i++)
		count += numbers[i] >= least;
	for (int j = 0; j < NUMBERS; j++)
		count += (size_t) counts[j];
	return count;
}

/*
 * Find what at least k of n numbers are at least, and no more than "enough", if
 * that can be found by a few counts.  All numbers are at least "least", which
 * is not negative.
 */
static inline int32_t
find_bound(const int32_t *numbers, size_t n, size_t k, size_t enough,
		   int32_t least)
{
	int32_t		most = find_most(numbers, n);	/* fewer than k are more */
	int32_t		tried = most;
	size_t		count = n;		/* numbers that are at least "least" */

	for (int i = 0; i < COUNTS && count > enough && least < most; i++)
	{
		size_t		heavy = count_from(numbers, n, tried);

		if (heavy < k)
			most = tried - 1;
		else
		{
			least = tried;
			count = heavy;
		}
		tried = most - (most - least) / 2;
	}
	return least;
}

/* List which of n numbers are at least so much; returns how many. */
static size_t
list_from(uint16_t *list, const int32_t *numbers, size_t n, int32_t least)
{
	size_t		count = 0;

	for (size_t at = 0; at < n; at += SH_LANES)
	{
		uint64_t	mask = sh_at_least(numbers + at, least);

		if (n - at < SH_LANES)
			mask &= (UINT64_C(1) << (n - at)) - 1;
		for (; mask != 0; mask &= mask - 1)
			list[count++] = (uint16_t) (at + (size_t) __builtin_ctzll(mask));
	}
	return count;
}

/* The least of the weights listed. */
static int32_t
least_listed(const uint16_t *list, size_t n, const int32_t *weights)
{
	int32_t		least = INT32_MAX;

	for (size_t i = 0; i < n; i++)
		least = weights[list[i]] < least ? weights[list[i]] : least;
	return least;
}

/*
 * Of *n features listed that weigh at least so much, keep in the list at least
 * k: those that weigh more, and of the others those whose hash is in a share of
 * all hashes.  Sets *n to how many; returns the greatest hash of that share.
 */
static uint64_t
keep_share(uint16_t *list, size_t *n, const uint64_t *hashes,
		   const int32_t *weights, int32_t weight, size_t k)
{
	uint16_t	all[CHUNK];
	uint64_t	hash = UINT64_MAX / *n * (k + k / 2);
	size_t		count = 0;

	memcpy(all, list, *n * sizeof *all);
	for (;;)
	{
		for (size_t i = 0; i < *n; i++)
		{
			list[count] = all[i];
			count += (weights[all[i]] > weight) | (hashes[all[i]] <= hash);
		}
		if (count >= k)
			break;
		hash = UINT64_MAX;
		count = 0;
	}
	*n = count;
	return hash;
}

/* See sh_idf_take_heavy; for up to CHUNK features, and a small k. */
static size_t
take_heavy(ShIdfEntry *entries, const uint64_t *hashes, const int32_t *weights,
		   size_t n, size_t k)
{
	int32_t		bound = find_bound(weights, n, k, 2 * k, 0);
	uint16_t	list[CHUNK];
	int32_t		numbers[CHUNK]; /* the greatest are the first */
	size_t		kept = 0;

	n = list_from(list, weights, n, bound);
	if (n > 2 * k)
	{
		int32_t		weight = least_listed(list, n, weights);
		uint64_t	hash = keep_share(list, &n, hashes, weights, weight, k);

		bound = (int32_t) (~hash >> 33);
		for (size_t i = 0; i < n; i++)
			numbers[i] = weights[list[i]] > weight ? INT32_MAX :
				(int32_t) (~hashes[list[i]] >> 33);
	}
	else
	{
		for (size_t i = 0; i < n; i++)
			numbers[i] = weights[list[i]];
	}
	bound = find_bound(numbers, n, k, k, bound);
	for (size_t i = 0; i < n; i++)
	{
		entries[kept].hash = hashes[list[i]];
		entries[kept].value = (uint64_t) weights[list[i]];
		kept += numbers[i] >= bound;
	}
	return kept;
}

/*
 * Make entries of those of n features that may be among the first k, in the
 * order of sh_idf_before: of k, if there are so many, and hardly more where k is
 * small.  Returns how many they are.
 *
 * There must be room for n entries, and weights to be read up to a multiple of
 * SH_LANES.  No weight is beyond INT32_MAX.
 */
size_t
sh_idf_take_heavy(ShIdfEntry *entries, const uint64_t *hashes,
				  const uint32_t *weights, size_t n, size_t k)
{
	size_t		taken = 0;

	for (size_t start = 0, m; start < n; start += m)
	{
		m = n - start < CHUNK ? n - start : CHUNK;
		if (k < m / 4)
		{
			taken += take_heavy(entries + taken, hashes + start,
								(const int32_t *) weights + start, m, k);
			continue;
		}
		for (size_t i = start; i < start + m; i++)
		{
			entries[taken].hash = hashes[i];
			entries[taken++].value = weights[i];
		}
	}
	return taken;
}
