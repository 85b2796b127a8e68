/*-------------------------------------------------------------------------
 *
 * guard_bind.c
 *		The terms of a trigger in one of the tables that it fires for.
 *
 * They are found and checked at the first row that a statement has for the
 * table, and stay true until its end: the statement's lock on the table keeps
 * other sessions from altering it, and its own session can change no more than
 * names.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "catalog/pg_trigger.h"
#include "utils/fmgroids.h"

/*
 * Fail if a column is generated, as one that the trigger reads before generated
 * columns are computed, or writes, must not be.
 */
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

/* Fail because a column is not of the type that is wanted. */
void
simhash_guard_refuse_type(Relation relation, AttrNumber column,
						  const char *wanted)
{
	Form_pg_attribute attribute = simhash_guard_attribute(relation, column);

	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
					NameStr(attribute->attname),
					RelationGetRelationName(relation),
					format_type_be(attribute->atttypid), wanted)));
}

/*
 * The trigger that CREATE TRIGGER made, and its table.  Partitions have clones
 * of it, and clones of those.
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
static ExprState *
bind_source(Relation relation, AttrNumber column, EState *estate)
{
	simhash_guard_check_stored(relation, column);
	return ExecPrepareExpr((Expr *) simhash_guard_expression(relation, column),
						   estate);
}

/*
 * Prepare a guard for the rows of a table.  The terms are in columns of the
 * root; the map says what these are in the table.
 */
void
simhash_guard_bind(Guard *guard, Relation relation, const GuardTerms *terms,
				   const AttrMap *map)
{
	EState	   *estate = CreateExecutorState();

	guard->table = RelationGetRelid(relation);
	guard->terms = simhash_guard_map_terms(terms, map, relation);
	if (terms->time != 0)
		simhash_guard_refuse_generated(relation, guard->terms.time,
									   "The option \"time\" takes a plain column, in partitions, too.");
	guard->fingerprint = bind_source(relation, guard->terms.column, estate);
	guard->stored = guard->document =
		simhash_guard_bind_document(relation, &guard->terms);
	if (guard->terms.document != 0)
		guard->document.computed = bind_source(relation, guard->terms.document,
											   estate);
	guard->group = palloc(terms->ngroup * sizeof *guard->group);
	guard->search.group = palloc(terms->ngroup * sizeof(Datum));
	for (int i = 0; i < terms->ngroup; i++)
		guard->group[i] = bind_source(relation, guard->terms.group[i], estate);
	guard->econtext = GetPerTupleExprContext(estate);
	guard->slot = MakeSingleTupleTableSlot(CreateTupleDescCopyConstr(RelationGetDescr(relation)),
										   &TTSOpsHeapTuple);
	guard->search.space = &guard->statement->space;
	guard->search.table = guard->place.table = guard->table;
}
