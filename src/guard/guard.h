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

#include "core/pairs/layout.h"
#include "fingerprint/fingerprint.h"
#include "search/measure.h"
#include "search/search.h"

#include "access/attmap.h"
#include "access/skey.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "storage/itemptr.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"
#include "utils/snapshot.h"

/* The most locks that a row can have. */
#define GUARD_LOCKS_MAX		128

/* What to do about a near-duplicate. */
typedef enum GuardAction
{
	GUARD_REJECT,
	GUARD_SKIP,
	GUARD_MARK,
	GUARD_STAR,
	GUARD_CONNECTED
} GuardAction;

/* By what a trigger fills fingerprints in. */
typedef enum GuardFill
{
	GUARD_FILL_NONE,
	GUARD_FILL_SIMHASH,
	GUARD_FILL_MINHASH
} GuardFill;

/* Does a trigger keep clusters, of either kind? */
#define GUARD_CLUSTERS(action)	((action) >= GUARD_STAR)

/* What a column of fingerprints has: INT8OID, or BITOID of that width. */
typedef struct GuardType
{
	Oid			oid;
	int			width;			/* bits of each */
} GuardType;

/* A fingerprint; the first bit is at the top of the first word. */
typedef struct GuardFingerprint
{
	int			width;
	uint64		words[SH_MAX_WORDS];	/* 0 beyond the width */
} GuardFingerprint;

/* Words that so many bits take. */
#define GUARD_WORDS(width)	(((width) + SH_BITS - 1) / SH_BITS)

/* How the locks of a row are chosen; see guard_lock.c. */
typedef struct GuardScheme
{
	int			radius;
	int			parts;			/* that a fingerprint is cut in; 0: one lock */
	int			agree;			/* blocks of a part that two rows have equal */
} GuardScheme;

/* How two values of a column are compared. */
typedef struct GuardEquality
{
	FmgrInfo	equals;
	Oid			collation;
} GuardEquality;

/* A column that rows of one group have equal; see guard_group.c. */
typedef struct GuardColumn
{
	AttrNumber	root_column;
	Oid			operator;		/* equality, as the type has it by default */
	GuardEquality equality;
	FmgrInfo	hash;			/* fn_oid is invalid if the type has none */
	bool		in_locks;		/* part of every guard of the fingerprint */
} GuardColumn;

/* An index to search by: of fingerprints, or of the keys of a block. */
typedef struct GuardIndex
{
	Oid			index;			/* or InvalidOid */
	int			ncolumns;		/* up to the last that has a condition */
	int		   *group;			/* which column of the group each of them is,
								 * or -1 for what is sought */
	ScanKey		conditions;		/* on all of them, but for the values */
} GuardIndex;

/* A table to search, with the way to find rows in it. */
typedef struct GuardTable
{
	Oid			table;
	AttrNumber	column;			/* of the fingerprint */
	AttrNumber	document;		/* that is compared, or 0 */
	AttrNumber *group;			/* the columns of the group */
	AttrNumber	cluster;		/* the column of clusters, or 0 */
	GuardIndex	hamming;
	GuardIndex	keys[SH_BLOCKS];	/* otherwise */
	bool		only_way;		/* all sessions search by that hamming index */
} GuardTable;

/*
 * The tables to search for the rows of a table: those below the root, a
 * partition, or that table itself.
 */
typedef struct GuardScope
{
	Oid			top;
	int			ntables;
	GuardTable *tables;
} GuardScope;

