/*-------------------------------------------------------------------------
 *
 * hamming_nearest.c
 *		ORDER BY distance: rows in order of distance, exactly.
 *
 * What is handed out with a row is a lower bound of its distance, as entries
 * lack some bits; the executor puts rows into their final order.
 *
 * Rounds
 *
 * A round is a search within k of all words (hamming_words.c), whose rows are
 * kept by distance.  The first finds what is near.  Of one word the second finds
 * what may be a near-duplicate still, and the third goes as far as a few rows
 * would be if all were random.  Any other costs twice as much as the one before
 * at least.
 *
 * A round ends by handing out a row from afar, of which an entry says that it is
 * not within reach: when the executor has that, it need not wait for the next
 * round to know that those at hand are the nearest.
 *
 * When a round would have to read all entries of a word, all entries of one block
 * of each word are read instead.
 *
 * What is kept
 *
 * Searches meet rows at all distances, most of them far away.  When more rows
 * are kept than the limit says, those at the farthest distance are forgotten,
 * and rows that far are no longer kept, and so on.  But all rows at one distance
 * are kept, even if these take more than work_mem: 8 bytes each.  The executor,
 * to which they are handed out next, queues whole rows.  When all that was kept
 * has been handed out, and more rows are wanted, we read once more, and keep as
 * many rows as work_mem allows for.
 *
 * Several words
 *
 * An entry knows the distance in one word only, which says little of the whole
 * one.  So what is found of a row in any word is summed up, by its TID, to a
 * lower bound of its distance.  Where a row was not found it differs in one bit
 * more at least than that word was searched within.  With four words searched
 * within 7:
 *
 *		found in words at distances		lower bound
 *		0: 5, 1: 6, 2: 4, 3: 7			22
 *		2: 3							3 + 3 * 8 = 27
 *		none							32, and so it is in the next round
 *
 * Each round searches each word as far as the one before, or farther.  So a row
 * that was handed out is known by its distance in some word, which is within
 * what that word was searched in the round before.
 *
 * If the sums of all rows do not fit into the memory of a hash table, they are
 * divided by a hash of the TID, and the index is read once for each part.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

#include "utils/memutils.h"

#include "index/build/hamming_sort.h"

/*
 * Limits of the work done.
 *
 * NEAR_LIMIT		rows that are kept of one word at first.
 * NEAR_EXPECTED	rows that a round of one word is to find, were all random.
 * NEAR_FIRST_SUMS	sums that there is room for to begin with.
 * NEAR_EARLY		rows from afar that are handed out.
 */
#define NEAR_LIMIT			8192
#define NEAR_EXPECTED		10
#define NEAR_FIRST_SUMS		1024
#define NEAR_EARLY			8

/* The rows at one distance: their TIDs. */
typedef struct NearLevel
{
	uint64	   *tids;
	int			count;
	int			room;
} NearLevel;

/* What is known of a row. */
typedef struct NearSum
{
	uint64		tid;
	int16		bound;			/* no less is its distance */
	bool		known;			/* it was handed out before */
	char		status;			/* of simplehash */
} NearSum;

#define SH_PREFIX			near_sums
#define SH_ELEMENT_TYPE		NearSum
#define SH_KEY_TYPE			uint64
#define SH_KEY				tid
#define SH_HASH_KEY(table, key)		hash_tid(key)
#define SH_EQUAL(table, a, b)		((a) == (b))
#define SH_SCOPE			static inline
#define SH_DECLARE
#define SH_DEFINE

static inline uint32
hash_tid(uint64 tid)
{
	return (uint32) (tid * SH_SCRAMBLE >> 32);
}

#include "lib/simplehash.h"

