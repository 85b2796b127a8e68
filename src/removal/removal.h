/*-------------------------------------------------------------------------
 *
 * removal.h
 *		A plan carried out, and taken back.
 *
 * A plan is a table that a person has read (simhash_dedup_plan).  It is carried
 * out in batches, each a transaction of its own where the caller lets us end them
 * (apply.c).  Nothing of a batch is known to the next one but what the catalogue,
 * the plan and the logs say: tables are looked up, locked and checked anew
 * (tables.c).  What was done is in the logs, in steps; the last step is the first
 * to be taken back (undo.c).
 *
 * All runs with the rights of the caller.  Each step is a short statement, written
 * from a template (templates.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_REMOVAL_H
#define SIMHASH_REMOVAL_H

#include "simhash.h"

#include "executor/spi.h"
#include "nodes/pg_list.h"

#include "query/query.h"

/* What the comment of a log begins with; the rest is JSON. */
#define SIMHASH_LOG_COMMENT	"log of simhash_dedup_apply: "

/* Microseconds for which rows of a batch are to be locked. */
#define SIMHASH_BATCH_TIME	50000

/* A table of which rows go, move, or come back, with its log. */
typedef struct RemovalTable
{
	Oid			oid;
	char	   *name;			/* with its schema, quoted, as all names are;
								 * those of columns are String nodes */
	List	   *columns;		/* for an undo those that its log has */
	List	   *settable;		/* those that an INSERT can set */
	List	   *generated;		/* the others */
	List	   *key;			/* of the primary key, NIL for none */
	List	   *equals;			/* by which operators these are equal */
	List	   *moving;			/* of foreign keys whose rows move */
	char	   *log;			/* NULL for none */
	Oid			log_oid;		/* InvalidOid before it is made */

	char	   *own;			/* what names of the log's own columns begin
								 * with */
	List	   *followed;		/* key and moving columns, of which the log
								 * has what they are after a step */
	List	   *now;			/* there */
	List	   *moving_now;		/* of the moving ones */
	List	   *same;			/* that are compared with rows that came back */
} RemovalTable;

/* A foreign key that refers to the table. */
typedef struct RemovalKey
{
	Oid			oid;
	Oid			table;			/* the child, or the table itself */
	RemovalTable *child;		/* that, described; NULL if its rows are left
								 * to the server */
	bool		own;			/* its rows are of the table */
	bool		collides;		/* rows that move may be where others are */
	bool		indexed;		/* rows of the child are found by an index */
	List	   *theirs;			/* columns of the child */
	List	   *ours;			/* columns that these refer to */
	List	   *equals;
	Oid			refers_to;		/* the table, or one that has its rows */
	char	   *unfit;			/* why its rows cannot move; or NULL */
	char	   *action;			/* of ON DELETE, that changes rows; or NULL */
} RemovalKey;

/* What has been done: a subtransaction that is rolled back has not. */
typedef struct RemovalCounts
{
	int64		step;			/* the last one, done or taken back */
	int64		gone;			/* rows of the table */
	int64		moved;			/* of others */
	int64		dropped;
} RemovalCounts;

/* A call of simhash_dedup_apply or simhash_dedup_undo. */
typedef struct Removal
{
	/* what stays; the caller sets the first six */
	Oid			plan;			/* InvalidOid for none */
	char	   *log;			/* as it is said; NULL for none */
	bool		children;		/* rows of other tables move */
	bool		drops;			/* where one collides, it is dropped */
	bool		undo;
	Oid			log_oid;		/* of an undo */
	Oid			function;
	Oid			relation;
	bool		atomic;			/* it may not end the transaction */
	bool		prepares;		/* it is about to make indexes */
	MemoryContext context;		/* of the call */

	/* a batch */
	int			level;
	RemovalTable *table;
	List	   *tables;			/* all: the table, then its children */
	List	   *keys;
	List	   *others;			/* keys that are left to the server */
	List	   *words;			/* of templates: names and values, by turns */
	RemovalCounts done;
} Removal;

/* templates.c */
extern void simhash_removal_word(Removal *removal, const char *name,
								 const char *value);
extern char *simhash_removal_sql(const Removal *removal, const RemovalTable *table,
								 const RemovalKey *key, const char *template,...)
			pg_attribute_printf(4, 5);
extern uint64 simhash_removal_run(const Removal *removal, const char *command,
								  Datum lines);

/* Write a statement from a template and words, and run it. */
#define simhash_removal_do(removal, table, key, lines, ...) \
	simhash_removal_run(removal, simhash_removal_sql(removal, table, key, __VA_ARGS__), \
						lines)

extern uint64 simhash_removal_look_up(const char *query);

/* Write a query of the catalogue, and run it. */
#define simhash_removal_look(removal, ...) \
	simhash_removal_look_up(simhash_removal_sql(removal, NULL, NULL, __VA_ARGS__))

extern char *simhash_removal_own(const RemovalTable *table, const char *name);
extern Datum simhash_removal_datum(uint64 row, int column);
extern char *simhash_removal_text(uint64 row, int column);
extern List *simhash_removal_list(uint64 row, int column);
extern ErrorData *simhash_removal_try(Removal *removal, Datum lines,
									  void (*act) (Removal *, Datum));
extern void simhash_removal_halve(Removal *removal, const Datum *lines, int n,
								  void (*act) (Removal *, Datum),
								  void (*refused) (Removal *, Datum, const char *));

/* batch.c */
extern void simhash_removal_call(Removal *removal, FunctionCallInfo fcinfo,
								 void (*act) (void *removal));
extern void simhash_removal_begin(Removal *removal);
extern void simhash_removal_begin_lines(Removal *removal);
extern void simhash_removal_end(Removal *removal);

/* tables.c */
extern void simhash_removal_lock(const Removal *removal, Oid oid);
extern void simhash_removal_lock_schema(const Removal *removal, Oid schema);
extern RemovalTable *simhash_removal_table(Removal *removal, Oid oid);
extern void simhash_removal_find_table(Removal *removal);
extern void simhash_removal_find_keys(Removal *removal);
extern void simhash_removal_check_partitions(const Removal *removal);

/* logs.c */
extern void simhash_removal_find_logs(Removal *removal);
extern void simhash_removal_read_logs(Removal *removal);

#endif							/* SIMHASH_REMOVAL_H */
