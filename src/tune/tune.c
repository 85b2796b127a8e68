/*-------------------------------------------------------------------------
 *
 * tune.c
 *		Which distance to search within, found out on the user's own texts.
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
 * make one can be judged, as with idf.  Where the table has fingerprints of the
 * documents, these are judged as they are made there (tune_recipe.c).
 *
 * The query is run twice, in one snapshot: once to draw the sample, once to
 * compare.  Identical texts are no pair, whichever rows they are in: they
 * have identical fingerprints, and would hide how the others fare.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "tune/tune.h"

#include <math.h>

#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "core/fingerprint/bag.h"
#include "core/fingerprint/families.h"

/* Limits of the work done. */
#define POSTINGS_MAX	(16 * 1024 * 1024)	/* features of a sample */

#define SAY_EVERY		64		/* documents between two looks at the clock */

#define BUCKET_BITS		16		/* of the directory of postings */
#define BUCKETS			(1 << BUCKET_BITS)

#define COLUMNS			7		/* of the result */

/* A document of the sample. */
typedef struct Sampled
{
	SimhashRow	row;			/* its document until the sample is complete */
	uint64		digest;			/* of the text */
	double		square;			/* the product of its weights with themselves */
	double		product;		/* with those of the document compared */
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
	const SimhashRecipe *recipe;
	SimhashMeasure measure;
	double		at_least;		/* from this similarity on, pairs are alike */
	uint32		wanted;			/* documents of the sample */

	/* what moves */
	SimhashDocuments documents; /* of the query */
	MemoryContext context;		/* of the sample */
	uint64		seen;			/* documents that the query has returned */
	uint64		compared;		/* of these */
	ShBag		features;		/* of the document being read */
	uint32		n;				/* documents of the sample so far */
	Sampled    *sample;
	Posting    *postings;		/* by hash */
	Size		npostings;
	uint32		buckets[BUCKETS + 1];	/* where they start */
	SimhashTally *tally;
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
collect(void *features, const uint64 *hashes, size_t n)
{
	CHECK_FOR_INTERRUPTS();
	sh_bag_add(features, hashes, n);
	return true;
}

/* The fingerprint of hashes of words; false if there are none. */
static bool
fingerprint_words(SimhashMeasure measure, const uint64 *hashes, int n,
				  uint64 *fingerprint)
{
	ShSums		sums = {0};
	ShMinima	minima;

	if (measure == SIMHASH_JACCARD)
	{
		sh_minima_begin(&minima);
		sh_minima_add(&minima, hashes, n);
		return sh_minima_fingerprint(&minima, fingerprint);
	}
	sh_sums_add(&sums, hashes, n);
	return sh_sums_fingerprint(&sums, fingerprint);
}

/* The fingerprint of a document; false if it has none. */
static bool
fingerprint_document(const SimhashRecipe *recipe, text *document,
					 uint64 *fingerprint)
{
	return recipe->measure == SIMHASH_JACCARD ?
		simhash_wide_minhash(recipe->profile, document, 1, fingerprint) :
		simhash_wide_fingerprint(recipe->profile, document, 1, fingerprint);
}

/*
 * Make tuning->features the features of a document, and its fingerprint unless
 * the query has.  False when it has none.
 */
static bool
read_features(Tuning *tuning, SimhashRow *row)
{
	const SimhashRecipe *recipe = tuning->recipe;
	ShBag	   *features = &tuning->features;
	text	   *document = (text *) row->document;
	bool		made = tuning->documents.made;

	if (made && row->width == 0)
		return false;
	sh_bag_begin(features, tuning->documents.words ? SH_DAMP_COUNT :
				 recipe->profile->damping);
	if (tuning->documents.words)
	{
		ArrayType  *words = (ArrayType *) document;
		uint64	   *hashes;
		int			n;

		if (!made)
		{
			n = simhash_hash_set(words, recipe->profile, &hashes);
			if (!fingerprint_words(recipe->measure, hashes, n, row->fingerprint))
				return false;
		}
		n = simhash_hash_set(words, simhash_comparing_profile(recipe->profile),
							 &hashes);
		sh_bag_add(features, hashes, n);
	}
	else
	{
		if (!made && !fingerprint_document(recipe, document,
										   row->fingerprint))
			return false;
		simhash_read_hashes(simhash_begin_document(simhash_comparing_profile(recipe->profile)),
							document, collect, features);
	}
	if (!made)
		row->width = SH_BITS;
	sh_bag_end(features);
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

/* What a feature weighs; features are numbered from 1. */
static inline uint32
weight_of(const Tuning *tuning, Size i)
{
	return tuning->measure == SIMHASH_JACCARD ? 1 :
		tuning->features.weights[i];
}

/* The product of the weights with themselves. */
static inline double
square_of(const Tuning *tuning)
{
	return tuning->measure == SIMHASH_JACCARD ? tuning->features.n :
		tuning->features.squares;
}

/* Add the features of a document of the sample to the postings. */
static void
post(Tuning *tuning, uint32 sampled)
{
	const ShBag *features = &tuning->features;

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
	for (Size i = 1; i <= features->n; i++)
	{
		Posting    *posting = &tuning->postings[tuning->npostings++];

		posting->hash = features->hashes[i];
		posting->sampled = sampled;
		posting->weight = weight_of(tuning, i);
	}
}

/* Note how wide a fingerprint is; fail unless all are alike in that. */
static void
note_width(SimhashTally *tally, int width)
{
	if (tally->width == 0)
		tally->width = width;
	if (tally->width != width)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot compare fingerprints of different widths"),
				 errdetail("They have %d and %d bits.", tally->width, width),
				 errhint("Search those of each width by themselves.")));
}

