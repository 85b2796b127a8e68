/*-------------------------------------------------------------------------
 *
 * documents.c
 *		The documents of rows, by which a report compares what its fingerprints
 *		say is near.
 *
 * Documents are never in memory together.  While rows are read, the document
 * of each goes to a tuplestore as it comes, which spills to disk: one that is
 * stored apart from its row as the pointer to it.  Once it is known which
 * rows have others near them, the documents of these are read, each once, in
 * the order that they came in, which is mostly that of the disk.  What is
 * kept of a document are its features, in a temporary file.
 *
 * Rows are compared one after the other, each with some before it.  So there
 * is a table of the features of one row, and lists of those of others, which
 * stay in memory while there is room, and are read again when that was too
 * little.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "search/search.h"

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
string_argument(FunctionCallInfo fcinfo, int argument)
{
	return PG_ARGISNULL(argument) ? NULL
		: text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

/*
 * Take four arguments, from the given one on: document, similarity, at_least
 * and profile.
 */
SimhashDocumentOptions
simhash_document_options(FunctionCallInfo fcinfo, int argument)
{
	SimhashDocumentOptions options;

	options.document = string_argument(fcinfo, argument);
	options.similarity = string_argument(fcinfo, argument + 1);
	options.bounded = !PG_ARGISNULL(argument + 2);
	options.at_least = !options.bounded ? SIMHASH_AT_LEAST
		: simhash_check_at_least(PG_GETARG_FLOAT8(argument + 2));
	options.profile = string_argument(fcinfo, argument + 3);
	return options;
}

/*
 * Begin to compare the documents of rows as the arguments say; NULL if they
 * are not to be compared.
 *
 * Errors: invalid_parameter_value, undefined_object (the profile).
 */
SimhashDocuments *
simhash_documents_begin(const SimhashDocumentOptions *options)
{
	SimhashDocuments *documents;
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
	documents = palloc0(sizeof *documents);
	documents->document = options->document;
	documents->measure = measure;
	documents->least = options->at_least;
	documents->profile = options->profile == NULL ? sh_default_profile
		: simhash_get_profile(cstring_to_text(options->profile));
	documents->context = AllocSetContextCreate(CurrentMemoryContext,
											   "simhash documents",
											   ALLOCSET_DEFAULT_SIZES);
	documents->kept_context = AllocSetContextCreate(documents->context,
													"simhash features",
													ALLOCSET_DEFAULT_SIZES);
	documents->scratch = AllocSetContextCreate(documents->context,
											   "simhash document",
											   ALLOCSET_DEFAULT_SIZES);
	return documents;
}

/*
 * Take the type of the documents to come; fail unless documents of it have
 * features: text and text[], and types that are stored alike, as citext and
 * xml.  These are read as text without a cast.
 */
void
simhash_documents_type(SimhashDocuments *documents, Oid type)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);
	Oid			function;
	MemoryContext old = MemoryContextSwitchTo(documents->context);

	documents->words = OidIsValid(element);
	if (documents->words)
		base = getBaseType(element);
	if (find_coercion_pathway(TEXTOID, base, COERCION_EXPLICIT, &function) !=
		COERCION_PATH_RELABELTYPE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("document \"%s\" is of type %s, not text or text[]",
						documents->document, format_type_be(type)),
				 errhint("Have the query cast it to text.")));
	documents->columns =
		BuildDescFromLists(list_make1(makeString(pstrdup("document"))),
						   list_make1_oid(documents->words ? TEXTARRAYOID
										  : TEXTOID),
						   list_make1_int(-1), list_make1_oid(InvalidOid));
	documents->spool = tuplestore_begin_heap(false, false, work_mem);
	MemoryContextSwitchTo(old);
}

