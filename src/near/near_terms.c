/*-------------------------------------------------------------------------
 *
 * near_terms.c
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
#include "near/near.h"

#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgrprotos.h"

#include "core/pairs/wide_pairs.h"
#include "relation.h"

/* The column that an argument names; fails if there is none. */
static AttrNumber
find_column(const NearAsked *asked, Relation relation, const char *name,
			const char *argument)
{
	return simhash_find_column(RelationGetRelid(relation), name, argument,
							   asked->renamed);
}

/* The expression of a generated column, or NULL. */
Node	   *
simhash_near_expression(Relation relation, AttrNumber column)
{
	if (!simhash_near_attribute(relation, column)->attgenerated)
		return NULL;
	return build_column_default(relation, column);
}

/* Fail if a column is virtual, as the rows that a search finds lack it. */
void
simhash_near_check_stored(Relation relation, AttrNumber column)
{
	Form_pg_attribute attribute = simhash_near_attribute(relation, column);

	if (simhash_is_virtual(attribute))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("column \"%s\" is virtual",
						NameStr(attribute->attname)),
				 errhint("Take a generated column that is STORED.")));
}

/*
 * The documents that are to be compared: a column that is named, or what the
 * fingerprint is made of.
 */
static void
read_document(const NearAsked *asked, Relation relation, Node *source,
			  NearTerms *terms)
{
	Var		   *column = (Var *) simhash_unlabeled(source);

	if (asked->options.document != NULL)
		terms->document = find_column(asked, relation, asked->options.document,
									  "document");
	else if (column == NULL || terms->compare.measure == SIMHASH_HAMMING)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s: option \"%s\" needs an option document=column",
						asked->who, asked->options.similarity ? "similarity" :
						asked->options.bounded ? "at_least" : "at_most"),
				 errhint("%s", asked->hint)));
	else if (IsA(column, Var))
		terms->document = column->varattno;
	else
		terms->expression = source;
}

/* The bound of the similarity, or how many bits may be different. */
static void
read_bound(const NearAsked *asked, Relation relation, NearTerms *terms)
{
	bool		hamming = terms->compare.measure == SIMHASH_HAMMING;
	int			width;

	terms->compare.at_least = simhash_check_share(asked->who, "at_least", asked->options.at_least);
	if (hamming != asked->options.limited || (hamming && asked->options.bounded))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s: \"at_most\" and the similarity \"hamming\" belong together, without \"at_least\"",
						asked->who),
				 errhint("For example, document pdq, similarity hamming and at_most 31 have the fingerprints in column \"pdq\" decide.")));
	if (!hamming)
		return;
	width = simhash_near_type(relation, terms->document).width;
	terms->compare.at_most = simhash_check_range(asked->who, "at_most",
												 asked->options.at_most, 0, width, width);
}

/* Find out whether documents are compared, which, and how. */
static void
read_similarity(const NearAsked *asked, Relation relation, NearTerms *terms)
{
	SimhashDerivation derived = {asked->fills, sh_default_profile, NULL};
	Node	   *source = simhash_near_expression(relation, terms->column);
	bool		known = source == NULL ?
	asked->fills != SIMHASH_NO_MEASURE :
	simhash_get_derivation(source, &derived);

	terms->compare.measure = simhash_get_measure(asked->options.similarity);
	if (terms->compare.measure != SIMHASH_NO_MEASURE)
		read_document(asked, relation, known ? derived.document : NULL, terms);
	read_bound(asked, relation, terms);
	if (asked->options.profile == NULL && known)
		terms->compare.profile = derived.profile;
}

/* Find the columns of the group. */
static void
read_group_columns(const NearAsked *asked, Relation relation, NearTerms *terms)
{
	ListCell   *lc;

	terms->group = palloc(list_length(asked->within) * sizeof *terms->group);
	foreach(lc, asked->within)
	{
		AttrNumber	column = find_column(asked, relation, lfirst(lc), "within");

		if (column == terms->column)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s: option \"within\" cannot take column \"%s\", which is that of the fingerprint",
							asked->who, (char *) lfirst(lc)),
					 errhint("%s", asked->hint)));
		terms->group[terms->ngroup++] = column;
	}
}

/* Turn what is asked for into columns of a table. */
NearTerms
simhash_near_read_terms(const NearAsked *asked, Relation relation)
{
	NearTerms	terms = {0};

	terms.column = find_column(asked, relation, asked->column, asked->fingerprint);
	terms.type = simhash_near_type(relation, terms.column);
	terms.radius = (int) simhash_check_range(asked->who, asked->distance, asked->radius, 0,
											 asked->pairs ? sh_wide_most(terms.type.width) :
											 terms.type.width, terms.type.width);
	terms.compare.profile = asked->options.profile == NULL ? sh_default_profile :
		simhash_get_profile(cstring_to_text(asked->options.profile));
	terms.compare.measure = SIMHASH_NO_MEASURE;
	if (asked->options.similarity != NULL || asked->options.bounded || asked->options.limited)
		read_similarity(asked, relation, &terms);
	if (asked->fills != SIMHASH_NO_MEASURE)
		terms.document = find_column(asked, relation, asked->options.document, "document");
	read_group_columns(asked, relation, &terms);
	return terms;
}

/* Terms that are in columns of the root, in those of another table. */
NearTerms
simhash_near_map_terms(const NearTerms *terms, const AttrMap *map,
					   Relation relation)
{
	NearTerms	mapped = *terms;
	bool		whole;

	mapped.column = simhash_near_mapped(map, terms->column);
	mapped.type = simhash_near_type(relation, mapped.column);
	mapped.document = simhash_near_mapped(map, terms->document);
	mapped.expression = map_variable_attnos(terms->expression, 1, 0, map,
											InvalidOid, &whole);
	mapped.time = simhash_near_mapped(map, terms->time);
	mapped.group = palloc(terms->ngroup * sizeof *mapped.group);
	for (int i = 0; i < terms->ngroup; i++)
		mapped.group[i] = simhash_near_mapped(map, terms->group[i]);
	return mapped;
}
