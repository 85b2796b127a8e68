/*-------------------------------------------------------------------------
 *
 * hamming_tricks.h
 *		What makes the scan of a hamming index fast, and nothing else.
 *
 * Each function here has a plain fallback that gives the same answer.  Compile
 * with -DHAMMING_PLAIN to have all of them, or with one of the macros below to
 * measure one trick by itself.  README has the figures.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef HAMMING_TRICKS_H
#define HAMMING_TRICKS_H

#include "storage/buf.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"

/*
 * HAMMING_PLAIN_BUFFERS	look up every buffer in the buffer manager's table
 * HAMMING_PLAIN_FETCH		fetch nothing into the processor's cache
 * HAMMING_PLAIN_FIND		find entries by binary search
 * HAMMING_DISK_TIME=n		a page that takes n microseconds is on a disk, which
 *							is asked for the next ones ahead; 0: all are
 */
#ifdef HAMMING_PLAIN
#define HAMMING_PLAIN_BUFFERS
#define HAMMING_PLAIN_FETCH
#define HAMMING_PLAIN_FIND
#define HAMMING_DISK_TIME		PG_INT32_MAX
#endif
#ifndef HAMMING_DISK_TIME
#define HAMMING_DISK_TIME		20
#endif

/* A line of the processor's cache. */
#define HAMMING_CACHE_LINE		64

extern Buffer hamming_pin_page(Relation rel, BlockNumber blkno);
extern void hamming_fetch_ahead(Relation rel, BlockNumber blkno, float place,
								int entries);
extern int	hamming_disk_concurrency(Relation rel);
extern void hamming_ask_disk(Relation rel, BlockNumber blkno);
extern OffsetNumber hamming_find_entry(Page page, OffsetNumber first,
									   int64 key, float place);
extern const char *hamming_known_page(Relation rel, BlockNumber blkno);

#endif							/* HAMMING_TRICKS_H */
