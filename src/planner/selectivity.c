/*-------------------------------------------------------------------------
 *
 * selectivity.c
 *		How many rows the operators of Hamming search will find.
 *
 * The planner's statistics of a fingerprint column are those of any bigint:
 * common values, a histogram of others, the number of distinct values.  They
 * serve as a sample of the column:
 *
 *	- A common value within the radius of the center counts as often as it
 *	  occurs.  So do other values of the sample, if there are several, which
 *	  shows a group of near-duplicates that is a percent of the table or more.
 *	- For what is rarer than the sample can show, we assume that a search
 *	  finds the rows that equal its center, as many as an average value has,
 *	  and, among near-duplicates, half as many again for each bit of radius.
 *	- Unrelated fingerprints are random: a radius k reaches a fraction of
 *	  (C(64,0) + ... + C(64,k)) / 2^64 of them.  It matters from about 16 up.
 *
 * A join finds what "=" does, whose estimator knows values that are common on
 * both sides, and half as many again for each bit of radius.
 *
 * All this holds for bit strings of n bits as well.
 *
 * Values in the statistics may be those of rows that the user must not see.
 * They are compared with what is sought on the same terms as by the estimators
 * of the core (statistic_proc_security_check).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "parser/parse_coerce.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"

/* The radius when it is not known at plan time: that of ~=, or n / 8. */
#define DEFAULT_RADIUS(bits)	((bits) == SH_BITS ? SH_NEAR : (bits) / 8)

#define DEFAULT_TUPLES	1.0e6	/* when nothing is known of the table */

PG_FUNCTION_INFO_V1(hamming_sel);
PG_FUNCTION_INFO_V1(hamming_joinsel);

/* What is known at plan time of one side of an operator. */
typedef struct Sought
{
	bool		of_bits;		/* bit strings, not bigints */
	int			bits;			/* how many */
	int			radius;
	bool		center_known;
	int64		center;			/* of bigints */
	SimhashBits bit_center;
} Sought;

/*
 * The fraction of all fingerprints within a radius of any one of them.  A radius
 * that is not known may be more than there are bits.
 */
static double
ball_volume(const Sought *sought)
{
	double		log_share = -sought->bits * log(2.0);
	double		sum = 0.0;
	int			radius = Min(sought->radius, sought->bits);

	for (int d = 0; d <= radius; d++)
	{
		CHECK_FOR_INTERRUPTS();
		sum += exp(log_share);
		log_share += log(sought->bits - d) - log(d + 1);
	}
	return sum;
}

/* How many times as many rows as equal the center a search finds. */
static inline double
growth(const Sought *sought)
{
	return 1.0 + sought->radius * (SH_BITS / 2.0) / Max(sought->bits, 1);
}

/* Take what is known of a center. */
static void
examine_center(Const *center, Sought *sought)
{
	if (center->consttype == INT8OID)
	{
		sought->center = DatumGetInt64(center->constvalue);
		sought->center_known = true;
	}
	else if (center->consttype == BITOID || center->consttype == VARBITOID)
	{
		sought->bit_center = simhash_get_bits(center->constvalue);
		sought->bits = sought->bit_center.width;
		sought->of_bits = sought->center_known = true;
	}
}

/*
 * Learn what we can of what is sought.  False when it is known to be NULL.
 * What is not known stays as it was.
 */
static bool
examine_sought(PlannerInfo *root, Node *node, Sought *sought)
{
	Node	   *center;
	Node	   *radius = NULL;

	node = estimate_expression_value(root, node);
	if (simhash_ball_parts(root, node, &center, &radius))
		node = center;
	if (IsA(node, Const))
	{
		if (((Const *) node)->constisnull)
			return false;
		examine_center((Const *) node, sought);
	}
	if (radius == NULL || !IsA(radius, Const))
		return true;
	if (((Const *) radius)->constisnull)
		return false;
	sought->radius = simhash_known_radius(radius, sought->radius,
										  sought->bits);
	return true;
}

/* What is sought when no more is known than the type of what is searched. */
static Sought
begin_sought(const VariableStatData *vardata)
{
	Sought		sought = {false};
	int32		typmod = vardata->atttypmod;

	sought.of_bits = getBaseTypeAndTypmod(vardata->atttype, &typmod) == BITOID;
	sought.bits = sought.of_bits && typmod > 0 ? typmod : SH_BITS;
	sought.radius = DEFAULT_RADIUS(sought.bits);
	return sought;
}

