/*-------------------------------------------------------------------------
 *
 * tune.c
 *		What distance to search within, found out on the user's own texts.
 *
 * simhash_tune draws a sample of the documents that a query returns, and then
 * compares each document with each one of the sample twice: by fingerprint,
 * and exactly, by their features.  So for each k it can tell how many of the
 * pairs within distance k are alike, and how many of those alike are within
 * distance k.
 *
 * Exactly means by the Jaccard similarity of the sets of features, or by the
 * cosine of their weights.  Both come from three sums: with every weight 1,
 * |A and B| is the product of the vectors, |A| that of one with itself.  The
 * weights are whole numbers and so are the sums, far below 2^53.
 *
 * Documents are sampled, but not what they are compared with: a sample of a
 * thousand rows of a million would hold a millionth of the pairs alike.  Nor
 * are pairs alike looked for by fingerprint, which would only find those that
 * it finds.  An index of the sample, from feature to document, tells what
 * features any other document has in common with each.
 *
 * Instead of documents the query can return arrays of words, which are their
 * features; and in a second column the fingerprint of each, so that any way to
 * make one can be judged, as with idf.
 *
 * The query is run twice, in one snapshot: once to draw the sample, once to
 * compare.  Identical texts are no pair, whichever rows they are in: they
 * have identical fingerprints, and would hide how the others fare.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/tune.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "core/fingerprint/minima.h"
#include "weights/weights.h"

/* Limits of the work done. */
#define POSTINGS_MAX	(16 * 1024 * 1024)	/* features of a sample */
#define FEATURES_MAX	SH_SECTION	/* features read of a document */

/* Distances told of: those that are searched within, to verify what is found. */
#define TUNE_K_MAX		24

/* A distance is recommended when so many of the pairs alike are within it. */
#define RECALL_MIN		0.98

#define SAY_EVERY		64		/* documents between two looks at the clock */

#define BUCKET_BITS		16		/* of the directory of postings */
#define BUCKETS			(1 << BUCKET_BITS)

/* How alike two documents are. */
typedef enum Measure
{
	JACCARD,					/* of the sets of features */
	COSINE						/* of their weights by the profile */
} Measure;

/* The features of a document, as a growing list of hashes. */
typedef struct Features
{
	uint64	   *hashes;			/* as they occur, then each once */
	uint32	   *weights;
	Size		n;
	Size		allocated;
	double		square;			/* the product of the weights with themselves */
} Features;

/* A document of the sample. */
typedef struct Sampled
{
	SimhashRow	row;			/* until the sample is complete */
	uint64		digest;			/* of the text */
	uint64		fingerprint;
	double		square;			/* as of Features */
	double		product;		/* with the document compared */
} Sampled;

/* A feature of a document of the sample. */
typedef struct Posting
{
	uint64		hash;
	uint32		sampled;		/* its place in the sample */
	uint32		weight;
} Posting;

/* The whole undertaking. */
typedef struct Tuning
{
	/* what stays */
	const ShProfile *profile;
	SimhashFamily family;
	Measure		measure;
	double		similarity;		/* from which documents are alike */
	uint32		wanted;			/* documents of the sample */

	/* what moves */
	SimhashDocuments documents; /* of the query */
	MemoryContext context;		/* of the sample */
	uint64		seen;			/* documents that the query has returned */
	uint64		compared;		/* of these */
	int			n;				/* documents of the sample so far */
	Sampled    *sample;
	Features	features;		/* of the document being read */
	Posting    *postings;		/* by hash */
	Size		npostings;
	uint32		buckets[BUCKETS + 1];	/* where they start */
	uint64		pairs[2][SH_BITS + 1];	/* alike or not; by distance */
} Tuning;

PG_FUNCTION_INFO_V1(simhash_tune);

/*
 * SimhashRowReader: draw the sample.  Once it is complete, the document that is
 * the n-th takes the place of a random one with probability wanted / n, so
 * that every document has the same chance (reservoir sampling).
 */
