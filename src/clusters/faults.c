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
#include "clusters/faults.h"

#include "clusters/commands.h"
#include "clusters/table.h"

/* The parts that rows hang together in, by what cluster they are in now. */
static char *
find_parts(const ClusterCall *call, const ClusterTerms *terms)
{
	return psprintf("SELECT r.cluster AS part, %s AS now, pg_catalog.count(*) AS n FROM %s AS r"
					" JOIN &R AS t ON %s &= r.id WHERE t.&c IS NOT NULL GROUP BY 1, 2",
					simhash_cluster_current(call),
					simhash_cluster_query(call, terms, NULL, NULL, false),
					simhash_cluster_id(call, "t"));
}

/* The query for a fault, as a template; NULL if clusters of the kind cannot have it. */
char	   *
simhash_clusters_fault(const ClusterCall *call, const ClusterTerms *terms,
					   ClusterFault fault)
{
	if (fault >= FAULT_NOT_REPRESENTED && terms->star != (fault < FAULT_NOT_CONNECTED))
		return NULL;
	switch (fault)
	{
		case FAULT_NO_CLUSTER:
			return psprintf("SELECT d.&c AS cluster FROM &R AS d WHERE %s",
							simhash_cluster_without(call, terms));
		case FAULT_MISFIT:
			return psprintf("SELECT d.&c AS cluster FROM &R AS d WHERE %s",
							simhash_cluster_misfit(call, terms));
		case FAULT_ID_NOT_GIVEN:
			return psprintf("SELECT i AS cluster FROM (SELECT d.&c AS i FROM &R AS d"
							" UNION ALL SELECT t.&i FROM &T AS t WHERE t.&i &> 0) AS d"
							" WHERE i &> COALESCE("
							"pg_catalog.pg_sequence_last_value('%u'::pg_catalog.regclass), 0)",
							simhash_clusters_sequence(terms));
		case FAULT_BAD_ROW:
			return psprintf("SELECT t.&i AS cluster FROM &T AS t WHERE %s",
							simhash_cluster_bad_row(terms));
		case FAULT_NOT_REPRESENTED:
			return "SELECT DISTINCT d.&c AS cluster FROM &R AS d WHERE d.&c IS NOT NULL"
				" AND NOT EXISTS (SELECT FROM &T AS t WHERE COALESCE(t.&o, t.&i) &= d.&c)";
		case FAULT_NEAR_REPRESENTATIVES:
			return psprintf("SELECT t.&i AS cluster FROM %s AS r"
							" JOIN &T AS t ON t.ctid &= r.id WHERE r.id &! r.representative",
							simhash_cluster_query(call, terms, NULL, NULL, true));
		case FAULT_NOT_NEAR:
			return psprintf("SELECT d.&c AS cluster FROM &R AS d WHERE %s",
							simhash_cluster_not_near(call, terms));
		case FAULT_TEXT_LEFT:
			return terms->document == 0 ? NULL :
				psprintf("SELECT COALESCE(t.&o, t.&i) AS cluster FROM &T AS t WHERE %s",
						 simhash_cluster_text_left());
		case FAULT_NOT_CONNECTED:
			return psprintf("SELECT pg_catalog.min(now) AS cluster, pg_catalog.array_agg(now) AS clusters"
							" FROM (%s) AS p GROUP BY part HAVING pg_catalog.count(*) &> 1",
							find_parts(call, terms));
		case FAULT_COME_APART:
			return psprintf("SELECT now AS cluster, pg_catalog.sum(n)::pg_catalog.int8 AS n FROM (%s) AS p"
							" GROUP BY now HAVING pg_catalog.count(*) &> 1",
							find_parts(call, terms));
	}
	return NULL;
}
