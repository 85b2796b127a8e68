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
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "relation.h"

PG_FUNCTION_INFO_V1(simhash_dedup_undo);

/* A call of simhash_dedup_undo. */
typedef struct Undo
{
	Removal		removal;
	RemovalTable *table;		/* whose step is taken back */
	char	   *refused;		/* the first thing that the server said; or
								 * NULL */
	int64		left;			/* lines that stay */
} Undo;

/* Columns are compared as texts, which types have, if they have no operators. */
#define AS_TEXT(columns) "ROW(" columns ")::pg_catalog.text"
#define SAME(a, b) "(" AS_TEXT(a) " {=} " AS_TEXT(b) ")"
#define LATER(which) \
	AS_TEXT("{key|l.@3}") " {=} ANY (SELECT " AS_TEXT("{key|o.@3}") " FROM {log} AS o WHERE o.{step} {>} $2 AND " which ")"

/*
 * That a line (l) has to stay because a later one (o) does: of the same row, unless both
 * moved it by other keys, or of one that it referred to.  The later ones are read once
 * for a step, not for each line, nor whenever some of its lines are tried again.
 */
static char *
write_left(const Removal *removal, const RemovalTable *table)
{
	StringInfoData left;
	ListCell   *lc;

	initStringInfo(&left);
	appendStringInfoString(&left, simhash_removal_sql(removal, table, NULL, table == removal->table ?
													  AS_TEXT("{key|l.@1}") " {=} ANY (SELECT " AS_TEXT("{key|o.@1}")
													  " FROM {log} AS o WHERE o.{step} {>} $2)" :
													  "(l.{action} {=} 'dropped'::pg_catalog.text OR NOT " SAME("{key|l.@1}", "{key|l.@3}") ")"
													  " AND " LATER("o.{action} {<>} 'back'::pg_catalog.text")
													  " OR " LATER("o.{action} {=} 'dropped'::pg_catalog.text")
													  "{moving| OR NOT " SAME("l.@1", "l.@2") " AND "
													  LATER("o.{action} {=} 'moved'::pg_catalog.text AND NOT " SAME("o.@1", "o.@2")) "|}"));
	foreach(lc, removal->keys)
	{
		const RemovalKey *key = lfirst(lc);

		if (key->child == table)
			appendStringInfoString(&left, simhash_removal_sql(removal, removal->table, key,
															  " OR {theirs|l.@1 IS NOT NULL| AND } AND " AS_TEXT("{theirs|l.@1}")
															  " {=} ANY (SELECT " AS_TEXT("{theirs|o.@2}") " FROM {log} AS o WHERE o.{step} {>} $2)"));
	}
	return left.data;
}

/* Put back rows that went, or were dropped, and take their lines from the log. */
static void
put_back(Removal *removal, const RemovalTable *table, Datum lines)
{
	const char *these = simhash_removal_sql(removal, table, NULL, table == removal->table ? "l.ctid {=} ANY ($1)" :
											"l.ctid {=} ANY ($1) AND l.{action} {=} 'dropped'::pg_catalog.text");
	uint64		came;

	came = simhash_removal_do(removal, table, NULL, lines,
							  "INSERT INTO {to} ({settable|@1}) OVERRIDING SYSTEM VALUE"
							  " SELECT {settable|l.@1} FROM {log} AS l WHERE %s", these);
	if (simhash_removal_do(removal, table, NULL, lines,
						   "DELETE FROM {log} AS l USING {to} AS t WHERE %s AND {key|t.@1 @2 l.@1| AND }"
						   " AND " SAME("{same|t.@1}", "{same|l.@1}"),
						   these) < came)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("a trigger of %s alters rows that come back, or takes them away, or a policy hides them, or its columns have other types than those of %s",
						table->name, table->log)));
	*(table == removal->table ? &removal->done.gone : &removal->done.dropped) += came;
}

/*
 * Have rows that moved refer to what they did, where nobody has touched that since: of
 * several keys each for itself.  What was edited meanwhile besides, or by triggers, or is
 * no longer generated, is told by the line, which stays as "back".
 */
static void
move_back(Removal *removal, const RemovalTable *table, Datum lines)
{
	const char *these = simhash_removal_sql(removal, table, NULL,
											"l.ctid {=} ANY ($1) AND l.{action} {=} 'moved'::pg_catalog.text");
	const char *which = simhash_removal_sql(removal, table, NULL, "%s AND {key|t.@1 @2 l.@3| AND }"
											" AND {moving|(" SAME("l.@1", "l.@2") " OR " SAME("t.@1", "l.@2") ")| AND }", these);
	uint64		n = simhash_removal_do(removal, table, NULL, lines,
									   "SELECT FROM {to} AS t, {log} AS l WHERE %s FOR UPDATE OF t", which);

	if (n > 0 && simhash_removal_do(removal, table, NULL, lines,
									"UPDATE {to} AS t SET {moving|@1 = CASE WHEN " SAME("l.@1", "l.@2") " THEN t.@1 ELSE l.@1 END}"
									" FROM {log} AS l WHERE %s", which) < n)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("a trigger of %s takes away rows that move", table->name)));
	removal->done.moved += n;
	(void) simhash_removal_do(removal, table, NULL, lines,
							  "DELETE FROM {log} AS l USING {to} AS t WHERE %s AND {key|t.@1 @2 l.@1| AND }"
							  " AND " SAME("{settable|t.@1}", "{settable|l.@1}"), these);
	(void) simhash_removal_do(removal, table, NULL, lines,
							  "UPDATE {log} AS l SET {action} = 'back' FROM {to} AS t WHERE %s"
							  " AND {key|t.@1 @2 l.@1| AND }"
							  " AND {moving|(" SAME("l.@1", "l.@2") " OR " SAME("t.@1", "l.@1") ")| AND }", these);
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
		undo->refused = MemoryContextStrdup(removal->context, why);
}

