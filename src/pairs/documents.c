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

/* What is known of a row, and stays in memory. */
typedef struct KeptEvidence
{
	uint32		row;			/* the key */
	SimhashEvidence evidence;
} KeptEvidence;

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
 * Take five arguments, from the given one on: document, similarity, at_least,
 * profile and at_most.
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
	documents->measure = measure;
	documents->least = options->at_least;
	documents->most = options->at_most;
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
 * Take the type of the documents to come; fail unless documents of it can be
 * compared: text and text[], and types that are stored alike, as citext and
 * xml, which are read as text without a cast; or fingerprints.
 */
void
simhash_documents_type(SimhashDocuments *documents, Oid type)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);
	bool		bits = base == INT8OID || base == BITOID || base == VARBITOID;
	Oid			function;
	MemoryContext old = MemoryContextSwitchTo(documents->context);

	documents->arrays = OidIsValid(element);
	if (documents->arrays)
		base = getBaseType(element);
	if (documents->measure == SIMHASH_HAMMING ? !bits :
		find_coercion_pathway(TEXTOID, base, COERCION_EXPLICIT, &function) !=
		COERCION_PATH_RELABELTYPE)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 documents->measure == SIMHASH_HAMMING ?
				 errmsg("document \"%s\" is of type %s, not bigint or bit",
						documents->document, format_type_be(type)) :
				 errmsg("document \"%s\" is of type %s, not text or text[]",
						documents->document, format_type_be(type)),
				 bits ?
				 errhint("Fingerprints are compared by similarity => 'hamming', at_most => 31.") :
				 documents->measure == SIMHASH_HAMMING ?
				 errhint("By the similarity \"hamming\" fingerprints are compared.") :
				 errhint("Have the query cast it to text.")));
	documents->type = documents->measure == SIMHASH_HAMMING ? base :
		documents->arrays ? TEXTARRAYOID : TEXTOID;
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
	documents->kept = simhash_make_hash("simhash features", 1024, sizeof(uint32),
										sizeof(KeptEvidence),
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
	simhash_init_bag(&documents->bag, documents->context);
	simhash_init_bag(&documents->longer, documents->context);
	documents->bag.allocate = documents->longer.allocate = allocate_features;
	MemoryContextSwitchTo(old);
}

/* --- features ------------------------------------------------------------- */

/* The bytes of the arrays of so many features. */
static inline Size
features_bytes(uint64 n)
{
	return n * (sizeof(uint64) + sizeof(uint32));
}

/* Write something to the end of the file. */
static void
write_part(SimhashDocuments *documents, const void *part, Size bytes)
{
	BufFileWrite(documents->file, unconstify(void *, part), bytes);
	documents->end += (int64) bytes;
}

