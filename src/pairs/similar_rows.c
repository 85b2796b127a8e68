/*-------------------------------------------------------------------------
 *
 * similar_rows.c
 *		Pairs and clusters of rows that are near by their fingerprints, and
 *		whose documents are similar.
 *
 * What counts is decided row by row, in the order of the rows.  Each is compared
 * with rows before it that are near:
 *
 *	- For pairs, with all of them.
 *	- For what pairs connect, with those that are not connected with it yet.
 *	- For stars, with the centers among them, the first one first.  It belongs to
 *	  the first one that it is similar to; if there is none, it is a center
 *	  itself.  That makes the same stars as when each center takes all that comes
 *	  later and belongs to none yet.
 *
 * The engine finds which fingerprints are near.  A sort, which spills to disk,
 * brings that into the order of the rows: an entry is a row, and the number of a
 * fingerprint near to it that a row before has.  Rows of the same fingerprint and
 * the same features share what is found for the first of them.
 *
 * A crowd (core/pairs/crowds.c) has too many pairs for that.  The centers in
 * crowds are listed, and a member is compared with those that are near.  So a
 * hundred thousand variants of forty texts are compared with some forty centers
 * each.  The worst case is a crowd of texts that are not similar: each of them
 * becomes a center, and is compared with all those before it, unless their sizes
 * alone tell them apart.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/similar_rows.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#define NONE			UINT32_MAX
#define NEAR			1		/* another one is near, or several rows have
								 * it */
#define CROWDED			2		/* it is in a crowd */

#define LOOKS			4		/* rows whose features may be the same */
#define SAY_EVERY		256		/* comparisons between two looks at the clock */

/* The memory that so many rows take here. */
int64
simhash_verified_bytes(int64 n)
{
	return n * (int64) (5 * sizeof(uint32) + sizeof(uint8));
}

/* An array of a number for each row, which is at first the given one. */
static uint32 *
make_array(SimhashVerified *verified, uint32 value)
{
	uint32		n = verified->pairs->n;
	uint32	   *array = MemoryContextAllocHuge(verified->memory,
											   sizeof *array * (n + 1));

	for (uint32 i = 0; i < n; i++)
		array[i] = value;
	return array;
}

/* Add a row to a list. */
static void
add_row(SimhashRowList *list, MemoryContext memory, uint32 row)
{
	if (list->rows == NULL)
	{
		list->room = 1024;
		list->rows = MemoryContextAllocHuge(memory,
											sizeof *list->rows * list->room);
	}
	if (list->n == list->room)
	{
		list->room *= 2;
		list->rows = repalloc_huge(list->rows,
								   sizeof *list->rows * list->room);
	}
	list->rows[list->n++] = row;
}

/* How many rows have a fingerprint? */
static inline uint32
rows_of(const ShPairs *pairs, uint32 number)
{
	return pairs->first[number + 1] - pairs->first[number];
}

/* --- rows of the same features -------------------------------------------- */

/* SimhashRowTest: have other rows the fingerprint of this one? */
static bool
is_shared(void *context, uint32 row)
{
	SimhashVerified *verified = context;

	return rows_of(verified->pairs, verified->number[row]) > 1;
}

/*
 * SimhashRowTest: has one of the last few rows of the same fingerprint the same
 * features?
 */
static bool
is_copy(void *context, uint32 row)
{
	SimhashVerified *verified = context;
	uint32	   *last = &verified->last[verified->number[row]];
	uint32		other = *last;

	for (int i = 0; i < LOOKS && other != NONE; i++)
	{
		if (simhash_verify_same(verified->verify, other))
		{
			verified->text[row] = other;
			return true;
		}
		other = verified->before[other];
	}
	verified->before[row] = *last;
	*last = row;
	return false;
}

/*
 * Read the documents of rows that share a fingerprint, and have the first of
 * those with the same features, in the order of the rows, stand for them.
 */
