/*-------------------------------------------------------------------------
 *
 * similar_rows.c
 *		Pairs and clusters of rows that are near by their fingerprints, and
 *		whose documents are similar.
 *
 * What counts is decided row by row, in the order of the rows.  Each is
 * compared with rows before it that are near:
 *
 *	- For pairs, with all of them.
 *	- For what pairs connect, with those that are not connected with it yet.
 *	- For stars, with the centers among them, the first one first.  It belongs to
 *	  the first one that it is similar to; if there is none, it is a center
 *	  itself.  That makes the same stars as when each center takes all that comes
 *	  later and belongs to none yet.
 *
 * The engine finds which fingerprints are near.  A sort, which spills to
 * disk, brings that into the order of the rows: an entry is a row, and the
 * number of a fingerprint near to it that a row before has.  Rows of the same
 * fingerprint and the same features share what is found for the first of
 * them.
 *
 * A crowd (core/pairs/crowds.c) has too many pairs for that.  The centers in
 * crowds are listed, and a member is compared with those that are near.  So a
 * hundred thousand variants of forty texts are compared with some forty
 * centers each.  The worst case is a crowd of texts that are not similar:
 * each of them becomes a center, and is compared with all those before it,
 * unless their sizes alone tell them apart.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "catalog/pg_operator.h"

#define NONE			UINT32_MAX
#define NEAR			1		/* another one is near, or several rows have
								 * it */
#define CROWDED			2		/* it is in a crowd */

#define LOOKS			4		/* rows whose features may be the same */
#define SAY_EVERY		256		/* comparisons between two looks at the clock */

/* An array of a number for each row, which is at first the given one. */
static uint32 *
make_array(const SimhashRows *rows, uint32 value)
{
	uint32		n = rows->n;
	uint32	   *array = MemoryContextAllocHuge(rows->context,
											   sizeof *array * (n + 1));

	for (uint32 i = 0; i < n; i++)
		array[i] = value;
	return array;
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
	SimhashRowSearch *search = context;

	return rows_of(&search->pairs, search->similar.number[row]) > 1;
}

/*
 * SimhashRowTest: has one of the last few rows of the same fingerprint the
 * same features?
 */
static bool
is_copy(void *context, uint32 row)
{
	SimhashRowSearch *search = context;
	SimhashSimilar *similar = &search->similar;
	uint32	   *last = &similar->last[similar->number[row]];
	uint32		other = *last;

	for (int i = 0; i < LOOKS && other != NONE; i++)
	{
		if (simhash_documents_same(search->rows.documents, other))
		{
			similar->text[row] = other;
			return true;
		}
		other = similar->before[other];
	}
	similar->before[row] = *last;
	*last = row;
	return false;
}

/*
 * Read the documents of rows that share a fingerprint, and have the first of
 * those with the same features, in the order of the rows, stand for them.
 */
static void
find_same_features(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;
	SimhashDocuments *documents = search->rows.documents;
	uint32		n = search->rows.n;
	uint32	   *first = similar->before;

	if (search->pairs.distinct == n)
		return;
	similar->number = sh_pairs_number_rows(&search->pairs);
	simhash_documents_read(documents, is_shared, is_copy, search);
	for (uint32 i = 0; i < n; i++)
		first[i] = NONE;
	for (uint32 row = 0; row < n; row++)
	{
		uint32		kept = similar->text[row];

		if (first[kept] == NONE)
			first[kept] = row;
		similar->text[row] = first[kept];

		/* The features were kept for the row that was read first. */
		if (first[kept] == row)
		{
			documents->offset[row] = documents->offset[kept];
			documents->count[row] = documents->count[kept];
		}
	}
	for (uint32 i = 0; i < n; i++)
		similar->last[i] = similar->before[i] = NONE;
}

/* Does a row stand for itself? */
static inline bool
is_first(const SimhashSimilar *similar, uint32 row)
{
	return similar->text[row] == row;
}

/*
 * Prepare to compare the documents of rows that are near, once rows have been
 * collapsed.  The caller has set what is asked.
 */
void
simhash_similar_begin(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;
	uint32		n = search->rows.n;

	similar->marks = MemoryContextAllocHuge(search->rows.context, n + 1);
	memset(similar->marks, 0, n);
	similar->text = make_array(&search->rows, 0);
	for (uint32 i = 0; i < n; i++)
		similar->text[i] = i;
	similar->last = make_array(&search->rows, NONE);
	similar->before = make_array(&search->rows, NONE);
	for (uint32 i = 0; i < search->pairs.distinct; i++)
	{
		if (rows_of(&search->pairs, i) > 1)
			similar->marks[i] = NEAR;
	}
	if (similar->parent != NULL)
		find_same_features(search);
	similar->order = tuplesort_begin_datum(INT8OID, Int8LessOperator,
										   InvalidOid, false, work_mem, NULL,
										   TUPLESORT_NONE);
}

/* --- what is near --------------------------------------------------------- */

/* Mark the members of crowds: no search looks for the pairs within a crowd. */
void
simhash_similar_crowds(SimhashRowSearch *search, const ShCrowds *crowds)
{
	const ShPairs *pairs = &search->pairs;

	for (uint32 i = crowds->alone; i < pairs->distinct; i++)
		search->similar.marks[sh_pairs_number(pairs, pairs->work[i])] |=
			NEAR | CROWDED;
}

