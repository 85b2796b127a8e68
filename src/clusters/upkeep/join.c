/*-------------------------------------------------------------------------
 *
 * join.c
 *		Rows that are there already join clusters, while others write: those that
 *		have no cluster when clusters are set up, and those that are to join anew.
 *
 * They are updated, so that the trigger treats them as if they arrived.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/upkeep/step.h"

/*
 * Limits of the work done.
 *
 * LOT_ROWS		to join by one transaction.
 * LOTS			of these to be looked up at once, in 1 MB.
 * FRUITLESS_MAX	times that none of these joins, before we give up.
 * PATIENCE		how long a transaction waits for a lock: less than a deadlock lasts
 *				before it is noticed, so that nobody is the victim of one.
 */
#define LOT_ROWS		50
#define LOTS			2000
#define FRUITLESS_MAX	10
#define PATIENCE		"50ms"

/* Some rows of a table, as an array of their ctids. */
typedef struct Lot
{
	Oid			table;
	char	   *rows;
} Lot;

/* A command that is run in a subtransaction, and how. */
typedef struct Writing
{
	const ClusterCall *call;
	const char *command;
	Oid			table;
	ClusterWriting how;
	bool		wait;
} Writing;

/* Run it. */
static void
run_writing(void *context)
{
	const Writing *writing = context;

	simhash_set("lock_timeout", writing->wait ? "0" : PATIENCE, GUC_ACTION_SAVE);
	(void) simhash_upkeep_run_writing(writing->call, writing->command, writing->table,
									  writing->how);
}

/*
 * Run a command that writes clusters to a table in a subtransaction; false if it
 * fails because of what others do: they have the rows locked, or add one of the same
 * key, if that is not to be waited for, or have moved them to another partition.
 */
bool
simhash_upkeep_try(const ClusterCall *call, const char *command, Oid table,
				   ClusterWriting how, bool wait)
{
	Writing		writing = {call, command, table, how, wait};
	ErrorData  *error = simhash_try(run_writing, &writing);

	if (error != NULL && error->sqlerrcode != ERRCODE_T_R_SERIALIZATION_FAILURE &&
		(wait || (error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE &&
				  error->sqlerrcode != ERRCODE_UNIQUE_VIOLATION)))
		ReThrowError(error);
	return error == NULL;
}

/* Open and lock the root or a partition; NULL if the table is neither any more. */
Relation
simhash_upkeep_open_part(const ClusterCall *call, Oid table)
{
	return list_member_oid(call->tables, table) ?
		try_relation_open(table, RowExclusiveLock) : NULL;
}

/*
 * Look up such rows, all or some of them, and divide them into lots of that size, in
 * memory of the call.
 */
static List *
find_lots(ClusterCall *call, ClusterRows which, const char *argument, int size,
		  bool all)
{
	List	   *lots = NIL;

	(void) simhash_upkeep_begin_step(call, AccessShareLock);
	(void) simhash_upkeep_do(call, "SELECT part, pg_catalog.array_agg(place) FROM (SELECT d.tableoid::pg_catalog.int8 AS part,"
							 " d.ctid AS place, pg_catalog.row_number() OVER () {/} %d AS lot"
							 " FROM {rows} AS d WHERE %s%s) AS r GROUP BY 1, lot ORDER BY lot",
							 size, simhash_upkeep_rows(call, which, argument),
							 all ? "" : psprintf(" LIMIT %d", size * LOTS));
	MemoryContextSwitchTo(call->outer);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		Lot		   *lot = palloc(sizeof *lot);

		lot->table = (Oid) simhash_upkeep_number(i, 1);
		lot->rows = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 2);
		lots = lappend(lots, lot);
	}
	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(call->context);
	simhash_upkeep_end_step(call);
	return lots;
}

/*
 * Have the trigger give the rows of a lot their clusters, as far as they are there and
 * the condition still holds.  Unless told to wait, a transaction that holds rows waits
 * for a lock no longer than PATIENCE: then it is rolled back, and false is returned.
 * It need not be on disk when it ends: what a crash loses is found again.
 */
static bool
join_lot(ClusterCall *call, const Lot *lot, ClusterRows which,
		 const char *argument, bool wait, uint64 *joined)
{
	Relation	relation;
	bool		done = true;

	(void) simhash_upkeep_begin_step(call, RowExclusiveLock);
	relation = simhash_upkeep_open_part(call, lot->table);
	if (!call->atomic)
		simhash_set("synchronous_commit", "off", GUC_ACTION_LOCAL);
	if (relation != NULL)
	{
		done = simhash_upkeep_try(call, simhash_upkeep_sql(call, "WITH u AS (UPDATE ONLY %s AS d SET {cluster} = NULL"
														   " WHERE d.ctid {=} ANY ('%s'::pg_catalog.tid[]) AND %s"
														   " RETURNING d.{cluster}) SELECT pg_catalog.count({cluster}) FROM u",
														   simhash_quoted_name(lot->table), lot->rows,
														   simhash_upkeep_rows(call, which, argument)),
								  call->table, CLUSTERS_ANEW, wait);
		if (done)
		{
			*joined += simhash_upkeep_number(0, 1);
			SPI_freetuptable(SPI_tuptable);
		}
		relation_close(relation, NoLock);
	}
	simhash_upkeep_end_step(call);
	return done;
}

/*
 * Have such rows join clusters as if they arrived, until there are no such rows; or
 * each of them once.  Returns how many joined.  Lots that were given up are looked up
 * again, and their rows joined one by one: then we can wait for each of them, as our
 * transaction holds no other row.
 */
uint64
simhash_upkeep_join(ClusterCall *call, ClusterRows which, const char *argument,
					bool once)
{
	uint64		total = 0;
	int			fruitless = 0;
	int			size = once ? 1 : LOT_ROWS;

	for (;;)
	{
		uint64		before = total;
		bool		all = true;
		List	   *lots = find_lots(call, which, argument, size, once);
		ListCell   *lc;

		foreach(lc, lots)
		{
			simhash_progress_rows("joined", total);
			all &= join_lot(call, lfirst(lc), which, argument, size == 1, &total);
			pfree(((Lot *) lfirst(lc))->rows);
		}
		if (lots == NIL || once)
			return total;
		list_free_deep(lots);
		size = all ? LOT_ROWS : 1;

		/* Others may have seen to them; not again and again. */
		fruitless = total > before ? 0 : fruitless + 1;
		if (fruitless == FRUITLESS_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("rows of \"%s\" could not be given their clusters",
							get_rel_name(call->table)),
					 errhint("See whether another trigger of the table suppresses updates of these rows.")));
	}
}
