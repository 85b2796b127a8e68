/*-------------------------------------------------------------------------
 *
 * guard_search.c
 *		How simhash_guard() finds near-duplicates: by a hamming index or by
 *		key columns, rows of transactions in progress included.
 *
 * What it finds of those it waits for, as a unique index does; guard_lock.c
 * says why none slips through.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "funcapi.h"
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
simhash_guard_find_index(Relation relation, AttrNumber column, Oid ball_type,
						 Oid root, GuardTable *table)
{
	List	   *indexes = RelationGetIndexList(relation);
	ListCell   *lc;
	int			keys = 0;

	memset(table, 0, sizeof *table);
	table->table = RelationGetRelid(relation);
	table->column = column;
	table->ball_type = ball_type;
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		int			block;

		if (index->rd_index->indisvalid &&
			RelationGetIndexPredicate(index) == NIL)
		{
			if (is_hamming_index(index) &&
				index->rd_index->indkey.values[0] == column)
				table->hamming_index = lfirst_oid(lc);
			else if (is_key_index(relation, index, column, &block) &&
					 !OidIsValid(table->key_indexes[block]))
			{
				table->key_indexes[block] = lfirst_oid(lc);
				keys++;
			}
		}
		index_close(index, AccessShareLock);
	}
	if (!OidIsValid(table->hamming_index) && keys < SH_BLOCKS)
		complain_of_no_index(relation, column, root);
}

/* Forget the row found, if any. */
void
simhash_guard_forget(GuardMatch *match)
{
	if (match->slot != NULL)
		ExecDropSingleTupleTableSlot(match->slot);
	match->slot = NULL;
	match->distance = -1;
}

/*
 * Look at what a scan finds; keep the nearest row.  False when the outcome of
 * another transaction had to be waited for, so that all has to be searched
 * again.
 */
static bool
scan_index(Relation relation, IndexScanDesc scan, Snapshot snapshot,
		   const GuardTable *table, const SimhashBall *ball, ItemPointer self,
		   TupleTableSlot *slot, GuardMatch *match)
{
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		TransactionId wait = TransactionIdIsValid(snapshot->xmin) ?
		snapshot->xmin : snapshot->xmax;
		uint32		token = snapshot->speculativeToken;
		ItemPointerData tid = slot->tts_tid;
		bool		isnull;
		Datum		value = slot_getattr(slot, table->column, &isnull);
		int			distance;

		CHECK_FOR_INTERRUPTS();
		if (isnull || (self != NULL && ItemPointerEquals(self, &tid)))
			continue;
		distance = sh_distance((uint64) DatumGetInt64(value),
							   (uint64) ball->center);
		if (distance > ball->radius)
			continue;
		if (TransactionIdIsValid(wait))
		{
			TransactionId inserter = snapshot->xmin;

			ExecClearTuple(slot);
			index_endscan(scan);
			simhash_guard_unlock();
			if (token != 0)
				SpeculativeInsertionWait(inserter, token);
			else
				XactLockTableWait(wait, relation, &tid,
								  XLTW_RecheckExclusionConstr);
			return false;
		}
		if (match->distance < 0 || distance < match->distance)
		{
			simhash_guard_forget(match);
			match->distance = distance;
			match->table = table->table;
			match->slot = table_slot_create(relation, NULL);
			ExecCopySlot(match->slot, slot);
		}
	}
	return true;
}

/* The ball as a value of SQL. */
static Datum
make_ball(Oid type, const SimhashBall *ball)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	Datum		values[2] = {Int64GetDatum(ball->center),
	Int32GetDatum(ball->radius)};
	bool		nulls[2] = {false, false};
	HeapTuple	tuple = heap_form_tuple(desc, values, nulls);

	ReleaseTupleDesc(desc);
	return HeapTupleGetDatum(tuple);
}

/* Search by a hamming index. */
static bool
search_hamming(Relation relation, Snapshot snapshot, const GuardTable *table,
			   const SimhashBall *ball, ItemPointer self, TupleTableSlot *slot,
			   GuardMatch *match)
{
	Relation	index = index_open(table->hamming_index, AccessShareLock);
	IndexScanDesc scan = simhash_index_beginscan(relation, index, snapshot, 1);
	ScanKeyData within;
	Oid			operator = get_opfamily_member(index->rd_opfamily[0], INT8OID,
											   table->ball_type,
											   HAMMING_BALL_STRATEGY);
	bool		done;

	ScanKeyEntryInitialize(&within, 0, 1, HAMMING_BALL_STRATEGY,
						   table->ball_type, InvalidOid, get_opcode(operator),
						   make_ball(table->ball_type, ball));
	index_rescan(scan, &within, 1, NULL, 0);
	done = scan_index(relation, scan, snapshot, table, ball, self, slot,
					  match);
	if (done)
		index_endscan(scan);
	index_close(index, AccessShareLock);
	return done;
}

/* Search by the four key indexes. */
static bool
search_keys(Relation relation, Snapshot snapshot, const GuardTable *table,
			const SimhashBall *ball, ItemPointer self, TupleTableSlot *slot,
			GuardMatch *match)
{
	bool		done = true;

	for (int block = 0; block < SH_BLOCKS && done; block++)
	{
		int			reach = sh_block_radius(ball->radius, block);
		Relation	index;
		IndexScanDesc scan;
		ShProbes	probes;
		int16		key;

		if (reach < 0)
			continue;
		index = index_open(table->key_indexes[block], AccessShareLock);
		scan = simhash_index_beginscan(relation, index, snapshot, 1);
		sh_probes_begin(&probes, sh_block_key((uint64) ball->center, block),
						reach);
		while (done && sh_probes_next(&probes, &key) >= 0)
		{
			ScanKeyData equal;

			ScanKeyInit(&equal, 1, BTEqualStrategyNumber, F_INT2EQ,
						Int16GetDatum(key));
			index_rescan(scan, &equal, 1, NULL, 0);
			done = scan_index(relation, scan, snapshot, table, ball, self,
							  slot, match);
		}
		if (done)
			index_endscan(scan);
		index_close(index, AccessShareLock);
	}
	return done;
}

/*
 * Search a table for the row nearest to the center, within the radius, that
 * is not "self".  False when another transaction had to be waited for: then
 * our locks are gone, and the caller begins anew.
 */
bool
simhash_guard_search(const GuardTable *table, const SimhashBall *ball,
					 ItemPointer self, GuardMatch *match)
{
	Relation	relation = table_open(table->table, AccessShareLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	SnapshotData snapshot;
	bool		done;

	InitDirtySnapshot(snapshot);
	if (OidIsValid(table->hamming_index))
		done = search_hamming(relation, &snapshot, table, ball, self,
							  slot, match);
	else
		done = search_keys(relation, &snapshot, table, ball, self,
						   slot, match);
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, NoLock);
	return done;
}