static void
find_copies(SimhashVerified *verified)
{
	SimhashVerify *verify = verified->verify;
	uint32		n = verified->pairs->n;
	uint32	   *first = verified->before;

	if (verified->pairs->distinct == n)
		return;
	verified->number = sh_pairs_number_rows(verified->pairs);
	simhash_verify_read(verify, is_shared, is_copy, verified);
	for (uint32 i = 0; i < n; i++)
		first[i] = NONE;
	for (uint32 row = 0; row < n; row++)
	{
		uint32		kept = verified->text[row];

		if (first[kept] == NONE)
			first[kept] = row;
		verified->text[row] = first[kept];

		/* Only one that was read before this one is kept in place of it. */
		if (first[kept] == row)
		{
			verify->offset[row] = verify->offset[kept];
			verify->count[row] = verify->count[kept];
		}
	}
	for (uint32 i = 0; i < n; i++)
		verified->last[i] = verified->before[i] = NONE;
}

/* Does a row stand for itself? */
static inline bool
is_first(const SimhashVerified *verified, uint32 row)
{
	return verified->text[row] == row;
}

/*
 * Begin, once rows have been collapsed.  The caller has set what stays, but for
 * the memory.
 */
void
simhash_verified_begin(SimhashVerified *verified)
{
	uint32		n = verified->pairs->n;

	verified->memory = verified->verify->context;
	verified->marks = MemoryContextAllocHuge(verified->memory, n + 1);
	memset(verified->marks, 0, n);
	verified->text = make_array(verified, 0);
	for (uint32 i = 0; i < n; i++)
		verified->text[i] = i;
	verified->last = make_array(verified, NONE);
	verified->before = make_array(verified, NONE);
	for (uint32 i = 0; i < verified->pairs->distinct; i++)
	{
		if (rows_of(verified->pairs, i) > 1)
			verified->marks[i] = NEAR;
	}
	if (verified->kind != SIMHASH_VERIFIED_PAIRS)
		find_copies(verified);
	simhash_verify_forget(verified->verify);
	verified->order = tuplesort_begin_datum(INT8OID, Int8LessOperator,
											InvalidOid, false, work_mem, NULL,
											TUPLESORT_NONE);
}

/* --- what is near --------------------------------------------------------- */

/* The pairs within these crowds are not going to be found. */
void
simhash_verified_crowds(SimhashVerified *verified, const ShCrowds *crowds)
{
	const ShPairs *pairs = verified->pairs;

	for (uint32 i = crowds->alone; i < pairs->distinct; i++)
		verified->marks[sh_pairs_number(pairs, pairs->work[i])] |=
			NEAR | CROWDED;
}

/* Note for the rows of b that a, which a row before has, is near. */
static void
note_near(SimhashVerified *verified, uint32 a, uint32 b)
{
	const ShPairs *pairs = verified->pairs;
	uint32		first = sh_pairs_first_row(pairs, a);

	verified->marks[b] |= NEAR;
	for (uint32 i = pairs->first[b]; i < pairs->first[b + 1]; i++)
	{
		uint32		row = pairs->rows[i];

		CHECK_FOR_INTERRUPTS();
		if (row > first && is_first(verified, row))
			simhash_sort_int64(verified->order,
							   (int64) ((uint64) row << 32 | a));
	}
}

/* ShPairSink: two fingerprints are near. */
void
simhash_verified_near(void *context, uint32_t a, uint32_t b,
					  int distance pg_attribute_unused())
{
	note_near(context, a, b);
	note_near(context, b, a);
}

/* --- row by row ----------------------------------------------------------- */

/* List the rows of a fingerprint that a row after them is compared with. */
static void
list_rows(SimhashVerified *verified, uint32 number, uint32 row)
{
	const ShPairs *pairs = verified->pairs;

	if (verified->kind == SIMHASH_VERIFIED_STARS)
	{
		for (uint32 i = verified->last[number]; i != NONE;
			 i = verified->before[i])
			add_row(&verified->near, verified->memory, i);
		return;
	}
	for (uint32 i = pairs->first[number];
		 i < pairs->first[number + 1] && pairs->rows[i] < row; i++)
	{
		if (is_first(verified, pairs->rows[i]))
			add_row(&verified->near, verified->memory, pairs->rows[i]);
	}
}

