/*-------------------------------------------------------------------------
 *
 * guard_trigger.c
 *		simhash_guard(), the trigger that rejects, skips or marks
 *		near-duplicates, or has them conflict with the row that is there.
 *
 * The six steps of a row, and where each of them is:
 *
 * 1. the arguments, read once a statement: guard_options.c and near_terms.c
 *	  read them, for the table that the trigger was made for; near_bind.c
 *	  finds their columns in each table, guard_key.c its keys;
 * 2. the row's fingerprint and group: near_row.c, near_fingerprint.c,
 *	  near_group.c; guard_fill.c fills the fingerprint in;
 * 3. locks against near-duplicates that others insert: near_lock.c;
 * 4. the search: near_search.c, in the tables that near_space.c finds, by
 *	  the indexes that near_index.c finds, without those rows that near_apart.c knows;
 * 5. the verdict, or a wait for the transaction that decides: here;
 * 6. the action: guard_action.c, and guard_mark.c.
 *
 * near_statement.c deals with the end of a statement, near_moved.c with rows
 * that move to another partition.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "catalog/pg_am_d.h"
#include "catalog/pg_constraint.h"
#include "parser/parse_coerce.h"

#include "relation.h"

PG_FUNCTION_INFO_V1(simhash_guard);

/* Fail unless we are called as the right kind of trigger. */
static void
check_guard_context(FunctionCallInfo fcinfo)
{
	TriggerEvent event;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_guard was not called by the trigger manager")));
	event = ((TriggerData *) fcinfo->context)->tg_event;
	if (!TRIGGER_FIRED_BEFORE(event) || !TRIGGER_FIRED_FOR_ROW(event) ||
		!(TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event)))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_guard must be fired BEFORE INSERT OR UPDATE, FOR EACH ROW"),
				 errhint("Create it with CREATE TRIGGER ... BEFORE INSERT OR UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3').")));
}

/*
 * Read the arguments of a statement's trigger, unless that is done, for the
 * table that the trigger was made for.
 */
static void
begin_guard_statement(NearStatement *statement, Oid root,
					  const Trigger *trigger)
{
	Relation	relation;
	GuardArguments *arguments;

	if (statement->terms != NULL)
		return;
	relation = table_open(root, AccessShareLock);
	arguments = simhash_guard_read_arguments(relation, trigger);
	simhash_near_bind_space(&statement->space, relation, &arguments->terms,
							arguments->mark);
	statement->space.keyed = arguments->action == GUARD_MARK ||
		arguments->apart != NIL;
	simhash_guard_bind_locks(statement, relation, trigger);
	statement->terms = arguments;
	table_close(relation, NoLock);
}

/* The arguments in columns of the table that the trigger fires for. */
static void
map_arguments(GuardTrigger *guard, const GuardArguments *arguments,
			  Relation relation, const AttrMap *map)
{
	GuardArguments *mapped = &guard->arguments;
	AttrNumber	document = guard->near.terms.document;

	*mapped = *arguments;
	mapped->terms = guard->near.terms;
	mapped->mark = simhash_near_mapped(map, arguments->mark);
	if (mapped->fill != SIMHASH_NO_MEASURE)
	{
		if (!IsBinaryCoercible(simhash_near_attribute(relation, document)->atttypid, TEXTOID))
			simhash_near_refuse_type(relation, document, "text");
		simhash_near_refuse_generated(relation, document,
									  "The option \"fill\" takes a document in a plain column: generated ones are computed after BEFORE triggers.");
		simhash_near_refuse_generated(relation, mapped->terms.column,
									  "Leave out the option \"fill\".");
		(void) simhash_words(mapped->terms.type.width);
		guard->near.fills = true;
	}
	if (mapped->mark != 0)
		simhash_near_refuse_generated(relation, mapped->mark,
									  "The option \"mark\" takes a plain column.");
}

/*
 * Fail unless ON CONFLICT DO UPDATE can follow by the primary key of a table: each is a
 * btree but those WITHOUT OVERLAPS.
 */
static void
check_primary_key(Relation relation)
{
	Oid			constraint;
	bool		there = get_primary_key_attnos(RelationGetRelid(relation), false,
											   &constraint) != NULL;

	if (!there || simhash_class(get_constraint_index(constraint)).relam != BTREE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg(there ? "the primary key of table \"%s\" is WITHOUT OVERLAPS" :
						"table \"%s\" has no primary key that is not deferrable",
						RelationGetRelationName(relation)),
				 errdetail("By the action \"conflict\" a near-duplicate takes the primary key of the nearest row."),
				 errhint(there ? "Take a table whose primary key is of single values." :
						 "ALTER TABLE ... ADD PRIMARY KEY (...) makes one.")));
}

