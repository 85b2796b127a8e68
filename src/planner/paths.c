/*-------------------------------------------------------------------------
 *
 * paths.c
 *		The hook in which further paths for a table are offered.
 *
 * No preloading is needed: the operators' planner support function, called
 * while a query is simplified, is in this library, so that whoever plans such a
 * query has loaded it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "optimizer/paths.h"

static set_rel_pathlist_hook_type previous_hook = NULL;

/* set_rel_pathlist_hook: offer paths over key columns and hamming indexes. */
static void
add_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	if (simhash_table_entry(root, rel) == NULL || rte->tablesample ||
		rel->indexlist == NIL || IS_DUMMY_REL(rel))
		return;
	simhash_add_key_paths(root, rel);
	simhash_add_distance_paths(root, rel);
}

/* Put the hook in place. */
void
simhash_install_paths(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_paths;
}
