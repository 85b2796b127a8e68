/*-------------------------------------------------------------------------
 *
 * cluster.h
 *		Clusters that keep themselves.
 *
 * The one job of this wing: every row of a table has, in a column of its own, the
 * number of the cluster of near-duplicates that it is in, from the moment in
 * which it is inserted or updated.  In come rows, by triggers, and calls of the
 * procedures simhash_add_clusters(), simhash_trim_clusters() and so on (step.h);
 * out go the rows with their numbers, and the table of the clusters.
 *
 * The words of the wing:
 *
 *	root		the table whose rows are in clusters, partitioned or not
 *	table of the clusters	the table that simhash_add_clusters() makes beside it
 *	deed		the policy of that table in which its owner says of which root it
 *				has the clusters, and how; PostgreSQL keeps it by OIDs and numbers
 *				of columns (terms.c)
 *	terms		what a deed says, as a struct
 *	star		the kind of clusters in which all rows are near one fingerprint, that
 *				of the representative, a row of the table of the clusters (star.c)
 *	connected	the kind in which any two rows near each other are in one cluster
 *				(connected.c)
 *	forest		connected clusters that have been merged: each is a link to an older
 *				one in the table of the clusters (forest.c)
 *	copy		a second representative, or link, that a transaction has made as the
 *				first may be rolled back or deleted; it has a negative number
 *	start		a representative, or copy, that a statement has added, and takes back
 *				as it ends if no row needs it (star.c, xact.c)
 *	fault		what simhash_check_clusters() finds (check.c), and to mend is to put
 *				it right (mend.c)
 *	trim		to delete what no row is in from the table of the clusters (trim.c)
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTER_H
#define SIMHASH_CLUSTER_H

#include "near/near.h"

#include "storage/lmgr.h"
#include "utils/fmgroids.h"

#include "relation.h"

/* Columns that the table of the clusters has, beside the representatives'. */
typedef enum ClusterColumn
{
	CLUSTER_ID,					/* negative for a copy */
	CLUSTER_COPY_OF,			/* what cluster a copy is one of */
	CLUSTER_MADE,				/* star: when */
	CLUSTER_UNUSED_SINCE,		/* no row was in it then; see trim.c */
	CLUSTER_MERGED_INTO,		/* connected; see forest.c */
	CLUSTER_MERGED_AT
} ClusterColumn;

#define CLUSTER_COLUMNS		(CLUSTER_MERGED_AT + 1)

/* A column of the root, and the expression by which it is generated. */
typedef struct ClusterGenerated
{
	AttrNumber	column;
	Node	   *expression;
} ClusterGenerated;

/* What a deed says; numbers of columns are those of the one or other table. */
typedef struct ClusterTerms
{
	Oid			clusters;		/* the table of the clusters */
	NameData	policy;			/* of it: the deed */
	bool		star;			/* the kind; otherwise connected */

	/* the root, the table whose rows are in clusters */
	Oid			root;
	NearTerms	terms;			/* their type is not set by the deed */
	AttrNumber	cluster;		/* the column that we keep */
	AttrNumber	since;			/* that of the time, or 0 */
	List	   *generated;		/* of ClusterGenerated */

	/* the table of the clusters */
	AttrNumber	columns[CLUSTER_COLUMNS];
	AttrNumber	fingerprint;	/* star: of the representative */
	AttrNumber *group;
	AttrNumber	document;

	/* how far the set-up is */
	bool		later;			/* rows get no clusters yet */
	Oid			work;			/* the table of what was computed */
} ClusterTerms;

/* A column that terms may name, but for those of the group. */
typedef struct ClusterKey
{
	const char *key;			/* in a deed (terms.c) */
	const char *word;			/* in a template (upkeep/sql.c) */
	bool		theirs;			/* of the table of the clusters */
	Oid			type;			/* invalid for any */
	size_t		place;			/* in ClusterTerms */
	int			kinds;			/* of clusters that need it, as a set */
} ClusterKey;

#define CLUSTER_STAR		1
#define CLUSTER_CONNECTED	2
#define CLUSTER_KEYS		12

extern const ClusterKey simhash_clusters_keys[CLUSTER_KEYS];

