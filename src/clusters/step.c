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
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "clusters/trigger.h"
#include "pairs/pairs.h"
#include "relation.h"

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
	if (call->atomic && IsolationUsesXactSnapshot() && !call->reads)
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

/* Begin a call about a relation and a column.  No procedure can be strict. */
void
simhash_cluster_begin_call(ClusterCall *call, FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("relation and column must not be null")));
	simhash_cluster_begin(call, fcinfo, PG_GETARG_OID(0),
						  NameStr(*PG_GETARG_NAME(1)));
}

/* Fail unless the clusters are set up. */
void
simhash_cluster_check_set_up(const ClusterCall *call, const ClusterTerms *terms)
{
	if (terms->later)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the clusters of \"%s\" are not set up yet",
						RelationGetRelationName(call->relation)),
				 errhint("CALL simhash_add_clusters(...) goes on with it.")));
}

/*
 * Do what a call is for, with its progress shown, and as the only session that
 * sets clusters of the table up, trims or mends them: another would do the same
 * work beside it.  The lock outlives the transactions of the call, but in a
 * transaction block.
 */
void
simhash_cluster_alone(ClusterCall *call, const char *name,
					  void (*act) (void *), void *argument)
{
	SimhashProgress progress;
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, RelationRelationId, call->table, 1);
	if (LockAcquire(&tag, ExclusiveLock, !call->atomic, true) ==
		LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("another session sets up, trims or mends clusters of \"%s\"",
						get_rel_name(call->table)),
				 errhint("pg_stat_activity shows how far it is. If it is stopped, the same call goes on.")));
	simhash_progress_begin(&progress, name);
	PG_TRY();
	{
		act(argument);
	}
	PG_FINALLY();
	{
		simhash_progress_end(&progress);
		if (!call->atomic)
			(void) LockRelease(&tag, ExclusiveLock, true);
	}
	PG_END_TRY();
}

/* Fail in a transaction block: the call is of several transactions. */
void
simhash_cluster_need_transactions(const ClusterCall *call, const char *name)
{
	if (call->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot be called in a transaction block", name),
				 errdetail("It waits for the transactions that are writing, which would wait for this one.")));
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

/* A number that a query has yielded; 0 for NULL. */
int64
simhash_cluster_number(uint64 row, int column)
{
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row],
									  SPI_tuptable->tupdesc, column, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
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

/* The same of one that writes clusters to a table, and how the trigger takes them. */
uint64
simhash_cluster_run_writing(const char *command, Oid table, ClusterWriting how)
{
	ClusterWriter before = simhash_clusters_set_writer(table, how);
	uint64		rows = 0;

	PG_TRY();
	{
		rows = simhash_cluster_run(command);
	}
	PG_FINALLY();
	{
		simhash_clusters_reset_writer(before);
	}
	PG_END_TRY();
	return rows;
}

/* Set a setting until the end of the step, or of a subtransaction. */
void
simhash_cluster_set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/* Run a command that alters the table, which must not be open then. */
void
simhash_cluster_alter(ClusterCall *call, const char *command)
{
	relation_close(call->relation, NoLock);
	(void) simhash_cluster_run(command);
	call->relation = relation_open(call->table, NoLock);
}

/*
 * Drop the triggers that are bound to a table of clusters; without one, those
 * bound to any that has no deed, or another owner.  Returns how many.
 */
int
simhash_cluster_drop_triggers(ClusterCall *call, Oid clusters)
{
	TriggerDesc *all = CopyTriggerDesc(call->relation->trigdesc);
	int			n = 0;

	for (int i = 0; all != NULL && i < all->numtriggers; i++)
	{
		Trigger    *trigger = &all->triggers[i];
		Oid			its = simhash_clusters_of_trigger(trigger);

		if (simhash_c_function(trigger->tgfoid) != simhash_cluster ||
			trigger->tgisclone)
			continue;
		if (OidIsValid(clusters) ? its != clusters :
			simhash_clusters_read_owned(its, call->relation->rd_rel->relowner) != NULL)
			continue;
		n++;
		simhash_cluster_alter(call, psprintf("DROP TRIGGER %s ON %s",
											 quote_identifier(trigger->tgname),
											 call->name));
	}
	return n;
}

/* Our schema, quoted. */
const char *
simhash_cluster_schema(const ClusterCall *call)
{
	return quote_identifier(get_namespace_name(get_func_namespace(call->function)));
}

/* The name of a column, quoted. */
const char *
simhash_cluster_name(Oid table, AttrNumber column)
{
	return quote_identifier(get_attname(table, column, false));
}
