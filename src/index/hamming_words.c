/*-------------------------------------------------------------------------
 *
 * hamming_words.c
 *		Searches in fingerprints of more than one word.
 *
 * A fingerprint of more than 64 bits is cut into words (layout.c), and the
 * index holds each word as it would hold a fingerprint of its own.  A search
 * within k hands out k + 1 units to the words, each of which is then searched
 * within one less than it got.  A row that differs in more bits than that in
 * every word differs in k + 1 at least; so every row within k is found in some
 * word.  For example, 256 bits within 31: eight units for each of four words,
 * and each is searched within 7, as a bigint would be.
 *
 * What is found in one word may be too far away in the others.  So all rows
 * are rechecked, and what a recheck costs is why so few bits per word are good.
 *
 * Crowds
 *
 * The words of a fingerprint may be of little use, such as that of an image's
 * lower half, which is sky in half of all images.  Each word is surveyed
 * (hamming_survey.c) before any is searched, and if there is a crowd anywhere,
 * units are handed out one by one to where the next one costs least.
 *
 * Rows that come up again
 *
 * A row may be found in several words.  A bitmap takes no harm from that.  Any
 * other scan reads all words first, and hands out the rows in the order of
 * their TIDs, each once.  If they do not fit into a batch, they are sorted
 * within work_mem.
 *
 * Nearest first
 *
 * An entry knows the distance in one word only, which says little of the whole
 * one.  So we go by rounds: a round is a search within k, whose rows are looked
 * up in the table right away, for their exact distances.  Those that are not
 * farther than k, and farther than the round before has reached, are all that
 * there are, and are handed out in order.  Each round costs twice as much as
 * the one before at least.  When one would have to read all entries of a word,
 * the table is read instead, and the nearest HAMMING_NEAREST rows are kept of
 * those that were not handed out yet; if more are wanted, it is read once more.
 *
 *		round	k		of each word	rows at distances	handed out
 *		1		15		3				3, 40, 17			3
 *		2		31		7				3, 40, 17, 28		17, 28
 *		3		47		11				3, 40, 17, 28, 33	33, 40
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "index/hamming_build.h"
#include "index/hamming_scan.h"

/* How a word is searched. */
typedef struct WordSearch
{
	int			radius;			/* -1: not at all */
	ShExtent	extent;
	ShSearchPlan plan;
} WordSearch;

/* Looking up rows of the table. */
typedef struct RowFetch
{
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;
	IndexInfo  *info;
	EState	   *estate;
} RowFetch;

typedef struct HammingWords
{
	/* what is gathered of a search */
	int			word;			/* the one that is read */
	bool		gathered;
	Tuplesortstate *tids;		/* of rows, if they are too many for a batch */
	int64		last_tid;

	/* ORDER BY */
	int			column;			/* that of fingerprints, from 0 on */
	int			farthest;		/* no row beyond this can match */
	int			reached;		/* all rows up to this distance were found */
	double		spent;			/* what the last round has cost */
	Tuplesortstate *rows;		/* of the round: distance << 48 | TID */
	int64		last_row;		/* of those handed out */
	int64		bound;			/* of rows kept when the table is read, */
	int64		left;			/* and how many of these there may be yet */
	RowFetch	table;

	WordSearch	searches[FLEXIBLE_ARRAY_MEMBER];
} HammingWords;

/* Begin a search. */
static HammingWords *
begin_words(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	const ShLayout *layout = so->layout;
	HammingWords *words = (HammingWords *)
	MemoryContextAllocZero(GetMemoryChunkContext(so),
						   offsetof(HammingWords, searches) +
						   layout->words * sizeof(WordSearch));
	int			i;

	words->column = hamming_fingerprint_column(scan->indexRelation);
	words->reached = -1;
	words->last_row = -1;
	words->farthest = layout->width;
	for (i = 0; i < so->asked.nballs && so->asked.order_by >= 0; i++)
	{
		HammingBall *ball = &so->asked.balls[i];
		int			reach = ball->radius + layout->lost;
		int			w;

		for (w = 0; w < layout->words; w++)
			reach += __builtin_popcountll(ball->center.words[w] ^
										  so->asked.order_center.words[w]);
		words->farthest = Min(words->farthest, reach);
	}

	/* All rows are rechecked, so a place that is taken by another row is too. */
	so->matches.keep_pin = false;
	return words;
}

/* Forget a search. */
void
hamming_words_reset(HammingScan *so)
{
	HammingWords *words = so->words;

	if (words == NULL)
		return;
	if (words->tids != NULL)
		tuplesort_end(words->tids);
	if (words->rows != NULL)
		tuplesort_end(words->rows);
	if (words->table.fetch != NULL)
	{
		table_index_fetch_end(words->table.fetch);
		ExecDropSingleTupleTableSlot(words->table.slot);
		FreeExecutorState(words->table.estate);
	}
	pfree(words);
	so->words = NULL;
}

