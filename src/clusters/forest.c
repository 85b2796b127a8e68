/*-------------------------------------------------------------------------
 *
 * forest.c
 *		Clusters that have been merged, and what they are now.
 *
 * When a row connects clusters, none of their rows is touched.  Instead the
 * table of the clusters is a forest of links: a row of it says that `cluster` was
 * merged into `merged_into`, a lesser id.  A cluster that has no such row is the
 * root of its tree, and what all of the tree are called now: the oldest of them,
 * so the least.
 *
 * For example, 7 is merged with 9, then both with 3:
 *
 *		cluster	merged_into
 *		9		7
 *		7		3
 *
 * Each of them is 3 now: 9 leads to 7, that to 3, and no row leads from there.
 *
 * Concurrency.  Links are added, and not changed, so nobody waits for another's
 * transaction.  Say one that is still in progress has linked 7 to 3, and we are
 * to merge 7 with 5.  If it commits, 5 and 3 are one cluster; if it does not, 5
 * and 7 are.  We cannot link 7 a second time, nor know which.  So we add a copy:
 * a row with a number of its own, a negative one, which says that whatever 7
 * (`copy_of`) is in is one with whatever 5 is in.  Who reads the forest heeds the
 * copies, all of them.  There are few: a later merge makes links of those that
 * have become too many, and so does simhash_trim_clusters().
 *
 *		cluster	merged_into	copy_of
 *		7		3
 *		-12		5			7
 *
 * That nobody links the same root at the same time is seen to by a lock, which
 * is held until the link is in the table, not until it is committed.
 *
 * A merge reads by the latest snapshot at every isolation level, and does not fail
 * because of others.  The table is written with its owner's rights, as it would be
 * by a foreign key.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

PG_FUNCTION_INFO_V1(simhash_current_cluster);

/*
 * Limits of the work done.
 *
 * COPIES_MAX	copies that a merge leaves as they are; of more it makes links.
 */
#define COPIES_MAX		16

/* A link: one cluster is, or is one with, another. */
typedef struct Link
{
	ItemPointerData tid;		/* of its row */
	int64		cluster;
	int64		merged_into;
} Link;

/* The forest, to be read. */
typedef struct Forest
{
	const ClusterTerms *terms;
	Relation	relation;
	Relation	key;			/* the primary one */
	Snapshot	snapshot;
	TupleTableSlot *slot;
	List	   *copies;			/* of Link, between roots */
} Forest;

/* Is a cluster in the set? */
bool
simhash_clusters_has(const ClusterSet *clusters, int64 id)
{
	for (int i = 0; i < clusters->n; i++)
	{
		if (clusters->ids[i] == id)
			return true;
	}
	return false;
}

/* Add a cluster to the set, unless it is there. */
void
simhash_clusters_add(ClusterSet *clusters, int64 id)
{
	Size		size = (clusters->n + 1) * sizeof id;
	int			place;

	if (simhash_clusters_has(clusters, id))
		return;
	clusters->ids = clusters->n == 0 ? palloc(size) : repalloc(clusters->ids, size);
	for (place = clusters->n++; place > 0 && clusters->ids[place - 1] > id; place--)
		clusters->ids[place] = clusters->ids[place - 1];
	clusters->ids[place] = id;
}

/*
 * The root of the tree that a cluster is in.  Ids become less on the way there, or
 * somebody else has written them.
 */
static int64
find_root(Forest *forest, int64 id)
{
	for (;;)
	{
		int64		parent;

		if (!simhash_clusters_find_number(forest->relation, forest->key,
										  forest->snapshot, id, forest->slot))
			return id;
		parent = simhash_clusters_number(forest->terms, forest->slot, CLUSTER_MERGED_INTO);
		if (parent >= id)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("cluster " INT64_FORMAT " in table \"%s\" is merged into " INT64_FORMAT ", which is not older",
							id, RelationGetRelationName(forest->relation), parent),
					 errdetail("Its column \"merged_into\" has been written by hand: a cluster is merged into an older one, of a smaller number."),
					 errhint("CALL simhash_drop_clusters(...), and simhash_add_clusters(...), which finds the clusters again.")));
		CHECK_FOR_INTERRUPTS();
		id = parent;
	}
}