/* The row that a guard let pass last, while others may not see it yet. */
typedef struct GuardedRow
{
	/* how to tell that it is in the index */
	Oid			index;			/* InvalidOid if that cannot be told */
	GuardFingerprint fingerprint;

	/* its locks, those that are held first */
	int			nheld;
	bool		waiting;		/* for the lock that follows */
	uint32		locks[GUARD_LOCKS_MAX];
} GuardedRow;

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

	/*
	 * the trigger, no clone, and the root of what it searches: the table that
	 * it was made for, but the table of the clusters for action "star"
	 */
	Oid			trigger;
	Oid			root;
	TupleDesc	desc;			/* of the root, when the columns were found;
								 * NULL before that */
	AttrNumber	root_column;	/* the fingerprint */
	AttrNumber	root_document;	/* that is compared, or 0 */
	AttrNumber	root_cluster;	/* the column of clusters, or 0 */
	GuardType	type;			/* what the fingerprint has */
	Oid			ball_type;		/* hamming_ball, or hamming_bit_ball */
	bool		marks;			/* action "mark" */
	GuardScheme scheme;			/* of the locks */
	int			ngroup;			/* columns of the option "within" */
	GuardColumn *group;

	/* where to search, and how */
	bool		stale;			/* to be found out (again) */
	uint32		times_found;
	MemoryContext tables_context;	/* of the members that follow */
	List	   *watched;		/* tables that matter, partitioned ones too */
	List	   *scopes;			/* of GuardScope */

	GuardedRow	row;
	GuardMoved	moved;
} GuardStatement;

/* A column, and how to compute it for a row that is not stored yet. */
typedef struct GuardSource
{
	AttrNumber	column;
	ExprState  *expression;		/* NULL unless it is generated */
} GuardSource;

/* Columns that no two rows have equal; see guard_key.c. */
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

/* A trigger that is no clone, and its table. */
typedef struct GuardOrigin
{
	Oid			table;
	Oid			trigger;
} GuardOrigin;

/* What is known of the trigger of one table for the length of a statement. */
typedef struct Guard
{
	GuardStatement *statement;

	/* the trigger and its arguments */
	const char *name;
	GuardAction action;
	int			radius;
	bool		notice;			/* say so when a row is skipped */
	const ShProfile *profile;	/* of the document */
	SimhashMeasure measure;		/* of the documents' similarity */
	double		at_least;		/* between near-duplicates */
	bool		later;			/* rows get no cluster yet */

	/* the table that it fires for, and columns of it; 0 for none */
	Oid			table;
	GuardSource fingerprint;
	GuardType	type;			/* what it has */
	AttrNumber	document;		/* what the option names */
	GuardFill	fill;			/* the fingerprint, from that */
	AttrNumber	compared;		/* the documents, if those are compared */
	AttrNumber	mark;			/* what gets the key of the row duplicated */
	AttrNumber	cluster;		/* what gets its cluster */
	AttrNumber	since;			/* what gets the time when it did */
	GuardSource *group;			/* what rows of one group have equal */
	List	   *keys;			/* of GuardKey: what no two rows have equal */
	ExprContext *econtext;		/* to compute generated columns */
	TupleTableSlot *slot;

	/* the row at hand */
	text	   *its_document;	/* if documents are compared; NULL for none */
	Datum	   *group_values;	/* none of them NULL */
	bool		moves;			/* to another group, or partition, by update */

	/* where to search, if that was found for this state of the statement */
	uint32		found_for;
	bool		found_for_moves;
	const GuardScope *scope;
	Oid			searched;		/* the table that it fires for, or the root */
	const GuardTable *own;		/* how to search that */
	Oid			clusters;		/* the table of the clusters, if it has any */
	Oid			sequence;		/* of their ids */
} Guard;

