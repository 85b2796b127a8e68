/*-------------------------------------------------------------------------
 *
 * balls.h
 *		Balls as the planner meets them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_BALLS_H
#define SIMHASH_BALLS_H

#include "search/search.h"

extern bool simhash_ball_parts(PlannerInfo *root, Node *ball,
							   Node **center, Node **radius);
extern int	simhash_known_radius(Node *radius, int otherwise, int bits);
extern bool simhash_is_wrong_radius(Node *radius);
extern Node *simhash_ball_call(PlannerInfo *root, Node *ball, Oid schema,
							   bool security);
extern Node *simhash_reach_call(PlannerInfo *root,
								const SimhashOperator *operator, Oid schema,
								Node *center, Node *distance);

#endif							/* SIMHASH_BALLS_H */