/* Find the copies, which have negative numbers, and the roots of what they name. */
static void
find_copies(Forest *forest)
{
	IndexScanDesc scan = simhash_clusters_scan(forest->relation, forest->key,
											   forest->snapshot,
											   BTLessStrategyNumber, 0);
	ListCell   *lc;

	while (index_getnext_slot(scan, ForwardScanDirection, forest->slot))
	{
		Link	   *link = palloc(sizeof *link);

		link->tid = forest->slot->tts_tid;
		link->cluster = simhash_clusters_number(forest->terms, forest->slot, CLUSTER_COPY_OF);
		link->merged_into = simhash_clusters_number(forest->terms, forest->slot, CLUSTER_MERGED_INTO);
		forest->copies = lappend(forest->copies, link);
	}
	index_endscan(scan);
	foreach(lc, forest->copies)
	{
		Link	   *copy = lfirst(lc);

		copy->cluster = find_root(forest, copy->cluster);
		copy->merged_into = find_root(forest, copy->merged_into);
	}
}

/* Open the forest, to be read by that snapshot. */
static Forest
open_forest(const ClusterTerms *terms, Snapshot snapshot)
{
	Forest		forest = {.terms = terms};

	forest.relation = simhash_clusters_open(terms);
	forest.key = simhash_clusters_open_key(terms, forest.relation);
	forest.snapshot = RegisterSnapshot(snapshot);
	forest.slot = table_slot_create(forest.relation, NULL);
	find_copies(&forest);
	return forest;
}

/* Close it. */
static void
close_forest(Forest *forest)
{
	list_free_deep(forest->copies);
	ExecDropSingleTupleTableSlot(forest->slot);
	UnregisterSnapshot(forest->snapshot);
	index_close(forest->key, AccessShareLock);
	table_close(forest->relation, AccessShareLock);
}

/* What a cluster has become: the least root that trees and copies lead to. */
static int64
find_current(Forest *forest, int64 id)
{
	ClusterSet	roots = {0};
	int			before = 0;

	id = find_root(forest, id);
	if (forest->copies == NIL)
		return id;
	simhash_clusters_add(&roots, id);
	while (before < roots.n)
	{
		ListCell   *lc;

		before = roots.n;
		foreach(lc, forest->copies)
		{
			const Link *copy = lfirst(lc);

			if (simhash_clusters_has(&roots, copy->cluster))
				simhash_clusters_add(&roots, copy->merged_into);
			else if (simhash_clusters_has(&roots, copy->merged_into))
				simhash_clusters_add(&roots, copy->cluster);
		}
	}
	return roots.ids[0];
}

/* What clusters of an open forest are now. */
static ClusterSet
find_all_current(Forest *forest, const ClusterSet *clusters)
{
	ClusterSet	result = {0};

	for (int i = 0; i < clusters->n; i++)
		simhash_clusters_add(&result, find_current(forest, clusters->ids[i]));
	return result;
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
	result = find_all_current(&forest, clusters);
	close_forest(&forest);
	return result;
}

/* What a cluster is now, by that snapshot. */
int64
simhash_clusters_current_of(const ClusterTerms *terms, int64 id,
							Snapshot snapshot)
{
	ClusterSet	one = {1, &id};

	return simhash_clusters_current(terms, &one, snapshot).ids[0];
}

/*
 * Is a root still one, uncommitted links included?  Otherwise *doubt says whether the
 * transaction that links it may be rolled back.
 */
static bool
is_root(Forest *forest, int64 id, bool *doubt)
{
	SnapshotData dirty;
	bool		linked;

	InitDirtySnapshot(dirty);
	linked = simhash_clusters_find_number(forest->relation, forest->key, &dirty, id,
										  forest->slot);
	*doubt = linked && TransactionIdIsValid(dirty.xmin);
	return !linked;
}

