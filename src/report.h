/*-------------------------------------------------------------------------
 *
 * report.h
 *		What the files of the reports share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_REPORT_H
#define SIMHASH_REPORT_H

#include "simhash.h"

#include "core/clusters.h"

/* The rows of a query: ids and fingerprints. */
typedef struct SimhashRows
{
	Oid			id_type;
	int16		id_length;
	bool		id_by_value;

	uint32		n;
	uint32		room;
	uint64	   *fingerprints;
	Datum	   *ids;
	MemoryContext context;		/* of both, and of what the ids point to */
	void	   *memory;			/* for the search, once all has been read */
	uint32	   *parent;			/* and for clusters */

	bool		overflow;		/* more than may be kept: only counting */
	int64		total;			/* rows, kept or not */
	int64		id_bytes;		/* that ids point to */
	int64		without_id;		/* rows skipped */
	int64		without_fingerprint;
}			SimhashRows;

/* report_query.c */
extern void simhash_read_rows(SimhashRows * rows, const char *query,
							  Oid id_type);
extern void simhash_order_rows(SimhashRows * rows, bool sort);

/* progress.c */
extern void simhash_progress_init(void);
extern void simhash_progress_begin(const char *name);
extern void simhash_progress_rows(int64 rows);
extern void simhash_progress_done(void *context, double done);
extern void simhash_progress_end(void);

#endif							/* SIMHASH_REPORT_H */
