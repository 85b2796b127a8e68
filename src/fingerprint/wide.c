/*-------------------------------------------------------------------------
 *
 * wide.c
 *		Fingerprints wider than 64 bits, as bit strings.
 *
 * A fingerprint of n bits, a multiple of 64, is a bit(n).  Its first 64 bits,
 * read from the left, are the fingerprint that is a bigint, most significant
 * bit first, as in a cast from bigint to bit(64).  core/fingerprint/families.h says
 * where the others come from.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "port/pg_bswap.h"
#include "utils/varbit.h"

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
				 errmsg("argument \"bits\" is " INT64_FORMAT, bits),
				 errhint("It must be a multiple of %d, up to %d.",
						 SH_BITS, SH_BITS * SH_WORDS)));
	return (int) bits / SH_BITS;
}

/*
 * The same of argument i; 0 where that is 0, as the fingerprint is to be a
 * bigint.
 */
int
simhash_words_argument(FunctionCallInfo fcinfo, int i)
{
	return i == 0 ? 0 : simhash_words(PG_GETARG_INT64(i));
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

/*
 * Return a fingerprint of so many words, or of one as a bigint where that is
 * 0; NULL if there is none.
 */
Datum
simhash_return(FunctionCallInfo fcinfo, bool exists,
			   const uint64 *fingerprint, int words)
{
	if (!exists)
		PG_RETURN_NULL();
	return words == 0 ? Int64GetDatum((int64) fingerprint[0]) :
		simhash_make_bits(fingerprint, words);
}
