/*-------------------------------------------------------------------------
 *
 * guard.h
 *		Rows are kept from being near-duplicates of others, as they come.
 *
 * Comes in: a row that is inserted or updated, and the terms by which rows are
 * near-duplicates (a column, a distance, a group, documents to compare).
 * Goes out: the nearest row that there is or, to a visitor, each that is near.
 *
 * The way of a row, and the files that it goes through:
 *
 *		arguments		guard_terms.c, and for simhash_guard() guard_options.c
 *		fingerprint		guard_fingerprint.c, guard_group.c, guard_row.c
 *		lock			guard_lock.c, so that near-duplicates that come at the
 *						same time meet
 *		search			guard_space.c (which tables), guard_index.c (by what),
 *						guard_search.c: index scans like any other;
 *						guard_apart.c: which rows are to be kept; guard_known.c:
 *						what is near, where many rows come at once
 *		verdict			guard_trigger.c, which waits for transactions that decide
 *		action			guard_action.c: reject, skip, mark, conflict;
 *						guard_mark.c: the original that a mark leads to
 *
 * src/clusters goes the same way up to the search.  What guards of one
 * statement share, and its end, is in guard_statement.c.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_H
#define SIMHASH_GUARD_H

#include "core/blocks/layout.h"
#include "search/search.h"

#include "access/attmap.h"
#include "access/htup_details.h"
#include "access/skey.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/reltrigger.h"
#include "utils/timestamp.h"

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

/* What somebody asks for, by names. */
typedef struct GuardAsked
{
	const char *who;			/* asks, for messages */
	const char *hint;			/* what may be asked for */
	const char *renamed;		/* what to do where a name is wrong */
	const char *fingerprint;	/* what the caller calls the next argument */
	const char *column;			/* of the fingerprint */
	const char *distance;		/* what the caller calls the radius */
	int64		radius;
	bool		pairs;			/* pairs are looked for as well, less far */
	List	   *within;			/* columns of the group */
	const char *document;		/* NULL for none, as what follows */
	const char *profile;
	const char *similarity;
	bool		bounded;		/* "at_least" is given */
	double		at_least;
	bool		limited;		/* "at_most" is given */
	int64		at_most;
	SimhashMeasure fills;		/* what a trigger's own fingerprints estimate */
} GuardAsked;

/* That, in columns of a table. */
typedef struct GuardTerms
{
	AttrNumber	column;			/* of the fingerprint */
	GuardType	type;			/* what it has */
	int			radius;
	int			ngroup;			/* columns that a group has equal */
	AttrNumber *group;
	AttrNumber	time;			/* of a row; 0 if rows of any time count */
	Oid			time_type;
	Interval   *period;			/* by which it may differ from ours */
	AttrNumber	document;		/* that is compared, or fills: a column, or 0 */
	Node	   *expression;		/* for it, in place of a column, or NULL */
	SimhashMeasure measure;		/* of the documents' similarity */
	double		at_least;		/* between near-duplicates */
	int			at_most;		/* bits, by SIMHASH_HAMMING */
	int			most;			/* rows that one is compared with; 0: no bound */
	const ShProfile *profile;	/* of the document */
} GuardTerms;

/* How documents are had from the rows of a table; all zero if none are. */
typedef struct GuardDocument
{
	Oid			type;			/* TEXTOID, TEXTARRAYOID, INT8OID, BITOID */
	AttrNumber	column;
	ExprState  *computed;		/* in place of the column, or NULL */
	bool		foreign;		/* that may call what is not of the core */
	ExprContext *context;		/* has what is made of a row in its memory */
} GuardDocument;

/* How two values of a column are compared. */
typedef struct GuardEquality
{
	FmgrInfo	equals;
	Oid			collation;
} GuardEquality;

/* A column that rows of one group have equal. */
typedef struct GuardColumn
{
	AttrNumber	column;
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
	GuardTerms	terms;			/* in columns of that */
	GuardDocument document;
	AttrNumber	carried;		/* what is read of a row found, or 0 */
	GuardIndex	hamming;
	GuardIndex	keys[SH_BLOCKS];	/* if there is no such index */
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
	bool		known;			/* what is in them, by the load at work */
} GuardScope;

