/*-------------------------------------------------------------------------
 *
 * tables.c
 *		The tables of a removal: found, locked, checked, anew for each batch.
 *
 * The plan and the logs say which rows go and where they come back to, and the
 * triggers of all these tables run with the rights of the caller.  So they are the
 * caller's own, or of a role that has the rights of the table's owner, who could make
 * triggers there; and children are the table owner's, too.  All are told by OIDs and
 * stay locked while a batch lasts.  Only a schema could still be renamed, with another
 * put in its place: a caller with whose rights that would be worth while keeps the
 * rows of pg_namespace locked.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "relation.h"
#include "report/report.h"

/* Fail: this cannot be done, for such a reason. */
#define refuse(...) \
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg(__VA_ARGS__)))

/* Fail unless the caller may write rows of a table, and so lock it. */
static void
check_writer(Oid oid)
{
	if (pg_class_aclmask(oid, GetUserId(), ACL_INSERT | ACL_UPDATE | ACL_DELETE, ACLMASK_ANY) == 0)
		aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(oid)),
					   get_rel_name(oid));
}

/*
 * Lock a table and its partitions for rows to be written, if the caller may write any:
 * before it is looked at, as nobody adds a key to it, or to one of them, from then on.
 */
static void
lock_rows(Oid oid)
{
	check_writer(oid);
	LockRelationOid(oid, RowExclusiveLock);
	(void) simhash_class(oid);	/* that may have been dropped meanwhile */
	(void) find_all_inheritors(oid, RowExclusiveLock, NULL);
}

/*
 * Lock a plan or a log against others that write.  Fail unless it is a table of the
 * caller's, or of somebody who has the rights of the table's owner, and runs nothing.
 */
void
simhash_removal_lock(const Removal *removal, Oid oid)
{
	const char *name = get_rel_name(oid);
	Relation	relation;
	Form_pg_class row;

	/* Before it is locked, since others may have to wait for that. */
	for (int i = 0; i < 2; i++)
	{
		Oid			owner = simhash_class(oid).relowner;

		if (owner != GetUserId() && !has_privs_of_role(owner, simhash_class(removal->relation).relowner))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("\"%s\" is a table of another role", name),
					 errhint("Make the plan, and have the log made, with your own rights.")));
		check_writer(oid);
		LockRelationOid(oid, ShareRowExclusiveLock);
	}
	relation = relation_open(oid, NoLock);
	row = relation->rd_rel;
	if (row->relkind != RELKIND_RELATION || row->relhassubclass || row->relispartition ||
		relation->rd_rules != NULL || row->relrowsecurity || relation->trigdesc != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("\"%s\" is no plain table, or has triggers, rules, row security or heirs", name),
				 errhint("Make the plan, and have the log made, by the calls that are meant for it.")));
	relation_close(relation, NoLock);
}

/* Keep a schema from being renamed, where the caller has rights that others want. */
void
simhash_removal_lock_schema(const Removal *removal, Oid schema)
{
	if (pg_class_aclcheck(NamespaceRelationId, GetUserId(), ACL_UPDATE) != ACLCHECK_OK)
		return;
	(void) simhash_removal_run(removal,
							   psprintf("SELECT FROM pg_catalog.pg_namespace WHERE oid"
										" OPERATOR(pg_catalog.=) '%u'::pg_catalog.oid FOR KEY SHARE",
										schema), 0);
	/* Its name is another one where this has waited. */
	AcceptInvalidationMessages();
}

/* The name of a table that is locked, which stays what it is until the batch ends. */
static char *
name_of(const Removal *removal, Oid table)
{
	simhash_removal_lock_schema(removal, get_rel_namespace(table));
	return simhash_quoted_name(table);
}

/* The description of a table that is in the list of the removal, or NULL. */
static RemovalTable *
find_listed(const Removal *removal, Oid oid)
{
	ListCell   *lc;

	foreach(lc, removal->tables)
	{
		if (((RemovalTable *) lfirst(lc))->oid == oid)
			return lfirst(lc);
	}
	return NULL;
}

/*
 * The description of the table or a child of it, locked and in the list.  Fail if it is
 * of another role than the table, has rules, or the caller does not see all its rows.
 */
