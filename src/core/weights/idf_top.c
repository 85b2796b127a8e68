/*-------------------------------------------------------------------------
 *
 * idf_top.c
 *		The heaviest of some entries.
 *
 * There can be millions, and a query must be able to be cancelled meanwhile:
 * all that takes long pauses now and then.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/weights/idf.h"

/* Exchange two entries. */
static inline void
exchange(ShIdfEntry *a, ShIdfEntry *b)
{
	ShIdfEntry	entry = *a;

	*a = *b;
	*b = entry;
}

/*
 * Bring the k first to the front, in no order; returns their number.  They are
 * found by quickselect, with pivots drawn at random, from a seed that the author
 * of a document must not know.  No two entries are equal.  No jump depends on
 * how two entries compare.
 */
size_t
sh_idf_take_top(ShIdfEntry *entries, size_t n, size_t k, uint64_t seed,
				void (*pause) (void))
{
	size_t		low = 0;		/* those before it are among the first k */
	size_t		high = n;		/* those from it on are not */

	if (k >= n)
		return n;
	while (high - low > 1)
	{
		size_t		before = low;
		ShIdfEntry	pivot;

		seed = seed * UINT64_C(0x5851f42d4c957f2d) + 1;
		exchange(&entries[low + (size_t) (seed >> 32) % (high - low)],
				 &entries[high - 1]);
		pivot = entries[high - 1];
		for (size_t i = low; i < high - 1; i++)
		{
			ShIdfEntry	entry = entries[i];

			entries[i] = entries[before];
			entries[before] = entry;
			before += sh_idf_before(&entry, &pivot);
			if (i % SH_IDF_STRETCH == 0)
				pause();
		}
		exchange(&entries[high - 1], &entries[before]);
		if (before >= k)
			high = before;
		else
			low = before + 1;
	}
	return k;
}
