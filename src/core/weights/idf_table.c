/*-------------------------------------------------------------------------
 *
 * idf_table.c
 *		Weights looked up by hash.
 *
 * The table is made of buckets, each as large as what the processor fetches
 * from memory at once, with room for five features, hash and weight.  A hash
 * tells the bucket; so a look-up waits for memory once at most, and the
 * buckets of a whole batch of hashes can be asked for in advance.  Hashes are
 * compared in full: a weight is never another feature's.
 *
 * There are three features to a bucket on average.  One in twelve is full when
 * yet another feature belongs there; it goes to the first bucket behind that
 * has room, and those that it passes by remember that they have to be looked
 * beyond.
 *
 * As in tally.c no jump depends on what a bucket holds, which the processor
 * could not guess.  Each look-up compares all five hashes of a bucket and takes
 * the weight of the one that is equal; if none is, a sixth one, of what is not
 * known, marked where features have passed by: then the next bucket is looked at.
 *
 * What is free in a bucket has hash 0 and the weight of what is not known, so
 * it needs no care of its own.  If there is a feature whose hash is 0, it comes
 * in last, in front of what is still free, and is found before that.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/weights/idf.h"

#define AVERAGE			3		/* features to a bucket */
#define PASSED			(UINT32_C(1) << 31) /* more than any weight */
#define LOOK_UP_MAX		256		/* hashes looked up at once */

/* The buckets that the table of a value needs. */
size_t
sh_idf_buckets(const ShIdf *idf)
{
	return (size_t) idf->entries / AVERAGE + 1;
}

/* The bucket that a hash belongs to. */
static inline size_t
first_bucket(const ShIdfTable *table, uint64_t hash)
{
	return (size_t) ((hash * table->multiplier >> 32) * table->n >> 32);
}

/* The bucket behind a bucket. */
static inline size_t
next_bucket(const ShIdfTable *table, size_t bucket)
{
	return bucket + 1 < table->n ? bucket + 1 : 0;
}

/* Empty the table. */
static void
clear_table(ShIdfTable *table, void (*pause) (void))
{
	ShIdfBucket empty = {{0}, {0}};

	for (int i = 0; i <= SH_IDF_BUCKET; i++)
		empty.weights[i] = table->unknown;
	for (size_t b = 0; b < table->n; b++)
	{
		if (b % SH_IDF_STRETCH == 0)
			pause();
		table->buckets[b] = empty;
	}
}

/*
 * Put a feature where there is room for it; one with hash 0, which looks like
 * what is free, last of all.
 */
static void
insert_weight(ShIdfTable *table, uint64_t hash, uint32_t weight)
{
	size_t		b = first_bucket(table, hash);
	ShIdfBucket *bucket = &table->buckets[b];
	int			i = 0;

	while (bucket->hashes[SH_IDF_BUCKET - 1] != 0)
	{
		bucket->weights[SH_IDF_BUCKET] |= PASSED;
		b = next_bucket(table, b);
		bucket = &table->buckets[b];
	}
	while (bucket->hashes[i] != 0)
		i++;
	bucket->hashes[i] = hash;
	bucket->weights[i] = weight;
}

/*
 * Fill a table, of which the caller has set n, multiplier and buckets.  False
 * when the entries are damaged.
 */
bool
sh_idf_fill(ShIdfTable *table, const ShIdf *idf, void (*pause) (void))
{
	uint32_t	weight_of_zero;
	ShIdfReader reader;
	ShIdfEntry	entry;

	table->kind = idf->kind;
	table->profile = idf->profile;
	table->shortest = idf->shortest;
	table->unknown = sh_idf_unknown_weight(idf);
	weight_of_zero = table->unknown;
	clear_table(table, pause);
	sh_idf_read(&reader, idf);
	while (sh_idf_next(&reader, &entry))
	{
		uint32_t	weight = sh_idf_entry_weight(idf, &entry);

		if (entry.hash == 0)
			weight_of_zero = weight;
		else
			insert_weight(table, entry.hash, weight);
		if (reader.left % SH_IDF_STRETCH == 0)
			pause();
	}
	insert_weight(table, 0, weight_of_zero);
	return reader.left == 0;
}

/*
 * Look for a hash in a bucket, and set *weight to what it weighs unless it is
 * in another one.  True when the next bucket has to be looked at.
 */
static inline bool
look_further(const ShIdfTable *table, size_t bucket, uint64_t hash,
			 uint32_t *weight)
{
	const ShIdfBucket *there = &table->buckets[bucket];
	size_t		at = SH_IDF_BUCKET;
	uint32_t	found;

#pragma GCC unroll 5
	for (size_t i = SH_IDF_BUCKET; i-- > 0;)
		at = there->hashes[i] == hash ? i : at; /* the first of equals */
	found = there->weights[at];
	*weight = found & ~PASSED;
	return (found & PASSED) != 0;
}

/*
 * Look up the weights of hashes, LOOK_UP_MAX at a time.  First all buckets are
 * asked for, which then come while others are looked at.
 */
void
sh_idf_look_up(const ShIdfTable *table, const uint64_t *hashes,
			   uint32_t *weights, size_t n)
{
	const ShIdfTable t = *table;
	uint32_t	buckets[LOOK_UP_MAX];

	for (size_t start = 0; start < n; start += LOOK_UP_MAX)
	{
		size_t		end = n - start < LOOK_UP_MAX ? n : start + LOOK_UP_MAX;

		for (size_t i = start; i < end; i++)
		{
			buckets[i - start] = (uint32_t) first_bucket(&t, hashes[i]);
			__builtin_prefetch(&t.buckets[buckets[i - start]]);
		}
		for (size_t i = start; i < end; i++)
		{
			size_t		bucket = buckets[i - start];

			while (look_further(&t, bucket, hashes[i], &weights[i]))
				bucket = next_bucket(&t, bucket);
		}
	}
}
