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
#include "storage/itemptr.h"
#include "utils/rel.h"

/* A table to search, with the way to find rows in it. */
typedef struct GuardTable
{
	Oid			table;
	AttrNumber	column;			/* of the fingerprint */
	Oid			ball_type;		/* the type hamming_ball */
	Oid			hamming_index;	/* or InvalidOid */
	Oid			key_indexes[SH_BLOCKS]; /* otherwise */
} GuardTable;

/* A row found: the nearest so far. */
typedef struct GuardMatch
{
	int			distance;		/* -1 when none has been found */
	Oid			table;
	TupleTableSlot *slot;		/* the row itself */
} GuardMatch;

/* guard_lock.c */
extern void simhash_guard_lock(Oid root, const char *trigger,
							   AttrNumber column, uint64 fingerprint,
							   int radius);
extern void simhash_guard_unlock(void);
extern void simhash_guard_end_statement(void *arg);

/* guard_search.c */
extern void simhash_guard_find_index(Relation relation, AttrNumber column,
									 Oid ball_type, Oid root,
									 GuardTable *table);
extern bool simhash_guard_search(const GuardTable *table,
								 const SimhashBall *ball, ItemPointer self,
								 GuardMatch *match);
extern void simhash_guard_forget(GuardMatch *match);

#endif							/* SIMHASH_GUARD_H */
