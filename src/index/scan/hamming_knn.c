/*-------------------------------------------------------------------------
 *
 * hamming_knn.c
 *		ORDER BY fingerprint <~> query: rows in order of distance, exactly.
 *
 * Probing comes first.  Each step passes through the next shell of one block,
 * the cheapest one (entries.c).  Its matches are kept by distance.  After as
 * many steps as k + 1, all rows within k have been found, and those at distance
 * k are handed out.  For example:
 *
 *		step	block, shell	found at distances		handed out
 *		1		0, 0			5						all at 0: none
 *		2		1, 0			1						all at 1: one
 *		3		2, 0			2, 6					all at 2: one
 *
 * These distances lack the two lost bits, so they are lower bounds, and the
 * executor puts rows into their final order.
 *
 * A step of a large index takes long, and those who want ten rows often need
 * no more than to hear that the eleventh is not nearer.  So before such a step
 * some rows are handed out early that have been found already at distances
 * beyond: all at the next one, as nearly all of those have been met, or else
 * one from farther on.  They are said to be at the next distance, a lower
 * bound of every row that is still to come.
 *
 * Steps meet rows at all distances, most of them far away: among 100 million
 * random ones they have met half a million within 26 when the ten nearest are
 * known, which are within 12.  So only the nearest are kept.  When there are
 * more than HAMMING_NEAREST, the farthest distance that is kept is forgotten and
 * no longer kept, and so on.  When all that was kept has been handed out and
 * still more rows are wanted, the shells passed so far are read once more, and
 * from then on as many rows are kept as memory is allowed for.
 *
 * When the steps together would cost more than to read all entries of a block,
 * or memory does not hold what is at the next distance, full passes take over.
 * A full pass reads all entries of block 0, and keeps the nearest rows of those
 * that are not handed out yet in the same way.  If not even one distance fits,
 * the next pass hands out the rows at that distance as it meets them.  So a
 * scan to the last row takes a few passes and bounded memory.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "index/scan/hamming_scan.h"

/* A row that waits for its turn. */
typedef struct NearRow
{
	ItemPointerData tid;
	bool		recheck;
} NearRow;

/* The rows at one distance. */
typedef struct NearLevel
{
	NearRow    *rows;
	int			count;
	int			room;
} NearLevel;

/*
 * Limits of the work done.
 *
 * HAMMING_EARLY		rows that are handed out early.
 * HAMMING_EARLY_COST	of the next step, in comparisons, from which that pays.
 */
#define HAMMING_EARLY		512
#define HAMMING_EARLY_COST	10000.0

typedef enum NearPhase
{
	NEAR_PROBE,					/* going from shell to shell */
	NEAR_PASS,					/* keeping the nearest of all entries */
	NEAR_STREAM					/* handing out a distance as it comes */
} NearPhase;

typedef struct HammingNearest
{
	/* stays */
	MemoryContext context;
	int			farthest;		/* no row beyond this can match */

	/* moves */
	NearPhase	phase;
	int			reached;		/* all rows up to this distance are kept, */
	int			handed;			/* and handed out up to here, */
	int			handed_rows;	/* with so many of the next distance */
	int64		kept;
	int64		limit;			/* of rows kept beyond the next distance */
	int			done[SH_WORD_BLOCKS];	/* shells passed, by block */
	int			asked;			/* reached when rows went out early last */
	int			nearly;
	ItemPointerData early[HAMMING_EARLY];	/* those rows, in order */
	NearLevel	levels[SH_BITS + 1];
} HammingNearest;

/* Forget a search. */
void
hamming_nearest_reset(HammingScan *so)
{
	if (so->nearest != NULL)
		MemoryContextDelete(so->nearest->context);
	so->nearest = NULL;
}

/*
 * The distance that probing reaches before it would cost more than to read all
 * entries of a block.
 */
static int
probing_reach(HammingScan *so)
{
	double		budget = sh_pass_cost(&so->plan.extent);
	int			done[SH_WORD_BLOCKS];
	int			reach = -1;
	int			block;

	memset(done, -1, sizeof(done));
	while ((block = sh_next_block(&so->plan.extent, done)) >= 0 &&
		   reach < so->layout->kept)
	{
		budget -= sh_shell_cost(&so->plan.extent, block, done[block] + 1);
		if (budget < 0)
			break;
		done[block]++;
		reach++;
	}
	return reach;
}

