/*-------------------------------------------------------------------------
 *
 * hamming_tricks.c
 *		What makes the scan of a hamming index fast, and nothing else.
 *		What makes insertion fast stands behind it.
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
 * being right, nor on which of the macros of hamming_tricks.h is defined, with
 * one exception: hamming_find_entry() may return an earlier entry.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "executor/instrument.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "compat.h"
#include "index/hamming_scan.h"
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
 * How far from its guessed place an entry usually is, of as many as a page has:
 * HAMMING_GUESS_SURE times the standard deviation, but for one in twenty.
 */
#define HAMMING_GUESS_SURE		2

/*
 * How much of a leaf page is fetched ahead, in cache lines: the first line
 * pointers and tuples that we are going to read.  They are read in order, so
 * the processor's own prefetching fetches those that follow.
 */
#define HAMMING_CACHE_LINE		64
#define HAMMING_FETCH_ITEMS		4
#define HAMMING_FETCH_TUPLES	16

/* When a page is found to come from a disk, so many more are asked for. */
#define HAMMING_DISK_ASKS		32

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

#ifdef HAMMING_PLAIN_BUFFERS
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

	/* Not known, or private to this session. */
	if (known->page != hash || known->buffer <= 0)
		return;

	page = (const char *) BufferGetPage(known->buffer);
	first = Max((int) (place * entries) - guess_slack(place, entries), 0);
	items = page + SizeOfPageHeaderData + first * sizeof(ItemIdData);
	tuples = page + BLCKSZ - HAMMING_CACHE_LINE - first * HAMMING_ENTRY_SIZE;

	__builtin_prefetch(page);
	__builtin_prefetch(page + BLCKSZ - HAMMING_CACHE_LINE);
	for (int i = 0; i < HAMMING_FETCH_ITEMS; i++)
		__builtin_prefetch(items + i * HAMMING_CACHE_LINE);
	for (int i = 0; i < HAMMING_FETCH_TUPLES; i++)
		__builtin_prefetch(tuples - i * HAMMING_CACHE_LINE);
#else
	(void) rel;
	(void) blkno;
	(void) place;
	(void) entries;
#endif
}

/*
 * How many pages is the disk to be asked for at a time?  None while they are
 * found in memory, be it the operating system's.
 */
