/*-------------------------------------------------------------------------
 *
 * query.h
 *		Calls that are given a query as text, and that may take long; and commands that
 *		we have written.
 *
 * In come the arguments of such a call; what goes out are the rows of its
 * query, one by one, to a function of the caller.  A query only reads, with
 * the rights of the caller, and in the snapshot that the calling statement
 * has (statement.c).  While the call lasts it can show how far it is
 * (progress.c).
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
#include "utils/tuplestore.h"

/* A query: as it is given, and what has been made of it. */
typedef struct SimhashStatement
{
	const char *text;
	const char *example;		/* of such a query */
	List	   *relations;		/* in FROM; NIL: any */
	PGFunction	source;			/* the only function there; or NULL */
	bool		ours;			/* we have written it, not the user */
	double	   *expected;		/* where to put the rows that the planner
								 * expects; or NULL */
	Query	   *query;			/* set by simhash_analyze */
} SimhashStatement;

/*
 * What is done with the rows of a query: "columns" is called once, before the
 * first row, and may be NULL; "row" is called with each row, all columns of
 * which have been fetched.
 */
typedef struct SimhashRowReader
{
	void		(*columns) (void *context, TupleDesc desc);
	void		(*row) (void *context, TupleTableSlot *slot);
	void	   *context;
} SimhashRowReader;

/* The words of a template (template.c): each function is given the context. */
typedef struct SimhashVocabulary
{
	/* NULL if there is no such word */
	const char *(*find_word) (const void *context, const char *name);

	/* a list of String nodes, and those beside it; fails if there is none */
	void		(*find_lists) (const void *context, const char *name, const List **lists);
	const void *context;
} SimhashVocabulary;

#define SIMHASH_LISTS		3

/* A call whose progress is shown. */
typedef struct SimhashProgress
{
	struct SimhashProgress *outer;	/* whose query made this call, or NULL */
	const char *name;
	TimestampTz said;			/* when something was last said */
} SimhashProgress;

#define SIMHASH_SAY_EVERY	65536	/* rows between two looks at the clock */

/* statement.c */
extern List *simhash_readable;
extern void simhash_analyze(SimhashStatement *statement);
extern void simhash_run_into(const SimhashStatement *statement,
							 Tuplestorestate *store);
extern void simhash_read(const SimhashStatement *statement,
						 const SimhashRowReader *reader);
extern TupleDesc simhash_columns(const SimhashStatement *statement);

/* command.c */
pg_noreturn extern void simhash_complain_of_renaming(Oid table);
extern uint64 simhash_run_hooked(const char *command, ParamListInfo params);
extern uint64 simhash_run_command(const List *relations, const char *command, int n,
								  const Oid *types, const Datum *values);
extern void simhash_revoke_all(Oid relation);
extern bool simhash_is_atomic(FunctionCallInfo fcinfo);
extern void simhash_end_transaction(void);
extern ErrorData *simhash_try(void (*work) (void *context), void *context);

/* template.c */
extern char *simhash_write_template(const SimhashVocabulary *words, const char *template,
									va_list args) pg_attribute_printf(2, 0);

/* progress.c */
extern void simhash_progress_init(void);
extern void simhash_progress_begin(SimhashProgress *progress,
								   const char *name);
extern void simhash_progress_step(const char *what);
extern void simhash_progress_rows(const char *what, int64 rows);
extern void simhash_progress_part(const char *what, double done);
extern void simhash_progress_done(void *context, double done);
extern void simhash_progress_end(SimhashProgress *progress);
extern void simhash_show_progress(const char *name,
								  void (*work) (void *context),
								  void *context);

#endif							/* SIMHASH_QUERY_H */
