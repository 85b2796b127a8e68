/*-------------------------------------------------------------------------
 *
 * hamming_warm.c
 *		What an insertion is going to read, fetched into the cache before.
 *
 * The entries of a row go to four places far from each other.  Each time the
 * btree code waits for memory some ten times, one after the other: for the
 * buffer's descriptor, the page's header, and at each step of its search there
 * for a line pointer and a tuple.  But the processor can wait for many places
 * at once.  So before the first entry is inserted we go down to all four leaf
 * pages, and fetch what the btree code will look at, in three steps, each for
 * all four pages:
 *
 *	1. the buffer's descriptor and the page's header, which tells how many
 *	   items there are;
 *	2. the line pointers that a binary search for the key reads, going by a
 *	   guess of where it ends; they tell where tuples are;
 *	3. these tuples.
 *
 * The btree code does not depend on what is found here: it goes down by itself.
 * So pages are looked at without much ado.  Inner pages are locked, but we do
 * not move right where a page was split.  (hamming_glance.c, which goes down
 * the same way, depends on never coming too far to the right.)  Leaf pages are
 * neither locked nor pinned: what we read there, within the bounds of a page,
 * is used for nothing but addresses to be fetched, which is safe whatever they
 * are.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "index/hamming.h"
#include "index/hamming_tricks.h"

/* How far between the bounds of its page the key is: 0 first, 1 last. */
static inline float
place_of(const HammingWay *way)
{
	uint64		span = (uint64) way->high - (uint64) way->low;

	return (float) ((uint64) way->key - (uint64) way->low) /
		((float) span + 1);
}

/*
 * Go from an inner page to the child where the key belongs.  The first pivot
 * stands for minus infinity and has no key.
 */
static void
choose_child(Page page, HammingWay *way)
{
	OffsetNumber first = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	OffsetNumber offset = hamming_find_pivot(page, first + 1, way->key,
											 place_of(way));

	if (offset <= PageGetMaxOffsetNumber(page))
		way->high = hamming_page_key(page, offset);
	if (offset > first + 1)
		way->low = hamming_page_key(page, offset - 1);
	way->blkno = BTreeTupleGetDownLink(hamming_page_tuple(page, offset - 1));
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
		BlockNumber blkno = ways[i].blkno;
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
			while (++i < count && ways[i].blkno == blkno);
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
bool
hamming_find_leaves(Relation index, HammingWay *ways, int count)
{
	BTMetaPageData *meta = (BTMetaPageData *) index->rd_amcache;
	BlockNumber root;
	uint32		level;
	int			i;

	/* An insertion or a search before has left the metapage here. */
	if (meta == NULL || meta->btm_fastlevel == 0)
		return false;
	root = meta->btm_fastroot;
	level = meta->btm_fastlevel;
	for (i = 0; i < count; i++)
	{
		ways[i].blkno = root;
		ways[i].low = PG_INT64_MIN;
		ways[i].high = PG_INT64_MAX;
	}
	for (; level > 0; level--)
		if (!step_down(index, ways, count, level,
					   ways[0].blkno == root))
			return false;
	return true;
}

#ifndef HAMMING_PLAIN_FETCH

/*
 * Fetch the line pointers that a search on the leaf page reads, or the tuples
 * that they lead to and the high key; and where the line pointer of the entry,
 * or the entry itself, will be written.
 */
static void
fetch_steps(const HammingWay *way, bool tuples)
{
	PageHeader	page = (PageHeader) way->leaf;
	int			low = FirstOffsetNumber;
	int			high;
	int			end;

	if (page == NULL)
		return;
	high = PageGetMaxOffsetNumber((Page) page);
	if (high > MaxIndexTuplesPerPage)
		return;					/* another page has come there */
	end = place_of(way) * high;

	if (tuples)
	{
		ItemId		high_key = PageGetItemId((Page) page, P_HIKEY);

		__builtin_prefetch(way->leaf + ItemIdGetOffset(high_key));
		__builtin_prefetch(way->leaf + page->pd_upper - HAMMING_ENTRY_SIZE, 1);
	}
	else
		__builtin_prefetch(way->leaf + page->pd_lower, 1);
	while (low < high)
	{
		int			middle = low + (high - low) / 2;
		ItemId		iid = PageGetItemId((Page) page, middle);

		if (tuples)
			__builtin_prefetch(way->leaf + ItemIdGetOffset(iid));
		else
			__builtin_prefetch(iid, 1);
		if (middle < end)
			low = middle + 1;
		else
			high = middle;
	}
}

#endif							/* HAMMING_PLAIN_FETCH */

/*
 * Fetch what is going to be read to insert the entries of a word, whose keys
 * these are.
 */
void
hamming_warm(Relation index, const int64 *keys, int count)
{
#ifndef HAMMING_PLAIN_FETCH
	HammingWay	ways[SH_WORD_BLOCKS];
	int			i;

	for (i = 0; i < count; i++)
		ways[i].key = keys[i];
	if (!hamming_find_leaves(index, ways, count))
		return;

	for (i = 0; i < count; i++)
		hamming_fetch_head(index, ways[i].blkno);
	for (i = 0; i < count; i++)
	{
		ways[i].leaf = hamming_peek_page(index, ways[i].blkno);
		fetch_steps(&ways[i], false);
	}
	for (i = 0; i < count; i++)
		fetch_steps(&ways[i], true);
#else
	(void) index;
	(void) keys;
	(void) count;
#endif
}
