/*-------------------------------------------------------------------------
 *
 * tune_sample.c
 *		Pairs of documents of a query, by similarity and distance.
 *
 * A sample is drawn of the documents that the query returns, and then each
 * document is compared with each one of the sample twice: by fingerprint, and
 * exactly, by their features.
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
 * features; and in a second column the fingerprint of each, so that any way
 * to make one can be judged, as with idf.  Where the table has fingerprints
 * of the documents, these are judged as they are made there
 * (tune.c).
 *
 * The query is run twice, in one snapshot: once to draw the sample, once to
 * compare.  Identical texts are no pair, whichever rows they are in: they
 * have identical fingerprints, and would hide how the others fare.
 *
 * What the query returns is taken as it is: nothing is cast, for a cast may
 * run code of the owner of a type.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "tune/tune.h"

#include <math.h>

#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* Limits of the work done. */
#define SAMPLE_MAX		10000	/* documents of a sample */
#define POSTINGS_MAX	(16 * 1024 * 1024)	/* features of a sample */

#define SAY_EVERY		64		/* documents between two looks at the clock */

#define BUCKET_BITS		16		/* of the directory of postings */
#define BUCKETS			(1 << BUCKET_BITS)

/* What the query returns of a document. */
typedef struct Document
{
	struct varlena *document;	/* a text, or an array of words */
	int			width;			/* of the fingerprint; 0: there is none */
	uint64		fingerprint[SH_MAX_WORDS];
} Document;

/* A document of the sample. */
typedef struct Sampled
{
	Document	read;			/* the text until the sample is complete */
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
	SimhashTuneCall *call;

	/* what the query returns, known before its first row */
	bool		words;			/* arrays of words */
	bool		made;			/* their fingerprints as well */

	/* what moves */
	void		(*take) (struct Tuning *tuning, const Document *document);
	MemoryContext scratch;		/* of one document */
	MemoryContext context;		/* of the sample */
	uint64		seen;			/* documents that the query has returned */
	uint64		compared;		/* of these */
	ShBag		features;		/* of the document being read */
	uint32		n;				/* documents of the sample so far */
	Sampled    *sample;
	Posting    *postings;		/* by hash */
	Size		npostings;
	uint32		buckets[BUCKETS + 1];	/* where they start */
} Tuning;

/* Read the fingerprint of a row. */
static void
read_fingerprint(const TupleTableSlot *slot, Document *document)
{
	if (TupleDescAttr(slot->tts_tupleDescriptor, 1)->attlen > 0)
	{
		document->width = SH_BITS;
		document->fingerprint[0] = (uint64) DatumGetInt64(slot->tts_values[1]);
	}
	else
	{
		SimhashBits bits = simhash_get_bits(slot->tts_values[1]);

		simhash_check_width(bits.width);
		document->width = bits.width;
		sh_cut_whole(bits.width, bits.bytes, document->fingerprint);
	}
}

/* SimhashRowReader.row: hand the document over, unless it is NULL. */
static void
take_row(void *context, TupleTableSlot *slot)
{
	Tuning	   *tuning = context;
	Document	document = {0};
	MemoryContext old;

	if (slot->tts_isnull[0])
		return;
	old = MemoryContextSwitchTo(tuning->scratch);
	if (tuning->made && !slot->tts_isnull[1])
		read_fingerprint(slot, &document);
	/* Arrays are not read where they are packed. */
	document.document = tuning->words ? PG_DETOAST_DATUM(slot->tts_values[0]) :
		PG_DETOAST_DATUM_PACKED(slot->tts_values[0]);
	tuning->take(tuning, &document);
	MemoryContextSwitchTo(old);
	MemoryContextReset(tuning->scratch);
}

/*
 * SimhashRowReader.columns: fail unless they are documents, and maybe
 * fingerprints.
 */
