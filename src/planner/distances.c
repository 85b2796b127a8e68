/*-------------------------------------------------------------------------
 *
 * distances.c
 *		Conditions on a distance, such as  fp <~> q <= 8 .
 *
 * This is what most people write first, and no index would serve it: the
 * condition is a call of PostgreSQL's own <= on integers, which knows nothing
 * of indexes on fp.  So where a query says
 *
 *		hamming(a, b) <= k
 *
 * we have it say  hamming_within(a, b, k) , which is the same for every k, NULL
 * among them, and a function of our own.  For that one, PostgreSQL asks our
 * support function for the condition of an index; it is  a <@ (b, k)  where a
 * is in the index, and  b <@ (a, k)  where b is.  Row estimates, key columns
 * and the sequential scan know it as well, by operators.c.
 *
 * Where.  Conditions of WHERE and JOIN are replaced where they stand, alone or
 * between ANDs and ORs, so that outer joins, row security and the rest keep
 * their meaning.  That is done when the planner looks up the tables of a
 * query: then the conditions are simplified, and not handed out to the tables
 * yet.  Only a table has somebody called for it, so the distance has to be that
 * of a table, or of several.  Elsewhere, as in the list of what is selected or
 * in a policy of row security, a distance stays what it is.
 *
 * Which.  d <= k, d < k, d = a constant, each also written from right to left;
 * BETWEEN is two of these.  The other half of BETWEEN 0 AND k is dropped, for no
 * distance is negative.  The bound may be of any integer type.  If the table
 * has an index on the very distance, or one whose predicate is about it, or is
 * partitioned by it, that was made for such a condition, which is left alone.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* A condition  distance OPERATOR bound . */
typedef struct Comparison
{
	Node	   *distance;		/* a call of hamming() */
	Oid			function;		/* that one */
	const SimhashOperator *operator;	/* its row in operators.c */
	List	   *args;			/* and what it compares */
	int			strategy;		/* of btrees */
	Node	   *bound;
} Comparison;

static SimhashNewRelHook previous_hook = NULL;

static List *replace_clause(PlannerInfo *root, RelOptInfo *rel, Node *clause);

/* See whether an expression is a distance. */
static bool
match_distance(Node *node, Comparison *comparison)
{
	if (!simhash_take_call(node, &comparison->function, &comparison->args))
		return false;
	comparison->distance = node;
	comparison->operator = simhash_operator(comparison->function);
	return comparison->operator != NULL &&
		comparison->operator->query == SIMHASH_ORDER;
}

/* See whether a condition compares a distance with an integer. */
static bool
match_comparison(Node *clause, Comparison *comparison)
{
	OpExpr	   *op = (OpExpr *) clause;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return false;
	for (int side = 0; side <= 1; side++)
	{
		Oid			operator;

		if (!match_distance(list_nth(op->args, side), comparison))
			continue;
		operator = side == 0 ? op->opno : get_commutator(op->opno);
		if (!OidIsValid(operator))
			return false;
		comparison->strategy =
			get_op_opfamily_strategy(operator, INTEGER_BTREE_FAM_OID);
		comparison->bound = list_nth(op->args, 1 - side);
		return comparison->strategy != 0;
	}
	return false;
}

/* An integer as a bigint; NULL if it is none. */
static Node *
as_bigint(PlannerInfo *root, Node *integer)
{
	Oid			type = exprType(integer);
	Node	   *call;

	if (type == INT8OID)
		return integer;
	if (type != INT4OID && type != INT2OID)
		return NULL;
	call = (Node *) makeFuncExpr(type == INT4OID ? F_INT8_INT4 : F_INT8_INT2,
								 INT8OID, list_make1(integer), InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CAST);
	return IsA(integer, Const) ? eval_const_expressions(root, call) : call;
}

/* Is a table partitioned by that distance? */
static bool
is_partitioned_by(RelOptInfo *rel, Node *distance)
{
	int			ncolumns = rel->part_scheme == NULL ? 0 :
	rel->part_scheme->partnatts;

	for (int i = 0; i < ncolumns; i++)
	{
		if (list_member(rel->partexprs[i], distance))
			return true;
	}
	return false;
}

/*
 * Has a table an index that was made for a condition on that distance?  It has
 * the distance, or the condition, in a column, or a predicate part of which
 * follows from the condition but not from those that would replace it.
 */
static bool
has_own_index(RelOptInfo *rel, Node *clause, Node *distance, List *others)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);
		ListCell   *part;

		for (int i = 0; i < index->ncolumns; i++)
		{
			if (match_index_to_operand(distance, i, index) ||
				match_index_to_operand(clause, i, index))
				return true;
		}
		foreach(part, index->indpred)
		{
			List	   *predicate = list_make1(lfirst(part));

			if (predicate_implied_by(predicate, list_make1(clause), false) &&
				!predicate_implied_by(predicate, others, false))
				return true;
		}
	}
	return false;
}

