/*-------------------------------------------------------------------------
 *
 * tune_query.c
 *		The documents of a query that fingerprints are tried on.
 *
 * What the query returns is taken as it is: nothing is cast, for a cast may
 * run code of the owner of a type.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "tune/tune.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "search/search.h"

/* Read the fingerprint of a row. */
static void
read_fingerprint(const TupleTableSlot *slot, SimhashTuneDocument *document)
{
	if (TupleDescAttr(slot->tts_tupleDescriptor, 1)->attlen > 0)
	{
		document->width = SH_BITS;
		document->fingerprint[0] = (uint64) DatumGetInt64(slot->tts_values[1]);
	}
	else
	{
		SimhashBits bits = simhash_get_bits(slot->tts_values[1]);

		simhash_check_width(bits.width);
		document->width = bits.width;
		sh_cut_whole(bits.width, bits.bytes, document->fingerprint);
	}
}

/* Hand the document of a row over, unless it is NULL. */
static void
hand_over_row(void *context, TupleTableSlot *slot)
{
	SimhashTuneQuery *query = context;
	SimhashTuneDocument document = {0};
	MemoryContext old;

	if (slot->tts_isnull[0])
		return;
	old = MemoryContextSwitchTo(query->scratch);
	if (query->made && !slot->tts_isnull[1])
		read_fingerprint(slot, &document);
	/* Arrays are not read where they are packed. */
	document.document = query->words ? PG_DETOAST_DATUM(slot->tts_values[0]) :
		PG_DETOAST_DATUM_PACKED(slot->tts_values[0]);
	query->take(query->context, &document);
	MemoryContextSwitchTo(old);
	MemoryContextReset(query->scratch);
}

/* Fail unless the columns are documents, and maybe fingerprints. */
static void
check_document_columns(void *context, TupleDesc desc)
{
	SimhashTuneQuery *query = context;
	Oid			types[2] = {InvalidOid, INT8OID};

	for (int i = 0; i < Min(desc->natts, 2); i++)
		types[i] = getBaseType(TupleDescAttr(desc, i)->atttypid);
	query->words = types[0] == TEXTARRAYOID;
	query->made = desc->natts == 2;
	if ((types[0] != TEXTOID && types[0] != VARCHAROID && !query->words) ||
		(types[1] != INT8OID && types[1] != BITOID && types[1] != VARBITOID) ||
		desc->natts > 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the query must yield documents, as text or text[], and at most their fingerprints"),
				 desc->natts == 1 ?
				 errdetail("It yields a column of type %s.",
						   format_type_be(types[0])) :
				 desc->natts == 2 ?
				 errdetail("It yields columns of types %s and %s.",
						   format_type_be(types[0]), format_type_be(types[1])) :
				 errdetail("It yields %d columns.", desc->natts),
				 errhint("For example, 'SELECT body FROM docs', or with a fingerprint of type bigint or bit, 'SELECT words, simhash(words) FROM docs'.")));
}

/* Run the query, and hand over each document that is not NULL. */
void
simhash_read_documents(SimhashTuneQuery *query,
					   const SimhashStatement *statement)
{
	SimhashRowReader reader = {check_document_columns, hand_over_row, query};

	simhash_read(statement, &reader);
}
