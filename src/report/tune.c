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
#include "report/report.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/tuplestore.h"

#include "core/fingerprint/minima.h"
#include "weights/weights.h"

/* Limits of the work done. */
#define SAMPLE_MAX		10000	/* documents of a sample */
#define POSTINGS_MAX	(16 * 1024 * 1024)	/* features of a sample */
#define FEATURES_MAX	SH_SECTION	/* features read of a document */
#define FETCHED			100		/* rows fetched at a time */
#define K_MAX			16		/* distances told of */

/* A distance is recommended when so many of its pairs are alike. */
#define PRECISION_MIN	0.95

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

/* What the query returns of a document. */
typedef struct Row
{
	struct varlena *document;	/* a text, or an array of words */
	bool		exists;			/* the fingerprint, if the query makes it */
	uint64		fingerprint;
} Row;

/* A document of the sample. */
typedef struct Sampled
{
	Row			row;			/* until the sample is complete */
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

	/* what the query returns, known from its first rows on */
	bool		words;			/* arrays of words */
	bool		made;			/* their fingerprints as well */

	/* what moves */
	MemoryContext context;		/* of the sample */
	MemoryContext scratch;		/* of one document */
	uint64		seen;			/* documents that the query has returned */
	int			n;				/* documents of the sample so far */
	Sampled    *sample;
	Features	features;		/* of the document being read */
	Posting    *postings;		/* by hash */
	Size		npostings;
	uint32		buckets[BUCKETS + 1];	/* where they start */
	uint64		pairs[2][SH_BITS + 1];	/* alike or not; by distance */
} Tuning;

/* What is done with each document. */
typedef void (*DocumentReader) (Tuning *tuning, const Row *row);

PG_FUNCTION_INFO_V1(simhash_tune);

/* Hand over a row unless it has no document, and keep no copy of it. */
static void
read_row(Tuning *tuning, HeapTuple tuple, TupleDesc desc, DocumentReader read)
{
	MemoryContext old;
	bool		isnull;
	Datum		value = SPI_getbinval(tuple, desc, 1, &isnull);
	Row			row = {NULL, true, 0};

	CHECK_FOR_INTERRUPTS();
	if (isnull)
		return;
	if (tuning->made)
	{
		row.fingerprint = (uint64) DatumGetInt64(SPI_getbinval(tuple, desc, 2,
															   &isnull));
		row.exists = !isnull;
	}
	old = MemoryContextSwitchTo(tuning->scratch);
	/* Arrays are not read where they are packed. */
	row.document = tuning->words ? PG_DETOAST_DATUM(value) :
		PG_DETOAST_DATUM_PACKED(value);
	read(tuning, &row);
	MemoryContextSwitchTo(old);
	MemoryContextReset(tuning->scratch);
}

/*
 * Find out what the query yields: documents or arrays of words, and with them
 * fingerprints or not.  Fails when it is neither.
 */
static void
read_columns(Tuning *tuning, TupleDesc desc)
{
	Oid			types[2] = {InvalidOid, INT8OID};

	for (int i = 0; i < Min(desc->natts, 2); i++)
		types[i] = getBaseType(TupleDescAttr(desc, i)->atttypid);
	if ((types[0] != TEXTOID && types[0] != VARCHAROID &&
		 types[0] != TEXTARRAYOID) || types[1] != INT8OID || desc->natts > 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the query must yield documents, as text or text[], and at most their fingerprints"),
				 desc->natts == 1 ?
				 errdetail("It yields a column of type %s.",
						   format_type_be(types[0])) :
				 desc->natts == 2 ?
				 errdetail("It yields columns of types %s and %s.",
						   format_type_be(types[0]), format_type_be(types[1])) :
				 errdetail("It yields %d columns.", desc->natts),
				 errhint("For example, 'SELECT body FROM docs', or with a fingerprint of type bigint, 'SELECT words, simhash(words) FROM docs'.")));
	tuning->words = types[0] == TEXTARRAYOID;
	tuning->made = desc->natts == 2;
}

/* Run the query, and hand over each document that is not NULL. */
static void
read_query(Tuning *tuning, const char *query, DocumentReader read)
{
	SPIPlanPtr	plan = simhash_prepare_query(query, "SELECT body FROM docs", 0);
	Portal		portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);

	read_columns(tuning, portal->tupDesc);
	for (;;)
	{
		SPI_cursor_fetch(portal, true, FETCHED);
		if (SPI_processed == 0)
			break;
		for (uint64 i = 0; i < SPI_processed; i++)
			read_row(tuning, SPI_tuptable->vals[i], SPI_tuptable->tupdesc,
					 read);
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	SPI_freeplan(plan);
}