/* The units of a word, when each has as many as any other, or one more. */
static inline int
even_units(const ShLayout *layout, int k, int word)
{
	return (k + 1) / layout->words + (word < (k + 1) % layout->words);
}

/* Search a word within the given radius, as far as this is known so far. */
static double
plan_word(WordSearch *search, int radius)
{
	search->radius = radius;
	sh_plan_search(&search->extent, radius, &search->plan);
	return search->plan.total.cost;
}

/*
 * Hand out k + 1 units to words some of which are crowded, each to the one
 * whose search gets dearer by the least.
 */
static void
share_out(HammingWords *words, const ShLayout *layout, int k)
{
	WordSearch	next[SH_MAX_WORDS];
	double		costs[SH_MAX_WORDS];
	double		next_costs[SH_MAX_WORDS];
	int			units;
	int			w;

	for (w = 0; w < layout->words; w++)
	{
		costs[w] = plan_word(&words->searches[w], -1);
		next[w] = words->searches[w];
		next_costs[w] = plan_word(&next[w], 0);
	}
	for (units = 0; units <= k; units++)
	{
		int			best = -1;

		for (w = 0; w < layout->words; w++)
		{
			if (next[w].radius <= layout->kept &&
				(best < 0 ||
				 next_costs[w] - costs[w] < next_costs[best] - costs[best]))
				best = w;
		}
		if (best < 0)
			break;
		words->searches[best] = next[best];
		costs[best] = next_costs[best];
		next_costs[best] = plan_word(&next[best], next[best].radius + 1);
	}
}

/*
 * Plan the search within k of a center.  Returns what it is going to cost; -1
 * if all entries of some word have to be read.
 */
static double
plan_words(IndexScanDesc scan, const ShValue *center, int k)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;
	bool		crowded = false;
	bool		pass = false;
	double		cost = 0;
	int			w;

	for (w = 0; w < so->layout->words; w++)
	{
		WordSearch *search = &words->searches[w];

		search->radius = even_units(so->layout, k, w) - 1;
		hamming_even_extent(scan);
		hamming_turn_to_word(so, w, center, search->radius);
		hamming_plan_word(scan, true);
		crowded |= so->crowded;
		search->extent = so->extent;
		search->plan = so->plan;
	}
	if (crowded)
		share_out(words, so->layout, k);
	for (w = 0; w < so->layout->words; w++)
	{
		if (words->searches[w].radius < 0)
			continue;
		cost += words->searches[w].plan.total.cost;
		pass |= sh_is_pass(so->layout, &words->searches[w].plan);
	}
	words->word = -1;
	words->gathered = false;
	return pass ? -1 : cost;
}

/* Turn to the next word.  Returns false if there is none. */
static bool
next_word(IndexScanDesc scan, const ShValue *center)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;

	while (++words->word < so->layout->words)
	{
		WordSearch *search = &words->searches[words->word];

		if (search->radius < 0)
			continue;
		hamming_turn_to_word(so, words->word, center, search->radius);
		so->extent = search->extent;
		so->crowded = true;
		so->plan = search->plan;
		so->plan_k = -1;
		hamming_add_passes(so);
		hamming_log_plan(scan);
		return true;
	}
	return false;
}

/* Read a page of the word at hand, or of the next one.  False at the end. */
static bool
read_on(IndexScanDesc scan, const ShValue *center)
{
	while (!hamming_read_page(scan))
	{
		if (!next_word(scan, center))
			return false;
	}
	return true;
}

/* Order matches by TID. */
static int
compare_matches(const void *a, const void *b)
{
	ItemPointerData left = ((const HammingMatch *) a)->tid;
	ItemPointerData right = ((const HammingMatch *) b)->tid;

	return ItemPointerCompare(&left, &right);
}

/* Sort the matches, and keep one of each row. */
static void
sort_matches(HammingMatches *matches)
{
	int			kept = 0;
	int			i;

	qsort(matches->items, matches->count, sizeof(HammingMatch),
		  compare_matches);
	for (i = 0; i < matches->count; i++)
	{
		if (kept == 0 ||
			!ItemPointerEquals(&matches->items[i].tid,
							   &matches->items[kept - 1].tid))
			matches->items[kept++] = matches->items[i];
	}
	matches->count = kept;
}

