/*-------------------------------------------------------------------------
 *
 * report_disk.c
 *		Pairs and clusters of more rows than maintenance_work_mem holds.
 *
 * Where the rows are.  Their ids, fingerprints and groups go to a tuplestore,
 * in the order of the ids or, for keep => 'first', in that of the query; a row
 * goes by its number there.  The search needs no ids: it goes by entries, of a
 * fingerprint, a row and a group, which are in a temporary file
 * (report_parts.c).  All these are on disk as soon as memory does not hold
 * them.
 *
 * Groups.  As in core/pairs/rows.c a fingerprint is combined with a hash of its
 * group.  Whether two rows are in the same group is asked whenever they have
 * been found, so groups that meet do no harm.
 *
 * What has been found.  Pairs are sorted by their first row to get the id of
 * that, then by the second.  Clusters are kept in memory, 4 bytes a row; their
 * members are sorted when they are put out, and counted before, which takes as
 * much again when the search is over.  Stars need the pairs in the order of
 * their rows, so these are sorted first.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report_disk.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#define ROW_SHIFT		34		/* of the first row of a pair, in a number */
#define DISTANCE_BITS	5		/* below the second row */

/* A report that is being made. */
typedef struct Disk
{
	SimhashRows *rows;
	TupleTableSlot *slot;
	uint64		seed;			/* of the hashes of groups */
	SimhashParts search;
	Tuplesortstate *order;		/* of pairs */
	uint32	   *parent;			/* for clusters */
} Disk;

/* --- rows ----------------------------------------------------------------- */

/* The shape of what is kept of a row. */
static TupleDesc
make_desc(Oid first, Oid second, Oid third)
{
	TupleDesc	desc = CreateTemplateTupleDesc(3);

	TupleDescInitEntry(desc, 1, "a", first, -1, 0);
	TupleDescInitEntry(desc, 2, "b", second, -1, 0);
	TupleDescInitEntry(desc, 3, "c", third, -1, 0);
	simhash_finish_desc(desc);
	return desc;
}

/* A tuplestore that can be read more than once. */
static Tuplestorestate *
make_store(void)
{
	Tuplestorestate *store = tuplestore_begin_heap(false, false,
												   Max(maintenance_work_mem / 4,
													   64));

	tuplestore_set_eflags(store, EXEC_FLAG_REWIND);
	return store;
}

/* Keep a row. */
void
simhash_disk_keep(SimhashRows *rows, Datum id, uint64 fingerprint,
				  uint32 group)
{
	bool		nulls[3] = {false};
	Datum		values[3];

	values[0] = id;
	values[1] = Int64GetDatum((int64) fingerprint);
	values[2] = Int32GetDatum((int32) group);
	tuplestore_putvalues(rows->store, rows->desc, values, nulls);
}

/* Memory is full: move the rows that have been read. */
void
simhash_disk_begin(SimhashRows *rows)
{
	MemoryContext old =
	MemoryContextSwitchTo(MemoryContextGetParent(rows->context));

	rows->desc = make_desc(rows->id_type, INT8OID, INT4OID);
	rows->store = make_store();
	for (uint32 i = 0; i < rows->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		simhash_disk_keep(rows, rows->ids[i], rows->fingerprints[i],
						  rows->groups == NULL ? 0 : rows->groups[i]);
	}
	MemoryContextSwitchTo(old);
}

/* The next row, into a slot; false if there is none. */
static bool
next_row(Tuplestorestate *store, TupleTableSlot *slot)
{
	CHECK_FOR_INTERRUPTS();
	if (!tuplestore_gettupleslot(store, true, true, slot))
		return false;
	slot_getallattrs(slot);
	return true;
}

/* Begin to sort rows of that shape by their first column. */
static Tuplesortstate *
begin_sort(TupleDesc desc, Oid less, Oid collation, int memory)
{
	AttrNumber	column = 1;
	bool		nulls_first = false;

	return tuplesort_begin_heap(desc, 1, &column, &less, &collation,
								&nulls_first, memory, NULL, TUPLESORT_NONE);
}