/* Add a row: that a cluster is, or is one with, a lesser one. */
static void
add_link(Forest *forest, int64 id, int64 into, bool copy)
{
	const AttrNumber *columns = forest->terms->columns;
	TupleTableSlot *slot =
	simhash_clusters_begin_row(forest->terms, forest->relation,
							   copy ? simhash_clusters_new(forest->terms, true) : id);

	if (copy)
		simhash_clusters_set(slot, columns[CLUSTER_COPY_OF], Int64GetDatum(id));
	simhash_clusters_set(slot, columns[CLUSTER_MERGED_INTO],
						 Int64GetDatum(into));
	simhash_clusters_set(slot, columns[CLUSTER_MERGED_AT],
						 TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()));
	simhash_clusters_insert(forest->relation, slot);
	ExecDropSingleTupleTableSlot(slot);
}

/* Replace copies by links, unless their transaction may still be rolled back. */
static void
resolve_copies(Forest *forest)
{
	ListCell   *lc;

	foreach(lc, forest->copies)
	{
		Link	   *copy = lfirst(lc);
		int64		one = copy->cluster;
		int64		other = copy->merged_into;
		bool		doubt;

		if (one != other && !is_root(forest, Max(one, other), &doubt))
			continue;
		if (one != other)
			add_link(forest, Max(one, other), Min(one, other), false);
		simhash_clusters_delete(forest->relation, &copy->tid);
	}
}

/*
 * Link clusters to the oldest of them.  Our lock keeps others from adding links
 * meanwhile; false if the snapshot is older than a link that they have added before.
 */
static bool
try_merge(Forest *forest, const ClusterSet *clusters)
{
	ClusterSet	current = find_all_current(forest, clusters);

	for (int i = 1; i < current.n; i++)
	{
		bool		doubt;

		if (!is_root(forest, current.ids[i], &doubt) && !doubt)
			return false;
		add_link(forest, current.ids[i], current.ids[0], doubt);
	}
	return true;
}

/*
 * Make one cluster of several, while nobody else adds links; we begin again, with a
 * newer snapshot, as long as ours is older than a link.  Copies that have become too
 * many are replaced by links; given no clusters, all whose transaction has ended.
 */
void
simhash_clusters_merge(const ClusterTerms *terms, const ClusterSet *clusters)
{
	LOCKTAG		tag = simhash_near_lock_tag(terms->clusters, 0);
	bool		done = clusters->n == 1;

	(void) LockAcquire(&tag, ExclusiveLock, false, false);
	while (!done)
	{
		Forest		forest;

		/* Links that our command has added are to be seen. */
		CommandCounterIncrement();
		forest = open_forest(terms, GetLatestSnapshot());
		done = try_merge(&forest, clusters);
		if (done && (clusters->n == 0 || list_length(forest.copies) > COPIES_MAX))
			resolve_copies(&forest);
		close_forest(&forest);
	}
	LockRelease(&tag, ExclusiveLock, false);
}

/*
 * simhash_current_cluster(relation regclass, cluster bigint,
 *		"column" name DEFAULT 'cluster') -> bigint
 *
 * What a cluster of a table, kept by simhash_add_clusters(), is now: the id that
 * it was merged into, or its own.
 *
 * Errors: undefined_table; object_not_in_prerequisite_state where no clusters
 * are kept in that column; insufficient_privilege without the right to read the column.
 */
Datum
simhash_current_cluster(PG_FUNCTION_ARGS)
{
	Oid			table = PG_GETARG_OID(0);
	int64		id = PG_GETARG_INT64(1);
	char	   *column = NameStr(*PG_GETARG_NAME(2));
	Relation	relation = try_relation_open(table, AccessShareLock);
	ClusterTerms *terms;

	if (relation == NULL)
		simhash_complain_of_missing(table);
	terms = simhash_clusters_find(relation, column);
	if (terms == NULL)
		simhash_clusters_complain_of_none(relation, column);
	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck(table, get_attnum(table, column), GetUserId(),
							  ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(relation->rd_rel->relkind),
					   RelationGetRelationName(relation));
	if (!terms->star)
	{
		simhash_clusters_check_table(terms);
		id = simhash_clusters_current_of(terms, id, GetActiveSnapshot());
	}
	relation_close(relation, AccessShareLock);
	PG_RETURN_INT64(id);
}
