/*-------------------------------------------------------------------------
 *
 * guard_statement.c
 *		What the guards of one trigger share while a statement runs, and how
 *		it comes to its end.
 *
 * A statement that inserts into a partitioned table calls the trigger of each
 * partition that gets a row.  They share what is known of the tables to search
 * (see guard_tables.c), and the locks of the row that was looked at last (see
 * guard_lock.c).
 *
 * The locks must be released when the statement is over, however that comes
 * about:
 *
 * - It ends well.  The executor frees the memory of the statement, and a
 *	 callback of that memory context releases the locks.
 *
 * - It fails, and its subtransaction is rolled back.  The memory may outlive
 *	 that: it belongs to a cursor that was opened before the savepoint, say, or
 *	 to a function in SQL that an expression of PL/pgSQL calls.  So the locks
 *	 are released as the subtransaction ends.
 *
 * - It fails, and takes the transaction with it.  The server releases the
 *	 locks, and we forget them.
 *
 * A statement is known by the address of its memory context.  It leaves the
 * list below before that memory is freed, so the address cannot be that of an
 * older statement whose memory was used again.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard.h"

#include "access/xact.h"
#include "utils/inval.h"
#include "utils/memutils.h"

/* All statements with guards at work, as far as their memory is there. */
dlist_head	simhash_guard_statements =
DLIST_STATIC_INIT(simhash_guard_statements);

/* The statement's memory is about to be freed. */
static void
end_statement(void *arg)
{
	GuardStatement *statement = arg;

	dlist_delete(&statement->node);
	simhash_guard_unlock(statement);
}

/*
 * A subtransaction ends.  If it is rolled back, so are the statements that run
 * in it or in subtransactions of it, whose numbers are higher.
 */
static void
end_subxact(SubXactEvent event, SubTransactionId subxact,
			SubTransactionId parent, void *arg)
{
	dlist_iter	iter;

	(void) parent;
	(void) arg;
	if (event != SUBXACT_EVENT_ABORT_SUB)
		return;
	dlist_foreach(iter, &simhash_guard_statements)
	{
		GuardStatement *statement =
		dlist_container(GuardStatement, node, iter.cur);

		if (statement->subxact >= subxact)
			simhash_guard_unlock(statement);
	}
}

/* A transaction ends.  If it is rolled back, all locks go with it. */
static void
end_xact(XactEvent event, void *arg)
{
	dlist_iter	iter;

	(void) arg;
	if (event != XACT_EVENT_ABORT)
		return;
	dlist_foreach(iter, &simhash_guard_statements)
	{
		GuardStatement *statement =
		dlist_container(GuardStatement, node, iter.cur);

		statement->row.nheld = 0;
		statement->row.waiting = false;
	}
}

/* Something has changed about a table, or any number of them. */
static void
note_change(Datum arg, Oid table)
{
	dlist_iter	iter;

	(void) arg;
	dlist_foreach(iter, &simhash_guard_statements)
	{
		GuardStatement *statement =
		dlist_container(GuardStatement, node, iter.cur);

		if (!OidIsValid(table) || statement->watched == NIL ||
			list_member_oid(statement->watched, table))
			statement->stale = true;
	}
}

/* Have the functions above called, once in a session. */
static void
register_callbacks(void)
{
	static bool registered = false;

	if (registered)
		return;
	RegisterSubXactCallback(end_subxact, NULL);
	RegisterXactCallback(end_xact, NULL);
	CacheRegisterRelcacheCallback(note_change, (Datum) 0);
	registered = true;
}

/*
 * The statement of a memory context, as the trigger of that name has it, which
 * was made for the root.  The first to ask gets one without column.
 */
GuardStatement *
simhash_guard_statement(MemoryContext context, Oid root, const char *name)
{
	GuardStatement *statement;
	dlist_iter	iter;

	register_callbacks();
	dlist_foreach(iter, &simhash_guard_statements)
	{
		statement = dlist_container(GuardStatement, node, iter.cur);
		if (statement->context == context && statement->root == root &&
			strcmp(statement->name, name) == 0)
			return statement;
	}
	statement = MemoryContextAllocZero(context, sizeof *statement);
	statement->context = context;
	statement->subxact = GetCurrentSubTransactionId();
	statement->root = root;
	statement->name = MemoryContextStrdup(context, name);
	statement->stale = true;
	statement->tables_context =
		AllocSetContextCreate(context, "simhash_guard tables",
							  ALLOCSET_SMALL_SIZES);
	statement->at_end.func = end_statement;
	statement->at_end.arg = statement;
	dlist_push_tail(&simhash_guard_statements, &statement->node);
	MemoryContextRegisterResetCallback(context, &statement->at_end);
	return statement;
}
