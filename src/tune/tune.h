/*-------------------------------------------------------------------------
 *
 * tune.h
 *		Which distance to search within, found out on the user's own texts.
 *
 * In comes a query for documents, and maybe their fingerprints.  A sample of
 * the documents is compared with all of them (tune_sample.c), and out goes, for
 * each distance, what a search within it would find, with advice (tune.c).  Where the call does not say how fingerprints are made, the table
 * of the query is looked at (tune_derivation.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TUNE_H
#define SIMHASH_TUNE_H

#include "pairs/pairs.h"

#include "search/search.h"

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

/* tune_sample.c */
extern void simhash_tally_query(void *call);

/* tune_derivation.c */
extern bool simhash_query_derivation(const Query *query,
									 SimhashDerivation *derived);

#endif							/* SIMHASH_TUNE_H */
