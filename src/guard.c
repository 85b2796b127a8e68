/*-------------------------------------------------------------------------
 *
 * guard.c
 *		simhash_guard(), the trigger that rejects, skips or marks
 *		near-duplicates.
 *
 * guard_search.c finds them, and guard_lock.c sees to those that arrive at
 * the same time; here are the arguments, the columns, and what is done about
 * a near-duplicate.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/syscache.h"

/* integrity_constraint_violation, of a kind of our own */
#define ERRCODE_NEAR_DUPLICATE	MAKE_SQLSTATE('2', '3', 'S', '0', '1')

PG_FUNCTION_INFO_V1(simhash_guard);

/* What to do about a near-duplicate. */
typedef enum GuardAction
{
	GUARD_REJECT,
	GUARD_SKIP,
	GUARD_MARK
} GuardAction;

/* What is known of a trigger for the length of a statement. */
typedef struct Guard
{
	/* its arguments */
	GuardAction action;
	int			radius;
	bool		notice;			/* say so when a row is skipped */
	const ShProfile *profile;	/* of the document */

	/* columns of the table that it fires for; 0 for none */
	AttrNumber	column;			/* the fingerprint */
	AttrNumber	document;		/* what it is computed from */
	AttrNumber	mark;			/* what gets the key of the row duplicated */

	/* how to compute a generated fingerprint, or NULL */
	ExprState  *source;
	ExprContext *econtext;
	TupleTableSlot *slot;

	MemoryContextCallback at_end;	/* of the statement */

	/* where to search */
	Oid			root;			/* the table that the guard was made for */
	AttrNumber	root_column;	/* the fingerprint there */
	int			ntables;
	GuardTable *tables;
} Guard;

/* Complain of the arguments. */
static void
bad_argument(Trigger *trigger, const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("trigger \"%s\": %s", trigger->tgname, problem),
			 errhint("The arguments of simhash_guard are a column, an action ('reject', 'skip' or 'mark'), a distance, and options: 'document=column', 'profile=name', 'mark=column', 'notice'.")));
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
				 errmsg("simhash_guard must be fired BEFORE, FOR EACH ROW")));
	if (!TRIGGER_FIRED_BY_INSERT(data->tg_event) &&
		!TRIGGER_FIRED_BY_UPDATE(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_guard must be fired by INSERT or UPDATE")));
}

/* The column of that name; fails when there is none. */
static AttrNumber
find_column(Relation relation, const char *name)
{
	AttrNumber	column = get_attnum(RelationGetRelid(relation), name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(relation))));
	return column;
}

/* The value of the option of that name, or NULL if this is another option. */
static const char *
option_value(const char *argument, const char *name)
{
	size_t		length = strlen(name);

	return strncmp(argument, name, length) == 0 && argument[length] == '=' ?
		argument + length + 1 : NULL;
}

/* Read the options that follow the first three arguments. */
static void
read_options(Guard *guard, Relation relation, Trigger *trigger)
{
	for (int i = 3; i < trigger->tgnargs; i++)
	{
		const char *argument = trigger->tgargs[i];
		const char *value;

		if ((value = option_value(argument, "document")) != NULL)
			guard->document = find_column(relation, value);
		else if ((value = option_value(argument, "mark")) != NULL)
			guard->mark = find_column(relation, value);
		else if ((value = option_value(argument, "profile")) != NULL)
			guard->profile = simhash_get_profile(cstring_to_text(value));
		else if (strcmp(argument, "notice") == 0)
			guard->notice = true;
		else
			bad_argument(trigger, psprintf("unknown option \"%s\"", argument));
	}
	if (guard->action == GUARD_MARK && guard->mark == 0)
		bad_argument(trigger, "action \"mark\" needs an option mark=column");
	if (guard->action != GUARD_MARK && guard->mark != 0)
		bad_argument(trigger, "option \"mark\" is for the action \"mark\"");
	if (guard->profile != NULL && guard->document == 0)
		bad_argument(trigger, "option \"profile\" needs an option document=column");
	if (guard->profile == NULL)
		guard->profile = sh_default_profile;
}

