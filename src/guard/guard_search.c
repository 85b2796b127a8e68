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
 * search takes a snapshot.  A version dead to the search but alive in the
 * snapshot has been replaced since, and the search looks at what has become of it
 * instead: it leads there, as nothing that came after the snapshot is removed.
 * Only if the row has moved to another partition, or is in no heap, is the caller
 * told to search again.  However many rows others update, a search comes to its
 * end.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "core/pairs/probes.h"

/* Keep a row whose fate is known if it is the nearest so far. */
static void
keep_match(GuardSearch *search, const GuardTable *table, Relation relation,
		   TupleTableSlot *slot, int distance)
{
	GuardMatch *match = &search->match;

	if (match->distance >= 0 && match->distance <= distance)
		return;
	if (match->slot != NULL)
		ExecDropSingleTupleTableSlot(match->slot);
	match->distance = distance;
	match->table = table->table;
	match->document = table->document;
	match->slot = table_slot_create(relation, NULL);
	ExecCopySlot(match->slot, slot);
}

/*
 * Keep the transaction that decides on a row if it is the nearest so far; false
 * if it is not.  The transaction is not valid when it has ended since the search
 * began.
 */
static bool
keep_pending(GuardSearch *search, Relation relation, ItemPointer tid,
			 int distance, TransactionId xid, uint32 token)
{
	GuardPending *pending = &search->pending;

	if (pending->distance >= 0 && pending->distance <= distance)
		return false;
	pending->distance = distance;
	pending->table = RelationGetRelid(relation);
	pending->tid = *tid;
	pending->xid = xid;
	pending->token = token;
	pending->locked = false;
	return true;
}

/*
 * Pass over a row that has a key of the row that is inserted, if it is sure to
 * keep that.
 */
static void
pass_over(GuardSearch *search, Relation relation, TupleTableSlot *slot,
		  int distance)
{
	GuardHold	hold = simhash_guard_hold_key(relation, &slot->tts_tid, false);

	if (hold != GUARD_HELD &&
		keep_pending(search, relation, &slot->tts_tid, distance,
					 InvalidTransactionId, 0))
		search->pending.locked = hold == GUARD_HELD_BY_OTHERS;
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

		if (isnull || !simhash_guard_equal(&guard->statement->group[i].equality,
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
		simhash_guard_verified(guard, table, slot) ? distance : -1;
}

/* What has become of a version that is dead. */
typedef enum Fate
{
	FATE_REPLACED,				/* by what is in the slot */
	FATE_DELETED,
	FATE_UNKNOWN
} Fate;

/* The version after one of a heap, which is in a slot; false if there is none. */
static bool
next_version(TupleTableSlot *slot, ItemPointer tid, TransactionId *updater,
			 bool *moved)
{
	HeapTupleHeader header = ((HeapTupleTableSlot *) slot)->tuple->t_data;
	Buffer		buffer = ((BufferHeapTupleTableSlot *) slot)->buffer;
	bool		found;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	*moved = HeapTupleHeaderIndicatesMovedPartitions(header);
	*updater = HeapTupleHeaderGetUpdateXid(header);
	found = !*moved && !ItemPointerEquals(&header->t_ctid, tid);
	*tid = header->t_ctid;
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return found;
}

/*
 * Find the version of a row that is alive to the search, from one on that was
 * when the search began.
 */
static Fate
follow(Relation relation, ItemPointer tid, GuardSearch *search,
	   TupleTableSlot *slot)
{
	TransactionId updater = InvalidTransactionId;
	bool		moved;

	if (relation->rd_rel->relam != HEAP_TABLE_AM_OID)
		return FATE_UNKNOWN;
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_tuple_fetch_row_version(relation, tid, SnapshotAny, slot))
			return FATE_DELETED;
		if (TransactionIdIsValid(updater) &&
			!TransactionIdEquals(updater,
								 HeapTupleHeaderGetXmin(((HeapTupleTableSlot *) slot)->tuple->t_data)))
			return FATE_DELETED;
		if (table_tuple_satisfies_snapshot(relation, slot, &search->dirty))
			return FATE_REPLACED;
	} while (next_version(slot, tid, &updater, &moved));
	return moved ? FATE_UNKNOWN : FATE_DELETED;
}

/*
 * The next row that a scan finds, if there is one more.  Where the index names
 * a row that is dead to us, one may have been there when the search began.
 */
static bool
next_row(IndexScanDesc scan, GuardSearch *search, TupleTableSlot *slot)
{
	Fate		fate;

	for (;;)
	{
		bool		further = scan->xs_heap_continue;
		ItemPointerData tid;

		CHECK_FOR_INTERRUPTS();
		if (!further && index_getnext_tid(scan, ForwardScanDirection) == NULL)
			return false;
		tid = scan->xs_heaptid;
		if (index_fetch_heap(scan, slot))
			return true;
		if (further ||
			!table_index_fetch_tuple_check(scan->heapRelation, &tid,
										   &search->before, NULL))
			continue;
		fate = follow(scan->heapRelation, &tid, search, slot);
		if (fate == FATE_REPLACED)
			return true;
		if (fate == FATE_DELETED)
			continue;
		if (search->neighbours != NULL)
			search->neighbours->changed = true;
		else
			(void) keep_pending(search, scan->heapRelation, &tid,
								search->radius, InvalidTransactionId, 0);
	}
}

