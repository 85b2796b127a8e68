/*-------------------------------------------------------------------------
 *
 * tfidf.c
 *		Features weighted by how often they occur and how rare they are.
 *
 * The pipeline of the classic descriptions: cut the document into features,
 * weigh each by its frequency in the document times its inverse document
 * frequency, keep the top k if asked to, add up the hashes, take the signs.
 * The frequency in the document is damped as the profile of the simhash_idf
 * value says, so that with equal idf for all features the fingerprint is that
 * of simhash(document, profile).  Where an array of words is given, as a word
 * segmenter returns it, the frequency is the number of times they occur.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "simhash.h"

#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

/* Limits of the work done. */
#define TALLY_SLOTS_KEPT	(4 * 1024)	/* of a table kept between documents */
#define KEYWORDS_MIN		256 /* held on the stack */

/* A feature with its weight. */
typedef struct Keyword
{
	uint64		weight;			/* in the end, times SH_IDF_ONE */
	uint64		hash;
	text	   *feature;		/* NULL where it does not matter */
	uint32		occurrences;	/* that are not yet in the weight */
} Keyword;

/* The keywords of a document, each once. */
typedef struct Collection
{
	const ShIdfTable *table;
	ShDamping	damping;
	uint32		seen;			/* features since the section began */
	Keyword    *keywords;
	Keyword    *first;			/* an array of the caller's, enough for most */
	size_t		n;
	size_t		allocated;
} Collection;

static ShTally counts;			/* of the features of a document */

PG_FUNCTION_INFO_V1(simhash_by_idf);
PG_FUNCTION_INFO_V1(simhash_by_idf_top);
PG_FUNCTION_INFO_V1(simhash_tfidf);
PG_FUNCTION_INFO_V1(simhash_keywords);
PG_FUNCTION_INFO_V1(simhash_word_keywords);
PG_FUNCTION_INFO_V1(simhash_idf_weight);

/* --- all features -------------------------------------------------------- */

/* A document being weighed. */
typedef struct Scales
{
	const ShIdfTable *table;
	ShTally    *tally;
	ShDamping	damping;

	ShIdfSums	sums;
} Scales;

/* SimhashHashReader: add the hashes whose weight grows once more. */
static bool
weigh_hashes(void *state, const uint64 *hashes, size_t n)
{
	Scales	   *scales = state;
	uint64		gained[SH_BATCH];
	uint32		weights[SH_BATCH];
	size_t		m = 0;

	sh_idf_prefetch(scales->table, hashes, n);
	for (size_t i = 0; i < n; i++)
	{
		if (sh_tally_add(scales->tally, scales->damping, hashes[i]))
			gained[m++] = hashes[i];
	}
	if (m == 0)
		return true;
	sh_idf_look_up(scales->table, gained, weights, m);
	for (size_t i = 0; i < m; i++)
		sh_idf_sums_add(&scales->sums, gained[i], weights[i]);
	return true;
}

/*
 * simhash(document text, idf simhash_idf) -> bigint
 *
 * The fingerprint of the document by the profile of the idf, each feature
 * with its weight times its idf.  NULL when no feature weighs anything.
 */
Datum
simhash_by_idf(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	Scales		scales;
	ShDocument *workspace;
	uint64		fingerprint;

	scales.table = simhash_idf_table(PG_GETARG_DATUM(1));
	workspace = simhash_begin_document(scales.table->profile);
	scales.tally = &workspace->tally;
	scales.damping = scales.table->profile->damping;
	sh_idf_sums_begin(&scales.sums);
	simhash_read_hashes(workspace, document, weigh_hashes, &scales);
	if (!sh_idf_sums_fingerprint(&scales.sums, &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) fingerprint);
}

/* --- the top k ----------------------------------------------------------- */

/* Allocate for the table of counts, which outlives the call. */
static void *
allocate_lasting(size_t bytes)
{
	return MemoryContextAllocHuge(TopMemoryContext, bytes);
}

