/*-------------------------------------------------------------------------
 *
 * pairs.h
 *		Which rows of a query are near-duplicates: pairs, clusters.
 *
 * In comes a query for ids and fingerprints, and perhaps groups and
 * documents.  Its rows are held in memory (query_rows.c, row_groups.c), their
 * documents beside them on disk (documents.c).  The engine in core/pairs
 * finds the fingerprints that are near (row_search.c); where documents
 * decide, these are compared (similar_rows.c), but for pairs that can be ruled
 * out (prefixes.c).  Out go rows of a tuplestore: pairs (pairs.c), clusters
 * (row_clusters.c).  row_families.c tells entries of forms from edits;
 * apart.c, which pairs are none whatever their documents.  components.c makes
 * clusters of pairs that a query has.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_H
#define SIMHASH_PAIRS_H

#include "query/query.h"

#include "compare/compare.h"
#include "storage/buffile.h"

#include "core/pairs/clusters.h"
#include "core/pairs/wide_pairs.h"

/* How many arguments say that. */
#define SIMHASH_DOCUMENT_ARGUMENTS	5

/* The documents of rows. */
typedef struct SimhashDocuments
{
	/* what stays */
	const char *document;		/* the column */
	SimhashComparison comparison;
	bool		alone;			/* two are judged without what is near to them */
	Oid			type;			/* that they are read as */
	TupleDesc	columns;		/* of the spool: one */
	Tuplestorestate *spool;		/* of documents, in the order they came */
	MemoryContext context;
	MemoryContext scratch;		/* of one document */

	/* once all rows are there */
	uint32		n;
	uint32	   *row_at;			/* by the order they came: rows; NULL: that is
								 * their order; the memory of clusters, later */
	uint32	   *count;			/* by row: features, 0 if not read */
	int64	   *offset;			/* of these in the file; -1: not read */
	BufFile    *file;
	int64		end;			/* of the file */

	/* what moves */
	ShBag		bag;
	uint32		loaded;			/* row whose features are in the bag, or n */
	SimhashDocument current;	/* of that row */
	uint64		fingerprint[SH_WORDS];	/* and if it is a fingerprint, this */
	MemoryContext loaded_context;	/* of its words */
	MemoryContext kept_context;
	HTAB	   *kept;			/* documents in memory, by row */
	int64		kept_limit;
} SimhashDocuments;

/*
 * The memory that the documents of n rows take, to search similar ones, and to know
 * their families.
 */
#define SIMHASH_DOCUMENTS_BYTES(n) \
	((n) * (int64) (sizeof(int64) + sizeof(uint32)) + SIMHASH_KEPT_LEAST)
#define SIMHASH_SIMILAR_BYTES(n) \
	((n) * (int64) (sizeof(uint32) + sizeof(uint16) + sizeof(uint8)))
#define SIMHASH_FAMILIES_BYTES(n) \
	((n) * (int64) (2 * sizeof(uint32) + sizeof(bool)))

#define SIMHASH_KEPT_LEAST	(64 * 1024) /* bytes for features to be kept in */

/* Something about a row. */
typedef bool (*SimhashRowTest) (void *context, uint32 row);

/* Takes a row. */
typedef void (*SimhashRowSink) (void *context, uint32 row);

/* An index of the rarest features of rows (prefixes.c). */
typedef struct SimhashPrefixes SimhashPrefixes;

/*
 * Is the least similarity a Jaccard similarity above 0, so that similar rows
 * have a feature of their prefixes in common?
 */
static inline bool
simhash_have_prefixes(const SimhashDocuments *documents)
{
	return documents->comparison.at_least > 0 &&
		simhash_measures[documents->comparison.measure].sets;
}

/* May families decide about rows? */
static inline bool
simhash_have_families(const SimhashDocuments *documents)
{
	return simhash_measures[documents->comparison.measure].aligned &&
		!documents->comparison.arrays && !documents->alone;
}

/* Numbers groups of rows, while these are read (row_groups.c). */
typedef struct SimhashGroups SimhashGroups;

/* Columns of the query for a plan: what apart.c has to know of a row. */
#define SIMHASH_APART_COLUMN	"simhash apart"
#define SIMHASH_MOMENT_COLUMN	"simhash moment"
#define SIMHASH_EARLIEST_COLUMN	"simhash earliest"

