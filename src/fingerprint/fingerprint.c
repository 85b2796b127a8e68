/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *		Document -> fingerprint.
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
 * To know a document again takes a copy of it, which no other situation has a
 * use for.  So when many copies were in vain only a sample of each document is
 * kept, until one comes again: that document and the next ones are copied.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "common/pg_prng.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

/* Limits of the work done. */
#define TALLY_SLOTS_KEPT	(64 * 1024) /* of a table kept between documents */
#define REMEMBERED			4	/* documents remembered */
#define REMEMBERED_BYTES	(16 * 1024 * 1024)	/* of all of them together */
#define COPIES_IN_VAIN		64	/* documents copied since one came again */
#define SAMPLED_BYTES		128 /* the last of which are the sample */
#define PROFILE_NAME_SHOWN	64	/* bytes of the name of a profile unknown */

/* A document remembered with its fingerprint. */
typedef struct Memory
{
	SimhashWideFamily family;	/* NULL when the place is free */
	const ShProfile *profile;
	int			words;
	Size		length;			/* of the document, in the server encoding */
	uint64		sample;			/* some of its first bytes */
	bool		copied;			/* "bytes" are the document */
	char	   *bytes;
	Size		allocated;
	bool		exists;			/* it has a fingerprint */
	uint64		fingerprint[SH_WORDS];
} Memory;

static Memory memories[REMEMBERED]; /* the latest used first */
static int	copies = COPIES_IN_VAIN;	/* how many more to copy */
static ShDocument *workspace = NULL;

PG_FUNCTION_INFO_V1(simhash);
PG_FUNCTION_INFO_V1(simhash_by_profile);
PG_FUNCTION_INFO_V1(simhash_profiles);

/* The profile of that name; fails when there is none. */
const ShProfile *
simhash_get_profile(text *name)
{
	const ShProfile *profile = sh_profile_find(VARDATA_ANY(name),
											   VARSIZE_ANY_EXHDR(name));

	if (profile == NULL)
	{
		/* Not cut within a character, which no client could be sent. */
		int			shown = pg_mbcliplen(VARDATA_ANY(name),
										 VARSIZE_ANY_EXHDR(name),
										 PROFILE_NAME_SHOWN);

		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("simhash profile \"%.*s\" does not exist",
						shown, VARDATA_ANY(name)),
				 errhint("SELECT * FROM simhash_profiles() lists the profiles. Others are word-N, word-N-M, char-N and char-N-M, N and M from 1 to %d, each also with -count, -sqrt, -log, -binary or -capped.",
						 SH_WINDOW_MAX)));
	}
	return profile;
}

/* Allocate for the tally, which outlives the call. */
static void *
allocate_lasting(size_t bytes)
{
	return MemoryContextAllocHuge(TopMemoryContext, bytes);
}

/* Get the workspace, ready to read a document. */
ShDocument *
simhash_begin_document(const ShProfile *profile)
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

/* SimhashReader: add the slice to the document. */
static void
feed_document(void *state, const unsigned char *bytes, Size length)
{
	sh_document_feed((ShDocument *) state, bytes, length);
}

/*
 * Find the document among those remembered and move it to the front.  Returns
 * the place at the front, or NULL when it is not there.  One that seems to be
 * there, but was not copied, is a reason to copy it now.
 */
static Memory *
recall(SimhashWideFamily family, const ShProfile *profile, int words,
	   const char *bytes, Size length, uint64 sample)
{
	for (int i = 0; i < REMEMBERED; i++)
	{
		Memory	   *memory = &memories[i];

		if (memory->length != length || memory->sample != sample ||
			memory->family != family || memory->profile != profile ||
			memory->words != words)
			continue;
		if (!memory->copied)
			copies = COPIES_IN_VAIN;
		else if (memcmp(memory->bytes, bytes, length) == 0)
		{
			Memory		found = *memory;

			copies = COPIES_IN_VAIN;
			memmove(memories + 1, memories, i * sizeof found);
			memories[0] = found;
			return memories;
		}
	}
	return NULL;
}

/* Forget those longest not used, until so many bytes more may be taken. */
static void
forget_oldest(Size wanted)
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

/* Copy a document to a place, which keeps what it has if that fails. */
static void
copy_document(Memory *memory, const char *bytes, Size length)
{
	if (memory->bytes == NULL || memory->allocated < length)
	{
		Size		size = Max(length, 1024);
		char	   *fresh = MemoryContextAlloc(TopMemoryContext, size);

		if (memory->bytes != NULL)
			pfree(memory->bytes);
		memory->bytes = fresh;
		memory->allocated = size;
	}
	memcpy(memory->bytes, bytes, length);
}

