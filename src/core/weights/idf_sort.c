/*-------------------------------------------------------------------------
 *
 * idf_sort.c
 *		Entries sorted by hash, and the heaviest of them.
 *
 * There can be millions, and a query must be able to be cancelled meanwhile:
 * all that takes long pauses now and then.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/weights/idf.h"

#include <string.h>

#define PARTS			256		/* by a byte of the hash */
#define INSERTION		32		/* entries few enough to sort by insertion */

/* Exchange two entries. */
static inline void
exchange(ShIdfEntry *a, ShIdfEntry *b)
{
	ShIdfEntry	entry = *a;

	*a = *b;
	*b = entry;
}

/* Sort a few entries. */
static void
insert_entries(ShIdfEntry *entries, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		ShIdfEntry	entry = entries[i];
		size_t		j = i;

		for (; j > 0 && entries[j - 1].hash > entry.hash; j--)
			entries[j] = entries[j - 1];
		entries[j] = entry;
	}
}

/*
 * Sort entries whose hashes differ in the lower bits from shift + 7 on only.
 * They are exchanged in place until each is in the part that its next byte
 * says; then each part is sorted likewise (McIlroy, Bostic and McIlroy 1993,
 * "Engineering Radix Sort").
 */
static void
sort_entries(ShIdfEntry *entries, size_t n, int shift, void (*pause) (void))
{
	size_t		ends[PARTS] = {0};
	size_t		next[PARTS];
	size_t		start = 0;

	if (n <= INSERTION)
	{
		insert_entries(entries, n);
		return;
	}
	pause();
	for (size_t i = 0; i < n; i++)
		ends[entries[i].hash >> shift & (PARTS - 1)]++;
	for (int part = 0; part < PARTS; part++)
	{
		next[part] = start;
		start = ends[part] += start;
	}
	for (int part = 0; part < PARTS; part++)
	{
		while (next[part] < ends[part])
		{
			size_t		to = entries[next[part]].hash >> shift & (PARTS - 1);

			exchange(&entries[next[part]], &entries[next[to]]);
			if (++next[to] % SH_IDF_STRETCH == 0)
				pause();
		}
	}
	if (shift == 0)
		return;
	start = 0;
	for (int part = 0; part < PARTS; start = ends[part++])
		sort_entries(entries + start, ends[part] - start, shift - 8, pause);
}

/* Sort entries by hash. */
void
sh_idf_sort(ShIdfEntry *entries, size_t n, void (*pause) (void))
{
	sort_entries(entries, n, SH_BITS - 8, pause);
}

/*
 * Add up the values of entries with equal hashes, which are sorted; returns
 * how many are left.
 */
size_t
sh_idf_merge(ShIdfEntry *entries, size_t n)
{
	size_t		kept = 0;

	for (size_t i = 0; i < n; i++)
	{
		if (kept > 0 && entries[kept - 1].hash == entries[i].hash)
			entries[kept - 1].value += entries[i].value;
		else
			entries[kept++] = entries[i];
	}
	return kept;
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
