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
#include "utils/builtins.h"

/* Limits of the work done. */
#define FEATURES_MAX		SH_SECTION	/* occurrences listed at most */
#define FEATURES_FIRST		512 /* that room is made for at first */

/* What is being collected. */
typedef struct FeatureList
{
	SimhashFeatures *features;
	ShDocument *document;		/* its text and tally */
	int64		occurrences;
} FeatureList;

PG_FUNCTION_INFO_V1(simhash_features);

/*
 * The feature with that hash in a list, where it is new without weight or text.
 * Without a tally to begin with, the list makes one of its own.
 */
SimhashFeature *
simhash_list_hash(SimhashFeatures *features, uint64 hash)
{
	uint32	   *number;

	if (features->numbers == NULL)
	{
		features->numbers = palloc(sizeof *features->numbers);
		simhash_init_tally(features->numbers, CurrentMemoryContext);
	}
	simhash_make_room(features->list, features->n, features->allocated, FEATURES_FIRST);
	number = sh_tally_count(features->numbers, hash);
	if (*number == 0)
	{
		features->list[features->n] = (SimhashFeature)
		{
			hash, 0, NULL
		};
		*number = ++features->n;
	}
	return &features->list[*number - 1];
}

/* Add one occurrence of a feature to the list; NULL unless it is the first. */
static SimhashFeature *
list_hash(FeatureList *list, uint64 hash)
{
	SimhashFeature *feature;

	if (++list->occurrences > FEATURES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document has too many features to list"),
				 errdetail("At most %d occurrences of features can be listed.",
						   FEATURES_MAX),
				 errhint("List those of a part of it, for example of left(document, 100000).")));
	feature = simhash_list_hash(list->features, hash);
	feature->weight += sh_tally_add(&list->document->tally,
									list->document->profile->damping, hash);
	return feature->feature == NULL ? feature : NULL;
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

			fresh = list_hash(list, sh_feature_hash(list->document->profile,
													bytes, length));
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

	simhash_compat_begin(&compat, list->document->profile, document);
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

/*
 * List the features of a document in the current memory context, in a list that
 * is all zero at first.  Fails when they occur more than a million times.
 */
void
simhash_list_features(SimhashFeatures *features, const ShProfile *profile,
					  text *document)
{
	FeatureList list = {features, simhash_begin_document(profile), 0};

	if (sh_compat_profile(profile))
	{
		list_compat(&list, document);
		return;
	}
	simhash_read_text(profile, document, feed_list, &list);
	sh_document_read_end(list.document, list_windows, &list);
}

/* Add a row of (feature text, weight double precision, hash bigint). */
void
simhash_put_feature(FunctionCallInfo fcinfo, text *feature, double weight,
					uint64 hash)
{
	Datum		values[3] = {PointerGetDatum(feature), Float8GetDatum(weight),
	Int64GetDatum((int64) hash)};
	bool		nulls[3] = {false};

	simhash_put_row(fcinfo, values, nulls);
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
	SimhashFeatures features = {0};

	InitMaterializedSRF(fcinfo, 0);
	simhash_list_features(&features, simhash_profile_argument(fcinfo, 1),
						  PG_GETARG_TEXT_PP(0));
	for (int i = 0; i < features.n; i++)
		simhash_put_feature(fcinfo, features.list[i].feature,
							(double) features.list[i].weight,
							features.list[i].hash);
	return (Datum) 0;
}
