/*-------------------------------------------------------------------------
 *
 * apply.c
 *		A plan, carried out in batches.
 *
 * A batch takes some lines of the plan, locks their rows, in the order in which all
 * removals lock, and looks whether what the lines rest upon is still so.  Then it
 * carries these out in one subtransaction; where the server refuses, by halves, until
 * a line alone stays, and "done" says why.  So constraints and triggers themselves
 * decide what may move and what collides.  Rows that refer to one that goes are all
 * seen, since one that comes later has to wait for the lock.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "relation.h"

PG_FUNCTION_INFO_V1(simhash_dedup_apply);

#define MOST_KEY		"2650"	/* bytes of a key, as an array */
#define MOST_BYTES		200		/* of what the server says, in the plan */
#define FIRST_LINES		10		/* of the first batch, and at least */
#define MOST_TRIES		10		/* of a batch that others stop */
#define DROP_TRIES		20		/* to drop an index beside others */
#define DROP_WAIT		20000L	/* microseconds in between */

/* A call of simhash_dedup_apply. */
typedef struct Apply
{
	Removal		removal;
	int64		batch;			/* the most lines of one; 0 for all */
	int64		size;			/* of the next one */
	char	   *after;			/* condition that its lines come after others;
								 * or NULL */
	uint64		tried;			/* lines of this one */
	char	   *next;			/* condition for those that come after these */
	int			tries;
	List	   *indexes;		/* that were made for it, as OIDs */
	const RemovalKey *key;		/* whose rows move one by one */
	const char *row;			/* of that key: conditions for it */
	int64		stay;			/* lines that are done, and whose rows stay */
} Apply;

/* Fail, so that a line stays for this reason. */
static void
stay_for(const char *why)
{
	ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION), errmsg("%s", why)));
}

/*
 * Fail unless the plan has what simhash_dedup_plan returns, about columns that are there,
 * and keys that an index of it can have, whether they can be compressed or not.
 */
static void
check_plan(const Removal *removal)
{
	static const struct
	{
		const char *name;
		Oid			type;
	}			columns[] = {
		{"gone", TEXTARRAYOID}, {"kept", TEXTARRAYOID}, {"distance", INT4OID},
		{"similarity", FLOAT8OID}, {"doubt", TEXTOID}, {"compared", TEXTARRAYOID},
		{"evidence", INT8OID}, {"done", TEXTOID}
	};
	uint64		n;

	for (int i = 0; i < (int) lengthof(columns); i++)
	{
		AttrNumber	column = get_attnum(removal->plan, columns[i].name);

		if (get_atttype(removal->plan, column) != columns[i].type)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("plan \"%s\" has no column \"%s\" of type %s",
							get_rel_name(removal->plan), columns[i].name,
							format_type_be(columns[i].type)),
					 errhint("Make it by CREATE TABLE ... AS SELECT * FROM simhash_dedup_plan(...).")));
	}
	n = simhash_removal_do(removal, NULL, NULL, 0, "SELECT DISTINCT coalesce(u.name, '') FROM {plan} AS p, pg_catalog.unnest(p.compared) AS u (name)");
	for (uint64 i = 0; i < n; i++)
		(void) simhash_find_column(removal->relation, simhash_removal_text(i, 1), "plan",
								   " The plan says that they were compared.");
	SPI_freetuptable(SPI_tuptable);
	if (simhash_removal_do(removal, NULL, NULL, 0,
						   "SELECT FROM {plan} WHERE pg_catalog.octet_length(pg_catalog.concat(gone)) {>} " MOST_KEY
						   " OR pg_catalog.octet_length(pg_catalog.concat(kept)) {>} " MOST_KEY " LIMIT 1") > 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("plan \"%s\" has keys of more than " MOST_KEY " bytes", get_rel_name(removal->plan)),
				 errhint("Make a plan by a condition that leaves these rows out.")));
}

/*
 * Have the plan say what was done, and find its lines.  Without an identity a
 * publication of all tables refuses that.
 */
