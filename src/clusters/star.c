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
 * A representative is added under the locks of guard_lock.c, so that of two sessions
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
 * delete (trim.c).  What has been added for a row that did not get in is taken back as
 * the transaction ends (xact.c), and a text goes with its row (texts.c).
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
 * Have our row represent a new cluster, whose id is returned; or add a copy of the
 * representative in a slot, for the rows of our transaction to depend on, and return
 * its number.  The document of a copy is that of our row, and goes with it: the other
 * may be that of a row which is never committed.
 */
static int64
add_representative(const ClusterTrigger *its, TupleTableSlot *original)
{
	const ClusterTerms *terms = its->terms;
	const GuardSearch *search = &its->guard.search;
	Relation	clusters = simhash_clusters_open(terms);
	int64		number = simhash_clusters_new(terms, original != NULL);
	TupleTableSlot *slot = simhash_clusters_begin_row(terms, clusters, number);

	if (original != NULL)
	{
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
	if (search->document != NULL)
		simhash_clusters_set(slot, terms->document,
							 simhash_guard_document_value(&its->guard.stored,
														  search->document));
	simhash_clusters_insert(clusters, slot);
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, NoLock);
	return number;
}

/*
 * Add a copy of a representative that may be rolled back or trimmed, unless it is gone
 * already.  Returns its cluster, or 0 if there is no copy.  Another representative may
 * have taken its place by now, so the caller searches again.
 */
static int64
claim(ClusterTrigger *its, ItemPointerData tid)
{
	Guard	   *guard = &its->guard;
	Relation	clusters = simhash_clusters_open(its->terms);
	TupleTableSlot *slot = table_slot_create(clusters, NULL);
	int64		claimed = 0;

	simhash_guard_unlock(&guard->statement->locks);
	if (simhash_clusters_fetch(clusters, &tid, slot))
	{
		bool		isnull;
		int64		id = simhash_clusters_of(its->terms, slot);
		Datum		value = slot_getattr(slot, its->terms->fingerprint, &isnull);
		GuardFingerprint fingerprint =
		simhash_guard_fingerprint(&guard->terms.type, value);

		simhash_guard_enter(guard, &fingerprint);
		if (simhash_clusters_fetch(clusters, &tid, slot) &&
			simhash_clusters_of(its->terms, slot) == id)
		{
			simhash_clusters_note_row(its, id, add_representative(its, slot));
			claimed = id;
		}
		simhash_guard_unlock(&guard->statement->locks);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, NoLock);
	return claimed;
}

/*
 * May a representative that was found be trimmed before our row is in?  Not if there
 * is a copy of it besides that others may not trim either: one that is committed, or
 * ours, and has no mark.
 */
static bool
is_unused(const ClusterTrigger *its, TupleTableSlot *slot)
{
	const ClusterTerms *terms = its->terms;
	Relation	clusters;
	ClusterScan scan;
	bool		unmarked;

	(void) slot_getattr(slot, terms->columns[CLUSTER_UNUSED_SINCE], &unmarked);
	if (unmarked)
		return false;
	clusters = simhash_clusters_open(terms);
	if (simhash_clusters_begin_scan(&scan, clusters,
									terms->columns[CLUSTER_COPY_OF], true,
									SnapshotSelf, BTEqualStrategyNumber,
									simhash_clusters_of(terms, slot)))
	{
		while (!unmarked && simhash_clusters_next(&scan))
			(void) slot_getattr(scan.slot, terms->columns[CLUSTER_UNUSED_SINCE],
								&unmarked);
		simhash_clusters_end_scan(&scan);
	}
	table_close(clusters, NoLock);
	return !unmarked;
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
simhash_clusters_join_star(ClusterTrigger *its)
{
	Guard	   *guard = &its->guard;
	GuardSearch *search = &guard->search;
	TupleTableSlot *slot;
	int64		claimed = 0;
	int64		id;

	search->visit = NULL;
	search->stand_in = stand_in;
	search->visitor = its;
	for (;;)
	{
		simhash_guard_enter(guard, &search->center);
		simhash_guard_search(search, guard->place.scope);
		slot = search->match.slot;
		id = slot == NULL ? 0 : simhash_clusters_of(its->terms, slot);
		if (slot == NULL && search->pending.distance >= 0)
			claimed = claim(its, search->pending.tid);
		else if (slot != NULL && id != claimed && is_unused(its, slot))
			claimed = claim(its, slot->tts_tid);
		else
			break;
		simhash_guard_forget_match(search);
	}
	if (slot == NULL)
		id = add_representative(its, NULL);
	simhash_clusters_note_row(its, id, slot == NULL ? id : 0);
	simhash_guard_forget_match(search);
	simhash_guard_unlock(&guard->statement->locks);
	return id;
}
