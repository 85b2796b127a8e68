/*-------------------------------------------------------------------------
 *
 * guard_merge.c
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
#include "guard/guard.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"


/*
 * Limits of the work done.
 *
 * STEPS_MAX	to a root: ranks do not let it come to as many.
 * NOTES_MAX	rows of a transaction of which it is noted that they connect
 *				clusters; with more, all rows are looked up again.
 */
#define STEPS_MAX	64
#define NOTES_MAX	65536

/* The forest, to be read. */
typedef struct Forest
{
	Relation	relation;
	Relation	index;			/* its primary key */
	AttrNumber	cluster;
	AttrNumber	parent;
	AttrNumber	current;
	Snapshot	snapshot;
	TupleTableSlot *slot;
} Forest;

/* A column of the forest. */
static AttrNumber
forest_column(Relation relation, const char *name)
{
	AttrNumber	column = get_attnum(RelationGetRelid(relation), name);

	if (column <= 0 ||
		simhash_guard_attribute(relation, column)->atttypid != INT8OID)
		simhash_guard_complain_of_table(RelationGetRelationName(relation));
	return column;
}

/* Open the forest, to be read by that snapshot. */
static Forest
open_forest(Oid table, Snapshot snapshot)
{
	Forest		forest;
	List	   *indexes;

	forest.relation = table_open(table, AccessShareLock);
	forest.cluster = forest_column(forest.relation, "cluster");
	forest.parent = forest_column(forest.relation, "parent");
	forest.current = forest_column(forest.relation, "current");
	indexes = RelationGetIndexList(forest.relation);
	list_free(indexes);
	if (!OidIsValid(forest.relation->rd_pkindex))
		simhash_guard_complain_of_table(RelationGetRelationName(forest.relation));
	forest.index = index_open(forest.relation->rd_pkindex, AccessShareLock);
	if (forest.index->rd_index->indnkeyatts != 1 ||
		forest.index->rd_index->indkey.values[0] != forest.cluster)
		simhash_guard_complain_of_table(RelationGetRelationName(forest.relation));
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
GuardClusters
simhash_guard_current(Oid table, const GuardClusters *clusters,
					  Snapshot snapshot)
{
	GuardClusters result = {0};
	Forest		forest;

	if (clusters->n == 0)
		return result;
	forest = open_forest(table, snapshot);
	for (int i = 0; i < clusters->n; i++)
	{
		int64		current;

		(void) find_root(&forest, clusters->ids[i], &current);
		simhash_guard_add_cluster(&result, current);
	}
	close_forest(&forest);
	return result;
}

/* The roots of clusters. */
static GuardClusters
find_roots(Oid table, const GuardClusters *clusters)
{
	GuardClusters result = {0};
	Forest		forest = open_forest(table, GetLatestSnapshot());
	int64		current;

	for (int i = 0; i < clusters->n; i++)
		simhash_guard_add_cluster(&result, find_root(&forest, clusters->ids[i],
													 &current));
	close_forest(&forest);
	return result;
}

/* A set as an array of SQL. */
static Datum
make_array(const GuardClusters *clusters)
{
	Datum	   *values = palloc(Max(clusters->n, 1) * sizeof *values);

	for (int i = 0; i < clusters->n; i++)
		values[i] = Int64GetDatum(clusters->ids[i]);
	return PointerGetDatum(construct_array(values, clusters->n, INT8OID,
										   sizeof(int64), FLOAT8PASSBYVAL,
										   TYPALIGN_DOUBLE));
}

/* Become the owner of the table of the clusters; who one was is returned. */
void
simhash_guard_become_owner(Oid table, Oid *user, int *context)
{
	Relation	relation = relation_open(table, NoLock);

	GetUserIdAndSecContext(user, context);
	SetUserIdAndSecContext(relation->rd_rel->relowner,
						   *context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_NOFORCE_RLS);
	relation_close(relation, NoLock);
}

/*
 * Prepare a command about the table of the clusters.  The owner of its schema
 * may have put another schema in its place, and a view of that name there: that
 * must not be used with the rights of the owner of the table.  What the name
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
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table \"%s\" of clusters is not what its name stands for",
							get_rel_name(table)),
					 errhint("If its schema was renamed, make the trigger anew.")));
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

	simhash_guard_become_owner(table, &user, &context);
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
	GuardClusters names;		/* that were current, the least still is */
} Merge;

