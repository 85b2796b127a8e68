/*-------------------------------------------------------------------------
 *
 * near_bind.c
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
#include "near/near.h"

#include "catalog/pg_trigger.h"
#include "utils/fmgroids.h"

/*
 * Fail if a column is generated, as one that the trigger reads before generated
 * columns are computed, or writes, must not be.
 */
void
simhash_near_refuse_generated(Relation relation, AttrNumber column,
							  const char *hint)
{
	Form_pg_attribute attribute = simhash_near_attribute(relation, column);

	if (attribute->attgenerated)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("column \"%s\" is generated",
						NameStr(attribute->attname)),
				 errhint("%s", hint)));
}

/* Fail because a column is not of the type that is wanted. */
void
simhash_near_refuse_type(Relation relation, AttrNumber column,
						 const char *wanted)
{
	Form_pg_attribute attribute = simhash_near_attribute(relation, column);

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
NearOrigin
simhash_near_origin(Relation relation, const Trigger *trigger)
{
	NearOrigin	origin = {RelationGetRelid(relation), trigger->tgoid};
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
	simhash_near_check_stored(relation, column);
	return ExecPrepareExpr((Expr *) simhash_near_expression(relation, column),
						   estate);
}

/*
 * Prepare a guard for the rows of a table.  The terms are in columns of the
 * root; the map says what these are in the table.
 */
void
simhash_near_bind(NearTrigger *near, Relation relation, const NearTerms *terms,
				  const AttrMap *map)
{
	EState	   *estate = CreateExecutorState();

	near->table = RelationGetRelid(relation);
	near->terms = simhash_near_map_terms(terms, map, relation);
	if (terms->time != 0)
		simhash_near_refuse_generated(relation, near->terms.time,
									  "The option \"time\" takes a plain column, in partitions, too.");
	near->fingerprint = bind_source(relation, near->terms.column, estate);
	near->stored = near->document =
		simhash_near_bind_document(relation, &near->terms);
	if (near->terms.document != 0)
		near->document.computed = bind_source(relation, near->terms.document,
											  estate);
	near->group = palloc(terms->ngroup * sizeof *near->group);
	near->search.group = palloc(terms->ngroup * sizeof(Datum));
	for (int i = 0; i < terms->ngroup; i++)
		near->group[i] = bind_source(relation, near->terms.group[i], estate);
	near->econtext = GetPerTupleExprContext(estate);
	near->slot = MakeSingleTupleTableSlot(CreateTupleDescCopyConstr(RelationGetDescr(relation)),
										  &TTSOpsHeapTuple);
	near->search.space = &near->statement->space;
	near->search.table = near->place.table = near->table;
}
