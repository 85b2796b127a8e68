/*-------------------------------------------------------------------------
 *
 * planner.h
 *		What the planner is told of Hamming search.
 *
 * In come the planner's questions and hooks, with the conditions of a query; out
 * go estimates of rows (selectivity.c), paths over btrees on key columns
 * (key_paths.c), and paths for conditions on a distance (distances.c).  clauses.c
 * finds out which conditions are searches, and balls.c what these search for.
 * What a scan of a hamming index costs is up to the index (hamming_cost.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_H
#define SIMHASH_PLANNER_H

#include "search/search.h"

#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "utils/lsyscache.h"

/*
 * Of the conditions on a relation that are searches, or imply one, so many are
 * offered paths: more take longer to plan than the best of them gains.
 */
#define SIMHASH_SEARCHES_MAX	32

/* A search of a relation; see clauses.c. */
typedef struct SimhashClause
{
	RestrictInfo *rinfo;
	Node	   *operand;		/* of the relation alone */
	Node	   *query;			/* not of the relation */
	bool		is_ball;		/* the query is a ball, else a center */
	bool		is_any;			/* it is an array of centers */
} SimhashClause;

/* balls.c */
extern bool simhash_ball_parts(PlannerInfo *root, Node *ball,
							   Node **center, Node **radius);
extern int	simhash_known_radius(Node *radius, int otherwise, int bits);
extern bool simhash_is_wrong_radius(Node *radius);
extern Node *simhash_ball_call(PlannerInfo *root, Node *ball, Oid schema,
							   bool security);
extern Node *simhash_reach_call(PlannerInfo *root,
								const SimhashOperator *operator, Oid schema,
								Node *center, Node *distance);

/* clauses.c */
extern List *simhash_conditions(RelOptInfo *rel);
extern List *simhash_list_searches(PlannerInfo *root, RelOptInfo *rel,
								   bool by_distance);
extern bool simhash_calls_planted(Node *node, void *context);
extern IndexClause *simhash_index_clause(RestrictInfo *rinfo,
										 RestrictInfo *condition,
										 int column, bool lossy);

/* hooks.c */
extern void simhash_install_planner(amcostestimate_function cost);

/* key_paths.c */
extern void simhash_add_key_paths(PlannerInfo *root, RelOptInfo *rel);
extern void simhash_add_bitmap(PlannerInfo *root, RelOptInfo *rel,
							   Path *bitmap, Relids outer,
							   double loop_count);
extern double simhash_count_loops(PlannerInfo *root, Relids outer);

/* key_prefix.c */
extern bool simhash_equal_columns(PlannerInfo *root, RelOptInfo *rel,
								  IndexOptInfo *index, int end,
								  IndexClause *own, Relids given,
								  bool further, List **conditions);

/* distances.c */
extern List *simhash_index_condition(SupportRequestIndexCondition *request);
extern void simhash_add_distance_paths(PlannerInfo *root, RelOptInfo *rel);

/* selectivity.c */
extern bool simhash_limit_selectivity(SupportRequestSelectivity *request);

#endif							/* SIMHASH_PLANNER_H */
