/*-------------------------------------------------------------------------
 *
 * words.c
 *		Words, or any features, that are given as arrays.
 *
 * The words that a segmenter has found, or features of any other kind, are
 * passed as text[].  Each weighs the number of times that it occurs, times its
 * idf where a simhash_idf value is given.  The functions here list what
 * simhash(features) and simhash_tfidf(features, idf) add up.
 *
 * Weights are kept as whole multiples of 2^-16, which idf is, so sums are
 * exact.  A word that weighs nothing, as a stop word does, is as if it were
 * not there.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#define WORD_SHOWN		64		/* bytes of a word in a message */

PG_FUNCTION_INFO_V1(simhash_word_features);

/* Is the word as long as it has to be to count? */
bool
simhash_word_counts(const ShIdfTable *table, text *word)
{
	return table == NULL || table->shortest == 0 ||
		pg_mbstrlen_with_len(VARDATA_ANY(word),
							 (int) VARSIZE_ANY_EXHDR(word)) >= table->shortest;
}

/* SimhashReader: read a slice of a word, as far as there is room. */
static void
feed_text(void *state, const unsigned char *bytes, Size length)
{
	(void) sh_text_feed((ShText *) state, bytes, bytes + length);
}

/*
 * Fails when idf was learnt from documents in which the word can never have
 * been a feature, because the profile cuts it into more tokens than a feature
 * has, as it cuts Chinese words into characters.  All such words would silently
 * be unknown, and weigh the same.
 */
static void
check_word(const ShIdfTable *table, ShDocument *workspace, text *word)
{
	const ShProfile *profile = table->profile;
	ShText	   *cut = &workspace->text;
	const char *bytes = VARDATA_ANY(word);
	Size		length = VARSIZE_ANY_EXHDR(word);
	bool		ascii = true;

	if (table->kind != SH_IDF_LEARNT || sh_profile_given(profile) ||
		(profile->unit != SH_UNIT_WORD && profile->unit != SH_UNIT_SYMBOL))
		return;
	for (Size i = 0; i < length && ascii; i++)
		ascii = !IS_HIGHBIT_SET(bytes[i]);
	if (ascii)
		return;
	sh_text_begin(cut, profile->unit);
	simhash_read_utf8(bytes, length, feed_text, cut);
	if (!sh_text_full(cut))
		sh_text_end(cut);
	if (cut->total > (uint64) profile->max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("simhash_idf value was learnt from documents, not from such words"),
				 errdetail("Profile \"%s\" cuts \"%.*s\" into more parts than a feature has.",
						   profile->name,
						   pg_mbcliplen(bytes, (int) length, WORD_SHOWN), bytes),
				 errhint("Learn it from the words, as arrays: simhash_idf_agg(text[]).")));
}

/* Multiply the weights of features by their idf, or by 1 without a table. */
void
simhash_apply_idf(const ShIdfTable *table, SimhashFeatures *features)
{
	for (int start = 0; start < features->n; start += SH_BATCH)
	{
		SimhashFeature *list = features->list + start;
		int			n = Min(features->n - start, SH_BATCH);
		uint64		hashes[SH_BATCH];
		uint32		weights[SH_BATCH];

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < n; i++)
		{
			hashes[i] = list[i].hash;
			weights[i] = SH_IDF_ONE;
		}
		if (table != NULL)
			sh_idf_look_up(table, hashes, weights, n);
		for (int i = 0; i < n; i++)
			list[i].weight *= weights[i];
	}
}

/*
 * List the different words of an array.  Those that weigh 0, such as stop words,
 * are as if they were not there.  Without a table, which is NULL then, all words
 * are equally rare.  The list can be added to until another document is begun.
 */
void
simhash_list_words(SimhashFeatures *features, const ShIdfTable *table,
				   ArrayType *words)
{
	const ShProfile *profile = table != NULL ? table->profile : &sh_no_profile;
	ShDocument *workspace = simhash_begin_document(profile);
	Datum	   *elements;
	int			length = simhash_get_texts(words, "features", &elements);

	features->numbers = &workspace->tally;
	for (int i = 0; i < length; i++)
	{
		text	   *word = DatumGetTextPP(elements[i]);
		SimhashFeature *feature;

		CHECK_FOR_INTERRUPTS();
		if (!simhash_word_counts(table, word))
			continue;
		if (table != NULL)
			check_word(table, workspace, word);
		feature = simhash_list_hash(features,
									simhash_hash_feature(profile,
														 VARDATA_ANY(word),
														 VARSIZE_ANY_EXHDR(word)));
		feature->weight++;
		if (feature->feature == NULL)
			feature->feature = word;
	}
	simhash_apply_idf(table, features);
}

/*
 * simhash_features(features text[], idf simhash_idf DEFAULT NULL)
 *		-> setof (feature text, weight double precision, hash bigint)
 *
 * The different features that simhash(features), or simhash_tfidf(features,
 * idf), adds up, with what they weigh and their hashes, in the order in which
 * they first occur.  No row when features is NULL.
 *
 * Errors: as simhash(features, weights); invalid_parameter_value for idf
 * learnt from documents in which the features cannot have been.
 */
Datum
simhash_word_features(PG_FUNCTION_ARGS)
{
	const ShIdfTable *table = simhash_idf_table(fcinfo, 1);
	SimhashFeatures features = {0};

	InitMaterializedSRF(fcinfo, 0);
	if (!PG_ARGISNULL(0))
		simhash_list_words(&features, table, PG_GETARG_ARRAYTYPE_P(0));
	for (int i = 0; i < features.n; i++)
	{
		const SimhashFeature *feature = &features.list[i];

		if (feature->weight > 0)
			simhash_put_feature(fcinfo, feature->feature,
								(double) feature->weight / SH_IDF_ONE,
								feature->hash);
	}
	return (Datum) 0;
}
