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

#include "utils/tuplestore.h"

#include "core/pairs/clusters.h"
#include "core/pairs/wide_pairs.h"

/* The documents of rows (documents.h). */
typedef struct SimhashDocuments SimhashDocuments;

/* Pairs by their distance (rate.h). */
typedef struct SimhashTally SimhashTally;

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

/* query_rows.c */
extern void simhash_check_distance(int64 k, bool bits, int width);
extern void simhash_check_width(int width);
extern void simhash_read_rows(SimhashRows *rows,
							  const SimhashStatement *query);

/* row_order.c */
extern void simhash_order_rows(SimhashRows *rows, bool sort, void *memory);

/* row_groups.c */
extern SimhashGroups *simhash_groups_begin(TupleDesc desc, int document,
										   MemoryContext parent);
extern uint32 simhash_group_number(SimhashGroups *groups,
								   TupleTableSlot *slot, bool *alone);
extern int64 simhash_groups_bytes(const SimhashGroups *groups);
extern void simhash_groups_end(SimhashGroups *groups);

/* row_clusters.c */
extern void simhash_make_stars(const SimhashStatement *query, int64 k,
							   SimhashDocuments *documents, bool decide,
							   SimhashTally *tally,
							   Tuplestorestate *result, TupleDesc columns);

#endif							/* SIMHASH_PAIRS_H */
