/*-------------------------------------------------------------------------
 *
 * row_clusters.c
 *		simhash_clusters: rows that are near-duplicates, in clusters.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "catalog/pg_operator.h"

PG_FUNCTION_INFO_V1(simhash_clusters);

/* Clusters that are being made.  All is zero at first. */
typedef struct RowClusters
{
	SimhashRowSearch search;

	/* what is asked */
	bool		first;			/* the first row of a cluster represents it,
								 * not that with the lowest id */
	bool		decide;			/* documents do, if they are compared */
	uint32		least;			/* rows of a cluster */

	/* what is found */
	ShClusters	clusters;
	ShCrowds	crowds;
	Tuplesortstate *order;		/* of the pairs, for stars */
	const bool *sampled;		/* rows that are compared where documents
								 * decide nothing; else NULL */
} RowClusters;

/* ShPairSink: note two near fingerprints, to be sorted by their first rows. */
static void
note_near_pair(void *context, uint32_t a, uint32_t b,
			   int distance pg_attribute_unused())
{
	RowClusters *made = context;
	uint64		x = sh_pairs_first_row(&made->search.pairs, a);
	uint64		y = sh_pairs_first_row(&made->search.pairs, b);

	CHECK_FOR_INTERRUPTS();
	simhash_sort_int64(made->order, (int64) (Min(x, y) << 32 | Max(x, y)));
}

/* The next of these, in order. */
static bool
next_near_pair(void *context, uint64_t *pair)
{
	RowClusters *made = context;
	int64		value;

	CHECK_FOR_INTERRUPTS();
	if (!simhash_sorted_int64(made->order, &value))
		return false;
	*pair = (uint64) value;
	return true;
}

/*
 * Make stars by distance.  They need the pairs in the order of their rows, and
 * memory may not hold all pairs, so these are sorted by a sort that spills to
 * disk.
 */
static void
make_near_stars(RowClusters *made)
{
	made->order = tuplesort_begin_datum(INT8OID, Int8LessOperator,
										InvalidOid, false, work_mem, NULL,
										TUPLESORT_NONE);
	sh_clusters_note_crowds(&made->clusters, &made->crowds);
	simhash_search_near(&made->search, made->crowds.alone, note_near_pair,
						made);
	tuplesort_performsort(made->order);
	sh_clusters_stars(&made->clusters, &made->crowds, next_near_pair, made);
	tuplesort_end(made->order);
}

/* Put the fingerprints in place for a search, crowds apart if so wanted. */
static void
place_fingerprints(RowClusters *made, bool apart)
{
	sh_crowds_begin(&made->crowds, &made->search.pairs,
					(int) made->search.rows.k, SH_CROWD_LEAST);
	if (apart && made->search.rows.words == 1)
		sh_crowds_find(&made->crowds);
}

/*
 * Make clusters by distance and document.  What connects the members of a
 * crowd is only found by looking at their pairs, so crowds are set apart for
 * stars only.
 */
static void
make_similar_clusters(RowClusters *made)
{
	SimhashRowSearch *search = &made->search;

	search->similar.parent = made->clusters.parent;
	simhash_similar_begin(search);
	place_fingerprints(made, search->similar.star);
	simhash_similar_crowds(search, &made->crowds);
	simhash_search_near(search, made->crowds.alone, simhash_similar_near,
						search);
	simhash_similar_finish(search);
	made->clusters.of_rows = true;
}

/* Make clusters by distance alone. */
static void
make_near_clusters(RowClusters *made)
{
	place_fingerprints(made, true);
	if (made->search.similar.star)
	{
		make_near_stars(made);
		return;
	}
	sh_clusters_connect_crowds(&made->clusters, &made->crowds);
	simhash_search_near(&made->search, made->crowds.alone, sh_clusters_join,
						&made->clusters);
}

/*
 * The similarity of a row of a cluster to the one that represents it; false if
 * they have not been compared, or one of them has no feature.
 */
static bool
compare_to_first(const RowClusters *made, uint32 row, uint32 first,
				 double *similarity)
{
	const SimhashRowSearch *search = &made->search;
	const uint32 *text = search->similar.text;

	if (search->rows.documents == NULL ||
		(made->sampled != NULL && !made->sampled[row]))
		return false;
	return simhash_documents_similarity(search->rows.documents,
										text == NULL ? first : text[first],
										text == NULL ? row : text[row],
										similarity);
}

