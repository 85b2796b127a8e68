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
 * (hamming_plan.c) before any is searched, and if there is a crowd anywhere,
 * units are handed out one by one to where the next one costs least.
 *
 * Rows that come up again
 *
 * A row may be found in several words.  A bitmap takes no harm from that.  Any
 * other scan reads all words first, and hands out the rows in the order of
 * their TIDs, each once.  They are sorted within work_mem.
 *
 * Nearest first goes by rounds of such searches (hamming_nearest.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

#include "utils/memutils.h"

#include "index/build/hamming_sort.h"

/* Plan to search a word within a radius; what that costs. */
static double
plan_word(HammingPlan *plan, int radius)
{
	hamming_plan_search(plan, radius);
	return plan->search.total.cost;
}

/*
 * Hand out k + 1 units to words some of which are crowded, each to the one
 * whose search gets dearer by the least.
 */
static void
share_out(HammingWords *words, const ShLayout *layout, int k)
{
	double		costs[SH_MAX_WORDS];
	double		next_costs[SH_MAX_WORDS];
	int			radius[SH_MAX_WORDS];

	for (int w = 0; w < layout->words; w++)
	{
		radius[w] = -1;
		costs[w] = plan_word(&words->plans[w], -1);
		next_costs[w] = plan_word(&words->plans[w], 0);
	}
	for (int units = 0; units <= k; units++)
	{
		int			best = -1;

		for (int w = 0; w < layout->words; w++)
		{
			if (radius[w] < layout->kept &&
				(best < 0 ||
				 next_costs[w] - costs[w] < next_costs[best] - costs[best]))
				best = w;
		}
		if (best < 0)
			break;
		radius[best]++;
		costs[best] = next_costs[best];
		next_costs[best] = plan_word(&words->plans[best], radius[best] + 1);
	}
	for (int w = 0; w < layout->words; w++)
		hamming_plan_search(&words->plans[w], radius[w]);
}

/*
 * Plan the search within k of a center; each word within its own "least" at
 * least, if that is not NULL.  Returns what the search is going to cost; -1 if
 * all entries of some word have to be read.
 */
double
hamming_plan_words(IndexScanDesc scan, const ShValue *center, int k,
				   const int *least)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;
	bool		crowded = false;
	bool		pass = false;
	double		cost = 0;

	for (int w = 0; w < so->layout->words; w++)
	{
		hamming_plan_word(scan, &words->plans[w], w, center,
						  hamming_even_units(so->layout, k, w) - 1);
		crowded |= words->plans[w].crowded;
	}
	if (crowded && so->layout->words > 1)
		share_out(words, so->layout, k);
	for (int w = 0; w < so->layout->words; w++)
	{
		HammingPlan *plan = &words->plans[w];

		if (least != NULL)
			hamming_plan_search(plan, Max(plan->k, least[w]));
		if (plan->k < 0)
			continue;
		cost += plan->search.total.cost;
		pass |= sh_is_pass(so->layout, &plan->search);
	}
	words->word = -1;
	return pass ? -1 : cost;
}

/* Plan to return all rows that have a fingerprint, by the first word. */
void
hamming_plan_all_rows(IndexScanDesc scan)
{
	static const ShValue nowhere;
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingPlan *plans = so->words->plans;

	hamming_plan_word(scan, &plans[0], 0, &nowhere, so->layout->kept);
	for (int w = 1; w < so->layout->words; w++)
		plans[w].k = HAMMING_UNPLANNED;
	so->words->word = -1;
}

/*
 * What a search within k would cost if there were no crowds; -1 if all entries
 * of a word would be read.
 */
double
hamming_words_cost(HammingScan *so, int k)
{
	const ShLayout *layout = so->layout;
	const ShExtent *planned = &so->words->plans[0].extent;
	ShExtent	extent;
	ShSearchPlan plan;

	sh_even_extent(&extent, layout, planned->rows, planned->per_page);
	sh_plan_search(&extent, hamming_even_units(layout, k, 0) - 1, &plan);
	return sh_is_pass(layout, &plan) ? -1 : layout->words * plan.total.cost;
}

/* Turn to the next word.  Returns false if there is none. */
static bool
next_word(HammingScan *so)
{
	HammingWords *words = so->words;

	while (++words->word < so->layout->words)
	{
		HammingPlan *plan = &words->plans[words->word];

		if (plan->k < 0)
			continue;
		hamming_plan_passes(plan);
		so->max_distance = plan->k;
		hamming_cursor_begin(&so->cursor, plan);
		return true;
	}
	return false;
}

/* Read a page of the word at hand, or of the next one.  False at the end. */
bool
hamming_read_words(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	while (so->words->word < 0 || !hamming_read_page(scan))
	{
		if (!next_word(so))
			return false;
	}
	return true;
}

/* Gather all that the search finds, sorted. */
static void
gather_rows(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingMatches *matches = &so->matches;
	HammingWords *words = so->words;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(so));

	words->found = hamming_sort_begin(work_mem);
	MemoryContextSwitchTo(old);
	while (hamming_read_words(scan))
	{
		for (int i = 0; i < matches->count; i++)
			hamming_sort_put(words->found,
							 hamming_pack_tid(&matches->items[i].tid), 0);
		matches->count = 0;
	}
	hamming_sort_perform(words->found);
	words->last_tid = -1;
}

/* Put the next rows that several words find into the scan, each once. */
void
hamming_words_fill(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingWords *words = so->words;
	HammingEntry row;
	ItemPointerData tid;

	if (words->found == NULL)
		gather_rows(scan);
	while (so->matches.count < HAMMING_BATCH &&
		   hamming_sort_next(words->found, &row))
	{
		if (row.key == words->last_tid)
			continue;
		words->last_tid = row.key;
		hamming_unpack_tid((uint64) row.key, &tid);
		(void) hamming_add_match(so, &tid);
	}
}
