/*-------------------------------------------------------------------------
 *
 * report.h
 *		What the files of simhash_report share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TABLE_REPORT_H
#define SIMHASH_TABLE_REPORT_H

#include "report/report_table.h"
#include "tune/tune.h"

/* A report that is being made. */
typedef struct SimhashTableReport
{
	SimhashTable table;
	int64		k;
	const char *within;			/* the argument, as a literal */
	QueryEnvironment *stores;
	SimhashStatement fetch;		/* the rows of the table */
	SimhashStatement show;		/* one of them, by parameters, */
	Oid			show_types[4];	/* of these types */
	EphemeralNamedRelation rows;	/* n, fp, bytes, place, part, c1, c2, ... */
	EphemeralNamedRelation members; /* of clusters, by n */
	EphemeralNamedRelation texts;	/* n, value: rows that are shown */
	SimhashTally tally;			/* of pairs, if documents are known */
	const char *given;			/* what is said of them, as arguments of a call */
} SimhashTableReport;

/* report_lines.c */
extern char *simhash_write_lines(const SimhashTableReport *report);

#endif							/* SIMHASH_TABLE_REPORT_H */
