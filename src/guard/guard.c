/*-------------------------------------------------------------------------
 *
 * guard.c
 *		simhash_guard(), the trigger that rejects, skips or marks
 *		near-duplicates.
 *
 * The six steps of a row, and where each stands:
 *
 * 1. what the arguments stand for, once a statement: guard_options.c reads
 *	  them, guard_bind.c finds columns, groups (guard_group.c), keys
 *	  (guard_key.c) and, by guard_tables.c, the tables to search;
 * 2. the row's fingerprint and group: guard_row.c, guard_fingerprint.c;
 * 3. locks against near-duplicates that others insert: guard_lock.c;
 * 4. the search: guard_search.c, with documents compared by guard_verify.c;
 * 5. the verdict, or a wait for the transaction that decides: here;
 * 6. what is done about it: guard_action.c.
 *
 * guard_statement.c sees to the end of a statement.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/table.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"


PG_FUNCTION_INFO_V1(simhash_guard);

/*
 * Are we one of the two other triggers of clusters: AFTER INSERT OR UPDATE, FOR
 * EACH ROW, or AFTER TRUNCATE?
 */
static bool
is_after(const TriggerData *data)
{
	TriggerEvent event = data->tg_event;

	return TRIGGER_FIRED_AFTER(event) &&
		(TRIGGER_FIRED_BY_TRUNCATE(event) ||
		 (TRIGGER_FIRED_FOR_ROW(event) &&
		  (TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event)))) &&
		simhash_guard_option(data->tg_trigger, "clusters") != NULL;
}

/*
 * The table is empty: so is that of its clusters.  No command says so, as the
 * name might stand for another table by now (guard_merge.c).
 */
static void
truncate_clusters(const TriggerData *data)
{
	Oid			root = RelationGetRelid(data->tg_relation);
	Oid			table = simhash_guard_clusters_table(data->tg_trigger, root,
													 RowExclusiveLock);
	Relation	clusters = table_open(table, AccessExclusiveLock);
	Oid			user;
	int			context;

	CheckTableNotInUse(clusters, "TRUNCATE");
	simhash_guard_become_owner(table, &user, &context);
	simhash_truncate(clusters);
	SetUserIdAndSecContext(user, context);
	table_close(clusters, NoLock);
}

/* Called AFTER, for one of these two. */
static void
act_after(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Trigger    *trigger = data->tg_trigger;

	if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
		truncate_clusters(data);
	else if (simhash_guard_any_notes())
	{
		Guard	   *guard = fcinfo->flinfo->fn_extra;

		if (guard == NULL)
			fcinfo->flinfo->fn_extra = guard =
				simhash_guard_bind(data->tg_relation, trigger,
								   fcinfo->flinfo->fn_mcxt);
		if (guard->action == GUARD_CONNECTED && !guard->later)
			simhash_guard_merge_around(guard, data);
	}
}

/* Fail unless we are called as the right kind of trigger. */
static void
check_context(FunctionCallInfo fcinfo)
{
	TriggerEvent event;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_guard was not called by the trigger manager")));
	event = ((TriggerData *) fcinfo->context)->tg_event;
	if (is_after((TriggerData *) fcinfo->context))
		return;
	if (!TRIGGER_FIRED_BEFORE(event) || !TRIGGER_FIRED_FOR_ROW(event) ||
		!(TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event)))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_guard must be fired BEFORE INSERT OR UPDATE, FOR EACH ROW"),
				 errhint("Make it by CREATE TRIGGER ... BEFORE INSERT OR UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3').")));
}

/*
 * What the trigger stands for, found out at the first row of a statement for a
 * table.  The row before this one is in the index by now, or never will be,
 * unless an update is moving it to another partition.
 */
static Guard *
get_guard(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Guard	   *guard = fcinfo->flinfo->fn_extra;

	if (guard == NULL)
		fcinfo->flinfo->fn_extra = guard =
			simhash_guard_bind(data->tg_relation, data->tg_trigger,
							   fcinfo->flinfo->fn_mcxt);
	if (!guard->statement->moved.valid ||
		!TRIGGER_FIRED_BY_INSERT(data->tg_event))
		simhash_guard_unlock(guard->statement);
	return guard;
}

