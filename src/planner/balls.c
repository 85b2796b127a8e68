/*-------------------------------------------------------------------------
 *
 * balls.c
 *		Balls as the planner meets them: expressions, known or not.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "utils/typcache.h"

/*
 * The expression for a field of a ball.
 *
 * Note: only a constant or a row constructor may be simplified.  For a field
 * of the whole row of another relation, eval_const_expressions would put a
 * column of it.  But when paths are made, the planner has settled already
 * which columns each relation returns, and that one need not be among them.
 */
static Node *
ball_field(PlannerInfo *root, Node *ball, AttrNumber number, Oid type)
{
	FieldSelect *field;

	if (IsA(ball, RowExpr) && number <= list_length(((RowExpr *) ball)->args))
		return list_nth(((RowExpr *) ball)->args, number - 1);
	field = makeNode(FieldSelect);
	field->arg = (Expr *) ball;
	field->fieldnum = number;
	field->resulttype = type;
	field->resulttypmod = -1;
	if (IsA(ball, Const))
		return eval_const_expressions(root, (Node *) field);
	return (Node *) field;
}

/*
 * The radius that _hamming_reach() makes of a distance, at most "bits"; NULL
 * unless the distance is known, and not negative.
 */
static Node *
reach_radius(Node *distance, int64 bits)
{
	Const	   *known = (Const *) distance;

	if (!IsA(distance, Const) || known->constisnull ||
		DatumGetInt64(known->constvalue) < 0)
		return NULL;
	return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
							  Int64GetDatum(Min(DatumGetInt64(known->constvalue),
												bits)),
							  false, FLOAT8PASSBYVAL);
}

/*
 * The expressions for the center and the radius of an expression; false when
 * that is not for a ball.  The center is a bigint or a bit string.
 */
bool
simhash_ball_parts(PlannerInfo *root, Node *ball,
				   Node **center, Node **radius)
{
	PGFunction	function = NULL;
	SimhashBallAttributes attributes;
	Oid			type;

	ball = simhash_unlabeled(ball);
	if (IsA(ball, FuncExpr))
		function = simhash_c_function(((FuncExpr *) ball)->funcid);
	if (function == hamming_ball || function == hamming_bit_ball)
	{
		*center = linitial(((FuncExpr *) ball)->args);
		*radius = lsecond(((FuncExpr *) ball)->args);
		return true;
	}
	type = simhash_ball_center_type(exprType(ball), exprTypmod(ball), &attributes);
	if (!OidIsValid(type))
		return false;
	if (function == hamming_reach || function == hamming_bit_reach)
	{
		*center = linitial(((FuncExpr *) ball)->args);
		*radius = reach_radius(lsecond(((FuncExpr *) ball)->args),
							   function == hamming_reach ? SH_BITS :
							   PG_INT32_MAX);
		if (*radius != NULL)
			return true;
	}
	else
		*center = ball_field(root, ball, attributes.center, type);
	*radius = ball_field(root, ball, attributes.radius, INT8OID);
	return true;
}

/*
 * The value of a radius if that is known at plan time, or else the given one.
 * The operators complain of a radius out of range, and find nothing by one that
 * is NULL; the planner takes the nearest value in range for both.
 */
int
simhash_known_radius(Node *radius, int otherwise, int bits)
{
	Const	   *known = (Const *) radius;

	if (!IsA(radius, Const) || known->consttype != INT8OID)
		return otherwise;
	if (known->constisnull)
		return 0;
	return (int) Max(0, Min(DatumGetInt64(known->constvalue), bits));
}

/* Is an expression for a radius one that is known to be out of range? */
bool
simhash_is_wrong_radius(Node *radius)
{
	return IsA(radius, Const) && !((Const *) radius)->constisnull &&
		DatumGetInt64(((Const *) radius)->constvalue) !=
		simhash_known_radius(radius, -1, SH_BITS);
}

/*
 * The call of hamming_ball that gives the same ball as a row constructor; NULL
 * if the expression is something else.  The function is that of the schema.
 *
 * A row constructor is leakproof, the function is not.  So where rows may be
 * hidden ("security"), the center must not depend on a row.  The radius must not
 * in any case, as the function complains of one that is out of range.
 *
 * Where a field is NULL the call is NULL, and no operator finds anything by the
 * row: that comes to the same.  A row whose radius is known to be out of range is
 * left alone, as that must not be an error before a row is compared.
 */
Node	   *
simhash_ball_call(PlannerInfo *root, Node *ball, Oid schema, bool security)
{
	Oid			types[] = {INT8OID, INT8OID};
	SimhashBallAttributes attributes;
	RowExpr    *row;
	TupleDesc	desc;
	Node	   *center;
	Node	   *radius;
	Oid			function;
	bool		is_ball;

	ball = simhash_unlabeled(ball);
	row = (RowExpr *) ball;
	if (!IsA(ball, RowExpr) || row->row_typeid == RECORDOID)
		return NULL;
	desc = lookup_rowtype_tupdesc(row->row_typeid, -1);
	is_ball = simhash_find_ball_attributes(desc, INT8OID, &attributes) &&
		list_length(row->args) == desc->natts;
	ReleaseTupleDesc(desc);
	function = is_ball ? simhash_own_function(root, schema, "hamming_ball",
											  hamming_ball, 2, types) :
		InvalidOid;
	if (!OidIsValid(function) ||
		get_func_rettype(function) != row->row_typeid)
		return NULL;
	center = list_nth(row->args, attributes.center - 1);
	radius = list_nth(row->args, attributes.radius - 1);
	if (simhash_has_value_of_row(radius, NULL) ||
		(security && simhash_has_value_of_row(center, NULL)) ||
		simhash_is_wrong_radius(radius))
		return NULL;
	return (Node *) makeFuncExpr(function, row->row_typeid,
								 list_make2(center, radius), InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * The call of _hamming_reach for what an operator searches, or its value; NULL
 * if the schema does not have that function.
 */
Node	   *
simhash_reach_call(PlannerInfo *root, const SimhashOperator *operator,
				   Oid schema, Node *center, Node *distance)
{
	bool		bits = operator->searched == SIMHASH_BITS;
	Oid			types[] = {bits ? BITOID : INT8OID, INT8OID};
	Oid			function;
	Node	   *call;

	function = simhash_own_function(root, schema, "_hamming_reach",
									bits ? hamming_bit_reach : hamming_reach,
									2, types);
	if (!OidIsValid(function))
		return NULL;
	call = (Node *) makeFuncExpr(function, get_func_rettype(function),
								 list_make2(copyObject(center),
											copyObject(distance)),
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
	if (IsA(center, Const) && IsA(distance, Const))
		return eval_const_expressions(root, call);
	return call;
}
