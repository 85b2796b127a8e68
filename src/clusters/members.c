/*-------------------------------------------------------------------------
 *
 * members.c
 *		Looks up which rows are in a cluster, for a trigger.
 *
 * The role that fires the trigger may have no right to read these rows.  So tables
 * are scanned, and no command is run: no code of other roles, such as a policy, comes
 * in between; and uncommitted changes of others are seen, at every isolation level,
 * without a conflict of serializable transactions.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

#include "catalog/partition.h"
#include "catalog/pg_inherits.h"

/*
 * Open an index whose first column that is; NULL if there is none.  Partial indexes
 * are taken only if the caller knows that their predicate holds for what it seeks.
 */
static Relation
open_index(Relation relation, AttrNumber column, bool partial)
{
	ListCell   *lc;

	if (column == 0)
		return NULL;
	foreach(lc, RelationGetIndexList(relation))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_rel->relam == BTREE_AM_OID && index->rd_index->indisvalid &&
			index->rd_index->indkey.values[0] == column &&
			(partial || RelationGetIndexPredicate(index) == NIL))
			return index;
		index_close(index, AccessShareLock);
	}
	return NULL;
}

/* Has a relation an index, without a condition, whose first column that is? */
bool
simhash_clusters_has_index(Relation relation, AttrNumber column)
{
	Relation	index = open_index(relation, column, false);

	if (index != NULL)
		index_close(index, AccessShareLock);
	return index != NULL;
}

/*
 * Begin to look up rows by a number in a column; false if no index serves.  With a
 * snapshot that is not MVCC the scan also finds rows that others have just written.
 */
bool
simhash_clusters_begin_scan(ClusterScan *scan, Relation relation,
							AttrNumber column, bool partial, Snapshot snapshot,
							StrategyNumber strategy, int64 value)
{
	scan->index = open_index(relation, column, partial);
	if (scan->index == NULL)
		return false;
	scan->slot = table_slot_create(relation, NULL);
	scan->scan = simhash_clusters_scan(relation, scan->index, snapshot, strategy,
									   value);
	return true;
}

/* The next row, in the slot of the scan; false if there is none. */
bool
simhash_clusters_next(ClusterScan *scan)
{
	return index_getnext_slot(scan->scan, ForwardScanDirection, scan->slot);
}

/* End it. */
void
simhash_clusters_end_scan(ClusterScan *scan)
{
	ExecDropSingleTupleTableSlot(scan->slot);
	index_endscan(scan->scan);
	index_close(scan->index, AccessShareLock);
}

/* A column of the root, or 0, in the root or a partition; 0 if it is not there. */
static AttrNumber
column_in(Oid table, const ClusterTerms *terms, AttrNumber column)
{
	return column == 0 ? 0 :
		get_attnum(table, get_attname(terms->root, column, false));
}

/*
 * Has the root or a partition a row of a cluster, committed or ours, and with that
 * document, if it is not NULL?  *any is set if it has any row of the cluster.  Where
 * the table is gone, or has left the root, or no index tells, both are assumed.
 */
bool
simhash_clusters_find_row(const ClusterTerms *terms, Oid table, int64 id,
						  text *document, bool *any)
{
	Relation	relation = try_table_open(table, AccessShareLock);
	ClusterScan scan;
	bool		found = false;

	if (relation != NULL && (table == terms->root ||
							 list_member_oid(get_partition_ancestors(table), terms->root)) &&
		simhash_clusters_begin_scan(&scan, relation,
									column_in(table, terms, terms->cluster), false,
									SnapshotSelf, BTEqualStrategyNumber, id))
	{
		NearDocument documents = {0};

		if (document != NULL)
			documents = simhash_clusters_bind_document(terms, relation);
		while (!found && simhash_clusters_next(&scan))
		{
			*any = true;
			found = document == NULL ||
				simhash_near_same_document(document,
										   simhash_near_get_document(&documents, scan.slot));
			if (documents.context != NULL)
				ResetExprContext(documents.context);
		}
		simhash_clusters_end_scan(&scan);
	}
	else
		found = *any = true;
	if (relation != NULL)
		table_close(relation, AccessShareLock);
	return found;
}

