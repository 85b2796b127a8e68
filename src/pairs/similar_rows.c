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
 * A crowd (core/pairs/crowds.c) has too many pairs for that, and so have
 * fingerprints to which more rows are near than make a crowd.  Their rows are
 * on one list, for stars the centers among them, and each of them is compared
 * with those before it that are near.  So a hundred thousand variants of forty
 * texts are compared with some forty centers each.  By Jaccard similarity, an
 * index of rare features (prefixes.c) tells which few of them can be similar; rows
 * that are only to be connected are so as it finds them, a block of rows after the other.
 * By another measure, only stars have a list, and the worst case is a crowd of
 * texts that are not similar: each of them becomes a center, and is compared
 * with all those before it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "catalog/pg_operator.h"

#define NONE			SIMHASH_NO_ROW
#define NEAR			1		/* another one is near, or several rows have
								 * it */
#define CROWDED			2		/* it has too many rows near for pairs */

#define MOST_DOUBTS		256		/* of a row, before no more are looked for */
#define FIRST_DOUBTS	8		/* rows whose entries are a doubt */
#define SAY_EVERY		256		/* comparisons between two looks at the clock */

/* There is no center yet. */
static void
begin_centers(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;
	Size		n = search->rows.n;

	similar->last = (uint32 *) search->pairs.spare;
	similar->before = similar->last + n;
	for (Size i = 0; i < 2 * n; i++)
		similar->last[i] = NONE;
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

/* SimhashRowTest: has another row the same fingerprint and the same features? */
static bool
is_copy(void *context, uint32 row)
{
	SimhashRowSearch *search = context;
	SimhashSimilar *similar = &search->similar;
	uint64		hash = simhash_documents_hash(search->rows.documents);
	uint32	   *last = &similar->last[sh_mix(hash + similar->number[row]) %
									  search->rows.n];

	if (hash == 0 || simhash_is_apart(&search->rows, row))
		return false;
	for (uint32 other = *last; other != NONE; other = similar->before[other])
	{
		if (similar->number[row] == similar->number[other] &&
			simhash_documents_same(search->rows.documents, other))
		{
			similar->text[row] = other;
			return true;
		}
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
}

/* Does a row stand for itself?  In pairs all do. */
static inline bool
is_first(const SimhashSimilar *similar, uint32 row)
{
	return similar->text[row] == row ||
		similar->parent == NULL;
}

/* --- what is near --------------------------------------------------------- */

/*
 * So many more rows are near to a fingerprint: is it CROWDED from now on?
 * That only helps where an index finds similar ones.
 */
static void
count_near(SimhashRowSearch *search, uint32 number, uint32 rows)
{
	SimhashSimilar *similar = &search->similar;

	similar->marks[number] |= NEAR;
	if (similar->marks[number] & CROWDED ||
		!simhash_have_prefixes(search->rows.documents))
		return;
	rows += similar->near_rows[number];
	similar->near_rows[number] = (uint16) Min(rows, PG_UINT16_MAX);
	if (rows > SH_CROWD_LEAST)
		similar->marks[number] |= CROWDED;
}

/*
 * Prepare to compare the documents of rows that are near, once rows have been
 * collapsed.
 */
static void
begin_similar(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;
	uint32		n = search->rows.n;

	similar->marks = MemoryContextAllocHuge(search->rows.context, n + 1);
	memset(similar->marks, 0, n);
	similar->text = MemoryContextAllocHuge(search->rows.context,
										   sizeof(uint32) * ((Size) n + 1));
	for (uint32 i = 0; i < n; i++)
		similar->text[i] = i;
	begin_centers(search);

	/* Where order counts a row stands for itself, unless it is the first one. */
	if (simhash_have_families(search->rows.documents) || similar->star ||
		(similar->parent != NULL &&
		 search->rows.documents->comparison.measure != SIMHASH_CONTAINMENT))
		find_same_features(search);
	similar->near_rows =
		MemoryContextAllocExtended(search->rows.context,
								   sizeof(uint16) * ((Size) n + 1),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < search->pairs.distinct; i++)
	{
		if (rows_of(&search->pairs, i) > 1)
			count_near(search, i, rows_of(&search->pairs, i));
	}
	similar->order = tuplesort_begin_datum(INT8OID, Int8LessOperator,
										   InvalidOid, false, work_mem, NULL,
										   TUPLESORT_RANDOMACCESS);
}

/* Note for each row of b that comes after a row of a that a is near. */
static void
note_near(SimhashRowSearch *search, uint32 a, uint32 b)
{
	SimhashSimilar *similar = &search->similar;
	const ShPairs *pairs = &search->pairs;
	uint32		first = sh_pairs_first_row(pairs, a);

	count_near(search, b, rows_of(pairs, a));
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
static void
take_near(void *context, uint32_t a, uint32_t b,
		  int distance pg_attribute_unused())
{
	const uint8 *marks = ((SimhashRowSearch *) context)->similar.marks;

	/* It is by their list that rows of both meet. */
	if (marks[a] & marks[b] & CROWDED)
		return;
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
		{
			if (!simhash_are_far(&search->rows, row, i))
				similar->near = lappend_int(similar->near, (int) i);
		}
		return;
	}
	for (uint32 i = pairs->first[number];
		 i < pairs->first[number + 1] && pairs->rows[i] < row; i++)
	{
		if (is_first(similar, pairs->rows[i]))
			similar->near = lappend_int(similar->near, (int) pairs->rows[i]);
	}
}

/* Are rows only to be connected, in whatever order they are found? */
static inline bool
only_connects(const SimhashSimilar *similar)
{
	return similar->parent != NULL && !similar->star && similar->families == NULL;
}

/* Are two rows connected already? */
static inline bool
are_connected(SimhashSimilar *similar, uint32 a, uint32 b)
{
	return similar->parent != NULL &&
		sh_cluster_of(similar->parent, a) == sh_cluster_of(similar->parent, b);
}

/* Put a row where CROWDED ones after it find it, if it is one. */
static void
enter_crowded(SimhashSimilar *similar, uint32 row)
{
	if ((similar->marks[similar->number[row]] & CROWDED) == 0)
		return;
	similar->crowded = lappend_int(similar->crowded, (int) row);
	if (similar->prefixes != NULL && !only_connects(similar) &&
		simhash_prefixes_enter(similar->prefixes))
		similar->entered++;
}

/*
 * Compare two rows; now and then, say how far we are.  Those of two families are not
 * similar enough; those that have other entries are unlike, where doubts are not asked
 * for.
 */
static SimhashVerdict
compare_rows(SimhashRowSearch *search, uint32 row, uint32 other, bool doubts,
			 double *similarity)
{
	static uint32 compared = 0;
	SimhashSimilar *similar = &search->similar;
	SimhashFamily *family = NULL;
	SimhashVerdict verdict;
	bool		differ = false;

	CHECK_FOR_INTERRUPTS();
	if (++compared % SAY_EVERY == 0)
		simhash_progress_part("verifying",
							  (double) row / search->rows.n);
	if (!simhash_documents_may_match(search->rows.documents, row, other) ||
		simhash_are_apart(&search->rows, row, other))
		return SIMHASH_UNLIKE;
	if (similar->families != NULL)
	{
		if (similar->base[row] != similar->base[other])
			return SIMHASH_UNLIKE;
		family = simhash_families_ask(search, row, other, &differ);
		if (differ && !doubts)
			return SIMHASH_UNLIKE;
	}
	verdict = simhash_documents_judge(search->rows.documents, row, other, family,
									  similarity);
	if (differ && simhash_is_alike(verdict))
		return SIMHASH_UNLIKE;
	if (verdict == SIMHASH_ALIKE_IN_FAMILY)
		similar->by_family[row] = true;
	return verdict;
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
	SimhashVerdict doubt = SIMHASH_UNLIKE;
	double		doubtful = 0;
	uint32		doubted = NONE;
	int			doubts = 0;
	ListCell   *cell;

	list_sort(similar->near, list_int_cmp);
	foreach(cell, similar->near)
	{
		uint32		center = (uint32) lfirst_int(cell);
		double		similarity;
		bool		first = similar->doubt != NULL && doubted == NONE &&
		foreach_current_index(cell) < FIRST_DOUBTS;
		SimhashVerdict verdict = compare_rows(search, row, center, first,
											  &similarity);

		if (simhash_is_alike(verdict))
		{
			similar->parent[row] = center;
			return;
		}
		if (verdict == SIMHASH_UNLIKE)
			continue;
		doubts += verdict != SIMHASH_OTHER_ENTRIES;
		if (doubted == NONE)
		{
			doubt = verdict;
			doubtful = similarity;
			doubted = center;
		}
		if (doubts == MOST_DOUBTS)
			break;
	}
	if (doubted != NONE && similar->doubt != NULL)
		similar->doubt(search, row, doubted, doubt, doubtful);
	similar->before[row] = similar->last[number];
	similar->last[number] = row;
	enter_crowded(similar, row);
}

/* Compare two rows, for a pair or for what pairs connect. */
static void
compare_pair(SimhashRowSearch *search, uint32 row, uint32 other)
{
	SimhashSimilar *similar = &search->similar;
	double		similarity;

	if (are_connected(similar, row, other) ||
		!simhash_is_alike(compare_rows(search, row, other, false, &similarity)))
		return;
	if (similar->parent != NULL)
		sh_join(similar->parent, other, row);
	else
		similar->sink(search, other, row, similarity);
}

/* Compare a row with those listed. */
static void
compare_listed(SimhashRowSearch *search, uint32 row)
{
	ListCell   *cell;

	foreach(cell, search->similar.near)
		compare_pair(search, row, (uint32) lfirst_int(cell));
	if (simhash_have_prefixes(search->rows.documents))
		enter_crowded(&search->similar, row);
}

/* --- rows with too many near ---------------------------------------------- */

/* Is a row near to another one before it? */
static bool
is_near_to(SimhashRowSearch *search, uint32 row, uint32 other)
{
	uint32		a = search->similar.number[row];
	uint32		b = search->similar.number[other];

	return !simhash_are_far(&search->rows, row, other) &&
		simhash_search_distance(search, a, b) <= search->rows.k &&
		sh_pairs_group(&search->pairs, a) == sh_pairs_group(&search->pairs, b);
}

/* SimhashRowSink: note a row that may be similar to the row at hand. */
static void
note_found(void *context, uint32 other)
{
	SimhashSimilar *similar = &((SimhashRowSearch *) context)->similar;

	similar->found = lappend_int(similar->found, (int) other);
}

/* SimhashRowSink: connect the row at hand with such a row, if they are near and similar. */
static void
connect_found(void *context, uint32 other)
{
	SimhashRowSearch *search = context;
	SimhashSimilar *similar = &search->similar;
	uint32		row = similar->row;

	if (are_connected(similar, row, other) || similar->before[other] == row)
		return;
	similar->before[other] = row;
	if (is_near_to(search, row, other))
		compare_pair(search, row, other);
}

/*
 * List the CROWDED rows that are near to a row and may be similar: those that
 * the index finds, and those that are not in it.
 */
static void
list_crowded(SimhashRowSearch *search, uint32 row)
{
	SimhashSimilar *similar = &search->similar;
	int			n = list_length(similar->crowded);
	int			from = 0;
	int			last = -1;
	ListCell   *cell;

	if (similar->prefixes != NULL &&
		simhash_prefixes_find(similar->prefixes, row, (uint32) n, note_found, search))
		from = similar->entered;
	else
		similar->found = list_truncate(similar->found, 0);
	for (int i = from; i < n; i++)
		note_found(search, (uint32) list_nth_int(similar->crowded, i));
	list_sort(similar->found, list_int_cmp);
	foreach(cell, similar->found)
	{
		int			other = lfirst_int(cell);

		if (other != last && is_near_to(search, row, (uint32) other))
			similar->near = lappend_int(similar->near, other);
		last = other;
	}
	similar->found = list_truncate(similar->found, 0);
}

/*
 * Connect the CROWDED rows, in whatever order: as many as the index has room for, but
 * one at least, with all behind them, then as many of the next.
 */
static void
connect_crowded(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;
	SimhashPrefixes *prefixes = similar->prefixes;
	int			n = list_length(similar->crowded);

	for (int first = 0; first < n; first += Max(similar->entered, 1))
	{
		similar->entered = 0;
		if (prefixes != NULL)
			simhash_prefixes_clear(prefixes, similar->parent);
		for (int i = first; i < n; i++)
		{
			uint32		entered = similar->entered;

			CHECK_FOR_INTERRUPTS();
			similar->row = (uint32) list_nth_int(similar->crowded, i);
			if (prefixes == NULL ||
				!simhash_prefixes_find(prefixes, similar->row, entered, connect_found, search) ||
				entered == 0)
			{
				for (int j = first; j < Min(i, first + (int) Max(entered, 1)); j++)
					connect_found(search, (uint32) list_nth_int(similar->crowded, j));
			}
			if (prefixes != NULL && simhash_prefixes_enter(prefixes))
				similar->entered++;
		}
	}
}

/* --- all rows ------------------------------------------------------------- */

/* SimhashRowTest: may there be rows to compare this one with? */
static bool
is_near(void *context, uint32 row)
{
	SimhashSimilar *similar = &((SimhashRowSearch *) context)->similar;

	return similar->marks[similar->number[row]] != 0 &&
		is_first(similar, row);
}

/* SimhashRowTest: is this row looked for in the index? */
static bool
is_crowded(void *context, uint32 row)
{
	SimhashSimilar *similar = &((SimhashRowSearch *) context)->similar;

	return (similar->marks[similar->number[row]] & CROWDED) != 0 &&
		is_first(similar, row);
}

/*
 * List the rows to compare a row with: those that have the same fingerprint, and those
 * whose fingerprints are near, in the order that was sorted.  Pairs of two CROWDED
 * fingerprints are not in that order: rows of these come from the list of crowded rows.  A
 * fingerprint that is not CROWDED is paired with every one near to it, so its row needs
 * the list only where the index of the list is complete, which is faster.
 */
static void
list_near(SimhashRowSearch *search, uint32 row)
{
	SimhashSimilar *similar = &search->similar;
	uint32		number = similar->number[row];
	bool		by_list = (similar->marks[number] & CROWDED) != 0;
	bool		is_complete = similar->prefixes != NULL &&
	similar->entered == list_length(similar->crowded);

	if (!by_list && rows_of(&search->pairs, number) > 1)
		list_rows(search, number, row);
	for (; similar->more && similar->entry >> 32 <= row;
		 similar->more = simhash_sorted_int64(similar->order, &similar->entry))
	{
		uint32		other = (uint32) similar->entry;

		CHECK_FOR_INTERRUPTS();
		if (similar->entry >> 32 < row)
			continue;			/* of a row that another one stands for */
		if (similar->marks[other] & CROWDED &&
			(by_list || is_complete))
			by_list = true;
		else
			list_rows(search, other, row);
	}
	if (by_list && !only_connects(similar))
		list_crowded(search, row);
}

/* Compare all rows in their order with those that are near. */
static void
compare_in_order(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;

	begin_centers(search);
	similar->crowded = NIL;
	similar->entered = 0;
	if (similar->prefixes != NULL)
		simhash_prefixes_clear(similar->prefixes, NULL);
	tuplesort_rescan(similar->order);
	similar->more = simhash_sorted_int64(similar->order, &similar->entry);
	for (uint32 row = 0; row < search->rows.n; row++)
	{
		CHECK_FOR_INTERRUPTS();
		/* A row belongs where the row with the same features belongs. */
		if (similar->parent != NULL)
			similar->parent[row] = is_first(similar, row) ? row :
				similar->parent[similar->text[row]];
		if (!is_first(similar, row))
			continue;
		list_near(search, row);
		if (similar->star)
			place_in_star(search, row);
		else
			compare_listed(search, row);
		list_free(similar->near);
		similar->near = NIL;
	}
	if (only_connects(similar))
		connect_crowded(search);
}

/* Find the families: what the similarity of features by itself connects. */
static void
find_families(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;
	SimhashComparison *comparison = &search->rows.documents->comparison;
	SimhashMeasure measure = comparison->measure;
	uint32	   *parent = similar->parent;
	bool		star = similar->star;

	comparison->measure = SIMHASH_JACCARD;
	similar->base = MemoryContextAllocHuge(search->rows.context,
										   2 * sizeof(uint32) * ((Size) search->rows.n + 1));
	similar->kin = similar->base + search->rows.n;
	similar->by_family = MemoryContextAllocExtended(search->rows.context, search->rows.n + 1,
													MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	similar->parent = similar->base;
	similar->star = false;
	compare_in_order(search);
	simhash_families_found(search);
	comparison->measure = measure;
	similar->parent = parent;
	similar->star = star;
}

/*
 * All that is near has been found: read the documents, and compare them.  Families are
 * found before, whatever is made of the rows then, and whether there is any doubt or
 * not: so what is judged of two rows does not depend on what is asked.
 */
static void
compare_near(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;
	SimhashDocuments *documents = search->rows.documents;

	similar->number = sh_pairs_number_rows(&search->pairs);
	simhash_documents_read(documents, is_near, NULL, search);
	if (simhash_have_prefixes(documents))
		similar->prefixes = simhash_prefixes_begin(documents, is_crowded, search);
	tuplesort_performsort(similar->order);
	if (simhash_have_families(documents))
		find_families(search);
	compare_in_order(search);
	tuplesort_end(similar->order);
}

/*
 * Find the rows that are near and similar, once rows have been collapsed.  The
 * caller has set what is asked.  Pairs within a crowd are not searched for
 * where its rows have a list.
 */
void
simhash_find_similar(SimhashRowSearch *search)
{
	const ShPairs *pairs = &search->pairs;
	ShCrowds	crowds;

	begin_similar(search);
	simhash_search_crowds(search, &crowds, search->similar.star ||
						  simhash_have_prefixes(search->rows.documents));
	for (uint32 i = crowds.alone; i < pairs->distinct; i++)
		search->similar.marks[sh_pairs_number(pairs, pairs->work[i])] |=
			NEAR | CROWDED;
	simhash_search_near(search, crowds.alone, take_near, search);
	compare_near(search);
}
