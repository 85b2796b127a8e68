/*-------------------------------------------------------------------------
 *
 * report.c
 *		Which rows are copies of which: all pairs, clusters.
 *
 * The rows of a query are held in memory (report_query.c), the engine in core/
 * finds the pairs, and what it finds goes to a tuplestore, which spills to
 * disk.  Memory is 42 bytes a row for pairs and 46 for clusters, with ids that
 * are passed by value, whatever k is, and 4 more where rows are in groups.  When
 * that is more than maintenance_work_mem, an error says how much is enough.
 *
 * A bit string of up to 64 bits is to the engine what a bigint is.  Wider ones
 * are searched word by word (core/pairs/wide_pairs.c), and take 8 bytes a row
 * more for each further word, and another 16.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(simhash_pairs);
PG_FUNCTION_INFO_V1(simhash_clusters);

#define WAITING			64		/* pairs to put out together */

/* Two rows to put out. */
typedef struct PairOfRows
{
	uint32		a;
	uint32		b;
	int			distance;
} PairOfRows;

/* A report that is being made. */
typedef struct Report
{
	SimhashRows rows;
	ShPairs		pairs;
	ShWide		wide;			/* where fingerprints have several words */
	ShClusters	clusters;
	ShCrowds	crowds;
	SimhashStatement query;
	Oid			id_type;
	int64		k;				/* which fits an integer once rows are read */
	bool		star;
	uint32		least;			/* rows of a cluster */
	Tuplesortstate *order;		/* of the pairs, for stars */
	Tuplestorestate *result;
	TupleDesc	columns;		/* of the result */
	SimhashProgress progress;
	int64		listed;			/* rows put out that no search has found */
	int			waiting;		/* pairs */
	PairOfRows	pair[WAITING];
} Report;

/* An argument that must not be null. */
static void
check_not_null(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
}

/* Is an argument the first of two words, and not the second? */
bool
simhash_choose(const char *word, const char *name, const char *yes,
			   const char *no)
{
	if (strcmp(word, yes) != 0 && strcmp(word, no) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" is \"%s\"", name, word),
				 errhint("It must be \"%s\" or \"%s\".", no, yes)));
	return strcmp(word, yes) == 0;
}

/* The same for an argument of a call, which must not be null. */
static bool
choose(FunctionCallInfo fcinfo, int argument, const char *name,
	   const char *yes, const char *no)
{
	check_not_null(fcinfo, argument, name);
	return simhash_choose(text_to_cstring(PG_GETARG_TEXT_PP(argument)), name,
						  yes, no);
}

/*
 * Begin to look at the arguments: maybe one for the type of the ids, the
 * query, k, and others.  Return where the query is.  The type of the ids is
 * that of the first column of the result.
 */
static int
begin_arguments(Report *report, FunctionCallInfo fcinfo, int without_type)
{
	int			query = PG_NARGS() - without_type;
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	check_not_null(fcinfo, query, "query");
	check_not_null(fcinfo, query + 1, "k");
	report->query.text = text_to_cstring(PG_GETARG_TEXT_PP(query));
	report->query.example = "SELECT id, fp FROM docs";
	report->k = PG_GETARG_INT64(query + 1);
	InitMaterializedSRF(fcinfo, 0);
	report->result = result->setResult;
	report->columns = result->setDesc;
	report->id_type = TupleDescAttr(report->columns, 0)->atttypid;
	return query;
}

/* ShWide.heed */
static void
heed_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
}

/* ShWordSearch */
static void
search_word(void *context, ShPairs *pairs, int radius, ShPairSink sink,
			void *sink_context)
{
	simhash_search(context, pairs, radius, pairs->distinct, sink,
				   sink_context);
}

/* Sort the rows by fingerprint. */
static void
begin_report(Report *report, bool sort)
{
	SimhashRows *rows = &report->rows;
	ShPairs    *pairs = &report->pairs;

	simhash_allocate_search(rows, (int) report->k);
	simhash_order_rows(rows, sort);
	sh_pairs_begin(pairs, rows->values, rows->memory, rows->n);
	pairs->groups = rows->groups;
	pairs->seed = pg_prng_uint64(&pg_global_prng_state);
	pairs->progress = simhash_progress_done;
	if (rows->words > 1)
	{
		pairs->wide = rows->fingerprints;
		pairs->words = rows->words;
	}
	sh_pairs_collapse(pairs);
	if (rows->words > 1)
	{
		sh_wide_begin(&report->wide, pairs, rows->fingerprints,
					  rows->wide_memory, rows->width);
		report->wide.search = search_word;
		report->wide.search_context = rows;
		report->wide.heed = heed_interrupts;
	}
}

/*
 * Find the pairs of different fingerprints; of those of one word, none of two
 * that come after the first "alone" of them.
 */
static void
search(Report *report, uint32 alone, ShPairSink sink, void *context)
{
	if (report->rows.words > 1)
		sh_wide_find(&report->wide, (int) report->k, sink, context);
	else
		simhash_search(&report->rows, &report->pairs, (int) report->k, alone,
					   sink, context);
}