/* What is searched below a root. */
typedef struct GuardSpace
{
	/* known once, from the root */
	Oid			root;
	TupleDesc	desc;			/* of the root, as it was in the beginning */
	GuardTerms	terms;			/* in columns of the root */
	AttrNumber	carried;
	GuardColumn *group;
	Oid			ball_type;		/* hamming_ball, or hamming_bit_ball */
	bool		keyed;			/* the tables need primary keys */

	/* where to search, and how: found anew when a table changes */
	bool		stale;			/* to be found out (again) */
	uint32		times_found;
	MemoryContext context;		/* of the members that follow */
	List	   *watched;		/* tables that matter, partitioned ones too */
	List	   *scopes;			/* of GuardScope */
} GuardSpace;

/* Where the rows of a table are searched for, in one state of the space. */
typedef struct GuardPlace
{
	Oid			table;
	bool		moves;			/* a row may go to another partition */
	uint32		found_for;		/* 0 before the first time */
	GuardScope *scope;
	const GuardTable *own;		/* how to search that table */
} GuardPlace;

/* The nearest row whose fate is known: committed, or our own. */
typedef struct GuardMatch
{
	int			distance;		/* -1 when there is none */
	const GuardTable *table;
	ItemPointerData named;		/* where the index says that it is */
	TupleTableSlot *slot;		/* the row itself */
	bool		unseen;			/* its document was not compared any more */
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
	LockTupleMode mode;			/* that is needed, if others have it locked */
	bool		locked;
} GuardPending;

/*
 * Is shown every row near ours, in place of the nearest being kept.  A
 * transaction in progress may have inserted it.
 */
typedef void (*GuardVisitor) (void *visitor, const GuardTable *table,
							  TupleTableSlot *slot,
							  const GuardPending *pending);

/* What to compare a row with that has no document; NULL for nothing. */
typedef text *(*GuardStandIn) (void *visitor, TupleTableSlot *slot);

/* Which rows are no near-duplicates; see guard_apart.c. */
typedef struct GuardApart
{
	List	   *tables;			/* that say so */
	TupleTableSlot *slot;		/* of the guarded table */

	/* the row at hand */
	const TriggerData *data;
	HeapTuple	row;
	bool		is_read;		/* what follows is, in memory of that row */
	bool		names_own;		/* a line names it */
	int			n;
	Size		size;			/* room for keys */
	struct ApartKey *keys;		/* that are named, in their order */
	uint32	   *parent;			/* of their numbers, for sh_cluster_of() */
} GuardApart;

/* The most fingerprints to look up in place of a search. */
#define GUARD_NEAR_MOST		16

/* A row, the search for others near it, and what that finds. */
typedef struct GuardSearch
{
	/* what is sought */
	GuardSpace *space;
	Oid			table;			/* that the row goes to */
	GuardFingerprint center;
	Datum		center_value;	/* the same, as a value of SQL */
	Datum	   *group;			/* its values, none of them NULL */
	TimestampTz time;
	text	   *document;		/* if documents are compared; NULL for none */
	ItemPointer self;			/* the row that is updated, or NULL */
	int			enough;			/* a match so near ends the search */
	GuardVisitor visit;			/* or NULL */
	GuardStandIn stand_in;		/* or NULL */
	void	   *visitor;
	GuardApart *apart;			/* or NULL */
	bool		moving;			/* take in rows that our statement deletes */
	List	   *own_marks;		/* Datums in a column "carried": rows that
								 * have one do not count, see guard_mark.c */
	bool		is_known;		/* rows near have these fingerprints only: */
	int			nnear;
	uint64		near[GUARD_NEAR_MOST + 1];

	/* by what it sees rows */
	SnapshotData before;		/* a copy of one taken when the search began */
	SnapshotData dirty;

	/* of the table at hand; see guard_search.c */
	int			passed;			/* rows up to that distance have been seen */
	int			radius;			/* that is searched now */
	ItemPointerData named;		/* where the index says that a row is */
	MemoryContext gathered_in;	/* or NULL, if they are compared at once */
	List	   *gathered;		/* rows to be compared, in that memory */

	/* what is found */
	GuardMatch	match;
	GuardPending pending;
	bool		changed;		/* since it began: search again */
	int			compared;		/* documents; beyond terms->most all count */
} GuardSearch;

/* The most locks that a row can have. */
#define GUARD_LOCKS_MAX		128

/* How the locks of a row are chosen; see guard_lock.c. */
typedef struct GuardScheme
{
	int			radius;
	int			parts;			/* that a fingerprint is cut in; 0: one lock */
	int			agree;			/* blocks of a part that two rows have equal */
} GuardScheme;

