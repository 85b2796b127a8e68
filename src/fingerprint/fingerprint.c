/*-------------------------------------------------------------------------
 *
 * fingerprint.c
 *		Document -> fingerprint.
 *
 * The work is done in core/, which knows UTF-8 and memory and nothing of
 * PostgreSQL.  Here a document is brought to UTF-8 and handed over a slice at
 * a time, so that a query can be cancelled and memory stays bounded.
 *
 * The last document is remembered with its fingerprint until the transaction
 * ends.  Two common situations ask for the same one again and again: a table
 * whose fingerprint and four keys are all generated from the document computes
 * it five times a row, since generated columns cannot refer to each other, and
 * INSERT would take three times as long; and a comparison with simhash($1) in
 * a generic plan evaluates it for each row, which would make a search for the
 * 100 nearest take four times as long.
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
#define REMEMBERED_BYTES	(16 * 1024 * 1024)	/* of a document remembered */
#define PROFILE_NAME_SHOWN	64	/* bytes of the name of a profile unknown */

/* The document remembered with its fingerprint. */
typedef struct Memory
{
	SimhashWideFamily family;	/* NULL when there is none */
	const ShProfile *profile;
	int			words;
	Size		length;			/* of the document, in the server encoding */
	char	   *bytes;
	Size		allocated;
	bool		exists;			/* it has a fingerprint */
	uint64		fingerprint[SH_WORDS];
} Memory;

static Memory last;
static ShDocument *workspace = NULL;
static MemoryContext lasting = NULL;	/* of both, but for the workspace
										 * itself */

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

/*
 * Make a memory context for what outlives a call, but no transaction, however
 * that ends.  "forget" is called when it goes.
 */
MemoryContext
simhash_lasting_context(MemoryContextCallbackFunction forget)
{
	MemoryContext context = AllocSetContextCreate(TopTransactionContext,
												  "simhash documents",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContextCallback *callback = MemoryContextAllocZero(context,
															 sizeof *callback);

	callback->func = forget;
	MemoryContextRegisterResetCallback(context, callback);
	return context;
}

/* What lies in the lasting context goes. */
static void
forget(void *arg)
{
	(void) arg;
	lasting = NULL;
	memset(&last, 0, sizeof last);
	if (workspace != NULL)
	{
		workspace->tally.slots = 0;
		workspace->tally.occupied = 0;
	}
}

/* Allocate what outlives the call: for the tally, and the document remembered. */
static void *
allocate_lasting(size_t bytes)
{
	if (lasting == NULL)
		lasting = simhash_lasting_context(forget);
	return MemoryContextAllocHuge(lasting, bytes);
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

/* Remember a document of so many bytes, whose fingerprint is to be filled in. */
static void
remember(const char *bytes, Size length)
{
	last.family = NULL;
	if (last.allocated < length || last.bytes == NULL)
	{
		if (last.bytes != NULL)
			pfree(last.bytes);
		last.bytes = NULL;
		last.allocated = Max(length, 1024);
		last.bytes = allocate_lasting(last.allocated);
	}
	memcpy(last.bytes, bytes, length);
	last.length = length;
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
	bool		exists;

	if (last.family == family && last.profile == profile &&
		last.words == words && last.length == length &&
		memcmp(last.bytes, bytes, length) == 0)
	{
		memcpy(result, last.fingerprint, words * sizeof *result);
		return last.exists;
	}
	exists = family(profile, document, words, result);
	if (length > REMEMBERED_BYTES)
		return exists;
	remember(bytes, length);
	last.family = family;
	last.profile = profile;
	last.words = words;
	last.exists = exists;
	memcpy(last.fingerprint, result, words * sizeof *result);
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
