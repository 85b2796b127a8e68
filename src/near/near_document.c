/*-------------------------------------------------------------------------
 *
 * near_document.c
 *		The documents that are compared, where the terms say so: how they are had
 *		from the rows of a table, and whether two of them are similar.
 *
 * A document is what a column has, or the value of the expression that the
 * fingerprint is made of, say coalesce(title, '') || ' ' || body.  That is the
 * expression of the table that the trigger was made for, in columns of each table
 * that is searched: to insert a row computes the fingerprint by the like of it,
 * with the same rights, and no code of the owner of some other partition is run.
 * But here it is evaluated for rows that the role may not read: what it calls finds
 * names in pg_catalog alone, or the role could put something of its own in between by
 * its search_path.  PL/pgSQL keeps the types that its first call in a session finds; so
 * nothing is evaluated with more rights than the role's, nor after its statement
 * (src/README).
 *
 * Here a document is a value of variable length: a text; an array of texts; a bit
 * string, to which a fingerprint that is a bigint is turned.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "access/sysattr.h"
#include "parser/parse_coerce.h"

/* The type of the documents; fails unless such can be compared. */
static Oid
document_type(Relation relation, const NearTerms *terms)
{
	Form_pg_attribute column =
	simhash_near_attribute(relation, terms->document != 0 ? terms->document :
						   terms->column);
	Oid			type = terms->expression != NULL ?
	exprType(terms->expression) : column->atttypid;
	Oid			read_as = simhash_document_type(SIMHASH_JACCARD, type);

	if (terms->compare.measure == SIMHASH_HAMMING)
		return simhash_near_type(relation, terms->document).oid;
	if (!OidIsValid(read_as))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is of type %s, not text or text[]",
						NameStr(column->attname),
						RelationGetRelationName(relation),
						format_type_be(type)),
				 errhint("Documents are texts or arrays of texts; fingerprints are compared by the similarity \"hamming\".")));
	return read_as;
}

/*
 * Prepare to have the documents of rows of a table, in memory of the current
 * context.  The terms are in columns of that table.
 */
NearDocument
simhash_near_open_document(Relation relation, const NearTerms *terms)
{
	NearDocument document = {.column = terms->document};

	document.type = document_type(relation, terms);
	document.context = CreateStandaloneExprContext();
	if (terms->expression == NULL)
		simhash_near_check_stored(relation, terms->document);
	else
	{
		int			level = NewGUCNestLevel();

		/* To plan it calls functions of constants, and reads those in SQL. */
		RestrictSearchPath();
		document.foreign = !simhash_is_of_core(terms->expression);
		document.computed =
			ExecInitExpr(expression_planner(copyObject((Expr *) terms->expression)),
						 NULL);
		AtEOXact_GUC(false, level);
	}
	return document;
}

/*
 * The document of a row, which may be in the row itself, or in memory of the
 * document's context; NULL if it has none.
 */
text	   *
simhash_near_read_document(const NearDocument *document, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value;
	uint64		word;
	MemoryContext old;
	int			level = 0;

	if (document->foreign)
	{
		level = NewGUCNestLevel();
		RestrictSearchPath();
	}
	old = MemoryContextSwitchTo(document->context->ecxt_per_tuple_memory);
	document->context->ecxt_scantuple = slot;
	value = document->computed == NULL ?
		slot_getattr(slot, document->column, &isnull) :
		ExecEvalExpr(document->computed, document->context, &isnull);
	if (document->foreign)
		AtEOXact_GUC(true, level);
	if (!isnull && document->type == INT8OID)
	{
		word = (uint64) DatumGetInt64(value);
		value = simhash_make_bits(&word, 1);
	}
	MemoryContextSwitchTo(old);
	return isnull ? NULL : (text *) DatumGetPointer(value);
}

/* A document as the value of the column that it is from. */
Datum
simhash_near_document_value(const NearDocument *document, text *value)
{
	NearType	bits = {BITOID, SH_BITS};

	if (document->type != INT8OID)
		return PointerGetDatum(value);
	return Int64GetDatum((int64) simhash_near_fingerprint(&bits,
														  PointerGetDatum(value)).words[0]);
}

/* The columns that a document is had from, as pull_varattnos() numbers them. */
Bitmapset  *
simhash_near_document_columns(const NearTerms *terms)
{
	Bitmapset  *columns = NULL;

	if (terms->document != 0)
		return bms_make_singleton(terms->document -
								  FirstLowInvalidHeapAttributeNumber);
	pull_varattnos(terms->expression, 1, &columns);
	return columns;
}

/* Are two documents the same?  NULL stands for no document. */
bool
simhash_near_same_document(const text *document, const text *other)
{
	if (document == NULL || other == NULL)
		return document == other;
	return datum_image_eq(PointerGetDatum(document), PointerGetDatum(other),
						  false, -1);
}

/*
 * How similar the document of a row is to that of another, which is there already,
 * or how many bits are different; -1 if they are not similar enough.
 */
double
simhash_near_similarity(const NearTerms *terms, const NearDocument *kind,
						text *document, text *other)
{
	SimhashComparison comparison = terms->compare;
	double		similarity;

	if (document == NULL || other == NULL)
		return -1;
	if (comparison.measure == SIMHASH_HAMMING)
	{
		SimhashBits a = simhash_get_bits(PointerGetDatum(document));
		SimhashBits b = simhash_get_bits(PointerGetDatum(other));
		int			distance = simhash_bits_distance(&a, &b);

		return distance <= comparison.at_most ? distance : -1;
	}
	comparison.arrays = kind->type == TEXTARRAYOID;
	return simhash_compare(&comparison, DatumGetTextPP(PointerGetDatum(document)),
						   DatumGetTextPP(PointerGetDatum(other)),
						   &similarity) == SIMHASH_ALIKE ? similarity : -1;
}
