/*-------------------------------------------------------------------------
 *
 * distances.c
 *		Paths for conditions on a distance, such as  fp <~> q <= 8 .
 *
 * This is what most people write first, and no index would serve it: the
 * condition is a call of PostgreSQL's own <= on integers, which knows nothing
 * of indexes on fp.  But where
 *
 *		hamming(a, b) <= k
 *
 * is true, so is  a <@ _hamming_reach(b, k) , and that an index does serve.  So
 * we offer the planner paths that look for the one, and keep the other as their
 * filter: an IndexClause that is derived from a condition, and lossy, as the
 * core itself derives  body >= 'a' AND body < 'b'  from  body LIKE 'a%' .  The
 * query stays what it is, and so does all that the planner knows of it.
 *
 * Which conditions these are clauses.c says: d <= k, d < k, d = k, in WHERE or
 * JOIN, by themselves or between ANDs.
 *
 * What we cannot give is an estimate.  When paths are made, PostgreSQL has
 * settled how many rows the condition is true for: a third, as for any comparison
 * of which it knows nothing.  The cost of the search is right, but what is done
 * with its rows, such as joins, is planned for many.  A query with <@ has better
 * plans there.
 *
 * hamming_within(a, b, k) is the same condition as a function of our own, for
 * which PostgreSQL asks our support function (support.c): for the condition
 * of an index here, and in selectivity.c for the rows.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

/*
 * The condition  operand <@ ball  on a column of an index; NULL if that has no
 * such operator.
 */
static Expr *
ball_condition(IndexOptInfo *index, int column, Node *operand, Node *ball)
{
	Oid			within = get_opfamily_member(index->opfamily[column],
											 index->opcintype[column],
											 exprType(ball),
											 SIMHASH_BALL_STRATEGY);

	if (!OidIsValid(within) || simhash_operator(get_opcode(within)) == NULL)
		return NULL;
	return make_opclause(within, BOOLOID, false, (Expr *) operand,
						 (Expr *) ball, InvalidOid,
						 index->indexcollations[column]);
}

/* Is one of the conditions for a bitmap alone: column = ANY (array)? */
static bool
has_array(const List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		IndexClause *clause = lfirst(lc);
		RestrictInfo *condition = linitial(clause->indexquals);

		if (!clause->lossy && IsA(condition->clause, ScalarArrayOpExpr))
			return true;
	}
	return false;
}

/*
 * Offer, for each path that gives the rows of an index in an order, one that
 * gives those in reach.
 */
static void
add_ordered_paths(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index,
				  List *clauses)
{
	List	   *ordered = NIL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		IndexPath  *path = lfirst(lc);

		if (IsA(path, IndexPath) && path->indexinfo == index &&
			path->indexorderbys != NIL && path->path.param_info == NULL)
			ordered = lappend(ordered, path);
	}
	foreach(lc, ordered)
	{
		IndexPath  *path = lfirst(lc);

		add_path(rel, (Path *)
				 create_index_path(root, index, clauses, path->indexorderbys,
								   path->indexorderbycols,
								   path->path.pathkeys, ForwardScanDirection,
								   false, NULL, 1.0, false));
	}
}

/*
 * Offer the paths over an index for searches of its column, where there is a
 * condition of equality on each of its other columns: in order, as they come,
 * and by a bitmap.
 */
static void
add_index_paths(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index,
				int column, const SimhashClause *search)
{
	Relids		relids = bms_union(rel->relids, rel->lateral_relids);
	IndexClause *own;
	List	   *clauses;
	Expr	   *condition;
	Relids		outer;
	double		loop_count;
	IndexPath  *path;

	if (!match_index_to_operand(search->operand, column, index))
		return;
	condition = ball_condition(index, column, copyObject(search->operand),
							   search->query);
	if (condition == NULL)
		return;
	relids = bms_add_members(relids, search->rinfo->clause_relids);
	/* Lossy, so that the condition itself is tested. */
	own = simhash_index_clause(search->rinfo,
							   make_simple_restrictinfo(root, condition),
							   column, true);
	if (!simhash_equal_columns(root, rel, index, index->nkeycolumns, own, relids,
							   false, &clauses))
		return;
	outer = bms_del_member(relids, rel->relid);
	if (bms_is_empty(outer))
		outer = NULL;
	loop_count = simhash_count_loops(root, outer);
	path = create_index_path(root, index, clauses, NIL, NIL, NIL,
							 ForwardScanDirection, false, outer, loop_count,
							 false);
	if (index->amsearcharray || !has_array(clauses))
	{
		if (outer == NULL)
			add_ordered_paths(root, rel, index, clauses);
		add_path(rel, (Path *) path);
	}
	if (index->amhasgetbitmap)
		simhash_add_bitmap(root, rel, (Path *) path, outer, loop_count);
}

/* Offer paths over hamming indexes for conditions on a distance. */
void
simhash_add_distance_paths(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *searches = simhash_list_searches(root, rel, true);
	ListCell   *li;
	ListCell   *ls;

	if (searches == NIL)
		return;
	foreach(li, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(li);

		if (index->indpred != NIL && !index->predOK)
			continue;
		for (int i = 0; i < index->nkeycolumns; i++)
		{
			foreach(ls, searches)
				add_index_paths(root, rel, index, i, lfirst(ls));
		}
	}
}

/*
 * The condition that hamming_within(a, b, k) is for an index on one of its
 * arguments, in a list; NIL if there is none.
 */
List	   *
simhash_index_condition(SupportRequestIndexCondition *request)
{
	const SimhashOperator *operator = simhash_operator(request->funcid);
	FuncExpr   *call = (FuncExpr *) request->node;
	Node	   *other;
	Node	   *limit;
	Node	   *ball;
	Expr	   *condition;

	if (operator == NULL || operator->query != SIMHASH_LIMIT ||
		!IsA(call, FuncExpr) || request->indexarg > 1)
		return NIL;
	other = list_nth(call->args, 1 - request->indexarg);
	limit = lthird(call->args);
	if (!is_pseudo_constant_for_index(request->root, other, request->index) ||
		!is_pseudo_constant_for_index(request->root, limit, request->index))
		return NIL;
	ball = simhash_reach_call(request->root, operator,
							  get_func_namespace(request->funcid),
							  other, limit);
	condition = ball == NULL ? NULL :
		ball_condition(request->index, request->indexcol,
					   list_nth(call->args, request->indexarg), ball);
	if (condition == NULL)
		return NIL;
	request->lossy = false;
	return list_make1(condition);
}
