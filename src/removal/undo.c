/*-------------------------------------------------------------------------
 *
 * undo.c
 *		What a plan did, taken back from its logs.
 *
 * The last step is taken back first, so that each finds the tables as it left them.
 * A line whose row is not as its step left it stays in its log, and so do earlier
 * lines about that row, or of rows that referred to it: all of these are lines of
 * earlier steps than one that stays.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "clusters/cluster.h"
#include "relation.h"

PG_FUNCTION_INFO_V1(simhash_dedup_undo);

/* A call of simhash_dedup_undo. */
typedef struct Undo
{
	Removal		removal;
	MemoryContext context;		/* of the call */
	RemovalTable *table;		/* whose step is taken back */
	char	   *refused;		/* the first thing that the server said; or NULL */
	int64		left;			/* lines that stay */
} Undo;

/* Columns of one row, or of a row and of its line, as texts of which each is compared. */
static char *
as_text(const char *alias, const List *columns)
{
	return psprintf("ROW(%s)::pg_catalog.text",
					simhash_removal_each(psprintf("%s.{1}", alias), ", ", columns, NIL, NIL));
}

/* The first elements of a list, as many as another has. */
static List *
first_of(const List *list, const List *as_many)
{
	return list_truncate(list_copy(list), list_length(as_many));
}

/*
 * That a line (l) has to stay because a later one (o) does: of the same row, or of one
 * that it referred to.
 */
static char *
write_left(const Removal *removal, const RemovalTable *table)
{
	bool		first = table == removal->table;
	const List *key = first ? table->key : first_of(table->now, table->key);
	StringInfoData left;
	ListCell   *lc;

	initStringInfo(&left);
	appendStringInfoString(&left, simhash_removal_sql(removal,
													  "EXISTS (SELECT FROM {log} AS o WHERE o.{step} {>} $2{not_back} AND {o} {=} {l})",
													  "log", table->log, "step", table->step, "o", as_text("o", key), "l", as_text("l", key),
													  "not_back", first ? "" : simhash_removal_sql(removal, " AND o.{action} {<>} 'back'::pg_catalog.text",
																								   "action", table->action, NULL), NULL));
	foreach(lc, removal->keys)
	{
		const RemovalKey *refers = lfirst(lc);

		if (refers->child == table)
			appendStringInfoString(&left, simhash_removal_sql(removal,
															  " OR EXISTS (SELECT FROM {log} AS o WHERE o.{step} {>} $2 AND {o} {=} {l} AND {all})",
															  "log", removal->table->log, "step", removal->table->step,
															  "o", as_text("o", refers->ours), "l", as_text("l", refers->theirs),
															  "all", simhash_removal_each("l.{1} IS NOT NULL", " AND ", refers->theirs, NIL, NIL), NULL));
	}
	return left.data;
}

/*
 * The columns that tell whether a row came back as it was: not those that the clusters
 * of the table give it anew.
 */
static List *
find_own_columns(const RemovalTable *table)
{
	Relation	relation = relation_open(table->oid, NoLock);
	List	   *own = NIL;
	ListCell   *lc;

	foreach(lc, table->settable)
	{
		List	   *name = textToQualifiedNameList(cstring_to_text(lfirst(lc)));

		if (simhash_clusters_find(relation, strVal(linitial(name))) == NULL)
			own = lappend(own, lfirst(lc));
	}
	relation_close(relation, NoLock);
	return own;
}

/* Put back rows that went, or were dropped, and take their lines from the log. */
static void
put_back(const Removal *removal, const RemovalTable *table, Datum lines)
{
	bool		first = table == removal->table;
	const char *these = simhash_removal_sql(removal, "l.ctid {=} ANY ($1){dropped}", "dropped",
											first ? "" : simhash_removal_sql(removal, " AND l.{action} {=} 'dropped'::pg_catalog.text",
																			 "action", table->action, NULL), NULL);
	const List *own = find_own_columns(table);
	uint64		came;

	came = simhash_removal_run(removal, simhash_removal_sql(removal,
															"INSERT INTO {to} ({columns}) OVERRIDING SYSTEM VALUE"
															" SELECT {columns} FROM {log} AS l WHERE {these} AND NOT ({left})",
															"to", table->name, "log", table->log, "these", these,
															"columns", simhash_removal_each("{1}", ", ", table->settable, NIL, NIL),
															"left", write_left(removal, table), NULL), lines);
	if (simhash_removal_run(removal, simhash_removal_sql(removal,
														 "DELETE FROM {log} AS l USING {to} AS t WHERE {these} AND {same_key} AND {was} {=} {is}",
														 "to", table->name, "log", table->log, "these", these,
														 "same_key", simhash_removal_each("t.{1} {2} l.{1}", " AND ", table->key, table->equals, NIL),
														 "was", as_text("l", own), "is", as_text("t", own), NULL), lines) < came)
		ereport(ERROR,
				(errcode(ERRCODE_RAISE_EXCEPTION),
				 errmsg("a trigger of %s alters rows that come back, or takes them away", table->name)));
}

