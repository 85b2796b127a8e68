/*-------------------------------------------------------------------------
 *
 * cluster_step.c
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
#include "guard/cluster_setup.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

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
	call->level = NewGUCNestLevel();
	SetUserIdAndSecContext(owner,
						   call->security | SECURITY_NOFORCE_RLS |
						   (call->user == owner ? 0 :
							SECURITY_RESTRICTED_OPERATION));
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
		SPI_commit();
}

/* Complain of what has the name of the work table. */
void
simhash_cluster_complain_of_work(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_TABLE),
			 errmsg("relation \"%s\" is in the way", name),
			 errhint("Rename it.")));
}

/* Find what the table has of its clusters. */
ClusterParts
simhash_cluster_find(ClusterCall *call, bool missing_ok)
{
	ClusterParts parts = {0};
	RangeVar   *clusters;

	parts.trigger = simhash_guard_cluster_trigger(call->relation,
												  call->column, missing_ok);
	if (parts.trigger == NULL)
		return parts;
	parts.later = simhash_guard_option(parts.trigger, "later") != NULL;
	parts.clusters = pstrdup(simhash_guard_option(parts.trigger, "clusters"));
	clusters = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(parts.clusters)));
	parts.work_name = makeObjectName(clusters->relname, NULL, "fill");
	parts.work = quote_qualified_identifier(clusters->schemaname,
											parts.work_name);
	if (clusters->schemaname != NULL)
		parts.work_table =
			get_relname_relid(parts.work_name,
							  get_namespace_oid(clusters->schemaname, true));
	if (OidIsValid(parts.work_table) &&
		(get_rel_relkind(parts.work_table) != RELKIND_RELATION ||
		 !simhash_owns_relation(parts.work_table,
								call->relation->rd_rel->relowner)))
		simhash_cluster_complain_of_work(parts.work_name);
	return parts;
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

/* What a trigger stands for; for that it takes a snapshot. */
Guard	   *
simhash_cluster_bind(const ClusterCall *call, Trigger *trigger)
{
	Guard	   *guard;

	PushActiveSnapshot(GetTransactionSnapshot());
	guard = simhash_guard_bind(call->relation, trigger, CurrentMemoryContext);
	if (!guard->later)
		(void) simhash_guard_tables(guard);
	PopActiveSnapshot();
	return guard;
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

/* Names of columns, each with something before it. */
char	   *
simhash_cluster_columns(const List *names, const char *before)
{
	StringInfoData list;
	ListCell   *lc;

	initStringInfo(&list);
	foreach(lc, names)
		appendStringInfo(&list, "%s%s", before, quote_identifier(lfirst(lc)));
	return list.data;
}

/* What is compared of documents, as arguments. */
static char *
write_documents(const Guard *guard)
{
	char		number[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (guard->compared == 0)
		return "NULL::pg_catalog.text, NULL::pg_catalog.text,"
			" NULL::pg_catalog.float8, NULL::pg_catalog.text";
	(void) double_to_shortest_decimal_buf(guard->at_least, number);
	return psprintf("%s::pg_catalog.text, '%s'::pg_catalog.text,"
					" '%s'::pg_catalog.float8, %s::pg_catalog.text",
					quote_literal_cstr(get_attname(guard->table,
												   guard->compared, false)),
					guard->measure == SIMHASH_COSINE ? "cosine" : "jaccard",
					number, quote_literal_cstr(guard->profile->name));
}

/*
 * The call that computes the clusters of all rows that can have one.  They are
 * sought within the clusters that the rows are in now, if an expression says
 * which.
 */
char	   *
simhash_cluster_query(const ClusterCall *call, const Guard *guard,
					  const char *current)
{
	const char *schema =
	quote_identifier(get_namespace_name(get_func_namespace(call->function)));
	const char *fingerprint =
	quote_identifier(get_attname(call->table, guard->fingerprint.column, false));
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT %s, t.%s", simhash_cluster_id(call, "t"),
					 fingerprint);
	if (guard->compared != 0)
		appendStringInfo(&query, ", t.%s",
						 quote_identifier(get_attname(call->table,
													  guard->compared, false)));
	if (current != NULL)
		appendStringInfo(&query, ", %s", current);
	for (int i = 0; i < guard->statement->ngroup; i++)
		appendStringInfo(&query, ", t.%s",
						 quote_identifier(get_attname(call->table,
													  guard->group[i].column,
													  false)));
	appendStringInfo(&query, " FROM %s AS t WHERE t.%s IS NOT NULL",
					 call->source, fingerprint);
	for (int i = 0; i < guard->statement->ngroup; i++)
		appendStringInfo(&query, " AND t.%s IS NOT NULL",
						 quote_identifier(get_attname(call->table,
													  guard->group[i].column,
													  false)));
	if (call->parted)
		appendStringInfoString(&query, " ORDER BY t.tableoid, t.ctid");
	return psprintf("%s._simhash_clusters_by_%s(%s::pg_catalog.text,"
					" '%d'::pg_catalog.int8, '%s'::pg_catalog.text,"
					" '%s'::pg_catalog.text, '1'::pg_catalog.int8, %s)",
					schema, call->parted ? "text" : "ctid",
					quote_literal_cstr(query.data), guard->radius,
					guard->action == GUARD_STAR ? "star" : "connected",
					call->parted ? "first" : "lowest",
					write_documents(guard));
}
