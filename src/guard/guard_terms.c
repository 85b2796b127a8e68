/*-------------------------------------------------------------------------
 *
 * guard_terms.c
 *		The terms by which rows of a table are near-duplicates, as the arguments
 *		of simhash_guard() or simhash_add_clusters() give them.  Names of
 *		columns are looked up here, once; from then on columns are known by
 *		their numbers.
 *
 * With "similarity" or "at_least", rows within the distance are
 * near-duplicates only if their documents are similar enough.  Which
 * documents, by which measure and profile, follows, unless the arguments say
 * it, from the expression of a generated fingerprint, or from the family by
 * which the trigger fills it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "rewrite/rewriteHandler.h"
#include "utils/fmgrprotos.h"

/* The column of that name; fails if there is none, with the hint if any. */
AttrNumber
simhash_guard_column(Relation relation, const char *name, const char *hint)
{
	AttrNumber	column = get_attnum(RelationGetRelid(relation), name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(relation)),
				 hint == NULL ? 0 : errhint("%s", hint)));
	return column;
}

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
read_document_column(const GuardAsked *asked, Relation relation, Node *document)
{
	if (asked->document != NULL)
		return simhash_guard_column(relation, asked->document,
									asked->renamed);
	document = simhash_unlabeled(document);
	if (document == NULL || !IsA(document, Var))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s: option \"%s\" needs an option document=column",
						asked->who,
						asked->similarity ? "similarity" : "at_least"),
				 asked->hint == NULL ? 0 : errhint("%s", asked->hint)));
	return ((Var *) document)->varattno;
}

/* Find out whether documents are compared, which, and how. */
static void
read_similarity(const GuardAsked *asked, Relation relation, GuardTerms *terms)
{
	SimhashDerivation derived = {asked->fills, sh_default_profile, NULL};
	Node	   *source = simhash_guard_expression(relation, terms->column);
	bool		known = source == NULL ?
	asked->fills != SIMHASH_NO_MEASURE :
	simhash_get_derivation(source, &derived);

	terms->measure = simhash_get_measure(asked->similarity,
										 known ? &derived : NULL);
	terms->at_least = SIMHASH_AT_LEAST;
	if (asked->at_least != NULL)
		terms->at_least =
			simhash_check_at_least(DatumGetFloat8(DirectFunctionCall1(float8in,
																	  CStringGetDatum(asked->at_least))));
	if (terms->measure != SIMHASH_NO_MEASURE)
		terms->document = read_document_column(asked, relation,
										known ? derived.document : NULL);
	if (asked->profile == NULL && known)
		terms->profile = derived.profile;
}

/* Find the columns of the group. */
static void
read_group_columns(const GuardAsked *asked, Relation relation, GuardTerms *terms)
{
	ListCell   *lc;

	terms->group = palloc(list_length(asked->within) * sizeof *terms->group);
	foreach(lc, asked->within)
	{
		AttrNumber	column = simhash_guard_column(relation, lfirst(lc),
												  asked->renamed);

		if (column == terms->column)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s: option \"within\" cannot take column \"%s\", which is that of the fingerprint",
							asked->who, (char *) lfirst(lc)),
					 asked->hint == NULL ? 0 : errhint("%s", asked->hint)));
		terms->group[terms->ngroup++] = column;
	}
}

/* Turn what is asked for into columns of a table. */
GuardTerms
simhash_guard_read_terms(const GuardAsked *asked, Relation relation)
{
	GuardTerms	terms = {0};

	terms.column = simhash_guard_column(relation, asked->column,
										asked->renamed);
	terms.type = simhash_guard_type(relation, terms.column);
	terms.radius = simhash_check_radius(asked->radius, terms.type.width);
	terms.profile = asked->profile == NULL ? sh_default_profile :
		simhash_get_profile(cstring_to_text(asked->profile));
	terms.measure = SIMHASH_NO_MEASURE;
	if (asked->similarity != NULL || asked->at_least != NULL)
		read_similarity(asked, relation, &terms);
	read_group_columns(asked, relation, &terms);
	return terms;
}

/* Terms that are in columns of the root, in those of another table. */
GuardTerms
simhash_guard_map_terms(const GuardTerms *terms, const AttrMap *map,
						Relation relation)
{
	GuardTerms	mapped = *terms;

	mapped.column = simhash_guard_mapped(map, terms->column);
	mapped.type = simhash_guard_type(relation, mapped.column);
	mapped.document = simhash_guard_mapped(map, terms->document);
	mapped.group = palloc(terms->ngroup * sizeof *mapped.group);
	for (int i = 0; i < terms->ngroup; i++)
		mapped.group[i] = simhash_guard_mapped(map, terms->group[i]);
	return mapped;
}

/* Are two documents the same?  NULL stands for no document. */
bool
simhash_guard_same_document(const text *document, const text *other)
{
	if (document == NULL || other == NULL)
		return document == other;
	return datum_image_eq(PointerGetDatum(document), PointerGetDatum(other),
						  false, -1);
}

/* The similarity of two documents; -1 if one is NULL or has no features. */
double
simhash_guard_similarity(const GuardTerms *terms, text *document,
						 text *other)
{
	double		similarity = -1;

	if (document == NULL || other == NULL ||
		!simhash_exact_similarity(terms->measure, terms->profile, document,
								  other, &similarity))
		return -1;
	return similarity;
}
