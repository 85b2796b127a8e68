/*-------------------------------------------------------------------------
 *
 * explain.c
 *		Why a fingerprint is what it is.
 *
 * Bit i of a fingerprint is the sign of a sum, the margin: what the features
 * weigh whose hash has the bit set, less what the others weigh.  A margin far
 * from 0 survives any small change of the document; one close to it is decided
 * by a few features, and a tie, which counts as a 0, by none.
 *
 * Two documents differ at a bit because their margins there lie on both sides
 * of 0.  The difference of the margins is the sum, over all features, of what
 * the feature weighs more in one document than in the other, with the sign
 * that the bit of its hash gives it.  Its largest terms that go the way of
 * the difference are the features that carry it.
 *
 * For example, of "red fish" and "blue fish" by single words only red and
 * blue have terms: where their hashes agree nothing differs, where they do
 * not, both carry the difference, and fish may outvote them or be outvoted.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "catalog/pg_type.h"
#include "funcapi.h"

/* Limits of the work done. */
#define CARRIERS_MAX	1000	/* features named for a bit, at most */

/* A document laid open. */
typedef struct Anatomy
{
	SimhashFeatures features;
	bool		empty;			/* nothing weighs anything */
	int64		unit;			/* what weights are multiplied with */
	int64		margins[SH_BITS];
} Anatomy;

PG_FUNCTION_INFO_V1(simhash_explain);
PG_FUNCTION_INFO_V1(simhash_word_explain);
PG_FUNCTION_INFO_V1(simhash_min_features);

/* What a feature adds to the margin of a bit for a weight. */
static inline int64
term(uint64 hash, int bit, int64 weight)
{
	return hash >> bit & 1 ? weight : -weight;
}

/* Add up the features of an anatomy. */
static void
add_up(Anatomy *anatomy)
{
	for (int i = 0; i < anatomy->features.n; i++)
	{
		SimhashFeature *feature = &anatomy->features.list[i];

		CHECK_FOR_INTERRUPTS();
		anatomy->empty &= feature->weight == 0;
		for (int bit = 0; bit < SH_BITS; bit++)
			anatomy->margins[bit] += term(feature->hash, bit, feature->weight);
	}
}

/* A weight as a datum: as double precision where it need not be whole. */
static Datum
weight_datum(const Anatomy *anatomy, int64 weight)
{
	return anatomy->unit == 1 ? Int64GetDatum(weight) :
		Float8GetDatum((double) weight / anatomy->unit);
}

/* Add what features weigh, times 1 or -1, to what those of both differ in. */
static void
add_side(SimhashFeatures *differences, const SimhashFeatures *features,
		 int times)
{
	for (int i = 0; i < features->n; i++)
	{
		const SimhashFeature *feature = &features->list[i];
		SimhashFeature *both = simhash_list_hash(differences, feature->hash);

		both->feature = feature->feature;
		both->weight += times * feature->weight;
	}
}

/* qsort: the largest difference first, then by hash. */
static int
by_excess(const void *a, const void *b)
{
	const SimhashFeature *x = a;
	const SimhashFeature *y = b;
	int64		excess = llabs(x->weight) - llabs(y->weight);

	if (excess != 0)
		return excess > 0 ? -1 : 1;
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/*
 * The features that carry the difference at a bit, at most "most" of them.
 * The differences are sorted, so the first that go its way are the largest.
 */
static Datum
carriers(const SimhashFeatures *differences, int bit, bool a_is_higher,
		 int most)
{
	ArrayBuildState *names = initArrayResult(TEXTOID, CurrentMemoryContext,
											 false);

	for (int i = 0; i < differences->n && names->nelems < most; i++)
	{
		const SimhashFeature *feature = &differences->list[i];
		int64		t = term(feature->hash, bit, feature->weight);

		if (a_is_higher ? t > 0 : t < 0)
			accumArrayResult(names, PointerGetDatum(feature->feature), false,
							 TEXTOID, CurrentMemoryContext);
	}
	return makeArrayResult(names, CurrentMemoryContext);
}

/* How many features argument i says to name; fails when it is out of range. */
static int
most_argument(FunctionCallInfo fcinfo, int i)
{
	int64		most = PG_ARGISNULL(i) ? 10 : PG_GETARG_INT64(i);

	if (most < 0 || most > CARRIERS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of features must be between 0 and %d",
						CARRIERS_MAX)));
	return (int) most;
}

