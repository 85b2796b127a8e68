/*-------------------------------------------------------------------------
 *
 * guard_tables.c
 *		Which tables simhash_guard() searches, and by which indexes.
 *
 * Tables and indexes are found, checked and locked once, at the first row of a
 * statement, for all rows and all partitions that rows go to.  They are found
 * anew when something about them has changed.  A trigger of the statement may
 * have altered partitions, or another session: it may attach one, as that does
 * not wait for statements that insert, or make an index on one that the
 * statement has not come to yet.
 *
 * The locks on tables and indexes stay until the end of the transaction, as
 * those of a query do.  Between rows nothing stays open, so a trigger of the
 * statement can alter partitions, other than those that the statement itself
 * has opened to insert into.
 *
 * What is searched must be at least as new as the locks of the row (see
 * guard_lock.c).  Say another session attaches a partition and then inserts a
 * near-duplicate of our row into it.  If it had the locks before us, the
 * partition was attached before we got them, and we must search it.  So it is
 * after taking the locks that we ask for news of changed tables.
 *
 * Whoever inserts into one partition trusts its owner, whose expressions and
 * triggers the insertion runs.  The owners of the other partitions need not be
 * trusted, so nothing of theirs may be evaluated here.  That is why the
 * expressions of an index are read as they are stored.  Those that the server
 * has at hand for the planner (RelationGetIndexExpressions) are simplified,
 * and that includes calls of immutable functions with constant arguments.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "index/hamming.h"

/* The expressions of an index, as they are stored. */
static List *
stored_expressions(Relation index)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
										Anum_pg_index_indexprs, &isnull);

	return isnull ? NIL : (List *) stringToNode(TextDatumGetCString(value));
}

/* See whether a btree index has a key of the column first; which block's. */
static bool
is_key_index(Relation relation, Relation index, AttrNumber column, int *block)
{
	AttrNumber	first = index->rd_index->indkey.values[0];
	Node	   *expression;
	Node	   *source;
	Node	   *operand;

	if (index->rd_rel->relam != BTREE_AM_OID ||
		index->rd_opfamily[0] != INTEGER_BTREE_FAM_OID)
		return false;
	if (first == 0)
		expression = linitial(stored_expressions(index));
	else if (TupleDescAttr(RelationGetDescr(relation), first - 1)->attgenerated)
		expression = build_column_default(relation, first);
	else
		return false;
	if (!simhash_is_key(expression, &operand, block))
		return false;
	if (IsA(operand, Var))
		return ((Var *) operand)->varattno == column;
	if (!TupleDescAttr(RelationGetDescr(relation), column - 1)->attgenerated)
		return false;
	source = build_column_default(relation, column);
	return equal(operand, source);
}

/* True for an index of our access method. */
static bool
is_hamming_index(Relation index)
{
	return simhash_c_function(index->rd_amhandler) == hamming_handler;
}

/* True for an index that has all rows. */
static bool
is_usable(Relation index)
{
	return index->rd_index->indisvalid &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/* Say what index to make. */
static void
complain_of_no_index(Relation relation, AttrNumber column, Oid root)
{
	const char *name = get_attname(RelationGetRelid(relation), column, false);
	const char *schema = get_namespace_name(get_rel_namespace(root));

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("simhash_guard needs an index on column \"%s\" of table \"%s\"",
					name, RelationGetRelationName(relation)),
			 errhint("Run: CREATE INDEX ON %s USING hamming (%s);",
					 quote_qualified_identifier(schema, get_rel_name(root)),
					 quote_identifier(name))));
}

/* Prepare the condition for searches by a hamming index: column <@ ball. */
static void
prepare_condition(GuardTable *table, Relation index, Oid ball_type)
{
	Oid			operator = get_opfamily_member(index->rd_opfamily[0], INT8OID,
											   ball_type,
											   SIMHASH_BALL_STRATEGY);

	ScanKeyEntryInitialize(&table->within, 0, 1, SIMHASH_BALL_STRATEGY,
						   ball_type, InvalidOid, get_opcode(operator),
						   (Datum) 0);
}

/*
 * Find the index to search a table by: a hamming index if there is one,
 * otherwise those of the keys.
 */