/* Begin to collect keywords, first in an array of KEYWORDS_MIN. */
static void
begin_keywords(Collection *collection, const ShIdfTable *table,
			   ShDamping damping, Keyword *first)
{
	collection->table = table;
	collection->damping = damping;
	collection->seen = 0;
	collection->n = 0;
	collection->allocated = KEYWORDS_MIN;
	collection->keywords = first;
	collection->first = first;
	if (counts.allocate == NULL)
	{
		counts.allocate = allocate_lasting;
		counts.release = pfree;
		counts.multiplier = pg_prng_uint64(&pg_global_prng_state) | 1;
	}
	if (counts.slots > TALLY_SLOTS_KEPT)
		sh_tally_end(&counts);
	sh_tally_begin(&counts);
}

/* Make room for more keywords. */
static void
grow_keywords(Collection *collection)
{
	Size		bytes = 2 * collection->allocated * sizeof(Keyword);

	if (collection->keywords == collection->first)
	{
		collection->keywords = palloc(bytes);
		memcpy(collection->keywords, collection->first, bytes / 2);
	}
	else
		collection->keywords = repalloc_huge(collection->keywords, bytes);
	collection->allocated *= 2;
}

/*
 * The keyword with that hash, one occurrence more; a new one gets the feature.
 * The table of counts holds the place of the keyword, from 1 on.
 */
static inline void
count_keyword(Collection *collection, uint64 hash, text *feature)
{
	uint32	   *place = sh_tally_count(&counts, hash);

	if (*place == 0)
	{
		Keyword    *fresh;

		if (collection->n == collection->allocated)
			grow_keywords(collection);
		fresh = &collection->keywords[collection->n];
		fresh->weight = 0;
		fresh->hash = hash;
		fresh->occurrences = 0;
		fresh->feature = feature;
		*place = (uint32) ++collection->n;
	}
	collection->keywords[*place - 1].occurrences++;
}

/* End a section: turn occurrences into weight. */
static void
weigh_section(Collection *collection)
{
	for (size_t i = 0; i < collection->n; i++)
	{
		Keyword    *keyword = &collection->keywords[i];

		keyword->weight += simhash_damp(collection->damping,
										keyword->occurrences);
		keyword->occurrences = 0;
	}
	collection->seen = 0;
}

/* SimhashHashReader: count the features. */
static bool
count_hashes(void *state, const uint64 *hashes, size_t n)
{
	Collection *collection = state;

	sh_idf_prefetch(collection->table, hashes, n);
	for (size_t i = 0; i < n; i++)
	{
		if (collection->seen++ == SH_SECTION)
		{
			weigh_section(collection);
			collection->seen = 1;
		}
		count_keyword(collection, hashes[i], NULL);
	}
	return true;
}

/* Multiply the weights of keywords by their idf. */
static void
apply_idf(const ShIdfTable *table, Keyword *keywords, size_t n)
{
	for (size_t start = 0; start < n; start += SH_BATCH)
	{
		size_t		m = Min(n - start, SH_BATCH);
		uint64		hashes[SH_BATCH];
		uint32		weights[SH_BATCH];

		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < m; i++)
			hashes[i] = keywords[start + i].hash;
		sh_idf_look_up(table, hashes, weights, m);
		for (size_t i = 0; i < m; i++)
			keywords[start + i].weight *= weights[i];
	}
}

