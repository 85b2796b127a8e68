/*-------------------------------------------------------------------------
 *
 * guard_search.c
 *		How simhash_guard() finds near-duplicates: by a hamming index or by
 *		key columns, rows of transactions in progress included.
 *
 * A search gathers the nearest row whose fate is known and the nearest whose
 * fate another transaction decides; whether to wait for that transaction is up
 * to the caller.  guard_lock.c says why no row slips through.
 *
 * It must not miss a row that is updated meanwhile, either.  An update which
 * leaves the fingerprint alone is not examined and takes no locks, but may
 * put a new version of the row behind us in the index, and be committed before
 * we come to the old version, which is dead by then.  So before it begins the
 * search takes a snapshot.  A row dead to the search but alive in the snapshot
 * has been changed since, and the caller is told to search again.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "core/pairs/probes.h"
#include "index/hamming.h"

/*
 * Limits of the work done.
 *
 * SEARCHES_OF_A_SCAN	how many rows a scan of a hamming index serves.
 * SEARCHES_AHEAD		tables whose search is begun before one is finished.
 */
#define SEARCHES_OF_A_SCAN	64
#define SEARCHES_AHEAD		2

/* Keep a row whose fate is known if it is the nearest so far. */
static void
keep_match(GuardSearch *search, Relation relation, TupleTableSlot *slot,
		   int distance)
{
	GuardMatch *match = &search->match;

	if (match->distance >= 0 && match->distance <= distance)
		return;
	if (match->slot != NULL)
		ExecDropSingleTupleTableSlot(match->slot);
	match->distance = distance;
	match->table = RelationGetRelid(relation);
	match->slot = table_slot_create(relation, NULL);
	ExecCopySlot(match->slot, slot);
}

/*
 * Keep the transaction that decides on a row if it is the nearest so far.  The
 * transaction is not valid when it has ended since the search began.
 */
static void
keep_pending(GuardSearch *search, Relation relation, TupleTableSlot *slot,
			 int distance, TransactionId xid, uint32 token)
{
	GuardPending *pending = &search->pending;

	if (pending->distance >= 0 && pending->distance <= distance)
		return;
	pending->distance = distance;
	pending->table = RelationGetRelid(relation);
	pending->tid = slot->tts_tid;
	pending->xid = xid;
	pending->token = token;
}

/* Has the search found what it is for? */
static bool
is_done(const GuardSearch *search)
{
	return search->match.distance >= 0 &&
		search->match.distance <= search->enough;
}

/* Is a row found of the group of the row that is looked at? */
static bool
is_of_group(const Guard *guard, const GuardTable *table, TupleTableSlot *slot)
{
	for (int i = 0; i < guard->statement->ngroup; i++)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, table->group[i], &isnull);

		if (isnull || !simhash_guard_equal(&guard->statement->group[i],
										   guard->group_values[i], value))
			return false;
	}
	return true;
}

/*
 * The distance of a row found, or -1 if it is of no concern: beyond the radius,
 * without fingerprint, of another group, not similar enough, or the row that is
 * updated.
 */
static int
row_distance(const Guard *guard, const GuardTable *table,
			 const GuardSearch *search, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, table->column, &isnull);
	GuardFingerprint fingerprint;
	int			distance;

	if (isnull || (search->self != NULL && table->table == guard->table &&
				   ItemPointerEquals(search->self, &slot->tts_tid)))
		return -1;
	fingerprint = simhash_guard_fingerprint(&guard->type, value);
	distance = simhash_guard_distance(&fingerprint, &search->center);
	return distance <= search->radius &&
		is_of_group(guard, table, slot) &&
		simhash_guard_verified(guard, table->table, slot) ? distance : -1;
}

/* Open the table of a scan to look at rows. */
static void
open_table(const GuardTable *table, IndexScanDesc scan, GuardSearch *search)
{
	scan->heapRelation = table_open(table->table, NoLock);
	scan->xs_heapfetch = simhash_index_fetch_begin(scan->heapRelation);
	search->slot = table_slot_create(scan->heapRelation, NULL);
}

