/*-------------------------------------------------------------------------
 *
 * star.c
 *		Clusters of the kind star: a row joins the cluster of the nearest
 *		representative, or becomes the representative of a new one.
 *
 * The table of the clusters has the representative of each cluster: its fingerprint,
 * its group and, if documents are compared, its document.  A row is looked up there,
 * not in its own table, and joins the nearest representative within the distance.  If
 * there is none it becomes one.  Representatives do not change, so neither does the
 * cluster of a row.
 *
 *	 Guarantee.  No two representatives of a group are near each other, and
 *	 nobody waits for another's transaction, at any isolation level.
 *
 * A representative is added under the locks of near_lock.c, so that of two sessions
 * with rows near each other one sees what the other has added.  If the only
 * representative near a row is not committed yet, our row joins it all the same.  Its
 * transaction may still be rolled back, so we add a copy of it as our own: a row with
 * a negative number, so that no id is given twice, which says what cluster it is a
 * copy of.  Nobody else may have added a representative near it meanwhile: the copy is
 * made under the locks of the original, and only if that is still there.
 *
 * For example, the distance is 3, and nothing is there.
 *
 *	 A	inserts 0: cluster 1, represented by 0
 *	 B	inserts 7: finds that; adds -2, a copy of 1; its own row is in cluster 1
 *	 A	rolls back: the copy stays, and 63, three bits away from B's row but six
 *		from 0, starts a cluster whatever A does
 *
 * The same is done with a representative that simhash_trim_clusters() is about to
 * delete (trim.c).  Where a copy is left of an original that is gone, the next row near
 * it adds the original again, under its id; without a text, as that of the row may be
 * near another representative as well.
 *
 * What has been added for a row that did not get in, as ON CONFLICT or another trigger
 * left it out, is taken back as the statement ends: then the server calls the trigger
 * AFTER INSERT of the table of the clusters.  Another session may make a copy at that
 * moment.  So who takes back looks for copies after it has deleted the original, and
 * puts that back, without its text, if there are any; who copies looks once more for
 * the original after the copy is in.  Whoever comes second notices the other.
 *
 * A text goes with its row (texts.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

/* Have a row that is being made have in a column what another has. */
static void
copy_value(TupleTableSlot *slot, TupleTableSlot *from, AttrNumber column)
{
	slot->tts_values[column - 1] =
		slot_getattr(from, column, &slot->tts_isnull[column - 1]);
}

/*
 * Add a row of that number to the table of the clusters: our row represents a new
 * cluster; or, for the rows of our transaction to depend on, the representative in a
 * slot is copied, or added again.  Returns where the row is.  The document of a copy is
 * that of our row, and goes with it: the other may be that of a row which is never
 * committed.
 */
static ItemPointerData
add_representative(const ClusterTrigger *trigger, int64 number, TupleTableSlot *original)
{
	const ClusterTerms *terms = trigger->terms;
	const NearSearch *search = &trigger->near.search;
	Relation	clusters = simhash_clusters_open(terms);
	TupleTableSlot *slot = simhash_clusters_begin_row(terms, clusters, number);
	ItemPointerData tid;

	if (original != NULL)
	{
		if (number < 0)
			simhash_clusters_set(slot, terms->columns[CLUSTER_COPY_OF],
								 Int64GetDatum(simhash_clusters_of(terms, original)));
		copy_value(slot, original, terms->columns[CLUSTER_MADE]);
		copy_value(slot, original, terms->fingerprint);
		for (int i = 0; i < terms->terms.ngroup; i++)
			copy_value(slot, original, terms->group[i]);
	}
	else
	{
		simhash_clusters_set(slot, terms->columns[CLUSTER_MADE],
							 TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()));
		simhash_clusters_set(slot, terms->fingerprint, search->center_value);
		for (int i = 0; i < terms->terms.ngroup; i++)
			simhash_clusters_set(slot, terms->group[i], search->group[i]);
	}
	if (search->document != NULL && (original == NULL || number < 0))
		simhash_clusters_set(slot, terms->document,
							 simhash_near_document_value(&trigger->near.stored,
														 search->document));
	simhash_clusters_insert(clusters, slot);
	tid = slot->tts_tid;
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, NoLock);
	return tid;
}

