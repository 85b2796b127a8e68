/*-------------------------------------------------------------------------
 *
 * near_space.c
 *		Which tables are searched.
 *
 * Tables and indexes are found, checked and locked once, at the first row of a
 * space, for all rows and all partitions that rows go to.  They are found
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
 * near_lock.c).  Say another session attaches a partition and then inserts a
 * near-duplicate of our row into it.  If it had the locks before us, the
 * partition was attached before we got them, and we must search it.  So it is
 * after taking the locks that we ask for news of changed tables.
 *
 * Nobody sees a partition before the transaction that attaches it is over, and
 * so nobody finds a row that this transaction inserts there.  ATTACH PARTITION
 * itself lets others go on inserting.  So a session that inserts takes a lock
 * on the root, ROW EXCLUSIVE, whichever partition its statement names, and one
 * that inserts after attaching a partition takes SHARE ROW EXCLUSIVE: both until
 * the end of the transaction, which may be a prepared one.  Of two such sessions
 * the second waits, and sees all partitions that the first has seen.
 *
 * A user who inserts into one partition trusts its owner, whose expressions and
 * triggers the insertion runs.  The owners of the other partitions need not be
 * trusted, so nothing of theirs may be evaluated here.  That is why the
 * expressions of an index are read as they are stored.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "storage/lmgr.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/partcache.h"
#include "utils/syscache.h"

#include "relation.h"

/* Complain of a table that the session itself has altered. */
pg_noreturn static void
complain_of_change(Oid table)
{
	const char *name = get_rel_name(table);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 name == NULL ?
			 errmsg("table with OID %u was dropped while a statement wrote to it or searched it",
					table) :
			 errmsg("table \"%s\" was altered while a statement wrote to it or searched it",
					name),
			 errhint("Alter it in a statement of its own, not in a function that the other one calls.")));
}

/* Open a table that was there when the statement began. */
static Relation
open_searched_table(Oid table)
{
	Relation	relation = try_relation_open(table, AccessShareLock);

	if (relation == NULL)
		complain_of_change(table);
	return relation;
}

/*
 * Is a column of the root, if it is one, no longer what it was when the
 * statement began?
 */
static bool
column_has_changed(const NearSpace *space, Relation root, AttrNumber column)
{
	Form_pg_attribute was;
	Form_pg_attribute is;

	if (column == 0)
		return false;
	was = TupleDescAttr(space->desc, column - 1);
	is = simhash_near_attribute(root, column);
	return is->attisdropped || is->atttypid != was->atttypid ||
		is->atttypmod != was->atttypmod ||
		is->attcollation != was->attcollation;
}

/*
 * Which columns of another table are those of the root.  The statement knows
 * columns of the root by their numbers, so the session may rename them; but it
 * is an error if they no longer have the types for which the statement is
 * prepared.
 */
AttrMap    *
simhash_near_map_columns(const NearSpace *space, Relation table)
{
	const NearTerms *terms = &space->terms;
	Relation	root = open_searched_table(space->root);
	bool		changed = column_has_changed(space, root, terms->column) ||
	column_has_changed(space, root, terms->document) ||
	column_has_changed(space, root, terms->time) ||
	column_has_changed(space, root, space->carried);
	AttrMap    *map;

	for (int i = 0; i < terms->ngroup; i++)
		changed |= column_has_changed(space, root, terms->group[i]);
	if (changed)
		complain_of_change(space->root);
	map = simhash_map_columns(RelationGetDescr(root), RelationGetDescr(table));
	table_close(root, NoLock);
	return map;
}

/*
 * The columns of a table's primary key, which may be deferrable, in its order;
 * NIL when it has none.
 */
List	   *
simhash_near_primary_key(Oid table)
{
	List	   *columns = NIL;
	Relation	index;
	Oid			constraint;

	(void) get_primary_key_attnos(table, true, &constraint);
	if (!OidIsValid(constraint))
		return NIL;
	index = index_open(get_constraint_index(constraint), AccessShareLock);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
		columns = lappend_int(columns, index->rd_index->indkey.values[i]);
	index_close(index, AccessShareLock);
	return columns;
}

/*
 * The text of a key: of one column as it is, of several as a list in JSON, so
 * that different keys are never written alike.
 */
