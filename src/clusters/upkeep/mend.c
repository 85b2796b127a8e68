/*-------------------------------------------------------------------------
 *
 * mend.c
 *		simhash_mend_clusters(): what simhash_check_clusters() finds is put right, and
 *		rows that are asked for join clusters anew.
 *
 * What is wrong is found out while others write.  Writers are held up only where
 * something is wrong, and only while that is put right.
 *
 * - The sequence goes on after the greatest id that is there.
 * - Triggers that are gone, with an index that they depended on, are made again, and
 *	 those of the table of the clusters.
 * - Rows of that table which are neither a cluster nor a copy, nor a link to an older
 *	 cluster, go; rows of the other which can be in no cluster have none.
 * - star: What has only a copy of its representative gets that as its own; what has
 *	 none gets one from its oldest row.  Of two that are near each other the older one
 *	 stays.  Rows that are not near what represents their cluster join anew.
 * - connected: Clusters with rows near each other are merged.
 * - Rows without a cluster join one.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/upkeep/step.h"

PG_FUNCTION_INFO_V1(simhash_mend_clusters);
PG_FUNCTION_INFO_V1(simhash_split_clusters);

/* Begin a step while nobody else is writing, or in the midst of it. */
static void
begin_alone(ClusterCall *call)
{
	(void) simhash_upkeep_begin_step(call, ShareRowExclusiveLock);

	/* Who writes to a partition has only that locked, and this table. */
	LockRelationOid(call->terms->clusters, ShareRowExclusiveLock);
}

/*
 * The clusters that have a fault, as an array of SQL in memory of the call; NULL if
 * there are none.
 */
static char *
find_clusters(ClusterCall *call, ClusterFault fault)
{
	char	   *query;
	char	   *ids = NULL;

	(void) simhash_upkeep_begin_step(call, AccessShareLock);
	query = simhash_upkeep_fault(call, fault);
	if (query != NULL)
	{
		(void) simhash_upkeep_do(call, "SELECT pg_catalog.array_agg(DISTINCT cluster) FROM (%s) AS f",
								 query);
		ids = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	}
	if (ids != NULL)
		ids = MemoryContextStrdup(call->outer, ids);
	simhash_upkeep_end_step(call);
	return ids;
}

/*
 * Have the sequence go on after all ids that are there, the greatest of which is taken
 * from it again.  By ALTER SEQUENCE and not setval(), so that sessions give up numbers
 * that they have cached.
 */
static void
restart_sequence(ClusterCall *call)
{
	LockRelationOid(call->terms->clusters, ShareRowExclusiveLock);
	(void) simhash_upkeep_do(call, "SELECT pg_catalog.max(i) FROM (SELECT d.{cluster} AS i FROM {rows} AS d"
							 " UNION ALL SELECT t.{id} FROM ONLY {clusters} AS t UNION ALL"
							 " SELECT pg_catalog.pg_sequence_last_value({sequence})) AS d");
	(void) simhash_upkeep_do(call, "ALTER SEQUENCE %s RESTART WITH " INT64_FORMAT,
							 simhash_quoted_name(simhash_clusters_sequence(call->terms)),
							 Max(simhash_upkeep_number(0, 1), 1));
	(void) simhash_upkeep_do(call, "SELECT pg_catalog.nextval({sequence})");
}

/* Mend the sequence and the triggers; returns whether the clusters are stars. */
static bool
mend_tables(ClusterCall *call)
{
	bool		behind = find_clusters(call, FAULT_ID_NOT_GIVEN) != NULL;
	bool		star = simhash_upkeep_begin_step(call, AccessShareLock)->star;
	bool		bare;

	bare = !simhash_upkeep_has_triggers(call, true);
	simhash_upkeep_end_step(call);
	if (!behind && !bare)
		return star;
	(void) simhash_upkeep_begin_step(call, ShareRowExclusiveLock);
	if (behind)
		restart_sequence(call);
	if (bare && simhash_upkeep_make_triggers(call))
	{
		if (star)
			simhash_upkeep_make_index(call);
		simhash_upkeep_depend(call);
	}
	simhash_upkeep_end_step(call);
	return star;
}

