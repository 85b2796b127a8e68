/*-------------------------------------------------------------------------
 *
 * guard_mark.c
 *		Marks: the key of a row that another one duplicates, in a column of that.
 *
 * A mark leads to an original, which has no mark: if the nearest row is marked itself,
 * its mark is followed to the last row that is there.  What rows are inserted keeps it
 * so, as the mark of a row that is there does not change.  An update can mark a row
 * that others lead to: their marks stay, as they say what was found then, and whatever
 * is compared from then on is led further.  Say R is inserted, N near R, then X, and an
 * update makes R near X:
 *
 *		R	NULL, then X
 *		N	R, until it is compared again
 *		M	inserted near N: N leads to R, and R to X, so X
 *		R	updated to be near N, or inserted again after it was deleted: that leads to
 *			R itself, and does not count, so NULL, or an original that is near as well
 *
 * For this a row is looked up by the key that a mark has.  That takes a key of one
 * column and a mark of its type; where the mark is a text or a list, the mark of the
 * nearest row is taken as it is.  One in progress is waited for, as the nearest is, so
 * that of two sessions not each marks its row with that of the other.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/tableam.h"
#include "parser/parse_coerce.h"
#include "utils/json.h"

/* Until AtEOXact_GUC() the text of a value is the same in every session. */
static int
fix_output(void)
{
	static const char *const settings[][2] = {
		{"DateStyle", "ISO"}, {"IntervalStyle", "postgres"}, {"TimeZone", "UTC"},
		{"extra_float_digits", "1"}, {"bytea_output", "hex"}, {"lc_monetary", "C"}
	};
	int			level = NewGUCNestLevel();

	for (size_t i = 0; i < lengthof(settings); i++)
		simhash_set(settings[i][0], settings[i][1], GUC_ACTION_SAVE);
	return level;
}

/*
 * What is written of a row's key into a mark that has not the type of it: the text, or
 * a list if the key has several columns; JSON has a text in quotes.  NULL if the row has
 * no key yet.
 */
static char *
write_mark(Form_pg_attribute target, TupleTableSlot *slot, List *columns)
{
	Form_pg_attribute source = TupleDescAttr(slot->tts_tupleDescriptor,
											 linitial_int(columns) - 1);
	char	   *key = simhash_near_write_key(slot, columns);
	StringInfoData quoted;

	if (key == NULL || list_length(columns) > 1 ||
		(target->atttypid != JSONOID && target->atttypid != JSONBOID) ||
		TypeCategory(source->atttypid) == TYPCATEGORY_NUMERIC)
		return key;
	initStringInfo(&quoted);
	escape_json(&quoted, key);
	return quoted.data;
}

/* Say where the key of a row is no value of the type that the marks are of. */
static void
say_mark(void *column)
{
	errcontext("key of the nearest row as a mark in column \"%s\"", (const char *) column);
}

/* The mark that leads to the row found. */
static Datum
make_mark(Form_pg_attribute target, const NearMatch *match)
{
	List	   *columns = simhash_near_primary_key(match->table->table);
	Form_pg_attribute source = TupleDescAttr(match->slot->tts_tupleDescriptor,
											 linitial_int(columns) - 1);
	Oid			input;
	Oid			parameter;
	ErrorContextCallback callback = {error_context_stack, say_mark, NameStr(target->attname)};
	Datum		mark;
	bool		isnull;

	if (list_length(columns) == 1 && source->atttypid == target->atttypid &&
		source->atttypmod == target->atttypmod)
		return slot_getattr(match->slot, linitial_int(columns), &isnull);
	getTypeInputInfo(target->atttypid, &input, &parameter);
	error_context_stack = &callback;
	mark = OidInputFunctionCall(input, write_mark(target, match->slot, columns),
								parameter, target->atttypmod);
	error_context_stack = callback.previous;
	return mark;
}

/* What is written of the key that the row at hand has had so far. */
static char *
write_own(GuardTrigger *guard, Form_pg_attribute target, const TriggerData *data,
		  HeapTuple row)
{
	List	   *columns = simhash_near_primary_key(guard->near.table);
	char	   *own;

	if (TRIGGER_FIRED_BY_UPDATE(data->tg_event))
		return write_mark(target, data->tg_trigslot, columns);
	ExecStoreHeapTuple(row, guard->near.slot, false);
	own = write_mark(target, guard->near.slot, columns);
	ExecClearTuple(guard->near.slot);
	return own;
}

/* The mark of a row that is in a slot, in memory of the current context. */
static NullableDatum
get_mark(Form_pg_attribute target, const NearTable *table, TupleTableSlot *slot)
{
	NullableDatum mark;

	mark.value = slot_getattr(slot, table->carried, &mark.isnull);
	if (!mark.isnull)
		mark.value = datumCopy(mark.value, target->attbyval, target->attlen);
	return mark;
}

/* How a mark is followed. */
typedef enum MarkFate
{
	MARK_LEADS,					/* to a row that is there */
	MARK_LEADS_NOWHERE,
	MARK_IS_UNKNOWN,			/* no key is of its type */
	MARK_IS_PENDING				/* another transaction decides */
} MarkFate;

