/*-------------------------------------------------------------------------
 *
 * similar_rows.h
 *		Pairs and clusters of rows that are near, and whose documents are
 *		similar.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SIMILAR_ROWS_H
#define SIMHASH_SIMILAR_ROWS_H

#include "pairs/documents.h"

#include "core/pairs/clusters.h"

/* What is made of the rows. */
typedef enum SimhashSimilarKind
{
	SIMHASH_SIMILAR_PAIRS,
	SIMHASH_SIMILAR_CONNECTED,
	SIMHASH_SIMILAR_STARS
} SimhashSimilarKind;

/* Called with a pair of rows, a < b. */
typedef void (*SimhashSimilarSink) (void *context, uint32 a, uint32 b,
									double similarity);

/* The search for them. */
typedef struct SimhashSimilar
{
	/* what stays */
	SimhashDocuments *documents;
	ShPairs    *pairs;
	SimhashSimilarKind kind;
	int			k;
	uint32	   *parent;			/* of rows: what ShClusters has of
								 * fingerprints */
	SimhashSimilarSink sink;	/* of pairs */
	void	   *context;		/* for it */

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

/* similar_rows.c */
extern int64 simhash_similar_bytes(int64 n);
extern void simhash_similar_begin(SimhashSimilar *similar);
extern void simhash_similar_crowds(SimhashSimilar *similar,
								   const ShCrowds *crowds);
extern void simhash_similar_near(void *context, uint32_t a, uint32_t b,
								 int distance);
extern void simhash_similar_finish(SimhashSimilar *similar);

#endif							/* SIMHASH_SIMILAR_ROWS_H */
