/*-------------------------------------------------------------------------
 *
 * similarity.c
 *		The exact similarity of two documents, by their features.
 *
 * What a fingerprint estimates, computed: for those candidates that a search
 * has found.  Candidates are compared with one and the same document, or those
 * of one row after the other, so the features of the last two documents are
 * remembered until the transaction ends, with a copy of each to know it again.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/fingerprint/bag.h"

/* Limits of the work done. */
#define REMEMBERED_BYTES	(16 * 1024 * 1024)	/* remembered between calls */

/* A document remembered with its features. */
typedef struct Memory
{
	const ShProfile *profile;	/* NULL when there is no document */
	StringInfoData document;
	ShBag		bag;
} Memory;

static Memory memories[2];
static MemoryContext lasting = NULL;	/* of what they have */

PG_FUNCTION_INFO_V1(simhash_jaccard);
PG_FUNCTION_INFO_V1(simhash_cosine);
PG_FUNCTION_INFO_V1(simhash_containment);
PG_FUNCTION_INFO_V1(simhash_jaccard_features);
PG_FUNCTION_INFO_V1(simhash_cosine_features);
PG_FUNCTION_INFO_V1(simhash_containment_features);

/* The lasting context is about to be freed: forget what lies in it. */
static void
forget_bags(void *arg)
{
	(void) arg;
	lasting = NULL;
	memset(memories, 0, sizeof memories);
}

/* Allocate for a bag. */
static void *
allocate_for_bag(void *context, size_t bytes)
{
	return MemoryContextAllocHuge(context, bytes);
}

/* Fill in the part of a bag that stays; the rest lies in a memory context. */
void
simhash_init_bag(ShBag *bag, MemoryContext context)
{
	bag->allocate = allocate_for_bag;
	bag->context = context;
	bag->release = pfree;
	bag->multiplier = pg_prng_uint64(&pg_global_prng_state) | 1;
}

/* SimhashHashReader: add the hashes to the bag. */
static bool
add_to_bag(void *state, const uint64 *hashes, size_t n)
{
	CHECK_FOR_INTERRUPTS();
	sh_bag_add((ShBag *) state, hashes, n);
	return true;
}

/* Collect the features of a document in a bag that has its part that stays. */
void
simhash_fill_bag(ShBag *bag, const ShProfile *profile, text *document)
{
	sh_bag_begin(bag, profile->damping);
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

/* Collect the features of a document in a place. */
static void
fill_memory(Memory *memory, const ShProfile *profile, text *document)
{
	ShBag	   *bag = &memory->bag;

	/* No document is there if this ends by an error. */
	memory->profile = NULL;
	if (bag->allocate == NULL)
		simhash_init_bag(bag, lasting);
	simhash_fill_bag(bag, profile, document);
	simhash_make_copy(&memory->document, lasting, document);
	memory->profile = profile;
}

/* The place of a document, or -1. */
static int
find_memory(const ShProfile *profile, text *document)
{
	for (int i = 0; i < 2; i++)
	{
		if (memories[i].profile == profile &&
			simhash_is_copy(&memories[i].document, document))
			return i;
	}
	return -1;
}

/* The similarity of a bag and a list; false when one of them is empty. */
bool
simhash_compare_features(SimhashMeasure measure, const ShBag *bag,
						 const ShFeatures *list, double *similarity)
{
	if (measure == SIMHASH_JACCARD)
		return sh_bag_jaccard(bag, list, simhash_pause, similarity);
	return sh_bag_cosine(bag, list, simhash_pause, similarity);
}

/* The same of two bags. */
static bool
compare_bags(SimhashMeasure measure, const ShBag *a, const ShBag *b,
			 double *similarity)
{
	ShFeatures	list = sh_bag_features(a->n < b->n ? a : b);
	const ShBag *bag = a->n < b->n ? b : a;
	uint64		dot;

	if (measure != SIMHASH_CONTAINMENT)
		return simhash_compare_features(measure, bag, &list, similarity);
	*similarity = (double) sh_bag_overlap(bag, &list, simhash_pause, &dot) /
		(double) a->n;
	return a->n > 0;
}

/*
 * The similarity of two documents by a profile; false when one of them has no
 * feature.
 */
bool
simhash_exact_similarity(SimhashMeasure measure, const ShProfile *profile,
						 text *a, text *b, double *similarity)
{
	int			at_a = find_memory(profile, a);
	int			at_b = find_memory(profile, b);
	bool		exists;

	if (lasting == NULL)
		lasting = simhash_lasting_context(forget_bags);
	if (at_a < 0)
	{
		at_a = at_b == 0 ? 1 : 0;
		fill_memory(&memories[at_a], profile, a);
		at_b = find_memory(profile, b);
	}
	if (at_b < 0)
	{
		at_b = 1 - at_a;
		fill_memory(&memories[at_b], profile, b);
	}
	exists = compare_bags(measure, &memories[at_a].bag, &memories[at_b].bag,
						  similarity);
	if (MemoryContextMemAllocated(lasting, false) > REMEMBERED_BYTES)
		MemoryContextDelete(lasting);
	return exists;
}

/* The similarity of arguments 0 and 1 by profile argument 2. */
static Datum
compare_documents(FunctionCallInfo fcinfo, SimhashMeasure measure)
{
	double		similarity;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) ||
		!simhash_exact_similarity(measure, simhash_profile_argument(fcinfo, 2),
								  PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1),
								  &similarity))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(similarity);
}