/* Put the mark of the row that a mark leads to in its place. */
static MarkFate
follow_mark(GuardTrigger *guard, Form_pg_attribute target, NullableDatum *mark)
{
	const NearScope *scope = guard->near.place.scope;
	MarkFate	fate = MARK_IS_UNKNOWN;

	for (int i = 0; i < scope->ntables && fate != MARK_LEADS; i++)
	{
		Relation	relation = table_open(scope->tables[i].table, NoLock);
		NearPending pending = {.distance = -1};
		TupleTableSlot *slot = table_slot_create(relation, NULL);

		if (simhash_guard_find_key(relation, target->atttypid, mark->value, &pending) &&
			fate == MARK_IS_UNKNOWN)
			fate = MARK_LEADS_NOWHERE;
		if (pending.distance >= 0 &&
			(TransactionIdIsValid(pending.xid) ||
			 ItemPointerIndicatesMovedPartitions(&pending.tid)))
		{
			guard->near.search.pending = pending;
			fate = MARK_IS_PENDING;
		}
		else if (pending.distance >= 0 &&
				 table_tuple_fetch_row_version(relation, &pending.tid, SnapshotAny, slot))
		{
			*mark = get_mark(target, &scope->tables[i], slot);
			fate = MARK_LEADS;
		}
		ExecDropSingleTupleTableSlot(slot);
		table_close(relation, NoLock);
		if (fate == MARK_IS_PENDING)
			break;
	}
	return fate;
}

/*
 * Find the original of the row found.  False if another transaction decides which it
 * is, or if it is the row at hand: then rows with the mark of the row found do not
 * count, and the nearest of the others is to be found.  Marks that lead in a circle, as
 * those of an earlier version may, are followed until one comes again that was put down
 * on the way, at each power of two (Brent).
 */
static bool
find_original(GuardTrigger *guard, const TriggerData *data, HeapTuple row)
{
	NearSearch *search = &guard->near.search;
	const NearMatch *match = &search->match;
	Form_pg_attribute target = simhash_near_attribute(data->tg_relation,
													  guard->arguments.mark);
	NullableDatum first = get_mark(target, match->table, match->slot);
	const char *own = first.isnull ? NULL : write_own(guard, target, data, row);
	NullableDatum next = first;
	NullableDatum put_down = {.isnull = true};

	guard->original = make_mark(target, match);
	for (uint64 steps = 1; !next.isnull; steps++)
	{
		NullableDatum mark = next;
		MarkFate	fate;

		CHECK_FOR_INTERRUPTS();
		if (own != NULL && strcmp(simhash_write_value(mark.value, target->atttypid), own) == 0)
		{
			Datum	   *own_mark = palloc(sizeof *own_mark);

			*own_mark = first.value;
			search->own_marks = lappend(search->own_marks, own_mark);
			search->pending.distance = -1;
			return false;
		}
		if (!put_down.isnull && datum_image_eq(mark.value, put_down.value,
											   target->attbyval, target->attlen))
			break;
		if ((steps & (steps - 1)) == 0)
			put_down = mark;
		fate = follow_mark(guard, target, &next);
		if (fate == MARK_IS_PENDING)
			return false;
		if (fate != MARK_LEADS_NOWHERE)
			guard->original = mark.value;
		if (fate != MARK_LEADS)
			break;
	}
	return true;
}

/* The same, while texts of values are written alike in every session. */
bool
simhash_guard_find_original(GuardTrigger *guard, const TriggerData *data,
							HeapTuple row)
{
	int			level = fix_output();
	bool		found = find_original(guard, data, row);

	AtEOXact_GUC(true, level);
	return found;
}

/* Is a column one of a foreign key? */
static bool
is_foreign_key(Relation relation, AttrNumber column)
{
	ListCell   *lc;

	foreach(lc, RelationGetFKeyList(relation))
	{
		const ForeignKeyCacheInfo *key = lfirst(lc);

		for (int i = 0; i < key->nkeys; i++)
		{
			if (key->conkey[i] == column)
				return true;
		}
	}
	return false;
}

/*
 * The row of an update that changes nothing that is compared: it keeps the
 * mark that it had, whatever the statement has written there.  But if the mark
 * is a foreign key, what ON DELETE SET NULL or ON UPDATE CASCADE write has to
 * stay, as the server does not check that afterwards.
 */
HeapTuple
simhash_guard_keep_mark(const GuardTrigger *guard, const TriggerData *data,
						HeapTuple row)
{
	AttrNumber	column = guard->arguments.mark;
	Relation	relation = data->tg_relation;
	Form_pg_attribute target = simhash_near_attribute(relation, column);
	bool		isnull;
	bool		wasnull;
	Datum		value = heap_getattr(row, column, RelationGetDescr(relation),
									 &isnull);
	Datum		old = slot_getattr(data->tg_trigslot, column, &wasnull);

	if (isnull == wasnull &&
		(isnull || datum_image_eq(value, old, target->attbyval, target->attlen)))
		return row;
	return is_foreign_key(relation, column) ? row :
		simhash_near_set_column(row, relation, column, old, wasnull);
}
