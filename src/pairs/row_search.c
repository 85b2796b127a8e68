/*-------------------------------------------------------------------------
 *
 * row_search.c
 *		A search for pairs among the rows of a query, step by step.
 *
 * The rows are held in memory (query_rows.c), the engine in core/ finds the
 * pairs, and what is made of these goes to a tuplestore, which spills to disk.
 * Memory is 42 bytes a row for pairs and 46 for clusters, with ids of up to 8
 * bytes, whatever k is, and 4 more where rows are in groups.  When that is more
 * than maintenance_work_mem, an error says about how much is enough.
 *
 * A bit string of up to 64 bits is to the engine what a bigint is.  Wider ones
 * are searched word by word (core/pairs/wide_pairs.c), and take 8 bytes a row
 * more for each further word, and another 16.
 *
 * Where the query gives the documents as well, rows that are near by their
 * fingerprints are compared by these (similar_rows.c), which takes 17 bytes a
 * row more.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "common/pg_prng.h"
#include "funcapi.h"
#include "utils/builtins.h"

/*
 * The distance: the argument, unless that is null.  Where documents decide, a
 * larger one finds more, and none that is wrong.
 */
int64
simhash_distance_argument(FunctionCallInfo fcinfo, int i, bool documents)
{
	if (!PG_ARGISNULL(i))
		return PG_GETARG_INT64(i);
	return documents ? SIMHASH_DOCUMENTS_NEAR : SH_NEAR;
}

/*
 * Look at the arguments: maybe one for the type of the ids, the query, k, so
 * many others, whose first one is returned, and those about documents.  The
 * type of the ids is that of the first column of the result.
 */
int
simhash_search_arguments(SimhashRowSearch *search, FunctionCallInfo fcinfo,
						 int others)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	SimhashDocumentOptions options;
	int			documents;
	int			k;

	InitMaterializedSRF(fcinfo, 0);
	search->result = result->setResult;
	search->columns = result->setDesc;
	search->plan = search->columns->natts == SIMHASH_PLAN_COLUMNS;
	documents = PG_NARGS() - SIMHASH_DOCUMENT_ARGUMENTS - search->plan;
	k = documents - others - 1;
	search->query.text = simhash_text_argument(fcinfo, k - 1);
	search->query.example = "SELECT id, fp FROM docs";
	search->query.ours = search->plan;
	search->query.relations = search->plan ? simhash_readable : NIL;
	search->rows.id_type = TupleDescAttr(search->columns, 0)->atttypid;
	options = simhash_document_options(fcinfo, documents);
	(void) simhash_check_at_least(options.at_least);
	search->rows.document = options.document;
	search->rows.documents = simhash_documents_begin(&options);
	search->rows.k = simhash_distance_argument(fcinfo, k,
											   search->rows.documents != NULL);
	search->apart = search->query;
	search->apart.text = !search->plan || PG_ARGISNULL(PG_NARGS() - 1) ? NULL :
		text_to_cstring(PG_GETARG_TEXT_PP(PG_NARGS() - 1));
	search->rows.plan = search->plan;
	return k + 1;
}

/*
 * Read the rows, in the order of their ids if so wanted, and number the distinct
 * fingerprints.
 */
void
simhash_search_begin(SimhashRowSearch *search, bool sort)
{
	SimhashRows *rows = &search->rows;
	ShPairs    *pairs = &search->pairs;
	bool		wide;
	void	   *memory;

	search->query.expected = &rows->expected;
	simhash_analyze(&search->query);
	if (search->apart.text !=NULL)
	{
		simhash_analyze(&search->apart);
		rows->series = simhash_read_components(&search->apart);
	}
	simhash_read_rows(rows, &search->query, sort);
	wide = rows->words > 1;
	memory = MemoryContextAllocHuge(rows->context, sh_pairs_bytes(rows->n));
	sh_pairs_begin(pairs, !wide ? rows->fingerprints :
				   MemoryContextAllocHuge(rows->context,
										  sizeof(uint64) * (rows->n + 1)),
				   memory, rows->n);
	pairs->groups = rows->groups;
	pairs->seed = pg_prng_uint64(&pg_global_prng_state);
	pairs->progress = simhash_progress_done;
	if (wide)
	{
		pairs->wide = rows->fingerprints;
		pairs->words = rows->words;
	}
	sh_pairs_collapse(pairs);
	if (wide)
	{
		sh_wide_begin(&search->wide, pairs, rows->fingerprints,
					  MemoryContextAllocHuge(rows->context,
											 sh_wide_bytes(rows->n)),
					  rows->width);
	}
}

/*
 * Put the fingerprints in place for a search; set crowds apart if so wanted,
 * and if fingerprints have one word.
 */
void
simhash_search_crowds(SimhashRowSearch *search, ShCrowds *crowds, bool apart)
{
	sh_crowds_begin(crowds, &search->pairs, (int) search->rows.k,
					SH_CROWD_LEAST);
	if (apart && search->rows.words == 1)
		sh_crowds_find(crowds);
}

/*
 * Find the pairs of different fingerprints that are near; of fingerprints of
 * one word, none of two that come after the first "alone" in the array "work".
 */
void
simhash_search_near(SimhashRowSearch *search, uint32 alone, ShPairSink sink,
					void *context)
{
	if (search->rows.words > 1)
		sh_wide_find(&search->wide, (int) search->rows.k, sink, context);
	else
		sh_pairs_find_beside(&search->pairs, (int) search->rows.k, alone, sink,
							 context);
}

/* In how many bits do two fingerprints differ? */
int
simhash_search_distance(const SimhashRowSearch *search, uint32 a, uint32 b)
{
	if (search->rows.words > 1)
		return sh_wide_distance(&search->wide, a, b);
	return sh_distance(search->pairs.values[a], search->pairs.values[b]);
}

/* A row that no search has found is put out. */
void
simhash_search_listed(SimhashRowSearch *search)
{
	CHECK_FOR_INTERRUPTS();
	if (++search->listed % SIMHASH_SAY_EVERY == 0)
		simhash_progress_rows("listing", search->listed);
}

/* The end of a call: what it has allocated goes. */
void
simhash_search_end(SimhashRowSearch *search)
{
	if (search->rows.documents != NULL)
		simhash_documents_end(search->rows.documents);
	MemoryContextDelete(search->rows.context);
}
