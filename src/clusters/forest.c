/*-------------------------------------------------------------------------
 *
 * forest.c
 *		Clusters that have been merged, and what they are now.
 *
 * When a row connects clusters, none of their rows is touched.  Instead the
 * table of the clusters is a forest: it has a row for each cluster that took
 * part in a merge, and `parent` leads from one to another.  The clusters of a
 * tree are one by now, and its root says in `current` which id that has: the
 * oldest, so the least.  To merge means to put roots below one of them, by
 * rank, so that none of n clusters is more than log2(n) steps from its root.
 *
 * For example, 7 is merged with 9, then both with 3, which no merge has seen:
 *
 *		cluster	parent	rank	current	merged_into
 *		3		7		0		3
 *		7				1		3		3
 *		9		7		0		9		7
 *
 * Each of them is 3 now: 9 leads to 7, which is the root and says so.  What ids
 * ceased to be current, and when, `merged_into` and `merged_at` record for
 * those who hold them.
 *
 * Concurrency.  A merge locks the roots, in the order of their ids, until the
 * end of the transaction.  If one is no root any more by then, it lets go of
 * all, by a subtransaction, and begins again: so transactions that insert one
 * row each do not deadlock.  With REPEATABLE READ the server raises a
 * serialization failure instead.
 *
 * The table is written with its owner's rights, as a foreign key does it, and
 * is that of the table with the trigger.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/forest.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "clusters/table.h"

/*
 * Limits of the work done.
 *
 * STEPS_MAX	to a root: ranks do not let it come to as many.
 * TRIES_MAX	to merge, while others merge the same clusters.
 */
#define STEPS_MAX	64
#define TRIES_MAX	1000

/* The forest, to be read. */
typedef struct Forest
{
	Relation	relation;
	Relation	index;			/* its primary key */
	AttrNumber	parent;
	AttrNumber	current;
	Snapshot	snapshot;
	TupleTableSlot *slot;
} Forest;

/* Open the forest, to be read by that snapshot. */
static Forest
open_forest(const ClusterTerms *terms, Snapshot snapshot)
{
	Forest		forest;
	Form_pg_index key;

	forest.relation = simhash_clusters_open(terms);
	forest.parent = terms->columns[CLUSTER_PARENT];
	forest.current = terms->columns[CLUSTER_CURRENT];
	list_free(RelationGetIndexList(forest.relation));
	if (!OidIsValid(forest.relation->rd_pkindex))
		simhash_clusters_complain(terms->clusters);
	forest.index = index_open(forest.relation->rd_pkindex, AccessShareLock);
	key = forest.index->rd_index;
	if (key->indnkeyatts != 1 || key->indkey.values[0] != terms->columns[CLUSTER_ID])
		simhash_clusters_complain(terms->clusters);
	forest.snapshot = RegisterSnapshot(snapshot);
	forest.slot = table_slot_create(forest.relation, NULL);
	return forest;
}

/* Close it. */
static void
close_forest(Forest *forest)
{
	ExecDropSingleTupleTableSlot(forest->slot);
	UnregisterSnapshot(forest->snapshot);
	index_close(forest->index, AccessShareLock);
	table_close(forest->relation, AccessShareLock);
}

/*
 * Look a cluster up: what is current there, and its parent; false if it is a
 * root, and has none.  No merge has seen it if there is no row.
 */
static bool
find_node(Forest *forest, int64 id, int64 *parent, int64 *current)
{
	IndexScanDesc scan = simhash_index_beginscan(forest->relation,
												 forest->index,
												 forest->snapshot, 1);
	ScanKeyData key;
	bool		found = false;
	bool		isnull;

	*current = id;
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(id));
	index_rescan(scan, &key, 1, NULL, 0);
	if (index_getnext_slot(scan, ForwardScanDirection, forest->slot))
	{
		Datum		value = slot_getattr(forest->slot, forest->parent, &isnull);

		found = !isnull;
		if (found)
			*parent = DatumGetInt64(value);
		value = slot_getattr(forest->slot, forest->current, &isnull);
		if (!isnull)
			*current = DatumGetInt64(value);
		ExecClearTuple(forest->slot);
	}
	index_endscan(scan);
	return found;
}

/* The root of a cluster, and what is current there. */
static int64
find_root(Forest *forest, int64 id, int64 *current)
{
	for (int i = 0; i < STEPS_MAX; i++)
	{
		int64		parent;

		if (!find_node(forest, id, &parent, current))
			return id;
		id = parent;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the merges of cluster " INT64_FORMAT " in table \"%s\" lead nowhere",
					id, RelationGetRelationName(forest->relation))));
}