/* For qsort: postings by their hash, with which they begin. */
static int
compare_hashes(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/* Index the sample, leaving out documents that have no fingerprint. */
static void
index_sample(Tuning *tuning)
{
	uint32		n = 0;
	Size		at = 0;

	for (uint32 i = 0; i < tuning->n; i++)
	{
		Sampled    *sampled = &tuning->sample[n];
		SimhashRow	row = tuning->sample[i].row;
		MemoryContext old = MemoryContextSwitchTo(tuning->documents.scratch);

		if (read_features(tuning, &row))
		{
			note_width(tuning->tally, row.width);
			post(tuning, n++);
			sampled->square = square_of(tuning);
			sampled->digest = digest(row.document);
			sampled->row = row;
		}
		pfree(row.document);
		MemoryContextSwitchTo(old);
		MemoryContextReset(tuning->documents.scratch);
	}
	tuning->tally->sample = tuning->n = n;
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

/* Multiply the features at hand with those of each document of the sample. */
static void
multiply(Tuning *tuning)
{
	const ShBag *features = &tuning->features;

	for (uint32 i = 0; i < tuning->n; i++)
		tuning->sample[i].product = 0;
	for (Size i = 1; i <= features->n; i++)
	{
		uint64		hash = features->hashes[i];
		double		weight = weight_of(tuning, i);
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

/* Is a document with that square alike to that one of the sample? */
static inline bool
is_alike(const Tuning *tuning, const Sampled *sampled, double square)
{
	if (tuning->measure == SIMHASH_JACCARD)
		return sampled->product >= tuning->at_least *
			(sampled->square + square - sampled->product);
	return sampled->product >= tuning->at_least *
		sqrt(sampled->square * square);
}

/* SimhashRowReader: compare the document with each one of the sample. */
static void
compare(void *state, const SimhashRow *row)
{
	Tuning	   *tuning = state;
	SimhashRow	other = *row;
	double		square;
	uint64		own;

	if (++tuning->compared % SAY_EVERY == 0)
		simhash_progress_done(NULL, (double) tuning->compared / tuning->seen);
	if (!read_features(tuning, &other))
		return;
	note_width(tuning->tally, other.width);
	own = digest(row->document);
	square = square_of(tuning);
	multiply(tuning);
	for (uint32 i = 0; i < tuning->n; i++)
	{
		const Sampled *sampled = &tuning->sample[i];
		int			distance = 0;

		if (sampled->digest == own)
			continue;
		for (int w = 0; w < sh_words_of(other.width); w++)
			distance += sh_distance(sampled->row.fingerprint[w],
									other.fingerprint[w]);
		tuning->tally->pairs[is_alike(tuning, sampled, square)][distance]++;
	}
}

/*
 * Tally the pairs of a sample of the documents of a query that has been
 * analyzed, and of all of them.  The query is run twice.
 *
 * Errors: datatype_mismatch when it does not return documents,
 * invalid_parameter_value for arguments out of range,
 * program_limit_exceeded when the sample has too many features.
 */
void
simhash_tally_query(SimhashTally *tally, const SimhashStatement *query,
					const SimhashRecipe *recipe, SimhashMeasure measure,
					double at_least, int64 sample)
{
	Tuning	   *tuning = palloc0(sizeof *tuning);

	if (sample < 1 || sample > SIMHASH_SAMPLE_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sample must be between 1 and %d documents",
						SIMHASH_SAMPLE_MAX)));
	memset(tally, 0, sizeof *tally);
	tuning->tally = tally;
	tuning->recipe = recipe;
	tuning->measure = measure;
	tuning->at_least = at_least;
	tuning->wanted = (uint32) sample;
	tuning->context = CurrentMemoryContext;
	tuning->documents.state = tuning;
	tuning->documents.scratch = AllocSetContextCreate(CurrentMemoryContext,
													  "simhash_tune",
													  ALLOCSET_DEFAULT_SIZES);
	tuning->sample = palloc0(sample * sizeof *tuning->sample);
	tuning->postings = palloc(sizeof *tuning->postings);
	simhash_init_bag(&tuning->features, tuning->context);
	simhash_read_documents(&tuning->documents, query, draw);
	index_sample(tuning);
	simhash_read_documents(&tuning->documents, query, compare);
	if (tally->width == 0)
		tally->width = SH_BITS;
}

/* --- what is said --------------------------------------------------------- */

/* A call of simhash_tune. */
typedef struct TuneCall
{
	SimhashStatement query;
	SimhashRecipe recipe;
	bool		known;			/* that fingerprints are made so */
	SimhashMeasure measure;
	double		at_least;
	SimhashTally tally;
} TuneCall;

/* Say what to search, what to verify, and what comes of that. */
static char *
advise(const TuneCall *call, const SimhashRate *best)
{
	bool		jaccard = call->measure == SIMHASH_JACCARD;
	const char *name = jaccard ? "Jaccard" : "cosine";

	/* Features are compared without the seed, which is told nobody. */
	const ShProfile *profile = sh_profile_plain(call->recipe.profile);

	if (best == NULL)
		return psprintf("No document of the sample has another with a %s"
						" similarity of %g or more: take a larger sample, or"
						" a lower \"at_least\".", name, call->at_least);
	return psprintf("Search%s within distance %d, and verify a %s similarity"
					" of %g or more by %s%s: that finds %.3g %% of such pairs,"
					" and compares %.3g documents for each.",
					!call->known ? "" :
					call->recipe.measure == SIMHASH_JACCARD ? " by minhash" :
					" by simhash", best->k, name, call->at_least,
					jaccard ? "simhash_jaccard" : "simhash_cosine",
					profile == sh_default_profile ? "" :
					psprintf(" with profile %s", profile->name),
					100 * best->recall, best->comparisons);
}

/* A number of three digits that count, for people; NULL if there is none. */
static void
put_figure(double figure, Datum *value, bool *null)
{
	*null = isnan(figure);
	*value = Float8GetDatum(*null ? 0 :
							strtod(psprintf("%.2e", figure), NULL));
}

/*
 * Return a row for each distance, up to half as far again as can be searched.
 * The advice is in the row that it recommends, or else in the first.
 */
static void
return_rates(const TuneCall *call, ReturnSetInfo *rsinfo)
{
	const SimhashTally *tally = &call->tally;
	SimhashRate best;
	bool		any = simhash_recommend(tally, &best);
	char	   *advice = advise(call, any ? &best : NULL);

	if (!any)
		best.k = 0;
	for (int k = 0; k <= sh_wide_most(tally->width) * 3 / 2; k++)
	{
		SimhashRate rate = simhash_rate(tally, k);
		Datum		values[COLUMNS];
		bool		nulls[COLUMNS] = {false};

		values[0] = Int32GetDatum(k);
		values[1] = Int64GetDatum(rate.pairs);
		put_figure(rate.precision, &values[2], &nulls[2]);
		put_figure(rate.recall, &values[3], &nulls[3]);
		put_figure(rate.comparisons, &values[4], &nulls[4]);
		values[5] = BoolGetDatum(any && k == best.k);
		nulls[6] = k != best.k;
		values[6] = nulls[6] ? (Datum) 0 : CStringGetTextDatum(advice);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
}

/*
 * Read the arguments.  What is not told is as the fingerprints are made that
 * the query or its table has; else the family is MinHash, and the similarity
 * that of the family.
 */
static void
get_arguments(FunctionCallInfo fcinfo, TuneCall *call)
{
	SimhashRecipe *recipe = &call->recipe;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(5))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("query, sample and at_least must not be null")));
	call->query.text = text_to_cstring(PG_GETARG_TEXT_PP(0));
	call->query.example = "SELECT body FROM docs";
	call->at_least = simhash_check_at_least(PG_GETARG_FLOAT8(5));
	simhash_analyze(&call->query);
	call->known = simhash_query_recipe(call->query.query, recipe);
	if (!PG_ARGISNULL(2))
		recipe->profile = simhash_get_profile(PG_GETARG_TEXT_PP(2));
	if (!PG_ARGISNULL(3))
		recipe->measure =
			simhash_choose(text_to_cstring(PG_GETARG_TEXT_PP(3)), "family",
						   "minhash", "simhash") ?
			SIMHASH_JACCARD : SIMHASH_COSINE;
	call->measure =
		simhash_get_measure(PG_ARGISNULL(4) ? NULL
							: text_to_cstring(PG_GETARG_TEXT_PP(4)), recipe);
	if (call->measure == SIMHASH_NO_MEASURE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"similarity\" is \"none\""),
				 errhint("Distances are judged by a similarity: \"jaccard\" or \"cosine\".")));
}

