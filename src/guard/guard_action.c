/*-------------------------------------------------------------------------
 *
 * guard_action.c
 *		What simhash_guard() does about the row found: reject the new one, skip
 *		it, or mark it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

/* integrity_constraint_violation, of a kind of our own */
#define ERRCODE_NEAR_DUPLICATE	MAKE_SQLSTATE('2', '3', 'S', '0', '1')

/* May the user read a column of the table that the trigger was made for? */
static bool
may_read(const Guard *guard, AttrNumber column)
{
	Oid			root = guard->statement->root;

	return pg_class_aclcheck(root, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(root, column, GetUserId(),
							  ACL_SELECT) == ACLCHECK_OK;
}

/*
 * May the user know the key and the distance of the row found?  Whoever may
 * not read them gets to know that there is one, as with a unique index.
 */
static bool
may_be_told(const Guard *guard, const GuardMatch *match, List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		const char *name = get_attname(match->table, lfirst_int(lc), false);

		if (!may_read(guard, get_attnum(guard->statement->root, name)))
			return false;
	}
	return columns != NIL && may_read(guard, guard->statement->root_column) &&
		check_enable_rls(guard->statement->root, InvalidOid,
						 true) != RLS_ENABLED;
}

/*
 * The values that the row found has in the columns, and, if wanted, the names of
 * these, separated by commas.
 */
static char *
write_key(const GuardMatch *match, List *columns, StringInfo names)
{
	StringInfoData values;
	ListCell   *lc;

	initStringInfo(&values);
	foreach(lc, columns)
	{
		Form_pg_attribute column =
		TupleDescAttr(match->slot->tts_tupleDescriptor, lfirst_int(lc) - 1);
		const char *comma = lc != list_head(columns) ? ", " : "";
		bool		isnull;
		Datum		value = slot_getattr(match->slot, column->attnum, &isnull);
		Oid			output;
		bool		varlena;

		getTypeOutputInfo(column->atttypid, &output, &varlena);
		appendStringInfo(&values, "%s%s", comma,
						 OidOutputFunctionCall(output, value));
		if (names != NULL)
			appendStringInfo(names, "%s%s", comma, NameStr(column->attname));
	}
	return values.data;
}

/* The same as a list in JSON, so that different keys are never written alike. */
static char *
write_list(const GuardMatch *match, List *columns)
{
	StringInfoData list;
	ListCell   *lc;

	initStringInfo(&list);
	foreach(lc, columns)
	{
		appendStringInfoString(&list, lc == list_head(columns) ? "[" : ", ");
		escape_json(&list, write_key(match, list_make1_int(lfirst_int(lc)),
									 NULL));
	}
	appendStringInfoChar(&list, ']');
	return list.data;
}

/* Beside errmsg: the row found, its distance, and its similarity if known. */
static int
match_detail(const Guard *guard, const GuardMatch *match, List *columns,
			 double similarity)
{
	StringInfoData names;
	char	   *values;

	initStringInfo(&names);
	values = write_key(match, columns, &names);
	if (similarity < 0)
		return errdetail("The row with key (%s)=(%s) is at distance %d.",
						 names.data, values, match->distance);
	return errdetail("The row with key (%s)=(%s) is at distance %d and has a %s similarity of %.4f.",
					 names.data, values, match->distance,
					 simhash_measure_name(guard->measure), similarity);
}

/* Beside errmsg: what the trigger takes for near-duplicates. */
static int
guard_hint(const Guard *guard)
{
	if (guard->compared == 0)
		return errhint("Trigger \"%s\" takes rows within distance %d for near-duplicates.",
					   guard->name, guard->radius);
	return errhint("Trigger \"%s\" takes rows within distance %d, with a %s similarity of at least %g, for near-duplicates.",
				   guard->name, guard->radius, simhash_measure_name(guard->measure),
				   guard->at_least);
}

