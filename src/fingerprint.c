/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *		Document -> fingerprint, and a look at the features in between.
 *
 * The work is done in core/, which knows UTF-8 and memory and nothing of
 * PostgreSQL.  Here a document is brought to UTF-8 and handed over a slice at
 * a time, so that a query can be cancelled and memory stays bounded.
 *
 * The last few documents are remembered with their fingerprints.  Two common
 * situations ask for the same one again and again: a table whose fingerprint
 * and four keys are all generated from the document computes it five times a
 * row, since generated columns cannot refer to each other; and a comparison
 * with simhash($1) in a generic plan evaluates it for each row.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "simhash.h"

#include "catalog/namespace.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_namespace.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "port.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "core/document.h"

/* Limits of the work done. */
#define SLICE_BYTES			(64 * 1024) /* read between two interrupt checks */
#define CONVERT_BYTES		(8 * 1024)	/* brought to UTF-8 at a time */
#define TALLY_SLOTS_KEPT	(64 * 1024) /* of a table kept between documents */
#define REMEMBERED			4	/* documents remembered */
#define REMEMBERED_BYTES	(16 * 1024 * 1024)	/* of all of them together */
#define FEATURES_MAX		SH_SECTION	/* occurrences listed at most */

/* A document remembered with its fingerprint. */
typedef struct Memory
{
	const ShProfile *profile;	/* NULL when the place is free */
	char	   *bytes;			/* in the server encoding */
	Size		length;
	Size		allocated;
	bool		exists;			/* it has a fingerprint */
	uint64		fingerprint;
} Memory;

/* One row of simhash_features. */
typedef struct Feature
{
	uint64		hash;			/* the key of the table */
	int			ordinal;
	int64		weight;
	text	   *feature;
} Feature;

/* What a document's bytes are handed to. */
typedef void (*SliceReader) (void *state, const unsigned char *bytes,
							 Size length);

static Memory memories[REMEMBERED]; /* the latest used first */
static ShDocument *workspace = NULL;

PG_FUNCTION_INFO_V1(simhash);
PG_FUNCTION_INFO_V1(simhash_by_profile);
PG_FUNCTION_INFO_V1(simhash_profiles);
PG_FUNCTION_INFO_V1(simhash_features);

/* The profile of that name; fails when there is none. */
static const ShProfile *
get_profile(text *name)
{
	const ShProfile *profile = sh_profile_find(VARDATA_ANY(name),
											   VARSIZE_ANY_EXHDR(name));

	if (profile == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("simhash profile \"%.64s\" does not exist",
						text_to_cstring(name)),
				 errhint("SELECT * FROM simhash_profiles() lists the profiles.")));
	return profile;
}

/* Allocate for the tally, which outlives the call. */
static void *
allocate_lasting(size_t bytes)
{
	return MemoryContextAllocHuge(TopMemoryContext, bytes);
}

/* Get the workspace, ready to read a document. */
static ShDocument *
begin_document(const ShProfile *profile)
{
	if (workspace == NULL)
	{
		workspace = MemoryContextAllocZero(TopMemoryContext,
										   sizeof *workspace);
		workspace->tally.allocate = allocate_lasting;
		workspace->tally.release = pfree;
		workspace->tally.multiplier = pg_prng_uint64(&pg_global_prng_state) | 1;
	}
	if (workspace->tally.slots > TALLY_SLOTS_KEPT)
		sh_tally_end(&workspace->tally);
	sh_document_begin(workspace, profile);
	return workspace;
}

/* The function that converts from the server encoding to UTF-8. */
static Oid
conversion_to_utf8(void)
{
	static Oid	conversion = InvalidOid;

	if (!OidIsValid(conversion))
	{
		/* In pg_catalog, whatever conversions the search path offers. */
		conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE,
										   GetDatabaseEncoding(), PG_UTF8);
		if (!OidIsValid(conversion))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot fingerprint texts in encoding %s",
							GetDatabaseEncodingName()),
					 errdetail("There is no conversion to UTF8.")));
	}
	return conversion;
}

