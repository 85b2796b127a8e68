/*-------------------------------------------------------------------------
 *
 * idf_agg.c
 *		simhash_idf values learnt from documents, and from each other.
 *
 * Learning keeps a table of the hashes of all features in memory, 24 to 48
 * bytes for each different one, and no text.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "utils/builtins.h"
#include "utils/memutils.h"

/* Document frequencies being learnt. */
typedef struct Learning
{
	const ShProfile *profile;	/* NULL while nothing was learnt */
	uint64		documents;
	ShTally		frequencies;
	ShTally    *seen;			/* features of the document being learnt from */
} Learning;

PG_FUNCTION_INFO_V1(simhash_idf_add);
PG_FUNCTION_INFO_V1(simhash_idf_agg_learn);
PG_FUNCTION_INFO_V1(simhash_idf_agg_learn_words);
PG_FUNCTION_INFO_V1(simhash_idf_agg_merge);
PG_FUNCTION_INFO_V1(simhash_idf_agg_combine);
PG_FUNCTION_INFO_V1(simhash_idf_agg_serial);
PG_FUNCTION_INFO_V1(simhash_idf_agg_deserial);
PG_FUNCTION_INFO_V1(simhash_idf_agg_final);

/* Begin to learn, in a memory context. */
static Learning *
begin_learning(MemoryContext context)
{
	Learning   *learning = MemoryContextAllocZero(context, sizeof *learning);

	simhash_init_tally(&learning->frequencies, context);
	return learning;
}

/* Set the profile, or fail if it is another one than before. */
static void
set_profile(Learning *learning, const ShProfile *profile)
{
	if (learning->profile == NULL)
		learning->profile = profile;
	else if (learning->profile != profile &&
			 sh_profile_given(learning->profile) != sh_profile_given(profile))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("document frequencies of words and of documents cannot be added"),
				 errdetail("The documents are cut by profile \"%s\".",
						   sh_profile_given(learning->profile) ?
						   profile->name : learning->profile->name)));
	else if (learning->profile != profile)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("document frequencies of different profiles cannot be added"),
				 errdetail("They are of \"%s\" and of \"%s\".",
						   learning->profile->name, profile->name)));
}

/* Count documents. */
static void
add_documents(Learning *learning, uint64 n)
{
	learning->documents += n;
	if (learning->documents > SH_IDF_DOCUMENTS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many documents for a simhash_idf value")));
}

/* Add to the frequency of a feature. */
static inline void
add_frequency(Learning *learning, uint64 hash, uint32 n)
{
	*sh_tally_count(&learning->frequencies, hash) += n;
	simhash_check_idf_entries(learning->frequencies.occupied);
}

/* ShHashReader: count the features that are new to the document. */
static void
learn_hashes(void *state, const uint64 *hashes, size_t n)
{
	Learning   *learning = state;

	for (size_t i = 0; i < n; i++)
	{
		if ((*sh_tally_count(learning->seen, hashes[i]))++ == 0)
			add_frequency(learning, hashes[i], 1);
	}
}

/* Learn from another value. */
static void
learn_value(Learning *learning, struct varlena *value)
{
	ShIdf		idf;
	ShIdfReader reader;
	ShIdfEntry	entry;

	simhash_open_idf(&idf, value);
	if (idf.kind == SH_IDF_GIVEN)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("given weights cannot be added"),
				 errdetail("Only document frequencies learnt by simhash_idf_agg can be added.")));
	set_profile(learning, idf.profile);
	add_documents(learning, idf.documents);
	sh_idf_read(&reader, &idf);
	while (sh_idf_next(&reader, &entry))
	{
		add_frequency(learning, entry.hash, (uint32) entry.value);
		CHECK_FOR_INTERRUPTS();
	}
	simhash_check_idf(reader.left == 0);
}

/* The value of what was learnt. */
static struct varlena *
learnt_value(const Learning *learning)
{
	const ShTally *tally = &learning->frequencies;
	ShIdf		idf = {.kind = SH_IDF_LEARNT,.profile = learning->profile};
	ShIdfEntry *entries;
	struct varlena *result;

	entries = MemoryContextAllocHuge(CurrentMemoryContext,
									 Max(tally->occupied, 1) * sizeof *entries);
	for (size_t slot = 0; slot < tally->slots; slot++)
	{
		CHECK_FOR_INTERRUPTS();
		if (tally->counts[slot] != 0)
		{
			entries[idf.entries].hash = tally->hashes[slot];
			entries[idf.entries].value = tally->counts[slot];
			idf.entries++;
		}
	}
	idf.documents = (uint32) learning->documents;
	result = simhash_make_idf(&idf, entries);
	pfree(entries);
	return result;
}

/*
 * simhash_idf_add(a simhash_idf, b simhash_idf) -> simhash_idf
 *
 * What would have been learnt from the documents of both.  Operator +.
 *
 * Errors: invalid_parameter_value when the profiles differ,
 * feature_not_supported for weights that were given.
 */