static void
prepare_plan(Removal *removal)
{
	if (get_attnum(removal->plan, "done") == InvalidAttrNumber)
		(void) simhash_removal_do(removal, NULL, NULL, 0,
								  "ALTER TABLE {plan} ADD done pg_catalog.text, REPLICA IDENTITY FULL");
	check_plan(removal);
	if (simhash_removal_look(removal, "SELECT FROM pg_catalog.pg_index JOIN pg_catalog.pg_attribute ON attrelid {=} indrelid"
							 " AND attnum {=} indkey[0] AND attname {=} 'gone'::pg_catalog.name"
							 " WHERE indrelid {=} '%u'::pg_catalog.oid", removal->plan) == 0)
	{
		(void) simhash_removal_do(removal, NULL, NULL, 0, "CREATE INDEX ON {plan} (gone) WHERE done IS NULL");
		(void) simhash_removal_do(removal, NULL, NULL, 0, "CREATE INDEX ON {plan} (kept) WHERE done {=} 'removed'::pg_catalog.text");
	}
	(void) simhash_removal_do(removal, NULL, NULL, 0, "ANALYZE {plan}");

	/* No row has two keys: what is said of one holds for it. */
	if (simhash_removal_do(removal, NULL, NULL, 0,
						   "WITH found AS MATERIALIZED ("	/* lest the first be
															 * sought by a nested
															 * loop */
						   "SELECT t.tableoid AS part, t.ctid AS place FROM {source} AS t"
						   " JOIN (SELECT gone FROM {plan} UNION SELECT kept FROM {plan})"
						   " AS w (\"simhash key\") ON {t is wanted})"
						   " SELECT FROM found GROUP BY part, place HAVING pg_catalog.count(*) {>} 1 LIMIT 1") > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("plan \"%s\" writes the key of a row in two ways", get_rel_name(removal->plan))));
}

/* What tells lines that may be carried out, of the plan by some name, and finds the next. */
#define OPEN(p) p ".done IS NULL AND coalesce(" p ".doubt, '') {=} ANY (ARRAY['', 'no'])"
#define NEXT_LINES "{plan} AS p WHERE " OPEN("p") "{after} ORDER BY p.gone DESC LIMIT "

/*
 * The columns that the next line rests upon, as a list of SQL; *array is what it says, as
 * a literal.  Lines of other calls, which have read others, are of other batches.
 */
static const char *
find_compared(const Removal *removal, char **array)
{
	uint64		n = simhash_removal_do(removal, NULL, NULL, 0,
									   "SELECT coalesce(p.compared, '%s'), (SELECT pg_catalog.string_agg("
									   "pg_catalog.format('t.%%I', u.name), ', ' ORDER BY u.n)"
									   " FROM pg_catalog.unnest(p.compared) WITH ORDINALITY AS u (name, n))"
									   " FROM " NEXT_LINES "1", "{}");
	const char *columns = n == 0 ? NULL : simhash_removal_text(0, 2);

	*array = quote_literal_cstr(n == 0 ? "{}" : simhash_removal_text(0, 1));
	SPI_freetuptable(SPI_tuptable);
	return columns != NULL ? columns : "";
}

/*
 * Make an index by which the rows of a child are found, for the time of the call.  The
 * server itself looks for them whenever a row goes.  One that a call left which did
 * not come to its end is known by its name, and by its table: others may take the name.
 */
static void
find_index(Apply *apply, const RemovalKey *key)
{
	Removal    *removal = &apply->removal;
	const char *child = simhash_quoted_name(key->table);
	const char *columns = simhash_removal_sql(removal, removal->table, key, "{theirs|@1}");
	Oid			schema = get_rel_namespace(key->table);
	char	   *name = makeObjectName("simhash_removal", get_rel_name(key->table), psprintf("%u", key->oid));
	bool		may = simhash_owns_relation(key->table, GetUserId());
	MemoryContext context;
	Oid			index;

	if (!key->indexed)
		ereport(NOTICE,
				(errmsg("no index of %s begins with a column of (%s), which refers to %s",
						child, columns, removal->table->name),
				 may ? errdetail("One is made for the time of this call; its writers wait until it is made.") :
				 errdetail("All of it is read for each row that goes; its owner can make one."),
				 errhint("CREATE INDEX CONCURRENTLY makes one beside writers.")));
	if (!may)
		return;
	if (!key->indexed)
		(void) simhash_removal_run(removal, psprintf("CREATE INDEX IF NOT EXISTS %s ON %s (%s)", quote_identifier(name), child, columns), 0);
	index = get_relname_relid(name, schema);
	if (!OidIsValid(index) || IndexGetRelation(index, true) != key->table)
		return;
	context = MemoryContextSwitchTo(removal->context);
	apply->indexes = lappend_oid(apply->indexes, index);
	MemoryContextSwitchTo(context);
}

