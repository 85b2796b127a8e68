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

#include "catalog/pg_type_d.h"
#include "utils/builtins.h"

#include "search/search.h"

/* The document of a row, in memory. */
typedef struct KeptDocument
{
	int64		offset;			/* in the file: the key */
	SimhashDocument document;
} KeptDocument;

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

/*
 * Take five arguments, from the given one on: document, similarity, at_least,
 * profile and at_most.
 */
SimhashDocumentOptions
simhash_document_options(FunctionCallInfo fcinfo, int argument)
{
	SimhashDocumentOptions options;

	options.document = simhash_optional_argument(fcinfo, argument);
	options.similarity = simhash_optional_argument(fcinfo, argument + 1);
	options.bounded = !PG_ARGISNULL(argument + 2);
	options.at_least = options.bounded ? PG_GETARG_FLOAT8(argument + 2) : SIMHASH_AT_LEAST;
	options.profile = simhash_optional_argument(fcinfo, argument + 3);
	options.limited = !PG_ARGISNULL(argument + 4);
	options.at_most = options.limited ? PG_GETARG_INT64(argument + 4) : 0;
	return options;
}

/* An argument that is given and is of use for a document alone, or NULL. */
const char *
simhash_document_argument(const SimhashDocumentOptions *options)
{
	return options->similarity != NULL ? "similarity" :
		options->bounded ? "at_least" :
		options->profile != NULL ? "profile" :
		options->limited ? "at_most" : NULL;
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
	SimhashMeasure measure = simhash_get_measure(options->similarity);

	if (options->document == NULL && measure != SIMHASH_NO_MEASURE &&
		simhash_document_argument(options) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no document to compare, for argument \"%s\"",
						simhash_document_argument(options)),
				 errhint("Name the column of the query that has it: document => 'body'.")));
	if (options->document == NULL || measure == SIMHASH_NO_MEASURE)
		return NULL;
	if ((measure == SIMHASH_HAMMING) != options->limited)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"at_most\" and the similarity \"hamming\" belong together"),
				 errhint("For example, document => 'pdq', similarity => 'hamming', at_most => 31 has the fingerprints in \"pdq\" decide.")));
	documents = palloc0(sizeof *documents);
	documents->document = options->document;
	documents->comparison.measure = measure;
	documents->comparison.at_least = options->at_least;
	documents->comparison.at_most = options->at_most;
	documents->comparison.profile = options->profile == NULL ? sh_default_profile
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
	documents->loaded_context = AllocSetContextCreate(documents->context,
													  "simhash words",
													  ALLOCSET_DEFAULT_SIZES);
	return documents;
}

