/*-------------------------------------------------------------------------
 *
 * guard.c
 *		simhash_guard(), the trigger that rejects, skips or marks
 *		near-duplicates.
 *
 * This file says what happens to a row.  guard_bind.c finds out what the
 * arguments of the trigger stand for, guard_fingerprint.c has what is compared,
 * guard_group.c what rows are compared, guard_verify.c which of them are
 * similar enough, guard_tables.c which tables to search, guard_search.c
 * searches them, guard_lock.c sees to near-duplicates that are inserted at the
 * same time, and guard_statement.c to the end of a statement.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"

/* integrity_constraint_violation, of a kind of our own */
#define ERRCODE_NEAR_DUPLICATE	MAKE_SQLSTATE('2', '3', 'S', '0', '1')

PG_FUNCTION_INFO_V1(simhash_guard);

/* Say how the trigger is made. */
static int
trigger_hint(void)
{
	return errhint("Make it by CREATE TRIGGER ... BEFORE INSERT OR UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3').");
}

/* Fail unless we are called as the right kind of trigger. */
static void
check_context(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_guard was not called by the trigger manager")));
	if (!TRIGGER_FIRED_BEFORE(data->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_guard must be fired BEFORE, FOR EACH ROW"),
				 trigger_hint()));
	if (!TRIGGER_FIRED_BY_INSERT(data->tg_event) &&
		!TRIGGER_FIRED_BY_UPDATE(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_guard must be fired by INSERT or UPDATE"),
				 trigger_hint()));
}

/*
 * The row with another value in a column.  What a trigger writes, the server
 * no longer checks against the constraints of a domain.
 */
