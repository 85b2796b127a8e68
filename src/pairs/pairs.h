/*-------------------------------------------------------------------------
 *
 * pairs.h
 *		Which rows of a query are near-duplicates: pairs, clusters.
 *
 * In comes a query for ids and fingerprints, and perhaps groups and
 * documents.  Its rows are held in memory (query_rows.c, row_groups.c), their
 * documents beside them on disk (documents.c).  The engine in core/pairs
 * finds the fingerprints that are near (row_search.c); where documents
 * decide, these are compared (similar_rows.c).  Out go rows of a tuplestore:
 * pairs (pairs.c), clusters (row_clusters.c).  sample.c and rate.c tell, from
 * some rows only, how well a distance does.  components.c makes clusters of
 * pairs that a query has.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_H
#define SIMHASH_PAIRS_H

#include "query/query.h"

#include "fingerprint/fingerprint.h"
#include "storage/buffile.h"
#include "utils/hsearch.h"
#include "utils/tuplestore.h"

#include "core/pairs/clusters.h"
#include "core/pairs/wide_pairs.h"

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
typedef struct SimhashDocuments
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
} SimhashDocuments;

/* The memory that the documents of n rows take, and to search similar ones. */
#define SIMHASH_DOCUMENTS_BYTES(n) \
	((n) * (int64) (sizeof(int64) + 2 * sizeof(uint32)) + SIMHASH_KEPT_LEAST)
#define SIMHASH_SIMILAR_BYTES(n) \
	((n) * (int64) (5 * sizeof(uint32) + sizeof(uint8)))

#define SIMHASH_KEPT_LEAST	(64 * 1024) /* bytes for features to be kept in */

/* Something about a row. */
typedef bool (*SimhashRowTest) (void *context, uint32 row);

/* Numbers groups of rows, while these are read (row_groups.c). */
typedef struct SimhashGroups SimhashGroups;

/*
 * The rows of a query: ids, fingerprints, and perhaps groups.  All is zero at
 * first, but for what is asked.
 */
typedef struct SimhashRows
{
	/* what is asked */
	Oid			id_type;
	int64		k;				/* the distance; an int once rows are read */
	const char *document;		/* the column's name; NULL: it has none */
	SimhashDocuments *documents;	/* NULL where they are not compared */

	/* the columns of the query */
	Oid			column_type;	/* of the ids */
	int16		id_length;		/* of the type wanted */
	bool		id_by_value;
	bool		bits;			/* bit strings, or else bigint */
	int			width;			/* bits of a fingerprint; 0: not known yet */
	int			words;			/* of a fingerprint */
	int			document_column;	/* or -1 */

	/* the rows */
	uint32		n;
	uint32		room;
	uint64	   *fingerprints;	/* their words, row by row */
	Datum	   *ids;
	uint32	   *groups;			/* NULL if all are in one */
	SimhashGroups *grouping;	/* while rows are read */
	char	   *spare;			/* room for what the next ids point to */
	Size		spare_bytes;
	MemoryContext context;		/* of all these */

	bool		overflow;		/* more than may be kept: only counting */
	int64		total;			/* rows, kept or not */
	int64		id_bytes;		/* that ids point to */
	int64		group_bytes;	/* for the groups of the rows kept */
	int64		without_id;		/* rows skipped */
	int64		without_fingerprint;
	int64		without_group;	/* rows near no other */
} SimhashRows;

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

typedef struct SimhashRowSearch SimhashRowSearch;

/* What rows that are near and similar make: pairs, connected clusters, stars. */
typedef struct SimhashSimilar
{
	/* what is asked */
	bool		star;
	uint32	   *parent;			/* of rows: what ShClusters has of
								 * fingerprints; NULL for pairs */
	void		(*sink) (SimhashRowSearch *search, uint32 a, uint32 b,
						 double similarity);	/* of pairs, a < b */

	/* what is known of the search for near fingerprints */
	Tuplesortstate *order;		/* a row, and the number of one near to it */
	uint8	   *marks;			/* by number: NEAR, CROWDED */
	uint32	   *number;			/* of the fingerprint of each row */

	/* what moves */
	uint32	   *text;			/* by row: the first of the same features */
	uint32	   *last;			/* by number: the last center, or NONE */
	uint32	   *before;			/* by row: the center before it, or NONE */
	List	   *crowded;		/* centers in crowds */
	List	   *near;			/* to be compared with the row that it is
								 * about */
} SimhashSimilar;