static void
check_document_columns(void *context, TupleDesc desc)
{
	Tuning	   *tuning = context;
	Oid			types[2] = {InvalidOid, INT8OID};
	Oid			document = InvalidOid;

	for (int i = 0; i < Min(desc->natts, 2); i++)
		types[i] = getBaseType(TupleDescAttr(desc, i)->atttypid);
	if (desc->natts > 0)
		document = simhash_document_type(tuning->call->measure, types[0]);
	tuning->words = document == TEXTARRAYOID;
	tuning->made = desc->natts == 2;
	if (!OidIsValid(document) ||
		(types[1] != INT8OID && types[1] != BITOID && types[1] != VARBITOID) ||
		desc->natts > 2)
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
				 errhint("For example, 'SELECT body FROM docs', or with a fingerprint of type bigint or bit, 'SELECT words, simhash(words) FROM docs'.")));
}

/*
 * Tuning.take: draw the sample.  Once it is complete, the n-th
 * document takes the place of a random one with probability wanted / n, so
 * that every document has the same chance (reservoir sampling).
 */
static void
draw_document(Tuning *tuning, const Document *read)
{
	uint64		wanted = (uint64) tuning->call->sample;
	uint64		place = tuning->seen++;
	Size		length = VARSIZE_ANY(read->document);
	Document   *kept;

	if (tuning->seen % SAY_EVERY == 0)
		simhash_progress_rows("reading", (int64) tuning->seen);
	if (place >= wanted)
		place = pg_prng_uint64_range(&pg_global_prng_state, 0, place);
	else
		tuning->n++;
	if (place >= wanted)
		return;
	kept = &tuning->sample[place].read;
	if (kept->document != NULL)
		pfree(kept->document);
	*kept = *read;
	kept->document = MemoryContextAlloc(tuning->context, length);
	memcpy(kept->document, read->document, length);
}

/* Make the fingerprint of a document; false if it has none. */
static bool
make_fingerprint(const Tuning *tuning, Document *read)
{
	const SimhashDerivation *derived = &tuning->call->derived;
	bool		minhash = derived->measure == SIMHASH_JACCARD;
	text	   *document = (text *) read->document;
	ShSums		sums = {0};
	ShMinima	minima;
	uint64	   *hashes;
	int			n;

	read->width = SH_BITS;
	if (!tuning->words)
		return minhash ?
			simhash_wide_minhash(derived->profile, document, 1,
								 read->fingerprint) :
			simhash_wide_fingerprint(derived->profile, document, 1,
									 read->fingerprint);
	n = simhash_hash_set((ArrayType *) document, derived->profile, &hashes);
	if (!minhash)
	{
		sh_sums_add(&sums, hashes, n);
		return sh_sums_fingerprint(&sums, read->fingerprint);
	}
	sh_minima_begin(&minima);
	sh_minima_add(&minima, hashes, n);
	return sh_minima_fingerprint(&minima, &simhash_walks, read->fingerprint);
}

/*
 * Make tuning->features the features of a document, and its fingerprint unless
 * the query has.  False when it has none.
 */
static bool
read_document_features(Tuning *tuning, Document *read)
{
	SimhashTally *tally = &tuning->call->tally;

	if (tuning->made ? read->width == 0
		: !make_fingerprint(tuning, read))
		return false;
	if (tuning->words)
		simhash_fill_bag_of(&tuning->features, (ArrayType *) read->document);
	else
		simhash_fill_bag(&tuning->features, tuning->call->derived.profile->damping,
						 tuning->call->derived.profile,
						 (text *) read->document);
	if (tuning->call->measure == SIMHASH_JACCARD)
	{
		/* Each weighs 1, and so does its square; they are numbered from 1. */
		for (Size i = 1; i <= tuning->features.n; i++)
			tuning->features.weights[i] = 1;
		tuning->features.squares = tuning->features.n;
	}
	if (tuning->features.n == 0)
		return false;

	/* All fingerprints must be as wide as the first. */
	if (tally->width == 0)
		tally->width = read->width;
	simhash_check_widths(tally->width, read->width);
	return true;
}