/* Lock the roots.  False if one is none. */
static bool
lock_roots(Oid table, const char *name, const GuardClusters *roots,
		   Merge *merge)
{
	Oid			type = INT8ARRAYOID;
	Datum		values = make_array(roots);
	int64		best = -1;

	run_as_owner(table,
				 psprintf("INSERT INTO %s (cluster, current)"
						  " SELECT r, r FROM pg_catalog.unnest($1) AS r"
						  " ORDER BY r ON CONFLICT DO NOTHING",
						  name),
				 1, &type, &values);
	run_as_owner(table,
				 psprintf("SELECT cluster, parent, rank::pg_catalog.int8, current FROM %s"
						  " WHERE cluster OPERATOR(pg_catalog.=) ANY ($1)"
						  " ORDER BY cluster FOR UPDATE", name),
				 1, &type, &values);
	if (SPI_processed != (uint64) roots->n)
		return false;
	for (int i = 0; i < roots->n; i++)
	{
		bool		isnull;
		int64		rank = get_number(i, 3, &isnull);

		simhash_guard_add_cluster(&merge->names, get_number(i, 4, &isnull));
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
join_roots(Oid table, const char *name, const GuardClusters *roots,
		   const Merge *merge)
{
	GuardClusters gone = {merge->names.n - 1, 0, merge->names.ids + 1};
	Oid			types[] = {INT8ARRAYOID, INT8OID, INT8OID, INT8OID, INT8ARRAYOID};
	Datum		values[] = {
		make_array(roots),
		Int64GetDatum(merge->winner),
		Int64GetDatum(merge->rank),
		Int64GetDatum(merge->names.ids[0]),
		make_array(&gone)
	};

	run_as_owner(table,
				 psprintf("UPDATE %s SET parent = $2"
						  " WHERE cluster OPERATOR(pg_catalog.=) ANY ($1)"
						  " AND cluster OPERATOR(pg_catalog.<>) $2",
						  name),
				 2, types, values);
	run_as_owner(table,
				 psprintf("UPDATE %s SET rank = $3, current = $4"
						  " WHERE cluster OPERATOR(pg_catalog.=) $2",
						  name),
				 4, types, values);
	run_as_owner(table,
				 psprintf("UPDATE %s SET merged_into = $4,"
						  " merged_at = pg_catalog.now()"
						  " WHERE cluster OPERATOR(pg_catalog.=) ANY ($5)",
						  name),
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
 * Merge roots, or let go of them if they are none any more.  An error leaves the
 * subtransaction as well: otherwise the server would take it for a savepoint of
 * the user's, and keep the transaction, with its locks, until he says ROLLBACK.
 */
static bool
try_merge(Oid table, const GuardClusters *roots)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	char	   *name =
	quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
							   get_rel_name(table));
	Merge		merge = {0};
	volatile bool done = false;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		SPI_connect();
		done = lock_roots(table, name, roots, &merge);
		if (done)
			join_roots(table, name, roots, &merge);
		SPI_finish();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		end_merge(false, context, owner);
		ReThrowError(error);
	}
	PG_END_TRY();
	end_merge(done, context, owner);
	return done;
}

/* Make one cluster of several. */
void
simhash_guard_merge(Oid table, const GuardClusters *clusters)
{
	for (;;)
	{
		GuardClusters roots = find_roots(table, clusters);

		CHECK_FOR_INTERRUPTS();
		if (roots.n < 2 || try_merge(table, &roots))
			break;
	}
}

/* A note: rows of that fingerprint in that cluster may connect others. */
typedef struct MergeNote
{
	int64		cluster;
	uint64		fingerprint;	/* hash */
	Oid			clusters;		/* the table */
	uint32		unused;			/* 0 */
} MergeNote;

/* Notes of the transaction; NULL if there are none. */
static HTAB *notes = NULL;

/* Forget the notes, as the transaction ends, which frees them. */
void
simhash_guard_forget_merges(void)
{
	notes = NULL;
}

/* The note for a row. */
static MergeNote
make_note(const Guard *guard, const GuardSearch *search, int64 cluster)
{
	MergeNote	note = {cluster, 0, guard->clusters, 0};

	for (int i = 0; i < GUARD_WORDS(search->center.width); i++)
		note.fingerprint = hash_combine64(note.fingerprint,
										  search->center.words[i]);
	return note;
}

/* Note that a row connects clusters. */
void
simhash_guard_note_merge(const Guard *guard, const GuardSearch *search, int64 cluster)
{
	MergeNote	note = make_note(guard, search, cluster);

	if (notes == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof note,
			.entrysize = sizeof note,
			.hcxt = TopTransactionContext
		};

		notes = hash_create("simhash_guard merges", 64, &control,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (hash_get_num_entries(notes) < NOTES_MAX)
		(void) hash_search(notes, &note, HASH_ENTER, NULL);
}

/* May any row of the transaction connect clusters? */
bool
simhash_guard_any_notes(void)
{
	return notes != NULL;
}

/* May a row connect clusters? */
bool
simhash_guard_is_noted(const Guard *guard, const GuardSearch *search, int64 cluster)
{
	MergeNote	note = make_note(guard, search, cluster);

	return hash_get_num_entries(notes) >= NOTES_MAX ||
		hash_search(notes, &note, HASH_FIND, NULL) != NULL;
}