static HeapTuple
set_column(HeapTuple row, Relation relation, AttrNumber column,
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
 * What an expression gives for the row, until the next one is looked at.  It may
 * ask for tableoid, as that of a generated column may, and the row may lack
 * columns that were added since it was stored.
 */
static Datum
evaluate(Guard *guard, ExprState *source, HeapTuple row, bool *isnull)
{
	Datum		value;

	ExecStoreHeapTuple(row, guard->slot, false);
	guard->slot->tts_tableOid = guard->table;
	guard->econtext->ecxt_scantuple = guard->slot;
	value = ExecEvalExprSwitchContext(source, guard->econtext, isnull);
	ExecClearTuple(guard->slot);
	return value;
}

/* The row with the fingerprint by the expression, or of its document. */
static HeapTuple
fill_fingerprint(Guard *guard, Relation relation, HeapTuple row)
{
	bool		isnull;
	Datum		value;

	if (guard->text !=NULL)
	{
		value = evaluate(guard, guard->source, row, &isnull);
		return set_column(row, relation, guard->column, value, isnull);
	}
	value = heap_getattr(row, guard->document, RelationGetDescr(relation),
						 &isnull);
	if (!isnull)
		isnull = !simhash_guard_of_document(guard, DatumGetTextPP(value),
											&value);
	return set_column(row, relation, guard->column, value, isnull);
}

/* Take the fingerprint of the row as the center; false when it is NULL. */
static bool
get_fingerprint(Guard *guard, Relation relation, HeapTuple row,
				GuardSearch *search)
{
	bool		isnull;

	search->center_value =
		guard->source == NULL || guard->text !=NULL ?
		heap_getattr(row, guard->column, RelationGetDescr(relation),
					 &isnull) :
		evaluate(guard, guard->source, row, &isnull);
	if (!isnull)
		search->center = simhash_guard_fingerprint(&guard->type,
												   search->center_value);
	return !isnull;
}

/* Find the group of the row; false when it is of none. */
static bool
get_group(Guard *guard, Relation relation, HeapTuple row)
{
	for (int i = 0; i < guard->statement->ngroup; i++)
	{
		ExprState  *source = guard->group_sources[i];
		bool		isnull;

		guard->group_values[i] = source != NULL ?
			evaluate(guard, source, row, &isnull) :
			heap_getattr(row, guard->group[i], RelationGetDescr(relation),
						 &isnull);
		if (isnull)
			return false;
	}
	return true;
}

/* Does an update leave the fingerprint as it was? */
static bool
keeps_fingerprint(Guard *guard, TriggerData *data, const GuardSearch *search)
{
	bool		isnull;
	Datum		value = heap_getattr(data->tg_trigtuple, guard->column,
									 RelationGetDescr(data->tg_relation),
									 &isnull);
	GuardFingerprint old;

	if (isnull)
		return false;
	old = simhash_guard_fingerprint(&guard->type, value);
	return simhash_guard_distance(&old, &search->center) == 0;
}

/* Does an update leave the group as it was? */
static bool
keeps_group(Guard *guard, TriggerData *data)
{
	for (int i = 0; i < guard->statement->ngroup; i++)
	{
		bool		isnull;
		Datum		old = heap_getattr(data->tg_trigtuple, guard->group[i],
									   RelationGetDescr(data->tg_relation),
									   &isnull);

		if (isnull || !simhash_guard_equal(&guard->statement->group[i],
										   guard->group_values[i], old))
			return false;
	}
	return true;
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

/* Forget the row found, if any. */
static void
forget_match(GuardMatch *match)
{
	if (match->slot != NULL)
		ExecDropSingleTupleTableSlot(match->slot);
	match->slot = NULL;
}

/*
 * Find a row within the radius, the nearest if it is to be named; false when
 * there is none.  Returns with the locks held that keep others from inserting
 * a near-duplicate before our row is in.
 */
static bool
find_match(Guard *guard, TriggerData *data, GuardSearch *search)
{
	search->ball = (Datum) 0;
	search->radius = guard->radius;
	search->self = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ?
		&data->tg_trigtuple->t_self : NULL;
	search->enough = guard->action == GUARD_SKIP && !guard->notice ?
		guard->radius : 0;
	for (;;)
	{
		simhash_guard_lock(guard, &search->center);
		simhash_guard_search(guard, search);
		if (!must_wait(guard, search))
			return search->match.distance >= 0;
		simhash_guard_unlock(guard->statement);
		forget_match(&search->match);
		simhash_guard_wait(&search->pending);
	}
}

/* The columns of a table's primary key; NIL when it has none. */
static List *
key_columns(Oid oid)
{
	Relation	table = table_open(oid, AccessShareLock);
	Oid			key = simhash_guard_primary_key(table);
	Relation	index;
	List	   *columns = NIL;

	if (OidIsValid(key))
	{
		index = index_open(key, AccessShareLock);
		for (int i = 0; i < index->rd_index->indnkeyatts; i++)
			columns = lappend_int(columns, index->rd_index->indkey.values[i]);
		index_close(index, AccessShareLock);
	}
	table_close(table, NoLock);
	return columns;
}

/*
 * May the user know the key and the distance of the row found?  Whoever may
 * not read them gets to know that there is one, as with a unique index.
 */
static bool
may_be_told(const Guard *guard, const GuardMatch *match, List *columns)
{
	Oid			root = guard->statement->root;
	ListCell   *lc;

	if (check_enable_rls(root, InvalidOid, true) == RLS_ENABLED)
		return false;
	if (pg_class_aclcheck(root, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return true;
	foreach(lc, columns)
	{
		const char *name = get_attname(match->table, lfirst_int(lc), false);

		if (pg_attribute_aclcheck(root, get_attnum(root, name), GetUserId(),
								  ACL_SELECT) != ACLCHECK_OK)
			return false;
	}
	return pg_attribute_aclcheck(root, guard->statement->root_column,
								 GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* The names of the columns, separated by commas. */
static char *
column_names(const GuardMatch *match, List *columns)
{
	StringInfoData names;
	ListCell   *lc;

	initStringInfo(&names);
	foreach(lc, columns)
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
						 get_attname(match->table, lfirst_int(lc), false));
	return names.data;
}

/* The values that the row found has in the columns, separated by commas. */
static char *
column_values(const GuardMatch *match, List *columns)
{
	TupleDesc	desc = match->slot->tts_tupleDescriptor;
	StringInfoData values;
	ListCell   *lc;

	initStringInfo(&values);
	foreach(lc, columns)
	{
		AttrNumber	column = (AttrNumber) lfirst_int(lc);
		bool		isnull;
		Datum		value = slot_getattr(match->slot, column, &isnull);
		Oid			output;
		bool		varlena;

		getTypeOutputInfo(TupleDescAttr(desc, column - 1)->atttypid, &output,
						  &varlena);
		appendStringInfo(&values, "%s%s", lc != list_head(columns) ? ", " : "",
						 OidOutputFunctionCall(output, value));
	}
	return values.data;
}

/* May the user know how similar the document of the row found is? */
static bool
may_be_told_document(const Guard *guard)
{
	Oid			root = guard->statement->root;

	return pg_class_aclcheck(root, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(root, get_attnum(root, guard->verify->name),
							  GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* Beside errmsg: the row found, its distance, and its similarity if known. */
static int
match_detail(const Guard *guard, const GuardMatch *match, List *columns,
			 double similarity)
{
	char	   *names = column_names(match, columns);
	char	   *values = column_values(match, columns);

	if (similarity < 0)
		return errdetail("The row with key (%s)=(%s) is at distance %d.",
						 names, values, match->distance);
	return errdetail("The row with key (%s)=(%s) is at distance %d and has a %s similarity of %.4f.",
					 names, values, match->distance,
					 simhash_guard_measure(guard), similarity);
}

/* Beside errmsg: what the trigger takes for near-duplicates. */
static int
guard_hint(const Guard *guard)
{
	if (guard->verify == NULL)
		return errhint("Trigger \"%s\" takes rows within distance %d for near-duplicates.",
					   guard->name, guard->radius);
	return errhint("Trigger \"%s\" takes rows within distance %d, with a %s similarity of at least %g, for near-duplicates.",
				   guard->name, guard->radius, simhash_guard_measure(guard),
				   guard->verify->least);
}

/* Refuse the row, or notice that it is left out. */
static void
report(Guard *guard, TriggerData *data, const GuardMatch *match, int level)
{
	List	   *columns = key_columns(match->table);
	bool		tell = columns != NIL && may_be_told(guard, match, columns);
	double		similarity = -1;

	if (tell && guard->verify != NULL && may_be_told_document(guard))
		similarity = simhash_guard_similarity(guard, match->table,
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
 * Write the key of the row found into the row: as it is, or through its text
 * if the column is of another type.
 */
static HeapTuple
mark(Guard *guard, TriggerData *data, const GuardMatch *match, HeapTuple row)
{
	Relation	relation = data->tg_relation;
	Form_pg_attribute target = TupleDescAttr(RelationGetDescr(relation),
											 guard->mark - 1);
	List	   *columns = key_columns(match->table);
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
		char		category;
		bool		preferred;
		Oid			input;
		Oid			parameter;

		get_type_category_preferred(getBaseType(target->atttypid), &category,
									&preferred);
		if (list_length(columns) > 1 && category != TYPCATEGORY_STRING)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of relation \"%s\" cannot hold the key (%s)",
							NameStr(target->attname),
							RelationGetRelationName(relation),
							column_names(match, columns)),
					 errhint("A key of several columns is written as text.")));
		getTypeInputInfo(target->atttypid, &input, &parameter);
		value = OidInputFunctionCall(input, column_values(match, columns),
									 parameter, target->atttypmod);
	}
	return set_column(row, relation, guard->mark, value, isnull);
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
 * skipped row noticed; 'document=column', with 'profile=name' or not, has the
 * fingerprint computed from a document first, 'fingerprint=expression' by any
 * immutable expression over the columns.  With 'within=column,...' only rows
 * that are equal in these columns are near-duplicates; with
 * 'verify=jaccard>=0.8', or cosine, those whose documents are so similar.
 *
 * Errors: 23S01 for a near-duplicate; trigger_protocol_violated,
 * invalid_parameter_value, undefined_column and datatype_mismatch for a
 * trigger that is declared wrongly; object_not_in_prerequisite_state when the
 * table has no index to search by, or no primary key to mark with.
 */
Datum
simhash_guard(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Guard	   *guard = fcinfo->flinfo->fn_extra;
	HeapTuple	row;
	GuardSearch search;
	bool		found = false;

	check_context(fcinfo);
	if (guard == NULL)
		fcinfo->flinfo->fn_extra = guard =
			simhash_guard_bind(data->tg_relation, data->tg_trigger,
							   MemoryContextGetParent(CurrentMemoryContext),
							   fcinfo->flinfo->fn_mcxt);

	/* The row before this one is in the index by now, or never will be. */
	simhash_guard_unlock(guard->statement);
	ResetExprContext(guard->econtext);
	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ?
		data->tg_newtuple : data->tg_trigtuple;
	if (guard->document != 0 || guard->text !=NULL)
		row = fill_fingerprint(guard, data->tg_relation, row);
	if (guard->verify != NULL)
		simhash_guard_take_document(guard, data->tg_relation, row);
	if (get_fingerprint(guard, data->tg_relation, row, &search) &&
		get_group(guard, data->tg_relation, row))
	{
		bool		update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);

		guard->moves = update && !keeps_group(guard, data);
		if (update && !guard->moves &&
			keeps_fingerprint(guard, data, &search) &&
			(guard->verify == NULL ||
			 simhash_guard_keeps_document(guard, data->tg_relation,
										  data->tg_trigtuple)))
			return PointerGetDatum(row);
		found = find_match(guard, data, &search);
	}

	if (guard->action == GUARD_MARK)
		row = found ? mark(guard, data, &search.match, row) :
			set_column(row, data->tg_relation, guard->mark, (Datum) 0, true);
	else if (found)
	{
		if (guard->action == GUARD_REJECT || guard->notice)
			report(guard, data, &search.match,
				   guard->action == GUARD_REJECT ? ERROR : NOTICE);
		simhash_guard_unlock(guard->statement);
		row = NULL;
	}
	if (found)
		forget_match(&search.match);
	return PointerGetDatum(row);
}
