/*-------------------------------------------------------------------------
 *
 * hamming_check.c
 *		hamming_index_check(): does an index agree with its table?
 *
 * The pages are checked first (hamming_check_pages.c).  Then, if wanted,
 * entries and rows are brought face to face: both are sorted by TID and
 * merged.  Each row that a fresh snapshot sees must have all of its entries and
 * no others.  The snapshot is taken before the index is read, so their entries
 * were there by then and cannot go while it lasts.  An entry of no such row
 * must point at something at least: to the line pointer of a row that is dead,
 * or newer than the snapshot, or not committed; never to the void, for vacuum
 * clears entries away before line pointers.
 *
 * The table is locked against vacuum and changes of its definition, not
 * against writing.  During recovery no such lock can be had, and the checks
 * that rely on the absence of vacuum are left out.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "index/hamming.h"
#include "index/hamming_check.h"

PG_FUNCTION_INFO_V1(hamming_index_check);

/* Complain of an entry or row; the detail has two %u, for its TID. */
static void
disagrees(HammingCheck *check, uint64 tid, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" does not agree with table \"%s\"",
					RelationGetRelationName(check->index),
					RelationGetRelationName(check->heap)),
			 errdetail(detail, (BlockNumber) (tid >> 16),
					   (OffsetNumber) (tid & 0xFFFF)),
			 errhint("Please REINDEX it.")));
}

/* Called for each row of the table. */
static void
note_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		 bool alive, void *state)
{
	HammingCheck *check = (HammingCheck *) state;
	const ShLayout *layout = check->layout;
	ShValue		value;
	int			word;

	(void) alive;
	if (!hamming_row(index, layout, values, isnull, &value))
		return;
	for (word = 0; word < layout->words; word++)
		hamming_sort_put(check->rows,
						 hamming_pack_tid(tid) * layout->words + word,
						 value.words[word]);
}

/* Does a TID that is no visible row's lead to a line pointer at least? */
static bool
leads_somewhere(HammingCheck *check, uint64 tid)
{
	BlockNumber blkno = tid >> 16;
	OffsetNumber offset = tid & 0xFFFF;
	Buffer		buffer;
	Page		page;
	bool		fine = false;

	if (check->heap->rd_rel->relam != HEAP_TABLE_AM_OID)
		return true;
	if (blkno >= RelationGetNumberOfBlocks(check->heap))
		return false;
	buffer = ReadBuffer(check->heap, blkno);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	if (offset >= FirstOffsetNumber && offset <= PageGetMaxOffsetNumber(page))
	{
		ItemId		iid = PageGetItemId(page, offset);

		fine = ItemIdIsUsed(iid);
		if (ItemIdIsNormal(iid))
		{
			HeapTupleHeader row = (HeapTupleHeader) PageGetItem(page, iid);

			fine = !HeapTupleHeaderIsHeapOnly(row);
		}
	}
	UnlockReleaseBuffer(buffer);
	return fine;
}

/*
 * Merge rows and entries.  A row comes word by word, and the entries of a row
 * in the order of their blocks.
 */
static void
compare(HammingCheck *check)
{
	const ShLayout *layout = check->layout;
	int			row_entries = hamming_row_entries(layout);
	HammingEntry row;
	HammingEntry entry;
	bool		more = hamming_sort_next(check->entries, &entry);
	uint64		last = PG_UINT64_MAX;

	while (hamming_sort_next(check->rows, &row))
	{
		uint64		row_tid = row.key / layout->words;
		int			word = row.key % layout->words;
		int			block;

		CHECK_FOR_INTERRUPTS();
		for (; more && (uint64) entry.key / row_entries < row_tid;
			 more = hamming_sort_next(check->entries, &entry))
		{
			uint64		tid = entry.key / row_entries;

			if (check->quiet && tid != last && !leads_somewhere(check, tid))
				disagrees(check, tid, "Row (%u,%u) has an entry but does not exist.");
			last = tid;
		}
		for (block = 0; block < layout->blocks; block++)
		{
			int64		place = row.key * layout->blocks + block;

			if (!more || entry.key != place)
				disagrees(check, row_tid, "Row (%u,%u) lacks an entry.");
			if (entry.tid != sh_entry(layout, row.tid, word, block))
				disagrees(check, row_tid,
						  "Row (%u,%u) has an entry of another fingerprint.");
			more = hamming_sort_next(check->entries, &entry);
			if (more && entry.key == place)
				disagrees(check, row_tid, "Row (%u,%u) has an entry twice.");
		}
	}
	for (; more; more = hamming_sort_next(check->entries, &entry))
	{
		uint64		tid = entry.key / row_entries;

		CHECK_FOR_INTERRUPTS();
		if (check->quiet && tid != last && !leads_somewhere(check, tid))
			disagrees(check, tid, "Row (%u,%u) has an entry but does not exist.");
		last = tid;
	}
}

/* Check pages, and rows if wanted. */
static void
run_check(HammingCheck *check, bool rows)
{
	IndexInfo  *info;
	Snapshot	snapshot;

	if (!rows)
	{
		hamming_check_pages(check);
		return;
	}
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	check->entries = hamming_sort_begin(maintenance_work_mem / 2);
	check->rows = hamming_sort_begin(maintenance_work_mem / 2);
	hamming_check_pages(check);

	/* A scan with a snapshot of its own is what the table does for this. */
	info = BuildIndexInfo(check->index);
	info->ii_Concurrent = true;
	table_index_build_scan(check->heap, check->index, info, true, false,
						   note_row, check,
						   simhash_table_beginscan(check->heap, snapshot, NULL));
	hamming_sort_perform(check->entries);
	hamming_sort_perform(check->rows);
	compare(check);
	hamming_sort_end(check->entries);
	hamming_sort_end(check->rows);
	UnregisterSnapshot(snapshot);
}

/*
 * hamming_index_check(index regclass, heapallindexed boolean) -> void
 *
 * Fails if the index is damaged.  With heapallindexed, also if a row lacks one
 * of its entries, or an entry its row.
 *
 * Index expressions are computed as the owner of the table, who wrote them.
 *
 * Errors: wrong_object_type for anything but a hamming index,
 * object_not_in_prerequisite_state for an invalid one, index_corrupted.
 */
Datum
hamming_index_check(PG_FUNCTION_ARGS)
{
	Oid			indexid = PG_GETARG_OID(0);
	bool		rows = PG_GETARG_BOOL(1);
	LOCKMODE	lock = RecoveryInProgress() ? AccessShareLock :
	ShareUpdateExclusiveLock;
	Oid			heapid = hamming_indexed_table(indexid);
	HammingCheck check = {0};
	Oid			user;
	int			context;
	int			level;

	check.heap = table_open(heapid, lock);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(check.heap->rd_rel->relowner,
						   context | SECURITY_RESTRICTED_OPERATION);
	level = NewGUCNestLevel();
	simhash_restrict_search_path();

	check.index = index_open(indexid, AccessShareLock);
	hamming_require_usable(check.index);
	check.layout = hamming_layout(check.index);
	check.quiet = lock == ShareUpdateExclusiveLock;
	run_check(&check, rows);

	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, context);
	index_close(check.index, AccessShareLock);
	table_close(check.heap, lock);
	PG_RETURN_VOID();
}