/* Hand over a document that is not in UTF-8, converting it by and by. */
static void
read_converted(const char *bytes, Size length, SliceReader read, void *state)
{
	int			encoding = GetDatabaseEncoding();
	Oid			conversion = conversion_to_utf8();
	unsigned char *buffer;

	buffer = palloc(CONVERT_BYTES * MAX_CONVERSION_GROWTH + 1);
	while (length > 0)
	{
		int			n = (int) Min(length, CONVERT_BYTES);

		CHECK_FOR_INTERRUPTS();
		n = pg_encoding_mbcliplen(encoding, bytes, n, n);
		if (n == 0)
			n = (int) length;	/* cut short: the conversion complains */
		pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8,
									  (unsigned char *) unconstify(char *, bytes),
									  n, buffer,
									  CONVERT_BYTES * MAX_CONVERSION_GROWTH + 1,
									  false);
		read(state, buffer, strlen((char *) buffer));
		bytes += n;
		length -= n;
	}
	pfree(buffer);
}

/* Hand over a document as UTF-8, in slices that end between characters. */
static void
read_document(const char *bytes, Size length, SliceReader read, void *state)
{
	int			encoding = GetDatabaseEncoding();

	if (encoding != PG_UTF8 && encoding != PG_SQL_ASCII)
	{
		read_converted(bytes, length, read, state);
		return;
	}
	while (length > 0)
	{
		Size		n = Min(length, SLICE_BYTES);

		CHECK_FOR_INTERRUPTS();
		if (n < length)
		{
			for (int i = 0; i < 3 && (bytes[n] & 0xc0) == 0x80; i++)
				n--;
		}
		read(state, (const unsigned char *) bytes, n);
		bytes += n;
		length -= n;
	}
}

/* SliceReader: add the slice to the document. */
static void
feed_document(void *state, const unsigned char *bytes, Size length)
{
	sh_document_feed((ShDocument *) state, bytes, length);
}

/*
 * Find the document among those remembered and move it to the front.  Returns
 * the place at the front, or NULL when it is not there.
 */
static Memory *
recall(const ShProfile *profile, const char *bytes, Size length)
{
	for (int i = 0; i < REMEMBERED; i++)
	{
		Memory		memory = memories[i];

		if (memory.profile == profile && memory.length == length &&
			memcmp(memory.bytes, bytes, length) == 0)
		{
			memmove(memories + 1, memories, i * sizeof memory);
			memories[0] = memory;
			return memories;
		}
	}
	return NULL;
}

/* Forget those longest not used, until so many bytes more may be taken. */
static void
make_room(Size wanted)
{
	Size		total = wanted;

	for (int i = 0; i < REMEMBERED; i++)
		total += memories[i].allocated;
	for (int i = REMEMBERED - 1; i >= 0 && total > REMEMBERED_BYTES; i--)
	{
		total -= memories[i].allocated;
		if (memories[i].bytes != NULL)
			pfree(memories[i].bytes);
		memset(&memories[i], 0, sizeof memories[i]);
	}
}

/* Remember a document, in the place of the one longest not used. */
static void
remember(const ShProfile *profile, const char *bytes, Size length,
		 bool exists, uint64 fingerprint)
{
	Memory		memory;

	if (length > REMEMBERED_BYTES)
		return;
	if (memories[REMEMBERED - 1].allocated < length)
		make_room(length);
	memory = memories[REMEMBERED - 1];
	if (memory.allocated < length)
	{
		Size		size = Max(length, 1024);
		char	   *fresh = MemoryContextAlloc(TopMemoryContext, size);

		if (memory.bytes != NULL)
			pfree(memory.bytes);
		memory.bytes = fresh;
		memory.allocated = size;
	}
	memcpy(memory.bytes, bytes, length);
	memory.profile = profile;
	memory.length = length;
	memory.exists = exists;
	memory.fingerprint = fingerprint;
	memmove(memories + 1, memories, (REMEMBERED - 1) * sizeof memory);
	memories[0] = memory;
}

