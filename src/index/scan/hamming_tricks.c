/*-------------------------------------------------------------------------
 *
 * hamming_tricks.c
 *		What makes the scan of a hamming index fast, and nothing else.
 *
 * A search reads some ten pages, and most of its time is spent waiting for
 * memory.  The tricks here spare it accesses, or make them sooner:
 *
 * Remembered buffers.  To find the buffer of a page in the buffer manager's
 * hash table, which is large and hence not in the processor's cache, takes as
 * long as to compare a hundred entries.  So each session remembers in which
 * buffers it saw pages, for all its indexes together.  An outdated memory is
 * no harm, since the buffer manager checks it.
 *
 * Fetching ahead.  While one leaf page is read, the places on the next ones
 * where entries will be compared are fetched into the processor's cache.
 *
 * Guessed places.  Keys of random fingerprints are spread evenly between the
 * bounds of a page, so the place of a key can be guessed: for example, a key
 * a quarter of the way between the bounds of a page of 360 entries is near
 * entry 90.  Comparing begins some entries before that, and so does without a
 * binary search, most steps of which would wait for memory.
 *
 * Asking the disk.  The leaf pages of an index larger than memory are asked for
 * together, before the first of them is read, as a disk mostly serves several
 * at a time.  That is in vain where the operating system has them in memory, so
 * it begins when a page has taken as long as from a disk, and ends when none has
 * for a while.
 *
 * Invariant: what a function returns does not depend on a memory or a guess
 * being right, nor on HAMMING_PLAIN, with one exception: hamming_find_entry() may
 * return an earlier entry.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

#include <math.h>

#include "executor/instrument.h"
#include "pgstat.h"
#include "utils/spccache.h"

/*
 * Pages whose buffers are remembered, and how often the buffer of one of them
 * is looked up all the same, which tells the buffer manager that the page is in
 * use.  The table has 16 megabytes, of which only what is used is touched: 8
 * bytes for each page that was seen.
 */
#define HAMMING_RECENT_PAGES	(1 << 21)
#define HAMMING_RECENT_TRUST	32

/*
 * How far from its guessed place an entry usually is, of as many as a page has:
 * HAMMING_GUESS_SURE times the standard deviation, but for one in twenty.
 */
#define HAMMING_GUESS_SURE		2

/*
 * How much of a leaf page is fetched ahead, in cache lines: the first line
 * pointers and tuples that we are going to read.  They are read in order, so
 * the processor's own prefetching fetches those that follow.
 */
#define HAMMING_FETCH_ITEMS		4
#define HAMMING_FETCH_TUPLES	16

/* When a page is found to come from a disk, so many more are asked for. */
#define HAMMING_DISK_ASKS		32

/* A page that takes so many microseconds is on a disk; 0: all are. */
#ifndef HAMMING_DISK_TIME
#define HAMMING_DISK_TIME		20
#endif

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

/* How many pages the disk is to be asked for yet. */
static int	disk_asks;

/*
 * Pin a page by the buffer manager, and see whether a disk makes us wait.  The
 * clock is looked at only where the page before was in no buffer either.
 */
static Buffer
read_page(Relation rel, BlockNumber blkno)
{
	static bool missed;
	int64		misses = pgBufferUsage.shared_blks_read;
	instr_time	start;
	instr_time	time;
	Buffer		buffer;

	if (missed)
		INSTR_TIME_SET_CURRENT(start);
	buffer = ReadBuffer(rel, blkno);
	if (missed)
	{
		INSTR_TIME_SET_CURRENT(time);
		INSTR_TIME_SUBTRACT(time, start);
		if ((int64) INSTR_TIME_GET_MICROSEC(time) >= HAMMING_DISK_TIME)
			disk_asks = HAMMING_DISK_ASKS;
	}
	missed = pgBufferUsage.shared_blks_read != misses;
	return buffer;
}

/*
 * Pin a page in the buffer where it was seen last; false if it is not there.
 * This counts as no use of the page.
 */
static inline bool
pin_known_page(Relation rel, BlockNumber blkno, const RecentPage *known,
			   uint32 page)
{
	return known->page == page && BufferIsValid(known->buffer) &&
		ReadRecentBuffer(*simhash_locator(rel), MAIN_FORKNUM, blkno,
						 known->buffer);
}

/*
 * Pin a page.
 *
 * Only what goes through the hash table counts as a use when the buffer
 * manager looks for pages to evict, so now and then we do.  The number that is
 * no page's, which a damaged link may have, would have it add a page.
 */