/* Star: have clusters represented by no copies, and those that are not at all. */
static void
represent(ClusterCall *call)
{
	const char *copies = find_clusters(call, FAULT_ONLY_COPIES);
	const char *ids = find_clusters(call, FAULT_NOT_REPRESENTED);

	if (copies == NULL && ids == NULL)
		return;
	begin_alone(call);
	simhash_upkeep_promote(call, true);
	if (ids != NULL)
		(void) simhash_upkeep_write(call, "INSERT INTO {clusters} ({id}, {star}) SELECT DISTINCT ON (d.{cluster}) d.{cluster}, {row} FROM {rows} AS d"
									" WHERE d.{cluster} {=} ANY ('%s')"
									" AND NOT EXISTS (SELECT FROM ONLY {clusters} AS t WHERE t.{id} {=} d.{cluster})"
									" ORDER BY d.{cluster}, %s%sd.ctid",
									ids, call->terms->since == 0 ? "" :
									simhash_upkeep_sql(call, "d.{since} NULLS FIRST, "),
									call->parted ? "d.tableoid, " : "");
	simhash_upkeep_end_step(call);
}

/* Star: delete the representatives of clusters, and have their rows join anew. */
static void
dissolve(ClusterCall *call, const char *ids)
{
	begin_alone(call);
	(void) simhash_upkeep_write(call, "DELETE FROM ONLY {clusters} AS t WHERE COALESCE(t.{copy_of}, t.{id}) {=} ANY ('%s')",
								ids);
	simhash_upkeep_end_step(call);
	(void) simhash_upkeep_join(call, ROWS_OF_CLUSTERS, ids, false);
}

/* Star: what is wrong about representatives, and rows that are not near theirs. */
static void
mend_stars(ClusterCall *call)
{
	const char *ids;

	simhash_progress_step("representatives");
	represent(call);
	ids = find_clusters(call, FAULT_NEAR_REPRESENTATIVES);
	if (ids != NULL)
		dissolve(call, ids);
	simhash_progress_step("rows");
	(void) simhash_upkeep_join(call, ROWS_NOT_NEAR, NULL, false);
}

/* Connected: clusters that are one. */
static void
mend_connected(ClusterCall *call)
{
	uint64		n;

	simhash_progress_step("links");
	(void) simhash_upkeep_begin_step(call, RowExclusiveLock);
	LockRelationOid(call->terms->clusters, RowExclusiveLock);
	n = simhash_upkeep_do(call, "SELECT cluster, c FROM (%s) AS f, pg_catalog.unnest(clusters) AS c"
						  " WHERE c {>} cluster",
						  simhash_upkeep_fault(call, FAULT_NOT_CONNECTED));
	for (uint64 i = 0; i < n; i++)
	{
		int64		linked[] = {simhash_upkeep_number(i, 1), simhash_upkeep_number(i, 2)};
		ClusterSet	pair = {2, linked};

		simhash_clusters_merge(call->terms, &pair);
	}
	simhash_upkeep_end_step(call);
}

/* Delete impossible rows of the table of the clusters; clear those of the root. */
static void
mend_rows(ClusterCall *call)
{
	if (find_clusters(call, FAULT_BAD_ROW) != NULL)
	{
		begin_alone(call);
		(void) simhash_upkeep_write(call, "DELETE FROM ONLY {clusters} AS t WHERE %s",
									simhash_upkeep_bad_row(call));
		simhash_upkeep_end_step(call);
	}
	(void) simhash_upkeep_join(call, ROWS_MISFIT, NULL, true);
}

/* What the call is for. */
static void
mend_clusters(ClusterCall *call)
{
	bool		star;

	simhash_progress_step("sequence and triggers");
	star = mend_tables(call);
	mend_rows(call);
	if (star)
		mend_stars(call);
	else
		mend_connected(call);
	(void) simhash_upkeep_join(call, ROWS_WITHOUT_CLUSTER, NULL, false);
	if (call->anew != NULL)
		(void) simhash_upkeep_join(call, ROWS_ASKED_FOR, call->anew, true);
}

/*
 * CALL simhash_mend_clusters(relation regclass,
 *		"column" name DEFAULT 'cluster', anew text DEFAULT NULL)
 *
 * Put right what simhash_check_clusters() finds, as far as this is what mends it.
 * Rows of which the condition "anew" is true, SQL on columns of the table "d", join
 * clusters as if they arrived, but for those that others change meanwhile.
 *
 * Errors: object_not_in_prerequisite_state where no clusters are kept in that
 * column, or they are being set up; object_in_use if another session sets up, trims
 * or mends them; insufficient_privilege without ownership; what the condition raises.
 */
