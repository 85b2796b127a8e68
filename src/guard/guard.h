/*-------------------------------------------------------------------------
 *
 * guard.h
 *		simhash_guard(): rows are kept from being near-duplicates of others, as they
 *		come.
 *
 * guard_options.c reads the arguments, src/near looks for the nearest row, and
 * guard_trigger.c waits for transactions that decide on it.  Then guard_action.c
 * rejects, skips or marks the row, or leaves it to ON CONFLICT.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_H
#define SIMHASH_GUARD_H

#include "near/near.h"

/* What to do about a near-duplicate. */
typedef enum GuardAction
{
	GUARD_REJECT,
	GUARD_SKIP,
	GUARD_MARK,
	GUARD_CONFLICT
} GuardAction;

/* The arguments of a trigger, in columns of the table that it was made for. */
typedef struct GuardArguments
{
	NearTerms	terms;
	GuardAction action;
	bool		notice;			/* say so when a row is skipped */
	SimhashMeasure fill;		/* estimated by the fingerprints that the
								 * trigger fills in; SIMHASH_NO_MEASURE if it
								 * does not */
	List	   *apart;			/* tables of pairs that are none */
	AttrNumber	mark;			/* what gets the key of the row duplicated */
	const char *excepted;		/* what the option "except" names, or NULL */
	List	   *except;			/* the columns of a unique key that these are */
} GuardArguments;

/* The trigger of one table. */
typedef struct GuardTrigger
{
	NearTrigger near;
	GuardArguments arguments;	/* in columns of that table */
	NearApart	apart;
	List	   *keys;			/* of an inserted row; see guard_key.c */
	Datum		original;		/* the mark of the row at hand, by
								 * guard_mark.c */
	bool		conflicts;		/* the row at hand, with the one found */
} GuardTrigger;

/* guard_trigger.c */
extern PGDLLEXPORT Datum simhash_guard(PG_FUNCTION_ARGS);

/* guard_options.c */
extern GuardArguments *simhash_guard_read_arguments(Relation root,
													const Trigger *trigger);
extern void simhash_guard_bind_locks(NearStatement *statement,
									 Relation root, const Trigger *trigger);

/* guard_key.c */
extern List *simhash_guard_find_keys(const GuardTrigger *guard,
									 Relation relation, const AttrMap *map);
extern bool simhash_guard_key_is_there(List *keys, Relation relation,
									   HeapTuple row, bool wait);
extern bool simhash_guard_find_key(Relation relation, Oid type, Datum value,
								   NearPending *pending);

/* guard_action.c */
extern bool simhash_guard_may_conflict(const GuardTrigger *guard,
									   const TriggerData *data);
extern HeapTuple simhash_guard_act(GuardTrigger *guard, TriggerData *data,
								   HeapTuple row, bool moved);

/* guard_mark.c */
extern bool simhash_guard_find_original(GuardTrigger *guard, const TriggerData *data,
										HeapTuple row);
extern HeapTuple simhash_guard_keep_mark(const GuardTrigger *guard,
										 const TriggerData *data,
										 HeapTuple row);

/* guard_fill.c */
extern HeapTuple simhash_guard_fill(const GuardTrigger *guard,
									const TriggerData *data, HeapTuple row);

#endif							/* SIMHASH_GUARD_H */
