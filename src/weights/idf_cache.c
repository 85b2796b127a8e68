/*-------------------------------------------------------------------------
 *
 * idf_cache.c
 *		simhash_idf values prepared for look-ups.
 *
 * A simhash_idf value can be megabytes, and a query passes it again for each
 * row.  A backend therefore keeps the values that it used last as tables,
 * prepared for look-ups, with a copy of their bytes.  A value is the same as one
 * that is kept if all of its bytes are.  To compare less is not safe: anybody
 * can make a value with the length, the header and the checksum of another one,
 * which would then change the fingerprints that others make in the session.
 *
 * To compare megabytes for each row would take longer than all the rest, so the
 * bytes are not compared where something else says that the value is the same:
 *
 *	- A constant of the query: it is what the expression holds, and stays so
 *	  as long as the call's state (fn_extra) does.
 *	- A pointer into a TOAST table that has been followed within the same
 *	  command: what it leads to neither changes nor goes away as long as the
 *	  snapshot of the command can see it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "access/detoast.h"
#include "access/xact.h"
#include "common/pg_prng.h"
#include "utils/memutils.h"

/* Limits of the work done. */
#define PREPARED			4	/* values that a backend keeps prepared */
#define PREPARED_BYTES		(64 * 1024 * 1024)	/* of all of them together,
												 * between transactions */

/* A value prepared for look-ups. */
typedef struct Prepared
{
	MemoryContext context;		/* NULL when the place is free */
	uint64		number;			/* from 1; no other one ever has it */
	ShIdfTable	table;
	char	   *bytes;			/* of the value */
	Size		length;
	Size		taken;			/* memory, with that of the table */

	/* where it was last found, if it was in a TOAST table */
	bool		toasted;
	struct varatt_external pointer;
	TimestampTz statement;
	CommandId	command;
} Prepared;

static Prepared prepared[PREPARED]; /* the latest used first */
static uint64 last_number = 0;
static bool in_transaction = false; /* end_transaction will be called */

/* Move a prepared value to the front. */
static Prepared *
to_front(int i)
{
	Prepared	found = prepared[i];

	memmove(prepared + 1, prepared, i * sizeof found);
	prepared[0] = found;
	return prepared;
}

/* Free the place of a value. */
static void
release_place(Prepared *place)
{
	if (place->context != NULL)
		MemoryContextDelete(place->context);
	memset(place, 0, sizeof *place);
}

/*
 * The transaction ends: what TOAST pointers lead to can change from now on,
 * and no more memory may be kept than PREPARED_BYTES.
 */
static void
end_transaction(void *arg)
{
	Size		total = 0;

	(void) arg;
	in_transaction = false;
	for (int i = 0; i < PREPARED; i++)
	{
		prepared[i].toasted = false;
		if (total + prepared[i].taken > PREPARED_BYTES)
			release_place(&prepared[i]);
		total += prepared[i].taken;
	}
}

/*
 * Find a prepared value by its number, unless that is 0, by its pointer into a
 * TOAST table, or by its bytes: by what is given.  NULL if it is not kept.
 */
static Prepared *
find_prepared(uint64 number, const struct varatt_external *pointer,
			  const struct varlena *value)
{
	for (int i = 0; i < PREPARED; i++)
	{
		const Prepared *place = &prepared[i];

		if ((number != 0 && place->number == number) ||
			(pointer != NULL && place->toasted &&
			 place->statement == GetCurrentStatementStartTimestamp() &&
			 place->command == GetCurrentCommandId(false) &&
			 memcmp(&place->pointer, pointer, sizeof *pointer) == 0) ||
			(value != NULL && place->length == VARSIZE_ANY_EXHDR(value) &&
			 memcmp(place->bytes, VARDATA_ANY(value), place->length) == 0))
			return to_front(i);
	}
	return NULL;
}

/*
 * Find a value that is not compressed, or prepare it, in the place of the one
 * longest not used.
 */
