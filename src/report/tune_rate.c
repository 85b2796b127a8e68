/*-------------------------------------------------------------------------
 *
 * tune_rate.c
 *		Which distance to search within, by pairs of known similarity.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/tune.h"

#include <math.h>

#include "common/pg_prng.h"
#include "miscadmin.h"

/* A distance is recommended when so many of the pairs alike are within it. */
#define RECALL_MIN		0.98

/* Distances computed to tally rows, at most: about a second's work. */
#define DISTANCES_MAX	1e9

#define HEED_EVERY		1024	/* rows between two looks for interrupts */

/* What a search within a distance would find. */
SimhashRate
simhash_rate(const SimhashTally *tally, int k)
{
	SimhashRate rate = {.k = k};
	int64		near = 0;
	int64		alike = 0;

	for (int d = 0; d <= tally->width; d++)
	{
		alike += tally->pairs[1][d];
		if (d > k)
			continue;
		near += tally->pairs[1][d];
		rate.pairs += tally->pairs[0][d] + tally->pairs[1][d];
	}
	rate.precision = rate.pairs > 0 ? (double) near / rate.pairs : NAN;
	rate.recall = alike > 0 ? (double) near / alike : NAN;
	rate.comparisons = tally->sample > 0 ?
		(double) rate.pairs / tally->sample : NAN;
	return rate;
}

/*
 * What to search within when what is found is verified: the least distance
 * that finds nearly all pairs alike, as each further one costs comparisons and
 * gains nothing; or else, of those that can be searched, the one that finds
 * most.  False when no pair is alike.
 */
bool
simhash_recommend(const SimhashTally *tally, SimhashRate *best)
{
	best->recall = 0;
	for (int k = 0; k <= sh_wide_most(tally->width); k++)
	{
		SimhashRate rate = simhash_rate(tally, k);

		if (rate.recall > best->recall)
			*best = rate;
		if (rate.recall >= RECALL_MIN)
			break;
	}
	return best->recall > 0;
}

/* In how many bits do two fingerprints differ? */
static inline int
distance(const uint64 *a, const uint64 *b, int words)
{
	int			apart = 0;

	for (int w = 0; w < words; w++)
		apart += sh_distance(a[w], b[w]);
	return apart;
}

/*
 * Tally the pairs of rows drawn at random and all others of their group, for
 * which the similarity is asked only where they are within the distance that
 * can be searched.  So it is a part of those that recall refers to.  Rows are
 * gone through in their order.  Those that are the same and have the same
 * fingerprint are no pair: they would hide how the others fare.
 */
SIMHASH_POPCOUNT_CLONES
void
simhash_tally_rows(SimhashTally *tally, const SimhashRows *rows,
				   uint32 sample, double at_least,
				   SimhashSimilarity similarity, void *context)
{
	Size		words = rows->words;
	int			most = sh_wide_most(rows->width);
	uint32	   *drawn;
	uint64	   *fingerprints;

	memset(tally, 0, sizeof *tally);
	tally->width = rows->width;
	if (rows->n == 0)
		return;
	sample = Min(sample, (uint32) (DISTANCES_MAX / rows->n) + 1);
	tally->sample = sample;
	drawn = palloc(sample * sizeof *drawn);
	fingerprints = palloc(sample * words * sizeof *fingerprints);
	for (uint32 i = 0; i < sample; i++)
	{
		drawn[i] = (uint32) pg_prng_uint64_range(&pg_global_prng_state, 0,
												 rows->n - 1);
		memcpy(fingerprints + i * words, rows->fingerprints + drawn[i] * words,
			   words * sizeof *fingerprints);
	}
	for (uint32 b = 0; b < rows->n; b++)
	{
		if (b % HEED_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		for (uint32 i = 0; i < sample; i++)
		{
			uint32		a = drawn[i];
			int			d = distance(fingerprints + i * words,
									 rows->fingerprints + b * words,
									 rows->words);
			double		known;

			if (d > most || a == b ||
				(rows->groups != NULL && rows->groups[a] != rows->groups[b]))
				continue;
			known = similarity(context, a, b);
			if (known >= 0 && (d > 0 || known < 1))
				tally->pairs[known >= at_least][d]++;
		}
	}
	pfree(drawn);
	pfree(fingerprints);
}