/* Return a row for each bit of the two. */
static Datum
return_bits(FunctionCallInfo fcinfo, const Anatomy *a, const Anatomy *b,
			int most)
{
	bool		known = !a->empty && !b->empty;
	SimhashFeatures differences = {0};

	add_side(&differences, &a->features, 1);
	add_side(&differences, &b->features, -1);
	if (known)
		qsort(differences.list, differences.n, sizeof *differences.list,
			  by_excess);
	for (int bit = 0; bit < SH_BITS; bit++)
	{
		bool		differs = (a->margins[bit] > 0) != (b->margins[bit] > 0);
		Datum		values[5];
		bool		nulls[5] = {false, a->empty, b->empty, !known,
		!known || !differs};

		CHECK_FOR_INTERRUPTS();
		values[0] = Int32GetDatum(bit);
		values[1] = weight_datum(a, a->margins[bit]);
		values[2] = weight_datum(b, b->margins[bit]);
		values[3] = BoolGetDatum(differs);
		values[4] = nulls[4] ? (Datum) 0 :
			carriers(&differences, bit, a->margins[bit] > b->margins[bit],
					 most);
		simhash_put_row(fcinfo, values, nulls);
	}
	return (Datum) 0;
}

/*
 * Explain arguments 0 and 1: arrays of features, with the idf that is argument
 * 2, or documents, by the profile that it names.
 */
static Datum
explain(FunctionCallInfo fcinfo, bool words)
{
	const ShProfile *profile = words ? NULL :
	simhash_profile_argument(fcinfo, 2);
	const ShIdfTable *table = words ? simhash_idf_table(fcinfo, 2) : NULL;
	int			most = most_argument(fcinfo, 3);
	Anatomy		sides[2];

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		return (Datum) 0;
	for (int i = 0; i < 2; i++)
	{
		memset(&sides[i], 0, sizeof sides[i]);
		sides[i].empty = true;
		sides[i].unit = words ? SH_IDF_ONE : 1;
		if (words)
			simhash_list_words(&sides[i].features, table,
							   PG_GETARG_ARRAYTYPE_P(i));
		else
			simhash_list_features(&sides[i].features, profile,
								  PG_GETARG_TEXT_PP(i));
		add_up(&sides[i]);
	}
	return return_bits(fcinfo, &sides[0], &sides[1], most);
}

/*
 * simhash_explain(a text, b text, profile text DEFAULT NULL,
 *		most bigint DEFAULT 10)
 *		-> setof (bit integer, margin_a bigint, margin_b bigint,
 *				  differs boolean, features text[])
 *
 * A row for each bit, the least significant first: the margins of the two
 * documents, whether their fingerprints differ there, and if so the features
 * that carry the difference, at most "most" of them and those that carry most
 * first.  The margins of a document without features are NULL.  No row when a
 * document is NULL; a NULL profile is the default one.
 *
 * Errors: undefined_object when there is no such profile,
 * invalid_parameter_value when "most" is out of range, program_limit_exceeded
 * when a document has more than a million features.
 */
Datum
simhash_explain(PG_FUNCTION_ARGS)
{
	return explain(fcinfo, false);
}

/*
 * simhash_explain(a text[], b text[], idf simhash_idf DEFAULT NULL,
 *		most bigint DEFAULT 10)
 *		-> setof (bit integer, margin_a double precision,
 *				  margin_b double precision, differs boolean,
 *				  features text[])
 *
 * The same of features that are given, each weighing how often it occurs, times
 * its idf where there is one: of simhash(a) and simhash(b), or of
 * simhash_tfidf(a, idf) and simhash_tfidf(b, idf).
 *
 * Errors: as simhash_features(features, idf), and for "most" as before.
 */
Datum
simhash_word_explain(PG_FUNCTION_ARGS)
{
	return explain(fcinfo, true);
}

/* How many different features a document has, as far as that matters. */
typedef struct FeatureCount
{
	ShTally    *tally;
	size_t		enough;
} FeatureCount;

/* SimhashHashReader: count those that are new. */
static bool
count_features(void *state, const uint64 *hashes, size_t n)
{
	FeatureCount *count = state;

	for (size_t i = 0; i < n && count->tally->occupied < count->enough; i++)
		(*sh_tally_count(count->tally, hashes[i]))++;
	return count->tally->occupied < count->enough;
}

/*
 * simhash(document text, profile text, min_features bigint) -> bigint
 *
 * The fingerprint of the document by the profile; NULL when it has fewer
 * different features than min_features.
 *
 * Errors: undefined_object when there is no such profile,
 * invalid_parameter_value when min_features is out of range.
 */
Datum
simhash_min_features(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	const ShProfile *profile = simhash_get_profile(PG_GETARG_TEXT_PP(1));
	int64		min = PG_GETARG_INT64(2);
	ShDocument *workspace;
	FeatureCount count;
	uint64		fingerprint;

	if (min < 0 || min > SH_SECTION)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of features must be between 0 and %d",
						SH_SECTION)));
	workspace = simhash_begin_document(profile);
	count.tally = &workspace->tally;
	count.enough = (size_t) min;
	simhash_read_hashes(workspace, document, count_features, &count);
	if (count.tally->occupied < count.enough ||
		!simhash_wide_fingerprint(profile, document, 1, &fingerprint))
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) fingerprint);
}
