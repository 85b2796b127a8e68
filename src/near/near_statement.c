/*-------------------------------------------------------------------------
 *
 * near_statement.c
 *		What the guards of one trigger share while a statement runs, and how
 *		it comes to its end.
 *
 * A statement that inserts into a partitioned table calls the trigger of each
 * partition that gets a row.  They share what is known of the tables to search
 * (see near_space.c), and the locks of the row that was looked at last (see
 * near_lock.c).
 *
 * The locks of a row must be released when the row is done with, however that
 * comes about:
 *
 * - All is well.  The server calls a trigger in a memory context that it resets
 *	 before the next row, and frees at the end of the statement: what a trigger
 *	 returns lies there, and is needed until the row is in all indexes.  A
 *	 callback of that memory context releases the locks, if the index has not
 *	 told of the row sooner (note_inserted).
 *
 * - It fails, and its subtransaction is rolled back.  The memory may outlive
 *	 that: it belongs to a cursor that was opened before the savepoint, say, or
 *	 to a function in SQL that an expression of PL/pgSQL calls.  So the locks
 *	 are released as the subtransaction ends.
 *
 * - It fails, and takes the transaction with it.  The server releases the
 *	 locks, and we forget them.
 *
 * What is known of the statement lies in fn_mcxt, as whatever a function keeps
 * between its calls.  That may outlive the statement: COPY has it lie in the
 * portal, or in the function that runs it.  So a statement is known by its
 * command id as well, that of its snapshot.  No two statements of a memory
 * context that change anything have the same, and no statement has that of one
 * that it calls: before each of these the command id is incremented.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "utils/inval.h"
#include "utils/memutils.h"

#include "index/hamming.h"

/* All statements with guards at work, as far as their memory is there. */
static List *statements = NIL;

/*
 * A trigger of which near_moved.c has found that it fires alike in all
 * partitions; forgotten when any table changes.
 */
Oid			simhash_near_fires_alike = InvalidOid;

/* The statement's memory is about to be freed. */
static void
end_statement(void *arg)
{
	statements = list_delete_ptr(statements, arg);
}

/* The memory of a row is about to be reset, or freed. */
static void
end_guarded_row(void *arg)
{
	NearStatement *statement = arg;

	simhash_near_unlock(&statement->locks);
	statement->moved.valid = false;
}

/*
 * Have the locks of the row for which the trigger is called released, and what
 * is known of its update forgotten, when it is done with.  To be called in the
 * memory context that the trigger is called in.
 */
void
simhash_near_begin_row(NearStatement *statement)
{
	MemoryContextCallback *callback = palloc(sizeof *callback);

	callback->func = end_guarded_row;
	callback->arg = statement;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
}

/*
 * A subtransaction ends.  If it is rolled back, so are the statements that run
 * in it or in subtransactions of it, whose numbers are higher.
 */
static void
end_guards_subxact(SubXactEvent event, SubTransactionId subxact,
				   SubTransactionId parent, void *arg)
{
	ListCell   *lc;

	(void) parent;
	(void) arg;
	if (event != SUBXACT_EVENT_ABORT_SUB)
		return;
	foreach(lc, statements)
	{
		NearStatement *statement = lfirst(lc);

		if (statement->subxact < subxact)
			continue;
		simhash_near_unlock(&statement->locks);
		statement->moved.valid = false;
		statement->space.stale = true;	/* as locks on tables have gone, too */
	}
}

/* A transaction ends.  If it is rolled back, all locks go with it. */
static void
end_guards_xact(XactEvent event, void *arg)
{
	ListCell   *lc;

	(void) arg;
	if (event != XACT_EVENT_ABORT)
		return;
	foreach(lc, statements)
	{
		NearStatement *statement = lfirst(lc);

		statement->locks.nheld = 0;
		statement->locks.waiting = false;
	}
}

/* Something has changed about a table, or any number of them. */
static void
note_change(Datum arg, Oid table)
{
	ListCell   *lc;

	(void) arg;
	simhash_near_fires_alike = InvalidOid;
	foreach(lc, statements)
	{
		NearSpace  *space = &((NearStatement *) lfirst(lc))->space;

		if (!OidIsValid(table) || space->watched == NIL ||
			list_member_oid(space->watched, table))
			space->stale = true;
	}
}

