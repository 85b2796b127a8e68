/*-------------------------------------------------------------------------
 *
 * change.c
 *		simhash_drop_clusters() and simhash_split_clusters().
 *
 * Both are one transaction, and do what they do as the owner of the table
 * (step.c).
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

PG_FUNCTION_INFO_V1(simhash_drop_clusters);
PG_FUNCTION_INFO_V1(simhash_split_clusters);

/*
 * Drop the triggers that are bound to a table of clusters; without one, those
 * bound to any that has no deed, or another owner.  Returns how many.
 */
static int
drop_triggers(ClusterCall *call, Oid clusters)
{
	TriggerDesc *all = CopyTriggerDesc(call->relation->trigdesc);
	int			n = 0;

	for (int i = 0; all != NULL && i < all->numtriggers; i++)
	{
		Trigger    *trigger = &all->triggers[i];
		Oid			its = simhash_clusters_of_trigger(trigger);

		if (simhash_c_function(trigger->tgfoid) != simhash_cluster ||
			trigger->tgisclone)
			continue;
		if (OidIsValid(clusters) ? its != clusters :
			simhash_clusters_read_owned(its, call->relation->rd_rel->relowner) != NULL)
			continue;
		n++;
		simhash_cluster_alter(call, psprintf("DROP TRIGGER %s ON %s",
											 quote_identifier(trigger->tgname),
											 call->name));
	}
	return n;
}

/* Begin a call about a relation and a column.  No procedure can be strict. */
static void
begin(ClusterCall *call, FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("relation and column must not be null")));
	simhash_cluster_begin(call, fcinfo, PG_GETARG_OID(0),
						  NameStr(*PG_GETARG_NAME(1)));
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
	ClusterCall call = {0};
	ClusterTerms *terms;

	begin(&call, fcinfo);
	simhash_cluster_begin_step(&call, AccessExclusiveLock);
	terms = simhash_clusters_find(call.relation, call.column);
	if (terms != NULL && terms->root == call.table)
	{
		(void) drop_triggers(&call, terms->clusters);
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
	else if (drop_triggers(&call, InvalidOid) > 0)
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

/*
 * The command that gives each row the id of what it hangs together with now.
 * Of the parts of a cluster the largest keeps the id; of parts as large, the
 * one that was found first.
 */
static char *
write_split(const ClusterCall *call, const ClusterTerms *terms)
{
	const char *column = simhash_cluster_name(call->table, terms->cluster);
	char	   *current =
	psprintf("%s.simhash_current_cluster('%u'::pg_catalog.regclass, t.%s, %s::pg_catalog.name)",
			 quote_identifier(get_namespace_name(get_func_namespace(call->function))),
			 call->table, column, quote_literal_cstr(call->column));

	return psprintf("WITH r AS MATERIALIZED (SELECT r.id, r.cluster AS part, r.size, %s AS now"
					" FROM %s AS r JOIN %s AS t ON %s OPERATOR(pg_catalog.=) r.id),"
					" p AS MATERIALIZED (SELECT part, now, pg_catalog.row_number() OVER"
					" (PARTITION BY now ORDER BY size USING OPERATOR(pg_catalog.>), part) AS place"
					" FROM r GROUP BY part, now, size),"
					" n AS MATERIALIZED (SELECT part, CASE WHEN place OPERATOR(pg_catalog.=) 1 THEN now"
					" ELSE pg_catalog.nextval('%u'::pg_catalog.regclass) END AS cluster FROM p)"
					" UPDATE %s AS d SET %s = n.cluster FROM r"
					" JOIN n ON n.part OPERATOR(pg_catalog.=) r.part"
					" WHERE %s OPERATOR(pg_catalog.=) r.id"
					" AND d.%s OPERATOR(pg_catalog.<>) n.cluster",
					current, simhash_cluster_query(call, terms, current),
					call->source, simhash_cluster_id(call, "t"),
					simhash_clusters_sequence(terms), call->source, column,
					simhash_cluster_id(call, "d"), column);
}

/*
 * CALL simhash_split_clusters(relation regclass,
 *		"column" name DEFAULT 'cluster')
 *
 * Have the parts of clusters that are connected no more, by rows that were
 * deleted or changed, be clusters of their own.  Rows that have the id of a
 * cluster merged into another get that of the other on the way.  Writers wait
 * until it is done.
 *
 * Errors: object_not_in_prerequisite_state where no clusters are kept in that
 * column, or they are of another kind, or are being set up;
 * insufficient_privilege without ownership.
 */
Datum
simhash_split_clusters(PG_FUNCTION_ARGS)
{
	ClusterCall call = {0};
	ClusterTerms *terms;

	begin(&call, fcinfo);
	simhash_cluster_begin_step(&call, ShareRowExclusiveLock);
	terms = simhash_cluster_find(&call);
	if (terms->star || terms->later)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 terms->later ?
				 errmsg("the clusters of \"%s\" are not set up yet",
						RelationGetRelationName(call.relation)) :
				 errmsg("the clusters of \"%s\" are of the kind star, and do not come apart",
						RelationGetRelationName(call.relation)),
				 terms->later ?
				 errhint("CALL simhash_add_clusters(...) goes on with it.") : 0));
	(void) simhash_cluster_run_filling(&call, write_split(&call, terms));
	simhash_cluster_end_step(&call);
	simhash_cluster_end(&call);
	PG_RETURN_VOID();
}
