/*-------------------------------------------------------------------------
 *
 * shared_runs.c
 *		The passages that two documents share.
 *
 * A table has the places of each window of so many words in document a.
 * Document b is gone through in order: where a window of it is in the table,
 * each of its places in a is followed as far as the words are the same, the
 * longest such run is a passage, and what is behind it comes next.  So passages
 * do not overlap in b; in a they may, and come in any order.
 *
 * As only some places of a window are looked at, and a run is passed over as
 * soon as it is found, the work grows with the documents, also when one word is
 * all that they have.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/shared_runs.h"

#include <string.h>

#include "core/bits.h"

#define STRETCH			65536	/* words between two pauses */

/* The hash of the n words at a place. */
static uint64_t
hash_window(const uint64_t *hashes, size_t n)
{
	uint64_t	hash = 0;

	for (size_t i = 0; i < n; i++)
		hash = hash * SH_SCRAMBLE + hashes[i];
	return hash;
}

/* What a word adds to a window's hash when n - 1 words have come after it. */
static uint64_t
weight_of_first(size_t n)
{
	uint64_t	weight = 1;

	while (--n > 0)
		weight *= SH_SCRAMBLE;
	return weight;
}

/* The hash of the window one word further on. */
static inline uint64_t
next_window(uint64_t hash, const uint64_t *hashes, size_t n, uint64_t weight)
{
	return (hash - hashes[0] * weight) * SH_SCRAMBLE + hashes[n];
}

/* The slot of a window, or the free one where it would be. */
static size_t
find_window(const ShWindowTable *a, uint64_t window)
{
	size_t		mask = a->slots - 1;
	size_t		slot = sh_first_slot(sh_mix(window), a->multiplier, mask);

	while (a->table[slot] != 0 && a->windows[a->table[slot] - 1] != window)
		slot = (slot + 1) & mask;
	return slot;
}

/* Make the table of the windows of a document. */
void
sh_shared_begin(ShWindowTable *a, void (*pause) (void))
{
	size_t		windows = a->n < a->least ? 0 : a->n - a->least + 1;
	uint64_t	weight;

	memset(a->table, 0, a->slots * sizeof *a->table);
	if (windows == 0)
		return;
	weight = weight_of_first(a->least);
	for (size_t i = 0; i < windows; i++)
	{
		if (i % STRETCH == 0)
			pause();
		a->windows[i] = i == 0 ? hash_window(a->hashes, a->least) :
			next_window(a->windows[i - 1], a->hashes + i - 1, a->least,
						weight);
	}
	/* From the last one on, so that of each window the first is in its slot. */
	for (size_t i = windows; i-- > 0;)
	{
		size_t		slot = find_window(a, a->windows[i]);

		if (i % STRETCH == 0)
			pause();
		a->next[i] = a->table[slot];
		a->table[slot] = (uint32_t) (i + 1);
	}
}

/* How many words are the same from there on. */
static size_t
run_length(const uint64_t *a, size_t na, const uint64_t *b, size_t nb,
		   void (*pause) (void))
{
	size_t		n = na < nb ? na : nb;
	size_t		i;

	for (i = 0; i < n && a[i] == b[i]; i++)
	{
		if (i % STRETCH == STRETCH - 1)
			pause();
	}
	return i;
}

/*
 * The next passage that document b shares with document a, from word passage->b
 * + passage->n of b on: begin with zeros.  False when there is none.
 */
bool
sh_shared_next(const ShWindowTable *a, const uint64_t *hashes, size_t n,
			   void (*pause) (void), ShSharedPassage *passage)
{
	size_t		least = a->least;
	size_t		from = passage->b + passage->n;
	size_t		work = STRETCH; /* words compared since the last pause */
	uint64_t	window = 0;
	uint64_t	weight;

	if (n - from < least)
		return false;
	weight = weight_of_first(least);
	for (size_t b = from; b <= n - least; b++)
	{
		uint32_t	place;

		window = b == from ? hash_window(hashes + b, least) :
			next_window(window, hashes + b - 1, least, weight);
		if (work++ >= STRETCH)
		{
			pause();
			work = 0;
		}
		place = a->table[find_window(a, window)];
		passage->n = 0;
		for (int i = 0; i < SH_PLACES_MAX && place != 0; i++)
		{
			size_t		run = run_length(a->hashes + place - 1,
										 a->n - (place - 1),
										 hashes + b, n - b, pause);

			if (run > passage->n)
			{
				passage->a = place - 1;
				passage->n = run;
			}
			work += run;
			place = a->next[place - 1];
		}
		passage->b = b;
		if (passage->n >= least)
			return true;
	}
	return false;
}
