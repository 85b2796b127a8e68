/*-------------------------------------------------------------------------
 *
 * pairs.c
 *		simhash_pairs: all pairs of rows that are near-duplicates.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

PG_FUNCTION_INFO_V1(simhash_pairs);

/* Put out a pair of rows. */
static void
put_pair(SimhashRowSearch *search, uint32 a, uint32 b, int distance,
		 double similarity)
{
	const Datum *ids = search->rows.ids;
	Datum		values[4] = {
		ids[Min(a, b)], ids[Max(a, b)], Int32GetDatum(distance),
		Float8GetDatum(similarity)
	};
	bool		nulls[4] = {
		false, false, false, search->rows.documents == NULL
	};

	CHECK_FOR_INTERRUPTS();
	tuplestore_putvalues(search->result, search->columns, values, nulls);
}

/*
 * ShPairSink: two fingerprints are near, or one is given twice; put out all
 * pairs of their rows.
 */
static void
put_near_pairs(void *context, uint32_t a, uint32_t b, int distance)
{
	SimhashRowSearch *search = context;
	const ShPairs *pairs = &search->pairs;

	for (uint32 i = pairs->first[a]; i < pairs->first[a + 1]; i++)
	{
		for (uint32 j = a == b ? i + 1 : pairs->first[b];
			 j < pairs->first[b + 1]; j++)
		{
			if (a == b)
				simhash_search_listed(search);
			put_pair(search, pairs->rows[i], pairs->rows[j], distance, 0);
		}
	}
}

/* SimhashSimilar.sink: two rows are near, and similar. */
static void
put_similar_pair(SimhashRowSearch *search, uint32 a, uint32 b,
				 double similarity)
{
	const uint32 *number = search->similar.number;

	put_pair(search, a, b,
			 simhash_search_distance(search, number[a], number[b]),
			 similarity);
}

/* Read the rows, put out their pairs. */
static void
list_pairs(void *context)
{
	SimhashRowSearch *search = context;
	bool		compare = search->rows.documents != NULL;

	simhash_search_begin(search, true);
	if (compare)
	{
		search->similar.sink = put_similar_pair;
		simhash_similar_begin(search);
	}
	for (uint32 a = 0; !compare && a < search->pairs.distinct; a++)
		put_near_pairs(search, a, a, 0);
	sh_pairs_begin_search(&search->pairs);
	simhash_search_near(search, search->pairs.distinct,
						compare ? simhash_similar_near : put_near_pairs,
						search);
	if (compare)
		simhash_similar_finish(search);
	simhash_search_end(search);
}

/*
 * simhash_pairs(query text, k bigint DEFAULT 3, document text DEFAULT NULL,
 *		similarity text DEFAULT NULL, at_least double precision DEFAULT NULL,
 *		profile text DEFAULT NULL)
 *		-> setof (a bigint, b bigint, distance integer,
 *		similarity double precision)
 * simhash_pairs_as(id_type anyelement, query text, the same)
 *		-> setof (a anyelement, b anyelement, distance integer,
 *		similarity double precision)
 *
 * All pairs of rows of the query within distance k, each once, a < b.  Where
 * the query yields columns besides the id, the fingerprint and the document,
 * the rows of a pair are equal in these.  Where it yields documents, those of
 * a pair are at least so similar: .8 by Jaccard similarity, unless told.
 *
 * Errors: null_value_not_allowed, invalid_parameter_value (k, what is said of
 * documents, or no SELECT), undefined_column (the document), undefined_object
 * (the profile), datatype_mismatch, cardinality_violation and
 * undefined_function (what the query yields, and whether it can be ordered or
 * put into groups), out_of_memory (maintenance_work_mem), whatever the query
 * raises.
 */
Datum
simhash_pairs(PG_FUNCTION_ARGS)
{
	SimhashRowSearch *search = palloc0(sizeof *search);

	(void) simhash_search_arguments(search, fcinfo, 0);
	simhash_show_progress("simhash_pairs", list_pairs, search);
	return (Datum) 0;
}
