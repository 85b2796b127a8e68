/*-------------------------------------------------------------------------
 *
 * support.c
 *		What the planner is told while it simplifies a query.
 *
 * A ball is most often written as a row,  fp <@ (q, 8) .  Where q or the
 * radius is not known yet, the row stays in the query as a row constructor.
 * PostgreSQL does not send row constructors to foreign servers: it would fetch
 * the whole foreign table, and compare here.  It does send calls of an
 * extension's functions.  So the row becomes the call  hamming_ball(q, 8) , unless that
 * could tell of hidden rows.
 *
 * Of  hamming_within(a, b, k)  the planner is told which condition
 * of an index it implies (distances.c), and of how many rows it is true
 * (selectivity.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "catalog/pg_operator.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(hamming_support);

/*
 * The condition with the operator whose function is called, so that what was an
 * operator stays one; NULL if the schema does not have that operator.
 */
static Node *
operator_condition(const FuncExpr *call, const SimhashOperator *operator, Oid schema,
				   Node *left, Node *right)
{
	const char *name = operator->strategy == SIMHASH_NEAR_STRATEGY ? "~=" :
	operator->strategy == SIMHASH_BALL_STRATEGY ? "<@" : "@>";
	Oid			oid = GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid,
									  CStringGetDatum(name),
									  ObjectIdGetDatum(exprType(left)),
									  ObjectIdGetDatum(exprType(right)),
									  ObjectIdGetDatum(schema));
	OpExpr	   *op;

	if (!OidIsValid(oid) || get_opcode(oid) != call->funcid)
		return NULL;
	op = (OpExpr *) make_opclause(oid, BOOLOID, false, (Expr *) left,
								  (Expr *) right, InvalidOid, InvalidOid);
	op->opfuncid = call->funcid;
	return (Node *) op;
}

/* May rows be hidden from the query, by row security or a view? */
static bool
hides_rows(PlannerInfo *root)
{
	ListCell   *lc;

	if (root == NULL)
		return false;
	foreach(lc, root->parse->rtable)
	{
		RangeTblEntry *rte = lfirst(lc);

		if (rte->securityQuals != NIL || rte->security_barrier)
			return true;
	}
	return false;
}

/* A call of an operator's function with rows for balls, or NULL. */
static Node *
call_for_rows(PlannerInfo *root, FuncExpr *call)
{
	const SimhashOperator *operator = simhash_operator(call->funcid);
	Oid			schema = get_func_namespace(call->funcid);
	Node	   *args[2];
	bool		changed = false;

	if (operator == NULL || list_length(call->args) != 2)
		return NULL;
	for (int i = 0; i < 2; i++)
	{
		Node	   *ball;

		args[i] = list_nth(call->args, i);
		ball = simhash_ball_call(root, args[i], schema, hides_rows(root));
		if (ball == NULL)
			continue;
		args[i] = ball;
		changed = true;
	}
	return changed ? operator_condition(call, operator, schema, args[0], args[1]) :
		NULL;
}

/*
 * hamming_support(internal) -> internal
 *
 * Planner support function of the operators' functions, and of
 * hamming_within(a, b, k).  Being called has the library loaded, and with it
 * the hooks, before relations are looked at.
 */
Datum
hamming_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *answer = NULL;

	if (IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;

		answer = call_for_rows(simplify->root, simplify->fcall);
	}
	else if (IsA(request, SupportRequestSelectivity))
	{
		if (simhash_limit_selectivity((SupportRequestSelectivity *) request))
			answer = request;
	}
	else if (IsA(request, SupportRequestIndexCondition))
		answer = (Node *)
			simhash_index_condition((SupportRequestIndexCondition *) request);
	PG_RETURN_POINTER(answer);
}
