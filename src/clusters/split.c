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

/* A cluster that has come apart. */
typedef struct ApartCluster
{
	int64		id;
	int64		rows;
} ApartCluster;

/* Find the clusters that have come apart; they are in memory of the call. */
static ApartCluster *
find_apart(ClusterCall *call, uint64 *n)
{
	ApartCluster *apart;

	if (simhash_cluster_begin_step(call, AccessShareLock)->star)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the clusters of \"%s\" are of the kind star, and do not come apart",
						RelationGetRelationName(call->relation))));
	*n = simhash_cluster_run(simhash_cluster_fault(call, FAULT_COME_APART));
	apart = MemoryContextAllocHuge(call->outer, Max(*n, 1) * sizeof *apart);
	for (uint64 i = 0; i < *n; i++)
	{
		apart[i].id = simhash_cluster_number(i, 1);
		apart[i].rows = simhash_cluster_number(i, 2);
	}
	SPI_freetuptable(SPI_tuptable);
	simhash_cluster_end_step(call);
	return apart;
}

/*
 * The ids that rows of clusters may have: theirs, and those that lead there.  All
 * that are merged are linked, as nobody writes.
 */
static char *
write_ids(const ClusterCall *call, const ApartCluster *apart, uint64 n)
{
	StringInfoData ids;

	initStringInfo(&ids);
	for (uint64 i = 0; i < n; i++)
		appendStringInfo(&ids, "%s" INT64_FORMAT, i == 0 ? "" : ",", apart[i].id);
	return simhash_cluster_sql(call, "(WITH RECURSIVE w(i) AS (SELECT %s FROM pg_catalog.unnest('{%s}'::pg_catalog.int8[]) AS t(&c)"
							   " UNION SELECT l.&i FROM w JOIN &T AS l ON l.&m &= w.i) SELECT i FROM w)",
							   simhash_cluster_current(call), ids.data);
}

/*
 * The command that gives each row of some clusters the id of what it hangs together
 * with now.  Of the parts of a cluster the largest keeps the id; of parts as large,
 * the one that was found first.
 */
static char *
write_split(const ClusterCall *call, const char *ids)
{
	const char *current = simhash_cluster_current(call);
	const char *its = simhash_cluster_sql(call, "t.&c &= ANY %s", ids);

	return simhash_cluster_sql(call, "WITH r AS MATERIALIZED (SELECT r.id, r.cluster AS part, r.size, %s AS now"
							   " FROM %s AS r JOIN &R AS t ON %s &= r.id AND t.&c &= ANY %s),"
							   " p AS MATERIALIZED (SELECT part, now, pg_catalog.row_number() OVER"
							   " (PARTITION BY now ORDER BY size USING &>, part) AS place"
							   " FROM r GROUP BY part, now, size),"
							   " n AS MATERIALIZED (SELECT part, CASE WHEN place &= 1 THEN now"
							   " ELSE pg_catalog.nextval('%u'::pg_catalog.regclass) END AS cluster FROM p)"
							   " UPDATE &R AS d SET &c = n.cluster FROM r JOIN n ON n.part &= r.part"
							   " WHERE %s &= r.id AND d.&c &= ANY %s AND d.&c &! n.cluster",
							   current, simhash_cluster_query(call, current, its, false),
							   simhash_cluster_id(call, "t"), ids,
							   simhash_clusters_sequence(call->terms),
							   simhash_cluster_id(call, "d"), ids);
}

/* Split some clusters. */
static void
split_some(ClusterCall *call, const ApartCluster *apart, uint64 n)
{
	(void) simhash_cluster_begin_step(call, ShareRowExclusiveLock);
	simhash_clusters_check_sequence(call->terms);
	simhash_clusters_merge(call->terms, &(ClusterSet) {0});
	(void) simhash_cluster_run_writing(write_split(call, write_ids(call, apart, n)),
									   call->table, CLUSTERS_AS_GIVEN);
	simhash_cluster_end_step(call);
}

/* What the call is for. */
static void
split_clusters(ClusterCall *call)
{
	ApartCluster *apart;
	uint64		n;
	uint64		next;

	simhash_progress_step("computing");
	apart = find_apart(call, &n);
	for (uint64 i = 0; i < n; i = next)
	{
		int64		rows = apart[i].rows;

		simhash_progress_part("splitting", (double) i / n);
		for (next = i + 1; next < n && rows + apart[next].rows <= BATCH; next++)
			rows += apart[next].rows;
		split_some(call, &apart[i], next - i);
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
