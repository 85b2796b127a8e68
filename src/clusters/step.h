/*-------------------------------------------------------------------------
 *
 * step.h
 *		The steps in which clusters are set up, taken down and mended.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_STEP_H
#define SIMHASH_CLUSTERS_STEP_H

#include "clusters/terms.h"
#include "clusters/trigger.h"

#include "fmgr.h"
#include "storage/lockdefs.h"

/* A call of one of the procedures, about a column of a table. */
typedef struct ClusterCall
{
	/* what stays */
	Oid			function;		/* that is called */
	Oid			table;
	char	   *column;
	bool		reads;			/* and changes nothing */
	bool		atomic;			/* it may not end the transaction */

	/* a step: the table, locked, as its owner */
	MemoryContext context;		/* of the step */
	MemoryContext outer;
	Relation	relation;
	char	   *name;			/* of the table, with its schema, quoted */
	bool		parted;			/* a ctid is not enough */
	const char *source;			/* as FROM names it: ONLY, where a ctid is */
	Oid			user;
	bool		foreign;		/* he is not the owner */
	int			security;
	int			level;
	List	   *locks;			/* advisory ones that the session has */
} ClusterCall;

/* step.c */
extern void simhash_cluster_begin(ClusterCall *call, FunctionCallInfo fcinfo,
								  Oid table, const char *column);
extern void simhash_cluster_begin_call(ClusterCall *call,
									   FunctionCallInfo fcinfo);
extern void simhash_cluster_check_set_up(const ClusterCall *call,
										 const ClusterTerms *terms);
extern void simhash_cluster_alone(ClusterCall *call, const char *name,
								  void (*act) (void *), void *argument);
extern void simhash_cluster_need_transactions(const ClusterCall *call,
											  const char *name);
extern void simhash_cluster_end(ClusterCall *call);
extern void simhash_cluster_isolate(const char *level);
extern void simhash_cluster_begin_step(ClusterCall *call, LOCKMODE lockmode);
extern void simhash_cluster_end_step(ClusterCall *call);
extern ClusterTerms *simhash_cluster_find(ClusterCall *call);
extern void simhash_cluster_alter(ClusterCall *call, const char *command);
extern int	simhash_cluster_drop_triggers(ClusterCall *call, Oid clusters);
extern uint64 simhash_cluster_run(const char *command);
extern int64 simhash_cluster_number(uint64 row, int column);
extern uint64 simhash_cluster_run_writing(const char *command, Oid table,
										  ClusterWriting how);
extern void simhash_cluster_set(const char *name, const char *value);
extern void simhash_cluster_run_each(const char *query);
extern const char *simhash_cluster_schema(const ClusterCall *call);
extern const char *simhash_cluster_name(Oid table, AttrNumber column);

#endif							/* SIMHASH_CLUSTERS_STEP_H */
