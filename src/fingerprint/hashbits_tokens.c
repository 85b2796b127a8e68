/*-------------------------------------------------------------------------
 *
 * hashbits_tokens.c
 *		simhash_hashbits: the fingerprint that a well-known Python class of
 *		SimHash, of 128 bits by default, gives to tokens.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "utils/varbit.h"

PG_FUNCTION_INFO_V1(simhash_hashbits);

/*
 * simhash_hashbits(tokens text[], bits bigint DEFAULT 128) -> bit
 *
 * The fingerprint that simhash(tokens, hashbits) of that class has, as bits
 * with the most significant first; hashbits.c says how.
 *
 * Errors: invalid_parameter_value unless bits is from 1 to 1024,
 * array_subscript_error when the array has several dimensions,
 * null_value_not_allowed for NULL elements.
 */
Datum
simhash_hashbits(PG_FUNCTION_ARGS)
{
	int64		bits = PG_GETARG_INT64(1);
	ShHashbits	sums = {0};
	Datum	   *tokens;
	int			n;
	VarBit	   *result;

	(void) simhash_check_range("", "bits", bits, 1, SH_HASHBITS_MAX, 0);
	sums.bits = (int) bits;
	n = simhash_get_texts(PG_GETARG_ARRAYTYPE_P(0), "tokens", &tokens);
	for (int i = 0; i < n; i++)
	{
		text	   *token = DatumGetTextPP(tokens[i]);
		Size		length = VARSIZE_ANY_EXHDR(token);
		const unsigned char *bytes = simhash_whole_utf8(VARDATA_ANY(token),
														&length);

		CHECK_FOR_INTERRUPTS();
		sh_hashbits_add(&sums, bytes, length, simhash_pause);
	}
	result = palloc0(VARBITTOTALLEN(sums.bits));
	SET_VARSIZE(result, VARBITTOTALLEN(sums.bits));
	VARBITLEN(result) = sums.bits;
	sh_hashbits_write(&sums, VARBITS(result));
	PG_RETURN_VARBIT_P(result);
}