/* Take the type of the documents to come; fail unless such can be compared. */
void
simhash_documents_type(SimhashDocuments *documents, Oid type)
{
	bool		hamming = documents->comparison.measure == SIMHASH_HAMMING;
	bool		bits = OidIsValid(simhash_document_type(SIMHASH_HAMMING, type));
	MemoryContext old = MemoryContextSwitchTo(documents->context);

	documents->type = simhash_document_type(documents->comparison.measure, type);
	if (!OidIsValid(documents->type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 hamming ?
				 errmsg("document \"%s\" is of type %s, not bigint or bit",
						documents->document, format_type_be(type)) :
				 errmsg("document \"%s\" is of type %s, not text or text[]",
						documents->document, format_type_be(type)),
				 hamming ?
				 errhint("By the similarity \"hamming\" fingerprints are compared.") :
				 bits ?
				 errhint("Fingerprints are compared by similarity => 'hamming', at_most => 31.") :
				 errhint("Have the query cast it to text.")));
	documents->comparison.arrays = documents->type == TEXTARRAYOID;
	documents->columns =
		BuildDescFromLists(list_make1(makeString(pstrdup("document"))),
						   list_make1_oid(documents->type),
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
	MemoryContextReset(documents->kept_context);
	documents->kept = simhash_make_hash("simhash features", 1024, sizeof(int64),
										sizeof(KeptDocument),
										documents->kept_context);
}

/* All documents are there, and the rows are in their order. */
void
simhash_documents_complete(SimhashDocuments *documents, uint32 n, int64 spare)
{
	MemoryContext old = MemoryContextSwitchTo(documents->context);

	documents->n = n;
	documents->count = MemoryContextAllocHuge(documents->context,
											  sizeof(uint32) * ((Size) n + 1));
	documents->offset = MemoryContextAllocHuge(documents->context,
											   sizeof(int64) * ((Size) n + 1));
	for (uint32 i = 0; i < n; i++)
	{
		documents->count[i] = 0;
		documents->offset[i] = -1;
	}
	documents->loaded = n;
	documents->kept_limit = Max(spare, SIMHASH_KEPT_LEAST);
	documents->file = BufFileCreateTemp(false);
	begin_keeping(documents);
	simhash_init_bag(&documents->bag, documents->context);
	documents->bag.allocate = allocate_features;
	MemoryContextSwitchTo(old);
}

/* --- what is known of them ------------------------------------------------ */

/* The bytes of the arrays of so many features. */
static inline Size
features_bytes(uint64 n)
{
	return n * (sizeof(uint64) + sizeof(uint32));
}

/* The memory that what is known of a document takes. */
static Size
document_bytes(const SimhashDocument *document)
{
	return features_bytes(document->features.n) + document->words.bytes +
		document->words.n * sizeof(SimhashWord);
}

/* Write something to the end of the file. */
static void
write_part(SimhashDocuments *documents, const void *part, Size bytes)
{
	BufFileWrite(documents->file, unconstify(void *, part), bytes);
	documents->end += (int64) bytes;
}

/* Go to a place in the file. */
static void
go_to(SimhashDocuments *documents, int64 place)
{
	if (BufFileSeek(documents->file, 0, (off_t) place, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in a temporary file: %m")));
}

/* Read the next part of the file. */
static void
read_part(SimhashDocuments *documents, void *part, Size bytes)
{
	Size		got = BufFileRead(documents->file, part, bytes);

	if (got != bytes)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file: read only %zu of %zu bytes",
						got, bytes)));
}

/* Is there memory for another document, beside those that are kept? */
static bool
have_room(const SimhashDocuments *documents, Size bytes)
{
	return (int64) (MemoryContextMemAllocated(documents->kept_context, true) + bytes) <=
		documents->kept_limit;
}

/*
 * Enter a document among those kept in memory, with room for its parts, one behind the
 * other as in the file.
 */
static SimhashDocument *
enter_document(SimhashDocuments *documents, int64 offset, const SimhashDocument *document)
{
	char	   *memory = MemoryContextAllocHuge(documents->kept_context,
												document_bytes(document) + MAXIMUM_ALIGNOF);
	KeptDocument *kept = hash_search(documents->kept, &offset, HASH_ENTER, NULL);

	kept->document = *document;
	kept->document.words.list = (SimhashWord *) memory;
	memory += document->words.n * sizeof(SimhashWord);
	kept->document.features.hashes = (uint64 *) memory;
	kept->document.features.weights = (uint32 *) (memory + document->features.n * sizeof(uint64));
	kept->document.words.forms = memory + features_bytes(document->features.n);
	return &kept->document;
}

/* Keep the document of a row: in the file, and in memory while there is room. */
static void
write_document(SimhashDocuments *documents, uint32 row,
			   const SimhashDocument *document)
{
	const ShFeatures *features = &document->features;
	const SimhashWords *words = &document->words;
	Size		n = features->n;
	SimhashDocument *kept;

	go_to(documents, documents->end);
	documents->offset[row] = documents->end;
	documents->count[row] = (uint32) n;
	write_part(documents, document, sizeof *document);
	write_part(documents, words->list, words->n * sizeof *words->list);
	write_part(documents, features->hashes, n * sizeof *features->hashes);
	write_part(documents, features->weights, n * sizeof *features->weights);
	write_part(documents, words->forms, words->bytes);
	if (n == 0 || !have_room(documents, document_bytes(document)))
		return;
	kept = enter_document(documents, documents->offset[row], document);
	memcpy(unconstify(uint64 *, kept->features.hashes), features->hashes,
		   n * sizeof *features->hashes);
	memcpy(unconstify(uint32 *, kept->features.weights), features->weights,
		   n * sizeof *features->weights);
	if (words->n > 0)
		memcpy(kept->words.list, words->list, words->n * sizeof *words->list);
	if (words->bytes > 0)
		memcpy(kept->words.forms, words->forms, words->bytes);
}

