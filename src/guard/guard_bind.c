/*-------------------------------------------------------------------------
 *
 * guard_bind.c
 *		What the arguments of simhash_guard() (guard_options.c) stand for: the
 *		columns, the tables, the locks.
 *
 * All is found out at the first row that a statement has for a table, and
 * checked before that row is looked at.  It stays true until the end of the
 * statement, as the lock that the statement has on the table lets nobody alter
 * the table's columns or triggers.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Fail if a column that the trigger writes to is generated. */
static void
check_not_generated(Relation relation, AttrNumber column, const char *hint)
{
	Form_pg_attribute attribute = simhash_guard_attribute(relation, column);

	if (attribute->attgenerated)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("column \"%s\" is generated",
						NameStr(attribute->attname)),
				 errhint("%s", hint)));
}

/* Fail if a column is not there in the rows that are found. */
static void
check_stored(Relation relation, AttrNumber column)
{
	Form_pg_attribute attribute = simhash_guard_attribute(relation, column);

	if (simhash_is_virtual(attribute))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("column \"%s\" is virtual",
						NameStr(attribute->attname)),
				 errhint("A guard takes generated columns that are STORED.")));
}

/* Fail unless the option "within", if there is one, has names in it. */
static void
check_group(const Guard *guard, const Trigger *trigger, List *names)
{
	if (names == NIL && simhash_guard_option(trigger, "within") != NULL)
		ereport(ERROR,
				(errmsg("trigger \"%s\": option \"within\" needs names of columns, separated by commas",
						guard->name),
				 simhash_guard_argument_error()));
}

/* Prepare to compute a column, if it is generated. */
static void
bind_source(GuardSource *source, Relation relation, EState *estate)
{
	source->expression =
		ExecPrepareExpr((Expr *) simhash_guard_expression(relation,
														  source->column),
						estate);
}

/*
 * Find the columns of the group, in the order of the root's, and prepare to
 * compute what is not in the row by the time that we see it: BEFORE triggers
 * come before generated columns are computed.
 */
static void
bind_group(Guard *guard, Relation relation, List *names)
{
	const GuardStatement *statement = guard->statement;
	EState	   *estate = CreateExecutorState();

	bind_source(&guard->fingerprint, relation, estate);
	guard->group = palloc(Max(statement->ngroup, 1) * sizeof *guard->group);
	guard->group_values = palloc(Max(statement->ngroup, 1) * sizeof(Datum));
	for (int i = 0; i < statement->ngroup; i++)
	{
		const char *name = list_nth(names, i);
		AttrNumber	column = simhash_guard_column(relation, name);

		check_stored(relation, column);
		if (column == guard->fingerprint.column || column == guard->mark ||
			column == guard->cluster || column == guard->since)
			ereport(ERROR,
					(errmsg("trigger \"%s\": option \"within\" cannot take column \"%s\", which is that of the %s",
							guard->name, name,
							column == guard->fingerprint.column ? "fingerprint" :
							column == guard->mark ? "mark" : "cluster"),
					 simhash_guard_argument_error()));
		guard->group[i].column = column;
		bind_source(&guard->group[i], relation, estate);
	}
	guard->econtext = GetPerTupleExprContext(estate);
	guard->slot = MakeSingleTupleTableSlot(CreateTupleDescCopyConstr(RelationGetDescr(relation)),
										   &TTSOpsHeapTuple);
}

/* Fail unless a column that an option has written to, if any, is for that. */
static void
check_written(const Guard *guard, Relation relation, AttrNumber column,
			  const char *option)
{
	if (column == 0)
		return;
	check_not_generated(relation, column,
						psprintf("The option \"%s\" takes a plain column.",
								 option));
	if (column == guard->fingerprint.column || column == guard->document ||
		column == guard->compared)
		ereport(ERROR,
				(errmsg("trigger \"%s\": option \"%s\" needs a column of its own",
						guard->name, option),
				 simhash_guard_argument_error()));
}

/* Check the columns. */
static void
check_columns(Guard *guard, Relation relation)
{
	AttrNumber	document = Max(guard->document, guard->compared);
	Oid			type;

	check_stored(relation, guard->fingerprint.column);
	if (document != 0)
	{
		type = simhash_guard_attribute(relation, document)->atttypid;
		if (!IsBinaryCoercible(type, TEXTOID))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of relation \"%s\" is of type %s, not text",
							get_attname(guard->table, document, false),
							RelationGetRelationName(relation),
							format_type_be(type))));
		check_not_generated(relation, document,
							"The option \"document\" takes a plain column: generated ones are computed after BEFORE triggers.");
	}
	if (guard->fill != GUARD_FILL_NONE)
	{
		check_not_generated(relation, guard->fingerprint.column,
							"Leave out the option \"fill\".");
		(void) simhash_words(guard->type.width);
	}
	check_written(guard, relation, guard->mark, "mark");
	check_written(guard, relation, guard->cluster, "cluster");
	check_written(guard, relation, guard->since, "since");
}

/*
 * The trigger that was made, of which that of a partition is a clone, and the
 * table that it was made for.
 */
GuardOrigin
simhash_guard_origin(Relation relation, const Trigger *trigger)
{
	GuardOrigin origin = {RelationGetRelid(relation), trigger->tgoid};
	Oid			parent = trigger->tgisclone ? trigger->tgoid : InvalidOid;
	Relation	triggers;

	if (!OidIsValid(parent))
		return origin;
	triggers = table_open(TriggerRelationId, AccessShareLock);
	while (OidIsValid(parent))
	{
		SysScanDesc scan;
		ScanKeyData key;
		HeapTuple	tuple;

		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(parent));
		scan = systable_beginscan(triggers, TriggerOidIndexId, true, NULL, 1,
								  &key);
		tuple = systable_getnext(scan);
		if (!HeapTupleIsValid(tuple))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("trigger \"%s\" for relation \"%s\" does not exist",
							trigger->tgname,
							RelationGetRelationName(relation))));
		origin.trigger = parent;
		origin.table = ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid;
		parent = ((Form_pg_trigger) GETSTRUCT(tuple))->tgparentid;
		systable_endscan(scan);
	}
	table_close(triggers, AccessShareLock);
	return origin;
}

