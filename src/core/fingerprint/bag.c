/*-------------------------------------------------------------------------
 *
 * bag.c
 *		The features of a document with their weights, and what two documents
 *		have in common: their exact similarity.
 *
 * Features are told apart by their hashes, as they are in a fingerprint: what
 * is compared is what fingerprints estimate.  They are listed in the order in
 * which they first occur, and a table of their numbers finds them by their
 * hash: the slots from the one on that a hash chooses, scrambled, up to one
 * that is free.  The table is cleared for each document, so it begins small.
 * Whether a feature is there is hard to foretell, so no jump depends on it
 * where the first slot has the answer, as it mostly does.
 *
 * Similarities are computed from whole numbers: a and b can change places, and
 * the result is the same in every session.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/fingerprint/bag.h"

#include <math.h>
#include <string.h>

#include "core/fingerprint/tally.h"

#define ROOM_MIN		2048	/* features of the first list */
#define SLOTS_MIN		2048	/* slots of the first table */
#define SLOTS_SPARE		4		/* slots a feature, at least */
#define BATCH			512		/* features that room is made for at once */
#define STRETCH			65536	/* features between two pauses */

/*
 * The slot of a hash from some slot on: the one that has its number, or else
 * the first one that is free.
 */
static size_t
find_bag_slot(const ShBag *bag, uint64_t hash, size_t slot)
{
	while (bag->table[slot] != 0 && bag->hashes[bag->table[slot]] != hash)
		slot = (slot + 1) & (bag->slots - 1);
	return slot;
}

/* Begin a document, with nothing in the bag. */
void
sh_bag_begin(ShBag *bag, ShDamping damping)
{
	bag->damping = damping;
	bag->seen = 0;
	if (bag->room > 0)
	{
		memset(bag->counts, 0, (bag->n + 1) * sizeof *bag->counts);
		memset(bag->weights, 0, (bag->n + 1) * sizeof *bag->weights);
	}
	bag->n = 0;
	bag->squares = bag->total = 0;
	bag->slots = bag->slots_room < SLOTS_MIN ? bag->slots_room : SLOTS_MIN;
	if (bag->slots > 0)
		memset(bag->table, 0, bag->slots * sizeof *bag->table);
}

/* Make room for more features in the list. */
static void
grow_bag_list(ShBag *bag)
{
	size_t		room = bag->room > 0 ? 2 * bag->room : ROOM_MIN;
	uint64_t   *hashes = bag->allocate(bag->context,
									   room * (sizeof *hashes +
											   2 * sizeof(uint32_t)));
	uint32_t   *counts = (uint32_t *) (hashes + room);
	uint32_t   *weights = counts + room;

	memset(counts, 0, 2 * room * sizeof *counts);
	hashes[0] = 0;
	if (bag->room > 0)
	{
		memcpy(hashes, bag->hashes, (bag->n + 1) * sizeof *hashes);
		memcpy(counts, bag->counts, (bag->n + 1) * sizeof *counts);
		memcpy(weights, bag->weights, (bag->n + 1) * sizeof *weights);
		bag->release(bag->hashes);
	}
	bag->hashes = hashes;
	bag->counts = counts;
	bag->weights = weights;
	bag->room = room;
}

/* Enter all features into a table that is free. */
static void
enter_all(ShBag *bag)
{
	for (size_t i = 1; i <= bag->n; i++)
	{
		size_t		slot = sh_first_slot(bag->hashes[i], bag->multiplier,
										 bag->slots - 1);

		bag->table[find_bag_slot(bag, bag->hashes[i], slot)] = (uint32_t) i;
	}
}

/* Make the table larger, and enter all features anew. */
static void
grow_bag_table(ShBag *bag)
{
	size_t		slots = bag->slots > 0 ? 4 * bag->slots : SLOTS_MIN;

	if (slots > bag->slots_room)
	{
		uint32_t   *table = bag->allocate(bag->context,
										  slots * sizeof *table);

		if (bag->slots_room > 0)
			bag->release(bag->table);
		bag->table = table;
		bag->slots_room = slots;
	}
	bag->slots = slots;
	memset(bag->table, 0, slots * sizeof *bag->table);
	enter_all(bag);
}

/* End a section: the counts become weights, or are added to them. */
static void
end_bag_section(ShBag *bag)
{
	for (size_t i = 1; i <= bag->n; i++)
	{
		uint32_t	n = bag->counts[i];

		/* What occurs once weighs 1, however it is damped. */
		bag->weights[i] += n <= 1 ? n : sh_damp(bag->damping, n);
		bag->counts[i] = 0;
	}
	bag->seen = 0;
}

