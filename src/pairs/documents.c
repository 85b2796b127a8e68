/*-------------------------------------------------------------------------
 *
 * documents.c
 *		The documents of rows, by which a report compares what its fingerprints
 *		say is near.
 *
 * Documents are never in memory together.  While rows are read, the document of
 * each goes to a tuplestore as it comes, which spills to disk: one that is
 * stored apart from its row as the pointer to it.  Once it is known which rows
 * have others near them, the documents of these are read, each once, in the
 * order that they came in, which is mostly that of the disk.  What is kept of a
 * document are its features, in a temporary file.
 *
 * Rows are compared one after the other, each with some before it.  So there is
 * a table of the features of one row, and lists of those of others, which stay in
 * memory while there is room, and are read again when that was too little.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/documents.h"

#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "search/measure.h"

/* The least memory for features to be kept in, in bytes. */
#define KEPT_LEAST		(64 * 1024)

/* The features of a row that stay in memory. */
typedef struct KeptFeatures
{
	uint32		row;			/* the key */
	ShFeatures	list;
} KeptFeatures;

/* ShBag.allocate: what a document needs must fit into memory by itself. */
static void *
allocate_features(void *context, size_t bytes)
{
	if (bytes > (size_t) maintenance_work_mem * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("a document needs more memory than maintenance_work_mem allows"),
				 errhint("SET maintenance_work_mem = '%zuMB' or more, or leave the document out.",
						 bytes / (1024 * 1024) + 1)));
	return MemoryContextAllocHuge(context, bytes);
}

/* An argument as a string, or NULL. */
static char *
get_string(FunctionCallInfo fcinfo, int argument)
{
	return PG_ARGISNULL(argument) ? NULL
		: text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

/*
 * Take four arguments, from the given one on: document, similarity, at_least and
 * profile.
 */
SimhashVerifyOptions
simhash_verify_arguments(FunctionCallInfo fcinfo, int argument)
{
	SimhashVerifyOptions options;

	options.document = get_string(fcinfo, argument);
	options.similarity = get_string(fcinfo, argument + 1);
	options.bounded = !PG_ARGISNULL(argument + 2);
	options.at_least = !options.bounded ? SIMHASH_AT_LEAST
		: simhash_check_at_least(PG_GETARG_FLOAT8(argument + 2));
	options.profile = get_string(fcinfo, argument + 3);
	return options;
}

/*
 * Begin to verify the rows of a query, one column of which is the document; NULL
 * if that is not wanted.
 *
 * Errors: invalid_parameter_value, undefined_object (the profile).
 */
SimhashVerify *
simhash_verify_begin(const SimhashVerifyOptions *options)
{
	SimhashVerify *verify;
	SimhashMeasure measure =
	simhash_get_measure(options->similarity == NULL ? "jaccard"
						: options->similarity, NULL);

	if (options->document == NULL && measure != SIMHASH_NO_MEASURE &&
		(options->similarity != NULL || options->bounded ||
		 options->profile != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no document to compare"),
				 errhint("Name the column of the query that has it: document => 'body'.")));
	if (options->document == NULL || measure == SIMHASH_NO_MEASURE)
		return NULL;
	verify = palloc0(sizeof *verify);
	verify->document = options->document;
	verify->measure = measure;
	verify->least = options->at_least;
	verify->profile = options->profile == NULL ? sh_default_profile
		: simhash_get_profile(cstring_to_text(options->profile));
	verify->context = AllocSetContextCreate(CurrentMemoryContext,
											"simhash documents",
											ALLOCSET_DEFAULT_SIZES);
	verify->scratch = AllocSetContextCreate(verify->context,
											"simhash document",
											ALLOCSET_DEFAULT_SIZES);
	return verify;
}

/*
 * Take the type of the documents to come; fail if it is none that has features.
 * What is stored as text is, as citext or xml, is read as it is: no cast runs.
 */
void
simhash_verify_type(SimhashVerify *verify, Oid type)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);
	Oid			function;
	MemoryContext old = MemoryContextSwitchTo(verify->context);

	verify->words = OidIsValid(element);
	if (verify->words)
		base = getBaseType(element);
	if (find_coercion_pathway(TEXTOID, base, COERCION_EXPLICIT, &function) !=
		COERCION_PATH_RELABELTYPE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("document \"%s\" is of type %s, not text or text[]",
						verify->document, format_type_be(type)),
				 errhint("Have the query make a text of it.")));
	verify->columns =
		BuildDescFromLists(list_make1(makeString(pstrdup("document"))),
						   list_make1_oid(verify->words ? TEXTARRAYOID
										  : TEXTOID),
						   list_make1_int(-1), list_make1_oid(InvalidOid));
	verify->spool = tuplestore_begin_heap(false, false, work_mem);
	MemoryContextSwitchTo(old);
}

