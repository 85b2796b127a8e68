/*-------------------------------------------------------------------------
 *
 * measures.c
 *		The measures by which documents are compared, and what a document is to them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#include "catalog/pg_type_d.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"

/* In the order of SimhashMeasure. */
const SimhashMeasureKind simhash_measures[] = {
	{"jaccard", "Jaccard", true, false, 0},
	{"cosine", "cosine", false, false, 0},
	{"none", "none", false, false, 0},
	{"containment", "containment", false, false, 0},
	{"alike", "Jaccard", true, true, 0},
	{"alike-but-digits", "Jaccard", true, true, SIMHASH_NUMBER | SIMHASH_LABEL},
	{"alike-but-signs", "Jaccard", true, true, SIMHASH_SIGNS | SIMHASH_EMPTY},
	{"alike-words", "Jaccard", true, true, SIMHASH_NUMBER | SIMHASH_LABEL | SIMHASH_SIGNS | SIMHASH_EMPTY},
	{"hamming", "hamming", false, false, 0}
};

/*
 * The measure that "similarity" names; if it is NULL, whether documents are
 * alike.
 *
 * Errors: invalid_parameter_value.
 */
SimhashMeasure
simhash_get_measure(const char *similarity)
{
	if (similarity == NULL)
		return SIMHASH_BY_ALIKE;
	for (size_t i = 0; i < lengthof(simhash_measures); i++)
	{
		if (strcmp(similarity, simhash_measures[i].name) == 0)
			return (SimhashMeasure) i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument \"similarity\" is \"%s\"", similarity),
			 errhint("It must be \"alike\", \"alike-but-digits\", \"alike-but-signs\", \"alike-words\", \"jaccard\", \"containment\", \"cosine\", \"hamming\" or \"none\".")));
}

/*
 * The type that documents are read as: text, text[], or by Hamming distance bigint or
 * a bit string; InvalidOid if a type has no documents.  A type that is stored as
 * text is, as citext and xml, is read as text without a cast.
 */
Oid
simhash_document_type(SimhashMeasure measure, Oid type)
{
	Oid			base = getBaseType(type);
	Oid			element = get_element_type(base);
	Oid			function;

	if (measure == SIMHASH_HAMMING)
		return base == INT8OID || base == BITOID || base == VARBITOID ? base : InvalidOid;
	if (OidIsValid(element))
		base = getBaseType(element);
	if (find_coercion_pathway(TEXTOID, base, COERCION_EXPLICIT, &function) !=
		COERCION_PATH_RELABELTYPE)
		return InvalidOid;
	return OidIsValid(element) ? TEXTARRAYOID : TEXTOID;
}
