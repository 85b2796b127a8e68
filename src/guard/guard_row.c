/*-------------------------------------------------------------------------
 *
 * guard_row.c
 *		The row that simhash_guard() is called for: its fingerprint, its group,
 *		and whether others have to be looked for at all.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/*
 * The row with another value in a column.  What a trigger writes, the server
 * no longer checks against the constraints of a domain.
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

/*
 * What the row has in a column, until the next one is looked at.  An expression
 * may ask for tableoid, as that of a generated column may, and the row may lack
 * columns that were added since it was stored.
 */
static Datum
get_value(Guard *guard, const GuardSource *source, HeapTuple row,
		  bool *isnull)
{
	TupleTableSlot *slot = guard->slot;
	Datum		value;

	if (source->expression == NULL)
		return heap_getattr(row, source->column, slot->tts_tupleDescriptor,
							isnull);
	ExecStoreHeapTuple(row, slot, false);
	slot->tts_tableOid = guard->table;
	guard->econtext->ecxt_scantuple = slot;
	value = ExecEvalExprSwitchContext(source->expression, guard->econtext,
									  isnull);
	ExecClearTuple(slot);
	return value;
}

/*
 * Take the fingerprint of the row as the center, and its group; false when one
 * of them is NULL.
 */
static bool
get_values(Guard *guard, HeapTuple row, GuardSearch *search)
{
	bool		isnull;

	search->center_value = get_value(guard, &guard->fingerprint, row, &isnull);
	if (isnull)
		return false;
	search->center = simhash_guard_fingerprint(&guard->type,
											   search->center_value);
	for (int i = 0; i < guard->statement->ngroup && !isnull; i++)
		guard->group_values[i] = get_value(guard, &guard->group[i], row,
										   &isnull);
	return !isnull;
}

/* The document of a row, in that column; NULL if it has none. */
static text *
get_document(Relation relation, AttrNumber column, HeapTuple row)
{
	bool		isnull;
	Datum		value = heap_getattr(row, column, RelationGetDescr(relation),
									 &isnull);

	return isnull ? NULL : (text *) DatumGetPointer(value);
}

/* Have two versions of a row the same document, in that column? */
static bool
has_same_document(Relation relation, AttrNumber column, HeapTuple old,
				  HeapTuple new)
{
	return simhash_guard_same_document(get_document(relation, column, old),
									   get_document(relation, column, new));
}

/* The fingerprint of a row's document; NULL if it has none. */
static Datum
compute_fingerprint(const Guard *guard, TupleDesc desc, HeapTuple row,
					bool *isnull)
{
	SimhashWideFamily family = guard->fill == GUARD_FILL_MINHASH ?
	simhash_wide_minhash : simhash_wide_fingerprint;
	int			n = guard->type.width / SH_BITS;
	uint64		words[SH_WORDS];
	Datum		document = heap_getattr(row, guard->document, desc, isnull);

	if (!*isnull)
		*isnull = !family(guard->profile, DatumGetTextPP(document), n, words);
	if (*isnull)
		return (Datum) 0;
	return guard->type.oid == BITOID ? simhash_make_bits(words, n) :
		Int64GetDatum((int64) words[0]);
}

/* Are two fingerprints, or NULLs, the same? */
static bool
same_fingerprint(const Guard *guard, Datum value, bool isnull,
				 Datum other, bool othernull)
{
	GuardFingerprint a;
	GuardFingerprint b;

	if (isnull || othernull)
		return isnull && othernull;
	a = simhash_guard_fingerprint(&guard->type, value);
	b = simhash_guard_fingerprint(&guard->type, other);
	return simhash_guard_distance(&a, &b) == 0;
}

/*
 * Has a row the fingerprint that it had before: before an update, or where the
 * statement has moved it from?  And the document?
 */
static bool
is_as_before(const Guard *guard, const TriggerData *data, HeapTuple row,
			 Datum given, bool *same_document)
{
	Relation	relation = data->tg_relation;
	const GuardMoved *moved = &guard->statement->moved;
	GuardFingerprint fingerprint;
	bool		isnull;
	Datum		old;

	if (TRIGGER_FIRED_BY_UPDATE(data->tg_event))
	{
		*same_document = has_same_document(relation, guard->document,
										   data->tg_trigtuple, row);
		old = heap_getattr(data->tg_trigtuple, guard->fingerprint.column,
						   RelationGetDescr(relation), &isnull);
		return same_fingerprint(guard, given, false, old, isnull);
	}
	if (!simhash_guard_has_moved(guard->statement) ||
		moved->fingerprint.width == 0)
		return false;
	*same_document =
		simhash_guard_same_document(get_document(relation, guard->document, row),
									moved->document);
	fingerprint = simhash_guard_fingerprint(&guard->type, given);
	return simhash_guard_distance(&moved->fingerprint, &fingerprint) == 0;
}

