/*-------------------------------------------------------------------------
 *
 * sql.c
 *		The statements of a removal: written from templates, and run.
 *
 * In a template a word in braces stands for a table, a column, or a part of a
 * statement, and an operator in braces for that of pg_catalog, of which a
 * search_path may have others: {=} is OPERATOR(pg_catalog.=).  Triggers find the
 * search_path of the caller, as in any statement of his.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

/* The value of a word, in a list of names and values by turns, or NULL. */
static const char *
find_word(const List *words, const char *name)
{
	for (int i = 0; i < list_length(words); i += 2)
	{
		if (strcmp(list_nth(words, i), name) == 0)
			return list_nth(words, i + 1);
	}
	return NULL;
}

/* Write a template with its words: those of the first list before the others. */
static char *
fill_in(const char *template, const List *words, const List *others)
{
	StringInfoData text;

	initStringInfo(&text);
	while (*template != '\0')
	{
		const char *end = *template == '{' ? strchr(template, '}') : NULL;
		char	   *name;
		const char *value;

		if (end == NULL)
		{
			appendStringInfoChar(&text, *template++);
			continue;
		}
		name = pnstrdup(template + 1, end - template - 1);
		value = find_word(words, name);
		if (value == NULL)
			value = find_word(others, name);
		if (value != NULL)
			appendStringInfoString(&text, value);
		else if (strspn(name, "<>=#|-") == strlen(name))
			appendStringInfo(&text, "OPERATOR(pg_catalog.%s)", name);
		else
			elog(ERROR, "no word \"%s\" in a removal", name);
		template = end + 1;
	}
	return text.data;
}

/* Set a word of templates. */
void
simhash_removal_word(Removal *removal, const char *name, const char *value)
{
	removal->words = lappend(lappend(removal->words, unconstify(char *, name)),
							 unconstify(char *, value));
}

/*
 * Write a statement, or a part of one, from a template, and of words of it the names
 * and values, by turns, up to a NULL.
 */
char	   *
simhash_removal_sql(const Removal *removal, const char *template,...)
{
	List	   *words = NIL;
	va_list		args;
	char	   *name;

	va_start(args, template);
	while ((name = va_arg(args, char *)) != NULL)
		words = lappend(lappend(words, name), va_arg(args, char *));
	va_end(args);
	return fill_in(template, words, removal->words);
}

/*
 * Write a template for each element of a list, in which {1}, {2} and {3} are those of
 * the lists, with something between them.
 */
char	   *
simhash_removal_each(const char *template, const char *between, const List *one,
					 const List *two, const List *three)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < list_length(one); i++)
	{
		List	   *words = list_make2("1", list_nth(one, i));

		if (two != NIL)
			words = lappend(lappend(words, "2"), list_nth(two, i));
		if (three != NIL)
			words = lappend(lappend(words, "3"), list_nth(three, i));
		appendStringInfo(&text, "%s%s", i == 0 ? "" : between,
						 fill_in(template, words, NIL));
	}
	return text.data;
}

/*
 * Run a statement, about lines of the plan or a log, an array of their ctids that it
 * calls $1 (0 for none), and of which it calls the step $2; returns how many rows it
 * is about.  After a commit there is no snapshot, and planning wants one.
 */
uint64
simhash_removal_run(const Removal *removal, const char *command, Datum lines)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			types[] = {TIDARRAYOID, INT8OID};
	Datum		values[] = {lines, Int64GetDatum(removal->done.step)};
	int			result;
	uint64		rows;

	PushActiveSnapshot(GetTransactionSnapshot());
	result = SPI_execute_with_args(command, lines == 0 ? 0 : 2, types, values,
								   NULL, false, 0);
	rows = SPI_processed;
	PopActiveSnapshot();
	MemoryContextSwitchTo(context);
	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not run a statement of a removal: %s",
						SPI_result_code_string(result)),
				 errdetail("The statement was: %s", command),
				 errhint("See whether a rule of the table changes it.")));
	return rows;
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

/* An array of texts that a statement has yielded, as a list of strings. */
List *
simhash_removal_list(uint64 row, int column)
{
	Datum		array = simhash_removal_datum(row, column);
	Datum	   *values;
	int			n = 0;
	List	   *list = NIL;

	if (array != 0)
		deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false,
						  TYPALIGN_INT, &values, NULL, &n);
	for (int i = 0; i < n; i++)
		list = lappend(list, TextDatumGetCString(values[i]));
	return list;
}

/* Is a name in a list? */
bool
simhash_removal_has_name(const List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	return false;
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

/*
 * Do something to lines in a subtransaction; the error if the server refuses, or NULL.
 * No error must leave the subtransaction open.
 */
ErrorData  *
simhash_removal_try(Removal *removal, Datum lines, void (*act) (Removal *, Datum))
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	RemovalCounts done = removal->done;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		act(removal, lines);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error == NULL)
		return NULL;
	removal->done = done;
	if (ends_all(error->sqlerrcode))
		ReThrowError(error);
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
