/*-------------------------------------------------------------------------
 *
 * keywords.c
 *		The features of a document that weigh most, and words that are given.
 *
 * What simhash_tfidf(document, idf, top_k) adds up (see tfidf.c), as rows; and the
 * same of an array of words, as a word segmenter returns it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "funcapi.h"

PG_FUNCTION_INFO_V1(simhash_keywords);
PG_FUNCTION_INFO_V1(simhash_word_keywords);

/* qsort: the heaviest first; of equals, as sh_idf_before says. */
static int
by_weight(const void *a, const void *b)
{
	return sh_idf_before(a, b) ? -1 : sh_idf_before(b, a);
}

/*
 * Return the features of argument 0, a document or given words, that weigh most
 * by the idf that is argument 1, at most as many as argument 2 says: in order, as
 * rows of (feature text, weight double precision).  What weighs nothing is no
 * keyword.
 */
static Datum
return_keywords(FunctionCallInfo fcinfo, bool given)
{
	size_t		k = simhash_top_argument(fcinfo, 2);
	const ShIdfTable *table = given ? simhash_idf_table(fcinfo, 1) :
	simhash_document_idf(fcinfo, 1);
	SimhashFeatures features = {0};
	ShIdfEntry *entries;

	if (given)
		simhash_list_words(&features, table, PG_GETARG_ARRAYTYPE_P(0));
	else
	{
		simhash_list_features(&features, table->profile, PG_GETARG_TEXT_PP(0));
		simhash_apply_idf(table, &features);
	}
	entries = simhash_feature_entries(&features);
	InitMaterializedSRF(fcinfo, 0);
	k = sh_idf_take_top(entries, features.n, k, table->multiplier,
						simhash_pause);
	qsort(entries, k, sizeof *entries, by_weight);
	for (size_t i = 0; i < k && entries[i].value > 0; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false};

		CHECK_FOR_INTERRUPTS();
		values[0] = PointerGetDatum(simhash_list_hash(&features,
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
	return return_keywords(fcinfo, false);
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
	return return_keywords(fcinfo, true);
}
