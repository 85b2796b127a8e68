/*-------------------------------------------------------------------------
 *
 * hamming_warm.c
 *		Fetch into the cache what the btree is going to read for an insertion.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

/*
 * Fetch the line pointers that a search on the leaf page reads, or the tuples
 * that they lead to and the high key; and where the line pointer of the entry,
 * or the entry itself, will be written.  The page is not locked: what is read of
 * it may be changing, and is good for addresses to fetch alone.
 */
static void
fetch_steps(const HammingBounds *at, Buffer leaf, int64 key, bool tuples)
{
	char	   *bytes = (char *) BufferGetPage(leaf);
	PageHeader	page = (PageHeader) bytes;
	int			low = FirstOffsetNumber;
	int			high = Min(PageGetMaxOffsetNumber((Page) page),
						   MaxIndexTuplesPerPage);
	int			end = hamming_place(at, key) * high;

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
 * Go down from the pages of a level to those below where keys belong; false if
 * one is not what it was, or a key has gone to its right.  Keys on the same page
 * follow each other.
 */
static bool
step_down(Relation index, const int64 *keys, int count, uint32 level,
		  HammingBounds *pages)
{
	bool		fine = true;
	int			i = 0;

	while (i < count && fine)
	{
		BlockNumber blkno = pages[i].blkno;
		Buffer		buffer = hamming_pin_page(index, blkno);
		Page		page = BufferGetPage(buffer);

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		fine = hamming_is_page(page) &&
			BTPageGetOpaque(page)->btpo_level == level;
		while (fine && i < count && pages[i].blkno == blkno)
		{
			HammingBounds here = pages[i];

			fine = hamming_find_child(page, keys[i], &here, &pages[i]);
			i++;
		}
		UnlockReleaseBuffer(buffer);
	}
	return fine;
}

/*
 * Fetch what is going to be read to insert entries, whose keys these are.  An
 * insertion or a search before has left the metapage with the relation; if none
 * has, or the tree has changed since, nothing is fetched.
 */
void
hamming_warm(Relation index, const int64 *keys, int count)
{
	const BTMetaPageData *meta = (BTMetaPageData *) index->rd_amcache;
	uint32		root_level = meta == NULL ? 0 : meta->btm_fastlevel;
	HammingBounds leaves[SH_WORD_BLOCKS];
	Buffer		buffers[SH_WORD_BLOCKS];

#ifdef HAMMING_PLAIN
	return;
#endif
	if (root_level == 0)
		return;
	for (int i = 0; i < count; i++)
		leaves[i] = (HammingBounds)
	{
		.blkno = meta->btm_fastroot,.low = PG_INT64_MIN,.high = PG_INT64_MAX
	};
	for (uint32 level = root_level; level > 0; level--)
	{
		if (!step_down(index, keys, count, level, leaves))
			return;
	}
	for (int i = 0; i < count; i++)
	{
		const char *page = hamming_known_page(index, leaves[i].blkno);

		if (page == NULL)
			continue;
		__builtin_prefetch(page, 1);
		__builtin_prefetch(page + BLCKSZ - HAMMING_CACHE_LINE, 1);
	}
	for (int i = 0; i < count; i++)
	{
		buffers[i] = hamming_pin_page(index, leaves[i].blkno);
		fetch_steps(&leaves[i], buffers[i], keys[i], false);
	}
	for (int i = 0; i < count; i++)
	{
		fetch_steps(&leaves[i], buffers[i], keys[i], true);
		ReleaseBuffer(buffers[i]);
	}
}
