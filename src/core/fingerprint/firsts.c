/*-------------------------------------------------------------------------
 *
 * firsts.c
 *		The features that occur for the first time in a document.
 *
 * This does for documents of a usual length, and features that weigh the same
 * however often they occur, or no more than when they occur SH_CAP times, what
 * tally.c does for all: it tells which features to add.  Here a table of fixed
 * size is enough, only features that come again are counted, and there is
 * nothing to clear between documents.
 *
 * Features are numbered as they come, and their hashes are kept.  The slots of
 * the table have numbers of features; where to look for a feature begins at a
 * slot that its hash chooses, scrambled, and goes on with the next ones until
 * the feature is there or a slot is free.  Most features are new, and the first
 * slot is free.  So in a first pass each one is entered into its first slot if
 * that is free, by a few instructions without a jump.  Only the others, mostly
 * features that have occurred, are then looked for.
 *
 * Numbers go on from one document to the next: a slot is free when what an
 * earlier document left there is less than the first number of this one.  When
 * they come to an end the table is cleared, and they start anew at 1.
 *
 * For example, a document begins with number 700 and has the features A, B, A
 * and C, of which C begins at the slot of A.  The slots of A and B have 0 and
 * 312 in them, so they are free: A becomes 700, B 701.  The others are looked
 * for from the last one down: C, 703, finds 700, whose hash is another, and a
 * free slot behind it, so it is entered there; A, 702, finds 700, whose hash is
 * the same: it has occurred.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/fingerprint/tally.h"

#include <string.h>


#define BLOCK			64		/* features that a mask describes */

/* Begin a document. */
void
sh_firsts_begin(ShFirsts *firsts)
{
	size_t		base = firsts->base + firsts->n;

	if (firsts->base == 0 || base + SH_FIRSTS_MAX > UINT16_MAX)
	{
		memset(firsts->slots, 0, sizeof firsts->slots);
		base = 1;
	}
	firsts->base = (uint16_t) base;
	firsts->n = 0;
}

/* The slot at which looking for a hash begins. */
static inline size_t
first_entry_slot(uint64_t hash, uint64_t multiplier)
{
	return (size_t) (hash * multiplier >> (64 - SH_FIRSTS_BITS));
}

/*
 * Enter those of up to 64 features, numbered from "number" on, whose first slot
 * is free.  Returns a mask of the others: bit 0 stands for the last feature.
 */
static inline uint64_t
enter_features(ShFirsts *firsts, uint64_t multiplier, const uint64_t *hashes,
			   size_t n, size_t number)
{
	const size_t base = firsts->base;
	uint64_t	others = 0;

	for (size_t i = 0; i < n; i++)
	{
		uint16_t   *slot = &firsts->slots[first_entry_slot(hashes[i], multiplier)];
		size_t		there = *slot;

		*slot = (uint16_t) (there < base ? number + i : there);
		others += others + (there >= base);
	}
	return others;
}

/*
 * The count of a feature with that hash that has been entered; if there is
 * none, NULL, and it is entered.
 */
static inline uint8_t *
find_count(ShFirsts *firsts, uint64_t multiplier, uint64_t hash,
		   size_t number)
{
	size_t		slot = first_entry_slot(hash, multiplier);
	size_t		there;

	while ((there = firsts->slots[slot]) >= firsts->base)
	{
		if (firsts->hashes[there - firsts->base] == hash)
			return &firsts->counts[there - firsts->base];
		slot = (slot + 1) % SH_FIRSTS_SLOTS;
	}
	firsts->slots[slot] = (uint16_t) number;
	return NULL;
}

/*
 * Leave in the array, of the n features that come next, those that the document
 * has not had before, in any order, and set *n to how many they are.  With
 * "capped", those that it has had less than SH_CAP times are left there, too,
 * each twice; the array must then have room for twice as many.  False,
 * and nothing is done, when the document has too many; "hashes" of the features
 * so far, of which there are "n", can then be counted elsewhere.
 */
bool
sh_firsts_sift(ShFirsts *firsts, uint64_t multiplier, bool capped,
			   uint64_t *hashes, size_t *n)
{
	uint64_t	others[SH_FIRSTS_MAX / BLOCK];
	size_t		number = firsts->base + firsts->n;
	size_t		left = *n;
	uint64_t   *again = hashes + *n;
	size_t		nagain = 0;
	size_t		blocks = (left + BLOCK - 1) / BLOCK;

	if (left > SH_FIRSTS_MAX - firsts->n)
		return false;
	memcpy(firsts->hashes + firsts->n, hashes, left * sizeof *hashes);
	if (capped)
		memset(firsts->counts + firsts->n, 1, left);
	firsts->n += left;
	for (size_t b = 0, at = 0; b < blocks; b++, at += BLOCK)
		others[b] = enter_features(firsts, multiplier, hashes + at,
								   *n - at < BLOCK ? *n - at : BLOCK,
								   number + at);

	/* From the last one down: what fills a gap has been looked at already. */
	for (size_t b = blocks, end = *n; b-- > 0; end = b * BLOCK)
	{
		for (uint64_t mask = others[b]; mask != 0; mask &= mask - 1)
		{
			size_t		i = end - 1 - (size_t) __builtin_ctzll(mask);
			uint64_t	hash = hashes[i];
			uint8_t    *count = find_count(firsts, multiplier, hash,
										   number + i);

			if (count == NULL)
				continue;
			hashes[i] = hashes[--left];
			if (capped)
			{
				size_t		heavier = *count < SH_CAP;

				/* No jump: processors would often guess it wrong. */
				again[nagain] = hash;
				nagain += heavier;
				*count += (uint8_t) heavier;
			}
		}
	}
	for (size_t twice = 0; twice < 2; twice++)
	{
		memmove(hashes + left, again, nagain * sizeof *hashes);
		left += nagain;
	}
	*n = left;
	return true;
}
