/*-------------------------------------------------------------------------
 *
 * hamming_value.c
 *		What an index is, and what it has of a row: the words of a value.
 *
 * What an index is follows from its columns.  It is found out once, when a scan
 * or a build begins, or a statement inserts the first row, and passed on as a
 * HammingIndexState.
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
#include "index/hamming.h"

#include <math.h>

#include "utils/memutils.h"

#include "planner/planner.h"

/*
 * The type of the bit strings in an index: that of the column, or of the
 * expression, or of the center in an expression for a ball.
 */
static Oid
bits_type(Relation index, const HammingIndexState *state, int32 *typmod)
{
	AttrNumber	column = index->rd_index->indkey.values[state->fingerprint];
	Oid			type;
	Oid			collation;
	Node	   *expression;
	Node	   *radius;
	MemoryContext scratch;
	MemoryContext old;

	if (column != InvalidAttrNumber)
		get_atttypetypmodcoll(index->rd_index->indrelid, column, &type, typmod,
							  &collation);
	else
	{
		/* A constraint begins a scan for each row of a statement. */
		scratch = AllocSetContextCreate(CurrentMemoryContext, "hamming type",
										ALLOCSET_SMALL_SIZES);
		old = MemoryContextSwitchTo(scratch);
		expression = hamming_column_expression(index, state->fingerprint);
		if (state->indexed == SIMHASH_BIT_BALLS)
			(void) simhash_ball_parts(NULL, expression, &expression, &radius);
		expression = simhash_unlabeled(expression);
		type = exprType(expression);
		*typmod = exprTypmod(expression);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(scratch);
	}
	return getBaseTypeAndTypmod(type, typmod);
}

/*
 * Fail unless values of that width can be indexed.
 *
 * Errors: datatype_mismatch where the type does not tell (-1), program_limit_
 * exceeded where there are too many bits or too few.
 */
static void
check_width(Relation index, const HammingIndexState *state, int width)
{
	if (width < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot tell how many bits there are in each value of index \"%s\"",
						RelationGetRelationName(index)),
				 errhint(state->indexed == SIMHASH_BITS
						 ? "Make the column bit(n), or cast the expression to bit(n)."
						 : "Index the expression hamming_bit_ball(fingerprint, radius), where the fingerprint is bit(n).")));
	if (width < SH_LEAST_WIDTH || width > SH_MOST_WIDTH)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("bit strings of %d bits cannot be indexed by access method hamming",
						width),
				 errdetail("They may have %d to %d bits.",
						   SH_LEAST_WIDTH, SH_MOST_WIDTH)));
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

/*
 * Within how many bits of a word one row is to be expected, if so many rows are
 * random.
 */
int
hamming_random_radius(const ShLayout *layout, double rows)
{
	int			bits = layout->kept;
	int			radius = 0;

	while (radius < bits &&
		   rows * sh_ball_size(bits, radius) < ldexp(1.0, bits))
		radius++;
	return radius;
}

/*
 * Find out what an index is.  Returns how wide its values are, -1 where the type
 * does not say so.  No such index can be built, but a column may become bit
 * varying later without its indexes being made anew.  Then the layout is NULL.
 */
int
hamming_known_state(Relation index, HammingIndexState *state)
{
	int32		width = SH_BITS;
	SimhashBallAttributes ball;
	Oid			type;

	state->columns = index->rd_index->indnkeyatts;
	state->fingerprint = hamming_fingerprint_column(index);
	type = index->rd_opcintype[state->fingerprint];
	state->indexed = type == INT8OID ? SIMHASH_FINGERPRINTS :
		type == BITOID ? SIMHASH_BITS :
		simhash_ball_center_type(type, -1, &ball) == VARBITOID ? SIMHASH_BIT_BALLS : SIMHASH_BALLS;
	if ((state->indexed == SIMHASH_BITS ||
		 state->indexed == SIMHASH_BIT_BALLS) &&
		(bits_type(index, state, &width) != BITOID || width <= 0))
		width = -1;
	state->layout = width < SH_LEAST_WIDTH || width > SH_MOST_WIDTH ? NULL :
		hamming_layout_of_width(width);
	return width;
}

/* Find out what an index is, for those who read or write it. */
void
hamming_init_state(Relation index, HammingIndexState *state)
{
	check_width(index, state, hamming_known_state(index, state));
}

/* Cut a bit string, which is to be as wide as all others in the index. */
static void
cut_bits(const ShLayout *layout, const SimhashBits *bits, ShValue *value)
{
	simhash_check_widths(bits->width, layout->width);
	sh_cut(layout, bits->bytes, value);
}

/*
 * Cut the center of a ball, one that is stored or one that an index is searched
 * for; false if there is none, or nothing is within its radius.
 */
bool
hamming_cut_ball(const HammingIndexState *state, Datum datum, ShValue *center,
				 int *radius)
{
	bool		stored = state->indexed == SIMHASH_BALLS ||
	state->indexed == SIMHASH_BIT_BALLS;
	bool		bits = state->indexed == SIMHASH_BITS ||
	state->indexed == SIMHASH_BIT_BALLS;
	SimhashBall ball;

	if (!simhash_get_ball(datum, bits ? VARBITOID : INT8OID, stored, &ball) ||
		ball.radius < 0)
		return false;
	if (bits)
		cut_bits(state->layout, &ball.bits, center);
	else
		sh_cut_word(state->layout, (uint64) ball.center, center);
	*radius = ball.radius;
	return true;
}

/*
 * Cut a value of the indexed type, which is a fingerprint or a ball around
 * one.  False if there is none.
 */
bool
hamming_cut(const HammingIndexState *state, Datum datum, ShValue *value)
{
	SimhashBits bits;
	int			radius;

	if (state->indexed == SIMHASH_FINGERPRINTS)
		sh_cut_word(state->layout, (uint64) DatumGetInt64(datum), value);
	else if (state->indexed == SIMHASH_BITS)
	{
		bits = simhash_get_bits(datum);
		cut_bits(state->layout, &bits, value);
	}
	else
		return hamming_cut_ball(state, datum, value, &radius);
	return true;
}

/* Move a value by the shift of a group. */
void
hamming_shift(const ShLayout *layout, uint64 shift, ShValue *value)
{
	for (int word = 0; word < layout->words; word++)
		value->words[word] ^= shift >> (64 - layout->kept);
}

/*
 * The entries that an index has of a row, whose values are those of its columns:
 * of the fingerprint, moved by the shift of the group.  Nobody can ask for a group
 * with NULL, so that may be anything: NULL adds nothing to the shift.  Returns how
 * many, 0 if there is no fingerprint: then it has one entry, of NULL.
 */
int
hamming_row(Relation index, const HammingIndexState *state, Datum *values,
			bool *isnull, uint64 *entries)
{
	const ShLayout *layout = state->layout;
	int			column = state->fingerprint;
	uint64		shift = 0;
	ShValue		value;

	if (isnull[column] || !hamming_cut(state, values[column], &value))
		return 0;
	for (int i = 0; i < state->columns; i++)
	{
		if (i != column && !isnull[i])
			shift = hamming_add_to_shift(shift, index, i, values[i], InvalidOid);
	}
	hamming_shift(layout, shift, &value);
	for (int word = 0; word < layout->words; word++)
		for (int block = 0; block < layout->blocks; block++)
			*entries++ = sh_entry(layout, value.words[word], word, block);
	return hamming_row_entries(layout);
}
