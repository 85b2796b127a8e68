/*-------------------------------------------------------------------------
 *
 * distance.c
 *		Hamming distance and the operators built on it.
 *
 * A fingerprint is a bigint, of which only the 64 bits matter.  A search is
 * a hamming_ball (ball.c), the composite type (center bigint, radius bigint); a
 * row constructor becomes one by itself, as in  fp <@ (q, 8).
 *
 * Wider fingerprints, and those of other programs, are bit strings (bits.c).
 *
 * Row security, and views that are security barriers, let a condition come
 * before their own only if its functions are leakproof: they must tell nothing
 * of a row but by what they return.  What takes two bigints never fails.  <@
 * and @> complain of a radius that is out of range only where the query says
 * it, as a constant or a parameter.  One that comes from a row, which may be a
 * hidden one, is taken for the number that it is, here as by every scan: no
 * fingerprint is within -1, and all are within 65.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"

#include <math.h>

PG_FUNCTION_INFO_V1(hamming);
PG_FUNCTION_INFO_V1(hamming_near);
PG_FUNCTION_INFO_V1(hamming_within);
PG_FUNCTION_INFO_V1(hamming_contains);
PG_FUNCTION_INFO_V1(hamming_balls_near);
PG_FUNCTION_INFO_V1(hamming_within_k);
PG_FUNCTION_INFO_V1(simhash_similarity);
PG_FUNCTION_INFO_V1(simhash_similarity_bits);
PG_FUNCTION_INFO_V1(minhash_similarity_bits);

/* The ball in the given argument; NULL if it has no center or no radius. */
static const SimhashBallArgument *
get_ball_argument(FunctionCallInfo fcinfo, int argument)
{
	SimhashBallArgument *ball = simhash_ball_argument(fcinfo, argument);

	if (!ball->known)
	{
		ball->whole = simhash_read_ball(PointerGetDatum(ball->bytes),
										&ball->center, &ball->radius);
		if (ball->whole && ball->of_query)
			(void) simhash_check_radius(ball->radius, SH_BITS);
		ball->known = true;
	}
	return ball->whole ? ball : NULL;
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
 * hamming_within(fingerprint bigint, ball hamming_ball) -> boolean;
 * operator <@
 *
 * True when the fingerprint differs in at most ball.radius bits from
 * ball.center; NULL when either of them is.
 *
 * Errors: invalid_parameter_value when the query says a radius that is not in
 * 0 .. 64.
 */
Datum
hamming_within(PG_FUNCTION_ARGS)
{
	const SimhashBallArgument *ball = get_ball_argument(fcinfo, 1);

	if (ball == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(sh_distance((uint64) PG_GETARG_INT64(0),
							   (uint64) ball->center) <= ball->radius);
}

/*
 * hamming_contains(ball hamming_ball, fingerprint bigint) -> boolean;
 * operator @>, the commutator of <@
 */
Datum
hamming_contains(PG_FUNCTION_ARGS)
{
	const SimhashBallArgument *ball = get_ball_argument(fcinfo, 0);

	if (ball == NULL)
		PG_RETURN_NULL();
	PG_RETURN_BOOL(sh_distance((uint64) PG_GETARG_INT64(1),
							   (uint64) ball->center) <= ball->radius);
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

	if (!simhash_get_ball(PG_GETARG_DATUM(0), &a) ||
		!simhash_get_ball(PG_GETARG_DATUM(1), &b))
		PG_RETURN_NULL();
	PG_RETURN_BOOL(sh_distance((uint64) a.center, (uint64) b.center) <=
				   Min(a.radius, b.radius));
}

/*
 * hamming_within(a bigint, b bigint, k bigint) -> boolean
 *
 * True when a and b differ in at most k bits, whatever number that is.
 */
Datum
hamming_within_k(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(sh_distance((uint64) PG_GETARG_INT64(0),
							   (uint64) PG_GETARG_INT64(1)) <=
				   PG_GETARG_INT64(2));
}

/*
 * The cosine of the angle between two vectors, whose SimHash fingerprints
 * differ in so many of their bits.
 */
static double
cosine_estimate(int64 distance, int32 bits)
{
	/* The cosine of pi / 2 is 0; libraries differ in how nearly. */
	return 2 * distance == bits ? 0.0 : cos(M_PI * distance / bits);
}

/*
 * simhash_similarity(a bigint, b bigint) -> double precision
 *
 * cos(pi * d / 64), the cosine of the angle between the weighted feature
 * vectors of two documents that the distance d of their SimHash fingerprints
 * estimates, -1 to 1 (Charikar 2002, "Similarity Estimation Techniques from
 * Rounding Algorithms").
 */
Datum
simhash_similarity(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(cosine_estimate(sh_distance((uint64) PG_GETARG_INT64(0),
												 (uint64) PG_GETARG_INT64(1)),
									 SH_BITS));
}

/*
 * simhash_similarity(a bit, b bit) -> double precision
 *
 * The same for fingerprints of n bits, cos(pi * d / n); NULL when they have
 * none.
 *
 * Errors: string_data_length_mismatch when one is longer than the other.
 */
Datum
simhash_similarity_bits(PG_FUNCTION_ARGS)
{
	SimhashBits a = simhash_get_bits(PG_GETARG_DATUM(0));
	SimhashBits b = simhash_get_bits(PG_GETARG_DATUM(1));
	int			distance = simhash_bits_distance(&a, &b);

	if (a.width == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(cosine_estimate(distance, a.width));
}

/*
 * minhash_similarity(a bit, b bit) -> double precision
 *
 * The Jaccard similarity that the distance d of two MinHash fingerprints of n
 * bits estimates, 1 - 2d / n; NULL when they have none.
 *
 * Errors: string_data_length_mismatch when one is longer than the other.
 */
Datum
minhash_similarity_bits(PG_FUNCTION_ARGS)
{
	SimhashBits a = simhash_get_bits(PG_GETARG_DATUM(0));
	SimhashBits b = simhash_get_bits(PG_GETARG_DATUM(1));
	int			distance = simhash_bits_distance(&a, &b);

	if (a.width == 0)
		PG_RETURN_NULL();
	PG_RETURN_FLOAT8(1.0 - 2.0 * (double) distance / a.width);
}
