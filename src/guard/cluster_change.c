/*-------------------------------------------------------------------------
 *
 * cluster_change.c
 *		simhash_drop_clusters() and simhash_split_clusters().
 *
 * Both are one transaction, and do what they do as the owner of the table
 * (cluster_step.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/cluster_setup.h"

#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(simhash_drop_clusters);
PG_FUNCTION_INFO_V1(simhash_split_clusters);

/* Drop the triggers that keep clusters in the column. */
static void
drop_triggers(ClusterCall *call)
{
	Trigger    *trigger;

	while ((trigger = simhash_guard_cluster_trigger(call->relation,
													call->column,
													true)) != NULL)
		simhash_cluster_alter(call, psprintf("DROP TRIGGER %s ON %s",
											 quote_identifier(trigger->tgname),
											 call->name));
}

/* Drop the view that the set-up has made, wherever it is by now. */
static void
drop_view(const ClusterCall *call)
{
	simhash_cluster_run_each(psprintf("SELECT DISTINCT pg_catalog.format('DROP VIEW %%I.%%I', n.nspname, c.relname)"
									  " FROM pg_catalog.pg_depend AS d"
									  " JOIN pg_catalog.pg_rewrite AS r ON r.oid OPERATOR(pg_catalog.=) d.objid"
									  " JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) r.ev_class"
									  " JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
									  " WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass"
									  " AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"
									  " AND d.refobjid OPERATOR(pg_catalog.=) '%u' AND d.refobjsubid OPERATOR(pg_catalog.=) %d"
									  " AND c.relkind OPERATOR(pg_catalog.=) 'v'"
									  " AND pg_catalog.obj_description(c.oid, 'pg_class') OPERATOR(pg_catalog.=) '%s'",
									  call->table,
									  get_attnum(call->table, call->column),
									  CLUSTER_VIEW_COMMENT));
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
 * triggers, view, column, that of the time, index, and the table of the
 * clusters.
 *
 * Errors: object_not_in_prerequisite_state where no clusters are kept in that
 * column, insufficient_privilege without ownership,
 * dependent_objects_still_exist for a view of the user's own.
 */
Datum
simhash_drop_clusters(PG_FUNCTION_ARGS)
{
	ClusterCall call = {0};
	ClusterParts parts;
	const char *since;

	begin(&call, fcinfo);
	simhash_cluster_begin_step(&call, AccessExclusiveLock);
	parts = simhash_cluster_find(&call, false);
	since = simhash_guard_option(parts.trigger, "since");
	if (since != NULL)
		since = quote_identifier(pstrdup(since));
	drop_triggers(&call);
	drop_view(&call);
	simhash_cluster_alter(&call, psprintf("ALTER TABLE %s DROP COLUMN IF EXISTS %s%s%s",
										  call.name, quote_identifier(call.column),
										  since == NULL ? "" : ", DROP COLUMN IF EXISTS ",
										  since == NULL ? "" : since));
	if (OidIsValid(parts.work_table))
		(void) simhash_cluster_run(psprintf("DROP TABLE %s", parts.work));
	(void) simhash_cluster_run(psprintf("DROP TABLE IF EXISTS %s", parts.clusters));
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
write_split(const ClusterCall *call, const Guard *guard)
{
	const char *column = quote_identifier(call->column);
	char	   *current =
	psprintf("%s.simhash_current_cluster(%s::pg_catalog.regclass, t.%s, %s::pg_catalog.name)",
			 quote_identifier(get_namespace_name(get_func_namespace(call->function))),
			 quote_literal_cstr(call->name), column,
			 quote_literal_cstr(call->column));

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
					current, simhash_cluster_query(call, guard, current),
					call->source, simhash_cluster_id(call, "t"),
					guard->sequence, call->source, column,
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
	ClusterParts parts;
	Guard	   *guard;

	begin(&call, fcinfo);
	simhash_cluster_begin_step(&call, ShareRowExclusiveLock);
	parts = simhash_cluster_find(&call, false);
	guard = simhash_cluster_bind(&call, parts.trigger);
	if (guard->action != GUARD_CONNECTED || guard->later)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 guard->later ?
				 errmsg("the clusters of \"%s\" are not set up yet",
						RelationGetRelationName(call.relation)) :
				 errmsg("the clusters of \"%s\" are of the kind star, and do not come apart",
						RelationGetRelationName(call.relation)),
				 guard->later ?
				 errhint("CALL simhash_add_clusters(...) goes on with it.") : 0));
	(void) simhash_cluster_run(write_split(&call, guard));
	simhash_cluster_end_step(&call);
	simhash_cluster_end(&call);
	PG_RETURN_VOID();
}
