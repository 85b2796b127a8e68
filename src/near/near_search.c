/*-------------------------------------------------------------------------
 *
 * near_search.c
 *		How rows near the one at hand are found: by a hamming index or by key
 *		columns, rows of transactions in progress included.
 *
 * A search gathers the nearest row whose fate is known and the nearest whose
 * fate another transaction decides; whether to wait for that transaction is up
 * to the caller.  Or it shows each row to a visitor.  near_lock.c says why no
 * row slips through.
 *
 * Where documents are compared, that is what takes time, and most rows that are near
 * fail.  So the rows of a table are gathered first, and compared in the order of their
 * distance, up to the first that is similar; and most that are similar are found at a
 * small distance, which is searched first.  Rows whose fate another transaction decides
 * are compared at once, as it may end.  Of several rows at one distance the one that
 * stands first in the table is kept, by the place that the index names: updates that
 * leave the fingerprint alone mostly keep that.
 *
 * It must not miss a row that is updated meanwhile, either.  An update which
 * leaves the fingerprint alone is not examined and takes no locks, but may put
 * a new version of the row behind us in the index, and be committed before we
 * come to the old version, which is dead by then.  So before it begins the
 * search takes a snapshot.  A version that is dead to the search but alive in
 * the snapshot has been replaced since.  The search follows it to the version
 * that replaced it: the versions between are still there, as nothing that is
 * alive in the snapshot, or later, is removed.  Only if the row has moved to
 * another partition, or is in no heap, is the caller told to search again.
 * However many rows others update, a search comes to its end.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "access/relscan.h"
#include "access/transam.h"
#include "storage/lmgr.h"
#include "utils/typcache.h"

#include "core/blocks/probes.h"

/* What is gathered of a table before it is compared: bytes, or rows if any will do. */
#define GATHERED_BYTES	(4 * 1024 * 1024)
#define GATHERED_ROWS	32

/* The distance that is searched first, but for rows of the same fingerprint. */
#define FIRST_RADIUS	3

/* A row that is gathered. */
typedef struct GuardGathered
{
	int			distance;
	ItemPointerData named;
	HeapTuple	row;
} GuardGathered;

/* Are more rows within the distance than the terms let one be compared with? */
static bool
is_beyond(const NearSearch *search)
{
	int			most = search->space->terms.most;

	return most > 0 && search->compared > most;
}

/* Is a row nearer than what is found so far, or as near and before it in its table? */
static bool
is_nearer(NearSearch *search, const NearTable *table, ItemPointer named, int distance)
{
	NearMatch  *match = &search->match;

	return match->distance < 0 || distance < match->distance ||
		(distance == match->distance && table == match->table &&
		 ItemPointerCompare(named, &match->named) < 0);
}

/*
 * Keep a row whose fate is known if it is the nearest so far; one that was not
 * compared only if there is none.
 */
static void
keep_match(NearSearch *search, const NearTable *table, Relation relation,
		   TupleTableSlot *slot, int distance)
{
	NearMatch  *match = &search->match;

	if (!is_nearer(search, table, &search->named, distance) ||
		(match->distance >= 0 && is_beyond(search)))
		return;
	simhash_near_forget_match(search);
	match->distance = distance;
	match->named = search->named;
	match->table = table;
	match->unseen = is_beyond(search);
	match->slot = table_slot_create(relation, NULL);
	ExecCopySlot(match->slot, slot);
	match->slot->tts_tid = slot->tts_tid;
}

/* Keep what the outcome depends on if it is the nearest so far. */
static void
keep_pending(NearSearch *search, const NearPending *pending)
{
	if (search->pending.distance < 0 ||
		search->pending.distance > pending->distance)
		search->pending = *pending;
}

/* Has the search found what it is for? */
static bool
is_search_done(const NearSearch *search)
{
	return (search->is_known && search->nnear == 0) ||
		(search->match.distance >= 0 &&
		 (search->match.distance <= search->enough || is_beyond(search)));
}

/*
 * Is the document of a row within the distance similar enough?  There may be many
 * rows to compare; if that are too many, those that follow count unseen.
 */
