/*-------------------------------------------------------------------------
 *
 * report_disk.c
 *		Pairs and clusters of more rows than maintenance_work_mem holds.
 *
 * Where the rows are.  Their ids, fingerprints and groups go to a tuplestore,
 * in the order of the ids or, for keep => 'first', in that of the query; a row
 * goes by its number there.  The search needs no ids: it goes by entries, of a
 * fingerprint, a row and a group, which are in a temporary file.  All these
 * are on disk as soon as memory does not hold them.
 *
 * The search.  The engine in core/ cuts fingerprints into blocks, and looks for
 * pairs block by block.  For each block we put the entries into parts, a
 * temporary file each, by the leading bits of their keys.  Pairs within the
 * block's radius are then in the same part, or in two whose numbers differ in
 * no more bits than that.  So each part is read and searched, and each two
 * parts that meet.  A part that many rows share, since the data are skewed, is
 * cut into pieces, and any two of its pieces are read together; pairs within
 * one of the two are not wanted then.
 *
 * For example, ten million rows are to be searched for k = 3 with memory for
 * two million.  There are four blocks of radius 0, and the entries are put into
 * 16 parts of some 625,000 by each.  For a block of radius 1 each of 16 parts
 * is searched by itself and with four others: 16 + 32 searches.
 *
 * Groups.  As in core/pairs/rows.c a fingerprint is combined with a hash of its
 * group.  Whether two rows are in the same group is asked whenever they have
 * been found, so groups that meet do no harm.
 *
 * What has been found.  Pairs are sorted by their first row to get the id of
 * that, then by the second.  Clusters are kept in memory, 4 bytes a row; their
 * members are sorted when they are put out, and counted before, which takes as
 * much again when the search is over.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#define PREFIX_MAX		6		/* bits to cut a block into parts by */
#define ENTRY_BYTES		46		/* of memory, when an entry is searched */
#define ROW_SHIFT		34		/* of the first row of a pair, in a number */
#define DISTANCE_BITS	5		/* below the second row */
#define BATCH			512		/* entries to read at a time */

/* A row, as the search sees it. */
typedef struct Entry
{
	uint64		value;
	uint32		row;
	uint32		group;
} Entry;