/* Take the document of the next row. */
void
simhash_verify_put(SimhashVerify *verify, Datum document, bool isnull)
{
	MemoryContext old = MemoryContextSwitchTo(verify->scratch);

	tuplestore_putvalues(verify->spool, verify->columns, &document, &isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(verify->scratch);
}

/* The memory that so many rows take here. */
int64
simhash_verify_bytes(int64 n)
{
	return n * (int64) (sizeof(int64) + 2 * sizeof(uint32)) + KEPT_LEAST;
}

/* Others need the memory that features were kept in. */
void
simhash_verify_forget(SimhashVerify *verify)
{
	verify->kept = NULL;
	if (verify->kept_context != NULL)
		MemoryContextReset(verify->kept_context);
}

/* Make room for features that stay; those that were there go. */
static void
begin_keeping(SimhashVerify *verify)
{
	HASHCTL		control;

	if (verify->kept_context == NULL)
		verify->kept_context = AllocSetContextCreate(verify->context,
													 "simhash features",
													 ALLOCSET_DEFAULT_SIZES);
	simhash_verify_forget(verify);
	control.keysize = sizeof(uint32);
	control.entrysize = sizeof(KeptFeatures);
	control.hcxt = verify->kept_context;
	verify->kept = hash_create("simhash features", 1024, &control,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* Make room for what is known of each row. */
static void
allocate_rows(SimhashVerify *verify)
{
	verify->count = MemoryContextAllocHuge(verify->context,
										   sizeof(uint32) * (verify->n + 1));
	verify->offset = MemoryContextAllocHuge(verify->context,
											sizeof(int64) * (verify->n + 1));
}

/* All documents are there; rows are in the order in which they came. */
void
simhash_verify_rows(SimhashVerify *verify, uint32 n, int64 spare)
{
	MemoryContext old = MemoryContextSwitchTo(verify->context);

	verify->n = n;
	verify->row_at = MemoryContextAllocHuge(verify->context,
											sizeof(uint32) * (n + 1));
	allocate_rows(verify);
	for (uint32 i = 0; i < n; i++)
	{
		verify->row_at[i] = i;
		verify->count[i] = 0;
		verify->offset[i] = -1;
	}
	verify->loaded = n;
	verify->kept_limit = Max(spare, KEPT_LEAST);
	verify->file = BufFileCreateTemp(false);
	simhash_init_bag(&verify->bag, verify->context);
	verify->bag.allocate = allocate_features;
	MemoryContextSwitchTo(old);
}

/* Rows change their order: which of those before comes now at each place? */
void
simhash_verify_order(SimhashVerify *verify, const uint32 *before)
{
	uint32	   *count = verify->count;
	int64	   *offset = verify->offset;

	allocate_rows(verify);
	for (uint32 i = 0; i < verify->n; i++)
	{
		verify->row_at[before[i]] = i;
		verify->count[i] = count[before[i]];
		verify->offset[i] = offset[before[i]];
	}
	verify->loaded = verify->n;
	Assert(verify->kept == NULL);
	pfree(count);
	pfree(offset);
}

/* --- features ------------------------------------------------------------- */

/* Write an array to the end of the file. */
static void
write_array(SimhashVerify *verify, const void *array, Size bytes)
{
	BufFileWrite(verify->file, unconstify(void *, array), bytes);
	verify->end += (int64) bytes;
}

/* Keep the features in the bag as those of a row. */
static void
write_features(SimhashVerify *verify, uint32 row)
{
	ShFeatures	list = sh_bag_features(&verify->bag);

	if (BufFileSeek(verify->file, 0, (off_t) verify->end, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
	verify->offset[row] = verify->end;
	verify->count[row] = (uint32) list.n;
	write_array(verify, &list.squares, sizeof list.squares);
	write_array(verify, list.hashes, list.n * sizeof *list.hashes);
	write_array(verify, list.weights, list.n * sizeof *list.weights);
}

/* The bytes of the arrays of a list. */
static Size
list_bytes(const ShFeatures *list)
{
	return list->n * (sizeof *list->hashes + sizeof *list->weights);
}

/* Read the features of a row, which has some, into memory with room for them. */
static void
read_features(SimhashVerify *verify, uint32 row, ShFeatures *list, void *memory)
{
	uint64	   *hashes = memory;

	list->hashes = hashes;
	list->weights = (uint32 *) (hashes + list->n);
	if (BufFileSeek(verify->file, 0, (off_t) verify->offset[row],
					SEEK_SET) != 0 ||
		BufFileRead(verify->file, &list->squares, sizeof list->squares) !=
		sizeof list->squares ||
		BufFileRead(verify->file, memory, list_bytes(list)) !=
		list_bytes(list))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

/* The features of a row that has been read, until the next call. */
static ShFeatures
get_features(SimhashVerify *verify, uint32 row)
{
	ShFeatures	list = {verify->count[row], 0, NULL, NULL};
	Size		bytes = list_bytes(&list);
	KeptFeatures *kept;
	bool		found;

	if (list.n == 0)
		return list;
	if ((int64) bytes > verify->kept_limit / 8)
	{
		if (verify->buffer != NULL)
			pfree(verify->buffer);
		verify->buffer = MemoryContextAllocHuge(verify->context, bytes);
		read_features(verify, row, &list, verify->buffer);
		return list;
	}
	kept = verify->kept == NULL ? NULL
		: hash_search(verify->kept, &row, HASH_FIND, NULL);
	if (kept != NULL)
		return kept->list;
	if (verify->kept == NULL ||
		(int64) (MemoryContextMemAllocated(verify->kept_context, true) +
				 bytes) > verify->kept_limit)
		begin_keeping(verify);
	read_features(verify, row, &list,
				  MemoryContextAllocHuge(verify->kept_context, bytes));
	kept = hash_search(verify->kept, &row, HASH_ENTER, &found);
	kept->list = list;
	return list;
}

/*
 * Read the documents of the rows that are wanted, and have not been read.  Where
 * "same" is given, it is asked of each whether its features, which are in the
 * bag, are those of another row; then they are not kept again.
 */
void
simhash_verify_read(SimhashVerify *verify, SimhashRowTest wanted,
					SimhashRowTest same, void *context)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(verify->columns,
													&TTSOpsMinimalTuple);

	verify->loaded = verify->n;
	tuplestore_rescan(verify->spool);
	for (uint32 i = 0; i < verify->n; i++)
	{
		uint32		row = verify->row_at[i];
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		if (!tuplestore_gettupleslot(verify->spool, true, false, slot))
			elog(ERROR, "a document is missing");
		if (i % SIMHASH_SAY_EVERY == 0)
			simhash_progress_part("reading documents", (double) i / verify->n);
		if (verify->offset[row] >= 0 || !wanted(context, row))
			continue;
		slot_getallattrs(slot);
		sh_bag_begin(&verify->bag, SH_DAMP_COUNT);
		old = MemoryContextSwitchTo(verify->scratch);
		if (!slot->tts_isnull[0] && verify->words)
			simhash_fill_bag_of(&verify->bag,
								DatumGetArrayTypeP(slot->tts_values[0]));
		else if (!slot->tts_isnull[0])
			simhash_fill_bag(&verify->bag, verify->profile,
							 DatumGetTextPP(slot->tts_values[0]));
		MemoryContextSwitchTo(old);
		MemoryContextReset(verify->scratch);
		if (same == NULL || !same(context, row))
			write_features(verify, row);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/* Are the features in the bag, which has some, all those of a row as well? */
bool
simhash_verify_same(SimhashVerify *verify, uint32 row)
{
	ShFeatures	mine = sh_bag_features(&verify->bag);
	ShFeatures	list;

	if (mine.n == 0 || mine.n != verify->count[row])
		return false;
	list = get_features(verify, row);
	return list.squares == mine.squares &&
		memcmp(list.hashes, mine.hashes, mine.n * sizeof *mine.hashes) == 0 &&
		memcmp(list.weights, mine.weights,
			   mine.n * sizeof *mine.weights) == 0;
}

/*
 * The similarity of two rows that have been read; false when one of them has no
 * feature.  Calls with the same first row after one another are faster.
 */
bool
simhash_verify_similarity(SimhashVerify *verify, uint32 a, uint32 b,
						  double *similarity)
{
	ShFeatures	list;

	if (verify->count[a] == 0 || verify->count[b] == 0)
		return false;
	*similarity = 1;
	if (a == b)
		return true;
	if (verify->loaded != a)
	{
		list = get_features(verify, a);
		sh_bag_load(&verify->bag, &list);
		verify->loaded = a;
	}
	list = get_features(verify, b);
	return simhash_compare_features(verify->measure, &verify->bag, &list,
									similarity);
}

/*
 * Are two rows similar enough?  Sets have no larger share in common than the
 * smaller is of the larger, so two of very different sizes are not looked at.
 * That share is rounded like a similarity, as a variable is: the registers of
 * some processors hold 4 / 5 as less than 0.8.
 */
bool
simhash_verify_pair(SimhashVerify *verify, uint32 a, uint32 b,
					double *similarity)
{
	double		few = Min(verify->count[a], verify->count[b]);
	double		many = Max(verify->count[a], verify->count[b]);
	double		most;

	if (few == 0)
		return false;
	most = few / many;
	if (verify->measure == SIMHASH_JACCARD && most < verify->least)
		return false;
	return simhash_verify_similarity(verify, a, b, similarity) &&
		*similarity >= verify->least;
}

/* Nothing is compared any more. */
void
simhash_verify_end(SimhashVerify *verify)
{
	if (verify->spool != NULL)
		tuplestore_end(verify->spool);
	if (verify->file != NULL)
		BufFileClose(verify->file);
	MemoryContextDelete(verify->context);
}
