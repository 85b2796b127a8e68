/*-------------------------------------------------------------------------
 *
 * pair_workers.c
 *		Search for pairs with the help of parallel workers.
 *
 * The engine in core/ lets several processes share a search: each sorts all
 * values by itself, and the keys of each block are handed out in parts.  So
 * helpers need to see the rows, and memory of their own for sorting:
 *
 *	- If helpers are worth it, the rows are put into a segment of shared memory
 *	  once they have been read, and what the engine works in as well.
 *	- Workers start when the search does, and nothing but that happens in
 *	  parallel mode: no code of a query or a type.  Each copies the values that
 *	  we are going to sort, and we wait until all have.
 *	- A worker sends the pairs it finds through a queue.  We empty the queues
 *	  whenever the engine says how far it is, and at last until all are done.
 *
 * How many helpers there are is up to max_parallel_workers_per_gather, whether
 * maintenance_work_mem has room for the memory of each, and what workers are
 * left.  With none we search alone; also where the shared memory cannot be had,
 * as in a container that has little, and in parallel mode.  Cancels, errors and
 * the end of a worker are treated as in a parallel query.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/dsm.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

/*
 * parallel_setup_cost in nanoseconds: by default helpers are not worth it for a
 * search of less than a tenth of a second.
 */
#define SETUP_COST		(parallel_setup_cost * 1e5)

#define QUEUE_BYTES		((Size) 256 * 1024)
#define BATCH			512		/* pairs to send together */
#define STEPS			(2 * (SH_PAIRS_RADIUS + 1)) /* of a search */

#define KEY_SHARED		1
#define KEY_QUEUES		2

/* What all processes of a search see, besides the rows. */
typedef struct SharedSearch
{
	dsm_handle	rows;			/* the segment */
	ShPairs		state;			/* the leader's, when the search begins */
	int			radius;
	uint32		alone;			/* see sh_pairs_find_beside */
	pg_atomic_uint32 ready;		/* helpers that have copied the values */
	ConditionVariable more_ready;
	pg_atomic_uint32 parts[STEPS];	/* handed out */
} SharedSearch;

/* A pair that is sent. */
typedef struct SentPair
{
	uint32		a;
	uint32		b;
	int32		distance;
} SentPair;

/* A search, as the leader sees it. */
typedef struct Leader
{
	ShPairSink	sink;
	void	   *context;
	int			queues;			/* 0 until helpers have been launched */
	shm_mq_handle **queue;		/* NULL once the sender is done */
} Leader;

/* A search, as a helper sees it. */
typedef struct Helper
{
	shm_mq_handle *queue;
	int			waiting;
	SentPair	pair[BATCH];
} Helper;

extern PGDLLEXPORT void simhash_help(dsm_segment *toc_segment, shm_toc *toc);

/* --- memory --------------------------------------------------------------- */

/* The segment: fingerprints, what the engine works in, groups. */
static Size
segment_bytes(uint32 n, bool grouped)
{
	return n * sizeof(uint64) + sh_pairs_bytes(n) +
		(grouped ? n * sizeof(uint32) : 0);
}

/*
 * How many helpers are worth it, and have room?  Fingerprints of several words
 * are searched word by word, with helpers for each.
 */
static int
helpers_wanted(const SimhashRows *rows, int radius)
{
	int64		room = (int64) maintenance_work_mem * 1024 -
	simhash_needed_memory(rows) - (int64) rows->n *
	(sizeof(uint64) + sizeof(uint32));	/* twice, while they are moved */
	int64		each = (int64) sh_pairs_helper_bytes(rows->n);

	radius /= rows->words;
	if (IsInParallelMode() || !IsUnderPostmaster || radius == 0 ||
		sh_pairs_cost(rows->n, radius) <= SETUP_COST || room < each)
		return 0;
	return (int) Min(max_parallel_workers_per_gather, room / each);
}

/*
 * Make a segment of shared memory; NULL when there is not so much.  That is
 * told by an error, after which a subtransaction cleans up.
 */
static dsm_segment *
make_segment(Size bytes)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	dsm_segment *volatile segment = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		segment = dsm_create(bytes, DSM_CREATE_NULL_IF_MAXSEGMENTS);
		if (segment != NULL)
			dsm_pin_mapping(segment);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (error->sqlerrcode != ERRCODE_OUT_OF_MEMORY &&
			error->sqlerrcode != ERRCODE_DISK_FULL)
			ReThrowError(error);
		FreeErrorData(error);
		segment = NULL;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (segment != NULL)
		dsm_unpin_mapping(segment);
	return segment;
}

/* Move some numbers to where there is room for them. */
static void *
move_to(void *room, void *numbers, Size bytes)
{
	memcpy(room, numbers, bytes);
	pfree(numbers);
	return room;
}

/*
 * Allocate what the search needs besides the rows that have been read: shared
 * with helpers if these are worth it, and then fingerprints of one word and
 * groups are moved there.  Where fingerprints have several words, helpers see
 * only the values that are searched, of one word at a time.
 */
