/*-------------------------------------------------------------------------
 *
 * hamming_parallel.c
 *		Building a hamming index by several processes at the same time.
 *
 * The leader is the session that builds the index.  It starts workers, by the
 * server's own means for parallel work, and takes part itself.  There are two
 * steps, and what is written is what one process would have written:
 *
 *	1. Each process reads what a parallel scan of the table hands out to it,
 *	   and leaves the entries as sorted runs in files that all can read.
 *	2. The leader divides the entries of all runs into ranges.  Each process
 *	   takes the next range that nobody has taken, merges the runs there, and
 *	   writes leaf pages.  The leader then makes the inner pages.
 *
 * Where a range begins is a matter of the entries, where a leaf page begins one
 * of their number.  Who has a range writes the pages that begin in it: skips
 * the entries at its start that belong to the last page before, and goes on
 * beyond its end until its own last page is full.  With 366 entries to a page:
 *
 *		range		its entries		its pages	the entries of these
 *		first		0 .. 999		0, 1, 2		0 .. 1097
 *		second		1000 .. 2089	3, 4, 5		1098 .. 2195
 *
 * The steps and what is shared follow the build of a btree (nbtsort.c).  There
 * the leader merges and loads alone.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

#include "index/hamming.h"
#include "index/hamming_build.h"

/*
 * Ranges that the entries are divided into.  The more there are, the sooner
 * all processes end after the first; each costs a search in every run.
 */
#define HAMMING_RANGES		64

/* What is in the shared memory. */
enum
{
	KEY_SHARED = 1,
	KEY_SCAN,
	KEY_QUERY,
	KEY_WAL_USAGE,
	KEY_BUFFER_USAGE
};

/* A range of entries. */
typedef struct HammingRange
{
	HammingEntry first;
	int64		number;			/* entries that come before it */
} HammingRange;

/* What leader and workers share. */
typedef struct HammingShared
{
	/* stays */
	Oid			heap;
	Oid			index;
	bool		concurrent;
	int			kilobytes;		/* that each process may sort in */
	SharedFileSet files;

	/* moves, under the mutex: step 1 */
	slock_t		mutex;
	ConditionVariable changed;
	int			scanned;		/* processes that are through with it */
	double		heap_tuples;
	HammingRead read;
	bool		broken_hot_chain;

	/* moves: step 2 */
	int			divided;		/* under the mutex: 1 if all below is set */
	HammingRange ranges[HAMMING_RANGES + 1];
	pg_atomic_uint32 next_range;
	pg_atomic_uint32 loaded;	/* leaf pages */
	int			parts;
} HammingShared;

/* What the leader keeps for itself. */
typedef struct HammingLeader
{
	ParallelContext *context;
	HammingShared *shared;
	ParallelTableScanDesc scan;
	Snapshot	snapshot;
	WalUsage   *wal_usage;
	BufferUsage *buffer_usage;
} HammingLeader;

/* --- both ---------------------------------------------------------------- */

/* Step 1: read a part of the table and leave its entries in sorted runs. */
static void
scan_part(HammingShared *shared, Relation heap, Relation index,
		  IndexInfo *info, ParallelTableScanDesc scan, int part,
		  HammingReadRows read_rows)
{
	HammingSort *sort = hamming_sort_begin_part(shared->kilobytes,
												&shared->files.fs, part);
	HammingRead read;
	TableScanDesc rows = simhash_table_beginscan_parallel(heap, scan);
	double		heap_tuples = read_rows(heap, index, info, sort, rows, &read);

	if (!IsParallelWorker())
		pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
									 HAMMING_PHASE_SORT);
	hamming_sort_end_part(sort);

	SpinLockAcquire(&shared->mutex);
	shared->scanned++;
	shared->heap_tuples += heap_tuples;
	shared->read.rows += read.rows;
	shared->read.entries += read.entries;
	shared->broken_hot_chain |= info->ii_BrokenHotChain;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->changed);
}