/*
 * The statement that runs, in that memory context, for a trigger that is no
 * clone.  The first to ask gets one that has no terms yet.
 */
NearStatement *
simhash_near_statement(MemoryContext context, Oid trigger)
{
	CommandId	command = GetActiveSnapshot()->curcid;
	NearStatement *statement;
	MemoryContext old;
	ListCell   *lc;

	foreach(lc, statements)
	{
		statement = lfirst(lc);
		if (statement->context == context && statement->command == command &&
			statement->trigger == trigger)
			return statement;
	}
	statement = MemoryContextAllocZero(context, sizeof *statement);
	statement->context = context;
	statement->command = command;
	statement->subxact = GetCurrentSubTransactionId();
	statement->trigger = trigger;
	statement->at_end.func = end_statement;
	statement->at_end.arg = statement;
	old = MemoryContextSwitchTo(TopMemoryContext);
	statements = lappend(statements, statement);
	MemoryContextSwitchTo(old);
	MemoryContextRegisterResetCallback(context, &statement->at_end);
	return statement;
}

/*
 * Copy the header of a row, without its bitmap of NULLs; false if none is at
 * that place, or the table is no heap.
 */
bool
simhash_near_read_header(Relation heap, ItemPointer tid,
						 HeapTupleHeader header)
{
	OffsetNumber offset = ItemPointerGetOffsetNumber(tid);
	Buffer		buffer;
	Page		page;
	bool		found;

	if (heap->rd_rel->relam != HEAP_TABLE_AM_OID)
		return false;
	buffer = ReadBuffer(heap, ItemPointerGetBlockNumber(tid));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	found = offset <= PageGetMaxOffsetNumber(page) &&
		ItemIdIsNormal(PageGetItemId(page, offset));
	if (found)
		memcpy(header, PageGetItem(page, PageGetItemId(page, offset)),
			   SizeofHeapTupleHeader);
	UnlockReleaseBuffer(buffer);
	return found;
}

/*
 * Has the transaction that has inserted a row deleted it again?  Not another
 * subtransaction of it: so whatever becomes of that, nobody will ever see the row.  One
 * that it has replaced is not undone: the index may not have come to the new version.
 */
bool
simhash_near_is_undone(Relation heap, ItemPointer tid)
{
	HeapTupleHeaderData header;

	return simhash_near_read_header(heap, tid, &header) &&
		(header.t_infomask & (HEAP_XMAX_INVALID | HEAP_XMAX_IS_MULTI)) == 0 &&
		!HEAP_XMAX_IS_LOCKED_ONLY(header.t_infomask) &&
		ItemPointerEquals(&header.t_ctid, tid) &&
		TransactionIdEquals(HeapTupleHeaderGetRawXmax(&header),
							HeapTupleHeaderGetRawXmin(&header));
}

/*
 * The hamming index has taken in a row: if it is the one that a guard let
 * pass, its locks have served their purpose.  A trigger or a constraint of our
 * row may insert one of the same fingerprint before it, but by a statement of
 * its own, which has another command id.  One that is inserted on trial, by
 * INSERT ... ON CONFLICT, may be taken out again; in a table that is no heap
 * each counts as one.
 */
static void
note_inserted(Relation heap, Oid index, Datum value, ItemPointer tid)
{
	ListCell   *lc;

	if (simhash_near_loading != NULL)
		simhash_near_note_inserted(index, value);
	foreach(lc, statements)
	{
		NearStatement *statement = lfirst(lc);
		NearFingerprint fingerprint;
		HeapTupleHeaderData header;

		if (statement->locks.nheld == 0 || statement->locks.index != index ||
			statement->command != GetActiveSnapshot()->curcid)
			continue;
		fingerprint = simhash_near_fingerprint(&statement->space.terms.type,
											   value);
		if (simhash_near_distance(&fingerprint,
								  &statement->locks.fingerprint) == 0 &&
			simhash_near_read_header(heap, tid, &header) &&
			!HeapTupleHeaderIsSpeculative(&header))
			simhash_near_unlock(&statement->locks);
	}
}

/* Have the server and the hamming indexes call the functions above. */
void
simhash_near_init(void)
{
	RegisterSubXactCallback(end_guards_subxact, NULL);
	RegisterXactCallback(end_guards_xact, NULL);
	CacheRegisterRelcacheCallback(note_change, (Datum) 0);
	hamming_inserted_hook = note_inserted;
}