Buffer
hamming_pin_page(Relation rel, BlockNumber blkno)
{
	static uint32 uses;
	uint32		page;
	RecentPage *known = recent_page(rel, blkno, &page);

#ifdef HAMMING_PLAIN
	known->buffer = InvalidBuffer;
#endif
	if (++uses % HAMMING_RECENT_TRUST != 0 &&
		pin_known_page(rel, blkno, known, page))
	{
		pgstat_count_buffer_read(rel);
		pgstat_count_buffer_hit(rel);
		return known->buffer;
	}
	if (unlikely(!BlockNumberIsValid(blkno)))
		hamming_corrupted(rel, "index \"%s\" has a link to no page");
	known->page = page;
	known->buffer = read_page(rel, blkno);
	return known->buffer;
}

/*
 * Where the buffer of a page is, if it is known and not private to this session;
 * NULL if not.  The page is not pinned: what is there may be changing.
 */
static inline const char *
known_page(Relation rel, BlockNumber blkno)
{
	uint32		page;
	RecentPage *known = recent_page(rel, blkno, &page);

#ifdef HAMMING_PLAIN
	return NULL;
#endif
	if (known->page != page || known->buffer <= 0)
		return NULL;
	return (const char *) BufferGetPage(known->buffer);
}

/* The same, for hamming_warm.c. */
const char *
hamming_known_page(Relation rel, BlockNumber blkno)
{
	return known_page(rel, blkno);
}

/*
 * How far from its guessed place among "count" entries of a page one usually
 * is: so many of them are before it, each of which is with the probability
 * "place".
 */
static inline int
guess_slack(float place, int count)
{
	return 1 + (int) (HAMMING_GUESS_SURE *
					  sqrtf(count * place * (1 - place)));
}

/*
 * Fetch into the cache what we are going to read of a leaf page.  "place" is
 * about where on the page that begins, and "entries" how many it has.
 *
 * This assumes that tuple i lies i tuples below the end of the page.  Builds
 * and page splits write pages so; insertions do not keep to it.  Where the
 * assumption is wrong we fetch cache lines that are not needed, no more.
 */
void
hamming_fetch_ahead(Relation rel, BlockNumber blkno, float place, int entries)
{
	const char *page = known_page(rel, blkno);
	const char *items;
	const char *tuples;
	int			first;

	if (page == NULL)
		return;
	first = Max((int) (place * entries) - guess_slack(place, entries), 0);
	items = page + SizeOfPageHeaderData + first * sizeof(ItemIdData);
	tuples = page + BLCKSZ - HAMMING_CACHE_LINE - first * HAMMING_ENTRY_SIZE;

	__builtin_prefetch(page);
	__builtin_prefetch(page + BLCKSZ - HAMMING_CACHE_LINE);
	for (int i = 0; i < HAMMING_FETCH_ITEMS; i++)
		__builtin_prefetch(items + i * HAMMING_CACHE_LINE);
	for (int i = 0; i < HAMMING_FETCH_TUPLES; i++)
		__builtin_prefetch(tuples - i * HAMMING_CACHE_LINE);
}

/*
 * How many pages is the disk to be asked for at a time?  None while they are
 * found in memory, be it the operating system's.
 */
int
hamming_disk_concurrency(Relation rel)
{
#ifdef HAMMING_PLAIN
	disk_asks = 0;
#endif
	if (likely(disk_asks <= 0))
		return 0;
	return get_tablespace_io_concurrency(rel->rd_rel->reltablespace);
}

/*
 * Ask the disk for a page that is going to be read, unless it is in a buffer.
 */
void
hamming_ask_disk(Relation rel, BlockNumber blkno)
{
	uint32		page;
	RecentPage *known = recent_page(rel, blkno, &page);

	disk_asks--;
	if (!BlockNumberIsValid(blkno))
		return;
	if (pin_known_page(rel, blkno, known, page))
		ReleaseBuffer(known->buffer);
	else
	{
		known->page = page;
		known->buffer = PrefetchBuffer(rel, MAIN_FORKNUM, blkno).recent_buffer;
	}
}

/*
 * The offset on a leaf page from which entries are to be compared: that of the
 * first key >= key at or after "first", or somewhat less.  "place" is where
 * the key is expected: 0 first, 1 last.
 */
OffsetNumber
hamming_find_entry(Page page, OffsetNumber first, int64 key, float place)
{
	OffsetNumber count = PageGetMaxOffsetNumber(page);
#ifndef HAMMING_PLAIN
	int			guess = (int) (place * count) - guess_slack(place, count);

	if (guess <= first)
		guess = first;
	else if (hamming_page_key(page, guess) >= key)
		return hamming_search(page, first, guess, key);
	return guess;
#else
	(void) place;
	return hamming_search(page, first, count + 1, key);
#endif
}