/* qsort: the heaviest first; of equals, the smallest hash. */
static int
by_weight(const void *a, const void *b)
{
	const Keyword *x = a;
	const Keyword *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/*
 * Bring the k first to the front, in no order; returns their number.  They
 * are found by quickselect, with pivots drawn at random so that the author of
 * a document cannot foresee them.  No two keywords are equal.
 */
static size_t
take_top(Keyword *keywords, size_t n, size_t k)
{
	size_t		low = 0;		/* those before it are among the first k */
	size_t		high = n;		/* those from it on are not */

	if (k >= n)
		return n;
	while (high - low > 1)
	{
		size_t		place = pg_prng_uint64_range(&pg_global_prng_state,
												 low, high - 1);
		Keyword		pivot = keywords[place];
		size_t		before = low;

		CHECK_FOR_INTERRUPTS();
		keywords[place] = keywords[high - 1];
		for (size_t i = low; i < high - 1; i++)
		{
			Keyword		keyword = keywords[i];

			keywords[i] = keywords[before];
			keywords[before] = keyword;
			before += by_weight(&keyword, &pivot) < 0;
		}
		keywords[high - 1] = keywords[before];
		keywords[before] = pivot;
		if (before >= k)
			high = before;
		else
			low = before + 1;
	}
	return k;
}

/* Argument i, how many keywords to take; fails unless there are any. */
static size_t
top_argument(FunctionCallInfo fcinfo, int i)
{
	int32		k = PG_GETARG_INT32(i);

	if (k < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("top_k must be at least 1"),
				 errhint("simhash(document, idf) takes all features.")));
	return (size_t) k;
}

/* Return the fingerprint of keywords. */
static Datum
fingerprint_keywords(FunctionCallInfo fcinfo, const Keyword *keywords,
					 size_t n)
{
	ShIdfSums	sums;
	uint64		fingerprint;

	sh_idf_sums_begin(&sums);
	for (size_t i = 0; i < n; i++)
		sh_idf_sums_add(&sums, keywords[i].hash, keywords[i].weight);
	if (!sh_idf_sums_fingerprint(&sums, &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) fingerprint);
}

/*
 * simhash(document text, idf simhash_idf, top_k integer) -> bigint
 *
 * The same from the top_k features that weigh most.
 *
 * Errors: invalid_parameter_value when top_k is less than 1.
 */
Datum
simhash_by_idf_top(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	size_t		k = top_argument(fcinfo, 2);
	const ShIdfTable *table = simhash_idf_table(PG_GETARG_DATUM(1));
	Keyword		first[KEYWORDS_MIN];
	Collection	collection;

	begin_keywords(&collection, table, table->profile->damping, first);
	simhash_read_hashes(simhash_begin_document(table->profile), document,
						count_hashes, &collection);
	weigh_section(&collection);
	apply_idf(table, collection.keywords, collection.n);
	return fingerprint_keywords(fcinfo, collection.keywords,
								take_top(collection.keywords, collection.n,
										 k));
}

/*
 * Return the k first keywords, in order, as rows of (feature text, weight
 * double precision).
 */
static Datum
return_keywords(FunctionCallInfo fcinfo, Keyword *keywords, size_t n,
				size_t k)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	n = take_top(keywords, n, k);
	qsort(keywords, n, sizeof *keywords, by_weight);
	for (size_t i = 0; i < n; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false};

		values[0] = PointerGetDatum(keywords[i].feature);
		values[1] = Float8GetDatum((double) keywords[i].weight / SH_IDF_ONE);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}

/*
 * simhash_keywords(document text, idf simhash_idf, top_k integer)
 *		-> setof (feature text, weight double precision)
 *
 * The top_k features that weigh most, the heaviest first: what
 * simhash(document, idf, top_k) adds up.
 *
 * Errors: invalid_parameter_value when top_k is less than 1,
 * program_limit_exceeded when the document has more than a million features.
 */
Datum
simhash_keywords(PG_FUNCTION_ARGS)
{
	size_t		k = top_argument(fcinfo, 2);
	const ShIdfTable *table = simhash_idf_table(PG_GETARG_DATUM(1));
	SimhashFeature **features;
	Keyword    *keywords;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	features = simhash_list_features(table->profile, PG_GETARG_TEXT_PP(0), &n);
	keywords = palloc(Max(n, 1) * sizeof *keywords);
	for (int i = 0; i < n; i++)
	{
		keywords[i].weight = features[i]->weight;
		keywords[i].hash = features[i]->hash;
		keywords[i].feature = features[i]->feature;
	}
	apply_idf(table, keywords, n);
	return return_keywords(fcinfo, keywords, n, k);
}