/* Move the matches to the sort. */
static void
move_matches(HammingScan *so)
{
	HammingWords *words = so->words;
	HammingMatches *matches = &so->matches;
	int			i;

	for (i = 0; i < matches->count; i++)
		tuplesort_putdatum(words->tids,
						   Int64GetDatum(hamming_pack_tid(&matches->items[i].tid)),
						   false);
	matches->count = matches->npages = 0;
}

/*
 * Gather all that the search finds: in the matches, if a batch is enough, else
 * in words->tids.
 */
static void
gather(IndexScanDesc scan, const ShValue *center)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;

	words->gathered = true;
	while (read_on(scan, center))
	{
		if (so->matches.count < HAMMING_BATCH)
			continue;
		if (words->tids == NULL)
			words->tids = hamming_begin_numbers(so, 0);
		move_matches(so);
	}
	if (words->tids == NULL)
	{
		if (so->matches.count > 0)
			sort_matches(&so->matches);
		return;
	}
	move_matches(so);
	tuplesort_performsort(words->tids);
	words->last_tid = -1;
}

/* The next TID of those that are in words->tids, each once. */
static bool
next_tid(HammingWords *words, ItemPointer tid)
{
	Datum		datum;

	while (words->tids != NULL && simhash_sorted_datum(words->tids, &datum))
	{
		if (DatumGetInt64(datum) == words->last_tid)
			continue;
		words->last_tid = DatumGetInt64(datum);
		hamming_unpack_tid((uint64) words->last_tid, tid);
		return true;
	}
	return false;
}

/* Add a match that has no place in the index. */
static HammingMatch *
add_match(HammingScan *so, ItemPointer tid)
{
	HammingMatch *match;

	hamming_prepare_matches(so);
	match = &so->matches.items[so->matches.count++];
	match->tid = *tid;
	match->page = -1;
	match->distance = 0;
	match->recheck = true;
	match->killed = false;
	return match;
}

/* Put the next matches of a search without order into the scan. */
static bool
fill_by_tid(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;
	ItemPointerData tid;
	int			i;

	if (!words->gathered)
	{
		gather(scan, &so->asked.balls[0].center);

		/*
		 * Entries can be marked only where the page tells that it is the
		 * same.
		 */
		for (i = 0; i < so->matches.count; i++)
		{
			if (!RelationNeedsWAL(scan->indexRelation))
				so->matches.items[i].page = -1;
		}
	}
	while (so->matches.count < HAMMING_BATCH && next_tid(words, &tid))
		add_match(so, &tid);
	return so->matches.count > 0;
}

/* Prepare to look up rows. */
static void
prepare_fetch(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	RowFetch   *table = &so->words->table;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(so));

	if (table->fetch == NULL)
	{
		table->fetch = simhash_index_fetch_begin(scan->heapRelation);
		table->slot = table_slot_create(scan->heapRelation, NULL);
		table->info = BuildIndexInfo(scan->indexRelation);
		table->estate = CreateExecutorState();
		GetPerTupleExprContext(table->estate)->ecxt_scantuple = table->slot;
	}
	MemoryContextSwitchTo(old);
}

/* Note the distance of a row, unless it was handed out or is too far away. */
static void
note_distance(HammingScan *so, ItemPointer tid, Datum value, int farthest)
{
	HammingWords *words = so->words;
	SimhashBits bits = simhash_get_bits(value);
	int64		distance = simhash_bits_distance(&bits, &so->asked.order_bits);
	int64		row = distance << 48 | hamming_pack_tid(tid);

	if (row > words->last_row && distance <= farthest)
		tuplesort_putdatum(words->rows, Int64GetDatum(row), false);
}

/* Look up a row, and note its distance. */
static void
fetch_row(IndexScanDesc scan, ItemPointer tid, int farthest)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	RowFetch   *table = &so->words->table;
	ItemPointerData place = *tid;
	bool		again = false;
	bool		dead;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	MemoryContext old;

	CHECK_FOR_INTERRUPTS();
	hamming_check_tid(scan, tid);
	if (!table_index_fetch_tuple(table->fetch, &place, scan->xs_snapshot,
								 table->slot, &again, &dead))
		return;
	ResetPerTupleExprContext(table->estate);
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(table->estate));
	FormIndexDatum(table->info, table->slot, table->estate, values, isnull);
	if (!isnull[so->words->column])
		note_distance(so, tid, values[so->words->column], farthest);
	MemoryContextSwitchTo(old);
}

/* Called for each row of the table. */
static void
note_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		 bool alive, void *state)
{
	HammingScan *so = (HammingScan *) state;

	(void) index;
	(void) alive;
	if (!isnull[so->words->column])
		note_distance(so, tid, values[so->words->column],
					  so->words->farthest);
}