/* Lock a table and its partitions, if nobody uses one. */
static bool
lock_unused(Oid table)
{
	List	   *tables = find_all_inheritors(table, NoLock, NULL);
	ListCell   *lc;

	foreach(lc, tables)
	{
		if (!ConditionalLockRelationOid(lfirst_oid(lc), AccessExclusiveLock))
			return false;
	}
	return true;
}

/* Drop the indexes that were made; those that others use all the time stay. */
static void
drop_indexes(Apply *apply)
{
	const Removal *removal = &apply->removal;
	ListCell   *lc;

	foreach(lc, apply->indexes)
	{
		Oid			table = IndexGetRelation(lfirst_oid(lc), true);
		int			tries = DROP_TRIES;

		if (!OidIsValid(table))
			continue;
		while (!lock_unused(table) && --tries > 0)
		{
			CHECK_FOR_INTERRUPTS();
			pg_usleep(DROP_WAIT);
		}
		if (tries == 0)
			ereport(NOTICE,
					(errmsg("index \"%s\" is left, as its table is in use", get_rel_name(lfirst_oid(lc))),
					 errhint("DROP INDEX CONCURRENTLY drops it.")));
		else
			(void) simhash_removal_run(removal, psprintf("DROP INDEX %s", simhash_quoted_name(lfirst_oid(lc))), 0);
	}
}

/*
 * Choose the lines of a batch: lock their rows, and compare these with what the lines
 * rest upon.  What others go for does not go itself, and a row goes once, whatever its
 * key is written as.  Returns how many lines may be carried out, which are in *lines, as
 * ctids.
 */
static int
choose_lines(Apply *apply, Datum **lines)
{
	Removal    *removal = &apply->removal;
	char	   *array;
	const char *compared = find_compared(removal, &array);
	int			n = 0;

	apply->tried = simhash_removal_do(removal, NULL, NULL, 0,
									  "WITH pair AS MATERIALIZED ("
									  "SELECT p.ctid AS line, p.gone, p.kept, p.evidence,"
									  " coalesce(p.compared, '%s') {=} %s::pg_catalog._text AS compared FROM " NEXT_LINES "%s"
									  "), wanted (\"simhash key\") AS (SELECT gone FROM pair UNION SELECT kept FROM pair"
									  "), found AS MATERIALIZED ("
									  "SELECT w.\"simhash key\" AS key, t.tableoid AS part, t.ctid AS place,"
									  " {schema}._simhash_hash_row(ROW(%s)) AS hash"
									  " FROM {source} AS t JOIN wanted AS w ON {t is wanted}"
									  " ORDER BY t.tableoid, t.ctid FOR UPDATE OF t"
									  "), told AS (SELECT *, pg_catalog.count(*) OVER (PARTITION BY part, place) AS keys,"
									  " pg_catalog.count(*) OVER (PARTITION BY key) AS places FROM found"
									  "), judged AS MATERIALIZED (SELECT p.line, p.gone, p.compared, (p.gone {<>} p.kept"
									  " AND g.keys {=} 1 AND s.keys {=} 1 AND g.places {=} 1 AND s.places {=} 1"
									  " AND p.evidence {=} ANY (ARRAY[{schema}._simhash_hash_row(ROW(g.hash, s.hash, true)),"
									  " {schema}._simhash_hash_row(ROW(least(g.hash, s.hash), greatest(g.hash, s.hash)))])"
									  " AND NOT EXISTS (SELECT FROM {plan} AS o WHERE " OPEN("o") " AND o.gone {=} s.key OFFSET 0)"
									  " AND NOT EXISTS (SELECT FROM {plan} AS o WHERE " OPEN("o") " AND o.gone {=} g.key AND o.ctid {<} p.line OFFSET 0)"
									  " AND NOT EXISTS (SELECT FROM {plan} AS o WHERE o.done {=} 'removed'::pg_catalog.text AND o.kept {=} g.key OFFSET 0)"
									  ") IS TRUE AS goes FROM pair AS p LEFT JOIN told AS g ON g.key {=} p.gone"
									  " LEFT JOIN told AS s ON s.key {=} p.kept"
									  "), changed AS (UPDATE {plan} AS q SET done = 'changed' FROM judged AS j"
									  " WHERE q.ctid {=} j.line AND j.compared AND NOT j.goes)"
									  " SELECT line, goes AND compared, pg_catalog.format(' AND p.gone {<=} %%L::pg_catalog._text', gone)"
									  " FROM judged ORDER BY gone DESC",
									  "{}", array, apply->batch > 0 ? psprintf(INT64_FORMAT, apply->size) : "ALL", compared);
	*lines = palloc(Max(apply->tried, 1) * sizeof **lines);
	for (uint64 i = 0; i < apply->tried; i++)
	{
		if (DatumGetBool(simhash_removal_datum(i, 2)))
			(*lines)[n++] = simhash_removal_datum(i, 1);
	}
	apply->next = apply->batch == 0 || apply->tried < (uint64) apply->size ? NULL :
		MemoryContextStrdup(removal->context, simhash_removal_text(apply->tried - 1, 3));
	SPI_freetuptable(SPI_tuptable);
	return n;
}

