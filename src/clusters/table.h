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
#include "guard/guard_search.h"

/* table.c */
extern void simhash_clusters_check_table(const ClusterTerms *terms);
extern Relation simhash_clusters_open(const ClusterTerms *terms);
extern Oid	simhash_clusters_sequence(const ClusterTerms *terms);
extern GuardTerms simhash_clusters_searched(const ClusterTerms *terms,
											Relation clusters);
extern void simhash_clusters_become_owner(Oid table, Oid *user, int *context);
extern void simhash_clusters_truncate(const ClusterTerms *terms);
extern int64 simhash_clusters_new(const ClusterTerms *terms);
extern int64 simhash_clusters_start(const ClusterTerms *terms,
									const GuardTable *table,
									const GuardSearch *search);
extern bool simhash_clusters_fetch(Relation clusters, ItemPointer tid,
								   TupleTableSlot *slot);
extern void simhash_clusters_represent(Relation clusters,
									   TupleTableSlot *slot);

#endif							/* SIMHASH_CLUSTERS_TABLE_H */
