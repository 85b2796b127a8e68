/*-------------------------------------------------------------------------
 *
 * rate.h
 *		What searches within a distance find, by pairs of known similarity.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_RATE_H
#define SIMHASH_RATE_H

#include "pairs/documents.h"

#include "core/blocks/layout.h"

/*
 * Pairs of a document of a sample and any other document: alike (1) or not
 * (0), by the distance of their fingerprints.
 */
struct SimhashTally
{
	int			width;			/* bits of a fingerprint */
	uint32		sample;			/* documents of it */
	int64		pairs[2][SH_MOST_WIDTH + 1];
};

/* What a search within a distance finds; NaN where there is no such pair. */
typedef struct SimhashRate
{
	int			k;
	int64		pairs;			/* found */
	double		precision;		/* the part of them that is alike */
	double		recall;			/* the part of those alike that is found */
	double		comparisons;	/* of documents, for each one searched */
} SimhashRate;

/*
 * How similar two rows are, which are given by their numbers; below 0 if that
 * is not known, as where one has no feature.
 */
typedef double (*SimhashSimilarity) (void *context, uint32 a, uint32 b);

/* In how many bits do two fingerprints of so many words differ? */
static inline int
simhash_words_distance(const uint64 *a, const uint64 *b, int words)
{
	int			apart = 0;

	for (int w = 0; w < words; w++)
		apart += sh_distance(a[w], b[w]);
	return apart;
}

/* sample.c */
extern const bool *simhash_sample_clusters(const SimhashRows *rows,
										   SimhashDocuments *documents,
										   const ShClusters *clusters);
extern void simhash_tally_some(const SimhashRows *rows,
							   SimhashDocuments *documents,
							   SimhashTally *tally);

/* rate.c */
extern void simhash_tally_row(SimhashTally *tally, const SimhashRows *rows,
							  uint32 row, double at_least,
							  SimhashSimilarity similarity, void *context);
extern SimhashRate simhash_rate(const SimhashTally *tally, int k);
extern bool simhash_recommend(const SimhashTally *tally, SimhashRate *best);

#endif							/* SIMHASH_RATE_H */
