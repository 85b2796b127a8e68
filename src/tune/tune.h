/*-------------------------------------------------------------------------
 *
 * tune.h
 *		Which distance to search within, found out on the user's own texts.
 *
 * In comes a query for documents, and maybe their fingerprints (tune_query.c).
 * A sample of the documents is compared with all of them (tune_sample.c), and
 * out goes, for each distance, what a search within it would find, with advice
 * (tune.c).  Where the call does not say how fingerprints are made, the table
 * of the query is looked at (tune_derivation.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TUNE_H
#define SIMHASH_TUNE_H

#include "pairs/rate.h"

#include "search/search.h"

/* What the query returns of a document. */
typedef struct SimhashTuneDocument
{
	struct varlena *document;	/* a text, or an array of words */
	int			width;			/* of the fingerprint; 0: there is none */
	uint64		fingerprint[SH_MAX_WORDS];
} SimhashTuneDocument;

/* The documents of a query, and what is done with them. */
typedef struct SimhashTuneQuery
{
	/* set by the caller */
	void		(*take) (void *context, const SimhashTuneDocument *document);
	void	   *context;
	MemoryContext scratch;		/* of one document */

	/* what the query returns, known before its first row */
	bool		words;			/* arrays of words */
	bool		made;			/* their fingerprints as well */
} SimhashTuneQuery;

/* tune_query.c */
extern void simhash_read_documents(SimhashTuneQuery *query,
								   const SimhashStatement *statement);

/* tune_sample.c */
extern void simhash_tally_query(SimhashTally *tally,
								const SimhashStatement *query,
								const SimhashDerivation *derived,
								SimhashMeasure measure, double at_least,
								int64 sample);

/* tune_derivation.c */
extern bool simhash_query_derivation(const Query *query,
									 SimhashDerivation *derived);

#endif							/* SIMHASH_TUNE_H */
