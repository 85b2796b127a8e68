/*-------------------------------------------------------------------------
 *
 * search.h
 *		The operators of Hamming search, balls, and key columns.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SEARCH_H
#define SIMHASH_SEARCH_H

#include "simhash.h"

#include "access/tupdesc.h"
#include "nodes/pathnodes.h"

/* What is sought: the rows within the radius of the center. */
typedef struct SimhashBall
{
	int64		center;
	int32		radius;
} SimhashBall;

/* The operators of Hamming search, by the shape of their arguments. */
typedef enum SimhashOperator
{
	SIMHASH_NOT_OURS,
	SIMHASH_NEAR,				/* bigint ~= bigint */
	SIMHASH_WITHIN,				/* bigint <@ hamming_ball */
	SIMHASH_CONTAINS,			/* hamming_ball @> bigint */
	SIMHASH_BALLS_NEAR			/* hamming_ball ~= hamming_ball */
} SimhashOperator;

/* ball.c */
extern int	simhash_check_radius(int64 radius);
extern bool simhash_get_ball(Datum datum, SimhashBall *ball);
extern Datum simhash_make_ball(TupleDesc desc, const SimhashBall *ball);
extern bool simhash_ball_parts(PlannerInfo *root, Node *ball,
							   Node **center, Node **radius);
extern int	simhash_known_radius(Node *radius, int otherwise);

/* distance.c */
extern SimhashOperator simhash_operator(Oid function);
extern bool simhash_makes_ball(Oid function);
extern bool simhash_is_distance(Oid function);

/* keys.c */
extern bool simhash_is_key(Node *expression, Node **fingerprint, int *block);

#endif							/* SIMHASH_SEARCH_H */