/*
 * Look at what a scan finds.  The snapshot is a dirty one: of each row it says
 * which transaction in progress has inserted or deleted it, if any.
 */
static void
read_scan(const Guard *guard, const GuardTable *table, IndexScanDesc scan,
		  TupleTableSlot *slot, GuardSearch *search)
{
	Relation	relation = scan->heapRelation;
	Snapshot	snapshot = scan->xs_snapshot;

	while (!is_done(search) && next_row(scan, search, slot))
	{
		int			distance = row_distance(guard, table, search, slot);
		TransactionId xid = TransactionIdIsValid(snapshot->xmin) ?
		snapshot->xmin : snapshot->xmax;

		if (distance < 0)
			continue;
		if (search->neighbours != NULL)
			simhash_guard_meet(search->neighbours, table, slot,
							   snapshot->xmin, snapshot->speculativeToken);
		else if (TransactionIdIsValid(xid))
			(void) keep_pending(search, relation, &slot->tts_tid, distance,
								xid, snapshot->speculativeToken);
		else if (simhash_guard_same_key(guard, table->table, search, slot))
			pass_over(search, relation, slot, distance);
		else
			keep_match(search, table, relation, slot, distance);
	}
}

/* The ball as a value of SQL. */
static Datum
get_ball(const Guard *guard, const GuardSearch *search)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(guard->statement->ball_type, -1);
	Datum		ball = simhash_make_ball(desc, guard->type.oid == BITOID ?
										 VARBITOID : INT8OID,
										 search->center_value, guard->radius);

	ReleaseTupleDesc(desc);
	return ball;
}

/* Search by an index: for the ball, or for the keys of a block. */
static void
search_index(const Guard *guard, const GuardTable *table,
			 const GuardIndex *way, Relation relation, TupleTableSlot *slot,
			 GuardSearch *search, ShProbes *probes)
{
	Relation	index = index_open(way->index, NoLock);
	IndexScanDesc scan = simhash_index_beginscan(relation, index,
												 &search->dirty,
												 way->ncolumns);
	ScanKey		sought = NULL;
	int16		key = 0;

	for (int i = 0; i < way->ncolumns; i++)
	{
		if (way->group[i] < 0)
			sought = &way->conditions[i];
		else
			way->conditions[i].sk_argument =
				guard->group_values[way->group[i]];
	}
	while (!is_done(search) &&
		   (probes == NULL || sh_probes_next(probes, &key) >= 0))
	{
		sought->sk_argument = probes == NULL ? get_ball(guard, search) :
			Int16GetDatum(key);
		index_rescan(scan, way->conditions, way->ncolumns, NULL, 0);
		read_scan(guard, table, scan, slot, search);
		if (probes == NULL)
			break;
	}
	index_endscan(scan);
	index_close(index, NoLock);
}

/* Search a table. */
static void
search_table(const Guard *guard, const GuardTable *table, GuardSearch *search)
{
	Relation	relation = table_open(table->table, NoLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);

	if (OidIsValid(table->hamming.index))
		search_index(guard, table, &table->hamming, relation, slot, search,
					 NULL);
	for (int block = 0; block < SH_BLOCKS; block++)
	{
		int			reach = sh_block_radius(search->radius, block);
		ShProbes	probes;

		if (reach < 0 || OidIsValid(table->hamming.index))
			continue;
		sh_probes_begin(&probes,
						sh_block_key(search->center.words[0], block), reach);
		search_index(guard, table, &table->keys[block], relation, slot,
					 search, &probes);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, NoLock);
}

/*
 * Search all tables for the nearest rows within the ball.  The statement has
 * locks on them and their indexes.
 */
void
simhash_guard_search(const Guard *guard, GuardSearch *search)
{
	const GuardScope *scope = guard->scope;
	Snapshot	latest;

	search->match.distance = -1;
	search->match.slot = NULL;
	search->pending.distance = -1;
	InitDirtySnapshot(search->dirty);
	/* To the copy, what our own command has deleted is gone. */
	latest = RegisterSnapshot(GetLatestSnapshot());
	search->before = *latest;
	search->before.curcid = InvalidCommandId;
	for (int i = 0; i < scope->ntables && !is_done(search); i++)
		search_table(guard, &scope->tables[i], search);
	UnregisterSnapshot(latest);
}

/*
 * Wait until a transaction is over, or its speculative insertion, or until it
 * lets go of a row.
 */
void
simhash_guard_wait(GuardPending *pending)
{
	Relation	relation;

	if (pending->locked)
	{
		relation = table_open(pending->table, NoLock);
		(void) simhash_guard_hold_key(relation, &pending->tid, true);
		table_close(relation, NoLock);
	}
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