/* --- words that are given ------------------------------------------------ */

/*
 * Argument 0, an array of words, as keywords: each word once, counted.  The
 * first keywords are an array of KEYWORDS_MIN.
 */
static Keyword *
word_keywords(FunctionCallInfo fcinfo, const ShIdfTable *table,
			  Keyword *first, size_t *n)
{
	Collection	collection;
	Datum	   *words;
	int			length;

	length = simhash_get_elements(PG_GETARG_ARRAYTYPE_P(0), TEXTOID, -1, false,
								  TYPALIGN_INT, "features", &words);
	begin_keywords(&collection, table, SH_DAMP_COUNT, first);
	for (int i = 0; i < length; i++)
	{
		text	   *word = DatumGetTextPP(words[i]);

		CHECK_FOR_INTERRUPTS();
		count_keyword(&collection,
					  simhash_hash_feature(table->profile, VARDATA_ANY(word),
										   VARSIZE_ANY_EXHDR(word)),
					  word);
	}
	weigh_section(&collection);
	apply_idf(table, collection.keywords, collection.n);
	*n = collection.n;
	return collection.keywords;
}

/*
 * simhash_tfidf(features text[], idf simhash_idf, top_k integer DEFAULT NULL)
 *		-> bigint
 *
 * The fingerprint of words, each with the number of times that it occurs
 * times its idf; of the top_k that weigh most, or of all when it is NULL.
 *
 * Errors: as simhash(features, weights), and invalid_parameter_value when
 * top_k is less than 1.
 */
Datum
simhash_tfidf(PG_FUNCTION_ARGS)
{
	size_t		k = PG_ARGISNULL(2) ? SIZE_MAX : top_argument(fcinfo, 2);
	const ShIdfTable *table;
	Keyword		first[KEYWORDS_MIN];
	Keyword    *keywords;
	size_t		n;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	table = simhash_idf_table(PG_GETARG_DATUM(1));
	keywords = word_keywords(fcinfo, table, first, &n);
	return fingerprint_keywords(fcinfo, keywords, take_top(keywords, n, k));
}

/*
 * simhash_keywords(features text[], idf simhash_idf, top_k integer)
 *		-> setof (feature text, weight double precision)
 *
 * What simhash_tfidf(features, idf, top_k) adds up, the heaviest first.
 *
 * Errors: as before.
 */
Datum
simhash_word_keywords(PG_FUNCTION_ARGS)
{
	size_t		k = top_argument(fcinfo, 2);
	const ShIdfTable *table = simhash_idf_table(PG_GETARG_DATUM(1));
	Keyword		first[KEYWORDS_MIN];
	size_t		n;
	Keyword    *keywords;

	InitMaterializedSRF(fcinfo, 0);
	keywords = word_keywords(fcinfo, table, first, &n);
	return return_keywords(fcinfo, keywords, n, k);
}

/*
 * simhash_idf_weight(idf simhash_idf, feature text) -> double precision
 *
 * The inverse document frequency of a feature, also of one never seen.
 */
Datum
simhash_idf_weight(PG_FUNCTION_ARGS)
{
	const ShIdfTable *table = simhash_idf_table(PG_GETARG_DATUM(0));
	text	   *feature = PG_GETARG_TEXT_PP(1);
	uint64		hash = simhash_hash_feature(table->profile,
											VARDATA_ANY(feature),
											VARSIZE_ANY_EXHDR(feature));
	uint32		weight;

	sh_idf_look_up(table, &hash, &weight, 1);
	PG_RETURN_FLOAT8((double) weight / SH_IDF_ONE);
}