/* In how many bits do two fingerprints differ? */
static int
distance(const Report *report, uint32 a, uint32 b)
{
	if (report->rows.words > 1)
		return sh_wide_distance(&report->wide, a, b);
	return sh_distance(report->pairs.values[a], report->pairs.values[b]);
}

/* A row that no search has found is put out. */
static inline void
count_listed(Report *report)
{
	CHECK_FOR_INTERRUPTS();
	if (++report->listed % SIMHASH_SAY_EVERY == 0)
		simhash_progress_rows("listing", report->listed);
}

/* --- pairs ---------------------------------------------------------------- */

/* Put out the pairs of rows that wait. */
static void
put_waiting(Report *report)
{
	bool		nulls[3] = {false};

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < report->waiting; i++)
	{
		const PairOfRows *pair = &report->pair[i];
		Datum		values[3];

		values[0] = report->rows.ids[pair->a];
		values[1] = report->rows.ids[pair->b];
		values[2] = Int32GetDatum(pair->distance);
		tuplestore_putvalues(report->result, report->columns, values, nulls);
	}
	report->waiting = 0;
}

/*
 * Put out a pair of rows.  Their ids may be far away in memory: ask for them,
 * and put the pair out together with others.
 */
static void
put_pair(Report *report, uint32 a, uint32 b, int distance)
{
	PairOfRows *pair = &report->pair[report->waiting++];

	pair->a = Min(a, b);
	pair->b = Max(a, b);
	pair->distance = distance;
	__builtin_prefetch(&report->rows.ids[a]);
	__builtin_prefetch(&report->rows.ids[b]);
	if (report->waiting == WAITING)
		put_waiting(report);
}

/* Two fingerprints are near: put out all pairs of their rows. */
static void
put_pairs(void *context, uint32_t a, uint32_t b, int distance)
{
	Report	   *report = context;
	const ShPairs *pairs = &report->pairs;

	for (uint32 i = pairs->first[a]; i < pairs->first[a + 1]; i++)
	{
		for (uint32 j = pairs->first[b]; j < pairs->first[b + 1]; j++)
			put_pair(report, pairs->rows[i], pairs->rows[j], distance);
	}
}

/* Put out all pairs of rows with the same fingerprint. */
static void
put_equal_pairs(Report *report)
{
	const ShPairs *pairs = &report->pairs;

	for (uint32 a = 0; a < pairs->distinct; a++)
	{
		for (uint32 i = pairs->first[a]; i < pairs->first[a + 1]; i++)
		{
			for (uint32 j = i + 1; j < pairs->first[a + 1]; j++)
			{
				count_listed(report);
				put_pair(report, pairs->rows[i], pairs->rows[j], 0);
			}
		}
	}
}

/* Read the rows, put out their pairs. */
static void
list_pairs(Report *report)
{
	simhash_read_rows(&report->rows, &report->query, report->id_type,
					  report->k);
	begin_report(report, true);
	put_equal_pairs(report);
	sh_pairs_begin_search(&report->pairs);
	search(report, report->pairs.distinct, put_pairs, report);
	put_waiting(report);
}

/*
 * simhash_pairs(query text, k bigint DEFAULT 3)
 *		-> setof (a bigint, b bigint, distance integer)
 * simhash_pairs_as(id_type anyelement, query text, k bigint DEFAULT 3)
 *		-> setof (a anyelement, b anyelement, distance integer)
 *
 * All pairs of rows of the query within distance k, each once, a < b.  Where
 * the query yields columns after the fingerprint, the rows of a pair are equal
 * in these.
 *
 * Errors: null_value_not_allowed, invalid_parameter_value (k, or no SELECT),
 * datatype_mismatch, cardinality_violation and undefined_function (what the
 * query yields, and whether it can be ordered or put into groups),
 * out_of_memory (maintenance_work_mem), whatever the query raises.
 */
Datum
simhash_pairs(PG_FUNCTION_ARGS)
{
	Report	   *report = palloc0(sizeof *report);

	begin_arguments(report, fcinfo, 2);
	simhash_progress_begin(&report->progress, "simhash_pairs");
	PG_TRY();
	{
		simhash_analyze(&report->query);
		list_pairs(report);
	}
	PG_FINALLY();
	{
		simhash_progress_end(&report->progress);
	}
	PG_END_TRY();
	simhash_free_rows(&report->rows);
	return (Datum) 0;
}

/* --- clusters ------------------------------------------------------------- */

/* The row that comes first of those with a fingerprint. */
static inline uint32
first_row(const ShPairs *pairs, uint32 number)
{
	return pairs->rows[pairs->first[number]];
}

/* Two fingerprints are near: note that, to be sorted by their first rows. */
static void
note_pair(void *context, uint32_t a, uint32_t b,
		  int distance pg_attribute_unused())
{
	Report	   *report = context;
	uint64		x = first_row(&report->pairs, a);
	uint64		y = first_row(&report->pairs, b);

	CHECK_FOR_INTERRUPTS();
	simhash_sort_int64(report->order, (int64) (Min(x, y) << 32 | Max(x, y)));
}