/*
 * DocumentReader: draw the sample.  Once it is complete, the document that is
 * the n-th takes the place of a random one with probability wanted / n, so
 * that every document has the same chance (reservoir sampling).
 */
static void
draw(Tuning *tuning, const Row *row)
{
	uint64		place = tuning->seen++;
	Size		length = VARSIZE_ANY(row->document);
	Row		   *kept;

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
			weight = sh_damp(tuning->words ? SH_DAMP_COUNT :
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
read_features(Tuning *tuning, const Row *row, uint64 *fingerprint)
{
	Features   *features = &tuning->features;
	text	   *document = (text *) row->document;

	*fingerprint = row->fingerprint;
	features->n = 0;
	if (!row->exists)
		return false;
	if (tuning->words)
	{
		collect_words(features, (ArrayType *) row->document);
		if (!tuning->made && !fingerprint_words(tuning, fingerprint))
			return false;
	}
	else
	{
		if (!tuning->made &&
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
		Row			row = tuning->sample[i].row;
		MemoryContext old = MemoryContextSwitchTo(tuning->scratch);

		CHECK_FOR_INTERRUPTS();
		if (read_features(tuning, &row, &sampled->fingerprint))
		{
			post(tuning, n++);
			sampled->square = tuning->features.square;
			sampled->digest = digest(row.document);
		}
		pfree(row.document);
		MemoryContextSwitchTo(old);
		MemoryContextReset(tuning->scratch);
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

/* DocumentReader: compare the document with each one of the sample. */
static void
compare(Tuning *tuning, const Row *row)
{
	uint64		fingerprint;
	uint64		own;

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

/* Precision, recall and F1 at a distance; NULLs where there are no pairs. */
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
	nulls[3] = nulls[4] = alike == 0;
}

/*
 * Return a row for each distance.  Recommended is, among the distances of
 * sufficient precision, the one with the best F1; the least of several.
 */
static void
return_rates(const Tuning *tuning, ReturnSetInfo *rsinfo)
{
	Datum		values[6];
	bool		nulls[6] = {false};
	double		f1;
	double		best = 0;
	int			recommended = -1;

	for (int k = 0; k <= K_MAX; k++)
	{
		rate(tuning, k, values, nulls, &f1);
		if (f1 > best && DatumGetFloat8(values[2]) >= PRECISION_MIN)
		{
			best = f1;
			recommended = k;
		}
	}
	for (int k = 0; k <= K_MAX; k++)
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
	int64		wanted = PG_GETARG_INT64(1);

	if (wanted < 1 || wanted > SAMPLE_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sample must be between 1 and %d documents",
						SAMPLE_MAX)));
	tuning->wanted = (uint32) wanted;
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
 *		similarity double precision DEFAULT 0.5,
 *		measure text DEFAULT 'jaccard')
 *		-> setof (k integer, pairs bigint, "precision" double precision,
 *		recall double precision, f1 double precision, recommended boolean)
 *
 * How well searches within each distance would do on the documents that the
 * query returns, and which distance to take.  Two documents are alike when
 * the Jaccard similarity of their sets of features, or the cosine of their
 * weighted features, is at least "similarity".  Instead of documents the query
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
	char	   *query = text_to_cstring(PG_GETARG_TEXT_PP(0));

	get_arguments(fcinfo, tuning);
	InitMaterializedSRF(fcinfo, 0);
	tuning->context = CurrentMemoryContext;
	tuning->scratch = AllocSetContextCreate(CurrentMemoryContext,
											"simhash_tune", ALLOCSET_DEFAULT_SIZES);
	tuning->sample = palloc0(tuning->wanted * sizeof *tuning->sample);
	tuning->features.hashes = palloc(sizeof(uint64));
	tuning->features.weights = palloc(sizeof(uint32));
	tuning->postings = palloc(sizeof *tuning->postings);
	SPI_connect();
	read_query(tuning, query, draw);
	index_sample(tuning);
	read_query(tuning, query, compare);
	SPI_finish();
	return_rates(tuning, (ReturnSetInfo *) fcinfo->resultinfo);
	return (Datum) 0;
}