static void
draw(void *state, const SimhashRow *row)
{
	Tuning	   *tuning = state;
	uint64		place = tuning->seen++;
	Size		length = VARSIZE_ANY(row->document);
	SimhashRow *kept;

	if (tuning->seen % SAY_EVERY == 0)
		simhash_progress_rows("reading", (int64) tuning->seen);
	if (place >= tuning->wanted)
		place = pg_prng_uint64_range(&pg_global_prng_state, 0, place);
	else
		tuning->n++;
	if (place >= tuning->wanted)
		return;
	kept = &tuning->sample[place].row;
	if (kept->document != NULL)
		pfree(kept->document);
	*kept = *row;
	kept->document = MemoryContextAlloc(tuning->context, length);
	memcpy(kept->document, row->document, length);
}

/* SimhashHashReader: collect the hashes. */
static bool
collect(void *state, const uint64 *hashes, size_t n)
{
	Features   *features = state;

	CHECK_FOR_INTERRUPTS();
	if (features->n + n > features->allocated)
	{
		features->allocated = 2 * (features->n + n);
		features->hashes = repalloc_huge(features->hashes,
										 features->allocated *
										 sizeof *features->hashes);
		features->weights = repalloc_huge(features->weights,
										  features->allocated *
										  sizeof *features->weights);
	}
	memcpy(features->hashes + features->n, hashes, n * sizeof *hashes);
	features->n += n;
	return features->n < FEATURES_MAX;
}

/* For qsort: hashes, and what begins with one. */
static int
compare_hashes(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/*
 * Make of the hashes as they occur each once, with its weight.  Those of a
 * document are one section, since no more are read.
 */
static void
weigh_features(Features *features, const Tuning *tuning)
{
	Size		n = 0;
	Size		next;

	features->square = 0;
	for (Size i = 0; i < features->n; i = next)
	{
		uint32		weight = 1;

		for (next = i + 1; next < features->n; next++)
		{
			if (features->hashes[next] != features->hashes[i])
				break;
		}
		if (tuning->measure == COSINE)
			weight = sh_damp(tuning->documents.words ? SH_DAMP_COUNT :
							 tuning->profile->damping, (uint32) (next - i));
		features->hashes[n] = features->hashes[i];
		features->weights[n++] = weight;
		features->square += (double) weight * weight;
	}
	features->n = n;
}

/* Collect the hashes of the words of an array. */
static void
collect_words(Features *features, ArrayType *words)
{
	Datum	   *elements;
	int			n = simhash_get_elements(words, TEXTOID, -1, false,
										 TYPALIGN_INT, "features", &elements);

	for (int i = 0; i < n; i++)
	{
		text	   *word = DatumGetTextPP(elements[i]);
		uint64		hash;

		hash = simhash_hash_feature(&sh_no_profile, VARDATA_ANY(word),
									VARSIZE_ANY_EXHDR(word));
		if (!collect(features, &hash, 1))
			break;
	}
}

/* The fingerprint of words whose hashes were collected; false if none. */
static bool
fingerprint_words(const Tuning *tuning, uint64 *fingerprint)
{
	const Features *features = &tuning->features;
	ShSums		sums = {0};
	ShMinima	minima;

	if (tuning->family == simhash_minhash)
	{
		sh_minima_begin(&minima);
		sh_minima_add(&minima, features->hashes, features->n);
		return sh_minima_fingerprint(&minima, fingerprint);
	}
	sh_sums_add(&sums, features->hashes, features->n);
	return sh_sums_fingerprint(&sums, fingerprint);
}

/*
 * Make tuning->features the features of a document.  False when it has no
 * fingerprint.
 */
static bool
read_features(Tuning *tuning, const SimhashRow *row, uint64 *fingerprint)
{
	Features   *features = &tuning->features;
	text	   *document = (text *) row->document;

	*fingerprint = row->fingerprint;
	features->n = 0;
	if (!row->exists)
		return false;
	if (tuning->documents.words)
	{
		collect_words(features, (ArrayType *) row->document);
		if (!tuning->documents.made && !fingerprint_words(tuning, fingerprint))
			return false;
	}
	else
	{
		if (!tuning->documents.made &&
			!tuning->family(tuning->profile, document, fingerprint))
			return false;
		simhash_read_hashes(simhash_begin_document(tuning->profile), document,
							collect, features);
	}
	qsort(features->hashes, features->n, sizeof(uint64), compare_hashes);
	weigh_features(features, tuning);
	return features->n > 0;
}

/* The digest of a document, by which identical ones are known. */
static uint64
digest(const struct varlena *document)
{
	const void *bytes = VARDATA_ANY(document);

	return DatumGetUInt64(hash_any_extended(bytes,
											(int) VARSIZE_ANY_EXHDR(document),
											0));
}

/* Add the features of a document of the sample to the postings. */
static void
post(Tuning *tuning, uint32 sampled)
{
	const Features *features = &tuning->features;

	if (tuning->npostings + features->n > POSTINGS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sample has too many features"),
				 errdetail("At most %d features can be compared at a time.",
						   POSTINGS_MAX),
				 errhint("Ask for a smaller sample.")));
	tuning->postings = repalloc_huge(tuning->postings,
									 (tuning->npostings + features->n + 1) *
									 sizeof *tuning->postings);
	for (Size i = 0; i < features->n; i++)
	{
		Posting    *posting = &tuning->postings[tuning->npostings++];

		posting->hash = features->hashes[i];
		posting->sampled = sampled;
		posting->weight = features->weights[i];
	}
}

