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


#define MANY_PAIRS		10000000	/* that are worth a notice */
#define PAIR_BYTES		14		/* on disk at least, besides two ids, which
								 * take one or more if their length varies */

PG_FUNCTION_INFO_V1(simhash_pairs);

/* Put out a pair of rows. */
static void
put_pair(SimhashRowSearch *search, uint32 a, uint32 b, int distance,
		 double similarity)
{
	Datum		values[4] = {
		simhash_row_id(&search->rows, Min(a, b)),
		simhash_row_id(&search->rows, Max(a, b)), Int32GetDatum(distance),
		Float8GetDatumFast(similarity)
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

/*
 * Say how many pairs of rows have equal fingerprints, if they are many: there
 * may be more than anybody waits for, and what is read of them matters not, as
 * all are listed first.  Fail where they cannot be listed.  Their number is
 * kept from the caller of a SECURITY DEFINER function.
 */
static void
say_equal_pairs(const SimhashRowSearch *search)
{
	const ShPairs *pairs = &search->pairs;
	const char *number = "";
	int64		equal = 0;
	double		bytes;

	for (uint32 i = 0; i < pairs->distinct; i++)
	{
		int64		n = (int64) pairs->first[i + 1] - pairs->first[i];

		equal += n * (n - 1) / 2;
	}
	bytes = (double) equal * (PAIR_BYTES + 2 * Max(search->rows.id_length, 1));
	if (!InLocalUserIdChange())
		number = psprintf(INT64_FORMAT " ", equal);
	if (temp_file_limit >= 0 &&
		bytes > Max((double) temp_file_limit, work_mem) * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("%spairs of rows with equal fingerprints need more than temp_file_limit allows",
						number),
				 errhint("simhash_clusters with kind => 'star' lists each row once.")));
	if (equal > MANY_PAIRS)
		ereport(NOTICE,
				(errmsg("listing %spairs of rows with equal fingerprints",
						number),
				 errhint("simhash_clusters with kind => 'star' lists each row once.")));
}

/* Read the rows, put out their pairs. */
static void
list_pairs(void *context)
{
	SimhashRowSearch *search = context;

	simhash_search_begin(search, true);
	if (search->rows.documents != NULL)
	{
		search->similar.sink = put_similar_pair;
		simhash_find_similar(search);
	}
	else
	{
		say_equal_pairs(search);
		for (uint32 a = 0; a < search->pairs.distinct; a++)
			put_near_pairs(search, a, a, 0);
		sh_pairs_begin_search(&search->pairs);
		simhash_search_near(search, search->pairs.distinct, put_near_pairs,
							search);
	}
	simhash_search_end(search);
}

/*
 * simhash_pairs(query text, k bigint DEFAULT NULL, document text DEFAULT NULL,
 *		similarity text DEFAULT NULL, at_least double precision DEFAULT NULL,
 *		profile text DEFAULT NULL, at_most bigint DEFAULT NULL)
 *		-> setof (a bigint, b bigint, distance integer,
 *		similarity double precision)
 * simhash_pairs_as(id_type anyelement, query text, the same)
 *		-> setof (a anyelement, b anyelement, distance integer,
 *		similarity double precision)
 *
 * All pairs of rows of the query within distance k, each once, a < b.  By default k is 3,
 * or 8 where documents are compared.  Where the query yields columns besides the id, the
 * fingerprint and the document, the rows of a pair are equal in these.  Where it yields
 * documents, those of a pair are alike, by a Jaccard similarity of .8, unless told.
 *
 * Errors: null_value_not_allowed, invalid_parameter_value (k, what is said of
 * documents, or no SELECT), undefined_column (the document), undefined_object
 * (the profile), datatype_mismatch, cardinality_violation and
 * undefined_function (what the query yields, and whether it can be ordered or
 * put into groups), out_of_memory (maintenance_work_mem),
 * configuration_limit_exceeded (temp_file_limit), whatever the query raises.
 */
Datum
simhash_pairs(PG_FUNCTION_ARGS)
{
	SimhashRowSearch *search = palloc0(sizeof *search);

	(void) simhash_search_arguments(search, fcinfo, 0);
	simhash_show_progress("simhash_pairs", list_pairs, search);
	return (Datum) 0;
}
