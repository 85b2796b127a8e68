/*-------------------------------------------------------------------------
 *
 * near.h
 *		The rows near one that comes, in all tables that hold them.
 *
 * Comes in: a row that is inserted or updated, and the terms by which rows are
 * near-duplicates (a column, a distance, a group, documents to compare).
 * Goes out: the nearest row that there is or, to a visitor, each that is near.
 *
 * The way of a row, and the files that it goes through:
 *
 *		terms			near_terms.c; in columns of each table near_bind.c
 *		fingerprint		near_row.c, near_fingerprint.c, near_group.c, near_time.c,
 *						near_document.c
 *		lock			near_lock.c, so that near-duplicates that come at the
 *						same time meet
 *		search			near_space.c (which tables), near_index.c (by what),
 *						near_search.c: index scans like any other;
 *						near_apart.c: which rows are to be kept; near_known.c:
 *						what is near, where many rows come at once
 *
 * What triggers of one statement share, and its end, is in near_statement.c.  The guard
 * (src/guard) and the clusters of a table (src/clusters) come this way.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_NEAR_H
#define SIMHASH_NEAR_H

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
typedef struct NearType
{
	Oid			oid;
	int			width;			/* bits of each */
} NearType;

/* A fingerprint; the first bit is at the top of the first word. */
typedef struct NearFingerprint
{
	int			width;
	uint64		words[SH_MAX_WORDS];	/* 0 beyond the width */
} NearFingerprint;

/* Words that so many bits take. */
#define NEAR_WORDS(width)	(((width) + SH_BITS - 1) / SH_BITS)

/* What somebody asks for, by names. */
typedef struct NearAsked
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
	SimhashDocumentOptions options;
	SimhashMeasure fills;		/* what a trigger's own fingerprints estimate */
} NearAsked;

/* That, in columns of a table. */
typedef struct NearTerms
{
	AttrNumber	column;			/* of the fingerprint */
	NearType	type;			/* what it has */
	int			radius;
	int			ngroup;			/* columns that a group has equal */
	AttrNumber *group;
	AttrNumber	time;			/* of a row; 0 if rows of any time count */
	Oid			time_type;
	Interval   *period;			/* by which it may differ from ours */
	AttrNumber	document;		/* that is compared, or fills: a column, or 0 */
	Node	   *expression;		/* for it, in place of a column, or NULL */
	SimhashComparison compare;	/* of documents; arrays and width are not set */
	int			most;			/* rows that one is compared with; 0: no bound */
} NearTerms;

/* How documents are had from the rows of a table; all zero if none are. */
typedef struct NearDocument
{
	Oid			type;			/* TEXTOID, TEXTARRAYOID, INT8OID, BITOID */
	AttrNumber	column;
	ExprState  *computed;		/* in place of the column, or NULL */
	bool		foreign;		/* that may call what is not of the core */
	ExprContext *context;		/* has what is made of a row in its memory */
} NearDocument;

/* How two values of a column are compared. */
typedef struct NearEquality
{
	FmgrInfo	equals;
	Oid			collation;
} NearEquality;

/* A column that rows of one group have equal. */
typedef struct NearColumn
{
	AttrNumber	column;
	Oid			operator;		/* equality, as the type has it by default */
	NearEquality equality;
	FmgrInfo	hash;			/* fn_oid is invalid if the type has none */
	bool		in_locks;		/* part of every guard of the fingerprint */
} NearColumn;

/* An index to search by: of fingerprints, or of the keys of a block. */
typedef struct NearIndex
{
	Oid			index;			/* or InvalidOid */
	int			ncolumns;		/* up to the last that has a condition */
	int		   *group;			/* which column of the group each of them is,
								 * or -1 for what is sought */
	ScanKey		conditions;		/* on all of them, but for the values */
} NearIndex;

/* A table to search, with the way to find rows in it. */
typedef struct NearTable
{
	Oid			table;
	NearTerms	terms;			/* in columns of that */
	NearDocument document;
	AttrNumber	carried;		/* what is read of a row found, or 0 */
	NearIndex	hamming;
	NearIndex	keys[SH_BLOCKS];	/* if there is no such index */
	bool		only_way;		/* all sessions search by that hamming index */
} NearTable;

