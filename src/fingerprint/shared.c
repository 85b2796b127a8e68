/*-------------------------------------------------------------------------
 *
 * shared.c
 *		The passages that two documents share, word by word.
 *
 * What simhash_passages() finds by fingerprints, shown: which text it is, and
 * where it is in both (core/text/shared_runs.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "common/pg_prng.h"
#include "funcapi.h"
#include "utils/memutils.h"

#include "core/text/shared_runs.h"

/* The words of a document: hashes, and where they start and end. */
typedef struct Words
{
	size_t		n;
	size_t		room;
	uint64	   *hashes;
	uint32	   *starts;
	uint32	   *ends;
} Words;

PG_FUNCTION_INFO_V1(simhash_shared);

/* Allocate as much as a document may take. */
static void *
allocate_array(Size n, Size size)
{
	return MemoryContextAllocHuge(CurrentMemoryContext, Max(n, 1) * size);
}

/* SimhashWordsReader: collect the words. */
static void
collect_words(void *state, const ShWord *some, size_t n)
{
	Words	   *words = state;

	if (words->n + n > words->room)
	{
		words->room = 2 * (words->n + n);
		words->hashes = repalloc_huge(words->hashes,
									  words->room * sizeof(uint64));
		words->starts = repalloc_huge(words->starts,
									  words->room * sizeof(uint32));
		words->ends = repalloc_huge(words->ends,
									words->room * sizeof(uint32));
	}
	for (size_t i = 0; i < n; i++)
	{
		words->hashes[words->n] = some[i].hash;
		words->starts[words->n] = some[i].start;
		words->ends[words->n++] = some[i].end;
	}
}

/* Read the words of a document. */
static void
read_words(Words *words, text *document)
{
	words->n = 0;
	words->room = VARSIZE_ANY_EXHDR(document) / 6 + 1;
	words->hashes = allocate_array(words->room, sizeof *words->hashes);
	words->starts = allocate_array(words->room, sizeof *words->starts);
	words->ends = allocate_array(words->room, sizeof *words->ends);
	(void) simhash_read_words(document, collect_words, words);
}

/* Make the table of the windows of a document. */
static void
make_table(ShWindowTable *table, const Words *words, size_t least)
{
	table->hashes = words->hashes;
	table->n = words->n;
	table->least = least;
	table->multiplier = pg_prng_uint64(&pg_global_prng_state) | 1;
	table->windows = allocate_array(words->n, sizeof *table->windows);
	table->next = allocate_array(words->n, sizeof *table->next);
	for (table->slots = 1024; table->slots < 2 * words->n;)
		table->slots *= 2;
	table->table = allocate_array(table->slots, sizeof *table->table);
	sh_shared_begin(table, simhash_pause);
}

/*
 * simhash_shared(a text, b text, min_words bigint DEFAULT 8)
 *		-> setof (a_start integer, a_length integer, b_start integer,
 *		b_length integer, words integer)
 *
 * The passages of at least so many words that two documents share, in the order
 * of b, where they do not overlap.  Each is substr(a, a_start, a_length) and
 * substr(b, b_start, b_length), which have the same words.  Of a window of
 * min_words words that a has more than 16 times, only the first 16 are seen.
 *
 * Errors: invalid_parameter_value unless min_words is positive.
 */
Datum
simhash_shared(PG_FUNCTION_ARGS)
{
	int64		least = PG_GETARG_INT64(2);
	Words		a;
	Words		b;
	ShWindowTable table;
	ShSharedPassage passage = {0, 0, 0};

	(void) simhash_check_range("", "min_words", least, 1, PG_INT64_MAX, 0);
	InitMaterializedSRF(fcinfo, 0);
	read_words(&a, PG_GETARG_TEXT_PP(0));
	read_words(&b, PG_GETARG_TEXT_PP(1));
	make_table(&table, &a, (size_t) Min(least, PG_INT32_MAX));
	while (sh_shared_next(&table, b.hashes, b.n, simhash_pause, &passage))
	{
		size_t		a_last = passage.a + passage.n - 1;
		size_t		b_last = passage.b + passage.n - 1;
		Datum		values[5];
		bool		nulls[5] = {false};

		values[0] = Int32GetDatum(a.starts[passage.a] + 1);
		values[1] = Int32GetDatum(a.ends[a_last] - a.starts[passage.a]);
		values[2] = Int32GetDatum(b.starts[passage.b] + 1);
		values[3] = Int32GetDatum(b.ends[b_last] - b.starts[passage.b]);
		values[4] = Int32GetDatum(passage.n);
		simhash_put_row(fcinfo, values, nulls);
	}
	return (Datum) 0;
}
