/*-------------------------------------------------------------------------
 *
 * guard_search.c
 *		How rows near the one at hand are found: by a hamming index or by key
 *		columns, rows of transactions in progress included.
 *
 * A search gathers the nearest row whose fate is known and the nearest whose
 * fate another transaction decides; whether to wait for that transaction is up
 * to the caller.  Or it shows each row to a visitor.  guard_lock.c says why no
 * row slips through.
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

#include "access/relscan.h"
#include "access/transam.h"
#include "storage/lmgr.h"
#include "utils/typcache.h"

#include "core/blocks/probes.h"

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
	match->table = table;
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
is_of_group(const GuardSearch *search, const GuardTable *table,
			TupleTableSlot *slot)
{
	for (int i = 0; i < search->space->terms.ngroup; i++)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, table->group[i], &isnull);

		if (isnull || !simhash_guard_equal(&search->space->group[i].equality,
										   search->group[i], value))
			return false;
	}
	return true;
}

/* Is the document of a row within the distance similar enough? */
static bool
is_similar(const GuardSearch *search, const GuardTable *table,
		   TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value;
	text	   *document;
	double		similarity;

	if (table->document == 0)
		return true;
	value = slot_getattr(slot, table->document, &isnull);
	if (isnull && search->stand_in != NULL)
		value = PointerGetDatum(search->stand_in(search->visitor, slot));
	else if (isnull)
		value = (Datum) 0;
	if (DatumGetPointer(value) == NULL || search->document == NULL)
		return false;
	document = DatumGetTextPP(value);
	similarity = simhash_guard_similarity(&search->space->terms,
										  search->document, document);

	/* There may be many rows to verify. */
	if (document != (text *) DatumGetPointer(value))
		pfree(document);
	return similarity >= search->space->terms.at_least;
}

/*
 * The distance of a row found, or -1 if it is of no concern: beyond the radius,
 * without fingerprint, of another group, not similar enough, or the row that is
 * updated.
 */
static int
row_distance(const GuardSearch *search, const GuardTable *table,
			 TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, table->column, &isnull);
	GuardFingerprint fingerprint;
	int			distance;

	if (isnull || (search->self != NULL && table->table == search->table &&
				   ItemPointerEquals(search->self, &slot->tts_tid)))
		return -1;
	fingerprint = simhash_guard_fingerprint(&search->space->terms.type, value);
	distance = simhash_guard_distance(&fingerprint, &search->center);
	return distance <= search->space->terms.radius &&
		is_of_group(search, table, slot) &&
		is_similar(search, table, slot) ? distance : -1;
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

/* Fetch a row that is there for our statement, but for what it does. */
static bool
fetch_moving(Relation relation, ItemPointer tid, TupleTableSlot *slot)
{
	return table_index_fetch_tuple_check(relation, tid, GetActiveSnapshot(),
										 NULL) &&
		table_tuple_fetch_row_version(relation, tid, SnapshotAny, slot);
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
		if (search->moving && !further &&
			fetch_moving(scan->heapRelation, &tid, slot))
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
		search->changed = true;
		if (search->visit == NULL)
			(void) keep_pending(search, scan->heapRelation, &tid,
								search->space->terms.radius,
								InvalidTransactionId, 0);
	}
}

/*
 * Show the visitor a row near ours.  A transaction in progress that is about to
 * delete it does not matter: it was there when ours arrived.
 */
static void
visit(GuardSearch *search, const GuardTable *table, TupleTableSlot *slot)
{
	GuardPending pending = {
		.table = table->table,
		.tid = slot->tts_tid,
		.xid = search->dirty.xmin,
		.token = search->dirty.speculativeToken
	};

	search->visit(search->visitor, table, slot, &pending);
}

/*
 * Look at what a scan finds.  The snapshot is a dirty one: of each row it says
 * which transaction in progress has inserted or deleted it, if any.
 */
