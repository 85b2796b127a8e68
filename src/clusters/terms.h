/*-------------------------------------------------------------------------
 *
 * terms.h
 *		By what the clusters of a table are kept, and what keeps them: the deed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_TERMS_H
#define SIMHASH_CLUSTERS_TERMS_H

#include "guard/guard.h"

#include "catalog/pg_class.h"
#include "utils/reltrigger.h"

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

/* A column of the table, and the expression by which it is generated. */
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

	/* the table whose rows are in clusters; the type of terms is not set */
	Oid			root;
	GuardTerms	terms;
	AttrNumber	cluster;		/* the column that we keep */
	AttrNumber	since;			/* that of the time, or 0 */
	List	   *generated;		/* of ClusterGenerated */

	/* the table of the clusters */
	AttrNumber	columns[CLUSTER_COLUMNS];
	AttrNumber	fingerprint;	/* star: of what represents a cluster */
	AttrNumber *group;
	AttrNumber	document;

	/* how far the set-up is */
	bool		later;			/* rows get no clusters yet */
	Oid			work;			/* the table of what was computed */
} ClusterTerms;

/* The measure, as arguments name it. */
static inline const char *
simhash_clusters_measure(const ClusterTerms *terms)
{
	return terms->terms.measure == SIMHASH_COSINE ? "cosine" : "jaccard";
}

/* terms.c */
extern void simhash_clusters_watch(void);
extern FormData_pg_class simhash_clusters_class(Oid table);
extern Oid	simhash_clusters_of_trigger(const Trigger *trigger);
extern ClusterTerms *simhash_clusters_read(Oid clusters);
extern ClusterTerms *simhash_clusters_read_owned(Oid clusters, Oid owner);
extern ClusterTerms *simhash_clusters_find(Relation relation,
										   const char *column);
extern void simhash_clusters_set_type(ClusterTerms *terms, Relation root);
extern void simhash_clusters_complain(Oid clusters);
extern char *simhash_clusters_write(const ClusterTerms *terms, Oid function);

#endif							/* SIMHASH_CLUSTERS_TERMS_H */