/* Put a row into a sort, by a slot for such rows. */
static void
put_row(Tuplesortstate *sort, TupleTableSlot *slot, Datum first, Datum second,
		Datum third)
{
	ExecClearTuple(slot);
	slot->tts_values[0] = first;
	slot->tts_values[1] = second;
	slot->tts_values[2] = third;
	memset(slot->tts_isnull, 0, 3 * sizeof *slot->tts_isnull);
	ExecStoreVirtualTuple(slot);
	tuplesort_puttupleslot(sort, slot);
}

/* Sort rows by id.  Fail if two have the same. */
static Tuplestorestate *
sort_rows(const Disk *disk)
{
	const SimhashRows *rows = disk->rows;
	TypeCacheEntry *type = lookup_type_cache(rows->id_type, TYPECACHE_LT_OPR);
	TupleTableSlot *slot[2];
	Tuplestorestate *store = make_store();
	Tuplesortstate *sort;
	SortSupportData order;
	int			now = 0;

	sort = begin_sort(rows->desc, type->lt_opr, type->typcollation,
					  Max(maintenance_work_mem / 2, 64));
	tuplestore_rescan(rows->store);
	while (next_row(rows->store, disk->slot))
		tuplesort_puttupleslot(sort, disk->slot);
	tuplesort_performsort(sort);
	simhash_begin_id_order(&order, rows->id_type);
	for (int i = 0; i < 2; i++)
		slot[i] = MakeSingleTupleTableSlot(rows->desc, &TTSOpsMinimalTuple);
	for (; tuplesort_gettupleslot(sort, true, true, slot[now], NULL); now ^= 1)
	{
		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot[now]);
		if (!TupIsNull(slot[!now]) &&
			order.comparator(slot[!now]->tts_values[0],
							 slot[now]->tts_values[0], &order) == 0)
			simhash_complain_of_twins(rows->id_type, slot[now]->tts_values[0]);
		tuplestore_puttupleslot(store, slot[now]);
	}
	for (int i = 0; i < 2; i++)
		ExecDropSingleTupleTableSlot(slot[i]);
	tuplesort_end(sort);
	return store;
}

/*
 * Write the entry of each row.  Is the order of the rows that of their ids,
 * without two that are equal?
 */
static bool
write_entries(Disk *disk)
{
	SimhashRows *rows = disk->rows;
	TupleTableSlot *slots[2];
	bool		ascending = true;
	uint64		first = 0;
	SimhashEntry entry = {0, 0, 0};
	SortSupportData order;

	simhash_begin_id_order(&order, rows->id_type);
	for (int i = 0; i < 2; i++)
		slots[i] = MakeSingleTupleTableSlot(rows->desc, &TTSOpsMinimalTuple);
	disk->search.entries = BufFileCreateTemp(false);
	tuplestore_rescan(rows->store);
	for (; next_row(rows->store, slots[entry.row % 2]); entry.row++)
	{
		const Datum *now = slots[entry.row % 2]->tts_values;
		const Datum *last = slots[!(entry.row % 2)]->tts_values;

		entry.value = (uint64) DatumGetInt64(now[1]);
		entry.group = (uint32) DatumGetInt32(now[2]);
		if (rows->groups != NULL)
			entry.value ^= sh_group_hash(disk->seed, entry.group);
		if (entry.row == 0)
			first = entry.value;
		else if (ascending)
			ascending = order.comparator(last[0], now[0], &order) < 0;
		disk->search.bits |= entry.value ^ first;
		BufFileWrite(disk->search.entries, &entry, sizeof entry);
	}
	for (int i = 0; i < 2; i++)
		ExecDropSingleTupleTableSlot(slots[i]);
	return ascending;
}

/*
 * Write the entries, with the rows in the order of their ids if so wanted.
 * Make sure that no two rows have the same id.
 */
static void
order_rows(Disk *disk, bool sort)
{
	Tuplestorestate *sorted;

	if (write_entries(disk))
		return;
	sorted = sort_rows(disk);
	if (!sort)
	{
		tuplestore_end(sorted);
		return;
	}
	tuplestore_end(disk->rows->store);
	disk->rows->store = sorted;
	BufFileClose(disk->search.entries);
	(void) write_entries(disk);
}

