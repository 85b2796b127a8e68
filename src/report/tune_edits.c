/*-------------------------------------------------------------------------
 *
 * tune_edits.c
 *		What share of light edits of a user's own texts is found.
 *
 * simhash_tune_edits draws a sample of the documents that a query returns,
 * edits each as edits.c does, and tells for each family, profile and
 * distance how many of the edited copies are within it.  No labels are needed:
 * what is a near-duplicate of a document is known because we have made it.
 * Beside that it tells how many pairs of different documents of the sample are
 * within the distance, which mostly have nothing to do with each other.
 *
 * Nothing here is left to chance.  Each document has a hash, that of its text as
 * a feature.  The sample are the documents with the smallest hashes, what is
 * put into a document comes from the next one in the order of hashes, and its
 * hash seeds the random choices.  So the same documents have the same result,
 * in whichever order and however often they come; and simhash_edits, which
 * returns the edited copies of a document, shows what was counted.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/tune.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "core/text/edits.h"
#include "fingerprint/fingerprint.h"

/* Limits of the work done. */
#define EDITED_BYTES	(1024 * 1024)	/* edited of a document */
#define SAMPLE_BYTES	(256 * 1024 * 1024) /* of a sample */

#define FAMILIES		2
#define NOT_FOUND		(SH_BITS + 1)	/* the distance of no fingerprint */

static const char *const family_names[FAMILIES] = {"simhash", "minhash"};
static const SimhashFamily families[FAMILIES] = {
	simhash_fingerprint, simhash_minhash
};

/* Profiles that are tried besides the default one if none are named. */
static const char *const usual_profiles[] = {"word-1-2", "char-4"};

/* A document of the sample. */
typedef struct Original
{
	uint64		hash;
	text	   *document;
} Original;

/* One way to make fingerprints, and how it fares. */
typedef struct Recipe
{
	SimhashFamily family;
	const char *family_name;
	const ShProfile *profile;
	bool		exists;			/* the document being edited has one */
	uint64		fingerprint;	/* and this is it */
	uint64		copies[SH_EDITS][NOT_FOUND + 1];	/* by distance */
	uint64		strangers[SH_BITS + 1];
} Recipe;

/* The whole undertaking. */
typedef struct Trial
{
	/* set by the arguments */
	bool		kinds[SH_EDITS];	/* that are tried */
	uint32		wanted;			/* documents of the sample */
	int			nrecipes;
	Recipe	   *recipes;

	/* the sample, by hash */
	SimhashDocuments documents;
	MemoryContext context;
	Size		bytes;			/* of all documents */
	uint32		n;
	Original  **sample;

	ShEditor	editor;
} Trial;

PG_FUNCTION_INFO_V1(simhash_edits);
PG_FUNCTION_INFO_V1(simhash_tune_edits);

/* --- one document --------------------------------------------------------- */

/* Change the size of memory, of the current context when it is new. */
static void *
resize(void *memory, size_t bytes)
{
	if (memory == NULL)
		return MemoryContextAllocHuge(CurrentMemoryContext, bytes);
	return repalloc_huge(memory, bytes);
}

/* Ready an editor. */
static void
begin_editor(ShEditor *editor)
{
	editor->resize = resize;
	editor->pause = simhash_pause;
}

/* Read a document, into one of the editor's texts. */
static void
read_points(ShEditor *editor, ShPoints *points, text *document)
{
	const char *bytes = VARDATA_ANY(document);
	Size		length = VARSIZE_ANY_EXHDR(document);
	const unsigned char *utf8 = simhash_whole_utf8(bytes, &length);

	sh_edit_read(editor, points, utf8, length);
	if (utf8 != (const unsigned char *) bytes)
		pfree(unconstify(unsigned char *, utf8));
}

/* The edited copy, in the server encoding. */
static text *
copy_text(const ShEditor *editor)
{
	unsigned char *bytes = palloc(SH_EDIT_BYTES(&editor->result) + 1);
	text	   *copy;

	copy = simhash_feature_text(bytes, sh_edit_write(&editor->result, bytes));
	pfree(bytes);
	return copy;
}

/* The hash of a document: that of a feature. */
static uint64
hash_document(text *document)
{
	return simhash_hash_feature(&sh_no_profile, VARDATA_ANY(document),
								VARSIZE_ANY_EXHDR(document));
}

/*
 * Edit the document that was read, whose hash is given; false when it is not of
 * the sort that can be edited so.
 */
