/*-------------------------------------------------------------------------
 *
 * relation.c
 *		Tables that a caller names: opened, named, altered, with his rights.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "relation.h"

#include "catalog/pg_extension.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* The row of a table in pg_class, in memory of the caller's. */
FormData_pg_class
simhash_class(Oid table)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	FormData_pg_class form;

	if (!HeapTupleIsValid(tuple))
		simhash_complain_of_missing(table);
	form = *(Form_pg_class) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);
	return form;
}

/*
 * Become the owner of something, with these flags of the security context beside those
 * that hold; returns who the session was.  Settings that are made from now on end with it.
 */
SimhashRole
simhash_become(Oid owner, int flags)
{
	SimhashRole before = {.level = NewGUCNestLevel()};

	GetUserIdAndSecContext(&before.user, &before.context);
	SetUserIdAndSecContext(owner, before.context | flags);
	return before;
}

/* Become who one was. */
void
simhash_become_again(const SimhashRole *before)
{
	AtEOXact_GUC(false, before->level);
	SetUserIdAndSecContext(before->user, before->context);
}

/* Fail: there is no such relation. */
void
simhash_complain_of_missing(Oid relation)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation with OID %u does not exist", relation)));
}

/* Fail unless the user owns a relation. */
void
simhash_check_owner(Oid relation)
{
	const char *name = get_rel_name(relation);

	if (name == NULL)
		simhash_complain_of_missing(relation);
	if (!simhash_owns_relation(relation, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(relation)), name);
}

/*
 * Have the extension stay while the transaction lasts; returns the schema of a function
 * of it, and fails if that is gone.
 */
Oid
simhash_lock_extension(Oid function)
{
	Oid			schema;

	LockDatabaseObject(ExtensionRelationId, getExtensionOfObject(ProcedureRelationId, function),
					   0, AccessShareLock);
	schema = get_func_namespace(function);
	if (!OidIsValid(schema))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function with OID %u does not exist", function)));
	return schema;
}

/*
 * Open and lock a table or partitioned table for a function of ours, which nobody can
 * drop from then on; fails unless the user owns it.  The hint is for those who name
 * something else.
 */
Relation
simhash_open_table(Oid oid, LOCKMODE lockmode, Oid function, const char *hint)
{
	Relation	relation;

	simhash_check_owner(oid);
	(void) simhash_lock_extension(function);
	relation = try_relation_open(oid, lockmode);
	/* Before the lock was there it may have got another owner, or gone. */
	simhash_check_owner(oid);
	if (relation->rd_rel->relkind != RELKIND_RELATION &&
		relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table", get_rel_name(oid)),
				 errhint("%s", hint)));
	if (IsSystemRelation(relation))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("\"%s\" is a system catalog", get_rel_name(oid))));
	return relation;
}

/*
 * The column of a table that an argument names; fails if there is none, with what
 * else is to be said of such arguments.
 */
AttrNumber
simhash_find_column(Oid table, const char *name, const char *argument,
					const char *more)
{
	AttrNumber	column = get_attnum(table, name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, get_rel_name(table)),
				 errhint("Argument \"%s\" names columns of this table.%s",
						 argument, more)));
	return column;
}

/* The schema-qualified, quoted name of a relation. */
char	   *
simhash_quoted_name(Oid relation)
{
	const char *name = get_rel_name(relation);

	if (name == NULL)
		simhash_complain_of_missing(relation);
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
									  name);
}

/*
 * Fail if rows of the table are in a foreign table, which would be asked for
 * columns that its server does not have.
 */
void
simhash_refuse_foreign_tables(Oid table, LOCKMODE lockmode, const char *columns,
							  const char *hint)
{
	List	   *tables = find_all_inheritors(table, lockmode, NULL);
	ListCell   *lc;

	foreach(lc, tables)
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("\"%s\" has partitions or children that are foreign tables",
							get_rel_name(table)),
					 errdetail("The %s would be missing on the server of \"%s\".",
							   columns, get_rel_name(lfirst_oid(lc))),
					 errhint("%s", hint)));
	}
}
