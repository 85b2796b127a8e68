/*-------------------------------------------------------------------------
 *
 * guard_fill.c
 *		The option fill=family of simhash_guard(): the fingerprint, filled in
 *		from a document.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard_options.h"

/* The fingerprint of a row's document; NULL if it has none. */
static Datum
compute_fingerprint(const GuardArguments *arguments, TupleDesc desc,
					HeapTuple row, bool *isnull)
{
	SimhashWideFamily family = arguments->fill == SIMHASH_JACCARD ?
	simhash_wide_minhash : simhash_wide_fingerprint;
	int			n = arguments->terms.type.width / SH_BITS;
	uint64		words[SH_WORDS];
	Datum		document = heap_getattr(row, arguments->source, desc, isnull);

	if (!*isnull)
		*isnull = !family(arguments->terms.profile, DatumGetTextPP(document), n, words);
	if (*isnull)
		return (Datum) 0;
	return arguments->terms.type.oid == BITOID ? simhash_make_bits(words, n) :
		Int64GetDatum((int64) words[0]);
}

/* Are two fingerprints the same, or both NULL? */
static bool
same_fingerprint(const GuardType *type, Datum value, bool isnull,
				 Datum other, bool othernull)
{
	GuardFingerprint a;
	GuardFingerprint b;

	if (isnull || othernull)
		return isnull && othernull;
	a = simhash_guard_fingerprint(type, value);
	b = simhash_guard_fingerprint(type, other);
	return simhash_guard_distance(&a, &b) == 0;
}

/*
 * Does a row have the fingerprint that it had before the update, or in the
 * partition that the update has moved it from?  Says also whether it has the
 * document that it had there.
 */
static bool
is_as_before(const GuardTrigger *guard, const TriggerData *data, HeapTuple row,
			 Datum given, bool *same_document)
{
	const GuardArguments *arguments = &guard->arguments;
	const GuardType *type = &arguments->terms.type;
	const GuardMoved *moved = &guard->guard.statement->moved;
	Relation	relation = data->tg_relation;
	GuardFingerprint fingerprint;
	bool		isnull;
	Datum		old;

	if (TRIGGER_FIRED_BY_UPDATE(data->tg_event))
	{
		*same_document = simhash_guard_keeps_document(relation,
													  arguments->source,
													  data->tg_trigtuple, row);
		old = heap_getattr(data->tg_trigtuple, arguments->terms.column,
						   RelationGetDescr(relation), &isnull);
		return same_fingerprint(type, given, false, old, isnull);
	}
	if (!simhash_guard_has_moved(guard->guard.statement) ||
		moved->fingerprint.width == 0)
		return false;
	*same_document =
		simhash_guard_same_document(simhash_guard_document(relation, arguments->source, row),
									moved->document);
	fingerprint = simhash_guard_fingerprint(type, given);
	return simhash_guard_distance(&moved->fingerprint, &fingerprint) == 0;
}

/*
 * The row with the fingerprint of its document.  As long as the document does not
 * change, a fingerprint that is there stays, however it was made, also when an
 * update moves the row.  A new one that the statement gives must be the one that
 * we would fill in.
 */
HeapTuple
simhash_guard_fill(const GuardTrigger *guard, const TriggerData *data,
				   HeapTuple row)
{
	const GuardArguments *arguments = &guard->arguments;
	const GuardType *type = &arguments->terms.type;
	Relation	relation = data->tg_relation;
	TupleDesc	desc = RelationGetDescr(relation);
	AttrNumber	column = arguments->terms.column;
	bool		isnull;
	Datum		given = heap_getattr(row, column, desc, &isnull);
	bool		same_document = false;
	bool		as_before = !isnull &&
	is_as_before(guard, data, row, given, &same_document);
	bool		none;
	Datum		its;

	if (as_before && same_document)
		return row;
	its = compute_fingerprint(arguments, desc, row, &none);
	if (same_fingerprint(type, given, isnull, its, none))
		return row;
	if (!as_before && !isnull)
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("column \"%s\" of relation \"%s\" is given a fingerprint that is not that of its document",
						NameStr(simhash_guard_attribute(relation, column)->attname),
						RelationGetRelationName(relation)),
				 errhint("Leave it to trigger \"%s\" to fill it in.",
						 guard->guard.name)));
	return simhash_guard_set_column(row, relation, column, its, none);
}