/* Search the rows.  "kept" is what other memory is in use. */
static void
search_disk(Disk *disk, bool sort, Size kept)
{
	disk->seed = pg_prng_uint64(&pg_global_prng_state);
	order_rows(disk, sort);
	simhash_search_parts(&disk->search, disk->rows->context,
						 (Size) maintenance_work_mem * 1024 - kept);
	BufFileClose(disk->search.entries);
}

/* Begin. */
static void
begin_disk(Disk *disk, SimhashRows *rows, int k, ShPairSink sink)
{
	memset(disk, 0, sizeof *disk);
	disk->rows = rows;
	disk->search.n = (uint32) rows->total;
	disk->search.k = k;
	disk->search.sink = sink;
	disk->search.context = disk;
	disk->slot = MakeSingleTupleTableSlot(rows->desc, &TTSOpsMinimalTuple);
}

/* Begin to sort pairs, each a number. */
static Tuplesortstate *
begin_pairs(void)
{
	return tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
								 work_mem, NULL, TUPLESORT_NONE);
}

/* The rows are no longer needed. */
static void
end_disk(Disk *disk)
{
	ExecDropSingleTupleTableSlot(disk->slot);
	tuplestore_end(disk->rows->store);
	FreeTupleDesc(disk->rows->desc);
}

/* --- pairs ---------------------------------------------------------------- */

/* Are two rows that have been read to be searched for this time? */
static inline bool
is_wanted(const Disk *disk, uint32 i, uint32 j)
{
	return disk->search.group[i] == disk->search.group[j] &&
		(disk->search.split == 0 || (i < disk->search.split) != (j < disk->search.split));
}

/* Fingerprints are near, or the same: note the pairs of their rows. */
static void
note_pairs(void *context, uint32_t a, uint32_t b, int distance)
{
	Disk	   *disk = context;
	const ShPairs *pairs = &disk->search.pairs;

	for (uint32 i = pairs->first[a]; i < pairs->first[a + 1]; i++)
	{
		for (uint32 j = a == b ? i + 1 : pairs->first[b];
			 j < pairs->first[b + 1]; j++)
		{
			uint32		x = pairs->rows[i];
			uint32		y = pairs->rows[j];
			uint64		low = Min(disk->search.row[x], disk->search.row[y]);
			uint64		high = Max(disk->search.row[x], disk->search.row[y]);

			CHECK_FOR_INTERRUPTS();
			if (is_wanted(disk, x, y))
				tuplesort_putdatum(disk->order,
								   Int64GetDatum((int64) (low << ROW_SHIFT |
														  high << DISTANCE_BITS |
														  (uint64) distance)),
								   false);
		}
	}
}

/* Move the tuplestore on to a row.  *next is the one that comes next. */
static void
go_to_row(Disk *disk, uint32 row, uint32 *next)
{
	for (; *next <= row; (*next)++)
	{
		if (*next % SIMHASH_SAY_EVERY == 0 && *next > 0)
			simhash_progress_rows("listing", *next);
		(void) next_row(disk->rows->store, disk->slot);
	}
}

/* Give the pairs the id of their first row, and sort them by the second. */
static Tuplesortstate *
sort_by_second(Disk *disk, TupleDesc desc)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	Tuplesortstate *sort = begin_sort(desc, Int4LessOperator, InvalidOid, work_mem);
	uint32		next = 0;
	Datum		datum;

	tuplestore_rescan(disk->rows->store);
	while (simhash_sorted_datum(disk->order, &datum))
	{
		uint64		pair = (uint64) DatumGetInt64(datum);

		CHECK_FOR_INTERRUPTS();
		go_to_row(disk, (uint32) (pair >> ROW_SHIFT), &next);
		put_row(sort, slot,
				Int32GetDatum((int32) (pair >> DISTANCE_BITS &
									   (SIMHASH_DISK_ROWS - 1))),
				disk->slot->tts_values[0],
				Int32GetDatum((int32) (pair & ((1 << DISTANCE_BITS) - 1))));
	}
	tuplesort_performsort(sort);
	ExecDropSingleTupleTableSlot(slot);
	return sort;
}

