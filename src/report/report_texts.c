/*-------------------------------------------------------------------------
 *
 * report_texts.c
 *		The parts of queries about the rows of a table.
 *
 * The table may belong to somebody whom the caller does not trust: no code of
 * the owner's may run that would not run in a SELECT of the columns.  So all casts
 * are written by simhash_write_cast, from types whose casts are PostgreSQL's own.
 * No other value is cast, not even a row: the owner may have made such a cast.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "catalog/pg_type.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The key of a row as an array of texts, whatever the collations of columns. */
char	   *
simhash_write_key(const SimhashTable *table, const char *alias)
{
	return psprintf("ARRAY[%s)] COLLATE pg_catalog.\"C\"",
					simhash_list(table->key,
								 psprintf("pg_catalog.format('%%s', %s.", alias),
								 "), "));
}

/* A value as a text, by the output function of its type, whatever that is. */
static char *
write_text(const char *expression)
{
	return psprintf("CASE WHEN (%s) IS NOT NULL THEN pg_catalog.concat(%s) END",
					expression, expression);
}

/*
 * An expression of a type as the very type that functions take, which is
 * PostgreSQL's own; without a length, where bit would be bit(1).  All bit strings are
 * bit.
 *
 * Who owns a type may have made casts from it, and an array of a domain is a type of
 * its own.  So a cast is written from PostgreSQL's types alone, and from domains over
 * these, whose own casts are ignored.  Another array is taken apart, down to elements of
 * such a type.  What is left is a base type that is read as text, as citext: it is
 * written by its output function, which takes a superuser to make.
 */
char	   *
simhash_write_cast(const char *expression, Oid given, Oid type)
{
	Oid			element = get_element_type(getBaseType(given));

	if (getBaseType(given) < FirstUnpinnedObjectId)
		return psprintf("(%s)::%s", expression,
						format_type_extended(type == VARBITOID ? BITOID : type, -1, FORMAT_TYPE_TYPEMOD_GIVEN |
											 FORMAT_TYPE_FORCE_QUALIFY));
	if (!OidIsValid(element))
		return write_text(expression);
	return psprintf("CASE WHEN (%s) IS NOT NULL THEN"
					" ARRAY(SELECT %s FROM pg_catalog.unnest(%s) AS u (v)) END",
					expression, simhash_write_cast("u.v", element, TEXTOID), expression);
}

/*
 * A text as a value of its type in the key, or of what that is a domain over.  It
 * stays a text if this is not PostgreSQL's own: a cast to it may run code of others.
 */
static char *
write_key_value(char *text, Oid type)
{
	Oid			base = getBaseType(type);

	return base >= FirstUnpinnedObjectId ? text :
				simhash_write_cast(text, TEXTOID, base);
}

/*
 * A key that is an array of texts, written as the session writes it: another one
 * may have had other settings for dates.  The table of the array may have been altered
 * by the time that this is run: so it is made texts first.
 */
static char *
write_same_key(const SimhashTable *table, const char *array)
{
	List	   *values = NIL;
	ListCell   *type;

	foreach(type, table->key_types)
		values = lappend(values,
						 write_key_value(write_text(psprintf("(%s)[%d]", array,
															 foreach_current_index(type) + 1)),
										 lfirst_oid(type)));
	return psprintf("ARRAY[%s)] COLLATE pg_catalog.\"C\"",
					simhash_list(values, "pg_catalog.format('%s', ", "), "));
}

/* The condition that a row has the key in an array of texts. */
char	   *
simhash_write_has_key(const SimhashTable *table, const char *row,
					  const char *array)
{
	List	   *conditions = NIL;
	ListCell   *column;
	ListCell   *type;

	forboth(column, table->key, type, table->key_types)
	{
		char	   *value = write_key_value(psprintf("(%s)[%d]", array,
													 foreach_current_index(column) + 1),
											lfirst_oid(type));

		conditions = lappend(conditions,
							 psprintf(lfirst_oid(type) >= FirstUnpinnedObjectId ?
									  "pg_catalog.format('%%s', %s.%s) OPERATOR(pg_catalog.=) %s" :
									  "%s.%s OPERATOR(pg_catalog.=) %s",
									  row, (char *) lfirst(column), value));
	}
	return simhash_list(conditions, "", " AND ");
}

