/*-------------------------------------------------------------------------
 *
 * clusters.h
 *		Clusters of rows, made from pairs of fingerprints.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_CLUSTERS_H
#define SH_CLUSTERS_H

#include <stdbool.h>

#include "core/pairs/crowds.h"

/*
 * The root of the cluster of a member.  Members have numbers; "parent" leads
 * from each to another one of its cluster, and from the root to itself.  The way
 * is made shorter each time that it is gone ("path halving").
 */
static inline uint32_t
sh_cluster_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

/* Make the clusters of two members one, whose root is the lower of theirs. */
static inline void
sh_join(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = sh_cluster_of(parent, a);
	b = sh_cluster_of(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

/*
 * The fingerprints are numbered as in ShPairs; parent leads from each to the
 * root of its cluster, in one or more steps.
 */
typedef struct ShClusters
{
	ShPairs    *pairs;
	uint32_t   *parent;			/* room for as many as there are rows */
	bool		of_rows;		/* it is about rows, not fingerprints */

	/* What sh_clusters_list found. */
	uint32_t	count;			/* clusters */
	uint32_t   *ends;			/* where the members of each end */
	uint32_t   *members;		/* rows, by cluster, then in ascending order */
	uint32_t   *number;			/* of the fingerprint of each row */
} ShClusters;

extern void sh_clusters_begin(ShClusters *clusters, ShPairs *pairs,
							  uint32_t *parent);
extern void sh_clusters_join(void *clusters, uint32_t a, uint32_t b,
							 int distance);
extern void sh_clusters_connect_crowds(ShClusters *clusters,
									   const ShCrowds *crowds);
extern void sh_clusters_note_crowds(ShClusters *clusters,
									const ShCrowds *crowds);
extern void sh_clusters_stars(ShClusters *clusters, ShCrowds *crowds,
							  bool (*next) (void *context, uint64_t *pair),
							  void *context);
extern void sh_clusters_list(ShClusters *clusters, uint32_t least);

#endif							/* SH_CLUSTERS_H */
