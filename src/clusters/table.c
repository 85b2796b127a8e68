/*-------------------------------------------------------------------------
 *
 * table.c
 *		The table of the clusters: opened, checked, and its rows written.
 *
 * A role that writes to the root needs no rights on it.  Both have one owner, so
 * defaults and triggers which he has put on the one can do no more than on the other.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

#include "rewrite/rewriteHandler.h"

/*
 * Fail unless the table of the clusters has the owner of the table whose rows are
 * in them, and outlives a crash if that does.
 */
void
simhash_clusters_check_table(const ClusterTerms *terms)
{
	FormData_pg_class ours = simhash_class(terms->root);
	FormData_pg_class theirs = simhash_class(terms->clusters);

	if (theirs.relkind != RELKIND_RELATION)
		simhash_clusters_complain(terms->clusters);
	if (theirs.relowner != ours.relowner)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("tables \"%s\" and \"%s\" have different owners",
						NameStr(theirs.relname), NameStr(ours.relname)),
				 errhint("ALTER TABLE ... OWNER TO gives both to the same role.")));

	/* A crash empties it, and ids would be given twice. */
	if (theirs.relpersistence == RELPERSISTENCE_UNLOGGED &&
		ours.relpersistence != RELPERSISTENCE_UNLOGGED)
	{
		char	   *name = simhash_quoted_name(terms->clusters);

		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is unlogged, but \"%s\" is not",
						NameStr(theirs.relname), NameStr(ours.relname)),
				 errhint("ALTER TABLE %s SET LOGGED.", name)));
	}
}

/*
 * Open the table, which the transaction has locked.  The same session may have
 * dropped or altered it since, so its columns are checked each time.
 */
Relation
simhash_clusters_open(const ClusterTerms *terms)
{
	Relation	relation = try_relation_open(terms->clusters, AccessShareLock);

	if (relation == NULL || relation->rd_rel->relkind != RELKIND_RELATION ||
		!simhash_clusters_complete(terms))
		simhash_clusters_complain(terms->clusters);
	return relation;
}

/* Open the primary key of the open table. */
Relation
simhash_clusters_open_key(const ClusterTerms *terms, Relation clusters)
{
	Relation	key;

	list_free(RelationGetIndexList(clusters));
	if (!OidIsValid(clusters->rd_pkindex))
		simhash_clusters_complain(terms->clusters);
	key = index_open(clusters->rd_pkindex, AccessShareLock);
	if (key->rd_index->indnkeyatts != 1 ||
		key->rd_index->indkey.values[0] != terms->columns[CLUSTER_ID])
		simhash_clusters_complain(terms->clusters);
	return key;
}

/* The terms of the search for representatives, in columns of the open table. */
NearTerms
simhash_clusters_searched(const ClusterTerms *terms, Relation clusters)
{
	NearTerms	searched = terms->terms;

	searched.column = terms->fingerprint;
	searched.type = simhash_near_type(clusters, searched.column);
	searched.group = terms->group;
	searched.document = terms->document;
	searched.expression = NULL;
	return searched;
}

/* Bind what is searched for clusters: representatives, or the rows of the root. */
void
simhash_clusters_bind_space(NearSpace *space, const ClusterTerms *terms, bool star)
{
	Relation	relation = star ? simhash_clusters_open(terms) :
	table_open(terms->root, AccessShareLock);
	NearTerms	searched = star ? simhash_clusters_searched(terms, relation) :
	terms->terms;

	simhash_near_bind_space(space, relation, &searched,
							star ? terms->columns[CLUSTER_ID] : terms->cluster);
	table_close(relation, NoLock);
}

/*
 * Empty the table of the clusters, as the root is empty.  Not by a command, as its
 * name might be that of another table by now.  Its triggers run with the rights of
 * whoever empties the root: with the owner's they would find names in that session.
 */
void
simhash_clusters_truncate(const ClusterTerms *terms)
{
	Relation	clusters = table_open(terms->clusters, AccessExclusiveLock);

	/* The command may have emptied it, too. */
	if (RelationGetNumberOfBlocks(clusters) > 0)
	{
		CheckTableNotInUse(clusters, "TRUNCATE");
		simhash_truncate(clusters);
	}
	table_close(clusters, NoLock);
}

/* Add a row to the table of the clusters, as COPY would. */
void
simhash_clusters_insert(Relation clusters, TupleTableSlot *slot)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *result = makeNode(ResultRelInfo);

	InitResultRelInfo(result, clusters, 0, NULL, 0);
	ExecOpenIndices(result, false);
	ExecSimpleRelationInsert(result, estate, slot);
	if (!ItemPointerIsValid(&slot->tts_tid))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("a trigger of table \"%s\" has suppressed a row",
						RelationGetRelationName(clusters)),
				 errhint("The table of the clusters must get all rows that simhash writes.")));
	ExecCloseIndices(result);
	FreeExecutorState(estate);
}