/* Is a copy in the slot, and nothing there that it is a copy of, nor about to be? */
static bool
is_alone(const ClusterTerms *terms, Relation clusters, TupleTableSlot *slot)
{
	return simhash_clusters_number(terms, slot, CLUSTER_ID) < 0 &&
		!simhash_clusters_is_there(terms, clusters, simhash_clusters_of(terms, slot));
}

/*
 * Add a copy of the representative in the slot, or what that is a copy of and is gone.
 * If the representative is taken back meanwhile, the copy goes again, and false is
 * returned.
 */
static bool
copy_representative(ClusterTrigger *trigger, Relation clusters, TupleTableSlot *slot)
{
	int64		id = simhash_clusters_of(trigger->terms, slot);
	int64		number = is_alone(trigger->terms, clusters, slot) ? id :
	simhash_clusters_new(trigger->terms, true);
	ItemPointerData tid = slot->tts_tid;
	ItemPointerData copy = add_representative(trigger, number, slot);

	if (simhash_clusters_fetch(clusters, &tid, slot))
	{
		simhash_clusters_note_row(trigger, id, number);
		return true;
	}
	CommandCounterIncrement();
	simhash_clusters_delete(clusters, &copy);
	return false;
}

/*
 * Make sure of a representative that may be rolled back or trimmed, or is a copy of
 * none, unless it is gone already.  Returns its cluster, or 0.  Another representative
 * may have taken its place by now, so the caller searches again.
 */
static int64
claim(ClusterTrigger *trigger, ItemPointerData tid)
{
	const ClusterTerms *terms = trigger->terms;
	NearTrigger *near = &trigger->near;
	Relation	clusters = simhash_clusters_open(terms);
	TupleTableSlot *slot = table_slot_create(clusters, NULL);
	int64		claimed = 0;

	simhash_near_unlock(&near->statement->locks);
	if (simhash_clusters_fetch(clusters, &tid, slot))
	{
		bool		isnull;
		int64		id = simhash_clusters_of(terms, slot);
		Datum		value = slot_getattr(slot, terms->fingerprint, &isnull);
		NearFingerprint fingerprint =
		simhash_near_fingerprint(&near->terms.type, value);

		simhash_near_enter(near, &fingerprint);
		if (simhash_clusters_fetch(clusters, &tid, slot) &&
			simhash_clusters_of(terms, slot) == id &&
			copy_representative(trigger, clusters, slot))
			claimed = id;
		simhash_near_unlock(&near->statement->locks);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, NoLock);
	return claimed;
}

/* Does a snapshot see a copy of a representative, or one that has no mark? */
static bool
has_copy(const ClusterTerms *terms, Relation clusters, int64 cluster, Snapshot snapshot,
		 bool unmarked)
{
	ClusterScan scan;
	bool		found = false;

	if (!simhash_clusters_begin_scan(&scan, clusters, terms->columns[CLUSTER_COPY_OF],
									 true, snapshot, BTEqualStrategyNumber, cluster))
		return false;
	while (!found && simhash_clusters_next(&scan))
		found = !unmarked ||
			slot_attisnull(scan.slot, terms->columns[CLUSTER_UNUSED_SINCE]);
	simhash_clusters_end_scan(&scan);
	return found;
}

/*
 * Is a representative that was found to be made sure of, as it is a copy of none, or
 * may be trimmed before our row is in?  It may not if there is a copy of it besides
 * that others may not trim either: one that is committed, or ours, and has no mark.
 */
static bool
is_unsure(const ClusterTerms *terms, TupleTableSlot *slot)
{
	bool		marked = !slot_attisnull(slot, terms->columns[CLUSTER_UNUSED_SINCE]);
	Relation	clusters;
	bool		unsure;

	/* Most are neither. */
	if (!marked && simhash_clusters_number(terms, slot, CLUSTER_ID) > 0)
		return false;
	clusters = simhash_clusters_open(terms);
	unsure = is_alone(terms, clusters, slot) ||
		(marked && !has_copy(terms, clusters, simhash_clusters_of(terms, slot),
							 SnapshotSelf, true));
	table_close(clusters, NoLock);
	return unsure;
}

/* What a representative without a document is compared by: a row of its cluster. */
static text *
stand_in(void *visitor, TupleTableSlot *slot)
{
	const ClusterTerms *terms = ((ClusterTrigger *) visitor)->terms;

	return simhash_clusters_any_document(terms,
										 simhash_clusters_of(terms, slot));
}

