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
 * of simhash(document, profile).  keywords.c lists the top k, and does the
 * same for arrays of words.
 *
 * Without k, no list of the features is needed: each time that the weight of a
 * feature grows, its hash is added once more, with its idf (weigh_hashes).
 *
 * With k, each feature has to be known with its final weight: that is a
 * Collection, of one entry a feature.  For example, "a b a c", where the idf
 * of a is 2, of b 5 and of c 1, damped not at all, gives the entries a 4, b 5,
 * c 1; the top 2 are b and a.
 *
 * Sections.  tally.c counts occurrences in sections of SH_SECTION, and forgets
 * a section when the next one begins.  So the features of a section become
 * entries when it ends, and a feature of several sections has several entries.
 * Their weights are added up, which is what simhash(document, profile) does,
 * too: merge_sections sorts the entries by hash and makes one of those that
 * are equal.  It is called at the end and, so that memory stays bounded by the
 * different features, whenever the entries since the last call could outnumber
 * those before.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "miscadmin.h"
#include "utils/memutils.h"

/* Limits of the work done. */
#define ENTRIES_FIRST		1024	/* that room is made for at first */

/* The features of a document, with their hash and weight. */
typedef struct Collection
{
	ShDocument *document;		/* its tally counts the current section */
	const ShIdfTable *table;
	ShIdfEntry *entries;
	size_t		allocated;
	size_t		n;
	int			sections;		/* that have ended */
	size_t		merged;			/* entries after the last merge_sections */
} Collection;

PG_FUNCTION_INFO_V1(simhash_tfidf);
PG_FUNCTION_INFO_V1(simhash_tfidf_bits);
PG_FUNCTION_INFO_V1(simhash_idf_weight);

/* --- all features -------------------------------------------------------- */

/* A document being weighed. */
typedef struct Scales
{
	const ShIdfTable *table;
	ShDocument *document;
	int			words;
	ShIdfSums	sums[SH_WORDS];
} Scales;

/* Add hashes with their weights, for so many words. */
static void
add_words(ShIdfSums *sums, int words, const uint64 *hashes,
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
begin_words(ShIdfSums *sums, int words)
{
	for (int w = 0; w < words; w++)
		sh_idf_sums_begin(&sums[w]);
}

/* Their fingerprint; false when nothing was added that weighs anything. */
static bool
end_words(ShIdfSums *sums, int words, uint64 *result)
{
	bool		exists = true;

	for (int w = 0; w < words; w++)
		exists = sh_idf_sums_fingerprint(&sums[w], &result[w]);
	return exists;
}

/* SimhashHashReader: add the hashes whose weight grows once more. */
static bool
weigh_hashes(void *state, const uint64 *hashes, size_t n)
{
	Scales	   *scales = state;
	uint64		gained[SH_GAINED(SH_BATCH)];
	uint32		weights[SH_GAINED(SH_BATCH)];

	memcpy(gained, hashes, n * sizeof *hashes);
	n = sh_document_sift(scales->document, gained, n);
	sh_idf_look_up(scales->table, gained, weights, n);
	add_words(scales->sums, scales->words, gained, weights, n);
	return true;
}

/* The fingerprint of all features of the document; false if there is none. */
static bool
fingerprint_all(const ShIdfTable *table, text *document, int words,
				uint64 *result)
{
	Scales		scales;

	scales.table = table;
	scales.document = simhash_begin_document(table->profile);
	scales.words = words;
	begin_words(scales.sums, words);
	simhash_read_hashes(scales.document, document, weigh_hashes, &scales);
	return end_words(scales.sums, words, result);
}

/* --- the top k ----------------------------------------------------------- */

/* Make room for more entries. */
static void
grow_entries(Collection *collection, size_t more)
{
	Size		wanted = Max(2 * (collection->n + more), ENTRIES_FIRST);

	if (collection->n + more <= collection->allocated)
		return;
	collection->entries = collection->entries == NULL ?
		palloc(wanted * sizeof(ShIdfEntry)) :
		repalloc_huge(collection->entries, wanted * sizeof(ShIdfEntry));
	collection->allocated = wanted;
}

/* Make one entry of those of the same feature, with their weights added up. */
static void
merge_sections(Collection *collection)
{
	ShIdfEntry *entries = collection->entries;
	size_t		kept = 0;

	simhash_sort_entries(entries, collection->n);
	for (size_t i = 0; i < collection->n; i++)
	{
		if (kept > 0 && entries[kept - 1].hash == entries[i].hash)
			entries[kept - 1].value += entries[i].value;
		else
			entries[kept++] = entries[i];
	}
	collection->n = collection->merged = kept;
}

/*
 * End a section: make entries of the features that the tally has counted, with
 * their idf times how often they have occurred, damped.
 */
static void
end_section(Collection *collection)
{
	const ShTally *tally = &collection->document->tally;
	ShDamping	damping = collection->document->profile->damping;
	uint64		hashes[SH_BATCH];
	uint32		counts[SH_BATCH];
	uint32		weights[SH_BATCH];
	size_t		slot = 0;
	size_t		n;

	while ((n = sh_tally_list(tally, &slot, hashes, counts, SH_BATCH)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		grow_entries(collection, n);
		sh_idf_look_up(collection->table, hashes, weights, n);
		for (size_t i = 0; i < n; i++)
		{
			ShIdfEntry *entry = &collection->entries[collection->n++];

			entry->hash = hashes[i];
			entry->value = (uint64) weights[i] * sh_damp(damping, counts[i]);
		}
	}
	if (collection->sections++ > 0 &&
		collection->n > 2 * collection->merged + SH_SECTION)
		merge_sections(collection);
}

/* SimhashHashReader: count the features of the section. */
static bool
collect_hashes(void *state, const uint64 *hashes, size_t n)
{
	Collection *collection = state;
	ShTally    *tally = &collection->document->tally;

	for (size_t done = 0, k; done < n; done += k)
	{
		uint64		some[SH_BATCH];

		if (tally->seen == SH_SECTION)
			end_section(collection);
		k = Min(n - done, SH_SECTION - tally->seen % SH_SECTION);
		memcpy(some, hashes + done, k * sizeof *hashes);
		(void) sh_tally_sift(tally, SH_DAMP_BINARY, some, k);
	}
	return true;
}

/* Argument i, how many keywords to take; fails unless there are any. */
size_t
simhash_top_argument(FunctionCallInfo fcinfo, int i)
{
	int64		k = PG_GETARG_INT64(i);

	if (k < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("top_k must be at least 1"),
				 errhint("simhash_tfidf(document, idf) takes all features.")));
	return (size_t) Min((uint64) k, SIZE_MAX);
}

/*
 * The fingerprint of the k heaviest entries, which come to the front; false if
 * they weigh nothing.
 */
bool
simhash_fingerprint_top(const ShIdfTable *table, ShIdfEntry *entries, size_t n,
						size_t k, int words, uint64 *result)
{
	ShIdfSums	sums[SH_WORDS];

	n = sh_idf_take_top(entries, n, k, table->multiplier, simhash_pause);
	begin_words(sums, words);
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
		add_words(sums, words, hashes, weights, m);
	}
	return end_words(sums, words, result);
}

