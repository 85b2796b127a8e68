/*-------------------------------------------------------------------------
 *
 * near_row.c
 *		The row that a trigger is called for: its fingerprint, its group, and
 *		whether others have to be looked for at all.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

/*
 * The row with another value in a column.  The server does not check what a
 * trigger writes against the constraints of a domain, so we do.
 */
HeapTuple
simhash_near_set_column(HeapTuple row, Relation relation, AttrNumber column,
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
get_column_value(NearTrigger *near, AttrNumber column, ExprState *generated,
				 bool *isnull)
{
	return generated == NULL ? slot_getattr(near->slot, column, isnull) :
		ExecEvalExprSwitchContext(generated, near->econtext, isnull);
}

/*
 * Take the fingerprint of the row as the center, its document, and its group;
 * false when the first or the last is NULL.  The expression of a generated column
 * may ask for tableoid, and the row may lack columns that were added since it was
 * stored.
 */
static bool
get_compared_values(NearTrigger *near, HeapTuple row)
{
	NearSearch *search = &near->search;
	bool		isnull;

	ExecStoreHeapTuple(row, near->slot, false);
	near->slot->tts_tableOid = near->table;
	near->econtext->ecxt_scantuple = near->slot;
	search->center_value = get_column_value(near, near->terms.column,
											near->fingerprint, &isnull);
	if (!isnull)
	{
		text	   *document = simhash_near_get_document(&near->document,
														 near->slot);

		search->center = simhash_near_fingerprint(&near->terms.type,
												  search->center_value);
		if (document != NULL)
			search->document = DatumGetTextPP(PointerGetDatum(document));
	}
	if (near->terms.time != 0)
		search->time = simhash_near_time(&near->terms, near->slot);
	for (int i = 0; i < near->terms.ngroup && !isnull; i++)
		search->group[i] = get_column_value(near, near->terms.group[i],
											near->group[i], &isnull);
	ExecClearTuple(near->slot);
	return !isnull;
}

/*
 * Does an update leave the fingerprint, the time and the compared document as they
 * were?  A row that had no fingerprint, and is filled in that of the document which
 * it had already, counts as unchanged, too.
 */
static bool
keeps_fingerprint(const NearTrigger *near, const TriggerData *data)
{
	bool		isnull;
	Datum		value = slot_getattr(data->tg_trigslot, near->terms.column,
									 &isnull);
	NearFingerprint old;

	if ((isnull && !near->fills) ||
		(near->terms.time != 0 &&
		 simhash_near_time(&near->terms, data->tg_trigslot) != near->search.time))
		return false;
	if (!isnull)
	{
		old = simhash_near_fingerprint(&near->terms.type, value);
		if (simhash_near_distance(&old, &near->search.center) != 0)
			return false;
	}
	return (!isnull && near->terms.compare.measure == SIMHASH_NO_MEASURE) ||
		simhash_near_same_document(simhash_near_get_document(&near->stored,
															 data->tg_trigslot),
								   near->search.document);
}

/*
 * Take the row of a call, and find out how it is to be compared.  The row before
 * this one is in the index by now, or never will be, unless an update is moving it
 * to another partition; so its locks are released.
 */
void
simhash_near_take_row(NearTrigger *near, const TriggerData *data, HeapTuple row)
{
	bool		update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	bool		moves;

	if (update || !near->statement->moved.valid)
		simhash_near_unlock(&near->statement->locks);
	ResetExprContext(near->econtext);
	if (near->document.context != NULL)
		ResetExprContext(near->document.context);
	near->search.document = NULL;
	near->search.self = update ? &data->tg_trigtuple->t_self : NULL;
	near->search.match.slot = NULL;
	near->search.own_marks = NIL;
	near->need = NEAR_NONE_NEAR;
	near->search.center.width = 0;
	if (!get_compared_values(near, row))
		return;
	moves = update &&
		!simhash_near_is_of_group(&near->search, near->terms.group,
								  data->tg_trigslot);
	near->need = update && !moves &&
		keeps_fingerprint(near, data) ?
		NEAR_AS_BEFORE : NEAR_COMPARE;
	if (moves != near->place.moves)
		near->place.found_for = 0;
	near->place.moves = moves;
}

/*
 * Take the locks of a fingerprint in the group of the row, and then learn what
 * has become of the tables meanwhile.  The tables' own locks come first: nobody
 * waits for those while holding locks that others wait for.
 */
void
simhash_near_enter(NearTrigger *near, const NearFingerprint *fingerprint)
{
	NearStatement *statement = near->statement;
	NearSpace  *space = &statement->space;
	const NearLoad *load = simhash_near_load_at_work();

	simhash_near_find(space, &near->place);
	near->search.is_known = load != NULL &&
		simhash_near_take_known(&near->search, load, near->place.scope, statement->trigger);
	if (near->search.is_known)
		return;
	simhash_near_take_locks(&statement->locks, fingerprint,
							space->terms.ngroup == 0 ? 0 :
							simhash_near_group_hash(space, near->search.group));
	simhash_near_find(space, &near->place);
	if (near->place.own->only_way)
		statement->locks.index = near->place.own->hamming.index;
}
