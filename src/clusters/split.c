/*-------------------------------------------------------------------------
 *
 * split.c
 *		simhash_split_clusters(): parts of connected clusters that hang together no
 *		more, by rows that were deleted or changed, become clusters of their own.
 *
 * Which these are is found out while others write.  Then it is found out once more
 * for some of them at a time, as nobody writes for a moment, and done.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/step.h"

PG_FUNCTION_INFO_V1(simhash_split_clusters);

/*
 * Limits of the work done.
 *
 * BATCH	rows for which writers wait at once, or those of one cluster.
 */
#define BATCH	2000

/*
 * Find the clusters that have come apart: arrays of ids, in memory of the call, each of
 * one cluster of more than half a batch, or of smaller ones that begin within such a
 * half.
 */
static List *
find_apart(ClusterCall *call)
{
	List	   *lots = NIL;

	if (simhash_cluster_begin_step(call, AccessShareLock)->star)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the clusters of \"%s\" are of the kind star, and do not come apart",
						RelationGetRelationName(call->relation))));
	(void) simhash_cluster_do(call, "SELECT pg_catalog.array_agg(cluster) FROM (SELECT cluster, pg_catalog.div("
							  "pg_catalog.sum(n) OVER (ORDER BY cluster) &- n, '%d') AS lot, CASE WHEN n &> %d THEN cluster END AS large"
							  " FROM (%s) AS f) AS f GROUP BY lot, large",
							  BATCH / 2, BATCH / 2, simhash_cluster_fault(call, FAULT_COME_APART));
	MemoryContextSwitchTo(call->outer);
	for (uint64 i = 0; i < SPI_processed; i++)
		lots = lappend(lots, SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1));
	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(call->context);
	simhash_cluster_end_step(call);
	return lots;
}

/*
 * The ids that rows of clusters may have: theirs, and those that lead there, each to
 * an older one.  All that are merged are linked, as nobody writes.
 */
static char *
write_ids(const ClusterCall *call, const char *ids)
{
	return simhash_cluster_sql(call, "(WITH RECURSIVE w(i) AS (SELECT &n FROM pg_catalog.unnest('%s'::pg_catalog.int8[]) AS t(&c)"
							   " UNION ALL SELECT l.&i FROM w JOIN &T AS l ON l.&m &= w.i AND l.&i &> w.i) SELECT i FROM w)",
							   ids);
}

/*
 * The command that gives each row of some clusters the id of what it hangs together
 * with now.  Of the parts of a cluster the largest keeps the id; of parts as large,
 * the one that was found first.
 */
static char *
write_split(const ClusterCall *call, const char *ids)
{
	return simhash_cluster_sql(call, "WITH r AS MATERIALIZED (SELECT r.id, r.cluster AS part, r.size, &n AS now"
							   " FROM %s AS r JOIN &R AS t ON &k &= r.id AND t.&c &= ANY %s),"
							   " p AS MATERIALIZED (SELECT part, now, pg_catalog.row_number() OVER"
							   " (PARTITION BY now ORDER BY size USING &>, part) AS place"
							   " FROM r GROUP BY part, now, size),"
							   " n AS MATERIALIZED (SELECT part, CASE WHEN place &= 1 THEN now"
							   " ELSE pg_catalog.nextval(&q) END AS cluster FROM p)"
							   " UPDATE &R AS d SET &c = n.cluster FROM r JOIN n ON n.part &= r.part"
							   " WHERE &K &= r.id AND d.&c &= ANY %s AND d.&c &! n.cluster",
							   simhash_cluster_query(call, simhash_cluster_sql(call, "&n"),
													 simhash_cluster_sql(call, "t.&c &= ANY %s", ids),
													 false),
							   ids, ids);
}

/* Split some clusters. */
static void
split_some(ClusterCall *call, const char *ids)
{
	ClusterSet	none = {0};

	(void) simhash_cluster_begin_step(call, ShareRowExclusiveLock);
	simhash_clusters_check_sequence(call->terms);
	simhash_clusters_merge(call->terms, &none);
	(void) simhash_cluster_run_writing(write_split(call, write_ids(call, ids)),
									   call->table, CLUSTERS_AS_GIVEN);
	simhash_cluster_end_step(call);
}

/* What the call is for. */
static void
split_clusters(ClusterCall *call)
{
	List	   *lots;
	ListCell   *lc;

	simhash_progress_step("computing");
	lots = find_apart(call);
	foreach(lc, lots)
	{
		simhash_progress_part("splitting", (double) foreach_current_index(lc) / list_length(lots));
		split_some(call, lfirst(lc));
	}
}

/*
 * CALL simhash_split_clusters(relation regclass,
 *		"column" name DEFAULT 'cluster')
 *
 * Have the parts of clusters that are connected no more, by rows that were
 * deleted or changed, be clusters of their own.  Writers wait for each batch.
 *
 * Errors: object_not_in_prerequisite_state where no clusters are kept in that
 * column, or they are of another kind, or are being set up; object_in_use if another
 * session sets up, trims or mends them; insufficient_privilege without ownership.
 */
Datum
simhash_split_clusters(PG_FUNCTION_ARGS)
{
	ClusterCall call = {0};

	simhash_cluster_call(&call, fcinfo, 1, split_clusters);
	PG_RETURN_VOID();
}
