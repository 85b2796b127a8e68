/*-------------------------------------------------------------------------
 *
 * actions.c
 *		No row goes or changes by what a foreign key does of itself.
 *
 * ON DELETE and ON UPDATE of foreign keys change rows that no statement of a removal
 * names, and no log has: those of tables behind its children, of partitions that rows
 * leave, that row security hides, or by a key that another session has just added.  No
 * look at the catalogue finds them all.  So a removal looks while the server does it.
 * The server runs such an action as a statement of its own, in ri_PerformCheck(), which
 * forces no row security on the owner of the table; that is true of no other statement.
 * Where it has changed rows the statement fails, and the line of the plan or the log stays.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "catalog/partition.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "relation.h"

static ExecutorFinish_hook_type previous_finish;

/* What carries out lines right now, or takes them back; NULL if none does. */
static const Removal *watched;

/* The table of which a relation is a partition; or that relation, also while it is detached. */
static Oid
whole(Oid oid)
{
	List	   *above = get_partition_ancestors(oid);

	return above == NIL ? oid : llast_oid(above);
}

/*
 * Fail, since a foreign key has changed rows of a table; but where a removal leaves
 * children to their keys, if these are not rows of the table itself.
 */
static void
check_action(Oid changed)
{
	const char *name = simhash_quoted_name(changed);

	if (!watched->undo && !watched->children && watched->log == NULL &&
		whole(changed) != whole(watched->relation))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("a foreign key would change rows of %s", name)));
}

/* ExecutorFinish_hook: look at what a foreign key's action has done. */
static void
finish(QueryDesc *query)
{
	if (watched != NULL && InNoForceRLSOperation() &&
		IsA(query->planstate, ModifyTableState) && query->estate->es_processed > 0)
		check_action(RelationGetRelid(castNode(ModifyTableState, query->planstate)->rootResultRelInfo->ri_RelationDesc));
	if (previous_finish)
		previous_finish(query);
	else
		standard_ExecutorFinish(query);
}

/* Watch what is done for a removal; returns what was watched before, to be set again. */
const Removal *
simhash_removal_watch(const Removal *removal)
{
	const Removal *before = watched;

	watched = removal;
	return before;
}

/* Called once, as the library is loaded. */
void
simhash_removal_init(void)
{
	previous_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = finish;
}
