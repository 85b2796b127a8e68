/*-------------------------------------------------------------------------
 *
 * documents.h
 *		The documents of rows, to be compared where the rows are near.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_DOCUMENTS_H
#define SIMHASH_DOCUMENTS_H

#include "pairs/pairs.h"

#include "fingerprint/fingerprint.h"
#include "storage/buffile.h"
#include "utils/hsearch.h"

/* How documents are compared, as the arguments of a call say. */
typedef struct SimhashDocumentOptions
{
	const char *document;		/* NULL: it is not said */
	const char *similarity;		/* the same */
	bool		bounded;		/* at_least is said */
	double		at_least;
	const char *profile;		/* NULL: the default one */
} SimhashDocumentOptions;

/* The documents of rows. */
struct SimhashDocuments
{
	/* what stays */
	const char *document;		/* the column */
	SimhashMeasure measure;
	double		least;			/* similarity */
	const ShProfile *profile;
	bool		words;			/* documents are arrays of features */
	TupleDesc	columns;		/* of the spool: one */
	Tuplestorestate *spool;		/* of documents, in the order they came */
	MemoryContext context;
	MemoryContext scratch;		/* of one document */

	/* once all rows are there */
	uint32		n;
	uint32	   *row_at;			/* by the order they came: rows */
	uint32	   *count;			/* by row: features, 0 if not read */
	int64	   *offset;			/* of these in the file; -1: not read */
	BufFile    *file;
	int64		end;			/* of the file */

	/* what moves */
	ShBag		bag;
	uint32		loaded;			/* row whose features are in the bag, or n */
	MemoryContext kept_context;
	HTAB	   *kept;			/* features in memory, by row */
	int64		kept_limit;
};

/* Something about a row. */
typedef bool (*SimhashRowTest) (void *context, uint32 row);

/* documents.c */
extern SimhashDocumentOptions simhash_document_options(FunctionCallInfo fcinfo,
													   int argument);
extern SimhashDocuments *simhash_documents_begin(const SimhashDocumentOptions *options);
extern void simhash_documents_type(SimhashDocuments *documents, Oid type);
extern void simhash_documents_put(SimhashDocuments *documents, Datum document,
								  bool isnull);
extern int64 simhash_documents_bytes(int64 n);
extern void simhash_documents_complete(SimhashDocuments *documents, uint32 n,
									   int64 spare);
extern void simhash_documents_reorder(SimhashDocuments *documents,
									  const uint32 *before);
extern void simhash_documents_forget(SimhashDocuments *documents);
extern void simhash_documents_read(SimhashDocuments *documents,
								   SimhashRowTest wanted, SimhashRowTest same,
								   void *context);
extern bool simhash_documents_same(SimhashDocuments *documents, uint32 row);
extern bool simhash_documents_similarity(SimhashDocuments *documents, uint32 a,
										 uint32 b, double *similarity);
extern bool simhash_documents_alike(SimhashDocuments *documents, uint32 a,
									uint32 b, double *similarity);
extern void simhash_documents_end(SimhashDocuments *documents);

#endif							/* SIMHASH_DOCUMENTS_H */
