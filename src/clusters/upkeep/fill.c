/*-------------------------------------------------------------------------
 *
 * fill.c
 *		Steps 2 and 3 of simhash_add_clusters(): the clusters of the rows that are
 *		there are computed, into a work table, and filled in, in batches.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/upkeep/step.h"

#include "catalog/pg_inherits.h"

/*
 * Limits of the work done.
 *
 * BATCH_MS		that a transaction aims at which fills rows in, and holds them.
 * BATCH_FIRST	pages of the work table, of some 100 rows, that it begins with.
 * BATCH_MAX	of these: the next may take longer than those before.
 */
#define BATCH_MS		50
#define BATCH_FIRST		10
#define BATCH_MAX		50

/* A part of the work table: the rows of one table, in its pages. */
typedef struct WorkPart
{
	Oid			table;
	Oid			node;			/* its file, when the clusters were computed */
	BlockNumber first;
	BlockNumber last;
} WorkPart;

/* Add the representatives, and the index by which rows find them. */
static void
add_representatives(const ClusterCall *call)
{
	simhash_progress_step("adding representatives");
	(void) simhash_upkeep_write(call, "INSERT INTO {clusters} ({id}, {star}) SELECT w.cluster, {row} FROM ONLY {work} AS w"
								" JOIN {rows} AS d ON d.ctid {=} w.place%s WHERE w.starts",
								!call->parted ? "" : simhash_upkeep_sql(call, " AND d.tableoid {=} w.part"));
	simhash_progress_step("indexing representatives");
	simhash_upkeep_make_index(call);
	simhash_upkeep_depend(call);
}

/*
 * The query of the work table.  Where columns are taken over, a cluster gets the
 * id that most of its rows have, or if another has more rows with that one beyond
 * the greatest that is there; and rows that can be in no cluster, but have an id,
 * are to have none.
 */
static char *
write_work(const ClusterCall *call, bool adopt)
{
	char	   *rows =
	simhash_upkeep_sql(call, "SELECT d.tableoid AS part, c.relfilenode AS node, d.ctid AS place,"
					   " d.xmin AS version, r.cluster, r.id {=} r.representative AS starts%s"
					   " FROM %s AS r %sJOIN {rows} AS d ON {key of d} {=} r.id"
					   " JOIN pg_catalog.pg_class AS c ON c.oid {=} d.tableoid",
					   adopt ? simhash_upkeep_sql(call, ", d.{cluster} AS was") : "",
					   simhash_upkeep_query(call, NULL, NULL, false),
					   adopt ? "RIGHT " : "");

	if (!adopt)
		return psprintf("%s ORDER BY 1, 3", rows);
	return simhash_upkeep_sql(call, "WITH w AS MATERIALIZED (%s WHERE r.id IS NOT NULL OR d.{cluster} IS NOT NULL),"
							  " n AS (SELECT cluster, was, pg_catalog.count(*) AS n FROM w"
							  " WHERE cluster IS NOT NULL AND was {>} 0 GROUP BY 1, 2),"
							  " o AS (SELECT DISTINCT ON (cluster) * FROM n ORDER BY cluster, n DESC, was),"
							  " k AS (SELECT DISTINCT ON (was) * FROM o ORDER BY was, n DESC, cluster),"
							  " i AS (SELECT c.cluster, COALESCE(k.was, (SELECT GREATEST(pg_catalog.max(was), 0) FROM w)"
							  " OPERATOR(pg_catalog.+) pg_catalog.row_number() OVER (PARTITION BY k.was IS NULL ORDER BY c.cluster)) AS id"
							  " FROM (SELECT DISTINCT cluster FROM w) AS c"
							  " LEFT JOIN k ON k.cluster {=} c.cluster)"
							  " SELECT w.part, w.node, w.place, w.version, i.id AS cluster, w.starts FROM w"
							  " LEFT JOIN i ON i.cluster {=} w.cluster ORDER BY 1, 3", rows);
}

/*
 * Step 2.  All of it reads one snapshot, which is taken when the tables are
 * locked, so that none gets a new file any more.  In a transaction block each
 * command has a snapshot of its own, so there writers wait.  They would anyway,
 * from step 4 to the end of the transaction.
 *
 * The work table is logged: after a crash the next call goes on with it.  Nor
 * would the server start again if it crashed just after an unlogged table was
 * made by a transaction that is rolled back: recovery has the file of its init
 * fork, and finds the other in the way.
 */
void
simhash_upkeep_compute(ClusterSetup *setup)
{
	ClusterCall *call = &setup->call;
	LOCKMODE	lockmode = call->atomic ? ShareRowExclusiveLock : AccessShareLock;
	ClusterTerms *terms;

	simhash_progress_step("computing");
	simhash_upkeep_begin_table(call, lockmode);

	/* All rows are joined, though the planner expects few of the function. */
	simhash_set("enable_nestloop", "off", GUC_ACTION_SAVE);
	simhash_set("enable_mergejoin", "off", GUC_ACTION_SAVE);
	if (!call->atomic)
		simhash_set("transaction_isolation", "repeatable read", GUC_ACTION_LOCAL);
	(void) find_all_inheritors(call->table, lockmode, NULL);
	terms = simhash_upkeep_find(call);
	simhash_set("work_mem", psprintf("%dkB", maintenance_work_mem), GUC_ACTION_SAVE);
	terms->work =
		simhash_upkeep_create_table(call, get_rel_namespace(terms->clusters),
									get_rel_name(terms->clusters), "fill", false,
									psprintf("AS %s", write_work(call, setup->adopt)));
	(void) simhash_upkeep_do(call, "COMMENT ON TABLE {work} IS 'made by simhash_add_clusters(), to go when it is done'");
	if (terms->star)
		add_representatives(call);
	(void) simhash_upkeep_do(call, "SELECT pg_catalog.setval({sequence}, m)"
							 " FROM (SELECT GREATEST(pg_catalog.max(cluster),"
							 " (SELECT pg_catalog.max({cluster}) FROM {rows})) AS m FROM ONLY {work}) AS w"
							 " WHERE m {>} 0");
	simhash_upkeep_write_deed(call, false);
	simhash_upkeep_end_step(call);
}

