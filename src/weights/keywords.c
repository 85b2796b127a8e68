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

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

/* A feature of a list, with its weight. */
typedef struct Keyword
{
	ShIdfEntry	entry;
	text	   *feature;
} Keyword;

PG_FUNCTION_INFO_V1(simhash_keywords);
PG_FUNCTION_INFO_V1(simhash_word_tfidf);
PG_FUNCTION_INFO_V1(simhash_word_tfidf_bits);
PG_FUNCTION_INFO_V1(simhash_word_keywords);

/* qsort: the heaviest first; of equals, as sh_idf_before says. */
static int
by_weight(const void *a, const void *b)
{
	const ShIdfEntry *x = &((const Keyword *) a)->entry;
	const ShIdfEntry *y = &((const Keyword *) b)->entry;

	return sh_idf_before(x, y) ? -1 : sh_idf_before(y, x);
}

/*
 * Return the k heaviest of features, in order, as rows of (feature text,
 * weight double precision).  The entries are those of the features.  What
 * weighs nothing is no keyword.
 */
static Datum
return_keywords(FunctionCallInfo fcinfo, const ShIdfTable *table,
				ShIdfEntry *entries, text **features, size_t n, size_t k)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Keyword    *keywords;
	ShIdfEntry *ranked;
	ShIdfEntry	last;
	size_t		kept = 0;

	if (n == 0)
		return (Datum) 0;
	ranked = MemoryContextAllocHuge(CurrentMemoryContext, n * sizeof *ranked);
	memcpy(ranked, entries, n * sizeof *ranked);
	k = simhash_take_top(table, ranked, n, k);
	last = ranked[0];
	for (size_t i = 1; i < k; i++)
	{
		if (sh_idf_before(&last, &ranked[i]))
			last = ranked[i];
	}
	pfree(ranked);
	keywords = MemoryContextAllocHuge(CurrentMemoryContext,
									  k * sizeof *keywords);
	for (size_t i = 0; i < n; i++)
	{
		if (sh_idf_before(&last, &entries[i]) || entries[i].value == 0)
			continue;
		keywords[kept].entry = entries[i];
		keywords[kept++].feature = features[i];
	}
	qsort(keywords, kept, sizeof *keywords, by_weight);
	for (size_t i = 0; i < kept; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false};

		CHECK_FOR_INTERRUPTS();
		values[0] = PointerGetDatum(keywords[i].feature);
		values[1] = Float8GetDatum((double) keywords[i].entry.value /
								   SH_IDF_ONE);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
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
	SimhashFeature **listed;
	ShIdfEntry *entries;
	text	  **features;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	listed = simhash_list_features(table->profile, PG_GETARG_TEXT_PP(0), &n);
	entries = palloc(Max(n, 1) * sizeof *entries);
	features = palloc(Max(n, 1) * sizeof *features);
	for (int i = 0; i < n; i++)
	{
		entries[i].hash = listed[i]->hash;
		entries[i].value = (uint64) listed[i]->weight;
		features[i] = listed[i]->feature;
	}
	simhash_apply_idf(table, entries, n);
	return return_keywords(fcinfo, table, entries, features, n, k);
}

/* --- words that are given ------------------------------------------------- */

/*
 * Argument 0, an array of words, as entries: each word once, with the number
 * of times that it occurs, times its idf.  The words go to *features unless
 * that is NULL.
 */
static ShIdfEntry *
word_entries(FunctionCallInfo fcinfo, const ShIdfTable *table,
			 text ***features, size_t *n)
{
	ShDocument *workspace = simhash_begin_document(table->profile);
	ShTally    *tally = &workspace->tally;
	ShIdfEntry *entries;
	Datum	   *words;
	int			length;
	int			distinct = 0;

	length = simhash_get_elements(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, -1, false,
								  TYPALIGN_INT, "features", &words);
	entries = MemoryContextAllocHuge(CurrentMemoryContext,
									 Max(length, 1) * sizeof *entries);
	if (features != NULL)
		*features = MemoryContextAllocHuge(CurrentMemoryContext,
										   Max(length, 1) * sizeof **features);
	for (int i = 0; i < length; i++)
	{
		text	   *word = DatumGetTextPP(words[i]);
		uint64		hash;

		CHECK_FOR_INTERRUPTS();
		if (!simhash_word_counts(table, word))
			continue;
		simhash_check_word(table, workspace, word);
		hash = simhash_hash_feature(table->profile, VARDATA_ANY(word),
									VARSIZE_ANY_EXHDR(word));
		if (++*sh_tally_count(tally, hash) > 1)
			continue;
		if (features != NULL)
			(*features)[distinct] = word;
		entries[distinct++].hash = hash;
	}
	for (int i = 0; i < distinct; i++)
		entries[i].value = *sh_tally_count(tally, entries[i].hash);
	simhash_apply_idf(table, entries, distinct);
	*n = (size_t) distinct;
	return entries;
}

/*
 * The fingerprint of argument 0 with the idf that is argument 1, both not NULL;
 * argument "top" is top_k.  False if there is none.
 */
static bool
fingerprint_words(FunctionCallInfo fcinfo, int top, int words, uint64 *result)
{
	size_t		k = PG_ARGISNULL(top) ? SIZE_MAX :
	simhash_top_argument(fcinfo, top);
	const ShIdfTable *table = simhash_idf_table(fcinfo, 1);
	size_t		n;
	ShIdfEntry *entries = word_entries(fcinfo, table, NULL, &n);

	n = simhash_take_top(table, entries, n, k);
	return simhash_fingerprint_entries(entries, n, words, result);
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
	uint64		result;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) ||
		!fingerprint_words(fcinfo, 2, 1, &result))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) result);
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
	uint64		result[SH_WORDS];
	int			words;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	words = simhash_words_argument(fcinfo, 2);
	if (!fingerprint_words(fcinfo, 3, words, result))
		PG_RETURN_NULL();
	return simhash_make_bits(result, words);
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
	ShIdfEntry *entries;
	text	  **features;
	size_t		n;

	InitMaterializedSRF(fcinfo, 0);
	entries = word_entries(fcinfo, table, &features, &n);
	return return_keywords(fcinfo, table, entries, features, n, k);
}
