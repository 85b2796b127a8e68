/*-------------------------------------------------------------------------
 *
 * operators.c
 *		The operators of Hamming search, in one table.
 *
 * Estimates, paths, index scans and operator classes all have to know which
 * operators there are, on which side the fingerprint that is searched may
 * stand, and what the other side says.  They read it here.  A new operator is
 * a row, its C function in distance.c, and its place in the SQL script.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"

#define LEFT	SIMHASH_SIDE(0)
#define RIGHT	SIMHASH_SIDE(1)

static const SimhashOperator operators[] = {
	/* C function, strategy, what is searched, where it stands, query */
	{hamming_near, SIMHASH_NEAR_STRATEGY, SIMHASH_FINGERPRINTS,
	LEFT | RIGHT, SIMHASH_CENTER},
	{hamming_within, SIMHASH_BALL_STRATEGY, SIMHASH_FINGERPRINTS,
	LEFT, SIMHASH_BALL},
	/* an index is asked for its commutator */
	{hamming_contains, 0, SIMHASH_FINGERPRINTS,
	RIGHT, SIMHASH_BALL},
	{hamming_balls_near, SIMHASH_NEAR_STRATEGY, SIMHASH_BALLS,
	LEFT | RIGHT, SIMHASH_BALL},
	{hamming, SIMHASH_DISTANCE_STRATEGY, SIMHASH_FINGERPRINTS,
	LEFT | RIGHT, SIMHASH_ORDER},
	/* no operator but a function, which an index is asked for as <@ */
	{hamming_within_k, 0, SIMHASH_FINGERPRINTS,
	LEFT | RIGHT, SIMHASH_LIMIT},

	{hamming_bit_within, SIMHASH_BALL_STRATEGY, SIMHASH_BITS,
	LEFT, SIMHASH_BALL},
	{hamming_bit_contains, 0, SIMHASH_BITS,
	RIGHT, SIMHASH_BALL},
	{hamming_bit_balls_near, SIMHASH_NEAR_STRATEGY, SIMHASH_BIT_BALLS,
	LEFT | RIGHT, SIMHASH_BALL},
	{hamming_bit, SIMHASH_DISTANCE_STRATEGY, SIMHASH_BITS,
	LEFT | RIGHT, SIMHASH_ORDER},
	{hamming_bit_within_k, 0, SIMHASH_BITS,
	LEFT | RIGHT, SIMHASH_LIMIT}
};

/* The operator that an SQL function implements, or NULL. */
const SimhashOperator *
simhash_operator(Oid function)
{
	PGFunction	ours = simhash_c_function(function);

	for (int i = 0; ours != NULL && i < (int) lengthof(operators); i++)
	{
		if (operators[i].function == ours)
			return &operators[i];
	}
	return NULL;
}

/* The operator by which fingerprints are searched, likewise. */
const SimhashOperator *
simhash_search_operator(Oid function)
{
	const SimhashOperator *operator = simhash_operator(function);

	return operator != NULL && operator->searched == SIMHASH_FINGERPRINTS &&
		operator->query != SIMHASH_ORDER ? operator : NULL;
}