/* Put out the pairs. */
static void
put_pairs(Disk *disk, ReturnSetInfo *result)
{
	TupleDesc	desc = make_desc(INT4OID, disk->rows->id_type, INT4OID);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = sort_by_second(disk, desc);
	bool		nulls[3] = {false};
	uint32		next = 0;
	Datum		values[3];

	tuplestore_rescan(disk->rows->store);
	while (tuplesort_gettupleslot(sort, true, false, slot, NULL))
	{
		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		go_to_row(disk, (uint32) DatumGetInt32(slot->tts_values[0]), &next);
		values[0] = slot->tts_values[1];
		values[1] = disk->slot->tts_values[0];
		values[2] = slot->tts_values[2];
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
	tuplesort_end(sort);
	ExecDropSingleTupleTableSlot(slot);
	FreeTupleDesc(desc);
}

/* All pairs of rows within distance k. */
void
simhash_disk_pairs(SimhashRows *rows, int k, ReturnSetInfo *result)
{
	Disk		disk;

	begin_disk(&disk, rows, k, note_pairs);
	disk.order = begin_pairs();
	search_disk(&disk, true, 0);
	tuplesort_performsort(disk.order);
	put_pairs(&disk, result);
	tuplesort_end(disk.order);
	end_disk(&disk);
}

/* --- clusters ------------------------------------------------------------- */

/* The first row of the cluster of a row.  The way there becomes shorter. */
static uint32
cluster_of(uint32 *parent, uint32 row)
{
	while (parent[row] != row)
		row = parent[row] = parent[parent[row]];
	return row;
}

/* Make the clusters of two rows that have been read one. */
static void
join_rows(Disk *disk, uint32 i, uint32 j)
{
	uint32		a = cluster_of(disk->parent, disk->search.row[i]);
	uint32		b = cluster_of(disk->parent, disk->search.row[j]);

	disk->parent[Max(a, b)] = Min(a, b);
}

/* Join the rows of one fingerprint that are in the same group. */
static void
join_equal(Disk *disk, uint32 a)
{
	const ShPairs *pairs = &disk->search.pairs;

	for (uint32 i = pairs->first[a] + 1; i < pairs->first[a + 1]; i++)
	{
		for (uint32 j = i; j-- > pairs->first[a];)
		{
			if (disk->search.group[pairs->rows[i]] != disk->search.group[pairs->rows[j]])
				continue;
			join_rows(disk, pairs->rows[i], pairs->rows[j]);
			break;
		}
	}
}

/* Has a row the group of the one before it, of the same fingerprint? */
static inline bool
is_repeated(const Disk *disk, uint32 start, uint32 i)
{
	const uint32 *rows = disk->search.pairs.rows;

	return i > start && disk->search.group[rows[i]] == disk->search.group[rows[i - 1]];
}

/*
 * Two rows that have been read are near: make their clusters one, or note them
 * for stars.
 */
static void
take_near(Disk *disk, uint32 i, uint32 j)
{
	uint64		low = Min(disk->search.row[i], disk->search.row[j]);
	uint64		high = Max(disk->search.row[i], disk->search.row[j]);

	if (disk->order == NULL)
		join_rows(disk, i, j);
	else
		tuplesort_putdatum(disk->order, Int64GetDatum((int64) (low << 32 | high)),
						   false);
}

/*
 * Fingerprints are near, or the same: take their rows.  Those of the same
 * fingerprint and group are joined, so one of them is enough.
 */
static void
take_pair(void *context, uint32_t a, uint32_t b,
		  int distance pg_attribute_unused())
{
	Disk	   *disk = context;
	const ShPairs *pairs = &disk->search.pairs;

	CHECK_FOR_INTERRUPTS();
	if (a == b)
	{
		join_equal(disk, a);
		return;
	}
	for (uint32 i = pairs->first[a]; i < pairs->first[a + 1]; i++)
	{
		if (is_repeated(disk, pairs->first[a], i))
			continue;
		for (uint32 j = pairs->first[b]; j < pairs->first[b + 1]; j++)
		{
			if (!is_repeated(disk, pairs->first[b], j) &&
				disk->search.group[pairs->rows[i]] ==
				disk->search.group[pairs->rows[j]])
				take_near(disk, pairs->rows[i], pairs->rows[j]);
		}
	}
}

/*
 * Make stars of the pairs that have been noted: in the order of rows, each that
 * belongs to no star yet takes what is near to it and belongs to none.
 *
 * By now rows with the same fingerprint and group are one cluster, for which
 * its first row stands.  That pairs of other rows of it are among those noted
 * does no harm, as they belong to a cluster already.
 */
static void
make_stars(Disk *disk)
{
	uint32	   *parent = disk->parent;
	Datum		datum;

	tuplesort_performsort(disk->order);
	while (simhash_sorted_datum(disk->order, &datum))
	{
		uint32		center = (uint32) ((uint64) DatumGetInt64(datum) >> 32);
		uint32		row = (uint32) DatumGetInt64(datum);

		CHECK_FOR_INTERRUPTS();
		if (parent[center] == center && parent[row] == row)
			parent[row] = center;
	}
	tuplesort_end(disk->order);
}

/* Sort the rows of clusters that are large enough. */
static Tuplesortstate *
sort_members(Disk *disk, TupleDesc desc, const uint32 *size, uint32 least)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	Tuplesortstate *sort = begin_sort(desc, Int8LessOperator, InvalidOid, work_mem);

	tuplestore_rescan(disk->rows->store);
	for (uint32 row = 0; next_row(disk->rows->store, disk->slot); row++)
	{
		uint64		first = cluster_of(disk->parent, row);

		if (size[first] < least)
			continue;
		put_row(sort, slot, Int64GetDatum((int64) (first << 32 | row)),
				disk->slot->tts_values[0], disk->slot->tts_values[1]);
	}
	tuplesort_performsort(sort);
	ExecDropSingleTupleTableSlot(slot);
	return sort;
}

