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
#include "clusters/upkeep/step.h"

#include "catalog/pg_inherits.h"
#include "utils/memutils.h"

/* Has the session that lock, an advisory one, as PostgreSQL's functions take and we? */
static bool
is_ours(const LockInstanceData *lock)
{
	return lock->pid == MyProcPid && lock->holdMask != 0 &&
		lock->locktag.locktag_type == LOCKTAG_ADVISORY;
}

/*
 * Let go of advisory locks that code of the owner's has left in the session of
 * somebody else: those that the transaction had are gone with it.  Where that goes
 * on, or is rolled back by an error, they stay, as after any command of PostgreSQL's
 * that runs such code.
 */
static void
release_locks(const LockData *before)
{
	const LockData *now = GetLockStatusData();

	for (int i = 0; i < now->nelements; i++)
	{
		const LockInstanceData *lock = &now->locks[i];
		LOCKMASK	extra = lock->holdMask;

		if (!is_ours(lock))
			continue;
		for (int j = 0; j < before->nelements; j++)
		{
			const LockInstanceData *had = &before->locks[j];

			if (is_ours(had) &&
				memcmp(&had->locktag, &lock->locktag, sizeof(LOCKTAG)) == 0)
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

/* Begin a call about a table and a column. */
static void
begin_call(ClusterCall *call, FunctionCallInfo fcinfo, int column)
{
	/* No procedure can be strict. */
	simhash_check_not_null(fcinfo, 0, column);
	call->atomic = simhash_is_atomic(fcinfo);
	if (call->atomic && IsolationUsesXactSnapshot() && !call->reads)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("clusters cannot be set up or mended in a transaction of level REPEATABLE READ or SERIALIZABLE"),
				 errhint("CALL it outside a transaction block, or in one of level READ COMMITTED.")));
	(void) SPI_connect_ext(call->atomic ? 0 : SPI_OPT_NONATOMIC);
	call->function = fcinfo->flinfo->fn_oid;
	call->table = PG_GETARG_OID(0);
	call->column = pstrdup(NameStr(*PG_GETARG_NAME(column)));
	call->context = AllocSetContextCreate(CurrentMemoryContext,
										  "simhash clusters",
										  ALLOCSET_DEFAULT_SIZES);

	if (!call->atomic)
		simhash_end_transaction();
	call->locks = GetLockStatusData();
}

/*
 * Do what a call is for, with its progress shown.  The function's first argument is
 * the table; the column's name is that of the number given.  Only one session sets
 * clusters of a table up, trims or mends them: another would do the same work beside
 * it.  The lock outlives the transactions of the call, but in a transaction block.
 */
void
simhash_upkeep_call(ClusterCall *call, FunctionCallInfo fcinfo, int column,
					void (*act) (ClusterCall *))
{
	SimhashProgress progress;
	LOCKTAG		tag;

	begin_call(call, fcinfo, column);
	simhash_check_owner(call->table);
	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, RelationRelationId, call->table, 1);
	if (!call->shared &&
		LockAcquire(&tag, ExclusiveLock, !call->atomic, true) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("another session sets up, trims or mends clusters of \"%s\"",
						get_rel_name(call->table)),
				 errhint("pg_stat_activity shows how far it is. If that call is stopped, the same call resumes it.")));
	simhash_progress_begin(&progress, get_func_name(call->function));
	PG_TRY();
	{
		act(call);
	}
	PG_FINALLY();
	{
		simhash_progress_end(&progress);
		if (!call->shared && !call->atomic && simhash_lock_held(&tag, ExclusiveLock))
			(void) LockRelease(&tag, ExclusiveLock, true);
	}
	PG_END_TRY();
	MemoryContextDelete(call->context);
	SPI_finish();
}

