/*-------------------------------------------------------------------------
 *
 * pairs.c
 *		Which rows are copies of which: all pairs, clusters.
 *
 * The rows of a query are held in memory (query_rows.c), the engine in core/
 * finds the pairs, and what it finds goes to a tuplestore, which spills to
 * disk.  Memory is 42 bytes a row for pairs and 46 for clusters, with ids that
 * are passed by value, whatever k is, and 4 more where rows are in groups.  When
 * that is more than maintenance_work_mem, an error says how much is enough.
 *
 * A bit string of up to 64 bits is to the engine what a bigint is.  Wider ones
 * are searched word by word (core/pairs/wide_pairs.c), and take 8 bytes a row
 * more for each further word, and another 16.
 *
 * Where the query gives the documents as well, what is near by its fingerprint
 * is compared by these (similar_rows.c), which takes 37 bytes a row more.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/rate.h"
#include "pairs/similar_rows.h"

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
	double		similarity;		/* if documents are compared */
} PairOfRows;

/* A report that is being made. */
typedef struct Report
{
	SimhashRows rows;
	ShPairs		pairs;
	ShWide		wide;			/* where fingerprints have several words */
	ShClusters	clusters;
	ShCrowds	crowds;
	const char *document;		/* the column of the query, or NULL */
	SimhashVerify *verify;		/* NULL where documents are not compared */
	SimhashVerified verified;
	const bool *sampled;		/* rows that are compared where documents
								 * decide nothing; else NULL */
	SimhashStatement query;
	Oid			id_type;
	int64		k;				/* which fits an integer once rows are read */
	bool		star;
	bool		first;			/* the first row of a cluster represents it,
								 * not that with the lowest id */
	bool		decide;			/* documents do, if they are compared */
	SimhashTally *tally;		/* of pairs, if that is wanted */
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

	if (report->verify != NULL)
		simhash_verify_forget(report->verify);
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

/* --- documents ------------------------------------------------------------ */

/* Take the arguments about documents, from the given one on. */
static void
begin_verifying(Report *report, FunctionCallInfo fcinfo, int argument)
{
	SimhashVerifyOptions options = simhash_verify_arguments(fcinfo, argument);

	report->document = options.document;
	report->verify = simhash_verify_begin(&options);
}

/* Prepare to compare rows, once they have been collapsed. */
static void
begin_verified(Report *report, SimhashVerifiedKind kind,
			   SimhashVerifiedSink sink)
{
	SimhashVerified *verified = &report->verified;

	verified->verify = report->verify;
	verified->pairs = &report->pairs;
	verified->kind = kind;
	verified->k = (int) report->k;
	verified->parent = kind == SIMHASH_VERIFIED_PAIRS ? NULL
		: report->rows.parent;
	verified->sink = sink;
	verified->context = report;
	simhash_verified_begin(verified);
}

/*
 * The similarity of a row of a cluster to the one that represents it; false if
 * they have not been compared, or one of them has no feature.
 */
static bool
compare_to_first(const Report *report, uint32 row, uint32 first,
				 double *similarity)
{
	const uint32 *text = report->verified.text;

	if (report->verify == NULL ||
		(report->sampled != NULL && !report->sampled[row]))
		return false;
	return simhash_verify_similarity(report->verify,
									 text == NULL ? first : text[first],
									 text == NULL ? row : text[row],
									 similarity);
}

/* The end of a call: what it has allocated goes. */
static void
end_report(Report *report)
{
	if (report->verify != NULL)
		simhash_verify_end(report->verify);
	simhash_free_rows(&report->rows);
}

/* Make a report by a function, with its progress shown. */
static Datum
make_report(Report *report, const char *name, void (*make) (Report *report))
{
	simhash_progress_begin(&report->progress, name);
	PG_TRY();
	{
		simhash_analyze(&report->query);
		make(report);
	}
	PG_FINALLY();
	{
		simhash_progress_end(&report->progress);
	}
	PG_END_TRY();
	end_report(report);
	return (Datum) 0;
}

/* --- pairs ---------------------------------------------------------------- */

/* Put out the pairs of rows that wait. */
static void
put_waiting(Report *report)
{
	bool		nulls[4] = {false, false, false, report->verify == NULL};

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < report->waiting; i++)
	{
		const PairOfRows *pair = &report->pair[i];
		Datum		values[4];

		values[0] = report->rows.ids[pair->a];
		values[1] = report->rows.ids[pair->b];
		values[2] = Int32GetDatum(pair->distance);
		values[3] = Float8GetDatum(pair->similarity);
		tuplestore_putvalues(report->result, report->columns, values, nulls);
	}
	report->waiting = 0;
}

/*
 * Put out a pair of rows.  Their ids may be far away in memory: ask for them,
 * and put the pair out together with others.
 */
static void
put_pair(Report *report, uint32 a, uint32 b, int distance, double similarity)
{
	PairOfRows *pair = &report->pair[report->waiting++];

	pair->a = Min(a, b);
	pair->b = Max(a, b);
	pair->distance = distance;
	pair->similarity = similarity;
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
			put_pair(report, pairs->rows[i], pairs->rows[j], distance, 0);
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
				put_pair(report, pairs->rows[i], pairs->rows[j], 0, 0);
			}
		}
	}
}

/* SimhashVerifiedSink: two rows are near, and similar. */
static void
put_verified_pair(void *context, uint32 a, uint32 b, double similarity)
{
	Report	   *report = context;
	const uint32 *number = report->verified.number;

	put_pair(report, a, b, number[a] == number[b] ? 0
			 : distance(report, number[a], number[b]), similarity);
}

