/*-------------------------------------------------------------------------
 *
 * cluster_setup.h
 *		What sets up, takes down and mends clusters that keep themselves.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTER_SETUP_H
#define SIMHASH_CLUSTER_SETUP_H

#include "guard/guard.h"

/* A call of one of the procedures, about a column of a table. */
typedef struct ClusterCall
{
	/* what stays */
	Oid			function;		/* that is called */
	Oid			table;
	char	   *column;
	bool		atomic;			/* it may not end the transaction */

	/* a step: the table, locked, as its owner */
	MemoryContext context;		/* of the step */
	MemoryContext outer;
	Relation	relation;
	char	   *name;			/* of the table, with its schema, quoted */
	bool		parted;			/* a ctid is not enough */
	const char *source;			/* as FROM names it: ONLY, where a ctid is */
	Oid			user;
	int			security;
	int			level;
} ClusterCall;

/* What a table has of its clusters. */
typedef struct ClusterParts
{
	Trigger    *trigger;		/* NULL: nothing; lives as long as a step */
	bool		later;			/* rows get no clusters yet */
	char	   *clusters;		/* the table, with its schema, quoted */
	char	   *work_name;		/* of the work table, without its schema */
	char	   *work;			/* with it, quoted */
	Oid			work_table;		/* InvalidOid if there is none */
} ClusterParts;

/* The comment of the view, by which that is found again. */
#define CLUSTER_VIEW_COMMENT	"clusters by size, made by simhash_add_clusters()"

/* cluster_step.c */
extern void simhash_cluster_begin(ClusterCall *call, FunctionCallInfo fcinfo,
								  Oid table, const char *column);
extern void simhash_cluster_end(ClusterCall *call);
extern void simhash_cluster_isolate(const char *level);
extern void simhash_cluster_begin_step(ClusterCall *call, LOCKMODE lockmode);
extern void simhash_cluster_end_step(ClusterCall *call);
extern void simhash_cluster_complain_of_work(const char *name);
extern ClusterParts simhash_cluster_find(ClusterCall *call, bool missing_ok);
extern Guard *simhash_cluster_bind(const ClusterCall *call, Trigger *trigger);
extern void simhash_cluster_alter(ClusterCall *call, const char *command);
extern uint64 simhash_cluster_run(const char *command);
extern void simhash_cluster_run_each(const char *query);
extern char *simhash_cluster_id(const ClusterCall *call, const char *alias);
extern char *simhash_cluster_columns(const List *names, const char *before);
extern char *simhash_cluster_query(const ClusterCall *call,
								   const Guard *guard, const char *current);

#endif							/* SIMHASH_CLUSTER_SETUP_H */
