/*-------------------------------------------------------------------------
 *
 * bags.c
 *		The features of documents, in bags.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "common/pg_prng.h"
#include "utils/memutils.h"

/* Fill in the part of a bag that stays; the rest lies in a memory context. */
void
simhash_init_bag(ShBag *bag, MemoryContext context)
{
	bag->allocate = simhash_allocate;
	bag->context = context;
	bag->release = pfree;
	bag->multiplier = pg_prng_uint64(&pg_global_prng_state) | 1;
}

/* ShHashReader: add the hashes to the bag. */
static void
add_to_bag(void *state, const uint64 *hashes, size_t n)
{
	CHECK_FOR_INTERRUPTS();
	sh_bag_add((ShBag *) state, hashes, n);
}

/* Collect the features of a document in a bag that has its part that stays. */
void
simhash_fill_bag(ShBag *bag, ShDamping damping, const ShProfile *profile,
				 text *document)
{
	sh_bag_begin(bag, damping);
	simhash_read_hashes(simhash_begin_document(simhash_comparing_profile(profile)),
						document, add_to_bag, bag);
	sh_bag_end(bag);
}

/* The same for an array of features, of which each weighs its number. */
void
simhash_fill_bag_of(ShBag *bag, ArrayType *features)
{
	uint64	   *hashes;
	int			n = simhash_hash_set(features,
									 simhash_comparing_profile(sh_default_profile),
									 &hashes);

	sh_bag_begin(bag, SH_DAMP_COUNT);
	sh_bag_add(bag, hashes, n);
	sh_bag_end(bag);
}
