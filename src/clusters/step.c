/*-------------------------------------------------------------------------
 *
 * step.c
 *		The steps in which clusters are set up, taken down and mended.
 *
 * A step is a transaction, where the procedure may end transactions; in a
 * transaction block all steps are that transaction.  Nothing of a step is known
 * to the next one but what the catalogue says: the table is looked up and
 * locked, and the rights of the caller are checked, anew.
 *
 * What a step does, it does as the owner of the table.  He has written the
 * triggers, generated columns and indexes that run as rows are written, and the
 * caller may be a superuser.  If the caller is another role, SECURITY
 * RESTRICTED OPERATION keeps that code from leaving something behind in the
 * session.  The owner's rights are given back before the transaction ends.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/step.h"

#include "access/relation.h"
#include "access/xact.h"
#include "commands/defrem.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "clusters/trigger.h"

/*
 * The advisory locks that the session has; those that PostgreSQL's functions take,
 * and we.
 */
static List *
list_locks(void)
{
	LockData   *all = GetLockStatusData();
	List	   *list = NIL;

	for (int i = 0; i < all->nelements; i++)
	{
		const LockInstanceData *lock = &all->locks[i];

		if (lock->pid == MyProcPid && lock->holdMask != 0 &&
			lock->locktag.locktag_type == LOCKTAG_ADVISORY)
			list = lappend(list, memcpy(palloc(sizeof *lock), lock, sizeof *lock));
	}
	return list;
}

/*
 * Let go of advisory locks that code of the owner's has left in the session of
 * somebody else: those that the transaction had are gone with it.  Where that goes
 * on, or is rolled back by an error, they stay, as after any command of PostgreSQL's
 * that runs such code.
 */
static void
release_locks(const List *before)
{
	const ListCell *lc;
	const ListCell *other;

	foreach(lc, list_locks())
	{
		const LockInstanceData *lock = lfirst(lc);
		LOCKMASK	extra = lock->holdMask;

		foreach(other, before)
		{
			const LockInstanceData *had = lfirst(other);

			if (memcmp(&had->locktag, &lock->locktag, sizeof(LOCKTAG)) == 0)
				extra &= ~had->holdMask;
		}
		for (LOCKMODE mode = 1; mode <= MaxLockMode; mode++)
		{
			while ((extra & LOCKBIT_ON(mode)) != 0 &&
				   simhash_lock_held(&lock->locktag, mode) &&
				   LockRelease(&lock->locktag, mode, true))
				continue;
		}
	}
}

/* Begin a call. */
void
simhash_cluster_begin(ClusterCall *call, FunctionCallInfo fcinfo, Oid table,
					  const char *column)
{
	call->atomic = fcinfo->context == NULL ||
		!IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic;
	if (call->atomic && IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("clusters cannot be set up or mended by a snapshot that was taken before the table is locked"),
				 errhint("Call it outside a transaction block, or in one that is READ COMMITTED.")));
	if (SPI_connect_ext(call->atomic ? 0 : SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not connect to SPI")));
	call->function = fcinfo->flinfo->fn_oid;
	call->table = table;
	call->column = pstrdup(column);
	call->context = AllocSetContextCreate(CurrentMemoryContext,
										  "simhash clusters",
										  ALLOCSET_DEFAULT_SIZES);

	/* The caller's transaction may have a snapshot, and an isolation level. */
	if (!call->atomic)
		SPI_commit();
	call->locks = list_locks();
}

/* End it. */
void
simhash_cluster_end(ClusterCall *call)
{
	MemoryContextDelete(call->context);
	SPI_finish();
}

/* Become the owner of the table. */
static void
become_owner(ClusterCall *call)
{
	Oid			owner = call->relation->rd_rel->relowner;

	GetUserIdAndSecContext(&call->user, &call->security);
	call->foreign = call->user != owner;
	call->level = NewGUCNestLevel();
	SetUserIdAndSecContext(owner,
						   call->security | SECURITY_NOFORCE_RLS |
						   (call->foreign ? SECURITY_RESTRICTED_OPERATION : 0));
}

/* Set the isolation level of the transaction, which no snapshot has yet. */
void
simhash_cluster_isolate(const char *level)
{
	(void) set_config_option("transaction_isolation", level, PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0, false);
}

/* Begin a step: lock the table, and become its owner. */
void
simhash_cluster_begin_step(ClusterCall *call, LOCKMODE lockmode)
{
	if (!call->atomic)
		simhash_cluster_isolate("read committed");
	call->outer = MemoryContextSwitchTo(call->context);
	call->relation =
		simhash_open_table(call->table, lockmode,
						   "Clusters are kept in tables and partitioned tables.");
	call->name = simhash_quoted_name(call->table);
	call->parted =
		call->relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	call->source = call->parted ? call->name : psprintf("ONLY %s", call->name);
	become_owner(call);
}

/* End a step, and the transaction if we may. */
void
simhash_cluster_end_step(ClusterCall *call)
{
	AtEOXact_GUC(false, call->level);
	SetUserIdAndSecContext(call->user, call->security);
	relation_close(call->relation, NoLock);
	call->relation = NULL;
	MemoryContextSwitchTo(call->outer);
	MemoryContextReset(call->context);
	if (!call->atomic)
	{
		SPI_commit();
		call->outer = MemoryContextSwitchTo(call->context);
		if (call->foreign)
			release_locks(call->locks);
		MemoryContextSwitchTo(call->outer);
		MemoryContextReset(call->context);
	}
}

/* The clusters that the table keeps in the column, by its own deed. */
ClusterTerms *
simhash_cluster_find(ClusterCall *call)
{
	ClusterTerms *terms = simhash_clusters_find(call->relation, call->column);

	if (terms == NULL || terms->root != call->table)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" keeps no clusters in a column \"%s\"",
						RelationGetRelationName(call->relation), call->column),
				 errhint("CALL simhash_add_clusters(...) has it keep them.")));
	simhash_clusters_set_type(terms, call->relation);
	return terms;
}

