/*-------------------------------------------------------------------------
 *
 * hooks.c
 *		The planner's hooks: what hamming indexes can do, and further paths.
 *
 * No preloading is needed: the operators' planner support function, called
 * while a query is simplified, is in this library, so a session that plans such
 * a query has loaded it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "optimizer/clauses.h"
#include "optimizer/paths.h"

#include "keys/keys.h"

static SimhashRelationHook previous_relation_hook;
static set_rel_pathlist_hook_type previous_paths_hook;
static amcostestimate_function cost_of_hamming;

/*
 * Hook of the planner: let it match conditions on boolean columns, and make no
 * bitmap by an index whose predicate may be code of an ordinary user.
 *
 * The planner writes  active = true  as  active , and turns that back for an
 * index whose column is of an operator family for boolean.  PostgreSQL 15 knows
 * only two such families, so there it is shown one of these, which has the same
 * operator.
 *
 * A bitmap heap scan rechecks the predicate of the index, too, of each row that
 * the index is not certain of: of hardly any for a btree, of most for this one.
 * contain_leaked_vars() asks of functions that look at a column, and takes
 * everything that it does not know for leaky, such as a cast to a domain, whose
 * check is code of its owner.  A function that looks at no column has become a
 * constant, mostly; but not one whose result is a record, nor one that was
 * immutable when the index was made and is not now.
 */
static void
show_indexes(SIMHASH_RELATION_HOOK_TAKES)
{
	ListCell   *lc;

	if (previous_relation_hook)
		previous_relation_hook(SIMHASH_RELATION_HOOK_GETS);
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = (IndexOptInfo *) lfirst(lc);

		/* PostgreSQL 15 declares it without its arguments. */
		if ((amcostestimate_function) index->amcostestimate != cost_of_hamming)
			continue;
		if (contain_leaked_vars((Node *) index->indpred) ||
			simhash_calls_planted((Node *) index->indpred, NULL))
			index->amhasgetbitmap = false;

		/*
		 * An ordered scan has the executor compute again what the order is
		 * by, before any condition: a policy comes first where that is not
		 * leakproof.
		 */
		if (root->qual_security_level > 0 &&
			(contain_leaked_vars((Node *) index->indexprs) ||
			 simhash_calls_planted((Node *) index->indexprs, NULL)))
			index->amcanorderbyop = false;
		for (int i = 0; i < index->nkeycolumns && !SIMHASH_KNOWS_BOOLEAN_COLUMNS; i++)
		{
			if (op_in_opfamily(BooleanEqualOperator, index->opfamily[i]))
				index->opfamily[i] = BOOL_HASH_FAM_OID;
		}
	}
}

/*
 * set_rel_pathlist_hook: offer paths over key columns and hamming indexes, for
 * a table that is read by itself.  A parent's children are read, not the parent.
 */
static void
add_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_paths_hook)
		previous_paths_hook(root, rel, rti, rte);
	if (rte->rtekind != RTE_RELATION || rte->inh || rte->tablesample ||
		rel->indexlist == NIL || IS_DUMMY_REL(rel))
		return;
	simhash_add_key_paths(root, rel);
	simhash_add_distance_paths(root, rel);
}

/* Put the hooks in place, for the indexes that have such a cost function. */
void
simhash_install_planner(amcostestimate_function cost)
{
	cost_of_hamming = cost;
	previous_relation_hook = SIMHASH_RELATION_HOOK;
	SIMHASH_RELATION_HOOK = show_indexes;
	previous_paths_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_paths;
	simhash_register_key_scan();
}
