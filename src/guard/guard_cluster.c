/*-------------------------------------------------------------------------
 *
 * guard_cluster.c
 *		The actions "star" and "connected" of simhash_guard(): every row gets
 *		the id of its cluster as it arrives.
 *
 * simhash_add_clusters() makes the triggers, and the table of the clusters that
 * their option "clusters" names.  Ids come from the identity of that table.
 *
 * star.  The table has the representative of each cluster: its fingerprint,
 * its group and, if documents are compared, its document.  A row is looked up
 * there, not in its own table, and joins the nearest representative within the
 * distance.  If there is none it becomes one.  Representatives do not change,
 * so neither does the cluster of a row.
 *
 *	 Guarantee.  No two representatives of a group are near each other, and
 *	 nobody waits for another's transaction, at any isolation level.
 *
 *	 A representative is added under the locks of guard_lock.c, so that of two
 *	 sessions with rows near each other one sees what the other has added.  If
 *	 the only representative near a row is not committed yet, our row joins it
 *	 all the same.  Its transaction may still be rolled back, so we add the same
 *	 representative, with the same id, once more as our own: a claim.  Nobody
 *	 else may have added one near it meanwhile.  So the claim is made under the
 *	 locks of the representative, and only if it is still there.
 *
 *	 For example, the distance is 3, and nothing is there.
 *
 *	 A	inserts 0: cluster 1, represented by 0
 *	 B	inserts 7: finds that; claims it, so that there are two rows (1, 0), one
 *		of either transaction; its own row is in cluster 1
 *	 A	rolls back: what B has added stays, and 63, three bits away from B's
 *		row but six from 0, starts a cluster whatever A does
 *
 * connected.  A row is looked up in its own table.  All rows within the
 * distance count: if they are in one cluster it joins that, if they are in
 * several these are merged, and the oldest id stays (guard_merge.c).  Here a row
 * has to wait for a transaction that has inserted a row near it, unless that is
 * in a cluster which it joins anyway.  A row that another transaction is about
 * to delete counts: it was there when ours arrived.
 *
 *	 The row may still not get in: INSERT ... ON CONFLICT may drop it, or another
 *	 trigger.  So what is near several clusters is noted when the trigger is
 *	 called BEFORE, and looked up once more and merged when it is called AFTER.
 *	 The note says which calls have to look at all; it decides nothing.
 *
 * Update.  A row whose fingerprint, group or, where it counts, document changes
 * is treated as if it were new.  Otherwise the column is what the statement
 * makes it.  An update may move a row to another partition, where it arrives as
 * if inserted; it is recognised, and keeps its cluster, and the locks under which
 * it was found until it is in.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "commands/sequence.h"
#include "executor/executor.h"
#include "rewrite/rewriteHandler.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* The id of a new cluster. */
static int64
new_cluster(const Guard *guard)
{
	return nextval_internal(guard->sequence, false);
}

/* Add a row to the table of the clusters, as COPY would. */
static void
add_representative(Relation clusters, TupleTableSlot *slot)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *result = makeNode(ResultRelInfo);

	InitResultRelInfo(result, clusters, 0, NULL, 0);
	ExecOpenIndices(result, false);
	ExecSimpleRelationInsert(result, estate, slot);
	ExecCloseIndices(result);
	FreeExecutorState(estate);
}

/* Set a column of a row that is being made. */
static void
set_value(TupleTableSlot *slot, AttrNumber column, Datum value)
{
	slot->tts_values[column - 1] = value;
	slot->tts_isnull[column - 1] = false;
}

/*
 * Begin a row for the table of the clusters: columns of the user's own have
 * their defaults.
 */
static void
set_defaults(Relation clusters, AttrNumber made, TupleTableSlot *slot,
			 EState *estate)
{
	TupleDesc	desc = RelationGetDescr(clusters);

	ExecStoreAllNullTuple(slot);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		Node	   *value = NULL;

		if (!column->attisdropped && !column->attgenerated &&
			!column->attidentity && i + 1 != made)
			value = build_column_default(clusters, i + 1);
		if (value != NULL)
			slot->tts_values[i] =
				ExecEvalExpr(ExecPrepareExpr((Expr *) value, estate),
							 GetPerTupleExprContext(estate),
							 &slot->tts_isnull[i]);
	}
}