/* Close the table of a scan, if it was opened. */
static void
close_table(IndexScanDesc scan, GuardSearch *search)
{
	if (scan->xs_heapfetch == NULL)
		return;
	ExecDropSingleTupleTableSlot(search->slot);
	table_index_fetch_end(scan->xs_heapfetch);
	table_close(scan->heapRelation, NoLock);
	scan->xs_heapfetch = NULL;
	scan->heapRelation = NULL;
}

/*
 * A place that the index gave holds no row for us.  Did it when the search
 * began?
 */
static void
look_back(const Guard *guard, const GuardTable *table, IndexScanDesc scan,
		  GuardSearch *search)
{
	TupleTableSlot *slot = search->slot;
	ItemPointerData tid = scan->xs_heaptid;
	bool		again = false;
	int			distance;

	if (!table_index_fetch_tuple(scan->xs_heapfetch, &tid, search->before,
								 slot, &again, NULL))
		return;
	distance = row_distance(guard, table, search, slot);
	if (distance >= 0)
		keep_pending(search, scan->heapRelation, slot, distance,
					 InvalidTransactionId, 0);
	ExecClearTuple(slot);
}

/*
 * The next row that a scan finds, if there is one more.  The table is opened
 * when the index has found something.
 */
static bool
next_row(const Guard *guard, const GuardTable *table, IndexScanDesc scan,
		 GuardSearch *search)
{
	for (;;)
	{
		bool		further = scan->xs_heap_continue;

		CHECK_FOR_INTERRUPTS();
		if (!further && index_getnext_tid(scan, ForwardScanDirection) == NULL)
			return false;
		if (scan->xs_heapfetch == NULL)
			open_table(table, scan, search);
		if (index_fetch_heap(scan, search->slot))
			return true;
		if (!further)
			look_back(guard, table, scan, search);
	}
}

/*
 * Look at what a scan finds.  The snapshot is a dirty one: of each row it says
 * which transaction in progress has inserted or deleted it, if any.
 */
static void
read_scan(const Guard *guard, const GuardTable *table, IndexScanDesc scan,
		  GuardSearch *search)
{
	Snapshot	snapshot = scan->xs_snapshot;

	while (!is_done(search) && next_row(guard, table, scan, search))
	{
		TupleTableSlot *slot = search->slot;
		int			distance = row_distance(guard, table, search, slot);
		TransactionId xid = TransactionIdIsValid(snapshot->xmin) ?
		snapshot->xmin : snapshot->xmax;

		if (distance < 0)
			continue;
		if (TransactionIdIsValid(xid))
			keep_pending(search, scan->heapRelation, slot, distance, xid,
						 snapshot->speculativeToken);
		else
			keep_match(search, scan->heapRelation, slot, distance);
	}
}

/* The ball as a value of SQL, made when it is first needed. */
static Datum
get_ball(const Guard *guard, GuardSearch *search)
{
	if (search->ball == (Datum) 0)
	{
		TupleDesc	desc =
		lookup_rowtype_tupdesc(guard->statement->ball_type, -1);

		search->ball =
			simhash_make_ball(desc,
							  guard->type.oid == BITOID ? VARBITOID : INT8OID,
							  search->center_value, search->radius);
		ReleaseTupleDesc(desc);
	}
	return search->ball;
}

/*
 * The scan of a hamming index.  To begin one takes time, as does planning a
 * search, so each serves for several rows; a new one learns how large the
 * index has become.  One that was in use when an error came has lost its pins.
 */
