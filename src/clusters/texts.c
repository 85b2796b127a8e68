/*-------------------------------------------------------------------------
 *
 * texts.c
 *		No text outlives its row: a representative has the document of the row that
 *		it was made for, and loses it when that row is deleted or changed.
 *
 * From then on new rows are compared with a row of the cluster instead (members.c).
 * A session that deletes a row waits for another that deletes a row of the same text
 * and cluster: the other may roll back, and its row keeps the text then.
 *
 * Rows that go without a trigger, with a partition that is dropped or emptied, are
 * seen to by simhash_trim_clusters().
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

/*
 * Take the document from a row of the table of the clusters, which is in a slot, or
 * from what others have made of it.
 */
void
simhash_clusters_take_document(const ClusterTerms *terms, Relation clusters,
							   TupleTableSlot *slot)
{
	ItemPointerData tid = slot->tts_tid;
	TupleTableSlot *changed;
	TM_FailureData failure;

	if (table_tuple_lock(clusters, &tid, GetLatestSnapshot(), slot,
						 GetCurrentCommandId(true), LockTupleNoKeyExclusive,
						 LockWaitBlock, TUPLE_LOCK_FLAG_FIND_LAST_VERSION,
						 &failure) != TM_Ok)
		return;
	changed = simhash_clusters_copy_row(clusters, slot);
	changed->tts_isnull[terms->document - 1] = true;
	simhash_update_row(clusters, slot, changed);
	ExecDropSingleTupleTableSlot(changed);
}

/* Take a document, or any, from rows of the table of the clusters that have a number. */
static void
take_from(const ClusterTerms *terms, Relation clusters,
		  const NearDocument *kept, AttrNumber column, int64 id,
		  text *document)
{
	TupleTableSlot *slot = table_slot_create(clusters, NULL);
	List	   *rows = NIL;
	SnapshotData dirty;
	ClusterScan scan;
	ListCell   *lc;

	InitDirtySnapshot(dirty);
	if (simhash_clusters_begin_scan(&scan, clusters, column, true, &dirty,
									BTEqualStrategyNumber, id))
	{
		while (simhash_clusters_next(&scan))
		{
			/* If any is taken, from rows that have one. */
			if ((document == NULL) != simhash_near_same_document(simhash_near_get_document(kept, scan.slot), document))
				rows = lappend(rows, memcpy(palloc(sizeof(ItemPointerData)),
											&scan.slot->tts_tid, sizeof(ItemPointerData)));
		}
		simhash_clusters_end_scan(&scan);
	}
	foreach(lc, rows)
	{
		if (simhash_clusters_fetch(clusters, lfirst(lc), slot))
			simhash_clusters_take_document(terms, clusters, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * A row of a cluster is not there any more, or has another document: take that, or
 * any if it is NULL, from what represents the cluster.
 */
void
simhash_clusters_take_text(const ClusterTerms *terms, int64 id, text *document)
{
	Relation	clusters;
	NearTerms	searched;
	NearDocument kept;

	LockRelationOid(terms->clusters, RowExclusiveLock);
	clusters = simhash_clusters_open(terms);
	index_close(simhash_clusters_open_key(terms, clusters), AccessShareLock);
	searched = simhash_clusters_searched(terms, clusters);
	kept = simhash_near_bind_document(clusters, &searched);
	take_from(terms, clusters, &kept, terms->columns[CLUSTER_ID], id, document);
	take_from(terms, clusters, &kept, terms->columns[CLUSTER_COPY_OF], id, document);
	table_close(clusters, AccessShareLock);
}
