/*-------------------------------------------------------------------------
 *
 * tune_query.c
 *		The documents of a query that fingerprints are tried on.
 *
 * The query only reads, with the rights of the caller.  What it returns is
 * taken as it is: nothing is cast, for a cast may run code of whoever owns a
 * type.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "tune/tune.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "search/search.h"

/* Takes the rows of the query. */
typedef struct DocumentReceiver
{
	DestReceiver pub;
	SimhashDocuments *documents;
	SimhashRowReader read;
} DocumentReceiver;

/* Read the fingerprint of a row. */
static void
read_fingerprint(const TupleTableSlot *slot, SimhashRow *row)
{
	if (TupleDescAttr(slot->tts_tupleDescriptor, 1)->attlen > 0)
	{
		row->width = SH_BITS;
		row->fingerprint[0] = (uint64) DatumGetInt64(slot->tts_values[1]);
	}
	else
	{
		SimhashBits bits = simhash_get_bits(slot->tts_values[1]);

		simhash_check_width(bits.width);
		row->width = bits.width;
		sh_cut_whole(row->width, bits.bytes, row->fingerprint);
	}
}

/* Called with each row: hand it over unless it has no document. */
static bool
receiver_receive(TupleTableSlot *slot, DestReceiver *self)
{
	DocumentReceiver *receiver = (DocumentReceiver *) self;
	SimhashDocuments *documents = receiver->documents;
	MemoryContext old;
	SimhashRow	row = {0};

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	if (slot->tts_isnull[0])
		return true;
	old = MemoryContextSwitchTo(documents->scratch);
	if (documents->made && !slot->tts_isnull[1])
		read_fingerprint(slot, &row);
	/* Arrays are not read where they are packed. */
	row.document = documents->words ? PG_DETOAST_DATUM(slot->tts_values[0]) :
		PG_DETOAST_DATUM_PACKED(slot->tts_values[0]);
	receiver->read(documents->state, &row);
	MemoryContextSwitchTo(old);
	MemoryContextReset(documents->scratch);
	return true;
}

/* Fail: the query returns something else than documents. */
static void
complain_of_columns(TupleDesc desc, const Oid *types)
{
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

/*
 * Called with the shape of the rows: documents or arrays of words, and with
 * them fingerprints or not.  Fails when they are neither.
 */
static void
receiver_startup(DestReceiver *self, int operation pg_attribute_unused(),
				 TupleDesc desc)
{
	SimhashDocuments *documents = ((DocumentReceiver *) self)->documents;
	Oid			types[2] = {InvalidOid, INT8OID};

	for (int i = 0; i < Min(desc->natts, 2); i++)
		types[i] = getBaseType(TupleDescAttr(desc, i)->atttypid);
	documents->words = types[0] == TEXTARRAYOID;
	documents->made = desc->natts == 2;
	if ((types[0] != TEXTOID && types[0] != VARCHAROID && !documents->words) ||
		(types[1] != INT8OID && types[1] != BITOID && types[1] != VARBITOID) ||
		desc->natts > 2)
		complain_of_columns(desc, types);
}

/* Run the query, and hand over each document that is not NULL. */
void
simhash_read_documents(SimhashDocuments *documents,
					   const SimhashStatement *query, SimhashRowReader read)
{
	DocumentReceiver receiver;

	receiver.documents = documents;
	receiver.read = read;
	simhash_begin_receiver(&receiver.pub, receiver_startup, receiver_receive);
	simhash_run(query, NULL, &receiver.pub);
}