/*
 * The row with the fingerprint of its document.  One that is there stays as it
 * is while the document is not changed, by whatever it was made, and wherever an
 * update moves the row.  One that is given must be what we would fill in.
 */
static HeapTuple
fill_fingerprint(const Guard *guard, const TriggerData *data, HeapTuple row)
{
	Relation	relation = data->tg_relation;
	TupleDesc	desc = RelationGetDescr(relation);
	AttrNumber	column = guard->fingerprint.column;
	bool		isnull;
	Datum		given = heap_getattr(row, column, desc, &isnull);
	bool		same_document = false;
	bool		as_before = !isnull &&
	is_as_before(guard, data, row, given, &same_document);
	bool		none;
	Datum		its;

	if (as_before && same_document)
		return row;
	its = compute_fingerprint(guard, desc, row, &none);
	if (same_fingerprint(guard, given, isnull, its, none))
		return row;
	if (!as_before && !isnull)
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("column \"%s\" of relation \"%s\" is given a fingerprint that is not that of its document",
						NameStr(simhash_guard_attribute(relation, column)->attname),
						RelationGetRelationName(relation)),
				 errhint("Leave it to trigger \"%s\" to fill it in.",
						 guard->name)));
	return simhash_guard_set_column(row, relation, column, its, none);
}

/*
 * Does an update leave the fingerprint, and what is verified, as they were?  So
 * does one by which a row that had its document before the trigger was there
 * gets the fingerprint of that.
 */
static bool
keeps_fingerprint(Guard *guard, TriggerData *data, HeapTuple row,
				  const GuardSearch *search)
{
	Relation	relation = data->tg_relation;
	bool		isnull;
	Datum		value = heap_getattr(data->tg_trigtuple, guard->fingerprint.column,
									 RelationGetDescr(relation), &isnull);
	bool		filled = isnull && guard->fill != GUARD_FILL_NONE;
	AttrNumber	document = guard->compared != 0 ? guard->compared :
	filled ? guard->document : 0;
	GuardFingerprint old;

	if (isnull && !filled)
		return false;
	if (!isnull)
	{
		old = simhash_guard_fingerprint(&guard->type, value);
		if (simhash_guard_distance(&old, &search->center) != 0)
			return false;
	}
	return document == 0 ||
		has_same_document(relation, document, data->tg_trigtuple, row);
}

/* Does an update leave the group as it was? */
static bool
keeps_group(Guard *guard, TriggerData *data)
{
	for (int i = 0; i < guard->statement->ngroup; i++)
	{
		bool		isnull;
		Datum		old = heap_getattr(data->tg_trigtuple,
									   guard->group[i].column,
									   RelationGetDescr(data->tg_relation),
									   &isnull);

		if (isnull || !simhash_guard_equal(&guard->statement->group[i].equality,
										   guard->group_values[i], old))
			return false;
	}
	return true;
}

/*
 * Take the row of a call, with the fingerprint of its document if the trigger
 * fills that, and say how it is to be compared.
 */
HeapTuple
simhash_guard_take_row(Guard *guard, TriggerData *data, GuardSearch *search)
{
	Relation	relation = data->tg_relation;
	bool		update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	bool		isnull;
	Datum		document;
	HeapTuple	row = update ? data->tg_newtuple : data->tg_trigtuple;

	ResetExprContext(guard->econtext);
	if (guard->fill != GUARD_FILL_NONE)
		row = fill_fingerprint(guard, data, row);
	if (guard->compared != 0)
	{
		document = heap_getattr(row, guard->compared,
								RelationGetDescr(relation), &isnull);
		guard->its_document = isnull ? NULL : DatumGetTextPP(document);
	}
	search->radius = guard->radius;
	search->self = update ? &data->tg_trigtuple->t_self : NULL;
	search->inserted = update ? NULL : row;
	search->moved = false;
	search->enough = guard->action == GUARD_SKIP && !guard->notice ?
		guard->radius : 0;
	search->match.slot = NULL;
	search->neighbours = NULL;
	search->need = GUARD_NONE_NEAR;
	search->center.width = 0;
	if (!get_values(guard, row, search))
		return row;
	guard->moves = update && !keeps_group(guard, data);
	search->need = update && !guard->moves &&
		keeps_fingerprint(guard, data, row, search) ?
		GUARD_AS_BEFORE : GUARD_COMPARE;
	return row;
}