/* The first of some relations that is a table; 0 if there is none. */
static int
first_table(PlannerInfo *root, Relids relids)
{
	int			relid = -1;

	while ((relid = bms_next_member(relids, relid)) >= 0)
	{
		if (planner_rt_fetch(relid, root)->rtekind == RTE_RELATION)
			return relid;
	}
	return 0;
}

/*
 * Is it for us to replace the condition while the planner is at that relation?
 * That of several tables is replaced at the first, lest it is replaced twice.
 * The server of a foreign table gets the condition as it is, and has a planner
 * of its own.  Two fingerprints of one row are not searched for.  Who may not
 * call hamming() is to be told so.
 */
static bool
is_ours(PlannerInfo *root, RelOptInfo *rel, Node *clause,
		const Comparison *comparison)
{
	Relids		left = pull_varnos(root, linitial(comparison->args));
	Relids		right = pull_varnos(root, lsecond(comparison->args));
	Relids		relids = bms_union(left, right);

	if (first_table(root, relids) != (int) rel->relid ||
		first_table(root, bms_intersect(left, right)) != 0 ||
		contain_volatile_functions(clause) || contain_subplans(clause) ||
		!simhash_may_call(root, comparison->function))
		return false;
	return bms_membership(relids) == BMS_MULTIPLE ||
		planner_rt_fetch(rel->relid, root)->relkind != RELKIND_FOREIGN_TABLE;
}

/* The call hamming_within(a, b, bound), or NULL if the user may not call it. */
static Node *
make_within(PlannerInfo *root, const Comparison *comparison, Node *bound)
{
	bool		bits = comparison->operator->searched == SIMHASH_BITS;
	Oid			type = bits ? BITOID : INT8OID;
	Oid			types[] = {type, type, INT8OID};
	Oid			function =
	simhash_own_function(root, get_func_namespace(comparison->function),
						 "hamming_within",
						 bits ? hamming_bits_within_k : hamming_within_k,
						 3, types);

	if (!OidIsValid(function))
		return NULL;
	return (Node *) makeFuncExpr(function, BOOLOID,
								 list_make3(linitial(comparison->args),
											lsecond(comparison->args), bound),
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/*
 * What a constant bound means: the greatest distance for which the comparison
 * can be true, or -1, and whether it is true for all up to that.
 */
static int64
constant_limit(const Comparison *comparison, const Const *bound, bool *exact)
{
	int64		k = DatumGetInt64(bound->constvalue);

	if (bound->constisnull || k < 0)
		return -1;
	*exact = comparison->strategy != BTEqualStrategyNumber || k == 0;
	return comparison->strategy == BTLessStrategyNumber ? k - 1 : k;
}

/*
 * The conditions, between ANDs, that a comparison of a distance becomes; NIL if
 * it stays as it is.  Where hamming_within() does not say it all, as for d = 5
 * or d < $1, the comparison stays beside it.
 */
static List *
replace_comparison(PlannerInfo *root, RelOptInfo *rel, Node *clause)
{
	Comparison	comparison;
	Node	   *bound;
	Node	   *within;
	List	   *result;
	bool		exact;

	if (!match_comparison(clause, &comparison) ||
		comparison.strategy > BTEqualStrategyNumber ||
		!is_ours(root, rel, clause, &comparison))
		return NIL;
	bound = as_bigint(root, comparison.bound);
	if (bound == NULL)
		return NIL;
	exact = comparison.strategy == BTLessEqualStrategyNumber;
	if (IsA(bound, Const))
	{
		int64		limit = constant_limit(&comparison, (Const *) bound, &exact);

		/* Nothing is that near, so there is nothing to look for. */
		if (limit < 0)
			return NIL;
		bound = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
								   Int64GetDatum(limit), false,
								   FLOAT8PASSBYVAL);
	}
	within = make_within(root, &comparison, bound);
	if (within == NULL)
		return NIL;
	result = exact ? list_make1(within) : list_make2(within, clause);
	if (is_partitioned_by(rel, comparison.distance) ||
		has_own_index(rel, clause, comparison.distance, result))
		return NIL;
	return result;
}

/*
 * Does a condition say no more than that a distance is not negative, one of the
 * distances of the given conditions?
 */
static bool
is_implied(PlannerInfo *root, Node *clause, List *conditions)
{
	Comparison	comparison;
	Const	   *bound;
	ListCell   *lc;

	if (!match_comparison(clause, &comparison) ||
		comparison.strategy < BTGreaterEqualStrategyNumber)
		return false;
	bound = (Const *) as_bigint(root, comparison.bound);
	if (bound == NULL || !IsA(bound, Const) || bound->constisnull ||
		DatumGetInt64(bound->constvalue) >
		(comparison.strategy == BTGreaterStrategyNumber ? -1 : 0))
		return false;
	foreach(lc, conditions)
	{
		FuncExpr   *within = lfirst(lc);

		if (IsA(within, FuncExpr) && list_length(within->args) == 3 &&
			simhash_operator(within->funcid) != NULL &&
			equal(linitial(within->args), linitial(comparison.args)) &&
			equal(lsecond(within->args), lsecond(comparison.args)))
			return true;
	}
	return false;
}

/*
 * Replace the comparisons of distances among conditions, which stand between
 * ANDs.  The result is the list itself if there are none.
 */
static List *
replace_all(PlannerInfo *root, RelOptInfo *rel, List *clauses)
{
	List	   *result = NIL;
	bool		changed = false;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		List	   *conditions = replace_clause(root, rel, lfirst(lc));

		if (conditions != NIL && !changed)
		{
			result = list_copy_head(clauses, foreach_current_index(lc));
			changed = true;
		}
		if (conditions != NIL)
			result = list_concat(result, conditions);
		else if (changed)
			result = lappend(result, lfirst(lc));
	}
	if (!changed)
		return clauses;
	foreach(lc, result)
	{
		if (is_implied(root, lfirst(lc), result))
			result = foreach_delete_current(result, lc);
	}
	return result;
}

