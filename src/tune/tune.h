/*-------------------------------------------------------------------------
 *
 * tune.h
 *		Which distance to search within, found out on the user's own texts.
 *
 * In comes a query for documents, and maybe their fingerprints.  A sample of
 * the documents is compared with all of them (tune_sample.c), and out goes, for
 * each distance, what a search within it would find, with advice (tune.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TUNE_H
#define SIMHASH_TUNE_H

#include "pairs/pairs.h"

#include "search/search.h"

/*
 * Pairs of a document of a sample and any other document: alike (1) or not
 * (0), by the distance of their fingerprints.
 */
typedef struct SimhashTally
{
	int			width;			/* bits of a fingerprint */
	uint32		sample;			/* documents of it */
	int64		pairs[2][SH_MOST_WIDTH + 1];
} SimhashTally;

/* What a search within a distance finds; NaN where there is no such pair. */
typedef struct SimhashRate
{
	int			k;
	int64		pairs;			/* found */
	double		precision;		/* the part of them that is alike */
	double		recall;			/* the part of those alike that is found */
	double		comparisons;	/* of documents, for each one searched */
} SimhashRate;

/* A call of simhash_tune. */
typedef struct SimhashTuneCall
{
	SimhashStatement query;
	int64		sample;			/* documents to draw, if there are so many */
	SimhashDerivation derived;	/* how fingerprints are made */
	bool		known;			/* that they are made so */
	SimhashMeasure measure;
	double		at_least;		/* from this similarity on, pairs are alike */
	SimhashTally tally;
} SimhashTuneCall;

/* rate.c */
extern SimhashRate simhash_rate(const SimhashTally *tally, int k);
extern bool simhash_recommend(const SimhashTally *tally, SimhashRate *best);

/* tune_sample.c */
extern void simhash_tally_query(void *call);

#endif							/* SIMHASH_TUNE_H */