/* Begin a search. */
static HammingNearest *
nearest_begin(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	MemoryContext context =
	AllocSetContextCreate(GetMemoryChunkContext(so), "hamming nearest",
						  ALLOCSET_DEFAULT_SIZES);
	HammingNearest *knn = (HammingNearest *)
	MemoryContextAllocZero(context, sizeof(HammingNearest));

	knn->context = context;
	knn->farthest = hamming_farthest(so);
	knn->phase = NEAR_PROBE;
	knn->reached = knn->handed = knn->asked = -1;
	knn->limit = HAMMING_NEAREST;

	memset(knn->done, -1, sizeof(knn->done));
	hamming_plan_begin(scan, &so->plan, 0, &so->asked.order_center);
	hamming_plan_survey(scan, &so->plan, true);
	so->min_distance = 0;
	so->max_distance = Min(knn->farthest, probing_reach(so));
	so->matches.keep_pin = false;
	so->nearest = knn;
	return knn;
}

/* Forget the rows beyond a distance. */
static void
forget_beyond(HammingNearest *knn, int distance)
{
	for (int d = distance + 1; d <= SH_BITS; d++)
	{
		NearLevel  *level = &knn->levels[d];

		knn->kept -= level->count;
		if (level->rows != NULL)
			pfree(level->rows);
		memset(level, 0, sizeof(NearLevel));
	}
}

/* Keep no more rows than allowed, but all up to the distance "least". */
static void
forget_farthest(HammingScan *so, int least)
{
	HammingNearest *knn = so->nearest;

	while (knn->kept > knn->limit && so->max_distance > least)
		forget_beyond(knn, --so->max_distance);
}

/* The order of rows in the table, for bsearch(). */
static int
compare_tids(const void *a, const void *b)
{
	return ItemPointerCompare((ItemPointer) a, (ItemPointer) b);
}

/* Note that a row is handed out early. */
static void
note_early(HammingNearest *knn, ItemPointer tid)
{
	int			i = knn->nearly++;

	for (; i > 0 && compare_tids(tid, &knn->early[i - 1]) < 0; i--)
		knn->early[i] = knn->early[i - 1];
	knn->early[i] = *tid;
}

/* Drop the matches that were handed out early and are met once more. */
static void
drop_early(HammingScan *so)
{
	HammingNearest *knn = so->nearest;
	HammingMatches *matches = &so->matches;
	int			left = 0;

	if (knn->nearly == 0)
		return;
	for (int i = 0; i < matches->count; i++)
	{
		if (bsearch(&matches->items[i].tid, knn->early, knn->nearly,
					sizeof(ItemPointerData), compare_tids) == NULL)
			matches->items[left++] = matches->items[i];
	}
	matches->count = left;
}

/* Keep the matches of a page. */
static void
keep_matches(HammingScan *so)
{
	HammingNearest *knn = so->nearest;

	drop_early(so);
	for (int i = 0; i < so->matches.count; i++)
	{
		HammingMatch *match = &so->matches.items[i];
		NearLevel  *level = &knn->levels[match->distance];

		if (level->count == level->room)
		{
			level->room = Max(level->room * 2, 16);
			level->rows = level->rows == NULL ?
				MemoryContextAlloc(knn->context,
								   level->room * sizeof(NearRow)) :
				repalloc_huge(level->rows, level->room * sizeof(NearRow));
		}
		level->rows[level->count].tid = match->tid;
		level->rows[level->count].recheck = match->recheck;
		level->count++;
		knn->kept++;
	}
	so->matches.count = 0;
}

/* More rows than this are not kept; what is allowed grows with the demand. */
static int64
memory_limit(void)
{
	return (int64) work_mem * 1024 / sizeof(NearRow);
}

/* Keep what is read by probing.  False if memory does not hold it. */
static bool
keep_probed(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *knn = so->nearest;

	while (hamming_read_page(scan))
	{
		keep_matches(so);
		forget_farthest(so, knn->reached + 1);
		if (knn->kept > memory_limit())
			return false;
	}
	return true;
}

/*
 * Read the shells passed so far once more, and keep as many rows as memory is
 * allowed for.  False if it is time for full passes: memory does not hold what
 * is needed, or all within probing_reach() has been handed out.
 */
static bool
probe_again(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *knn = so->nearest;
	int			reach = Min(knn->farthest, probing_reach(so));

	if (knn->limit >= memory_limit() || knn->reached >= reach)
		return false;
	knn->limit = memory_limit();
	so->min_distance = knn->reached + 1;
	so->max_distance = reach;
	hamming_plan_shells(&so->plan, knn->done);
	hamming_cursor_begin(&so->cursor, &so->plan);
	return keep_probed(scan);
}

/*
 * Pass through one more shell.  False if it is time for full passes.
 *
 * Note: matches farther than probing reaches are not kept, so full passes begin
 * with the distance beyond.
 */