static IndexScanDesc
get_scan(const Guard *guard, GuardHammingIndex *hamming, Relation index)
{
	MemoryContext old;

	if (hamming->scan != NULL && !hamming->in_use &&
		hamming->searches++ < SEARCHES_OF_A_SCAN)
	{
		hamming->scan->indexRelation = index;
		return hamming->scan;
	}
	if (hamming->scan != NULL && !hamming->in_use)
	{
		IndexScanDesc scan = hamming->scan;

		hamming->scan = NULL;
		scan->indexRelation = index;
		index->rd_indam->amendscan(scan);
		IndexScanEnd(scan);
	}
	old = MemoryContextSwitchTo(guard->statement->tables_context);
	hamming->scan = index->rd_indam->ambeginscan(index, hamming->ncolumns, 0);
	MemoryContextSwitchTo(old);
	hamming->searches = 0;
	return hamming->scan;
}

/*
 * Begin a search by a hamming index.  Note: index_beginscan() would keep the
 * index open for as long as the scan is there, and the table.
 */
static void
begin_hamming(const Guard *guard, GuardTable *table, GuardSearch *search)
{
	GuardHammingIndex *hamming = &table->hamming;
	Relation	index = index_open(hamming->index, NoLock);
	IndexScanDesc scan = get_scan(guard, hamming, index);

	hamming->in_use = true;
	scan->xs_snapshot = &search->dirty;
	if (hamming->ncolumns == 1 && search->like != NULL)
	{
		hamming_rescan_like(scan, search->like);
		hamming_begin_search(scan);
		return;
	}
	for (int i = 0; i < hamming->ncolumns; i++)
	{
		ScanKey		condition = &hamming->conditions[i];

		condition->sk_argument = hamming->group[i] >= 0 ?
			guard->group_values[hamming->group[i]] :
			get_ball(guard, search);
	}
	index_rescan(scan, hamming->conditions, hamming->ncolumns, NULL, 0);
	if (hamming->ncolumns == 1)
		search->like = scan;
	hamming_begin_search(scan);
}

/* Go on with a search by a hamming index, unless we are done, and end it. */
static void
finish_hamming(const Guard *guard, GuardTable *table, GuardSearch *search)
{
	IndexScanDesc scan = table->hamming.scan;

	read_scan(guard, table, scan, search);
	close_table(scan, search);
	hamming_end_search(scan);
	index_close(scan->indexRelation, NoLock);
	table->hamming.in_use = false;
}

/*
 * Prepare the conditions for searches by a key index: equality in the columns
 * of the group that come before the key, and in the key.  Returns the latter.
 */
static ScanKey
prepare_keys(const Guard *guard, const GuardKeyIndex *index, ScanKey keys)
{
	int			i;

	for (i = 0; i < index->nprefix; i++)
	{
		int			which = index->prefix[i];
		GuardColumn *column = &guard->statement->group[which];

		ScanKeyEntryInitializeWithInfo(&keys[i], 0, i + 1,
									   BTEqualStrategyNumber, InvalidOid,
									   column->collation, &column->equals,
									   guard->group_values[which]);
	}
	ScanKeyInit(&keys[i], i + 1, BTEqualStrategyNumber, F_INT2EQ, (Datum) 0);
	return &keys[i];
}

/* Search by the four key indexes. */
static void
search_keys(const Guard *guard, const GuardTable *table, GuardSearch *search)
{
	Relation	relation = table_open(table->table, NoLock);

	search->slot = table_slot_create(relation, NULL);
	for (int block = 0; block < SH_BLOCKS; block++)
	{
		const GuardKeyIndex *keys = &table->key_indexes[block];
		int			reach = sh_block_radius(search->radius, block);
		ScanKeyData conditions[INDEX_MAX_KEYS];
		ScanKey		equal;
		Relation	index;
		IndexScanDesc scan;
		ShProbes	probes;
		int16		key;

		if (reach < 0)
			continue;
		equal = prepare_keys(guard, keys, conditions);
		index = index_open(keys->index, NoLock);
		scan = simhash_index_beginscan(relation, index, &search->dirty,
									   keys->nprefix + 1);
		sh_probes_begin(&probes,
						sh_block_key(search->center.words[0], block),
						reach);
		while (!is_done(search) && sh_probes_next(&probes, &key) >= 0)
		{
			equal->sk_argument = Int16GetDatum(key);
			index_rescan(scan, conditions, keys->nprefix + 1, NULL, 0);
			read_scan(guard, table, scan, search);
		}
		index_endscan(scan);
		index_close(index, NoLock);
	}
	ExecDropSingleTupleTableSlot(search->slot);
	table_close(relation, NoLock);
}

