/*-------------------------------------------------------------------------
 *
 * forest.h
 *		Clusters that have been merged, and what they are now.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_FOREST_H
#define SIMHASH_CLUSTERS_FOREST_H

#include "clusters/neighbours.h"
#include "clusters/terms.h"

/* forest.c */
extern ClusterSet simhash_clusters_current(const ClusterTerms *terms,
										   const ClusterSet *clusters,
										   Snapshot snapshot);
extern void simhash_clusters_merge(const ClusterTerms *terms,
								   const ClusterSet *clusters);
extern void simhash_clusters_resolve(const ClusterTerms *terms);

#endif							/* SIMHASH_CLUSTERS_FOREST_H */
