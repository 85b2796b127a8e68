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
#include "report/tune.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"

#define FETCHED			100		/* rows fetched at a time */

/* The size of a sample, from an argument; fails when it is out of range. */
uint32
simhash_sample_argument(int64 wanted)
{
	if (wanted < 1 || wanted > SIMHASH_SAMPLE_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sample must be between 1 and %d documents",
						SIMHASH_SAMPLE_MAX)));
	return (uint32) wanted;
}

/* Hand over a row unless it has no document, and keep no copy of it. */
static void
read_row(SimhashDocuments *documents, HeapTuple tuple, TupleDesc desc,
		 SimhashRowReader read)
{
	MemoryContext old;
	bool		isnull;
	Datum		value = SPI_getbinval(tuple, desc, 1, &isnull);
	SimhashRow	row = {NULL, true, 0};

	CHECK_FOR_INTERRUPTS();
	if (isnull)
		return;
	if (documents->made)
	{
		row.fingerprint = (uint64) DatumGetInt64(SPI_getbinval(tuple, desc, 2,
															   &isnull));
		row.exists = !isnull;
	}
	old = MemoryContextSwitchTo(documents->scratch);
	/* Arrays are not read where they are packed. */
	row.document = documents->words ? PG_DETOAST_DATUM(value) :
		PG_DETOAST_DATUM_PACKED(value);
	read(documents->state, &row);
	MemoryContextSwitchTo(old);
	MemoryContextReset(documents->scratch);
}

/* Fail: the query returns something else than documents. */
static void
complain_of_columns(const SimhashDocuments *documents, TupleDesc desc,
					const Oid *types)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 documents->only_texts ?
			 errmsg("the query must yield documents, as one column of type text") :
			 errmsg("the query must yield documents, as text or text[], and at most their fingerprints"),
			 desc->natts == 1 ?
			 errdetail("It yields a column of type %s.",
					   format_type_be(types[0])) :
			 desc->natts == 2 ?
			 errdetail("It yields columns of types %s and %s.",
					   format_type_be(types[0]), format_type_be(types[1])) :
			 errdetail("It yields %d columns.", desc->natts),
			 documents->only_texts ?
			 errhint("For example, 'SELECT body FROM docs'.") :
			 errhint("For example, 'SELECT body FROM docs', or with a fingerprint of type bigint, 'SELECT words, simhash(words) FROM docs'.")));
}

/*
 * Find out what the query yields: documents or arrays of words, and with them
 * fingerprints or not.  Fails when it is neither.
 */
static void
read_columns(SimhashDocuments *documents, TupleDesc desc)
{
	Oid			types[2] = {InvalidOid, INT8OID};
	int			most = documents->only_texts ? 1 : 2;

	for (int i = 0; i < Min(desc->natts, 2); i++)
		types[i] = getBaseType(TupleDescAttr(desc, i)->atttypid);
	documents->words = types[0] == TEXTARRAYOID;
	documents->made = desc->natts == 2;
	if ((types[0] != TEXTOID && types[0] != VARCHAROID &&
		 (documents->only_texts || !documents->words)) ||
		types[1] != INT8OID || desc->natts > most)
		complain_of_columns(documents, desc, types);
}

/* Run the query, and hand over each document that is not NULL. */
void
simhash_read_documents(SimhashDocuments *documents, const char *query,
					   SimhashRowReader read)
{
	SPIPlanPtr	plan = simhash_prepare_query(query, "SELECT body FROM docs", 0);
	Portal		portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);

	read_columns(documents, portal->tupDesc);
	for (;;)
	{
		SPI_cursor_fetch(portal, true, FETCHED);
		if (SPI_processed == 0)
			break;
		for (uint64 i = 0; i < SPI_processed; i++)
			read_row(documents, SPI_tuptable->vals[i], SPI_tuptable->tupdesc,
					 read);
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	SPI_freeplan(plan);
}
