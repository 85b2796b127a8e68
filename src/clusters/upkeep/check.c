/*-------------------------------------------------------------------------
 *
 * check.c
 *		simhash_check_clusters(): what is not as it should be about the clusters of
 *		a table, and what mends it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/upkeep/step.h"

#include "funcapi.h"

PG_FUNCTION_INFO_V1(simhash_check_clusters);

/* --- faults ---------------------------------------------------------------- */

/*
 * What may be wrong, as queries: simhash_check_clusters() counts what they find, and
 * simhash_mend_clusters() mends it.  Each yields a column "cluster".
 */

/* The parts that rows hang together in, by what cluster they are in now. */
static char *
write_parts(const ClusterCall *call)
{
	return simhash_upkeep_sql(call, "SELECT r.cluster AS part, {cluster now} AS now, pg_catalog.count(*) AS n FROM %s AS r"
							  " JOIN {rows} AS t ON {key of t} {=} r.id WHERE t.{cluster} IS NOT NULL GROUP BY 1, 2",
							  simhash_upkeep_query(call, NULL, NULL, false));
}

/* The clusters of rows of the root. */
static char *
write_clusters_of(const ClusterCall *call, ClusterRows which)
{
	return simhash_upkeep_sql(call, "SELECT d.{cluster} AS cluster FROM {rows} AS d WHERE %s",
							  simhash_upkeep_rows(call, which, NULL));
}

/* The query for a fault; NULL if clusters of the kind cannot have it. */
char	   *
simhash_upkeep_fault(const ClusterCall *call, ClusterFault fault)
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
			return simhash_upkeep_sql(call, "SELECT i AS cluster FROM (SELECT d.{cluster} AS i FROM {rows} AS d"
									  " UNION ALL SELECT t.{id} FROM ONLY {clusters} AS t WHERE t.{id} {>} 0) AS d"
									  " WHERE i {>} COALESCE(pg_catalog.pg_sequence_last_value({sequence}), 0)");
		case FAULT_BAD_ROW:
			return simhash_upkeep_sql(call, "SELECT t.{id} AS cluster FROM ONLY {clusters} AS t WHERE %s",
									  simhash_upkeep_bad_row(call));
		case FAULT_NOT_REPRESENTED:
			return simhash_upkeep_sql(call, "SELECT DISTINCT d.{cluster} AS cluster FROM {rows} AS d WHERE d.{cluster} IS NOT NULL"
									  " AND NOT EXISTS (SELECT FROM ONLY {clusters} AS t WHERE COALESCE(t.{copy_of}, t.{id}) {=} d.{cluster})");
		case FAULT_ONLY_COPIES:
			return simhash_upkeep_sql(call, "SELECT DISTINCT t.{copy_of} AS cluster FROM ONLY {clusters} AS t WHERE t.{id} {<} 0"
									  " AND NOT EXISTS (SELECT FROM ONLY {clusters} AS o WHERE o.{id} {=} t.{copy_of})");
		case FAULT_NEAR_REPRESENTATIVES:
			return simhash_upkeep_sql(call, "SELECT t.{id} AS cluster FROM %s AS r"
									  " JOIN ONLY {clusters} AS t ON t.ctid {=} r.id WHERE r.id {<>} r.representative",
									  simhash_upkeep_query(call, NULL, NULL, true));
		case FAULT_NOT_NEAR:
			return write_clusters_of(call, ROWS_NOT_NEAR);
		case FAULT_TEXT_LEFT:
			return terms->document == 0 ? NULL :
				simhash_upkeep_sql(call, "SELECT COALESCE(t.{copy_of}, t.{id}) AS cluster FROM ONLY {clusters} AS t WHERE %s",
								   simhash_upkeep_text_left(call));
		case FAULT_NOT_CONNECTED:
			return simhash_upkeep_sql(call, "SELECT pg_catalog.min(now) AS cluster, pg_catalog.array_agg(now) AS clusters"
									  " FROM (%s) AS p GROUP BY part HAVING pg_catalog.count(*) {>} 1",
									  write_parts(call));
		case FAULT_COME_APART:
			return simhash_upkeep_sql(call, "SELECT now AS cluster, pg_catalog.sum(n)::pg_catalog.int8 AS n FROM (%s) AS p"
									  " GROUP BY now HAVING pg_catalog.count(*) {>} 1",
									  write_parts(call));
	}
	return NULL;
}

/* What the faults are called, and what mends them. */
static const struct
{
	const char *name;
	const char *remedy;			/* the procedure */
}			faults[] = {
	[FAULT_NO_CLUSTER] = {"rows that are in no cluster", "simhash_mend_clusters"},
	[FAULT_MISFIT] = {"rows that can be in no cluster, or not in theirs", "simhash_mend_clusters"},
	[FAULT_ID_NOT_GIVEN] = {"ids that the sequence is yet to give", "simhash_mend_clusters"},
	[FAULT_BAD_ROW] = {"rows of the table of the clusters that lead nowhere", "simhash_mend_clusters"},
	[FAULT_NOT_REPRESENTED] = {"clusters without a representative", "simhash_mend_clusters"},
	[FAULT_ONLY_COPIES] = {"clusters of which only copies are left", "simhash_mend_clusters"},
	[FAULT_NEAR_REPRESENTATIVES] = {"representatives near an older one", "simhash_mend_clusters"},
	[FAULT_NOT_NEAR] = {"rows not near what represents their cluster", "simhash_mend_clusters"},
	[FAULT_TEXT_LEFT] = {"texts of rows that are gone", "simhash_trim_clusters"},
	[FAULT_NOT_CONNECTED] = {"clusters with rows near each other", "simhash_mend_clusters"},
	[FAULT_COME_APART] = {"clusters that have come apart", "simhash_split_clusters"}
};

