/*-------------------------------------------------------------------------
 *
 * row_order.c
 *		The order of rows: by their ids, whatever the type of these.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "search/search.h"

/* What a comparison of two rows by id needs. */
typedef struct IdOrder
{
	SortSupportData sort;
	const SimhashRows *rows;
} IdOrder;

/* Prepare to compare ids of that type, by what is kept in a context. */
void
simhash_begin_id_order(SortSupport order, Oid id_type, MemoryContext context)
{
	TypeCacheEntry *type = lookup_type_cache(id_type, TYPECACHE_LT_OPR);

	if (!OidIsValid(type->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("cannot order ids of type %s",
						format_type_be(id_type)),
				 errhint("Have the query cast them to another type, such as text.")));
	memset(order, 0, sizeof *order);
	order->ssup_cxt = context;
	order->ssup_collation = type->typcollation;
	PrepareSortSupportFromOrderingOp(type->lt_opr, order);
}

/* For qsort_arg: rows by id. */
static int
compare_ids(const void *a, const void *b, void *arg)
{
	IdOrder    *order = arg;

	CHECK_FOR_INTERRUPTS();
	return order->sort.comparator(simhash_row_id(order->rows,
												 *(const uint32 *) a),
								  simhash_row_id(order->rows,
												 *(const uint32 *) b),
								  &order->sort);
}

/*
 * Put some bytes of each row, which are so far apart, in another order.
 * There is room elsewhere for eight bytes of each.
 */
static void
reorder_array(void *array, Size stride, Size bytes, const uint32 *numbers,
			  uint32 n, void *room)
{
	char	   *from = array;
	char	   *to = room;

	for (uint32 i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		memcpy(to + i * bytes, from + numbers[i] * stride, bytes);
	}
	for (uint32 i = 0; i < n; i++)
		memcpy(from + i * stride, to + i * bytes, bytes);
}

/*
 * Make sure that no two rows have the same id, and put the rows in the order
 * of their ids if so wanted.  The memory has room for 16 bytes a row.
 */
void
simhash_order_rows(SimhashRows *rows, bool sort, void *memory)
{
	uint32	   *numbers = memory;
	void	   *room = (uint64 *) memory + rows->n;
	Size		stride = sizeof(uint64) * rows->words;
	bool		ascending = true;
	IdOrder		order;

	simhash_begin_id_order(&order.sort, rows->id_type, CurrentMemoryContext);
	order.rows = rows;
	for (uint32 i = 0; i < rows->n; i++)
	{
		numbers[i] = i;
		ascending = ascending &&
			(i == 0 || compare_ids(&numbers[i - 1], &numbers[i], &order) < 0);
	}
	if (ascending)
		return;
	qsort_arg(numbers, rows->n, sizeof *numbers, compare_ids, &order);
	for (uint32 i = 1; i < rows->n; i++)
	{
		char	   *id;

		if (compare_ids(&numbers[i - 1], &numbers[i], &order) != 0)
			continue;
		id = simhash_write_value(simhash_row_id(rows, numbers[i]), rows->id_type);
		ereport(ERROR,
				(errcode(ERRCODE_CARDINALITY_VIOLATION),
				 errmsg("the query yields the id %s more than once", id),
				 errhint("Each row must have an id of its own.")));
	}
	if (!sort)
		return;
	if (rows->documents != NULL)
		rows->documents->row_at =
			MemoryContextAllocHuge(rows->documents->context,
								   sizeof(uint32) * rows->n);
	for (uint32 i = 0; rows->documents != NULL && i < rows->n; i++)
		rows->documents->row_at[numbers[i]] = i;
	for (int word = 0; word < rows->words; word++)
		reorder_array(rows->fingerprints + word, stride, sizeof(uint64),
					  numbers, rows->n, room);
	reorder_array(rows->ids, sizeof(Datum), sizeof(Datum), numbers, rows->n,
				  room);
	if (rows->groups != NULL)
		reorder_array(rows->groups, sizeof(uint32), sizeof(uint32), numbers,
					  rows->n, room);
}
