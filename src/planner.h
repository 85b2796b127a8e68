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

#include "search.h"

/* key_paths.c */
extern RangeTblEntry *simhash_table_entry(PlannerInfo *root, RelOptInfo *rel);
extern bool simhash_find_keys(PlannerInfo *root, RelOptInfo *rel,
							  Node *operand, Expr *columns[SH_BLOCKS]);
extern void simhash_install_key_paths(void);

/* seq_scan.c */
extern void simhash_install_seq_scan(void);

#endif							/* SIMHASH_PLANNER_H */