/* Write the features of a list to the end of the file. */
static void
write_list(SimhashDocuments *documents, const ShFeatures *list)
{
	write_part(documents, list->hashes, list->n * sizeof *list->hashes);
	write_part(documents, list->weights, list->n * sizeof *list->weights);
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

/* Keep what is known of a row. */
static void
write_evidence(SimhashDocuments *documents, uint32 row,
			   const SimhashEvidence *evidence)
{
	go_to(documents, documents->end);
	documents->offset[row] = documents->end;
	documents->count[row] = (uint32) evidence->features.n;
	write_part(documents, evidence, sizeof *evidence);
	write_list(documents, &evidence->features);
	write_list(documents, &evidence->longer);
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

/* Read the features of a list whose number is known, into memory that stays. */
static void
read_list(SimhashDocuments *documents, ShFeatures *list)
{
	uint64	   *hashes = MemoryContextAllocHuge(documents->kept_context,
												features_bytes(list->n));

	read_part(documents, hashes, features_bytes(list->n));
	list->hashes = hashes;
	list->weights = (uint32 *) (hashes + list->n);
}

/* Read what is known of a row, which has features. */
static void
read_evidence(SimhashDocuments *documents, uint32 row,
			  SimhashEvidence *evidence)
{
	go_to(documents, documents->offset[row]);
	read_part(documents, evidence, sizeof *evidence);
	read_list(documents, &evidence->features);
	if (evidence->longer.n > 0)
		read_list(documents, &evidence->longer);
}

/* What is known of a row that has been read, until the next call. */
SimhashEvidence
simhash_documents_evidence(SimhashDocuments *documents, uint32 row)
{
	SimhashEvidence evidence = {.words = 0};
	KeptEvidence *kept;

	if (documents->count[row] == 0)
		return evidence;
	kept = documents->kept == NULL ? NULL
		: hash_search(documents->kept, &row, HASH_FIND, NULL);
	if (kept != NULL)
		return kept->evidence;
	if (documents->kept == NULL ||
		(int64) (MemoryContextMemAllocated(documents->kept_context, true) +
				 features_bytes(documents->count[row])) >
		documents->kept_limit)
		begin_keeping(documents);
	read_evidence(documents, row, &evidence);
	kept = hash_search(documents->kept, &row, HASH_ENTER, NULL);
	kept->evidence = evidence;
	return evidence;
}

/* The words of a fingerprint, in place of features; all are equally wide. */
static SimhashEvidence
read_fingerprint(SimhashDocuments *documents, Datum value)
{
	SimhashEvidence evidence = {.words = 0};
	uint64	   *words = palloc0(sizeof *words * SH_WORDS);
	SimhashBits bits = {SH_BITS, NULL};

	words[0] = documents->type == INT8OID ? (uint64) DatumGetInt64(value) : 0;
	if (documents->type != INT8OID)
	{
		bits = simhash_get_bits(PointerGetDatum(PG_DETOAST_DATUM_PACKED(value)));
		simhash_check_width(bits.width);
		sh_cut_whole(bits.width, bits.bytes, words);
	}
	if (documents->width == 0)
		documents->width = bits.width;
	simhash_check_widths(documents->width, bits.width);
	evidence.features.n = sh_words_of(bits.width);
	evidence.features.hashes = words;
	evidence.features.weights = palloc0(sizeof(uint32) * SH_WORDS);
	return evidence;
}

/* What is known of a document, in the scratch context and in the bags. */
static SimhashEvidence
read_document(SimhashDocuments *documents, Datum value)
{
	ShDamping	damping = documents->measure == SIMHASH_COSINE ?
	documents->profile->damping : SH_DAMP_COUNT;
	text	   *document;

	if (documents->measure == SIMHASH_HAMMING)
		return read_fingerprint(documents, value);
	if (documents->arrays)
	{
		simhash_fill_bag_of(&documents->bag, DatumGetArrayTypeP(value));
		return simhash_features_evidence(&documents->bag);
	}
	document = DatumGetTextPP(value);
	simhash_fill_bag(&documents->bag, damping, documents->profile, document);
	return documents->measure == SIMHASH_BY_ALIKE ?
		simhash_text_evidence(&documents->bag, &documents->longer,
							  documents->profile, document) :
		simhash_features_evidence(&documents->bag);
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
		memset(&documents->evidence, 0, sizeof documents->evidence);
		old = MemoryContextSwitchTo(documents->scratch);
		if (!slot->tts_isnull[0])
			documents->evidence = read_document(documents,
												slot->tts_values[0]);
		MemoryContextSwitchTo(old);
		if (same == NULL || !same(context, row))
			write_evidence(documents, row, &documents->evidence);
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
	const SimhashEvidence *mine = &documents->evidence;
	uint64		hash = documents->bag.multiplier + mine->words + mine->marks;

	if (mine->features.n == 0 || documents->most < 0)
		return 0;
	for (size_t i = 0; i < mine->features.n; i++)
		hash = sh_mix(hash + mine->features.hashes[i]) + mine->features.weights[i];
	return hash;
}

/*
 * Has a row exactly the features of the document that has just been read, which has
 * some, and whatever else is known of it?
 */
bool
simhash_documents_same(SimhashDocuments *documents, uint32 row)
{
	const SimhashEvidence *mine = &documents->evidence;
	const ShFeatures *features = &mine->features;
	SimhashEvidence other;

	if (features->n != documents->count[row])
		return false;
	other = simhash_documents_evidence(documents, row);
	return other.words == mine->words && other.marks == mine->marks &&
		memcmp(other.features.hashes, features->hashes,
			   features->n * sizeof *features->hashes) == 0 &&
		memcmp(other.features.weights, features->weights,
			   features->n * sizeof *features->weights) == 0;
}

/*
 * Have a row to compare others with.  Its features go to the bags, since those
 * in memory may have to make room for others.
 */
static void
load_row(SimhashDocuments *documents, uint32 row)
{
	SimhashEvidence *evidence = &documents->evidence;

	if (documents->loaded == row)
		return;
	*evidence = simhash_documents_evidence(documents, row);
	if (documents->measure == SIMHASH_HAMMING)
		memcpy(documents->words, evidence->features.hashes,
			   evidence->features.n * sizeof(uint64));
	else
		sh_bag_load(&documents->bag, &evidence->features);
	if (evidence->longer.n > 0)
		sh_bag_load(&documents->longer, &evidence->longer);
	documents->loaded = row;
}

/*
 * Judge two rows that have been read; sets their similarity, or -1 when one of
 * them has no feature.  Containment is that of the later row in the earlier one,
 * which would stay.  Calls with the same first row after one another are
 * faster.
 */
SimhashVerdict
simhash_documents_judge(SimhashDocuments *documents, uint32 a, uint32 b,
						double *similarity)
{
	const ShFeatures *features;
	SimhashEvidence evidence;

	*similarity = -1;
	if (documents->count[a] == 0 || documents->count[b] == 0)
		return SIMHASH_UNLIKE;
	load_row(documents, a);
	evidence = simhash_documents_evidence(documents, b);
	features = &evidence.features;
	if (documents->measure == SIMHASH_BY_ALIKE)
		return simhash_judge(documents->profile, documents->least,
							 documents->chance, &documents->evidence,
							 &evidence, &documents->bag, &documents->longer,
							 similarity);
	if (documents->measure == SIMHASH_HAMMING)
	{
		int64		distance =
		sh_distance_bytes((const unsigned char *) documents->words,
						  (const unsigned char *) features->hashes,
						  features->n * sizeof(uint64));

		*similarity = 1 - (double) distance / documents->width;
		return distance <= documents->most ? SIMHASH_ALIKE : SIMHASH_UNLIKE;
	}
	if (documents->measure == SIMHASH_CONTAINMENT)
		*similarity = (double) sh_bag_overlap(&documents->bag, features,
											  simhash_pause).common /
			documents->count[Max(a, b)];
	else
		(void) simhash_compare_features(documents->measure, &documents->bag,
										features, similarity);
	return *similarity >= documents->least ? SIMHASH_ALIKE : SIMHASH_UNLIKE;
}

/* The similarity that rows need to be alike; chance is known. */
double
simhash_documents_needed(const SimhashDocuments *documents)
{
	if (documents->measure == SIMHASH_HAMMING)
		return 1 - (double) documents->most / Max(documents->width, 1);
	return simhash_beyond_chance(documents->least, documents->chance);
}

/* The similarity of two rows that have been read; false if there is none. */
bool
simhash_documents_similarity(SimhashDocuments *documents, uint32 a, uint32 b,
							 double *similarity)
{
	(void) simhash_documents_judge(documents, a, b, similarity);
	return *similarity >= 0;
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

	if (documents->measure == SIMHASH_CONTAINMENT)
		most = documents->count[Min(a, b)] / (double) documents->count[Max(a, b)];
	return few > 0 && (documents->measure == SIMHASH_COSINE ||
					   documents->measure == SIMHASH_HAMMING ||
					   most >= documents->least);
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
