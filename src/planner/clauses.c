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
 * hamming_within(fp1, fp2, k).
 *
 * A condition on a distance, such as  fp <~> q <= 8 , is PostgreSQL's own, but
 * implies a search: for where it is true, so is  fp <@ _hamming_reach(q, 8) .
 * Such are d <= k, d < k and d = k, each also written from right to left, with
 * a bound of any integer type.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_opfamily.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/restrictinfo.h"
#include "utils/fmgroids.h"

/*
 * Take an expression apart that is a call, of an operator or a function or of
 * an operator with ANY (array).  False for any other.
 */
static bool
take_call(Node *node, Oid *function, List **args)
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
 * Is the operand of the relation alone, and the query, if there is one, to be
 * evaluated apart from its rows, where that must not show?
 */
static bool
is_apart(PlannerInfo *root, RelOptInfo *rel, const SimhashClause *clause)
{
	return clause->query != NULL &&
		bms_equal(pull_varnos(root, clause->operand), rel->relids) &&
		!bms_is_member(rel->relid, pull_varnos(root, clause->query)) &&
		!contain_volatile_functions(clause->query) &&
		!contain_subplans(clause->query);
}

/*
 * How far a distance may be that is compared with a bound, as a bigint; NULL if
 * the bound is no integer or a constant that nothing is below.  The strategy is
 * that of btrees.
 */
static Node *
take_limit(PlannerInfo *root, Node *bound, int strategy)
{
	Oid			type = exprType(bound);
	Node	   *limit = bound;
	Const	   *known;
	int64		k;

	if (type == INT4OID || type == INT2OID)
		limit = (Node *) makeFuncExpr(type == INT4OID ? F_INT8_INT4 : F_INT8_INT2,
									  INT8OID, list_make1(limit), InvalidOid,
									  InvalidOid, COERCE_EXPLICIT_CAST);
	else if (type != INT8OID)
		return NULL;
	if (!IsA(bound, Const))
		return limit;
	known = (Const *) eval_const_expressions(root, limit);
	if (!IsA(known, Const) || known->constisnull)
		return NULL;
	k = DatumGetInt64(known->constvalue) - (strategy == BTLessStrategyNumber);
	if (k < 0)
		return NULL;
	return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
							  Int64GetDatum(k), false, FLOAT8PASSBYVAL);
}

/*
 * How far a distance may be for a condition to hold, as a bigint, and the call
 * that gives the distance; NULL if the condition does not say so of one.
 */
static Node *
match_comparison(PlannerInfo *root, Node *node,
				 const SimhashOperator **operator, Oid *function, List **args)
{
	OpExpr	   *op = (OpExpr *) node;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return NULL;
	for (int side = 0; side <= 1; side++)
	{
		int			strategy;

		if (!take_call(list_nth(op->args, side), function, args))
			continue;
		*operator = simhash_operator(*function);
		if (*operator == NULL || (*operator)->query != SIMHASH_ORDER)
			continue;
		strategy = get_op_opfamily_strategy(side == 0 ? op->opno :
											get_commutator(op->opno),
											INTEGER_BTREE_FAM_OID);
		if (strategy == 0 || strategy > BTEqualStrategyNumber)
			return NULL;
		return take_limit(root, list_nth(op->args, 1 - side), strategy);
	}
	return NULL;
}

/*
 * The operator of a condition that is a search whose operand may stand on the
 * given side, and what it compares; NULL if it is none.  Of searches by ANY
 * (array) only ~= is one.
 */
static const SimhashOperator *
match_search(Node *node, int side, Oid *function, List **args)
{
	const SimhashOperator *operator;

	if (!take_call(node, function, args))
		return NULL;
	operator = simhash_search_operator(*function);
	if (operator == NULL || !(operator->sides & SIMHASH_SIDE(side)) ||
		IsA(node, FuncExpr) != (operator->query == SIMHASH_LIMIT) ||
		(IsA(node, ScalarArrayOpExpr) &&
		 (operator->query != SIMHASH_CENTER || side != 0)))
		return NULL;
	return operator;
}

