/*-------------------------------------------------------------------------
 *
 * hamming_warm.c
 *		Fetch into the cache what the btree is going to read for an insertion.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "index/scan/hamming_scan.h"
#include "index/scan/hamming_tricks.h"

#ifndef HAMMING_PLAIN_FETCH

/* Fetch into the cache what is read first of any leaf page. */
static void
fetch_head(Relation rel, BlockNumber blkno)
{
	const char *page = hamming_known_page(rel, blkno);

	if (page == NULL)
		return;
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