/* Note for each row of b that comes after a row of a that a is near. */
static void
note_near(SimhashRowSearch *search, uint32 a, uint32 b)
{
	SimhashSimilar *similar = &search->similar;
	const ShPairs *pairs = &search->pairs;
	uint32		first = sh_pairs_first_row(pairs, a);

	similar->marks[b] |= NEAR;
	for (uint32 i = pairs->first[b]; i < pairs->first[b + 1]; i++)
	{
		uint32		row = pairs->rows[i];

		CHECK_FOR_INTERRUPTS();
		if (row > first && is_first(similar, row))
			simhash_sort_int64(similar->order,
							   (int64) ((uint64) row << 32 | a));
	}
}

/* ShPairSink: two fingerprints are near. */
void
simhash_similar_near(void *context, uint32_t a, uint32_t b,
					 int distance pg_attribute_unused())
{
	note_near(context, a, b);
	note_near(context, b, a);
}

/* --- row by row ----------------------------------------------------------- */

/* List the rows of a fingerprint that a row after them is compared with. */
static void
list_rows(SimhashRowSearch *search, uint32 number, uint32 row)
{
	SimhashSimilar *similar = &search->similar;
	const ShPairs *pairs = &search->pairs;

	if (similar->star)
	{
		for (uint32 i = similar->last[number]; i != NONE;
			 i = similar->before[i])
			similar->near = lappend_int(similar->near, (int) i);
		return;
	}
	for (uint32 i = pairs->first[number];
		 i < pairs->first[number + 1] && pairs->rows[i] < row; i++)
	{
		if (is_first(similar, pairs->rows[i]))
			similar->near = lappend_int(similar->near, (int) pairs->rows[i]);
	}
}

/* List the centers in crowds that are near a row. */
static void
list_crowded(SimhashRowSearch *search, uint32 row)
{
	SimhashSimilar *similar = &search->similar;
	const ShPairs *pairs = &search->pairs;
	uint32		number = similar->number[row];
	uint64		value = pairs->values[number];
	ListCell   *center;

	foreach(center, similar->crowded)
	{
		uint32		other = similar->number[lfirst_int(center)];

		if (sh_distance(pairs->values[other], value) <= search->rows.k &&
			sh_pairs_group(pairs, other) == sh_pairs_group(pairs, number))
			similar->near = lappend_int(similar->near, lfirst_int(center));
	}
}

/* Compare two rows; now and then, say how far we are. */
static bool
compare_rows(SimhashRowSearch *search, uint32 row, uint32 other,
			 double *similarity)
{
	static uint32 compared = 0;

	CHECK_FOR_INTERRUPTS();
	if (++compared % SAY_EVERY == 0)
		simhash_progress_part("verifying",
							  (double) row / search->rows.n);
	return simhash_documents_alike(search->rows.documents, row, other, similarity);
}

/*
 * Attach a row to the first center listed that it is similar to, or make it a
 * center.
 */
static void
place_in_star(SimhashRowSearch *search, uint32 row)
{
	SimhashSimilar *similar = &search->similar;
	uint32		number = similar->number[row];
	ListCell   *center;
	double		similarity;

	list_sort(similar->near, list_int_cmp);
	foreach(center, similar->near)
	{
		if (compare_rows(search, row, (uint32) lfirst_int(center),
						 &similarity))
		{
			similar->parent[row] = (uint32) lfirst_int(center);
			return;
		}
	}
	similar->before[row] = similar->last[number];
	similar->last[number] = row;
	if (similar->marks[number] & CROWDED)
		similar->crowded = lappend_int(similar->crowded, (int) row);
}

/* Compare a row with those listed, for pairs or for what they connect. */
static void
compare_listed(SimhashRowSearch *search, uint32 row)
{
	SimhashSimilar *similar = &search->similar;
	bool		connect = similar->parent != NULL;
	ListCell   *cell;
	double		similarity;

	foreach(cell, similar->near)
	{
		uint32		other = (uint32) lfirst_int(cell);

		if ((connect && sh_cluster_of(similar->parent, row) ==
			 sh_cluster_of(similar->parent, other)) ||
			!compare_rows(search, row, other, &similarity))
			continue;
		if (connect)
			sh_join(similar->parent, other, row);
		else
			similar->sink(search, other, row, similarity);
	}
}

/* SimhashRowTest: may there be rows to compare this one with? */
static bool
is_near(void *context, uint32 row)
{
	SimhashSimilar *similar = &((SimhashRowSearch *) context)->similar;

	return similar->marks[similar->number[row]] != 0 &&
		is_first(similar, row);
}

/* All that is near has been found: read the documents, and compare them. */
void
simhash_similar_finish(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;
	int64		entry;
	bool		more;

	similar->number = sh_pairs_number_rows(&search->pairs);
	simhash_documents_read(search->rows.documents, is_near, NULL, search);
	tuplesort_performsort(similar->order);
	more = simhash_sorted_int64(similar->order, &entry);
	for (uint32 row = 0; row < search->rows.n; row++)
	{
		uint32		number = similar->number[row];

		CHECK_FOR_INTERRUPTS();
		if (similar->parent != NULL)
			similar->parent[row] = row;
		if (!is_first(similar, row))
		{
			/* It belongs where the row with the same features belongs. */
			similar->parent[row] = similar->parent[similar->text[row]];
			continue;
		}
		for (; more && entry >> 32 == row;
			 more = simhash_sorted_int64(similar->order, &entry))
		{
			CHECK_FOR_INTERRUPTS();
			list_rows(search, (uint32) entry, row);
		}
		if (similar->star && (similar->marks[number] & CROWDED) != 0)
			list_crowded(search, row);
		else if (rows_of(&search->pairs, number) > 1)
			list_rows(search, number, row);
		if (similar->star)
			place_in_star(search, row);
		else
			compare_listed(search, row);
		list_free(similar->near);
		similar->near = NIL;
	}
	tuplesort_end(similar->order);
}