static bool
has_similar_document(NearSearch *search, const NearTable *table,
					 TupleTableSlot *slot)
{
	ExprContext *context = table->document.context;
	MemoryContext old;
	text	   *document;
	bool		similar;

	if (table->terms.compare.measure == SIMHASH_NO_MEASURE)
		return true;
	search->compared++;
	if (is_beyond(search))
		return true;
	old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	document = simhash_near_get_document(&table->document, slot);
	if (document == NULL && search->stand_in != NULL)
		document = search->stand_in(search->visitor, slot);
	similar = simhash_near_similarity(&search->space->terms, &table->document,
									  search->document, document) >= 0;
	MemoryContextSwitchTo(old);
	ResetExprContext(context);
	return similar;
}

/* Is a row within the distance similar enough, and not said to be apart? */
static bool
is_duplicate(NearSearch *search, const NearTable *table, TupleTableSlot *slot)
{
	return has_similar_document(search, table, slot) &&
		(search->apart == NULL || !simhash_near_is_apart(search->apart, table, slot));
}

/* Has a row one of the marks that lead to the row at hand? */
static bool
has_own_mark(const NearSearch *search, const NearTable *table, TupleTableSlot *slot)
{
	ListCell   *lc;

	foreach(lc, search->own_marks)
	{
		Form_pg_attribute column = TupleDescAttr(slot->tts_tupleDescriptor,
												 table->carried - 1);
		bool		isnull;
		Datum		mark = slot_getattr(slot, table->carried, &isnull);

		if (!isnull && datum_image_eq(mark, *(Datum *) lfirst(lc), column->attbyval,
									  column->attlen))
			return true;
	}
	return false;
}

/*
 * The distance of a row found, or -1 if it is of no concern: beyond the radius, passed
 * already, without fingerprint, of another group, of another time, or the row that is
 * updated.
 */
static int
row_distance(NearSearch *search, const NearTable *table,
			 TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, table->terms.column, &isnull);
	NearFingerprint fingerprint;
	int			distance;

	if (isnull || (search->self != NULL && table->table == search->table &&
				   ItemPointerEquals(search->self, &slot->tts_tid)))
		return -1;
	fingerprint = simhash_near_fingerprint(&search->space->terms.type, value);
	distance = simhash_near_distance(&fingerprint, &search->center);
	return distance > search->passed && distance <= search->radius &&
		(table->terms.ngroup == 0 ||
		 simhash_near_is_of_group(search, table->terms.group, slot)) &&
		(table->terms.time == 0 ||
		 simhash_near_is_in_time(&table->terms, search->time, slot)) &&
		!has_own_mark(search, table, slot) ? distance : -1;
}

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
 * when the search began: TM_Updated if it is in the slot, TM_Deleted if there is
 * none, TM_Invisible if that cannot be told.
 */
static TM_Result
follow_versions(Relation relation, ItemPointer tid, NearSearch *search,
				TupleTableSlot *slot)
{
	TransactionId updater = InvalidTransactionId;
	bool		moved;

	if (relation->rd_rel->relam != HEAP_TABLE_AM_OID)
		return TM_Invisible;
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (!table_tuple_fetch_row_version(relation, tid, SnapshotAny, slot))
			return TM_Deleted;
		if (TransactionIdIsValid(updater) &&
			!TransactionIdEquals(updater,
								 HeapTupleHeaderGetXmin(((HeapTupleTableSlot *) slot)->tuple->t_data)))
			return TM_Deleted;
		if (table_tuple_satisfies_snapshot(relation, slot, &search->dirty))
			return TM_Updated;
	} while (next_version(slot, tid, &updater, &moved));
	return moved ? TM_Invisible : TM_Deleted;
}

/* Fetch a row that our statement sees, even if it has deleted it itself. */
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
next_row(IndexScanDesc scan, NearSearch *search, TupleTableSlot *slot)
{
	TM_Result	fate;

	for (;;)
	{
		bool		further = scan->xs_heap_continue;
		ItemPointerData tid;
		NearPending pending = {.table = RelationGetRelid(scan->heapRelation)};

		CHECK_FOR_INTERRUPTS();
		if (!further && index_getnext_tid(scan, ForwardScanDirection) == NULL)
			return false;
		tid = scan->xs_heaptid;
		if (!further)
			search->named = tid;
		if (index_fetch_heap(scan, slot))
		{
			if (TransactionIdIsValid(search->dirty.xmin) &&
				simhash_near_is_undone(scan->heapRelation, &slot->tts_tid))
				continue;
			return true;
		}
		if (search->moving && !further &&
			fetch_moving(scan->heapRelation, &tid, slot))
			return true;
		if (further ||
			!table_index_fetch_tuple_check(scan->heapRelation, &tid,
										   &search->before, NULL))
			continue;
		fate = follow_versions(scan->heapRelation, &tid, search, slot);
		if (fate == TM_Updated)
			return true;
		if (fate == TM_Deleted)
			continue;
		search->changed = true;
		pending.tid = tid;
		keep_pending(search, &pending);
	}
}