/* Read the arguments of the trigger. */
static void
read_arguments(Guard *guard, Relation relation, Trigger *trigger)
{
	char	   *end;
	long		radius;

	if (trigger->tgnargs < 3)
		bad_argument(trigger, "simhash_guard needs three arguments");
	guard->column = find_column(relation, trigger->tgargs[0]);
	if (strcmp(trigger->tgargs[1], "reject") == 0)
		guard->action = GUARD_REJECT;
	else if (strcmp(trigger->tgargs[1], "skip") == 0)
		guard->action = GUARD_SKIP;
	else if (strcmp(trigger->tgargs[1], "mark") == 0)
		guard->action = GUARD_MARK;
	else
		bad_argument(trigger, psprintf("unknown action \"%s\"",
									   trigger->tgargs[1]));
	radius = strtol(trigger->tgargs[2], &end, 10);
	if (end == trigger->tgargs[2] || *end != '\0')
		bad_argument(trigger, psprintf("distance \"%s\" is not a number",
									   trigger->tgargs[2]));
	guard->radius = (int) Max(Min(radius, INT_MAX), INT_MIN);
	simhash_check_radius(guard->radius);
	read_options(guard, relation, trigger);
}

/* Fail unless a column has that type. */
static void
check_type(Relation relation, AttrNumber column, Oid type)
{
	Form_pg_attribute attribute =
	TupleDescAttr(RelationGetDescr(relation), column - 1);

	if (attribute->atttypid != type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
						NameStr(attribute->attname),
						RelationGetRelationName(relation),
						format_type_be(attribute->atttypid),
						format_type_be(type))));
}

/* Check the columns; prepare to compute the fingerprint if it is generated. */
static void
examine_columns(Guard *guard, Relation relation)
{
	TupleDesc	desc = RelationGetDescr(relation);
	EState	   *estate;

	check_type(relation, guard->column, INT8OID);
	if (guard->document != 0)
		check_type(relation, guard->document, TEXTOID);
	if (!TupleDescAttr(desc, guard->column - 1)->attgenerated)
		return;
	if (guard->document != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("column \"%s\" is generated",
						NameStr(TupleDescAttr(desc, guard->column - 1)->attname)),
				 errhint("Leave out the option \"document\".")));

	/* BEFORE triggers come before generated columns are computed. */
	estate = CreateExecutorState();
	guard->econtext = GetPerTupleExprContext(estate);
	guard->slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(desc),
										   &TTSOpsHeapTuple);
	guard->source =
		ExecPrepareExpr((Expr *) build_column_default(relation, guard->column),
						estate);
}

/* The table that the trigger was made for, of which ours is a partition. */
static Oid
find_root(Relation relation, Trigger *trigger)
{
	Oid			root = RelationGetRelid(relation);
	ListCell   *lc;

	if (!trigger->tgisclone)
		return root;
	foreach(lc, get_partition_ancestors(root))
	{
		Relation	ancestor = table_open(lfirst_oid(lc), AccessShareLock);
		bool		original = false;

		for (int i = 0; ancestor->trigdesc != NULL &&
			 i < ancestor->trigdesc->numtriggers; i++)
		{
			Trigger    *its = &ancestor->trigdesc->triggers[i];

			original |= strcmp(its->tgname, trigger->tgname) == 0 &&
				!its->tgisclone;
		}
		table_close(ancestor, NoLock);
		root = lfirst_oid(lc);
		if (original)
			break;
	}
	return root;
}

/* Find the tables to search, and how to search each. */
static void
find_tables(Guard *guard, Relation relation, Trigger *trigger)
{
	Oid			ball_type;
	List	   *tables;
	ListCell   *lc;

	ball_type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
								CStringGetDatum("hamming_ball"),
								ObjectIdGetDatum(get_func_namespace(trigger->tgfoid)));
	guard->root = find_root(relation, trigger);
	guard->root_column = get_attnum(guard->root, trigger->tgargs[0]);
	if (guard->root == RelationGetRelid(relation))
		tables = list_make1_oid(guard->root);
	else
		tables = find_all_inheritors(guard->root, AccessShareLock, NULL);
	guard->tables = palloc0(list_length(tables) * sizeof *guard->tables);
	foreach(lc, tables)
	{
		Relation	table;

		if (get_rel_relkind(lfirst_oid(lc)) != RELKIND_RELATION)
			continue;
		table = table_open(lfirst_oid(lc), AccessShareLock);
		simhash_guard_find_index(table,
								 find_column(table, trigger->tgargs[0]),
								 ball_type, guard->root,
								 &guard->tables[guard->ntables++]);
		table_close(table, NoLock);
	}
}

/* What is known of the trigger, found out once a statement. */
static Guard *
get_guard(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	Guard	   *guard = fcinfo->flinfo->fn_extra;
	MemoryContext old;

	if (guard != NULL)
		return guard;
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	guard = palloc0(sizeof *guard);
	read_arguments(guard, data->tg_relation, data->tg_trigger);
	examine_columns(guard, data->tg_relation);
	find_tables(guard, data->tg_relation, data->tg_trigger);
	guard->at_end.func = simhash_guard_end_statement;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &guard->at_end);
	MemoryContextSwitchTo(old);
	fcinfo->flinfo->fn_extra = guard;
	return guard;
}

