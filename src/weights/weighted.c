/*-------------------------------------------------------------------------
 *
 * weighted.c
 *		Features and weights of the user's own -> fingerprint: arrays and
 *		lexemes.  weighted_agg.c does the same for rows.
 *
 * The rules are the same everywhere.  The hash of a feature is that of its
 * UTF-8 bytes, as in simhash(document), so that adding up what
 * simhash_features returns gives the fingerprint of the document.  A weight
 * is any finite double: one below 0 pushes away from the feature, one of 0 is
 * as if the feature were not there, and where nothing is there, or the weights of
 * each feature cancel, there is no fingerprint.
 *
 * Sums are exact (exact.c says how).  Rounded sums would depend on the
 * order of the rows, on the number of parallel workers and, in a moving
 * window, on the rows that have left it; fixed-point sums would not, but would
 * make weights that are very small or very large an error.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#define LABELS		4			/* of lexeme positions: D, C, B, A */

PG_FUNCTION_INFO_V1(simhash_by_weights);
PG_FUNCTION_INFO_V1(simhash_tsvector);
PG_FUNCTION_INFO_V1(simhash_tsvector_features);
PG_FUNCTION_INFO_V1(simhash_by_weights_bits);
PG_FUNCTION_INFO_V1(simhash_tsvector_bits);

/* The hash, by a profile, of a feature given as text. */
uint64
simhash_hash_text(const ShProfile *profile, Datum feature)
{
	text	   *t = DatumGetTextPP(feature);

	return simhash_hash_feature(profile, VARDATA_ANY(t),
								VARSIZE_ANY_EXHDR(t));
}

/* Allocate a digit of sums in their memory context. */
static void *
allocate_digit(void *context, size_t bytes)
{
	return MemoryContextAlloc((MemoryContext) context, bytes);
}

/* Begin sums with nothing added, which grow in a memory context. */
void
simhash_begin_exact(ShExact *sums, MemoryContext context)
{
	sh_exact_begin(sums, allocate_digit, context);
}

/* Return the fingerprint of sums from a function; NULL if all are 0. */
Datum
simhash_return_exact(FunctionCallInfo fcinfo, ShExact *sums)
{
	uint64		fingerprint;

	if (!sh_exact_fingerprint(sums, &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) fingerprint);
}

/* Begin sums for so many words. */
static void
begin_words(ShExact *sums, int words)
{
	for (int w = 0; w < words; w++)
		simhash_begin_exact(&sums[w], CurrentMemoryContext);
}

/* Add a feature to the sums of so many words. */
static void
add_words(ShExact *sums, int words, uint64 hash, double weight)
{
	for (int w = 0; w < words; w++)
		sh_exact_add(&sums[w], sh_word_hash(hash, w), weight);
}

/* Return the bits of so many words; NULL if all sums are 0. */
static Datum
return_words(FunctionCallInfo fcinfo, ShExact *sums, int words)
{
	uint64		result[SH_WORDS];

	for (int w = 0; w < words; w++)
	{
		if (!sh_exact_fingerprint(&sums[w], &result[w]))
			PG_RETURN_NULL();
	}
	return simhash_make_bits(result, words);
}

/* The array that is argument i; NULL when it is NULL. */
static ArrayType *
array_argument(FunctionCallInfo fcinfo, int i)
{
	return PG_ARGISNULL(i) ? NULL : PG_GETARG_ARRAYTYPE_P(i);
}

/*
 * Add up features, hashed as the profile does, with weights or, where that is
 * NULL, with 1 each, for so many words.
 */
static void
add_arrays(ArrayType *features_array, ArrayType *weights_array,
		   const ShProfile *profile, ShExact *sums, int words)
{
	Datum	   *features;
	Datum	   *weights;
	int			n = simhash_get_pairs(features_array, weights_array,
									  &features, &weights);

	begin_words(sums, words);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_words(sums, words, simhash_hash_text(profile, features[i]),
				  weights == NULL ? 1.0 :
				  simhash_check_weight(DatumGetFloat8(weights[i])));
	}
}

/* The profile named by argument i, which when NULL means the default one. */
static const ShProfile *
profile_argument(FunctionCallInfo fcinfo, int i)
{
	return PG_ARGISNULL(i) ? sh_default_profile :
		simhash_get_profile(PG_GETARG_TEXT_PP(i));
}

/*
 * simhash(features text[], weights double precision[] DEFAULT NULL)
 *		-> bigint
 *
 * The fingerprint of the features with these weights; with 1 each when
 * weights is NULL.  NULL when no feature weighs anything, or features is NULL.
 *
 * Errors: array_subscript_error when an array has several dimensions or they
 * differ in length, null_value_not_allowed for NULL elements,
 * invalid_parameter_value for a weight that is not finite.
 */
Datum
simhash_by_weights(PG_FUNCTION_ARGS)
{
	ShExact		sums;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	add_arrays(PG_GETARG_ARRAYTYPE_P(0), array_argument(fcinfo, 1),
			   sh_default_profile, &sums, 1);
	return simhash_return_exact(fcinfo, &sums);
}

/*
 * simhash_bits(features text[], bits bigint,
 *		weights double precision[] DEFAULT NULL, profile text DEFAULT NULL)
 *		-> bit
 *
 * The same in so many bits, of which the first 64 are those of
 * simhash(features, weights), with the hash function of the profile, which is
 * one and the same for all profiles but those that compute what other
 * implementations do.  A NULL profile is the default one.  NULL when bits is
 * NULL, too.
 *
 * Errors: as before; invalid_parameter_value unless bits is a multiple of 64
 * from 64 to 1024, and undefined_object when there is no such profile.
 */
