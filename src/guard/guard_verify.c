/*-------------------------------------------------------------------------
 *
 * guard_verify.c
 *		The option 'verify': of the rows within the distance, those are
 *		near-duplicates whose documents are similar enough.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/htup_details.h"
#include "utils/lsyscache.h"

/*
 * Read the value of the option, say  jaccard>=0.8; false if it is none.
 */
bool
simhash_guard_read_verify(Guard *guard, const char *value)
{
	GuardVerify *verify = palloc0(sizeof *verify);
	size_t		length = strcspn(value, ">");
	char	   *end;

	if (strncmp(value, "jaccard", length) == 0 && length == 7)
		verify->measure = SIMHASH_JACCARD;
	else if (strncmp(value, "cosine", length) == 0 && length == 6)
		verify->measure = SIMHASH_COSINE;
	else
		return false;
	value += length;
	if (strncmp(value, ">=", 2) != 0 || value[2] < '0' || value[2] > '9' ||
		strpbrk(value, "xX") != NULL)
		return false;
	verify->least = strtod(value + 2, &end);
	guard->verify = verify;
	return *end == '\0' && verify->least > 0 && verify->least <= 1;
}

/* Take the document of the row that is to be examined. */
void
simhash_guard_take_document(Guard *guard, Relation relation, HeapTuple row)
{
	GuardVerify *verify = guard->verify;
	bool		isnull;
	Datum		value = heap_getattr(row, verify->column,
									 RelationGetDescr(relation), &isnull);

	verify->document = isnull ? NULL : DatumGetTextPP(value);
}

/* Have two versions of a row the same document, in that column? */
bool
simhash_guard_same_document(Relation relation, AttrNumber column,
							HeapTuple old, HeapTuple new)
{
	bool		isnull;
	bool		newnull;
	Datum		value = heap_getattr(old, column, RelationGetDescr(relation),
									 &isnull);
	Datum		newvalue = heap_getattr(new, column, RelationGetDescr(relation),
										&newnull);
	text	   *before;
	text	   *document;

	if (isnull || newnull)
		return isnull && newnull;
	before = DatumGetTextPP(value);
	document = DatumGetTextPP(newvalue);
	return VARSIZE_ANY_EXHDR(before) == VARSIZE_ANY_EXHDR(document) &&
		memcmp(VARDATA_ANY(before), VARDATA_ANY(document),
			   VARSIZE_ANY_EXHDR(document)) == 0;
}

/*
 * The similarity of the document taken and that of a row of some table; -1
 * where there is none.
 */
double
simhash_guard_similarity(const Guard *guard, Oid table, TupleTableSlot *slot)
{
	const GuardVerify *verify = guard->verify;
	AttrNumber	column = get_attnum(table, verify->name);
	double		similarity = -1;
	bool		isnull;
	Datum		value;
	text	   *document;

	if (verify->document == NULL || column <= 0)
		return -1;
	value = slot_getattr(slot, column, &isnull);
	if (isnull)
		return -1;
	document = DatumGetTextPP(value);
	if (!simhash_exact_similarity(verify->measure, guard->profile,
								  verify->document, document, &similarity))
		similarity = -1;

	/* There may be many rows to verify. */
	if (document != (text *) DatumGetPointer(value))
		pfree(document);
	return similarity;
}

/* Is a row within the distance a near-duplicate? */
bool
simhash_guard_verified(const Guard *guard, Oid table, TupleTableSlot *slot)
{
	return guard->verify == NULL ||
		simhash_guard_similarity(guard, table, slot) >= guard->verify->least;
}

/* The name of the measure, for messages. */
const char *
simhash_guard_measure(const Guard *guard)
{
	return guard->verify->measure == SIMHASH_JACCARD ? "Jaccard" : "cosine";
}
