/*-------------------------------------------------------------------------
 *
 * query.h
 *		Queries that a caller gives as text, and how far a long call is.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_QUERY_H
#define SIMHASH_QUERY_H

#include "simhash.h"

#include "datatype/timestamp.h"
#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "tcop/dest.h"
#include "utils/queryenvironment.h"

/* A query: as it is given, and what has been made of it. */
typedef struct SimhashStatement
{
	const char *text;
	const char *example;		/* of such a query */
	Oid		   *types;			/* of parameters */
	int			ntypes;
	QueryEnvironment *stores;	/* tuplestores that it can read, by name */
	Query	   *query;			/* set by simhash_analyze */
} SimhashStatement;

/* A call whose progress is shown. */
typedef struct SimhashProgress
{
	struct SimhashProgress *outer;	/* whose query made this call, or NULL */
	const char *name;
	TimestampTz said;			/* when we last said something */
	TimestampTz searching;		/* when the search began, or 0 */
	bool		renamed;		/* the session goes by another name */
} SimhashProgress;

#define SIMHASH_SAY_EVERY	65536	/* rows between two looks at the clock */

/* statement.c */
extern void simhash_analyze(SimhashStatement *statement);
extern void simhash_run(const SimhashStatement *statement,
						ParamListInfo parameters, DestReceiver *receiver);
extern TupleDesc simhash_columns(const SimhashStatement *statement);
extern void simhash_begin_receiver(DestReceiver *receiver,
								   void (*startup) (DestReceiver *self,
													int operation,
													TupleDesc desc),
								   bool (*receive) (TupleTableSlot *slot,
													DestReceiver *self));

/* progress.c */
extern void simhash_progress_init(void);
extern void simhash_progress_begin(SimhashProgress *progress,
								   const char *name);
extern void simhash_progress_step(const char *what);
extern void simhash_progress_rows(const char *what, int64 rows);
extern void simhash_progress_part(const char *what, double done);
extern void simhash_progress_done(void *context, double done);
extern void simhash_progress_end(SimhashProgress *progress);

#endif							/* SIMHASH_QUERY_H */
