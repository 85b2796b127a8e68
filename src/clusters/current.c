/*-------------------------------------------------------------------------
 *
 * current.c
 *		What a cluster is by now, as SQL asks it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/forest.h"

#include "access/relation.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "clusters/table.h"

PG_FUNCTION_INFO_V1(simhash_current_cluster);

/*
 * simhash_current_cluster(relation regclass, cluster bigint,
 *		"column" name DEFAULT 'cluster') -> bigint
 *
 * What a cluster of a table, kept by simhash_add_clusters(), is now: the id that
 * it was merged into, or its own.
 *
 * Errors: undefined_table; object_not_in_prerequisite_state where no clusters
 * are kept in that column; insufficient_privilege for whoever may not read the column.
 */
Datum
simhash_current_cluster(PG_FUNCTION_ARGS)
{
	Oid			table = PG_GETARG_OID(0);
	int64		id = PG_GETARG_INT64(1);
	char	   *column = NameStr(*PG_GETARG_NAME(2));
	Relation	relation = try_relation_open(table, AccessShareLock);
	ClusterTerms *terms;

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", table)));
	terms = simhash_clusters_find(relation, column);
	if (terms == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" keeps no clusters in a column \"%s\"",
						RelationGetRelationName(relation), column),
				 errhint("CALL simhash_add_clusters(...) has it keep them.")));
	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck(table, get_attnum(table, column), GetUserId(),
							  ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(relation->rd_rel->relkind),
					   RelationGetRelationName(relation));
	if (!terms->star)
	{
		ClusterSet	its = {1, 1, &id};

		simhash_clusters_check_table(terms);
		its = simhash_clusters_current(terms, &its, GetActiveSnapshot());
		id = its.ids[0];
	}
	relation_close(relation, AccessShareLock);
	PG_RETURN_INT64(id);
}