int
hamming_disk_concurrency(Relation rel)
{
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

#ifndef HAMMING_PLAIN_FETCH

/* Fetch into the cache what is read first of any leaf page. */
static void
fetch_head(Relation rel, BlockNumber blkno)
{
	uint32		hash;
	RecentPage *known = recent_page(rel, blkno, &hash);
	const char *page;

	if (known->page != hash || known->buffer <= 0)
		return;
	page = (const char *) BufferGetPage(known->buffer);
	__builtin_prefetch(page, 1);
	__builtin_prefetch(page + BLCKSZ - HAMMING_CACHE_LINE, 1);
}

/* The way down to where an entry belongs. */
typedef struct HammingWay
{
	int64		key;
	HammingBounds at;			/* the page that we have come to */
	Buffer		leaf;			/* that page, pinned */
} HammingWay;

/*
 * Go from an inner page to the child where the key belongs.  The first pivot
 * stands for minus infinity and has no key.
 */
static void
choose_child(Page page, HammingWay *way)
{
	OffsetNumber first = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber offset = hamming_search(page, first + 1,
										 PageGetMaxOffsetNumber(page) + 1,
										 way->key);

	if (offset <= PageGetMaxOffsetNumber(page))
		way->at.high = hamming_page_key(page, offset);
	if (offset > first + 1)
		way->at.low = hamming_page_key(page, offset - 1);
	way->at.blkno = BTreeTupleGetDownLink(hamming_page_tuple(page, offset - 1));
}

/*
 * Go down from a level, on all ways; false if one comes to a page that is not
 * what it was.  The root, which the relation's cache has told of, has to be
 * where its level begins.  Ways by the same page follow each other.
 */
static bool
step_down(Relation index, HammingWay *ways, int count, uint32 level,
		  bool is_root)
{
	int			i = 0;

	while (i < count)
	{
		BlockNumber blkno = ways[i].at.blkno;
		Buffer		buffer = hamming_pin_page(index, blkno);
		Page		page = BufferGetPage(buffer);
		bool		fine;

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		fine = hamming_is_page(page) && !P_IGNORE(BTPageGetOpaque(page)) &&
			BTPageGetOpaque(page)->btpo_level == level &&
			(!is_root || P_LEFTMOST(BTPageGetOpaque(page)));
		if (fine)
		{
			do
				choose_child(page, &ways[i]);
			while (++i < count && ways[i].at.blkno == blkno);
		}
		UnlockReleaseBuffer(buffer);
		if (!fine)
			return false;
	}
	return true;
}

/*
 * Find the leaf pages of all ways, or some to the left of them, where pages
 * have been split; false if one cannot be found.
 */
static bool
find_leaves(Relation index, HammingWay *ways, int count)
{
	BTMetaPageData *meta = (BTMetaPageData *) index->rd_amcache;
	BlockNumber root;
	uint32		level;

	/* An insertion or a search before has left the metapage here. */
	if (meta == NULL || meta->btm_fastlevel == 0)
		return false;
	root = meta->btm_fastroot;
	level = meta->btm_fastlevel;
	for (int i = 0; i < count; i++)
	{
		ways[i].at.blkno = root;
		ways[i].at.low = PG_INT64_MIN;
		ways[i].at.high = PG_INT64_MAX;
	}
	for (; level > 0; level--)
		if (!step_down(index, ways, count, level,
					   ways[0].at.blkno == root))
			return false;
	return true;
}

/*
 * Fetch the line pointers that a search on the leaf page reads, or the tuples
 * that they lead to and the high key; and where the line pointer of the entry,
 * or the entry itself, will be written.  The page is not locked: what is read of
 * it may be changing, and is good for addresses to fetch alone.
 */
static void
fetch_steps(const HammingWay *way, bool tuples)
{
	char	   *bytes = (char *) BufferGetPage(way->leaf);
	PageHeader	page = (PageHeader) bytes;
	int			low = FirstOffsetNumber;
	int			high = Min(PageGetMaxOffsetNumber((Page) page),
						   MaxIndexTuplesPerPage);
	int			end;

	end = hamming_place(&way->at, way->key) * high;

	if (tuples)
	{
		ItemId		high_key = PageGetItemId((Page) page, P_HIKEY);

		__builtin_prefetch(bytes + ItemIdGetOffset(high_key));
		__builtin_prefetch(bytes + page->pd_upper - HAMMING_ENTRY_SIZE, 1);
	}
	else
		__builtin_prefetch(bytes + page->pd_lower, 1);
	while (low < high)
	{
		int			middle = low + (high - low) / 2;
		ItemId		iid = PageGetItemId((Page) page, middle);

		if (tuples)
			__builtin_prefetch(bytes + ItemIdGetOffset(iid));
		else
			__builtin_prefetch(iid, 1);
		if (middle < end)
			low = middle + 1;
		else
			high = middle;
	}
}

/*
 * Fetch what is going to be read to insert the entries of a word, whose keys
 * these are.
 */
void
hamming_warm(Relation index, const int64 *keys, int count)
{
	HammingWay	ways[SH_WORD_BLOCKS];

	for (int i = 0; i < count; i++)
		ways[i].key = keys[i];
	if (!find_leaves(index, ways, count))
		return;

	for (int i = 0; i < count; i++)
		fetch_head(index, ways[i].at.blkno);
	for (int i = 0; i < count; i++)
	{
		ways[i].leaf = hamming_pin_page(index, ways[i].at.blkno);
		fetch_steps(&ways[i], false);
	}
	for (int i = 0; i < count; i++)
	{
		fetch_steps(&ways[i], true);
		ReleaseBuffer(ways[i].leaf);
	}
}

#else

/* Fetch nothing. */
void
hamming_warm(Relation index, const int64 *keys, int count)
{
	(void) index;
	(void) keys;
	(void) count;
}

#endif							/* HAMMING_PLAIN_FETCH */
