/*-------------------------------------------------------------------------
 *
 * join.c
 *		Rows that are there join clusters, beside others who write: those that have
 *		none when clusters are set up, and those that are to join anew.
 *
 * They are updated, so that the trigger treats them as if they arrived.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/step.h"

#include "catalog/pg_inherits.h"
#include "utils/guc.h"
#include "utils/resowner.h"

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

/*
 * Run a command that writes clusters to a table in a subtransaction; false if it
 * fails because of what others do: they have the rows locked, if that is not to be
 * waited for, or have moved them to another partition.  No error must leave the
 * subtransaction open: nobody else would end it.
 */
bool
simhash_cluster_try(const char *command, Oid table, ClusterWriting how, bool wait)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		simhash_cluster_set("lock_timeout", wait ? "0" : PATIENCE);
		(void) simhash_cluster_run_writing(command, table, how);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error != NULL && error->sqlerrcode != ERRCODE_T_R_SERIALIZATION_FAILURE &&
		(wait || error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE))
		ReThrowError(error);
	return error == NULL;
}

/* Lock a table that rows are in, if it still is one of ours. */
Relation
simhash_cluster_open_part(const ClusterCall *call, Oid table)
{
	List	   *tables = call->table == table ? list_make1_oid(table) :
	find_all_inheritors(call->table, NoLock, NULL);

	return list_member_oid(tables, table) ?
		try_relation_open(table, RowExclusiveLock) : NULL;
}

/*
 * Look up such rows, in lots of that size, and all or some of them; the lots are in
 * memory of the call.
 */
static List *
find_lots(ClusterCall *call, ClusterRows which, const char *argument, int size,
		  bool all)
{
	List	   *lots = NIL;

	(void) simhash_cluster_begin_step(call, AccessShareLock);
	(void) simhash_cluster_do(call, "SELECT part, pg_catalog.array_agg(place) FROM (SELECT d.tableoid AS part,"
							  " d.ctid AS place, pg_catalog.row_number() OVER () &/ %d AS lot"
							  " FROM &R AS d WHERE %s%s) AS r GROUP BY 1, lot ORDER BY lot",
							  size, simhash_cluster_rows(call, which, argument),
							  all ? "" : psprintf(" LIMIT %d", size * LOTS));
	MemoryContextSwitchTo(call->outer);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		Lot		   *lot = palloc(sizeof *lot);
		bool		isnull;

		lot->table = DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[i],
													SPI_tuptable->tupdesc, 1, &isnull));
		lot->rows = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 2);
		lots = lappend(lots, lot);
	}
	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(call->context);
	simhash_cluster_end_step(call);
	return lots;
}

/*
 * Have the trigger give the rows of a lot their clusters, unless they are gone, or are
 * such rows no more, or are on their way to another partition.  A transaction that
 * holds a row waits for nobody, or not for long: then it is given up, and false is
 * returned.  It need not be on disk when it ends: what is lost by a crash is found
 * again.
 */
static bool
join_lot(ClusterCall *call, const Lot *lot, ClusterRows which,
		 const char *argument, bool wait, uint64 *joined)
{
	Relation	relation;
	bool		done = true;

	(void) simhash_cluster_begin_step(call, RowExclusiveLock);
	relation = simhash_cluster_open_part(call, lot->table);
	if (!call->atomic)
		(void) set_config_option("synchronous_commit", "off", PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0,
								 false);
	if (relation != NULL)
	{
		done = simhash_cluster_try(simhash_cluster_sql(call, "UPDATE ONLY %s AS d SET &c = NULL"
													   " WHERE d.ctid &= ANY ('%s'::pg_catalog.tid[]) AND %s"
													   " RETURNING d.&c IS NOT NULL",
													   simhash_quoted_name(lot->table), lot->rows,
													   simhash_cluster_rows(call, which, argument)),
								   call->table, CLUSTERS_ANEW, wait);
		for (uint64 i = 0; done && i < SPI_processed; i++)
			*joined += *SPI_getvalue(SPI_tuptable->vals[i],
									 SPI_tuptable->tupdesc, 1) == 't';
		if (done)
			SPI_freetuptable(SPI_tuptable);
		relation_close(relation, NoLock);
	}
	simhash_cluster_end_step(call);
	return done;
}

/*
 * Have such rows join clusters as if they arrived, until there are none; or each of
 * them once, whether it is such a row after that or not.  Returns how many did.  What
 * was given up is looked up once more, and done one by one: each row is waited for
 * with nothing in hand.
 */
uint64
simhash_cluster_join(ClusterCall *call, ClusterRows which, const char *argument,
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
					 errhint("See whether a trigger of the table leaves out their updates.")));
	}
}
