/*-------------------------------------------------------------------------
 *
 * guard_bind.c
 *		What the terms of a trigger are in one of the tables that it fires for.
 *
 * It is found out, and checked, at the first row that a statement has for the
 * table.  It stays true until the end of the statement, as the lock that the
 * statement has on the table lets nobody else alter it, and its own session
 * neither but for names.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "catalog/pg_trigger.h"
#include "parser/parse_coerce.h"
#include "utils/fmgroids.h"

/* Fail if a generated column is one that a trigger reads or writes as it is. */
void
simhash_guard_refuse_generated(Relation relation, AttrNumber column,
							   const char *hint)
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
void
simhash_guard_check_stored(Relation relation, AttrNumber column)
{
	Form_pg_attribute attribute = simhash_guard_attribute(relation, column);

	if (simhash_is_virtual(attribute))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("column \"%s\" is virtual",
						NameStr(attribute->attname)),
				 errhint("A guard takes generated columns that are STORED.")));
}

/* Fail unless a column is one of documents. */
void
simhash_guard_check_document(Relation relation, AttrNumber column)
{
	Form_pg_attribute attribute = simhash_guard_attribute(relation, column);

	if (!IsBinaryCoercible(attribute->atttypid, TEXTOID))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is of type %s, not text",
						NameStr(attribute->attname),
						RelationGetRelationName(relation),
						format_type_be(attribute->atttypid))));
	simhash_guard_refuse_generated(relation, column,
								   "The option \"document\" takes a plain column: generated ones are computed after BEFORE triggers.");
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

/*
 * Prepare to compute a column, if it is generated: BEFORE triggers come before
 * generated columns are computed.
 */
static GuardSource
bind_source(Relation relation, AttrNumber column, EState *estate)
{
	GuardSource source = {column, NULL};

	simhash_guard_check_stored(relation, column);
	source.expression =
		ExecPrepareExpr((Expr *) simhash_guard_expression(relation, column),
						estate);
	return source;
}

/* The terms of the root, by such a map of its columns, in a table's. */
static GuardTerms
map_terms(const GuardTerms *terms, const AttrMap *map, Relation relation)
{
	GuardTerms	mapped = *terms;

	mapped.column = map->attnums[terms->column - 1];
	mapped.type = simhash_guard_type(relation, mapped.column);
	mapped.document = terms->document == 0 ? 0 :
		map->attnums[terms->document - 1];
	mapped.group = palloc(Max(terms->ngroup, 1) * sizeof *mapped.group);
	for (int i = 0; i < terms->ngroup; i++)
		mapped.group[i] = map->attnums[terms->group[i] - 1];
	return mapped;
}

/*
 * Have a guard of a statement take rows of a table, by terms that are in columns
 * of the root.
 */
void
simhash_guard_bind(Guard *guard, Relation relation, const GuardTerms *terms,
				   const AttrMap *map)
{
	EState	   *estate = CreateExecutorState();
	int			n = Max(terms->ngroup, 1);

	guard->table = RelationGetRelid(relation);
	guard->terms = map_terms(terms, map, relation);
	if (guard->terms.document != 0)
		simhash_guard_check_document(relation, guard->terms.document);
	guard->fingerprint = bind_source(relation, guard->terms.column, estate);
	guard->group = palloc(n * sizeof *guard->group);
	guard->search.group = palloc(n * sizeof(Datum));
	for (int i = 0; i < terms->ngroup; i++)
		guard->group[i] = bind_source(relation, guard->terms.group[i], estate);
	guard->econtext = GetPerTupleExprContext(estate);
	guard->slot = MakeSingleTupleTableSlot(CreateTupleDescCopyConstr(RelationGetDescr(relation)),
										   &TTSOpsHeapTuple);
	guard->search.space = &guard->statement->space;
	guard->search.table = guard->place.table = guard->table;
}
