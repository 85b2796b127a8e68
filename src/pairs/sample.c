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
#include "pairs/rate.h"

#include "common/pg_prng.h"

#define TALLIED			300		/* rows whose pairs are tallied, at most, */
#define DISTANCES_MAX	3e8		/* distances computed for that, */
#define PAIRS_MAX		100000	/* pairs compared, but those of one row, */
#define FEATURES_MAX	100000000	/* and features of these, likewise */
#define SAMPLE			1000	/* rows of clusters */

/* A sample that is being drawn. */
typedef struct Sample
{
	SimhashDocuments *documents;
	pg_prng_state draws;
	bool	   *chosen;			/* by row */
	int64		marked;			/* pairs to be compared */
	int64		compared;		/* features of those that have been */
} Sample;

/* Begin with no row chosen. */
static void
begin_sample(Sample *sample, const SimhashRows *rows,
			 SimhashDocuments *documents)
{
	memset(sample, 0, sizeof *sample);
	sample->documents = documents;
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
simhash_sample_clusters(const SimhashRows *rows, SimhashDocuments *documents,
						const ShClusters *clusters)
{
	Sample		sample;
	uint32		start = 0;
	double		all = clusters->count == 0 ? 0
	: clusters->ends[clusters->count - 1] - clusters->count;

	begin_sample(&sample, rows, documents);
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
	simhash_documents_read(documents, is_chosen, NULL, &sample);
	return sample.chosen;
}

/* SimhashSimilarity: a pair to be compared later. */
static double
mark_pair(void *context, uint32 a, uint32 b)
{
	Sample	   *sample = context;

	sample->chosen[a] = sample->chosen[b] = true;
	sample->marked++;
	return -1;
}

/* SimhashSimilarity */
static double
compare_pair(void *context, uint32 a, uint32 b)
{
	Sample	   *sample = context;
	double		similarity;

	sample->compared += (int64) sample->documents->count[a] +
		sample->documents->count[b];
	return simhash_documents_similarity(sample->documents, a, b, &similarity) ?
		similarity : -1;
}

/*
 * Tally the pairs of some rows with all others, which tell within which
 * distance nearly all similar pairs are.  The limits above bound the time.
 */
void
simhash_tally_some(const SimhashRows *rows, SimhashDocuments *documents,
				   SimhashTally *tally)
{
	Sample		sample;
	uint32		drawn[TALLIED];
	uint32		most = (uint32) (DISTANCES_MAX / Max(rows->n, 1)) + 1;
	uint32		n;
	SimhashTally ignored = {0};

	begin_sample(&sample, rows, documents);
	for (n = 0; n < Min(Min(TALLIED, most), rows->n) &&
		 sample.marked < PAIRS_MAX; n++)
	{
		drawn[n] = rows->n <= TALLIED ? n
			: (uint32) pg_prng_uint64_range(&sample.draws, 0, rows->n - 1);
		simhash_tally_row(&ignored, rows, drawn[n], 0, mark_pair, &sample);
	}
	simhash_documents_read(documents, is_chosen, NULL, &sample);
	for (uint32 i = 0; i < n && sample.compared < FEATURES_MAX; i++)
		simhash_tally_row(tally, rows, drawn[i], documents->least,
						  compare_pair, &sample);
	pfree(sample.chosen);
}