Datum
simhash_mend_clusters(PG_FUNCTION_ARGS)
{
	ClusterCall call = {0};

	if (!PG_ARGISNULL(2))
		call.anew = simhash_text_argument(fcinfo, 2);
	simhash_upkeep_call(&call, fcinfo, 1, mend_clusters);
	PG_RETURN_VOID();
}

/* --- splitting ------------------------------------------------------------- */

/*
 * Which parts of connected clusters hang together no more, by rows that were deleted or
 * changed, is found out while others write.  Then it is found out once more for some of
 * them at a time, as nobody writes for a moment, and done.
 */

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

	if (simhash_upkeep_begin_step(call, AccessShareLock)->star)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the clusters of \"%s\" are of the kind star, and do not come apart",
						RelationGetRelationName(call->relation))));
	(void) simhash_upkeep_do(call, "SELECT pg_catalog.array_agg(cluster) FROM (SELECT cluster, pg_catalog.div("
							 "pg_catalog.sum(n) OVER (ORDER BY cluster) {-} n, '%d') AS lot, CASE WHEN n {>} %d THEN cluster END AS large"
							 " FROM (%s) AS f) AS f GROUP BY lot, large",
							 BATCH / 2, BATCH / 2, simhash_upkeep_fault(call, FAULT_COME_APART));
	MemoryContextSwitchTo(call->outer);
	for (uint64 i = 0; i < SPI_processed; i++)
		lots = lappend(lots, SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1));
	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(call->context);
	simhash_upkeep_end_step(call);
	return lots;
}

/*
 * The ids that rows of clusters may have: theirs, and those that lead there, each to
 * an older one.  All that are merged are linked, as nobody writes.
 */
static char *
write_ids(const ClusterCall *call, const char *ids)
{
	return simhash_upkeep_sql(call, "(WITH RECURSIVE w(i) AS (SELECT {cluster now} FROM pg_catalog.unnest('%s'::pg_catalog.int8[]) AS t({cluster})"
							  " UNION ALL SELECT l.{id} FROM w JOIN ONLY {clusters} AS l ON l.{merged_into} {=} w.i AND l.{id} {>} w.i) SELECT i FROM w)",
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
	return simhash_upkeep_sql(call, "WITH r AS MATERIALIZED (SELECT r.id, r.cluster AS part, r.size, {cluster now} AS now"
							  " FROM %s AS r JOIN {rows} AS t ON {key of t} {=} r.id AND t.{cluster} {=} ANY %s),"
							  " p AS MATERIALIZED (SELECT part, now, pg_catalog.row_number() OVER"
							  " (PARTITION BY now ORDER BY size USING {>}, part) AS place"
							  " FROM r GROUP BY part, now, size),"
							  " n AS MATERIALIZED (SELECT part, CASE WHEN place {=} 1 THEN now"
							  " ELSE pg_catalog.nextval({sequence}) END AS cluster FROM p)"
							  " UPDATE {rows} AS d SET {cluster} = n.cluster FROM r JOIN n ON n.part {=} r.part"
							  " WHERE {key of d} {=} r.id AND d.{cluster} {=} ANY %s AND d.{cluster} {<>} n.cluster",
							  simhash_upkeep_query(call, simhash_upkeep_sql(call, "{cluster now}"),
												   simhash_upkeep_sql(call, "t.{cluster} {=} ANY %s", ids),
												   false),
							  ids, ids);
}

/* Split some clusters. */
static void
split_some(ClusterCall *call, const char *ids)
{
	ClusterSet	none = {0};

	(void) simhash_upkeep_begin_step(call, ShareRowExclusiveLock);
	simhash_clusters_check_sequence(call->terms);
	simhash_clusters_merge(call->terms, &none);
	(void) simhash_upkeep_run_writing(call, write_split(call, write_ids(call, ids)),
									  call->table, CLUSTERS_AS_GIVEN);
	simhash_upkeep_end_step(call);
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

	simhash_upkeep_call(&call, fcinfo, 1, split_clusters);
	PG_RETURN_VOID();
}
