/*-------------------------------------------------------------------------
 *
 * weighted_agg.c
 *		The aggregates simhash_agg: rows of features with weights ->
 *		fingerprint.
 *
 * The state is a ShExact, in the memory context of the aggregate.  Its sums
 * are exact, so that rows can come in any order, leave a moving window again,
 * and be added up by parallel workers.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "libpq/pqformat.h"

PG_FUNCTION_INFO_V1(simhash_agg_add_feature);
PG_FUNCTION_INFO_V1(simhash_agg_remove_feature);
PG_FUNCTION_INFO_V1(simhash_agg_add_hash);
PG_FUNCTION_INFO_V1(simhash_agg_remove_hash);
PG_FUNCTION_INFO_V1(simhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_agg_serial);
PG_FUNCTION_INFO_V1(simhash_agg_deserial);
PG_FUNCTION_INFO_V1(simhash_agg_final);

/* Make sums with nothing added, in a memory context that they grow in. */
static ShExact *
make_sums(MemoryContext context)
{
	ShExact    *sums = MemoryContextAlloc(context, sizeof *sums);

	sh_exact_begin(sums, simhash_allocate, context);
	return sums;
}

/* The state, argument 0, made when it is NULL. */
static ShExact *
get_sums(FunctionCallInfo fcinfo)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);

	return PG_ARGISNULL(0) ? make_sums(context)
		: (ShExact *) PG_GETARG_POINTER(0);
}

/*
 * Add the row to the sums, with its weight, argument 2, times 1 or -1.  Argument
 * 1 is a hash, or a feature; argument 3, if there is one, names the profile that
 * this is hashed by.  A row with a NULL is ignored.
 */
static Datum
add_weighted_row(FunctionCallInfo fcinfo, bool hashed, int times)
{
	ShExact    *state = get_sums(fcinfo);

	if (!PG_ARGISNULL(1) && !PG_ARGISNULL(2))
		sh_exact_add(state, hashed ? (uint64) PG_GETARG_INT64(1) :
					 simhash_hash_text(simhash_profile_argument(fcinfo, 3),
									   PG_GETARG_DATUM(1)),
					 times * simhash_check_weight(PG_GETARG_FLOAT8(2)));
	PG_RETURN_POINTER(state);
}

/*
 * simhash_agg_add_feature(state internal, feature text,
 *		weight double precision [, profile text]) -> internal
 *
 * Transition of simhash_agg(feature, weight [, profile]).  A row with a NULL is
 * ignored, but that a NULL profile is the default one.
 *
 * Errors: invalid_parameter_value for a weight that is not finite,
 * undefined_object when there is no such profile.
 */
Datum
simhash_agg_add_feature(PG_FUNCTION_ARGS)
{
	return add_weighted_row(fcinfo, false, 1);
}

/*
 * simhash_agg_remove_feature(state internal, feature text,
 *		weight double precision [, profile text]) -> internal
 *
 * Undoes simhash_agg_add_feature when a row leaves a window.
 */
Datum
simhash_agg_remove_feature(PG_FUNCTION_ARGS)
{
	return add_weighted_row(fcinfo, false, -1);
}

/*
 * simhash_agg_add_hash(state internal, hash bigint,
 *		weight double precision) -> internal
 *
 * Transition of simhash_agg(hash, weight), for features that are hashed
 * already, by us or otherwise.  A row with a NULL is ignored.
 */
Datum
simhash_agg_add_hash(PG_FUNCTION_ARGS)
{
	return add_weighted_row(fcinfo, true, 1);
}

/*
 * simhash_agg_remove_hash(state internal, hash bigint,
 *		weight double precision) -> internal
 *
 * Undoes simhash_agg_add_hash when a row leaves a window.
 */
Datum
simhash_agg_remove_hash(PG_FUNCTION_ARGS)
{
	return add_weighted_row(fcinfo, true, -1);
}

/*
 * simhash_agg_combine(internal, internal) -> internal
 *
 * Adds what another worker has added up.
 */
Datum
simhash_agg_combine(PG_FUNCTION_ARGS)
{
	ShExact    *state = get_sums(fcinfo);

	if (!PG_ARGISNULL(1))
		sh_exact_merge(state, (ShExact *) PG_GETARG_POINTER(1));
	PG_RETURN_POINTER(state);
}

/*
 * simhash_agg_serial(internal) -> bytea
 *
 * The sums, carried, for another process of the same server: each digit that
 * there is, with its index before it.
 */
Datum
simhash_agg_serial(PG_FUNCTION_ARGS)
{
	ShExact    *state = get_sums(fcinfo);
	StringInfoData out;

	sh_exact_carry(state);
	pq_begintypsend(&out);
	for (int i = 0; i < SH_DIGITS; i++)
	{
		if (state->digits[i] == NULL)
			continue;
		pq_sendint32(&out, i);
		pq_sendbytes(&out, (char *) state->digits[i], sizeof(ShDigit));
	}
	PG_RETURN_BYTEA_P(pq_endtypsend(&out));
}

/*
 * simhash_agg_deserial(bytea, internal) -> internal
 *
 * The inverse of simhash_agg_serial.
 */
Datum
simhash_agg_deserial(PG_FUNCTION_ARGS)
{
	bytea	   *serial = PG_GETARG_BYTEA_PP(0);
	StringInfoData in = {VARDATA_ANY(serial), VARSIZE_ANY_EXHDR(serial), 0, 0};
	ShExact    *state;

	(void) simhash_aggregate_context(fcinfo);
	state = make_sums(CurrentMemoryContext);
	while (in.cursor < in.len)
	{
		uint32		index = pq_getmsgint(&in, 4);

		if (index >= SH_DIGITS)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("invalid state of an aggregate")));
		state->digits[index] = palloc(sizeof(ShDigit));
		pq_copymsgbytes(&in, (char *) state->digits[index], sizeof(ShDigit));
	}
	PG_RETURN_POINTER(state);
}

/*
 * simhash_agg_final(internal) -> bigint
 *
 * The fingerprint; NULL when all sums are 0.  Leaves the sums as they are.
 */
Datum
simhash_agg_final(PG_FUNCTION_ARGS)
{
	uint64		fingerprint;

	if (PG_ARGISNULL(0) ||
		!sh_exact_fingerprint((ShExact *) PG_GETARG_POINTER(0), &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) fingerprint);
}
