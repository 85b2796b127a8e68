/*-------------------------------------------------------------------------
 *
 * derivation.c
 *		What an expression for a fingerprint says of the documents that it is made of.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"

#include "access/htup_details.h"
#include "optimizer/clauses.h"
#include "utils/syscache.h"

#include "weights/weights.h"

/* A function that makes the fingerprint of its first argument. */
typedef struct FingerprintMaker
{
	PGFunction	function;
	SimhashMeasure measure;
	int			profile;		/* argument; the default one without it */
} FingerprintMaker;

static const FingerprintMaker makers[] = {
	{simhash, SIMHASH_COSINE, 1},
	{simhash_min_features, SIMHASH_COSINE, 1},
	{simhash_bits, SIMHASH_COSINE, 2},
	{minhash, SIMHASH_JACCARD, 1},
	{minhash_features, SIMHASH_JACCARD, 1},
	{minhash_bits, SIMHASH_JACCARD, 2},
	{minhash_features_bits, SIMHASH_JACCARD, 2}
};

/* What is known of an expression. */
typedef struct DerivationSearch
{
	SimhashDerivation *derived;
	int			found;			/* calls that make fingerprints */
} DerivationSearch;

/* The arguments of a call in their order, with those left out. */
static List *
call_arguments(FuncExpr *call)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
	List	   *arguments;

	if (!HeapTupleIsValid(tuple))
		return NIL;
	arguments = expand_function_arguments(call->args, false,
										  call->funcresulttype, tuple);
	ReleaseSysCache(tuple);
	return arguments;
}

/*
 * Learn how a call makes a fingerprint; false if it makes none, or by a
 * profile that is no constant, or that does not exist.
 */
static bool
read_call(FuncExpr *call, SimhashDerivation *derived)
{
	PGFunction	function = simhash_c_function(call->funcid);
	const FingerprintMaker *maker = NULL;
	List	   *arguments;
	Const	   *profile;

	for (size_t i = 0; i < lengthof(makers) && function != NULL; i++)
	{
		if (makers[i].function == function)
			maker = &makers[i];
	}
	if (maker == NULL || (arguments = call_arguments(call)) == NIL)
		return false;
	derived->measure = maker->measure;
	derived->profile = sh_default_profile;
	derived->document = linitial(arguments);
	if (list_length(arguments) <= maker->profile)
		return true;
	profile = (Const *) simhash_unlabeled(list_nth(arguments, maker->profile));
	if (!IsA(profile, Const))
		return false;
	if (!profile->constisnull)
	{
		text	   *name = DatumGetTextPP(profile->constvalue);

		derived->profile = sh_profile_find(VARDATA_ANY(name),
										   VARSIZE_ANY_EXHDR(name));
	}
	return derived->profile != NULL && !sh_profile_given(derived->profile);
}

/* expression_tree_walker: look for calls that make fingerprints. */
static bool
look_for_calls(Node *node, void *context)
{
	DerivationSearch *look = context;
	SimhashDerivation derived;

	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) && read_call((FuncExpr *) node, &derived))
	{
		*look->derived = derived;
		look->found++;
	}
	return expression_tree_walker(node, look_for_calls, context);
}

/*
 * Learn how an expression, if there is one, makes a fingerprint.  It may be
 * more than a call of simhash or minhash, say CASE WHEN length(body) > 40 THEN
 * minhash(body) END, but has no other.  Nothing of it is evaluated.
 */
bool
simhash_get_derivation(Node *expression, SimhashDerivation *derived)
{
	DerivationSearch look = {derived, 0};

	(void) look_for_calls(expression, &look);
	return look.found == 1;
}
