/*-------------------------------------------------------------------------
 *
 * guard_key.h
 *		Rows that cannot stay beside the row that is inserted.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_KEY_H
#define SIMHASH_GUARD_KEY_H

#include "guard/guard_group.h"

#include "access/htup.h"
#include "executor/tuptable.h"

/* Columns that no two rows have equal. */
typedef struct GuardKey
{
	int			ncolumns;
	AttrNumber	columns[INDEX_MAX_KEYS];	/* in the guard's table */
	GuardEquality equalities[INDEX_MAX_KEYS];
} GuardKey;

/* What has come of locking a row, to keep its key as it is. */
typedef enum GuardHold
{
	GUARD_HELD,
	GUARD_HELD_BY_OTHERS,		/* the row is locked by another transaction */
	GUARD_CHANGED				/* the row is no longer what it was */
} GuardHold;

/* guard_key.c */
extern List *simhash_guard_find_keys(Relation root, Relation relation,
									 List *except, AttrNumber mark,
									 bool *found);
extern bool simhash_guard_same_key(List *keys, HeapTuple inserted,
								   TupleTableSlot *slot);
extern GuardHold simhash_guard_hold_key(Relation relation, ItemPointer tid,
										bool wait);

#endif							/* SIMHASH_GUARD_KEY_H */