/*
 * Rows (t) that refer by a key to those that go (g) by lines of the plan (p); with the
 * rows that stay for these (s), if these have what is to be referred to.
 */
#define REFERRING \
	"{plan} AS p JOIN {source} AS g ON {g has gone} JOIN {to} AS t ON {theirs|g.@2 @3 t.@1| AND }"
#define REFERRING_TO_KEPT \
	REFERRING " JOIN {source} AS s ON {s has kept} WHERE p.ctid {=} ANY ($1) AND {theirs|s.@2 IS NOT NULL| AND }"
#define IS_NOT_ITSELF \
	"ROW(t.tableoid, t.ctid) {<>} ROW(g.tableoid, g.ctid)"

/* Run a statement that changes rows of a child, and keep in its log what it returns. */
static uint64
run_logged(Removal *removal, const RemovalKey *key, const char *statement,
		   const char *returned, const char *action, Datum lines)
{
	if (key->child->log == NULL)
		return simhash_removal_run(removal, statement, lines);
	return simhash_removal_do(removal, NULL, key, lines,
							  "WITH done AS (%s RETURNING %s, {followed|t.@1}, '%s')"
							  " INSERT INTO {log} ({columns|@1}, {followed|@2}, {action}, {step})"
							  " SELECT d.*, $2 FROM done AS d",
							  statement, returned, action);
}

/* Have rows of a child refer to what stays: (w) is a row as it was. */
static uint64
move(Removal *removal, const RemovalKey *key, const char *which, Datum lines)
{
	return run_logged(removal, key, simhash_removal_sql(removal, NULL, key,
														"UPDATE {to} AS t SET {theirs|@1 = s.@2}"
														" FROM {plan} AS p JOIN {source} AS g ON {g has gone} JOIN {source} AS s ON {s has kept}"
														" JOIN {to} AS w ON {theirs|g.@2 @3 w.@1| AND }"
														" WHERE p.ctid {=} ANY ($1) AND {theirs|s.@2 IS NOT NULL| AND }"
														" AND t.tableoid {=} w.tableoid AND t.ctid {=} w.ctid%s",
														which),
					  simhash_removal_sql(removal, NULL, key, "{columns|w.@1}"), "moved", lines);
}

/* Move the row of a key that is being looked at. */
static void
move_row(Removal *removal, Datum lines)
{
	Apply	   *apply = (Apply *) removal;

	if (move(removal, apply->key, apply->row, lines) == 0)
		stay_for("children");
}