typedef struct HammingNearest
{
	/* stays */
	MemoryContext context;
	int			farthest;		/* no row beyond this can match */

	/* moves: what was handed out */
	int			reached;		/* all rows up to this distance, */
	int			met[SH_MAX_WORDS];	/* and those that in a word are within
									 * this; */
	int			handed;			/* rows up to this lower bound, when all
								 * entries are read */
	uint64		early[NEAR_EARLY];	/* these from afar */
	int			nearly;

	/* what is read now */
	bool		all;			/* all entries, rather than rounds */
	bool		early_next;		/* it is time for a row from afar */
	double		spent;			/* what the last round has cost */

	/* of several words */
	int			beyond[SH_MAX_WORDS];	/* least distance, where not found */
	int			part_bits;		/* rows whose hash begins with so many bits, */
	uint32		part;			/* these, are summed up */
	near_sums_hash *sums;

	/* what is kept, by lower bound */
	int			most;			/* rows beyond this are not */
	int			next;			/* lower bound to be handed out, */
	int			next_row;		/* and which of its rows */
	int64		kept;
	int64		limit;
	NearLevel	levels[SH_MOST_WIDTH + 1];
} HammingNearest;

/* The rows that may be kept by what memory is allowed for. */
static int64
memory_limit(void)
{
	return (int64) work_mem * 1024 / sizeof(uint64);
}

/* Begin. */
static HammingNearest *
begin_nearest(HammingScan *so)
{
	MemoryContext context =
	AllocSetContextCreate(GetMemoryChunkContext(so), "hamming nearest",
						  ALLOCSET_DEFAULT_SIZES);
	HammingNearest *near = (HammingNearest *)
	MemoryContextAllocZero(context, sizeof(HammingNearest));

	near->context = context;
	near->reached = near->handed = -1;
	memset(near->met, -1, sizeof(near->met));
	near->farthest = hamming_farthest(so);
	near->next = near->farthest + 1;
	near->limit = NEAR_LIMIT;
	if (so->layout->words > 1)
	{
		near->limit = memory_limit();
		near->sums = near_sums_create(context, NEAR_FIRST_SUMS, NULL);
	}
	return near;
}

/* Forget all. */
void
hamming_nearest_reset(HammingScan *so)
{
	MemoryContextDelete(so->nearest->context);
	so->nearest = NULL;
}

/* --- what is found -------------------------------------------------------- */

/* Was a row handed out as one from afar? */
static bool
was_early(const HammingNearest *near, uint64 tid)
{
	for (int i = 0; i < near->nearly; i++)
	{
		if (near->early[i] == tid)
			return true;
	}
	return false;
}

/* Forget the rows at a distance. */
static void
forget_level(HammingNearest *near, NearLevel *level)
{
	near->kept -= level->count;
	if (level->tids != NULL)
		pfree(level->tids);
	memset(level, 0, sizeof(NearLevel));
}

/*
 * Keep a row, unless it was handed out or is too far away.  One that was not
 * found in all words, as it is being inserted just now, may seem to be nearer
 * than what was handed out.
 */
static void
keep_near_row(HammingNearest *near, uint64 tid, int bound)
{
	NearLevel  *level;

	bound = Max(bound, near->reached + 1);
	if (bound > near->most || bound <= near->handed || was_early(near, tid))
		return;
	level = &near->levels[bound];
	if (level->count == level->room)
	{
		level->room = Max(level->room * 2, 16);
		level->tids = level->tids == NULL ?
			MemoryContextAlloc(near->context, level->room * sizeof(uint64)) :
			repalloc_huge(level->tids, level->room * sizeof(uint64));
	}
	level->tids[level->count++] = tid;
	near->kept++;
	while (near->kept - near->levels[near->most].count >= near->limit)
		forget_level(near, &near->levels[near->most--]);
}

/*
 * May so many rows more be summed up?  The table doubles when nine tenths of it
 * are in use.
 */
static bool
has_room(const HammingNearest *near, int rows)
{
	size_t		most = get_hash_memory_limit() / sizeof(NearSum);
	size_t		room = NEAR_FIRST_SUMS * 2;

	while (room * 2 <= most)
		room *= 2;
	return near->sums->members + rows < room * 0.9;
}

/*
 * Add the distance of a row in a word, if the row is one of the part.  The lower
 * bound of a row that is found in no word is "none".
 */