/* Replace those among conditions between ORs; NULL if there are none. */
static Node *
replace_any(PlannerInfo *root, RelOptInfo *rel, List *clauses)
{
	List	   *result = clauses;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		List	   *conditions = replace_clause(root, rel, lfirst(lc));

		if (conditions == NIL)
			continue;
		if (result == clauses)
			result = list_copy(clauses);
		lfirst(list_nth_cell(result, foreach_current_index(lc))) =
			make_ands_explicit(conditions);
	}
	return result == clauses ? NULL : (Node *) make_orclause(result);
}

/* The conditions that a condition becomes; NIL if it stays as it is. */
static List *
replace_clause(PlannerInfo *root, RelOptInfo *rel, Node *clause)
{
	if (is_andclause(clause))
	{
		List	   *old = ((BoolExpr *) clause)->args;
		List	   *result = replace_all(root, rel, old);

		return result == old ? NIL : result;
	}
	if (is_orclause(clause))
	{
		Node	   *result = replace_any(root, rel, ((BoolExpr *) clause)->args);

		return result == NULL ? NIL : list_make1(result);
	}
	return replace_comparison(root, rel, clause);
}

/* Replace comparisons in the conditions of a query's WHERE and JOIN. */
static void
replace_in_jointree(PlannerInfo *root, RelOptInfo *rel, Node *node)
{
	if (node == NULL)
		return;
	if (IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;
		ListCell   *lc;

		foreach(lc, from->fromlist)
			replace_in_jointree(root, rel, lfirst(lc));
		from->quals = (Node *) replace_all(root, rel, (List *) from->quals);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		replace_in_jointree(root, rel, join->larg);
		replace_in_jointree(root, rel, join->rarg);
		join->quals = (Node *) replace_all(root, rel, (List *) join->quals);
	}
}

/*
 * The hook.  There are relations without a query: those of CREATE INDEX and of
 * CLUSTER.  When the children of a table are looked up, the conditions have been
 * handed out, and there is nothing left to do.
 */
static void
replace_distances(SIMHASH_NEW_REL_PARAMETERS)
{
	if (previous_hook)
		previous_hook(SIMHASH_NEW_REL_ARGUMENTS);
	if (rel->reloptkind == RELOPT_BASEREL)
		replace_in_jointree(root, rel, (Node *) root->parse->jointree);
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
	Oid			within;

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
	if (ball == NULL)
		return NIL;
	within = get_opfamily_member(request->opfamily,
								 request->index->opcintype[request->indexcol],
								 exprType(ball), SIMHASH_BALL_STRATEGY);
	if (!OidIsValid(within) ||
		simhash_operator(get_opcode(within)) == NULL)
		return NIL;
	request->lossy = false;
	return list_make1(make_opclause(within, BOOLOID, false,
									list_nth(call->args, request->indexarg),
									(Expr *) ball, InvalidOid,
									request->indexcollation));
}

/* Put the hook in place. */
void
simhash_install_distances(void)
{
	previous_hook = simhash_new_rel_hook;
	simhash_new_rel_hook = replace_distances;
}