/*
 * Glance at some tables, from one on: those that surely have nothing within
 * the radius, which most have not, need not be searched.  An entry of a row
 * that matters is in the index by now, and stays as long as our snapshot.
 */
static void
glance_at_tables(const Guard *guard, const GuardSearch *search, int from)
{
	GuardTable *tables = &guard->scope->tables[from];
	int			ntables = Min(guard->scope->ntables - from, HAMMING_GLANCES);
	Relation	indexes[HAMMING_GLANCES];
	GuardTable *glanced[HAMMING_GLANCES];
	bool		none[HAMMING_GLANCES];
	int			count = 0;

	CHECK_FOR_INTERRUPTS();
	for (int i = 0; i < ntables; i++)
	{
		tables[i].empty = false;
		if (guard->type.oid != INT8OID || search->radius >= SH_BLOCKS ||
			tables[i].hamming.ncolumns != 1)
			continue;
		indexes[count] = index_open(tables[i].hamming.index, NoLock);
		glanced[count++] = &tables[i];
	}
	if (count == 0)
		return;
	hamming_glance(indexes, count, search->center.words[0], search->radius,
				   none);
	for (int i = 0; i < count; i++)
	{
		glanced[i]->empty = none[i];
		index_close(indexes[i], NoLock);
	}
}

/* Begin to search a table, if that can be done ahead. */
static void
begin_table(const Guard *guard, GuardTable *table, GuardSearch *search)
{
	if (OidIsValid(table->hamming.index) && !table->empty)
		begin_hamming(guard, table, search);
}

/* Search a table, and end that. */
static void
finish_table(const Guard *guard, GuardTable *table, GuardSearch *search)
{
	if (table->empty)
		return;
	if (OidIsValid(table->hamming.index))
		finish_hamming(guard, table, search);
	else if (!is_done(search))
		search_keys(guard, table, search);
}

/*
 * Search all tables for the nearest rows within the ball.  The statement has
 * locks on them and their indexes.  Most of the time goes by waiting for
 * memory, so tables are glanced at together, and each search is begun while
 * others are still waiting.
 */
void
simhash_guard_search(const Guard *guard, GuardSearch *search)
{
	const GuardScope *scope = guard->scope;
	int			begun = 0;

	search->match.distance = -1;
	search->match.slot = NULL;
	search->pending.distance = -1;
	search->like = NULL;
	InitDirtySnapshot(search->dirty);
	/* To it, what our own command has deleted is gone. */
	search->before = RegisterSnapshot(GetLatestSnapshot());
	search->before->curcid = InvalidCommandId;
	for (int i = 0; i < begun || !is_done(search); i++)
	{
		while (begun < scope->ntables && begun <= i + SEARCHES_AHEAD &&
			   !is_done(search))
		{
			if (begun % HAMMING_GLANCES == 0)
				glance_at_tables(guard, search, begun);
			begin_table(guard, &scope->tables[begun++], search);
		}
		if (i >= begun)
			break;
		finish_table(guard, &scope->tables[i], search);
	}
	UnregisterSnapshot(search->before);
}

/* Wait until a transaction is over, or its speculative insertion. */
void
simhash_guard_wait(GuardPending *pending)
{
	Relation	relation;

	if (!TransactionIdIsValid(pending->xid))
		return;
	if (pending->token != 0)
	{
		SpeculativeInsertionWait(pending->xid, pending->token);
		return;
	}
	relation = table_open(pending->table, NoLock);
	XactLockTableWait(pending->xid, relation, &pending->tid,
					  XLTW_RecheckExclusionConstr);
	table_close(relation, NoLock);
}
