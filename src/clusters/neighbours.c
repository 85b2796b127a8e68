/*-------------------------------------------------------------------------
 *
 * neighbours.c
 *		Sets of clusters, and the visitor of a search that gathers what rows
 *		near another are in.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/neighbours.h"

/* The place of an id in a set, or where it belongs. */
static int
find_cluster(const ClusterSet *clusters, int64 id)
{
	int			low = 0;
	int			high = clusters->n;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (clusters->ids[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Is a cluster in the set? */
bool
simhash_clusters_has(const ClusterSet *clusters, int64 id)
{
	int			place = find_cluster(clusters, id);

	return place < clusters->n && clusters->ids[place] == id;
}

/* Add a cluster to the set, unless it is there. */
void
simhash_clusters_add(ClusterSet *clusters, int64 id)
{
	int			place = find_cluster(clusters, id);

	if (place < clusters->n && clusters->ids[place] == id)
		return;
	if (clusters->n == clusters->size)
	{
		clusters->size = Max(8, clusters->size * 2);
		clusters->ids = clusters->ids == NULL ?
			palloc(clusters->size * sizeof(int64)) :
			repalloc(clusters->ids, clusters->size * sizeof(int64));
	}
	memmove(clusters->ids + place + 1, clusters->ids + place,
			(clusters->n - place) * sizeof(int64));
	clusters->ids[place] = id;
	clusters->n++;
}

/* The cluster of a row found, if it has one. */
bool
simhash_clusters_get(const GuardTable *table, TupleTableSlot *slot, int64 *id)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, table->carried, &isnull);

	*id = isnull ? 0 : DatumGetInt64(value);
	return !isnull;
}

/*
 * Take in a row near ours: its cluster or, if a transaction in progress has
 * inserted it, also what to wait for.  Rows that were there before the trigger
 * may have no cluster yet, and will find ours when they get one.
 */
void
simhash_clusters_meet(void *visitor, const GuardTable *table,
					  TupleTableSlot *slot, const GuardPending *pending)
{
	ClusterNeighbours *neighbours = visitor;
	ClusterArrival *arrival;
	ListCell   *lc;
	int64		id;

	if (!simhash_clusters_get(table, slot, &id))
		return;
	if (!TransactionIdIsValid(pending->xid))
	{
		simhash_clusters_add(&neighbours->clusters, id);
		return;
	}
	foreach(lc, neighbours->arrivals)
	{
		if (((ClusterArrival *) lfirst(lc))->cluster == id)
			return;
	}
	arrival = palloc(sizeof *arrival);
	arrival->cluster = id;
	arrival->pending = *pending;
	neighbours->arrivals = lappend(neighbours->arrivals, arrival);
}