RemovalTable *
simhash_removal_table(Removal *removal, Oid oid)
{
	RemovalTable *table = find_listed(removal, oid);
	Relation	relation;
	bool		rules;

	if (table != NULL)
		return table;
	lock_rows(oid);
	table = palloc0(sizeof *table);
	table->oid = oid;
	table->name = name_of(removal, oid);
	removal->tables = lappend(removal->tables, table);
	if (simhash_class(oid).relowner != simhash_class(removal->relation).relowner)
		refuse("%s belongs to another role than %s: move its rows yourself, or ask its owner to",
			   table->name, removal->table->name);
	/* What the catalogue says of rules is true of dropped ones, too. */
	relation = relation_open(oid, NoLock);
	rules = relation->rd_rules != NULL;
	relation_close(relation, NoLock);
	if (rules)
		refuse("%s has rules, which may do something else with its rows", table->name);
	if (oid != removal->relation && check_enable_rls(oid, InvalidOid, true) == RLS_ENABLED)
		refuse("%s has row security, which may hide rows that would be lost", table->name);
	(void) simhash_removal_look(removal, "SELECT every, settable, generated, key, equals"
								" FROM {schema}._simhash_removal_columns('%u'::pg_catalog.regclass)", oid);
	table->columns = simhash_removal_list(0, 1);
	table->settable = simhash_removal_list(0, 2);
	table->generated = simhash_removal_list(0, 3);
	table->key = simhash_removal_list(0, 4);
	table->equals = simhash_removal_list(0, 5);
	return table;
}

/*
 * Find the table and the plan, and how rows are told by lines of it.  Our functions
 * are not dropped, either; SET SCHEMA waits for no lock.
 */
void
simhash_removal_find_table(Removal *removal)
{
	SimhashTable rows = {.oid = removal->relation};
	Oid			schema = simhash_lock_extension(removal->function);
	const char *name;
	const char *unfit;

	simhash_removal_lock_schema(removal, schema);
	simhash_removal_word(removal, "schema", quote_identifier(get_namespace_name(schema)));
	removal->table = simhash_removal_table(removal, removal->relation);
	name = removal->table->name;
	if (strchr("rp", get_rel_relkind(removal->relation)) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("%s is not a table", name)));
	simhash_find_rows(&rows);
	unfit = rows.place != SIMHASH_HERE ? "rows on other servers" :
		rows.parted && get_rel_relkind(removal->relation) != RELKIND_PARTITIONED_TABLE ? "children by inheritance" :
		removal->table->key == NIL ? "no primary key (a btree by operators of the server)" : NULL;
	if (unfit != NULL)
		refuse("%s has %s%s", name, unfit, removal->undo ? "" : ": take the DELETE that simhash_dedup_sql writes");
	simhash_removal_word(removal, "source", rows.source);
	simhash_removal_word(removal, "t has gone", simhash_write_has_key(&rows, "t", "p.gone"));
	simhash_removal_word(removal, "g has gone", simhash_write_has_key(&rows, "g", "p.gone"));
	simhash_removal_word(removal, "s has kept", simhash_write_has_key(&rows, "s", "p.kept"));
	simhash_removal_word(removal, "t is wanted", simhash_write_has_key(&rows, "t", "w.\"simhash key\""));
	if (OidIsValid(removal->plan) || !removal->undo)
	{
		simhash_removal_lock(removal, removal->plan);
		simhash_removal_word(removal, "plan", name_of(removal, removal->plan));
	}
}

/* Fail if rows that refer to the table by a key cannot move, or be put back. */
static void
check_key(const Removal *removal, const RemovalKey *key)
{
	const char *child = key->child->name;
	const char *name = removal->table->name;
	const char *part = simhash_quoted_name(key->refers_to);

	if (key->refers_to != removal->relation)
		refuse("%s refers to %s, and not to all of %s: leave out children, or name %s as the table",
			   child, part, name, part);
	if (key->unfit != NULL)
		refuse("%s refers to %s by a key that does not move (%s): leave out children",
			   child, name, key->unfit);
	if (removal->log != NULL && key->child->key == NIL)
		refuse("%s has no primary key that is a btree by operators of the server, by which moved rows could be put back: leave out the log",
			   child);
}

/* Read a foreign key from a row of _simhash_removal_keys. */
static RemovalKey *
read_key(uint64 row)
{
	RemovalKey *key = palloc0(sizeof *key);

	key->oid = DatumGetObjectId(simhash_removal_datum(row, 1));
	key->table = DatumGetObjectId(simhash_removal_datum(row, 2));
	key->refers_to = DatumGetObjectId(simhash_removal_datum(row, 3));
	key->own = DatumGetBool(simhash_removal_datum(row, 4));
	key->collides = DatumGetBool(simhash_removal_datum(row, 5));
	key->indexed = DatumGetBool(simhash_removal_datum(row, 6));
	key->theirs = simhash_removal_list(row, 7);
	key->ours = simhash_removal_list(row, 8);
	key->equals = simhash_removal_list(row, 9);
	key->unfit = simhash_removal_text(row, 10);
	key->action = simhash_removal_text(row, 11);
	return key;
}