/* Wait until a number that is shared, under the mutex, is that great. */
static void
wait_for(HammingShared *shared, const int *number, int least)
{
	for (;;)
	{
		bool		reached;

		SpinLockAcquire(&shared->mutex);
		reached = *number >= least;
		SpinLockRelease(&shared->mutex);
		if (reached)
			break;
		ConditionVariableSleep(&shared->changed,
							   WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
	}
	ConditionVariableCancelSleep();
}

/* The name of the file with the pivots of a range. */
static const char *
pivots_name(int range)
{
	static char name[32];

	snprintf(name, sizeof(name), "pivots%d", range);
	return name;
}

/* Step 2: write the leaf pages of one range after the other. */
static void
load_ranges(HammingShared *shared, HammingLoad *load)
{
	HammingSort *sort = hamming_sort_open_parts(&shared->files.fs,
												shared->parts);
	uint32		range;

	while ((range = pg_atomic_fetch_add_u32(&shared->next_range, 1)) <
		   HAMMING_RANGES)
	{
		HammingRange *here = &shared->ranges[range];
		BufFile    *pivots = BufFileCreateFileSet(&shared->files.fs,
												  pivots_name(range));

		hamming_load_share(load, pivots, &shared->loaded);
		hamming_load_leaves(load, sort,
							hamming_sort_seek(sort, &here->first),
							hamming_load_leaf(load, here[0].number),
							hamming_load_leaf(load, here[1].number));
		BufFileExportFileSet(pivots);
		BufFileClose(pivots);
	}
	hamming_sort_end(sort);
}

/* --- the leader ---------------------------------------------------------- */

/* Ask for the shared memory; returns how long the query is, with its end. */
static Size
estimate(HammingLeader *leader, Relation heap)
{
	ParallelContext *context = leader->context;
	shm_toc_estimator *estimator = &context->estimator;
	Size		query = debug_query_string ? strlen(debug_query_string) + 1 : 0;

	shm_toc_estimate_chunk(estimator, sizeof(HammingShared));
	shm_toc_estimate_chunk(estimator,
						   table_parallelscan_estimate(heap,
													   leader->snapshot));
	shm_toc_estimate_chunk(estimator,
						   mul_size(sizeof(WalUsage), context->nworkers));
	shm_toc_estimate_chunk(estimator,
						   mul_size(sizeof(BufferUsage), context->nworkers));
	shm_toc_estimate_chunk(estimator, query);
	shm_toc_estimate_keys(estimator, 5);
	return query;
}

/* Place for something in the shared memory. */
static void *
place(HammingLeader *leader, int key, Size size)
{
	void	   *result = shm_toc_allocate(leader->context->toc, size);

	shm_toc_insert(leader->context->toc, key, result);
	return result;
}

/* Fill the shared memory. */
static void
fill_shared(HammingLeader *leader, Relation heap, Relation index,
			IndexInfo *info, Size query)
{
	ParallelContext *context = leader->context;
	HammingShared *shared = place(leader, KEY_SHARED, sizeof(HammingShared));

	memset(shared, 0, sizeof(HammingShared));
	shared->heap = RelationGetRelid(heap);
	shared->index = RelationGetRelid(index);
	shared->concurrent = info->ii_Concurrent;
	shared->kilobytes = maintenance_work_mem / (context->nworkers + 1);
	SpinLockInit(&shared->mutex);
	ConditionVariableInit(&shared->changed);
	pg_atomic_init_u32(&shared->next_range, 0);
	pg_atomic_init_u32(&shared->loaded, 0);
	SharedFileSetInit(&shared->files, context->seg);
	leader->shared = shared;

	leader->scan = place(leader, KEY_SCAN,
						 table_parallelscan_estimate(heap, leader->snapshot));
	table_parallelscan_initialize(heap, leader->scan, leader->snapshot);
	leader->wal_usage = place(leader, KEY_WAL_USAGE,
							  mul_size(sizeof(WalUsage), context->nworkers));
	leader->buffer_usage = place(leader, KEY_BUFFER_USAGE,
								 mul_size(sizeof(BufferUsage),
										  context->nworkers));
	if (query > 0)
		memcpy(place(leader, KEY_QUERY, query), debug_query_string, query);
}

/* Leave parallel mode. */
static void
end_parallel(HammingLeader *leader)
{
	if (IsMVCCSnapshot(leader->snapshot))
		UnregisterSnapshot(leader->snapshot);
	DestroyParallelContext(leader->context);
	ExitParallelMode();
}

/* Start workers; false, and nothing remains, if there are none to be had. */
static bool
begin_parallel(HammingLeader *leader, Relation heap, Relation index,
			   IndexInfo *info, int workers)
{
	Size		query;

	EnterParallelMode();
	leader->context = CreateParallelContext("$libdir/simhash",
											"simhash_hamming_build_worker",
											workers);

	/* As in a serial build, see heapam_index_build_range_scan(). */
	leader->snapshot = info->ii_Concurrent ?
		RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
	query = estimate(leader, heap);
	InitializeParallelDSM(leader->context);
	if (leader->context->seg == NULL)
	{
		end_parallel(leader);
		return false;
	}

	fill_shared(leader, heap, index, info, query);
	LaunchParallelWorkers(leader->context);
	if (leader->context->nworkers_launched == 0)
	{
		WaitForParallelWorkersToFinish(leader->context);
		end_parallel(leader);
		return false;
	}
	return true;
}

/* Say where each range begins. */
static void
divide(HammingShared *shared, int64 entries)
{
	HammingSort *sort = hamming_sort_open_parts(&shared->files.fs,
												shared->parts);
	HammingEntry first[HAMMING_RANGES];

	if (entries > 0)
	{
		hamming_sort_divide(sort, HAMMING_RANGES, first);
		for (int i = 0; i < HAMMING_RANGES; i++)
		{
			shared->ranges[i].first = first[i];
			shared->ranges[i].number = hamming_sort_seek(sort, &first[i]);
		}
	}
	shared->ranges[HAMMING_RANGES].number = entries;
	hamming_sort_end(sort);
}

/* Have the entries divided and loaded, and make the inner pages. */
static void
load_index(HammingLeader *leader, Relation index)
{
	HammingShared *shared = leader->shared;
	HammingLoad *load;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) shared->read.rows);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_LOAD);
	load = hamming_load_begin(index, &shared->read);
	hamming_load_reserve(load);
	shared->parts = shared->scanned;
	divide(shared, shared->read.entries);
	SpinLockAcquire(&shared->mutex);
	shared->divided = 1;
	SpinLockRelease(&shared->mutex);
	ConditionVariableBroadcast(&shared->changed);

	load_ranges(shared, load);
	WaitForParallelWorkersToFinish(leader->context);

	for (int i = 0; i < HAMMING_RANGES; i++)
	{
		BufFile    *pivots = BufFileOpenFileSet(&shared->files.fs,
												pivots_name(i), O_RDONLY,
												false);

		hamming_load_pivots(load, pivots);
		BufFileClose(pivots);
	}
	hamming_load_end(load);
}

