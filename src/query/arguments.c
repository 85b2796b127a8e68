/*-------------------------------------------------------------------------
 *
 * arguments.c
 *		Checks of arguments that several functions share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "query/query.h"

#include "utils/builtins.h"

/* Fail if an argument is null. */
void
simhash_check_not_null(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
}

/*
 * Is an argument the first of two words?  Fail unless it is one of them.  The
 * hint names the second one first, as it is the default.
 */
bool
simhash_choose(FunctionCallInfo fcinfo, int argument, const char *name,
			   const char *yes, const char *no)
{
	const char *word;

	simhash_check_not_null(fcinfo, argument, name);
	word = text_to_cstring(PG_GETARG_TEXT_PP(argument));
	if (strcmp(word, yes) != 0 && strcmp(word, no) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" is \"%s\"", name, word),
				 errhint("It must be \"%s\" or \"%s\".", no, yes)));
	return strcmp(word, yes) == 0;
}
