/*-------------------------------------------------------------------------
 *
 * ball.c
 *		The types hamming_ball and hamming_bit_ball: their values.
 *
 * A ball is (center bigint, radius bigint), or (center bit varying, radius
 * bigint), an ordinary composite type, which its owner may alter.  Attributes
 * that were added and dropped again keep their numbers, so the two are looked
 * up wherever a ball is taken apart or made.  If the type has got other
 * attributes it is an error to take a ball apart; the planner leaves it to the
 * operators to say so.
 *
 * The radius is a bigint, so that a number of any integer type becomes one by
 * itself.  What it may be is 0 to 64, or to as many bits as the center has,
 * which is checked where a ball is read.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/typcache.h"

#include "core/blocks/layout.h"

PG_FUNCTION_INFO_V1(hamming_ball);
PG_FUNCTION_INFO_V1(hamming_bit_ball);
PG_FUNCTION_INFO_V1(hamming_reach);
PG_FUNCTION_INFO_V1(hamming_bit_reach);

/* The radius; fails unless fingerprints of so many bits can have it. */
int
simhash_check_radius(int64 radius, int bits)
{
	return (int) simhash_check_range("", "radius", radius, 0, bits, bits);
}

/*
 * Find the attributes of a row type; false unless it is that of a ball whose
 * center is of that type.
 */
bool
simhash_find_ball_attributes(TupleDesc desc, Oid center, SimhashBallAttributes *attributes)
{
	static const char *const names[] = {"center", "radius"};
	const Oid	types[] = {center, INT8OID};
	AttrNumber *const numbers[] = {&attributes->center, &attributes->radius};
	int			found = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (attribute->attisdropped)
			continue;
		if (found == lengthof(names) || attribute->atttypid != types[found] ||
			strcmp(NameStr(attribute->attname), names[found]) != 0)
			return false;
		*numbers[found++] = attribute->attnum;
	}
	return found == lengthof(names);
}

/* The same; fails unless the type is that of such a ball. */
static SimhashBallAttributes
require_attributes(TupleDesc desc, Oid center)
{
	SimhashBallAttributes attributes;

	if (!simhash_find_ball_attributes(desc, center, &attributes))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 center == INT8OID
				 ? errmsg("hamming_ball is not (center bigint, radius bigint)")
				 : errmsg("hamming_bit_ball is not (center bit varying, radius bigint)")));
	return attributes;
}

/*
 * The center and the radius, whatever number that is, of a ball whose center is
 * of that type.  False when one of them is NULL.
 *
 * A composite Datum carries its row type, which need not be the one that the
 * function was declared with if somebody has altered that, so we look.
 */
static bool
read_ball(Datum datum, Oid center_type, Datum *center, int64 *radius)
{
	HeapTupleHeader header = simhash_get_row(datum);
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(header),
											  HeapTupleHeaderGetTypMod(header));
	SimhashBallAttributes attributes = require_attributes(desc, center_type);
	HeapTupleData tuple;
	Datum		distance;
	bool		no_center;
	bool		no_radius;

	tuple.t_len = HeapTupleHeaderGetDatumLength(header);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = header;
	*center = heap_getattr(&tuple, attributes.center, desc, &no_center);
	distance = heap_getattr(&tuple, attributes.radius, desc, &no_radius);
	ReleaseTupleDesc(desc);
	if (no_center || no_radius)
		return false;
	*radius = DatumGetInt64(distance);
	return true;
}

/* A bit string.  It is where the Datum is, unless that was compressed. */
SimhashBits
simhash_get_bits(Datum datum)
{
	const char *data = VARDATA_ANY(PG_DETOAST_DATUM_PACKED(datum));
	SimhashBits bits;

	/* The length comes first, not aligned if the header is short. */
	memcpy(&bits.width, data, sizeof bits.width);
	bits.bytes = (const unsigned char *) data + sizeof bits.width;
	return bits;
}

/*
 * Take a ball apart, whose center is of that type; false when its center or
 * radius is NULL.  A radius out of range is an error if "complain" says so;
 * otherwise the nearest one that finds the same rows is taken in its place, -1
 * if there are none.
 */
bool
simhash_get_ball(Datum datum, Oid center_type, bool complain, SimhashBall *ball)
{
	Datum		center;
	int64		radius;
	int			width = SH_BITS;

	if (!read_ball(datum, center_type, &center, &radius))
		return false;
	if (center_type == INT8OID)
		ball->center = DatumGetInt64(center);
	else
	{
		ball->bits = simhash_get_bits(center);
		width = ball->bits.width;
	}
	if (complain)
		(void) simhash_check_radius(radius, width);
	ball->radius = (int32) Max(-1, Min(radius, width));
	return true;
}

/*
 * A ball as a value of the row type, which has to be that of one; its center
 * is of that type, bigint or bit varying.
 */