static bool
edit(ShEditor *editor, ShEdit kind, uint64 hash)
{
	uint64		state = hash + kind;

	return sh_edit(editor, kind, &editor->other, ~state, &state);
}

/*
 * simhash_edits(document text, other text DEFAULT NULL)
 *		-> setof (edit text, light boolean, edited text)
 *
 * The edited copies of a document; what is put into them comes from the other
 * document, or is the document's own when that is NULL or empty.  Light are
 * those that simhash_tune_edits tries unless it is told otherwise.
 *
 * Errors: program_limit_exceeded when a document is too long.
 */
Datum
simhash_edits(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	ShEditor	editor = {0};
	text	   *document;
	text	   *other;
	uint64		hash;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	document = other = PG_GETARG_TEXT_PP(0);
	if (!PG_ARGISNULL(1) && VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(1)) > 0)
		other = PG_GETARG_TEXT_PP(1);
	if (VARSIZE_ANY_EXHDR(document) > EDITED_BYTES ||
		VARSIZE_ANY_EXHDR(other) > EDITED_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document is too long to be edited"),
				 errdetail("At most %d bytes can be.", EDITED_BYTES),
				 errhint("Give a part of it, such as left(document, 100000).")));
	begin_editor(&editor);
	hash = hash_document(document);
	read_points(&editor, &editor.text, document);
	read_points(&editor, &editor.other, other);
	for (int kind = 0; kind < SH_EDITS; kind++)
	{
		Datum		values[3];
		bool		nulls[3] = {false};

		if (!edit(&editor, (ShEdit) kind, hash))
			continue;
		values[0] = CStringGetTextDatum(sh_edit_names[kind]);
		values[1] = BoolGetDatum(kind < SH_LIGHT_EDITS);
		values[2] = PointerGetDatum(copy_text(&editor));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
		pfree(DatumGetPointer(values[2]));
	}
	return (Datum) 0;
}

/* --- the sample ------------------------------------------------------------ */

/*
 * The place of a hash in the sample, or where it would be; *found tells which.
 */
static uint32
find_place(const Trial *trial, uint64 hash, bool *found)
{
	uint32		low = 0;
	uint32		high = trial->n;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (trial->sample[middle]->hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	*found = low < trial->n && trial->sample[low]->hash == hash;
	return low;
}

/* Take the last document out of the sample. */
static void
forget_last(Trial *trial)
{
	Original   *last = trial->sample[--trial->n];

	trial->bytes -= VARSIZE(last->document);
	pfree(last->document);
	pfree(last);
}

/* Put the document at a place of the sample. */
static void
keep(Trial *trial, uint32 place, uint64 hash, const char *bytes, Size length)
{
	MemoryContext old = MemoryContextSwitchTo(trial->context);
	Original   *original = palloc(sizeof *original);

	original->hash = hash;
	original->document = cstring_to_text_with_len(bytes, (int) length);
	memmove(trial->sample + place + 1, trial->sample + place,
			(trial->n - place) * sizeof *trial->sample);
	trial->sample[place] = original;
	trial->n++;
	trial->bytes += VARSIZE(original->document);
	MemoryContextSwitchTo(old);
	if (trial->bytes > SAMPLE_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("documents of the sample are too long"),
				 errdetail("Together they may have %d bytes.", SAMPLE_BYTES),
				 errhint("Ask for a smaller sample, or for a part of each document, such as left(body, 100000).")));
}

/*
 * SimhashRowReader: put a document that is not empty, or the beginning of a
 * long one, into the sample if its hash is among the smallest and is new.
 */
static void
draw(void *state, const SimhashRow *row)
{
	Trial	   *trial = state;
	const char *bytes = VARDATA_ANY(row->document);
	Size		length = VARSIZE_ANY_EXHDR(row->document);
	uint64		hash;
	uint32		place;
	bool		found;

	if (length > EDITED_BYTES)
		length = pg_mbcliplen(bytes, (int) length, EDITED_BYTES);
	if (length == 0)
		return;
	hash = simhash_hash_feature(&sh_no_profile, bytes, length);
	place = find_place(trial, hash, &found);
	if (found || place == trial->wanted)
		return;
	if (trial->n == trial->wanted)
		forget_last(trial);
	keep(trial, place, hash, bytes, length);
}

/* --- the trial -------------------------------------------------------------- */

