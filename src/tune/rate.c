/*-------------------------------------------------------------------------
 *
 * rate.c
 *		Which distance to search within, by pairs of known similarity.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "tune/tune.h"

#include <math.h>

/* A distance is recommended when so many of the pairs alike are within it. */
#define RECALL_MIN		0.98

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
 * What to search within when the documents of what is found are compared: the
 * least distance that finds nearly all pairs alike, as larger ones cost
 * comparisons and gain next to nothing.  If there is no such distance, it is
 * the one that finds most, of those that can be searched.  False when no pair
 * is alike.
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