/* The document of a row that has been read, until the next call. */
SimhashDocument
simhash_documents_get(SimhashDocuments *documents, uint32 row)
{
	SimhashDocument document = {.words = {0}};
	int64		offset = documents->offset[row];
	KeptDocument *kept;
	SimhashDocument *read;

	if (documents->count[row] == 0)
		return document;
	kept = hash_search(documents->kept, &offset, HASH_FIND, NULL);
	if (kept != NULL)
		return kept->document;
	go_to(documents, offset);
	read_part(documents, &document, sizeof document);
	if (!have_room(documents, document_bytes(&document)))
		begin_keeping(documents);
	read = enter_document(documents, offset, &document);
	read_part(documents, read->words.list, document_bytes(&document));
	return *read;
}

/* The words of a fingerprint, in place of features; all are equally wide. */
static SimhashDocument
read_fingerprint(SimhashDocuments *documents, Datum value)
{
	SimhashDocument document = {.words = {0}};
	uint64	   *words = palloc0(sizeof *words * SH_WORDS);
	SimhashBits bits = {SH_BITS, NULL};

	words[0] = documents->type == INT8OID ? (uint64) DatumGetInt64(value) : 0;
	if (documents->type != INT8OID)
	{
		bits = simhash_get_bits(PointerGetDatum(PG_DETOAST_DATUM_PACKED(value)));
		simhash_check_width(bits.width);
		sh_cut_whole(bits.width, bits.bytes, words);
	}
	if (documents->comparison.width == 0)
		documents->comparison.width = bits.width;
	simhash_check_widths(documents->comparison.width, bits.width);
	document.features.n = sh_words_of(bits.width);
	document.features.hashes = words;
	document.features.weights = palloc0(sizeof(uint32) * SH_WORDS);
	return document;
}

/*
 * Read the documents of the rows that are wanted, and have not been read.  The
 * function "same", if there is one, is called with each, while what is known of
 * it is at hand; where it says that another row has the same features they are
 * not kept again.
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
		uint32		row = documents->row_at == NULL ? i : documents->row_at[i];
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		if (!tuplestore_gettupleslot(documents->spool, true, false, slot))
			elog(ERROR, "a document is missing");
		if (i % SIMHASH_SAY_EVERY == 0)
			simhash_progress_part("reading documents", (double) i / documents->n);
		if (documents->offset[row] >= 0 || !wanted(context, row))
			continue;
		slot_getallattrs(slot);
		memset(&documents->current, 0, sizeof documents->current);
		old = MemoryContextSwitchTo(documents->scratch);
		if (!slot->tts_isnull[0])
			documents->current = documents->comparison.measure == SIMHASH_HAMMING ?
				read_fingerprint(documents, slot->tts_values[0]) :
				simhash_read_document(&documents->comparison, &documents->bag,
									  slot->tts_values[0]);
		MemoryContextSwitchTo(old);
		if (same == NULL || !same(context, row))
			write_document(documents, row, &documents->current);
		MemoryContextReset(documents->scratch);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * A hash of what simhash_documents_same() compares with, which nobody can foresee; 0 if
 * there is no feature, or no bound that is met.
 */
uint64
simhash_documents_hash(const SimhashDocuments *documents)
{
	const SimhashDocument *mine = &documents->current;
	uint64		hash = documents->bag.multiplier;

	if (mine->features.n == 0 || documents->comparison.at_most < 0)
		return 0;
	for (size_t i = 0; i < mine->features.n; i++)
		hash = sh_mix(hash + mine->features.hashes[i]) + mine->features.weights[i];
	for (uint32 i = 0; i < mine->words.n; i++)
		hash = sh_mix(hash + mine->words.list[i].hash);
	return hash;
}

/*
 * Has a row exactly the features of the document that has just been read, which has
 * some, and its words?
 */
