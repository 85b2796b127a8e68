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
#include "guard.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

#include "core/probes.h"
#include "hamming.h"

/* See whether a btree index has a key of the column first; which block's. */
static bool
is_key_index(Relation relation, Relation index, AttrNumber column, int *block)
{
	AttrNumber	first = index->rd_index->indkey.values[0];
	Node	   *expression;
	Node	   *source;
	Node	   *operand;

	if (index->rd_rel->relam != BTREE_AM_OID ||
		index->rd_opfamily[0] != INTEGER_BTREE_FAM_OID)
		return false;
	if (first == 0)
		expression = linitial(RelationGetIndexExpressions(index));
	else if (TupleDescAttr(RelationGetDescr(relation), first - 1)->attgenerated)
		expression = build_column_default(relation, first);
	else
		return false;
	if (!simhash_is_key(expression, &operand, block))
		return false;
	if (IsA(operand, Var))
		return ((Var *) operand)->varattno == column;
	if (!TupleDescAttr(RelationGetDescr(relation), column - 1)->attgenerated)
		return false;
	source = build_column_default(relation, column);
	return equal(operand, source);
}

/* True for an index of our access method. */
static bool
is_hamming_index(Relation index)
{
	FmgrInfo	info;

	if (index->rd_amhandler < FirstNormalObjectId)
		return false;
	fmgr_info(index->rd_amhandler, &info);
	return info.fn_addr == hamming_handler;
}

/* Say what index to make. */
static void
complain_of_no_index(Relation relation, AttrNumber column, Oid root)
{
	const char *name = get_attname(RelationGetRelid(relation), column, false);
	const char *schema = get_namespace_name(get_rel_namespace(root));

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("simhash_guard needs an index on column \"%s\" of table \"%s\"",
					name, RelationGetRelationName(relation)),
			 errhint("Run: CREATE INDEX ON %s USING hamming (%s);",
					 quote_qualified_identifier(schema, get_rel_name(root)),
					 quote_identifier(name))));
}

/*
 * Find the index to search a table by: a hamming index if there is one,
 * otherwise those of the keys.  The root is for the hint when there is none.
 */
void
simhash_guard_find_index(Relation relation, AttrNumber column, Oid root,
						 GuardTable *table)
{
	List	   *indexes = RelationGetIndexList(relation);
	ListCell   *lc;
	int			keys = 0;
	int			hamming = 0;

	memset(table, 0, sizeof *table);
	table->table = RelationGetRelid(relation);
	table->column = column;
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		bool		usable = index->rd_index->indisvalid &&
		RelationGetIndexPredicate(index) == NIL;
		int			block;

		if (is_hamming_index(index) &&
			index->rd_index->indkey.values[0] == column)
		{
			hamming++;
			if (usable)
				table->hamming_index = lfirst_oid(lc);
		}
		else if (usable && is_key_index(relation, index, column, &block) &&
				 !OidIsValid(table->key_indexes[block]))
		{
			table->key_indexes[block] = lfirst_oid(lc);
			keys++;
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	if (!OidIsValid(table->hamming_index) && keys < SH_BLOCKS)
		complain_of_no_index(relation, column, root);

	/*
	 * While an index comes or goes, as REINDEX CONCURRENTLY has it, other
	 * sessions may search by another than ours.
	 */
	table->only_way = OidIsValid(table->hamming_index) && hamming == 1 &&
		keys < SH_BLOCKS;
}

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

/*
 * The distance of a row found, or -1 if it is of no concern: beyond the radius,
 * without fingerprint, or the row that is updated.
 */
static int
row_distance(const Guard *guard, const GuardTable *table,
			 const GuardSearch *search, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, table->column, &isnull);
	int			distance;

	if (isnull || (search->self != NULL && table == guard->own &&
				   ItemPointerEquals(search->self, &slot->tts_tid)))
		return -1;
	distance = sh_distance((uint64) DatumGetInt64(value),
						   (uint64) search->ball.center);
	return distance <= search->ball.radius ? distance : -1;
}

/*
 * A place that the index gave holds no row for us.  Did it when the search
 * began?
 */
