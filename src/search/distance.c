/*-------------------------------------------------------------------------
 *
 * distance.c
 *		Hamming distance and the operators built on it.
 *
 * A fingerprint is a bigint, of which only the 64 bits matter.  A search is
 * a hamming_ball (ball.c), the composite type (center bigint, radius bigint); a
 * row constructor becomes one by itself, as in  fp <@ (q, 8).
 *
 * Wider fingerprints, and those of other programs, are bit strings, searched
 * for by a hamming_bit_ball.  Two of them have a distance if they are of the
 * same width.  To compare others is an error: whatever one would fill the
 * shorter one up with would be a guess.
 *
 * Row security, and views that are security barriers, let a condition come
 * before their own only if its functions are leakproof: they must tell nothing
 * of a row but by what they return.  A function of two bigints never fails.
 * <@ and @> complain of a radius that is out of range only if it is a constant
 * or a parameter of the query.  A radius that comes from a row, which may be a
 * hidden one, may be any number, here as in every scan: no fingerprint is
 * within -1, and all are within 65.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"

#include "access/htup_details.h"

PG_FUNCTION_INFO_V1(hamming);
PG_FUNCTION_INFO_V1(hamming_near);
PG_FUNCTION_INFO_V1(hamming_within);
PG_FUNCTION_INFO_V1(hamming_contains);
PG_FUNCTION_INFO_V1(hamming_balls_near);
PG_FUNCTION_INFO_V1(hamming_within_k);
PG_FUNCTION_INFO_V1(hamming_bit);
PG_FUNCTION_INFO_V1(hamming_bit_within);
PG_FUNCTION_INFO_V1(hamming_bit_contains);
PG_FUNCTION_INFO_V1(hamming_bit_balls_near);
PG_FUNCTION_INFO_V1(hamming_bit_within_k);

/* A ball that is an argument, and its bytes, by which it is known again. */
typedef struct BallArgument
{
	bool		of_query;		/* the query says which */
	bool		known;			/* the rest is that of these bytes */
	bool		whole;			/* it has center and radius */
	SimhashBall ball;
	uint32		length;
	char	   *bytes;
} BallArgument;

/* Fail unless two widths are the same. */
void
simhash_check_widths(int32 a, int32 b)
{
	if (a != b)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("cannot compare fingerprints of different widths"),
				 errdetail("They have %d and %d bits.", a, b),
				 errhint("Compare those of each width by themselves.")));
}

/*
 * The number of bits in which two bit strings differ.
 *
 * Errors: string_data_length_mismatch when one is longer than the other.
 */
int
simhash_bits_distance(const SimhashBits *a, const SimhashBits *b)
{
	simhash_check_widths(a->width, b->width);

	/* The bits that the last byte has too many are 0. */
	return (int) sh_distance_bytes(a->bytes, b->bytes,
								   ((size_t) a->width + BITS_PER_BYTE - 1) /
								   BITS_PER_BYTE);
}

/*
 * Find out what the bytes of a ball say.  A center that is a bit string lies
 * among them, unless it is compressed there: then it lasts no longer than the
 * call.
 */
static void
read_ball_argument(BallArgument *last, Oid center_type)
{
	const char *start;

	last->whole = simhash_get_ball(PointerGetDatum(last->bytes), center_type,
								   last->of_query, &last->ball);
	start = (const char *) last->ball.bits.bytes;
	last->known = !last->whole || center_type == INT8OID ||
		(start >= last->bytes && start < last->bytes + last->length);
}

/*
 * The ball in the given argument, whose center is of that type; NULL if it has
 * no center or no radius.  Most searches use one and the same ball for many
 * rows, so the last one is remembered by its bytes.
 */
static const SimhashBall *
get_ball_argument(FunctionCallInfo fcinfo, int argument, Oid center_type)
{
	HeapTupleHeader header = simhash_get_row(PG_GETARG_DATUM(argument));
	uint32		length = HeapTupleHeaderGetDatumLength(header);
	FmgrInfo   *flinfo = fcinfo->flinfo;
	BallArgument *last = flinfo->fn_extra;

	if (last == NULL)
	{
		flinfo->fn_extra = last =
			MemoryContextAllocZero(flinfo->fn_mcxt, sizeof *last);
		last->of_query = simhash_is_of_query(flinfo, argument);
	}
	if (!last->known || last->length != length ||
		memcmp(last->bytes, header, length) != 0)
	{
		last->known = false;
		last->bytes = last->bytes != NULL ? repalloc(last->bytes, length) :
			MemoryContextAlloc(flinfo->fn_mcxt, length);
		last->length = length;
		memcpy(last->bytes, header, length);
		read_ball_argument(last, center_type);
	}
	return last->whole ? &last->ball : NULL;
}

