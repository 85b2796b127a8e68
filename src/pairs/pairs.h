/*-------------------------------------------------------------------------
 *
 * pairs.h
 *		What the files of the reports share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PAIRS_H
#define SIMHASH_PAIRS_H

#include "query/query.h"

#include "storage/dsm.h"
#include "utils/sortsupport.h"
#include "utils/tuplestore.h"

#include "core/pairs/clusters.h"
#include "core/pairs/wide_pairs.h"

/* The documents of rows (documents.h). */
typedef struct SimhashVerify SimhashVerify;
typedef struct SimhashVerifyOptions SimhashVerifyOptions;

/* Pairs by their distance (rate.h). */
typedef struct SimhashTally SimhashTally;

/* Numbers groups of rows, while these are read. */
typedef struct SimhashGroups SimhashGroups;

/* The rows of a query: ids, fingerprints, and perhaps groups. */
typedef struct SimhashRows
{
	Oid			id_type;
	int16		id_length;
	bool		id_by_value;

	int64		k;				/* what they are read for */
	bool		bits;			/* bit strings, or else bigint */
	int			width;			/* bits of a fingerprint; 0: not known yet */
	int			words;			/* of a fingerprint */

	uint32		n;
	uint32		room;
	uint64	   *fingerprints;	/* their words, row by row */
	Datum	   *ids;
	uint32	   *groups;			/* NULL if all are in one */
	SimhashGroups *grouping;	/* while rows are read */
	char	   *spare;			/* room for what the next ids point to */
	Size		spare_bytes;
	MemoryContext context;		/* of all these */
	void	   *memory;			/* for the search, once all has been read */
	uint64	   *values;			/* for it, too: fingerprints of one word */
	void	   *wide_memory;	/* and if they have several */
	uint32	   *parent;			/* and for clusters */
	dsm_segment *segment;		/* that rows are in to share the search */
	int			helpers;		/* with so many workers at most */

	SimhashVerify *verify;		/* NULL where documents are not compared */
	int			document;		/* the column, or -1 if the query has none */

	bool		overflow;		/* more than may be kept: only counting */
	int64		total;			/* rows, kept or not */
	int64		id_bytes;		/* that ids point to */
	int64		group_bytes;	/* for the groups of the rows kept */
	int64		without_id;		/* rows skipped */
	int64		without_fingerprint;
	int64		without_group;	/* rows near no other */
} SimhashRows;

/* row_ids.c */
extern void simhash_begin_id_order(SortSupport sort, Oid id_type);
extern void simhash_complain_of_twins(Oid id_type, Datum id);

/* query_rows.c */
extern void simhash_check_distance(int64 k, bool bits, int width);
extern void simhash_check_width(int width);
extern void simhash_read_rows(SimhashRows *rows,
							  const SimhashStatement *query, Oid id_type,
							  int64 k, const char *document,
							  SimhashVerify *verify);
extern int64 simhash_needed_memory(const SimhashRows *rows);
extern void simhash_order_rows(SimhashRows *rows, bool sort);

/* pairs.c */
extern bool simhash_choose(const char *word, const char *name,
						   const char *yes, const char *no);
extern void simhash_make_stars(const SimhashStatement *query, int64 k,
							   SimhashVerify *verify, bool decide,
							   SimhashTally *tally,
							   Tuplestorestate *result, TupleDesc columns);

/* row_groups.c */
extern SimhashGroups *simhash_groups_begin(TupleDesc desc, int document,
										   MemoryContext parent);
extern uint32 simhash_group_number(SimhashGroups *groups,
								   TupleTableSlot *slot, bool *alone);
extern int64 simhash_groups_bytes(const SimhashGroups *groups);
extern void simhash_groups_end(SimhashGroups *groups);

/* pair_workers.c */
extern void simhash_allocate_search(SimhashRows *rows, int radius);
extern void simhash_search(SimhashRows *rows, ShPairs *pairs, int radius,
						   uint32 alone, ShPairSink sink, void *context);
extern void simhash_free_rows(SimhashRows *rows);

#endif							/* SIMHASH_PAIRS_H */
