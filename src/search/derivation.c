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
	{simhash_bits, SIMHASH_COSINE, 2},
	{minhash, SIMHASH_JACCARD, 1},
	{minhash_features, SIMHASH_JACCARD, 1},
	{minhash_bits, SIMHASH_JACCARD, 2},
	{minhash_features_bits, SIMHASH_JACCARD, 2}
};

/* What is known of an expression. */
typedef struct DerivationSearch
{
	Relation	relation;		/* whose columns are looked into; or NULL */
	Index		depth;			/* of subqueries */
	SimhashDerivation *derived;
	int			found;			/* different ones */
	bool		unclear;		/* there may be others */
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
 * Learn how a call makes a fingerprint; false if it makes none.  The document is NULL
 * if the profile is no constant, or does not exist.
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
	if (IsA(profile, Const) && !profile->constisnull)
	{
		text	   *name = DatumGetTextPP(profile->constvalue);

		derived->profile = sh_profile_find(&simhash_known_profiles, VARDATA_ANY(name),
										   VARSIZE_ANY_EXHDR(name));
	}
	if (!IsA(profile, Const) || derived->profile == NULL ||
		sh_profile_given(derived->profile))
		derived->document = NULL;
	return true;
}

/*
 * expression_tree_walker: look for calls that make fingerprints, and for columns that
 * they generate, in subqueries, too; of the document of a call there nothing is known.
 */
static bool
look_for_calls(Node *node, void *context)
{
	DerivationSearch *look = context;
	SimhashDerivation *known = look->derived;
	SimhashDerivation derived;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		look->depth++;
		(void) query_tree_walker((Query *) node, look_for_calls, context, 0);
		look->depth--;
		return false;
	}
	if (IsA(node, Var) && look->relation != NULL &&
		((Var *) node)->varlevelsup == look->depth)
	{
		look->depth = 0;
		(void) look_for_calls(simhash_generation(look->relation, node), look);
		look->depth = ((Var *) node)->varlevelsup;
	}
	if (IsA(node, FuncExpr) && read_call((FuncExpr *) node, &derived))
	{
		if (derived.document == NULL || look->depth > 0)
			look->unclear = true;
		else if (look->found == 0 || known->measure != derived.measure ||
				 known->profile != derived.profile ||
				 !equal(known->document, derived.document))
		{
			*known = derived;
			look->found++;
		}
	}
	return expression_tree_walker(node, look_for_calls, context);
}

/*
 * Learn how an expression, if there is one, makes fingerprints: 0 if it makes
 * none, 1 if all are of one document, 2 if not, or if that is not known.  It may be
 * more than a call of simhash or minhash, say CASE WHEN length(body) > 40 THEN
 * minhash(body) END; or, where the relation is given, be made of columns that such
 * a call generates.  Nothing of it is evaluated.
 */
int
simhash_find_derivations(Relation relation, Node *expression,
						 SimhashDerivation *derived)
{
	DerivationSearch look = {relation, 0, derived, 0, false};

	(void) look_for_calls(expression, &look);
	return look.found == 0 && look.unclear ? 2 : Min(look.found, 2);
}

/* Learn of what document an expression makes a fingerprint; false if of none alone. */
bool
simhash_get_derivation(Node *expression, SimhashDerivation *derived)
{
	return simhash_find_derivations(NULL, expression, derived) == 1;
}