/*
 * simhash_tune(query text, sample bigint DEFAULT 1000,
 *		profile text DEFAULT NULL, family text DEFAULT NULL,
 *		similarity text DEFAULT NULL, at_least double precision DEFAULT 0.8)
 *		-> setof (k integer, pairs bigint, "precision" double precision,
 *		recall double precision, comparisons double precision,
 *		recommended boolean, advice text)
 *
 * How well searches within each distance would do on the documents that the
 * query returns, and which distance to take.  Two documents are alike when
 * the Jaccard similarity of their sets of features, or the cosine of their
 * weighted features, is at_least so much.  Instead of documents the query can
 * return arrays of words, and in a second column the fingerprints, in place of
 * those by the profile and the family.
 *
 * Errors: null_value_not_allowed, undefined_object when there is no such
 * profile, invalid_parameter_value when the query is no SELECT and for other
 * arguments out of range, those of simhash_tally_query.
 */
Datum
simhash_tune(PG_FUNCTION_ARGS)
{
	TuneCall   *call = palloc0(sizeof *call);
	int64		sample = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1);
	SimhashProgress progress;

	InitMaterializedSRF(fcinfo, 0);
	simhash_progress_begin(&progress, "simhash_tune");
	PG_TRY();
	{
		get_arguments(fcinfo, call);
		simhash_tally_query(&call->tally, &call->query, &call->recipe,
							call->measure, call->at_least, sample);
	}
	PG_FINALLY();
	{
		simhash_progress_end(&progress);
	}
	PG_END_TRY();
	return_rates(call, (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