/* The fingerprint of the k features of the document that weigh most. */
static bool
fingerprint_top(const ShIdfTable *table, text *document, size_t k, int words,
				uint64 *result)
{
	Collection	collection = {.table = table};

	collection.document = simhash_begin_document(table->profile);
	simhash_read_hashes(collection.document, document, collect_hashes,
						&collection);
	end_section(&collection);
	if (collection.sections > 1)
		merge_sections(&collection);
	return simhash_fingerprint_top(table, collection.entries, collection.n, k,
								   words, result);
}

/*
 * The fingerprint of argument 0 with the idf that is argument 1, both not NULL;
 * argument "top" is top_k.  False if there is none.
 */
static bool
fingerprint_document(FunctionCallInfo fcinfo, int top, int words,
					 uint64 *result)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	size_t		k;

	if (PG_ARGISNULL(top))
		return fingerprint_all(simhash_document_idf(fcinfo, 1),
							   document, words, result);
	k = simhash_top_argument(fcinfo, top);
	return fingerprint_top(simhash_document_idf(fcinfo, 1), document,
						   k, words, result);
}

/*
 * Return what "compute" makes of argument 0, argument 1, an idf, and top_k,
 * which comes last: a bigint, or in as many bits as argument "bits" says, unless
 * that is 0.
 */
Datum
simhash_return_tfidf(FunctionCallInfo fcinfo, int bits,
					 bool (*compute) (FunctionCallInfo fcinfo, int top,
									  int words, uint64 *result))
{
	uint64		result[SH_WORDS];
	int			words;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(bits))
		PG_RETURN_NULL();
	words = simhash_words_argument(fcinfo, bits);
	return simhash_return(fcinfo,
						  compute(fcinfo, PG_NARGS() - 1, Max(words, 1),
								  result),
						  result, words);
}

/*
 * simhash_tfidf(document text, idf simhash_idf, top_k bigint DEFAULT NULL)
 *		-> bigint
 *
 * The fingerprint of the document by the profile of the idf, each feature
 * with its weight times its idf: of the top_k features that weigh most, or of
 * all when it is NULL.  NULL when no feature weighs anything.
 *
 * Errors: invalid_parameter_value when top_k is less than 1.
 */
Datum
simhash_tfidf(PG_FUNCTION_ARGS)
{
	return simhash_return_tfidf(fcinfo, 0, fingerprint_document);
}

/*
 * simhash_tfidf_bits(document text, idf simhash_idf, bits bigint,
 *		top_k bigint DEFAULT NULL) -> bit
 *
 * The same in so many bits, of which the first 64 are those of
 * simhash_tfidf(document, idf, top_k).
 *
 * Errors: as before, and invalid_parameter_value unless bits is a multiple of
 * 64 from 64 to 1024.
 */
Datum
simhash_tfidf_bits(PG_FUNCTION_ARGS)
{
	return simhash_return_tfidf(fcinfo, 2, fingerprint_document);
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
