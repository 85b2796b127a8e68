/*-------------------------------------------------------------------------
 *
 * cppjieba.c
 *		The fingerprint that cppjieba computes of keywords with weights.
 *
 * The keywords come from a segmenter.  Fingerprints that other programs
 * compute of whole documents are profiles (compat_profiles.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

PG_FUNCTION_INFO_V1(simhash_cppjieba);

/*
 * simhash_cppjieba(features text[], weights double precision[]) -> bigint
 *
 * The fingerprint that cppjieba's Simhasher gives to keywords with weights:
 * each hashed by lookup3, sums in double precision in the order given.
 *
 * Errors: as simhash(features, weights).
 */
Datum
simhash_cppjieba(PG_FUNCTION_ARGS)
{
	Datum	   *features;
	Datum	   *weights;
	int			n = simhash_get_pairs(PG_GETARG_ARRAYTYPE_P(0),
									  PG_GETARG_ARRAYTYPE_P(1),
									  &features, &weights);
	double		sums[SH_BITS] = {0};
	uint64		fingerprint = 0;

	for (int i = 0; i < n; i++)
	{
		text	   *feature = DatumGetTextPP(features[i]);
		Size		length = VARSIZE_ANY_EXHDR(feature);
		const unsigned char *bytes = simhash_whole_utf8(VARDATA_ANY(feature),
														&length);
		uint64		hash = sh_lookup3(bytes, length);
		double		weight = simhash_check_weight(DatumGetFloat8(weights[i]));

		CHECK_FOR_INTERRUPTS();
		for (int bit = 0; bit < SH_BITS; bit++)
			sums[bit] += hash >> bit & 1 ? weight : -weight;
	}
	for (int bit = 0; bit < SH_BITS; bit++)
		fingerprint |= (uint64) (sums[bit] > 0) << bit;
	PG_RETURN_INT64((int64) fingerprint);
}