Datum
simhash_make_ball(TupleDesc desc, Oid center_type, Datum center, int64 radius)
{
	SimhashBallAttributes attributes = require_attributes(desc, center_type);
	Datum	   *values = palloc0(desc->natts * sizeof *values);
	bool	   *nulls = palloc(desc->natts * sizeof *nulls);

	memset(nulls, true, desc->natts * sizeof *nulls);
	values[attributes.center - 1] = center;
	nulls[attributes.center - 1] = false;
	values[attributes.radius - 1] = Int64GetDatum(radius);
	nulls[attributes.radius - 1] = false;
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

/*
 * The ball around argument 0, which is of that type, as the result of a call.
 * A join may call us for each pair of rows: where the call says which row type
 * it wants, that is at hand.
 */
static Datum
ball_result(FunctionCallInfo fcinfo, Oid center_type, int64 radius)
{
	Oid			type = get_fn_expr_rettype(fcinfo->flinfo);
	TupleDesc	desc = NULL;

	if (OidIsValid(type))
		desc = lookup_type_cache(type, TYPECACHE_TUPDESC)->tupDesc;
	if (desc == NULL &&
		get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function returning a ball called in context that cannot accept type record")));
	return simhash_make_ball(desc, center_type, PG_GETARG_DATUM(0), radius);
}

/*
 * hamming_ball(center bigint, radius bigint) -> hamming_ball
 *
 * The ball with that center and radius.
 *
 * Errors: invalid_parameter_value when the radius is not in 0 .. 64.
 */
Datum
hamming_ball(PG_FUNCTION_ARGS)
{
	return ball_result(fcinfo, INT8OID,
					   simhash_check_radius(PG_GETARG_INT64(1), SH_BITS));
}

/*
 * hamming_bit_ball(center bit, radius bigint) -> hamming_bit_ball
 *
 * The same for a center of any width.
 *
 * Errors: invalid_parameter_value when the radius is not in 0 .. the number of
 * bits of the center.
 */
Datum
hamming_bit_ball(PG_FUNCTION_ARGS)
{
	int			width = simhash_get_bits(PG_GETARG_DATUM(0)).width;

	return ball_result(fcinfo, VARBITOID,
					   simhash_check_radius(PG_GETARG_INT64(1), width));
}

/*
 * _hamming_reach(center bigint, distance bigint) -> hamming_ball
 *
 * The ball of what is within a distance, which may be any number: NULL if it is
 * negative, as nothing is within that.
 */
Datum
hamming_reach(PG_FUNCTION_ARGS)
{
	int64		distance = PG_GETARG_INT64(1);

	if (distance < 0)
		PG_RETURN_NULL();
	return ball_result(fcinfo, INT8OID, Min(distance, SH_BITS));
}

/*
 * _hamming_reach(center bit, distance bigint) -> hamming_bit_ball
 *
 * The same for a center of any width.
 */
Datum
hamming_bit_reach(PG_FUNCTION_ARGS)
{
	int			width = simhash_get_bits(PG_GETARG_DATUM(0)).width;
	int64		distance = PG_GETARG_INT64(1);

	if (distance < 0)
		PG_RETURN_NULL();
	return ball_result(fcinfo, VARBITOID, Min(distance, width));
}

/*
 * Find the attributes of a row type.  Returns the type of the center, or
 * InvalidOid if the type is not that of a ball.
 */
Oid
simhash_ball_center_type(Oid type, int32 typmod, SimhashBallAttributes *attributes)
{
	TupleDesc	desc = lookup_rowtype_tupdesc_domain(type, typmod, true);
	Oid			center = InvalidOid;

	if (desc == NULL)
		return center;
	if (simhash_find_ball_attributes(desc, INT8OID, attributes))
		center = INT8OID;
	else if (simhash_find_ball_attributes(desc, VARBITOID, attributes))
		center = VARBITOID;
	ReleaseTupleDesc(desc);
	return center;
}

/*
 * expression_tree_walker: may the value depend on a row?  Parameters within a
 * plan may.
 */
bool
simhash_has_value_of_row(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Aggref:
		case T_GroupingFunc:
		case T_WindowFunc:
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_CaseTestExpr:
		case T_CoerceToDomainValue:
		case T_PlaceHolderVar:
			return true;
		case T_Param:
			return ((Param *) node)->paramkind != PARAM_EXTERN;
		default:
			return expression_tree_walker(node, simhash_has_value_of_row, context);
	}
}

/* Does an argument follow from the query alone, its constants and parameters? */
bool
simhash_is_of_query(FmgrInfo *flinfo, int argument)
{
	Node	   *call = flinfo->fn_expr;
	List	   *args = call == NULL ? NIL :
	IsA(call, FuncExpr) ? ((FuncExpr *) call)->args :
	IsA(call, OpExpr) ? ((OpExpr *) call)->args :
	IsA(call, ScalarArrayOpExpr) ? ((ScalarArrayOpExpr *) call)->args :
	NIL;

	return argument < list_length(args) &&
		!simhash_has_value_of_row(list_nth(args, argument), NULL);
}

/* Fail unless the engine can search fingerprints that are so wide. */
void
simhash_check_width(int width)
{
	if (width < SH_LEAST_WIDTH || width > SH_MOST_WIDTH)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("cannot search fingerprints of width %d", width),
				 errdetail("They may have %d to %d bits.",
						   SH_LEAST_WIDTH, SH_MOST_WIDTH)));
}