/*
 * Have rows that moved refer to what they did, where nobody has touched that since: of
 * several keys each for itself.  What was edited meanwhile besides, or by triggers, is
 * told by the line, which stays as "back".
 */
static void
move_back(const Removal *removal, const RemovalTable *table, Datum lines)
{
	List	   *now = NIL;
	const char *moved;
	const char *to_be_moved;
	uint64		n;
	ListCell   *lc;

	foreach(lc, table->moving)
	{
		for (int i = 0; i < list_length(table->followed); i++)
		{
			if (strcmp(list_nth(table->followed, i), lfirst(lc)) == 0)
				now = lappend(now, list_nth(table->now, i));
		}
	}
	moved = simhash_removal_sql(removal, "l.ctid {=} ANY ($1) AND l.{action} {=} 'moved'::pg_catalog.text",
								"action", table->action, NULL);
	to_be_moved = simhash_removal_sql(removal, "{moved} AND {is_there} AND {untouched} AND NOT ({left})", "moved", moved,
									  "is_there", simhash_removal_each("t.{1} {2} l.{3}", " AND ", table->key, table->equals,
																	   first_of(table->now, table->key)),
									  "untouched", simhash_removal_each("(ROW(l.{1})::pg_catalog.text OPERATOR(pg_catalog.=) ROW(l.{2})::pg_catalog.text"
																		" OR ROW(t.{1})::pg_catalog.text OPERATOR(pg_catalog.=) ROW(l.{2})::pg_catalog.text)",
																		" AND ", table->moving, now, NIL),
									  "left", write_left(removal, table), NULL);
	n = simhash_removal_run(removal, simhash_removal_sql(removal, "SELECT FROM {to} AS t, {log} AS l WHERE {which} FOR UPDATE OF t",
														 "to", table->name, "log", table->log, "which", to_be_moved, NULL), lines);
	SPI_freetuptable(SPI_tuptable);
	if (n > 0 && simhash_removal_run(removal, simhash_removal_sql(removal, "UPDATE {to} AS t SET {columns} FROM {log} AS l WHERE {which}",
																  "to", table->name, "log", table->log, "which", to_be_moved,
																  "columns", simhash_removal_each("{1} = CASE WHEN ROW(l.{1})::pg_catalog.text"
																								  " OPERATOR(pg_catalog.=) ROW(l.{2})::pg_catalog.text THEN t.{1} ELSE l.{1} END",
																								  ", ", table->moving, now, NIL), NULL), lines) < n)
		ereport(ERROR,
				(errcode(ERRCODE_RAISE_EXCEPTION),
				 errmsg("a trigger of %s takes away rows that move", table->name)));
	moved = simhash_removal_sql(removal, "{moved} AND {same_key}", "moved", moved, "same_key",
								simhash_removal_each("t.{1} {2} l.{1}", " AND ", table->key, table->equals, NIL), NULL);
	(void) simhash_removal_run(removal, simhash_removal_sql(removal,
															"DELETE FROM {log} AS l USING {to} AS t WHERE {moved} AND {was} {=} {is}",
															"to", table->name, "log", table->log, "moved", moved,
															"was", as_text("l", table->settable), "is", as_text("t", table->settable), NULL), lines);
	(void) simhash_removal_run(removal, simhash_removal_sql(removal,
															"UPDATE {log} AS l SET {action} = 'back' FROM {to} AS t WHERE {moved} AND {back}",
															"to", table->name, "log", table->log, "action", table->action, "moved", moved,
															"back", simhash_removal_each("(ROW(l.{1})::pg_catalog.text OPERATOR(pg_catalog.=) ROW(l.{2})::pg_catalog.text"
																						 " OR ROW(t.{1})::pg_catalog.text OPERATOR(pg_catalog.=) ROW(l.{1})::pg_catalog.text)",
																						 " AND ", table->moving, now, NIL), NULL), lines);
}

/* Take back lines of a step. */
static void
take_back(Removal *removal, Datum lines)
{
	const RemovalTable *table = ((Undo *) removal)->table;

	put_back(removal, table, lines);
	if (table != removal->table && table->moving != NIL)
		move_back(removal, table, lines);
}

/* Note why lines stay. */
static void
note_refusal(Removal *removal, Datum lines pg_attribute_unused(), const char *why)
{
	Undo	   *undo = (Undo *) removal;

	if (undo->refused == NULL)
		undo->refused = MemoryContextStrdup(undo->context, why);
}

/* Lines of a log that are to be taken back, or that could not be. */
static char *
write_open(const Removal *removal, const RemovalTable *table)
{
	return simhash_removal_sql(removal, "{log} AS l{not_back}", "log", table->log, "not_back",
							   table == removal->table ? "" :
							   simhash_removal_sql(removal, " WHERE l.{action} {<>} 'back'::pg_catalog.text",
												   "action", table->action, NULL), NULL);
}