/* The number of the column of such a key; 0 if the terms name none. */
static inline AttrNumber *
simhash_clusters_column(const ClusterTerms *terms, int key)
{
	return (AttrNumber *) ((char *) terms + simhash_clusters_keys[key].place);
}

/* How the trigger takes clusters that a command of ours writes to a table. */
typedef enum ClusterWriting
{
	CLUSTERS_AS_GIVEN,
	CLUSTERS_ANEW				/* rows join as if they arrived */
} ClusterWriting;

/* The command of ours that is writing clusters to a table, if any. */
typedef struct ClusterWriter
{
	Oid			table;			/* InvalidOid for none */
	ClusterWriting how;
	int			depth;			/* of triggers, where it fires ours */
} ClusterWriter;

/* Different clusters, in order. */
typedef struct ClusterSet
{
	int			n;
	int64	   *ids;
} ClusterSet;

/* A scan of rows by a number in a column; NULL members where no index tells. */
typedef struct ClusterScan
{
	Relation	index;
	IndexScanDesc scan;
	TupleTableSlot *slot;		/* the row found last */
} ClusterScan;

/* The trigger of one table. */
typedef struct ClusterTrigger
{
	NearTrigger near;
	const ClusterTerms *terms;
	AttrNumber	cluster;		/* columns of that table */
	AttrNumber	since;			/* or 0 */
} ClusterTrigger;

/* terms.c */
pg_noreturn extern void simhash_clusters_complain(Oid clusters);
pg_noreturn extern void simhash_clusters_complain_of_none(Relation relation,
														  const char *column);
extern Oid	simhash_clusters_of_trigger(const Trigger *trigger);
extern ClusterTerms *simhash_clusters_read(Oid clusters);
extern ClusterTerms *simhash_clusters_read_owned(Oid clusters, Oid owner);
extern ClusterTerms *simhash_clusters_find(Relation relation,
										   const char *column);
extern bool simhash_clusters_fill(Relation relation, const char *column);
extern bool simhash_clusters_complete(const ClusterTerms *terms);
extern void simhash_clusters_set_type(ClusterTerms *terms);
extern char *simhash_clusters_write(const ClusterTerms *terms, Oid function);
extern PGDLLEXPORT Datum _simhash_cluster_terms(PG_FUNCTION_ARGS);

/* table.c */
extern void simhash_clusters_check_table(const ClusterTerms *terms);
extern Relation simhash_clusters_open(const ClusterTerms *terms);
extern Relation simhash_clusters_open_key(const ClusterTerms *terms,
										  Relation clusters);
extern NearTerms simhash_clusters_searched(const ClusterTerms *terms,
										   Relation clusters);
extern void simhash_clusters_bind_space(NearSpace *space,
										const ClusterTerms *terms, bool star);
extern void simhash_clusters_truncate(const ClusterTerms *terms);
extern int64 simhash_clusters_number(const ClusterTerms *terms,
									 TupleTableSlot *slot,
									 ClusterColumn column);
extern int64 simhash_clusters_of(const ClusterTerms *terms,
								 TupleTableSlot *slot);
extern TupleTableSlot *simhash_clusters_begin_row(const ClusterTerms *terms,
												  Relation clusters,
												  int64 id);
extern void simhash_clusters_set(TupleTableSlot *slot, AttrNumber column,
								 Datum value);
extern void simhash_clusters_insert(Relation clusters, TupleTableSlot *slot);
extern bool simhash_clusters_fetch(Relation clusters, ItemPointer tid,
								   TupleTableSlot *slot);
extern void simhash_clusters_delete(Relation clusters, ItemPointer tid);
extern TupleTableSlot *simhash_clusters_copy_row(Relation clusters,
												 TupleTableSlot *slot);
extern IndexScanDesc simhash_clusters_scan(Relation relation, Relation index,
										   Snapshot snapshot,
										   StrategyNumber strategy,
										   int64 value);
extern bool simhash_clusters_find_number(Relation clusters, Relation key,
										 Snapshot snapshot, int64 number,
										 TupleTableSlot *slot);
extern bool simhash_clusters_is_there(const ClusterTerms *terms,
									  Relation clusters, int64 id);