static inline void
add_distance(HammingNearest *near, int none, uint64 tid, int word, int distance)
{
	NearSum    *sum;
	bool		found;

	if ((uint64) hash_tid(tid) >> (32 - near->part_bits) != near->part)
		return;
	sum = near_sums_insert(near->sums, tid, &found);
	if (!found)
	{
		sum->bound = none;
		sum->known = false;
	}
	sum->bound += distance - near->beyond[word];
	sum->known |= distance <= near->met[word];
}

/* Take what was found on a page; false if there is not enough memory. */
static bool
take_matches(HammingScan *so, int none)
{
	HammingNearest *near = so->nearest;
	HammingMatches *matches = &so->matches;
	bool		one = so->layout->words == 1;
	bool		fits = one || has_room(near, matches->count);

	for (int i = 0; i < matches->count && fits; i++)
	{
		uint64		tid = hamming_pack_tid(&matches->items[i].tid);
		int			distance = matches->items[i].distance;

		if (!one)
			add_distance(near, none, tid, so->words->word, distance);
		else if (distance > near->met[0])
			keep_near_row(near, tid, distance);
	}
	matches->count = 0;
	if (one)
		so->max_distance = Min(so->max_distance, near->most);
	return fits;
}

/* Read what is planned, of a part; false if there is not enough memory. */
static bool
read_part(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	int			none = 0;

	for (int w = 0; w < so->layout->words; w++)
		none += so->nearest->beyond[w];
	if (so->layout->words > 1)
		near_sums_reset(so->nearest->sums);
	so->words->word = -1;
	while (hamming_read_words(scan))
	{
		if (!take_matches(so, none))
			return false;
	}
	return true;
}

/*
 * Read what is planned, part by part, and keep the rows.  False if these are not
 * all that is within reach, as they have to be in a round of several words.
 */
static bool
find_near_rows(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *near = so->nearest;

	near->most = near->farthest;
	near->next = 0;
	near->part_bits = 0;
	for (near->part = 0; near->part < UINT64CONST(1) << near->part_bits;
		 near->part++)
	{
		near_sums_iterator at;
		NearSum    *sum;

		while (!read_part(scan))
		{
			near->part_bits++;
			near->part *= 2;
		}
		if (near->sums == NULL)
			continue;
		near_sums_start_iterate(near->sums, &at);
		while ((sum = near_sums_iterate(near->sums, &at)) != NULL)
		{
			if (!sum->known)
				keep_near_row(near, sum->tid, sum->bound);
		}
	}
	return near->sums == NULL || near->most == near->farthest;
}

/* --- rounds -------------------------------------------------------------- */

/* How far the next round goes. */
static int
next_reach(HammingScan *so)
{
	const HammingNearest *near = so->nearest;
	int			first = hamming_row_entries(so->layout) - 1;
	int			k = near->reached;
	int			expected = so->layout->words > 1 || k < 0 ? 0 :
	hamming_random_radius(so->layout, so->rows / NEAR_EXPECTED);
	double		cost = 0;

	if (k < 0)
		k = first;
	else if (k < expected)
		k = k > first ? expected : Min(2 * first + 1, expected);
	else
		while (k < near->farthest && cost >= 0 && cost < 2 * near->spent)
		{
			k += so->layout->words;
			cost = hamming_words_cost(so, k);
		}
	return Min(k, near->farthest);
}

/* Plan the next round; false if it is time to read all entries. */
static bool
plan_round(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *near = so->nearest;

	near->spent = hamming_plan_words(scan, &so->asked.order_center,
									 next_reach(so), near->met);
	for (int w = 0; w < so->layout->words; w++)
		near->beyond[w] = so->words->plans[w].k + 1;
	return near->spent >= 0;
}

/* Plan to read all entries of one block of each word. */
static void
plan_all(HammingScan *so)
{
	so->nearest->all = true;
	for (int w = 0; w < so->layout->words; w++)
	{
		hamming_plan_search(&so->words->plans[w], so->layout->kept);
		so->nearest->beyond[w] = so->nearest->met[w] + 1;
	}
}

/*
 * Find what is nearest among the rows that were not found yet.  Returns false
 * if there are no more.
 */
