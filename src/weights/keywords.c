/*-------------------------------------------------------------------------
 *
 * keywords.c
 *		The features of a document that weigh most, and words that are given.
 *
 * What simhash_tfidf(document, idf, top_k) adds up (see tfidf.c), as rows; and the
 * same of an array of words, as a word segmenter returns it, where the
 * frequency is the number of times that they occur.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "funcapi.h"
#include "miscadmin.h"

PG_FUNCTION_INFO_V1(simhash_keywords);
PG_FUNCTION_INFO_V1(simhash_word_tfidf);
PG_FUNCTION_INFO_V1(simhash_word_tfidf_bits);
PG_FUNCTION_INFO_V1(simhash_word_keywords);

/* qsort: the heaviest first; of equals, as sh_idf_before says. */
static int
by_weight(const void *a, const void *b)
{
	return sh_idf_before(a, b) ? -1 : sh_idf_before(b, a);
}

/*
 * Return the k heaviest of features, in order, as rows of (feature text,
 * weight double precision).  What weighs nothing is no keyword.
 */
static Datum
return_keywords(FunctionCallInfo fcinfo, const ShIdfTable *table,
				SimhashFeatures *features, size_t k)
{
	ShIdfEntry *entries = simhash_feature_entries(features);

	InitMaterializedSRF(fcinfo, 0);
	k = sh_idf_take_top(entries, features->n, k, table->multiplier,
						simhash_pause);
	qsort(entries, k, sizeof *entries, by_weight);
	for (size_t i = 0; i < k && entries[i].value > 0; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false};

		CHECK_FOR_INTERRUPTS();
		values[0] = PointerGetDatum(simhash_list_hash(features,
													  entries[i].hash)->feature);
		values[1] = Float8GetDatum((double) entries[i].value / SH_IDF_ONE);
		simhash_put_row(fcinfo, values, nulls);
	}
	return (Datum) 0;
}

/*
 * simhash_keywords(document text, idf simhash_idf, top_k bigint)
 *		-> setof (feature text, weight double precision)
 *
 * The top_k features that weigh most, the heaviest first: what
 * simhash_tfidf(document, idf, top_k) adds up.
 *
 * Errors: invalid_parameter_value when top_k is less than 1,
 * program_limit_exceeded when the document has more than a million features.
 */
Datum
simhash_keywords(PG_FUNCTION_ARGS)
{
	size_t		k = simhash_top_argument(fcinfo, 2);
	const ShIdfTable *table = simhash_document_idf(fcinfo, 1);
	SimhashFeatures features = {0};

	simhash_list_features(&features, table->profile, PG_GETARG_TEXT_PP(0));
	simhash_apply_idf(table, &features);
	return return_keywords(fcinfo, table, &features, k);
}

/* --- words that are given ------------------------------------------------- */

/*
 * The fingerprint of argument 0 with the idf that is argument 1, both not NULL;
 * argument "top" is top_k.  False if there is none.
 */
static bool
tfidf_of_words(FunctionCallInfo fcinfo, int top, int words, uint64 *result)
{
	size_t		k = PG_ARGISNULL(top) ? SIZE_MAX :
	simhash_top_argument(fcinfo, top);
	const ShIdfTable *table = simhash_idf_table(fcinfo, 1);
	SimhashFeatures features = {0};

	simhash_list_words(&features, table, PG_GETARG_ARRAYTYPE_P(0));
	return simhash_fingerprint_top(table, &features, k, words, result);
}

/*
 * simhash_tfidf(features text[], idf simhash_idf, top_k bigint DEFAULT NULL)
 *		-> bigint
 *
 * The fingerprint of words, each with the number of times that it occurs
 * times its idf; of the top_k that weigh most, or of all when it is NULL.
 *
 * Errors: as simhash(features, weights), and invalid_parameter_value when
 * top_k is less than 1.
 */
Datum
simhash_word_tfidf(PG_FUNCTION_ARGS)
{
	return simhash_return_tfidf(fcinfo, 0, tfidf_of_words);
}

/*
 * simhash_tfidf_bits(features text[], idf simhash_idf, bits bigint,
 *		top_k bigint DEFAULT NULL) -> bit
 *
 * The same in so many bits, of which the first 64 are those of
 * simhash_tfidf(features, idf, top_k).
 *
 * Errors: as before, and invalid_parameter_value unless bits is a multiple of
 * 64 from 64 to 1024.
 */
Datum
simhash_word_tfidf_bits(PG_FUNCTION_ARGS)
{
	return simhash_return_tfidf(fcinfo, 2, tfidf_of_words);
}

/*
 * simhash_keywords(features text[], idf simhash_idf, top_k bigint)
 *		-> setof (feature text, weight double precision)
 *
 * What simhash_tfidf(features, idf, top_k) adds up, the heaviest first.
 *
 * Errors: as before.
 */
Datum
simhash_word_keywords(PG_FUNCTION_ARGS)
{
	size_t		k = simhash_top_argument(fcinfo, 2);
	const ShIdfTable *table = simhash_idf_table(fcinfo, 1);
	SimhashFeatures features = {0};

	simhash_list_words(&features, table, PG_GETARG_ARRAYTYPE_P(0));
	return return_keywords(fcinfo, table, &features, k);
}