/* The tables that have rows of the root: itself or its partitions, locked. */
static List *
list_tables(const ClusterTerms *terms)
{
	Relation	root = table_open(terms->root, AccessShareLock);
	List	   *all = root->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
	find_all_inheritors(terms->root, AccessShareLock, NULL) :
	list_make1_oid(terms->root);
	List	   *tables = NIL;
	ListCell   *lc;

	foreach(lc, all)
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_RELATION)
			tables = lappend_oid(tables, lfirst_oid(lc));
	}
	table_close(root, NoLock);
	return tables;
}

/* Has the root any rows that others see, or we? */
bool
simhash_clusters_any_row(const ClusterTerms *terms)
{
	bool		any = false;
	ListCell   *lc;

	foreach(lc, list_tables(terms))
	{
		Relation	table = table_open(lfirst_oid(lc), NoLock);
		TupleTableSlot *slot = table_slot_create(table, NULL);
		TableScanDesc scan = simhash_table_beginscan(table, SnapshotSelf);

		any |= table_scan_getnextslot(scan, ForwardScanDirection, slot);
		table_endscan(scan);
		ExecDropSingleTupleTableSlot(slot);
		table_close(table, NoLock);
	}
	return any;
}

/*
 * The document of a row of a cluster, committed or ours: that of another transaction may
 * be lost with it.  NULL if there is none, or no index tells; it may drop tables.
 */
text	   *
simhash_clusters_any_document(const ClusterTerms *terms, int64 id)
{
	text	   *document = NULL;
	ListCell   *lc;

	foreach(lc, list_tables(terms))
	{
		Relation	table = try_relation_open(lfirst_oid(lc), NoLock);
		ClusterScan scan;

		if (document == NULL && table != NULL &&
			simhash_clusters_begin_scan(&scan, table,
										column_in(lfirst_oid(lc), terms, terms->cluster), false,
										SnapshotSelf, BTEqualStrategyNumber, id))
		{
			NearDocument documents = simhash_clusters_bind_document(terms, table);

			while (document == NULL && simhash_clusters_next(&scan))
			{
				document = simhash_near_get_document(&documents, scan.slot);
				if (document != NULL)
					document = DatumGetTextPCopy(PointerGetDatum(document));
			}
			simhash_clusters_end_scan(&scan);
		}
		if (table != NULL)
			table_close(table, NoLock);
	}
	return document;
}

/* The greatest cluster in a column of a table that others see or we; or 0. */
static int64
find_greatest(Relation table, AttrNumber column)
{
	int64		greatest = 0;
	ClusterScan scan;
	bool		isnull;

	if (simhash_clusters_begin_scan(&scan, table, column, false, SnapshotSelf,
									BTGreaterStrategyNumber, 0))
	{
		bool		falling = (scan.index->rd_indoption[0] & INDOPTION_DESC) != 0;

		if (index_getnext_slot(scan.scan, falling ? ForwardScanDirection :
							   BackwardScanDirection, scan.slot))
		{
			Datum		value = slot_getattr(scan.slot, column, &isnull);

			if (!isnull)
				greatest = DatumGetInt64(value);
		}
		simhash_clusters_end_scan(&scan);
	}
	else if (column != 0)
	{
		TupleTableSlot *slot = table_slot_create(table, NULL);
		TableScanDesc all = simhash_table_beginscan(table, SnapshotSelf);

		while (table_scan_getnextslot(all, ForwardScanDirection, slot))
		{
			Datum		value = slot_getattr(slot, column, &isnull);

			CHECK_FOR_INTERRUPTS();
			if (!isnull)
				greatest = Max(greatest, DatumGetInt64(value));
		}
		table_endscan(all);
		ExecDropSingleTupleTableSlot(slot);
	}
	return greatest;
}

/* The greatest id of any cluster, in the open table of the clusters or the root. */
int64
simhash_clusters_greatest(const ClusterTerms *terms, Relation clusters)
{
	int64		greatest = find_greatest(clusters, terms->columns[CLUSTER_ID]);
	ListCell   *lc;

	foreach(lc, list_tables(terms))
	{
		Relation	table = table_open(lfirst_oid(lc), NoLock);

		greatest = Max(greatest, find_greatest(table, column_in(lfirst_oid(lc), terms,
																terms->cluster)));
		table_close(table, NoLock);
	}
	return greatest;
}