/* Set a column of a row that is being made. */
void
simhash_clusters_set(TupleTableSlot *slot, AttrNumber column, Datum value)
{
	slot->tts_values[column - 1] = value;
	slot->tts_isnull[column - 1] = false;
}

/*
 * Begin a row for the open table: columns of the user's own have their defaults,
 * which lie in the memory that is current.
 */
TupleTableSlot *
simhash_clusters_begin_row(const ClusterTerms *terms, Relation clusters,
						   int64 id)
{
	TupleDesc	desc = RelationGetDescr(clusters);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	EState	   *estate = CreateExecutorState();

	ExecStoreAllNullTuple(slot);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		Node	   *value = NULL;

		if (!column->attisdropped && !column->attgenerated &&
			i + 1 != terms->columns[CLUSTER_ID])
			value = build_column_default(clusters, i + 1);
		if (value != NULL)
			slot->tts_values[i] =
				ExecEvalExpr(ExecPrepareExpr((Expr *) value, estate),
							 GetPerTupleExprContext(estate),
							 &slot->tts_isnull[i]);
	}
	simhash_clusters_set(slot, terms->columns[CLUSTER_ID], Int64GetDatum(id));
	return slot;
}

/* A number in a row of the table, which is not NULL. */
int64
simhash_clusters_number(const ClusterTerms *terms, TupleTableSlot *slot,
						ClusterColumn column)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, terms->columns[column], &isnull);

	if (isnull)
		simhash_clusters_complain(terms->clusters);
	return DatumGetInt64(value);
}

/* The cluster that a row of the table is, or is a copy of. */
int64
simhash_clusters_of(const ClusterTerms *terms, TupleTableSlot *slot)
{
	int64		number = simhash_clusters_number(terms, slot, CLUSTER_ID);

	return number > 0 ? number : simhash_clusters_number(terms, slot, CLUSTER_COPY_OF);
}

/*
 * Fetch a representative that is still there, committed or not; and not one that its
 * own transaction has taken back.
 */
bool
simhash_clusters_fetch(Relation clusters, ItemPointer tid,
					   TupleTableSlot *slot)
{
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	return table_tuple_fetch_row_version(clusters, tid, &dirty, slot) &&
		!(TransactionIdIsValid(dirty.xmin) && simhash_near_is_undone(clusters, tid));
}

/* A row that is to be changed, as another is which is in a slot. */
TupleTableSlot *
simhash_clusters_copy_row(Relation clusters, TupleTableSlot *slot)
{
	TupleTableSlot *copy = MakeSingleTupleTableSlot(RelationGetDescr(clusters),
													&TTSOpsVirtual);

	ExecCopySlot(copy, slot);
	return copy;
}

/*
 * Delete a row of the table, unless another transaction is about to.
 */
void
simhash_clusters_delete(Relation clusters, ItemPointer tid)
{
	TM_FailureData failure;

	(void) simhash_table_delete(clusters, tid, &failure);
}

/* Scan rows by a number in the first column of an open index. */
IndexScanDesc
simhash_clusters_scan(Relation relation, Relation index, Snapshot snapshot,
					  StrategyNumber strategy, int64 value)
{
	IndexScanDesc scan = simhash_index_beginscan(relation, index, snapshot, 1);
	ScanKeyData key;

	ScanKeyInit(&key, 1, strategy, strategy == BTEqualStrategyNumber ? F_INT8EQ :
				strategy == BTLessStrategyNumber ? F_INT8LT : F_INT8GT,
				Int64GetDatum(value));
	index_rescan(scan, &key, 1, NULL, 0);
	return scan;
}

/* Find the row with a number by the open primary key. */
bool
simhash_clusters_find_number(Relation clusters, Relation key, Snapshot snapshot,
							 int64 number, TupleTableSlot *slot)
{
	IndexScanDesc scan = simhash_clusters_scan(clusters, key, snapshot,
											   BTEqualStrategyNumber, number);
	bool		found = index_getnext_slot(scan, ForwardScanDirection, slot);

	index_endscan(scan);
	return found;
}

/* Is a cluster in the open table, committed or about to be? */
bool
simhash_clusters_is_there(const ClusterTerms *terms, Relation clusters, int64 id)
{
	Relation	key = simhash_clusters_open_key(terms, clusters);
	TupleTableSlot *slot = table_slot_create(clusters, NULL);
	SnapshotData dirty;
	bool		found;

	InitDirtySnapshot(dirty);
	found = simhash_clusters_find_number(clusters, key, &dirty, id, slot);
	ExecDropSingleTupleTableSlot(slot);
	index_close(key, AccessShareLock);
	return found;
}
