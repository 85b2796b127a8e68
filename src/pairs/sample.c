/*-------------------------------------------------------------------------
 *
 * sample.c
 *		Rows drawn at random, whose documents tell how similar rows are by
 *		chance.
 *
 * Of the same table the same rows are drawn, in whatever order they come, but for
 * tables of few fingerprints.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

/*
 * Choose the rows that tell how similar rows are by chance: of different
 * fingerprints, taken by a hash of these and the group, so that neither the order of
 * the rows nor the seed of the search matters; where there are too few of these, of
 * different features, by the order of the rows.  None if there are too few of them, too.
 */
void
simhash_choose_random(SimhashRowSearch *search, uint32 *rows, uint32 *n)
{
	const ShPairs *pairs = &search->pairs;
	const uint32 *same = search->similar.text;
	bool		few = pairs->distinct < SIMHASH_RANDOM_ROWS;
	uint64		hashes[SIMHASH_RANDOM_ROWS];

	*n = 0;
	for (uint32 i = 0; i < (few ? search->rows.n : pairs->distinct); i++)
	{
		uint32		number = few ? i : sh_pairs_group(pairs, i);
		uint32		row = few ? i : sh_pairs_first_row(pairs, i);
		uint64		hash = number * SH_SCRAMBLE;
		uint32		at = *n;

		CHECK_FOR_INTERRUPTS();
		if (few && same[row] != row)
			continue;
		for (int w = 0; !few && w < search->rows.words; w++)
			hash = sh_mix(hash + (search->rows.words == 1 ? pairs->values[i] ^
								  (pairs->groups == NULL ? 0 : sh_group_hash(pairs->seed, number)) :
								  search->rows.fingerprints
								  [(Size) i * search->rows.words + w]));
		if (*n == SIMHASH_RANDOM_ROWS && hash >= hashes[--at])
			continue;
		for (; at > 0 && hashes[at - 1] > hash; at--)
		{
			hashes[at] = hashes[at - 1];
			rows[at] = rows[at - 1];
		}
		hashes[at] = hash;
		rows[at] = same[row];
		*n = Min(*n + 1, SIMHASH_RANDOM_ROWS);
	}
	if (*n < SIMHASH_RANDOM_ROWS)
		*n = 0;
}

/* For qsort: similarities. */
static int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return x < y ? -1 : x > y;
}

/* The number that such a share of some numbers are below; 0 if there is none. */
static double
quantile(double *numbers, int n, double share)
{
	qsort(numbers, n, sizeof *numbers, compare_doubles);
	return n == 0 ? 0 : numbers[(int) (n * share)];
}

/*
 * Learn from some rows, whose documents have been read, which similarity is
 * reached by chance, and how often features repeat.  Of five texts that rows
 * share, each has a fifth of the rows, and two rows have the same one in a fifth of
 * all pairs: so what one pair in ten reaches is chance.
 */
void
simhash_learn_chance(SimhashDocuments *documents, const uint32 *rows, uint32 n)
{
	double		all[SIMHASH_RANDOM_ROWS * SIMHASH_RANDOM_ROWS / 2];
	double		repeats[SIMHASH_RANDOM_ROWS];
	int			count = 0;
	int			full = 0;

	for (uint32 i = 0; i < n; i++)
	{
		SimhashEvidence known = simhash_documents_evidence(documents, rows[i]);

		if (known.features.n > 0)
			repeats[full++] = (double) known.features.total / known.features.n;
		for (uint32 j = 0; j < i; j++)
		{
			CHECK_FOR_INTERRUPTS();
			if (simhash_documents_similarity(documents, rows[i], rows[j],
											 &all[count]))
				count++;
		}
	}
	documents->sampled = n;
	documents->chance = quantile(all, count, 0.9);
	documents->repeats = quantile(repeats, full, 0.5);
}