/* For list_sort(): the nearest first, then in the order of the table. */
static int
order_gathered(const ListCell *a, const ListCell *b)
{
	GuardGathered *x = lfirst(a);
	GuardGathered *y = lfirst(b);

	return x->distance != y->distance ? x->distance - y->distance :
		ItemPointerCompare(&x->named, &y->named);
}

/*
 * Compare the rows that are gathered of a table, until none can be nearer than what is
 * found.  By key columns a row may be found several times.
 */
static void
compare_gathered(NearSearch *search, const NearTable *table, Relation relation,
				 TupleTableSlot *slot)
{
	ItemPointerData named = search->named;
	GuardGathered *last = NULL;
	ListCell   *lc;

	list_sort(search->gathered, order_gathered);
	foreach(lc, search->gathered)
	{
		GuardGathered *next = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (is_search_done(search) ||
			!is_nearer(search, table, &next->named, next->distance))
			break;
		if (last != NULL && ItemPointerEquals(&last->row->t_self, &next->row->t_self))
			continue;
		last = next;
		ExecForceStoreHeapTuple(next->row, slot, false);
		slot->tts_tid = next->row->t_self;
		search->named = next->named;
		if (is_duplicate(search, table, slot))
			keep_match(search, table, relation, slot, next->distance);
	}
	search->named = named;
	search->gathered = NIL;
	MemoryContextReset(search->gathered_in);
}

/* Gather a row to be compared, unless it cannot be what is sought. */
static void
gather(NearSearch *search, const NearTable *table, Relation relation,
	   TupleTableSlot *slot, int distance)
{
	MemoryContext old;
	GuardGathered *row;

	if (!is_nearer(search, table, &search->named, distance))
		return;
	old = MemoryContextSwitchTo(search->gathered_in);
	row = palloc(sizeof *row);
	row->distance = distance;
	row->named = search->named;
	row->row = ExecCopySlotHeapTuple(slot);
	row->row->t_self = slot->tts_tid;
	search->gathered = lappend(search->gathered, row);
	MemoryContextSwitchTo(old);
	if ((search->radius <= search->enough &&
		 list_length(search->gathered) >= GATHERED_ROWS) ||
		MemoryContextMemAllocated(search->gathered_in, false) > GATHERED_BYTES)
		compare_gathered(search, table, relation, slot);
}

/*
 * Look at what a scan finds.  The snapshot is a dirty one: of each row it says
 * which transaction in progress has inserted or deleted it, if any.  To a
 * visitor it does not matter that one is about to delete a row: that was there
 * when ours arrived.
 */
static void
read_scan(NearSearch *search, const NearTable *table, IndexScanDesc scan,
		  TupleTableSlot *slot)
{
	Relation	relation = scan->heapRelation;
	Snapshot	snapshot = scan->xs_snapshot;

	while (!is_search_done(search) && next_row(scan, search, slot))
	{
		int			distance = row_distance(search, table, slot);
		NearPending pending = {
			.distance = distance,
			.table = table->table,
			.tid = slot->tts_tid,
			.xid = snapshot->xmin,
			.token = snapshot->speculativeToken
		};

		if (distance < 0)
			continue;
		if (search->visit == NULL && !TransactionIdIsValid(pending.xid))
			pending.xid = snapshot->xmax;
		if (search->gathered_in != NULL && !TransactionIdIsValid(pending.xid))
			gather(search, table, relation, slot, distance);
		else if (!is_duplicate(search, table, slot))
			continue;
		else if (search->visit != NULL)
			search->visit(search->visitor, table, slot, &pending);
		else if (TransactionIdIsValid(pending.xid))
			keep_pending(search, &pending);
		else
			keep_match(search, table, relation, slot, distance);
	}
}

