/*-------------------------------------------------------------------------
 *
 * step.h
 *		The procedures about clusters, and the steps in which they go.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_STEP_H
#define SIMHASH_CLUSTERS_STEP_H

#include "clusters/cluster.h"

#include "executor/spi.h"

#include "query/query.h"

/* A call of one of the procedures, about a column of a table. */
typedef struct ClusterCall
{
	/* what stays; the caller sets the first six */
	bool		reads;			/* and changes nothing */
	bool		sets_up;		/* the clusters need not be set up yet */
	bool		shared;			/* other sessions may do the same */
	FunctionCallInfo fcinfo;	/* a check: its rows are the faults */
	const char *anew;			/* a mend: which rows join anew; NULL for none */
	const char *older_than;		/* a trim: how long no row was in what goes */
	Oid			function;		/* that is called */
	Oid			table;
	char	   *column;
	bool		atomic;			/* it may not end the transaction */
	LockData   *locks;			/* of all sessions, as the call began */

	/* a step: the table, locked, as its owner */
	MemoryContext context;		/* of the step */
	MemoryContext outer;
	Relation	relation;
	List	   *tables;			/* the root, and its partitions as the step
								 * began */
	ClusterTerms *terms;		/* NULL before the deed is found */
	char	   *name;			/* of the table, with its schema, quoted */
	bool		parted;			/* partitioned: rows are told by tableoid and
								 * ctid */
	const char *source;			/* as FROM names it: ONLY, unless it is parted */
	SimhashRole before;			/* who called */
	bool		foreign;		/* the caller is not the owner */
} ClusterCall;

/* A call of simhash_add_clusters(). */
typedef struct ClusterSetup
{
	ClusterCall call;
	NearAsked	asked;
	bool		star;			/* the kind */
	char	   *since;			/* NULL for none */
	char	   *schema;			/* of what is made; NULL for the table's */
	bool		index;
	bool		adopt;			/* columns that are there */
} ClusterSetup;

/* What may be wrong with the clusters of a table. */
typedef enum ClusterFault
{
	FAULT_NO_CLUSTER,
	FAULT_MISFIT,
	FAULT_ID_NOT_GIVEN,
	FAULT_BAD_ROW,
	FAULT_NOT_REPRESENTED,		/* star, as what follows */
	FAULT_ONLY_COPIES,
	FAULT_NEAR_REPRESENTATIVES,
	FAULT_NOT_NEAR,
	FAULT_TEXT_LEFT,
	FAULT_NOT_CONNECTED,		/* connected, as what follows */
	FAULT_COME_APART
} ClusterFault;

#define CLUSTER_FAULTS	(FAULT_COME_APART + 1)

/* Rows of the root: which of them. */
typedef enum ClusterRows
{
	ROWS_WITHOUT_CLUSTER,		/* though they can be in one */
	ROWS_MISFIT,				/* in a cluster, though they can be in none */
	ROWS_NOT_NEAR,				/* star: not near their representative */
	ROWS_OF_CLUSTERS,			/* whose ids are listed */
	ROWS_ASKED_FOR				/* by a condition of the caller's */
} ClusterRows;

/* sql.c */
extern char *simhash_upkeep_sql(const ClusterCall *call,
								const char *template,...) pg_attribute_printf(2, 3);
extern uint64 simhash_upkeep_run(const ClusterCall *call, const char *command);
extern uint64 simhash_upkeep_run_writing(const ClusterCall *call, const char *command,
										 Oid table, ClusterWriting how);
extern int64 simhash_upkeep_number(uint64 row, int column);

/* Run what simhash_upkeep_sql() writes; returns how many rows it is about. */
#define simhash_upkeep_do(call, ...) \
	simhash_upkeep_run(call, simhash_upkeep_sql(call, __VA_ARGS__))

/* The same, of a command that writes to the table of the clusters. */
#define simhash_upkeep_write(call, ...) \
	simhash_upkeep_run_writing(call, simhash_upkeep_sql(call, __VA_ARGS__), \
								(call)->terms->clusters, CLUSTERS_AS_GIVEN)

/* step.c */
extern void simhash_upkeep_call(ClusterCall *call, FunctionCallInfo fcinfo,
								int column, void (*act) (ClusterCall *));
extern void simhash_upkeep_begin_table(ClusterCall *call, LOCKMODE lockmode);
extern ClusterTerms *simhash_upkeep_find(ClusterCall *call);
extern ClusterTerms *simhash_upkeep_begin_step(ClusterCall *call,
											   LOCKMODE lockmode);
extern void simhash_upkeep_end_step(ClusterCall *call);
extern void simhash_upkeep_alter(ClusterCall *call, const char *command);
extern int	simhash_upkeep_drop_triggers(ClusterCall *call, Oid clusters);

/* sql.c */
extern char *simhash_upkeep_query(const ClusterCall *call, const char *within,
								  const char *condition, bool representatives);
extern char *simhash_upkeep_rows(const ClusterCall *call, ClusterRows which,
								 const char *argument);
extern char *simhash_upkeep_bad_row(const ClusterCall *call);
extern char *simhash_upkeep_text_left(const ClusterCall *call);

/* check.c */
extern char *simhash_upkeep_fault(const ClusterCall *call, ClusterFault fault);

/* join.c */
extern bool simhash_upkeep_try(const ClusterCall *call, const char *command, Oid table,
							   ClusterWriting how, bool wait);
extern Relation simhash_upkeep_open_part(const ClusterCall *call, Oid table);
extern uint64 simhash_upkeep_join(ClusterCall *call, ClusterRows which,
								  const char *argument, bool once);

/* bind.c */
extern bool simhash_upkeep_has_triggers(const ClusterCall *call, bool theirs);
extern bool simhash_upkeep_make_triggers(ClusterCall *call);
extern void simhash_upkeep_make_index(const ClusterCall *call);
extern void simhash_upkeep_depend(const ClusterCall *call);
extern void simhash_upkeep_write_deed(const ClusterCall *call, bool anew);

/* create.c */
extern NearTerms simhash_upkeep_read_terms(const ClusterSetup *setup);
extern Oid	simhash_upkeep_create_table(const ClusterCall *call, Oid schema, const char *first,
										const char *second, bool unlogged,
										const char *definition);
extern void simhash_upkeep_create(ClusterSetup *setup);

/* fill.c */
extern void simhash_upkeep_compute(ClusterSetup *setup);
extern void simhash_upkeep_fill(ClusterCall *call);

/* trim.c */
extern void simhash_upkeep_promote(const ClusterCall *call, bool all);

#endif							/* SIMHASH_CLUSTERS_STEP_H */