static bool
probe_step(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *knn = so->nearest;
	ShReach		done[SH_WORD_BLOCKS];
	int			block;

	if (knn->reached >= so->max_distance && !probe_again(scan))
		return false;
	for (int i = 0; i < SH_WORD_BLOCKS; i++)
		done[i] = sh_shells(knn->done[i]);
	block = sh_next_block(&so->plan.extent, knn->done);
	hamming_plan_step(&so->plan, block, sh_shells(knn->done[block] + 1), done);
	hamming_cursor_begin(&so->cursor, &so->plan);
	if (!keep_probed(scan))
		return false;
	knn->done[block]++;
	knn->reached++;
	return true;
}

/*
 * Keep the nearest of the rows beyond what was reached.  If not even the
 * nearest distance fits into memory, go over to streaming it.
 */
static void
pass_step(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *knn = so->nearest;

	so->min_distance = knn->reached + 1;
	so->max_distance = knn->farthest;
	hamming_plan_all(&so->plan);
	hamming_cursor_begin(&so->cursor, &so->plan);
	while (hamming_read_page(scan))
	{
		keep_matches(so);
		forget_farthest(so, knn->reached);
	}
	knn->limit = Max(knn->limit, memory_limit());

	if (so->max_distance > knn->reached)
	{
		knn->reached = so->max_distance;
		return;
	}
	knn->phase = NEAR_STREAM;
	so->max_distance = so->min_distance;
	hamming_plan_all(&so->plan);
	hamming_cursor_begin(&so->cursor, &so->plan);
}

/* Hand out rows at the distance being streamed.  False at the end of them. */
static bool
stream_step(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *knn = so->nearest;

	while (so->matches.count < HAMMING_BATCH && hamming_read_page(scan))
		drop_early(so);
	if (so->matches.count > 0)
		return true;
	knn->reached = knn->handed = so->min_distance;
	knn->phase = NEAR_PASS;
	return false;
}

/* Hand out a row, as one at a distance. */
static void
hand_out_row(HammingScan *so, NearRow *row, int distance)
{
	HammingMatch *match = hamming_add_match(so, &row->tid);

	match->recheck = row->recheck;
	match->distance = distance;
}

/* Hand out rows that were kept.  False if there are none within reach. */
static bool
hand_out(HammingScan *so)
{
	HammingNearest *knn = so->nearest;

	while (knn->handed < knn->reached && so->matches.count < HAMMING_BATCH)
	{
		NearLevel  *level = &knn->levels[knn->handed + 1];

		if (knn->handed_rows == level->count)
		{
			knn->kept -= level->count;
			if (level->rows != NULL)
				pfree(level->rows);
			memset(level, 0, sizeof(NearLevel));
			knn->handed++;
			knn->handed_rows = 0;
			continue;
		}
		hand_out_row(so, &level->rows[knn->handed_rows++], knn->handed + 1);
	}
	return so->matches.count > 0;
}

/*
 * Hand out rows beyond what was reached, once before each step that takes
 * long.  False if there are none.
 */
static bool
hand_out_early(HammingScan *so)
{
	HammingNearest *knn = so->nearest;
	int			next = knn->reached + 1;
	int			block = sh_next_block(&so->plan.extent, knn->done);

	if (knn->asked == knn->reached || block < 0 ||
		sh_shell_cost(&so->plan.extent, block, knn->done[block] + 1) <
		HAMMING_EARLY_COST)
		return false;
	knn->asked = knn->reached;
	for (int d = next; d <= so->layout->kept && so->matches.count == 0; d++)
	{
		NearLevel  *level = &knn->levels[d];

		while (level->count > 0 && knn->nearly < HAMMING_EARLY)
		{
			NearRow    *row = &level->rows[--level->count];

			knn->kept--;
			note_early(knn, &row->tid);
			hand_out_row(so, row, next);
			if (d > next)
				break;
		}
	}
	return so->matches.count > 0;
}

/* Go over to full passes. */
static void
end_probing(HammingNearest *knn)
{
	knn->phase = NEAR_PASS;
	forget_beyond(knn, knn->reached);
}

/* Put the next matches, nearest first, into the scan, if there are any. */
void
hamming_nearest_fill(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *knn = so->nearest;

	if (knn == NULL)
		knn = nearest_begin(scan);
	while (!(knn->phase == NEAR_STREAM ? stream_step(scan) : hand_out(so)))
	{
		if (knn->reached >= knn->farthest ||
			(knn->phase == NEAR_PROBE && hand_out_early(so)))
			return;
		if (knn->phase == NEAR_PROBE && !probe_step(scan))
			end_probing(knn);
		if (knn->phase == NEAR_PASS)
			pass_step(scan);
	}
}
