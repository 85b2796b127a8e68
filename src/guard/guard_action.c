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
#include "catalog/pg_constraint.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

/* integrity_constraint_violation, of a kind of our own */
#define ERRCODE_NEAR_DUPLICATE	MAKE_SQLSTATE('2', '3', 'S', '0', '1')

/*
 * The columns of a table's primary key, which may be deferrable, in its order;
 * NIL when it has none.
 */
List	   *
simhash_guard_primary_key(Oid table)
{
	List	   *columns = NIL;
	Relation	index;
	Oid			constraint;

	(void) get_primary_key_attnos(table, true, &constraint);
	if (!OidIsValid(constraint))
		return NIL;
	index = index_open(get_constraint_index(constraint), AccessShareLock);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
		columns = lappend_int(columns, index->rd_index->indkey.values[i]);
	index_close(index, AccessShareLock);
	return columns;
}

/* May the user read a column of the table that the trigger was made for? */
static bool
may_read(const Guard *guard, const char *column)
{
	Oid			root = guard->statement->root;

	return pg_class_aclcheck(root, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(root, get_attnum(root, column), GetUserId(),
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
		if (!may_read(guard, get_attname(match->table, lfirst_int(lc), false)))
			return false;
	}
	return columns != NIL && may_read(guard, guard->statement->column) &&
		check_enable_rls(guard->statement->root, InvalidOid,
						 true) != RLS_ENABLED;
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
		may_read(guard, guard->document_name))
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
	return simhash_guard_set_column(row, relation, guard->mark, value, isnull);
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
 * found, if there is one, and forget that.
 */
HeapTuple
simhash_guard_act(Guard *guard, TriggerData *data, GuardMatch *match,
				  HeapTuple row)
{
	bool		found = match->slot != NULL;

	if (guard->action == GUARD_MARK)
		row = found ? mark(guard, data, match, row) :
			simhash_guard_set_column(row, data->tg_relation, guard->mark,
									 (Datum) 0, true);
	else if (found)
	{
		if (guard->action == GUARD_REJECT || guard->notice)
			report(guard, data, match,
				   guard->action == GUARD_REJECT ? ERROR : NOTICE);
		simhash_guard_unlock(guard->statement);
		row = NULL;
	}
	simhash_guard_forget_match(match);
	return row;
}
