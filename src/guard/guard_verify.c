/*-------------------------------------------------------------------------
 *
 * guard_verify.c
 *		The options "similarity" and "at_least": of the rows within the
 *		distance, those are near-duplicates whose documents are similar enough.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "rewrite/rewriteHandler.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

/* The expression of a generated column, or NULL. */
Node	   *
simhash_guard_expression(Relation relation, AttrNumber column)
{
	if (!simhash_guard_attribute(relation, column)->attgenerated)
		return NULL;
	return build_column_default(relation, column);
}

/* The column of the documents that are to be compared. */
static AttrNumber
find_document(const Guard *guard, const char *option, Node *document)
{
	if (guard->document != 0)
		return guard->document;
	document = simhash_unlabeled(document);
	if (document == NULL || !IsA(document, Var))
		ereport(ERROR,
				(errmsg("trigger \"%s\": option \"%s\" needs an option document=column",
						guard->name, option),
				 simhash_guard_argument_error()));
	return ((Var *) document)->varattno;
}

/*
 * Find out whether documents are compared, which, and how.  What is not said
 * follows from the expression of a generated fingerprint, or from the family by
 * which the trigger fills it.
 */
void
simhash_guard_bind_similarity(Guard *guard, Relation relation,
							  const Trigger *trigger)
{
	const char *similarity = simhash_guard_option(trigger, "similarity");
	const char *at_least = simhash_guard_option(trigger, "at_least");
	SimhashRecipe recipe = {
		guard->fill == GUARD_FILL_MINHASH ? SIMHASH_JACCARD : SIMHASH_COSINE,
		sh_default_profile, NULL
	};
	Node	   *source;
	bool		known;

	guard->measure = SIMHASH_NO_MEASURE;
	if (similarity == NULL && at_least == NULL)
		return;
	source = simhash_guard_expression(relation, guard->fingerprint.column);
	known = source == NULL ? guard->fill != GUARD_FILL_NONE :
		simhash_get_recipe(source, &recipe);
	guard->measure = simhash_get_measure(similarity, known ? &recipe : NULL);
	guard->at_least = SIMHASH_AT_LEAST;
	if (at_least != NULL)
		guard->at_least =
			simhash_check_at_least(DatumGetFloat8(DirectFunctionCall1(float8in,
																	  CStringGetDatum(at_least))));
	if (guard->measure != SIMHASH_NO_MEASURE)
		guard->compared =
			find_document(guard, similarity ? "similarity" : "at_least",
						  known ? recipe.document : NULL);
	if (guard->profile == NULL && known)
		guard->profile = recipe.profile;
}

/* Are two documents, of which NULL is none, the same? */
bool
simhash_guard_same_document(const text *document, const text *other)
{
	if (document == NULL || other == NULL)
		return document == other;
	return datum_image_eq(PointerGetDatum(document), PointerGetDatum(other),
						  false, -1);
}

/*
 * The similarity of the document taken and that in a column of a row found; -1
 * where there is none.
 */
double
simhash_guard_similarity(const Guard *guard, AttrNumber column,
						 TupleTableSlot *slot)
{
	double		similarity = -1;
	bool		isnull;
	Datum		value;
	text	   *document;

	if (guard->its_document == NULL)
		return -1;
	value = slot_getattr(slot, column, &isnull);
	if (isnull)
		return -1;
	document = DatumGetTextPP(value);
	if (!simhash_exact_similarity(guard->measure, guard->profile,
								  guard->its_document, document, &similarity))
		similarity = -1;

	/* There may be many rows to verify. */
	if (document != (text *) DatumGetPointer(value))
		pfree(document);
	return similarity;
}

/* Is a row within the distance a near-duplicate? */
bool
simhash_guard_verified(const Guard *guard, const GuardTable *table,
					   TupleTableSlot *slot)
{
	return guard->compared == 0 ||
		simhash_guard_similarity(guard, table->document,
								 slot) >= guard->at_least;
}