/* The distance of a value of the statistics from the center. */
static inline int
sample_distance(const AttStatsSlot *slot, int i, const Sought *sought)
{
	SimhashBits sample;

	if (!sought->of_bits)
		return sh_distance((uint64) DatumGetInt64(slot->values[i]),
						   (uint64) sought->center);
	sample = simhash_get_bits(slot->values[i]);
	if (sample.width != sought->bits)
		return PG_INT32_MAX;
	return simhash_bits_distance(&sample, &sought->bit_center);
}

/* The fraction of rows whose value is common and lies in the ball. */
static double
common_fraction(const AttStatsSlot *slot, const Sought *sought)
{
	double		fraction = 0.0;

	for (int i = 0; i < slot->nvalues; i++)
	{
		if (sample_distance(slot, i, sought) <= sought->radius)
			fraction += slot->numbers[i];
	}
	return fraction;
}

/*
 * The fraction of the histogram's bounds that lies in the ball, the center
 * apart; 0 if it is a single one, which is no evidence of more.
 */
static double
histogram_fraction(const AttStatsSlot *slot, const Sought *sought)
{
	int			found = 0;

	for (int i = 0; i < slot->nvalues; i++)
	{
		int			distance = sample_distance(slot, i, sought);

		found += distance > 0 && distance <= sought->radius;
	}
	return found > 1 ? (double) found / slot->nvalues : 0.0;
}

/*
 * Tables may be small, and the number of distinct values unknown: take nearly
 * all fingerprints for distinct then, which they are.
 */
static double
distinct_fingerprints(VariableStatData *vardata)
{
	bool		isdefault;
	double		distinct = get_variable_numdistinct(vardata, &isdefault);

	if (isdefault)
		distinct = vardata->rel != NULL && vardata->rel->tuples > 0 ?
			vardata->rel->tuples : DEFAULT_TUPLES;
	return Max(distinct, 1.0);
}

/* The fraction of the variable's rows that are NULL. */
static double
null_fraction(VariableStatData *vardata)
{
	if (!HeapTupleIsValid(vardata->statsTuple))
		return 0.0;
	return ((Form_pg_statistic) GETSTRUCT(vardata->statsTuple))->stanullfrac;
}

/* The fraction of rows that a search finds whose column is the variable. */
static double
search_fraction(VariableStatData *vardata, const Sought *sought)
{
	double		rest = 1.0 - null_fraction(vardata);
	double		common = 0.0;
	double		rare;
	AttStatsSlot slot;

	rare = growth(sought) / distinct_fingerprints(vardata);
	if (sought->center_known && HeapTupleIsValid(vardata->statsTuple) &&
		getBaseType(vardata->atttype) ==
		(sought->of_bits ? BITOID : INT8OID))
	{
		if (get_attstatsslot(&slot, vardata->statsTuple, STATISTIC_KIND_MCV,
							 InvalidOid,
							 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS))
		{
			common = common_fraction(&slot, sought);
			for (int i = 0; i < slot.nnumbers; i++)
				rest -= slot.numbers[i];
			free_attstatsslot(&slot);
		}
		if (get_attstatsslot(&slot, vardata->statsTuple,
							 STATISTIC_KIND_HISTOGRAM, InvalidOid,
							 ATTSTATSSLOT_VALUES))
		{
			rare = Max(rare, histogram_fraction(&slot, sought));
			free_attstatsslot(&slot);
		}
	}
	rest = Max(rest, 0.0);
	return common + rest * Max(rare, ball_volume(sought));
}

/*
 * Learn what is known of the third argument of hamming_within().  False when
 * no row is within that.
 */
static bool
examine_limit(PlannerInfo *root, Node *limit, Sought *sought)
{
	Const	   *known = (Const *) estimate_expression_value(root, limit);

	sought->radius = simhash_known_radius((Node *) known, sought->radius,
										  sought->bits);
	return !IsA(known, Const) ||
		(!known->constisnull && DatumGetInt64(known->constvalue) >= 0);
}

/*
 * The fraction of rows for which two arguments are within reach: that of the
 * limit, if there is one, or else that of the argument that is a ball, or 3.
 * The function is what compares them.
 */
static double
restriction_fraction(PlannerInfo *root, Oid function, List *args, Node *limit,
					 int varRelid)
{
	VariableStatData vardata;
	Node	   *other;
	bool		varonleft;
	Sought		sought;
	double		result = 0.0;

	if (!get_restriction_variable(root, args, varRelid,
								  &vardata, &other, &varonleft))
	{
		/* Both sides vary within the table: unrelated, for all we know. */
		return 1.0 / DEFAULT_TUPLES;
	}
	sought = begin_sought(&vardata);
	if (examine_sought(root, other, &sought) &&
		(limit == NULL || examine_limit(root, limit, &sought)))
	{
		if (!statistic_proc_security_check(&vardata, function))
			sought.center_known = false;
		result = search_fraction(&vardata, &sought);
	}
	ReleaseVariableStats(vardata);
	CLAMP_PROBABILITY(result);
	return result;
}

