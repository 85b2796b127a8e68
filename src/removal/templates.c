/*-------------------------------------------------------------------------
 *
 * templates.c
 *		The statements of a removal: written from templates, and run.
 *
 * The words of their templates (query/template.c) are those of find_word() and find_lists(),
 * of a table or of a key with its child.
 *
 * Triggers find the search_path of the caller, as in any statement of his.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "actions.h"
#include "fingerprint/fingerprint.h"

/* What a template is about. */
typedef struct Subject
{
	const Removal *removal;
	const RemovalTable *table;	/* or NULL */
	const RemovalKey *key;		/* or NULL */
} Subject;

/* Set a word of templates. */
void
simhash_removal_word(Removal *removal, const char *name, const char *value)
{
	removal->words = lappend(lappend(removal->words, unconstify(char *, name)),
							 unconstify(char *, value));
}

/* A column of the log's own. */
char	   *
simhash_removal_own(const RemovalTable *table, const char *name)
{
	return unconstify(char *, quote_identifier(psprintf("%s%s", table->own, name)));
}

/* SimhashVocabulary.find_word */
static const char *
find_word(const void *context, const char *name)
{
	static const char *const own[] = {
		"step",
		"action",				/* of children: moved, dropped, back */
		"kept", "distance", "similarity", "removed" /* of the table itself */
	};
	const Subject *subject = context;
	const List *words = subject->removal->words;

	for (int i = 0; i < list_length(words); i += 2)
	{
		if (strcmp(list_nth(words, i), name) == 0)
			return list_nth(words, i + 1);
	}
	if (subject->table == NULL)
		return NULL;
	if (strcmp(name, "to") == 0)
		return subject->table->name;
	if (strcmp(name, "log") == 0)
		return subject->table->log;
	for (int i = 0; i < (int) lengthof(own); i++)
	{
		if (strcmp(name, own[i]) == 0)
			return simhash_removal_own(subject->table, name);
	}
	return NULL;
}

/* SimhashVocabulary.find_lists */
static void
find_lists(const void *context, const char *name, const List **lists)
{
	static const RemovalTable no_table;
	static const RemovalKey no_key;
	const Subject *subject = context;
	const RemovalTable *table = subject->table != NULL ? subject->table : &no_table;
	const RemovalKey *key = subject->key != NULL ? subject->key : &no_key;
	const struct
	{
		const char *name;
		const List *lists[SIMHASH_LISTS];
	}			all[] = {
		{"theirs", {key->theirs, key->ours, key->equals}},
		{"columns", {table->columns}},
		{"settable", {table->settable}},
		{"same", {table->same}},
		{"key", {table->key, table->equals, table->now}},
		{"followed", {table->followed, table->now}},
		{"moving", {table->moving, table->moving_now}}
	};

	for (int i = 0; i < (int) lengthof(all); i++)
	{
		if (strcmp(all[i].name, name) == 0)
		{
			memcpy(lists, all[i].lists, sizeof all[i].lists);
			return;
		}
	}
	elog(ERROR, "no list \"%s\" in a removal", name);
}

/* Write a statement, or a part of one, about a table or a key, from a template and its arguments. */
char	   *
simhash_removal_sql(const Removal *removal, const RemovalTable *table,
					const RemovalKey *key, const char *template,...)
{
	Subject		subject = {removal, table != NULL || key == NULL ? table : key->child, key};
	SimhashVocabulary words = {find_word, find_lists, &subject};
	va_list		args;
	char	   *command;

	va_start(args, template);
	command = simhash_write_template(&words, template, args);
	va_end(args);
	return command;
}

/*
 * Run a statement, about lines of the plan or a log, an array of their ctids that it
 * calls $1 (0 for none), and of which it calls the step $2; returns how many rows it
 * is about.  It names the table, its children, their logs and the plan.
 */
uint64
simhash_removal_run(const Removal *removal, const char *command, Datum lines)
{
	Oid			types[] = {TIDARRAYOID, INT8OID};
	Datum		values[] = {lines, Int64GetDatum(removal->done.step)};
	List	   *relations = list_make2_oid(removal->relation, removal->plan);
	ListCell   *lc;

	foreach(lc, removal->tables)
	{
		const RemovalTable *table = lfirst(lc);

		relations = lappend_oid(lappend_oid(relations, table->oid), table->log_oid);
	}
	return simhash_run_command(relations, command, lines == 0 ? 0 : 2, types, values);
}

/*
 * Ask the catalogue as it is now: the snapshot of a transaction may be older than columns
 * and keys, by which the server acts all the same.
 */
