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

#include "pairs/rate.h"

#include "search/measure.h"

#define SIMHASH_SAMPLE_MAX	10000	/* documents of a sample */

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

/* tune.c */
extern void simhash_tally_query(SimhashTally *tally,
								const SimhashStatement *query,
								const SimhashDerivation *derived,
								SimhashMeasure measure, double at_least,
								int64 sample);

/* tune_query.c */
extern void simhash_read_documents(SimhashDocuments *documents,
								   const SimhashStatement *query,
								   SimhashRowReader read);

/* tune_derivation.c */
extern bool simhash_query_derivation(const Query *query,
									 SimhashDerivation *derived);

#endif							/* SIMHASH_TUNE_H */
