/*-------------------------------------------------------------------------
 *
 * wide.c
 *		Fingerprints wider than 64 bits, as bit strings.
 *
 * A fingerprint of n bits, a multiple of 64, is a bit(n).  Its first 64 bits,
 * read from the left, are the fingerprint that is a bigint, most significant
 * bit first, as in a cast from bigint to bit(64).  core/fingerprint/wide.h says
 * where the others come from.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/varbit.h"

#include "core/fingerprint/minima.h"

PG_FUNCTION_INFO_V1(simhash_bits);
PG_FUNCTION_INFO_V1(minhash_bits);
PG_FUNCTION_INFO_V1(minhash_features_bits);

/*
 * How many bits a fingerprint is to have, as a number of words; fails unless it
 * can have so many.
 */
int
simhash_words(int64 bits)
{
	if (bits < SH_BITS || bits > SH_BITS * SH_WORDS || bits % SH_BITS != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a fingerprint cannot have %lld bits",
						(long long) bits),
				 errhint("The number of bits is a multiple of %d, up to %d.",
						 SH_BITS, SH_BITS * SH_WORDS)));
	return (int) bits / SH_BITS;
}

/* The same of argument i. */
int
simhash_words_argument(FunctionCallInfo fcinfo, int i)
{
	return simhash_words(PG_GETARG_INT64(i));
}

/* The bit string of a fingerprint of so many words. */
Datum
simhash_make_bits(const uint64 *fingerprint, int words)
{
	int			bits = words * SH_BITS;
	VarBit	   *result = palloc(VARBITTOTALLEN(bits));

	SET_VARSIZE(result, VARBITTOTALLEN(bits));
	VARBITLEN(result) = bits;
	for (int w = 0; w < words; w++)
	{
		uint64		word = pg_hton64(fingerprint[w]);

		memcpy(VARBITS(result) + w * sizeof word, &word, sizeof word);
	}
	return PointerGetDatum(result);
}

/* A document being added up, for several words. */
typedef struct WideSums
{
	ShDocument *document;
	int			words;
	ShSums		sums[SH_WORDS];
} WideSums;

/* SimhashHashReader: add the hashes whose weight grows once more. */
static bool
add_to_sums(void *state, const uint64 *hashes, size_t n)
{
	WideSums   *wide = state;
	uint64		gained[SH_GAINED(SH_BATCH)];
	uint64		others[SH_GAINED(SH_BATCH)];

	CHECK_FOR_INTERRUPTS();
	memcpy(gained, hashes, n * sizeof *hashes);
	n = sh_document_sift(wide->document, gained, n);
	sh_sums_add(&wide->sums[0], gained, n);
	for (int w = 1; w < wide->words; w++)
	{
		sh_word_hashes(others, gained, n, w);
		sh_sums_add(&wide->sums[w], others, n);
	}
	return true;
}

/* SimhashWideFamily: the SimHash fingerprint of a document. */
static bool
compute_simhash(const ShProfile *profile, text *document, int words,
				uint64 *result)
{
	WideSums	wide;
	bool		exists = true;

	wide.document = simhash_begin_document(profile);
	wide.words = words;
	memset(wide.sums, 0, words * sizeof *wide.sums);
	simhash_read_hashes(wide.document, document, add_to_sums, &wide);
	for (int w = 0; w < words; w++)
		exists = sh_sums_fingerprint(&wide.sums[w], &result[w]);
	return exists || sh_compat_profile(profile);
}

/* The SimHash fingerprint of a document; false when it has none. */
bool
simhash_wide_fingerprint(const ShProfile *profile, text *document, int words,
						 uint64 *result)
{
	return simhash_remembered(compute_simhash, profile, document, words,
							  result);
}

/* A document whose minima are looked for, for several words. */
typedef struct WideMinima
{
	int			words;
	ShMinima	minima[SH_WORDS];
} WideMinima;

