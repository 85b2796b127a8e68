/*-------------------------------------------------------------------------
 *
 * report_table.h
 *		What simhash_report and simhash_dedup_sql have to know of a table.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_REPORT_TABLE_H
#define SIMHASH_REPORT_TABLE_H

#include "pairs/documents.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "utils/array.h"

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
	const char *fingerprint;	/* an expression */
	Oid			type;			/* of it, without domains */
	int			width;			/* of a bit string, if its type says */
	SimhashDocumentOptions compare;	/* with what follows from the fingerprint */
	SimhashDocuments *documents;	/* to take them; NULL if they are not known */
	bool		decides;		/* the documents do, not only distances */
} SimhashTable;

/* report_table.c */
extern int	simhash_enter_catalog(void);
extern void simhash_leave_catalog(int level);
extern char *simhash_ask(const char *query);
extern void simhash_find_table(SimhashTable *table, Oid relation,
							   const char *relkinds, const char *fingerprint,
							   ArrayType *within, int64 k,
							   const SimhashDocumentOptions *options);
extern const char *simhash_fingerprint_type(const SimhashTable *table);
extern char *simhash_write_number(double number);
extern char *simhash_list(const List *expressions, const char *before,
						  const char *between);

#endif							/* SIMHASH_REPORT_TABLE_H */