void
simhash_allocate_search(SimhashRows *rows, int radius)
{
	uint32		n = rows->n;
	bool		wide = rows->words > 1;
	bool		grouped = rows->groups != NULL && !wide;

	rows->parent = MemoryContextAllocHuge(rows->context,
										  sizeof(uint32) * (n + 1));
	if (wide)
		rows->wide_memory = MemoryContextAllocHuge(rows->context,
												   sh_wide_bytes(n));
	rows->helpers = helpers_wanted(rows, radius);
	if (rows->helpers > 0)
		rows->segment = make_segment(segment_bytes(n, grouped));
	if (rows->segment == NULL)
	{
		rows->memory = MemoryContextAllocHuge(rows->context,
											  sh_pairs_bytes(n));
		rows->values = !wide ? rows->fingerprints
			: MemoryContextAllocHuge(rows->context,
									 sizeof(uint64) * (n + 1));
		return;
	}
	rows->values = dsm_segment_address(rows->segment);
	rows->memory = rows->values + n;
	if (!wide)
		rows->fingerprints = move_to(rows->values, rows->fingerprints,
									 n * sizeof(uint64));
	if (grouped)
		rows->groups = move_to((char *) rows->memory + sh_pairs_bytes(n),
							   rows->groups, n * sizeof(uint32));
}

/* The rows are no longer needed. */
void
simhash_free_rows(SimhashRows *rows)
{
	if (rows->segment != NULL)
		dsm_detach(rows->segment);
	MemoryContextDelete(rows->context);
}

/* ShPairs.next_part */
static uint32
take_part(void *context, int step)
{
	SharedSearch *shared = context;

	Assert(step < STEPS);
	return pg_atomic_fetch_add_u32(&shared->parts[step], 1);
}

/* --- a helper ------------------------------------------------------------- */

/* Send the pairs that wait. */
static void
send_waiting(Helper *helper)
{
	/* If the leader is gone, it will tell us to stop as well. */
	(void) shm_mq_send(helper->queue, sizeof(SentPair) * helper->waiting,
					   helper->pair, false, true);
	helper->waiting = 0;
}

/* ShPairSink */
static void
send_pair(void *context, uint32_t a, uint32_t b, int distance)
{
	Helper	   *helper = context;
	SentPair   *pair = &helper->pair[helper->waiting++];

	pair->a = a;
	pair->b = b;
	pair->distance = distance;
	if (helper->waiting == BATCH)
		send_waiting(helper);
}

/* ShPairs.progress */
static void
heed_interrupts(void *context pg_attribute_unused(),
				double done pg_attribute_unused())
{
	CHECK_FOR_INTERRUPTS();
}

