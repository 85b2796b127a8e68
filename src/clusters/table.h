/*-------------------------------------------------------------------------
 *
 * table.h
 *		The table of the clusters.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_TABLE_H
#define SIMHASH_CLUSTERS_TABLE_H

#include "clusters/terms.h"
#include "guard/guard.h"

/* table.c */
extern void simhash_clusters_check_table(const ClusterTerms *terms);
extern Relation simhash_clusters_open(const ClusterTerms *terms);
extern Oid	simhash_clusters_sequence(const ClusterTerms *terms);
extern GuardTerms simhash_clusters_searched(const ClusterTerms *terms,
											Relation clusters);
extern void simhash_clusters_truncate(const ClusterTerms *terms);
extern Relation simhash_clusters_open_key(const ClusterTerms *terms,
										  Relation clusters);
extern int64 simhash_clusters_see_greatest(const ClusterTerms *terms,
										   bool now);
extern void simhash_clusters_check_sequence(const ClusterTerms *terms);
extern int64 simhash_clusters_new(const ClusterTerms *terms);
extern int64 simhash_clusters_new_copy(const ClusterTerms *terms);
extern int64 simhash_clusters_last(const ClusterTerms *terms);
extern TupleTableSlot *simhash_clusters_begin_row(const ClusterTerms *terms,
												  Relation clusters,
												  int64 id);
extern void simhash_clusters_set(TupleTableSlot *slot, AttrNumber column,
								 Datum value);
extern void simhash_clusters_insert(Relation clusters, TupleTableSlot *slot);
extern int64 simhash_clusters_start(const ClusterTerms *terms,
									const GuardSearch *search);
extern int64 simhash_clusters_copy(const ClusterTerms *terms,
								   Relation clusters, TupleTableSlot *slot,
								   text *document);
extern int64 simhash_clusters_of(const ClusterTerms *terms,
								 TupleTableSlot *slot);
extern bool simhash_clusters_fetch(Relation clusters, ItemPointer tid,
								   TupleTableSlot *slot);
extern bool simhash_clusters_find_number(const ClusterTerms *terms,
										 Relation clusters, int64 number,
										 TupleTableSlot *slot);
extern void simhash_clusters_delete(Relation clusters, ItemPointer tid);

#endif							/* SIMHASH_CLUSTERS_TABLE_H */
