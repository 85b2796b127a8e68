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
#include "tsearch/ts_type.h"
#include "utils/builtins.h"

#define LABELS		4			/* of lexeme positions: D, C, B, A */

PG_FUNCTION_INFO_V1(simhash_by_weights);
PG_FUNCTION_INFO_V1(simhash_tsvector);
PG_FUNCTION_INFO_V1(simhash_tsvector_features);

/* Sums for so many words, or for a bigint where that is 0. */
typedef struct WideExact
{
	int			words;
	ShExact		sums[SH_WORDS];
} WideExact;

/* Begin sums for as many words as argument i says, unless that is 0. */
static void
begin_exact_words(WideExact *wide, FunctionCallInfo fcinfo, int i)
{
	wide->words = simhash_words_argument(fcinfo, i);
	for (int w = 0; w < Max(wide->words, 1); w++)
		sh_exact_begin(&wide->sums[w], simhash_allocate,
					   CurrentMemoryContext);
}

/* Add a feature to the sums. */
static void
add_exact_words(WideExact *wide, uint64 hash, double weight)
{
	for (int w = 0; w < Max(wide->words, 1); w++)
		sh_exact_add(&wide->sums[w], sh_word_hash(hash, w), weight);
}

/* Return the fingerprint; NULL if all sums are 0. */
static Datum
return_exact_words(FunctionCallInfo fcinfo, WideExact *wide)
{
	uint64		result[SH_WORDS];
	bool		exists = true;

	for (int w = 0; w < Max(wide->words, 1) && exists; w++)
		exists = sh_exact_fingerprint(&wide->sums[w], &result[w]);
	return simhash_return(fcinfo, exists, result, wide->words);
}

/*
 * simhash(features text[], weights double precision[] DEFAULT NULL)
 *		-> bigint
 * simhash_bits(features text[], bits bigint,
 *		weights double precision[] DEFAULT NULL, profile text DEFAULT NULL)
 *		-> bit
 *
 * The fingerprint of the features with these weights; with 1 each when
 * weights is NULL.  NULL when no feature weighs anything, or features is NULL.
 * The first 64 of so many bits are the bigint, with the hash function of the
 * profile, which is one and the same for all profiles but those that compute
 * what other implementations do.  A NULL profile is the default one.  NULL when
 * bits is NULL, too.
 *
 * Errors: array_subscript_error when an array has several dimensions or they
 * differ in length, null_value_not_allowed for NULL elements,
 * invalid_parameter_value for a weight that is not finite, or unless bits is a
 * multiple of 64 from 64 to 1024, undefined_object when there is no such profile.
 */
Datum
simhash_by_weights(PG_FUNCTION_ARGS)
{
	int			bits = PG_NARGS() > 2 ? 1 : 0;
	const ShProfile *profile;
	WideExact	wide;
	Datum	   *features;
	Datum	   *weights;
	int			n;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(bits))
		PG_RETURN_NULL();
	begin_exact_words(&wide, fcinfo, bits);
	profile = simhash_profile_argument(fcinfo, bits + 2);
	n = simhash_get_pairs(PG_GETARG_ARRAYTYPE_P(0),
						  PG_ARGISNULL(bits + 1) ? NULL :
						  PG_GETARG_ARRAYTYPE_P(bits + 1),
						  &features, &weights);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		add_exact_words(&wide, simhash_hash_text(profile, features[i]),
						weights == NULL ? 1.0 :
						simhash_check_weight(DatumGetFloat8(weights[i])));
	}
	return return_exact_words(fcinfo, &wide);
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

/*
 * simhash(lexemes tsvector, weights real[] DEFAULT '{0.1,0.2,0.4,1.0}') -> bigint
 * simhash_bits(lexemes tsvector, bits bigint,
 *		weights real[] DEFAULT '{0.1,0.2,0.4,1.0}') -> bit
 *
 * The fingerprint of the lexemes, each occurrence with the weight of its
 * label.  The weights are those of the labels D, C, B and A, as for ts_rank.
 * The first 64 of so many bits are the bigint.
 *
 * Errors: as simhash(features, weights), array_subscript_error when there are
 * not four weights, and invalid_parameter_value unless bits is a multiple of 64
 * from 64 to 1024.
 */
Datum
simhash_tsvector(PG_FUNCTION_ARGS)
{
	int			bits = PG_NARGS() > 2 ? 1 : 0;
	TSVector	vector = PG_GETARG_TSVECTOR(0);
	double		weights[LABELS];
	WideExact	wide;

	begin_exact_words(&wide, fcinfo, bits);
	get_label_weights(PG_GETARG_ARRAYTYPE_P(bits + 1), weights);
	for (int i = 0; i < vector->size; i++)
	{
		WordEntry  *entry = &ARRPTR(vector)[i];
		uint64		hash = hash_lexeme(vector, entry);
		int			counts[LABELS];

		CHECK_FOR_INTERRUPTS();
		count_labels(vector, entry, counts);
		for (int label = 0; label < LABELS; label++)
		{
			/* Exact: 24 bits of a float4 times 9 of a count. */
			add_exact_words(&wide, hash, counts[label] * weights[label]);
		}
	}
	return return_exact_words(fcinfo, &wide);
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
	TSVector	vector = PG_GETARG_TSVECTOR(0);
	double		weights[LABELS];

	InitMaterializedSRF(fcinfo, 0);
	get_label_weights(PG_GETARG_ARRAYTYPE_P(1), weights);
	for (int i = 0; i < vector->size; i++)
	{
		WordEntry  *entry = &ARRPTR(vector)[i];
		int			counts[LABELS];
		double		weight = 0;

		CHECK_FOR_INTERRUPTS();
		count_labels(vector, entry, counts);
		for (int label = 0; label < LABELS; label++)
			weight += counts[label] * weights[label];
		simhash_put_feature(fcinfo,
							cstring_to_text_with_len(STRPTR(vector) + entry->pos,
													 entry->len),
							weight, hash_lexeme(vector, entry));
	}
	return (Datum) 0;
}
