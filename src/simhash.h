/*-------------------------------------------------------------------------
 *
 * simhash.h
 *		What the files of the extension share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_H
#define SIMHASH_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/pathnodes.h"

#include "compat.h"
#include "core/bits.h"

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

/* distance.c */
extern SimhashOperator simhash_operator(Oid function);
extern bool simhash_makes_ball(Oid function);
extern bool simhash_get_ball(Datum datum, SimhashBall *ball);
extern void simhash_check_radius(int32 radius);

/* hamming_am.c */
extern void hamming_init(void);

/* keys.c */
extern bool simhash_is_key(Node *expression, Node **fingerprint, int *block);

/* key_paths.c */
extern bool simhash_find_keys(PlannerInfo *root, RelOptInfo *rel,
							  Node *operand, Expr *columns[SH_BLOCKS]);
extern void simhash_install_key_paths(void);

#endif							/* SIMHASH_H */