/* A ball as a value of SQL. */
static Datum
get_ball(const NearSearch *search, Datum center, int radius)
{
	const NearTerms *terms = &search->space->terms;
	TupleDesc	desc = lookup_rowtype_tupdesc(search->space->ball_type, -1);
	Datum		ball = simhash_make_ball(desc, terms->type.oid == BITOID ?
										 VARBITOID : INT8OID,
										 center, radius);

	ReleaseTupleDesc(desc);
	return ball;
}

/*
 * Search by an index: for the ball, for the keys of a block, or for fingerprints that
 * are known.
 */
static void
search_index(NearSearch *search, const NearTable *table,
			 const NearIndex *way, Relation relation, TupleTableSlot *slot,
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
	for (int i = 0; search->is_known && i < search->nnear && !is_search_done(search); i++)
	{
		sought->sk_argument = get_ball(search, Int64GetDatum((int64) search->near[i]), 0);
		index_rescan(scan, way->conditions, way->ncolumns, NULL, 0);
		read_scan(search, table, scan, slot);
	}
	while (!search->is_known && !is_search_done(search) &&
		   (probes == NULL || sh_probes_next(probes, &key) >= 0))
	{
		sought->sk_argument = probes == NULL ?
			get_ball(search, search->center_value, search->radius) :
			Int16GetDatum(key);
		index_rescan(scan, way->conditions, way->ncolumns, NULL, 0);
		read_scan(search, table, scan, slot);
		if (probes == NULL)
			break;
	}
	index_endscan(scan);
	index_close(index, NoLock);
}

/* Search a table, as far as it is to be, by what it has for that. */
static void
search_indexes(NearSearch *search, const NearTable *table, Relation relation,
			   TupleTableSlot *slot)
{
	if (OidIsValid(table->hamming.index))
	{
		search_index(search, table, &table->hamming, relation, slot, NULL);
		return;
	}
	for (int block = 0; block < SH_BLOCKS; block++)
	{
		int			reach = sh_block_radius(search->radius, block);
		ShProbes	probes;

		if (reach < 0)
			continue;
		sh_probes_begin(&probes,
						sh_block_key(search->center.words[0], block), reach);
		search_index(search, table, &table->keys[block], relation, slot,
					 &probes);
	}
}

/* Search a table whose rows are compared: what is nearest first. */
static void
search_and_compare(NearSearch *search, const NearTable *table, Relation relation,
				   TupleTableSlot *slot)
{
	int			radius = search->radius;

	search->gathered_in = AllocSetContextCreate(CurrentMemoryContext,
												"simhash_guard rows",
												ALLOCSET_DEFAULT_SIZES);
	if (!search->is_known)
		search->radius = search->enough == 0 ? 0 : Min(radius, FIRST_RADIUS);
	for (;;)
	{
		search_indexes(search, table, relation, slot);
		compare_gathered(search, table, relation, slot);
		if (search->radius == radius || is_search_done(search) ||
			(search->match.distance >= 0 && search->match.distance <= search->radius))
			break;
		search->passed = search->radius;
		search->radius = search->radius < FIRST_RADIUS ? Min(radius, FIRST_RADIUS) : radius;
	}
	search->passed = -1;
	search->radius = radius;
	MemoryContextDelete(search->gathered_in);
	search->gathered_in = NULL;
}

/* Search a table. */
static void
search_table(NearSearch *search, const NearTable *table)
{
	Relation	relation = table_open(table->table, NoLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);

	if (search->visit == NULL && table->terms.compare.measure != SIMHASH_NO_MEASURE)
		search_and_compare(search, table, relation, slot);
	else
		search_indexes(search, table, relation, slot);
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, NoLock);
}

/* Begin to look at rows, with nothing found; return a snapshot to unregister. */
static Snapshot
begin_search(NearSearch *search)
{
	Snapshot	latest = RegisterSnapshot(GetLatestSnapshot());

	search->match.distance = -1;
	search->match.slot = NULL;
	search->pending.distance = -1;
	search->changed = false;
	search->compared = 0;
	search->gathered_in = NULL;
	search->gathered = NIL;
	if (search->apart != NULL)
		search->apart->is_read = false;
	InitDirtySnapshot(search->dirty);
	/* To the copy, what our own command has deleted is gone. */
	search->before = *latest;
	search->before.curcid = InvalidCommandId;
	return latest;
}

