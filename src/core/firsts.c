/*-------------------------------------------------------------------------
 *
 * firsts.c
 *		The features that occur for the first time in a document.
 *
 * This does for documents of a usual length, and features that weigh the same
 * however often they occur, what tally.c does for all: it tells which features
 * to add.  Here nothing is counted, a table of fixed size is enough, and there
 * is nothing to clear between documents.
 *
 * Features are numbered as they come.  Their hashes are kept, and the table
 * has, by a part of the scrambled hash, the latest feature of each slot, with
 * which the next one there is linked.  This takes a few instructions and no
 * jump.  Most features then turn out to be the first of their slot, so they
 * are new.  The others are listed: the links lead from each to all that shared
 * its slot before, mostly one, and hashes tell.
 *
 * Numbers go on from one document to the next, so that whatever an earlier
 * document left in the table is less than the first number of this one, and is
 * as good as nothing.  When they come to an end the table is cleared, and they
 * start anew at 1.
 *
 * For example, a document begins with number 700 and has the features A, B, A
 * and C, of which C belongs into the slot of A.  The slots had 0 and 312 in
 * them.  So A, 700, is linked with 0, and is new; B, 701, is linked with 312,
 * new; A, 702, with 700, of the same hash: it has occurred; C, 703, with 702,
 * whose hash is another, then with 700, the same, then with 0: it is new.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "firsts.h"

#include <string.h>

/* Begin a document. */
void
sh_firsts_begin(ShFirsts *firsts)
{
	size_t		base = firsts->base + firsts->n;

	if (firsts->base == 0 || base + SH_FIRSTS_MAX > UINT16_MAX)
	{
		memset(firsts->latest, 0, sizeof firsts->latest);
		base = 1;
	}
	firsts->base = (uint16_t) base;
	firsts->n = 0;
}

/* Number n more features, and link each with the one before in its slot. */
static void
link_features(ShFirsts *firsts, uint64_t multiplier, const uint64_t *hashes,
			  size_t n)
{
	uint16_t   *latest = firsts->latest;
	uint16_t   *before = firsts->before + firsts->n;
	size_t		number = firsts->base + firsts->n;

	memcpy(firsts->hashes + firsts->n, hashes, n * sizeof *hashes);
	for (size_t i = 0; i < n; i++)
	{
		size_t		slot = (size_t) (hashes[i] * multiplier >>
									 (64 - SH_FIRSTS_BITS));

		before[i] = latest[slot];
		latest[slot] = (uint16_t) (number + i);
	}
	firsts->n += n;
}

/*
 * List those of n features from the given one on that are linked with another
 * of this document; returns how many.
 */
static size_t
list_linked(const ShFirsts *firsts, size_t from, size_t n, uint16_t *list)
{
	uint16_t	old = (uint16_t) (firsts->base - 1);
	size_t		count = 0;

	for (size_t at = 0; at < n; at += SH_LANES)
	{
		uint64_t	mask = ~sh_at_most(firsts->before + from + at, old);

		if (n - at < SH_LANES)
			mask &= (UINT64_C(1) << (n - at)) - 1;
		for (; mask != 0; mask &= mask - 1)
			list[count++] = (uint16_t) (at + (size_t) __builtin_ctzll(mask));
	}
	return count;
}

/* True when a feature that comes before the given one has the same hash. */
static inline bool
has_occurred(const ShFirsts *firsts, size_t feature)
{
	uint64_t	hash = firsts->hashes[feature];
	size_t		number;

	while ((number = firsts->before[feature]) >= firsts->base)
	{
		feature = number - firsts->base;
		if (firsts->hashes[feature] == hash)
			return true;
	}
	return false;
}

/*
 * Leave in the array, of the n features that come next, those that the document
 * has not had before, in any order, and set *n to how many they are.  False,
 * and nothing is done, when the document has too many; "hashes" of the features
 * so far, of which there are "n", can then be counted elsewhere.
 */
bool
sh_firsts_sift(ShFirsts *firsts, uint64_t multiplier, uint64_t *hashes,
			   size_t *n)
{
	uint16_t	linked[SH_FIRSTS_MAX];
	size_t		done = firsts->n;
	size_t		left = *n;
	size_t		nlinked;

	if (left > SH_FIRSTS_MAX - done)
		return false;
	link_features(firsts, multiplier, hashes, left);
	nlinked = list_linked(firsts, done, left, linked);

	/* From the last one down: what fills a gap has been looked at already. */
	while (nlinked-- > 0)
	{
		size_t		i = linked[nlinked];

		if (has_occurred(firsts, done + i))
			hashes[i] = hashes[--left];
	}
	*n = left;
	return true;
}
