/*-------------------------------------------------------------------------
 *
 * guard.h
 *		What the parts of simhash_guard() share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_H
#define SIMHASH_GUARD_H

#include "simhash.h"

#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "storage/itemptr.h"
#include "utils/rel.h"
#include "utils/snapshot.h"
#include "utils/reltrigger.h"

/* What to do about a near-duplicate. */
typedef enum GuardAction
{
	GUARD_REJECT,
	GUARD_SKIP,
	GUARD_MARK
} GuardAction;

/* A table to search, with the way to find rows in it. */
typedef struct GuardTable
{
	Oid			table;
	AttrNumber	column;			/* of the fingerprint */
	Oid			hamming_index;	/* or InvalidOid */
	Oid			key_indexes[SH_BLOCKS]; /* otherwise */
	bool		only_way;		/* all sessions search by that hamming index */
} GuardTable;

/* What is known of a trigger for the length of a statement. */
typedef struct Guard
{
	MemoryContext statement;	/* lives as long as the statement */
	MemoryContextCallback at_end;

	/* the trigger and its arguments */
	const char *name;
	GuardAction action;
	int			radius;
	bool		notice;			/* say so when a row is skipped */
	const ShProfile *profile;	/* of the document */

	/* columns of the table that it fires for; 0 for none */
	AttrNumber	column;			/* the fingerprint */
	AttrNumber	document;		/* what it is computed from */
	AttrNumber	mark;			/* what gets the key of the row duplicated */

	/* how to compute a generated fingerprint, or NULL */
	ExprState  *source;
	ExprContext *econtext;
	TupleTableSlot *slot;

	/* the table that the trigger was made for, and what is locked there */
	Oid			root;
	AttrNumber	root_column;	/* the fingerprint */
	int			lock_radius;	/* the largest of all guards of the column */

	/* where to search, and how */
	int			ntables;
	GuardTable *tables;
	GuardTable *own;			/* the one that it fires for */
	Oid			ball_type;		/* the type hamming_ball */
} Guard;

/* The nearest row whose fate is known: committed, or our own. */
typedef struct GuardMatch
{
	int			distance;		/* -1 when there is none */
	Oid			table;
	TupleTableSlot *slot;		/* the row itself */
} GuardMatch;

/*
 * The nearest row that depends on a transaction in progress, or on one that
 * has ended while we searched.
 */
typedef struct GuardPending
{
	int			distance;		/* -1 when there is none */
	Oid			table;
	ItemPointerData tid;
	TransactionId xid;			/* invalid if it has ended */
	uint32		token;			/* of a speculative insertion, or 0 */
} GuardPending;

/* A search, and what it finds. */
typedef struct GuardSearch
{
	SimhashBall ball;
	ItemPointer self;			/* the row that is updated, or NULL */
	int			enough;			/* a match so near ends the search */
	Snapshot	before;			/* taken when the search began */
	GuardMatch	match;
	GuardPending pending;
} GuardSearch;

/* guard_bind.c */
extern Guard *simhash_guard_bind(Relation relation, Trigger *trigger,
								 MemoryContext statement);

/* guard_lock.c */
extern void simhash_guard_next_row(const Guard *guard);
extern void simhash_guard_lock(const Guard *guard, uint64 fingerprint);
extern void simhash_guard_unlock(void);
extern void simhash_guard_end_statement(void *guard);

/* guard_search.c */
extern void simhash_guard_find_index(Relation relation, AttrNumber column,
									 Oid root, GuardTable *table);
extern void simhash_guard_search(const Guard *guard, GuardSearch *search);
extern void simhash_guard_wait(GuardPending *pending);

#endif							/* SIMHASH_GUARD_H */