/*
 * Build an index together with so many workers, or fewer.  Returns false, and
 * nothing is done, if there are none to be had.
 */
bool
hamming_parallel_build(Relation heap, Relation index, IndexInfo *info,
					   int workers, HammingReadRows read_rows,
					   IndexBuildResult *result)
{
	HammingLeader leader;
	int			launched;

	if (!begin_parallel(&leader, heap, index, info, workers))
		return false;
	launched = leader.context->nworkers_launched;
	scan_part(leader.shared, heap, index, info, leader.scan, 0, read_rows);

	/* A worker that failed to start is an error here, not a wait for ever. */
	WaitForParallelWorkersToAttach(leader.context);
	wait_for(leader.shared, &leader.shared->scanned, launched + 1);
	load_index(&leader, index);

	result->heap_tuples = leader.shared->heap_tuples;
	result->index_tuples = leader.shared->read.rows;
	info->ii_BrokenHotChain = leader.shared->broken_hot_chain;
	for (int i = 0; i < launched; i++)
		InstrAccumParallelQuery(&leader.buffer_usage[i], &leader.wal_usage[i]);
	end_parallel(&leader);
	return true;
}

/* --- a worker ------------------------------------------------------------ */

/*
 * What a worker does, from beginning to end.  It opens the relations with the
 * locks that the leader is known to have.
 */
void
hamming_parallel_work(dsm_segment *seg, shm_toc *toc,
					  HammingReadRows read_rows)
{
	HammingShared *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	BufferUsage *buffer_usage = shm_toc_lookup(toc, KEY_BUFFER_USAGE, false);
	WalUsage   *wal_usage = shm_toc_lookup(toc, KEY_WAL_USAGE, false);
	LOCKMODE	heap_lock = shared->concurrent ? ShareUpdateExclusiveLock :
	ShareLock;
	LOCKMODE	index_lock = shared->concurrent ? RowExclusiveLock :
	AccessExclusiveLock;
	Relation	heap;
	Relation	index;
	IndexInfo  *info;

	debug_query_string = shm_toc_lookup(toc, KEY_QUERY, true);
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	heap = table_open(shared->heap, heap_lock);
	index = index_open(shared->index, index_lock);
	info = BuildIndexInfo(index);
	info->ii_Concurrent = shared->concurrent;
	SharedFileSetAttach(&shared->files, seg);
	InstrStartParallelQuery();

	scan_part(shared, heap, index, info, shm_toc_lookup(toc, KEY_SCAN, false),
			  ParallelWorkerNumber + 1, read_rows);
	wait_for(shared, &shared->divided, 1);
	load_ranges(shared, hamming_load_begin(index, &shared->read));

	InstrEndParallelQuery(&buffer_usage[ParallelWorkerNumber],
						  &wal_usage[ParallelWorkerNumber]);
	index_close(index, index_lock);
	table_close(heap, heap_lock);
}