/* The locks of the row that was let pass last, while others may not see it. */
typedef struct GuardLocks
{
	Oid			root;			/* what they are locks of */
	uint64		seed;			/* sets them apart from others of that */
	GuardScheme scheme;

	/* how to tell that it is in the index */
	Oid			index;			/* InvalidOid if that cannot be told */
	GuardFingerprint fingerprint;

	/* the locks, those that are held first */
	int			nheld;
	bool		waiting;		/* for the lock that follows */
	uint32		locks[GUARD_LOCKS_MAX];
} GuardLocks;

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
	TimestampTz time;
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

/* A trigger that is no clone, and its table. */
typedef struct GuardOrigin
{
	Oid			table;
	Oid			trigger;
} GuardOrigin;

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
	/* known once, from the trigger and the table */
	const char *name;			/* of the trigger */
	GuardStatement *statement;
	Oid			table;			/* that it fires for */
	GuardTerms	terms;			/* in columns of that */
	bool		fills;			/* the fingerprint, from the document */
	ExprState  *fingerprint;	/* to compute it; NULL unless it is generated */
	GuardDocument document;		/* of rows that come */
	GuardDocument stored;		/* of rows that are there */
	ExprState **group;			/* likewise */
	ExprContext *econtext;		/* for these */
	TupleTableSlot *slot;

	/* the row at hand */
	GuardNeed	need;
	GuardSearch search;			/* for others near it */
	GuardPlace	place;			/* where to search */
} Guard;

/* What is near to the rows that a load inserts, for one guard; see guard_known.c. */
typedef struct GuardKnown GuardKnown;

/* Rows that are inserted together by simhash_guard_load(). */
typedef struct GuardLoad
{
	struct GuardLoad *outer;	/* whose statement has called this one, or
								 * NULL */
	CommandId	command;		/* of the statement that inserts them */
	List	   *known;			/* of GuardKnown */
	int64		rows;			/* so far */
	char	   *id;				/* of the row at hand, or NULL */
	Tuplestorestate *result;	/* rows that are left out */
	TupleDesc	columns;		/* of these */
	MemoryContext context;
} GuardLoad;

/* A column of a relation. */
static inline Form_pg_attribute
simhash_guard_attribute(Relation relation, AttrNumber column)
{
	return TupleDescAttr(RelationGetDescr(relation), column - 1);
}

/* A column of the root in another table; 0 for none. */
static inline AttrNumber
simhash_guard_mapped(const AttrMap *map, AttrNumber column)
{
	return column == 0 ? 0 : map->attnums[column - 1];
}

/* guard_fingerprint.c */
extern GuardType simhash_guard_type(Relation relation, AttrNumber column);
extern GuardFingerprint simhash_guard_fingerprint(const GuardType *type,
												  Datum value);
extern int	simhash_guard_distance(const GuardFingerprint *a,
								   const GuardFingerprint *b);

/* guard_terms.c */
extern Node *simhash_guard_expression(Relation relation, AttrNumber column);
extern void simhash_guard_check_stored(Relation relation, AttrNumber column);
extern GuardTerms simhash_guard_read_terms(const GuardAsked *asked,
										   Relation relation);
extern GuardTerms simhash_guard_map_terms(const GuardTerms *terms,
										  const AttrMap *map,
										  Relation relation);

/* guard_document.c */
extern GuardDocument simhash_guard_bind_document(Relation relation,
												 const GuardTerms *terms);
extern text *simhash_guard_get_document(const GuardDocument *document,
										TupleTableSlot *slot);
extern Datum simhash_guard_document_value(const GuardDocument *document,
										  text *value);
extern Bitmapset *simhash_guard_document_columns(const GuardTerms *terms);
extern bool simhash_guard_same_document(const text *document,
										const text *other);
extern double simhash_guard_similarity(const GuardTerms *terms,
									   const GuardDocument *kind,
									   text *document, text *other);

/* guard_group.c */
extern void simhash_guard_bind_group(GuardColumn *group, Relation relation,
									 int n, const AttrNumber *columns);
extern bool simhash_guard_equal(GuardEquality *equality,
								Datum value, Datum other);
extern bool simhash_guard_is_of_group(const GuardSearch *search,
									  const AttrNumber *columns,
									  TupleTableSlot *slot);
extern uint64 simhash_guard_group_hash(const GuardSpace *space,
									   const Datum *values);

/* guard_time.c */
extern void simhash_guard_read_time(GuardTerms *terms, Relation root,
									AttrNumber column, Interval *period);
extern TimestampTz simhash_guard_time(const GuardTerms *terms,
									  TupleTableSlot *slot);
