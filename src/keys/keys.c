/*-------------------------------------------------------------------------
 *
 * keys.c
 *		Block keys: the functions that compute them.
 *
 * A pair of fingerprints within distance 3 agrees in at least one of the four
 * blocks, so that four btree indexes on the four keys find every such pair.
 * key_columns.c adds columns with keys, and their indexes, to a table;
 * key_paths.c has queries use them, by key_scan.c where they cover.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "keys/keys.h"

#include "core/blocks/probes.h"
#include "search/search.h"

PG_FUNCTION_INFO_V1(simhash_key);
PG_FUNCTION_INFO_V1(simhash_keys);
PG_FUNCTION_INFO_V1(simhash_probes);

/* Fail unless there is such a block. */
static inline void
check_block(int32 block)
{
	(void) simhash_check_range("", "block", block, 0, SH_BLOCKS - 1, 0);
}

/*
 * simhash_key(fp bigint, block integer) -> smallint
 *
 * The 16 bits of a block of the fingerprint, as a signed number.  Block 0 is
 * the most significant.
 *
 * Errors: invalid_parameter_value when the block is not in 0 .. 3.
 */
Datum
simhash_key(PG_FUNCTION_ARGS)
{
	int32		block = PG_GETARG_INT32(1);

	check_block(block);
	PG_RETURN_INT16(sh_block_key((uint64) PG_GETARG_INT64(0), block));
}

/* An array of keys. */
static ArrayType *
make_key_array(Datum *keys, int n)
{
	return construct_array(keys, n, INT2OID, sizeof(int16), true,
						   TYPALIGN_SHORT);
}

/*
 * simhash_keys(fingerprints bigint[], block integer) -> smallint[]
 *
 * The keys of several fingerprints in a block; NULLs have none.
 *
 * Errors: invalid_parameter_value when the block is not in 0 .. 3.
 */
Datum
simhash_keys(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int32		block = PG_GETARG_INT32(1);
	Datum	   *fingerprints;
	bool	   *nulls;
	int			count;
	int			n = 0;

	check_block(block);
	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &fingerprints, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			fingerprints[n++] =
				Int16GetDatum(sh_block_key((uint64) DatumGetInt64(fingerprints[i]),
										   block));
	}
	PG_RETURN_ARRAYTYPE_P(make_key_array(fingerprints, n));
}

/*
 * simhash_probes(center bigint, radius bigint, block integer) -> smallint[]
 *
 * The keys to look up in a block when searching within a radius (in bits) of
 * the center: every fingerprint in reach has one of them in at least one
 * block (Norouzi, Punjani and Fleet 2012, "Fast Search in Hamming Space with
 * Multi-Index Hashing").
 *
 * A radius that comes from a row may be any number, as with <@ (distance.c).
 *
 * Errors: invalid_parameter_value when the query has a radius that is not in
 * 0 .. 64, or a block not in 0 .. 3.
 */
Datum
simhash_probes(PG_FUNCTION_ARGS)
{
	uint64		center = (uint64) PG_GETARG_INT64(0);
	int64		radius = PG_GETARG_INT64(1);
	int32		block = PG_GETARG_INT32(2);
	int			reach;
	int			n = 0;
	Datum	   *keys;
	int16		key;
	ShProbes	probes;

	check_block(block);
	if (simhash_is_of_query(fcinfo->flinfo, 1))
		(void) simhash_check_radius(radius, SH_BITS);
	reach = sh_block_radius((int) Max(-1, Min(radius, SH_BITS)), block);
	keys = palloc(Max(1, sh_probe_count(reach)) * sizeof *keys);
	sh_probes_begin(&probes, sh_block_key(center, block), reach);
	while (sh_probes_next(&probes, &key) >= 0)
		keys[n++] = Int16GetDatum(key);
	PG_RETURN_ARRAYTYPE_P(make_key_array(keys, n));
}

/* Is an expression a call of simhash_key for a constant block?  Of what? */
bool
simhash_is_key(Node *expression, Node **fingerprint, int *block)
{
	FuncExpr   *call = (FuncExpr *) expression;
	Const	   *number;

	if (expression == NULL || !IsA(expression, FuncExpr) ||
		list_length(call->args) != 2 ||
		simhash_c_function(call->funcid) != simhash_key)
		return false;
	number = lsecond(call->args);
	if (!IsA(number, Const) || number->constisnull)
		return false;
	*fingerprint = linitial(call->args);
	*block = DatumGetInt32(number->constvalue);
	return *block >= 0 && *block < SH_BLOCKS;
}
