/*-------------------------------------------------------------------------
 *
 * report_disk.h
 *		Reports about more rows than maintenance_work_mem holds.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_REPORT_DISK_H
#define SIMHASH_REPORT_DISK_H

#include "report/report.h"

#include "storage/buffile.h"

#define SIMHASH_PREFIX_MAX	6	/* bits to cut a block into parts by */

/* A row, as the search sees it. */
typedef struct SimhashEntry
{
	uint64		value;
	uint32		row;
	uint32		group;
} SimhashEntry;

/* A search by parts. */
typedef struct SimhashParts
{
	/* what is asked */
	BufFile    *entries;
	uint32		n;
	uint64		bits;			/* in which values differ */
	int			k;
	ShPairSink	sink;			/* for equal numbers too, which rows share */
	void	   *context;

	/* what has been read, when the sink is called */
	ShPairs		pairs;
	uint32	   *row;
	uint32	   *group;
	uint32		split;			/* where the second piece begins, or 0 */

	/* how it is done */
	ShPairPlan	plan;
	uint32		piece;			/* the most entries, of which two are read */
	uint64	   *values;
	void	   *memory;
	uint32	   *ends;
	uint32		at_hand;		/* entries that have been read */
	double		done;

	/* the block that we are at */
	int			block;
	ShPairPlan	turned;
	int			turn;
	int			prefix;			/* bits to cut it by */
	BufFile    *parts[1 << SIMHASH_PREFIX_MAX];
	uint32		count[1 << SIMHASH_PREFIX_MAX];
} SimhashParts;

/* report_parts.c */
extern void simhash_search_parts(SimhashParts *search, MemoryContext context,
								 Size memory);

#endif							/* SIMHASH_REPORT_DISK_H */
