/*-------------------------------------------------------------------------
 *
 * members.c
 *		Rows that are in clusters, as a trigger looks them up for whoever writes.
 *
 * He need have no rights to read them.  So tables are scanned, and no command is
 * run: nothing that somebody else has written comes in between, and what others are
 * about to do is seen, at every isolation level, without a conflict of serializable
 * transactions.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/members.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/*
 * Is a column of that type, or taken for it?  A deed that was written by hand may
 * name any, and the table may have been altered since it was bound.
 */
static bool
is_of_type(Relation relation, AttrNumber column, Oid type)
{
	return column > 0 && column <= RelationGetNumberOfAttributes(relation) &&
		IsBinaryCoercible(TupleDescAttr(RelationGetDescr(relation), column - 1)->atttypid,
						  type);
}

/*
 * Open an index whose first column that is, or return NULL.  One with a condition
 * will do if it is known to hold of what is sought.
 */
Relation
simhash_clusters_open_index(Relation relation, AttrNumber column, bool partial)
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

/*
 * Begin to look up rows of a cluster; NULL where no index tells.  A snapshot that is
 * not MVCC shows them whoever has written them.
 */
static IndexScanDesc
begin_scan(Relation relation, AttrNumber column, Snapshot snapshot,
		   StrategyNumber strategy, int64 id)
{
	Relation	index = simhash_clusters_open_index(relation, column, false);
	IndexScanDesc scan;
	ScanKeyData key;

	if (index == NULL)
		return NULL;
	scan = simhash_index_beginscan(relation, index, snapshot, 1);
	ScanKeyInit(&key, 1, strategy,
				strategy == BTEqualStrategyNumber ? F_INT8EQ : F_INT8GT,
				Int64GetDatum(id));
	index_rescan(scan, &key, 1, NULL, 0);
	return scan;
}

/* End it. */
static void
end_scan(IndexScanDesc scan)
{
	Relation	index = scan->indexRelation;

	index_endscan(scan);
	index_close(index, AccessShareLock);
}

/*
 * Is a row of a cluster in a table, whether others see it or not, and one with that
 * document, in that column, if it is not NULL?  Whether any is, is returned besides.
 * Both are taken for granted where no index tells.
 */
bool
simhash_clusters_find_row(Relation relation, AttrNumber column, int64 id,
						  text *document, AttrNumber its, bool *any)
{
	IndexScanDesc scan = begin_scan(relation, column, SnapshotSelf,
									BTEqualStrategyNumber, id);
	TupleTableSlot *slot;
	bool		found = false;

	*any |= scan == NULL;
	if (scan == NULL)
		return true;
	if (!is_of_type(relation, its, TEXTOID))
		its = 0;
	slot = table_slot_create(relation, NULL);
	while (!found && index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		bool		isnull = true;
		Datum		value = its == 0 ? (Datum) 0 : slot_getattr(slot, its, &isnull);

		*any = true;
		found = document == NULL ||
			(!isnull &&
			 simhash_guard_same_document(document, (text *) DatumGetPointer(value)));
	}
	ExecDropSingleTupleTableSlot(slot);
	end_scan(scan);
	return found;
}

/* The document of a row of a cluster in a table, or NULL. */
static text *
find_document(Relation relation, AttrNumber column, AttrNumber document,
			  int64 id)
{
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	text	   *found = NULL;
	SnapshotData dirty;
	IndexScanDesc scan = NULL;

	InitDirtySnapshot(dirty);
	if (is_of_type(relation, document, TEXTOID))
		scan = begin_scan(relation, column, &dirty, BTEqualStrategyNumber, id);
	while (scan != NULL && found == NULL &&
		   index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, document, &isnull);

		if (!isnull)
			found = DatumGetTextPCopy(value);
	}
	if (scan != NULL)
		end_scan(scan);
	ExecDropSingleTupleTableSlot(slot);
	return found;
}

/*
 * Has a cluster a copy of what represents it in the open table of the clusters, that
 * is committed, or ours, and has no mark?
 */