static Prepared *
find_or_prepare(struct varlena *value)
{
	Prepared   *place = find_prepared(0, NULL, value);
	MemoryContext context;
	ShIdf		idf;
	ShIdfTable	table;
	Size		length;
	void	   *memory;

	if (place != NULL)
		return place;
	simhash_open_idf(&idf, value);
	place = &prepared[PREPARED - 1];
	release_place(place);
	/* Until it is whole it goes with the query if that fails. */
	context = AllocSetContextCreate(CurrentMemoryContext, "simhash_idf",
									ALLOCSET_SMALL_SIZES);
	table.n = sh_idf_buckets(&idf);
	table.multiplier = pg_prng_uint64(&pg_global_prng_state) | 1;
	length = table.n * sizeof *table.buckets;
	memory = MemoryContextAllocHuge(context, length + PG_CACHE_LINE_SIZE);
	table.buckets = (ShIdfBucket *) CACHELINEALIGN(memory);
	simhash_check_idf(sh_idf_fill(&table, &idf, simhash_pause));
	place->length = VARSIZE_ANY_EXHDR(value);
	place->bytes = MemoryContextAllocHuge(context, place->length);
	memcpy(place->bytes, VARDATA_ANY(value), place->length);
	MemoryContextSetParent(context, TopMemoryContext);
	place->context = context;
	place->number = ++last_number;
	place->table = table;
	place->taken = length + place->length;
	return to_front(PREPARED - 1);
}

/* Find the value that a TOAST pointer leads to, or prepare it. */
static Prepared *
find_toasted(struct varlena *value)
{
	struct varatt_external pointer;
	struct varlena *whole;
	Prepared   *found;

	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	found = find_prepared(0, &pointer, NULL);
	if (found != NULL)
		return found;
	whole = PG_DETOAST_DATUM_PACKED(PointerGetDatum(value));
	found = find_or_prepare(whole);
	pfree(whole);
	found->toasted = true;
	found->pointer = pointer;
	found->statement = GetCurrentStatementStartTimestamp();
	found->command = GetCurrentCommandId(false);
	return found;
}

/* Is argument i the datum of a constant in the expression? */
static bool
argument_is_constant(FunctionCallInfo fcinfo, int i)
{
	Node	   *call = fcinfo->flinfo->fn_expr;
	Node	   *argument;

	if (call == NULL || !IsA(call, FuncExpr) ||
		i >= list_length(((FuncExpr *) call)->args))
		return false;
	argument = list_nth(((FuncExpr *) call)->args, i);
	return IsA(argument, Const) &&
		((Const *) argument)->constvalue == PG_GETARG_DATUM(i);
}

/*
 * The table for look-ups in the simhash_idf value that is argument i; NULL when
 * that is NULL.  fn_extra is the number of the constant that the argument is.
 */
const ShIdfTable *
simhash_idf_table(FunctionCallInfo fcinfo, int i)
{
	struct varlena *value = (struct varlena *) PG_GETARG_POINTER(i);
	bool		constant = argument_is_constant(fcinfo, i);
	uint64	   *number = fcinfo->flinfo->fn_extra;
	Prepared   *found = NULL;

	if (PG_ARGISNULL(i))
		return NULL;
	if (constant && number != NULL)
		found = find_prepared(*number, NULL, NULL);
	if (found != NULL)
		return &found->table;
	if (!in_transaction)
		(void) simhash_lasting_context(end_transaction);
	in_transaction = true;
	if (VARATT_IS_EXTERNAL_ONDISK(value))
		found = find_toasted(value);
	else
		found = find_or_prepare(PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(i)));
	if (constant)
	{
		if (number == NULL)
			fcinfo->flinfo->fn_extra = number =
				MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof *number);
		*number = found->number;
	}
	return &found->table;
}

/* The same for weighing documents; fails for the weights of words. */
const ShIdfTable *
simhash_document_idf(FunctionCallInfo fcinfo, int i)
{
	const ShIdfTable *table = simhash_idf_table(fcinfo, i);

	if (sh_profile_given(table->profile))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("simhash_idf value is of words, not of documents"),
				 errdetail("It names no profile to cut a document by."),
				 errhint("Pass the words of the document as text[].")));
	return table;
}
