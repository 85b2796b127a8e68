/*-------------------------------------------------------------------------
 *
 * guard_row.c
 *		The row that a trigger is called for: its fingerprint, its group, and
 *		whether others have to be looked for at all.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

/*
 * The row with another value in a column.  The server does not check what a
 * trigger writes against the constraints of a domain, so we do.
 */
HeapTuple
simhash_guard_set_column(HeapTuple row, Relation relation, AttrNumber column,
						 Datum value, bool isnull)
{
	TupleDesc	desc = RelationGetDescr(relation);
	Oid			type = TupleDescAttr(desc, column - 1)->atttypid;
	int			number = column;

	if (getBaseType(type) != type)
		domain_check(value, isnull, type, NULL, NULL);
	return heap_modify_tuple_by_cols(row, desc, 1, &number, &value, &isnull);
}

/* The value that the row in the slot has in a column; it lasts until the next. */
static Datum
get_column_value(Guard *guard, AttrNumber column, ExprState *generated,
				 bool *isnull)
{
	return generated == NULL ? slot_getattr(guard->slot, column, isnull) :
		ExecEvalExprSwitchContext(generated, guard->econtext, isnull);
}

/*
 * Take the fingerprint of the row as the center, its document, and its group;
 * false when the first or the last is NULL.  The expression of a generated column
 * may ask for tableoid, and the row may lack columns that were added since it was
 * stored.
 */
static bool
get_compared_values(Guard *guard, HeapTuple row)
{
	GuardSearch *search = &guard->search;
	bool		isnull;

	ExecStoreHeapTuple(row, guard->slot, false);
	guard->slot->tts_tableOid = guard->table;
	guard->econtext->ecxt_scantuple = guard->slot;
	search->center_value = get_column_value(guard, guard->terms.column,
											guard->fingerprint, &isnull);
	if (!isnull)
	{
		text	   *document = simhash_guard_get_document(&guard->document,
														  guard->slot);

		search->center = simhash_guard_fingerprint(&guard->terms.type,
												   search->center_value);
		if (document != NULL)
			search->document = DatumGetTextPP(PointerGetDatum(document));
	}
	search->time = simhash_guard_time(&guard->terms, guard->slot);
	for (int i = 0; i < guard->terms.ngroup && !isnull; i++)
		search->group[i] = get_column_value(guard, guard->terms.group[i],
											guard->group[i], &isnull);
	ExecClearTuple(guard->slot);
	return !isnull;
}

/*
 * Does an update leave the fingerprint, the time and the compared document as they
 * were?  A row that had no fingerprint, and is filled in that of the document which
 * it had already, counts as unchanged, too.
 */
static bool
keeps_fingerprint(const Guard *guard, const TriggerData *data)
{
	bool		isnull;
	Datum		value = slot_getattr(data->tg_trigslot, guard->terms.column,
									 &isnull);
	GuardFingerprint old;

	if ((isnull && !guard->fills) ||
		simhash_guard_time(&guard->terms, data->tg_trigslot) != guard->search.time)
		return false;
	if (!isnull)
	{
		old = simhash_guard_fingerprint(&guard->terms.type, value);
		if (simhash_guard_distance(&old, &guard->search.center) != 0)
			return false;
	}
	return (!isnull && guard->terms.measure == SIMHASH_NO_MEASURE) ||
		simhash_guard_same_document(simhash_guard_get_document(&guard->stored,
															   data->tg_trigslot),
									guard->search.document);
}

/*
 * Take the row of a call, and find out how it is to be compared.  The row before
 * this one is in the index by now, or never will be, unless an update is moving it
 * to another partition; so its locks are released.
 */
void
simhash_guard_take_row(Guard *guard, const TriggerData *data, HeapTuple row)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	bool		moves;

	if (update || !guard->statement->moved.valid)
		simhash_guard_unlock(&guard->statement->locks);
	ResetExprContext(guard->econtext);
	if (guard->document.context != NULL)
		ResetExprContext(guard->document.context);
	guard->search.document = NULL;
	guard->search.self = update ? &data->tg_trigtuple->t_self : NULL;
	guard->search.match.slot = NULL;
	guard->search.own_marks = NIL;
	guard->need = GUARD_NONE_NEAR;
	guard->search.center.width = 0;
	if (!get_compared_values(guard, row))
		return;
	moves = update &&
		!simhash_guard_is_of_group(&guard->search, guard->terms.group,
								   data->tg_trigslot);
	guard->need = update && !moves &&
		keeps_fingerprint(guard, data) ?
		GUARD_AS_BEFORE : GUARD_COMPARE;
	if (moves != guard->place.moves)
		guard->place.found_for = 0;
	guard->place.moves = moves;
}

/*
 * Take the locks of a fingerprint in the group of the row, and then learn what
 * has become of the tables meanwhile.  The tables' own locks come first: nobody
 * waits for those while holding locks that others wait for.
 */
void
simhash_guard_enter(Guard *guard, const GuardFingerprint *fingerprint)
{
	GuardStatement *statement = guard->statement;
	GuardSpace *space = &statement->space;

	simhash_guard_find(space, &guard->place);
	if (simhash_guard_take_known(&guard->search, guard->place.scope, statement->trigger))
		return;
	simhash_guard_take_locks(&statement->locks, fingerprint,
							 simhash_guard_group_hash(space,
													  guard->search.group));
	simhash_guard_find(space, &guard->place);
	if (guard->place.own->only_way)
		statement->locks.index = guard->place.own->hamming.index;
}