/* members.c */
extern bool simhash_clusters_has_index(Relation relation, AttrNumber column);
extern bool simhash_clusters_begin_scan(ClusterScan *scan, Relation relation,
										AttrNumber column, bool partial,
										Snapshot snapshot,
										StrategyNumber strategy, int64 value);
extern bool simhash_clusters_next(ClusterScan *scan);
extern void simhash_clusters_end_scan(ClusterScan *scan);
extern bool simhash_clusters_find_row(const ClusterTerms *terms, Oid table,
									  int64 id, text *document, bool *any);
extern bool simhash_clusters_any_row(const ClusterTerms *terms);
extern text *simhash_clusters_any_document(const ClusterTerms *terms,
										   int64 id);
extern int64 simhash_clusters_greatest(const ClusterTerms *terms,
									   Relation clusters);

/* ids.c */
extern Oid	simhash_clusters_sequence(const ClusterTerms *terms);
extern int64 simhash_clusters_last(const ClusterTerms *terms);
extern int64 simhash_clusters_see_greatest(const ClusterTerms *terms,
										   bool now);
extern void simhash_clusters_check_sequence(const ClusterTerms *terms);
extern int64 simhash_clusters_new(const ClusterTerms *terms, bool copy);

/* texts.c */
extern void simhash_clusters_take_document(const ClusterTerms *terms,
										   Relation clusters,
										   TupleTableSlot *slot);
extern void simhash_clusters_take_text(const ClusterTerms *terms, int64 id,
									   text *document);

/* forest.c */
extern bool simhash_clusters_has(const ClusterSet *clusters, int64 id);
extern void simhash_clusters_add(ClusterSet *clusters, int64 id);
extern ClusterSet simhash_clusters_current(const ClusterTerms *terms,
										   const ClusterSet *clusters,
										   Snapshot snapshot);
extern int64 simhash_clusters_current_of(const ClusterTerms *terms, int64 id,
										 Snapshot snapshot);
extern void simhash_clusters_merge(const ClusterTerms *terms,
								   const ClusterSet *clusters);

/* xact.c */
extern ClusterWriter simhash_clusters_begin_writing(Oid table, ClusterWriting how);
extern void simhash_clusters_end_writing(ClusterWriter before);
extern bool simhash_clusters_are_written(Oid table, ClusterWriting how);
extern void simhash_clusters_note_merge(Oid clusters, int64 cluster,
										const NearFingerprint *fingerprint);
extern bool simhash_clusters_any_merge(void);
extern bool simhash_clusters_is_merge(Oid clusters, int64 cluster,
									  const NearFingerprint *fingerprint);
extern void simhash_clusters_note_row(const ClusterTrigger *trigger,
									  int64 cluster, int64 number);
extern List *simhash_clusters_forget_start(Oid clusters, int64 cluster,
										   int64 number);

/* trigger_bind.c */
extern ClusterTerms *simhash_clusters_get_terms(Relation relation,
												const Trigger *trigger);
extern void simhash_clusters_check_plain(Relation relation, AttrNumber column);
extern AttrMap *simhash_clusters_map_columns(const ClusterTerms *terms,
											 Relation relation);
extern AttrNumber simhash_clusters_other_expression(Relation relation,
													const ClusterTerms *terms);
extern NearDocument simhash_clusters_bind_document(const ClusterTerms *terms,
												   Relation relation);
extern ClusterTrigger *simhash_clusters_trigger(FunctionCallInfo fcinfo);
extern bool simhash_clusters_get_number(Relation relation, HeapTuple row,
										AttrNumber column, int64 *number);

/* star.c */
extern int64 simhash_clusters_join_star(ClusterTrigger *trigger);
extern void simhash_clusters_see_start(FunctionCallInfo fcinfo);

/* connected.c */
extern int64 simhash_clusters_join_connected(ClusterTrigger *trigger,
											 const TriggerData *data,
											 bool given);
extern void simhash_clusters_merge_around(ClusterTrigger *trigger,
										  const TriggerData *data);

/* trigger.c */
extern PGDLLEXPORT Datum simhash_cluster(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_CLUSTER_H */