/* Refuse the row, or notice that it is left out. */
static void
report(Guard *guard, TriggerData *data, const GuardMatch *match, int level)
{
	List	   *columns = simhash_guard_primary_key(match->table);
	bool		tell = may_be_told(guard, match, columns);
	double		similarity = -1;

	if (tell && guard->compared != 0 &&
		may_read(guard, guard->statement->root_document))
		similarity = simhash_guard_similarity(guard, match->document,
											  match->slot);
	ereport(level,
			(errcode(ERRCODE_NEAR_DUPLICATE),
			 level == ERROR ?
			 errmsg("row is a near-duplicate of another in table \"%s\"",
					get_rel_name(guard->statement->root)) :
			 errmsg("row skipped: it is a near-duplicate of another in table \"%s\"",
					get_rel_name(guard->statement->root)),
			 tell ? match_detail(guard, match, columns, similarity) : 0,
			 guard_hint(guard),
			 errtableconstraint(data->tg_relation, guard->name)));
}

/*
 * Write the key of the row found into the row: as it is, or through its text if
 * the column is of another type, or through a list if it has several columns.
 */
static HeapTuple
mark(Guard *guard, TriggerData *data, const GuardMatch *match, HeapTuple row)
{
	Relation	relation = data->tg_relation;
	Form_pg_attribute target = simhash_guard_attribute(relation, guard->mark);
	List	   *columns = simhash_guard_primary_key(match->table);
	AttrNumber	column = (AttrNumber) linitial_int(columns);
	Form_pg_attribute source =
	TupleDescAttr(match->slot->tts_tupleDescriptor, column - 1);
	bool		isnull = false;
	Datum		value;

	if (list_length(columns) == 1 && source->atttypid == target->atttypid &&
		source->atttypmod == target->atttypmod)
		value = slot_getattr(match->slot, column, &isnull);
	else
	{
		Oid			input;
		Oid			parameter;

		getTypeInputInfo(target->atttypid, &input, &parameter);
		value = OidInputFunctionCall(input, list_length(columns) == 1 ?
									 write_key(match, columns, NULL) :
									 write_list(match, columns),
									 parameter, target->atttypmod);
	}
	return simhash_guard_set_column(row, relation, guard->mark, value, isnull);
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
 * The row of an update that changes nothing about what it is a near-duplicate
 * of, with the mark that it had, whatever the statement has written there.  But
 * what ON DELETE SET NULL or ON UPDATE CASCADE write has to stay: nobody checks
 * afterwards that it did.
 */
HeapTuple
simhash_guard_keep_mark(const Guard *guard, const TriggerData *data,
						HeapTuple row)
{
	Relation	relation = data->tg_relation;
	Form_pg_attribute target = simhash_guard_attribute(relation, guard->mark);
	bool		isnull;
	bool		wasnull;
	Datum		value = heap_getattr(row, guard->mark,
									 RelationGetDescr(relation), &isnull);
	Datum		old = heap_getattr(data->tg_trigtuple, guard->mark,
								   RelationGetDescr(relation), &wasnull);

	if (isnull == wasnull &&
		(isnull || datum_image_eq(value, old, target->attbyval, target->attlen)))
		return row;
	if (is_foreign_key(relation, guard->mark))
		return row;
	return simhash_guard_set_column(row, relation, guard->mark, old, wasnull);
}

/* Forget the row found, if any. */
void
simhash_guard_forget_match(GuardMatch *match)
{
	if (match->slot != NULL)
		ExecDropSingleTupleTableSlot(match->slot);
	match->slot = NULL;
}

/*
 * The row as it goes into the table, or NULL if it does not: act on the row
 * found, if there is one, and forget that.  A row that an update has moved here
 * is gone from where it was: to skip it would be to delete it.
 */
HeapTuple
simhash_guard_act(Guard *guard, TriggerData *data, GuardSearch *search,
				  HeapTuple row)
{
	GuardMatch *match = &search->match;
	bool		found = match->slot != NULL;
	bool		reject = guard->action == GUARD_REJECT || search->moved;

	if (guard->action == GUARD_MARK)
		row = found ? mark(guard, data, match, row) :
			simhash_guard_set_column(row, data->tg_relation, guard->mark,
									 (Datum) 0, true);
	else if (found)
	{
		if (reject || guard->notice)
			report(guard, data, match, reject ? ERROR : NOTICE);
		simhash_guard_unlock(guard->statement);
		row = NULL;
	}
	simhash_guard_forget_match(match);
	return row;
}