/* The row with another value in a column. */
static HeapTuple
set_column(HeapTuple row, Relation relation, AttrNumber column,
		   Datum value, bool isnull)
{
	int			number = column;

	return heap_modify_tuple_by_cols(row, RelationGetDescr(relation), 1,
									 &number, &value, &isnull);
}

/* The row with the fingerprint of its document. */
static HeapTuple
fill_fingerprint(Guard *guard, Relation relation, HeapTuple row)
{
	bool		isnull;
	uint64		fingerprint = 0;
	Datum		value;

	value = heap_getattr(row, guard->document, RelationGetDescr(relation),
						 &isnull);
	if (!isnull)
		isnull = !simhash_fingerprint(guard->profile, DatumGetTextPP(value),
									  &fingerprint);
	return set_column(row, relation, guard->column,
					  Int64GetDatum((int64) fingerprint), isnull);
}

/* The fingerprint of the row; false when it is NULL. */
static bool
get_fingerprint(Guard *guard, Relation relation, HeapTuple row,
				uint64 *fingerprint)
{
	bool		isnull;
	Datum		value;

	if (guard->source == NULL)
		value = heap_getattr(row, guard->column, RelationGetDescr(relation),
							 &isnull);
	else
	{
		ResetExprContext(guard->econtext);
		ExecStoreHeapTuple(row, guard->slot, false);
		guard->econtext->ecxt_scantuple = guard->slot;
		value = ExecEvalExprSwitchContext(guard->source, guard->econtext,
										  &isnull);
		ExecClearTuple(guard->slot);
	}
	*fingerprint = isnull ? 0 : (uint64) DatumGetInt64(value);
	return !isnull;
}

/* True when an update leaves the fingerprint as it was. */
static bool
is_unchanged(Guard *guard, TriggerData *data, uint64 fingerprint)
{
	bool		isnull;
	Datum		old;

	if (!TRIGGER_FIRED_BY_UPDATE(data->tg_event))
		return false;
	old = heap_getattr(data->tg_trigtuple, guard->column,
					   RelationGetDescr(data->tg_relation), &isnull);
	return !isnull && (uint64) DatumGetInt64(old) == fingerprint;
}

/*
 * Find the nearest row; false when there is none within the radius.  Returns
 * with the locks held that keep others from inserting a near-duplicate before
 * our row is in.
 */
static bool
find_nearest(Guard *guard, TriggerData *data, uint64 fingerprint,
			 GuardMatch *match)
{
	SimhashBall ball = {(int64) fingerprint, guard->radius};
	bool		done;

	match->slot = NULL;
	do
	{
		simhash_guard_forget(match);
		simhash_guard_lock(guard->root, data->tg_trigger->tgname,
						   guard->root_column, fingerprint, guard->radius);
		done = true;
		for (int i = 0; i < guard->ntables && done; i++)
		{
			GuardTable *table = &guard->tables[i];
			bool		own = TRIGGER_FIRED_BY_UPDATE(data->tg_event) &&
			table->table == RelationGetRelid(data->tg_relation);

			done = simhash_guard_search(table, &ball,
										own ? &data->tg_trigtuple->t_self : NULL,
										match);
		}
	} while (!done);
	return match->distance >= 0;
}

/*
 * The primary key of the row found: the columns' names and values as text,
 * and, where there is just one, its type and value.  False if there is none,
 * or if the user may not see it.
 */
static bool
describe_key(Oid root, GuardMatch *match, bool visible_only,
			 StringInfo names, StringInfo values, Oid *type, Datum *value)
{
	Relation	table = table_open(match->table, AccessShareLock);
	Relation	index;
	bool		found = false;

	(void) RelationGetIndexList(table);
	if (OidIsValid(table->rd_pkindex) &&
		(!visible_only ||
		 (pg_class_aclcheck(root, GetUserId(), ACL_SELECT) == ACLCHECK_OK &&
		  check_enable_rls(root, InvalidOid, true) != RLS_ENABLED)))
	{
		index = index_open(table->rd_pkindex, AccessShareLock);
		for (int i = 0; i < index->rd_index->indnkeyatts; i++)
		{
			AttrNumber	column = index->rd_index->indkey.values[i];
			Oid			output;
			bool		varlena;
			bool		isnull;

			*type = i == 0 ? TupleDescAttr(RelationGetDescr(table),
										   column - 1)->atttypid : InvalidOid;
			*value = slot_getattr(match->slot, column, &isnull);
			getTypeOutputInfo(TupleDescAttr(RelationGetDescr(table),
											column - 1)->atttypid,
							  &output, &varlena);
			appendStringInfo(names, "%s%s", i > 0 ? ", " : "",
							 get_attname(match->table, column, false));
			appendStringInfo(values, "%s%s", i > 0 ? ", " : "",
							 OidOutputFunctionCall(output, *value));
		}
		index_close(index, AccessShareLock);
		found = true;
	}
	table_close(table, NoLock);
	return found;
}