/*
 * Prepare the trigger for the rows of a table, when a statement comes to the
 * first of them, in memory that lives at least as long as the statement.
 */
static GuardTrigger *
bind_guard(Relation relation, const Trigger *trigger, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	GuardTrigger *guard = palloc0(sizeof *guard);
	NearOrigin	origin = simhash_near_origin(relation, trigger);
	NearStatement *statement = simhash_near_statement(context,
													  origin.trigger);
	const GuardArguments *arguments;
	AttrMap    *map;

	begin_guard_statement(statement, origin.table, trigger);
	arguments = statement->terms;
	guard->near.name = pstrdup(trigger->tgname);
	guard->near.statement = statement;
	map = simhash_near_map_columns(&statement->space, relation);
	simhash_near_bind(&guard->near, relation, &arguments->terms, map);
	map_arguments(guard, arguments, relation, map);
	simhash_near_check_shard(trigger->tgname, relation, &guard->near.terms);
	if (arguments->action == GUARD_CONFLICT)
		check_primary_key(relation);
	if (arguments->action == GUARD_SKIP)
		simhash_near_check_moves(relation, trigger, &origin);
	guard->keys = simhash_guard_find_keys(guard, relation, map);
	if (arguments->apart != NIL)
		guard->near.search.apart = &guard->apart;
	guard->apart.tables = arguments->apart;
	guard->apart.slot = guard->near.slot;
	guard->near.search.enough = arguments->action == GUARD_SKIP &&
		!arguments->notice ? arguments->terms.radius : 0;
	MemoryContextSwitchTo(old);
	return guard;
}

/*
 * Have the row found, whose key ours is to take, stay as it is, as ON CONFLICT DO
 * UPDATE is about to.  False if others may be changing it, who are what to wait for
 * then.
 */
static bool
hold_match(NearSearch *search)
{
	NearPending pending = {
		.distance = search->match.distance,
		.table = search->match.table->table,
		.tid = search->match.slot->tts_tid,
		.mode = LockTupleNoKeyExclusive
	};
	Relation	relation = table_open(pending.table, NoLock);
	bool		held = simhash_near_hold_row(relation, &pending, false);

	table_close(relation, NoLock);
	if (!held)
		search->pending = pending;
	return held;
}

/* Does the row come with a key that may be there?  One that moves brings its own. */
static bool
has_new_key(const TriggerData *data, bool moved)
{
	return TRIGGER_FIRED_BY_INSERT(data->tg_event) && !moved;
}

/*
 * Does the row found settle the matter?  One that stays does, whatever becomes of
 * others, unless the nearest is asked for.
 */
static bool
is_match_final(const GuardTrigger *guard)
{
	const NearSearch *search = &guard->near.search;
	const NearMatch *match = &search->match;
	const NearPending *pending = &search->pending;
	bool		nearest = guard->arguments.action == GUARD_MARK ||
	guard->arguments.action == GUARD_CONFLICT;

	return match->distance >= 0 &&
		(!nearest || (!search->changed && (pending->distance < 0 ||
										   match->distance <= pending->distance)));
}

/*
 * Is it decided what becomes of the row?  If so, we hold the locks that keep
 * others from inserting a near-duplicate before it is in, and the row whose key it
 * takes.  Otherwise wait for what decides it.  A row whose key came to be there
 * meanwhile is not ours to decide on.
 */
static bool
reach_verdict(GuardTrigger *guard, const TriggerData *data, HeapTuple row,
			  bool moved)
{
	NearSearch *search = &guard->near.search;

	if (!is_match_final(guard))
	{
		if (search->pending.distance < 0 && !search->changed)
			return true;
	}
	else if (has_new_key(data, moved) &&
			 simhash_guard_key_is_there(guard->keys, data->tg_relation, row,
										false))
		search->pending.distance = -1;
	else
	{
		guard->conflicts = !moved && simhash_near_load_at_work() == NULL &&
			simhash_guard_may_conflict(guard, data);
		if ((!guard->conflicts || hold_match(search)) &&
			(guard->arguments.action != GUARD_MARK ||
			 simhash_guard_find_original(guard, data, row)))
			return true;
	}
	simhash_near_unlock(&guard->near.statement->locks);
	simhash_near_forget_match(search);
	if (search->pending.distance >= 0)
		simhash_near_wait(&search->pending);
	return false;
}

