/*-------------------------------------------------------------------------
 *
 * idf_table.c
 *		Weights looked up by hash.
 *
 * The table is one of open addressing, with linear probing, half full.  Hash
 * and weight stand together, so that a look-up misses the processor's cache
 * once at most; and the slots of a whole batch of hashes can be asked for in
 * advance.  Hashes are compared in full: a weight is never another feature's.
 *
 * As in tally.c no jump depends on what a slot holds, which the processor
 * could not guess.  Each round looks at one slot for each hash and takes its
 * weight, whatever it is; those that met another hash there are listed, and
 * look at the next slot in another round.  A free slot holds the weight of
 * what is not known, so it needs no care of its own.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "idf.h"

#define SPARE			2		/* slots for each feature */
#define LOOK_UP_MAX		256		/* hashes looked up at once */

/* The slots that the table of a value needs. */
size_t
sh_idf_slots(const ShIdf *idf)
{
	return SPARE * (size_t) idf->entries + 1;
}

/* The slot that a hash is looked for in first. */
static inline size_t
first_slot(const ShIdfTable *table, uint64_t hash)
{
	return (size_t) ((hash * table->multiplier >> 32) * table->n >> 32);
}

/* The slot behind a slot. */
static inline size_t
next_slot(const ShIdfTable *table, size_t slot)
{
	return slot + 1 < table->n ? slot + 1 : 0;
}

/*
 * Fill a table, of which the caller has set n, multiplier and slots.  False
 * when the entries are damaged.
 */
bool
sh_idf_fill(ShIdfTable *table, const ShIdf *idf, void (*pause) (void))
{
	bool		learnt = idf->kind == SH_IDF_LEARNT;
	ShIdfReader reader;
	ShIdfEntry	entry;

	table->profile = idf->profile;
	table->unknown = learnt ? sh_idf_weight(idf->documents, 0) : idf->fallback;
	for (size_t i = 0; i < table->n; i++)
	{
		if (i % SH_IDF_STRETCH == 0)
			pause();
		table->slots[i].hash = 0;
		table->slots[i].weight = table->unknown;
		table->slots[i].taken = 0;
	}
	sh_idf_read(&reader, idf);
	while (sh_idf_next(&reader, &entry))
	{
		size_t		i = first_slot(table, entry.hash);

		while (table->slots[i].taken)
			i = next_slot(table, i);
		table->slots[i].hash = entry.hash;
		table->slots[i].taken = 1;
		table->slots[i].weight = learnt ?
			sh_idf_weight(idf->documents, (uint32_t) entry.value) :
			(uint32_t) entry.value;
		if (reader.left % SH_IDF_STRETCH == 0)
			pause();
	}
	return reader.left == 0;
}

/* Have the slots of hashes fetched that will be looked up soon. */
void
sh_idf_prefetch(const ShIdfTable *table, const uint64_t *hashes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(&table->slots[first_slot(table, hashes[i])]);
}

/*
 * Look for a hash in a slot, and set *weight to what is there.  True when that
 * is another feature, so that the next slot has to be looked at.
 */
static inline bool
look_further(const ShIdfTable *table, size_t slot, uint64_t hash,
			 uint32_t *weight)
{
	ShIdfSlot	there = table->slots[slot];

	*weight = there.weight;
	return (there.hash != hash) & there.taken;
}

/* Look up the weights of up to LOOK_UP_MAX hashes. */
static void
look_up_some(const ShIdfTable *table, const uint64_t *hashes,
			 uint32_t *weights, size_t n)
{
	const ShIdfTable t = *table;
	uint32_t	slots[LOOK_UP_MAX]; /* where each was looked for last */
	uint8_t		late[LOOK_UP_MAX];
	size_t		nlate = 0;

	for (size_t i = 0; i < n; i++)
	{
		size_t		slot = first_slot(&t, hashes[i]);

		slots[i] = (uint32_t) slot;
		late[nlate] = (uint8_t) i;
		nlate += look_further(&t, slot, hashes[i], &weights[i]);
	}
	while (nlate > 0)
	{
		size_t		still = 0;

		for (size_t k = 0; k < nlate; k++)
		{
			size_t		i = late[k];
			size_t		slot = next_slot(&t, slots[i]);

			slots[i] = (uint32_t) slot;
			late[still] = (uint8_t) i;
			still += look_further(&t, slot, hashes[i], &weights[i]);
		}
		nlate = still;
	}
}

/* Look up the weights of hashes. */
void
sh_idf_look_up(const ShIdfTable *table, const uint64_t *hashes,
			   uint32_t *weights, size_t n)
{
	for (size_t done = 0, k; done < n; done += k)
	{
		k = n - done < LOOK_UP_MAX ? n - done : LOOK_UP_MAX;
		look_up_some(table, hashes + done, weights + done, k);
	}
}