/* Is an error that of a unique or exclusion constraint of the child, not of what else is written? */
static bool
is_collision(const RemovalKey *key, const ErrorData *error)
{
	Oid			index;

	if ((error->sqlerrcode != ERRCODE_UNIQUE_VIOLATION &&
		 error->sqlerrcode != ERRCODE_EXCLUSION_VIOLATION) ||
		error->constraint_name == NULL || error->schema_name == NULL)
		return false;
	index = get_relname_relid(error->constraint_name, get_namespace_oid(error->schema_name, true));
	return OidIsValid(index) && get_rel_relkind(index) == RELKIND_INDEX &&
		list_member_oid(find_all_inheritors(key->child->oid, NoLock, NULL), IndexGetRelation(index, true));
}

/* Move rows of a child one by one, and drop those that collide. */
static void
move_each(Apply *apply, const RemovalKey *key, Datum lines)
{
	Removal    *removal = &apply->removal;
	uint64		n = simhash_removal_do(removal, NULL, key, lines,
									   "SELECT pg_catalog.format(' AND t.tableoid {=} ''%%s''::pg_catalog.oid"
									   " AND t.ctid {=} ''%%s''::pg_catalog.tid', t.tableoid, t.ctid)"
									   " FROM " REFERRING_TO_KEPT " ORDER BY t.tableoid, t.ctid FOR UPDATE OF t");
	SPITupleTable *found = SPI_tuptable;
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext each = AllocSetContextCreate(outer, "row of a removal", ALLOCSET_DEFAULT_SIZES);

	apply->key = key;
	for (uint64 i = 0; i < n; i++)
	{
		ErrorData  *error;

		MemoryContextReset(each);
		MemoryContextSwitchTo(each);
		apply->row = SPI_getvalue(found->vals[i], found->tupdesc, 1);
		error = simhash_removal_try(removal, lines, move_row);
		if (error == NULL)
			removal->done.moved++;
		else if (!is_collision(key, error))
			ReThrowError(error);
		else
			removal->done.dropped += run_logged(removal, key, simhash_removal_sql(removal, NULL, key,
																				  "DELETE FROM {to} AS t WHERE true%s", apply->row),
												simhash_removal_sql(removal, NULL, key, "{columns|t.@1}"), "dropped", lines);
	}
	MemoryContextSwitchTo(outer);
}

/* Move all rows of a child at once.  A trigger may skip one, or lose it. */
static void
move_all(Removal *removal, const RemovalKey *key, Datum lines)
{
	uint64		n = simhash_removal_do(removal, NULL, key, lines, "SELECT FROM " REFERRING_TO_KEPT " FOR UPDATE OF t");

	if (n > 0 && move(removal, key, "", lines) < n)
		stay_for("children");
	removal->done.moved += n;
}

/* Fail if rows still refer to those that go. */
static void
check_left(const Removal *removal, const RemovalKey *key, Datum lines)
{
	uint64		n = simhash_removal_do(removal, NULL, key, lines,
									   "SELECT FROM " REFERRING " WHERE p.ctid {=} ANY ($1) AND " IS_NOT_ITSELF " LIMIT 1");

	if (n > 0)
		stay_for(key->own ? "own children" : "children");
}

/* Remove the rows, keep in the log what they were, and say so in the plan. */
static void
remove_rows(Removal *removal, Datum lines)
{
#define DELETE_ROWS \
	"DELETE FROM {source} AS t USING {plan} AS p WHERE p.ctid {=} ANY ($1) AND {t has gone}"
	ArrayType  *array = DatumGetArrayTypeP(lines);
	uint64		n = (uint64) ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (simhash_removal_do(removal, removal->table, NULL, lines, removal->log == NULL ? DELETE_ROWS :
						   "WITH done AS (" DELETE_ROWS " RETURNING {columns|t.@1}, p.kept, p.distance, p.similarity)"
						   " INSERT INTO {log} ({columns|@1}, {kept}, {distance}, {similarity}, {step})"
						   " SELECT d.*, $2 FROM done AS d") < n ||
		simhash_removal_do(removal, NULL, NULL, lines,
						   "SELECT FROM {plan} AS p WHERE p.ctid {=} ANY ($1)"
						   " AND (EXISTS (SELECT FROM {source} AS t WHERE {t has gone} OFFSET 0)"
						   " OR NOT EXISTS (SELECT FROM {source} AS s WHERE {s has kept} OFFSET 0)) LIMIT 1") > 0 ||
		simhash_removal_do(removal, NULL, NULL, lines,
						   "UPDATE {plan} AS p SET done = 'removed' WHERE p.ctid {=} ANY ($1)") < n)
		stay_for("not removed");
	removal->done.gone += n;
}

