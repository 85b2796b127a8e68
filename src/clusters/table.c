/*-------------------------------------------------------------------------
 *
 * table.c
 *		The table of the clusters, which gives them their ids, and has the
 *		representatives of stars.
 *
 * Whoever writes rows need have no rights on it.  It has the owner of the table
 * whose rows are in the clusters, so what he has planted on the one, as defaults
 * and triggers, gets no further than on the other.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/table.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "commands/tablecmds.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/*
 * Fail unless the table of the clusters has the owner of the table whose rows are
 * in them, and outlives a crash if that does.
 */
void
simhash_clusters_check_table(const ClusterTerms *terms)
{
	FormData_pg_class ours = simhash_clusters_class(terms->root);
	FormData_pg_class theirs = simhash_clusters_class(terms->clusters);

	if (theirs.relkind != RELKIND_RELATION)
		simhash_clusters_complain(terms->clusters);
	if (theirs.relowner != ours.relowner)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("tables \"%s\" and \"%s\" have different owners",
						NameStr(theirs.relname), NameStr(ours.relname)),
				 errhint("ALTER TABLE ... OWNER TO gives both to the same role.")));

	/* A crash empties it, and ids would be given once more. */
	if (theirs.relpersistence == RELPERSISTENCE_UNLOGGED &&
		ours.relpersistence != RELPERSISTENCE_UNLOGGED)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is unlogged, but \"%s\" is not",
						NameStr(theirs.relname), NameStr(ours.relname)),
				 errhint("ALTER TABLE %s SET LOGGED.",
						 simhash_quoted_name(terms->clusters))));
}

/* The sequence of the ids. */
Oid
simhash_clusters_sequence(const ClusterTerms *terms)
{
	AttrNumber	column = terms->columns[CLUSTER_ID];
	Oid			sequence = InvalidOid;

	if (get_atttype(terms->clusters, column) == INT8OID)
		sequence = simhash_identity_sequence(terms->clusters, column);
	if (!OidIsValid(sequence))
		simhash_clusters_complain(terms->clusters);
	return sequence;
}

/* The id of a new cluster. */
int64
simhash_clusters_new(const ClusterTerms *terms)
{
	return nextval_internal(simhash_clusters_sequence(terms), false);
}

/*
 * Open the table, which the transaction has locked.  The same session may have
 * dropped or altered it since: its columns have their types each time.
 */
Relation
simhash_clusters_open(const ClusterTerms *terms)
{
	static const Oid types[CLUSTER_COLUMNS] = {
		INT8OID, TIMESTAMPTZOID, INT8OID, INT4OID, INT8OID, INT8OID,
		TIMESTAMPTZOID
	};
	Relation	relation = try_relation_open(terms->clusters, AccessShareLock);

	if (relation == NULL || relation->rd_rel->relkind != RELKIND_RELATION)
		simhash_clusters_complain(terms->clusters);
	for (int i = 0; i < CLUSTER_COLUMNS; i++)
	{
		AttrNumber	column = terms->columns[i];

		if (column > RelationGetNumberOfAttributes(relation) ||
			(column != 0 &&
			 simhash_guard_attribute(relation, column)->atttypid != types[i]))
			simhash_clusters_complain(terms->clusters);
	}
	return relation;
}

/* Fail unless a column is the same in the table of the clusters. */
static void
check_same(Relation relation, AttrNumber column, Relation clusters,
		   AttrNumber other)
{
	Form_pg_attribute ours = simhash_guard_attribute(relation, column);
	Form_pg_attribute theirs = simhash_guard_attribute(clusters, other);

	if (ours->atttypid != theirs->atttypid ||
		ours->atttypmod != theirs->atttypmod ||
		ours->attcollation != theirs->attcollation)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" has not the type and collation that it has in \"%s\"",
						NameStr(theirs->attname),
						RelationGetRelationName(clusters),
						RelationGetRelationName(relation))));
}

/*
 * By what representatives are sought: the terms, in columns of the table of the
 * clusters.  Fails unless these have the types of those that they stand for.
 */
GuardTerms
simhash_clusters_searched(const ClusterTerms *terms, Relation clusters)
{
	Relation	root = table_open(terms->root, AccessShareLock);
	GuardTerms	searched = terms->terms;

	check_same(root, terms->terms.column, clusters, terms->fingerprint);
	for (int i = 0; i < searched.ngroup; i++)
		check_same(root, terms->terms.group[i], clusters, terms->group[i]);
	if (searched.document != 0)
		check_same(root, searched.document, clusters, terms->document);
	searched.column = terms->fingerprint;
	searched.type = simhash_guard_type(clusters, searched.column);
	searched.group = terms->group;
	searched.document = terms->document;
	table_close(root, NoLock);
	return searched;
}

/* Become the owner of a table; who one was is returned. */
void
simhash_clusters_become_owner(Oid table, Oid *user, int *context)
{
	GetUserIdAndSecContext(user, context);
	SetUserIdAndSecContext(simhash_clusters_class(table).relowner,
						   *context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
}

/*
 * The table whose rows are in the clusters is empty: so is that of the clusters.
 * No command says so, as a name might stand for another table by now.
 */
void
simhash_clusters_truncate(const ClusterTerms *terms)
{
	Relation	clusters = table_open(terms->clusters, AccessExclusiveLock);
	Oid			user;
	int			context;

	CheckTableNotInUse(clusters, "TRUNCATE");
	simhash_clusters_become_owner(terms->clusters, &user, &context);
	simhash_truncate(clusters);
	SetUserIdAndSecContext(user, context);
	table_close(clusters, NoLock);
}

/* Add a row to the table of the clusters, as COPY would. */
void
simhash_clusters_represent(Relation clusters, TupleTableSlot *slot)
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

/* Have a row represent a new cluster, whose id is returned. */
int64
simhash_clusters_start(const ClusterTerms *terms, const GuardTable *table,
					   const GuardSearch *search)
{
	Relation	clusters = simhash_clusters_open(terms);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(clusters),
													&TTSOpsVirtual);
	EState	   *estate = CreateExecutorState();
	AttrNumber	made = terms->columns[CLUSTER_MADE];
	int64		id = simhash_clusters_new(terms);

	set_defaults(clusters, made, slot, estate);
	set_value(slot, table->carried, Int64GetDatum(id));
	set_value(slot, made,
			  TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()));
	set_value(slot, table->column, search->center_value);
	for (int i = 0; i < terms->terms.ngroup; i++)
		set_value(slot, table->group[i], search->group[i]);
	if (search->document != NULL)
		set_value(slot, table->document, PointerGetDatum(search->document));
	simhash_clusters_represent(clusters, slot);
	FreeExecutorState(estate);
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, NoLock);
	return id;
}

/* Fetch a representative that is still there, committed or not. */
bool
simhash_clusters_fetch(Relation clusters, ItemPointer tid,
					   TupleTableSlot *slot)
{
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	return table_tuple_fetch_row_version(clusters, tid, &dirty, slot);
}
