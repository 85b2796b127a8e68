/*-------------------------------------------------------------------------
 *
 * row_ids.c
 *		The order of ids, whatever their type.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Prepare to compare ids. */
void
simhash_begin_id_order(SortSupport sort, Oid id_type)
{
	TypeCacheEntry *type = lookup_type_cache(id_type, TYPECACHE_LT_OPR);

	if (!OidIsValid(type->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("ids of type %s cannot be ordered",
						format_type_be(id_type)),
				 errhint("Have the query make another type of them, such as text.")));
	memset(sort, 0, sizeof *sort);
	sort->ssup_cxt = CurrentMemoryContext;
	sort->ssup_collation = type->typcollation;
	PrepareSortSupportFromOrderingOp(type->lt_opr, sort);
}

/* Fail: two rows have the same id. */
void
simhash_complain_of_twins(Oid id_type, Datum id)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(id_type, &output, &varlena);
	ereport(ERROR,
			(errcode(ERRCODE_CARDINALITY_VIOLATION),
			 errmsg("the query yields the id %s more than once",
					OidOutputFunctionCall(output, id)),
			 errhint("Each row must have an id of its own.")));
}
