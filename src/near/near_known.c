/*-------------------------------------------------------------------------
 *
 * near_known.c
 *		Which fingerprints are near to those of rows to come, found for all of them
 *		at once.
 *
 * simhash_guard_load() inserts rows as anybody does, and the guards decide on each as
 * on any other.  What takes them the time is to search the neighbourhood of each row.
 * In a load they look up the few fingerprints that are there instead, or none.
 *
 * Why no row slips through.  Nobody else can write to a table that is searched, so all
 * fingerprints in them are those that have been read, by a snapshot that was taken
 * once they were locked, and those of the rows to come.  What else gets into an index,
 * as a trigger has changed a row or inserted one of its own, is noticed there: then
 * nothing is known any more, and the guards search as ever.  It is fingerprints that
 * are known, whatever group, time or document their rows have: a row that is looked up
 * by one of them is compared as any row that is found.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "miscadmin.h"

#include "core/pairs/clusters.h"
#include "query/query.h"

/*
 * Limits of the work done.
 *
 * BEYOND		rows that are there for each that comes; with more it takes less to
 *				search for each
 * LOOK			rows to read between two looks at the memory that is needed
 * FIRST_ROOM	rows to have room for at first
 */
#define BEYOND			100
#define LOOK			65536
#define FIRST_ROOM		1024
#define MEMORY_LIMIT	((int64) maintenance_work_mem * 1024)

/* Of a fingerprint: not of the rows to come, or too many are near. */
#define NOT_LISTED		(NEAR_KNOWN_MOST + 1)

/* By the number of a fingerprint, that of one near to it. */
typedef struct NearNumber
{
	uint32		number;
	uint32		near;
} NearNumber;

struct NearKnown
{
	Oid			trigger;
	List	   *indexes;		/* of all tables that it searches */
	int			radius;
	ShPairs		pairs;
	uint64	   *values;			/* those of rows to come, then of rows there */
	uint32		n;
	uint32		coming;
	uint32		room;
	bool		full;			/* they are too many */
	uint8	   *listed;			/* by number: how many are near, or NOT_LISTED */
	bool	   *there;			/* by number: a row has it by now */
	NearNumber *near;			/* in order, once all are there */
	int64		nnear;
	int64		near_room;
	MemoryContext context;		/* of all these */
};

/* The load that is going on, or NULL. */
NearLoad   *simhash_near_loading = NULL;

/* Begin for a trigger with such terms, if that can be had for them. */
NearKnown  *
simhash_near_known_begin(Oid trigger, const NearTerms *terms,
						 const NearScope *scope)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "simhash_guard known",
												  ALLOCSET_DEFAULT_SIZES);
	NearKnown  *known = MemoryContextAllocZero(context, sizeof *known);

	known->trigger = trigger;
	known->radius = terms->radius;
	known->context = context;
	known->room = known->near_room = FIRST_ROOM;
	known->values = MemoryContextAlloc(context, FIRST_ROOM * sizeof(uint64));
	known->near = MemoryContextAlloc(context, FIRST_ROOM * sizeof(NearNumber));
	for (int i = 0; i < scope->ntables; i++)
		known->indexes = lappend_oid(known->indexes, scope->tables[i].hamming.index);
	if (terms->type.oid == INT8OID && terms->radius <= SH_PAIRS_RADIUS &&
		!list_member_oid(known->indexes, InvalidOid))
		return known;
	MemoryContextDelete(context);
	return NULL;
}

/* The bytes that so many rows need. */
static int64
needed_bytes(uint32 n)
{
	return n * (int64) (sizeof(uint64) + sizeof(uint8) + sizeof(bool)) + (int64) sh_pairs_bytes(n);
}

/* Are there too many rows for another one? */
static bool
is_full(const NearKnown *known)
{
	int			bytes = (int) (needed_bytes(LOOK) / LOOK) + 1;

	if (known->n - known->coming > BEYOND * (uint64) known->coming ||
		known->n == SH_PAIRS_ROWS)
		return true;
	if (known->n % LOOK != 0 ||
		needed_bytes(known->n + LOOK) <= MEMORY_LIMIT)
		return false;
	ereport(NOTICE,
			(errmsg("rows are searched for one by one, as they are too many for maintenance_work_mem"),
			 errhint("Increase it: a load needs some %d bytes for each row of the table and of the query.",
					 bytes)));
	return true;
}

/* Add the fingerprint of a row to come, or of one that is there; false if that is one too many. */
bool
simhash_near_known_add(NearKnown *known, uint64 value, bool coming)
{
	known->full = known->full || is_full(known);
	if (known->full)
		return false;
	if (known->n == known->room)
	{
		known->room += known->room / 2;
		known->values = repalloc_huge(known->values, known->room * sizeof(uint64));
	}
	known->coming += coming;
	known->values[known->n++] = value;
	return true;
}

/*
 * List one fingerprint as near to another, if that is of rows to come, and memory is
 * left.
 */
static void
list_near(NearKnown *known, uint32 number, uint32 near)
{
	int64		room = known->near_room * 2;

	if (known->listed[number] == NOT_LISTED || ++known->listed[number] == NOT_LISTED)
		return;
	if (known->nnear == known->near_room)
	{
		if (needed_bytes(known->n) + room * (int64) sizeof(NearNumber) > MEMORY_LIMIT)
		{
			known->listed[number] = NOT_LISTED;
			return;
		}
		known->near = repalloc_huge(known->near, room * sizeof(NearNumber));
		known->near_room = room;
	}
	known->near[known->nnear++] = (NearNumber)
	{
		number, near
	};
}

