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
 * Where it has rows to change the statement fails, and the line of the plan or the log stays.
 * Actions behind a statement of somebody's trigger are what that trigger does.
 *
 * As clusters go, rows may go with them by such keys, but not those of the table whose
 * clusters they are: there every DELETE is looked at, as keys may lead to it by others.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "catalog/partition.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"

#include "relation.h"

static ExecutorStart_hook_type previous_start;
static ExecutorFinish_hook_type previous_finish;

/* What carries out lines right now, or takes them back; NULL if none does. */
static const Removal *watched;

/* The table of which no row goes right now, as its clusters are written; or InvalidOid. */
static Oid	kept;

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

	if (OidIsValid(kept))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("rows of %s would go with clusters", name),
				 errhint("Drop the foreign key, ON DELETE CASCADE, that has them go, and call the procedure again.")));
	if (!watched->undo && !watched->children && watched->log == NULL &&
		whole(changed) != whole(watched->relation))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 errmsg("a foreign key would change rows of %s", name)));
}

/* In how many triggers this is; an action is in one of the server. */
int
simhash_removal_depth(void)
{
	LOCAL_FCINFO(fcinfo, 0);

	InitFunctionCallInfoData(*fcinfo, NULL, 0, InvalidOid, NULL, NULL);
	return DatumGetInt32(pg_trigger_depth(fcinfo));
}

/* The table that a statement changes. */
static Oid
changed_by(const QueryDesc *query)
{
	return linitial_node(RangeTblEntry, query->plannedstmt->rtable)->relid;
}

/* Is a statement the action of a key, behind one of a removal? */
static bool
is_action(const QueryDesc *query)
{
	if (OidIsValid(kept))
		return query->operation == CMD_DELETE && whole(changed_by(query)) == whole(kept);
	return watched != NULL && InNoForceRLSOperation() && query->operation != CMD_SELECT &&
		simhash_removal_depth() == watched->depth + 1;
}

/* ExecutorStart_hook: have the rows counted that an action finds. */
static void
start(QueryDesc *query, int flags)
{
	if (is_action(query))
		query->instrument_options |= INSTRUMENT_ROWS;
	if (previous_start)
		previous_start(query, flags);
	else
		standard_ExecutorStart(query, flags);
}

/*
 * ExecutorFinish_hook: look at what an action has found, as triggers and rules may do
 * something else with it than what is counted as done.
 */
static void
finish(QueryDesc *query)
{
	if (is_action(query))
	{
		const PlanState *source = outerPlanState(query->planstate);

		if (query->estate->es_processed > 0 ||
			(source != NULL && source->instrument != NULL && source->instrument->tuplecount > 0))
			check_action(changed_by(query));
	}
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

/* Keep the rows of a table, or of none; returns the table before, to be set again. */
Oid
simhash_removal_keep(Oid table)
{
	Oid			before = kept;

	kept = table;
	return before;
}

/* Called once, as the library is loaded. */
void
simhash_removal_init(void)
{
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = start;
	previous_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = finish;
}
