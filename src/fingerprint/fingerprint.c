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
	StringInfoData document;
	bool		exists;			/* it has a fingerprint */
	uint64		fingerprint[SH_WORDS];
} Memory;

static Memory last;
static ShDocument *workspace = NULL;
ShProfiles	simhash_known_profiles;

static MemoryContext lasting = NULL;	/* of both, but for the workspace's
										 * own struct */

PG_FUNCTION_INFO_V1(simhash);
PG_FUNCTION_INFO_V1(simhash_bits);
PG_FUNCTION_INFO_V1(simhash_profiles);

/* The profile of that name; fails when there is none. */
const ShProfile *
simhash_get_profile(text *name)
{
	const ShProfile *profile = sh_profile_find(&simhash_known_profiles, VARDATA_ANY(name),
											   VARSIZE_ANY_EXHDR(name));

	if (profile == NULL &&
		sh_profile_exists(&simhash_known_profiles, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("session has used too many profiles with a seed"),
				 errdetail("A session can use %d.", SH_PROFILE_SEEDED),
				 errhint("Begin another session.")));
	if (profile == NULL || sh_profile_given(profile))
	{
		/* Not cut within a character, which no client could be sent. */
		int			shown = pg_mbcliplen(VARDATA_ANY(name),
										 VARSIZE_ANY_EXHDR(name),
										 PROFILE_NAME_SHOWN);

		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("simhash profile \"%.*s\" does not exist",
						shown, VARDATA_ANY(name)),
				 errhint("SELECT * FROM simhash_profiles() lists the profiles. Others are word-N, word-N-M, and the same of char and symbol, N and M from 1 to %d, each also with -count, -sqrt, -log, -binary or -capped; behind all of these -html or -article, then -fold, and then -seed-S.",
						 SH_WINDOW_MAX)));
	}
	return profile;
}

/*
 * The profile by which documents are compared feature by feature.  It has a seed
 * that the process has drawn and nobody knows, so that nobody can make two features
 * whose hashes are the same.
 */
const ShProfile *
simhash_comparing_profile(const ShProfile *profile)
{
	static uint64 seed = 0;

	if (seed == 0 && !pg_strong_random(&seed, sizeof seed))
		seed = pg_prng_uint64(&pg_global_prng_state);
	seed |= 1;
	return sh_profile_seeded(&simhash_known_profiles, profile, seed);
}