extern bool simhash_guard_is_in_time(const GuardTerms *terms, TimestampTz time,
									 TupleTableSlot *slot);

/* guard_index.c */
extern int	simhash_guard_in_group(const GuardSpace *space,
								   const AttrNumber *group, AttrNumber column,
								   Oid collation, Oid family, Oid type,
								   StrategyNumber equal);
extern void simhash_guard_find_indexes(const GuardSpace *space,
									   Relation relation, GuardTable *table);
extern char *simhash_guard_index_columns(const GuardSpace *space);

/* guard_space.c */
extern void simhash_guard_bind_space(GuardSpace *space, Relation root,
									 const GuardTerms *terms,
									 AttrNumber carried);
extern AttrMap *simhash_guard_map_columns(const GuardSpace *space,
										  Relation table);
extern void simhash_guard_find(GuardSpace *space, GuardPlace *place);
extern List *simhash_guard_primary_key(Oid table);
extern char *simhash_guard_join_key(List *texts);
extern char *simhash_guard_write_key(TupleTableSlot *slot, List *columns);

/* guard_apart.c */
extern bool simhash_guard_is_apart(GuardApart *apart, const GuardTable *table,
								   TupleTableSlot *slot);

/* guard_known.c */
extern GuardLoad *simhash_guard_loading;
extern GuardKnown *simhash_guard_known_begin(Oid trigger, const GuardTerms *terms,
											 const GuardScope *scope);
extern bool simhash_guard_known_add(GuardKnown *known, uint64 value, bool coming);
extern bool simhash_guard_known_find(GuardKnown *known);
extern GuardLoad *simhash_guard_load_at_work(void);
extern bool simhash_guard_take_known(GuardSearch *search, GuardScope *scope,
									 Oid trigger);
extern void simhash_guard_note_inserted(Oid index, Datum value);

/* guard_search.c */
extern bool simhash_guard_look_up(Relation relation, Oid index, int nkeys,
								  ScanKey keys, GuardPending *pending);
extern void simhash_guard_search(GuardSearch *search, const GuardScope *scope);
extern bool simhash_guard_hold_row(Relation relation, GuardPending *pending,
								   bool wait);
extern void simhash_guard_wait(GuardPending *pending);
extern void simhash_guard_forget_match(GuardSearch *search);

/* guard_lock.c */
extern LOCKTAG simhash_guard_lock_tag(Oid root, uint32 value);
extern GuardScheme simhash_guard_scheme(int width, int radius);
extern void simhash_guard_take_locks(GuardLocks *locks,
									 const GuardFingerprint *fingerprint,
									 uint64 group);
extern void simhash_guard_unlock(GuardLocks *locks);

/* guard_statement.c */
extern void simhash_guard_init(void);
extern GuardStatement *simhash_guard_statement(MemoryContext context,
											   Oid trigger);
extern void simhash_guard_begin_row(GuardStatement *statement);
extern bool simhash_guard_read_header(Relation heap, ItemPointer tid,
									  HeapTupleHeader header);
extern bool simhash_guard_is_undone(Relation heap, ItemPointer tid);
extern Oid	simhash_guard_fires_alike;

/* guard_bind.c */
extern GuardOrigin simhash_guard_origin(Relation relation,
										const Trigger *trigger);
extern void simhash_guard_refuse_generated(Relation relation,
										   AttrNumber column,
										   const char *hint);
extern void simhash_guard_refuse_type(Relation relation, AttrNumber column,
									  const char *wanted);
extern void simhash_guard_bind(Guard *guard, Relation relation,
							   const GuardTerms *terms, const AttrMap *map);

/* guard_shard.c */
extern void simhash_guard_check_shard(const char *name, Relation relation,
									  const GuardTerms *terms);

/* guard_row.c */
extern void simhash_guard_take_row(Guard *guard, const TriggerData *data,
								   HeapTuple row);
extern void simhash_guard_enter(Guard *guard,
								const GuardFingerprint *fingerprint);
extern HeapTuple simhash_guard_set_column(HeapTuple row, Relation relation,
										  AttrNumber column, Datum value,
										  bool isnull);

/* guard_moved.c */
extern void simhash_guard_check_moves(Relation relation,
									  const Trigger *trigger,
									  const GuardOrigin *origin);
extern void simhash_guard_note_update(Guard *guard, const TriggerData *data);
extern bool simhash_guard_has_moved(const GuardStatement *statement);
extern bool simhash_guard_is_as_moved(const Guard *guard);

#endif							/* SIMHASH_GUARD_H */