/* Index the sample, leaving out documents that have no fingerprint. */
static void
index_sample(Tuning *tuning)
{
	int			n = 0;
	Size		at = 0;

	for (int i = 0; i < tuning->n; i++)
	{
		Sampled    *sampled = &tuning->sample[n];
		SimhashRow	row = tuning->sample[i].row;
		MemoryContext old = MemoryContextSwitchTo(tuning->documents.scratch);

		CHECK_FOR_INTERRUPTS();
		if (read_features(tuning, &row, &sampled->fingerprint))
		{
			post(tuning, n++);
			sampled->square = tuning->features.square;
			sampled->digest = digest(row.document);
		}
		pfree(row.document);
		MemoryContextSwitchTo(old);
		MemoryContextReset(tuning->documents.scratch);
	}
	tuning->n = n;
	qsort(tuning->postings, tuning->npostings, sizeof *tuning->postings,
		  compare_hashes);
	for (uint64 bucket = 0; bucket <= BUCKETS; bucket++)
	{
		while (at < tuning->npostings &&
			   tuning->postings[at].hash >> (64 - BUCKET_BITS) < bucket)
			at++;
		tuning->buckets[bucket] = (uint32) at;
	}
}

/* Multiply the document being read with each of the sample. */
static void
multiply(Tuning *tuning)
{
	for (int i = 0; i < tuning->n; i++)
		tuning->sample[i].product = 0;
	for (Size i = 0; i < tuning->features.n; i++)
	{
		uint64		hash = tuning->features.hashes[i];
		double		weight = tuning->features.weights[i];
		const uint32 *bucket = &tuning->buckets[hash >> (64 - BUCKET_BITS)];

		for (uint32 at = bucket[0]; at < bucket[1]; at++)
		{
			const Posting *posting = &tuning->postings[at];

			if (posting->hash > hash)
				break;
			if (posting->hash == hash)
				tuning->sample[posting->sampled].product +=
					weight * posting->weight;
		}
	}
}

/* True when the document being read is alike to that one of the sample. */
static inline bool
is_alike(const Tuning *tuning, const Sampled *sampled)
{
	double		a = sampled->square;
	double		b = tuning->features.square;

	if (tuning->measure == JACCARD)
		return sampled->product >=
			tuning->similarity * (a + b - sampled->product);
	return sampled->product >= tuning->similarity * sqrt(a * b);
}

