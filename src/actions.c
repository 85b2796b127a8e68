/*-------------------------------------------------------------------------
 *
 * actions.c
 *		No row goes or changes by what a foreign key does of itself.
 *
 * ON DELETE and ON UPDATE of foreign keys change rows that no statement of ours names:
 * of a removal, those that no log has, of tables behind its children, of partitions that
 * rows leave, that row security hides, or by a key that another session has just added; as
 * clusters go, rows of the very table.  No look at the catalogue finds them all.  So we look
 * while the server does it.  It runs such an action as a statement of its own, in
 * ri_PerformCheck(), which forces no row security on the owner of the table; that is true of
 * no other statement.  Where an action has rows to change that are watched, it fails.  It
 * fires no triggers of its own: those of a chain of actions are in one and the same depth of
 * triggers, just behind our statement.  Deeper ones are behind a statement of somebody's
 * trigger: what that trigger does.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "actions.h"

#include "catalog/partition.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"

#include "relation.h"

static ExecutorStart_hook_type previous_start;
static ExecutorFinish_hook_type previous_finish;

static SimhashWatch watched;

/* The table of which a relation is a partition; or that relation, also while it is detached. */
static Oid
whole(Oid oid)
{
	List	   *above = get_partition_ancestors(oid);

	return above == NIL ? oid : llast_oid(above);
}

/* In how many triggers this is; an action is in one of the server. */
static int
trigger_depth(void)
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

/* Is a statement the action of a key, behind one of ours, that may have no rows? */
static bool
is_watched(const QueryDesc *query)
{
	return OidIsValid(watched.table) && InNoForceRLSOperation() &&
		(query->operation == CMD_DELETE || (query->operation == CMD_UPDATE && watched.updates)) &&
		trigger_depth() == watched.depth + 1 &&
		(watched.others || whole(changed_by(query)) == whole(watched.table));
}

/* Fail, since an action would change rows of a table. */
static void
refuse_action(Oid changed)
{
	const char *name = simhash_quoted_name(changed);

	ereport(ERROR,
			(errcode(ERRCODE_RESTRICT_VIOLATION),
			 errmsg("a foreign key would change rows of %s", name),
			 errhint("Drop the key, or make it one that does nothing ON DELETE and ON UPDATE.")));
}

/* ExecutorStart_hook: have the rows counted that an action finds. */
static void
start(QueryDesc *query, int flags)
{
	if (is_watched(query))
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
	if (is_watched(query))
	{
		const PlanState *source = outerPlanState(query->planstate);

		if (query->estate->es_processed > 0 ||
			(source != NULL && source->instrument != NULL && source->instrument->tuplecount > 0))
			refuse_action(changed_by(query));
	}
	if (previous_finish)
		previous_finish(query);
	else
		standard_ExecutorFinish(query);
}

/*
 * From here on no action of a key, behind a statement of the caller's, may change what is
 * watched.  Returns what was watched before, for the end, which is to be reached by errors, too.
 */
SimhashWatch
simhash_begin_watch(Oid table, bool updates, bool others)
{
	SimhashWatch before = watched;
	SimhashWatch now = {table, updates, others, trigger_depth()};

	watched = now;
	return before;
}

/* Watch again what was watched before. */
void
simhash_end_watch(SimhashWatch before)
{
	watched = before;
}

/* Called once, as the library is loaded. */
void
simhash_actions_init(void)
{
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = start;
	previous_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = finish;
}
