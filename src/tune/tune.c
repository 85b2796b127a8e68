/*-------------------------------------------------------------------------
 *
 * tune.c
 *		simhash_tune: which distance to search within, found out on the user's
 *		own texts.
 *
 * tune_sample.c tells which pairs of documents of a query are alike, and at
 * which distance their fingerprints are.  So for each k there is a row that
 * says how many of the pairs within distance k are alike, and how many of
 * those alike are within distance k; and one of the rows gives advice.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "tune/tune.h"

#include "parser/parsetree.h"
#include <math.h>

#include "funcapi.h"
#include "utils/builtins.h"

#define COLUMNS			7		/* of the result */

PG_FUNCTION_INFO_V1(simhash_tune);

/* Say within what to search, what to compare, and what that finds. */
static char *
advise(const SimhashTuneCall *call, const SimhashRate *best)
{
	bool		jaccard = call->measure == SIMHASH_JACCARD;
	const char *name = jaccard ? "Jaccard" : "cosine";

	/* Features are compared without the seed, which is secret. */
	const ShProfile *profile = sh_profile_plain(call->derived.profile);

	if (best == NULL)
		return psprintf("No document of the sample has another with a %s"
						" similarity of %g or more: take a larger sample, or"
						" a lower \"at_least\".", name, call->at_least);
	return psprintf("Search%s within distance %d, and verify a %s similarity"
					" of %g or more by %s%s: that finds %.3g %% of such pairs,"
					" and compares %.3g documents for each.",
					!call->known ? "" :
					call->derived.measure == SIMHASH_JACCARD ? " by minhash" :
					" by simhash", best->k, name, call->at_least,
					jaccard ? "simhash_jaccard" : "simhash_cosine",
					profile == sh_default_profile ? "" :
					psprintf(" with profile %s", profile->name),
					100 * best->recall, best->comparisons);
}

/* A number rounded to three significant digits; NULL for NaN. */
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
return_rates(const SimhashTuneCall *call, FunctionCallInfo fcinfo)
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
		simhash_put_row(fcinfo, values, nulls);
	}
}

/*
 * Read the arguments.  What they do not say is minhash by the default profile, and
 * Jaccard similarity.  The query may have fingerprints that are made in another way.
 */
static void
get_tune_arguments(FunctionCallInfo fcinfo, SimhashTuneCall *call)
{
	SimhashDerivation *derived = &call->derived;
	const TargetEntry *second;

	simhash_check_not_null(fcinfo, 0, 2, 5);
	call->query.text = simhash_text_argument(fcinfo, 0);
	call->sample = PG_GETARG_INT64(5);
	call->query.example = "SELECT body FROM docs";
	call->at_least = simhash_check_at_least(PG_GETARG_FLOAT8(2));
	simhash_analyze(&call->query);
	second = get_tle_by_resno(call->query.query->targetList, 2);
	call->known = second == NULL || second->resjunk;
	derived->measure = SIMHASH_JACCARD;
	derived->profile = sh_default_profile;
	if (!PG_ARGISNULL(3))
		derived->profile = simhash_get_profile(PG_GETARG_TEXT_PP(3));
	if (!PG_ARGISNULL(4))
		derived->measure =
			simhash_choose(fcinfo, 4, "minhash", "simhash") ?
			SIMHASH_JACCARD : SIMHASH_COSINE;
	call->measure = PG_ARGISNULL(1) ||
		simhash_choose(fcinfo, 1, "jaccard", "cosine") ?
		SIMHASH_JACCARD : SIMHASH_COSINE;
}

/*
 * simhash_tune(query text, similarity text DEFAULT NULL,
 *		at_least double precision DEFAULT 0.8, profile text DEFAULT NULL,
 *		family text DEFAULT NULL, sample bigint DEFAULT 1000)
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
	SimhashTuneCall *call = palloc0(sizeof *call);

	InitMaterializedSRF(fcinfo, 0);
	get_tune_arguments(fcinfo, call);
	simhash_show_progress("simhash_tune", simhash_tally_query, call);
	return_rates(call, fcinfo);
	return (Datum) 0;
}
