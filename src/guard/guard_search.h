/*-------------------------------------------------------------------------
 *
 * guard_search.h
 *		The search for rows near the one at hand.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_SEARCH_H
#define SIMHASH_GUARD_SEARCH_H

#include "guard/guard_space.h"

#include "executor/tuptable.h"
#include "storage/itemptr.h"
#include "utils/snapshot.h"

/* The nearest row whose fate is known: committed, or our own. */
typedef struct GuardMatch
{
	int			distance;		/* -1 when there is none */
	const GuardTable *table;
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
	bool		locked;			/* by others, who may change its key */
} GuardPending;

/*
 * Is shown every row near ours, in place of the nearest being kept.  A
 * transaction in progress may have inserted it.
 */
typedef struct GuardSearch GuardSearch;
typedef void (*GuardVisitor) (void *visitor, const GuardTable *table,
							  TupleTableSlot *slot,
							  const GuardPending *pending);

/* What to compare a row with that has no document; NULL for nothing. */
typedef text *(*GuardStandIn) (void *visitor, TupleTableSlot *slot);

/* A row, the search for others near it, and what that finds. */
struct GuardSearch
{
	/* what is sought */
	GuardSpace *space;
	Oid			table;			/* that the row goes to */
	GuardFingerprint center;
	Datum		center_value;	/* the same, as a value of SQL */
	const Datum *group;			/* its values */
	text	   *document;		/* if documents are compared; NULL for none */
	ItemPointer self;			/* the row that is updated, or NULL */
	HeapTuple	inserted;		/* the row that is inserted, or NULL */
	List	   *keys;			/* of GuardKey: a row of the same is passed
								 * over */
	int			enough;			/* a match so near ends the search */
	GuardVisitor visit;			/* or NULL */
	GuardStandIn stand_in;		/* or NULL */
	void	   *visitor;
	bool		moving;			/* take in rows that our statement deletes */

	/* by what it sees rows */
	SnapshotData before;		/* a copy of one taken when the search began */
	SnapshotData dirty;

	/* what is found */
	GuardMatch	match;
	GuardPending pending;
	bool		changed;		/* a row that was to be visited was */
};

/* guard_search.c */
extern void simhash_guard_search(GuardSearch *search, const GuardScope *scope);
extern void simhash_guard_wait(GuardPending *pending);
extern void simhash_guard_forget_match(GuardSearch *search);

#endif							/* SIMHASH_GUARD_SEARCH_H */
