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

#include "catalog/pg_am.h"
#include "catalog/pg_inherits.h"
#include "parser/parse_coerce.h"

/*
 * Is a column of that type, or binary coercible to it?  A deed that was written by
 * hand may name any column, and the table may have been altered since.
 */
static bool
is_of_type(Relation relation, AttrNumber column, Oid type)
{
	return column > 0 && column <= RelationGetNumberOfAttributes(relation) &&
		IsBinaryCoercible(TupleDescAttr(RelationGetDescr(relation), column - 1)->atttypid,
						  type);
}

/*
 * Open an index whose first column that is; NULL if there is none.  Partial indexes
 * are taken only if the caller knows that their predicate holds for what it seeks.
 */
static Relation
open_index(Relation relation, AttrNumber column, bool partial)
{
	ListCell   *lc;

	if (!is_of_type(relation, column, INT8OID))
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

/* The text in a column of the row found, which may be NULL. */
static text *
get_document(const ClusterScan *scan, AttrNumber column)
{
	bool		isnull;
	Datum		value = slot_getattr(scan->slot, column, &isnull);

	return isnull ? NULL : (text *) DatumGetPointer(value);
}

/*
 * Has a table a row of a cluster, committed or ours, and with that document, if it is
 * not NULL, in the column "its"?  *any is set if it has any row of the cluster.  Where
 * no index tells, both are assumed.
 */
bool
simhash_clusters_find_row(Relation relation, AttrNumber column, int64 id,
						  text *document, AttrNumber its, bool *any)
{
	ClusterScan scan;
	bool		found = false;

	if (!simhash_clusters_begin_scan(&scan, relation, column, false, SnapshotSelf,
									 BTEqualStrategyNumber, id))
	{
		*any = true;
		return true;
	}
	if (!is_of_type(relation, its, TEXTOID))
		its = 0;
	while (!found && simhash_clusters_next(&scan))
	{
		text	   *other = its == 0 ? NULL : get_document(&scan, its);

		*any = true;
		found = document == NULL ||
			(other != NULL && simhash_guard_same_document(document, other));
	}
	simhash_clusters_end_scan(&scan);
	return found;
}

/* A question about all rows of the root, and the answer so far. */
typedef struct MemberQuestion
{
	const ClusterTerms *terms;
	int64		id;				/* of the cluster that it is about */
	bool		any;
	text	   *document;
	int64		greatest;
} MemberQuestion;

/*
 * Looks into one table, the root or a partition, for the answer; the numbers are
 * those of its columns.
 */
typedef void (*MemberVisitor) (MemberQuestion *question, Relation table,
							   AttrNumber cluster, AttrNumber document);

/* Look into all tables that have rows of the root. */
static void
visit_tables(MemberQuestion *question, MemberVisitor visit)
{
	const ClusterTerms *terms = question->terms;
	Relation	root = table_open(terms->root, AccessShareLock);
	List	   *tables = root->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
	find_all_inheritors(terms->root, AccessShareLock, NULL) :
	list_make1_oid(terms->root);
	ListCell   *lc;

	foreach(lc, tables)
	{
		Relation	table = table_open(lfirst_oid(lc), AccessShareLock);

		if (table->rd_rel->relkind == RELKIND_RELATION)
		{
			AttrMap    *map = simhash_map_columns(RelationGetDescr(root),
												  RelationGetDescr(table));

			visit(question, table, map->attnums[terms->cluster - 1],
				  terms->terms.document == 0 ? 0 :
				  map->attnums[terms->terms.document - 1]);
			free_attrmap(map);
		}
		table_close(table, NoLock);
	}
	table_close(root, NoLock);
}

/* Has a table a row that others see, or we? */
static void
ask_for_row(MemberQuestion *question, Relation table, AttrNumber cluster,
			AttrNumber document)
{
	TupleTableSlot *slot = table_slot_create(table, NULL);
	TableScanDesc scan = simhash_table_beginscan(table, SnapshotSelf);

	(void) cluster;
	(void) document;
	question->any = question->any ||
		table_scan_getnextslot(scan, ForwardScanDirection, slot);
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
}

/* The document of a row of the cluster in a table. */
static void
ask_for_document(MemberQuestion *question, Relation table, AttrNumber cluster,
				 AttrNumber document)
{
	SnapshotData dirty;
	ClusterScan scan;

	InitDirtySnapshot(dirty);
	if (question->document != NULL || !is_of_type(table, document, TEXTOID) ||
		!simhash_clusters_begin_scan(&scan, table, cluster, false, &dirty,
									 BTEqualStrategyNumber, question->id))
		return;
	while (question->document == NULL && simhash_clusters_next(&scan))
	{
		text	   *its = get_document(&scan, document);

		if (its != NULL)
			question->document = DatumGetTextPCopy(PointerGetDatum(its));
	}
	simhash_clusters_end_scan(&scan);
}

/* The greatest cluster of any row of a table that others see or we. */
static void
ask_for_greatest(MemberQuestion *question, Relation table, AttrNumber cluster,
				 AttrNumber document)
{
	ClusterScan scan;
	bool		isnull = true;
	Datum		value = (Datum) 0;

	(void) document;
	if (simhash_clusters_begin_scan(&scan, table, cluster, false, SnapshotSelf,
									BTGreaterStrategyNumber, 0))
	{
		bool		falling = (scan.index->rd_indoption[0] & INDOPTION_DESC) != 0;

		if (index_getnext_slot(scan.scan, falling ? ForwardScanDirection :
							   BackwardScanDirection, scan.slot))
			value = slot_getattr(scan.slot, cluster, &isnull);
		if (!isnull)
			question->greatest = Max(question->greatest, DatumGetInt64(value));
		simhash_clusters_end_scan(&scan);
	}
	else if (is_of_type(table, cluster, INT8OID))
	{
		TupleTableSlot *slot = table_slot_create(table, NULL);
		TableScanDesc all = simhash_table_beginscan(table, SnapshotSelf);

		while (table_scan_getnextslot(all, ForwardScanDirection, slot))
		{
			CHECK_FOR_INTERRUPTS();
			value = slot_getattr(slot, cluster, &isnull);
			if (!isnull)
				question->greatest = Max(question->greatest, DatumGetInt64(value));
		}
		table_endscan(all);
		ExecDropSingleTupleTableSlot(slot);
	}
}

/* Has the root any rows? */
bool
simhash_clusters_any_row(const ClusterTerms *terms)
{
	MemberQuestion question = {.terms = terms};

	visit_tables(&question, ask_for_row);
	return question.any;
}

/* The document of a row of a cluster, or NULL if no index tells. */
text	   *
simhash_clusters_any_document(const ClusterTerms *terms, int64 id)
{
	MemberQuestion question = {.terms = terms,.id = id};

	visit_tables(&question, ask_for_document);
	return question.document;
}

/* The greatest id of any cluster, in the open table of the clusters or the root. */
int64
simhash_clusters_greatest(const ClusterTerms *terms, Relation clusters)
{
	MemberQuestion question = {.terms = terms};

	ask_for_greatest(&question, clusters, terms->columns[CLUSTER_ID], 0);
	visit_tables(&question, ask_for_greatest);
	return question.greatest;
}