/*
 * The tables to search for the rows of a table: those below the root, a
 * partition, or that table itself.
 */
typedef struct NearScope
{
	Oid			top;
	int			ntables;
	NearTable  *tables;
	bool		known;			/* what is in them, by the load at work */
} NearScope;

/* What is searched below a root. */
typedef struct NearSpace
{
	/* known once, from the root */
	Oid			root;
	TupleDesc	desc;			/* of the root, as it was in the beginning */
	NearTerms	terms;			/* in columns of the root */
	AttrNumber	carried;
	NearColumn *group;
	Oid			ball_type;		/* hamming_ball, or hamming_bit_ball */
	bool		keyed;			/* the tables need primary keys */

	/* where to search, and how: found anew when a table changes */
	bool		stale;			/* to be found out (again) */
	uint32		times_found;
	MemoryContext context;		/* of the members that follow */
	List	   *watched;		/* tables that matter, partitioned ones too */
	List	   *scopes;			/* of NearScope */
} NearSpace;

/* Where the rows of a table are searched for, in one state of the space. */
typedef struct NearPlace
{
	Oid			table;
	bool		moves;			/* a row may go to another partition */
	uint32		found_for;		/* 0 before the first time */
	NearScope  *scope;
	const NearTable *own;		/* how to search that table */
} NearPlace;

/* The nearest row whose fate is known: committed, or our own. */
typedef struct NearMatch
{
	int			distance;		/* -1 when there is none */
	const NearTable *table;
	ItemPointerData named;		/* where the index says that it is */
	TupleTableSlot *slot;		/* the row itself */
	bool		unseen;			/* its document was not compared any more */
} NearMatch;

/*
 * The nearest row that depends on a transaction in progress, or on one that
 * has ended while we searched.
 */
typedef struct NearPending
{
	int			distance;		/* -1 when there is none */
	Oid			table;
	ItemPointerData tid;
	TransactionId xid;			/* invalid if it has ended */
	uint32		token;			/* of a speculative insertion, or 0 */
	LockTupleMode mode;			/* that is needed, if others have it locked */
	bool		locked;
} NearPending;

/*
 * Is shown every row near ours, in place of the nearest being kept.  A
 * transaction in progress may have inserted it.
 */
typedef void (*NearVisitor) (void *visitor, const NearTable *table,
							 TupleTableSlot *slot,
							 const NearPending *pending);

/* What to compare a row with that has no document; NULL for nothing. */
typedef text *(*NearStandIn) (void *visitor, TupleTableSlot *slot);

/* Which rows are no near-duplicates; see near_apart.c. */
typedef struct NearApart
{
	List	   *tables;			/* that say so */
	TupleTableSlot *slot;		/* of the guarded table */

	/* the row at hand */
	const TriggerData *data;
	HeapTuple	row;
	bool		is_read;		/* what follows is, in memory of that row */
	bool		names_own;		/* a line names it */
	int64		n;
	int64		size;			/* room for keys */
	struct ApartKey *keys;		/* that are named, in their order */
	uint32	   *parent;			/* of their numbers, for sh_cluster_of() */
} NearApart;

/* The most fingerprints to look up in place of a search. */
#define NEAR_KNOWN_MOST		16