/* The digest of a document, by which identical ones are known. */
static uint64
digest_document(const struct varlena *document)
{
	const void *bytes = VARDATA_ANY(document);

	return DatumGetUInt64(hash_any_extended(bytes,
											(int) VARSIZE_ANY_EXHDR(document),
											0));
}

/* Add the features of a document of the sample to the postings. */
static void
post_features(Tuning *tuning, uint32 sampled)
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
		posting->weight = features->weights[i];
	}
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
		Document	read = tuning->sample[i].read;
		MemoryContext old = MemoryContextSwitchTo(tuning->scratch);

		if (read_document_features(tuning, &read))
		{
			post_features(tuning, n++);
			sampled->square = tuning->features.squares;
			sampled->digest = digest_document(read.document);
			sampled->read = read;
		}
		pfree(read.document);
		MemoryContextSwitchTo(old);
		MemoryContextReset(tuning->scratch);
	}
	tuning->call->tally.sample = tuning->n = n;
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
multiply_features(Tuning *tuning)
{
	const ShBag *features = &tuning->features;

	for (uint32 i = 0; i < tuning->n; i++)
		tuning->sample[i].product = 0;
	for (Size i = 1; i <= features->n; i++)
	{
		uint64		hash = features->hashes[i];
		double		weight = features->weights[i];
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
	if (tuning->call->measure == SIMHASH_JACCARD)
		return sampled->product >= tuning->call->at_least *
			(sampled->square + square - sampled->product);
	return sampled->product >= tuning->call->at_least *
		sqrt(sampled->square * square);
}

/* Tuning.take: compare the document with each one of the sample. */
static void
compare_document(Tuning *tuning, const Document *read)
{
	Document	other = *read;
	double		square;
	uint64		own;

	if (++tuning->compared % SAY_EVERY == 0)
		simhash_progress_part("comparing",
							  (double) tuning->compared / tuning->seen);
	if (!read_document_features(tuning, &other))
		return;
	own = digest_document(read->document);
	square = tuning->features.squares;
	multiply_features(tuning);
	for (uint32 i = 0; i < tuning->n; i++)
	{
		const Sampled *sampled = &tuning->sample[i];

		if (sampled->digest != own)
			tuning->call->tally.pairs[is_alike(tuning, sampled, square)]
				[sh_distance_bytes((const unsigned char *) sampled->read.fingerprint,
								   (const unsigned char *) other.fingerprint,
								   sh_words_of(other.width) * sizeof(uint64))]++;
	}
}

/*
 * Tally the pairs of a sample of the documents of a query that has been
 * analyzed, and of all of them, as a SimhashTuneCall says.  The query is run
 * twice.
 *
 * Errors: datatype_mismatch when it does not return documents,
 * invalid_parameter_value when the sample is too small or too large,
 * program_limit_exceeded when it has too many features.
 */
void
simhash_tally_query(void *context)
{
	SimhashTuneCall *call = context;
	Tuning	   *tuning = palloc0(sizeof *tuning);
	SimhashRowReader reader = {check_document_columns, take_row, tuning};

	(void) simhash_check_range("", "sample", call->sample, 1, SAMPLE_MAX, 0);
	tuning->call = call;
	tuning->context = CurrentMemoryContext;
	tuning->scratch = AllocSetContextCreate(CurrentMemoryContext,
											"simhash_tune",
											ALLOCSET_DEFAULT_SIZES);
	tuning->sample = palloc0(call->sample * sizeof *tuning->sample);
	tuning->postings = palloc(sizeof *tuning->postings);
	simhash_init_bag(&tuning->features, tuning->context);
	tuning->take = draw_document;
	simhash_read(&call->query, &reader);
	index_sample(tuning);
	tuning->take = compare_document;
	simhash_read(&call->query, &reader);
	if (call->tally.width == 0)
		call->tally.width = SH_BITS;
}
