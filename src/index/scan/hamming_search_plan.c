/*-------------------------------------------------------------------------
 *
 * hamming_search_plan.c
 *		hamming_search_plan(): what a search is going to read, and why.
 *
 * A scan is begun as for a search, plans that search (hamming_plan.c), and
 * ends before it reads a leaf page.  So what is shown is what a search at the
 * same moment would do.
 *
 * The size of a crowd tells how many rows are like the query.  So only users who
 * could count these rows may ask: those who may read what is indexed, in every row
 * of the table.
 *
 * They need not trust the owner of the table.  So nothing of the owner's is
 * evaluated: no expression or condition of the index, and no
 * constraint of a domain.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_index.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

PG_FUNCTION_INFO_V1(hamming_search_plan);
PG_FUNCTION_INFO_V1(hamming_bit_search_plan);

/*
 * May the user read what an index holds?  An expression may be made from any
 * column, and so may the condition of a partial index, so these take the right
 * to the whole table.
 */
static bool
may_read_indexed(Oid table, Relation index)
{
	bool		may = heap_attisnull(index->rd_indextuple,
									 Anum_pg_index_indpred, NULL);

	for (int i = 0; i < index->rd_index->indnkeyatts && may; i++)
	{
		AttrNumber	column = index->rd_index->indkey.values[i];

		may = column != InvalidAttrNumber &&
			pg_attribute_aclcheck(table, column, GetUserId(),
								  ACL_SELECT) == ACLCHECK_OK;
	}
	return may ||
		pg_class_aclcheck(table, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/* Fail unless the user may be told how a search of an index goes. */
static void
check_plan_rights(Relation index)
{
	Oid			table = index->rd_index->indrelid;

	if (!may_read_indexed(table, index))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));
	if (check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for table %s",
						get_rel_name(table)),
				 errdetail("Row security applies, and the plan would tell of rows that it hides.")));
}

/*
 * The shift of the group whose values are given as text, in the order of the
 * columns.  False if one is NULL, so that there is no such group.
 */
static bool
read_group_shift(Relation index, const HammingIndexState *state, ArrayType *group,
				 uint64 *shift)
{
	int			columns = state->columns;
	Datum	   *values;
	bool	   *nulls;
	int			count;
	int			next = 0;

	deconstruct_array(group, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &count);
	if (count != columns - 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"within\" has %d values, but index \"%s\" has %d columns beside the fingerprint",
						count, RelationGetRelationName(index), columns - 1),
				 errhint("Give the value of each of these columns, in the order of the index.")));
	*shift = 0;
	for (int i = 0; i < columns; i++)
	{
		Oid			input;
		Oid			parameter;
		Datum		value;

		if (i == state->fingerprint)
			continue;
		if (nulls[next])
			return false;
		getTypeInputInfo(hamming_column_type(index, i), &input, &parameter);
		value = OidInputFunctionCall(input, TextDatumGetCString(values[next++]),
									 parameter, -1);
		*shift = hamming_add_to_shift(*shift, index, i, value, InvalidOid);
	}
	return true;
}

/* An estimate, to a tenth. */
static Datum
rounded(double value)
{
	return Float8GetDatum(rint(value * 10) / 10);
}

/* Return what a plan says of a block. */
static void
return_block(FunctionCallInfo fcinfo, const HammingPlan *plan, int block)
{
	const ShLayout *layout = plan->extent.layout;
	const ShSearchWork *work = &plan->search.blocks[block];
	int			radius = plan->search.radius[block];
	Datum		values[] = {
		Int32GetDatum(plan->word * layout->blocks + block),
		Int32GetDatum(radius),
		Int64GetDatum((int64) work->probes),
		rounded(work->pages),
		rounded(work->entries),
		rounded(plan->extent.crowd[block][0]),
		rounded(plan->extent.crowd[block][1]),
		BoolGetDatum(block == 0 && sh_is_pass(layout, &plan->search))
	};
	bool		nulls[lengthof(values)] = {false, radius < 0};

	simhash_put_row(fcinfo, values, nulls);
}

/* Return all blocks of a plan, word by word. */
static void
return_plan(FunctionCallInfo fcinfo, IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	const HammingBall *ball = so->asked.balls;

	(void) hamming_plan_words(scan, &ball->center, ball->radius, NULL);
	for (int word = 0; word < so->layout->words; word++)
		for (int block = 0; block < so->layout->blocks; block++)
			return_block(fcinfo, &so->words->plans[word], block);
}

/* The work of both functions. */
static Datum
return_search_plan(FunctionCallInfo fcinfo, bool of_bits)
{
	Relation	heap;
	Relation	index;
	IndexScanDesc scan;
	HammingScan *so;
	HammingIndexState *state;
	HammingBall *asked;
	SimhashBall ball;
	uint64		shift;

	InitMaterializedSRF(fcinfo, 0);
	index = hamming_open_index(PG_GETARG_OID(0), AccessShareLock, &heap);
	check_plan_rights(index);
	hamming_require_usable(index);

	scan = hamming_beginscan(index, 1, 0);
	scan->xs_snapshot = GetActiveSnapshot();
	so = (HammingScan *) scan->opaque;
	state = &so->index;
	asked = so->asked.balls;
	if ((state->indexed == SIMHASH_BITS ||
		 state->indexed == SIMHASH_BIT_BALLS) != of_bits)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" is on other fingerprints", RelationGetRelationName(index)),
				 errhint("Use hamming_search_plan() for type bigint, hamming_bit_search_plan() for bit strings.")));

	/* Complain of a radius that is out of range, whatever the group is. */
	(void) simhash_get_ball(PG_GETARG_DATUM(1), of_bits ? VARBITOID : INT8OID,
							true, &ball);
	so->asked.order_by = -1;
	if (read_group_shift(index, state, PG_GETARG_ARRAYTYPE_P(2), &shift) &&
		hamming_cut_ball(state, PG_GETARG_DATUM(1), &asked->center,
						 &asked->radius))
	{
		so->asked.nballs = 1;
		hamming_shift(so->layout, shift, &asked->center);
		return_plan(fcinfo, scan);
	}
	hamming_endscan(scan);
	IndexScanEnd(scan);

	index_close(index, AccessShareLock);
	table_close(heap, AccessShareLock);
	return (Datum) 0;
}

/*
 * hamming_search_plan(index regclass, ball hamming_ball, within text[])
 *		-> setof (block integer, radius integer, probes bigint,
 *				  pages double precision, candidates double precision,
 *				  crowd double precision, crowd_beside double precision,
 *				  reads_all boolean)
 *
 * How a search within the ball would go through the index, a row for each
 * block; radius is NULL for a block that is not searched.  An index on several
 * columns is searched within the group of the given values.  No rows for a ball
 * without center or radius, or for a group with NULL.
 *
 * Errors: invalid_parameter_value for more values or less than there are
 * columns beside the fingerprint, wrong_object_type for anything but a hamming
 * index of bigints, undefined_object for one that is dropped meanwhile,
 * object_not_in_prerequisite_state for an invalid one, insufficient_privilege
 * for those who may not read the table.
 */
Datum
hamming_search_plan(PG_FUNCTION_ARGS)
{
	return return_search_plan(fcinfo, false);
}

/*
 * hamming_bit_search_plan(index regclass, ball hamming_bit_ball, within text[])
 *		-> setof ...
 *
 * The same for an index of bit strings.
 */
Datum
hamming_bit_search_plan(PG_FUNCTION_ARGS)
{
	return return_search_plan(fcinfo, true);
}