/*
 * Must we know what becomes of the row that a transaction in progress decides
 * on?  A row that stays settles the matter, unless the nearest is asked for.
 */
static bool
must_wait(const Guard *guard, const GuardSearch *search)
{
	if (search->pending.distance < 0)
		return false;
	if (search->match.distance < 0)
		return true;
	return guard->action == GUARD_MARK &&
		search->pending.distance < search->match.distance;
}

/*
 * Is it decided what becomes of the row?  If so, we hold the locks that keep
 * others from inserting a near-duplicate before it is in.  Otherwise wait for
 * what decides it.
 */
static bool
reach_verdict(const Guard *guard, GuardSearch *search)
{
	if (!must_wait(guard, search))
		return true;
	simhash_guard_unlock(guard->statement);
	simhash_guard_forget_match(&search->match);
	simhash_guard_wait(&search->pending);
	return false;
}

/*
 * Is it decided already what becomes of the row?  It is when an update leaves
 * it as it was, or has moved it here from another partition: then the decision
 * was that of BEFORE UPDATE.  If another trigger has changed the row since, it
 * is compared again.
 */
static bool
is_settled(Guard *guard, TriggerData *data, GuardSearch *search)
{
	bool		settled = search->need == GUARD_AS_BEFORE;

	if (TRIGGER_FIRED_BY_INSERT(data->tg_event))
	{
		search->moved = simhash_guard_has_moved(guard->statement);
		settled = search->moved && simhash_guard_is_as_moved(guard, search);
		if (!settled)
			simhash_guard_unlock(guard->statement);
	}
	simhash_guard_note_update(guard, data, search);
	return settled;
}

/*
 * CREATE TRIGGER name BEFORE INSERT OR UPDATE ON table FOR EACH ROW
 *		EXECUTE FUNCTION simhash_guard(column, action, distance [, option ...])
 *
 * Keep near-duplicates out of a table: rows whose fingerprint, in the given
 * column of type bigint or bit(n), is within the distance (0 to 64 bits, or to
 * n) of another row's.
 * Action 'reject' raises an error, 'skip' leaves the row out, 'mark' writes
 * the primary key of the nearest other row into the column named by the
 * option 'mark=column', or NULL when there is none.  Option 'notice' has each
 * skipped row noticed.  With 'within=column,...' only rows that are equal in
 * these columns are near-duplicates; with 'similarity=jaccard', or cosine, those
 * whose documents, in 'document=column', are similar by at least .8, or what
 * 'at_least=number' says.  'fill=simhash', or minhash, has the fingerprint
 * computed from the document first, with 'profile=name' or not.  An inserted row
 * is not compared with the row that has its primary key, or the unique key named
 * by 'except=column,...'.
 *
 * Errors: 23S01 for a near-duplicate; trigger_protocol_violated,
 * invalid_parameter_value, undefined_column and datatype_mismatch for a
 * trigger that is declared wrongly; generated_always for a fingerprint given that
 * is not what is filled in; object_not_in_prerequisite_state when the table has
 * no index to search by, or no primary key to mark with.
 */
Datum
simhash_guard(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Guard	   *guard;
	GuardSearch search;
	HeapTuple	row;

	check_context(fcinfo);
	if (is_after(data))
	{
		act_after(fcinfo);
		return PointerGetDatum(NULL);
	}
	guard = get_guard(fcinfo);
	row = simhash_guard_take_row(guard, data, &search);
	if (GUARD_CLUSTERS(guard->action))
		return PointerGetDatum(simhash_guard_join(guard, data, &search, row));
	if (is_settled(guard, data, &search))
	{
		if (guard->action == GUARD_MARK && search.need == GUARD_AS_BEFORE)
			row = simhash_guard_keep_mark(guard, data, row);
		return PointerGetDatum(row);
	}
	if (search.need == GUARD_COMPARE)
	{
		simhash_guard_begin_row(guard->statement);
		do
		{
			simhash_guard_lock(guard, &search.center);
			simhash_guard_search(guard, &search);
		} while (!reach_verdict(guard, &search));
	}
	return PointerGetDatum(simhash_guard_act(guard, data, &search, row));
}