/* The cluster of a row: that of the nearest representative, or a new one. */
int64
simhash_clusters_join_star(ClusterTrigger *trigger)
{
	NearTrigger *near = &trigger->near;
	NearSearch *search = &near->search;
	TupleTableSlot *slot;
	int64		claimed = 0;
	int64		id;

	search->visit = NULL;
	search->stand_in = stand_in;
	search->visitor = trigger;
	for (;;)
	{
		simhash_near_enter(near, &search->center);
		simhash_near_search(search, near->place.scope);
		slot = search->match.slot;
		id = slot == NULL ? 0 : simhash_clusters_of(trigger->terms, slot);
		if (slot == NULL && search->pending.distance >= 0)
			claimed = claim(trigger, search->pending.tid);
		else if (slot != NULL && id != claimed && is_unsure(trigger->terms, slot))
			claimed = claim(trigger, slot->tts_tid);
		else
			break;
		simhash_near_forget_match(search);
	}
	if (slot == NULL)
	{
		id = simhash_clusters_new(trigger->terms, false);
		(void) add_representative(trigger, id, NULL);
	}
	simhash_clusters_note_row(trigger, id, slot == NULL ? id : 0);
	simhash_near_forget_match(search);
	simhash_near_unlock(&near->statement->locks);
	return id;
}

/* Is a row in a cluster, in one of the tables, and one of them with that document? */
static bool
find_rows(const ClusterTerms *terms, const List *tables, int64 cluster, text *document,
		  bool *any)
{
	bool		found = false;
	ListCell   *lc;

	*any = false;
	foreach(lc, tables)
		found |= simhash_clusters_find_row(terms, lfirst_oid(lc), cluster, document, any);
	return found;
}

/*
 * Take back a representative that no row of the tables needs, or its document.  It may
 * be gone, or have lost its document with a row.
 */
static void
take_back(const ClusterTerms *terms, int64 cluster, int64 number, const List *tables)
{
	Relation	clusters = simhash_clusters_open(terms);
	NearTerms	searched = simhash_clusters_searched(terms, clusters);
	NearDocument kept = simhash_near_bind_document(clusters, &searched);
	Relation	key = simhash_clusters_open_key(terms, clusters);
	TupleTableSlot *slot = table_slot_create(clusters, NULL);
	SnapshotData dirty;

	/* The statement itself has added it. */
	CommandCounterIncrement();
	if (simhash_clusters_find_number(clusters, key, SnapshotSelf, number, slot) &&
		simhash_clusters_of(terms, slot) == cluster)
	{
		bool		any;
		bool		found = find_rows(terms, tables, cluster,
									  simhash_near_get_document(&kept, slot), &any);

		if (!any)
		{
			TupleTableSlot *bare = simhash_clusters_copy_row(clusters, slot);

			simhash_clusters_delete(clusters, &slot->tts_tid);
			if (terms->document != 0)
				bare->tts_isnull[terms->document - 1] = true;
			InitDirtySnapshot(dirty);
			if (number > 0 && has_copy(terms, clusters, cluster, &dirty, false))
				simhash_clusters_insert(clusters, bare);
			ExecDropSingleTupleTableSlot(bare);
		}
		else if (!found)
			simhash_clusters_take_document(terms, clusters, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
	index_close(key, AccessShareLock);
	table_close(clusters, NoLock);
}

/*
 * A row of the table of the clusters has been inserted, by a statement that is at its
 * end: see whether the row is there that it was added for.
 */
void
simhash_clusters_see_start(FunctionCallInfo fcinfo)
{
	const TriggerData *data = (TriggerData *) fcinfo->context;
	Oid			table = RelationGetRelid(data->tg_relation);
	ClusterTerms *terms = fcinfo->flinfo->fn_extra;
	List	   *tables;
	int64		cluster;
	int64		number;
	bool		any;

	if (terms == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);

		fcinfo->flinfo->fn_extra = terms = simhash_clusters_read(table);
		MemoryContextSwitchTo(old);
	}
	if (terms == NULL || !terms->star)
		simhash_clusters_complain(table);
	cluster = simhash_clusters_of(terms, data->tg_trigslot);
	number = simhash_clusters_number(terms, data->tg_trigslot, CLUSTER_ID);
	tables = simhash_clusters_forget_start(table, cluster, number);

	/* Most have rows, and no document. */
	if (tables != NIL &&
		(terms->document != 0 || !find_rows(terms, tables, cluster, NULL, &any)))
		take_back(terms, cluster, number, tables);
}
