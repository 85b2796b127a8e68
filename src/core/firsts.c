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
 * are new.  For the few others the links lead to all that shared their slot,
 * and their hashes tell.
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

/* True when no feature before this one has the same hash. */
static inline bool
is_first(const ShFirsts *firsts, size_t feature)
{
	uint64_t	hash = firsts->hashes[feature];
	size_t		number = firsts->before[feature];

	while (number >= firsts->base)
	{
		feature = number - firsts->base;
		if (firsts->hashes[feature] == hash)
			return false;
		number = firsts->before[feature];
	}
	return true;
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
	size_t		done = firsts->n;
	size_t		left = *n;
	uint16_t	old = (uint16_t) (firsts->base - 1);

	if (left > SH_FIRSTS_MAX - done)
		return false;
	link_features(firsts, multiplier, hashes, left);

	/* From the last one down: what fills a gap has been looked at already. */
	for (size_t end = (*n + SH_LANES - 1) / SH_LANES * SH_LANES; end > 0;
		 end -= SH_LANES)
	{
		size_t		at = end - SH_LANES;
		uint64_t	linked = ~sh_at_most(firsts->before + done + at, old);

		if (*n < end)
			linked &= (UINT64_C(1) << (*n - at)) - 1;
		while (linked != 0)
		{
			int			i = 63 - __builtin_clzll(linked);

			linked ^= UINT64_C(1) << i;
			if (!is_first(firsts, done + at + (size_t) i))
				hashes[at + (size_t) i] = hashes[--left];
		}
	}
	*n = left;
	return true;
}