/* Leave only the columns that are among the names to the locks. */
static void
restrict_locks(GuardStatement *statement, List *names)
{
	for (int i = 0; i < statement->ngroup; i++)
	{
		bool		found = false;
		ListCell   *lc;

		foreach(lc, names)
			found |= get_attnum(statement->root, lfirst(lc)) ==
			statement->group[i].root_column;
		statement->group[i].in_locks &= found;
	}
}

/*
 * What to lock for.  Rows that come through different guards of a column, say
 * one for INSERT and one for UPDATE, must meet: all lock for the largest
 * distance among them, and for the columns of the group that all of them have.
 */
static void
bind_locks(GuardStatement *statement, Relation root, Trigger *trigger,
		   int radius)
{
	for (int i = 0; root->trigdesc != NULL &&
		 i < root->trigdesc->numtriggers; i++)
	{
		Trigger    *its = &root->trigdesc->triggers[i];
		int			its_radius;

		if (its->tgfoid == trigger->tgfoid && its->tgnargs >= 3 &&
			strcmp(its->tgargs[0], trigger->tgargs[0]) == 0 &&
			simhash_guard_radius(its, &its_radius))
		{
			radius = Max(radius, its_radius);
			restrict_locks(statement, simhash_guard_names(its, "within"));
		}
	}
	statement->scheme = simhash_guard_scheme(statement->type.width, radius);
}

/* Join the other guards of this trigger in the statement, or be the first. */
static void
bind_statement(Guard *guard, Oid root, Trigger *trigger, Oid origin,
			   List *within)
{
	GuardStatement *statement =
	simhash_guard_statement(CurrentMemoryContext, root, origin);

	guard->statement = statement;
	if (statement->desc == NULL)
	{
		Relation	relation = table_open(root, AccessShareLock);

		statement->root_column = simhash_guard_column(relation, trigger->tgargs[0]);
		statement->type = guard->type;
		check_group(guard, trigger, within);
		simhash_guard_bind_group(statement, relation, within);
		bind_locks(statement, relation, trigger, guard->radius);
		statement->ball_type =
			GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
							CStringGetDatum(guard->type.oid == BITOID ?
											"hamming_bit_ball" :
											"hamming_ball"),
							ObjectIdGetDatum(get_func_namespace(trigger->tgfoid)));
		statement->marks = guard->action == GUARD_MARK;
		if (guard->compared != 0)
			statement->root_document =
				simhash_guard_column(relation,
									 get_attname(guard->table, guard->compared,
												 false));
		if (guard->cluster != 0)
			statement->root_cluster =
				simhash_guard_column(relation, guard->action == GUARD_STAR ?
									 "cluster" :
									 simhash_guard_option(trigger, "cluster"));
		statement->desc = CreateTupleDescCopy(RelationGetDescr(relation));
		table_close(relation, NoLock);
	}
}

/*
 * Fail if the columns that the arguments name in a partition are not those that
 * they named in another one when the statement began.
 */
static void
check_same_columns(const Guard *guard, Relation relation)
{
	const GuardStatement *statement = guard->statement;
	AttrMap    *map = simhash_guard_map_columns(statement, relation);
	bool		same =
	guard->fingerprint.column == map->attnums[statement->root_column - 1];

	if (guard->compared != 0)
		same &= guard->compared == map->attnums[statement->root_document - 1];
	if (guard->cluster != 0)
		same &= guard->cluster == map->attnums[statement->root_cluster - 1];
	for (int i = 0; i < statement->ngroup; i++)
		same &= guard->group[i].column ==
			map->attnums[statement->group[i].root_column - 1];
	if (!same)
		simhash_guard_complain_of_change(RelationGetRelationName(relation));
}

/*
 * Find out what a trigger of a table stands for.  What is found lives in a
 * memory context that lives at least as long as the statement.
 */
Guard	   *
simhash_guard_bind(Relation relation, Trigger *trigger,
				   MemoryContext statement)
{
	MemoryContext old = MemoryContextSwitchTo(statement);
	Guard	   *guard = palloc0(sizeof *guard);
	List	   *within = simhash_guard_names(trigger, "within");
	GuardOrigin origin = simhash_guard_origin(relation, trigger);
	Oid			root = origin.table;

	guard->name = pstrdup(trigger->tgname);
	guard->table = RelationGetRelid(relation);
	simhash_guard_read_arguments(guard, relation, trigger);
	simhash_guard_bind_similarity(guard, relation, trigger);
	if (guard->profile == NULL)
		guard->profile = sh_default_profile;
	check_columns(guard, relation);
	simhash_guard_check_shard(guard, relation, within);
	if (GUARD_CLUSTERS(guard->action))
		root = simhash_guard_bind_clusters(guard, root, trigger);
	guard->searched = guard->action == GUARD_STAR ? root : guard->table;
	simhash_guard_check_moves(guard, relation, trigger, &origin);
	bind_statement(guard, root, trigger, origin.trigger, within);
	bind_group(guard, relation, within);
	if (guard->action != GUARD_STAR)
		check_same_columns(guard, relation);
	if (!GUARD_CLUSTERS(guard->action))
		simhash_guard_bind_keys(guard, relation, trigger);
	else
		simhash_guard_check_clusters(guard, relation, trigger);
	MemoryContextSwitchTo(old);
	return guard;
}
