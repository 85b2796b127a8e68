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
#include "index/hamming.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_proc.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "index/build/hamming_sort.h"
#include "relation.h"

PG_FUNCTION_INFO_V1(hamming_index_check);

typedef struct HammingCheck
{
	/* stays */
	Relation	heap;
	Relation	index;
	HammingIndexState state;
	bool		quiet;			/* vacuum is kept out */
	int			places;			/* that a row takes in the sorts: one for each
								 * entry, and one for that of NULL */

	/* moves */
	HammingSort *rows;			/* the entries that the table asks for, */
	HammingSort *entries;		/* and those of the index, */
	HammingEntry entry;			/* of which this is the next, */
	bool		more;			/* if there is one */
} HammingCheck;

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
	int64		place = hamming_pack_tid(tid) * check->places;
	uint64		entries[HAMMING_MOST_ENTRIES];
	int			count = hamming_row(index, &check->state, values, isnull,
									entries);

	(void) alive;
	for (int i = 0; i < count; i++)
		hamming_sort_put(check->rows, place + i, entries[i]);
	if (count == 0)
		hamming_sort_put(check->rows, place + check->places - 1, 0);
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

/* The row that the entry at hand is of. */
static inline uint64
entry_row(const HammingCheck *check)
{
	return (uint64) check->entry.key / check->places;
}

/* Turn to the next entry of the index. */
static void
advance_entry(HammingCheck *check)
{
	check->more = hamming_sort_next(check->entries, &check->entry);
}

/*
 * Pass by the entries of rows before one that the snapshot sees, "last" being
 * the one that it saw before.
 */
static void
pass_by(HammingCheck *check, uint64 row, uint64 last)
{
	uint64		known = last;

	for (; check->more && entry_row(check) < row;
		 advance_entry(check))
	{
		uint64		tid = entry_row(check);

		CHECK_FOR_INTERRUPTS();
		if (tid == last)
			disagrees(check, tid,
					  "Row (%u,%u) has an entry of another fingerprint.");
		if (check->quiet && tid != known && !leads_somewhere(check, tid))
			disagrees(check, tid, "Row (%u,%u) has an entry but does not exist.");
		known = tid;
	}
}

/* Merge the entries that rows ask for with those of the index. */
static void
merge_entries(HammingCheck *check)
{
	uint64		last = PG_UINT64_MAX;
	HammingEntry row;

	advance_entry(check);
	while (hamming_sort_next(check->rows, &row))
	{
		uint64		tid = row.key / check->places;

		CHECK_FOR_INTERRUPTS();
		pass_by(check, tid, last);
		if (!check->more || check->entry.key != row.key)
			disagrees(check, tid, "Row (%u,%u) lacks an entry.");
		if (check->entry.tid != row.tid)
			disagrees(check, tid,
					  "Row (%u,%u) has an entry of another fingerprint.");
		advance_entry(check);
		if (check->more && check->entry.key == row.key)
			disagrees(check, tid, "Row (%u,%u) has an entry twice.");
		last = tid;
	}
	pass_by(check, PG_UINT64_MAX, last);
}

/* Check pages, and rows if wanted. */
static void
run_check(HammingCheck *check, bool rows)
{
	IndexInfo  *info;
	Snapshot	snapshot = NULL;

	if (rows)
	{
		snapshot = RegisterSnapshot(GetLatestSnapshot());
		check->entries = hamming_sort_begin(maintenance_work_mem / 2);
		check->rows = hamming_sort_begin(maintenance_work_mem / 2);
	}
	hamming_check_pages(check->index, check->state.layout, check->quiet,
						check->entries);
	if (!rows)
		return;

	/* A scan with a snapshot of its own is what the table does for this. */
	info = BuildIndexInfo(check->index);
	info->ii_Concurrent = true;
	table_index_build_scan(check->heap, check->index, info, true, false,
						   note_row, check,
						   simhash_table_beginscan(check->heap, snapshot));
	hamming_sort_perform(check->entries);
	hamming_sort_perform(check->rows);
	merge_entries(check);
	hamming_sort_end(check->entries);
	hamming_sort_end(check->rows);
	UnregisterSnapshot(snapshot);
}

/*
 * Fail unless the user owns the index, or has been granted the function by name: it
 * keeps vacuum out of a table.  Everybody may call it otherwise, or an owner would be
 * refused without a word on what to do.
 */
static void
check_right(Oid index, Oid function)
{
	Oid			user = GetUserId();
	HeapTuple	row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		may = simhash_owns_relation(index, user);
	const Acl  *granted = NULL;

	/* Somebody may have dropped it since it was looked up. */
	if (HeapTupleIsValid(row))
	{
		bool		isnull;
		Datum		value = SysCacheGetAttr(PROCOID, row, Anum_pg_proc_proacl, &isnull);

		may |= has_privs_of_role(user, ((Form_pg_proc) GETSTRUCT(row))->proowner);
		granted = isnull ? NULL : DatumGetAclP(value);
	}
	for (int i = 0; granted != NULL && i < ACL_NUM(granted); i++)
	{
		const AclItem *item = &ACL_DAT(granted)[i];

		may |= item->ai_grantee != ACL_ID_PUBLIC &&
			(ACLITEM_GET_PRIVS(*item) & ACL_EXECUTE) != 0 &&
			has_privs_of_role(user, item->ai_grantee);
	}
	if (HeapTupleIsValid(row))
		ReleaseSysCache(row);
	if (!may)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for function hamming_index_check"),
				 errdetail("Index \"%s\" is not yours.", get_rel_name(index)),
				 errhint("Call it as the owner of the index, or have EXECUTE on it granted to you by name.")));
}

/*
 * hamming_index_check(index regclass, heapallindexed boolean) -> void
 *
 * Fails if the index is damaged.  With heapallindexed, also if a row lacks one
 * of its entries, or an entry its row.
 *
 * Index expressions are computed as the owner of the table, who wrote them.
 *
 * Errors: insufficient_privilege for others than its owner and those who have been
 * granted it, wrong_object_type for anything but a hamming index, undefined_object
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
	SimhashRole before;

	check_right(indexid, fcinfo->flinfo->fn_oid);
	check.index = hamming_open_index(indexid, lock, &check.heap);
	before = simhash_become(check.heap->rd_rel->relowner, SECURITY_RESTRICTED_OPERATION);
	RestrictSearchPath();

	hamming_require_usable(check.index);
	hamming_init_state(check.index, &check.state);
	check.places = hamming_row_entries(check.state.layout) + 1;
	check.quiet = lock == ShareUpdateExclusiveLock;
	run_check(&check, rows);

	simhash_become_again(&before);
	index_close(check.index, AccessShareLock);
	table_close(check.heap, lock);
	PG_RETURN_VOID();
}
