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

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/fingerprint/bag.h"

#define REMEMBERED_BYTES	(16 * 1024 * 1024)	/* remembered between calls */

/* A document remembered with its features. */
typedef struct Memory
{
	const ShProfile *profile;	/* NULL when there is no document */
	bool		counted;		/* features are, and longer windows are there */
	bool		array;			/* of features, and no text */
	StringInfoData document;
	ShBag		bag;
	ShBag		longer;
	SimhashEvidence evidence;	/* if counted */
} Memory;

static Memory memories[2];
static MemoryContext lasting = NULL;	/* of what they have */

PG_FUNCTION_INFO_V1(simhash_jaccard);
PG_FUNCTION_INFO_V1(simhash_cosine);
PG_FUNCTION_INFO_V1(simhash_containment);
PG_FUNCTION_INFO_V1(simhash_jaccard_features);
PG_FUNCTION_INFO_V1(simhash_cosine_features);
PG_FUNCTION_INFO_V1(simhash_containment_features);
PG_FUNCTION_INFO_V1(simhash_alike);
PG_FUNCTION_INFO_V1(simhash_alike_features);

/* The lasting context is about to be freed: forget what lies in it. */
static void
forget_bags(void *arg)
{
	(void) arg;
	lasting = NULL;
	memset(memories, 0, sizeof memories);
}

/* Collect the features of a document in a place. */
static void
fill_memory(Memory *memory, const ShProfile *profile, bool counted,
			bool array, text *document)
{
	ShBag	   *bag = &memory->bag;

	/* No document is there if this ends by an error. */
	memory->profile = NULL;
	if (bag->allocate == NULL)
	{
		simhash_init_bag(bag, lasting);
		simhash_init_bag(&memory->longer, lasting);
	}
	if (array)
	{
		simhash_fill_bag_of(bag, DatumGetArrayTypeP(PointerGetDatum(document)));
		memory->evidence = simhash_features_evidence(bag);
	}
	else
		simhash_fill_bag(bag, counted ? SH_DAMP_COUNT : profile->damping,
						 profile, document);
	if (counted && !array)
		memory->evidence = simhash_text_evidence(bag, &memory->longer,
												 profile, document);
	simhash_make_copy(&memory->document, lasting, document);
	memory->profile = profile;
	memory->counted = counted;
	memory->array = array;
}

/* The place of a document, or -1. */
static int
find_memory(const ShProfile *profile, bool counted, bool array, text *document)
{
	for (int i = 0; i < 2; i++)
	{
		if (memories[i].profile == profile && memories[i].counted == counted &&
			memories[i].array == array &&
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

	if (measure != SIMHASH_CONTAINMENT)
		return simhash_compare_features(measure, bag, &list, similarity);
	*similarity = (double) sh_bag_overlap(bag, &list, simhash_pause).common /
		(double) a->n;
	return a->n > 0;
}

/*
 * The similarity of two documents by a profile, or of two arrays of features;
 * false when one of them has no feature, or when they should be alike, of at
 * least that similarity, and are not.
 */
bool
simhash_exact_similarity(SimhashMeasure measure, const ShProfile *profile,
						 double at_least, bool arrays, text *a, text *b,
						 double *similarity)
{
	bool		counted = measure == SIMHASH_BY_ALIKE;
	int			at_a = find_memory(profile, counted, arrays, a);
	int			at_b = find_memory(profile, counted, arrays, b);
	bool		exists;

	if (lasting == NULL)
		lasting = simhash_lasting_context(forget_bags);
	if (at_a < 0)
	{
		at_a = at_b == 0 ? 1 : 0;
		fill_memory(&memories[at_a], profile, counted, arrays, a);
		at_b = find_memory(profile, counted, arrays, b);
	}
	if (at_b < 0)
	{
		at_b = 1 - at_a;
		fill_memory(&memories[at_b], profile, counted, arrays, b);
	}
	if (counted)
		exists = simhash_judge(profile, at_least, 0, &memories[at_a].evidence,
							   &memories[at_b].evidence, &memories[at_a].bag,
							   &memories[at_a].longer,
							   similarity) == SIMHASH_ALIKE;
	else
		exists = compare_bags(measure, &memories[at_a].bag,
							  &memories[at_b].bag, similarity);
	if (MemoryContextMemAllocated(lasting, false) > REMEMBERED_BYTES)
		MemoryContextDelete(lasting);
	return exists;
}

/*
 * The similarity of arguments 0 and 1, documents or arrays of features, which
 * are stored alike, by profile argument 2.
 */
static Datum
return_similarity(FunctionCallInfo fcinfo, SimhashMeasure measure, bool arrays)
{
	double		similarity;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) ||
		!simhash_exact_similarity(measure, simhash_profile_argument(fcinfo, 2),
								  0, arrays, PG_GETARG_TEXT_PP(0),
								  PG_GETARG_TEXT_PP(1), &similarity))
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
	return return_similarity(fcinfo, SIMHASH_JACCARD, false);
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
	return return_similarity(fcinfo, SIMHASH_COSINE, false);
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
	return return_similarity(fcinfo, SIMHASH_CONTAINMENT, false);
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
	return return_similarity(fcinfo, SIMHASH_JACCARD, true);
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
	return return_similarity(fcinfo, SIMHASH_COSINE, true);
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
	return return_similarity(fcinfo, SIMHASH_CONTAINMENT, true);
}

/* Are arguments 0 and 1 alike by a profile, by argument 2 at least? */
static Datum
return_alike(FunctionCallInfo fcinfo, const ShProfile *profile, bool arrays)
{
	double		similarity = -1;
	bool		alike = simhash_exact_similarity(SIMHASH_BY_ALIKE, profile,
												 simhash_check_at_least(PG_GETARG_FLOAT8(2)),
												 arrays, PG_GETARG_TEXT_PP(0),
												 PG_GETARG_TEXT_PP(1),
												 &similarity);

	if (similarity < 0)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(alike);
}

/*
 * simhash_alike(a text, b text, at_least double precision DEFAULT 0.8,
 *		profile text DEFAULT NULL) -> boolean
 *
 * Are two documents alike, so that one may go for the other?  The head of alike.c
 * says what is asked.  NULL when one of them has no feature; a NULL profile is
 * the default one.
 *
 * Errors: undefined_object when there is no such profile,
 * invalid_parameter_value (at_least).
 */
Datum
simhash_alike(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	return return_alike(fcinfo, simhash_profile_argument(fcinfo, 3), false);
}

/*
 * simhash_alike(a text[], b text[], at_least double precision DEFAULT 0.8)
 *		-> boolean
 *
 * The same of arrays of features, which are nothing but counted.
 *
 * Errors: array_subscript_error when an array has several dimensions,
 * null_value_not_allowed for NULL elements, invalid_parameter_value (at_least).
 */
Datum
simhash_alike_features(PG_FUNCTION_ARGS)
{
	return return_alike(fcinfo, sh_default_profile, true);
}