/*
 * Carry out lines: one foreign key after the other, as a row may have two that both
 * move; then nothing refers to a row that goes.
 */
static void
carry_out(Removal *removal, Datum lines)
{
	ListCell   *lc;

	foreach(lc, removal->keys)
	{
		const RemovalKey *key = lfirst(lc);

		if (key->own)
			continue;
		removal->done.step++;
		if (removal->drops && key->collides)
			move_each((Apply *) removal, key, lines);
		else
			move_all(removal, key, lines);
	}
	foreach(lc, removal->keys)
		check_left(removal, lfirst(lc), lines);
	removal->done.step++;
	remove_rows(removal, lines);
}

/* Say in the plan why a line stays. */
static void
say_why(Removal *removal, Datum lines, const char *why)
{
	char	   *cut = pnstrdup(why, pg_mbcliplen(why, (int) strlen(why), MOST_BYTES));

	(void) simhash_removal_do(removal, NULL, NULL, lines,
							  "UPDATE {plan} AS p SET done = %s WHERE p.ctid {=} ANY ($1)",
							  quote_literal_cstr(psprintf("stays: %s", cut)));
}

/*
 * Have rows that stayed, in an earlier call, too, be tried again, once no row of their
 * table refers to them; whether there are such.
 */
static bool
try_again(const Removal *removal)
{
	StringInfoData none;
	ListCell   *lc;

	initStringInfo(&none);
	foreach(lc, removal->keys)
	{
		const RemovalKey *key = lfirst(lc);

		if (key->own)
			appendStringInfoString(&none, simhash_removal_sql(removal, NULL, key,
															  " AND NOT EXISTS (SELECT FROM {source} AS g JOIN {to} AS t"
															  " ON {theirs|g.@2 @3 t.@1| AND } AND " IS_NOT_ITSELF
															  " WHERE {g has gone} OFFSET 0)"));
	}
	return none.len > 0 &&
		simhash_removal_do(removal, NULL, NULL, 0,
						   "UPDATE {plan} AS p SET done = NULL"
						   " WHERE done {=} 'stays: own children'::pg_catalog.text%s", none.data) > 0;
}

/* Choose the lines of a batch, and carry them out. */
static void
take_lines(Removal *removal, Datum unused pg_attribute_unused())
{
	Datum	   *lines;
	int			n = choose_lines((Apply *) removal, &lines);

	simhash_removal_halve(removal, lines, n, carry_out, say_why);
}

/*
 * Try to take a batch.  Where a row has moved to another partition meanwhile, or a
 * deadlock was ended, nothing of it is done, and the next one begins with the same line;
 * but locks of earlier batches of one transaction stay.  The next one has as many lines
 * as are to be done in the time for which writers may wait.
 */
static void
try_lines(Apply *apply)
{
	TimestampTz start = GetCurrentTimestamp();
	ErrorData  *error = simhash_removal_try(&apply->removal, 0, take_lines);
	double		took = Max(GetCurrentTimestamp() - start, 1);

	if (error != NULL &&
		(ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_TRANSACTION_ROLLBACK ||
		 IsolationUsesXactSnapshot() || (apply->removal.atomic && apply->after != NULL) ||
		 ++apply->tries == MOST_TRIES))
		ReThrowError(error);
	if (error == NULL)
	{
		apply->tries = 0;
		if (apply->after != NULL)
			pfree(apply->after);
		apply->after = apply->next;
	}
	else
		apply->tried = 1;
	if (!apply->removal.atomic)
		apply->size = (int64) Min(Max(apply->size * Min(SIMHASH_BATCH_TIME / took, 2), FIRST_LINES), apply->batch);
}

