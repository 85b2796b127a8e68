/*-------------------------------------------------------------------------
 *
 * hamming_buffer.c
 *		Remembering which buffers hold the pages of hamming indexes.
 *
 * A search reads some ten pages.  To find the buffer of one in the buffer
 * manager's hash table, which is large and hence not in the processor's cache,
 * takes as long as to compare a hundred entries.  So each session remembers
 * buffers, for all its indexes together, in a table of a megabyte of which it
 * only touches what it uses.  It also tells where to prefetch from.
 *
 * An outdated memory is no harm, since the buffer manager checks it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/hamming_scan.h"

/*
 * Pages whose buffers are remembered, and how often one of them is looked up
 * all the same, which tells the buffer manager that the page is in use.
 */
#define HAMMING_RECENT_PAGES	(1 << 17)
#define HAMMING_RECENT_TRUST	32

typedef struct RecentPage
{
	uint32		page;			/* a hash of it */
	Buffer		buffer;
} RecentPage;

static RecentPage recent_pages[HAMMING_RECENT_PAGES];

/* Where the buffer of a page is remembered, and under what. */
static inline RecentPage *
recent_page(Relation rel, BlockNumber blkno, uint32 *page)
{
	*page = blkno + RelationGetRelid(rel) * 0x9E3779B1U;
	return &recent_pages[*page % HAMMING_RECENT_PAGES];
}

/* The buffer that a page was last seen in, or InvalidBuffer. */
Buffer
hamming_recent_buffer(Relation rel, BlockNumber blkno)
{
	uint32		page;
	RecentPage *known = recent_page(rel, blkno, &page);

	return known->page == page ? known->buffer : InvalidBuffer;
}

/*
 * Pin a page.
 *
 * Only what goes through the hash table counts as a use when the buffer
 * manager looks for pages to evict, so now and then we do.
 */
Buffer
hamming_pin_page(Relation rel, BlockNumber blkno)
{
	static uint32 uses;
	uint32		page;
	RecentPage *known = recent_page(rel, blkno, &page);

	if (known->page == page && BufferIsValid(known->buffer) &&
		++uses % HAMMING_RECENT_TRUST != 0 &&
		ReadRecentBuffer(*simhash_locator(rel), MAIN_FORKNUM, blkno,
						 known->buffer))
	{
		pgstat_count_buffer_read(rel);
		pgstat_count_buffer_hit(rel);
		return known->buffer;
	}
	known->page = page;
	known->buffer = ReadBuffer(rel, blkno);
	return known->buffer;
}
