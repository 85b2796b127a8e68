/*-------------------------------------------------------------------------
 *
 * bits.c
 *		Hamming distance of bit strings of any width, and its operators.
 *
 * Two bit strings have a distance if they are of the same width.  To compare
 * others is an error: whatever one would fill the shorter one up with would be
 * a guess.  A search is a hamming_bit_ball (ball.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"

#include "utils/varbit.h"

PG_FUNCTION_INFO_V1(hamming_bit);
PG_FUNCTION_INFO_V1(hamming_bit_within);
PG_FUNCTION_INFO_V1(hamming_bit_contains);
PG_FUNCTION_INFO_V1(hamming_bit_balls_near);
PG_FUNCTION_INFO_V1(hamming_bit_within_k);

/* Fail unless two widths are the same. */
void
simhash_check_widths(int32 a, int32 b)
{
	if (a != b)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
				 errmsg("cannot compare fingerprints of different widths"),
				 errdetail("They have %d and %d bits.", a, b)));
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
 * The ball in the given argument; false if it has no center or no radius.  Its
 * center lies in what is remembered of it, unless it is compressed there.
 */
static bool
get_ball_argument(FunctionCallInfo fcinfo, int argument, SimhashBitBall *ball)
{
	SimhashBallArgument *last = simhash_ball_argument(fcinfo, argument);

	if (!last->known)
	{
		const char *center;

		last->whole = simhash_get_bit_ball(PointerGetDatum(last->bytes),
										   last->of_query, &last->bits);
		center = (const char *) last->bits.center.bytes;
		last->known = !last->whole ||
			(center >= last->bytes && center < last->bytes + last->length);
	}
	*ball = last->bits;
	return last->whole;
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
 * hamming_bit_within(fingerprint bit, ball hamming_bit_ball) -> boolean;
 * operator <@
 *
 * True when the fingerprint differs in at most ball.radius bits from
 * ball.center; NULL when either of them is.
 *
 * Errors: string_data_length_mismatch when one is longer than the other,
 * invalid_parameter_value when the query says a radius that is not in 0 .. bits
 * of the center.
 */
Datum
hamming_bit_within(PG_FUNCTION_ARGS)
{
	SimhashBits fingerprint = simhash_get_bits(PG_GETARG_DATUM(0));
	SimhashBitBall ball;

	if (!get_ball_argument(fcinfo, 1, &ball))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(simhash_bits_distance(&fingerprint, &ball.center) <=
				   ball.radius);
}

/*
 * hamming_bit_contains(ball hamming_bit_ball, fingerprint bit) -> boolean;
 * operator @>, the commutator of <@
 */
Datum
hamming_bit_contains(PG_FUNCTION_ARGS)
{
	SimhashBits fingerprint = simhash_get_bits(PG_GETARG_DATUM(1));
	SimhashBitBall ball;

	if (!get_ball_argument(fcinfo, 0, &ball))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(simhash_bits_distance(&fingerprint, &ball.center) <=
				   ball.radius);
}

/*
 * hamming_bit_balls_near(a hamming_bit_ball, b hamming_bit_ball) -> boolean;
 * operator ~=
 *
 * True when each center lies in the other's ball, that is, when the centers
 * differ in at most least(a.radius, b.radius) bits.
 *
 * Errors: those of hamming_bit_within, whoever says the radius.
 */
Datum
hamming_bit_balls_near(PG_FUNCTION_ARGS)
{
	SimhashBitBall a;
	SimhashBitBall b;

	if (!simhash_get_bit_ball(PG_GETARG_DATUM(0), true, &a) ||
		!simhash_get_bit_ball(PG_GETARG_DATUM(1), true, &b))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(simhash_bits_distance(&a.center, &b.center) <=
				   Min(a.radius, b.radius));
}

/*
 * hamming_within(a bit, b bit, k bigint) -> boolean
 *
 * True when a and b differ in at most k bits, whatever number that is.
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