/* A row, the search for others near it, and what that finds. */
typedef struct NearSearch
{
	/* what is sought */
	NearSpace  *space;
	Oid			table;			/* that the row goes to */
	NearFingerprint center;
	Datum		center_value;	/* the same, as a value of SQL */
	Datum	   *group;			/* its values, none of them NULL */
	TimestampTz time;
	text	   *document;		/* if documents are compared; NULL for none */
	ItemPointer self;			/* the row that is updated, or NULL */
	int			enough;			/* a match so near ends the search */
	NearVisitor visit;			/* or NULL */
	NearStandIn stand_in;		/* or NULL */
	void	   *visitor;
	NearApart  *apart;			/* or NULL */
	bool		moving;			/* take in rows that our statement deletes */
	List	   *own_marks;		/* Datums in a column "carried": rows that
								 * have one do not count, see guard_mark.c */
	bool		is_known;		/* rows near have these fingerprints only: */
	int			nnear;
	uint64		near[NEAR_KNOWN_MOST + 1];

	/* by what it sees rows */
	SnapshotData before;		/* a copy of one taken when the search began */
	SnapshotData dirty;

	/* of the table at hand; see near_search.c */
	int			passed;			/* rows up to that distance have been seen */
	int			radius;			/* that is searched now */
	ItemPointerData named;		/* where the index says that a row is */
	MemoryContext gathered_in;	/* or NULL, if they are compared at once */
	List	   *gathered;		/* rows to be compared, in that memory */

	/* what is found */
	NearMatch	match;
	NearPending pending;
	bool		changed;		/* since it began: search again */
	int			compared;		/* documents; beyond terms->most all count */
} NearSearch;

/* The most locks that a row can have. */
#define NEAR_LOCKS_MAX		128

/* How the locks of a row are chosen; see near_lock.c. */
typedef struct NearScheme
{
	int			radius;
	int			parts;			/* that a fingerprint is cut in; 0: one lock */
	int			agree;			/* blocks of a part that two rows have equal */
} NearScheme;

/* The locks of the row that was let pass last, while others may not see it. */
typedef struct NearLocks
{
	Oid			root;			/* what they are locks of */
	uint64		seed;			/* sets them apart from others of that */
	NearScheme	scheme;

	/* how to tell that it is in the index */
	Oid			index;			/* InvalidOid if that cannot be told */
	NearFingerprint fingerprint;

	/* the locks, those that are held first */
	int			nheld;
	bool		waiting;		/* for the lock that follows */
	uint32		locks[NEAR_LOCKS_MAX];
} NearLocks;

/*
 * The row that was updated last, and what the update made of it, as long as the
 * memory of that row is there; see near_moved.c.
 */
typedef struct NearMoved
{
	bool		valid;
	Oid			table;			/* where its old version is */
	ItemPointerData tid;
	bool		compared;		/* it has a fingerprint and a group */
	NearFingerprint fingerprint;	/* its width is 0 for none */
	Datum	   *group;			/* the values of its columns */
	TimestampTz time;
	text	   *document;		/* if it is compared, or fills; NULL for none */
	int64		cluster;
} NearMoved;

/*
 * A trigger at work in a statement.  On a partitioned table it is a trigger of
 * each partition, with a Guard for each that gets rows; they share this.
 */
typedef struct NearStatement
{
	MemoryContext context;		/* lives at least as long as the statement */
	CommandId	command;		/* tells it from others in that context, and
								 * from those that it calls */
	MemoryContextCallback at_end;
	SubTransactionId subxact;	/* that the statement runs in */
	Oid			trigger;		/* that was made, no clone */
	void	   *terms;			/* the trigger's own; NULL before it was bound */
	NearSpace	space;
	NearLocks	locks;
	NearMoved	moved;
} NearStatement;

/* A trigger that is no clone, and its table. */
typedef struct NearOrigin
{
	Oid			table;
	Oid			trigger;
} NearOrigin;

/* How the row of a call is to be compared with others. */
typedef enum NearNeed
{
	NEAR_COMPARE,
	NEAR_NONE_NEAR,				/* no row can be near it */
	NEAR_AS_BEFORE				/* an update changes nothing about that */
} NearNeed;

/* What is known of the trigger of one table for the length of a statement. */
typedef struct NearTrigger
{
	/* known once, from the trigger and the table */
	const char *name;			/* of the trigger */
	NearStatement *statement;
	Oid			table;			/* that it fires for */
	NearTerms	terms;			/* in columns of that */
	bool		fills;			/* the fingerprint, from the document */
	ExprState  *fingerprint;	/* to compute it; NULL unless it is generated */
	NearDocument document;		/* of rows that come */
	NearDocument stored;		/* of rows that are there */
	ExprState **group;			/* likewise */
	ExprContext *econtext;		/* for these */
	TupleTableSlot *slot;

	/* the row at hand */
	NearNeed	need;
	NearSearch	search;			/* for others near it */
	NearPlace	place;			/* where to search */
} NearTrigger;

