/*-------------------------------------------------------------------------
 *
 * apart.c
 *		Series of rows that somebody has said are no near-duplicates.
 *
 * A query yields pairs of keys, as numbers.  The keys that pairs connect are a
 * series, whether their rows are still there or not: whoever keeps twelve pictures
 * of a series says so of eleven pairs, and means all.  A row has its key in a
 * column of the query for rows.  Rows of such series are few.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

/* A row of a series. */
typedef struct ApartRow
{
	uint32		row;			/* the key of a hash table */
	int64		series;
} ApartRow;

/* Keep the series of a row, if it is in one, in the order in which the rows come. */
void
simhash_apart_put(SimhashRows *rows, uint32 row, int64 key)
{
	int64		series;
	ApartRow   *known;

	if (!simhash_find_component(rows->series, key, &series))
		return;
	if (rows->apart == NULL)
		rows->apart = simhash_make_hash("simhash apart", 256, sizeof row,
										sizeof *known, rows->context);
	known = hash_search(rows->apart, &row, HASH_ENTER, NULL);
	known->series = series;
}

/* What is known of a row, or NULL. */
static const ApartRow *
find_row(const SimhashRows *rows, uint32 row)
{
	return rows->apart == NULL ? NULL :
		hash_search(rows->apart, &row, HASH_FIND, NULL);
}

/* Are there rows that this one is not a near-duplicate of? */
bool
simhash_is_apart(const SimhashRows *rows, uint32 row)
{
	return find_row(rows, row) != NULL;
}

/* Has somebody said that two rows are no near-duplicates? */
bool
simhash_are_apart(const SimhashRows *rows, uint32 a, uint32 b)
{
	const ApartRow *one = find_row(rows, a);
	const ApartRow *other = one == NULL || a == b ? NULL : find_row(rows, b);

	return other != NULL && one->series == other->series;
}