/* Take a key whose rows move, or are looked at before theirs go; fail if they cannot. */
static void
take_key(Removal *removal, RemovalKey *key)
{
	key->child = simhash_removal_table(removal, key->table);
	removal->keys = lappend(removal->keys, key);
	if (key->own || removal->undo)
		return;
	check_key(removal, key);
	key->child->moving = list_concat_unique(key->child->moving, key->theirs);
}

/* For an undo, are the columns of a key in the logs?  Those that are newer come back as a default. */
static bool
is_logged(const Removal *removal, const RemovalKey *key)
{
	const RemovalTable *child = find_listed(removal, key->table);

	return child != NULL && list_difference(key->theirs, child->columns) == NIL &&
		list_difference(key->ours, removal->table->columns) == NIL;
}

/*
 * Lock the children, in one order.  A call that is about to index some of its own waits for
 * another that does, before it has a lock that stops that.
 */
static void
lock_children(const Removal *removal)
{
	uint64		n = simhash_removal_look(removal, removal->prepares ?
										 "SELECT child, pg_catalog.bool_and(indexed)"
										 " FROM {schema}._simhash_removal_keys('%u'::pg_catalog.regclass)"
										 " GROUP BY child ORDER BY child" :
										 "SELECT DISTINCT conrelid, true FROM pg_catalog.pg_constraint"
										 " WHERE oid {=} ANY (ARRAY(SELECT {schema}._simhash_referring('%u'::pg_catalog.regclass)))"
										 " ORDER BY conrelid", removal->relation);

	for (uint64 i = 0; i < n; i++)
	{
		Oid			child = DatumGetObjectId(simhash_removal_datum(i, 1));

		if (!DatumGetBool(simhash_removal_datum(i, 2)) && simhash_owns_relation(child, GetUserId()))
			LockRelationOid(child, ShareRowExclusiveLock);
		lock_rows(child);
	}
}

/*
 * Find the foreign keys that refer to the table.  With children rows of others move,
 * and nothing refers to a row when it goes; without them that is left to the server,
 * but for rows of the table itself where there is a log: these go, and come back, one
 * after the other.  For an undo, those that the logs have.
 */
void
simhash_removal_find_keys(Removal *removal)
{
	uint64		n;
	List	   *found = NIL;
	ListCell   *lc;

	if (removal->children && !removal->undo)
		lock_children(removal);
	n = simhash_removal_look(removal, "SELECT oid, child, refers_to, own, collides, indexed, theirs, ours, equals,"
							 " unfit, action"
							 " FROM {schema}._simhash_removal_keys('%u'::pg_catalog.regclass)", removal->relation);
	for (uint64 i = 0; i < n; i++)
		found = lappend(found, read_key(i));
	foreach(lc, found)
	{
		RemovalKey *key = lfirst(lc);
		bool		logged = removal->log != NULL && key->own;
		const char *child = simhash_quoted_name(key->table);

		if (key->action != NULL && !removal->undo && !removal->children &&
			(removal->log != NULL || key->own))
			refuse("%s refers to %s ON DELETE %s, and no log would have its rows: say children => 'move', or 'stay'",
				   child, removal->table->name, key->action);
		if (removal->undo ? is_logged(removal, key) : removal->children || logged)
			take_key(removal, key);
		else
			removal->others = lappend(removal->others, key);
	}
}

/* Fail if a partition of a table is being detached CONCURRENTLY. */
static void
check_partitions(Oid oid)
{
	bool		detached = false;
	const char *name;
	ListCell   *lc;

	foreach(lc, find_inheritance_children_extended(oid, false, NoLock, &detached, NULL))
		check_partitions(lfirst_oid(lc));
	if (!detached)
		return;
	name = simhash_quoted_name(oid);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("a partition of %s is being detached, whose rows nothing finds", name),
			 errhint("Call it again afterwards, or after ALTER TABLE ... DETACH PARTITION ... FINALIZE.")));
}

/*
 * Fail if a statement of this batch may not have seen all partitions: what rows of one
 * that is being detached refer to could go, as the server's own triggers do not see
 * them, either.  No DETACH ends while we have the tables locked.
 */
void
simhash_removal_check_partitions(const Removal *removal)
{
	ListCell   *lc;

	AcceptInvalidationMessages();
	foreach(lc, removal->tables)
		check_partitions(((RemovalTable *) lfirst(lc))->oid);
	foreach(lc, removal->undo ? NIL : removal->others)
		check_partitions(((RemovalKey *) lfirst(lc))->table);
}
