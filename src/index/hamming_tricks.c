/*-------------------------------------------------------------------------
 *
 * hamming_tricks.c
 *		What makes the scan of a hamming index fast, and nothing else.
 *		Insertion (hamming_warm.c) has the use of some of it.
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
 * Invariant: what a function returns does not depend on a memory or a guess
 * being right, nor on which of the macros of hamming_tricks.h is defined, with
 * one exception: hamming_find_entry() may return an earlier entry.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/hamming.h"
#include "index/hamming_tricks.h"

/*
 * Pages whose buffers are remembered, and how often the buffer of one of them
 * is looked up all the same, which tells the buffer manager that the page is in
 * use.  The table has 16 megabytes, of which only what is used is touched: 8
 * bytes for each page that was seen.
 */
#define HAMMING_RECENT_PAGES	(1 << 21)
#define HAMMING_RECENT_TRUST	32

/*
 * How far from its guessed place a pivot usually is; and an entry, of as many
 * as a page has: of HAMMING_GUESS_SURE times the standard deviation, but for
 * one in twenty.
 */
#define HAMMING_PIVOT_SLACK		12
#define HAMMING_GUESS_SURE		2

/*
 * How much of a leaf page is fetched ahead, in cache lines: the first line
 * pointers and tuples that we are going to read.  They are read in order, so
 * the processor's own prefetching fetches those that follow.
 */
#define HAMMING_CACHE_LINE		64
#define HAMMING_FETCH_ITEMS		4
#define HAMMING_FETCH_TUPLES	16

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

#ifdef HAMMING_PLAIN_BUFFERS
	known->buffer = InvalidBuffer;
#endif
	if (known->page == page && BufferIsValid(known->buffer) &&
		++uses % HAMMING_RECENT_TRUST != 0 &&
		ReadRecentBuffer(*simhash_locator(rel), MAIN_FORKNUM, blkno,
						 known->buffer))
	{
		pgstat_count_buffer_read(rel);
		pgstat_count_buffer_hit(rel);
		return known->buffer;
	}
	if (unlikely(!BlockNumberIsValid(blkno)))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" has a link to no page",
						RelationGetRelationName(rel)),
				 errhint("Please REINDEX it.")));
	known->page = page;
	known->buffer = ReadBuffer(rel, blkno);
	return known->buffer;
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
#ifndef HAMMING_PLAIN_FETCH
	uint32		hash;
	RecentPage *known = recent_page(rel, blkno, &hash);
	const char *page;
	const char *items;
	const char *tuples;
	int			first;
	int			i;

	/* Not known, or private to this session. */
	if (known->page != hash || known->buffer <= 0)
		return;

	page = (const char *) BufferGetPage(known->buffer);
	first = Max((int) (place * entries) - guess_slack(place, entries), 0);
	items = page + SizeOfPageHeaderData + first * sizeof(ItemIdData);
	tuples = page + BLCKSZ - HAMMING_CACHE_LINE - first * HAMMING_ENTRY_SIZE;

	__builtin_prefetch(GetBufferDescriptor(known->buffer - 1), 1);
	__builtin_prefetch(page);
	__builtin_prefetch(page + BLCKSZ - HAMMING_CACHE_LINE);
	for (i = 0; i < HAMMING_FETCH_ITEMS; i++)
		__builtin_prefetch(items + i * HAMMING_CACHE_LINE);
	for (i = 0; i < HAMMING_FETCH_TUPLES; i++)
		__builtin_prefetch(tuples - i * HAMMING_CACHE_LINE);
#else
	(void) rel;
	(void) blkno;
	(void) place;
	(void) entries;
#endif
}

/* Fetch into the cache what is read first of any leaf page. */
void
hamming_fetch_head(Relation rel, BlockNumber blkno)
{
#ifndef HAMMING_PLAIN_FETCH
	uint32		hash;
	RecentPage *known = recent_page(rel, blkno, &hash);
	const char *page;

	if (known->page != hash || known->buffer <= 0)
		return;
	page = (const char *) BufferGetPage(known->buffer);
	__builtin_prefetch(GetBufferDescriptor(known->buffer - 1), 1);
	__builtin_prefetch(page, 1);
	__builtin_prefetch(page + BLCKSZ - HAMMING_CACHE_LINE, 1);
#else
	(void) rel;
	(void) blkno;
#endif
}

/*
 * Where in memory a page is, or was a moment ago; NULL if it is private to this
 * session.  It is not pinned, and the descriptor is looked at without a lock,
 * so another page may be there: good for fetching ahead, for nothing else.
 */
const char *
hamming_peek_page(Relation rel, BlockNumber blkno)
{
	uint32		hash;
	RecentPage *known = recent_page(rel, blkno, &hash);

	if (known->page != hash || known->buffer <= 0 ||
		GetBufferDescriptor(known->buffer - 1)->tag.blockNum != blkno)
		ReleaseBuffer(hamming_pin_page(rel, blkno));
	if (known->buffer <= 0)
		return NULL;
	return (const char *) BufferGetPage(known->buffer);
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
#ifndef HAMMING_PLAIN_FIND
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

/*
 * The first offset on an inner page, not below "first", whose key is >= key,
 * or one beyond the last.  "place" is where the key is expected.
 */
OffsetNumber
hamming_find_pivot(Page page, OffsetNumber first, int64 key, float place)
{
	int			last = PageGetMaxOffsetNumber(page);
#ifndef HAMMING_PLAIN_FIND
	int			low = first + (int) (place * (last - first)) -
	HAMMING_PIVOT_SLACK;
	int			high = low + 2 * HAMMING_PIVOT_SLACK;

	if (low < first || hamming_page_key(page, low) >= key)
		low = first;
	if (high > last || hamming_page_key(page, high) < key)
		high = last + 1;
	return hamming_search(page, low, high, key);
#else
	(void) place;
	return hamming_search(page, first, last + 1, key);
#endif
}
