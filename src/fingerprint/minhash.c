/*-------------------------------------------------------------------------
 *
 * minhash.c
 *		The second family of fingerprints: 64 one-bit MinHash values.
 *
 * Same profiles, same features, same type, operators and indexes as simhash;
 * only the last step differs (minima.c).  The distance between two
 * fingerprints of this family estimates the Jaccard similarity of the sets of
 * features.  A fingerprint of one family means nothing to the other.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(minhash);
PG_FUNCTION_INFO_V1(minhash_features);
PG_FUNCTION_INFO_V1(minhash_bits);
PG_FUNCTION_INFO_V1(minhash_features_bits);

ShWalks		simhash_walks;

/* ShHashReader, and for more hashes than that: add them to the minima. */
static void
add_to_minima(void *state, const uint64 *hashes, size_t n)
{
	for (size_t done = 0, k; done < n; done += k)
	{
		CHECK_FOR_INTERRUPTS();
		k = Min(n - done, SH_BATCH);
		sh_wide_minima_add(state, hashes + done, k);
	}
}

/* SimhashWideFamily: the MinHash fingerprint of a document. */
bool
simhash_wide_minhash(const ShProfile *profile, text *document, int words,
					 uint64 *result)
{
	ShWideMinima wide;

	sh_wide_minima_begin(&wide, words);
	simhash_read_hashes(simhash_begin_document(profile), document,
						add_to_minima, &wide);
	return sh_wide_minima_fingerprint(&wide, &simhash_walks, result);
}

/*
 * minhash(document text) -> bigint
 * minhash(document text, profile text) -> bigint
 *
 * The MinHash fingerprint of the document by the profile of that name, or by
 * the default one; NULL when the document has no feature (Li and Koenig 2010,
 * "b-Bit Minwise Hashing"; Shrivastava and Li 2014, "In Defense of MinHash over
 * SimHash").
 *
 * Errors: undefined_object when there is no such profile.
 */
Datum
minhash(PG_FUNCTION_ARGS)
{
	return simhash_of_document(fcinfo, simhash_wide_minhash, 0);
}

/*
 * minhash_bits(document text, bits bigint, profile text DEFAULT NULL) -> bit
 *
 * The MinHash fingerprint of the document in so many bits, of which the first
 * 64 are minhash(document, profile); a NULL profile is the default one.
 *
 * Errors: as simhash_bits(document, bits, profile).
 */
Datum
minhash_bits(PG_FUNCTION_ARGS)
{
	return simhash_of_document(fcinfo, simhash_wide_minhash, 1);
}

/*
 * The hashes by a profile of the features of an array, one for each element, in
 * the current memory context; returns how many they are.
 */
int
simhash_hash_set(ArrayType *array, const ShProfile *profile, uint64 **hashes)
{
	Datum	   *features;
	int			n = simhash_get_texts(array, "features", &features);

	*hashes = MemoryContextAllocHuge(CurrentMemoryContext,
									 Max(n, 1) * sizeof **hashes);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		(*hashes)[i] = simhash_hash_text(profile, features[i]);
	}
	return n;
}

/*
 * Return the fingerprint of argument 0, a set of features: in as many bits as
 * argument "bits" says, or as a bigint where that is 0.  The argument behind it
 * names the profile whose hash is taken.
 */
static Datum
minhash_of_features(FunctionCallInfo fcinfo, int bits)
{
	ShWideMinima wide;
	uint64		result[SH_WORDS];
	uint64	   *hashes;
	int			words;
	int			n;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(bits))
		PG_RETURN_NULL();
	words = simhash_words_argument(fcinfo, bits);
	n = simhash_hash_set(PG_GETARG_ARRAYTYPE_P(0),
						 simhash_profile_argument(fcinfo, bits + 1), &hashes);
	sh_wide_minima_begin(&wide, Max(words, 1));
	add_to_minima(&wide, hashes, n);
	return simhash_return(fcinfo, sh_wide_minima_fingerprint(&wide, &simhash_walks, result),
						  result, words);
}

/*
 * minhash(features text[]) -> bigint
 * minhash(features text[], profile text) -> bigint
 *
 * The MinHash fingerprint of a set of features; one that is given twice
 * counts once.  NULL when there is no feature.  The hash function is that of the
 * profile: of its seed, or of the implementation that it computes.
 *
 * Errors: array_subscript_error when the array has several dimensions,
 * null_value_not_allowed for NULL elements, undefined_object when there is no
 * such profile.
 */
Datum
minhash_features(PG_FUNCTION_ARGS)
{
	return minhash_of_features(fcinfo, 0);
}

/*
 * minhash_bits(features text[], bits bigint, profile text DEFAULT NULL) -> bit
 *
 * The MinHash fingerprint of a set of features in so many bits, of which the
 * first 64 are minhash(features, profile); NULL when there is no feature.  A
 * NULL profile is the default one.
 *
 * Errors: as minhash(features, profile); invalid_parameter_value unless bits is
 * a multiple of 64 from 64 to 1024.
 */
Datum
minhash_features_bits(PG_FUNCTION_ARGS)
{
	return minhash_of_features(fcinfo, 1);
}