/* The distance of a copy from the document being edited. */
static int
copy_distance(const Recipe *recipe, text *copy)
{
	uint64		fingerprint;

	if (!recipe->family(recipe->profile, copy, &fingerprint))
		return NOT_FOUND;
	return sh_distance(recipe->fingerprint, fingerprint);
}

/* Edit a document of the sample in each way, and count the distances. */
static void
try_document(Trial *trial, uint32 i)
{
	const Original *original = trial->sample[i];
	ShEditor   *editor = &trial->editor;

	for (int r = 0; r < trial->nrecipes; r++)
	{
		Recipe	   *recipe = &trial->recipes[r];

		recipe->exists = recipe->family(recipe->profile, original->document,
										&recipe->fingerprint);
	}
	read_points(editor, &editor->text, original->document);
	read_points(editor, &editor->other,
				trial->sample[(i + 1) % trial->n]->document);
	for (int kind = 0; kind < SH_EDITS; kind++)
	{
		text	   *copy;

		CHECK_FOR_INTERRUPTS();
		if (!trial->kinds[kind] || !edit(editor, (ShEdit) kind, original->hash))
			continue;
		copy = copy_text(editor);
		for (int r = 0; r < trial->nrecipes; r++)
		{
			Recipe	   *recipe = &trial->recipes[r];

			if (recipe->exists)
				recipe->copies[kind][copy_distance(recipe, copy)]++;
		}
		pfree(copy);
	}
}

/* Count the distances between different documents of the sample. */
static void
count_strangers(const Trial *trial, Recipe *recipe)
{
	uint64	   *fingerprints = palloc((trial->n + 1) * sizeof *fingerprints);
	uint32		n = 0;

	for (uint32 i = 0; i < trial->n; i++)
	{
		if (recipe->family(recipe->profile, trial->sample[i]->document,
						   &fingerprints[n]))
			n++;
	}
	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint32 j = 0; j < i; j++)
			recipe->strangers[sh_distance(fingerprints[i], fingerprints[j])]++;
	}
	pfree(fingerprints);
}

/* --- what came out ------------------------------------------------------------ */

/* How many distances there are, and which share is within k. */
static double
share_within(const uint64 *distances, int most, int k, uint64 *all)
{
	uint64		within = 0;

	*all = 0;
	for (int d = 0; d <= most; d++)
	{
		*all += distances[d];
		within += d <= k ? distances[d] : 0;
	}
	return (double) within / (double) Max(*all, 1);
}

/*
 * Return a row for a recipe and a distance.  The recall is the mean over the
 * kinds of edits, so that one that many documents cannot be edited by weighs
 * as much as another.
 */
static void
return_recall(const Recipe *recipe, int k, ReturnSetInfo *rsinfo)
{
	Datum		values[8];
	bool		nulls[8] = {false};
	double		sum = 0;
	double		worst = 2;
	int			kinds = 0;
	uint64		copies = 0;
	uint64		all;

	nulls[5] = nulls[6] = true;
	for (int kind = 0; kind < SH_EDITS; kind++)
	{
		double		recall = share_within(recipe->copies[kind], NOT_FOUND, k,
										  &all);

		if (all == 0)
			continue;
		copies += all;
		kinds++;
		sum += recall;
		if (recall >= worst)
			continue;
		worst = recall;
		values[5] = CStringGetTextDatum(sh_edit_names[kind]);
		nulls[5] = nulls[6] = false;
	}
	values[0] = CStringGetTextDatum(recipe->family_name);
	values[1] = CStringGetTextDatum(recipe->profile->name);
	values[2] = Int32GetDatum(k);
	values[3] = Int64GetDatum((int64) copies);
	values[4] = Float8GetDatum(sum / kinds);
	nulls[4] = kinds == 0;
	values[6] = Float8GetDatum(worst);
	values[7] = Float8GetDatum(share_within(recipe->strangers, SH_BITS, k,
											&all));
	nulls[7] = all == 0;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* --- arguments ------------------------------------------------------------------ */

/* Have each family tried with a profile. */
static void
add_profile(Trial *trial, const ShProfile *profile)
{
	for (int f = 0; f < FAMILIES; f++)
	{
		Recipe	   *recipe = &trial->recipes[trial->nrecipes++];

		recipe->family = families[f];
		recipe->family_name = family_names[f];
		recipe->profile = profile;
	}
}

/* Have the default profile tried, and the usual ones. */
static void
add_usual_profiles(Trial *trial)
{
	trial->recipes = palloc0((lengthof(usual_profiles) + 1) * FAMILIES *
							 sizeof *trial->recipes);
	add_profile(trial, sh_default_profile);
	for (size_t i = 0; i < lengthof(usual_profiles); i++)
	{
		const char *name = usual_profiles[i];
		const ShProfile *profile = sh_profile_find(name, strlen(name));

		if (profile != sh_default_profile)
			add_profile(trial, profile);
	}
}

/* Have the profiles tried that an array names. */
static void
add_profiles(Trial *trial, ArrayType *names)
{
	Datum	   *elements;
	int			n = simhash_get_elements(names, TEXTOID, -1, false,
										 TYPALIGN_INT, "profiles", &elements);

	trial->recipes = MemoryContextAllocExtended(CurrentMemoryContext,
												((Size) n + 1) * FAMILIES *
												sizeof *trial->recipes,
												MCXT_ALLOC_HUGE |
												MCXT_ALLOC_ZERO);
	for (int i = 0; i < n; i++)
		add_profile(trial, simhash_get_profile(DatumGetTextPP(elements[i])));
}

/* The kind of edits of that name; fails when there is none. */
static ShEdit
find_kind(const char *name)
{
	for (int kind = 0; kind < SH_EDITS; kind++)
	{
		if (strcmp(sh_edit_names[kind], name) == 0)
			return (ShEdit) kind;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("edit \"%s\" does not exist", name),
			 errhint("The edits are source, advert, drop, replace, words, characters, cut, move, case and template.")));
	return SH_EDITS;			/* not reached */
}