/* The moment of a row, and the earliest of a row that is near to it. */
typedef struct SimhashMoment
{
	int64		moment;
	int64		earliest;
} SimhashMoment;

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
	bool		complete;		/* rows without a fingerprint count, too */
	bool		plan;			/* there may be the columns of apart.c */
	HTAB	   *series;			/* of keys, for apart.c; NULL: none */

	/* the columns of the query */
	Oid			column_type;	/* of the ids */
	int16		id_length;		/* of the type wanted */
	bool		id_by_value;	/* "ids" has them, not pointers to them: */
	bool		id_inside;		/* the bytes of ids passed by reference */
	bool		bits;			/* bit strings, or else bigint */
	int			width;			/* bits of a fingerprint; 0: not known yet */
	int			words;			/* of a fingerprint */
	int			document_column;	/* or -1 */
	int			apart_column;	/* likewise, and so are these */
	int			moment_column;
	int			earliest_column;

	/* the rows */
	uint32		n;
	uint32		room;
	uint64	   *fingerprints;	/* their words, row by row */
	Datum	   *ids;			/* see simhash_row_id */
	uint32	   *groups;			/* NULL if all are in one */
	SimhashGroups *grouping;	/* while rows are read */
	HTAB	   *apart;			/* of apart.c, or NULL */
	SimhashMoment *moments;		/* NULL if all are near */
	char	   *spare;			/* room for what the next ids point to */
	Size		spare_bytes;
	MemoryContext context;		/* of all these */

	double		expected;		/* rows, by the planner */
	int64		id_bytes;		/* that ids point to */
	int64		group_bytes;	/* for the groups of the rows */
	int64		without_id;		/* rows skipped */
	int64		without_fingerprint;
	int64		without_group;	/* rows near no other */
} SimhashRows;

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
	void		(*doubt) (SimhashRowSearch *search, uint32 row, uint32 center,
						  SimhashVerdict verdict, double similarity);
	/* of a row that is a center by doubt alone; or NULL */

	/* what is known of the search for near fingerprints */
	Tuplesortstate *order;		/* a row, and the number of one near to it */
	uint8	   *marks;			/* by number: NEAR, CROWDED */
	uint16	   *near_rows;		/* by number: rows near to it, unless it is
								 * CROWDED */
	uint32	   *number;			/* of the fingerprint of each row */

	/* what moves */
	int64		entry;			/* the next one in the order */
	bool		more;			/* if there is one */
	uint32	   *text;			/* by row: the first of the same features */
	uint32	   *last;			/* by number: the last center, or NONE */
	uint32	   *before;			/* by row: the center before it, or NONE; both
								 * in ShPairs.spare, between calls; where rows
								 * are only connected, the row that was last
								 * compared with it */
	List	   *crowded;		/* rows, or centers, that are CROWDED */
	int			entered;		/* so many of them are in the index */
	SimhashPrefixes *prefixes;	/* that, or NULL */
	uint32		row;			/* at hand, while the index is asked */
	List	   *found;			/* that the index finds for it */
	List	   *near;			/* to be compared with the row that it is
								 * about */

	/* families, where words are compared in their order (row_families.c) */
	uint32	   *base;			/* by row: that of its family */
	uint32	   *kin;			/* by row: the next of the family, or NONE */
	bool	   *by_family;		/* by row: it is alike in its family */
	HTAB	   *families;		/* by base; NULL: they are not known */
	HTAB	   *members;		/* by row */
	MemoryContext families_context;
} SimhashSimilar;

/* No row. */
#define SIMHASH_NO_ROW	UINT32_MAX

/*
 * The columns of a result from which a plan is made: three more than those of
 * clusters.
 */
#define SIMHASH_PLAN_COLUMNS	9

/* The distance where documents are compared, unless told. */
#define SIMHASH_DOCUMENTS_NEAR	8

/* A search for pairs among the rows of a query. */
struct SimhashRowSearch
{
	bool		plan;			/* for what is to go, not just near */
	SimhashStatement query;
	SimhashStatement apart;		/* a query for pairs of keys; no text: none */
	SimhashRows rows;
	Tuplestorestate *result;
	TupleDesc	columns;		/* of the result */
	ShPairs		pairs;
	ShWide		wide;			/* where fingerprints have several words */
	SimhashSimilar similar;		/* where documents decide */
	int64		listed;			/* rows put out that no search has found */
};

/* The id of a row.  One that has its bytes in the array is pointed to there. */
static inline Datum
simhash_row_id(const SimhashRows *rows, uint32 row)
{
	return rows->id_inside ? PointerGetDatum(&rows->ids[row]) : rows->ids[row];
}

/* Are two rows too far from each other in time? */
static inline bool
simhash_are_far(const SimhashRows *rows, uint32 a, uint32 b)
{
	const SimhashMoment *moments = rows->moments;

	return moments != NULL && (moments[a].earliest > moments[b].moment ||
							   moments[b].earliest > moments[a].moment);
}

/* apart.c */
extern void simhash_apart_put(SimhashRows *rows, uint32 row, int64 key);
extern void simhash_moment_put(SimhashRows *rows, uint32 row,
							   const TupleTableSlot *slot);