/* The fingerprint of a document; false when it has none. */
static bool
fingerprint(const ShProfile *profile, text *document, uint64 *result)
{
	const char *bytes = VARDATA_ANY(document);
	Size		length = VARSIZE_ANY_EXHDR(document);
	Memory	   *memory = recall(profile, bytes, length);
	ShDocument *state;
	bool		exists;

	if (memory != NULL)
	{
		*result = memory->fingerprint;
		return memory->exists;
	}
	state = begin_document(profile);
	read_document(bytes, length, feed_document, state);
	exists = sh_document_end(state, result);
	remember(profile, bytes, length, exists, *result);
	return exists;
}

/*
 * simhash(document text) -> bigint
 *
 * The SimHash fingerprint of the document by the default profile; NULL when
 * the document has no feature (Charikar 2002, "Similarity Estimation
 * Techniques from Rounding Algorithms"; Manku, Jain and Das Sarma 2007,
 * "Detecting Near-Duplicates for Web Crawling").
 */
Datum
simhash(PG_FUNCTION_ARGS)
{
	uint64		result;

	if (!fingerprint(sh_default_profile, PG_GETARG_TEXT_PP(0), &result))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) result);
}

/*
 * simhash(document text, profile text) -> bigint
 *
 * The same by the profile of that name.
 *
 * Errors: undefined_object when there is no such profile.
 */
Datum
simhash_by_profile(PG_FUNCTION_ARGS)
{
	const ShProfile *profile = get_profile(PG_GETARG_TEXT_PP(1));
	uint64		result;

	if (!fingerprint(profile, PG_GETARG_TEXT_PP(0), &result))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) result);
}

/*
 * simhash_profiles() -> setof (profile text, is_default boolean, unit text,
 *		min_tokens integer, max_tokens integer, damping text,
 *		description text)
 *
 * The profiles that there are, the default one first.
 */
Datum
simhash_profiles(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < sh_profile_count; i++)
	{
		const ShProfile *profile = &sh_profiles[i];
		const char *unit = profile->unit == SH_UNIT_WORD ?
		"word" : "character";
		Datum		values[7];
		bool		nulls[7] = {false};

		values[0] = CStringGetTextDatum(profile->name);
		values[1] = BoolGetDatum(profile == sh_default_profile);
		values[2] = CStringGetTextDatum(unit);
		values[3] = Int32GetDatum(profile->min);
		values[4] = Int32GetDatum(profile->max);
		values[5] = CStringGetTextDatum(sh_damping_name(profile->damping));
		values[6] = CStringGetTextDatum(profile->description);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}

/*
 * Bring a feature from UTF-8 to the server encoding.  A character that the
 * encoding lacks (a feature is normalised, so it can hold characters that the
 * document does not) is written \+ with six hexadecimal digits, as in the
 * U&'' string constants of SQL.
 */
static text *
feature_text(const unsigned char *bytes, Size length)
{
	StringInfoData out;
	Oid			conversion;
	text	   *result;

	if (GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII)
		return cstring_to_text_with_len((const char *) bytes, (int) length);

	conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE, PG_UTF8,
									   GetDatabaseEncoding());
	initStringInfo(&out);
	while (length > 0)
	{
		int			n = pg_utf_mblen(bytes);
		unsigned char buffer[MAX_UNICODE_EQUIVALENT_STRING + 1];
		int			done;

		done = pg_do_encoding_conversion_buf(conversion, PG_UTF8,
											 GetDatabaseEncoding(),
											 (unsigned char *) unconstify(unsigned char *, bytes),
											 n, buffer, sizeof buffer, true);
		if (done == n)
			appendStringInfoString(&out, (char *) buffer);
		else
			appendStringInfo(&out, "\\+%06X", utf8_to_unicode(bytes));
		bytes += n;
		length -= n;
	}
	result = cstring_to_text_with_len(out.data, out.len);
	pfree(out.data);
	return result;
}

