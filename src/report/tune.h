/*-------------------------------------------------------------------------
 *
 * tune.h
 *		What the functions share that try fingerprints on a user's own texts.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TUNE_H
#define SIMHASH_TUNE_H

#include "report/report.h"

#define SIMHASH_SAMPLE_MAX	10000	/* documents of a sample */
#define SIMHASH_K_MAX		16	/* distances told of */

/* What the query returns of a document. */
typedef struct SimhashRow
{
	struct varlena *document;	/* a text, or an array of words */
	bool		exists;			/* the fingerprint, if the query makes it */
	uint64		fingerprint;
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

/* tune_query.c */
extern uint32 simhash_sample_argument(int64 wanted);
extern void simhash_read_documents(SimhashDocuments *documents,
								   const SimhashStatement *query,
								   SimhashRowReader read);

#endif							/* SIMHASH_TUNE_H */
