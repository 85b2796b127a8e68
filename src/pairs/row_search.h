/*-------------------------------------------------------------------------
 *
 * row_search.h
 *		A search for pairs among the rows of a query, step by step.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ROW_SEARCH_H
#define SIMHASH_ROW_SEARCH_H

#include "pairs/similar_rows.h"

typedef struct SimhashRowSearch
{
	SimhashStatement query;
	SimhashRows rows;
	Tuplestorestate *result;
	TupleDesc	columns;		/* of the result */
	ShPairs		pairs;
	ShWide		wide;			/* where fingerprints have several words */
	SimhashSimilar similar;		/* where documents decide */
	int64		listed;			/* rows put out that no search has found */
} SimhashRowSearch;

/* row_search.c */
extern int	simhash_search_arguments(SimhashRowSearch *search,
									 FunctionCallInfo fcinfo,
									 int others);
extern Datum simhash_search_run(SimhashRowSearch *search, const char *name,
								void (*make) (SimhashRowSearch *search));
extern void simhash_search_begin(SimhashRowSearch *search, bool sort);
extern void simhash_search_begin_similar(SimhashRowSearch *search,
										 SimhashSimilarKind kind,
										 uint32 *parent,
										 SimhashSimilarSink sink);
extern void simhash_search_near(SimhashRowSearch *search, uint32 alone,
								ShPairSink sink, void *context);
extern int	simhash_search_distance(const SimhashRowSearch *search, uint32 a,
									uint32 b);
extern void simhash_search_listed(SimhashRowSearch *search);
extern void simhash_search_end(SimhashRowSearch *search);

#endif							/* SIMHASH_ROW_SEARCH_H */