/* Remember a document, in the place of the one longest not used. */
static void
remember(SimhashWideFamily family, const ShProfile *profile, int words,
		 const char *bytes, Size length, uint64 sample, bool exists,
		 const uint64 *fingerprint)
{
	Memory	   *oldest = &memories[REMEMBERED - 1];
	Memory		memory;

	if (length > REMEMBERED_BYTES)
		return;
	oldest->copied = false;
	if (copies > 0)
	{
		copies--;
		if (oldest->allocated < length)
			forget_oldest(length);
		copy_document(oldest, bytes, length);
		oldest->copied = true;
	}
	memory = *oldest;
	memory.family = family;
	memory.profile = profile;
	memory.words = words;
	memory.length = length;
	memory.sample = sample;
	memory.exists = exists;
	memcpy(memory.fingerprint, fingerprint, words * sizeof *fingerprint);
	memmove(memories + 1, memories, (REMEMBERED - 1) * sizeof memory);
	memories[0] = memory;
}

/* SimhashWideFamily: the fingerprint of a document, of one word. */
static bool
compute(const ShProfile *profile, text *document, int words, uint64 *result)
{
	ShDocument *state;

	Assert(words == 1);
	(void) words;
	if (sh_compat_profile(profile))
		return simhash_compat_fingerprint(profile, document, result);
	state = simhash_begin_document(profile);
	simhash_read_utf8(VARDATA_ANY(document), VARSIZE_ANY_EXHDR(document),
					  feed_document, state);
	return sh_document_end(state, result);
}

/*
 * The fingerprint of a document by a family, in so many words, computed or
 * remembered; false when it has none.
 */
bool
simhash_remembered(SimhashWideFamily family, const ShProfile *profile,
				   text *document, int words, uint64 *result)
{
	const char *bytes = VARDATA_ANY(document);
	Size		length = VARSIZE_ANY_EXHDR(document);
	Size		sampled = Min(length, SAMPLED_BYTES);
	uint64		sample = 0;
	Memory	   *memory;
	bool		exists;

	if (sampled < sizeof sample)
		memcpy(&sample, bytes, sampled);
	else
		memcpy(&sample, bytes + sampled - sizeof sample, sizeof sample);
	memory = recall(family, profile, words, bytes, length, sample);
	if (memory != NULL)
	{
		memcpy(result, memory->fingerprint, words * sizeof *result);
		return memory->exists;
	}
	exists = family(profile, document, words, result);
	remember(family, profile, words, bytes, length, sample, exists, result);
	return exists;
}

/* The SimHash fingerprint of a document; false when it has none. */
bool
simhash_fingerprint(const ShProfile *profile, text *document, uint64 *result)
{
	return simhash_remembered(compute, profile, document, 1, result);
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

	if (!simhash_fingerprint(sh_default_profile, PG_GETARG_TEXT_PP(0), &result))
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
	const ShProfile *profile = simhash_get_profile(PG_GETARG_TEXT_PP(1));
	uint64		result;

	if (!simhash_fingerprint(profile, PG_GETARG_TEXT_PP(0), &result))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) result);
}

/*
 * simhash_profiles() -> setof (profile text, is_default boolean, unit text,
 *		min_tokens integer, max_tokens integer, damping text,
 *		description text, pattern text)
 *
 * The profiles that have a row, the default one first; then the patterns by
 * which others are named, which are no profiles, so that "profile" is NULL.
 */
Datum
simhash_profiles(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < sh_profile_count; i++)
	{
		const ShProfile *profile = &sh_profiles[i];
		Datum		values[8];
		bool		nulls[8] = {[7] = true};

		values[0] = CStringGetTextDatum(profile->name);
		values[1] = BoolGetDatum(profile == sh_default_profile);
		values[2] = CStringGetTextDatum(sh_unit_name(profile->unit));
		values[3] = Int32GetDatum(profile->min);
		values[4] = Int32GetDatum(profile->max);
		values[5] = CStringGetTextDatum(sh_damping_name(profile->damping));
		values[6] = CStringGetTextDatum(profile->description);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	for (int i = 0; i < sh_pattern_count; i++)
	{
		const ShPattern *pattern = &sh_patterns[i];
		Datum		values[8];
		bool		nulls[8] = {[0] = true,[3] = true,[4] = true,[5] = true};

		values[1] = BoolGetDatum(false);
		values[2] = CStringGetTextDatum(sh_unit_name(pattern->unit));
		values[6] = CStringGetTextDatum(pattern->description);
		values[7] = CStringGetTextDatum(pattern->name);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}