/* List the centers in crowds that are near a row. */
static void
list_crowded(SimhashVerified *verified, uint32 row)
{
	const ShPairs *pairs = verified->pairs;
	uint32		number = verified->number[row];
	uint64		value = pairs->values[number];

	for (uint32 i = 0; i < verified->crowded.n; i++)
	{
		uint32		center = verified->crowded.rows[i];
		uint32		other = verified->number[center];

		if (sh_distance(pairs->values[other], value) <= verified->k &&
			sh_pairs_group(pairs, other) == sh_pairs_group(pairs, number))
			add_row(&verified->near, verified->memory, center);
	}
}

/* Compare two rows; now and then, say how far we are. */
static bool
is_similar(SimhashVerified *verified, uint32 row, uint32 other,
		   double *similarity)
{
	static uint32 compared = 0;

	CHECK_FOR_INTERRUPTS();
	if (++compared % SAY_EVERY == 0)
		simhash_progress_part("verifying",
							  (double) row / verified->pairs->n);
	return simhash_verify_pair(verified->verify, row, other, similarity);
}

static int
compare_rows(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return x < y ? -1 : x > y;
}

/* Attach a row to the first center listed that it is similar to, or be one. */
static void
place_in_star(SimhashVerified *verified, uint32 row)
{
	uint32		number = verified->number[row];
	SimhashRowList *near = &verified->near;
	double		similarity;

	if (near->n > 1)
		qsort(near->rows, near->n, sizeof *near->rows, compare_rows);
	for (uint32 i = 0; i < near->n; i++)
	{
		if (is_similar(verified, row, near->rows[i], &similarity))
		{
			verified->parent[row] = near->rows[i];
			return;
		}
	}
	verified->before[row] = verified->last[number];
	verified->last[number] = row;
	if (verified->marks[number] & CROWDED)
		add_row(&verified->crowded, verified->memory, row);
}

/* Compare a row with those listed. */
static void
compare_listed(SimhashVerified *verified, uint32 row)
{
	SimhashRowList *near = &verified->near;
	double		similarity;

	if (verified->kind == SIMHASH_VERIFIED_STARS)
	{
		place_in_star(verified, row);
		return;
	}
	for (uint32 i = 0; i < near->n; i++)
	{
		uint32		other = near->rows[i];

		if (verified->kind == SIMHASH_VERIFIED_CONNECTED &&
			sh_cluster_of(verified->parent, row) ==
			sh_cluster_of(verified->parent, other))
			continue;
		if (!is_similar(verified, row, other, &similarity))
			continue;
		if (verified->kind == SIMHASH_VERIFIED_CONNECTED)
			sh_join(verified->parent, other, row);
		else
			verified->sink(verified->context, other, row, similarity);
	}
}

/* A row has the features of one before it: it belongs where that belongs. */
static void
follow(SimhashVerified *verified, uint32 row)
{
	uint32		first = verified->text[row];

	verified->parent[row] = verified->parent[first];
}

/* SimhashRowTest: may there be rows to compare this one with? */
static bool
is_near(void *context, uint32 row)
{
	SimhashVerified *verified = context;

	return verified->marks[verified->number[row]] != 0 &&
		is_first(verified, row);
}

/* All that is near has been found: read the documents, and compare them. */
void
simhash_verified_finish(SimhashVerified *verified)
{
	const ShPairs *pairs = verified->pairs;
	int64		entry;
	bool		more;

	verified->number = sh_pairs_number_rows(verified->pairs);
	simhash_verify_read(verified->verify, is_near, NULL, verified);
	tuplesort_performsort(verified->order);
	more = simhash_sorted_int64(verified->order, &entry);
	for (uint32 row = 0; row < pairs->n; row++)
	{
		uint32		number = verified->number[row];

		CHECK_FOR_INTERRUPTS();
		if (verified->parent != NULL)
			verified->parent[row] = row;
		if (!is_first(verified, row))
		{
			follow(verified, row);
			continue;
		}
		verified->near.n = 0;
		for (; more && entry >> 32 == row;
			 more = simhash_sorted_int64(verified->order, &entry))
		{
			CHECK_FOR_INTERRUPTS();
			list_rows(verified, (uint32) entry, row);
		}
		if (verified->kind == SIMHASH_VERIFIED_STARS &&
			(verified->marks[number] & CROWDED) != 0)
			list_crowded(verified, row);
		else if (rows_of(pairs, number) > 1)
			list_rows(verified, number, row);
		compare_listed(verified, row);
	}
	tuplesort_end(verified->order);
}
