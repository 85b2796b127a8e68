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

#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

/*
 * May the user call a function?  The query that is planned is going to, if so,
 * though it does not say it.  Where not everybody may, its plan is for that user
 * alone.  There may be no query (NULL).
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
