/*-------------------------------------------------------------------------
 *
 * planner.h
 *		What the planner is told of Hamming search.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_PLANNER_H
#define SIMHASH_PLANNER_H

#include "planner/balls.h"

#include "access/amapi.h"
#include "nodes/supportnodes.h"

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

/* clauses.c */
extern RangeTblEntry *simhash_table_entry(PlannerInfo *root, RelOptInfo *rel);
extern bool simhash_take_call(Node *node, Oid *function, List **args);
extern List *simhash_conditions(RelOptInfo *rel);
extern List *simhash_list_searches(PlannerInfo *root, RelOptInfo *rel,
								   bool by_distance);
extern IndexClause *simhash_index_clause(RestrictInfo *rinfo,
										 RestrictInfo *condition,
										 int column, bool lossy);

/* paths.c */
extern void simhash_install_paths(void);

/* indexes.c */
extern void simhash_install_indexes(amcostestimate_function cost);

/* key_paths.c */
extern void simhash_add_key_paths(PlannerInfo *root, RelOptInfo *rel);
extern void simhash_add_bitmap(PlannerInfo *root, RelOptInfo *rel,
							   Path *bitmap, Relids outer,
							   double loop_count);
extern double simhash_count_loops(PlannerInfo *root, Relids outer);

/* key_prefix.c */
extern bool simhash_equal_columns(PlannerInfo *root, RelOptInfo *rel,
								  IndexOptInfo *index, int first, int end,
								  Relids given, bool further,
								  List **conditions);

/* distances.c */
extern List *simhash_index_condition(SupportRequestIndexCondition *request);
extern void simhash_add_distance_paths(PlannerInfo *root, RelOptInfo *rel);

/* selectivity.c */
extern bool simhash_limit_selectivity(SupportRequestSelectivity *request);

#endif							/* SIMHASH_PLANNER_H */