/* SimhashRowReader: compare the document with each one of the sample. */
static void
compare(void *state, const SimhashRow *row)
{
	Tuning	   *tuning = state;
	uint64		fingerprint;
	uint64		own;

	if (++tuning->compared % SAY_EVERY == 0)
		simhash_progress_done(NULL, (double) tuning->compared / tuning->seen);
	if (!read_features(tuning, row, &fingerprint))
		return;
	own = digest(row->document);
	multiply(tuning);
	for (int i = 0; i < tuning->n; i++)
	{
		const Sampled *sampled = &tuning->sample[i];

		if (sampled->digest != own)
			tuning->pairs[is_alike(tuning, sampled)]
				[sh_distance(sampled->fingerprint, fingerprint)]++;
	}
}

/*
 * Precision, recall and F1 at a distance; NULLs where there are no pairs.  And
 * F1 if what is found is then compared exactly, so that only pairs that are
 * alike are left; and how many comparisons that takes for a document.
 */
static void
rate(const Tuning *tuning, int k, Datum *values, bool *nulls, double *f1)
{
	double		found[2] = {0, 0};
	double		alike = 0;

	for (int d = 0; d <= SH_BITS; d++)
	{
		alike += tuning->pairs[1][d];
		if (d <= k)
		{
			found[0] += tuning->pairs[0][d];
			found[1] += tuning->pairs[1][d];
		}
	}
	*f1 = alike > 0 ? 2 * found[1] / (found[0] + found[1] + alike) : 0;
	values[0] = Int32GetDatum(k);
	values[1] = Int64GetDatum((int64) (found[0] + found[1]));
	values[2] = Float8GetDatum(found[1] / (found[0] + found[1]));
	nulls[2] = found[0] + found[1] == 0;
	values[3] = Float8GetDatum(found[1] / alike);
	values[4] = Float8GetDatum(*f1);
	values[6] = Float8GetDatum(2 * found[1] / (found[1] + alike));
	nulls[3] = nulls[4] = nulls[6] = alike == 0;
	values[7] = Float8GetDatum((found[0] + found[1]) / tuning->n);
	nulls[7] = tuning->n == 0;
}

/* Say what to search, what to verify, and what comes of that. */
static void
recommend(const Tuning *tuning, int k, const Datum *values)
{
	ereport(NOTICE,
			(errmsg("search within distance %d, and verify a similarity of %g or more",
					k, tuning->similarity),
			 errdetail("That finds %.1f %% of the pairs that are as similar, and compares %.3g documents for each; unverified, %.1f %% of what is found is as similar.",
					   100 * DatumGetFloat8(values[3]),
					   DatumGetFloat8(values[7]),
					   100 * DatumGetFloat8(values[2])),
			 tuning->measure == JACCARD ?
			 errhint("simhash_jaccard compares two documents.") :
			 errhint("simhash_cosine compares two documents.")));
}

/*
 * Return a row for each distance.  Recommended is what to search within when
 * what is found is verified: the least distance that finds nearly all pairs
 * alike, since each further one costs comparisons and gains nothing; or else,
 * of those that are searched fast, the one that finds most.
 */
