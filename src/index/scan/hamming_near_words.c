/*-------------------------------------------------------------------------
 *
 * hamming_near_words.c
 *		ORDER BY distance for fingerprints of several words.
 *
 * An entry knows the distance in one word only, which says little of the whole
 * one.  So what is found of a row in any word is summed up, by its TID, to a
 * lower bound of its distance.  Rows are handed out in the order of these, and
 * the executor puts them into their final order.
 *
 * First we go by rounds.  A round is a search within k (hamming_words.c).  Where
 * a row was not found it differs in one bit more at least than that word was
 * searched within.  With four words searched within 7:
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
 * A round ends by handing out a row from afar, of which an entry says that it is
 * not within reach: when the executor has that, it need not wait for the next
 * round to know that those at hand are the nearest.
 *
 * Each round costs twice as much as the one before at least.  When one would
 * have to read all entries of a word, all entries of one block of each word are
 * read instead.  Then lower bounds lack what entries lack, no more; and the
 * nearest HAMMING_NEAREST rows are kept, or if still more are wanted, all that
 * are left, sorted within work_mem.
 *
 * If the sums of all rows do not fit into work_mem, they are divided by a hash
 * of the TID, and the index is read once for each part.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/build/hamming_sort.h"
#include "index/scan/hamming_scan.h"

/*
 * Limits of the work done.
 *
 * NEAR_FIRST_SUMS	sums that there is room for to begin with.
 * NEAR_SORT_MOST	kilobytes of work_mem that rows are sorted in, at most: they
 *					are had at once.
 * NEAR_EARLY		rows from afar that are handed out.
 */
#define NEAR_FIRST_SUMS		1024
#define NEAR_SORT_MOST		(64 * 1024)
#define NEAR_EARLY			8

/*
 * A sum: the TID, whether the row was handed out before, and the lower bound
 * of its distance.  An empty place is 0, as no TID is.
 */
#define SUM_BITS			16
#define SUM_KNOWN			(UINT64CONST(1) << (SUM_BITS - 1))
#define SUM_BOUND(sum)		((int) ((sum) & (SUM_KNOWN - 1)))
#define SUM_TID(sum)		((sum) >> SUM_BITS)

/* Sums by TID, of those rows whose hash begins with the bits of the part. */
typedef struct NearSums
{
	int			part_bits;
	uint64		part;
	int			room_bits;
	int64		count;
	uint64	   *sums;
} NearSums;

typedef struct HammingNearWords
{
	/* stays */
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
	int			beyond[SH_MAX_WORDS];	/* least distance, where not found */
	int			most;			/* rows beyond this lower bound are dropped */
	NearSums	sums;
	HammingSort *rows;			/* by lower bound */
} HammingNearWords;

/* Begin. */
static HammingNearWords *
begin(HammingScan *so)
{
	HammingNearWords *knn = (HammingNearWords *)
	palloc0(sizeof(HammingNearWords));

	knn->reached = knn->handed = -1;
	memset(knn->met, -1, sizeof(knn->met));
	knn->farthest = hamming_farthest(so);
	return knn;
}

/* Forget all. */
void
hamming_near_words_reset(HammingScan *so)
{
	HammingNearWords *knn = so->near_words;

	if (knn == NULL)
		return;
	if (knn->rows != NULL)
		hamming_sort_end(knn->rows);
	if (knn->sums.sums != NULL)
		pfree(knn->sums.sums);
	pfree(knn);
	so->near_words = NULL;
}

/* --- sums ---------------------------------------------------------------- */

static inline uint64
hash_tid(uint64 tid)
{
	return tid * UINT64CONST(0x9E3779B97F4A7C15);
}

/* Is a row one of the part that is summed up? */
static inline bool
is_of_part(const NearSums *sums, uint64 hash)
{
	return sums->part_bits == 0 || hash >> (64 - sums->part_bits) == sums->part;
}

