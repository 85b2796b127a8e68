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

#include "core/pairs/engine.h"

#define SH_CROWDS_MAX	256		/* crowds to set apart */
#define SH_CROWD_LEAST	1024	/* values that make a crowd */

/* Values that pairs among themselves connect. */
typedef struct ShCrowd
{
	uint64_t	center;			/* one of them */
	uint32_t	group;			/* of them all */
	uint32_t	start;			/* where they are in the array "work" */
	uint32_t	n;
} ShCrowd;

/* All values, in the array "work": those in no crowd, then crowd by crowd. */
typedef struct ShCrowds
{
	ShPairs    *pairs;
	int			radius;
	int			reach;			/* from a center to the others of its crowd */
	uint32_t	least;
	uint32_t	alone;			/* values in no crowd */
	uint32_t	count;
	ShCrowd		crowd[SH_CROWDS_MAX];
} ShCrowds;

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

/* crowds.c */
extern void sh_crowds_begin(ShCrowds *crowds, ShPairs *pairs, int radius,
							uint32_t least);
extern void sh_crowds_find(ShCrowds *crowds);

/* clusters.c */
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
