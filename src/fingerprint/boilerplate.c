/*-------------------------------------------------------------------------
 *
 * boilerplate.c
 *		The lines that many documents of a site have, and a document without
 *		them.
 *
 * A line is compared in its normal form, byte by byte: without blanks at its
 * ends, with one for others in a row.  In a line that is learnt a # stands for
 * each number, if it has a letter or a character that is not ASCII as well: so
 * dates and counters are one line each, but rows of numbers are many.
 *
 * Hashes stand for lines, with a seed that nobody knows.  They are not stored.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "utils/builtins.h"

#define LEAST_DOCUMENTS	5		/* boilerplate is in more than so many */

/* What simhash_without() knows of a line. */
#define OWN			1
#define BOILERPLATE	2

/* Lines, each with a number, and a text that is read line by line. */
typedef struct Lines
{
	ShTally		numbers;
	uint64		seed;
	const char *at;				/* the line that has been read */
	const char *next;			/* the one behind it */
	const char *end;
	char	   *normal;			/* its normal form */
	Size		length;			/* of that */
	bool		dated;			/* it has letters and digits */
} Lines;

/* What an aggregate has read. */
typedef struct Learning
{
	Lines		lines;			/* each with its number of documents */
	ShTally		seen;			/* lines of the document being read */
	StringInfoData common;		/* lines that are in enough documents */
	uint64		documents;
	double		share;
} Learning;

PG_FUNCTION_INFO_V1(simhash_boilerplate_learn);
PG_FUNCTION_INFO_V1(simhash_boilerplate_final);
PG_FUNCTION_INFO_V1(simhash_without);

/* Begin with no lines. */
static void
begin_lines(Lines *lines, MemoryContext context)
{
	simhash_init_tally(&lines->numbers, context);
	lines->seed = pg_prng_uint64(&pg_global_prng_state);
}

/* Begin to read a text. */
static void
begin_text(Lines *lines, text *document)
{
	lines->next = VARDATA_ANY(document);
	lines->end = lines->next + VARSIZE_ANY_EXHDR(document);
	lines->normal = palloc(VARSIZE_ANY_EXHDR(document));
}

/* Is that a digit of ASCII? */
static inline bool
is_digit(char c)
{
	return (unsigned char) (c - '0') < 10;
}

/* Read the next line, if there is one. */
static bool
next_line(Lines *lines)
{
	const char *p = lines->next;
	const char *end = memchr(p, '\n', lines->end - p);
	char	   *to = lines->normal;
	bool		digits = false;
	bool		letters = false;
	bool		blank = true;

	CHECK_FOR_INTERRUPTS();
	lines->at = p;
	lines->next = end = end != NULL ? end + 1 : lines->end;
	for (; p < end; p++)
	{
		char		c = *p;
		bool		follows = blank;

		blank = (unsigned char) c <= ' ';
		digits |= is_digit(c);
		letters |= IS_HIGHBIT_SET(c) | ((unsigned char) ((c | 32) - 'a') < 26);
		*to = blank ? ' ' : c;
		to += !(blank & follows);
	}
	lines->length = to - lines->normal;
	if (blank && lines->length > 0)
		lines->length--;
	lines->dated = digits && letters;
	return lines->at < end;
}

/* Put a # for each number of the line; false when nothing is to be changed. */
static bool
hide_numbers(Lines *lines)
{
	char	   *to = lines->normal;

	if (!lines->dated)
		return false;
	for (Size i = 0; i < lines->length; i++)
	{
		if (!is_digit(lines->normal[i]))
			*to++ = lines->normal[i];
		else if (to == lines->normal || to[-1] != '#')
			*to++ = '#';
	}
	lines->length = to - lines->normal;
	lines->dated = false;
	return true;
}

/* The number of the line in a table. */
static uint32 *
number_of(const Lines *lines, ShTally *table)
{
	return sh_tally_count(table,
						  hash_bytes_extended((unsigned char *) lines->normal,
											  lines->length, lines->seed));
}