/* ShPairSink */
static void
take_near(void *context, uint32_t a, uint32_t b, int distance pg_attribute_unused())
{
	list_near(context, a, b);
	list_near(context, b, a);
}

/* For qsort() and bsearch(): by the number that others are near to. */
static int
compare_numbers(const void *a, const void *b)
{
	uint32		one = ((const NearNumber *) a)->number;
	uint32		other = ((const NearNumber *) b)->number;

	CHECK_FOR_INTERRUPTS();
	return (one > other) - (one < other);
}

/*
 * All rows have been added: find what is near to those to come; false if they were too
 * many.  In a crowd too much is near to each.
 */
bool
simhash_near_known_find(NearKnown *known)
{
	ShPairs    *pairs = &known->pairs;
	ShCrowds	crowds;
	uint32		own = 0;

	if (known->full)
		return false;
	sh_pairs_begin(pairs, known->values,
				   MemoryContextAllocHuge(known->context, sh_pairs_bytes(known->n)),
				   known->n);
	pairs->progress = simhash_progress_done;
	sh_pairs_collapse(pairs);
	known->listed = MemoryContextAllocHuge(known->context, known->n + 1);
	known->there = MemoryContextAllocHuge(known->context, known->n + 1);
	for (uint32 i = 0; i < pairs->distinct; i++)
	{
		known->listed[i] = sh_pairs_first_row(pairs, i) < known->coming ? 0 : NOT_LISTED;
		known->there[i] = pairs->rows[pairs->first[i + 1] - 1] >= known->coming;
	}
	sh_crowds_begin(&crowds, pairs, known->radius, SH_CROWD_LEAST);
	sh_crowds_find(&crowds);
	for (uint32 i = crowds.alone; i < pairs->distinct; i++)
		known->listed[sh_pairs_number(pairs, pairs->work[i])] = NOT_LISTED;
	for (uint32 i = 0; i < crowds.alone; i++)
	{
		uint64		value = pairs->work[i];

		if (known->listed[sh_pairs_number(pairs, value)] == NOT_LISTED)
			continue;
		pairs->work[i] = pairs->work[own];
		pairs->work[own++] = value;
	}
	sh_pairs_find_beside(pairs, known->radius, own, take_near, known);
	qsort(known->near, known->nnear, sizeof *known->near, compare_numbers);
	return true;
}

/* The number of a fingerprint; false if it is not known. */
static bool
find_number(const NearKnown *known, uint64 value, uint32 *number)
{
	const ShPairs *pairs = &known->pairs;

	if (pairs->distinct == 0 || value < pairs->values[0] ||
		value > pairs->values[pairs->distinct - 1])
		return false;
	*number = sh_pairs_number(pairs, value);
	return pairs->values[*number] == value;
}

/*
 * Have a search for a row of a load look up what is known to be near; false if there
 * is to be a search, as where a trigger has attached a partition.
 */
bool
simhash_near_take_known(NearSearch *search, const NearLoad *load, NearScope *scope,
						Oid trigger)
{
	const NearKnown *known = NULL;
	NearNumber	key;
	NearNumber *near;
	ListCell   *lc;

	foreach(lc, load->known)
	{
		if (((NearKnown *) lfirst(lc))->trigger == trigger)
			known = lfirst(lc);
	}
	if (known == NULL || !find_number(known, search->center.words[0], &key.number) ||
		known->listed[key.number] == NOT_LISTED)
		return false;
	for (int i = 0; !scope->known && i < scope->ntables; i++)
	{
		if (!list_member_oid(known->indexes, scope->tables[i].hamming.index))
			return false;
	}
	scope->known = true;
	search->nnear = 0;
	if (known->there[key.number])
		search->near[search->nnear++] = search->center.words[0];
	near = known->listed[key.number] == 0 ? NULL :
		bsearch(&key, known->near, known->nnear, sizeof key, compare_numbers);
	while (near != NULL && near > known->near && near[-1].number == key.number)
		near--;
	for (int i = 0; i < known->listed[key.number]; i++)
	{
		if (known->there[near[i].near])
			search->near[search->nnear++] = known->pairs.values[near[i].near];
	}
	return true;
}

/*
 * A hamming index takes in a row: its fingerprint is there from now on; and if a load
 * did not know that it would come, nothing is known any more.
 */
void
simhash_near_note_inserted(Oid index, Datum value)
{
	for (NearLoad *load = simhash_near_loading; load != NULL; load = load->outer)
	{
		ListCell   *lc;

		foreach(lc, load->known)
		{
			NearKnown  *known = lfirst(lc);
			uint32		number;

			if (!list_member_oid(known->indexes, index))
				continue;
			if (find_number(known, (uint64) DatumGetInt64(value), &number))
			{
				known->there[number] = true;
				continue;
			}
			load->known = foreach_delete_current(load->known, lc);
			ereport(NOTICE,
					(errmsg("rows are searched for one by one from now on, as a row was inserted whose fingerprint the query does not yield"),
					 errhint("Have the query compute fingerprints as the table does.")));
		}
	}
}