Datum
simhash_by_weights_bits(PG_FUNCTION_ARGS)
{
	ShExact		sums[SH_WORDS];
	int			words;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	words = simhash_words_argument(fcinfo, 1);
	add_arrays(PG_GETARG_ARRAYTYPE_P(0), array_argument(fcinfo, 2),
			   profile_argument(fcinfo, 3), sums, words);
	return return_words(fcinfo, sums, words);
}

/* Read the weights of the labels D, C, B and A. */
static void
get_label_weights(ArrayType *array, double weights[LABELS])
{
	Datum	   *elements;
	int			n = simhash_get_elements(array, FLOAT4OID, sizeof(float4),
										 true, TYPALIGN_INT, "weights",
										 &elements);

	if (n != LABELS)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of weights must have %d elements", LABELS),
				 errdetail("It has %d.", n),
				 errhint("They are the weights of the labels D, C, B and A, as for ts_rank().")));
	for (int i = 0; i < LABELS; i++)
		weights[i] = simhash_check_weight((double) DatumGetFloat4(elements[i]));
}

/*
 * Count the positions of a lexeme by their labels.  One without positions, in
 * a tsvector that was stripped, counts as one of label D.
 */
static void
count_labels(TSVector vector, WordEntry *entry, int counts[LABELS])
{
	memset(counts, 0, LABELS * sizeof *counts);
	if (entry->haspos)
	{
		int			n = POSDATALEN(vector, entry);
		WordEntryPos *positions = POSDATAPTR(vector, entry);

		for (int i = 0; i < n; i++)
			counts[WEP_GETWEIGHT(positions[i])]++;
	}
	else
		counts[0] = 1;
}

/* The hash of a lexeme. */
static uint64
hash_lexeme(TSVector vector, WordEntry *entry)
{
	return simhash_hash_feature(sh_default_profile,
								STRPTR(vector) + entry->pos, entry->len);
}

/* Add a lexeme, for so many words: what its positions weigh by their labels. */
static void
add_lexeme(ShExact *sums, int words, TSVector vector, WordEntry *entry,
		   const double weights[LABELS])
{
	uint64		hash = hash_lexeme(vector, entry);
	int			counts[LABELS];

	count_labels(vector, entry, counts);
	for (int i = 0; i < LABELS; i++)
	{
		/* Exact: 24 bits of a float4 times 9 of a count. */
		add_words(sums, words, hash, counts[i] * weights[i]);
	}
}

/* Add up the lexemes of a vector, for so many words. */
static void
add_lexemes(ShExact *sums, int words, TSVector vector,
			const double weights[LABELS])
{
	begin_words(sums, words);
	for (int i = 0; i < vector->size; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_lexeme(sums, words, vector, &ARRPTR(vector)[i], weights);
	}
}

/*
 * simhash(tsvector, weights real[] DEFAULT '{0.1,0.2,0.4,1.0}') -> bigint
 *
 * The fingerprint of the lexemes, each occurrence with the weight of its
 * label.  The weights are those of the labels D, C, B and A, as for ts_rank.
 *
 * Errors: as simhash(features, weights), and array_subscript_error when there
 * are not four weights.
 */
Datum
simhash_tsvector(PG_FUNCTION_ARGS)
{
	double		weights[LABELS];
	ShExact		sums;

	get_label_weights(PG_GETARG_ARRAYTYPE_P(1), weights);
	add_lexemes(&sums, 1, PG_GETARG_TSVECTOR(0), weights);
	return simhash_return_exact(fcinfo, &sums);
}

/*
 * simhash_bits(lexemes tsvector, bits bigint,
 *		weights real[] DEFAULT '{0.1,0.2,0.4,1.0}') -> bit
 *
 * The same in so many bits, of which the first 64 are those of
 * simhash(lexemes, weights).
 *
 * Errors: as before, and invalid_parameter_value unless bits is a multiple of
 * 64 from 64 to 1024.
 */
Datum
simhash_tsvector_bits(PG_FUNCTION_ARGS)
{
	int			words = simhash_words_argument(fcinfo, 1);
	double		weights[LABELS];
	ShExact		sums[SH_WORDS];

	get_label_weights(PG_GETARG_ARRAYTYPE_P(2), weights);
	add_lexemes(sums, words, PG_GETARG_TSVECTOR(0), weights);
	return return_words(fcinfo, sums, words);
}

/*
 * simhash_features(lexemes tsvector,
 *		weights real[] DEFAULT '{0.1,0.2,0.4,1.0}')
 *		-> setof (feature text, weight double precision, hash bigint)
 *
 * The lexemes that simhash(tsvector, weights) adds up, with what their
 * positions weigh together, and their hashes.
 *
 * Errors: as simhash(tsvector, weights).
 */
Datum
simhash_tsvector_features(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	TSVector	vector = PG_GETARG_TSVECTOR(0);
	double		weights[LABELS];

	InitMaterializedSRF(fcinfo, 0);
	get_label_weights(PG_GETARG_ARRAYTYPE_P(1), weights);
	for (int i = 0; i < vector->size; i++)
	{
		WordEntry  *entry = &ARRPTR(vector)[i];
		int			counts[LABELS];
		double		weight = 0;
		Datum		values[3];
		bool		nulls[3] = {false};

		CHECK_FOR_INTERRUPTS();
		count_labels(vector, entry, counts);
		for (int label = 0; label < LABELS; label++)
			weight += counts[label] * weights[label];
		values[0] = PointerGetDatum(cstring_to_text_with_len(STRPTR(vector) +
															 entry->pos,
															 entry->len));
		values[1] = Float8GetDatum(weight);
		values[2] = Int64GetDatum((int64) hash_lexeme(vector, entry));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}