static void
find_indexes(const GuardStatement *statement, Relation relation,
			 GuardTable *table)
{
	List	   *indexes = RelationGetIndexList(relation);
	ListCell   *lc;
	int			keys = 0;
	int			hamming = 0;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		int			block;

		if (is_hamming_index(index) &&
			index->rd_index->indkey.values[0] == table->column)
		{
			hamming++;
			if (is_usable(index))
			{
				table->hamming_index = lfirst_oid(lc);
				prepare_condition(table, index, statement->ball_type);
			}
		}
		else if (is_usable(index) &&
				 is_key_index(relation, index, table->column, &block) &&
				 !OidIsValid(table->key_indexes[block]))
		{
			table->key_indexes[block] = lfirst_oid(lc);
			keys++;
		}
		index_close(index, NoLock);
	}
	list_free(indexes);
	if (!OidIsValid(table->hamming_index) && keys < SH_BLOCKS)
		complain_of_no_index(relation, table->column, statement->root);

	/*
	 * While an index comes or goes, as REINDEX CONCURRENTLY has it, other
	 * sessions may search by another than ours.
	 */
	table->only_way = OidIsValid(table->hamming_index) && hamming == 1 &&
		keys < SH_BLOCKS;
}

/*
 * The primary key of a table, or InvalidOid.  One that is deferrable names
 * rows as well; the relation cache does not count it in every version.
 */
Oid
simhash_guard_primary_key(Relation table)
{
	List	   *indexes = RelationGetIndexList(table);
	ListCell   *lc;
	Oid			key = InvalidOid;

	foreach(lc, indexes)
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_index index;

		if (!HeapTupleIsValid(tuple))
			continue;
		index = (Form_pg_index) GETSTRUCT(tuple);
		if (index->indisprimary && index->indisvalid)
			key = lfirst_oid(lc);
		ReleaseSysCache(tuple);
	}
	list_free(indexes);
	return key;
}

/* Fail if a table cannot be searched, or its rows cannot be named. */
static void
check_table(const GuardStatement *statement, Relation table)
{
	if (table->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("simhash_guard cannot search foreign table \"%s\"",
						RelationGetRelationName(table))));
	if (statement->marks && !OidIsValid(simhash_guard_primary_key(table)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no primary key to mark near-duplicates with",
						RelationGetRelationName(table))));
}

/*
 * Find the tables to search: the root, or all of its partitions.  As long as
 * it is not known which tables matter, any change does.
 */
static void
find_tables(GuardStatement *statement, bool partitioned)
{
	MemoryContext old;
	List	   *tables;
	ListCell   *lc;

	statement->watched = NIL;
	statement->ntables = 0;
	statement->stale = false;
	MemoryContextReset(statement->tables_context);
	old = MemoryContextSwitchTo(statement->tables_context);
	tables = partitioned ?
		find_all_inheritors(statement->root, AccessShareLock, NULL) :
		list_make1_oid(statement->root);
	statement->watched = tables;
	statement->tables = palloc0(list_length(tables) * sizeof(GuardTable));
	foreach(lc, tables)
	{
		Relation	relation = table_open(lfirst_oid(lc), AccessShareLock);
		GuardTable *table = &statement->tables[statement->ntables];

		if (relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		{
			check_table(statement, relation);
			table->table = lfirst_oid(lc);
			table->column = get_attnum(table->table, statement->column);
			find_indexes(statement, relation, table);
			statement->ntables++;
		}
		table_close(relation, NoLock);
	}
	MemoryContextSwitchTo(old);
}

/*
 * Bring the tables of the statement up to date.  Returns the one that the
 * guard fires for.
 */
const GuardTable *
simhash_guard_tables(const Guard *guard)
{
	GuardStatement *statement = guard->statement;

	AcceptInvalidationMessages();
	if (statement->stale)
		find_tables(statement, statement->root != guard->table);
	for (int i = 0; i < statement->ntables; i++)
	{
		if (statement->tables[i].table == guard->table)
			return &statement->tables[i];
	}

	/* A partition may be on its way out while we look. */
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s\" is no longer a partition of \"%s\"",
					get_rel_name(guard->table),
					get_rel_name(statement->root))));
	return NULL;				/* keep the compiler quiet */
}