extern bool simhash_is_apart(const SimhashRows *rows, uint32 row);
extern bool simhash_are_apart(const SimhashRows *rows, uint32 a, uint32 b);

/* components.c */
extern HTAB *simhash_read_components(const SimhashStatement *query);
extern bool simhash_find_component(HTAB *members, int64 id, int64 *lowest);

/* documents.c */
extern SimhashDocumentOptions simhash_document_options(FunctionCallInfo fcinfo,
													   int argument);
extern const char *simhash_document_argument(const SimhashDocumentOptions *options);
extern SimhashDocuments *simhash_documents_begin(const SimhashDocumentOptions *options);
extern void simhash_documents_type(SimhashDocuments *documents, Oid type);
extern void simhash_documents_put(SimhashDocuments *documents, Datum document,
								  bool isnull);
extern void simhash_documents_complete(SimhashDocuments *documents, uint32 n,
									   int64 spare);
extern void simhash_documents_read(SimhashDocuments *documents,
								   SimhashRowTest wanted, SimhashRowTest same,
								   void *context);
extern uint64 simhash_documents_hash(const SimhashDocuments *documents);
extern bool simhash_documents_same(SimhashDocuments *documents, uint32 row);
extern void simhash_documents_load(SimhashDocuments *documents, uint32 row);
extern text *simhash_documents_describe(SimhashDocuments *documents, uint32 a,
										uint32 b);
extern SimhashVerdict simhash_documents_judge(SimhashDocuments *documents,
											  uint32 a, uint32 b,
											  SimhashFamily *family,
											  double *similarity);
extern double simhash_documents_similarity(SimhashDocuments *documents, uint32 a,
										   uint32 b);
extern bool simhash_documents_may_match(const SimhashDocuments *documents,
										uint32 a, uint32 b);
extern void simhash_documents_end(SimhashDocuments *documents);
extern SimhashDocument simhash_documents_get(SimhashDocuments *documents, uint32 row);

/* prefixes.c */
extern SimhashPrefixes *simhash_prefixes_begin(SimhashDocuments *documents,
											   SimhashRowTest wanted,
											   void *context);
extern void simhash_prefixes_clear(SimhashPrefixes *prefixes, uint32 *trees);
extern bool simhash_prefixes_find(SimhashPrefixes *prefixes, uint32 row, uint32 most,
								  SimhashRowSink sink, void *context);
extern bool simhash_prefixes_enter(SimhashPrefixes *prefixes);

/* query_rows.c */
extern void simhash_check_distance(int64 k, bool bits, int width);
extern void simhash_read_rows(SimhashRows *rows,
							  const SimhashStatement *query, bool sort);

/* row_order.c */
extern void simhash_begin_id_order(SortSupport order, Oid id_type,
								   MemoryContext context);
extern void simhash_order_rows(SimhashRows *rows, bool sort, void *memory);

/* row_families.c */
extern void simhash_families_found(SimhashRowSearch *search);
extern SimhashFamily *simhash_families_ask(SimhashRowSearch *search, uint32 row,
										   uint32 other, bool *differ);
extern int64 simhash_families_number(const SimhashRowSearch *search, uint32 row);

/* row_groups.c */
extern SimhashGroups *simhash_groups_begin(TupleDesc desc,
										   const Bitmapset *others,
										   MemoryContext parent);
extern uint32 simhash_group_of(SimhashGroups *groups, const Datum *values,
							   const Datum **known);
extern uint32 simhash_group_number(SimhashGroups *groups,
								   TupleTableSlot *slot, bool *alone);
extern int64 simhash_groups_bytes(const SimhashGroups *groups);
extern void simhash_groups_end(SimhashGroups *groups);

/* row_search.c */
extern int64 simhash_distance_argument(FunctionCallInfo fcinfo, int i,
									   bool documents);
extern int	simhash_search_arguments(SimhashRowSearch *search,
									 FunctionCallInfo fcinfo,
									 int others);
extern void simhash_search_begin(SimhashRowSearch *search, bool sort);
extern void simhash_search_crowds(SimhashRowSearch *search, ShCrowds *crowds,
								  bool apart);
extern void simhash_search_near(SimhashRowSearch *search, uint32 alone,
								ShPairSink sink, void *context);
extern int	simhash_search_distance(const SimhashRowSearch *search, uint32 a,
									uint32 b);
extern void simhash_search_listed(SimhashRowSearch *search);
extern void simhash_search_end(SimhashRowSearch *search);

/* similar_rows.c */
extern void simhash_find_similar(SimhashRowSearch *search);

/* row_clusters.c */
extern PGDLLEXPORT Datum simhash_clusters(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_PAIRS_H */
