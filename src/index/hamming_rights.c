/*-------------------------------------------------------------------------
 *
 * hamming_rights.c
 *		Who may know how a search of a hamming index goes.
 *
 * How large a crowd is tells how many rows are like the query, to anybody who
 * may ask.  So only those may who could count the rows themselves: who may
 * read what is indexed, in every row of the table.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "compat.h"
#include "index/hamming_scan.h"

/*
 * May the user read what an index holds?  An expression may be made from any
 * column, and so may the condition of a partial index, so these take the right
 * to the whole table.
 */
static bool
may_read(Oid table, Relation index)
{
	bool		may = heap_attisnull(index->rd_indextuple,
									 Anum_pg_index_indpred, NULL);
	int			i;

	for (i = 0; i < index->rd_index->indnkeyatts && may; i++)
	{
		AttrNumber	column = index->rd_index->indkey.values[i];

		may = column != InvalidAttrNumber &&
			pg_attribute_aclcheck(table, column, GetUserId(),
								  ACL_SELECT) == ACLCHECK_OK;
	}
	return may ||
		pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* Are there rows that the user may not see? */
static bool
hides_rows(Oid table)
{
	return check_enable_rls(table, InvalidOid, true) == RLS_ENABLED;
}

/* May the user be told how a search of an index goes? */
bool
hamming_may_show_plan(Relation index)
{
	Oid			table = index->rd_index->indrelid;

	return may_read(table, index) && !hides_rows(table);
}

/* Fail unless the user may be told. */
void
hamming_check_rights(Relation index)
{
	Oid			table = index->rd_index->indrelid;

	if (!may_read(table, index))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));
	if (hides_rows(table))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s",
						get_rel_name(table)),
				 errdetail("Row security applies, and the plan would tell of rows that it hides.")));
}