/* What is near to the rows that a load inserts, for one guard; see near_known.c. */
typedef struct NearKnown NearKnown;

/* Rows that are inserted together by simhash_guard_load(). */
typedef struct NearLoad
{
	struct NearLoad *outer;		/* whose statement has called this one, or
								 * NULL */
	CommandId	command;		/* of the statement that inserts them */
	List	   *known;			/* of NearKnown */
	int64		rows;			/* so far */
	char	   *id;				/* of the row at hand, or NULL */
	Tuplestorestate *result;	/* rows that are left out */
	TupleDesc	columns;		/* of these */
	MemoryContext context;
} NearLoad;

/* A column of a relation. */
static inline Form_pg_attribute
simhash_near_attribute(Relation relation, AttrNumber column)
{
	return TupleDescAttr(RelationGetDescr(relation), column - 1);
}

/* A column of the root in another table; 0 for none. */
static inline AttrNumber
simhash_near_mapped(const AttrMap *map, AttrNumber column)
{
	return column == 0 ? 0 : map->attnums[column - 1];
}

/* near_fingerprint.c */
extern NearType simhash_near_type(Relation relation, AttrNumber column);
extern NearFingerprint simhash_near_fingerprint(const NearType *type,
												Datum value);
extern int	simhash_near_distance(const NearFingerprint *a,
								  const NearFingerprint *b);

/* near_terms.c */
extern Node *simhash_near_expression(Relation relation, AttrNumber column);
extern void simhash_near_check_stored(Relation relation, AttrNumber column);
extern NearTerms simhash_near_read_terms(const NearAsked *asked,
										 Relation relation);
extern NearTerms simhash_near_map_terms(const NearTerms *terms,
										const AttrMap *map,
										Relation relation);

/* near_document.c */
extern NearDocument simhash_near_open_document(Relation relation,
											   const NearTerms *terms);
extern text *simhash_near_read_document(const NearDocument *document,
										TupleTableSlot *slot);

/* How the documents of rows are had, where the terms say what they are. */
static inline NearDocument
simhash_near_bind_document(Relation relation, const NearTerms *terms)
{
	NearDocument none = {0};

	return terms->document == 0 && terms->expression == NULL ? none :
		simhash_near_open_document(relation, terms);
}

/* The document of a row, or NULL if it has none. */
static inline text *
simhash_near_get_document(const NearDocument *document, TupleTableSlot *slot)
{
	return document->context == NULL ? NULL :
		simhash_near_read_document(document, slot);
}

extern Datum simhash_near_document_value(const NearDocument *document,
										 text *value);
extern Bitmapset *simhash_near_document_columns(const NearTerms *terms);
extern bool simhash_near_same_document(const text *document,
									   const text *other);
extern double simhash_near_similarity(const NearTerms *terms,
									  const NearDocument *kind,
									  text *document, text *other);

/* near_group.c */
extern void simhash_near_bind_group(NearColumn *group, Relation relation,
									int n, const AttrNumber *columns);
extern bool simhash_near_equal(NearEquality *equality,
							   Datum value, Datum other);
extern bool simhash_near_is_of_group(const NearSearch *search,
									 const AttrNumber *columns,
									 TupleTableSlot *slot);
extern uint64 simhash_near_group_hash(const NearSpace *space,
									  const Datum *values);

/* near_time.c */
extern void simhash_near_read_time(NearTerms *terms, Relation root,
								   AttrNumber column, Interval *period);
extern TimestampTz simhash_near_time(const NearTerms *terms,
									 TupleTableSlot *slot);
extern bool simhash_near_is_in_time(const NearTerms *terms, TimestampTz time,
									TupleTableSlot *slot);

/* near_index.c */
extern int	simhash_near_in_group(const NearSpace *space,
								  const AttrNumber *group, AttrNumber column,
								  Oid collation, Oid family, Oid type,
								  StrategyNumber equal);
extern void simhash_near_find_indexes(const NearSpace *space,
									  Relation relation, NearTable *table);
extern char *simhash_near_index_columns(const NearSpace *space);

