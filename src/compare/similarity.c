/*-------------------------------------------------------------------------
 *
 * similarity.c
 *		The exact similarity of two documents, by their features.
 *
 * What a fingerprint estimates, computed: for those candidates that a search
 * has found.  Candidates are compared with one and the same document, or those
 * of one row after the other, so the features of the last two documents are
 * remembered until the transaction ends, with a copy of each to know it again.
 * Most candidates have too few features in common: words are read, and remembered
 * as well, only of documents that have enough.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/fingerprint/bag.h"

#define REMEMBERED_BYTES	(16 * 1024 * 1024)	/* remembered between calls */

/* A document remembered with its features. */
typedef struct Memory
{
	const ShProfile *profile;	/* NULL when there is no document */
	SimhashMeasure measure;
	bool		array;			/* of features, and no text */
	StringInfoData text;
	ShBag		bag;
	SimhashDocument document;
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

/* Free the words of a document. */
static void
free_words(SimhashWords *words)
{
	if (words->list != NULL)
	{
		pfree(words->list);
		pfree(words->forms);
	}
	memset(words, 0, sizeof *words);
}

/* Read the features of a document into a place. */
static void
fill_memory(Memory *memory, const SimhashComparison *comparison, text *document)
{
	MemoryContext old = MemoryContextSwitchTo(lasting);

	/* No document is there if this ends by an error. */
	memory->profile = NULL;
	if (memory->bag.allocate == NULL)
		simhash_init_bag(&memory->bag, lasting);
	free_words(&memory->document.words);
	memory->document.features = simhash_read_features(comparison, &memory->bag,
													  PointerGetDatum(document));
	MemoryContextSwitchTo(old);
	simhash_make_copy(&memory->text, lasting, document);
	memory->profile = comparison->profile;
	memory->measure = comparison->measure;
	memory->array = comparison->arrays;
}

/* Read its words, too, unless they are there. */
static void
fill_words(Memory *memory, const SimhashComparison *comparison, text *document)
{
	MemoryContext old = MemoryContextSwitchTo(lasting);

	if (memory->document.words.list == NULL)
		memory->document.words = simhash_read_aligned(comparison, document);
	MemoryContextSwitchTo(old);
}

/* The place of a document, or -1. */
static int
find_memory(const SimhashComparison *comparison, text *document)
{
	for (int i = 0; i < 2; i++)
	{
		if (memories[i].profile == comparison->profile &&
			memories[i].measure == comparison->measure &&
			memories[i].array == comparison->arrays &&
			simhash_is_copy(&memories[i].text, document))
			return i;
	}
	return -1;
}

/*
 * Judge two documents, or two arrays of features, without telling doubts apart; sets
 * their similarity, or -1 when there is none.
 */
SimhashVerdict
simhash_compare(const SimhashComparison *comparison, text *a, text *b,
				double *similarity)
{
	int			at_a = find_memory(comparison, a);
	int			at_b = find_memory(comparison, b);
	const SimhashDocument *x;
	const SimhashDocument *y;
	ShOverlap	overlap;
	SimhashVerdict verdict;

	if (lasting == NULL)
		lasting = simhash_lasting_context(forget_bags);
	if (at_a < 0)
	{
		at_a = at_b == 0 ? 1 : 0;
		fill_memory(&memories[at_a], comparison, a);
		at_b = find_memory(comparison, b);
	}
	if (at_b < 0)
	{
		at_b = 1 - at_a;
		fill_memory(&memories[at_b], comparison, b);
	}
	x = &memories[at_a].document;
	y = &memories[at_b].document;
	verdict = simhash_judge_features(comparison, x, y, &memories[at_a].bag, &overlap,
									 similarity);
	if (verdict == SIMHASH_ALIKE && simhash_measures[comparison->measure].aligned)
	{
		if (!comparison->arrays)
		{
			fill_words(&memories[at_a], comparison, a);
			fill_words(&memories[at_b], comparison, b);
		}

		/*
		 * No sign may be put in or left out: most that are near differ in
		 * some.
		 */
		verdict = x->words.signs != y->words.signs ? SIMHASH_UNLIKE :
			simhash_judge_words(comparison, x, y, &overlap, NULL);
	}
	if (MemoryContextMemAllocated(lasting, false) > REMEMBERED_BYTES)
		MemoryContextDelete(lasting);
	return verdict;
}

/*
 * The similarity of arguments 0 and 1, documents or arrays of features, which
 * are stored alike, by profile argument 2.
 */
static Datum
return_similarity(FunctionCallInfo fcinfo, SimhashMeasure measure, bool arrays)
{
	SimhashComparison comparison = {.measure = measure,.arrays = arrays};
	double		similarity;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	comparison.profile = simhash_profile_argument(fcinfo, 2);
	(void) simhash_compare(&comparison, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1),
						   &similarity);
	if (similarity < 0)
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

/* Are arguments 0 and 1 alike, at least as much as another argument says? */
static Datum
return_alike(FunctionCallInfo fcinfo, SimhashComparison *comparison, int at_least)
{
	double		similarity;
	SimhashVerdict verdict;

	comparison->at_least = simhash_check_at_least(PG_GETARG_FLOAT8(at_least));
	verdict = simhash_compare(comparison, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1),
							  &similarity);
	if (similarity < 0)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(verdict == SIMHASH_ALIKE);
}

/*
 * simhash_alike(a text, b text, similarity text DEFAULT 'alike',
 *		at_least double precision DEFAULT 0.8, profile text DEFAULT NULL) -> boolean
 *
 * Are two documents alike, so that one may go for the other?  The head of judge.c
 * says how that is judged.  NULL when one of them has no feature; a NULL profile is
 * the default one.
 *
 * Errors: undefined_object when there is no such profile,
 * invalid_parameter_value (at_least, similarity).
 */
Datum
simhash_alike(PG_FUNCTION_ARGS)
{
	SimhashComparison comparison = {.arrays = false};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(3))
		PG_RETURN_NULL();
	comparison.profile = simhash_profile_argument(fcinfo, 4);
	comparison.measure = simhash_get_measure(simhash_optional_argument(fcinfo, 2));
	if (!simhash_measures[comparison.measure].aligned)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"similarity\" is \"%s\"",
						simhash_measures[comparison.measure].name),
				 errhint("It must be \"alike\", \"alike-but-digits\", \"alike-but-signs\" or \"alike-words\".")));
	return return_alike(fcinfo, &comparison, 3);
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
	SimhashComparison comparison = {
		.measure = SIMHASH_BY_ALIKE,.profile = sh_default_profile,.arrays = true
	};

	return return_alike(fcinfo, &comparison, 2);
}
