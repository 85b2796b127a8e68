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

#include "core/pairs/clusters.h"
#include "datatype/timestamp.h"
#include "executor/spi.h"

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
	char	   *spare;			/* room for what the next ids point to */
	Size		spare_bytes;
	MemoryContext context;		/* of all these */
	void	   *memory;			/* for the search, once all has been read */
	uint32	   *parent;			/* and for clusters */

	bool		overflow;		/* more than may be kept: only counting */
	int64		total;			/* rows, kept or not */
	int64		id_bytes;		/* that ids point to */
	int64		without_id;		/* rows skipped */
	int64		without_fingerprint;
} SimhashRows;

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

/* report_query.c */
extern SPIPlanPtr simhash_prepare_query(const char *query,
										const char *example, int options);
extern void simhash_read_rows(SimhashRows *rows, const char *query,
							  Oid id_type);
extern void simhash_order_rows(SimhashRows *rows, bool sort);

/* progress.c */
extern void simhash_progress_init(void);
extern void simhash_progress_begin(SimhashProgress *progress,
								   const char *name);
extern void simhash_progress_rows(const char *what, int64 rows);
extern void simhash_progress_done(void *context, double done);
extern void simhash_progress_end(SimhashProgress *progress);

#endif							/* SIMHASH_REPORT_H */