Datum
simhash_idf_add(PG_FUNCTION_ARGS)
{
	Learning   *learning = begin_learning(CurrentMemoryContext);

	learn_value(learning, PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0)));
	learn_value(learning, PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1)));
	PG_RETURN_POINTER(learnt_value(learning));
}

/* --- the aggregates ------------------------------------------------------ */

/* The state, argument 0, made when it is NULL. */
static Learning *
get_learning(FunctionCallInfo fcinfo)
{
	MemoryContext context = simhash_aggregate_context(fcinfo);

	return PG_ARGISNULL(0) ? begin_learning(context)
		: (Learning *) PG_GETARG_POINTER(0);
}

/*
 * simhash_idf_agg_learn(state internal, document text[, profile text])
 *		-> internal
 *
 * Transition: learn from a document.  A NULL document is ignored; a NULL
 * profile is the default one.
 */
Datum
simhash_idf_agg_learn(PG_FUNCTION_ARGS)
{
	Learning   *learning = get_learning(fcinfo);
	const ShProfile *profile = simhash_profile_argument(fcinfo, 2);
	ShDocument *workspace;

	set_profile(learning, profile);
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(learning);
	workspace = simhash_begin_document(profile);
	learning->seen = &workspace->tally;
	add_documents(learning, 1);
	simhash_read_hashes(workspace, PG_GETARG_TEXT_PP(1), learn_hashes,
						learning);
	PG_RETURN_POINTER(learning);
}

/*
 * simhash_idf_agg_learn(state internal, features text[] [, profile text])
 *		-> internal
 *
 * Transition: learn from the different words of an array, hashed with the seed
 * of the profile.  A NULL array is ignored.
 *
 * Errors: as simhash(features, weights); undefined_object when there is no such
 * profile.
 */
Datum
simhash_idf_agg_learn_words(PG_FUNCTION_ARGS)
{
	Learning   *learning = get_learning(fcinfo);
	const ShProfile *profile =
	sh_profile_seeded(&simhash_known_profiles, &sh_no_profile,
					  simhash_profile_argument(fcinfo, 2)->seed);
	uint64	   *hashes;
	int			n;

	set_profile(learning, profile);
	if (PG_ARGISNULL(1))
		PG_RETURN_POINTER(learning);
	n = simhash_hash_set(PG_GETARG_ARRAYTYPE_P(1), profile, &hashes);
	learning->seen = &simhash_begin_document(profile)->tally;
	add_documents(learning, 1);
	learn_hashes(learning, hashes, n);
	pfree(hashes);
	PG_RETURN_POINTER(learning);
}

/*
 * simhash_idf_agg_merge(state internal, idf simhash_idf) -> internal
 *
 * Transition: learn what another value has learnt.
 */
Datum
simhash_idf_agg_merge(PG_FUNCTION_ARGS)
{
	Learning   *learning = get_learning(fcinfo);

	if (!PG_ARGISNULL(1))
		learn_value(learning, PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(1)));
	PG_RETURN_POINTER(learning);
}

/*
 * simhash_idf_agg_combine(internal, internal) -> internal
 */
Datum
simhash_idf_agg_combine(PG_FUNCTION_ARGS)
{
	Learning   *learning = get_learning(fcinfo);

	if (!PG_ARGISNULL(1))
	{
		Learning   *other = (Learning *) PG_GETARG_POINTER(1);
		const ShTally *tally = &other->frequencies;

		if (other->profile != NULL)
			set_profile(learning, other->profile);
		add_documents(learning, other->documents);
		for (size_t slot = 0; slot < tally->slots; slot++)
		{
			CHECK_FOR_INTERRUPTS();
			if (tally->counts[slot] != 0)
				add_frequency(learning, tally->hashes[slot],
							  tally->counts[slot]);
		}
	}
	PG_RETURN_POINTER(learning);
}

/*
 * simhash_idf_agg_serial(internal) -> bytea
 *
 * The bytes of the value; none when nothing was learnt.
 */
Datum
simhash_idf_agg_serial(PG_FUNCTION_ARGS)
{
	Learning   *learning = (Learning *) PG_GETARG_POINTER(0);

	if (learning->profile == NULL)
		PG_RETURN_BYTEA_P(cstring_to_text_with_len("", 0));
	PG_RETURN_POINTER(learnt_value(learning));
}

/*
 * simhash_idf_agg_deserial(bytea, internal) -> internal
 */
Datum
simhash_idf_agg_deserial(PG_FUNCTION_ARGS)
{
	bytea	   *value = PG_GETARG_BYTEA_PP(0);
	Learning   *learning = begin_learning(CurrentMemoryContext);

	if (VARSIZE_ANY_EXHDR(value) > 0)
		learn_value(learning, value);
	PG_RETURN_POINTER(learning);
}

/*
 * simhash_idf_agg_final(internal) -> simhash_idf
 *
 * NULL when there was no row.
 */
Datum
simhash_idf_agg_final(PG_FUNCTION_ARGS)
{
	Learning   *learning = PG_ARGISNULL(0) ? NULL :
	(Learning *) PG_GETARG_POINTER(0);

	if (learning == NULL || learning->profile == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(learnt_value(learning));
}