/* What clusters are now, by that snapshot. */
ClusterSet
simhash_clusters_current(const ClusterTerms *terms, const ClusterSet *clusters,
						 Snapshot snapshot)
{
	ClusterSet	result = {0};
	Forest		forest;

	if (clusters->n == 0)
		return result;
	forest = open_forest(terms, snapshot);
	for (int i = 0; i < clusters->n; i++)
	{
		int64		current;

		(void) find_root(&forest, clusters->ids[i], &current);
		simhash_clusters_add(&result, current);
	}
	close_forest(&forest);
	return result;
}

/* The roots of clusters. */
static ClusterSet
find_roots(const ClusterTerms *terms, const ClusterSet *clusters)
{
	ClusterSet	result = {0};
	Forest		forest = open_forest(terms, GetLatestSnapshot());
	int64		current;

	for (int i = 0; i < clusters->n; i++)
		simhash_clusters_add(&result, find_root(&forest, clusters->ids[i],
												&current));
	close_forest(&forest);
	return result;
}

/* A set as an array of SQL. */
static Datum
make_array(const ClusterSet *clusters)
{
	Datum	   *values = palloc(Max(clusters->n, 1) * sizeof *values);

	for (int i = 0; i < clusters->n; i++)
		values[i] = Int64GetDatum(clusters->ids[i]);
	return PointerGetDatum(construct_array(values, clusters->n, INT8OID,
										   sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/*
 * Prepare a command about the table of the clusters.  The owner of its schema
 * may put another schema in its place meanwhile, and a view of that name there:
 * that must not be used with the rights of the owner of the table.  What the name
 * means is known once the command is analyzed, before anything of it is
 * planned or run; SPI does not analyze a plan anew that is not saved.
 */
static SPIPlanPtr
prepare_command(Oid table, const char *command, int nargs, Oid *types)
{
	SPIPlanPtr	plan = SPI_prepare(command, nargs, types);
	ListCell   *lc;

	if (plan == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("command was not prepared: %s", command)));
	foreach(lc, SPI_plan_get_plan_sources(plan))
	{
		CachedPlanSource *source = lfirst(lc);

		if (list_length(list_union_oid(source->relationOids,
									   list_make1_oid(table))) != 1)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("table \"%s\" of clusters was renamed meanwhile",
							get_rel_name(table))));
	}
	return plan;
}

/*
 * Run a command with the rights of the owner of the table of the clusters.
 * What it yields stays until SPI_finish().
 */
static void
run_as_owner(Oid table, const char *command, int nargs, Oid *types,
			 Datum *values)
{
	int			context;
	Oid			user;
	int			result;

	simhash_clusters_become_owner(table, &user, &context);
	result = SPI_execute_plan(prepare_command(table, command, nargs, types),
							  values, NULL, false, 0);
	SetUserIdAndSecContext(user, context);
	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("command did not run: %s", command)));
}

/* A column of a row of the result of a query; 0 for NULL. */
static int64
get_number(int row, int column, bool *isnull)
{
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row],
									  SPI_tuptable->tupdesc, column, isnull);

	return *isnull ? 0 : DatumGetInt64(value);
}

/* What a merge makes of roots. */
typedef struct Merge
{
	int64		winner;			/* the root that stays one */
	int64		rank;			/* its, from now on */
	ClusterSet	names;			/* that were current, the least still is */
} Merge;

/* What the table of the clusters is called by now, for SQL. */
static const char *
table_name(const ClusterTerms *terms)
{
	AcceptInvalidationMessages();
	return simhash_quoted_name(terms->clusters);
}

/* The name of a column of the table of the clusters, quoted. */
static const char *
name_of(const ClusterTerms *terms, ClusterColumn column)
{
	return quote_identifier(get_attname(terms->clusters,
										terms->columns[column], false));
}