bool
simhash_documents_same(SimhashDocuments *documents, uint32 row)
{
	const SimhashDocument *mine = &documents->current;
	const ShFeatures *features = &mine->features;
	SimhashDocument other;

	if (features->n != documents->count[row])
		return false;
	other = simhash_documents_get(documents, row);
	return other.words.n == mine->words.n &&
		simhash_same_words(&other.words, &mine->words) &&
		memcmp(other.features.hashes, features->hashes,
			   features->n * sizeof *features->hashes) == 0 &&
		memcmp(other.features.weights, features->weights,
			   features->n * sizeof *features->weights) == 0;
}

/*
 * Have a row to compare others with.  It is copied, since rows in memory may have to
 * make room for others.
 */
void
simhash_documents_load(SimhashDocuments *documents, uint32 row)
{
	SimhashDocument *mine = &documents->current;

	if (documents->loaded == row)
		return;
	*mine = simhash_documents_get(documents, row);
	if (documents->comparison.measure == SIMHASH_HAMMING)
		mine->features.hashes = memcpy(documents->fingerprint, mine->features.hashes,
									   mine->features.n * sizeof(uint64));
	else
		sh_bag_load(&documents->bag, &mine->features);
	MemoryContextReset(documents->loaded_context);
	simhash_copy_words(&mine->words, documents->loaded_context);
	documents->loaded = row;
}

/*
 * Have two rows to compare: the one as the current document, the other one until the next
 * call.  Containment is that of the later row in the earlier one, which would stay.  Calls
 * with the same first row after one another are faster.  False if one has no feature.
 */
static bool
load_both(SimhashDocuments *documents, uint32 a, uint32 b, SimhashDocument *other)
{
	bool		swapped = documents->comparison.measure == SIMHASH_CONTAINMENT && a < b;

	if (documents->count[a] == 0 || documents->count[b] == 0)
		return false;
	simhash_documents_load(documents, swapped ? b : a);
	*other = simhash_documents_get(documents, swapped ? a : b);
	return true;
}

/*
 * Judge two rows that have been read; sets their similarity, or -1 when one of
 * them has no feature.
 */
SimhashVerdict
simhash_documents_judge(SimhashDocuments *documents, uint32 a, uint32 b,
						SimhashFamily *family, double *similarity)
{
	SimhashDocument other;

	*similarity = -1;
	return !load_both(documents, a, b, &other) ? SIMHASH_UNLIKE :
		simhash_judge(&documents->comparison, &documents->current, &other,
					  &documents->bag, family, similarity);
}

/* How similar two rows are by their features alone; -1 if one of them has none. */
double
simhash_documents_similarity(SimhashDocuments *documents, uint32 a, uint32 b)
{
	SimhashDocument other;
	ShOverlap	overlap;
	double		similarity = -1;

	if (load_both(documents, a, b, &other))
		(void) simhash_judge_features(&documents->comparison, &documents->current, &other,
									  &documents->bag, &overlap, &similarity);
	return similarity;
}

/* What differs between two rows that have been read, for people; NULL if too much. */
text	   *
simhash_documents_describe(SimhashDocuments *documents, uint32 a, uint32 b)
{
	SimhashDocument other;

	simhash_documents_load(documents, a);
	other = simhash_documents_get(documents, b);
	return simhash_describe(&documents->current.words, &other.words);
}

/*
 * Can two rows be similar enough, by the sizes of their sets?  These have no
 * larger share in common than the smaller is of the larger.  That share is
 * rounded like a similarity, as a variable is: the registers of some processors
 * hold 4 / 5 as less than 0.8.
 */
bool
simhash_documents_may_match(const SimhashDocuments *documents, uint32 a,
							uint32 b)
{
	double		few = Min(documents->count[a], documents->count[b]);
	double		many = Max(documents->count[a], documents->count[b]);
	double		most = few / many;

	if (documents->comparison.measure == SIMHASH_CONTAINMENT)
		most = documents->count[Min(a, b)] / (double) documents->count[Max(a, b)];
	else if (!simhash_measures[documents->comparison.measure].sets)
		most = 1;
	return few > 0 && most >= documents->comparison.at_least;
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
