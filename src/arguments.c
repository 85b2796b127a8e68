/*-------------------------------------------------------------------------
 *
 * arguments.c
 *		Checks of arguments: each says which argument is wrong, what it is, and
 *		what it may be.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "simhash.h"

#include "catalog/pg_proc.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

/* What the function that is called calls an argument: as its caller may write it. */
static const char *
argument_name(FunctionCallInfo fcinfo, int argument)
{
	HeapTuple	row = SearchSysCache1(PROCOID,
									  ObjectIdGetDatum(fcinfo->flinfo->fn_oid));
	Oid		   *types;
	char	  **names = NULL;
	char	   *modes;

	if (HeapTupleIsValid(row))
	{
		(void) get_func_arg_info(row, &types, &names, &modes);
		ReleaseSysCache(row);
	}
	return names == NULL ? psprintf("$%d", argument + 1) : names[argument];
}

/* Fail if one of n arguments is null; simhash_check_not_null counts them. */
void
simhash_check_none_null(FunctionCallInfo fcinfo, const int *arguments, int n)
{
	const char *name;

	for (int i = 0; i < n; i++)
	{
		if (!PG_ARGISNULL(arguments[i]))
			continue;
		name = argument_name(fcinfo, arguments[i]);
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name),
				 errhint("Leave it out for its default, if it has one.")));
	}
}

/* Fail because an argument is empty. */
void
simhash_complain_of_empty(FunctionCallInfo fcinfo, int argument)
{
	const char *name = argument_name(fcinfo, argument);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument \"%s\" is empty", name),
			 errhint("Leave it out for its default, if it has one.")));
}

/* An argument that is a text with more than blanks; fails if it is none. */
char	   *
simhash_text_argument(FunctionCallInfo fcinfo, int argument)
{
	char	   *value;

	simhash_check_not_null(fcinfo, argument);
	value = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	if (value[strspn(value, " \t\r\n")] == '\0')
		simhash_complain_of_empty(fcinfo, argument);
	return value;
}

/* An argument as a string, or NULL. */
char	   *
simhash_optional_argument(FunctionCallInfo fcinfo, int argument)
{
	return PG_ARGISNULL(argument) ? NULL
		: text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

/*
 * Is an argument the first of two words?  Fail unless it is one of them.  The
 * hint names the second one first, as it is the default.
 */
bool
simhash_choose(FunctionCallInfo fcinfo, int argument, const char *yes,
			   const char *no)
{
	const char *word;
	const char *name;

	simhash_check_not_null(fcinfo, argument);
	word = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	if (strcmp(word, yes) == 0 || strcmp(word, no) == 0)
		return strcmp(word, yes) == 0;
	name = argument_name(fcinfo, argument);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument \"%s\" is \"%s\"", name, word),
			 errhint("It must be \"%s\" or \"%s\".", no, yes)));
}

/*
 * A whole number, which fails unless it is within a range.  "who" goes before the
 * name, as of a trigger whose argument it is, or is empty; the range is that for so
 * many bits, or, if that is 0, for all.
 */
int64
simhash_check_range(const char *who, const char *name, int64 value, int64 least,
					int64 most, int bits)
{
	if (value < least || value > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s%sargument \"%s\" is " INT64_FORMAT, who,
						*who ? ": " : "", name, value),
				 bits > 0 ?
				 errhint("It must be from " INT64_FORMAT " to " INT64_FORMAT " for fingerprints of %d bits.",
						 least, most, bits) :
				 most == PG_INT64_MAX ?
				 errhint("It must be at least " INT64_FORMAT ".", least) :
				 errhint("It must be from " INT64_FORMAT " to " INT64_FORMAT ".",
						 least, most)));
	return value;
}

/* A value that is a share, likewise; fails if it is NaN, too. */
double
simhash_check_share(const char *who, const char *argument, double share)
{
	if (!(share >= 0 && share <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s%sargument \"%s\" is %g", who, *who ? ": " : "", argument,
						share),
				 errhint("It must be from 0 to 1.")));
	return share;
}

/* The memory context of the aggregate that is being computed. */
MemoryContext
simhash_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("aggregate function called in non-aggregate context")));
	return context;
}