/* Is one argument, a bigint, in the ball that is the other? */
static Datum
is_in_ball(FunctionCallInfo fcinfo, int fingerprint, int argument)
{
	const SimhashBall *ball = get_ball_argument(fcinfo, argument, INT8OID);

	if (ball == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(sh_distance((uint64) PG_GETARG_INT64(fingerprint),
							   (uint64) ball->center) <= ball->radius);
}

/* Is one argument, a bit string, in the ball that is the other? */
static Datum
is_in_bit_ball(FunctionCallInfo fcinfo, int fingerprint, int argument)
{
	SimhashBits bits = simhash_get_bits(PG_GETARG_DATUM(fingerprint));
	const SimhashBall *ball = get_ball_argument(fcinfo, argument, VARBITOID);

	if (ball == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(simhash_bits_distance(&bits, &ball->bits) <= ball->radius);
}

/*
 * hamming(a bigint, b bigint) -> integer; operator <~>
 *
 * The number of bits, 0 to 64, in which a and b differ.
 */
Datum
hamming(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(sh_distance((uint64) PG_GETARG_INT64(0),
								(uint64) PG_GETARG_INT64(1)));
}

/*
 * hamming_near(a bigint, b bigint) -> boolean; operator ~=
 *
 * True when a and b differ in at most 3 bits.
 */
Datum
hamming_near(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(sh_distance((uint64) PG_GETARG_INT64(0),
							   (uint64) PG_GETARG_INT64(1)) <= SH_NEAR);
}

/*
 * hamming_within(fp bigint, ball hamming_ball) -> boolean;
 * operator <@
 *
 * True when the fingerprint differs in at most ball.radius bits from
 * ball.center; NULL when either of them is.
 *
 * Errors: invalid_parameter_value when the query has a radius that is not in
 * 0 .. 64.
 */
Datum
hamming_within(PG_FUNCTION_ARGS)
{
	return is_in_ball(fcinfo, 0, 1);
}

/*
 * hamming_contains(ball hamming_ball, fp bigint) -> boolean;
 * operator @>, the commutator of <@
 */
Datum
hamming_contains(PG_FUNCTION_ARGS)
{
	return is_in_ball(fcinfo, 1, 0);
}

/*
 * hamming_balls_near(a hamming_ball, b hamming_ball) -> boolean; operator ~=
 *
 * True when each center lies in the other's ball, that is, when the centers
 * differ in at most least(a.radius, b.radius) bits.
 *
 * Errors: invalid_parameter_value when a radius is not in 0 .. 64.
 */
Datum
hamming_balls_near(PG_FUNCTION_ARGS)
{
	SimhashBall a;
	SimhashBall b;

	if (!simhash_get_ball(PG_GETARG_DATUM(0), INT8OID, true, &a) ||
		!simhash_get_ball(PG_GETARG_DATUM(1), INT8OID, true, &b))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(sh_distance((uint64) a.center, (uint64) b.center) <=
				   Min(a.radius, b.radius));
}

/*
 * hamming_within(a bigint, b bigint, k bigint) -> boolean
 *
 * True when a and b differ in at most k bits, where k may be any number.
 */
Datum
hamming_within_k(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(sh_distance((uint64) PG_GETARG_INT64(0),
							   (uint64) PG_GETARG_INT64(1)) <=
				   PG_GETARG_INT64(2));
}

/*
 * hamming(a bit, b bit) -> integer; operator <~~>
 *
 * The number of bits in which a and b differ.
 *
 * Errors: string_data_length_mismatch when one is longer than the other.
 */
Datum
hamming_bit(PG_FUNCTION_ARGS)
{
	SimhashBits a = simhash_get_bits(PG_GETARG_DATUM(0));
	SimhashBits b = simhash_get_bits(PG_GETARG_DATUM(1));

	PG_RETURN_INT32(simhash_bits_distance(&a, &b));
}

/*
 * hamming_within(fp bit, ball hamming_bit_ball) -> boolean;
 * operator <@
 *
 * True when the fingerprint differs in at most ball.radius bits from
 * ball.center; NULL when either of them is.
 *
 * Errors: string_data_length_mismatch when one is longer than the other,
 * invalid_parameter_value when the query has a radius that is not in 0 .. bits
 * of the center.
 */
Datum
hamming_bit_within(PG_FUNCTION_ARGS)
{
	return is_in_bit_ball(fcinfo, 0, 1);
}

/*
 * hamming_contains(ball hamming_bit_ball, fp bit) -> boolean;
 * operator @>, the commutator of <@
 */
Datum
hamming_bit_contains(PG_FUNCTION_ARGS)
{
	return is_in_bit_ball(fcinfo, 1, 0);
}

/*
 * hamming_balls_near(a hamming_bit_ball, b hamming_bit_ball) -> boolean;
 * operator ~=
 *
 * True when each center lies in the other's ball, that is, when the centers
 * differ in at most least(a.radius, b.radius) bits.
 *
 * Errors: those of hamming_bit_within, wherever the radius comes from.
 */
Datum
hamming_bit_balls_near(PG_FUNCTION_ARGS)
{
	SimhashBall a;
	SimhashBall b;

	if (!simhash_get_ball(PG_GETARG_DATUM(0), VARBITOID, true, &a) ||
		!simhash_get_ball(PG_GETARG_DATUM(1), VARBITOID, true, &b))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(simhash_bits_distance(&a.bits, &b.bits) <=
				   Min(a.radius, b.radius));
}

/*
 * hamming_within(a bit, b bit, k bigint) -> boolean
 *
 * True when a and b differ in at most k bits, where k may be any number.
 *
 * Errors: string_data_length_mismatch when one is longer than the other.
 */
Datum
hamming_bit_within_k(PG_FUNCTION_ARGS)
{
	SimhashBits a = simhash_get_bits(PG_GETARG_DATUM(0));
	SimhashBits b = simhash_get_bits(PG_GETARG_DATUM(1));

	PG_RETURN_BOOL(simhash_bits_distance(&a, &b) <= PG_GETARG_INT64(2));
}