static bool
find_nearest(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *near = so->nearest;

	if (Max(near->reached, near->handed) >= near->farthest)
		return false;
	if (!near->all && plan_round(scan) && find_near_rows(scan))
	{
		near->reached = -1;
		for (int w = 0; w < so->layout->words; w++)
		{
			near->met[w] = Min(so->words->plans[w].k, near->most);
			near->reached += near->met[w] + 1;
		}
		near->early_next = so->asked.nballs == 0;
	}
	else
	{
		for (int d = 0; d <= near->farthest; d++)
			forget_level(near, &near->levels[d]);
		plan_all(so);
		(void) find_near_rows(scan);
	}
	if (near->most < near->farthest)
		near->limit = Max(near->limit, memory_limit());
	return true;
}

/* --- handing out --------------------------------------------------------- */

/*
 * Look on a page for a row that an entry says to be beyond what was reached,
 * and that the round has not found.  0 if there is none.
 */
static uint64
row_from_afar(HammingScan *so, Page page)
{
	const ShLayout *layout = so->layout;
	const HammingNearest *near = so->nearest;
	uint64		center = sh_entry(layout, so->asked.order_center.words[0], 0, 0);
	OffsetNumber offset = P_FIRSTDATAKEY(BTPageGetOpaque(page));

	for (; offset <= PageGetMaxOffsetNumber(page); offset++)
	{
		IndexTuple	itup = hamming_page_tuple(page, offset);
		uint64		entry = hamming_entry(hamming_raw_key(itup));
		uint64		tid = hamming_pack_tid(&itup->t_tid);

		if (!IndexTupleHasNulls(itup) && entry >> layout->shift == 0 &&
			sh_distance(entry, center) > near->reached &&
			(near->sums == NULL ||
			 near_sums_lookup(near->sums, tid) == NULL) &&
			!was_early(near, tid))
			return tid;
	}
	return 0;
}

/*
 * Hand out a row from afar.  Entries whose first block differs from the
 * query's in all bits are a good place to look.
 */
static bool
hand_out_early(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearest *near = so->nearest;
	uint64		afar = ~so->asked.order_center.words[0] &
	sh_kept_mask(so->layout);
	HammingWalk walk;
	Buffer		buffer;
	uint64		tid = 0;
	ItemPointerData place;

	near->early_next = false;
	if (near->nearly == NEAR_EARLY || near->part_bits > 0)
		return false;
	hamming_begin_walk(scan, hamming_key(sh_entry(so->layout, afar, 0, 0)),
					   &walk);
	buffer = hamming_walk(scan, &walk);
	if (!BufferIsValid(buffer))
		return false;
	if (!P_IGNORE(BTPageGetOpaque(BufferGetPage(buffer))))
		tid = row_from_afar(so, BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	if (tid == 0)
		return false;
	near->early[near->nearly++] = tid;
	hamming_unpack_tid(tid, &place);
	hamming_add_match(so, &place)->distance = near->reached + 1;
	return true;
}

/* Hand out rows that were kept.  Returns false if there are no more. */
static bool
hand_out(HammingScan *so)
{
	HammingNearest *near = so->nearest;

	while (so->matches.count < HAMMING_BATCH && near->next <= near->most)
	{
		NearLevel  *level = &near->levels[near->next];
		ItemPointerData tid;

		if (near->next_row == level->count)
		{
			forget_level(near, level);
			near->next++;
			near->next_row = 0;
			continue;
		}
		hamming_unpack_tid(level->tids[near->next_row++], &tid);
		hamming_add_match(so, &tid)->distance = near->next;
	}
	if (so->matches.count > 0)
		return true;
	if (near->all)
		near->handed = near->most;
	return false;
}

/* Put the next matches, nearest first, into the scan, if there are any. */
void
hamming_nearest_fill(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	if (so->nearest == NULL)
		so->nearest = begin_nearest(so);
	while (!hand_out(so) &&
		   !(so->nearest->early_next && hand_out_early(scan)) &&
		   find_nearest(scan))
		;
}
