/*-------------------------------------------------------------------------
 *
 * drop.c
 *		simhash_drop_clusters(): the table keeps clusters no more.
 *
 * It is one transaction.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/step.h"

#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "clusters/cluster.h"
#include "clusters/table.h"
#include "relation.h"

PG_FUNCTION_INFO_V1(simhash_drop_clusters);

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
	ClusterCall call = {0};
	ClusterTerms *terms;

	simhash_cluster_begin_call(&call, fcinfo);
	simhash_cluster_begin_step(&call, AccessExclusiveLock);
	terms = simhash_clusters_find(call.relation, call.column);
	if (terms != NULL && terms->root == call.table)
	{
		(void) simhash_cluster_drop_triggers(&call, terms->clusters);
		(void) simhash_cluster_run(psprintf("DROP TABLE %s",
											simhash_quoted_name(terms->clusters)));
		if (OidIsValid(terms->work))
			(void) simhash_cluster_run(psprintf("DROP TABLE %s",
												simhash_quoted_name(terms->work)));
		simhash_cluster_alter(&call, psprintf("ALTER TABLE %s DROP COLUMN %s%s%s",
											  call.name,
											  simhash_cluster_name(call.table, terms->cluster),
											  terms->since == 0 ? "" : ", DROP COLUMN ",
											  terms->since == 0 ? "" :
											  simhash_cluster_name(call.table, terms->since)));
	}
	else if (simhash_cluster_drop_triggers(&call, InvalidOid) > 0)
		ereport(NOTICE,
				(errmsg("triggers of \"%s\" that were bound to nothing are dropped",
						RelationGetRelationName(call.relation)),
				 errdetail("What clusters they kept, in which column and table, is not known any more."),
				 errhint("Drop the column and the table of the clusters by hand.")));
	else
		(void) simhash_cluster_find(&call);
	simhash_cluster_end_step(&call);
	simhash_cluster_end(&call);
	PG_RETURN_VOID();
}