/* Carry out a batch; returns whether there may be another one. */
static bool
take_batch(Apply *apply, bool *again)
{
	Removal    *removal = &apply->removal;
	int64		before = removal->done.gone;
	bool		more = apply->after != NULL;

	simhash_removal_begin_lines(removal);
	simhash_removal_word(removal, "after", more ? apply->after : "");
	try_lines(apply);
	more |= apply->tried > 0;
	if (!more && *again)
	{
		more = try_again(removal);
		*again = false;
	}
	if (!more)
	{
		(void) simhash_removal_do(removal, NULL, NULL, 0,
								  "SELECT pg_catalog.count(*) FROM {plan} WHERE done {<>} ALL (ARRAY['removed', 'put back'])");
		apply->stay = DatumGetInt64(simhash_removal_datum(0, 1));
	}
	*again |= removal->done.gone > before;
	simhash_removal_end(removal);
	return more;
}

/* Carry out the plan. */
static void
apply_plan(void *context)
{
	Removal    *removal = context;
	Apply	   *apply = context;
	bool		again = true;
	ListCell   *lc;

	simhash_progress_step("preparing");

	/*
	 * One call at a time, lest two that lock the table both wait to make an
	 * index of it.
	 */
	LockDatabaseObject(RelationRelationId, removal->relation, 0, ShareUpdateExclusiveLock);
	removal->prepares = true;
	simhash_removal_begin(removal);
	prepare_plan(removal);
	foreach(lc, removal->keys)
		find_index(apply, lfirst(lc));
	foreach(lc, removal->others)
		find_index(apply, lfirst(lc));
	simhash_removal_end(removal);
	removal->prepares = false;
	apply->size = removal->atomic ? apply->batch : Min(FIRST_LINES, apply->batch);
	while (take_batch(apply, &again))
		simhash_progress_rows("removed", removal->done.gone);
	if (apply->indexes != NIL)
	{
		simhash_removal_begin(removal);
		drop_indexes(apply);
		simhash_removal_end(removal);
	}
	ereport(NOTICE,
			(errmsg("rows of \"%s\" removed: " INT64_FORMAT, get_rel_name(removal->relation), removal->done.gone),
			 errdetail("Rows of other tables: " INT64_FORMAT " moved, " INT64_FORMAT " dropped. Lines refused: "
					   INT64_FORMAT "; column \"done\" of the plan says why.",
					   removal->done.moved, removal->done.dropped, apply->stay),
			 removal->done.gone > 0 ? 0 :
			 errhint("Lines whose \"done\" is filled are not tried again, unless it is set to NULL.")));
}

/*
 * simhash_dedup_apply(relation regclass, plan regclass, log text DEFAULT NULL,
 *		children text DEFAULT NULL, batch bigint DEFAULT 1000)
 *
 * Remove the rows that a plan says may go, as far as neither row of a line has changed
 * since in what was compared.
 *
 * Errors: null_value_not_allowed, invalid_parameter_value (children, batch),
 * wrong_object_type (not a table), feature_not_supported (keys that cannot move, or be
 * put back), insufficient_privilege, datatype_mismatch (the plan),
 * object_not_in_prerequisite_state (a log of another table), undefined_column (of the
 * plan's, by now).
 */
Datum
simhash_dedup_apply(PG_FUNCTION_ARGS)
{
	Apply		apply = {0};

	simhash_check_not_null(fcinfo, 0, 1);
	apply.removal.plan = PG_GETARG_OID(1);
	apply.removal.log = PG_ARGISNULL(2) ? NULL : simhash_text_argument(fcinfo, 2);
	apply.removal.children = !PG_ARGISNULL(3);
	apply.removal.drops = apply.removal.children && simhash_choose(fcinfo, 3, "move", "stay");
	if (!PG_ARGISNULL(4))
		apply.batch = simhash_check_range("", "batch", PG_GETARG_INT64(4), 1, PG_INT64_MAX, 0);
	simhash_removal_call(&apply.removal, fcinfo, apply_plan);
	PG_RETURN_VOID();
}