/* Count the lines of a document, each once; list those that become common. */
static void
learn_document(Learning *learning, text *document)
{
	Lines	   *lines = &learning->lines;

	learning->documents++;
	sh_tally_begin(&learning->seen);
	begin_text(lines, document);
	while (next_line(lines))
	{
		(void) hide_numbers(lines);
		if (lines->length > 0 && (*number_of(lines, &learning->seen))++ == 0 &&
			++*number_of(lines, &lines->numbers) == LEAST_DOCUMENTS + 1)
			appendStringInfo(&learning->common, "%.*s\n", (int) lines->length,
							 lines->normal);
	}
}

/*
 * simhash_boilerplate_learn(state internal, document text,
 *		share double precision) -> internal
 *
 * Transition: read a document.  A row with a NULL is ignored.
 *
 * Errors: invalid_parameter_value (share).
 */
Datum
simhash_boilerplate_learn(PG_FUNCTION_ARGS)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);
	Learning   *learning = PG_ARGISNULL(0) ? NULL :
	(Learning *) PG_GETARG_POINTER(0);

	if (learning == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		learning = palloc0(sizeof *learning);
		begin_lines(&learning->lines, context);
		simhash_init_tally(&learning->seen, context);
		initStringInfo(&learning->common);
		MemoryContextSwitchTo(old);
	}
	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
	{
		learning->share = simhash_check_share("", "share", PG_GETARG_FLOAT8(2));
		learn_document(learning, PG_GETARG_TEXT_PP(1));
	}
	PG_RETURN_POINTER(learning);
}

/*
 * simhash_boilerplate_final(internal) -> text
 *
 * The lines that are in more than 5 of the documents, and in more than the share
 * of them that was given last; NULL when there was no document.
 */
Datum
simhash_boilerplate_final(PG_FUNCTION_ARGS)
{
	Learning   *learning = PG_ARGISNULL(0) ? NULL :
	(Learning *) PG_GETARG_POINTER(0);
	StringInfoData kept;
	Lines	   *lines;

	if (learning == NULL || learning->documents == 0)
		PG_RETURN_NULL();
	lines = &learning->lines;
	initStringInfo(&kept);
	begin_text(lines, cstring_to_text_with_len(learning->common.data,
											   learning->common.len));
	while (next_line(lines))
	{
		if (*number_of(lines, &lines->numbers) >
			learning->share * learning->documents)
			appendBinaryStringInfo(&kept, lines->at, lines->next - lines->at);
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(kept.data, kept.len));
}

/* Is the line that has been read boilerplate, as it is or but for numbers? */
static bool
is_boilerplate(Lines *lines)
{
	do
	{
		uint32	   *number = number_of(lines, &lines->numbers);

		if (*number == BOILERPLATE)
			return true;
		*number = OWN;
	} while (hide_numbers(lines));
	return false;
}

/*
 * simhash_without(document text, boilerplate text) -> text
 *
 * The document without the lines that the boilerplate has, in which a # stands
 * for any number; NULL when nothing but blanks is left.  NULL boilerplate has no
 * lines.
 */
Datum
simhash_without(PG_FUNCTION_ARGS)
{
	Lines		lines;
	text	   *result;
	char	   *to;
	bool		left = false;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	begin_lines(&lines, CurrentMemoryContext);
	if (!PG_ARGISNULL(1))
	{
		begin_text(&lines, PG_GETARG_TEXT_PP(1));
		while (next_line(&lines))
			*number_of(&lines, &lines.numbers) = BOILERPLATE;
	}
	begin_text(&lines, PG_GETARG_TEXT_PP(0));
	result = palloc(lines.end - lines.next + VARHDRSZ);
	to = VARDATA(result);
	while (next_line(&lines))
	{
		bool		blank = lines.length == 0;

		if (!blank && is_boilerplate(&lines))
			continue;
		left |= !blank;
		memcpy(to, lines.at, lines.next - lines.at);
		to += lines.next - lines.at;
	}
	if (!left)
		PG_RETURN_NULL();
	SET_VARSIZE(result, to - (char *) result);
	PG_RETURN_TEXT_P(result);
}