static void
look_back(const Guard *guard, const GuardTable *table, IndexScanDesc scan,
		  GuardSearch *search, TupleTableSlot *slot)
{
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

/* The next row that a scan finds, if there is one more. */
static bool
next_row(const Guard *guard, const GuardTable *table, IndexScanDesc scan,
		 GuardSearch *search, TupleTableSlot *slot)
{
	for (;;)
	{
		bool		further = scan->xs_heap_continue;

		CHECK_FOR_INTERRUPTS();
		if (!further && index_getnext_tid(scan, ForwardScanDirection) == NULL)
			return false;
		if (index_fetch_heap(scan, slot))
			return true;
		if (!further)
			look_back(guard, table, scan, search, slot);
	}
}

/*
 * Look at what a scan finds.  The snapshot is a dirty one: of each row it says
 * which transaction in progress has inserted or deleted it, if any.
 */
static void
read_scan(const Guard *guard, const GuardTable *table, IndexScanDesc scan,
		  GuardSearch *search, TupleTableSlot *slot)
{
	Snapshot	snapshot = scan->xs_snapshot;

	while (!is_done(search) && next_row(guard, table, scan, search, slot))
	{
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

/* The ball as a value of SQL. */
static Datum
make_ball(Oid type, const SimhashBall *ball)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	Datum		result = simhash_make_ball(desc, ball);

	ReleaseTupleDesc(desc);
	return result;
}

/* Search by a hamming index. */
static void
search_hamming(const Guard *guard, const GuardTable *table, Relation relation,
			   Snapshot snapshot, GuardSearch *search, TupleTableSlot *slot)
{
	Relation	index = index_open(table->hamming_index, AccessShareLock);
	IndexScanDesc scan = simhash_index_beginscan(relation, index, snapshot, 1);
	ScanKeyData within;
	Oid			operator = get_opfamily_member(index->rd_opfamily[0], INT8OID,
											   guard->ball_type,
											   HAMMING_BALL_STRATEGY);

	ScanKeyEntryInitialize(&within, 0, 1, HAMMING_BALL_STRATEGY,
						   guard->ball_type, InvalidOid, get_opcode(operator),
						   make_ball(guard->ball_type, &search->ball));
	index_rescan(scan, &within, 1, NULL, 0);
	read_scan(guard, table, scan, search, slot);
	index_endscan(scan);
	index_close(index, AccessShareLock);
}

/* Search by the four key indexes. */
static void
search_keys(const Guard *guard, const GuardTable *table, Relation relation,
			Snapshot snapshot, GuardSearch *search, TupleTableSlot *slot)
{
	for (int block = 0; block < SH_BLOCKS; block++)
	{
		int			reach = sh_block_radius(search->ball.radius, block);
		Relation	index;
		IndexScanDesc scan;
		ShProbes	probes;
		int16		key;

		if (reach < 0)
			continue;
		index = index_open(table->key_indexes[block], AccessShareLock);
		scan = simhash_index_beginscan(relation, index, snapshot, 1);
		sh_probes_begin(&probes,
						sh_block_key((uint64) search->ball.center, block),
						reach);
		while (!is_done(search) && sh_probes_next(&probes, &key) >= 0)
		{
			ScanKeyData equal;

			ScanKeyInit(&equal, 1, BTEqualStrategyNumber, F_INT2EQ,
						Int16GetDatum(key));
			index_rescan(scan, &equal, 1, NULL, 0);
			read_scan(guard, table, scan, search, slot);
		}
		index_endscan(scan);
		index_close(index, AccessShareLock);
	}
}

/* Search all tables for the nearest rows within the ball. */
void
simhash_guard_search(const Guard *guard, GuardSearch *search)
{
	search->match.distance = -1;
	search->match.slot = NULL;
	search->pending.distance = -1;
	/* To it, what our own command has deleted is gone. */
	search->before = RegisterSnapshot(GetLatestSnapshot());
	search->before->curcid = InvalidCommandId;
	for (int i = 0; i < guard->ntables && !is_done(search); i++)
	{
		const GuardTable *table = &guard->tables[i];
		Relation	relation = table_open(table->table, AccessShareLock);
		TupleTableSlot *slot = table_slot_create(relation, NULL);
		SnapshotData snapshot;

		InitDirtySnapshot(snapshot);
		if (OidIsValid(table->hamming_index))
			search_hamming(guard, table, relation, &snapshot, search, slot);
		else
			search_keys(guard, table, relation, &snapshot, search, slot);
		ExecDropSingleTupleTableSlot(slot);
		table_close(relation, NoLock);
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
