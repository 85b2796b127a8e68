/*-------------------------------------------------------------------------
 *
 * tfidf.c
 *		simhash_tfidf(document, idf): the fingerprint of a document's features,
 *		weighted by how often they occur and how rare they are.
 *
 * The document is cut into features, each is weighed by its frequency in the
 * document times its inverse document frequency, the top k are kept if k is
 * given, hashes are added up, and the signs of the sums are the fingerprint.
 * The frequency in the document is damped as the profile of the simhash_idf
 * value says, so that with equal idf for all features the fingerprint is that
 * of simhash(document, profile).  keywords.c lists the top k.
 *
 * The same is done for an array of words, as a word segmenter returns it, where
 * the frequency is the number of times that they occur.
 *
 * The weight of a feature grows step by step as it occurs again, and each time
 * sh_document_sift says so.  Without k, no list of the features is needed: the
 * hash is added to the sums once more, with its idf (weigh_hashes).  With k,
 * features are listed, and their steps counted (count_hashes).  For example,
 * "a b a c", where the idf of a is 2, of b 5 and of c 1, damped not at all,
 * gives the features a 4, b 5, c 1; the top 2 are b and a.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(simhash_tfidf);
PG_FUNCTION_INFO_V1(simhash_word_tfidf);
PG_FUNCTION_INFO_V1(simhash_idf_weight);

/* A document being weighed. */
typedef struct Scales
{
	const ShIdfTable *table;
	ShDocument *document;
	int			words;			/* of the fingerprint */
	ShIdfSums	sums[SH_WORDS];
	SimhashFeatures features;	/* where all are listed; without their texts */
} Scales;

/* --- all features -------------------------------------------------------- */

/* Add hashes with their weights, for so many words. */
static void
add_idf_words(ShIdfSums *sums, int words, const uint64 *hashes,
			  const uint32 *weights, size_t n)
{
	uint64		others[SH_GAINED(SH_BATCH)];

	sh_idf_sums_add_all(&sums[0], hashes, weights, n);
	for (int w = 1; w < words; w++)
	{
		sh_word_hashes(others, hashes, n, w);
		sh_idf_sums_add_all(&sums[w], others, weights, n);
	}
}

/* Begin sums for so many words. */
static void
begin_idf_words(ShIdfSums *sums, int words)
{
	for (int w = 0; w < words; w++)
		sh_idf_sums_begin(&sums[w]);
}

/* Their fingerprint; false when nothing was added that weighs anything. */
static bool
end_idf_words(ShIdfSums *sums, int words, uint64 *result)
{
	bool		exists = true;

	for (int w = 0; w < words; w++)
		exists = sh_idf_sums_fingerprint(&sums[w], &result[w]);
	return exists;
}

/* ShHashReader: add the hashes whose weight grows once more. */
static void
weigh_hashes(void *state, const uint64 *hashes, size_t n)
{
	Scales	   *scales = state;
	uint64		gained[SH_GAINED(SH_BATCH)];
	uint32		weights[SH_GAINED(SH_BATCH)];

	memcpy(gained, hashes, n * sizeof *hashes);
	n = sh_document_sift(scales->document, gained, n);
	sh_idf_look_up(scales->table, gained, weights, n);
	add_idf_words(scales->sums, scales->words, gained, weights, n);
}

/* --- the top k ----------------------------------------------------------- */

/* ShHashReader: list the hashes, and count how often the weight grows. */
static void
count_hashes(void *state, const uint64 *hashes, size_t n)
{
	Scales	   *scales = state;
	uint64		gained[SH_GAINED(SH_BATCH)];

	CHECK_FOR_INTERRUPTS();
	memcpy(gained, hashes, n * sizeof *hashes);
	n = sh_document_sift(scales->document, gained, n);
	for (size_t i = 0; i < n; i++)
		simhash_list_hash(&scales->features, gained[i])->weight++;
}

/* Argument i, how many keywords to take; fails unless there are any. */
size_t
simhash_top_argument(FunctionCallInfo fcinfo, int i)
{
	int64		k = PG_GETARG_INT64(i);

	(void) simhash_check_range("", "top_k", k, 1, PG_INT64_MAX, 0);
	return (size_t) Min((uint64) k, SIZE_MAX);
}

/* The features as entries, in an array of their own. */
ShIdfEntry *
simhash_feature_entries(const SimhashFeatures *features)
{
	ShIdfEntry *entries = MemoryContextAllocHuge(CurrentMemoryContext,
												 (features->n + (Size) 1) *
												 sizeof *entries);

	for (int i = 0; i < features->n; i++)
	{
		entries[i].hash = features->list[i].hash;
		entries[i].value = (uint64) features->list[i].weight;
	}
	return entries;
}

/*
 * The fingerprint of the k features that weigh most; false if they weigh
 * nothing.
 */