/* A search for pairs among the rows of a query. */
struct SimhashRowSearch
{
	SimhashStatement query;
	SimhashRows rows;
	Tuplestorestate *result;
	TupleDesc	columns;		/* of the result */
	ShPairs		pairs;
	ShWide		wide;			/* where fingerprints have several words */
	SimhashSimilar similar;		/* where documents decide */
	SimhashTally *tally;		/* of pairs where documents are compared; or
								 * NULL */
	int64		listed;			/* rows put out that no search has found */
};

/* In how many bits do two fingerprints of so many words differ? */
static inline int
simhash_words_distance(const uint64 *a, const uint64 *b, int words)
{
	int			apart = 0;

	for (int w = 0; w < words; w++)
		apart += sh_distance(a[w], b[w]);
	return apart;
}

/* documents.c */
extern SimhashDocumentOptions simhash_document_options(FunctionCallInfo fcinfo,
													   int argument);
extern SimhashDocuments *simhash_documents_begin(const SimhashDocumentOptions *options);
extern void simhash_documents_type(SimhashDocuments *documents, Oid type);
extern void simhash_documents_put(SimhashDocuments *documents, Datum document,
								  bool isnull);
extern void simhash_documents_complete(SimhashDocuments *documents, uint32 n,
									   int64 spare);
extern void simhash_documents_read(SimhashDocuments *documents,
								   SimhashRowTest wanted, SimhashRowTest same,
								   void *context);
extern bool simhash_documents_same(SimhashDocuments *documents, uint32 row);
extern bool simhash_documents_similarity(SimhashDocuments *documents, uint32 a,
										 uint32 b, double *similarity);
extern bool simhash_documents_alike(SimhashDocuments *documents, uint32 a,
									uint32 b, double *similarity);
extern void simhash_documents_end(SimhashDocuments *documents);

/* query_rows.c */
extern void simhash_check_distance(int64 k, bool bits, int width);
extern void simhash_check_width(int width);
extern void simhash_read_rows(SimhashRows *rows,
							  const SimhashStatement *query, bool sort);

/* row_order.c */
extern void simhash_order_rows(SimhashRows *rows, bool sort, void *memory);

/* row_groups.c */
extern SimhashGroups *simhash_groups_begin(TupleDesc desc, int document,
										   MemoryContext parent);
extern uint32 simhash_group_number(SimhashGroups *groups,
								   TupleTableSlot *slot, bool *alone);
extern int64 simhash_groups_bytes(const SimhashGroups *groups);
extern void simhash_groups_end(SimhashGroups *groups);

/* sample.c */
extern const bool *simhash_sample_clusters(const SimhashRows *rows,
										   const ShClusters *clusters);
extern void simhash_tally_some(const SimhashRows *rows, SimhashTally *tally);

/* rate.c */
extern SimhashRate simhash_rate(const SimhashTally *tally, int k);
extern bool simhash_recommend(const SimhashTally *tally, SimhashRate *best);

/* row_search.c */
extern int	simhash_search_arguments(SimhashRowSearch *search,
									 FunctionCallInfo fcinfo,
									 int others);
extern void simhash_search_begin(SimhashRowSearch *search, bool sort);
extern void simhash_search_near(SimhashRowSearch *search, uint32 alone,
								ShPairSink sink, void *context);
extern int	simhash_search_distance(const SimhashRowSearch *search, uint32 a,
									uint32 b);
extern void simhash_search_listed(SimhashRowSearch *search);
extern void simhash_search_end(SimhashRowSearch *search);

/* similar_rows.c */
extern void simhash_similar_begin(SimhashRowSearch *search);
extern void simhash_similar_crowds(SimhashRowSearch *search,
								   const ShCrowds *crowds);
extern void simhash_similar_near(void *context, uint32_t a, uint32_t b,
								 int distance);
extern void simhash_similar_finish(SimhashRowSearch *search);

/* row_clusters.c */
extern void simhash_make_stars(const SimhashStatement *query, int64 k,
							   SimhashDocuments *documents, bool decide,
							   SimhashTally *tally,
							   Tuplestorestate *result, TupleDesc columns);

#endif							/* SIMHASH_PAIRS_H */