/*
 * The parts of the work table, in memory of the call.  The owner may have put
 * something else in its place, so no type is taken for granted.
 */
static List *
list_parts(ClusterCall *call)
{
	ClusterTerms *terms = simhash_upkeep_begin_step(call, AccessShareLock);
	List	   *list = NIL;
	uint64		n;

	if (get_rel_relkind(terms->work) != RELKIND_RELATION)
		simhash_clusters_complain(terms->clusters);
	n = simhash_upkeep_do(call, "SELECT part::pg_catalog.oid::pg_catalog.int8, node::pg_catalog.oid::pg_catalog.int8,"
						  " (pg_catalog.min(ctid)::pg_catalog.text::pg_catalog.point)[0]::pg_catalog.int8,"
						  " (pg_catalog.max(ctid)::pg_catalog.text::pg_catalog.point)[0]::pg_catalog.int8"
						  " FROM ONLY {work} GROUP BY 1, 2 ORDER BY 3");
	MemoryContextSwitchTo(call->outer);
	for (uint64 i = 0; i < n; i++)
	{
		WorkPart   *part = palloc(sizeof *part);

		part->table = (Oid) simhash_upkeep_number(i, 1);
		part->node = (Oid) simhash_upkeep_number(i, 2);
		if (!OidIsValid(part->table) || !OidIsValid(part->node))
			simhash_clusters_complain(terms->clusters);
		part->first = (BlockNumber) simhash_upkeep_number(i, 3);
		part->last = (BlockNumber) simhash_upkeep_number(i, 4);
		list = lappend(list, part);
	}
	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(call->context);
	simhash_upkeep_end_step(call);
	return list;
}

/*
 * The command that fills a batch in.  Rows that have their cluster are left alone.
 */
static char *
write_fill(const ClusterCall *call, const WorkPart *part, BlockNumber start,
		   int pages)
{
	return simhash_upkeep_sql(call, "UPDATE ONLY %s AS d SET {cluster} = w.cluster%s FROM ONLY {work} AS w"
							  " WHERE w.ctid {>=} '(%u,0)' AND w.ctid {<} '(%u,0)'"
							  " AND w.part {=} '%u' AND d.ctid {=} w.place AND d.xmin {=} w.version"
							  " AND COALESCE(d.{cluster} {<>} w.cluster, true)",
							  simhash_quoted_name(part->table),
							  call->terms->since == 0 ? "" :
							  simhash_upkeep_sql(call, ", {since} = NULL"),
							  start, start + pages, part->table);
}

/*
 * Fill a batch in; false if there is nothing to be filled in that part.  Where
 * others have a row it may be given up.
 */
static bool
fill_batch(ClusterCall *call, const WorkPart *part, BlockNumber start, int pages,
		   bool *filled)
{
	Relation	relation;
	bool		good;

	(void) simhash_upkeep_begin_step(call, RowExclusiveLock);
	relation = simhash_upkeep_open_part(call, part->table);
	good = relation != NULL && relation->rd_rel->relfilenode == part->node;
	if (good)
	{
		/* The rows are looked up where they are. */
		simhash_set("enable_hashjoin", "off", GUC_ACTION_SAVE);
		simhash_set("enable_mergejoin", "off", GUC_ACTION_SAVE);
		*filled = simhash_upkeep_try(call, write_fill(call, part, start, pages),
									 call->table, CLUSTERS_AS_GIVEN, false);
	}
	if (relation != NULL)
		relation_close(relation, NoLock);
	simhash_upkeep_end_step(call);
	return good;
}

/* Step 3.  A batch that was given up is begun anew, a page at first, or left out. */
void
simhash_upkeep_fill(ClusterCall *call)
{
	List	   *parts = list_parts(call);
	int			pages = BATCH_FIRST;
	ListCell   *lc;

	foreach(lc, parts)
	{
		WorkPart   *part = lfirst(lc);
		uint64		start = part->first;

		while (start <= part->last)
		{
			TimestampTz began = GetCurrentTimestamp();
			bool		filled;
			double		ms;

			simhash_progress_part("filling", (double) start /
								  (((WorkPart *) llast(parts))->last + 1.0));
			if (!fill_batch(call, part, (BlockNumber) start, pages, &filled))
				break;
			if (filled || pages == 1)
				start += pages;
			ms = (GetCurrentTimestamp() - began) / 1000.0;
			pages = !filled ? 1 :
				Max(1, Min(pages * Min(BATCH_MS / Max(ms, 1), 2), BATCH_MAX));
		}
	}
}