char	   *
simhash_near_join_key(List *texts)
{
	StringInfoData list;
	ListCell   *lc;

	if (list_length(texts) == 1)
		return linitial(texts);
	initStringInfo(&list);
	foreach(lc, texts)
	{
		appendStringInfoString(&list, lc == list_head(texts) ? "[" : ", ");
		escape_json(&list, lfirst(lc));
	}
	appendStringInfoChar(&list, ']');
	return list.data;
}

/* The same, of a row with the key in these columns; NULL if one of them is. */
char	   *
simhash_near_write_key(TupleTableSlot *slot, List *columns)
{
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, columns)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, lfirst_int(lc), &isnull);

		if (isnull)
			return NULL;
		texts = lappend(texts,
						simhash_write_value(value, TupleDescAttr(slot->tts_tupleDescriptor,
																 lfirst_int(lc) - 1)->atttypid));
	}
	return simhash_near_join_key(texts);
}

/* Fail if a table cannot be searched, or has no key to name its rows by. */
static void
check_searched_table(const NearSpace *space, Relation table)
{
	if (table->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("simhash_guard cannot search foreign table \"%s\"",
						RelationGetRelationName(table)),
				 errdetail("Its rows are on another server, where rows that are being inserted cannot be waited for."),
				 errhint("Create a guard on each server, and find near-duplicates on different servers with simhash_clusters.")));
	if (space->keyed &&
		simhash_near_primary_key(RelationGetRelid(table)) == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no primary key to name its rows by",
						RelationGetRelationName(table)),
				 errhint("ALTER TABLE ... ADD PRIMARY KEY (...) makes one.")));
}

/*
 * Are the rows of a group all in one partition of a table?  They are if the
 * table is partitioned by columns of the group, and compares them as the guard
 * does.
 */
static bool
keeps_groups(const NearSpace *space, Oid oid)
{
	Relation	relation = table_open(oid, AccessShareLock);
	PartitionKey key = RelationGetPartitionKey(relation);
	StrategyNumber equal = key->strategy == PARTITION_STRATEGY_HASH ?
	HTEqualStrategyNumber : BTEqualStrategyNumber;
	NearTerms	terms =
	simhash_near_map_terms(&space->terms,
						   simhash_near_map_columns(space, relation),
						   relation);
	bool		result = true;

	for (int i = 0; i < key->partnatts; i++)
		result &= simhash_near_in_group(space, terms.group, key->partattrs[i],
										key->partcollation[i], key->partopfamily[i],
										key->partopcintype[i], equal) >= 0;
	table_close(relation, NoLock);
	return result;
}

/*
 * What to search for the rows of a table: the lowest of the table and the
 * partitions above it that has all rows of their groups, or else the root.  If
 * a row may go to another partition it is the root.  Appends the tables that
 * this depends on.
 */
static Oid
find_top(NearSpace *space, Oid table, bool moves, List **watched)
{
	List	   *path;

	if (space->root == table)
		return table;
	path = lcons_oid(table, get_partition_ancestors(table));
	while (path != NIL && llast_oid(path) != space->root)
		path = list_delete_last(path);

	/* A partition may be on its way out while we look. */
	if (path == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is no longer a partition of \"%s\"",
						get_rel_name(table), get_rel_name(space->root)),
				 errhint("It is being detached. Try again.")));
	*watched = list_concat(*watched, path);
	while (!moves && list_length(path) > 1 &&
		   keeps_groups(space, llast_oid(path)))
		path = list_delete_last(path);
	return llast_oid(path);
}

/* Has our own transaction attached a partition to a table? */
static bool
has_new_partition(Oid table)
{
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	SysScanDesc scan;
	ScanKeyData parent;
	HeapTuple	tuple;
	bool		result = false;

	ScanKeyInit(&parent, Anum_pg_inherits_inhparent, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(table));
	scan = systable_beginscan(inherits, InheritsParentIndexId, true, NULL, 1,
							  &parent);
	while (!result && HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(tuple->t_data));
	systable_endscan(scan);
	table_close(inherits, AccessShareLock);
	return result;
}

/*
 * Find the tables to search below the top, partitioned or not, and have others
 * wait for our transaction if they cannot see all of them.
 */
