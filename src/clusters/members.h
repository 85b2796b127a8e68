/*-------------------------------------------------------------------------
 *
 * members.h
 *		Rows that are in clusters.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_MEMBERS_H
#define SIMHASH_CLUSTERS_MEMBERS_H

#include "clusters/terms.h"

/* members.c */
extern Relation simhash_clusters_open_index(Relation relation,
											AttrNumber column, bool partial);
extern bool simhash_clusters_find_row(Relation relation, AttrNumber column,
									  int64 id, text *document,
									  AttrNumber its, bool *any);
extern bool simhash_clusters_any_row(const ClusterTerms *terms);
extern text *simhash_clusters_any_document(const ClusterTerms *terms,
										   int64 id);
extern bool simhash_clusters_has_copy(const ClusterTerms *terms,
									  Relation clusters, int64 id);
extern int64 simhash_clusters_greatest(const ClusterTerms *terms,
									   Relation clusters);

#endif							/* SIMHASH_CLUSTERS_MEMBERS_H */