/*
 * Find the last step before one; whether there is any.  "table" is that whose rows
 * it changed; where it is the last of several it is one after the other.
 */
static bool
find_step(Undo *undo, int64 before)
{
	Removal    *removal = &undo->removal;
	ListCell   *lc;

	undo->table = NULL;
	removal->done.step = 0;
	foreach(lc, removal->tables)
	{
		RemovalTable *table = lfirst(lc);
		int64		step;

		(void) simhash_removal_run(removal, simhash_removal_sql(removal,
																"SELECT pg_catalog.max(l.{step}) FROM {open}{and} l.{step} {<} {before}::pg_catalog.int8",
																"step", table->step, "open", write_open(removal, table),
																"and", table == removal->table ? " WHERE" : " AND",
																"before", psprintf("'" INT64_FORMAT "'", before), NULL), 0);
		step = DatumGetInt64(simhash_removal_datum(0, 1));
		SPI_freetuptable(SPI_tuptable);
		if (step > removal->done.step)
		{
			removal->done.step = step;
			undo->table = table;
		}
	}
	return undo->table != NULL;
}

/* Take back the last step before one, as far as it can be; returns its number, or 0. */
static int64
take_step(Undo *undo, int64 before)
{
	Removal    *removal = &undo->removal;
	int64		step = 0;

	simhash_removal_begin(removal);
	if (find_step(undo, before))
	{
		uint64		n = simhash_removal_run(removal, psprintf("SELECT l.ctid FROM %s AS l WHERE l.%s OPERATOR(pg_catalog.=) '" INT64_FORMAT "'",
															  undo->table->log, undo->table->step, removal->done.step), 0);
		Datum	   *lines = palloc(Max(n, 1) * sizeof *lines);

		for (uint64 i = 0; i < n; i++)
			lines[i] = simhash_removal_datum(i, 1);
		SPI_freetuptable(SPI_tuptable);
		step = removal->done.step;
		simhash_removal_halve(removal, lines, (int) n, take_back, note_refusal);
	}
	simhash_removal_end(removal);
	return step;
}

/* Count the lines that stay, and say of a plan what has come back. */
static void
count_left(Undo *undo)
{
	Removal    *removal = &undo->removal;
	ListCell   *lc;

	simhash_removal_begin(removal);
	foreach(lc, removal->tables)
	{
		(void) simhash_removal_run(removal, psprintf("SELECT pg_catalog.count(*) FROM %s", write_open(removal, lfirst(lc))), 0);
		undo->left += DatumGetInt64(simhash_removal_datum(0, 1));
		SPI_freetuptable(SPI_tuptable);
	}
	if (OidIsValid(removal->plan))
		(void) simhash_removal_run(removal, simhash_removal_sql(removal,
																"UPDATE {plan} AS p SET done = 'put back' FROM {source} AS t"
																" WHERE p.done {=} 'removed'::pg_catalog.text AND {t has gone}"
																" AND NOT EXISTS (SELECT FROM {log} AS l WHERE {t} {=} {l})",
																"log", removal->table->log, "t", as_text("t", removal->table->key),
																"l", as_text("l", removal->table->key), NULL), 0);
	simhash_removal_end(removal);
}

/* Take back all steps, the last one first. */
static void
undo_plan(Removal *removal)
{
	Undo	   *undo = (Undo *) removal;
	int64		step = PG_INT64_MAX;

	while (step > 0)
	{
		step = take_step(undo, step);
		simhash_progress_step("putting back");
	}
	count_left(undo);
	if (undo->left > 0)
		ereport(WARNING,
				(errmsg("lines that could not be put back, and stay in the log: " INT64_FORMAT, undo->left),
				 undo->refused != NULL ? errdetail("The first was refused: %s", undo->refused) :
				 errdetail("Their rows have changed since, or those that these referred to did not come back."),
				 errhint("Disable guards and other triggers that refuse or alter rows, and call it again.")));
}

/*
 * simhash_dedup_undo(relation regclass, log regclass, plan regclass DEFAULT NULL)
 *
 * Put back what simhash_dedup_apply has kept in a log, and say so in the plan, if it is
 * given.  What cannot be put back stays in the log.
 *
 * Errors: null_value_not_allowed, wrong_object_type (not a table, no log),
 * insufficient_privilege, feature_not_supported (row security of a child),
 * object_not_in_prerequisite_state (a table is not what it was), undefined_table.
 */
Datum
simhash_dedup_undo(PG_FUNCTION_ARGS)
{
	Undo		undo = {.context = CurrentMemoryContext,.removal.undo = true};

	simhash_check_not_null(fcinfo, 0, 1);
	undo.removal.log_oid = PG_GETARG_OID(1);
	undo.removal.plan = PG_ARGISNULL(2) ? InvalidOid : PG_GETARG_OID(2);
	simhash_removal_call(&undo.removal, fcinfo, undo_plan);
	PG_RETURN_VOID();
}