/* Refuse the row. */
static void
reject(Guard *guard, TriggerData *data, GuardMatch *match, int level)
{
	StringInfoData names;
	StringInfoData values;
	Oid			type;
	Datum		value;
	bool		visible;

	initStringInfo(&names);
	initStringInfo(&values);
	visible = describe_key(guard->root, match, true, &names, &values, &type,
						   &value);
	ereport(level,
			(errcode(ERRCODE_NEAR_DUPLICATE),
			 level == ERROR ?
			 errmsg("row is a near-duplicate of another in table \"%s\"",
					get_rel_name(guard->root)) :
			 errmsg("row skipped: it is a near-duplicate of another in table \"%s\"",
					get_rel_name(guard->root)),
			 visible ?
			 errdetail("The row with key (%s)=(%s) is at distance %d.",
					   names.data, values.data, match->distance) : 0,
			 errhint("Trigger \"%s\" takes rows within distance %d for near-duplicates.",
					 data->tg_trigger->tgname, guard->radius),
			 errtable(data->tg_relation)));
}

/* Write the key of the row found into the row. */
static HeapTuple
mark(Guard *guard, TriggerData *data, GuardMatch *match, HeapTuple row)
{
	Relation	relation = data->tg_relation;
	Oid			target = TupleDescAttr(RelationGetDescr(relation),
									   guard->mark - 1)->atttypid;
	StringInfoData names;
	StringInfoData values;
	Oid			type;
	Datum		value;

	initStringInfo(&names);
	initStringInfo(&values);
	if (!describe_key(guard->root, match, false, &names, &values, &type,
					  &value))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no primary key to mark near-duplicates with",
						get_rel_name(match->table))));
	if (type != target)
	{
		if (target != TEXTOID)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of relation \"%s\" cannot hold the key (%s)",
							NameStr(TupleDescAttr(RelationGetDescr(relation),
												  guard->mark - 1)->attname),
							RelationGetRelationName(relation), names.data),
					 errhint("Give it the type of the primary key, or text.")));
		value = CStringGetTextDatum(values.data);
	}
	return set_column(row, relation, guard->mark, value, false);
}

/*
 * CREATE TRIGGER name BEFORE INSERT OR UPDATE ON table FOR EACH ROW
 *		EXECUTE FUNCTION simhash_guard(column, action, distance [, option ...])
 *
 * Keep near-duplicates out of a table: rows whose fingerprint, in the given
 * bigint column, is within the distance (0 to 64 bits) of another row's.
 * Action 'reject' raises an error, 'skip' leaves the row out, 'mark' writes
 * the primary key of the nearest other row into the column named by the
 * option 'mark=column', or NULL when there is none.  Option 'notice' has each
 * skipped row noticed; 'document=column', with 'profile=name' or not, has the
 * fingerprint computed from a document first.
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
	Guard	   *guard;
	HeapTuple	row;
	uint64		fingerprint;
	GuardMatch	match;
	bool		found = false;

	check_context(fcinfo);
	guard = get_guard(fcinfo);
	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ?
		data->tg_newtuple : data->tg_trigtuple;
	if (guard->document != 0)
		row = fill_fingerprint(guard, data->tg_relation, row);
	if (get_fingerprint(guard, data->tg_relation, row, &fingerprint))
	{
		if (is_unchanged(guard, data, fingerprint))
			return PointerGetDatum(row);
		found = find_nearest(guard, data, fingerprint, &match);
	}

	if (guard->action == GUARD_MARK)
		row = found ? mark(guard, data, &match, row) :
			set_column(row, data->tg_relation, guard->mark, (Datum) 0, true);
	else if (found)
	{
		if (guard->action == GUARD_REJECT || guard->notice)
			reject(guard, data, &match,
				   guard->action == GUARD_REJECT ? ERROR : NOTICE);
		row = NULL;
	}
	if (found)
		simhash_guard_forget(&match);
	return PointerGetDatum(row);
}