/*
 * A key as a number.  Two keys of one number would only be taken for apart where
 * they are not.
 */
static char *
write_key_number(const char *key)
{
	return psprintf("pg_catalog.hash_array_extended(%s, 0)", key);
}

/*
 * The query for the pairs of keys that are apart, as numbers; NULL if there is no
 * table of them.  A line that lacks a part of a key says nothing.
 */
char	   *
simhash_write_apart(const SimhashTable *table)
{
	List	   *parts = NIL;

	if (table->apart == NULL)
		return NULL;
	for (int i = 1; i <= list_length(table->key); i++)
		parts = lappend(parts, psprintf("p.gone[%d], p.kept[%d]", i, i));
	return psprintf("SELECT %s, %s FROM %s AS p WHERE ROW(%s) IS NOT NULL",
					write_key_number(write_same_key(table, "p.gone")),
					write_key_number(write_same_key(table, "p.kept")),
					table->apart, simhash_list(parts, "", ", "));
}

/*
 * Append what the rows of a group are equal in.  A row without a moment is near no
 * other, as it would be by a NULL there.
 */
static void
append_groups(StringInfo text, const SimhashTable *table)
{
	ListCell   *lc;

	foreach(lc, table->groups)
	{
		const char *group = lfirst(lc);
		char	   *called = psprintf("simhash group %s", group);

		truncate_identifier(called, (int) strlen(called), false);
		appendStringInfo(text, ", %s", group);
		if (*group == '(')
			appendStringInfo(text, " AS %s", quote_identifier(called));
	}
	if (table->moment != NULL)
		appendStringInfo(text, ", %s IS NOT NULL OR NULL AS \"simhash group moment\"",
						 table->moment);
}

/*
 * The query for the rows that take part and have a fingerprint, in their order: some
 * columns, the document, the key if some are apart, the moment, with the earliest that
 * is near to it, and the groups.  In ORDER BY the name of what a query yields comes
 * before that of a column, so all but columns get names that simhash_check_order
 * refuses there.
 */
char	   *
simhash_write_rows(const SimhashTable *table, const char *columns)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "SELECT %s", columns);
	if (table->decides)
		appendStringInfo(&text, ", (%s) AS \"" SIMHASH_DOCUMENT_COLUMN "\"",
						 table->document);
	if (table->apart != NULL)
		appendStringInfo(&text, ", %s AS \"" SIMHASH_APART_COLUMN "\"",
						 write_key_number(simhash_write_key(table, "t")));
	if (table->moment != NULL)
		appendStringInfo(&text, ", %s AS \"" SIMHASH_MOMENT_COLUMN "\","
						 " %s OPERATOR(pg_catalog.-) %s::pg_catalog.interval"
						 " AS \"" SIMHASH_EARLIEST_COLUMN "\"", table->moment,
						 table->moment, quote_literal_cstr(table->near_in));
	append_groups(&text, table);
	appendStringInfo(&text, " FROM %s AS t WHERE (%s) IS NOT NULL", table->source,
					 table->fingerprint);
	if (table->condition != NULL)
		appendStringInfo(&text, " AND (%s)", table->condition);
	appendStringInfo(&text, "%s%s",
					 *table->order == '\0' ? "" : " ORDER BY ", table->order);
	return text.data;
}

/* Some expressions, each with something before it, or between them. */
char	   *
simhash_list(const List *expressions, const char *before, const char *between)
{
	StringInfoData list;
	ListCell   *cell;

	initStringInfo(&list);
	foreach(cell, expressions)
	{
		if (cell != list_head(expressions))
			appendStringInfoString(&list, between);
		appendStringInfo(&list, "%s%s", before, (char *) lfirst(cell));
	}
	return list.data;
}
