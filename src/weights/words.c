/*-------------------------------------------------------------------------
 *
 * words.c
 *		Words, or any features, that are given as arrays.
 *
 * Whoever has a word segmenter, or features of another kind, passes them as
 * text[].  Each weighs the number of times that it occurs, times its idf where
 * a simhash_idf value is given.  What the functions here list is what
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

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#define WORD_SHOWN		64		/* bytes of a word in a message */

PG_FUNCTION_INFO_V1(simhash_word_features);

/* The idf for words that is argument i; NULL when it is NULL. */
const ShIdfTable *
simhash_words_idf(FunctionCallInfo fcinfo, int i)
{
	return PG_ARGISNULL(i) ? NULL : simhash_idf_table(fcinfo, i);
}

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
 * has: so are Chinese words into characters.  Without a word all would be
 * unknown, and weigh the same.
 */
void
simhash_check_word(const ShIdfTable *table, ShDocument *workspace, text *word)
{
	const ShProfile *profile = table->profile;
	ShText	   *cut = &workspace->text;
	const char *bytes = VARDATA_ANY(word);
	Size		length = VARSIZE_ANY_EXHDR(word);
	bool		ascii = true;

	if (table->kind != SH_IDF_LEARNT || profile->unit != SH_UNIT_WORD ||
		profile == &sh_no_profile)
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

/* What is listed of an array. */
typedef struct WordList
{
	HTAB	   *features;		/* of SimhashFeature, by hash */
	SimhashFeature **ordered;
	int			n;
} WordList;

/* Count an occurrence of a word. */
static void
count_word(WordList *list, text *word, uint64 hash)
{
	bool		found;
	SimhashFeature *feature;

	feature = hash_search(list->features, &hash, HASH_ENTER, &found);
	if (!found)
	{
		feature->ordinal = list->n;
		feature->weight = 0;
		feature->feature = word;
		list->ordered[list->n++] = feature;
	}
	feature->weight++;
}

/* Multiply the words with their idf, and leave out those that weigh nothing. */
static void
weigh_words(WordList *list, const ShIdfTable *table)
{
	int			n = 0;

	for (int i = 0; i < list->n; i++)
	{
		SimhashFeature *feature = list->ordered[i];
		uint32		weight = SH_IDF_ONE;

		CHECK_FOR_INTERRUPTS();
		if (table != NULL)
			sh_idf_look_up(table, &feature->hash, &weight, 1);
		feature->weight *= weight;
		if (feature->weight > 0)
			list->ordered[n++] = feature;
	}
	list->n = n;
}

/*
 * List the different words of an array that weigh something, in the order of
 * their first occurrence; sets *n to their number.  The table may be NULL: then
 * all words are equally rare.
 */
SimhashFeature **
simhash_list_words(const ShIdfTable *table, ArrayType *words, int *n)
{
	const ShProfile *profile = table != NULL ? table->profile : &sh_no_profile;
	ShDocument *workspace = simhash_begin_document(profile);
	WordList	list;
	HASHCTL		control;
	Datum	   *elements;
	int			length;

	length = simhash_get_elements(words, TEXTOID, -1, false, TYPALIGN_INT,
								  "features", &elements);
	control.keysize = sizeof(uint64);
	control.entrysize = sizeof(SimhashFeature);
	control.hcxt = CurrentMemoryContext;
	list.features = hash_create("simhash words", 256, &control,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	list.ordered = MemoryContextAllocHuge(CurrentMemoryContext,
										  Max(length, 1) *
										  sizeof *list.ordered);
	list.n = 0;
	for (int i = 0; i < length; i++)
	{
		text	   *word = DatumGetTextPP(elements[i]);

		CHECK_FOR_INTERRUPTS();
		if (!simhash_word_counts(table, word))
			continue;
		if (table != NULL)
			simhash_check_word(table, workspace, word);
		count_word(&list, word,
				   simhash_hash_feature(profile, VARDATA_ANY(word),
										VARSIZE_ANY_EXHDR(word)));
	}
	weigh_words(&list, table);
	*n = list.n;
	return list.ordered;
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
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const ShIdfTable *table = simhash_words_idf(fcinfo, 1);
	SimhashFeature **features;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	features = simhash_list_words(table, PG_GETARG_ARRAYTYPE_P(0), &n);
	for (int i = 0; i < n; i++)
	{
		Datum		values[3];
		bool		nulls[3] = {false};

		values[0] = PointerGetDatum(features[i]->feature);
		values[1] = Float8GetDatum((double) features[i]->weight / SH_IDF_ONE);
		values[2] = Int64GetDatum((int64) features[i]->hash);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}
