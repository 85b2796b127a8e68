/*-------------------------------------------------------------------------
 *
 * report.h
 *		The near-duplicates in a table: a report, and the DELETE.
 *
 * In comes a table, with an expression for the fingerprint of a row, a distance,
 * which rows take part, which of them are compared, and how; report_table.c finds out
 * what else has to be known, report_texts.c writes it for queries, and dedup.c hands it
 * to SQL.  There, in the extension's script, the texts are written: of a report, a
 * plan, a DELETE.  Nothing in the table is changed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_REPORT_H
#define SIMHASH_REPORT_H

#include "pairs/pairs.h"

#include "catalog/pg_inherits.h"

/* The column in which a query of ours has the documents. */
#define SIMHASH_DOCUMENT_COLUMN	"simhash document"

/* The arguments of a call about a table, as _simhash_dedup_table has them. */
typedef enum SimhashTableArgument
{
	SIMHASH_OF_RELATION,
	SIMHASH_OF_FINGERPRINT,
	SIMHASH_OF_K,
	SIMHASH_OF_KIND,
	SIMHASH_OF_KEEP,
	SIMHASH_OF_WITHIN,
	SIMHASH_OF_DOCUMENT,		/* the first of several */
	SIMHASH_OF_APART = SIMHASH_OF_DOCUMENT + SIMHASH_DOCUMENT_ARGUMENTS,
	SIMHASH_OF_CONDITION,
	SIMHASH_OF_MOMENT,
	SIMHASH_OF_NEAR_IN,
	SIMHASH_OF_REPORTS
}			SimhashTableArgument;

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
	const char *name;			/* with its schema, quoted */
	SimhashPlace place;
	List	   *key;			/* columns of the primary key, quoted; without
								 * one, those that say where a row is */
	List	   *key_types;		/* of these */
	bool		keyed;			/* it is a primary key */
	const char *order;			/* of rows: what comes first stays */
	const char *apart;			/* a table of pairs that are no duplicates */
	const char *condition;		/* that rows meet; or NULL */
	const char *moment;			/* of a row, a timestamp; or NULL */
	const char *near_in;		/* how far moments may be from each other */
	bool		parted;			/* it may have children: ctid is not enough */
	const char *source;			/* as FROM names it: ONLY, where ctid is */
	List	   *groups;			/* in which rows are equal: expressions */
	const char *fingerprint;	/* an expression */
	Oid			type;			/* of it, without domains */
	int			width;			/* of a bit string, if its type says */
	const char *document;		/* an expression; NULL if it is not known */
	Oid			document_type;	/* of it */
	SimhashDocumentOptions compare; /* with what follows from the fingerprint */
	SimhashDocuments *documents;	/* to take them; NULL if they are not
									 * known */
	bool		decides;		/* the documents do, not only distances */
	Bitmapset  *compared;		/* columns that all these expressions read */
} SimhashTable;

/* report_table.c */
extern void simhash_find_rows(SimhashTable *table);
extern int64 simhash_find_table(SimhashTable *table, FunctionCallInfo fcinfo);

/* report_texts.c */
extern char *simhash_write_cast(const char *expression, Oid given, Oid type);
extern char *simhash_write_key(const SimhashTable *table, const char *alias);
extern char *simhash_write_rows(const SimhashTable *table, const char *columns);
extern char *simhash_write_apart(const SimhashTable *table);
extern char *simhash_write_has_key(const SimhashTable *table, const char *row,
								   const char *array);
extern char *simhash_list(const List *expressions, const char *before,
						  const char *between);

#endif							/* SIMHASH_REPORT_H */
