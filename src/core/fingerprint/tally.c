/*-------------------------------------------------------------------------
 *
 * tally.c
 *		How often features occur, and when that adds to their weight.
 *
 * A feature that occurs n times weighs w(n), where w depends on the damping.
 * We never need to know n at the end: w only ever grows, by one or by two, so
 * it is enough to say at each occurrence by how much the weight has just grown,
 * and to add the hash once more, or twice.  For w = 1 + floor(log2(n)) it grows
 * by one when n is a power of two, for floor(sqrt(n)) when n is a square, for 1
 * when n is 1.  For 2 min(n, 4) - 1 it grows by one when n is 1, and by two
 * when n is 2, 3 or 4.
 *
 * Short documents in which each feature weighs 1 need no counts; see firsts.c.
 * Counting needs a table.  To bound it, a document's features are counted in
 * sections of SH_SECTION: after each section counting starts anew.
 *
 * The table is one of open addressing, with linear probing, at most half full.
 * Looking up one hash takes few instructions, but the processor cannot guess
 * whether a slot will turn out free, or to hold this hash, or another one; and
 * a wrong guess costs more than all the rest.  So sh_tally_sift takes many
 * hashes, looks at the first slot of each, and lets no jump depend on what it
 * finds: it writes the slot either way, the old values if they must stay, and
 * appends the hash to two lists at once, of which only the one that it belongs
 * to then grows.  The few that met another hash in their first slot look at
 * the second one in another round of the same kind, and so on.  Within a
 * section it makes no difference in what order features are counted.
 *
 * A large table, of a long document, is not in the processor's nearest memory:
 * then all first slots are asked for before the first one is looked at.
 *
 * For example, of the hashes A, B, A, C, where C belongs into the slot that A
 * is in, with binary weights: A finds its slot free, takes it, and is listed
 * as gained; so is B; the second A finds itself, counts 2, gains nothing; C is
 * put off.  In the second round C finds the next slot free, and gains.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/fingerprint/tally.h"

#include <string.h>

#define SLOTS_MIN		512		/* slots of the first table */
#define SLOTS_SPARE		16		/* slots a feature that are too many */
#define SLOTS_FAR		8192	/* of a table to be fetched from memory */
#define SIFT_MAX		256		/* hashes sifted at once */

/*
 * Begin to count, with an empty table.  Keeps the memory that there is, unless
 * the last document used so little of it that to grow a table again takes less
 * time than to clear this one: a long document must not make all the short
 * ones after it slow.  Those that use none have nothing to clear.
 */
void
sh_tally_begin(ShTally *tally)
{
	if (tally->slots > SLOTS_MIN && tally->occupied > 0 &&
		tally->occupied < tally->slots / SLOTS_SPARE)
		sh_tally_end(tally);
	if (tally->slots > 0 && tally->occupied > 0)
		memset(tally->counts, 0, tally->slots * sizeof *tally->counts);
	tally->occupied = 0;
	tally->seen = 0;
}

/* Where the hash stands in the table, or else a free slot for it. */
static inline size_t
find_tally_slot(const ShTally *tally, uint64_t hash)
{
	size_t		slot = sh_first_slot(hash, tally->multiplier, tally->slots - 1);

	while (tally->counts[slot] != 0 && tally->hashes[slot] != hash)
		slot = (slot + 1) & (tally->slots - 1);
	return slot;
}

/*
 * Make the table large enough for so many features more.  "allocate" may leave
 * by longjmp: the table is then as it was before.
 */
static void
grow_tally(ShTally *tally, size_t more)
{
	ShTally		old = *tally;
	size_t		slots = SLOTS_MIN;
	uint64_t   *hashes;

	while (slots < 2 * (old.occupied + more))
		slots *= 2;
	hashes = tally->allocate(tally->context,
							 slots * (sizeof *hashes + sizeof(uint32_t)));
	tally->slots = slots;
	tally->hashes = hashes;
	tally->counts = (uint32_t *) (hashes + slots);
	memset(tally->counts, 0, tally->slots * sizeof *tally->counts);
	for (size_t i = 0; i < old.slots; i++)
	{
		if (old.counts[i] != 0)
		{
			size_t		slot = find_tally_slot(tally, old.hashes[i]);

			tally->hashes[slot] = old.hashes[i];
			tally->counts[slot] = old.counts[i];
		}
	}
	if (old.slots > 0)
		tally->release(old.hashes);
}

/* What the n-th occurrence of a feature adds to its weight: 0, 1 or 2. */
static inline uint32_t
weight_gained(ShDamping damping, uint32_t n)
{
	uint32_t	root;

	switch (damping)
	{
		case SH_DAMP_COUNT:
			return 1;
		case SH_DAMP_BINARY:
			return n == 1;
		case SH_DAMP_LOG:
			return (n & (n - 1)) == 0;
		case SH_DAMP_SQRT:
			root = (uint32_t) sqrt((double) n);
			return root * root == n;
		case SH_DAMP_CAPPED:
			return n == 1 ? 1 : n <= SH_CAP ? 2 : 0;
	}
	return 0;
}