/* Begin a step about a table that may keep no clusters: lock it, as its owner. */
void
simhash_upkeep_begin_table(ClusterCall *call, LOCKMODE lockmode)
{
	Oid			owner;

	CHECK_FOR_INTERRUPTS();
	if (!call->atomic)
		simhash_set("transaction_isolation", "read committed", GUC_ACTION_LOCAL);
	call->outer = MemoryContextSwitchTo(call->context);
	call->relation =
		simhash_open_table(call->table, lockmode, call->function,
						   "Clusters are kept in tables and partitioned tables.");
	call->name = simhash_quoted_name(call->table);
	call->parted =
		call->relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	call->tables = call->parted ? find_all_inheritors(call->table, NoLock, NULL) :
		list_make1_oid(call->table);
	call->source = call->parted ? call->name : psprintf("ONLY %s", call->name);
	owner = call->relation->rd_rel->relowner;
	call->foreign = GetUserId() != owner;
	call->before = simhash_become(owner, SECURITY_LOCAL_USERID_CHANGE | SECURITY_NOFORCE_RLS |
								  (call->foreign ? SECURITY_RESTRICTED_OPERATION : 0));

	/* Nothing that a step runs is worth compiling. */
	simhash_set("jit", "off", GUC_ACTION_SAVE);
}

/* The clusters that the table keeps in the column, by its own deed. */
ClusterTerms *
simhash_upkeep_find(ClusterCall *call)
{
	ClusterTerms *terms = simhash_clusters_find(call->relation, call->column);

	if (terms == NULL || terms->root != call->table)
		simhash_clusters_complain_of_none(call->relation, call->column);
	simhash_clusters_set_type(terms);
	if (terms->later && !call->sets_up && !call->reads)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the clusters of \"%s\" are not set up yet",
						RelationGetRelationName(call->relation)),
				 errhint("CALL simhash_add_clusters(...) with the same arguments resumes the set-up.")));
	call->terms = terms;
	return terms;
}

/*
 * Begin a step about clusters that are kept.  In a transaction block locks stay, and
 * must not become stronger.
 */
ClusterTerms *
simhash_upkeep_begin_step(ClusterCall *call, LOCKMODE lockmode)
{
	simhash_upkeep_begin_table(call, call->atomic && !call->reads &&
							   !call->sets_up ? ShareRowExclusiveLock : lockmode);
	return simhash_upkeep_find(call);
}

/* End a step, and the transaction if we may. */
void
simhash_upkeep_end_step(ClusterCall *call)
{
	simhash_become_again(&call->before);
	relation_close(call->relation, NoLock);
	call->relation = NULL;
	call->tables = NIL;
	call->terms = NULL;
	if (!call->atomic)
	{
		SPI_commit();
		if (call->foreign)
			release_locks(call->locks);
	}
	MemoryContextSwitchTo(call->outer);
	MemoryContextReset(call->context);
}

/* Run a command that alters the table, which must not be open then. */
void
simhash_upkeep_alter(ClusterCall *call, const char *command)
{
	relation_close(call->relation, NoLock);
	(void) simhash_upkeep_run(call, command);
	call->relation = relation_open(call->table, NoLock);
}

/*
 * Drop the triggers that are bound to a table of clusters; without one, those
 * bound to any that has no deed, or another owner.  Returns how many.
 */
int
simhash_upkeep_drop_triggers(ClusterCall *call, Oid clusters)
{
	TriggerDesc *all = CopyTriggerDesc(call->relation->trigdesc);
	int			n = 0;

	for (int i = 0; all != NULL && i < all->numtriggers; i++)
	{
		Trigger    *trigger = &all->triggers[i];
		Oid			named = simhash_clusters_of_trigger(trigger);

		if (simhash_c_function(trigger->tgfoid) != simhash_cluster ||
			trigger->tgisclone)
			continue;
		if (OidIsValid(clusters) ? named != clusters :
			simhash_clusters_read_owned(named, call->relation->rd_rel->relowner) != NULL)
			continue;
		n++;
		simhash_upkeep_alter(call, psprintf("DROP TRIGGER %s ON %s",
											quote_identifier(trigger->tgname),
											call->name));
	}
	return n;
}
