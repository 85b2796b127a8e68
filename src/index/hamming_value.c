/*-------------------------------------------------------------------------
 *
 * hamming_value.c
 *		What an index has of a row: the words of a value, and how wide it is.
 *
 * All values of an index have one width, from which follows how their entries
 * are laid out (layout.c).  A bigint has 64 bits.  How many a bit string has
 * is told by its type, bit(n), which is why a column of type bit varying
 * cannot be indexed, nor an expression of type bit that is not cast to bit(n).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "index/hamming.h"
#include "search/search.h"

/* What the column of fingerprints is. */
SimhashSearched
hamming_indexed(Relation index)
{
	Oid			type = index->rd_opcintype[hamming_fingerprint_column(index)];

	switch (type)
	{
		case INT8OID:
			return SIMHASH_FINGERPRINTS;
		case BITOID:
			return SIMHASH_BITS;
		default:
			return simhash_is_bit_ball(type) ?
				SIMHASH_BIT_BALLS : SIMHASH_BALLS;
	}
}

/*
 * The expression that a column of an index, from 0 on, is; as it is stored.
 * Those that the server has at hand for the planner
 * (RelationGetIndexExpressions) are simplified, and that calls immutable
 * functions with constant arguments, which are code of the table's owner.
 * Besides, what they say of a type depends on which functions could be inlined.
 */
Node	   *
hamming_column_expression(Relation index, int column)
{
	int			before = 0;
	bool		isnull;
	Datum		stored = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
										 Anum_pg_index_indexprs, &isnull);
	int			i;

	for (i = 0; i < column; i++)
		before += index->rd_index->indkey.values[i] == InvalidAttrNumber;
	return list_nth(stringToNode(TextDatumGetCString(stored)), before);
}

/*
 * The type of the bit strings in an index: that of the column, or of the
 * expression, or of the center in an expression for a ball.
 */
static Oid
bits_type(Relation index, int32 *typmod)
{
	int			fingerprint = hamming_fingerprint_column(index);
	AttrNumber	column = index->rd_index->indkey.values[fingerprint];
	Oid			type;
	Oid			collation;
	Node	   *expression;
	Node	   *radius;

	if (column != InvalidAttrNumber)
		get_atttypetypmodcoll(index->rd_index->indrelid, column, &type, typmod,
							  &collation);
	else
	{
		expression = hamming_column_expression(index, fingerprint);
		if (hamming_indexed(index) == SIMHASH_BIT_BALLS)
			(void) simhash_ball_parts(NULL, expression, &expression, &radius);
		expression = simhash_unlabeled(expression);
		type = exprType(expression);
		*typmod = exprTypmod(expression);
	}
	return getBaseTypeAndTypmod(type, typmod);
}

/*
 * How wide the values of an index are; -1 where the type does not say so.  No
 * such index can be built, but a column may become bit varying later without
 * its indexes being made anew.
 */
static int
known_width(Relation index)
{
	SimhashSearched indexed = hamming_indexed(index);
	int32		width;

	if (indexed == SIMHASH_FINGERPRINTS || indexed == SIMHASH_BALLS)
		return SH_BITS;
	return bits_type(index, &width) == BITOID && width > 0 ? width : -1;
}

/*
 * The same for those who cannot do without.
 *
 * Errors: datatype_mismatch where the type does not say so, program_limit_
 * exceeded where there are too many bits or too few.
 */
static int
index_width(Relation index)
{
	int			width = known_width(index);

	if (width < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot tell how many bits there are in each value of index \"%s\"",
						RelationGetRelationName(index)),
				 errhint(hamming_indexed(index) == SIMHASH_BITS
						 ? "Make the column bit(n), or cast the expression to bit(n)."
						 : "Index the expression hamming_bit_ball(fingerprint, radius), where the fingerprint is bit(n).")));
	if (width < SH_LEAST_WIDTH || width > SH_MOST_WIDTH)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("bit strings of %d bits cannot be indexed by access method hamming",
						width),
				 errdetail("They may have %d to %d bits.",
						   SH_LEAST_WIDTH, SH_MOST_WIDTH)));
	return width;
}

/* How values of a width are cut.  What is returned stays for good. */
const ShLayout *
hamming_layout_of_width(int width)
{
	static ShLayout *layouts[SH_MOST_WIDTH + 1];

	if (layouts[width] == NULL)
	{
		ShLayout   *layout = MemoryContextAlloc(TopMemoryContext,
												sizeof(ShLayout));

		(void) sh_make_layout(width, layout);
		layouts[width] = layout;
	}
	return layouts[width];
}

/* How the values of an index are cut. */
const ShLayout *
hamming_layout(Relation index)
{
	return hamming_layout_of_width(index_width(index));
}

/* The same; NULL where the type of the column no longer tells. */
const ShLayout *
hamming_known_layout(Relation index)
{
	int			width = known_width(index);

	return width < 0 ? NULL : hamming_layout_of_width(width);
}

/* Cut a bit string, which is to be as wide as all others in the index. */
void
hamming_cut_bits(const ShLayout *layout, const SimhashBits *bits,
				 ShValue *value)
{
	simhash_check_widths(bits->width, layout->width);
	sh_cut(layout, bits->bytes, value);
}

/*
 * Cut a value of the indexed type, which is a fingerprint or a ball around
 * one.  False if there is none.
 */
bool
hamming_cut(Relation index, const ShLayout *layout, Datum datum,
			ShValue *value)
{
	SimhashBall ball;
	SimhashBitBall bit_ball;
	SimhashBits bits;

	switch (hamming_indexed(index))
	{
		case SIMHASH_FINGERPRINTS:
			sh_cut_word(layout, (uint64) DatumGetInt64(datum), value);
			return true;
		case SIMHASH_BALLS:
			if (!simhash_get_ball(datum, &ball))
				return false;
			sh_cut_word(layout, (uint64) ball.center, value);
			return true;
		case SIMHASH_BITS:
			bits = simhash_get_bits(datum);
			hamming_cut_bits(layout, &bits, value);
			return true;
		case SIMHASH_BIT_BALLS:
			if (!simhash_get_bit_ball(datum, &bit_ball))
				return false;
			hamming_cut_bits(layout, &bit_ball.center, value);
			return true;
	}
	pg_unreachable();
}

/* Move a value by the shift of a group. */
void
hamming_shift(const ShLayout *layout, uint64 shift, ShValue *value)
{
	int			word;

	for (word = 0; word < layout->words; word++)
		value->words[word] ^= shift >> (64 - layout->kept);
}

/* The shift of the group of a row, no column of which is NULL. */
static uint64
row_shift(Relation index, int fingerprint, Datum *values)
{
	uint64		shift = 0;
	int			i;

	for (i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		if (i != fingerprint)
			shift = hamming_add_to_shift(shift, index, i, values[i],
										 InvalidOid);
	}
	return shift;
}

/*
 * What an index has of a row, whose values are those of its columns: the
 * fingerprint, moved by the shift of the group.  False if it has no entries of
 * it.
 */
bool
hamming_row(Relation index, const ShLayout *layout,
			Datum *values, bool *isnull, ShValue *value)
{
	int			column = hamming_fingerprint_column(index);
	int			i;

	for (i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		if (isnull[i])
			return false;
	}
	if (!hamming_cut(index, layout, values[column], value))
		return false;
	if (index->rd_index->indnkeyatts > 1)
		hamming_shift(layout, row_shift(index, column, values), value);
	return true;
}