/*
 * simhash_jaccard(a text, b text, profile text DEFAULT NULL)
 *		-> double precision
 *
 * The Jaccard similarity of the sets of features of two documents: how many
 * both have, divided by how many either has.  NULL when one of them has no
 * feature; a NULL profile is the default one.
 *
 * Errors: undefined_object when there is no such profile.
 */
Datum
simhash_jaccard(PG_FUNCTION_ARGS)
{
	return compare_documents(fcinfo, SIMHASH_JACCARD);
}

/*
 * simhash_cosine(a text, b text, profile text DEFAULT NULL)
 *		-> double precision
 *
 * The cosine of the angle between the vectors of the features' weights.
 */
Datum
simhash_cosine(PG_FUNCTION_ARGS)
{
	return compare_documents(fcinfo, SIMHASH_COSINE);
}

/*
 * simhash_containment(a text, b text, profile text DEFAULT NULL)
 *		-> double precision
 *
 * The containment of document a in document b: how many of the features of a
 * are features of b, divided by how many a has (Broder 1997, "On the
 * resemblance and containment of documents").  NULL when a has no feature.
 *
 * Errors: undefined_object when there is no such profile.
 */
Datum
simhash_containment(PG_FUNCTION_ARGS)
{
	return compare_documents(fcinfo, SIMHASH_CONTAINMENT);
}

/* The similarity of arguments 0 and 1, arrays of features. */
static Datum
compare_arrays(FunctionCallInfo fcinfo, SimhashMeasure measure)
{
	ShBag		bags[2] = {{0}};
	double		similarity;

	for (int i = 0; i < 2; i++)
	{
		simhash_init_bag(&bags[i], CurrentMemoryContext);
		simhash_fill_bag_of(&bags[i], PG_GETARG_ARRAYTYPE_P(i));
	}
	if (!compare_bags(measure, &bags[0], &bags[1], &similarity))
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(similarity);
}

/*
 * simhash_jaccard(a text[], b text[]) -> double precision
 *
 * The Jaccard similarity of two sets of features; one that is given twice
 * counts once.  NULL when one of them is empty.
 *
 * Errors: array_subscript_error when an array has several dimensions,
 * null_value_not_allowed for NULL elements.
 */
Datum
simhash_jaccard_features(PG_FUNCTION_ARGS)
{
	return compare_arrays(fcinfo, SIMHASH_JACCARD);
}

/*
 * simhash_cosine(a text[], b text[]) -> double precision
 *
 * The cosine of the angle between two vectors of features, each of which weighs
 * the number of times that it is given.
 *
 * Errors: as above.
 */
Datum
simhash_cosine_features(PG_FUNCTION_ARGS)
{
	return compare_arrays(fcinfo, SIMHASH_COSINE);
}

/*
 * simhash_containment(a text[], b text[]) -> double precision
 *
 * The containment of one set of features in another; one that is given twice
 * counts once.  NULL when a is empty.
 *
 * Errors: as above.
 */
Datum
simhash_containment_features(PG_FUNCTION_ARGS)
{
	return compare_arrays(fcinfo, SIMHASH_CONTAINMENT);
}