/* Take the document of the next row. */
void
simhash_documents_put(SimhashDocuments *documents, Datum document, bool isnull)
{
	MemoryContext old = MemoryContextSwitchTo(documents->scratch);

	tuplestore_putvalues(documents->spool, documents->columns, &document,
						 &isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(documents->scratch);
}

/* Make room for features that stay; those that were there go. */
static void
begin_keeping(SimhashDocuments *documents)
{
	HASHCTL		control;

	MemoryContextReset(documents->kept_context);
	control.keysize = sizeof(uint32);
	control.entrysize = sizeof(KeptFeatures);
	control.hcxt = documents->kept_context;
	documents->kept = hash_create("simhash features", 1024, &control,
								  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* All documents are there; rows are in the order in which they came. */
void
simhash_documents_complete(SimhashDocuments *documents, uint32 n, int64 spare)
{
	MemoryContext old = MemoryContextSwitchTo(documents->context);

	documents->n = n;
	documents->row_at = MemoryContextAllocHuge(documents->context,
											   sizeof(uint32) * ((Size) n + 1));
	documents->count = MemoryContextAllocHuge(documents->context,
											  sizeof(uint32) * ((Size) n + 1));
	documents->offset = MemoryContextAllocHuge(documents->context,
											   sizeof(int64) * ((Size) n + 1));
	for (uint32 i = 0; i < n; i++)
	{
		documents->row_at[i] = i;
		documents->count[i] = 0;
		documents->offset[i] = -1;
	}
	documents->loaded = n;
	documents->kept_limit = Max(spare, SIMHASH_KEPT_LEAST);
	documents->file = BufFileCreateTemp(false);
	simhash_init_bag(&documents->bag, documents->context);
	documents->bag.allocate = allocate_features;
	MemoryContextSwitchTo(old);
}

/* --- features ------------------------------------------------------------- */

/* The bytes of the arrays of a list. */
static Size
list_bytes(const ShFeatures *list)
{
	return list->n * (sizeof *list->hashes + sizeof *list->weights);
}

/* Keep the features in the bag as those of a row. */
static void
write_features(SimhashDocuments *documents, uint32 row)
{
	ShFeatures	list = sh_bag_features(&documents->bag);

	if (BufFileSeek(documents->file, 0, (off_t) documents->end, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file: %m")));
	documents->offset[row] = documents->end;
	documents->count[row] = (uint32) list.n;
	BufFileWrite(documents->file, &list.squares, sizeof list.squares);
	BufFileWrite(documents->file, unconstify(uint64 *, list.hashes),
				 list.n * sizeof *list.hashes);
	BufFileWrite(documents->file, unconstify(uint32 *, list.weights),
				 list.n * sizeof *list.weights);
	documents->end += (int64) (sizeof list.squares + list_bytes(&list));
}

/* Read the features of a row, which has some, into memory that stays. */
static void
read_kept_features(SimhashDocuments *documents, uint32 row, ShFeatures *list)
{
	uint64	   *hashes = MemoryContextAllocHuge(documents->kept_context,
												list_bytes(list));

	list->hashes = hashes;
	list->weights = (uint32 *) (hashes + list->n);
	if (BufFileSeek(documents->file, 0, (off_t) documents->offset[row],
					SEEK_SET) != 0 ||
		BufFileRead(documents->file, &list->squares, sizeof list->squares) !=
		sizeof list->squares ||
		BufFileRead(documents->file, hashes, list_bytes(list)) !=
		list_bytes(list))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from temporary file: %m")));
}

/* The features of a row that has been read, until the next call. */
static ShFeatures
get_features(SimhashDocuments *documents, uint32 row)
{
	ShFeatures	list = {documents->count[row], 0, NULL, NULL};
	KeptFeatures *kept;
	bool		found;

	if (list.n == 0)
		return list;
	kept = documents->kept == NULL ? NULL
		: hash_search(documents->kept, &row, HASH_FIND, NULL);
	if (kept != NULL)
		return kept->list;
	if (documents->kept == NULL ||
		(int64) (MemoryContextMemAllocated(documents->kept_context, true) +
				 list_bytes(&list)) > documents->kept_limit)
		begin_keeping(documents);
	read_kept_features(documents, row, &list);
	kept = hash_search(documents->kept, &row, HASH_ENTER, &found);
	kept->list = list;
	return list;
}

/*
 * Read the documents of the rows that are wanted, and have not been read.  The
 * function "same", if there is one, is called with each, while its features
 * are in the bag; where it says that another row has the same features they
 * are not kept again.
 */
void
simhash_documents_read(SimhashDocuments *documents, SimhashRowTest wanted,
					   SimhashRowTest same, void *context)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(documents->columns,
													&TTSOpsMinimalTuple);

	documents->loaded = documents->n;
	tuplestore_rescan(documents->spool);
	for (uint32 i = 0; i < documents->n; i++)
	{
		uint32		row = documents->row_at[i];
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		if (!tuplestore_gettupleslot(documents->spool, true, false, slot))
			elog(ERROR, "a document is missing");
		if (i % SIMHASH_SAY_EVERY == 0)
			simhash_progress_part("reading documents", (double) i / documents->n);
		if (documents->offset[row] >= 0 || !wanted(context, row))
			continue;
		slot_getallattrs(slot);
		sh_bag_begin(&documents->bag, SH_DAMP_COUNT);
		old = MemoryContextSwitchTo(documents->scratch);
		if (!slot->tts_isnull[0] && documents->words)
			simhash_fill_bag_of(&documents->bag,
								DatumGetArrayTypeP(slot->tts_values[0]));
		else if (!slot->tts_isnull[0])
			simhash_fill_bag(&documents->bag, documents->profile,
							 DatumGetTextPP(slot->tts_values[0]));
		MemoryContextSwitchTo(old);
		MemoryContextReset(documents->scratch);
		if (same == NULL || !same(context, row))
			write_features(documents, row);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Has a row exactly the features that are in the bag?  False if there are
 * none.
 */
bool
simhash_documents_same(SimhashDocuments *documents, uint32 row)
{
	ShFeatures	mine = sh_bag_features(&documents->bag);
	ShFeatures	list;

	if (mine.n == 0 || mine.n != documents->count[row])
		return false;
	list = get_features(documents, row);
	return list.squares == mine.squares &&
		memcmp(list.hashes, mine.hashes, mine.n * sizeof *mine.hashes) == 0 &&
		memcmp(list.weights, mine.weights,
			   mine.n * sizeof *mine.weights) == 0;
}

/*
 * The similarity of two rows that have been read; false when one of them has
 * no feature.  Calls with the same first row after one another are faster.
 */
bool
simhash_documents_similarity(SimhashDocuments *documents, uint32 a, uint32 b,
							 double *similarity)
{
	ShFeatures	list;

	if (documents->count[a] == 0 || documents->count[b] == 0)
		return false;
	*similarity = 1;
	if (a == b)
		return true;
	if (documents->loaded != a)
	{
		list = get_features(documents, a);
		sh_bag_load(&documents->bag, &list);
		documents->loaded = a;
	}
	list = get_features(documents, b);
	return simhash_compare_features(documents->measure, &documents->bag, &list,
									similarity);
}

/*
 * Are two rows similar enough?  Sets have no larger share in common than the
 * smaller is of the larger, so two of very different sizes are not looked at.
 * That share is rounded like a similarity, as a variable is: the registers of
 * some processors hold 4 / 5 as less than 0.8.
 */
bool
simhash_documents_alike(SimhashDocuments *documents, uint32 a, uint32 b,
						double *similarity)
{
	double		few = Min(documents->count[a], documents->count[b]);
	double		many = Max(documents->count[a], documents->count[b]);
	double		most;

	if (few == 0)
		return false;
	most = few / many;
	if (documents->measure == SIMHASH_JACCARD && most < documents->least)
		return false;
	return simhash_documents_similarity(documents, a, b, similarity) &&
		*similarity >= documents->least;
}

/* Nothing is compared any more. */
void
simhash_documents_end(SimhashDocuments *documents)
{
	if (documents->spool != NULL)
		tuplestore_end(documents->spool);
	if (documents->file != NULL)
		BufFileClose(documents->file);
	MemoryContextDelete(documents->context);
}
