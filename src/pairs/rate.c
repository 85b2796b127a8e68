/*-------------------------------------------------------------------------
 *
 * rate.c
 *		Which distance to search within, by pairs of known similarity.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/rate.h"

#include <math.h>

/* A distance is recommended when so many of the pairs alike are within it. */
#define RECALL_MIN		0.98

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

/*
 * Tally the pairs of a row and all others of its group.  Only pairs within the
 * distance that can be searched are compared, so recall is the part of these
 * that is found.  Pairs with the same document and the same fingerprint are
 * left out: any distance finds them.
 */
void
simhash_tally_row(SimhashTally *tally, const SimhashRows *rows, uint32 row,
				  double at_least, SimhashSimilarity similarity,
				  void *context)
{
	Size		words = rows->words;
	int			most = sh_wide_most(rows->width);
	const uint64 *fingerprint = rows->fingerprints + row * words;

	tally->width = rows->width;
	tally->sample++;
	for (uint32 i = 0; i < rows->n; i++)
	{
		int			d = simhash_words_distance(fingerprint,
											   rows->fingerprints + i * words,
											   rows->words);
		double		known;

		if (i % HEED_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		if (d > most || i == row ||
			(rows->groups != NULL && rows->groups[i] != rows->groups[row]))
			continue;
		known = similarity(context, row, i);
		if (known >= 0 && (d > 0 || known < 1))
			tally->pairs[known >= at_least][d]++;
	}
}