/* What simhash_features is collecting. */
typedef struct FeatureList
{
	const ShProfile *profile;
	ShDocument *document;		/* its text and tally */
	HTAB	   *features;		/* of Feature */
	int64		occurrences;
} FeatureList;

/* Add one occurrence of a feature to the list. */
static void
list_feature(FeatureList *list, const unsigned char *bytes, Size length)
{
	uint64		hash = sh_feature_hash(bytes, length);
	bool		found;
	Feature    *feature;

	if (++list->occurrences > FEATURES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document has too many features to list"),
				 errdetail("At most %d occurrences of features can be listed.",
						   FEATURES_MAX),
				 errhint("List those of a part of it, for example of left(document, 100000).")));
	feature = hash_search(list->features, &hash, HASH_ENTER, &found);
	if (!found)
	{
		feature->ordinal = (int) hash_get_num_entries(list->features) - 1;
		feature->weight = 0;
		feature->feature = feature_text(bytes, length);
	}
	if (sh_tally_add(&list->document->tally, list->profile->damping, hash))
		feature->weight++;
}

/* List the features that the text held has completed. */
static void
list_features(FeatureList *list, bool ended)
{
	const ShText *text = &list->document->text;
	ShWindows	windows;
	ShToken		batch[SH_BATCH];
	size_t		n;

	sh_windows_begin(&windows, list->profile, text, ended);
	while ((n = sh_windows_next(&windows, batch)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < n; i++)
			list_feature(list, text->bytes + batch[i].start,
						 batch[i].end - batch[i].start);
	}
}

/* SliceReader: list the features of the slice. */
static void
feed_list(void *state, const unsigned char *bytes, Size length)
{
	FeatureList *list = state;
	ShText	   *text = &list->document->text;
	const unsigned char *end = bytes + length;

	while (bytes < end)
	{
		bytes = sh_text_feed(text, bytes, end);
		list_features(list, false);
		sh_text_retire(text, (size_t) list->profile->max - 1);
	}
}

/* Return the features listed, in the order of their first occurrence. */
static void
return_features(FeatureList *list, ReturnSetInfo *rsinfo)
{
	long		n = hash_get_num_entries(list->features);
	Feature   **ordered = palloc(Max(n, 1) * sizeof *ordered);
	HASH_SEQ_STATUS scan;
	Feature    *feature;

	hash_seq_init(&scan, list->features);
	while ((feature = hash_seq_search(&scan)) != NULL)
		ordered[feature->ordinal] = feature;
	for (long i = 0; i < n; i++)
	{
		Datum		values[3];
		bool		nulls[3] = {false};

		values[0] = PointerGetDatum(ordered[i]->feature);
		values[1] = Float8GetDatum((double) ordered[i]->weight);
		values[2] = Int64GetDatum((int64) ordered[i]->hash);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
}

/*
 * simhash_features(document text, profile text)
 *		-> setof (feature text, weight double precision, hash bigint)
 *
 * The features of the document with what they weigh in its fingerprint and
 * their hashes, in the order in which they first occur.  With one argument,
 * by the default profile.
 *
 * Errors: undefined_object when there is no such profile,
 * program_limit_exceeded when the document has more than a million features.
 */
Datum
simhash_features(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	FeatureList list;
	HASHCTL		control;

	list.profile = PG_NARGS() > 1 ? get_profile(PG_GETARG_TEXT_PP(1)) :
		sh_default_profile;
	InitMaterializedSRF(fcinfo, 0);
	control.keysize = sizeof(uint64);
	control.entrysize = sizeof(Feature);
	control.hcxt = CurrentMemoryContext;
	list.features = hash_create("simhash features", 256, &control,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	list.occurrences = 0;
	list.document = begin_document(list.profile);
	read_document(VARDATA_ANY(document), VARSIZE_ANY_EXHDR(document),
				  feed_list, &list);
	sh_text_end(&list.document->text);
	list_features(&list, true);
	return_features(&list, (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