/* Have the row represent a new cluster. */
static int64
start_star(const Guard *guard, const GuardSearch *search)
{
	const GuardTable *table = guard->own;
	Relation	clusters = table_open(guard->clusters, NoLock);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(clusters),
													&TTSOpsVirtual);
	EState	   *estate = CreateExecutorState();
	AttrNumber	made = simhash_guard_column(clusters, "made");
	int64		id = new_cluster(guard);

	set_defaults(clusters, made, slot, estate);
	set_value(slot, table->cluster, Int64GetDatum(id));
	set_value(slot, made,
			  TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()));
	set_value(slot, table->column, search->center_value);
	for (int i = 0; i < guard->statement->ngroup; i++)
		set_value(slot, table->group[i], guard->group_values[i]);
	if (guard->its_document != NULL)
		set_value(slot, table->document, PointerGetDatum(guard->its_document));
	add_representative(clusters, slot);
	FreeExecutorState(estate);
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, NoLock);
	return id;
}

/* Fetch a representative that is still there, committed or not. */
static bool
fetch_representative(Relation clusters, ItemPointer tid, TupleTableSlot *slot)
{
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	return table_tuple_fetch_row_version(clusters, tid, &dirty, slot);
}

/*
 * Add a representative that depends on another transaction as our own, unless
 * it is gone.  In its place may be another by now, so the search that comes next
 * decides.
 */
static void
claim(Guard *guard, GuardPending *pending)
{
	const GuardTable *table = guard->own;
	Relation	clusters = table_open(pending->table, NoLock);
	TupleTableSlot *slot = table_slot_create(clusters, NULL);
	int64		id;
	int64		claimed;

	simhash_guard_unlock(guard->statement);
	if (fetch_representative(clusters, &pending->tid, slot) &&
		simhash_guard_get_cluster(table, slot, &id))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, table->column, &isnull);
		GuardFingerprint fingerprint =
		simhash_guard_fingerprint(&guard->type, value);

		simhash_guard_lock(guard, &fingerprint);
		if (fetch_representative(clusters, &pending->tid, slot) &&
			simhash_guard_get_cluster(guard->own, slot, &claimed) &&
			claimed == id)
			add_representative(clusters, slot);
		simhash_guard_unlock(guard->statement);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, NoLock);
}

/* The cluster of a row: that of the nearest representative, or a new one. */
static int64
join_star(Guard *guard, GuardSearch *search)
{
	int64		id;

	for (;;)
	{
		simhash_guard_lock(guard, &search->center);
		simhash_guard_search(guard, search);
		if (search->match.slot != NULL || search->pending.distance < 0)
			break;
		claim(guard, &search->pending);
	}
	if (search->match.slot == NULL)
		id = start_star(guard, search);
	else
		(void) simhash_guard_get_cluster(guard->own, search->match.slot, &id);
	simhash_guard_forget_match(&search->match);
	simhash_guard_unlock(guard->statement);
	return id;
}

/*
 * Of the rows that others are inserting, the first that may be in a cluster
 * other than those which are joined; NULL if there is none.
 */
static GuardPending *
find_arrival(const Guard *guard, const GuardNeighbours *neighbours,
			 const GuardClusters *joined)
{
	ListCell   *lc;

	foreach(lc, neighbours->arrivals)
	{
		GuardArrival *arrival = lfirst(lc);
		GuardClusters its = {1, 1, &arrival->cluster};

		its = simhash_guard_current(guard->clusters, &its, GetLatestSnapshot());
		if (!simhash_guard_has_cluster(joined, its.ids[0]))
			return &arrival->pending;
	}
	return NULL;
}