static void
return_rates(const Tuning *tuning, ReturnSetInfo *rsinfo)
{
	Datum		values[8];
	bool		nulls[8] = {false};
	double		f1;
	double		best = 0;
	int			recommended = -1;

	for (int k = 0; k <= SIMHASH_K_MAX && best < RECALL_MIN; k++)
	{
		rate(tuning, k, values, nulls, &f1);
		if (!nulls[3] && DatumGetFloat8(values[3]) > best)
		{
			best = DatumGetFloat8(values[3]);
			recommended = k;
		}
	}
	if (recommended >= 0)
	{
		rate(tuning, recommended, values, nulls, &f1);
		recommend(tuning, recommended, values);
	}
	for (int k = 0; k <= TUNE_K_MAX; k++)
	{
		rate(tuning, k, values, nulls, &f1);
		values[5] = BoolGetDatum(k == recommended);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
}

/* Read the arguments after the query. */
static void
get_arguments(FunctionCallInfo fcinfo, Tuning *tuning)
{
	char	   *family = text_to_cstring(PG_GETARG_TEXT_PP(3));
	char	   *measure = text_to_cstring(PG_GETARG_TEXT_PP(5));

	tuning->wanted = simhash_sample_argument(PG_GETARG_INT64(1));
	tuning->profile = simhash_get_profile(PG_GETARG_TEXT_PP(2));
	if (strcmp(family, "simhash") == 0)
		tuning->family = simhash_fingerprint;
	else if (strcmp(family, "minhash") == 0)
		tuning->family = simhash_minhash;
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("family \"%s\" does not exist", family),
				 errhint("The families are simhash and minhash.")));
	tuning->similarity = PG_GETARG_FLOAT8(4);
	if (!(tuning->similarity > 0 && tuning->similarity <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("similarity must be above 0 and at most 1")));
	if (strcmp(measure, "jaccard") == 0)
		tuning->measure = JACCARD;
	else if (strcmp(measure, "cosine") == 0)
		tuning->measure = COSINE;
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("measure \"%s\" does not exist", measure),
				 errhint("The measures are jaccard and cosine.")));
}

/*
 * simhash_tune(query text, sample bigint DEFAULT 1000,
 *		profile text DEFAULT the default profile,
 *		family text DEFAULT 'simhash',
 *		similarity double precision DEFAULT 0.8,
 *		measure text DEFAULT 'jaccard')
 *		-> setof (k integer, pairs bigint, "precision" double precision,
 *		recall double precision, f1 double precision, recommended boolean,
 *		verified_f1 double precision, verifications double precision)
 *
 * How well searches within each distance would do on the documents that the
 * query returns, and which distance to take.  Two documents are alike when
 * the Jaccard similarity of their sets of features, or the cosine of their
 * weighted features, is at least "similarity".  The last columns say what it
 * gains to verify that of what a search has found, and how many documents that
 * is.  Instead of documents the query
 * can return arrays of words, and in a second column the fingerprints, in place
 * of those by the profile and the family.
 *
 * Errors: datatype_mismatch when the query does not return documents,
 * undefined_object when there is no such profile, invalid_parameter_value when
 * it is no SELECT, and for other arguments out of range,
 * program_limit_exceeded when the sample has too many features.
 */
Datum
simhash_tune(PG_FUNCTION_ARGS)
{
	Tuning	   *tuning = palloc0(sizeof *tuning);
	SimhashStatement query = {
		.text = text_to_cstring(PG_GETARG_TEXT_PP(0)),
		.example = "SELECT body FROM docs"
	};
	SimhashProgress progress;

	get_arguments(fcinfo, tuning);
	InitMaterializedSRF(fcinfo, 0);
	tuning->context = CurrentMemoryContext;
	tuning->documents.state = tuning;
	tuning->documents.scratch = AllocSetContextCreate(CurrentMemoryContext,
													  "simhash_tune",
													  ALLOCSET_DEFAULT_SIZES);
	tuning->sample = palloc0(tuning->wanted * sizeof *tuning->sample);
	tuning->features.hashes = palloc(sizeof(uint64));
	tuning->features.weights = palloc(sizeof(uint32));
	tuning->postings = palloc(sizeof *tuning->postings);
	simhash_progress_begin(&progress, "simhash_tune");
	PG_TRY();
	{
		simhash_analyze(&query);
		simhash_read_documents(&tuning->documents, &query, draw);
		index_sample(tuning);
		simhash_read_documents(&tuning->documents, &query, compare);
	}
	PG_FINALLY();
	{
		simhash_progress_end(&progress);
	}
	PG_END_TRY();
	return_rates(tuning, (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
