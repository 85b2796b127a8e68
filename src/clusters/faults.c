/*-------------------------------------------------------------------------
 *
 * faults.c
 *		What may be wrong with the clusters of a table, as queries.
 *
 * simhash_check_clusters() counts what they find, and simhash_mend_clusters() mends
 * it.  Each yields a column "cluster".
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/step.h"

/* The parts that rows hang together in, by what cluster they are in now. */
static char *
write_parts(const ClusterCall *call)
{
	return simhash_cluster_sql(call, "SELECT r.cluster AS part, &n AS now, pg_catalog.count(*) AS n FROM %s AS r"
							   " JOIN &R AS t ON &k &= r.id WHERE t.&c IS NOT NULL GROUP BY 1, 2",
							   simhash_cluster_query(call, NULL, NULL, false));
}

/* The clusters of rows of the root. */
static char *
write_clusters_of(const ClusterCall *call, ClusterRows which)
{
	return simhash_cluster_sql(call, "SELECT d.&c AS cluster FROM &R AS d WHERE %s",
							   simhash_cluster_rows(call, which, NULL));
}

/* The query for a fault; NULL if clusters of the kind cannot have it. */
char	   *
simhash_cluster_fault(const ClusterCall *call, ClusterFault fault)
{
	const ClusterTerms *terms = call->terms;

	if (fault >= FAULT_NOT_REPRESENTED && terms->star != (fault < FAULT_NOT_CONNECTED))
		return NULL;
	switch (fault)
	{
		case FAULT_NO_CLUSTER:
			return write_clusters_of(call, ROWS_WITHOUT_CLUSTER);
		case FAULT_MISFIT:
			return write_clusters_of(call, ROWS_MISFIT);
		case FAULT_ID_NOT_GIVEN:
			return simhash_cluster_sql(call, "SELECT i AS cluster FROM (SELECT d.&c AS i FROM &R AS d"
									   " UNION ALL SELECT t.&i FROM &T AS t WHERE t.&i &> 0) AS d"
									   " WHERE i &> COALESCE(pg_catalog.pg_sequence_last_value(&q), 0)");
		case FAULT_BAD_ROW:
			return simhash_cluster_sql(call, "SELECT t.&i AS cluster FROM &T AS t WHERE %s",
									   simhash_cluster_bad_row(call));
		case FAULT_NOT_REPRESENTED:
			return simhash_cluster_sql(call, "SELECT DISTINCT d.&c AS cluster FROM &R AS d WHERE d.&c IS NOT NULL"
									   " AND NOT EXISTS (SELECT FROM &T AS t WHERE COALESCE(t.&o, t.&i) &= d.&c)");
		case FAULT_ONLY_COPIES:
			return simhash_cluster_sql(call, "SELECT DISTINCT t.&o AS cluster FROM &T AS t WHERE t.&i &< 0"
									   " AND NOT EXISTS (SELECT FROM &T AS o WHERE o.&i &= t.&o)");
		case FAULT_NEAR_REPRESENTATIVES:
			return simhash_cluster_sql(call, "SELECT t.&i AS cluster FROM %s AS r"
									   " JOIN &T AS t ON t.ctid &= r.id WHERE r.id &! r.representative",
									   simhash_cluster_query(call, NULL, NULL, true));
		case FAULT_NOT_NEAR:
			return write_clusters_of(call, ROWS_NOT_NEAR);
		case FAULT_TEXT_LEFT:
			return terms->document == 0 ? NULL :
				simhash_cluster_sql(call, "SELECT COALESCE(t.&o, t.&i) AS cluster FROM &T AS t WHERE %s",
									simhash_cluster_text_left(call));
		case FAULT_NOT_CONNECTED:
			return simhash_cluster_sql(call, "SELECT pg_catalog.min(now) AS cluster, pg_catalog.array_agg(now) AS clusters"
									   " FROM (%s) AS p GROUP BY part HAVING pg_catalog.count(*) &> 1",
									   write_parts(call));
		case FAULT_COME_APART:
			return simhash_cluster_sql(call, "SELECT now AS cluster, pg_catalog.sum(n)::pg_catalog.int8 AS n FROM (%s) AS p"
									   " GROUP BY now HAVING pg_catalog.count(*) &> 1",
									   write_parts(call));
	}
	return NULL;
}