/*
 * The count of a hash, 0 when it is new.  The caller must make it
 * more than 0 before the next call.
 */
uint32_t   *
sh_tally_count(ShTally *tally, uint64_t hash)
{
	size_t		slot;

	if (2 * tally->occupied >= tally->slots)
		grow_tally(tally, 1);
	slot = find_tally_slot(tally, hash);
	if (tally->counts[slot] == 0)
	{
		tally->hashes[slot] = hash;
		tally->occupied++;
	}
	return &tally->counts[slot];
}

/* Count one occurrence; returns what it adds to the feature's weight. */
uint32_t
sh_tally_add(ShTally *tally, ShDamping damping, uint64_t hash)
{
	if (damping == SH_DAMP_COUNT)
		return 1;
	if (tally->seen == SH_SECTION)
		sh_tally_begin(tally);
	tally->seen++;
	return weight_gained(damping, ++*sh_tally_count(tally, hash));
}

/*
 * Sift up to SIFT_MAX hashes, all of one section, for which the table has room
 * enough.  Those that gain twice go to "again", too, where *nagain of them are.
 * To be inlined with a damping that is known.
 */
static inline __attribute__((always_inline))
size_t
sift_some(ShTally *tally, ShDamping damping, uint64_t *hashes, size_t n,
		  uint64_t *again, size_t *nagain)
{
	const uint64_t multiplier = tally->multiplier;
	const size_t mask = tally->slots - 1;
	uint64_t   *there = tally->hashes;
	uint32_t   *counts = tally->counts;
	const uint64_t *rest = hashes;
	uint64_t	late[SIFT_MAX];
	size_t		gained = 0;
	size_t		occupied = tally->occupied;

	if (tally->slots >= SLOTS_FAR)
	{
		for (size_t i = 0; i < n; i++)
		{
			size_t		slot = sh_first_slot(hashes[i], multiplier, mask);

			__builtin_prefetch(&counts[slot], 1);
			__builtin_prefetch(&there[slot], 1);
		}
	}
	for (size_t further = 0; n > 0; further++)
	{
		size_t		nlate = 0;

		for (size_t i = 0; i < n; i++)
		{
			uint64_t	hash = rest[i];
			size_t		slot = (sh_first_slot(hash, multiplier, mask) + further) & mask;
			uint32_t	count = counts[slot];
			bool		free = count == 0;
			bool		ours = free | (there[slot] == hash);

			there[slot] = ours ? hash : there[slot];
			counts[slot] = count + ours;
			occupied += free;
			late[nlate] = hash;
			nlate += !ours;
			hashes[gained] = hash;
			gained += ours & (weight_gained(damping, count + 1) > 0);
			if (damping == SH_DAMP_CAPPED)
			{
				again[*nagain] = hash;
				*nagain += ours & (weight_gained(damping, count + 1) > 1);
			}
		}
		rest = late;
		n = nlate;
	}
	tally->occupied = occupied;
	return gained;
}

/*
 * Count one occurrence of each of the hashes.  Leaves in the array those that
 * add to the weight of their feature, in any order, and returns how many.  One
 * that adds two is there twice: where the damping is SH_DAMP_CAPPED, the array
 * must have room for twice as many hashes, and one more.
 */
size_t
sh_tally_sift(ShTally *tally, ShDamping damping, uint64_t *hashes, size_t n)
{
	size_t		gained = 0;
	size_t		again = 0;

	if (damping == SH_DAMP_COUNT)
		return n;
	for (size_t done = 0, k; done < n; done += k)
	{
		size_t		left = n - done;
		size_t		kept;

		if (tally->seen == SH_SECTION)
			sh_tally_begin(tally);
		if (left > SH_SECTION - tally->seen)
			left = SH_SECTION - tally->seen;
		k = left < SIFT_MAX ? left : SIFT_MAX;
		if (2 * (tally->occupied + k) > tally->slots)
			grow_tally(tally, left);
		tally->seen += (uint32_t) k;
		if (damping == SH_DAMP_BINARY)
			kept = sift_some(tally, SH_DAMP_BINARY, hashes + done, k, NULL, NULL);
		else if (damping == SH_DAMP_LOG)
			kept = sift_some(tally, SH_DAMP_LOG, hashes + done, k, NULL, NULL);
		else if (damping == SH_DAMP_CAPPED)
			kept = sift_some(tally, SH_DAMP_CAPPED, hashes + done, k, hashes + n,
							 &again);
		else
			kept = sift_some(tally, SH_DAMP_SQRT, hashes + done, k, NULL, NULL);
		memmove(hashes + gained, hashes + done, kept * sizeof *hashes);
		gained += kept;
	}
	memmove(hashes + gained, hashes + n, again * sizeof *hashes);
	return gained + again;
}

/* Give the memory back. */
void
sh_tally_end(ShTally *tally)
{
	if (tally->slots > 0)
	{
		tally->release(tally->hashes);
		tally->slots = 0;
	}
}
