/*-------------------------------------------------------------------------
 *
 * guard_statement.h
 *		What the triggers of one statement share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_STATEMENT_H
#define SIMHASH_GUARD_STATEMENT_H

#include "guard/guard_lock.h"
#include "guard/guard_space.h"

#include "access/htup_details.h"
#include "storage/itemptr.h"

/*
 * The row that was updated last, and what the update made of it, as long as the
 * memory of that row is there; see guard_moved.c.
 */
typedef struct GuardMoved
{
	bool		valid;
	Oid			table;			/* where its old version is */
	ItemPointerData tid;
	bool		compared;		/* it has a fingerprint and a group */
	GuardFingerprint fingerprint;	/* its width is 0 for none */
	Datum	   *group;			/* the values of its columns */
	text	   *document;		/* if it is compared, or fills; NULL for none */
	int64		cluster;
} GuardMoved;

/*
 * A trigger at work in a statement.  On a partitioned table it is a trigger of
 * each partition, with a Guard for each that gets rows; they share this.
 */
typedef struct GuardStatement
{
	MemoryContext context;		/* lives at least as long as the statement */
	CommandId	command;		/* tells it from others in that context, and
								 * from those that it calls */
	MemoryContextCallback at_end;
	SubTransactionId subxact;	/* that the statement runs in */
	Oid			trigger;		/* that was made, no clone */
	void	   *terms;			/* the trigger's own; NULL before it was bound */
	GuardSpace	space;
	GuardLocks	locks;
	GuardMoved	moved;
} GuardStatement;

/* guard_statement.c */
extern void simhash_guard_init(void);
extern GuardStatement *simhash_guard_statement(MemoryContext context,
											   Oid trigger);
extern void simhash_guard_begin_row(GuardStatement *statement);
extern bool simhash_guard_read_header(Relation heap, ItemPointer tid,
									  HeapTupleHeader header);
extern bool simhash_guard_known_alike(Oid trigger);
extern void simhash_guard_note_alike(Oid trigger);

#endif							/* SIMHASH_GUARD_STATEMENT_H */