/* The profile that argument i names; the default one when there is none. */
const ShProfile *
simhash_profile_argument(FunctionCallInfo fcinfo, int i)
{
	return PG_NARGS() <= i || PG_ARGISNULL(i) ? sh_default_profile :
		simhash_get_profile(PG_GETARG_TEXT_PP(i));
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

/* Is that the document kept? */
bool
simhash_is_copy(const StringInfoData *copy, text *document)
{
	return copy->len == (int) VARSIZE_ANY_EXHDR(document) &&
		memcmp(copy->data, VARDATA_ANY(document), copy->len) == 0;
}

/* Keep a document in a memory context, in place of another one. */
void
simhash_make_copy(StringInfo copy, MemoryContext context, text *document)
{
	MemoryContext old = MemoryContextSwitchTo(context);

	if (copy->data == NULL)
		initStringInfo(copy);
	resetStringInfo(copy);
	appendBinaryStringInfo(copy, VARDATA_ANY(document),
						   VARSIZE_ANY_EXHDR(document));
	MemoryContextSwitchTo(old);
}

/* The lasting context is about to be freed: forget what lies in it. */
static void
forget_document(void *arg)
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

/* The context of what outlives the call. */
static MemoryContext
get_lasting(void)
{
	if (lasting == NULL)
		lasting = simhash_lasting_context(forget_document);
	return lasting;
}

/* Begin a tally that is to grow in a memory context. */
void
simhash_init_tally(ShTally *tally, MemoryContext context)
{
	memset(tally, 0, sizeof *tally);
	tally->allocate = simhash_allocate;
	tally->context = context;
	tally->release = pfree;
	tally->multiplier = pg_prng_uint64(&pg_global_prng_state) | 1;
}

/* ShTally.allocate: in the context that lasts, which is made if need be. */
static void *
allocate_lasting(void *context, size_t bytes)
{
	(void) context;
	return MemoryContextAllocHuge(get_lasting(), bytes);
}

/* Allocate what lasts as long as the process. */
static void *
allocate_for_good(size_t bytes)
{
	return MemoryContextAlloc(TopMemoryContext, bytes);
}

/* Have profiles allocated as everything is. */
void
simhash_profiles_init(void)
{
	simhash_known_profiles.allocate = allocate_for_good;
}

/* Get the workspace, ready to read a document. */
ShDocument *
simhash_begin_document(const ShProfile *profile)
{
	if (workspace == NULL)
	{
		workspace = MemoryContextAllocZero(TopMemoryContext,
										   sizeof *workspace);
		simhash_init_tally(&workspace->tally, NULL);
		workspace->tally.allocate = allocate_lasting;
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

/* SimhashWideFamily: the SimHash fingerprint of a document. */
static bool
simhash_family(const ShProfile *profile, text *document, int words,
			   uint64 *result)
{
	ShDocument *reading = simhash_begin_document(profile);

	reading->words = words;
	if (sh_compat_profile(profile))
		simhash_read_hashes(reading, document, sh_document_add_hashes, reading);
	else
		simhash_read_text(profile, document, feed_document, reading);
	return sh_document_end(reading, result);
}

/*
 * The fingerprint of a document by a family, in so many words, computed or
 * remembered; false when it has none.
 */
static bool
remembered_fingerprint(SimhashWideFamily family, const ShProfile *profile,
					   text *document, int words, uint64 *result)
{
	if (last.family != family || last.profile != profile ||
		last.words != words || !simhash_is_copy(&last.document, document))
	{
		bool		exists = family(profile, document, words, result);

		if (VARSIZE_ANY_EXHDR(document) > REMEMBERED_BYTES)
			return exists;
		last.family = NULL;
		simhash_make_copy(&last.document, get_lasting(), document);
		last.family = family;
		last.profile = profile;
		last.words = words;
		last.exists = exists;
		memcpy(last.fingerprint, result, words * sizeof *result);
	}
	memcpy(result, last.fingerprint, words * sizeof *result);
	return last.exists;
}

/*
 * SimhashWideFamily: the SimHash fingerprint of a document, computed or remembered.
 */
bool
simhash_wide_fingerprint(const ShProfile *profile, text *document, int words,
						 uint64 *result)
{
	return remembered_fingerprint(simhash_family, profile, document, words, result);
}

/*
 * Return the fingerprint by a family of the document that is argument 0: a
 * bigint, or in as many bits as argument "bits" says, unless that is 0.  The
 * argument behind it names the profile.
 */
Datum
simhash_of_document(FunctionCallInfo fcinfo, SimhashWideFamily family,
					int bits)
{
	uint64		result[SH_WORDS];
	int			words;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(bits))
		PG_RETURN_NULL();
	words = simhash_words_argument(fcinfo, bits);
	return simhash_return(fcinfo,
						  remembered_fingerprint(family,
												 simhash_profile_argument(fcinfo, bits + 1),
												 PG_GETARG_TEXT_PP(0),
												 Max(words, 1), result),
						  result, words);
}

/*
 * simhash(document text) -> bigint
 * simhash(document text, profile text) -> bigint
 *
 * The SimHash fingerprint of the document by the profile of that name, or by
 * the default one; NULL when the document has no feature (Charikar 2002,
 * "Similarity Estimation Techniques from Rounding Algorithms"; Manku, Jain and
 * Das Sarma 2007, "Detecting Near-Duplicates for Web Crawling").
 *
 * Errors: undefined_object when there is no such profile.
 */
Datum
simhash(PG_FUNCTION_ARGS)
{
	return simhash_of_document(fcinfo, simhash_family, 0);
}

/*
 * simhash_bits(document text, bits bigint, profile text DEFAULT NULL) -> bit
 *
 * The SimHash fingerprint of the document in so many bits, of which the first
 * 64 are simhash(document, profile); NULL when the document has no feature.
 * A NULL profile is the default one.
 *
 * Errors: invalid_parameter_value unless bits is a multiple of 64 from 64 to
 * 1024, undefined_object when there is no such profile.
 */
Datum
simhash_bits(PG_FUNCTION_ARGS)
{
	return simhash_of_document(fcinfo, simhash_family, 1);
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
		simhash_put_row(fcinfo, values, nulls);
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
		simhash_put_row(fcinfo, values, nulls);
	}
	return (Datum) 0;
}