/* Put out the clusters, each with its first row first. */
static void
put_clusters(RowClusters *made)
{
	const ShClusters *clusters = &made->clusters;
	const uint32 *number = clusters->number;
	SimhashRowSearch *search = &made->search;
	const Datum *ids = search->rows.ids;
	uint32		start = 0;
	bool		nulls[6] = {false};
	Datum		values[6];
	double		similarity = 0;

	for (uint32 c = 0; c < clusters->count; start = clusters->ends[c++])
	{
		uint32		first = clusters->members[start];

		values[1] = Int64GetDatum((int64) c + 1);
		values[2] = ids[first];
		values[4] = Int64GetDatum((int64) clusters->ends[c] - start);
		for (uint32 i = start; i < clusters->ends[c]; i++)
		{
			uint32		row = clusters->members[i];

			simhash_search_listed(search);
			values[0] = ids[row];
			values[3] = Int32GetDatum(simhash_search_distance(search,
															  number[first],
															  number[row]));
			nulls[5] = !compare_to_first(made, row, first, &similarity);
			values[5] = Float8GetDatum(similarity);
			tuplestore_putvalues(search->result, search->columns, values,
								 nulls);
		}
	}
}

/*
 * Read the rows, and put out their clusters.  Where documents do not decide,
 * only a sample is compared, for its similarities.
 */
static void
make_row_clusters(void *context)
{
	RowClusters *made = context;
	SimhashRowSearch *search = &made->search;
	SimhashRows *rows = &search->rows;

	simhash_search_begin(search, !made->first);
	sh_clusters_begin(&made->clusters, &search->pairs,
					  MemoryContextAllocHuge(rows->context,
											 sizeof(uint32) * (rows->n + 1)));
	if (rows->documents != NULL && made->decide)
		make_similar_clusters(made);
	else
		make_near_clusters(made);
	sh_clusters_list(&made->clusters, made->least);
	if (rows->documents != NULL && !made->decide)
		made->sampled = simhash_sample_clusters(rows, &made->clusters);
	put_clusters(made);
	simhash_search_end(search);
}

/*
 * Put out the stars within distance k of rows whose ids are bigints, as
 * simhash_clusters does.  Documents, if there are any, decide, or else a
 * sample of them is compared; and the pairs of some rows are tallied.
 */
void
simhash_make_stars(const SimhashStatement *query, int64 k,
				   SimhashDocuments *documents, bool decide,
				   SimhashTally *tally, Tuplestorestate *result,
				   TupleDesc columns)
{
	RowClusters *made = palloc0(sizeof *made);

	made->search.query = *query;
	made->search.rows.id_type = INT8OID;
	made->search.rows.k = k;
	made->search.rows.documents = documents;
	made->search.result = result;
	made->search.columns = columns;
	made->search.similar.star = true;
	made->decide = decide;
	made->search.tally = tally;
	made->least = 2;
	make_row_clusters(made);
}

/*
 * simhash_clusters(query text, k bigint DEFAULT 3,
 *		kind text DEFAULT 'connected', keep text DEFAULT 'lowest',
 *		min_size bigint DEFAULT 2, document text DEFAULT NULL,
 *		similarity text DEFAULT NULL, at_least double precision DEFAULT NULL,
 *		profile text DEFAULT NULL)
 *		-> setof (id bigint, cluster bigint, representative bigint,
 *		distance integer, size bigint, similarity double precision)
 * simhash_clusters_as(id_type anyelement, query text, the same)
 * _simhash_clusters_by_ctid(the same), _simhash_clusters_by_text(the same)
 *		-> setof (id anyelement, cluster bigint, representative anyelement,
 *		distance integer, size bigint, similarity double precision)
 *
 * The rows of the query in clusters of at least min_size.  A cluster is all
 * that pairs within distance k connect, or of the kind "star" a
 * representative and rows within distance k of it.  The representative is the
 * row with the lowest id, or the first of the query.
 *
 * Where the query yields documents, a pair has to be similar as well, and so
 * has each row of a star to its representative; that is the similarity given.
 *
 * Errors: as simhash_pairs.
 */
Datum
simhash_clusters(PG_FUNCTION_ARGS)
{
	RowClusters *made = palloc0(sizeof *made);
	int			kind = simhash_search_arguments(&made->search, fcinfo, 3);

	made->decide = true;
	made->search.similar.star = simhash_choose(fcinfo, kind, "kind", "star",
												"connected");
	made->first = simhash_choose(fcinfo, kind + 1, "keep", "first", "lowest");
	simhash_check_not_null(fcinfo, kind + 2, "min_size");
	made->least = (uint32) Min(Max(PG_GETARG_INT64(kind + 2), 1),
							   PG_UINT32_MAX);
	simhash_show_progress("simhash_clusters", make_row_clusters, made);
	return (Datum) 0;
}
