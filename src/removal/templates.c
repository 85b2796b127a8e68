/*-------------------------------------------------------------------------
 *
 * templates.c
 *		The statements of a removal: written from templates, and run.
 *
 * In a template a word in braces stands for a table, a column, or a part of a
 * statement; an operator in braces for that of pg_catalog, of which a search_path may
 * have others.  A list has a pattern, in which %1 is its element, and %2 and %3 those of
 * the lists beside it, and what comes between two of them, a comma if nothing is said:
 *
 *		INSERT INTO {log} ({columns|%1}) SELECT {columns|t.%1}
 *		FROM {to} AS t WHERE {key|t.%1 %2 l.%1| AND } AND l.{step} {=} $2
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

#include "fingerprint/fingerprint.h"

/* What words of a template mean. */
typedef struct Words
{
	const Removal *removal;
	const RemovalTable *table;	/* or NULL */
	const RemovalKey *key;		/* or NULL */
	const List *given;			/* names and values, by turns */
	const char *elements[3];	/* of the list whose pattern is written */
} Words;

/* Set a word of templates. */
void
simhash_removal_word(Removal *removal, const char *name, const char *value)
{
	removal->words = lappend(lappend(removal->words, unconstify(char *, name)),
							 unconstify(char *, value));
}

/* The value of a word in a list of names and values, or NULL. */
static const char *
find_given(const List *words, const char *name)
{
	for (int i = 0; i < list_length(words); i += 2)
	{
		if (strcmp(list_nth(words, i), name) == 0)
			return list_nth(words, i + 1);
	}
	return NULL;
}

/* A column of the log's own. */
char	   *
simhash_removal_own(const RemovalTable *table, const char *name)
{
	return unconstify(char *, quote_identifier(psprintf("%s%s", table->own, name)));
}

/* The value of a word. */
static const char *
find_word(const Words *words, const char *name)
{
	static const char *const own[] = {
		"step",
		"action",				/* of children: moved, dropped, back */
		"kept", "distance", "similarity", "removed" /* of the table itself */
	};
	const RemovalTable *table = words->table;
	const char *value = find_given(words->given, name);

	if (value == NULL)
		value = find_given(words->removal->words, name);
	if (value == NULL && table != NULL && strcmp(name, "to") == 0)
		value = table->name;
	if (value == NULL && table != NULL && strcmp(name, "log") == 0)
		value = table->log;
	for (int i = 0; i < (int) lengthof(own); i++)
	{
		if (value == NULL && table != NULL && strcmp(name, own[i]) == 0)
			value = simhash_removal_own(table, name);
	}
	if (value == NULL && strspn(name, "<>=#-") == strlen(name))
		value = psprintf("OPERATOR(pg_catalog.%s)", name);
	if (value == NULL)
		elog(ERROR, "no word \"%s\" in a removal", name);
	return value;
}

/* Find a list, and those beside it. */
static void
find_lists(const Words *words, const char *name, const List *lists[3])
{
	static const RemovalTable no_table;
	static const RemovalKey no_key;
	const RemovalTable *table = words->table != NULL ? words->table : &no_table;
	const RemovalKey *key = words->key != NULL ? words->key : &no_key;
	const struct
	{
		const char *name;
		const List *lists[3];
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

/* Where the braces end that a template begins with. */
static const char *
find_end(const char *template)
{
	int			open = 0;

	for (;; template++)
	{
		if (*template == '{')
			open++;
		else if (*template == '}' && --open == 0)
			return template;
	}
}

/* Write a template, up to its end, with its words. */
static void
fill_in(StringInfo text, const char *template, const char *end, const Words *words)
{
	while (template < end)
	{
		const char *close;
		const char *pattern;
		const char *between;
		const List *lists[3];
		Words		inner = *words;

		if (*template == '%' && words->elements[0] != NULL && strchr("123", template[1]) != NULL)
		{
			appendStringInfoString(text, words->elements[template[1] - '1']);
			template += 2;
			continue;
		}
		if (*template != '{')
		{
			appendStringInfoChar(text, *template++);
			continue;
		}
		close = find_end(template);
		pattern = memchr(template, '|', close - template);
		if (pattern == NULL)
			appendStringInfoString(text, find_word(words, pnstrdup(template + 1, close - template - 1)));
		else
		{
			for (between = close; *between != '|'; between--)
				continue;
			find_lists(words, pnstrdup(template + 1, pattern - template - 1), lists);
			for (int i = 0; i < list_length(lists[0]); i++)
			{
				for (int j = 0; j < 3; j++)
					inner.elements[j] = lists[j] == NIL ? NULL : strVal(list_nth(lists[j], i));
				if (i > 0 && between == pattern)
					appendStringInfoString(text, ", ");
				else if (i > 0)
					appendBinaryStringInfo(text, between + 1, (int) (close - between - 1));
				fill_in(text, pattern + 1, between == pattern ? close : between, &inner);
			}
		}
		template = close + 1;
	}
}

/*
 * Write a statement, or a part of one, about a table or a key, from a template; of words
 * of it the names and values follow, by turns, up to a NULL.
 */
char	   *
simhash_removal_sql(const Removal *removal, const RemovalTable *table,
					const RemovalKey *key, const char *template,...)
{
	Words		words = {.removal = removal,.table = table != NULL || key == NULL ? table : key->child,.key = key};
	List	   *given = NIL;
	StringInfoData text;
	va_list		args;
	char	   *name;

	va_start(args, template);
	while ((name = va_arg(args, char *)) != NULL)
		given = lappend(lappend(given, name), va_arg(args, char *));
	va_end(args);
	words.given = given;
	initStringInfo(&text);
	fill_in(&text, template, template + strlen(template), &words);
	return text.data;
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
 * server, or other sessions?  Then the whole call ends.
 */
static bool
ends_all(int sqlstate)
{
	static const char *const classes[] = {
		"08", "0A", "25", "26", "40", "42", "53", "54", "55", "57", "58", "XX"
	};

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
	ErrorData  *error = simhash_try(attempt, &this);

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
		if (error != NULL && ends_all(error->sqlerrcode))
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
