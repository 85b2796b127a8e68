/*-------------------------------------------------------------------------
 *
 * template.c
 *		Commands written from templates, in which words stand for tables and columns.
 *
 * A command names tables and columns, which may have any names, and operators, of which
 * a search_path may have others.  In a template a word in braces stands for a table, a
 * column, or a part of a command, and an operator in braces for that of pg_catalog.  A
 * list has a pattern, in which @1 is its element, and @2 and @3 those of the lists beside
 * it, and what comes between two of them, a comma if nothing is said:
 *
 *		INSERT INTO {log} ({columns|@1}) SELECT {columns|t.@1}
 *		FROM {to} AS t WHERE {key|t.@1 @2 l.@1| AND } AND l.{step} {=} %d
 *
 * Otherwise a template is a format of printf(), whose arguments are put in as they are.
 * Its users say which words there are: clusters/upkeep/sql.c and removal/templates.c.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "query/query.h"

/* Put in what stands for a word, so that printf() leaves it as it is. */
static void
put(StringInfo text, const char *value)
{
	for (; *value != '\0'; value++)
		appendStringInfo(text, "%s%c", *value == '%' ? "%" : "", *value);
}

/* Put in what a word stands for. */
static void
put_word(StringInfo text, const SimhashVocabulary *words, const char *name)
{
	const char *value = words->find_word(words->context, name);

	if (value == NULL && *name != '\0' && strspn(name, "<>=#-/") == strlen(name))
		value = psprintf("OPERATOR(pg_catalog.%s)", name);
	if (value == NULL)
		elog(ERROR, "no word \"%s\" in a template", name);
	put(text, value);
}

/* Where the braces end that a template begins with. */
static const char *
find_end(const char *template)
{
	int			open = 0;

	for (const char *p = template; *p != '\0'; p++)
	{
		if (*p == '{')
			open++;
		else if (*p == '}' && --open == 0)
			return p;
	}
	elog(ERROR, "open braces in a template: %s", template);
}

/* Put in a template, up to its end; the elements are those of the list that it is a pattern of. */
static void
put_template(StringInfo text, const SimhashVocabulary *words, const char *template,
			 const char *end, const char *const *elements)
{
	while (template < end)
	{
		const char *close;
		const char *pattern;
		const char *between;
		const List *lists[SIMHASH_LISTS] = {NIL};

		if (*template == '@' && elements != NULL)
		{
			const char *element = strchr("123", template[1]) == NULL ? NULL : elements[template[1] - '1'];

			if (element == NULL)
				elog(ERROR, "no such element in a template: %s", template);
			put(text, element);
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
			put_word(text, words, pnstrdup(template + 1, close - template - 1));
		else
		{
			for (between = close; *between != '|'; between--)
				continue;
			words->find_lists(words->context, pnstrdup(template + 1, pattern - template - 1), lists);
			for (int i = 0; i < list_length(lists[0]); i++)
			{
				const char *inner[SIMHASH_LISTS];

				for (int j = 0; j < SIMHASH_LISTS; j++)
					inner[j] = lists[j] == NIL ? NULL : strVal(list_nth(lists[j], i));
				if (i > 0 && between == pattern)
					appendStringInfoString(text, ", ");
				else if (i > 0)
					appendBinaryStringInfo(text, between + 1, (int) (close - between - 1));
				put_template(text, words, pattern + 1, between == pattern ? close : between, inner);
			}
		}
		template = close + 1;
	}
}

/* Write a command, or a part of one, from a template and its arguments. */
char	   *
simhash_write_template(const SimhashVocabulary *words, const char *template, va_list args)
{
	StringInfoData format;
	StringInfoData command;
	int			needed;

	initStringInfo(&format);
	put_template(&format, words, template, template + strlen(template), NULL);
	initStringInfo(&command);
	do
	{
		va_list		again;

		va_copy(again, args);
		needed = appendStringInfoVA(&command, format.data, again);
		va_end(again);
		if (needed > 0)
			enlargeStringInfo(&command, needed);
	} while (needed > 0);
	return command.data;
}