/* Add occurrences of features that there is room for. */
static void
enter_some(ShBag *bag, const uint64_t *hashes, size_t n)
{
	const uint64_t multiplier = bag->multiplier;
	const size_t mask = bag->slots - 1;
	uint32_t   *table = bag->table;
	uint64_t   *there = bag->hashes;
	uint32_t   *counts = bag->counts;
	size_t		last = bag->n;

	for (size_t i = 0; i < n; i++)
	{
		uint64_t	hash = hashes[i];
		size_t		slot = sh_first_slot(hash, multiplier, mask);
		size_t		number = table[slot];
		size_t		fresh;

		if ((number != 0) & (there[number] != hash))
		{
			slot = find_bag_slot(bag, hash, slot);
			number = table[slot];
		}
		fresh = number == 0;
		last += fresh;
		number |= last & -fresh;
		table[slot] = (uint32_t) number;
		there[number] = hash;
		counts[number]++;
	}
	bag->n = last;
}

/* Add n occurrences of features. */
void
sh_bag_add(ShBag *bag, const uint64_t *hashes, size_t n)
{
	for (size_t done = 0, k; done < n; done += k)
	{
		if (bag->seen == SH_SECTION)
			end_bag_section(bag);
		k = n - done < BATCH ? n - done : BATCH;
		if (k > SH_SECTION - bag->seen)
			k = SH_SECTION - bag->seen;
		while (bag->n + k >= bag->room)
			grow_bag_list(bag);
		while (SLOTS_SPARE * (bag->n + k) > bag->slots)
			grow_bag_table(bag);
		enter_some(bag, hashes + done, k);
		bag->seen += (uint32_t) k;
	}
}

/* End the document. */
void
sh_bag_end(ShBag *bag)
{
	end_bag_section(bag);
	for (size_t i = 1; i <= bag->n; i++)
	{
		bag->squares += (uint64_t) bag->weights[i] * bag->weights[i];
		bag->total += bag->weights[i];
	}
}

/* Put the features of a list, which are all different, into a bag. */
void
sh_bag_load(ShBag *bag, const ShFeatures *list)
{
	sh_bag_begin(bag, bag->damping);
	if (list->n == 0)
		return;
	while (list->n >= bag->room)
		grow_bag_list(bag);
	while (SLOTS_SPARE * list->n > bag->slots)
		grow_bag_table(bag);
	memcpy(bag->hashes + 1, list->hashes, list->n * sizeof *bag->hashes);
	memcpy(bag->weights + 1, list->weights, list->n * sizeof *bag->weights);
	bag->n = list->n;
	bag->squares = list->squares;
	bag->total = list->total;
	enter_all(bag);
}

/*
 * What a bag has in common with a list.  It takes less time if the shorter one is
 * the list.
 */
ShOverlap
sh_bag_overlap(const ShBag *bag, const ShFeatures *list, void (*pause) (void))
{
	const uint64_t multiplier = bag->multiplier;
	const size_t mask = bag->slots - 1;
	ShOverlap	overlap = {0};

	for (size_t i = 0; i < list->n && bag->n > 0; i++)
	{
		uint64_t	hash = list->hashes[i];
		size_t		slot = sh_first_slot(hash, multiplier, mask);
		size_t		number = bag->table[slot];
		uint32_t	weight;

		/* Number 0, which a free slot has, weighs 0. */
		if ((number != 0) & (bag->hashes[number] != hash))
			number = bag->table[find_bag_slot(bag, hash, slot)];
		weight = bag->weights[number];
		overlap.common += number != 0;
		overlap.dot += (uint64_t) weight * list->weights[i];
		overlap.least += weight < list->weights[i] ? weight : list->weights[i];
		if (i % STRETCH == STRETCH - 1)
			pause();
	}
	return overlap;
}

/*
 * The Jaccard similarity of two sets of features: how many both have, divided
 * by how many either has.  False when one of them is empty.
 */
bool
sh_bag_jaccard(const ShBag *bag, const ShFeatures *list, void (*pause) (void),
			   double *similarity)
{
	uint64_t	common = sh_bag_overlap(bag, list, pause).common;

	*similarity = (double) common / (double) (bag->n + list->n - common);
	return bag->n > 0 && list->n > 0;
}

/*
 * The cosine of the angle between two vectors of weights.  False when one of
 * them is empty.
 */
bool
sh_bag_cosine(const ShBag *bag, const ShFeatures *list, void (*pause) (void),
			  double *similarity)
{
	uint64_t	dot = sh_bag_overlap(bag, list, pause).dot;

	/* Of a bag and itself this is 1, as the root of a square is exact. */
	*similarity = fmin(1, (double) dot / sqrt((double) bag->squares *
											  (double) list->squares));
	return bag->n > 0 && list->n > 0;
}
