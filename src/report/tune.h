/*-------------------------------------------------------------------------
 *
 * tune.h
 *		Which distance to search within, found out on the user's own texts.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TUNE_H
#define SIMHASH_TUNE_H

#include "report/verify.h"

#include "core/pairs/layout.h"
#include "search/measure.h"

#define SIMHASH_SAMPLE_MAX	10000	/* documents of a sample */

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
	double		comparisons;	/* to verify what is found for a document */
} SimhashRate;

/* What the query returns of a document. */
typedef struct SimhashRow
{
	struct varlena *document;	/* a text, or an array of words */
	int			width;			/* of the fingerprint; 0: there is none */
	uint64		fingerprint[SH_MAX_WORDS];
} SimhashRow;

/* What is done with each document, in a memory context reset after it. */
typedef void (*SimhashRowReader) (void *state, const SimhashRow *row);

/* The documents of a query. */
typedef struct SimhashDocuments
{
	void	   *state;			/* for the reader, set by the caller */

	/* what the query returns, known before its first row */
	bool		words;			/* arrays of words */
	bool		made;			/* their fingerprints as well */

	MemoryContext scratch;		/* of one document */
} SimhashDocuments;

/*
 * How similar two rows are, which go by their places; below 0 if that is not
 * known, as where one has no feature.
 */
typedef double (*SimhashSimilarity) (void *context, uint32 a, uint32 b);

/* tune.c */
extern void simhash_tally_query(SimhashTally *tally,
								const SimhashStatement *query,
								const SimhashRecipe *recipe,
								SimhashMeasure measure, double at_least,
								int64 sample);

/* tune_query.c */
extern void simhash_read_documents(SimhashDocuments *documents,
								   const SimhashStatement *query,
								   SimhashRowReader read);

/* tune_recipe.c */
extern bool simhash_query_recipe(const Query *query, SimhashRecipe *recipe);

/* sample.c */
extern const bool *simhash_sample_clusters(const SimhashRows *rows,
										   SimhashVerify *verify,
										   const ShClusters *clusters);
extern void simhash_tally_some(const SimhashRows *rows, SimhashVerify *verify,
							   SimhashTally *tally);

/* tune_rate.c */
extern void simhash_tally_row(SimhashTally *tally, const SimhashRows *rows,
							  uint32 row, double at_least,
							  SimhashSimilarity similarity, void *context);
extern SimhashRate simhash_rate(const SimhashTally *tally, int k);
extern bool simhash_recommend(const SimhashTally *tally, SimhashRate *best);

#endif							/* SIMHASH_TUNE_H */