/* The nearest row whose fate is known: committed, or our own. */
typedef struct GuardMatch
{
	int			distance;		/* -1 when there is none */
	Oid			table;
	AttrNumber	document;		/* that is compared, or 0 */
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

/* Different clusters, in order. */
typedef struct GuardClusters
{
	int			n;
	int			size;			/* allocated */
	int64	   *ids;
} GuardClusters;

/* A row of a transaction in progress, and its cluster. */
typedef struct GuardArrival
{
	int64		cluster;
	GuardPending pending;
} GuardArrival;

/* What rows near another are in: all of them, for action "connected". */
typedef struct GuardNeighbours
{
	GuardClusters clusters;		/* of rows whose fate is known */
	List	   *arrivals;		/* of GuardArrival, one for each cluster */
	bool		changed;		/* some row was, while we searched */
} GuardNeighbours;

/* How the row of a call is to be compared with others. */
typedef enum GuardNeed
{
	GUARD_COMPARE,
	GUARD_NONE_NEAR,			/* no row can be near it */
	GUARD_AS_BEFORE				/* an update changes nothing about that */
} GuardNeed;

/* The row of a call, the search for others, and what that finds. */
typedef struct GuardSearch
{
	GuardNeed	need;
	GuardFingerprint center;
	int			radius;
	Datum		center_value;	/* the same, as a value of SQL */
	ItemPointer self;			/* the row that is updated, or NULL */
	HeapTuple	inserted;		/* the row that is inserted, or NULL */
	int			enough;			/* a match so near ends the search */
	bool		moved;			/* an update has moved the row here */
	SnapshotData before;		/* a copy of one taken when the search began */
	SnapshotData dirty;			/* by which it sees rows */
	GuardMatch	match;
	GuardPending pending;
	GuardNeighbours *neighbours;	/* gathered instead, if not NULL */
} GuardSearch;

/* A column of a relation. */
static inline Form_pg_attribute
simhash_guard_attribute(Relation relation, AttrNumber column)
{
	return TupleDescAttr(RelationGetDescr(relation), column - 1);
}

/* guard.c */
extern Datum simhash_guard(PG_FUNCTION_ARGS);

/* guard_bind.c */
extern GuardOrigin simhash_guard_origin(Relation relation,
										const Trigger *trigger);
extern Guard *simhash_guard_bind(Relation relation, Trigger *trigger,
								 MemoryContext statement);

/* guard_options.c */
extern void simhash_guard_read_arguments(Guard *guard, Relation relation,
										 const Trigger *trigger);
extern bool simhash_guard_radius(const Trigger *trigger, int *radius);
extern const char *simhash_guard_option(const Trigger *trigger,
										const char *name);
extern AttrNumber simhash_guard_column(Relation relation, const char *name);
extern int	simhash_guard_argument_error(void);

/* guard_cluster.c */
extern HeapTuple simhash_guard_join(Guard *guard, TriggerData *data,
									GuardSearch *search, HeapTuple row);
extern void simhash_guard_merge_around(Guard *guard, TriggerData *data);

/* guard_clusters.c */
extern void simhash_guard_complain_of_table(const char *name);
extern Oid	simhash_guard_clusters_table(const Trigger *trigger, Oid root,
										 LOCKMODE lockmode);
extern Oid	simhash_guard_bind_clusters(Guard *guard, Oid root,
										const Trigger *trigger);
extern void simhash_guard_check_clusters(const Guard *guard,
										 Relation relation,
										 const Trigger *trigger);

/* guard_current.c */
extern Trigger *simhash_guard_cluster_trigger(Relation relation,
											  const char *column,
											  bool missing_ok);

/* guard_merge.c */
extern GuardClusters simhash_guard_current(Oid table,
										   const GuardClusters *clusters,
										   Snapshot snapshot);
extern void simhash_guard_merge(Oid table, const GuardClusters *clusters);
extern void simhash_guard_become_owner(Oid table, Oid *user, int *context);
extern void simhash_guard_note_merge(const Guard *guard,
									 const GuardSearch *search, int64 cluster);
extern bool simhash_guard_any_notes(void);
extern bool simhash_guard_is_noted(const Guard *guard,
								   const GuardSearch *search, int64 cluster);
extern void simhash_guard_forget_merges(void);

/* guard_neighbours.c */
extern bool simhash_guard_has_cluster(const GuardClusters *clusters, int64 id);
extern void simhash_guard_add_cluster(GuardClusters *clusters, int64 id);
extern bool simhash_guard_get_cluster(const GuardTable *table,
									  TupleTableSlot *slot, int64 *id);
extern void simhash_guard_meet(GuardNeighbours *neighbours,
							   const GuardTable *table, TupleTableSlot *slot,
							   TransactionId xid, uint32 token);

/* guard_row.c */
extern HeapTuple simhash_guard_take_row(Guard *guard, TriggerData *data,
										GuardSearch *search);
extern HeapTuple simhash_guard_set_column(HeapTuple row, Relation relation,
										  AttrNumber column, Datum value,
										  bool isnull);

/* guard_moved.c */
extern void simhash_guard_check_moves(const Guard *guard, Relation relation,
									  const Trigger *trigger,
									  const GuardOrigin *origin);
extern void simhash_guard_note_update(Guard *guard, const TriggerData *data,
									  const GuardSearch *search);
extern bool simhash_guard_has_moved(const GuardStatement *statement);
extern bool simhash_guard_is_as_moved(const Guard *guard,
									  const GuardSearch *search);

/* guard_action.c */
extern HeapTuple simhash_guard_act(Guard *guard, TriggerData *data,
								   GuardSearch *search, HeapTuple row);
extern HeapTuple simhash_guard_keep_mark(const Guard *guard,
										 const TriggerData *data,
										 HeapTuple row);
extern void simhash_guard_forget_match(GuardMatch *match);

/* guard_fingerprint.c */
extern GuardType simhash_guard_type(Relation relation, AttrNumber column);
extern GuardFingerprint simhash_guard_fingerprint(const GuardType *type,
												  Datum value);
extern int	simhash_guard_distance(const GuardFingerprint *a,
								   const GuardFingerprint *b);

/* guard_statement.c */
extern void simhash_guard_init(void);
extern GuardStatement *simhash_guard_statement(MemoryContext context, Oid root,
											   Oid trigger);
extern void simhash_guard_begin_row(GuardStatement *statement);
extern bool simhash_guard_read_header(Relation heap, ItemPointer tid,
									  HeapTupleHeader header);
extern bool simhash_guard_known_alike(Oid trigger);
extern void simhash_guard_note_alike(Oid trigger);

/* guard_group.c */
extern List *simhash_guard_names(const Trigger *trigger, const char *option);
extern void simhash_guard_bind_group(GuardStatement *statement, Relation root,
									 List *names);
extern bool simhash_guard_equal(GuardEquality *equality,
								Datum value, Datum other);
extern uint64 simhash_guard_group_hash(const GuardStatement *statement,
									   const Datum *values);

/* guard_tables.c */
extern void simhash_guard_complain_of_change(const char *table) pg_attribute_noreturn();
extern AttrMap * simhash_guard_map_columns(const GuardStatement *statement,
										   Relation table);
extern const GuardTable *simhash_guard_tables(Guard *guard);
extern List *simhash_guard_primary_key(Oid table);
extern char *simhash_guard_index_columns(const GuardStatement *statement,
										 const char *fingerprint);

/* guard_shard.c */
extern void simhash_guard_check_shard(const Guard *guard, Relation relation,
									  List *within);

/* guard_verify.c */
extern Node *simhash_guard_expression(Relation relation, AttrNumber column);
extern void simhash_guard_bind_similarity(Guard *guard, Relation relation,
										  const Trigger *trigger);
extern bool simhash_guard_same_document(const text *document,
										const text *other);
extern double simhash_guard_similarity(const Guard *guard, AttrNumber column,
									   TupleTableSlot *slot);
extern bool simhash_guard_verified(const Guard *guard,
								   const GuardTable *table,
								   TupleTableSlot *slot);

/* guard_key.c */
extern void simhash_guard_bind_keys(Guard *guard, Relation relation,
									const Trigger *trigger);
extern bool simhash_guard_same_key(const Guard *guard, Oid table,
								   const GuardSearch *search,
								   TupleTableSlot *slot);
extern GuardHold simhash_guard_hold_key(Relation relation, ItemPointer tid,
										bool wait);

/* guard_lock.c */
extern GuardScheme simhash_guard_scheme(int width, int radius);
extern void simhash_guard_lock(Guard *guard,
							   const GuardFingerprint *fingerprint);
extern void simhash_guard_unlock(GuardStatement *statement);

/* guard_search.c */
extern void simhash_guard_search(const Guard *guard, GuardSearch *search);
extern void simhash_guard_wait(GuardPending *pending);

#endif							/* SIMHASH_GUARD_H */