/* An expression, or the center of the ball that it is. */
static Node *
center_of(PlannerInfo *root, Node *node)
{
	Node	   *center;
	Node	   *radius;

	return simhash_ball_parts(root, node, &center, &radius) ? center : node;
}

/*
 * What "=" would find, if its estimator has statistics of both sides.  It compares
 * values of them, so they must be of its type.  -1 if it does not know.
 */
static double
equal_fraction(PlannerInfo *root, List *centers, VariableStatData *sides,
			   JoinType jointype, SpecialJoinInfo *sjinfo, bool of_bits)
{
	Oid			type = of_bits ? BITOID : INT8OID;
	Oid			operator = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;

	for (int i = 0; i < 2; i++)
	{
		if (!HeapTupleIsValid(sides[i].statsTuple) ||
			!IsBinaryCoercible(sides[i].atttype, type))
			return -1;
	}
	return DatumGetFloat8(OidFunctionCall5(F_EQJOINSEL, PointerGetDatum(root),
										   ObjectIdGetDatum(operator),
										   PointerGetDatum(centers),
										   Int16GetDatum(jointype),
										   PointerGetDatum(sjinfo)));
}

/*
 * The same of pairs of rows; of a semi-join, the fraction of the outer rows
 * that have a match.
 */
static double
join_fraction(PlannerInfo *root, List *args, Node *limit, JoinType jointype,
			  SpecialJoinInfo *sjinfo)
{
	List	   *centers = list_make2(center_of(root, linitial(args)),
									 center_of(root, lsecond(args)));
	VariableStatData sides[2];
	bool		reversed;
	Sought		sought;
	double		rows = 1.0;
	double		equal;
	double		result;

	get_join_variables(root, centers, sjinfo, &sides[0], &sides[1], &reversed);
	sought = begin_sought(&sides[0]);
	if (!sought.of_bits)
		sought = begin_sought(&sides[1]);
	(void) examine_sought(root, linitial(args), &sought);
	(void) examine_sought(root, lsecond(args), &sought);
	if (limit != NULL)
		(void) examine_limit(root, limit, &sought);

	if (jointype == JOIN_SEMI || jointype == JOIN_ANTI)
		rows = sides[!reversed].rel != NULL ?
			sides[!reversed].rel->rows : DEFAULT_TUPLES;
	rows *= (1.0 - null_fraction(&sides[0])) * (1.0 - null_fraction(&sides[1]));
	equal = equal_fraction(root, centers, sides, jointype, sjinfo,
						   sought.of_bits);
	if (equal < 0)
		equal = rows / Max(distinct_fingerprints(&sides[0]),
						   distinct_fingerprints(&sides[1]));
	result = Max(growth(&sought) * equal, ball_volume(&sought) * rows);
	ReleaseVariableStats(sides[0]);
	ReleaseVariableStats(sides[1]);
	CLAMP_PROBABILITY(result);
	return result;
}

/*
 * hamming_sel(internal, oid, internal, integer) -> double precision
 *
 * Restriction selectivity of ~=, <@ and @>.
 */
Datum
hamming_sel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(restriction_fraction((PlannerInfo *) PG_GETARG_POINTER(0),
										  get_opcode(PG_GETARG_OID(1)),
										  (List *) PG_GETARG_POINTER(2),
										  NULL, PG_GETARG_INT32(3)));
}

/*
 * hamming_joinsel(internal, oid, internal, smallint, internal)
 *		-> double precision
 *
 * Join selectivity of ~=, <@ and @>.
 */
Datum
hamming_joinsel(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(join_fraction((PlannerInfo *) PG_GETARG_POINTER(0),
								   (List *) PG_GETARG_POINTER(2), NULL,
								   (JoinType) PG_GETARG_INT16(3),
								   (SpecialJoinInfo *) PG_GETARG_POINTER(4)));
}

/* The selectivity of hamming_within(a, b, k); false for any other function. */
bool
simhash_limit_selectivity(SupportRequestSelectivity *request)
{
	const SimhashOperator *operator = simhash_operator(request->funcid);
	List	   *args;
	Node	   *limit;

	if (operator == NULL || operator->query != SIMHASH_LIMIT)
		return false;
	args = list_make2(linitial(request->args), lsecond(request->args));
	limit = lthird(request->args);
	request->selectivity = request->is_join ?
		join_fraction(request->root, args, limit, request->jointype,
					  request->sjinfo) :
		restriction_fraction(request->root, request->funcid, args, limit,
							 request->varRelid);
	return true;
}
