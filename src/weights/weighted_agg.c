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

	simhash_begin_exact(sums, context);
	return sums;
}

/* The memory context of the aggregate that is being computed. */
static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (!AggCheckCallContext(fcinfo, &context))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function %u called in non-aggregate context",
						fcinfo->flinfo->fn_oid)));
	return context;
}

/* The state, argument 0, made when it is NULL. */
static ShExact *
get_state(FunctionCallInfo fcinfo)
{
	MemoryContext context = aggregate_context(fcinfo);

	return PG_ARGISNULL(0) ? make_sums(context)
		: (ShExact *) PG_GETARG_POINTER(0);
}

/* True when the row counts: neither argument 1 nor 2 is NULL. */
static inline bool
row_counts(FunctionCallInfo fcinfo)
{
	return !PG_ARGISNULL(1) && !PG_ARGISNULL(2);
}

/*
 * simhash_agg_add_feature(state internal, feature text,
 *		weight double precision) -> internal
 *
 * Transition of simhash_agg(feature, weight).  A row with a NULL is ignored.
 */
Datum
simhash_agg_add_feature(PG_FUNCTION_ARGS)
{
	ShExact    *state = get_state(fcinfo);

	if (row_counts(fcinfo))
		sh_exact_add(state, simhash_hash_text(sh_default_profile, PG_GETARG_DATUM(1)),
					 simhash_check_weight(PG_GETARG_FLOAT8(2)));
	PG_RETURN_POINTER(state);
}

/*
 * simhash_agg_remove_feature(state internal, feature text,
 *		weight double precision) -> internal
 *
 * Undoes simhash_agg_add_feature when a row leaves a window.
 */
Datum
simhash_agg_remove_feature(PG_FUNCTION_ARGS)
{
	ShExact    *state = get_state(fcinfo);

	if (row_counts(fcinfo))
		sh_exact_subtract(state, simhash_hash_text(sh_default_profile, PG_GETARG_DATUM(1)),
						  simhash_check_weight(PG_GETARG_FLOAT8(2)));
	PG_RETURN_POINTER(state);
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
	ShExact    *state = get_state(fcinfo);

	if (row_counts(fcinfo))
		sh_exact_add(state, (uint64) PG_GETARG_INT64(1),
					 simhash_check_weight(PG_GETARG_FLOAT8(2)));
	PG_RETURN_POINTER(state);
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
	ShExact    *state = get_state(fcinfo);

	if (row_counts(fcinfo))
		sh_exact_subtract(state, (uint64) PG_GETARG_INT64(1),
						  simhash_check_weight(PG_GETARG_FLOAT8(2)));
	PG_RETURN_POINTER(state);
}

/*
 * simhash_agg_combine(internal, internal) -> internal
 *
 * Adds what another worker has added up.
 */
Datum
simhash_agg_combine(PG_FUNCTION_ARGS)
{
	ShExact    *state = get_state(fcinfo);

	if (!PG_ARGISNULL(1))
		sh_exact_merge(state, (ShExact *) PG_GETARG_POINTER(1));
	PG_RETURN_POINTER(state);
}

/*
 * simhash_agg_serial(state internal) -> bytea
 *
 * The sums, carried, for another process of the same server: the number of
 * digits, and for each its index and the 64 values.
 */
Datum
simhash_agg_serial(PG_FUNCTION_ARGS)
{
	ShExact    *state = get_state(fcinfo);
	StringInfoData out;
	int			n = 0;

	sh_exact_carry(state);
	for (int i = 0; i < SH_DIGITS; i++)
		n += state->digits[i] != NULL;
	pq_begintypsend(&out);
	pq_sendint32(&out, (uint32) n);
	for (int i = 0; i < SH_DIGITS; i++)
	{
		if (state->digits[i] == NULL)
			continue;
		pq_sendint32(&out, (uint32) i);
		for (int bit = 0; bit < SH_BITS; bit++)
			pq_sendint64(&out, (uint64) (*state->digits[i])[bit]);
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
	ShExact    *state;
	StringInfoData in;
	uint32		n;

	aggregate_context(fcinfo);
	state = make_sums(CurrentMemoryContext);
	initStringInfo(&in);
	appendBinaryStringInfo(&in, VARDATA_ANY(serial),
						   (int) VARSIZE_ANY_EXHDR(serial));
	n = pq_getmsgint(&in, 4);
	for (uint32 i = 0; i < n; i++)
	{
		uint32		index = pq_getmsgint(&in, 4);

		if (index >= SH_DIGITS)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("invalid state of an aggregate")));
		state->digits[index] = palloc(sizeof(ShDigit));
		for (int bit = 0; bit < SH_BITS; bit++)
			(*state->digits[index])[bit] = pq_getmsgint64(&in);
	}
	pq_getmsgend(&in);
	pfree(in.data);
	PG_RETURN_POINTER(state);
}

/*
 * simhash_agg_final(state internal) -> bigint
 *
 * The fingerprint; NULL when all sums are 0.  Leaves the sums as they are.
 */
Datum
simhash_agg_final(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	return simhash_return_exact(fcinfo, (ShExact *) PG_GETARG_POINTER(0));
}