/* List a fault. */
static void
list_fault(const ClusterCall *call, const char *name, int64 number, Datum example,
		   bool no_example, const char *remedy)
{
	Datum		values[4] = {
		CStringGetTextDatum(name), Int64GetDatum(number), example,
		CStringGetTextDatum(remedy)
	};
	bool		nulls[4] = {false, false, no_example, false};

	simhash_put_row(call->fcinfo, values, nulls);
}

/* The call of a procedure about the clusters. */
static char *
write_call(const ClusterCall *call, const char *procedure)
{
	return simhash_upkeep_sql(call, "CALL {schema}.%s(%s, %s)", procedure,
							  quote_literal_cstr(call->name),
							  quote_literal_cstr(call->column));
}

/*
 * List what is wrong about the tables themselves; false if their rows are not to be
 * looked at before that is mended.
 */
static bool
check_tables(const ClusterCall *call)
{
	const ClusterTerms *terms = call->terms;
	uint64		number;

	if (terms->later)
	{
		list_fault(call, "a set-up that is not complete", 1, 0, true,
				   "CALL simhash_add_clusters(...) with the same arguments");
		return false;
	}
	if (simhash_clusters_other_expression(call->relation, terms) != 0)
		list_fault(call, "columns generated by other expressions than before", 1,
				   0, true,
				   simhash_upkeep_sql(call, "%s; CALL {schema}.simhash_add_clusters(...)",
									  write_call(call, "simhash_drop_clusters")));
	if (!simhash_upkeep_has_triggers(call, true))
		list_fault(call, "triggers that are gone", 1, 0, true,
				   write_call(call, "simhash_mend_clusters"));
	number = simhash_upkeep_do(call, "SELECT pg_catalog.format('ALTER TABLE %%s ENABLE TRIGGER %%I', g.tgrelid::pg_catalog.regclass, g.tgname)"
							   " FROM pg_catalog.pg_trigger AS g JOIN pg_catalog.pg_proc AS p ON p.oid {=} g.tgfoid"
							   " WHERE p.proname {=} 'simhash_cluster' AND p.pronamespace {=} '%u' AND (g.tgenabled {=} 'D' OR g.tgenabled {=} 'R') AND (g.tgrelid {=} '%u' OR g.tgrelid {=} '%u'"
							   " OR g.tgrelid {=} ANY (ARRAY(SELECT relid FROM pg_catalog.pg_partition_tree('%u'))))",
							   get_func_namespace(call->function), call->table, terms->clusters, call->table);
	if (number > 0)
		list_fault(call, "triggers that are not enabled", number, 0, true,
				   SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1));
	return true;
}

/*
 * Of clusters that only copies of are seen, count those whose original is gone: another
 * transaction may be about to commit it.
 */
static int64
count_without_original(const ClusterCall *call, const char *query, Datum *example)
{
	const ClusterTerms *terms = call->terms;
	Relation	clusters = simhash_clusters_open(terms);
	int64		number = 0;
	uint64		n = simhash_upkeep_run(call, psprintf("%s ORDER BY 1 DESC", query));

	for (uint64 i = 0; i < n; i++)
	{
		int64		id = simhash_upkeep_number(i, 1);

		if (simhash_clusters_is_there(terms, clusters, id))
			continue;
		number++;
		*example = Int64GetDatum(id);
	}
	table_close(clusters, NoLock);
	return number;
}

/* List what is wrong about rows, representatives and links. */
static void
check_rows(const ClusterCall *call)
{
	for (ClusterFault fault = 0; fault < CLUSTER_FAULTS; fault++)
	{
		char	   *query = simhash_upkeep_fault(call, fault);
		int64		number;
		bool		isnull;
		Datum		example;

		if (query == NULL)
			continue;
		simhash_progress_step(faults[fault].name);
		(void) simhash_upkeep_do(call, "SELECT pg_catalog.count(*), pg_catalog.min(cluster) FROM (%s) AS f",
								 query);
		number = simhash_upkeep_number(0, 1);
		example = Int64GetDatum(simhash_upkeep_number(0, 2));
		isnull = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2) == NULL;
		if (fault == FAULT_ONLY_COPIES && number > 0)
			number = count_without_original(call, query, &example);
		if (number == 0)
			continue;
		list_fault(call, faults[fault].name, number, example, isnull,
				   write_call(call, faults[fault].remedy));

		/* What follows links would not come to an end. */
		if (fault == FAULT_BAD_ROW)
			break;
	}
}

/* What the call is for. */
static void
check_clusters(ClusterCall *call)
{
	(void) simhash_upkeep_begin_step(call, AccessShareLock);
	if (check_tables(call))
		check_rows(call);
	simhash_upkeep_end_step(call);
}

/*
 * simhash_check_clusters(relation regclass, "column" name DEFAULT 'cluster',
 *		OUT fault text, OUT number bigint, OUT example bigint, OUT remedy text)
 *		-> SETOF record
 *
 * What is not as it should be about the clusters of a table: how often, the least id
 * of a cluster, and the statement that mends it.  No rows if all is well.
 *
 * Errors: object_not_in_prerequisite_state where no clusters are kept in that
 * column; insufficient_privilege without ownership.
 */
Datum
simhash_check_clusters(PG_FUNCTION_ARGS)
{
	ClusterCall call = {.reads = true,.shared = true,.fcinfo = fcinfo};

	InitMaterializedSRF(fcinfo, 0);
	simhash_upkeep_call(&call, fcinfo, 1, check_clusters);
	return (Datum) 0;
}
