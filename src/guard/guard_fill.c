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
#include "guard/guard.h"

/* The fingerprint of a row's document; NULL if it has none. */
static Datum
compute_fingerprint(const GuardArguments *arguments, Datum document,
					bool *isnull)
{
	SimhashWideFamily family = arguments->fill == SIMHASH_JACCARD ?
	simhash_wide_minhash : simhash_wide_fingerprint;
	int			n = arguments->terms.type.width / SH_BITS;
	uint64		words[SH_WORDS];

	if (!*isnull)
		*isnull = !family(arguments->terms.compare.profile, DatumGetTextPP(document), n, words);
	if (*isnull)
		return (Datum) 0;
	return arguments->terms.type.oid == BITOID ? simhash_make_bits(words, n) :
		Int64GetDatum((int64) words[0]);
}

/*
 * The fingerprint and the document that a row had before the update, or in the
 * partition that the update has moved it from; false if it had no fingerprint,
 * or is new.
 */
static bool
get_state_before(const GuardTrigger *guard, const TriggerData *data,
				 NearFingerprint *fingerprint, text **document)
{
	const GuardArguments *arguments = &guard->arguments;
	const NearMoved *moved = &guard->near.statement->moved;
	bool		isnull;
	Datum		value;

	if (!TRIGGER_FIRED_BY_UPDATE(data->tg_event))
	{
		*fingerprint = moved->fingerprint;
		*document = moved->document;
		return guard->near.statement->moved.valid &&
			simhash_near_has_moved(guard->near.statement) &&
			moved->fingerprint.width != 0;
	}
	value = slot_getattr(data->tg_trigslot, arguments->terms.column, &isnull);
	if (!isnull)
		*fingerprint = simhash_near_fingerprint(&arguments->terms.type, value);
	*document = simhash_near_get_document(&guard->near.stored,
										  data->tg_trigslot);
	return !isnull;
}

/*
 * The row with the fingerprint of its document.  As long as the document does
 * not change, a fingerprint that is there stays, however it was made, also
 * when an update moves the row.  A new one that the statement gives must be
 * the one that we would fill in.
 */
HeapTuple
simhash_guard_fill(const GuardTrigger *guard, const TriggerData *data,
				   HeapTuple row)
{
	const GuardArguments *arguments = &guard->arguments;
	const NearType *type = &arguments->terms.type;
	Relation	relation = data->tg_relation;
	TupleDesc	desc = RelationGetDescr(relation);
	AttrNumber	column = arguments->terms.column;
	NearFingerprint given;
	NearFingerprint other;
	text	   *document;
	bool		as_before = false;
	bool		isnull;
	bool		none;
	Datum		value = heap_getattr(row, column, desc, &isnull);
	Datum		source = heap_getattr(row, arguments->terms.document, desc, &none);

	if (!isnull)
	{
		given = simhash_near_fingerprint(type, value);
		as_before = get_state_before(guard, data, &other, &document) &&
			simhash_near_distance(&given, &other) == 0;
	}
	if (as_before &&
		simhash_near_same_document(document, none ? NULL : (text *) DatumGetPointer(source)))
		return row;
	value = compute_fingerprint(arguments, source, &none);
	if (!none)
		other = simhash_near_fingerprint(type, value);
	if (isnull == none &&
		(none || simhash_near_distance(&given, &other) == 0))
		return row;
	if (!as_before && !isnull)
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("fingerprint given for column \"%s\" of relation \"%s\" is not that of the document",
						NameStr(simhash_near_attribute(relation, column)->attname),
						RelationGetRelationName(relation)),
				 errhint("Leave it to trigger \"%s\" to fill it in.",
						 guard->near.name)));
	return simhash_near_set_column(row, relation, column, value, none);
}