/* The place of a row, or the empty one where it belongs. */
static inline uint64 *
find_sum(const NearSums *sums, uint64 tid, uint64 hash)
{
	uint64		mask = (UINT64CONST(1) << sums->room_bits) - 1;
	uint64		i = hash << sums->part_bits >> (64 - sums->room_bits);

	while (sums->sums[i] != 0 && SUM_TID(sums->sums[i]) != tid)
		i = (i + 1) & mask;
	return &sums->sums[i];
}

/* Make room, twice as much as there is, within work_mem; false if that is all. */
static bool
grow_sums(NearSums *sums)
{
	NearSums	old = *sums;
	Size		bytes = sizeof(uint64) << (old.room_bits + 1);

	if (bytes > Max((Size) work_mem, 64) * 1024)
		return false;
	sums->room_bits++;
	sums->sums = (uint64 *)
		MemoryContextAllocExtended(CurrentMemoryContext, bytes,
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (int64 i = 0; i < INT64CONST(1) << old.room_bits; i++)
	{
		uint64		tid = SUM_TID(old.sums[i]);

		if (tid != 0)
			*find_sum(sums, tid, hash_tid(tid)) = old.sums[i];
	}
	pfree(old.sums);
	return true;
}

/* Have room for so many rows more; false if memory does not allow for it. */
static inline bool
reserve_sums(NearSums *sums, int rows)
{
	while ((sums->count + rows) * 4 > INT64CONST(3) << sums->room_bits)
	{
		if (!grow_sums(sums))
			return false;
	}
	return true;
}

/* Begin to sum up a part. */
static void
clear_sums(NearSums *sums)
{
	if (sums->sums == NULL)
	{
		sums->room_bits = 0;
		while (1 << sums->room_bits < NEAR_FIRST_SUMS)
			sums->room_bits++;
		sums->sums = (uint64 *) palloc(sizeof(uint64) << sums->room_bits);
	}
	memset(sums->sums, 0, sizeof(uint64) << sums->room_bits);
	sums->count = 0;
}

/* Add the distance of a row in a word.  Precondition: there is room. */
static inline void
add_distance(HammingNearWords *knn, int none, uint64 tid, int word,
			 int distance)
{
	NearSums   *sums = &knn->sums;
	uint64		hash = hash_tid(tid);
	uint64	   *sum;

	if (!is_of_part(sums, hash))
		return;
	sum = find_sum(sums, tid, hash);
	if (*sum == 0)
	{
		*sum = tid << SUM_BITS | (uint64) none;
		sums->count++;
	}
	*sum += (uint64) (int64) (distance - knn->beyond[word]);
	if (distance <= knn->met[word])
		*sum |= SUM_KNOWN;
}

/* The lower bound of the distance of a row that is found in no word. */
static int
sum_of_none(HammingScan *so, const HammingNearWords *knn)
{
	int			none = 0;

	for (int w = 0; w < so->layout->words; w++)
		none += knn->beyond[w];
	return none;
}

/* --- reading ------------------------------------------------------------- */

/* Sum up what a round finds of a part; false if there is not enough memory. */
static bool
read_round(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearWords *knn = so->near_words;
	HammingMatches *matches = &so->matches;
	int			none = sum_of_none(so, knn);

	hamming_begin_words(so->words);
	while (hamming_read_words(scan))
	{
		bool		fits = reserve_sums(&knn->sums, matches->count);

		for (int i = 0; fits && i < matches->count; i++)
			add_distance(knn, none, hamming_pack_tid(&matches->items[i].tid),
						 so->words->word, matches->items[i].distance);
		matches->count = 0;
		if (!fits)
			return false;
	}
	return true;
}

/* Sum up the entries of a block on a page.  Returns false beyond the block. */
static bool
add_page(HammingScan *so, Page page, int word, int none)
{
	const ShLayout *layout = so->layout;
	uint64		tag = sh_entry_tag(layout, word, 0) >> layout->shift;
	uint64		center = sh_entry(layout, so->asked.order_center.words[word],
								  word, 0);
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	OffsetNumber offset = P_FIRSTDATAKEY(BTPageGetOpaque(page));

	for (; offset <= last; offset++)
	{
		IndexTuple	itup = hamming_page_tuple(page, offset);
		uint64		entry = hamming_entry(hamming_raw_key(itup));

		if (IndexTupleHasNulls(itup) || entry >> layout->shift > tag)
			return false;
		if (entry >> layout->shift == tag)
			add_distance(so->near_words, none, hamming_pack_tid(&itup->t_tid),
						 word, sh_distance(entry, center));
	}
	return true;
}

/* Sum up all entries of a part; false if there is not enough memory. */
static bool
read_all(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearWords *knn = so->near_words;
	int			none = sum_of_none(so, knn);

	for (int word = 0; word < so->layout->words; word++)
	{
		HammingWalk walk;
		Buffer		buffer = InvalidBuffer;
		bool		more = true;

		hamming_begin_walk(scan,
						   hamming_key(sh_entry_tag(so->layout, word, 0)),
						   &walk);
		while (more)
		{
			if (!reserve_sums(&knn->sums, HAMMING_PAGE_ENTRIES))
				return false;
			buffer = hamming_walk(scan, &walk);
			if (!BufferIsValid(buffer))
				break;
			if (!P_IGNORE(BTPageGetOpaque(BufferGetPage(buffer))))
				more = add_page(so, BufferGetPage(buffer), word, none);
			UnlockReleaseBuffer(buffer);
		}
	}
	return true;
}

/* Was a row handed out as one from afar? */
static bool
was_early(const HammingNearWords *knn, uint64 tid)
{
	for (int i = 0; i < knn->nearly; i++)
	{
		if (knn->early[i] == tid)
			return true;
	}
	return false;
}

/* Lower knn->most to where HAMMING_NEAREST rows of a part are kept. */
static void
limit_rows(HammingScan *so, HammingNearWords *knn)
{
	int64		counts[SH_MOST_WIDTH + 1] = {0};
	int64		room = INT64CONST(1) << knn->sums.room_bits;
	int64		rows = 0;

	for (int64 i = 0; i < room; i++)
	{
		uint64		sum = knn->sums.sums[i];

		if (sum != 0 && (sum & SUM_KNOWN) == 0)
			counts[Min(SUM_BOUND(sum), so->layout->width)]++;
	}
	for (int bound = knn->handed + 1; bound < knn->most; bound++)
	{
		rows += counts[bound];
		if (rows >= HAMMING_NEAREST)
			knn->most = bound;
	}
}

/*
 * Put the rows of a part to the sort that were not handed out, and are not too
 * far away.  A row that was not found in all words, as it is being inserted
 * just now, may seem to be nearer than what was handed out.
 */
static void
keep_rows(HammingNearWords *knn)
{
	int64		room = INT64CONST(1) << knn->sums.room_bits;

	for (int64 i = 0; i < room; i++)
	{
		uint64		sum = knn->sums.sums[i];
		int			bound = Max(SUM_BOUND(sum), knn->reached + 1);

		if (sum != 0 && (sum & SUM_KNOWN) == 0 && bound <= knn->most &&
			bound > knn->handed && !was_early(knn, SUM_TID(sum)))
			hamming_sort_put(knn->rows, bound, SUM_TID(sum));
	}
}

/* Sum up all rows, part by part, and sort them. */
static void
find_rows(IndexScanDesc scan, bool limited)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearWords *knn = so->near_words;
	NearSums   *sums = &knn->sums;

	knn->most = knn->farthest;
	knn->rows = hamming_sort_begin(Min(work_mem, NEAR_SORT_MOST));
	sums->part_bits = 0;
	for (sums->part = 0; sums->part < UINT64CONST(1) << sums->part_bits;
		 sums->part++)
	{
		for (;;)
		{
			clear_sums(sums);
			if (knn->all ? read_all(scan) : read_round(scan))
				break;
			sums->part_bits++;
			sums->part *= 2;
		}
		if (limited)
			limit_rows(so, knn);
		keep_rows(knn);
	}
	hamming_sort_perform(knn->rows);
}

