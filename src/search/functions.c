/*-------------------------------------------------------------------------
 *
 * functions.c
 *		The extension's own functions, found among those of SQL.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* What the script calls our library, whatever directory it is in. */
#define LIBRARY		"simhash"

/* Is a function one of a library with our name? */
static bool
may_be_ours(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Datum		file;
	bool		isnull = true;
	bool		result = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
		file = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_probin, &isnull);
	if (!isnull)
	{
		char	   *path = TextDatumGetCString(file);
		const char *name = last_dir_separator(path);

		name = name == NULL ? path : name + 1;
		result = strcmp(name, LIBRARY) == 0 ||
			strcmp(name, LIBRARY DLSUFFIX) == 0;
		pfree(path);
	}
	ReleaseSysCache(tuple);
	return result;
}

/* A value as a text, by the output function of its type. */
char	   *
simhash_write_value(Datum value, Oid type)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(type, &output, &varlena);
	return OidOutputFunctionCall(output, value);
}

/*
 * The C function behind an SQL function of a library with our name, else NULL.
 * Functions of other libraries are not looked up: that would load these while a
 * query is planned, or fail where they are gone.
 */
PGFunction
simhash_c_function(Oid function)
{
	FmgrInfo	info;

	if (function < FirstUnpinnedObjectId || !may_be_ours(function))
		return NULL;
	fmgr_info(function, &info);
	return info.fn_addr;
}

/*
 * May the user call a function?  The planner is about to put a call of it into
 * a query that does not say so itself.  If not everybody may, the plan is for
 * this user alone.  root is NULL where no query is planned.
 */
bool
simhash_may_call(PlannerInfo *root, Oid function)
{
	if (root != NULL && !simhash_may_execute(function, ACL_ID_PUBLIC))
		root->glob->dependsOnRole = true;
	return simhash_may_execute(function, GetUserId());
}

/*
 * The SQL function of a schema with that name and those types of arguments, if
 * it is the given one of ours and the user may call it, as simhash_may_call()
 * says.
 */
Oid
simhash_own_function(PlannerInfo *root, Oid schema, const char *name,
					 PGFunction function, int nargs, const Oid *types)
{
	Oid			oid = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
									  CStringGetDatum(name),
									  PointerGetDatum(buildoidvector(types,
																	 nargs)),
									  ObjectIdGetDatum(schema));

	return OidIsValid(oid) && simhash_c_function(oid) == function &&
		simhash_may_call(root, oid) ? oid : InvalidOid;
}