/*
 * Is it decided already what becomes of the row?  It is if an update changes
 * nothing that is compared, or if an update has moved the row here from
 * another partition: then the call BEFORE UPDATE has decided.  But if another
 * trigger has changed the row since, it is compared again.
 */
static bool
is_settled(NearTrigger *guard, const TriggerData *data, bool *moved)
{
	bool		settled = guard->need == NEAR_AS_BEFORE;

	*moved = false;
	if (TRIGGER_FIRED_BY_INSERT(data->tg_event))
	{
		*moved = guard->statement->moved.valid &&
			simhash_near_has_moved(guard->statement);
		settled = *moved && simhash_near_is_as_moved(guard);
		if (!settled)
			simhash_near_unlock(&guard->statement->locks);
		guard->statement->moved.valid = false;
	}
	else
		simhash_near_note_update(guard, data);
	return settled;
}

/*
 * CREATE TRIGGER name BEFORE INSERT OR UPDATE ON table FOR EACH ROW
 *		EXECUTE FUNCTION simhash_guard(column, action, distance [, option ...])
 *
 * Keep near-duplicates out of a table: rows whose fingerprint, in the given
 * column of type bigint or bit(n), is within the distance (0 to 64 bits, or to
 * n) of another row's.  Action 'reject' raises an error, 'skip' leaves the row
 * out, 'mark' writes the primary key of the nearest other row, or of the row that its
 * mark leads to, into the column named by the option 'mark=column', or NULL when there
 * is none; 'conflict' has
 * an inserted row take the primary key of the nearest, and rejects updates.
 * Option 'notice' has each skipped row noticed.  With 'within=column,...' only
 * rows that are equal in these columns are near-duplicates; with
 * 'similarity=measure', those whose documents, in the column of
 * 'document=column', are similar by at least .8, or what 'at_least=number' or
 * 'at_most=bits' says; 'profile=name' says how documents are read,
 * 'compare=rows' how many are.  With 'time=column' and 'for=interval' rows that
 * are further away in time do not count, with 'apart=table' those that a line of it
 * names beside the new one.  Option
 * 'fill=simhash', or minhash, has the fingerprint computed from the document
 * first.  A row whose primary key is there already, or the unique key named by
 * 'except=column,...', is not examined when it is inserted.
 *
 * Errors: exclusion_violation for a near-duplicate; trigger_protocol_violated,
 * invalid_parameter_value, undefined_column and datatype_mismatch for a
 * trigger that is declared wrongly; generated_always for a row that comes with
 * another fingerprint than the trigger would fill in;
 * object_not_in_prerequisite_state when the table has no index to search by,
 * or no primary key to mark or conflict with.
 */
Datum
simhash_guard(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	GuardTrigger *trigger;
	NearTrigger *guard;
	HeapTuple	row;
	bool		moved;

	check_guard_context(fcinfo);
	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra =
			bind_guard(data->tg_relation, data->tg_trigger,
					   fcinfo->flinfo->fn_mcxt);
	trigger = fcinfo->flinfo->fn_extra;
	guard = &trigger->near;
	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple :
		data->tg_trigtuple;
	if (guard->fills)
		row = simhash_guard_fill(trigger, data, row);
	simhash_near_take_row(guard, data, row);
	if (is_settled(guard, data, &moved))
	{
		if (trigger->arguments.action == GUARD_MARK &&
			guard->need == NEAR_AS_BEFORE)
			row = simhash_guard_keep_mark(trigger, data, row);
		return PointerGetDatum(row);
	}
	if (guard->need == NEAR_COMPARE)
	{
		simhash_near_begin_row(guard->statement);
		trigger->apart.data = data;
		trigger->apart.row = row;
		do
		{
			if (has_new_key(data, moved) &&
				simhash_guard_key_is_there(trigger->keys, data->tg_relation,
										   row, true))
				return PointerGetDatum(row);
			simhash_near_enter(guard, &guard->search.center);
			simhash_near_search(&guard->search, guard->place.scope);
		} while (!reach_verdict(trigger, data, row, moved));
	}
	return PointerGetDatum(simhash_guard_act(trigger, data, row, moved));
}
