/*-------------------------------------------------------------------------
 *
 * texts.c
 *		No text outlives its row: what represents a cluster has the document of
 *		the row that it was made for, and loses it when that is deleted or
 *		changed.
 *
 * From then on rows are compared with a row that is in the cluster, in its stead
 * (members.c).  Who deletes a row waits for another who deletes one of the same text,
 * and cluster: that may be rolled back, and the text be there again.
 *
 * Rows that go without a trigger, with a partition that is dropped or emptied, are
 * seen to by simhash_trim_clusters().
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/texts.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

#include "clusters/members.h"
#include "clusters/table.h"

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
	changed = MakeSingleTupleTableSlot(RelationGetDescr(clusters),
									   &TTSOpsVirtual);
	ExecCopySlot(changed, slot);
	changed->tts_isnull[terms->document - 1] = true;
	simhash_update_row(clusters, slot, changed);
	ExecDropSingleTupleTableSlot(changed);
}

/* Take the document from rows that an index finds by a value. */
static void
take_from(const ClusterTerms *terms, Relation clusters, Relation index,
		  int64 id, text *document)
{
	TupleTableSlot *slot = table_slot_create(clusters, NULL);
	TupleTableSlot *found = table_slot_create(clusters, NULL);
	List	   *rows = NIL;
	SnapshotData dirty;
	IndexScanDesc scan;
	ScanKeyData key;
	ListCell   *lc;

	InitDirtySnapshot(dirty);
	scan = simhash_index_beginscan(clusters, index, &dirty, 1);
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(id));
	index_rescan(scan, &key, 1, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, terms->document, &isnull);

		if (!isnull &&
			simhash_guard_same_document((text *) DatumGetPointer(value), document))
			rows = lappend(rows, memcpy(palloc(sizeof slot->tts_tid),
										&slot->tts_tid, sizeof slot->tts_tid));
	}
	index_endscan(scan);
	foreach(lc, rows)
	{
		if (simhash_clusters_fetch(clusters, lfirst(lc), found))
			simhash_clusters_take_document(terms, clusters, found);
	}
	ExecDropSingleTupleTableSlot(found);
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * A row of a cluster is not there any more, or has another document: take that from
 * what represents the cluster.
 */
void
simhash_clusters_take_text(const ClusterTerms *terms, int64 id, text *document)
{
	Relation	clusters;
	Relation	key;
	Relation	copies;

	LockRelationOid(terms->clusters, RowExclusiveLock);
	clusters = simhash_clusters_open(terms);
	key = simhash_clusters_open_key(terms, clusters);
	copies = simhash_clusters_open_index(clusters,
										 terms->columns[CLUSTER_COPY_OF], true);
	(void) simhash_clusters_searched(terms, clusters);
	take_from(terms, clusters, key, id, document);
	if (copies != NULL)
	{
		take_from(terms, clusters, copies, id, document);
		index_close(copies, AccessShareLock);
	}
	index_close(key, AccessShareLock);
	table_close(clusters, AccessShareLock);
}