/* Lock the roots.  False if one is none. */
static bool
lock_roots(const ClusterTerms *terms, const char *table,
		   const ClusterSet *roots, Merge *merge)
{
	const char *id = name_of(terms, CLUSTER_ID);
	const char *current = name_of(terms, CLUSTER_CURRENT);
	Oid			type = INT8ARRAYOID;
	Datum		values = make_array(roots);
	int64		best = -1;

	run_as_owner(terms->clusters,
				 psprintf("INSERT INTO %s (%s, %s)"
						  " SELECT r, r FROM pg_catalog.unnest($1) AS r"
						  " ORDER BY r ON CONFLICT DO NOTHING",
						  table, id, current),
				 1, &type, &values);
	run_as_owner(terms->clusters,
				 psprintf("SELECT %s::pg_catalog.int8, %s::pg_catalog.int8,"
						  " %s::pg_catalog.int8, %s::pg_catalog.int8 FROM ONLY %s"
						  " WHERE %s OPERATOR(pg_catalog.=) ANY ($1)"
						  " ORDER BY 1 FOR UPDATE",
						  id, name_of(terms, CLUSTER_PARENT),
						  name_of(terms, CLUSTER_RANK), current, table, id),
				 1, &type, &values);
	if (SPI_processed != (uint64) roots->n)
		return false;
	for (int i = 0; i < roots->n; i++)
	{
		bool		isnull;
		int64		rank = get_number(i, 3, &isnull);

		simhash_clusters_add(&merge->names, get_number(i, 4, &isnull));
		if (rank >= best)
			merge->rank = rank == best ? rank + 1 : rank;
		if (rank > best)
		{
			best = rank;
			merge->winner = get_number(i, 1, &isnull);
		}
		(void) get_number(i, 2, &isnull);
		if (!isnull)
			return false;
	}
	return true;
}

/* Put the roots below one of them, and record what ids are no more. */
static void
join_roots(const ClusterTerms *terms, const char *table,
		   const ClusterSet *roots, const Merge *merge)
{
	const char *id = name_of(terms, CLUSTER_ID);
	ClusterSet	gone = {merge->names.n - 1, 0, merge->names.ids + 1};
	Oid			types[] = {INT8ARRAYOID, INT8OID, INT8OID, INT8OID, INT8ARRAYOID};
	Datum		values[] = {
		make_array(roots),
		Int64GetDatum(merge->winner),
		Int64GetDatum(merge->rank),
		Int64GetDatum(merge->names.ids[0]),
		make_array(&gone)
	};

	run_as_owner(terms->clusters,
				 psprintf("UPDATE ONLY %s SET %s = $2"
						  " WHERE %s OPERATOR(pg_catalog.=) ANY ($1)"
						  " AND %s OPERATOR(pg_catalog.<>) $2",
						  table, name_of(terms, CLUSTER_PARENT), id, id),
				 2, types, values);
	run_as_owner(terms->clusters,
				 psprintf("UPDATE ONLY %s SET %s = $3, %s = $4"
						  " WHERE %s OPERATOR(pg_catalog.=) $2",
						  table, name_of(terms, CLUSTER_RANK),
						  name_of(terms, CLUSTER_CURRENT), id),
				 4, types, values);
	run_as_owner(terms->clusters,
				 psprintf("UPDATE ONLY %s SET %s = $4, %s = pg_catalog.now()"
						  " WHERE %s OPERATOR(pg_catalog.=) ANY ($5)",
						  table, name_of(terms, CLUSTER_MERGED_INTO),
						  name_of(terms, CLUSTER_MERGED_AT), id),
				 5, types, values);
}

/* Leave the subtransaction of a merge, with or without what it has done. */
static void
end_merge(bool done, MemoryContext context, ResourceOwner owner)
{
	if (done)
		ReleaseCurrentSubTransaction();
	else
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
}

/*
 * Merge roots, or let go of them if they are none any more, or if the commands
 * fail and the name by which they call the table is not its own any more: its
 * schema may be renamed, whoever has the table locked.  Any other error leaves
 * the subtransaction as well: otherwise the server would take it for a savepoint
 * of the user's, and keep the transaction, with its locks, until he says
 * ROLLBACK.
 */
static bool
try_merge(const ClusterTerms *terms, const ClusterSet *roots)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	const char *table = table_name(terms);
	Merge		merge = {0};
	volatile bool done = false;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		SPI_connect();
		done = lock_roots(terms, table, roots, &merge);
		if (done)
			join_roots(terms, table, roots, &merge);
		SPI_finish();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		done = false;
	}
	PG_END_TRY();
	end_merge(done, context, owner);
	if (error != NULL &&
		((error->sqlerrcode != ERRCODE_UNDEFINED_TABLE &&
		  error->sqlerrcode != ERRCODE_OBJECT_IN_USE) ||
		 strcmp(table, table_name(terms)) == 0))
		ReThrowError(error);
	return done;
}

/* Make one cluster of several. */
void
simhash_clusters_merge(const ClusterTerms *terms, const ClusterSet *clusters)
{
	for (int i = 0; i < TRIES_MAX; i++)
	{
		ClusterSet	roots = find_roots(terms, clusters);

		CHECK_FOR_INTERRUPTS();
		if (roots.n < 2 || try_merge(terms, &roots))
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("could not merge clusters in table \"%s\"",
					get_rel_name(terms->clusters)),
			 errhint("Its triggers or rules may keep rows from being written.")));
}