/* A log without lines of what has come back. */
static char *
write_open(const Removal *removal, const RemovalTable *table)
{
	return simhash_removal_sql(removal, table, NULL, table == removal->table ? "{log} AS l WHERE true" :
							   "{log} AS l WHERE l.{action} {<>} 'back'::pg_catalog.text");
}

/* Find the last step before one, and the table whose rows it changed; whether there is any. */
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

		(void) simhash_removal_do(removal, table, NULL, 0,
								  "SELECT pg_catalog.max(l.{step}) FROM %s AND l.{step} {<} '" INT64_FORMAT "'::pg_catalog.int8",
								  write_open(removal, table), before);
		step = DatumGetInt64(simhash_removal_datum(0, 1));
		if (step > removal->done.step)
		{
			removal->done.step = step;
			undo->table = table;
		}
	}
	return undo->table != NULL;
}

/* Take back the step that was found, as far as it can be. */
static void
take_step(Undo *undo)
{
	Removal    *removal = &undo->removal;
	Datum		none = PointerGetDatum(construct_empty_array(TIDOID));
	const char *command = simhash_removal_sql(removal, undo->table, NULL,
											  "SELECT l.ctid FROM %s AND l.{step} {=} $2", write_open(removal, undo->table));
	uint64		n = simhash_removal_run(removal, psprintf("%s AND NOT (%s)", command, write_left(removal, undo->table)), none);
	Datum	   *lines = palloc(Max(n, 1) * sizeof *lines);

	for (uint64 i = 0; i < n; i++)
		lines[i] = simhash_removal_datum(i, 1);
	SPI_freetuptable(SPI_tuptable);
	simhash_removal_halve(removal, lines, (int) n, take_back, note_refusal);
	undo->left += simhash_removal_run(removal, command, none);
}

/*
 * Take back the last steps before one in a transaction, as many as writers may wait for;
 * returns the number of the first of them, or 0 if there are no more.
 */
static int64
take_steps(Undo *undo, int64 before)
{
	TimestampTz start;

	simhash_removal_begin_lines(&undo->removal);
	start = GetCurrentTimestamp();
	do
	{
		if (find_step(undo, before))
			take_step(undo);
		before = undo->removal.done.step;
	} while (before > 0 && GetCurrentTimestamp() - start < SIMHASH_BATCH_TIME);
	simhash_removal_end(&undo->removal);
	return before;
}

/* Say in the plan what has come back. */
static void
note_back(Removal *removal)
{
	simhash_removal_begin(removal);
	(void) simhash_removal_do(removal, removal->table, NULL, 0,
							  "UPDATE {plan} AS p SET done = 'put back' FROM {source} AS t"
							  " WHERE p.done {=} 'removed'::pg_catalog.text AND {t has gone} AND NOT EXISTS (SELECT FROM {log} AS l"
							  " WHERE ROW({key|t.@1})::pg_catalog.text {=} ROW({key|l.@1})::pg_catalog.text)");
	simhash_removal_end(removal);
}

/* Take back all steps, the last one first. */
static void
undo_plan(void *context)
{
	Removal    *removal = context;
	Undo	   *undo = context;
	int64		step = PG_INT64_MAX;

	while (step > 0)
	{
		step = take_steps(undo, step);
		simhash_progress_step("putting back");
	}
	if (OidIsValid(removal->plan))
		note_back(removal);
	ereport(NOTICE,
			(errmsg("rows of \"%s\" put back: " INT64_FORMAT, get_rel_name(removal->relation), removal->done.gone),
			 errdetail("Rows of other tables: " INT64_FORMAT " moved back, " INT64_FORMAT " put back.",
					   removal->done.moved, removal->done.dropped)));
	if (undo->left > 0)
		ereport(WARNING,
				(errmsg("lines that could not be put back, and stay in the log: " INT64_FORMAT, undo->left),
				 undo->refused != NULL ? errdetail("The first was refused: %s", undo->refused) :
				 errdetail("Their rows have changed since, triggers left them out, or what they referred to did not come back."),
				 errhint("Take away what is in their place, such as a row of the same key, disable guards and other triggers that refuse or alter rows, alter types in the log as in the table, and call it again.")));
}

/*
 * simhash_dedup_undo(relation regclass, plan regclass DEFAULT NULL,
 *		log regclass DEFAULT NULL)
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
	Undo		undo = {.removal.undo = true};

	simhash_check_not_null(fcinfo, 0, 2);
	undo.removal.plan = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	undo.removal.log_oid = PG_GETARG_OID(2);
	simhash_removal_call(&undo.removal, fcinfo, undo_plan);
	PG_RETURN_VOID();
}