/* Put out the clusters, each with its first row first. */
static void
put_clusters(Disk *disk, const uint32 *size, uint32 least,
			 ReturnSetInfo *result)
{
	const SimhashRows *rows = disk->rows;
	TupleDesc	desc = make_desc(INT8OID, rows->id_type, INT8OID);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	Tuplesortstate *sort = sort_members(disk, desc, size, least);
	int64		cluster = 0;
	int64		listed = 0;
	uint64		center = 0;
	bool		nulls[5] = {false};
	Datum		values[5] = {0};

	while (tuplesort_gettupleslot(sort, true, false, slot, NULL))
	{
		uint64		key;

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		if (++listed % SIMHASH_SAY_EVERY == 0)
			simhash_progress_rows("listing", listed);
		key = (uint64) DatumGetInt64(slot->tts_values[0]);
		if (key >> 32 == (uint32) key)
		{
			if (cluster > 0 && !rows->id_by_value)
				pfree(DatumGetPointer(values[2]));
			values[1] = Int64GetDatum(++cluster);
			values[2] = datumCopy(slot->tts_values[1], rows->id_by_value,
								  rows->id_length);
			values[4] = Int64GetDatum((int64) size[key >> 32]);
			center = (uint64) DatumGetInt64(slot->tts_values[2]);
		}
		values[0] = slot->tts_values[1];
		values[3] = Int32GetDatum(sh_distance(center, (uint64)
											  DatumGetInt64(slot->tts_values[2])));
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
	}
	tuplesort_end(sort);
	ExecDropSingleTupleTableSlot(slot);
	FreeTupleDesc(desc);
}

/*
 * Clusters of at least so many rows, of what pairs within distance k connect, or
 * stars; the first rows are those of the lowest ids if "sort" is set, or else
 * of the query.
 */
void
simhash_disk_clusters(SimhashRows *rows, int k, bool star, bool sort,
					  uint32 least, ReturnSetInfo *result)
{
	Disk		disk;
	uint32		n = (uint32) rows->total;
	uint32	   *size;

	begin_disk(&disk, rows, k, take_pair);
	if (star)
		disk.order = begin_pairs();
	disk.parent = MemoryContextAllocHuge(CurrentMemoryContext,
										 n * sizeof *disk.parent);
	for (uint32 i = 0; i < n; i++)
		disk.parent[i] = i;
	search_disk(&disk, sort, n * sizeof *disk.parent);
	if (star)
		make_stars(&disk);
	size = MemoryContextAllocExtended(CurrentMemoryContext, n * sizeof *size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < n; i++)
		size[cluster_of(disk.parent, i)]++;
	put_clusters(&disk, size, least, result);
	pfree(size);
	pfree(disk.parent);
	end_disk(&disk);
}