/* Run a command; returns how many rows it is about.  SPI changes the context. */
uint64
simhash_cluster_run(const char *command)
{
	MemoryContext context = CurrentMemoryContext;
	int			result = SPI_execute(command, false, 0);
	uint64		rows = SPI_processed;

	MemoryContextSwitchTo(context);

	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("command did not run: %s", command)));
	return rows;
}

/* Run the commands that a query yields, all of them found before the first. */
void
simhash_cluster_run_each(const char *query)
{
	uint64		n = simhash_cluster_run(query);
	SPITupleTable *table = SPI_tuptable;

	for (uint64 i = 0; i < n; i++)
		(void) simhash_cluster_run(SPI_getvalue(table->vals[i], table->tupdesc, 1));
	SPI_freetuptable(table);
}

/* The same of one that writes clusters to the table, which are taken as they are. */
uint64
simhash_cluster_run_filling(ClusterCall *call, const char *command)
{
	Oid			before = simhash_clusters_fill(call->table);
	uint64		rows = 0;

	PG_TRY();
	{
		rows = simhash_cluster_run(command);
	}
	PG_FINALLY();
	{
		(void) simhash_clusters_fill(before);
	}
	PG_END_TRY();
	return rows;
}

/* Run a command that alters the table, which must not be open then. */
void
simhash_cluster_alter(ClusterCall *call, const char *command)
{
	relation_close(call->relation, NoLock);
	(void) simhash_cluster_run(command);
	call->relation = relation_open(call->table, NoLock);
}

/* What tells rows of the table apart, for _simhash_clusters_by_... */
char	   *
simhash_cluster_id(const ClusterCall *call, const char *alias)
{
	return call->parted ?
		psprintf("pg_catalog.concat(%s.tableoid, %s.ctid)", alias, alias) :
		psprintf("%s.ctid", alias);
}

/* The name of a column, quoted. */
const char *
simhash_cluster_name(Oid table, AttrNumber column)
{
	return quote_identifier(get_attname(table, column, false));
}

/* What is compared of documents, as arguments. */
static char *
write_documents(const ClusterTerms *terms)
{
	const GuardTerms *its = &terms->terms;
	char		number[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (its->document == 0)
		return "NULL::pg_catalog.text, NULL::pg_catalog.text,"
			" NULL::pg_catalog.float8, NULL::pg_catalog.text";
	(void) double_to_shortest_decimal_buf(its->at_least, number);
	return psprintf("%s::pg_catalog.text, '%s'::pg_catalog.text,"
					" '%s'::pg_catalog.float8, %s::pg_catalog.text",
					quote_literal_cstr(get_attname(terms->root, its->document,
												   false)),
					simhash_clusters_measure(terms), number,
					quote_literal_cstr(its->profile->name));
}

/*
 * The call that computes the clusters of all rows that can have one.  They are
 * sought within the clusters that the rows are in now, if an expression says
 * which.
 */
char	   *
simhash_cluster_query(const ClusterCall *call, const ClusterTerms *terms,
					  const char *current)
{
	const GuardTerms *its = &terms->terms;
	const char *schema =
	quote_identifier(get_namespace_name(get_func_namespace(call->function)));
	const char *fingerprint = simhash_cluster_name(call->table, its->column);
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT %s, t.%s", simhash_cluster_id(call, "t"),
					 fingerprint);
	if (its->document != 0)
		appendStringInfo(&query, ", t.%s",
						 simhash_cluster_name(call->table, its->document));
	if (current != NULL)
		appendStringInfo(&query, ", %s", current);
	for (int i = 0; i < its->ngroup; i++)
		appendStringInfo(&query, ", t.%s",
						 simhash_cluster_name(call->table, its->group[i]));
	appendStringInfo(&query, " FROM %s AS t WHERE t.%s IS NOT NULL",
					 call->source, fingerprint);
	for (int i = 0; i < its->ngroup; i++)
		appendStringInfo(&query, " AND t.%s IS NOT NULL",
						 simhash_cluster_name(call->table, its->group[i]));
	if (call->parted)
		appendStringInfoString(&query, " ORDER BY t.tableoid, t.ctid");
	return psprintf("%s._simhash_clusters_by_%s(%s::pg_catalog.text,"
					" '%d'::pg_catalog.int8, '%s'::pg_catalog.text,"
					" '%s'::pg_catalog.text, '1'::pg_catalog.int8, %s)",
					schema, call->parted ? "text" : "ctid",
					quote_literal_cstr(query.data), its->radius,
					terms->star ? "star" : "connected",
					call->parted ? "first" : "lowest",
					write_documents(terms));
}