static void
read_scan(GuardSearch *search, const GuardTable *table, IndexScanDesc scan,
		  TupleTableSlot *slot)
{
	Relation	relation = scan->heapRelation;
	Snapshot	snapshot = scan->xs_snapshot;

	while (!is_done(search) && next_row(scan, search, slot))
	{
		int			distance = row_distance(search, table, slot);
		TransactionId xid = TransactionIdIsValid(snapshot->xmin) ?
		snapshot->xmin : snapshot->xmax;

		if (distance < 0)
			continue;
		if (search->visit != NULL)
			visit(search, table, slot);
		else if (TransactionIdIsValid(xid))
			(void) keep_pending(search, relation, &slot->tts_tid, distance,
								xid, snapshot->speculativeToken);
		else if (search->inserted != NULL && table->table == search->table &&
				 simhash_guard_same_key(search->keys, search->inserted, slot))
			pass_over(search, relation, slot, distance);
		else
			keep_match(search, table, relation, slot, distance);
	}
}

/* The ball as a value of SQL. */
static Datum
get_ball(const GuardSearch *search)
{
	const GuardTerms *terms = &search->space->terms;
	TupleDesc	desc = lookup_rowtype_tupdesc(search->space->ball_type, -1);
	Datum		ball = simhash_make_ball(desc, terms->type.oid == BITOID ?
										 VARBITOID : INT8OID,
										 search->center_value, terms->radius);

	ReleaseTupleDesc(desc);
	return ball;
}

/* Search by an index: for the ball, or for the keys of a block. */
static void
search_index(GuardSearch *search, const GuardTable *table,
			 const GuardIndex *way, Relation relation, TupleTableSlot *slot,
			 ShProbes *probes)
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
				search->group[way->group[i]];
	}
	while (!is_done(search) &&
		   (probes == NULL || sh_probes_next(probes, &key) >= 0))
	{
		sought->sk_argument = probes == NULL ? get_ball(search) :
			Int16GetDatum(key);
		index_rescan(scan, way->conditions, way->ncolumns, NULL, 0);
		read_scan(search, table, scan, slot);
		if (probes == NULL)
			break;
	}
	index_endscan(scan);
	index_close(index, NoLock);
}

/* Search a table. */
static void
search_table(GuardSearch *search, const GuardTable *table)
{
	Relation	relation = table_open(table->table, NoLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);

	if (OidIsValid(table->hamming.index))
		search_index(search, table, &table->hamming, relation, slot, NULL);
	for (int block = 0; block < SH_BLOCKS; block++)
	{
		int			reach = sh_block_radius(search->space->terms.radius, block);
		ShProbes	probes;

		if (reach < 0 || OidIsValid(table->hamming.index))
			continue;
		sh_probes_begin(&probes,
						sh_block_key(search->center.words[0], block), reach);
		search_index(search, table, &table->keys[block], relation, slot,
					 &probes);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, NoLock);
}

/*
 * Search all tables for the nearest rows within the ball.  The statement has
 * locks on them and their indexes.
 */
void
simhash_guard_search(GuardSearch *search, const GuardScope *scope)
{
	Snapshot	latest;

	search->match.distance = -1;
	search->match.slot = NULL;
	search->pending.distance = -1;
	search->changed = false;
	InitDirtySnapshot(search->dirty);
	/* To the copy, what our own command has deleted is gone. */
	latest = RegisterSnapshot(GetLatestSnapshot());
	search->before = *latest;
	search->before.curcid = InvalidCommandId;
	for (int i = 0; i < scope->ntables && !is_done(search); i++)
		search_table(search, &scope->tables[i]);
	UnregisterSnapshot(latest);
}

/* Forget the row found, if any. */
void
simhash_guard_forget_match(GuardSearch *search)
{
	if (search->match.slot != NULL)
		ExecDropSingleTupleTableSlot(search->match.slot);
	search->match.slot = NULL;
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
