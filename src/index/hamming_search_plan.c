/*-------------------------------------------------------------------------
 *
 * hamming_search_plan.c
 *		hamming_search_plan(): what a search is going to read, and why.
 *
 * A scan is begun as for a search, plans that search (hamming_plan.c), and
 * ends before it reads a leaf page.  So what is shown is what a search at the
 * same moment would do.
 *
 * The table may be somebody's whom they do not trust.  So nothing of its
 * owner's is evaluated: no expression or condition of the index, and no
 * constraint of a domain.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "index/hamming_scan.h"
#include "search/search.h"

PG_FUNCTION_INFO_V1(hamming_search_plan);
PG_FUNCTION_INFO_V1(hamming_bit_search_plan);

/* What is returned of each block. */
enum
{
	COLUMN_BLOCK,
	COLUMN_RADIUS,
	COLUMN_PROBES,
	COLUMN_PAGES,
	COLUMN_CANDIDATES,
	COLUMN_CROWD,
	COLUMN_CROWD_BESIDE,
	COLUMN_READS_ALL,
	PLAN_COLUMNS
};

/*
 * The type of a column of an index, from 0 on, in the table; of a domain, that
 * which it is made of.
 */
static Oid
column_type(Relation heap, Relation index, int column)
{
	AttrNumber	number = index->rd_index->indkey.values[column];

	return getBaseType(number != InvalidAttrNumber
					   ? TupleDescAttr(RelationGetDescr(heap),
									   number - 1)->atttypid
					   : exprType(hamming_column_expression(index, column)));
}

/*
 * The shift of the group whose values are given as text, in the order of the
 * columns.  False if one is NULL, so that there is no such group.
 */
static bool
read_group(Relation heap, Relation index, ArrayType *group, uint64 *shift)
{
	int			fingerprint = hamming_fingerprint_column(index);
	int			columns = index->rd_index->indnkeyatts;
	Datum	   *values;
	bool	   *nulls;
	int			count;
	int			next = 0;
	int			i;

	deconstruct_array(group, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls,
					  &count);
	if (count != columns - 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg_plural("index \"%s\" has %d column beside the fingerprint, not %d",
							   "index \"%s\" has %d columns beside the fingerprint, not %d",
							   columns - 1,
							   RelationGetRelationName(index), columns - 1, count),
				 errhint("Give the value of each of these columns, in the order of the index.")));
	*shift = 0;
	for (i = 0; i < columns; i++)
	{
		Oid			input;
		Oid			parameter;
		Datum		value;

		if (i == fingerprint)
			continue;
		if (nulls[next])
			return false;
		getTypeInputInfo(column_type(heap, index, i), &input, &parameter);
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
return_block(ReturnSetInfo *result, const HammingScan *so, int block)
{
	const ShSearchWork *work = &so->plan.blocks[block];
	Datum		values[PLAN_COLUMNS];
	bool		nulls[PLAN_COLUMNS] = {0};

	values[COLUMN_BLOCK] = Int32GetDatum(so->runs.word * so->layout->blocks +
										 block);
	values[COLUMN_RADIUS] = Int32GetDatum(so->plan.radius[block]);
	nulls[COLUMN_RADIUS] = so->plan.radius[block] < 0;
	values[COLUMN_PROBES] = Int64GetDatum((int64) work->probes);
	values[COLUMN_PAGES] = rounded(work->pages);
	values[COLUMN_CANDIDATES] = rounded(work->entries);
	values[COLUMN_CROWD] = rounded(so->extent.crowd[block][0]);
	values[COLUMN_CROWD_BESIDE] = rounded(so->extent.crowd[block][1]);
	values[COLUMN_READS_ALL] = BoolGetDatum(block == 0 &&
											sh_is_pass(so->layout, &so->plan));
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Return all blocks of a plan, word by word. */
static void
return_plan(ReturnSetInfo *result, IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	bool		in_words = so->layout->words > 1;
	int			block;

	if (!in_words)
		hamming_plan(scan);
	else if (!hamming_words_show(scan))
		return;
	do
	{
		for (block = 0; block < so->layout->blocks; block++)
			return_block(result, so, block);
	} while (in_words && hamming_words_show(scan));
}

/* Fail if the radius of a hamming_ball is out of range. */
static void
check_ball(Datum datum)
{
	SimhashBall ball;

	(void) simhash_get_ball(datum, &ball);
}

/* Is an index one of bit strings? */
static bool
is_of_bits(Relation index)
{
	SimhashSearched indexed = hamming_indexed(index);

	return indexed == SIMHASH_BITS || indexed == SIMHASH_BIT_BALLS;
}

/* The work of both functions. */
static Datum
search_plan(FunctionCallInfo fcinfo, bool of_bits)
{
	Oid			indexid = PG_GETARG_OID(0);
	Oid			heapid = hamming_indexed_table(indexid);
	Relation	heap;
	Relation	index;
	IndexScanDesc scan;
	HammingScan *so;
	uint64		shift;

	InitMaterializedSRF(fcinfo, 0);
	heap = table_open(heapid, AccessShareLock);
	index = index_open(indexid, AccessShareLock);
	hamming_check_rights(index);
	hamming_require_usable(index);

	if (is_of_bits(index) != of_bits)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index of such fingerprints",
						RelationGetRelationName(index)),
				 of_bits
				 ? errhint("Of fingerprints of type bigint it is hamming_search_plan() that shows plans.")
				 : errhint("Of bit strings it is hamming_bit_search_plan() that shows plans.")));

	if (!of_bits)
		check_ball(PG_GETARG_DATUM(1));
	scan = hamming_beginscan(index, 1, 0);
	scan->xs_snapshot = GetActiveSnapshot();
	so = (HammingScan *) scan->opaque;
	so->asked.order_by = -1;
	if (read_group(heap, index, PG_GETARG_ARRAYTYPE_P(2), &shift) &&
		hamming_take_ball(index, so->layout, PG_GETARG_DATUM(1),
						  &so->asked.balls[0]))
	{
		so->asked.nballs = 1;
		hamming_shift(so->layout, shift, &so->asked.balls[0].center);
		return_plan((ReturnSetInfo *) fcinfo->resultinfo, scan);
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
 * index of bigints,
 * object_not_in_prerequisite_state for an invalid one, insufficient_privilege
 * for those who may not read the table.
 */
Datum
hamming_search_plan(PG_FUNCTION_ARGS)
{
	return search_plan(fcinfo, false);
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
	return search_plan(fcinfo, true);
}