/* Has a row, which may be a later version of one that an index names, these keys? */
static bool
has_keys(Relation index, int nkeys, ScanKey keys, TupleTableSlot *slot)
{
	for (int i = 0; i < nkeys; i++)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, index->rd_index->indkey.values[i],
										 &isnull);

		if (isnull || !DatumGetBool(FunctionCall2Coll(&keys[i].sk_func,
													  keys[i].sk_collation, value,
													  keys[i].sk_argument)))
			return false;
	}
	return true;
}

/*
 * Look for a row by a unique index: false if there is none.  If there is, "pending"
 * says which, and who is inserting, updating or deleting it, if anybody.
 */
bool
simhash_near_look_up(Relation relation, Oid index_oid, int nkeys, ScanKey keys,
					 NearPending *pending)
{
	Relation	index = index_open(index_oid, NoLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	NearSearch	search = {0};
	Snapshot	latest = begin_search(&search);
	IndexScanDesc scan = simhash_index_beginscan(relation, index, &search.dirty,
												 nkeys);

	index_rescan(scan, keys, nkeys, NULL, 0);
	while (search.pending.distance < 0 && next_row(scan, &search, slot))
	{
		if (has_keys(index, nkeys, keys, slot))
			search.pending = (NearPending)
		{
			.table = RelationGetRelid(relation),
				.tid = slot->tts_tid,
				.xid = TransactionIdIsValid(search.dirty.xmin) ?
				search.dirty.xmin : search.dirty.xmax,
				.token = search.dirty.speculativeToken
		};
	}
	*pending = search.pending;
	pending->mode = LockTupleKeyShare;
	index_endscan(scan);
	UnregisterSnapshot(latest);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, NoLock);
	return pending->distance >= 0;
}

/*
 * Search all tables for the nearest rows within the ball.  The statement has
 * locks on them, but the expression of a document may alter those that follow.
 */
void
simhash_near_search(NearSearch *search, const NearScope *scope)
{
	Snapshot	latest = begin_search(search);

	search->passed = -1;
	search->radius = search->space->terms.radius;
	for (int i = 0; i < scope->ntables && !is_search_done(search); i++)
	{
		if (i == 0 || !search->space->stale)
			search_table(search, &scope->tables[i]);
		search->changed |= scope->ntables > 1 && search->space->stale;
	}
	UnregisterSnapshot(latest);
}

/* Forget the row found, if any. */
void
simhash_near_forget_match(NearSearch *search)
{
	if (search->match.slot != NULL)
		ExecDropSingleTupleTableSlot(search->match.slot);
	search->match.slot = NULL;
}

/*
 * Lock a row, in the mode that "pending" says, until the end of the transaction,
 * waiting for others if "wait" says so.  False if it may not stay as it was found:
 * then "pending" says what decides that.  A row that our own command has inserted
 * needs no lock.
 */
bool
simhash_near_hold_row(Relation relation, NearPending *pending, bool wait)
{
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	TM_FailureData failure;
	TM_Result	result = table_tuple_lock(relation, &pending->tid, SnapshotAny,
										  slot, GetCurrentCommandId(false),
										  pending->mode,
										  wait ? LockWaitBlock : LockWaitSkip,
										  TUPLE_LOCK_FLAG_LOCK_UPDATE_IN_PROGRESS,
										  &failure);

	ExecDropSingleTupleTableSlot(slot);
	pending->locked = result == TM_WouldBlock;
	return result == TM_Ok || result == TM_Invisible;
}

/*
 * Wait until a transaction is over, or its speculative insertion, or until it
 * lets go of a row.
 */
void
simhash_near_wait(NearPending *pending)
{
	Relation	relation = table_open(pending->table, NoLock);

	if (pending->locked)
		(void) simhash_near_hold_row(relation, pending, true);
	if (pending->token != 0)
		SpeculativeInsertionWait(pending->xid, pending->token);
	else if (TransactionIdIsValid(pending->xid))
		XactLockTableWait(pending->xid, relation, &pending->tid,
						  XLTW_RecheckExclusionConstr);
	table_close(relation, NoLock);
}
