/*-------------------------------------------------------------------------
 *
 * features.c
 *		The features of a document, one by one.
 *
 * What a fingerprint adds up, laid open: for simhash_features, and for those
 * that explain a fingerprint.  It follows the same path through core/ as the
 * fingerprint does, and differs only in keeping the features.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/tuplestore.h"

/* Limits of the work done. */
#define FEATURES_MAX		SH_SECTION	/* occurrences listed at most */

/* What is being collected. */
typedef struct FeatureList
{
	const ShProfile *profile;
	ShDocument *document;		/* its text and tally */
	HTAB	   *features;		/* of SimhashFeature, by hash */
	int64		occurrences;
} FeatureList;

PG_FUNCTION_INFO_V1(simhash_features);

/* Add one occurrence of a feature to the list; NULL unless it is the first. */
static SimhashFeature *
list_hash(FeatureList *list, uint64 hash)
{
	bool		found;
	SimhashFeature *feature;

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
	}
	feature->weight += sh_tally_add(&list->document->tally,
									list->profile->damping, hash);
	return found ? NULL : feature;
}

/* ShDocumentSink: list the features. */
static bool
list_windows(void *state, ShWindows *windows)
{
	FeatureList *list = state;
	ShFeature	batch[SH_BATCH];
	size_t		n;

	while ((n = sh_windows_next(windows, batch)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < n; i++)
		{
			const unsigned char *bytes = windows->text->bytes + batch[i].start;
			Size		length = batch[i].end - batch[i].start;
			SimhashFeature *fresh;

			fresh = list_hash(list, sh_feature_hash(bytes, length));
			if (fresh != NULL)
				fresh->feature = simhash_feature_text(bytes, length);
		}
	}
	return true;
}

/* SimhashReader: list the features of the slice, but for the last few. */
static void
feed_list(void *state, const unsigned char *bytes, Size length)
{
	FeatureList *list = state;

	(void) sh_document_read(list->document, bytes, length, list_windows, list);
}

/* List the features of the document, read as another implementation does. */
static void
list_compat(FeatureList *list, text *document)
{
	ShCompat	compat;
	uint64		hash;

	simhash_compat_begin(&compat, list->profile, document);
	while (sh_compat_next(&compat, &hash))
	{
		SimhashFeature *fresh;

		CHECK_FOR_INTERRUPTS();
		fresh = list_hash(list, hash);
		if (fresh != NULL)
			fresh->feature = simhash_compat_feature(&compat);
	}
	simhash_compat_end(&compat, document);
}

/* List the features of the document, read by a profile of our own. */
static void
list_own(FeatureList *list, text *document)
{
	simhash_read_utf8(VARDATA_ANY(document), VARSIZE_ANY_EXHDR(document),
					  feed_list, list);
	sh_document_read_end(list->document, list_windows, list);
}

/* The features listed, in the order of their first occurrence. */
static SimhashFeature **
in_order(const FeatureList *list)
{
	long		n = hash_get_num_entries(list->features);
	SimhashFeature **ordered = palloc(Max(n, 1) * sizeof *ordered);
	HASH_SEQ_STATUS scan;
	SimhashFeature *feature;

	hash_seq_init(&scan, list->features);
	while ((feature = hash_seq_search(&scan)) != NULL)
		ordered[feature->ordinal] = feature;
	return ordered;
}

/*
 * List the features of a document, in the order of their first occurrence,
 * in the current memory context; sets *n to their number.  Fails when they
 * occur more than a million times.
 */
SimhashFeature **
simhash_list_features(const ShProfile *profile, text *document, int *n)
{
	FeatureList list;
	HASHCTL		control;

	control.keysize = sizeof(uint64);
	control.entrysize = sizeof(SimhashFeature);
	control.hcxt = CurrentMemoryContext;
	list.profile = profile;
	list.features = hash_create("simhash features", 256, &control,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	list.occurrences = 0;
	list.document = simhash_begin_document(profile);
	if (sh_compat_profile(profile))
		list_compat(&list, document);
	else
		list_own(&list, document);
	*n = (int) hash_get_num_entries(list.features);
	return in_order(&list);
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
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const ShProfile *profile = sh_default_profile;
	SimhashFeature **features;
	int			n;

	if (PG_NARGS() > 1)
		profile = simhash_get_profile(PG_GETARG_TEXT_PP(1));
	InitMaterializedSRF(fcinfo, 0);
	features = simhash_list_features(profile, PG_GETARG_TEXT_PP(0), &n);
	for (int i = 0; i < n; i++)
	{
		Datum		values[3];
		bool		nulls[3] = {false};

		values[0] = PointerGetDatum(features[i]->feature);
		values[1] = Float8GetDatum((double) features[i]->weight);
		values[2] = Int64GetDatum((int64) features[i]->hash);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}
