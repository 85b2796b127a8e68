/*-------------------------------------------------------------------------
 *
 * connected.c
 *		Clusters of the kind connected: a row joins the cluster of the rows near it,
 *		and clusters that it connects are merged.
 *
 * A row is looked up in its own table.  All rows within the distance count: if they are
 * in one cluster it joins that, if they are in several these are merged, and the oldest
 * id stays (forest.c).  The version that an update replaces counts among them, so that
 * a small change moves no row.  A row that another transaction is about to delete
 * counts: it was there when ours arrived.  Unlike with stars, a row has to wait for a
 * transaction that has inserted a row near it, unless that row is in a cluster which
 * ours joins anyway.
 *
 * The row may still not get in: INSERT ... ON CONFLICT may drop it, or another trigger.
 * So when the trigger is called BEFORE, that a row is near several clusters is only
 * noted (xact.c); when it is called AFTER, a row that was noted is looked up again, and
 * the clusters are merged.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

/* A row of a transaction in progress, and its cluster. */
typedef struct ClusterArrival
{
	int64		cluster;
	NearPending pending;
} ClusterArrival;

/* What rows near another are in. */
typedef struct ClusterNeighbours
{
	ClusterSet	clusters;		/* of rows whose fate is known */
	List	   *arrivals;		/* of ClusterArrival, one for each cluster */
} ClusterNeighbours;

/*
 * Take in a row near ours: its cluster or, if a transaction in progress has
 * inserted it, also what to wait for.  Rows that were there before the trigger, or
 * were written without it, may have no cluster yet, or a number that is none, and will
 * find ours when they get one.
 */
static void
meet_neighbour(void *visitor, const NearTable *table, TupleTableSlot *slot,
			   const NearPending *pending)
{
	ClusterNeighbours *neighbours = visitor;
	ClusterArrival *arrival;
	bool		isnull;
	Datum		value = slot_getattr(slot, table->carried, &isnull);
	int64		id;
	ListCell   *lc;

	id = DatumGetInt64(value);
	if (isnull || id < 1)
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

/*
 * Of the rows that others are inserting, the first that may be in a cluster
 * other than those which are joined; NULL if there is none.
 */
static NearPending *
find_arrival(const ClusterTerms *terms, const ClusterNeighbours *neighbours,
			 const ClusterSet *joined)
{
	ListCell   *lc;

	foreach(lc, neighbours->arrivals)
	{
		ClusterArrival *arrival = lfirst(lc);

		if (!simhash_clusters_has(joined,
								  simhash_clusters_current_of(terms, arrival->cluster,
															  GetLatestSnapshot())))
			return &arrival->pending;
	}
	return NULL;
}

/*
 * Is the version of a row that an update replaces near what it is replaced by?  It
 * counts as a row that is there, so that a small change leaves a row where it was.
 */
static bool
is_old_near(const ClusterTrigger *trigger, const TriggerData *data, int64 *id)
{
	const NearTrigger *near = &trigger->near;
	const NearTerms *terms = &near->terms;
	HeapTuple	old = data->tg_trigtuple;
	NearFingerprint fingerprint;
	Datum		value;
	bool		isnull;

	/* It may be of another group. */
	if (!TRIGGER_FIRED_BY_UPDATE(data->tg_event) || near->place.moves ||
		simhash_clusters_are_written(trigger->terms->root, CLUSTERS_ANEW) ||
		!simhash_clusters_get_number(data->tg_relation, old, trigger->cluster, id) || *id < 1)
		return false;
	value = heap_getattr(old, terms->column, RelationGetDescr(data->tg_relation),
						 &isnull);
	if (isnull)
		return false;
	fingerprint = simhash_near_fingerprint(&terms->type, value);
	if (simhash_near_distance(&fingerprint, &near->search.center) > terms->radius)
		return false;
	return terms->compare.measure == SIMHASH_NO_MEASURE ||
		simhash_near_similarity(terms, &near->stored, near->search.document,
								simhash_near_get_document(&near->stored,
														  data->tg_trigslot)) >= 0;
}

/*
 * The cluster of a row: the oldest of those near it, or a new one.  Where it is given
 * one it may be on its way from another partition, by a statement which deletes it
 * there: what that deletes counts.
 */
int64
simhash_clusters_join_connected(ClusterTrigger *trigger, const TriggerData *data, bool given)
{
	NearTrigger *near = &trigger->near;
	NearSearch *search = &near->search;
	ClusterSet	joined;
	int64		old;
	bool		stays = is_old_near(trigger, data, &old);
	int64		id;

	search->visit = meet_neighbour;
	search->moving = !stays && given;
	simhash_near_begin_row(near->statement);
	for (;;)
	{
		ClusterNeighbours neighbours = {0};
		NearPending *arrival;

		search->visitor = &neighbours;
		simhash_near_enter(near, &search->center);
		simhash_near_search(search, near->place.scope);
		if (stays)
			simhash_clusters_add(&neighbours.clusters, old);
		joined = simhash_clusters_current(trigger->terms, &neighbours.clusters,
										  GetLatestSnapshot());
		arrival = find_arrival(trigger->terms, &neighbours, &joined);
		if (arrival == NULL && !search->changed)
			break;
		simhash_near_unlock(&near->statement->locks);
		if (arrival != NULL)
			simhash_near_wait(arrival);
	}
	id = joined.n == 0 ? simhash_clusters_new(trigger->terms, false) : joined.ids[0];
	if (joined.n > 1)
		simhash_clusters_note_merge(trigger->terms->clusters, id, &search->center);
	return id;
}

/* A row is in: if it is near several clusters, merge these. */
void
simhash_clusters_merge_around(ClusterTrigger *trigger, const TriggerData *data)
{
	NearTrigger *near = &trigger->near;
	NearSearch *search = &near->search;
	ClusterNeighbours neighbours = {0};
	HeapTuple	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ?
	data->tg_newtuple : data->tg_trigtuple;
	int64		id;

	if (trigger->terms->star || trigger->terms->later)
		return;
	simhash_near_take_row(near, data, row);
	if (near->need == NEAR_NONE_NEAR ||
		!simhash_clusters_get_number(data->tg_relation, row, trigger->cluster, &id) ||
		!simhash_clusters_is_merge(trigger->terms->clusters, id, &search->center))
		return;
	search->self = NULL;
	search->visit = meet_neighbour;
	search->visitor = &neighbours;
	simhash_clusters_add(&neighbours.clusters, id);
	if (is_old_near(trigger, data, &id))
		simhash_clusters_add(&neighbours.clusters, id);

	/* Whoever is inserting a row near ours waits for us, and merges then. */
	do
	{
		simhash_near_find(search->space, &near->place);
		simhash_near_search(search, near->place.scope);
	} while (search->changed);
	simhash_clusters_merge(trigger->terms, &neighbours.clusters);
}
