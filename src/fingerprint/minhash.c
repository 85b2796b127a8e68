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

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "core/fingerprint/minima.h"

PG_FUNCTION_INFO_V1(minhash);
PG_FUNCTION_INFO_V1(minhash_by_profile);
PG_FUNCTION_INFO_V1(minhash_features);
PG_FUNCTION_INFO_V1(minhash_similarity);

/* SimhashHashReader: add the hashes to the minima. */
static bool
add_hashes(void *state, const uint64 *hashes, size_t n)
{
	sh_minima_add((ShMinima *) state, hashes, n);
	return true;
}

/* SimhashFamily: the fingerprint of a document; false when it has none. */
bool
simhash_minhash(const ShProfile *profile, text *document, uint64 *result)
{
	ShMinima	minima;

	sh_minima_begin(&minima);
	simhash_read_hashes(simhash_begin_document(profile), document,
						add_hashes, &minima);
	return sh_minima_fingerprint(&minima, result);
}

/* SimhashWideFamily: the same, of one word. */
static bool
compute(const ShProfile *profile, text *document, int words, uint64 *result)
{
	Assert(words == 1);
	(void) words;
	return simhash_minhash(profile, document, result);
}

/*
 * minhash(document text) -> bigint
 *
 * The MinHash fingerprint of the document by the default profile; NULL when
 * the document has no feature (Li and Koenig 2010, "b-Bit Minwise Hashing";
 * Shrivastava and Li 2014, "In Defense of MinHash over SimHash").
 */
Datum
minhash(PG_FUNCTION_ARGS)
{
	uint64		result;

	if (!simhash_remembered(compute, sh_default_profile,
							PG_GETARG_TEXT_PP(0), 1, &result))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) result);
}

/*
 * minhash(document text, profile text) -> bigint
 *
 * The same by the profile of that name.
 *
 * Errors: undefined_object when there is no such profile.
 */
Datum
minhash_by_profile(PG_FUNCTION_ARGS)
{
	const ShProfile *profile = simhash_get_profile(PG_GETARG_TEXT_PP(1));
	uint64		result;

	if (!simhash_remembered(compute, profile, PG_GETARG_TEXT_PP(0), 1,
							&result))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) result);
}

/*
 * The hashes of the features of an array, one for each element, in the current
 * memory context; returns how many they are.
 */
int
simhash_hash_set(ArrayType *array, uint64 **hashes)
{
	Datum	   *features;
	int			n = simhash_get_elements(array, TEXTOID, -1, false,
										 TYPALIGN_INT, "features", &features);

	*hashes = MemoryContextAllocHuge(CurrentMemoryContext,
									 Max(n, 1) * sizeof **hashes);
	for (int i = 0; i < n; i++)
	{
		text	   *feature = DatumGetTextPP(features[i]);

		CHECK_FOR_INTERRUPTS();
		(*hashes)[i] = simhash_hash_feature(sh_default_profile,
											VARDATA_ANY(feature),
											VARSIZE_ANY_EXHDR(feature));
	}
	return n;
}

/*
 * minhash(features text[]) -> bigint
 *
 * The MinHash fingerprint of a set of features; one that is given twice
 * counts once.  NULL when there is no feature.
 *
 * Errors: array_subscript_error when the array has several dimensions,
 * null_value_not_allowed for NULL elements.
 */
Datum
minhash_features(PG_FUNCTION_ARGS)
{
	ShMinima	minima;
	uint64	   *hashes;
	int			n = simhash_hash_set(PG_GETARG_ARRAYTYPE_P(0), &hashes);
	uint64		result;

	sh_minima_begin(&minima);
	sh_minima_add(&minima, hashes, n);
	if (!sh_minima_fingerprint(&minima, &result))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) result);
}

/*
 * minhash_similarity(bigint, bigint) -> double precision
 *
 * The Jaccard similarity that the distance d of two fingerprints estimates,
 * 1 - d / 32.  It is below zero where they differ in more than half of their
 * bits, as those of unrelated documents do half of the time.
 */
Datum
minhash_similarity(PG_FUNCTION_ARGS)
{
	int			d = sh_distance((uint64) PG_GETARG_INT64(0),
								(uint64) PG_GETARG_INT64(1));

	PG_RETURN_FLOAT8(1.0 - d / 32.0);
}
