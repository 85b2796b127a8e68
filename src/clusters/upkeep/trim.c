/*-------------------------------------------------------------------------
 *
 * trim.c
 *		simhash_trim_clusters(): clusters without rows go from the table of the
 *		clusters, while other sessions go on writing.
 *
 * A cluster in which nobody sees a row may get one all the same: a transaction in
 * progress may have joined it.  To lock out the writers would hold them up.  So there are
 * three steps.
 *
 * 1. mark		A cluster without rows gets a mark, `unused_since`; a marked cluster that
 *				has got rows again loses its mark.
 * 2. wait		Until every transaction has ended that may have joined a cluster before
 *				the marks were committed.  All these transactions have the table of the
 *				clusters locked.
 * 3. delete	The clusters with a mark from step 1, or from an earlier call, that still
 *				have no row.
 *
 *	 Guarantee.  No row is ever in a cluster without a representative, or in one
 *	 that leads to another root than before.
 *
 * Star.  A row that is near a marked representative joins its cluster all the same, but
 * makes a copy of the representative (star.c).  If the original goes, the copy stays, and
 * gets its id in the next call.  A copy goes if its original is there, unmarked.
 *
 * Connected.  Nobody joins a cluster that has been merged, or links it: the mark is there
 * only so that step 2 lies between.  First copies become links, and all links are made to
 * lead to roots: then a merged cluster without rows has no link that leads to it, and can
 * go.
 *
 * Only one session trims clusters of a table at a time, so that all marks are those
 * of step 1, or older.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/upkeep/step.h"

PG_FUNCTION_INFO_V1(simhash_trim_clusters);

/*
 * Limits of the work done.
 *
 * BATCH	rows of the table of the clusters that are looked at by one transaction.
 */
#define BATCH	2000

/*
 * Do to one batch of ids after the other what is to be done, each by a step of its
 * own; which a batch is about is a condition on "t".
 */
static void
work_in_batches(ClusterCall *call,
				void (*work) (const ClusterCall *call, const char *batch))
{
	int64		low;
	int64		high = PG_INT64_MIN;
	bool		any;

	do
	{
		low = high;
		(void) simhash_upkeep_begin_step(call, AccessShareLock);
		(void) simhash_upkeep_do(call, "SELECT pg_catalog.max(i), pg_catalog.count(i) FROM (SELECT t.{id} AS i"
								 " FROM ONLY {clusters} AS t WHERE t.{id} {>} '" INT64_FORMAT "'"
								 " ORDER BY 1 LIMIT %d) AS t", low, BATCH);
		high = simhash_upkeep_number(0, 1);
		any = simhash_upkeep_number(0, 2) > 0;
		SPI_freetuptable(SPI_tuptable);
		if (any)
			work(call, simhash_upkeep_sql(call, "t.{id} {>} '" INT64_FORMAT "' AND NOT t.{id} {>} '" INT64_FORMAT "'",
										  low, high));
		simhash_upkeep_end_step(call);
	} while (any);
}

/* Whether a row is in the cluster of "t". */
#define HAS_ROW	"EXISTS (SELECT FROM {rows} AS d WHERE d.{cluster} {=} t.{id})"

/*
 * Lock rows "t" of a batch of which a condition holds; their ids, as an array of SQL, or
 * NULL.  Those that others have locked are left to the next call: who deletes a row may
 * have a representative locked, and wait for another.
 */
static char *
lock_batch(const ClusterCall *call, const char *batch, const char *condition,
		   const char *lock)
{
	(void) simhash_upkeep_do(call, "SELECT pg_catalog.array_agg(i) FROM (SELECT t.{id} AS i FROM ONLY {clusters} AS t"
							 " WHERE %s AND %s FOR %s SKIP LOCKED) AS l", batch, condition, lock);
	return SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
}

/* Change columns of them. */
static void
update_batch(const ClusterCall *call, const char *batch, const char *condition,
			 const char *columns)
{
	const char *ids = lock_batch(call, batch, condition, "NO KEY UPDATE");

	if (ids != NULL)
		(void) simhash_upkeep_write(call, "UPDATE ONLY {clusters} AS t SET %s WHERE t.{id} {=} ANY ('%s')",
									columns, ids);
}

/* Step 1, of some clusters; copies are marked all. */
static void
mark_batch(const ClusterCall *call, const char *batch)
{
	update_batch(call, batch, simhash_upkeep_sql(call, "t.{unused_since} IS NOT NULL AND " HAS_ROW),
				 simhash_upkeep_sql(call, "{unused_since} = NULL"));
	update_batch(call, batch, simhash_upkeep_sql(call, "t.{unused_since} IS NULL AND NOT " HAS_ROW),
				 simhash_upkeep_sql(call, "{unused_since} = pg_catalog.now()"));
	if (call->terms->document != 0)
		update_batch(call, batch, simhash_upkeep_text_left(call),
					 simhash_upkeep_sql(call, "{star document} = NULL"));
}

/*
 * Step 3, of some clusters.  Once they are locked the condition is asked again: by a foreign
 * key of the user's own a row would go, too, that has come before they were.
 */
