/*-------------------------------------------------------------------------
 *
 * neighbours.h
 *		Sets of clusters: what rows near another are in.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_NEIGHBOURS_H
#define SIMHASH_CLUSTERS_NEIGHBOURS_H

#include "guard/guard.h"

/* Different clusters, in order. */
typedef struct ClusterSet
{
	int			n;
	int			size;			/* allocated */
	int64	   *ids;
} ClusterSet;

/* A row of a transaction in progress, and its cluster. */
typedef struct ClusterArrival
{
	int64		cluster;
	GuardPending pending;
} ClusterArrival;

/* What rows near another are in. */
typedef struct ClusterNeighbours
{
	ClusterSet	clusters;		/* of rows whose fate is known */
	List	   *arrivals;		/* of ClusterArrival, one for each cluster */
} ClusterNeighbours;

/* neighbours.c */
extern bool simhash_clusters_has(const ClusterSet *clusters, int64 id);
extern void simhash_clusters_add(ClusterSet *clusters, int64 id);
extern bool simhash_clusters_get(const GuardTable *table, TupleTableSlot *slot,
								 int64 *id);
extern void simhash_clusters_meet(void *neighbours, const GuardTable *table,
								  TupleTableSlot *slot,
								  const GuardPending *pending);

#endif							/* SIMHASH_CLUSTERS_NEIGHBOURS_H */
