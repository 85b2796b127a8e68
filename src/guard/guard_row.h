/*-------------------------------------------------------------------------
 *
 * guard_row.h
 *		The row that a trigger is called for.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_ROW_H
#define SIMHASH_GUARD_ROW_H

#include "guard/guard_search.h"
#include "guard/guard_statement.h"

#include "commands/trigger.h"
#include "nodes/execnodes.h"
#include "utils/reltrigger.h"

/* A trigger that is no clone, and its table. */
typedef struct GuardOrigin
{
	Oid			table;
	Oid			trigger;
} GuardOrigin;

/* A column, and how to compute it for a row that is not stored yet. */
typedef struct GuardSource
{
	AttrNumber	column;
	ExprState  *expression;		/* NULL unless it is generated */
} GuardSource;

/* How the row of a call is to be compared with others. */
typedef enum GuardNeed
{
	GUARD_COMPARE,
	GUARD_NONE_NEAR,			/* no row can be near it */
	GUARD_AS_BEFORE				/* an update changes nothing about that */
} GuardNeed;

/* What is known of the trigger of one table for the length of a statement. */
typedef struct Guard
{
	/* what stays */
	const char *name;			/* of the trigger */
	GuardStatement *statement;
	Oid			table;			/* that it fires for */
	GuardTerms	terms;			/* in columns of that */
	GuardSource fingerprint;
	GuardSource *group;
	ExprContext *econtext;		/* to compute generated columns */
	TupleTableSlot *slot;

	/* the row at hand */
	GuardNeed	need;
	GuardSearch search;			/* for others near it */
	text	   *document;		/* if documents are compared; NULL for none */
	Datum	   *group_values;	/* none of them NULL */
	GuardPlace	place;			/* where to search */
} Guard;

/* guard_bind.c */
extern GuardOrigin simhash_guard_origin(Relation relation,
										const Trigger *trigger);
extern void simhash_guard_refuse_generated(Relation relation,
										   AttrNumber column,
										   const char *hint);
extern void simhash_guard_check_stored(Relation relation, AttrNumber column);
extern void simhash_guard_check_document(Relation relation,
										 AttrNumber column);
extern void simhash_guard_bind(Guard *guard, Relation relation,
							   const GuardTerms *terms, const AttrMap *map);

/* guard_shard.c */
extern void simhash_guard_check_shard(const char *name, Relation relation,
									  const GuardTerms *terms);

/* guard_row.c */
extern void simhash_guard_take_row(Guard *guard, const TriggerData *data,
								   HeapTuple row, AttrNumber source);
extern void simhash_guard_enter(Guard *guard,
								const GuardFingerprint *fingerprint);
extern HeapTuple simhash_guard_set_column(HeapTuple row, Relation relation,
										  AttrNumber column, Datum value,
										  bool isnull);
extern text *simhash_guard_document(Relation relation, AttrNumber column,
									HeapTuple row);
extern bool simhash_guard_keeps_document(Relation relation, AttrNumber column,
										 HeapTuple old, HeapTuple new);

/* guard_moved.c */
extern void simhash_guard_check_moves(const char *name, Relation relation,
									  const Trigger *trigger,
									  const GuardOrigin *origin);
extern void simhash_guard_note_update(Guard *guard, const TriggerData *data,
									  AttrNumber source);
extern bool simhash_guard_has_moved(const GuardStatement *statement);
extern bool simhash_guard_is_as_moved(const Guard *guard);

#endif							/* SIMHASH_GUARD_ROW_H */