static bool
fingerprint_top(const ShIdfTable *table, const SimhashFeatures *features,
				size_t k, int words, uint64 *result)
{
	ShIdfEntry *entries = simhash_feature_entries(features);
	size_t		n = sh_idf_take_top(entries, features->n, k, table->multiplier,
									simhash_pause);
	ShIdfSums	sums[SH_WORDS];

	begin_idf_words(sums, words);
	for (size_t start = 0; start < n; start += SH_BATCH)
	{
		size_t		end = Min(n, start + SH_BATCH);
		uint64		hashes[SH_BATCH];
		uint32		weights[SH_BATCH];
		size_t		m = 0;

		CHECK_FOR_INTERRUPTS();
		for (size_t i = start; i < end; i++)
		{
			hashes[m] = entries[i].hash;
			weights[m] = (uint32) entries[i].value;
			if (entries[i].value == weights[m])
			{
				m++;
				continue;
			}
			for (int w = 0; w < words; w++)
				sh_idf_sums_add(&sums[w], sh_word_hash(entries[i].hash, w),
								entries[i].value);
		}
		add_idf_words(sums, words, hashes, weights, m);
	}
	return end_idf_words(sums, words, result);
}

/*
 * The fingerprint of argument 0, a document or given words, with the idf that is
 * argument 1, both not NULL; the last argument is top_k.  False if there is none.
 */
static bool
compute_tfidf(FunctionCallInfo fcinfo, bool given, int words, uint64 *result)
{
	int			top = PG_NARGS() - 1;
	size_t		k = PG_ARGISNULL(top) ? 0 : simhash_top_argument(fcinfo, top);
	Scales		scales;

	scales.table = given ? simhash_idf_table(fcinfo, 1) :
		simhash_document_idf(fcinfo, 1);
	memset(&scales.features, 0, sizeof scales.features);
	if (given)
	{
		simhash_list_words(&scales.features, scales.table,
						   PG_GETARG_ARRAYTYPE_P(0));
		return fingerprint_top(scales.table, &scales.features,
							   k == 0 ? SIZE_MAX : k, words, result);
	}
	scales.document = simhash_begin_document(scales.table->profile);
	scales.words = words;
	begin_idf_words(scales.sums, words);
	simhash_read_hashes(scales.document, PG_GETARG_TEXT_PP(0),
						k == 0 ? weigh_hashes : count_hashes, &scales);
	if (k == 0)
		return end_idf_words(scales.sums, words, result);
	simhash_apply_idf(scales.table, &scales.features);
	return fingerprint_top(scales.table, &scales.features, k, words, result);
}

/*
 * Return the fingerprint of argument 0: a bigint, or where there are four
 * arguments in as many bits as argument 2 says.
 */
static Datum
return_tfidf(FunctionCallInfo fcinfo, bool given)
{
	int			bits = PG_NARGS() > 3 ? 2 : 0;
	uint64		result[SH_WORDS];
	int			words;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(bits))
		PG_RETURN_NULL();
	words = simhash_words_argument(fcinfo, bits);
	return simhash_return(fcinfo,
						  compute_tfidf(fcinfo, given, Max(words, 1), result),
						  result, words);
}

/*
 * simhash_tfidf(document text, idf simhash_idf, top_k bigint DEFAULT NULL)
 *		-> bigint
 * simhash_tfidf_bits(document text, idf simhash_idf, bits bigint,
 *		top_k bigint DEFAULT NULL) -> bit
 *
 * The fingerprint of the document by the profile of the idf, each feature
 * with its weight times its idf: of the top_k features that weigh most, or of
 * all when it is NULL.  NULL when no feature weighs anything.  The first 64 of
 * so many bits are the bigint.
 *
 * Errors: invalid_parameter_value when top_k is less than 1, or unless bits is
 * a multiple of 64 from 64 to 1024.
 */
Datum
simhash_tfidf(PG_FUNCTION_ARGS)
{
	return return_tfidf(fcinfo, false);
}

/*
 * simhash_tfidf(features text[], idf simhash_idf, top_k bigint DEFAULT NULL)
 *		-> bigint
 * simhash_tfidf_bits(features text[], idf simhash_idf, bits bigint,
 *		top_k bigint DEFAULT NULL) -> bit
 *
 * The fingerprint of words, each with the number of times that it occurs
 * times its idf; of the top_k that weigh most, or of all when it is NULL.
 *
 * Errors: as simhash(features, weights), and as before.
 */
Datum
simhash_word_tfidf(PG_FUNCTION_ARGS)
{
	return return_tfidf(fcinfo, true);
}

/*
 * simhash_idf_weight(idf simhash_idf, feature text) -> double precision
 *
 * The inverse document frequency of a feature, also of one never seen.
 */
Datum
simhash_idf_weight(PG_FUNCTION_ARGS)
{
	const ShIdfTable *table = simhash_idf_table(fcinfo, 0);
	text	   *feature = PG_GETARG_TEXT_PP(1);
	uint64		hash = simhash_hash_text(table->profile,
										 PointerGetDatum(feature));
	uint32		weight = 0;

	if (simhash_word_counts(table, feature))
		sh_idf_look_up(table, &hash, &weight, 1);
	PG_RETURN_FLOAT8((double) weight / SH_IDF_ONE);
}
