/*-------------------------------------------------------------------------
 *
 * clauses.c
 *		Which conditions of a query are searches of a relation.
 *
 * A search compares an operand, which is of the relation alone, with a query,
 * which is not: a constant, a parameter, or, for the inner side of a join,
 * columns of other relations.  The operator's row in operators.c says on which
 * side the operand may stand; ~= has it on either, and for fp1 ~= fp2 each of
 * two relations is searched for what the other one gives.  The same goes for
 * hamming_within(fp1, fp2, k), which distances.c makes of conditions on a
 * distance.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

/*
 * The entry of a relation in the range table if it is a table that is read by
 * itself; else NULL: for a join, for an upper relation, for what is in the
 * range table but no table, and for a parent, whose children are read.
 *
 * What the estimator holds may be of any of these kinds, and joins and upper
 * relations have no entry at all.
 */
RangeTblEntry *
simhash_table_entry(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte;

	if (!IS_SIMPLE_REL(rel) || rel->rtekind != RTE_RELATION)
		return NULL;
	rte = planner_rt_fetch(rel->relid, root);
	return rte->inh ? NULL : rte;
}

/*
 * Take an expression apart that is a call, of an operator or a function or of
 * an operator with ANY (array).  False for any other.
 */
bool
simhash_take_call(Node *node, Oid *function, List **args)
{
	switch (nodeTag(node))
	{
		case T_OpExpr:
			*function = ((OpExpr *) node)->opfuncid;
			*args = ((OpExpr *) node)->args;
			return true;
		case T_FuncExpr:
			*function = ((FuncExpr *) node)->funcid;
			*args = ((FuncExpr *) node)->args;
			return true;
		case T_ScalarArrayOpExpr:
			*function = ((ScalarArrayOpExpr *) node)->opfuncid;
			*args = ((ScalarArrayOpExpr *) node)->args;
			return ((ScalarArrayOpExpr *) node)->useOr;
		default:
			return false;
	}
}

/*
 * See whether a condition is a search of the relation whose operand stands on
 * the given side (0: left, 1: right), and take it apart if so.  Of searches by
 * ANY (array) only ~= is one.
 */
bool
simhash_match_clause(PlannerInfo *root, RelOptInfo *rel, RestrictInfo *rinfo,
					 int side, SimhashClause *clause)
{
	Node	   *node = (Node *) rinfo->clause;
	const SimhashOperator *operator;
	Oid			function;
	List	   *args;

	if (rinfo->pseudoconstant || !simhash_take_call(node, &function, &args))
		return false;
	operator = simhash_search_operator(function);
	if (operator == NULL || !(operator->sides & SIMHASH_SIDE(side)) ||
		IsA(node, FuncExpr) != (operator->query == SIMHASH_LIMIT))
		return false;
	clause->rinfo = rinfo;
	clause->operand = simhash_unlabeled(list_nth(args, side));
	clause->query = list_nth(args, 1 - side);
	clause->is_ball = operator->query != SIMHASH_CENTER;
	clause->is_any = IsA(node, ScalarArrayOpExpr);
	if (clause->is_any && (clause->is_ball || side != 0))
		return false;
	if (operator->query == SIMHASH_LIMIT)
		clause->query = simhash_reach_call(root, operator,
										   get_func_namespace(function),
										   clause->query, lthird(args));

	/* The query is evaluated apart from the row, where that must not show. */
	return clause->query != NULL &&
		bms_equal(pull_varnos(root, clause->operand), rel->relids) &&
		!bms_is_member(rel->relid, pull_varnos(root, clause->query)) &&
		!contain_volatile_functions(clause->query) &&
		!contain_subplans(clause->query);
}