/* A search. */
typedef struct Disk
{
	SimhashRows *rows;
	int			k;
	TupleDesc	desc;			/* of the tuplestore */
	TupleTableSlot *slot;
	uint64		seed;			/* of the hashes of groups */
	uint64		bits;			/* in which values differ */
	BufFile    *entries;
	double		done;

	ShPairPlan	plan;
	int			block;			/* the one that we are at */
	int			prefix;			/* bits to cut it by */
	uint32		piece;			/* the most entries, of which two are read */
	BufFile    *parts[1 << PREFIX_MAX];
	uint32		count[1 << PREFIX_MAX];

	ShPairs		pairs;			/* what has been read */
	uint64	   *values;
	void	   *memory;
	uint32	   *ends;
	uint32	   *row;
	uint32	   *group;
	uint32		n;
	uint32		split;			/* where the second piece begins, or 0 */

	ShPairSink	sink;			/* for equal numbers too, which rows share */
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
next_row(Tuplestorestate * store, TupleTableSlot *slot)
{
	CHECK_FOR_INTERRUPTS();
	if (!tuplestore_gettupleslot(store, true, true, slot))
		return false;
	slot_getallattrs(slot);
	return true;
}

/* Sort rows by id.  Fail if two have the same. */
static Tuplestorestate *
sort_rows(const Disk *disk)
{
	const SimhashRows *rows = disk->rows;
	TypeCacheEntry *type = lookup_type_cache(rows->id_type, TYPECACHE_LT_OPR);
	AttrNumber	column = 1;
	bool		nulls_first = false;
	TupleTableSlot *slot[2];
	Tuplestorestate *store = make_store();
	Tuplesortstate *sort;
	SortSupportData order;
	int			now = 0;

	sort = tuplesort_begin_heap(rows->desc, 1, &column, &type->lt_opr,
								&type->typcollation, &nulls_first,
								Max(maintenance_work_mem / 2, 64), NULL,
								TUPLESORT_NONE);
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
	Entry		entry = {0, 0, 0};
	SortSupportData order;

	simhash_begin_id_order(&order, rows->id_type);
	for (int i = 0; i < 2; i++)
		slots[i] = MakeSingleTupleTableSlot(rows->desc, &TTSOpsMinimalTuple);
	disk->entries = BufFileCreateTemp(false);
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
		disk->bits |= entry.value ^ first;
		BufFileWrite(disk->entries, &entry, sizeof entry);
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
	BufFileClose(disk->entries);
	(void) write_entries(disk);
}

/* --- the search ----------------------------------------------------------- */

/* Read the next entries of a file, up to BATCH. */
static void
read_entries(BufFile *file, Entry *entries, uint32 n)
{
	CHECK_FOR_INTERRUPTS();
	if (BufFileRead(file, entries, n * sizeof *entries) != n * sizeof *entries)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file: %m")));
}

/* Move to an entry of a file. */
static void
seek_entry(BufFile *file, uint32 number)
{
	if (BufFileSeek(file, 0, (off_t) number * (off_t) sizeof(Entry),
					SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in a temporary file: %m")));
}

/* Put the entries into parts. */
static void
make_parts(Disk *disk)
{
	const ShKeyBlock *block = &disk->plan.block[disk->block];
	uint32		n = (uint32) disk->rows->total;
	Entry		entry[BATCH];

	disk->prefix = 0;
	while (disk->prefix < PREFIX_MAX && disk->prefix < block->width &&
		   (n >> disk->prefix) * 1.1 > disk->piece)
		disk->prefix++;
	memset(disk->count, 0, sizeof disk->count);
	for (int i = 0; i < 1 << disk->prefix; i++)
		disk->parts[i] = BufFileCreateTemp(false);
	seek_entry(disk->entries, 0);
	for (uint32 i = 0; i < n; i += BATCH)
	{
		uint32		some = Min(n - i, BATCH);

		read_entries(disk->entries, entry, some);
		for (uint32 j = 0; j < some; j++)
		{
			uint32		part = sh_part_of(entry[j].value, block, disk->prefix);

			disk->count[part]++;
			BufFileWrite(disk->parts[part], &entry[j], sizeof *entry);
		}
	}
}

/* Read a piece of a part. */
static void
load_piece(Disk *disk, uint32 part, uint32 start)
{
	uint32		n = Min(disk->count[part] - start, disk->piece);
	Entry		entry[BATCH];

	seek_entry(disk->parts[part], start);
	for (uint32 i = 0; i < n; i += BATCH)
	{
		uint32		some = Min(n - i, BATCH);

		read_entries(disk->parts[part], entry, some);
		for (uint32 j = 0; j < some; j++)
		{
			disk->values[disk->n] = entry[j].value;
			disk->row[disk->n] = entry[j].row;
			disk->group[disk->n++] = entry[j].group;
		}
	}
}

/* ShPairs.progress */
static void
tell_progress(void *context, double done pg_attribute_unused())
{
	simhash_progress_done(NULL, ((Disk *) context)->done);
}

/* Search one piece, or one with another. */
static void
search_pieces(Disk *disk, uint32 x, uint32 from_x, uint32 y, uint32 from_y)
{
	ShPairs    *pairs = &disk->pairs;

	disk->n = disk->split = 0;
	load_piece(disk, x, from_x);
	if (x != y || from_x != from_y)
	{
		disk->split = disk->n;
		load_piece(disk, y, from_y);
	}
	sh_pairs_begin(pairs, disk->values, disk->memory, disk->n);
	pairs->progress = tell_progress;
	pairs->progress_context = disk;
	sh_pairs_collapse(pairs);
	sh_pairs_tell(pairs, 0);
	for (uint32 a = 0; disk->block == 0 && x == y && a < pairs->distinct; a++)
	{
		if (pairs->first[a + 1] - pairs->first[a] > 1)
			disk->sink(disk, a, a, 0);
	}
	sh_pairs_begin_search(pairs);
	sh_pairs_find_in_parts(pairs, &disk->plan, disk->block, disk->prefix,
						   disk->k, disk->ends, disk->sink, disk);
}

/* Search a part, and the pairs that it has with those that follow. */
static void
search_part(Disk *disk, uint32 x)
{
	for (uint32 y = x; y < UINT32_C(1) << disk->prefix; y++)
	{
		if (!sh_parts_meet(&disk->plan.block[disk->block], x, y))
			continue;
		for (uint32 i = 0; i < disk->count[x]; i += disk->piece)
		{
			for (uint32 j = x == y ? i : 0; j < disk->count[y];
				 j += disk->piece)
				search_pieces(disk, x, i, y, j);
		}
	}
}

/* Search by each block. */
static void
search_blocks(Disk *disk)
{
	double		start = 0;

	for (disk->block = 0; disk->block < disk->plan.blocks; disk->block++)
	{
		double		share = disk->plan.block[disk->block].share;
		uint32		parts;

		make_parts(disk);
		parts = UINT32_C(1) << disk->prefix;
		disk->ends = palloc(2 * sizeof *disk->ends <<
							(disk->plan.block[disk->block].width - disk->prefix));
		for (uint32 x = 0; x < parts; x++)
		{
			disk->done = start + share * x / parts;
			search_part(disk, x);
		}
		for (uint32 x = 0; x < parts; x++)
			BufFileClose(disk->parts[x]);
		pfree(disk->ends);
		start += share;
	}
}

/* Search the rows.  "kept" is what other memory is in use. */
static void
search_disk(Disk *disk, bool sort, Size kept)
{
	SimhashRows *rows = disk->rows;
	MemoryContext context = rows->context;
	uint32		n = (uint32) rows->total;
	Size		memory = (Size) maintenance_work_mem * 1024 - kept;
	uint32		room;

	disk->seed = pg_prng_uint64(&pg_global_prng_state);
	order_rows(disk, sort);

	/* A quarter is left to the files and what the engine counts in. */
	disk->piece = (uint32) Min(memory / 4 * 3 / ENTRY_BYTES / 2, n);
	room = 2 * disk->piece;
	sh_pairs_plan_parts(&disk->plan, disk->bits, n, disk->k);
	disk->values = MemoryContextAllocHuge(context, sizeof(uint64) * room);
	disk->memory = MemoryContextAllocHuge(context, sh_pairs_bytes(room));
	disk->row = MemoryContextAllocHuge(context, sizeof(uint32) * room);
	disk->group = MemoryContextAllocHuge(context, sizeof(uint32) * room);
	search_blocks(disk);
	BufFileClose(disk->entries);
	MemoryContextReset(context);
}

/* Begin. */
static void
begin_disk(Disk *disk, SimhashRows *rows, int k, ShPairSink sink)
{
	memset(disk, 0, sizeof *disk);
	disk->rows = rows;
	disk->k = k;
	disk->sink = sink;
	disk->slot = MakeSingleTupleTableSlot(rows->desc, &TTSOpsMinimalTuple);
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
	return disk->group[i] == disk->group[j] &&
		(disk->split == 0 || (i < disk->split) != (j < disk->split));
}

/* Fingerprints are near, or the same: note the pairs of their rows. */
static void
note_pairs(void *context, uint32_t a, uint32_t b, int distance)
{
	Disk	   *disk = context;
	const ShPairs *pairs = &disk->pairs;

	for (uint32 i = pairs->first[a]; i < pairs->first[a + 1]; i++)
	{
		for (uint32 j = a == b ? i + 1 : pairs->first[b];
			 j < pairs->first[b + 1]; j++)
		{
			uint32		x = pairs->rows[i];
			uint32		y = pairs->rows[j];
			uint64		low = Min(disk->row[x], disk->row[y]);
			uint64		high = Max(disk->row[x], disk->row[y]);

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
	AttrNumber	column = 1;
	Oid			operator = Int4LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;
	uint32		next = 0;
	Tuplesortstate *sort;
	Datum		datum;

	sort = tuplesort_begin_heap(desc, 1, &column, &operator, &collation,
								&nulls_first, work_mem, NULL, TUPLESORT_NONE);
	tuplestore_rescan(disk->rows->store);
	memset(slot->tts_isnull, 0, 3 * sizeof *slot->tts_isnull);
	while (simhash_sorted_datum(disk->order, &datum))
	{
		uint64		pair = (uint64) DatumGetInt64(datum);

		CHECK_FOR_INTERRUPTS();
		go_to_row(disk, (uint32) (pair >> ROW_SHIFT), &next);
		ExecClearTuple(slot);
		slot->tts_values[0] = Int32GetDatum((int32) (pair >> DISTANCE_BITS &
													 (SIMHASH_DISK_ROWS - 1)));
		slot->tts_values[1] = disk->slot->tts_values[0];
		slot->tts_values[2] = Int32GetDatum((int32) (pair &
													 ((1 << DISTANCE_BITS) - 1)));
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(sort, slot);
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
	disk.order = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid,
									   false, work_mem, NULL, TUPLESORT_NONE);
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
	uint32		a = cluster_of(disk->parent, disk->row[i]);
	uint32		b = cluster_of(disk->parent, disk->row[j]);

	disk->parent[Max(a, b)] = Min(a, b);
}

/* Join the rows of one fingerprint that are in the same group. */
static void
join_equal(Disk *disk, uint32 a)
{
	const ShPairs *pairs = &disk->pairs;

	for (uint32 i = pairs->first[a] + 1; i < pairs->first[a + 1]; i++)
	{
		for (uint32 j = i; j-- > pairs->first[a];)
		{
			if (disk->group[pairs->rows[i]] != disk->group[pairs->rows[j]])
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
	const uint32 *rows = disk->pairs.rows;

	return i > start && disk->group[rows[i]] == disk->group[rows[i - 1]];
}

/*
 * Fingerprints are near, or the same: join their rows.  Those of the same
 * fingerprint and group have been joined, so one of them is enough.
 */
static void
join_near(void *context, uint32_t a, uint32_t b,
		  int distance pg_attribute_unused())
{
	Disk	   *disk = context;
	const ShPairs *pairs = &disk->pairs;

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
				disk->group[pairs->rows[i]] == disk->group[pairs->rows[j]])
				join_rows(disk, pairs->rows[i], pairs->rows[j]);
		}
	}
}

/* Sort the rows of clusters that are large enough. */
static Tuplesortstate *
sort_members(Disk *disk, TupleDesc desc, const uint32 *size, uint32 least)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	AttrNumber	column = 1;
	Oid			operator = Int8LessOperator;
	Oid			collation = InvalidOid;
	bool		nulls_first = false;
	Tuplesortstate *sort;

	sort = tuplesort_begin_heap(desc, 1, &column, &operator, &collation,
								&nulls_first, work_mem, NULL, TUPLESORT_NONE);
	tuplestore_rescan(disk->rows->store);
	memset(slot->tts_isnull, 0, 3 * sizeof *slot->tts_isnull);
	for (uint32 row = 0; next_row(disk->rows->store, disk->slot); row++)
	{
		uint64		first = cluster_of(disk->parent, row);

		if (size[first] < least)
			continue;
		ExecClearTuple(slot);
		slot->tts_values[0] = Int64GetDatum((int64) (first << 32 | row));
		slot->tts_values[1] = disk->slot->tts_values[0];
		slot->tts_values[2] = disk->slot->tts_values[1];
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(sort, slot);
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
 * Clusters of at least so many rows, of what pairs within distance k connect;
 * the first rows are those of the lowest ids if "sort" is set, or else of the
 * query.
 */
void
simhash_disk_clusters(SimhashRows *rows, int k, bool sort, uint32 least,
					  ReturnSetInfo *result)
{
	Disk		disk;
	uint32		n = (uint32) rows->total;
	uint32	   *size;

	begin_disk(&disk, rows, k, join_near);
	disk.parent = MemoryContextAllocHuge(CurrentMemoryContext,
										 n * sizeof *disk.parent);
	for (uint32 i = 0; i < n; i++)
		disk.parent[i] = i;
	search_disk(&disk, sort, n * sizeof *disk.parent);
	size = MemoryContextAllocExtended(CurrentMemoryContext, n * sizeof *size,
									  MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < n; i++)
		size[cluster_of(disk.parent, i)]++;
	put_clusters(&disk, size, least, result);
	pfree(size);
	pfree(disk.parent);
	end_disk(&disk);
}