/* The cluster of a row: the oldest of those near it, or a new one. */
static int64
join_connected(Guard *guard, GuardSearch *search)
{
	GuardClusters joined;
	int64		id;

	simhash_guard_begin_row(guard->statement);
	for (;;)
	{
		GuardNeighbours neighbours = {0};
		GuardPending *arrival;

		search->neighbours = &neighbours;
		simhash_guard_lock(guard, &search->center);
		simhash_guard_search(guard, search);
		joined = simhash_guard_current(guard->clusters, &neighbours.clusters,
									   GetLatestSnapshot());
		arrival = find_arrival(guard, &neighbours, &joined);
		if (arrival == NULL && !neighbours.changed)
			break;
		simhash_guard_unlock(guard->statement);
		if (arrival != NULL)
			simhash_guard_wait(arrival);
	}
	id = joined.n == 0 ? new_cluster(guard) : joined.ids[0];
	if (joined.n > 1)
		simhash_guard_note_merge(guard, search, id);
	return id;
}

/* Write a row's cluster into it, and when that was. */
static HeapTuple
set_cluster(const Guard *guard, Relation relation, HeapTuple row, int64 id,
			bool isnull)
{
	row = simhash_guard_set_column(row, relation, guard->cluster,
								   Int64GetDatum(id), isnull);
	if (guard->since != 0)
		row = simhash_guard_set_column(row, relation, guard->since,
									   TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()),
									   isnull);
	return row;
}

/*
 * Does a row stay in the cluster that it has?  An update may leave it there; or
 * it has one by the update that moved it here from another partition.
 */
static bool
stays(const Guard *guard, const GuardSearch *search, bool update, int64 id)
{
	const GuardMoved *moved = &guard->statement->moved;

	if (update)
		return search->need == GUARD_AS_BEFORE;
	return moved->valid && moved->cluster == id &&
		simhash_guard_has_moved(guard->statement) &&
		simhash_guard_is_as_moved(guard, search);
}

/* Keep in mind what an update has made of a row, lest it moves. */
static void
remember(Guard *guard, const TriggerData *data, const GuardSearch *search,
		 bool isnull, int64 id)
{
	simhash_guard_note_update(guard, data, search);
	guard->statement->moved.valid &= !isnull;
	guard->statement->moved.cluster = id;
}

/* The row with its cluster, or NULL in its stead. */
HeapTuple
simhash_guard_join(Guard *guard, TriggerData *data, GuardSearch *search,
				   HeapTuple row)
{
	Relation	relation = data->tg_relation;
	bool		update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	bool		isnull;
	Datum		value = heap_getattr(row, guard->cluster,
									 RelationGetDescr(relation), &isnull);
	int64		id = isnull ? 0 : DatumGetInt64(value);

	if (search->need == GUARD_NONE_NEAR)
	{
		simhash_guard_unlock(guard->statement);
		guard->statement->moved.valid = false;
		return set_cluster(guard, relation, row, 0, true);
	}
	if (isnull || !stays(guard, search, update, id))
	{
		simhash_guard_unlock(guard->statement);
		isnull = guard->later;
		if (!isnull)
			id = guard->action == GUARD_STAR ? join_star(guard, search) :
				join_connected(guard, search);
		row = set_cluster(guard, relation, row, id, isnull);
	}
	remember(guard, data, search, isnull, id);
	return row;
}

/* A row is in: if it is near several clusters, merge these. */
void
simhash_guard_merge_around(Guard *guard, TriggerData *data)
{
	GuardNeighbours neighbours = {0};
	GuardSearch search;
	HeapTuple	row = simhash_guard_take_row(guard, data, &search);
	bool		isnull;
	Datum		value = heap_getattr(row, guard->cluster,
									 RelationGetDescr(data->tg_relation),
									 &isnull);

	if (search.need == GUARD_NONE_NEAR || isnull ||
		!simhash_guard_is_noted(guard, &search, DatumGetInt64(value)))
		return;
	(void) simhash_guard_tables(guard);
	search.self = NULL;
	search.neighbours = &neighbours;
	simhash_guard_add_cluster(&neighbours.clusters, DatumGetInt64(value));

	/* Whoever is inserting a row near ours waits for us, and merges then. */
	do
	{
		neighbours.changed = false;
		simhash_guard_search(guard, &search);
	} while (neighbours.changed);
	simhash_guard_merge(guard->clusters, &neighbours.clusters);
}