/*
 * See whether a condition is a search of the relation whose operand stands on
 * the given side (0: left, 1: right), or implies one, and take it apart if so.
 * One that implies a search has to be tested besides.
 */
static bool
take_search(PlannerInfo *root, RelOptInfo *rel, RestrictInfo *rinfo,
			bool by_distance, int side, SimhashClause *clause)
{
	Node	   *node = (Node *) rinfo->clause;
	const SimhashOperator *operator = NULL;
	Oid			function;
	List	   *args;
	Node	   *limit = NULL;

	if (rinfo->pseudoconstant)
		return false;
	if (!by_distance)
		operator = match_search(node, side, &function, &args);
	if (operator != NULL && operator->query == SIMHASH_LIMIT)
		limit = lthird(args);
	else if (operator == NULL)
	{
		limit = match_comparison(root, node, &operator, &function, &args);
		if (limit == NULL)
			return false;
	}
	clause->rinfo = rinfo;
	clause->operand = simhash_unlabeled(list_nth(args, side));
	clause->query = list_nth(args, 1 - side);
	clause->is_ball = operator->query != SIMHASH_CENTER;
	clause->is_any = IsA(node, ScalarArrayOpExpr);
	if (limit != NULL)
		clause->query = simhash_reach_call(root, operator,
										   get_func_namespace(function),
										   clause->query, limit);
	return is_apart(root, rel, clause);
}

/*
 * The conditions that can be tested where a relation is scanned: those on it
 * alone first, then those of joins, but for what an outer join asks of the rows
 * that it keeps.
 */
List	   *
simhash_conditions(RelOptInfo *rel)
{
	List	   *conditions = list_copy(rel->baserestrictinfo);
	ListCell   *lc;

	foreach(lc, rel->joininfo)
	{
		if (join_clause_is_movable_to(lfirst(lc), rel))
			conditions = lappend(conditions, lfirst(lc));
	}
	return conditions;
}

/*
 * List the searches of a relation that conditions are or imply, those on it
 * alone first, as many as are looked at: once for each side that can be the
 * operand, which both can be in a join of a table with itself, such as
 * a.fp ~= b.fp .  All may be tested before other conditions, such as those of a
 * policy.  With "by_distance", only those that conditions on a distance imply.
 */
List	   *
simhash_list_searches(PlannerInfo *root, RelOptInfo *rel, bool by_distance)
{
	List	   *searches = NIL;
	ListCell   *lc;

	foreach(lc, simhash_conditions(rel))
	{
		RestrictInfo *rinfo = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (list_length(searches) >= SIMHASH_SEARCHES_MAX)
			break;
		if (!restriction_is_securely_promotable(rinfo, rel))
			continue;
		for (int side = 0; side <= 1; side++)
		{
			SimhashClause *search = palloc(sizeof *search);

			if (take_search(root, rel, rinfo, by_distance, side, search))
				searches = lappend(searches, search);
		}
	}
	return searches;
}

/*
 * May a function be code of an ordinary user?  Functions that a superuser has
 * marked LEAKPROOF are not.
 */
static bool
is_planted(Oid function, void *context)
{
	(void) context;
	return function >= FirstUnpinnedObjectId &&
		simhash_c_function(function) == NULL && !get_func_leakproof(function);
}

/* Does an expression call such a function, be it of a column or not? */
bool
simhash_calls_planted(Node *node, void *context)
{
	return node != NULL &&
		(check_functions_in_node(node, is_planted, context) ||
		 expression_tree_walker(node, simhash_calls_planted, context));
}

/* What an index evaluates for a condition of the query, on one column. */
IndexClause *
simhash_index_clause(RestrictInfo *rinfo, RestrictInfo *condition, int column,
					 bool lossy)
{
	IndexClause *result = makeNode(IndexClause);

	result->rinfo = rinfo;
	result->indexquals = list_make1(condition);
	result->lossy = lossy;
	result->indexcol = column;
	return result;
}
