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
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(simhash_clusters);
PG_FUNCTION_INFO_V1(simhash_clusters_alone);

/* Clusters that are being made.  All is zero at first. */
typedef struct RowClusters
{
	SimhashRowSearch search;

	/* what is asked */
	bool		first;			/* the first row of a cluster represents it,
								 * not that with the lowest id */
	uint32		least;			/* rows of a cluster */

	/* what is found */
	ShClusters	clusters;
	ShCrowds	crowds;
	Tuplesortstate *order;		/* of the pairs, for stars */
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

/* Say in what a row differs from the one that it goes for, or would go for. */
static void
describe(SimhashRowSearch *search, uint32 center, uint32 row, MemoryContext context,
		 Datum *value, bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	text	   *differs = simhash_documents_describe(search->rows.documents, center, row);

	*value = PointerGetDatum(differs);
	*isnull = differs == NULL;
	MemoryContextSwitchTo(old);
}

/*
 * SimhashSimilar.doubt: put out a row that would be in a star, were there no
 * doubt, with the one that it would go for.
 */
static void
put_doubt(SimhashRowSearch *search, uint32 row, uint32 center,
		  SimhashVerdict verdict, double similarity)
{
	const uint32 *number = search->similar.number;
	Datum		values[SIMHASH_PLAN_COLUMNS] = {simhash_row_id(&search->rows, row)};
	bool		nulls[SIMHASH_PLAN_COLUMNS] = {
		[1] = true,[4] = true
	};
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "simhash doubt",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);

	values[2] = simhash_row_id(&search->rows, center);
	values[3] = Int32GetDatum(simhash_search_distance(search, number[center],
													  number[row]));
	values[5] = Float8GetDatumFast(similarity);
	values[6] = CStringGetTextDatum(simhash_doubts[verdict]);
	values[7] = Int64GetDatum(simhash_families_number(search, center));
	describe(search, center, row, scratch, &values[8], &nulls[8]);
	tuplestore_putvalues(search->result, search->columns, values, nulls);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

/* Memory for a number of each row. */
static uint32 *
allocate_numbers(const SimhashRows *rows)
{
	return MemoryContextAllocHuge(rows->context,
								  sizeof(uint32) * ((Size) rows->n + 1));
}

/* Make clusters by distance and document. */
static void
make_similar_clusters(RowClusters *made)
{
	SimhashRowSearch *search = &made->search;

	made->clusters.pairs = &search->pairs;
	made->clusters.parent = search->rows.documents->row_at;
	if (made->clusters.parent == NULL)
		made->clusters.parent = allocate_numbers(&search->rows);
	search->similar.parent = made->clusters.parent;
	if (search->plan)
		search->similar.doubt = put_doubt;
	simhash_find_similar(search);
	made->clusters.of_rows = true;
}

/* Make clusters by distance alone. */
static void
make_near_clusters(RowClusters *made)
{
	sh_clusters_begin(&made->clusters, &made->search.pairs,
					  allocate_numbers(&made->search.rows));
	simhash_search_crowds(&made->search, &made->crowds, true);
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
 * The similarity of a row of a cluster to the one that represents it, -1 if they have
 * not been compared, or one of them has no feature; and whether their family decided.
 */
static double
compare_to_first(RowClusters *made, uint32 row, uint32 first, bool *by_family)
{
	const SimhashSimilar *similar = &made->search.similar;

	*by_family = false;
	if (made->search.rows.documents == NULL)
		return -1;
	if (similar->text !=NULL)
	{
		first = similar->text[first];
		row = similar->text[row];
	}
	*by_family = similar->by_family != NULL && similar->by_family[row];
	return simhash_documents_similarity(made->search.rows.documents, row, first);
}

/* Put out the clusters, each with its first row first. */
static void
put_clusters(RowClusters *made)
{
	const ShClusters *clusters = &made->clusters;
	const uint32 *number = clusters->number;
	SimhashRowSearch *search = &made->search;
	uint32		start = 0;
	bool		nulls[SIMHASH_PLAN_COLUMNS] = {false};
	Datum		values[SIMHASH_PLAN_COLUMNS] = {0};
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "simhash row",
												  ALLOCSET_DEFAULT_SIZES);

	nulls[6] = true;
	for (uint32 c = 0; c < clusters->count; start = clusters->ends[c++])
	{
		uint32		first = clusters->members[start];

		values[1] = Int64GetDatum((int64) c + 1);
		values[2] = simhash_row_id(&search->rows, first);
		values[4] = Int64GetDatum((int64) clusters->ends[c] - start);
		for (uint32 i = start; i < clusters->ends[c]; i++)
		{
			uint32		row = clusters->members[i];
			bool		by_family;
			double		similarity;

			if (simhash_are_apart(&search->rows, row, first))
				continue;
			simhash_search_listed(search);
			values[0] = simhash_row_id(&search->rows, row);
			values[3] = Int32GetDatum(simhash_search_distance(search,
															  number[first],
															  number[row]));
			similarity = compare_to_first(made, row, first, &by_family);
			nulls[5] = similarity < 0;
			values[5] = Float8GetDatumFast(similarity);
			nulls[7] = !by_family;
			values[7] = Int64GetDatum(by_family ? simhash_families_number(search, first) : 0);
			nulls[8] = true;
			if (search->plan && by_family)
				describe(search, search->similar.text[first], search->similar.text[row],
						 scratch, &values[8], &nulls[8]);
			tuplestore_putvalues(search->result, search->columns, values,
								 nulls);
			MemoryContextReset(scratch);
		}
	}
}

/* Put out, for a plan, how many rows there are, and how many have no group. */
static void
put_summary(const SimhashRowSearch *search)
{
	Datum		values[SIMHASH_PLAN_COLUMNS] = {0};
	bool		nulls[SIMHASH_PLAN_COLUMNS] = {true, false, true, true, false, true,
	true, true, true};

	values[1] = Int64GetDatum(search->rows.without_group);
	values[4] = Int64GetDatum(search->rows.n);
	tuplestore_putvalues(search->result, search->columns, values, nulls);
}

/* Read the rows, and put out their clusters. */
static void
make_row_clusters(void *context)
{
	RowClusters *made = context;
	SimhashRowSearch *search = &made->search;

	simhash_search_begin(search, !made->first);
	if (search->rows.documents != NULL)
		make_similar_clusters(made);
	else
		make_near_clusters(made);
	sh_clusters_list(&made->clusters, made->least);
	if (search->plan)
		put_summary(search);
	put_clusters(made);
	simhash_search_end(search);
}

/* Put out clusters as simhash_clusters(); are two documents judged alone? */
static Datum
find_row_clusters(FunctionCallInfo fcinfo, bool alone)
{
	RowClusters *made = palloc0(sizeof *made);
	int			kind = simhash_search_arguments(&made->search, fcinfo, 3);

	if (made->search.rows.documents != NULL)
		made->search.rows.documents->alone = alone;
	made->search.similar.star = simhash_choose(fcinfo, kind, "star", "connected");
	made->first = simhash_choose(fcinfo, kind + 1, "first", "lowest");
	simhash_check_not_null(fcinfo, kind + 2);
	made->least = (uint32) Min(Max(PG_GETARG_INT64(kind + 2), 1),
							   PG_UINT32_MAX);
	made->search.rows.complete = made->least == 1;
	simhash_show_progress("simhash_clusters", make_row_clusters, made);
	return (Datum) 0;
}

/*
 * simhash_clusters(query text, k bigint DEFAULT NULL,
 *		kind text DEFAULT 'star', keep text DEFAULT 'lowest',
 *		min_size bigint DEFAULT 2, document text DEFAULT NULL,
 *		similarity text DEFAULT NULL, at_least double precision DEFAULT NULL,
 *		profile text DEFAULT NULL, at_most bigint DEFAULT NULL)
 *		-> setof (id bigint, cluster bigint, representative bigint,
 *		distance integer, size bigint, similarity double precision)
 * simhash_clusters_as(id_type anyelement, query text, the same)
 *		-> setof (id anyelement, cluster bigint, representative anyelement,
 *		distance integer, size bigint, similarity double precision)
 *
 * _simhash_plan_by_ctid, _simhash_plan_by_text(the same, and apart text)
 *		-> the same, and doubt text, family bigint, differs text
 *
 * The rows of the query in clusters of at least min_size; if that is 1, rows without
 * a fingerprint, too, each a cluster.  A cluster is all
 * that pairs within distance k connect, or of the kind "star" a
 * representative and rows within distance k of it.  The representative is the
 * row with the lowest id, or the first of the query.
 *
 * Where the query yields documents, a pair has to be similar as well, and so
 * has each row of a star to its representative; that is the similarity given.  A
 * plan has a first row without an id (put_summary), and rows with a doubt, which are
 * in no cluster (put_doubt).
 *
 * Errors: as simhash_pairs.
 */
Datum
simhash_clusters(PG_FUNCTION_ARGS)
{
	return find_row_clusters(fcinfo, false);
}

/*
 * _simhash_clusters_by_ctid(query text, k bigint, kind text, keep text, min_size bigint,
 *		document text, similarity text, at_least double precision, profile text,
 *		at_most bigint)
 *		-> setof (id tid, cluster bigint, representative tid, distance integer,
 *		size bigint, similarity double precision)
 * _simhash_clusters_by_text(the same) -> the same, with ids of type text
 *
 * The same for clusters that a column keeps: two documents are judged as a trigger judges
 * them, which does not see the rows near to both.
 *
 * Errors: as simhash_clusters.
 */
Datum
simhash_clusters_alone(PG_FUNCTION_ARGS)
{
	return find_row_clusters(fcinfo, true);
}
