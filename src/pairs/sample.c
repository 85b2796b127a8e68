/*-------------------------------------------------------------------------
 *
 * sample.c
 *		Rows drawn at random whose documents are compared: to tell how
 *		fingerprints do, not to decide anything.
 *
 * Draws begin with the number of rows, so that of the same table the same rows
 * are drawn, and reports can be compared.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "common/pg_prng.h"

#define TALLIED			300		/* rows whose pairs are tallied, at most, */
#define DISTANCES_MAX	3e8		/* distances computed for that, */
#define PAIRS_MAX		100000	/* pairs compared, but those of one row, */
#define FEATURES_MAX	100000000	/* and features of these, likewise */
#define SAMPLE			1000	/* rows of clusters */

#define HEED_EVERY		1024	/* rows between two looks for interrupts */

/* A sample that is being drawn. */
typedef struct Sample
{
	const SimhashRows *rows;
	pg_prng_state draws;
	bool	   *chosen;			/* by row */
	int64		marked;			/* pairs to be compared */
	int64		compared;		/* features of those that have been */
} Sample;

/* Begin with no row chosen. */
static void
begin_sample(Sample *sample, const SimhashRows *rows)
{
	memset(sample, 0, sizeof *sample);
	sample->rows = rows;
	sample->chosen = MemoryContextAllocHuge(rows->context, rows->n + 1);
	memset(sample->chosen, false, rows->n);
	pg_prng_seed(&sample->draws, rows->n);
}

/* SimhashRowTest: is a row, or one that it represents, in the sample? */
static bool
is_chosen(void *context, uint32 row)
{
	const Sample *sample = context;

	return sample->chosen[row];
}

/*
 * Read the documents of some of the rows in clusters, and of those that
 * represent them.  Returns which rows these are.
 */
const bool *
simhash_sample_clusters(const SimhashRows *rows, const ShClusters *clusters)
{
	Sample		sample;
	uint32		start = 0;
	double		all = clusters->count == 0 ? 0
	: clusters->ends[clusters->count - 1] - clusters->count;

	begin_sample(&sample, rows);
	for (uint32 c = 0; c < clusters->count; start = clusters->ends[c++])
	{
		for (uint32 i = start + 1; i < clusters->ends[c]; i++)
		{
			CHECK_FOR_INTERRUPTS();
			if (pg_prng_double(&sample.draws) * all >= SAMPLE)
				continue;
			sample.chosen[clusters->members[start]] = true;
			sample.chosen[clusters->members[i]] = true;
		}
	}
	simhash_documents_read(rows->documents, is_chosen, NULL, &sample);
	return sample.chosen;
}

/* Compare a pair, and tally it. */
static void
tally_pair(Sample *sample, uint32 a, uint32 b, int distance,
		   SimhashTally *tally)
{
	SimhashDocuments *documents = sample->rows->documents;
	double		similarity;

	sample->compared += (int64) documents->count[a] + documents->count[b];
	if (simhash_documents_similarity(documents, a, b, &similarity) &&
		(distance > 0 || similarity < 1))
		tally->pairs[similarity >= documents->least][distance]++;
}

/*
 * Tally the pairs of a row and all others of its group, or where there is no
 * tally, mark them to be compared later.  Only pairs within the distance that
 * can be searched count, so recall is the part of these that is found.  Pairs
 * with the same document and the same fingerprint are left out: any distance
 * finds them.
 */
static void
tally_row(Sample *sample, uint32 row, SimhashTally *tally)
{
	const SimhashRows *rows = sample->rows;
	Size		words = rows->words;
	int			most = sh_wide_most(rows->width);
	const uint64 *fingerprint = rows->fingerprints + row * words;

	for (uint32 i = 0; i < rows->n; i++)
	{
		int			d = simhash_words_distance(fingerprint,
											   rows->fingerprints + i * words,
											   rows->words);

		if (i % HEED_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		if (d > most || i == row ||
			(rows->groups != NULL && rows->groups[i] != rows->groups[row]))
			continue;
		if (tally != NULL)
			tally_pair(sample, row, i, d, tally);
		else
		{
			sample->chosen[row] = sample->chosen[i] = true;
			sample->marked++;
		}
	}
}

/*
 * Tally the pairs of some rows with all others, which tell within which
 * distance nearly all similar pairs are.  The limits above bound the time.
 */
void
simhash_tally_some(const SimhashRows *rows, SimhashTally *tally)
{
	Sample		sample;
	uint32		drawn[TALLIED];
	uint32		most = (uint32) (DISTANCES_MAX / Max(rows->n, 1)) + 1;
	uint32		n;

	begin_sample(&sample, rows);
	for (n = 0; n < Min(Min(TALLIED, most), rows->n) &&
		 sample.marked < PAIRS_MAX; n++)
	{
		drawn[n] = rows->n <= TALLIED ? n
			: (uint32) pg_prng_uint64_range(&sample.draws, 0, rows->n - 1);
		tally_row(&sample, drawn[n], NULL);
	}
	simhash_documents_read(rows->documents, is_chosen, NULL, &sample);
	tally->width = rows->width;
	for (uint32 i = 0; i < n && sample.compared < FEATURES_MAX; i++)
	{
		tally->sample++;
		tally_row(&sample, drawn[i], tally);
	}
	pfree(sample.chosen);
}
