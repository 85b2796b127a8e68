/*-------------------------------------------------------------------------
 *
 * drop.c
 *		simhash_drop_clusters(): a table ceases to keep clusters.
 *
 * It is one transaction.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/step.h"

PG_FUNCTION_INFO_V1(simhash_drop_clusters);

/* What the call is for. */
static void
drop_clusters(ClusterCall *call)
{
	ClusterTerms *terms;

	simhash_cluster_begin_table(call, AccessExclusiveLock);
	terms = simhash_clusters_find(call->relation, call->column);
	if (terms != NULL && terms->root == call->table)
	{
		call->terms = terms;
		(void) simhash_cluster_drop_triggers(call, terms->clusters);
		(void) simhash_cluster_do(call, "DROP TABLE &t");
		if (OidIsValid(terms->work))
			(void) simhash_cluster_do(call, "DROP TABLE &W");
		simhash_cluster_alter(call, simhash_cluster_sql(call, terms->since == 0 ?
														"ALTER TABLE &r DROP COLUMN &c" :
														"ALTER TABLE &r DROP COLUMN &c, DROP COLUMN &s"));
	}
	else if (simhash_cluster_drop_triggers(call, InvalidOid) > 0)
		ereport(NOTICE,
				(errmsg("dropped triggers of \"%s\" whose table of clusters is gone",
						RelationGetRelationName(call->relation)),
				 errdetail("It is no longer known in which column, and in which table, they kept clusters."),
				 errhint("Drop the column and the table of the clusters by hand.")));
	else
		simhash_clusters_complain_of_none(call->relation, call->column);
	simhash_cluster_end_step(call);
}

/*
 * CALL simhash_drop_clusters(relation regclass, "column" name DEFAULT 'cluster')
 *
 * Undo what simhash_add_clusters() has made, all of it or as far as it came:
 * triggers, the table of the clusters, column, that of the time, and index.
 *
 * Errors: object_not_in_prerequisite_state where no clusters are kept in that
 * column, insufficient_privilege without ownership,
 * dependent_objects_still_exist for a view of the user's own.
 */
Datum
simhash_drop_clusters(PG_FUNCTION_ARGS)
{
	ClusterCall call = {.shared = true};

	simhash_cluster_call(&call, fcinfo, 1, drop_clusters);
	PG_RETURN_VOID();
}