/* The next of these, in order. */
static bool
next_pair(void *context, uint64_t *pair)
{
	Report	   *report = context;
	int64		value;

	CHECK_FOR_INTERRUPTS();
	if (!simhash_sorted_int64(report->order, &value))
		return false;
	*pair = (uint64) value;
	return true;
}

/*
 * Make stars: they want the pairs in the order of their rows, which is more
 * than memory may hold, so a sort that spills to disk brings them there.
 */
static void
make_stars(Report *report)
{
	report->order = tuplesort_begin_datum(INT8OID, Int8LessOperator,
										  InvalidOid, false, work_mem, NULL,
										  TUPLESORT_NONE);
	sh_clusters_note_crowds(&report->clusters, &report->crowds);
	search(report, report->crowds.alone, note_pair, report);
	tuplesort_performsort(report->order);
	sh_clusters_stars(&report->clusters, &report->crowds, next_pair, report);
	tuplesort_end(report->order);
}

/* Put out the clusters, each with its first row first. */
static void
put_clusters(Report *report)
{
	const ShClusters *clusters = &report->clusters;
	const SimhashRows *rows = &report->rows;
	uint32		start = 0;
	bool		nulls[5] = {false};
	Datum		values[5];

	for (uint32 c = 0; c < clusters->count; start = clusters->ends[c++])
	{
		uint32		first = clusters->members[start];
		uint32		center = clusters->number[first];

		values[1] = Int64GetDatum((int64) c + 1);
		values[2] = rows->ids[first];
		values[4] = Int64GetDatum((int64) clusters->ends[c] - start);
		for (uint32 i = start; i < clusters->ends[c]; i++)
		{
			uint32		row = clusters->members[i];

			count_listed(report);
			values[0] = rows->ids[row];
			values[3] = Int32GetDatum(distance(report, center,
											   clusters->number[row]));
			tuplestore_putvalues(report->result, report->columns, values,
								 nulls);
		}
	}
}

/* Read the rows, put out their clusters. */
static void
make_clusters(Report *report, bool first)
{
	simhash_read_rows(&report->rows, &report->query, report->id_type,
					  report->k);
	begin_report(report, !first);
	sh_clusters_begin(&report->clusters, &report->pairs, report->rows.parent);
	sh_crowds_begin(&report->crowds, &report->pairs, (int) report->k,
					SH_CROWD_LEAST);
	if (report->rows.words == 1)
		sh_crowds_find(&report->crowds);
	if (report->star)
		make_stars(report);
	else
	{
		sh_clusters_connect_crowds(&report->clusters, &report->crowds);
		search(report, report->crowds.alone, sh_clusters_join,
			   &report->clusters);
	}
	sh_clusters_list(&report->clusters, report->least);
	put_clusters(report);
}

/*
 * The stars within distance k of rows that have been numbered in the order that
 * they come in, as simhash_clusters has them.
 */
void
simhash_make_stars(const SimhashStatement *query, int64 k,
				   Tuplestorestate *result, TupleDesc columns)
{
	Report	   *report = palloc0(sizeof *report);

	report->query = *query;
	report->id_type = INT8OID;
	report->k = k;
	report->star = true;
	report->least = 2;
	report->result = result;
	report->columns = columns;
	make_clusters(report, true);
	simhash_free_rows(&report->rows);
}

/*
 * simhash_clusters(query text, k bigint DEFAULT 3,
 *		kind text DEFAULT 'connected', keep text DEFAULT 'lowest',
 *		min_size bigint DEFAULT 2)
 *		-> setof (id bigint, cluster bigint, representative bigint,
 *		distance integer, size bigint)
 * simhash_clusters_as(id_type anyelement, query text, the same)
 * _simhash_clusters_by_ctid(the same), _simhash_clusters_by_text(the same)
 *		-> setof (id anyelement, cluster bigint, representative anyelement,
 *		distance integer, size bigint)
 *
 * The rows of the query in clusters of at least min_size.  A cluster is all
 * that pairs within distance k connect, or of the kind "star" a
 * representative and rows within distance k of it.  The representative is the
 * row with the lowest id, or the first of the query.
 *
 * Errors: as simhash_pairs.
 */
Datum
simhash_clusters(PG_FUNCTION_ARGS)
{
	Report	   *report = palloc0(sizeof *report);
	bool		first;
	int			query = begin_arguments(report, fcinfo, 5);

	report->star = choose(fcinfo, query + 2, "kind", "star", "connected");
	first = choose(fcinfo, query + 3, "keep", "first", "lowest");
	check_not_null(fcinfo, query + 4, "min_size");
	report->least = (uint32) Min(Max(PG_GETARG_INT64(query + 4), 1),
								 PG_UINT32_MAX);
	simhash_progress_begin(&report->progress, "simhash_clusters");
	PG_TRY();
	{
		simhash_analyze(&report->query);
		make_clusters(report, first);
	}
	PG_FINALLY();
	{
		simhash_progress_end(&report->progress);
	}
	PG_END_TRY();
	simhash_free_rows(&report->rows);
	return (Datum) 0;
}