static void
delete_batch(const ClusterCall *call, const char *batch)
{
	char	   *condition =
	simhash_upkeep_sql(call, "t.{id} {>} 0 AND NOT " HAS_ROW
					   " AND NOT t.{unused_since} {>} (pg_catalog.now() {-} %s::pg_catalog.interval)%s",
					   quote_literal_cstr(call->older_than), call->terms->star ? "" :
					   simhash_upkeep_sql(call, " AND NOT EXISTS (SELECT FROM ONLY {clusters} AS o WHERE o.{merged_into} {=} t.{id})"
										  " AND NOT EXISTS (SELECT FROM ONLY {clusters} AS o WHERE o.{copy_of} {=} t.{id})"));
	const char *ids = lock_batch(call, batch, condition, "UPDATE");

	if (ids != NULL)
		(void) simhash_upkeep_write(call, "DELETE FROM ONLY {clusters} AS t WHERE t.{id} {=} ANY ('%s') AND %s",
									ids, condition);
}

/* Have every link lead to a root: each round halves the way. */
static void
shorten_links(const ClusterCall *call)
{
	ClusterSet	none = {0};

	simhash_clusters_merge(call->terms, &none);
	while (simhash_upkeep_write(call, "UPDATE ONLY {clusters} AS t SET {merged_into} = p.{merged_into} FROM ONLY {clusters} AS p"
								" WHERE p.{id} {=} t.{merged_into} AND p.{merged_into} {<} t.{merged_into}") > 0)
		CHECK_FOR_INTERRUPTS();
}

/*
 * Have copies take the place of what is gone, and those of what is there go: those
 * that are marked, so that nobody may be about to commit what they are copies of; or
 * all, as nobody writes.  Where somebody adds at the same moment what is gone, the
 * copies are left to the next call.
 */
void
simhash_upkeep_promote(const ClusterCall *call, bool all)
{
	const char *marked = all ? "" : simhash_upkeep_sql(call, " AND c.{unused_since} IS NOT NULL");
	const char *command = simhash_upkeep_sql(call, "UPDATE ONLY {clusters} AS t SET {id} = t.{copy_of}, {copy_of} = NULL, {unused_since} = NULL WHERE t.{id} {=} ANY"
											 " (SELECT pg_catalog.max(c.{id}) FROM ONLY {clusters} AS c WHERE c.{id} {<} 0 AND c.{copy_of} {>} 0%s AND NOT EXISTS"
											 " (SELECT FROM ONLY {clusters} AS o WHERE o.{id} {=} c.{copy_of}) GROUP BY c.{copy_of})", marked);

	(void) simhash_upkeep_try(call, command, call->terms->clusters, CLUSTERS_AS_GIVEN, all);
	(void) simhash_upkeep_write(call, "DELETE FROM ONLY {clusters} AS c WHERE c.{id} {<} 0%s AND EXISTS"
								" (SELECT FROM ONLY {clusters} AS o WHERE o.{id} {=} c.{copy_of} AND o.{unused_since} IS NULL)", marked);
}

/* What the call is for. */
static void
trim_clusters(ClusterCall *call)
{
	const ClusterTerms *terms;
	LOCKTAG		tag;
	bool		star;

	if (call->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("simhash_trim_clusters cannot be called in a transaction block"),
				 errdetail("It waits for transactions that write to the table, and they would wait for this one."),
				 errhint("CALL it outside a transaction block.")));
	terms = simhash_upkeep_begin_step(call, AccessShareLock);
	SET_LOCKTAG_RELATION(tag, MyDatabaseId, terms->clusters);
	star = terms->star;

	/* Fail before anything is marked. */
	(void) simhash_upkeep_do(call, "SELECT pg_catalog.now() {-} %s::pg_catalog.interval",
							 quote_literal_cstr(call->older_than));
	if (!star)
		shorten_links(call);
	simhash_upkeep_end_step(call);
	simhash_progress_step("marks");
	work_in_batches(call, mark_batch);

	/*
	 * Nothing is locked meanwhile but by our lock: who waits for us would be
	 * waited for.
	 */
	simhash_progress_step("waits for writers");
	WaitForLockers(tag, ShareLock, false);
	simhash_progress_step("deletes");
	work_in_batches(call, delete_batch);
	if (star)
	{
		(void) simhash_upkeep_begin_step(call, AccessShareLock);
		simhash_upkeep_promote(call, false);
		simhash_upkeep_end_step(call);
	}
}

/*
 * CALL simhash_trim_clusters(relation regclass,
 *		"column" name DEFAULT 'cluster', older_than interval DEFAULT '0')
 *
 * Take from the table of the clusters what no row has been in for that long, copies
 * that are not needed, and texts of rows that are gone.  Writers go on; the call
 * waits for those transactions which are writing to the table.
 *
 * Errors: active_sql_transaction in a transaction block,
 * object_not_in_prerequisite_state where no clusters are kept in that column, or
 * they are being set up; object_in_use if another session trims them;
 * insufficient_privilege without ownership.
 */
Datum
simhash_trim_clusters(PG_FUNCTION_ARGS)
{
	ClusterCall call = {0};

	simhash_check_not_null(fcinfo, 0, 1, 2);
	call.older_than = DatumGetCString(DirectFunctionCall1(interval_out,
														  PG_GETARG_DATUM(2)));
	simhash_upkeep_call(&call, fcinfo, 1, trim_clusters);
	PG_RETURN_VOID();
}
