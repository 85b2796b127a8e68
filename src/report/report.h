/*-------------------------------------------------------------------------
 *
 * report.h
 *		The near-duplicates in a table: a report, and the DELETE.
 *
 * In comes a table, with an expression for the fingerprint of a row, a
 * distance, columns of groups, and how documents are compared; report_table.c
 * finds out what else has to be known.  Out go the lines of simhash_report
 * (report.c, report_lines.c), or the text of a DELETE that keeps one row of
 * each cluster (dedup.c).  Nothing in the table is changed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_REPORT_H
#define SIMHASH_REPORT_H

#include "pairs/pairs.h"

#include "catalog/pg_inherits.h"

/* Where the rows of a table are. */
typedef enum SimhashPlace
{
	SIMHASH_HERE,
	SIMHASH_FOREIGN,			/* some, at least, in a foreign table */
	SIMHASH_DISTRIBUTED			/* by Citus */
} SimhashPlace;

/* A table, or what else has rows. */
typedef struct SimhashTable
{
	Oid			oid;
	char		relkind;
	const char *name;			/* with its schema, quoted */
	SimhashPlace place;
	List	   *key;			/* of distributed rows: expressions */
	bool		parted;			/* it may have children: ctid is not enough */
	const char *source;			/* as FROM names it: ONLY, where ctid is */
	List	   *groups;			/* columns, as expressions */
	List	   *columns;		/* their names in a report: c1, c2, ... */
	const char *fingerprint;	/* an expression */
	Oid			type;			/* of it, without domains */
	int			width;			/* of a bit string, if its type says */
	SimhashDocumentOptions compare;	/* with what follows from the fingerprint */
	SimhashDocuments *documents;	/* to take them; NULL if they are not known */
	bool		decides;		/* the documents do, not only distances */
} SimhashTable;

/* A report that is being made. */
typedef struct SimhashTableReport
{
	SimhashTable table;
	int64		k;
	const char *within;			/* the argument, as a literal */
	QueryEnvironment *stores;
	SimhashStatement fetch;		/* the rows of the table */
	SimhashStatement show;		/* one of them, by parameters */
	EphemeralNamedRelation rows;	/* n, fp, bytes, place, part, c1, c2, ... */
	EphemeralNamedRelation members; /* of clusters, by n */
	EphemeralNamedRelation texts;	/* n, value: rows that are shown */
	SimhashTally tally;			/* of pairs, if documents are known */
	const char *given;			/* what is said of them, as arguments of a call */
	Tuplestorestate *result;
} SimhashTableReport;

/* report_table.c */
extern int	simhash_enter_catalog(void);
extern void simhash_leave_catalog(int level);
extern char *simhash_ask(const char *query);
extern void simhash_find_table(SimhashTable *table, Oid relation,
							   const char *relkinds, const char *fingerprint,
							   ArrayType *within, int64 k,
							   const SimhashDocumentOptions *options);
extern char *simhash_write_number(double number);
extern char *simhash_write_options(const SimhashDocumentOptions *options);
extern char *simhash_list(const List *expressions, const char *before,
						  const char *between);

/* report_lines.c */
extern char *simhash_write_lines(const SimhashTableReport *report);

#endif							/* SIMHASH_REPORT_H */