/* What a parallel worker does. */
void
simhash_help(dsm_segment *toc_segment, shm_toc *toc)
{
	SharedSearch *shared = shm_toc_lookup(toc, KEY_SHARED, false);
	shm_mq	   *queue = (shm_mq *) ((char *) shm_toc_lookup(toc, KEY_QUEUES,
															false) +
									QUEUE_BYTES * ParallelWorkerNumber);
	uint32		n = shared->state.n;
	Helper	   *helper = palloc(sizeof *helper);
	dsm_segment *segment;
	uint64	   *values;
	ShPairs		pairs;

	helper->waiting = 0;
	shm_mq_set_sender(queue, MyProc);
	helper->queue = shm_mq_attach(queue, toc_segment, NULL);
	segment = dsm_attach(shared->rows);
	if (segment == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not map dynamic shared memory segment")));
	values = dsm_segment_address(segment);
	sh_pairs_help(&pairs, &shared->state, values,
				  values + (shared->state.work - shared->state.values),
				  MemoryContextAllocHuge(CurrentMemoryContext,
										 sh_pairs_helper_bytes(n)));
	if (shared->state.groups != NULL)
		pairs.groups = (uint32 *) values +
			(shared->state.groups - (uint32 *) shared->state.values);
	pairs.next_part = take_part;
	pairs.part_context = shared;
	pairs.progress = heed_interrupts;
	pg_atomic_fetch_add_u32(&shared->ready, 1);
	ConditionVariableBroadcast(&shared->more_ready);
	sh_pairs_find_beside(&pairs, shared->radius, shared->alone, send_pair,
						 helper);
	send_waiting(helper);
	shm_mq_detach(helper->queue);
	dsm_detach(segment);
}

/* --- the leader ----------------------------------------------------------- */

/* Take the pairs that have been sent; false if there were none. */
static bool
take_sent(Leader *leader)
{
	bool		any = false;

	for (int i = 0; i < leader->queues; i++)
	{
		while (leader->queue[i] != NULL)
		{
			Size		bytes;
			void	   *data;
			const SentPair *pair;
			shm_mq_result result = shm_mq_receive(leader->queue[i], &bytes,
												  &data, true);

			if (result == SHM_MQ_WOULD_BLOCK)
				break;
			any = true;
			if (result == SHM_MQ_DETACHED)
				leader->queue[i] = NULL;
			else
			{
				CHECK_FOR_INTERRUPTS();
				pair = data;
				for (; bytes > 0; bytes -= sizeof *pair, pair++)
					leader->sink(leader->context, pair->a, pair->b,
								 pair->distance);
			}
		}
	}
	return any;
}

/* Are helpers still searching? */
static bool
is_waiting(const Leader *leader)
{
	for (int i = 0; i < leader->queues; i++)
	{
		if (leader->queue[i] != NULL)
			return true;
	}
	return false;
}

/* ShPairs.progress */
static void
lead(void *context, double done)
{
	simhash_progress_done(NULL, done);
	take_sent(context);
}

/* Describe the search to the helpers to come. */
static SharedSearch *
share_search(ParallelContext *parallel, const SimhashRows *rows,
			 const ShPairs *pairs, int radius, uint32 alone)
{
	SharedSearch *shared = shm_toc_allocate(parallel->toc, sizeof *shared);
	char	   *queues = shm_toc_allocate(parallel->toc, QUEUE_BYTES *
										  parallel->nworkers);

	shared->rows = dsm_segment_handle(rows->segment);
	shared->state = *pairs;
	shared->radius = radius;
	shared->alone = alone;
	pg_atomic_init_u32(&shared->ready, 0);
	ConditionVariableInit(&shared->more_ready);
	for (int i = 0; i < STEPS; i++)
		pg_atomic_init_u32(&shared->parts[i], 0);
	for (int i = 0; i < parallel->nworkers; i++)
		shm_mq_set_receiver(shm_mq_create(queues + QUEUE_BYTES * i,
										  QUEUE_BYTES), MyProc);
	shm_toc_insert(parallel->toc, KEY_SHARED, shared);
	shm_toc_insert(parallel->toc, KEY_QUEUES, queues);
	return shared;
}

/* Launch helpers, and wait until they have copied the values. */
static void
launch(Leader *leader, ParallelContext *parallel, SharedSearch *shared)
{
	char	   *queues = shm_toc_lookup(parallel->toc, KEY_QUEUES, false);

	LaunchParallelWorkers(parallel);
	leader->queue = palloc(sizeof *leader->queue * (parallel->nworkers + 1));
	for (int i = 0; i < parallel->nworkers_launched; i++)
		leader->queue[i] = shm_mq_attach((shm_mq *) (queues + QUEUE_BYTES * i),
										 parallel->seg,
										 parallel->worker[i].bgwhandle);
	leader->queues = parallel->nworkers_launched;
	WaitForParallelWorkersToAttach(parallel);
	ConditionVariablePrepareToSleep(&shared->more_ready);
	while (pg_atomic_read_u32(&shared->ready) < (uint32) leader->queues)
		ConditionVariableSleep(&shared->more_ready, PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
}

/* Search with helpers, as far as these can be had. */
static void
search_together(SimhashRows *rows, ShPairs *pairs, int radius, uint32 alone,
				Leader *leader)
{
	ParallelContext *parallel;
	SharedSearch *shared;

	EnterParallelMode();
	parallel = CreateParallelContext("$libdir/simhash", "simhash_help",
									 rows->helpers);
	shm_toc_estimate_chunk(&parallel->estimator, sizeof *shared);
	shm_toc_estimate_chunk(&parallel->estimator,
						   mul_size(QUEUE_BYTES, rows->helpers));
	shm_toc_estimate_keys(&parallel->estimator, 2);
	InitializeParallelDSM(parallel);
	if (parallel->seg != NULL && parallel->nworkers > 0)
	{
		shared = share_search(parallel, rows, pairs, radius, alone);
		launch(leader, parallel, shared);
		if (leader->queues > 0)
		{
			pairs->next_part = take_part;
			pairs->part_context = shared;
		}
	}
	sh_pairs_find_beside(pairs, radius, alone, leader->sink, leader->context);
	while (is_waiting(leader))
	{
		if (take_sent(leader))
			continue;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	pairs->next_part = NULL;
	WaitForParallelWorkersToFinish(parallel);
	DestroyParallelContext(parallel);
	ExitParallelMode();
}

/*
 * Find the pairs of the values in "work", but none of two that come after the
 * first "alone" of them, as sh_pairs_find_beside does.
 */
void
simhash_search(SimhashRows *rows, ShPairs *pairs, int radius, uint32 alone,
			   ShPairSink sink, void *context)
{
	Leader		leader = {sink, context, 0, NULL};

	pairs->progress = lead;
	pairs->progress_context = &leader;
	if (rows->segment != NULL)
		search_together(rows, pairs, radius, alone, &leader);
	else
		sh_pairs_find_beside(pairs, radius, alone, sink, context);
	pairs->progress = simhash_progress_done;
	pairs->progress_context = NULL;
}