/* Find all rows within k that were not found before, by the index. */
static void
search_round(IndexScanDesc scan, int k)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;
	ItemPointerData tid;
	int			i;

	gather(scan, &so->asked.order_center);
	prepare_fetch(scan);
	for (i = 0; i < so->matches.count; i++)
		fetch_row(scan, &so->matches.items[i].tid, k);
	so->matches.count = so->matches.npages = 0;
	while (next_tid(words, &tid))
		fetch_row(scan, &tid, k);
	if (words->tids != NULL)
		tuplesort_end(words->tids);
	words->tids = NULL;
	ExecClearTuple(words->table.slot);
	table_index_fetch_reset(words->table.fetch);
}

/* How far the next round goes: until it costs twice as much. */
static int
next_reach(HammingScan *so)
{
	const ShLayout *layout = so->layout;
	HammingWords *words = so->words;
	int			k = words->reached < 0 ? hamming_row_entries(layout) - 1
	: words->reached;
	double		cost = 0;

	while (words->reached >= 0 && k < words->farthest &&
		   cost < 2 * words->spent)
	{
		WordSearch	search;

		k += layout->words;
		sh_even_extent(&search.extent, layout, so->extent.rows,
					   so->extent.per_page);
		cost = layout->words *
			plan_word(&search, even_units(layout, k, 0) - 1);
		if (sh_is_pass(layout, &search.plan))
			break;
	}
	return Min(k, words->farthest);
}

/*
 * Read the table, and keep the nearest of the rows that were not handed out.
 * They seldom all are wanted; if more are than were kept, it is read once more.
 */
static void
read_nearest(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;

	words->bound = words->bound == 0 ? HAMMING_NEAREST : PG_INT32_MAX;
	words->left = words->bound;
	words->rows = hamming_begin_numbers(so, words->bound == PG_INT32_MAX ? 0 :
										words->bound);
	hamming_read_table(scan, note_row, so);
	tuplesort_performsort(words->rows);
}

/*
 * Find what is nearest among the rows that were not found yet.  Returns false
 * if there are no more.
 */
static bool
find_nearest(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;
	int			k;

	if (words->rows != NULL)
		tuplesort_end(words->rows);
	words->rows = NULL;
	if (words->bound > 0)
	{
		if (words->left > 0)
			return false;
		read_nearest(scan);
		return true;
	}
	if (words->reached >= words->farthest)
		return false;

	hamming_even_extent(scan);
	k = next_reach(so);
	words->spent = plan_words(scan, &so->asked.order_center, k);
	if (words->spent < 0)
	{
		read_nearest(scan);
		return true;
	}
	words->rows = hamming_begin_numbers(so, 0);
	search_round(scan, k);
	words->reached = k;
	words->last_row = ((int64) k + 1) << 48;
	tuplesort_performsort(words->rows);
	return true;
}

/* Put the next matches, nearest first, into the scan. */
static bool
fill_by_distance(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;

	do
	{
		Datum		datum;

		while (so->matches.count < HAMMING_BATCH && words->rows != NULL &&
			   (words->bound == 0 || words->left > 0) &&
			   simhash_sorted_datum(words->rows, &datum))
		{
			int64		row = DatumGetInt64(datum);
			ItemPointerData tid;

			hamming_unpack_tid(row & ((INT64CONST(1) << 48) - 1), &tid);
			add_match(so, &tid)->distance = row >> 48;
			if (words->bound > 0)
				words->last_row = row;
			words->left--;
		}
		if (so->matches.count > 0)
			return true;
	} while (find_nearest(scan));
	return false;
}

/*
 * Put the next matches into the scan.  Returns false if there are no more.
 */
bool
hamming_words_fill(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	bool		first = so->words == NULL;
	const ShValue *center = &so->asked.balls[0].center;

	if (first)
		so->words = begin_words(scan);
	if (so->asked.order_by >= 0)
		return fill_by_distance(scan);
	if (first)
		(void) plan_words(scan, center, so->asked.balls[0].radius);
	if (!so->repeats)
		return fill_by_tid(scan);
	while (so->matches.count < HAMMING_BATCH && read_on(scan, center))
		;
	return so->matches.count > 0;
}

/*
 * Turn to the plan of the next word, as a search would, but read nothing.
 * Returns false if there is none.
 */
bool
hamming_words_show(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	const ShValue *center = &so->asked.balls[0].center;
	WordSearch *search;

	if (so->words == NULL)
	{
		so->words = begin_words(scan);
		(void) plan_words(scan, center, so->asked.balls[0].radius);
	}
	if (++so->words->word == so->layout->words)
		return false;
	search = &so->words->searches[so->words->word];
	hamming_turn_to_word(so, so->words->word, center, search->radius);
	so->extent = search->extent;
	so->plan = search->plan;
	return true;
}