/* --- rounds -------------------------------------------------------------- */

/* How far the next round goes: until it costs twice as much. */
static int
next_reach(HammingScan *so)
{
	const HammingNearWords *knn = so->near_words;
	int			k = knn->reached;
	double		cost = 0;

	if (k < 0)
		k = hamming_row_entries(so->layout) - 1;
	else
		while (k < knn->farthest && cost >= 0 && cost < 2 * knn->spent)
		{
			k += so->layout->words;
			cost = hamming_words_cost(so, k);
		}
	return Min(k, knn->farthest);
}

/* Search the next round, or go over to all entries. */
static void
search_round(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearWords *knn = so->near_words;

	knn->spent = hamming_plan_words(scan, &so->asked.order_center,
									next_reach(so), knn->met);
	if (knn->spent < 0)
	{
		knn->all = true;
		return;
	}
	for (int w = 0; w < so->layout->words; w++)
		knn->beyond[w] = so->words->plans[w].k + 1;
	find_rows(scan, false);
	knn->reached = -1;
	for (int w = 0; w < so->layout->words; w++)
	{
		knn->met[w] = so->words->plans[w].k;
		knn->reached += knn->met[w] + 1;
	}
	knn->early_next = so->asked.nballs == 0;
}

/*
 * Find what is nearest among the rows that were not found yet.  Returns false
 * if there are no more.
 */