uint64
simhash_removal_look_up(const char *query)
{
	PushActiveSnapshot(GetLatestSnapshot());
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not look up what a removal is about");
	PopActiveSnapshot();
	return SPI_processed;
}

/* A value that a statement has yielded, in the current context; 0 for NULL. */
Datum
simhash_removal_datum(uint64 row, int column)
{
	TupleDesc	columns = SPI_tuptable->tupdesc;
	Form_pg_attribute attribute = TupleDescAttr(columns, column - 1);
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row], columns, column,
									  &isnull);

	return isnull ? 0 : datumCopy(value, attribute->attbyval, attribute->attlen);
}

/* The same, of any type, as a text; NULL for NULL. */
char	   *
simhash_removal_text(uint64 row, int column)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

/* An array of texts that a statement has yielded, as a list of String nodes. */
List	   *
simhash_removal_list(uint64 row, int column)
{
	Datum		array = simhash_removal_datum(row, column);
	Datum	   *names;
	int			n = array == 0 ? 0 : simhash_get_texts(DatumGetArrayTypeP(array), "names", &names);
	List	   *list = NIL;

	for (int i = 0; i < n; i++)
		list = lappend(list, makeString(TextDatumGetCString(names[i])));
	return list;
}

/*
 * Is an error no word about rows, but about privileges, statements, resources, the
 * server, or other sessions?  Then the whole call ends.  But a value may be too large for
 * an index, and a row that comes back may be refused by a policy, or by the type that a
 * column has now.
 */
static bool
ends_all(const Removal *removal, int sqlstate)
{
	static const char *const classes[] = {
		"08", "0A", "25", "26", "40", "42", "53", "54", "55", "57", "58", "XX"
	};

	if (sqlstate == ERRCODE_PROGRAM_LIMIT_EXCEEDED ||
		(removal->undo && (sqlstate == ERRCODE_DATATYPE_MISMATCH || sqlstate == ERRCODE_UNDEFINED_FUNCTION ||
						   (sqlstate == ERRCODE_INSUFFICIENT_PRIVILEGE &&
							check_enable_rls(removal->relation, InvalidOid, true) == RLS_ENABLED))))
		return false;
	for (int i = 0; i < (int) lengthof(classes); i++)
	{
		if (ERRCODE_TO_CATEGORY(sqlstate) ==
			MAKE_SQLSTATE(classes[i][0], classes[i][1], '0', '0', '0'))
			return true;
	}
	return false;
}

/* What is done in a subtransaction, to which lines. */
typedef struct Attempt
{
	Removal    *removal;
	Datum		lines;
	void		(*act) (Removal *, Datum);
} Attempt;

/* Do it, and forget what was allocated for it. */
static void
attempt(void *context)
{
	Attempt    *this = context;

	(void) SPI_connect();
	this->act(this->removal, this->lines);
	(void) SPI_finish();
}

/* Do something to lines in a subtransaction; the error if the server refuses, or NULL. */
ErrorData  *
simhash_removal_try(Removal *removal, Datum lines, void (*act) (Removal *, Datum))
{
	Attempt		this = {removal, lines, act};
	RemovalCounts done = removal->done;
	SimhashWatch before = simhash_begin_watch(removal->relation, true, removal->undo ||
											  removal->children || removal->log != NULL);
	ErrorData  *volatile error = NULL;

	PG_TRY();
	{
		error = simhash_try(attempt, &this);
	}
	PG_FINALLY();
	{
		simhash_end_watch(before);
	}
	PG_END_TRY();
	if (error != NULL)
		removal->done = done;
	return error;
}

/*
 * Do something to lines, all at once; where the server refuses, by halves, until one
 * alone is refused.
 */
void
simhash_removal_halve(Removal *removal, const Datum *lines, int n,
					  void (*act) (Removal *, Datum),
					  void (*refused) (Removal *, Datum, const char *))
{
	int			size = n;

	while (n > 0)
	{
		int			now = Min(size, n);
		Datum		array = PointerGetDatum(construct_array(unconstify(Datum *, lines), now, TIDOID,
															sizeof(ItemPointerData), false,
															TYPALIGN_SHORT));
		ErrorData  *error = simhash_removal_try(removal, array, act);

		CHECK_FOR_INTERRUPTS();
		if (error != NULL && ends_all(removal, error->sqlerrcode))
			ReThrowError(error);
		if (error != NULL && now > 1)
		{
			size = now / 2;
			continue;
		}
		if (error != NULL)
			refused(removal, array, error->message);
		lines += now;
		n -= now;
		size = now * 2;
	}
}