static NearScope *
find_tables(NearSpace *space, Oid top, List **watched)
{
	NearScope  *scope = palloc0(sizeof *scope);
	List	   *tables = get_rel_relkind(top) == RELKIND_PARTITIONED_TABLE ?
	find_all_inheritors(top, AccessShareLock, NULL) : list_make1_oid(top);
	ListCell   *lc;
	bool		unseen = false;

	scope->top = top;
	scope->tables = palloc0(list_length(tables) * sizeof(NearTable));
	foreach(lc, tables)
	{
		Relation	relation = open_searched_table(lfirst_oid(lc));
		NearTable  *table = &scope->tables[scope->ntables];
		AttrMap    *map;

		if (relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		{
			check_searched_table(space, relation);
			table->table = lfirst_oid(lc);
			map = simhash_near_map_columns(space, relation);
			table->terms = simhash_near_map_terms(&space->terms, map, relation);
			table->document = simhash_near_bind_document(relation,
														 &table->terms);
			table->carried = simhash_near_mapped(map, space->carried);
			simhash_near_find_indexes(space, relation, table);
			scope->ntables++;
		}
		else
			unseen |= has_new_partition(lfirst_oid(lc));
		table_close(relation, NoLock);
	}
	if (unseen)
		LockRelationOid(space->root, ShareRowExclusiveLock);
	*watched = list_concat(*watched, tables);
	return scope;
}

/*
 * Find what to search for the rows of a table.  As long as it is not known
 * which tables matter, any change does.
 */
static NearScope *
find_scope(NearSpace *space, Oid table, bool moves)
{
	MemoryContext old = MemoryContextSwitchTo(space->context);
	List	   *watched = space->watched;
	NearScope  *scope = NULL;
	ListCell   *lc;
	Oid			top;

	space->watched = NIL;
	LockRelationOid(space->root, RowExclusiveLock);
	top = find_top(space, table, moves, &watched);
	foreach(lc, space->scopes)
	{
		if (((NearScope *) lfirst(lc))->top == top)
			scope = lfirst(lc);
	}
	if (scope == NULL)
	{
		scope = find_tables(space, top, &watched);
		space->scopes = lappend(space->scopes, scope);
	}
	space->watched = watched;
	MemoryContextSwitchTo(old);
	return scope;
}

/* Bring the tables of the space up to date, and those of a place in it. */
void
simhash_near_find(NearSpace *space, NearPlace *place)
{
	AcceptInvalidationMessages();
	if (space->stale)
	{
		space->stale = false;
		space->times_found++;
		space->watched = NIL;
		space->scopes = NIL;
		MemoryContextReset(space->context);
	}
	if (place->found_for == space->times_found)
		return;
	place->scope = find_scope(space, place->table, place->moves);
	for (int i = 0; i < place->scope->ntables; i++)
	{
		if (place->scope->tables[i].table == place->table)
			place->own = &place->scope->tables[i];
	}
	place->found_for = space->times_found;
}

/*
 * The type of balls: what our function that makes them returns, in whatever schema
 * it is, as others may move the extension between two look-ups.
 */
static Oid
find_ball_type(const char *name, PGFunction function)
{
	CatCList   *list = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	Oid			type = InvalidOid;

	for (int i = 0; i < list->n_members && !OidIsValid(type); i++)
	{
		Form_pg_proc row = (Form_pg_proc) GETSTRUCT(&list->members[i]->tuple);

		if (simhash_c_function(row->oid) == function)
			type = row->prorettype;
	}
	ReleaseSysCacheList(list);
	if (!OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function %s of extension \"simhash\" does not exist", name),
				 errhint("It has been dropped or replaced. DROP EXTENSION simhash, and CREATE EXTENSION simhash again.")));
	return type;
}

/*
 * Prepare a space: its root, and the terms by which rows are searched for
 * there.
 */
void
simhash_near_bind_space(NearSpace *space, Relation root,
						const NearTerms *terms, AttrNumber carried)
{
	space->root = RelationGetRelid(root);
	space->terms = *terms;
	space->carried = carried;
	space->desc = CreateTupleDescCopy(RelationGetDescr(root));
	space->group = palloc0(terms->ngroup * sizeof *space->group);
	if (terms->ngroup > 0)
		simhash_near_bind_group(space->group, root, terms->ngroup, terms->group);
	space->ball_type = terms->type.oid == BITOID ?
		find_ball_type("hamming_bit_ball", hamming_bit_ball) :
		find_ball_type("hamming_ball", hamming_ball);
	space->stale = true;
	space->context = AllocSetContextCreate(CurrentMemoryContext,
										   "simhash_guard tables",
										   ALLOCSET_SMALL_SIZES);
}