static bool
find_nearest(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingNearWords *knn = so->near_words;
	bool		first = knn->handed < 0;

	if (knn->rows != NULL)
		hamming_sort_end(knn->rows);
	knn->rows = NULL;
	if (Max(knn->reached, knn->handed) >= knn->farthest)
		return false;
	if (!knn->all)
		search_round(scan);
	if (!knn->all)
		return true;
	for (int w = 0; w < so->layout->words; w++)
		knn->beyond[w] = knn->met[w] + 1;
	find_rows(scan, first);
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
	const HammingNearWords *knn = so->near_words;
	uint64		center = sh_entry(layout, so->asked.order_center.words[0], 0, 0);
	OffsetNumber offset = P_FIRSTDATAKEY(BTPageGetOpaque(page));

	for (; offset <= PageGetMaxOffsetNumber(page); offset++)
	{
		IndexTuple	itup = hamming_page_tuple(page, offset);
		uint64		entry = hamming_entry(hamming_raw_key(itup));
		uint64		tid = hamming_pack_tid(&itup->t_tid);

		if (!IndexTupleHasNulls(itup) && entry >> layout->shift == 0 &&
			sh_distance(entry, center) > knn->reached &&
			*find_sum(&knn->sums, tid, hash_tid(tid)) == 0 &&
			!was_early(knn, tid))
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
	HammingNearWords *knn = so->near_words;
	uint64		afar = ~so->asked.order_center.words[0] &
	sh_kept_mask(so->layout);
	HammingWalk walk;
	Buffer		buffer;
	uint64		tid = 0;
	ItemPointerData place;

	knn->early_next = false;
	if (knn->nearly == NEAR_EARLY || knn->sums.part_bits > 0)
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
	knn->early[knn->nearly++] = tid;
	hamming_unpack_tid(tid, &place);
	hamming_add_match(so, &place)->distance = knn->reached + 1;
	return true;
}

/* Hand out rows that were found.  Returns false if there are no more. */
static bool
hand_out(HammingScan *so)
{
	HammingNearWords *knn = so->near_words;
	HammingEntry row;
	ItemPointerData tid;

	while (so->matches.count < HAMMING_BATCH && knn->rows != NULL &&
		   hamming_sort_next(knn->rows, &row) && row.key <= knn->most)
	{
		hamming_unpack_tid(row.tid, &tid);
		hamming_add_match(so, &tid)->distance = row.key;
	}
	if (so->matches.count > 0)
		return true;
	if (knn->all)
		knn->handed = knn->most;
	return false;
}

/*
 * Put the next matches, nearest first, into the scan, if there are any.  What
 * they are sorted in belongs to the scan.
 */
void
hamming_near_words_fill(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(so));

	if (so->near_words == NULL)
	{
		hamming_words_begin(so);
		so->near_words = begin(so);
	}
	while (!hand_out(so) &&
		   !(so->near_words->early_next && hand_out_early(scan)) &&
		   find_nearest(scan))
		;
	MemoryContextSwitchTo(old);
}