/* Begin with nothing added. */
static void
begin_minima(WideMinima *wide, int words)
{
	wide->words = words;
	for (int w = 0; w < words; w++)
		sh_minima_begin(&wide->minima[w]);
}

/* SimhashHashReader: add the hashes to the minima. */
static bool
add_to_minima(void *state, const uint64 *hashes, size_t n)
{
	WideMinima *wide = state;

	for (size_t done = 0, k; done < n; done += k)
	{
		uint64		others[SH_BATCH];

		CHECK_FOR_INTERRUPTS();
		k = Min(n - done, SH_BATCH);
		sh_minima_add(&wide->minima[0], hashes + done, k);
		for (int w = 1; w < wide->words; w++)
		{
			sh_word_hashes(others, hashes + done, k, w);
			sh_minima_add(&wide->minima[w], others, k);
		}
	}
	return true;
}

/* The fingerprint of the minima; false when nothing was added. */
static bool
end_minima(const WideMinima *wide, uint64 *result)
{
	bool		exists = true;

	for (int w = 0; w < wide->words; w++)
		exists = sh_minima_fingerprint(&wide->minima[w], &result[w]);
	return exists;
}

/* SimhashWideFamily: the MinHash fingerprint of a document. */
static bool
compute_minhash(const ShProfile *profile, text *document, int words,
				uint64 *result)
{
	WideMinima	wide;

	begin_minima(&wide, words);
	simhash_read_hashes(simhash_begin_document(profile), document,
						add_to_minima, &wide);
	return end_minima(&wide, result);
}

/* The fingerprint of argument 0, in argument 1 bits, by profile argument 2. */
static Datum
fingerprint_bits(FunctionCallInfo fcinfo, SimhashWideFamily family)
{
	const ShProfile *profile = sh_default_profile;
	uint64		result[SH_WORDS] = {0};
	int			words;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	words = simhash_words_argument(fcinfo, 1);
	if (!PG_ARGISNULL(2))
		profile = simhash_get_profile(PG_GETARG_TEXT_PP(2));
	if (!simhash_remembered(family, profile, PG_GETARG_TEXT_PP(0), words,
							result))
		PG_RETURN_NULL();
	return simhash_make_bits(result, words);
}

/*
 * simhash_bits(document text, bits bigint, profile text DEFAULT NULL) -> bit
 *
 * The SimHash fingerprint of the document in so many bits, of which the first
 * 64 are simhash(document, profile); NULL when the document has no feature.
 * A NULL profile is the default one.
 *
 * Errors: invalid_parameter_value unless bits is a multiple of 64 from 64 to
 * 1024, undefined_object when there is no such profile.
 */
Datum
simhash_bits(PG_FUNCTION_ARGS)
{
	return fingerprint_bits(fcinfo, compute_simhash);
}

/*
 * minhash_bits(document text, bits bigint, profile text DEFAULT NULL) -> bit
 *
 * The same with the MinHash fingerprint, minhash(document, profile).
 */
Datum
minhash_bits(PG_FUNCTION_ARGS)
{
	return fingerprint_bits(fcinfo, compute_minhash);
}

/*
 * minhash_bits(features text[], bits bigint) -> bit
 *
 * The MinHash fingerprint of a set of features in so many bits, of which the
 * first 64 are minhash(features); NULL when there is no feature.
 *
 * Errors: as minhash(features), and invalid_parameter_value as above.
 */
Datum
minhash_features_bits(PG_FUNCTION_ARGS)
{
	int			words = simhash_words_argument(fcinfo, 1);
	uint64	   *hashes;
	int			n = simhash_hash_set(PG_GETARG_ARRAYTYPE_P(0), &hashes);
	WideMinima	wide;
	uint64		result[SH_WORDS];

	begin_minima(&wide, words);
	add_to_minima(&wide, hashes, n);
	if (!end_minima(&wide, result))
		PG_RETURN_NULL();
	return simhash_make_bits(result, words);
}
