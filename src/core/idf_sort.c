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
#include "idf.h"

#include <string.h>

#define PARTS			256		/* by a byte of the hash */
#define INSERTION		32		/* entries few enough to sort by insertion */
#define SAMPLE			8		/* entries of which one divides the others */
#define SAMPLE_FROM		64		/* entries of which it is taken */

#define CHUNK			1024	/* entries of which the heavy ones are kept */
#define COUNTS			8		/* counts at most to find them */
#define NUMBERS			4		/* numbers in a vector */

/* Numbers as they lie in an array, which need not be aligned as a vector is. */
typedef int32_t ShNumbers __attribute__((vector_size(NUMBERS * 4), aligned(4),
										 may_alias));

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

/* The greatest of n numbers, or 0. */
static int32_t
find_most(const int32_t *numbers, size_t n)
{
	ShNumbers	most = {0};
	int32_t		result = 0;
	size_t		i = 0;

	for (; i + NUMBERS <= n; i += NUMBERS)
	{
		ShNumbers	next = *(const ShNumbers *) (numbers + i);
		ShNumbers	more = next > most;

		most = (next & more) | (most & ~more);
	}
	for (; i < n; i++)
		result = numbers[i] > result ? numbers[i] : result;
	for (int j = 0; j < NUMBERS; j++)
		result = most[j] > result ? most[j] : result;
	return result;
}

/* How many of n numbers are at least so much? */
static size_t
count_from(const int32_t *numbers, size_t n, int32_t least)
{
	const int32_t below = least - 1;
	const ShNumbers limit = {below, below, below, below};
	ShNumbers	counts = {0};
	size_t		count = 0;
	size_t		i = 0;

	for (; i + NUMBERS <= n; i += NUMBERS)
		counts -= *(const ShNumbers *) (numbers + i) > limit;
	for (; i < n; i++)
		count += numbers[i] >= least;
	for (int j = 0; j < NUMBERS; j++)
		count += (size_t) counts[j];
	return count;
}

/*
 * Find out by a few counts what at least k of n numbers are at least, and not
 * many more.  No number is negative.
 */
static int32_t
find_bound(int32_t *numbers, size_t n, size_t k)
{
	int32_t		least = 0;		/* at least k are that much */
	int32_t		most = find_most(numbers, n);	/* fewer than k are more */
	int32_t		tried = most;	/* which many may be */
	size_t		count = n;

	for (int i = 0; i < COUNTS && count > 2 * k && least < most; i++)
	{
		size_t		heavy = count_from(numbers, n, tried);

		if (heavy < k)
			most = tried - 1;
		else
		{
			least = tried;
			count = heavy;
		}
		tried = most - (most - least) / 2;
	}
	return least;
}

/* Keep those entries whose number is at least so much; returns how many. */
static size_t
keep_from(ShIdfEntry *to, const ShIdfEntry *entries, const int32_t *numbers,
		  size_t n, int32_t least)
{
	size_t		kept = 0;

	for (size_t i = 0; i < n; i++)
	{
		to[kept] = entries[i];
		kept += numbers[i] >= least;
	}
	return kept;
}

/*
 * Keep those of up to CHUNK entries that may be among the first k: at least k,
 * and not many more where values differ, or else hashes do, in their leading
 * bits.  Returns how many.
 */
static size_t
keep_heavy(ShIdfEntry *to, const ShIdfEntry *entries, size_t n, size_t k)
{
	int32_t		numbers[CHUNK];
	uint64_t	least = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		numbers[i] = (int32_t) (entries[i].value < INT32_MAX ?
								entries[i].value : INT32_MAX);
	n = keep_from(to, entries, numbers, n, find_bound(numbers, n, k));
	if (n <= 2 * k)
		return n;
	for (size_t i = 0; i < n; i++)
		least = to[i].value < least ? to[i].value : least;
	for (size_t i = 0; i < n; i++)
		numbers[i] = to[i].value > least ? INT32_MAX :
			(int32_t) (~to[i].hash >> 33);
	return keep_from(to, to, numbers, n, find_bound(numbers, n, k));
}

/* A random number below n, from a seed that it changes. */
static inline size_t
draw(uint64_t *seed, size_t n)
{
	*seed = *seed * UINT64_C(0x5851f42d4c957f2d) + 1;
	return (size_t) (*seed >> 32) % n;
}

/*
 * Take an entry that is likely to be a little behind the first k of n, if n is
 * large: it has that rank in a sample.  Brings it to the end.
 */
static void
choose_pivot(ShIdfEntry *entries, size_t n, size_t k, uint64_t *seed)
{
	size_t		sample[SAMPLE];
	size_t		rank = k * SAMPLE / n + 1;

	if (n < SAMPLE_FROM)
	{
		exchange(&entries[draw(seed, n)], &entries[n - 1]);
		return;
	}
	for (size_t i = 0; i < SAMPLE; i++)
	{
		size_t		fresh = draw(seed, n);
		size_t		j = i;

		for (; j > 0 && sh_idf_before(&entries[fresh],
									  &entries[sample[j - 1]]); j--)
			sample[j] = sample[j - 1];
		sample[j] = fresh;
	}
	exchange(&entries[sample[rank < SAMPLE ? rank : SAMPLE - 1]],
			 &entries[n - 1]);
}

/*
 * Bring the k first to the front, in no order; returns their number.  What is
 * behind them is lost where they are few, less than n / 4.  Most are then told
 * apart by numbers that can be compared many at once; of the others the k first
 * are found by quickselect, with pivots drawn at random, from a seed that the
 * author of a document must not know.  No two entries are equal.  No jump
 * depends on how two entries compare.
 */
size_t
sh_idf_take_top(ShIdfEntry *entries, size_t n, size_t k, uint64_t seed,
				void (*pause) (void))
{
	size_t		low = 0;		/* those before it are among the first k */
	size_t		high = n;		/* those from it on are not */

	if (k >= n)
		return n;
	if (k < n / 4 && k < CHUNK / 2)
	{
		high = 0;
		for (size_t start = 0; start < n; start += CHUNK)
		{
			size_t		m = n - start < CHUNK ? n - start : CHUNK;

			pause();
			high += keep_heavy(entries + high, entries + start, m, k);
		}
	}
	while (high - low > 1)
	{
		size_t		before = low;
		ShIdfEntry	pivot;

		choose_pivot(entries + low, high - low, k - low, &seed);
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