/* near_space.c */
extern void simhash_near_bind_space(NearSpace *space, Relation root,
									const NearTerms *terms,
									AttrNumber carried);
extern AttrMap *simhash_near_map_columns(const NearSpace *space,
										 Relation table);
extern void simhash_near_find(NearSpace *space, NearPlace *place);
extern List *simhash_near_primary_key(Oid table);
extern char *simhash_near_join_key(List *texts);
extern char *simhash_near_write_key(TupleTableSlot *slot, List *columns);

/* near_apart.c */
extern List *simhash_near_find_apart(Relation root, const char *name);
extern bool simhash_near_is_apart(NearApart *apart, const NearTable *table,
								  TupleTableSlot *slot);

/* near_known.c */
extern NearLoad *simhash_near_loading;

/* The load whose rows the statement at work inserts, or NULL. */
static inline NearLoad *
simhash_near_load_at_work(void)
{
	return simhash_near_loading != NULL &&
		simhash_near_loading->command == GetActiveSnapshot()->curcid ?
		simhash_near_loading : NULL;
}

extern NearKnown *simhash_near_known_begin(Oid trigger, const NearTerms *terms,
										   const NearScope *scope);
extern bool simhash_near_known_add(NearKnown *known, uint64 value, bool coming);
extern bool simhash_near_known_find(NearKnown *known);
extern bool simhash_near_take_known(NearSearch *search, const NearLoad *load,
									NearScope *scope, Oid trigger);
extern void simhash_near_note_inserted(Oid index, Datum value);

/* near_search.c */
extern bool simhash_near_look_up(Relation relation, Oid index, int nkeys,
								 ScanKey keys, NearPending *pending);
extern void simhash_near_search(NearSearch *search, const NearScope *scope);
extern bool simhash_near_hold_row(Relation relation, NearPending *pending,
								  bool wait);
extern void simhash_near_wait(NearPending *pending);
extern void simhash_near_forget_match(NearSearch *search);

/* near_lock.c */
extern LOCKTAG simhash_near_lock_tag(Oid root, uint32 value);
extern NearScheme simhash_near_scheme(int width, int radius);
extern void simhash_near_take_locks(NearLocks *locks,
									const NearFingerprint *fingerprint,
									uint64 group);
extern void simhash_near_unlock(NearLocks *locks);

/* near_statement.c */
extern void simhash_near_init(void);
extern NearStatement *simhash_near_statement(MemoryContext context,
											 Oid trigger);
extern void simhash_near_begin_row(NearStatement *statement);
extern bool simhash_near_read_header(Relation heap, ItemPointer tid,
									 HeapTupleHeader header);
extern bool simhash_near_is_undone(Relation heap, ItemPointer tid);
extern Oid	simhash_near_fires_alike;

/* near_bind.c */
extern NearOrigin simhash_near_origin(Relation relation,
									  const Trigger *trigger);
extern void simhash_near_refuse_generated(Relation relation,
										  AttrNumber column,
										  const char *hint);
extern void simhash_near_refuse_type(Relation relation, AttrNumber column,
									 const char *wanted);
extern void simhash_near_bind(NearTrigger *near, Relation relation,
							  const NearTerms *terms, const AttrMap *map);

/* near_shard.c */
extern void simhash_near_check_shard(const char *name, Relation relation,
									 const NearTerms *terms);

/* near_row.c */
extern void simhash_near_take_row(NearTrigger *near, const TriggerData *data,
								  HeapTuple row);
extern void simhash_near_enter(NearTrigger *near,
							   const NearFingerprint *fingerprint);
extern HeapTuple simhash_near_set_column(HeapTuple row, Relation relation,
										 AttrNumber column, Datum value,
										 bool isnull);

/* near_moved.c */
extern void simhash_near_check_moves(Relation relation,
									 const Trigger *trigger,
									 const NearOrigin *origin);
extern void simhash_near_note_update(NearTrigger *near, const TriggerData *data);
extern bool simhash_near_has_moved(const NearStatement *statement);
extern bool simhash_near_is_as_moved(const NearTrigger *near);

#endif							/* SIMHASH_NEAR_H */
