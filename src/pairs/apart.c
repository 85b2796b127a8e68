/*-------------------------------------------------------------------------
 *
 * apart.c
 *		Pairs of rows that somebody has said are no near-duplicates.
 *
 * A row of which something is known has, in a column of the query, an array of
 * texts: first what the row is called, then what the rows are called that it is
 * not a near-duplicate of.  Such rows are few.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "catalog/pg_type_d.h"
#include "utils/builtins.h"

/* What is known of a row. */
typedef struct ApartRow
{
	uint32		row;			/* the key */
	int			n;
	char	  **names;			/* the first is its own */
} ApartRow;

/* Keep what is known of a row, in the order in which the rows come. */
void
simhash_apart_put(SimhashRows *rows, uint32 row, Datum array)
{
	MemoryContext old = MemoryContextSwitchTo(rows->context);
	Datum	   *names;
	ApartRow   *known;

	if (rows->apart == NULL)
		rows->apart = simhash_make_hash("simhash apart", 256, sizeof row,
										sizeof *known, rows->context);
	known = hash_search(rows->apart, &row, HASH_ENTER, NULL);
	known->n = simhash_get_texts(DatumGetArrayTypeP(array), "names", &names);
	known->names = palloc(known->n * sizeof *known->names);
	for (int i = 0; i < known->n; i++)
		known->names[i] = TextDatumGetCString(names[i]);
	MemoryContextSwitchTo(old);
}

/* What is known of a row, or NULL. */
static const ApartRow *
find_row(const SimhashRows *rows, uint32 row)
{
	return rows->apart == NULL ? NULL :
		hash_search(rows->apart, &row, HASH_FIND, NULL);
}

/* Is there a row that this one is not a near-duplicate of? */
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
	const ApartRow *other = one == NULL ? NULL : find_row(rows, b);

	for (int i = 1; other != NULL && i < one->n; i++)
	{
		if (strcmp(one->names[i], other->names[0]) == 0)
			return true;
	}
	return false;
}