/* Have the edits tried that an array names. */
static void
add_kinds(Trial *trial, ArrayType *names)
{
	Datum	   *elements;
	int			n = simhash_get_elements(names, TEXTOID, -1, false,
										 TYPALIGN_INT, "edits", &elements);

	for (int i = 0; i < n; i++)
		trial->kinds[find_kind(TextDatumGetCString(elements[i]))] = true;
}

/* Read the arguments after the query. */
static void
get_arguments(FunctionCallInfo fcinfo, Trial *trial)
{
	trial->wanted = simhash_sample_argument(PG_GETARG_INT64(1));
	if (PG_ARGISNULL(2))
		add_usual_profiles(trial);
	else
		add_profiles(trial, PG_GETARG_ARRAYTYPE_P(2));
	if (!PG_ARGISNULL(3))
		add_kinds(trial, PG_GETARG_ARRAYTYPE_P(3));
	else
		memset(trial->kinds, true, SH_LIGHT_EDITS);
}

/*
 * simhash_tune_edits(query text, sample bigint DEFAULT 200,
 *		profiles text[] DEFAULT NULL, edits text[] DEFAULT NULL)
 *		-> setof (family text, profile text, k integer, copies bigint,
 *		recall double precision, worst_edit text,
 *		worst_recall double precision, strangers double precision)
 *
 * Which share of lightly edited copies of the documents that the query returns
 * a search within each distance finds: the mean over the kinds of edits, and
 * that of the kind found least.  Strangers is the share of pairs of different
 * documents within the distance.  NULLs mean the default profile and the usual
 * ones, and the light edits.
 *
 * Errors: datatype_mismatch when the query does not return documents,
 * undefined_object when there is no such profile, invalid_parameter_value when
 * it is no SELECT, when there is no such edit, and when the sample is out of
 * range; null_value_not_allowed and array_subscript_error as for features;
 * program_limit_exceeded when the documents are too long together.
 */
Datum
simhash_tune_edits(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Trial	   *trial = palloc0(sizeof *trial);

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	get_arguments(fcinfo, trial);
	begin_editor(&trial->editor);
	trial->context = CurrentMemoryContext;
	trial->documents.only_texts = true;
	trial->documents.state = trial;
	trial->documents.scratch = AllocSetContextCreate(CurrentMemoryContext,
													 "simhash_tune_edits",
													 ALLOCSET_DEFAULT_SIZES);
	trial->sample = palloc(trial->wanted * sizeof *trial->sample);
	SPI_connect();
	simhash_read_documents(&trial->documents,
						   text_to_cstring(PG_GETARG_TEXT_PP(0)), draw);
	SPI_finish();
	for (uint32 i = 0; i < trial->n; i++)
		try_document(trial, i);
	for (int r = 0; r < trial->nrecipes; r++)
	{
		count_strangers(trial, &trial->recipes[r]);
		for (int k = 0; k <= SIMHASH_K_MAX; k++)
			return_recall(&trial->recipes[r], k, rsinfo);
	}
	return (Datum) 0;
}