bool
simhash_clusters_has_copy(const ClusterTerms *terms, Relation clusters,
						  int64 id)
{
	Relation	index = simhash_clusters_open_index(clusters,
													terms->columns[CLUSTER_COPY_OF],
													true);
	TupleTableSlot *slot;
	IndexScanDesc scan;
	ScanKeyData key;
	bool		found = false;

	if (index == NULL)
		return false;
	slot = table_slot_create(clusters, NULL);
	scan = simhash_index_beginscan(clusters, index, SnapshotSelf, 1);
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(id));
	index_rescan(scan, &key, 1, NULL, 0);
	while (!found && index_getnext_slot(scan, ForwardScanDirection, slot))
		(void) slot_getattr(slot, terms->columns[CLUSTER_UNUSED_SINCE], &found);
	ExecDropSingleTupleTableSlot(slot);
	index_endscan(scan);
	index_close(index, AccessShareLock);
	return found;
}

/* The greatest cluster of any row of a table that others see or we; 0 for none. */
static int64
find_greatest(Relation relation, AttrNumber column)
{
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	IndexScanDesc scan = begin_scan(relation, column, SnapshotSelf,
									BTGreaterStrategyNumber, 0);
	int64		greatest = 0;
	bool		isnull = true;
	Datum		value = (Datum) 0;

	if (scan != NULL)
	{
		bool		falling = (scan->indexRelation->rd_indoption[0] & INDOPTION_DESC) != 0;

		if (index_getnext_slot(scan, falling ? ForwardScanDirection :
							   BackwardScanDirection, slot))
			value = slot_getattr(slot, column, &isnull);
		if (!isnull)
			greatest = DatumGetInt64(value);
		end_scan(scan);
	}
	else if (is_of_type(relation, column, INT8OID))
	{
		TableScanDesc all = simhash_table_beginscan(relation, SnapshotSelf);

		while (table_scan_getnextslot(all, ForwardScanDirection, slot))
		{
			CHECK_FOR_INTERRUPTS();
			value = slot_getattr(slot, column, &isnull);
			if (!isnull)
				greatest = Max(greatest, DatumGetInt64(value));
		}
		table_endscan(all);
	}
	ExecDropSingleTupleTableSlot(slot);
	return greatest;
}

/* Has a table a row that others see, or we? */
static bool
has_rows(Relation relation)
{
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	TableScanDesc scan = simhash_table_beginscan(relation, SnapshotSelf);
	bool		found = table_scan_getnextslot(scan, ForwardScanDirection, slot);

	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	return found;
}

/* What is asked of all tables that rows are in. */
typedef enum Asked
{
	ANY_ROW,
	ANY_DOCUMENT,
	GREATEST
} Asked;

typedef struct Answer
{
	bool		any;
	text	   *document;
	int64		greatest;
} Answer;

/* Ask it of them, one after the other, as far as need be. */
static Answer
ask_tables(const ClusterTerms *terms, Asked asked, int64 id)
{
	Relation	root = table_open(terms->root, AccessShareLock);
	Answer		answer = {false, NULL, 0};
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
			AttrNumber	column = map->attnums[terms->cluster - 1];

			if (asked == ANY_ROW && !answer.any)
				answer.any = has_rows(table);
			else if (asked == ANY_DOCUMENT && answer.document == NULL)
				answer.document = find_document(table, column,
												map->attnums[terms->terms.document - 1],
												id);
			else if (asked == GREATEST)
				answer.greatest = Max(answer.greatest, find_greatest(table, column));
			free_attrmap(map);
		}
		table_close(table, NoLock);
	}
	list_free(tables);
	table_close(root, NoLock);
	return answer;
}

/* Has the table whose rows are in clusters any? */
bool
simhash_clusters_any_row(const ClusterTerms *terms)
{
	return ask_tables(terms, ANY_ROW, 0).any;
}

/* The document of a row of a cluster, or NULL if no index tells. */
text	   *
simhash_clusters_any_document(const ClusterTerms *terms, int64 id)
{
	return ask_tables(terms, ANY_DOCUMENT, id).document;
}

/*
 * The greatest id of any cluster, in the open table of the clusters or the other.
 */
int64
simhash_clusters_greatest(const ClusterTerms *terms, Relation clusters)
{
	return Max(find_greatest(clusters, terms->columns[CLUSTER_ID]),
			   ask_tables(terms, GREATEST, 0).greatest);
}
