/*-------------------------------------------------------------------------
 *
 * apart.c
 *		Rows that are no near-duplicates, whatever their documents: somebody has said
 *		so, or they are too far from each other in time.
 *
 * Each row may have a moment, and the earliest moment that is near to it.  Of two
 * rows neither may be before the earliest of the other.
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

/* Keep the moment of a row; without one it is near no other row. */
void
simhash_moment_put(SimhashRows *rows, uint32 row, const TupleTableSlot *slot)
{
	int			moment = rows->moment_column;
	int			earliest = rows->earliest_column;
	bool		isnull = slot->tts_isnull[moment] || slot->tts_isnull[earliest];

	rows->moments[row].moment = isnull ? PG_INT64_MIN :
		DatumGetTimestampTz(slot->tts_values[moment]);
	rows->moments[row].earliest = isnull ? PG_INT64_MAX :
		DatumGetTimestampTz(slot->tts_values[earliest]);
}

/* May there be rows that this one is not a near-duplicate of? */
bool
simhash_is_apart(const SimhashRows *rows, uint32 row)
{
	return rows->moments != NULL || find_row(rows, row) != NULL;
}

/* Are two rows no near-duplicates, whatever their documents? */
bool
simhash_are_apart(const SimhashRows *rows, uint32 a, uint32 b)
{
	const ApartRow *one = find_row(rows, a);
	const ApartRow *other = one == NULL || a == b ? NULL : find_row(rows, b);

	if (a == b || simhash_are_far(rows, a, b))
		return a != b;
	return other != NULL && one->series == other->series;
}
