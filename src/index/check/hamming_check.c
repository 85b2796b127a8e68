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
#include "index/check/hamming_check.h"

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
	int64		place = hamming_pack_tid(tid) *
	hamming_check_places(layout->words);
	ShValue		value;

	(void) alive;
	if (!hamming_row(index, &check->state, values, isnull, &value))
		hamming_sort_put(check->rows, place + layout->words, 0);
	else
		for (int word = 0; word < layout->words; word++)
			hamming_sort_put(check->rows, place + word, value.words[word]);
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

/* How far the entries have been read. */
typedef struct HammingMerge
{
	bool		more;
	HammingEntry entry;
	uint64		last;			/* the row of the one before that was of none */
} HammingMerge;

/* The row of the entry at hand. */
static inline uint64
entry_row(const HammingCheck *check, const HammingMerge *merge)
{
	return (uint64) merge->entry.key /
		hamming_check_places(hamming_row_entries(check->layout));
}

/* Pass by the entries of rows before one that the snapshot sees. */
static void
pass_by(HammingCheck *check, HammingMerge *merge, uint64 row)
{
	for (; merge->more && entry_row(check, merge) < row;
		 merge->more = hamming_sort_next(check->entries, &merge->entry))
	{
		uint64		tid = entry_row(check, merge);

		CHECK_FOR_INTERRUPTS();
		if (check->quiet && tid != merge->last && !leads_somewhere(check, tid))
			disagrees(check, tid, "Row (%u,%u) has an entry but does not exist.");
		merge->last = tid;
	}
}

/* See that the entry at hand is the one that a row has to have next. */
static void
expect(HammingCheck *check, HammingMerge *merge, uint64 row, int number,
	   uint64 value)
{
	int64		place = row *
	hamming_check_places(hamming_row_entries(check->layout)) + number;

	if (!merge->more || merge->entry.key != place)
		disagrees(check, row, "Row (%u,%u) lacks an entry.");
	if (merge->entry.tid != value)
		disagrees(check, row,
				  "Row (%u,%u) has an entry of another fingerprint.");
	merge->more = hamming_sort_next(check->entries, &merge->entry);
	if (merge->more && merge->entry.key == place)
		disagrees(check, row, "Row (%u,%u) has an entry twice.");
}

/*
 * Merge rows and entries.  A row comes word by word, and the entries of a row
 * in the order of their blocks; that of NULL comes behind them, and so does a
 * row without a fingerprint.
 */
static void
compare(HammingCheck *check)
{
	const ShLayout *layout = check->layout;
	HammingMerge merge = {.last = PG_UINT64_MAX};
	HammingEntry row;

	merge.more = hamming_sort_next(check->entries, &merge.entry);
	while (hamming_sort_next(check->rows, &row))
	{
		uint64		tid = row.key / hamming_check_places(layout->words);
		int			word = row.key % hamming_check_places(layout->words);

		CHECK_FOR_INTERRUPTS();
		pass_by(check, &merge, tid);
		if (word == layout->words)
			expect(check, &merge, tid, hamming_row_entries(layout), 0);
		else
			for (int block = 0; block < layout->blocks; block++)
				expect(check, &merge, tid, word * layout->blocks + block,
					   sh_entry(layout, row.tid, word, block));
		if (word >= layout->words - 1 && merge.more &&
			entry_row(check, &merge) == tid)
			disagrees(check, tid,
					  "Row (%u,%u) has an entry of another fingerprint.");
	}
	pass_by(check, &merge, PG_UINT64_MAX);
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
						   simhash_table_beginscan(check->heap, snapshot));
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
 * Errors: wrong_object_type for anything but a hamming index, undefined_object
 * for one that is dropped meanwhile,
 * object_not_in_prerequisite_state for an invalid one, index_corrupted.
 */
Datum
hamming_index_check(PG_FUNCTION_ARGS)
{
	Oid			indexid = PG_GETARG_OID(0);
	bool		rows = PG_GETARG_BOOL(1);
	LOCKMODE	lock = RecoveryInProgress() ? AccessShareLock :
	ShareUpdateExclusiveLock;
	HammingCheck check = {0};
	Oid			user;
	int			context;
	int			level;

	check.index = hamming_open_index(indexid, lock, &check.heap);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(check.heap->rd_rel->relowner,
						   context | SECURITY_RESTRICTED_OPERATION);
	level = NewGUCNestLevel();
	simhash_restrict_search_path();

	hamming_require_usable(check.index);
	hamming_init_state(check.index, &check.state);
	check.layout = check.state.layout;
	check.quiet = lock == ShareUpdateExclusiveLock;
	run_check(&check, rows);

	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, context);
	index_close(check.index, AccessShareLock);
	table_close(check.heap, lock);
	PG_RETURN_VOID();
}