/* Read the rows, put out their pairs. */
static void
list_pairs(Report *report)
{
	simhash_read_rows(&report->rows, &report->query, report->id_type,
					  report->k, report->document, report->verify);
	begin_report(report, true);
	if (report->verify == NULL)
		put_equal_pairs(report);
	else
		begin_verified(report, SIMHASH_VERIFIED_PAIRS, put_verified_pair);
	sh_pairs_begin_search(&report->pairs);
	if (report->verify == NULL)
		search(report, report->pairs.distinct, put_pairs, report);
	else
	{
		search(report, report->pairs.distinct, simhash_verified_near,
			   &report->verified);
		simhash_verified_finish(&report->verified);
	}
	put_waiting(report);
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
 * All pairs of rows of the query within distance k, each once, a < b.  Where the
 * query yields columns besides the id, the fingerprint and the document, the
 * rows of a pair are equal in these.  Where it yields documents, those of a pair
 * are at least so similar: .8 by Jaccard similarity, unless told.
 *
 * Errors: null_value_not_allowed, invalid_parameter_value (k, what is said of
 * documents, or no SELECT), undefined_column (the document), undefined_object
 * (the profile), datatype_mismatch, cardinality_violation and undefined_function
 * (what the query yields, and whether it can be ordered or put into groups),
 * out_of_memory (maintenance_work_mem), whatever the query raises.
 */
Datum
simhash_pairs(PG_FUNCTION_ARGS)
{
	Report	   *report = palloc0(sizeof *report);

	begin_verifying(report, fcinfo, begin_arguments(report, fcinfo, 6) + 2);
	return make_report(report, "simhash_pairs", list_pairs);
}

/* --- clusters ------------------------------------------------------------- */

/* Two fingerprints are near: note that, to be sorted by their first rows. */
static void
note_pair(void *context, uint32_t a, uint32_t b,
		  int distance pg_attribute_unused())
{
	Report	   *report = context;
	uint64		x = sh_pairs_first_row(&report->pairs, a);
	uint64		y = sh_pairs_first_row(&report->pairs, b);

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
	bool		nulls[6] = {false};
	Datum		values[6];
	double		similarity = 0;

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
			nulls[5] = !compare_to_first(report, row, first, &similarity);
			values[5] = Float8GetDatum(similarity);
			tuplestore_putvalues(report->result, report->columns, values,
								 nulls);
		}
	}
}

/*
 * Make clusters by distance and document.  What connects the members of a crowd
 * is only found by looking at their pairs, so that there is none then.
 */
static void
make_verified_clusters(Report *report)
{
	begin_verified(report, report->star ? SIMHASH_VERIFIED_STARS
				   : SIMHASH_VERIFIED_CONNECTED, NULL);
	sh_crowds_begin(&report->crowds, &report->pairs, (int) report->k,
					SH_CROWD_LEAST);
	if (report->star && report->rows.words == 1)
		sh_crowds_find(&report->crowds);
	simhash_verified_crowds(&report->verified, &report->crowds);
	search(report, report->crowds.alone, simhash_verified_near,
		   &report->verified);
	simhash_verified_finish(&report->verified);
	report->clusters.of_rows = true;
}

/* Make clusters by distance alone. */
static void
make_near_clusters(Report *report)
{
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
}

/*
 * Read the rows, put out their clusters; only some of these are compared if
 * that decides nothing.
 */
static void
make_clusters(Report *report)
{
	simhash_read_rows(&report->rows, &report->query, report->id_type,
					  report->k, report->document, report->verify);
	if (report->verify != NULL && report->tally != NULL)
		simhash_tally_some(&report->rows, report->verify, report->tally);
	begin_report(report, !report->first);
	sh_clusters_begin(&report->clusters, &report->pairs, report->rows.parent);
	if (report->verify != NULL && report->decide)
		make_verified_clusters(report);
	else
		make_near_clusters(report);
	sh_clusters_list(&report->clusters, report->least);
	if (report->verify != NULL && !report->decide)
		report->sampled = simhash_sample_clusters(&report->rows, report->verify,
												  &report->clusters);
	put_clusters(report);
}

/*
 * The stars within distance k of rows that have numbers, as simhash_clusters has
 * them.  If there are documents, these decide, or else some are compared; and the
 * pairs of some are tallied.
 */
void
simhash_make_stars(const SimhashStatement *query, int64 k,
				   SimhashVerify *verify, bool decide, SimhashTally *tally,
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
	report->verify = verify;
	report->decide = decide;
	report->tally = tally;
	make_clusters(report);
	end_report(report);
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
 * Where the query yields documents, a pair has to be similar as well, and so has
 * each row of a star to its representative; that is the similarity given.
 *
 * Errors: as simhash_pairs.
 */
Datum
simhash_clusters(PG_FUNCTION_ARGS)
{
	Report	   *report = palloc0(sizeof *report);
	int			query = begin_arguments(report, fcinfo, 9);

	report->star = choose(fcinfo, query + 2, "kind", "star", "connected");
	report->first = choose(fcinfo, query + 3, "keep", "first", "lowest");
	check_not_null(fcinfo, query + 4, "min_size");
	report->least = (uint32) Min(Max(PG_GETARG_INT64(query + 4), 1),
								 PG_UINT32_MAX);
	report->decide = true;
	begin_verifying(report, fcinfo, query + 5);
	return make_report(report, "simhash_clusters", make_clusters);
}
