/*-------------------------------------------------------------------------
 *
 * idf_cache.c
 *		simhash_idf values prepared for look-ups.
 *
 * A simhash_idf value can be megabytes, and a query passes it again for each
 * row.  A backend therefore keeps the values that it used last as tables,
 * prepared for look-ups, and recognises them:
 *
 *	- by the pointer into the TOAST table, within a statement: what it points
 *	  at does not change as long as the statement can see it;
 *	- else by the header, which holds a checksum of all the rest.
 *
 * Neither reads the value itself.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include <sys/mman.h>
#include <unistd.h>

#include "access/detoast.h"
#include "access/xact.h"
#include "common/pg_prng.h"
#include "utils/memutils.h"

/* Limits of the work done. */
#define PREPARED			4	/* values that a backend keeps prepared */

#define HUGE_BYTES			(4 * 1024 * 1024)	/* worth large pages */

/* A value prepared for look-ups. */
typedef struct Prepared
{
	MemoryContext context;		/* NULL when the place is free */
	ShIdfTable	table;
	unsigned char header[SH_IDF_HEADER_MAX];
	size_t		header_length;

	/* where it was last found, if it was in a TOAST table */
	bool		toasted;
	struct varatt_external pointer;
	TimestampTz statement;
} Prepared;

static Prepared prepared[PREPARED]; /* the latest used first */

/* Move a prepared value to the front. */
static Prepared *
to_front(int i)
{
	Prepared	found = prepared[i];

	memmove(prepared + 1, prepared, i * sizeof found);
	prepared[0] = found;
	return prepared;
}

/* Find a prepared value by its pointer into a TOAST table. */
static Prepared *
find_pointer(const struct varatt_external *pointer)
{
	for (int i = 0; i < PREPARED; i++)
	{
		if (prepared[i].context != NULL && prepared[i].toasted &&
			prepared[i].statement == GetCurrentStatementStartTimestamp() &&
			memcmp(&prepared[i].pointer, pointer, sizeof *pointer) == 0)
			return to_front(i);
	}
	return NULL;
}

/* Find a prepared value by its header. */
static Prepared *
find_header(const unsigned char *header, size_t length)
{
	for (int i = 0; i < PREPARED; i++)
	{
		if (prepared[i].context != NULL &&
			prepared[i].header_length == length &&
			memcmp(prepared[i].header, header, length) == 0)
			return to_front(i);
	}
	return NULL;
}

/*
 * Ask the system for large pages, where it has them on request: in a table of
 * many megabytes the processor would else have to look up the address of most
 * pages before each look-up of ours.  It does no harm if it will not.
 */
static void
want_huge_pages(void *memory, Size length)
{
#ifdef MADV_HUGEPAGE
	uintptr_t	page = (uintptr_t) sysconf(_SC_PAGESIZE);
	uintptr_t	start = TYPEALIGN(page, (uintptr_t) memory);
	uintptr_t	end = TYPEALIGN_DOWN(page, (uintptr_t) memory + length);

	if (end > start && length >= HUGE_BYTES)
		(void) madvise((void *) start, end - start, MADV_HUGEPAGE);
#endif
}

/* Prepare a value, in the place of the one longest not used. */
static Prepared *
prepare(struct varlena *value)
{
	Prepared   *place = &prepared[PREPARED - 1];
	MemoryContext context;
	ShIdf		idf;
	ShIdfTable	table;
	Size		length;
	void	   *memory;

	simhash_open_idf(&idf, value);
	if (place->context != NULL)
	{
		context = place->context;
		place->context = NULL;
		MemoryContextDelete(context);
	}
	/* Until it is whole it goes with the query if that fails. */
	context = AllocSetContextCreate(CurrentMemoryContext, "simhash_idf",
									ALLOCSET_SMALL_SIZES);
	table.n = sh_idf_buckets(&idf);
	table.multiplier = pg_prng_uint64(&pg_global_prng_state) | 1;
	length = table.n * sizeof *table.buckets;
	memory = MemoryContextAllocHuge(context, length + PG_CACHE_LINE_SIZE);
	table.buckets = (ShIdfBucket *) CACHELINEALIGN(memory);
	want_huge_pages(table.buckets, length);
	if (!sh_idf_fill(&table, &idf, simhash_pause))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("simhash_idf value is damaged")));
	MemoryContextSetParent(context, TopMemoryContext);
	place->context = context;
	place->table = table;
	place->header_length = idf.payload - (unsigned char *) VARDATA_ANY(value);
	memcpy(place->header, VARDATA_ANY(value), place->header_length);
	place->toasted = false;
	return to_front(PREPARED - 1);
}

/* The table for look-ups in a simhash_idf value, a datum. */
const ShIdfTable *
simhash_idf_table(Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	bool		toasted = VARATT_IS_EXTERNAL_ONDISK(value);
	struct varatt_external pointer;
	struct varlena *start;
	Prepared   *found;
	ShIdf		idf;
	size_t		header;

	if (toasted)
	{
		VARATT_EXTERNAL_GET_POINTER(pointer, value);
		found = find_pointer(&pointer);
		if (found != NULL)
			return &found->table;
	}
	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
		start = (struct varlena *) PG_DETOAST_DATUM_SLICE(datum, 0,
														  SH_IDF_HEADER_MAX);
	else
		start = value;
	if (sh_idf_open(&idf, (unsigned char *) VARDATA_ANY(start),
					VARSIZE_ANY_EXHDR(start), SIZE_MAX / 2, &header) != NULL)
		header = 0;				/* simhash_open_idf will say */
	found = find_header((unsigned char *) VARDATA_ANY(start), header);
	if (found == NULL)
	{
		struct varlena *whole = PG_DETOAST_DATUM_PACKED(datum);

		found = prepare(whole);
		if (whole != value)
			pfree(whole);
	}
	if (start != value)
		pfree(start);
	if (toasted)
	{
		found->toasted = true;
		found->pointer = pointer;
		found->statement = GetCurrentStatementStartTimestamp();
	}
	return &found->table;
}

/* The same for weighing documents; fails for the weights of words. */
const ShIdfTable *
simhash_document_idf(Datum datum)
{
	const ShIdfTable *table = simhash_idf_table(datum);

	if (table->profile == &sh_no_profile)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("simhash_idf value is of words, not of documents"),
				 errdetail("It says by no profile how to cut a document."),
				 errhint("Pass the words of the document as text[].")));
	return table;
}
