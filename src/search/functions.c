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
 * The SQL function of a schema with that name and those types of arguments, if
 * it is the given one of ours and the user may call it.
 */
Oid
simhash_own_function(Oid schema, const char *name, PGFunction function,
					 int nargs, const Oid *types)
{
	Oid			oid = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
									  CStringGetDatum(name),
									  PointerGetDatum(buildoidvector(types,
																	 nargs)),
									  ObjectIdGetDatum(schema));

	return OidIsValid(oid) && simhash_c_function(oid) == function &&
		simhash_may_execute(oid, GetUserId()) ? oid : InvalidOid;
}
