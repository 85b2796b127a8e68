/*-------------------------------------------------------------------------
 *
 * hamming_glance.c
 *		Whether some hamming indexes surely have nothing near a fingerprint.
 *
 * Who keeps near-duplicates out of a table with many partitions searches many
 * small indexes for each row, and finds nothing in nearly all of them.  Here
 * that is found out in some 60 % of the time of so many scans, or less.
 *
 * A row within k of a fingerprint agrees with it in one of any k + 1 blocks.
 * So an index has no such row if none is near among the entries under the
 * fingerprint's own key in each of the first k + 1 blocks; and unless an index
 * is large, the entries under a key are on one leaf page.  Whatever is out of
 * the ordinary, such as entries that go on to the next page, or a page that
 * has been split or deleted, is left to a scan, and so is what is found near.
 *
 * For example, among 12,500 rows within 3: four leaf pages have some 300
 * entries each, under 1,700 keys.  At the places where the four keys belong
 * there is one entry under them or none, and it is not near.
 *
 * Of several indexes, all leaf pages are fetched into the processor's cache
 * together, in steps: each page's header, which tells how many items there
 * are; the line pointers about where the key should be; the tuple of one of
 * them, whose key tells better where that is; and the tuples there.  As in
 * hamming_warm.c pages are neither locked nor pinned for this, and nothing but
 * where to begin comes of it.  Then each page is pinned, locked and read.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "index/hamming.h"
#include "index/hamming_tricks.h"

/*
 * GLANCE_PAGES		an index of more pages has too many entries under a key
 * GLANCE_ITEMS		how far before the guessed place line pointers are fetched
 * GLANCE_BEFORE	how many entries before the better guess to begin
 * GLANCE_BEHIND	how many behind it to fetch
 */
#define GLANCE_PAGES	(1 << 14)
#define GLANCE_ITEMS	8
#define GLANCE_BEFORE	5
#define GLANCE_BEHIND	2

/* What is looked for, block by block. */
typedef struct Wanted
{
	int			k;
	int			count;			/* blocks that are looked at */
	uint64		center[SH_WORD_BLOCKS]; /* the fingerprint, as a key */
	int64		first[SH_WORD_BLOCKS];	/* the keys to be read */
	int64		last[SH_WORD_BLOCKS];
} Wanted;

/* A glance at one index. */
typedef struct Glance
{
	Relation	index;
	bool		fit;			/* still fit to tell anything */
	HammingWay	ways[SH_WORD_BLOCKS];	/* by block */
	int			begin[SH_WORD_BLOCKS];	/* offset on the leaf page, guessed */
} Glance;

/* A step of fetching a leaf page that has so many items. */
typedef void (*FetchStep) (const HammingWay *way, int items, int *begin);

/* Lay out what to look for. */
static void
lay_out(uint64 fingerprint, int k, Wanted *wanted)
{
	const ShLayout *layout = hamming_layout_of_width(SH_BITS);
	ShValue		value;

	sh_cut_word(layout, fingerprint, &value);
	wanted->k = k;
	wanted->count = k + 1;
	for (int i = 0; i < wanted->count; i++)
	{
		uint64		word = value.words[0];
		uint32		probe = sh_entry_key(layout, word, i);

		wanted->center[i] = hamming_key(sh_entry(layout, word, 0, i));
		wanted->first[i] = hamming_key(sh_entry_first(layout, 0, i, probe));
		wanted->last[i] = hamming_key(sh_entry_last(layout, 0, i, probe));
	}
}

/* Find the leaf pages of an index, and fetch their headers. */
static void
find_pages(const Wanted *wanted, Glance *glance)
{
	HammingWay *ways = glance->ways;

	for (int i = 0; i < wanted->count; i++)
	{
		ways[i].key = wanted->first[i];
		glance->begin[i] = InvalidOffsetNumber;
	}
	glance->fit = glance->index->rd_rel->relpages <= GLANCE_PAGES &&
		hamming_find_leaves(glance->index, ways, wanted->count);
	for (int i = 0; glance->fit && i < wanted->count; i++)
	{
		glance->fit = wanted->last[i] < ways[i].high;
		hamming_fetch_head(glance->index, ways[i].blkno);
	}
}

#ifndef HAMMING_PLAIN_FETCH

/* How many items a leaf page has; 0 if it is not known what is in memory. */
static inline int
count_items(const HammingWay *way)
{
	int			count;

	if (way->leaf == NULL)
		return 0;
	count = PageGetMaxOffsetNumber((Page) way->leaf);
	return count <= HAMMING_PAGE_ENTRIES ? count : 0;
}

/* The offset of a page that is next to some number. */
static inline int
bound_offset(int offset, int count)
{
	return Max(FirstOffsetNumber, Min(offset, count));
}

/*
 * By how many entries of a page two keys are apart, were they spread evenly; 0
 * if that cannot be.
 */
static inline int
entries_between(const HammingWay *way, int count, int64 from, int64 to)
{
	float		span = (float) ((way->high >> 1) - (way->low >> 1)) + 1;
	float		entries = (float) ((to >> 1) - (from >> 1)) / span * count;

	return entries > -count && entries < count ? (int) entries : 0;
}

/* A tuple of a page that nobody has locked: some place for one on the page. */
static inline const char *
peek_tuple(const HammingWay *way, int offset)
{
	ItemId		iid = PageGetItemId((Page) way->leaf, offset);

	return way->leaf + MAXALIGN_DOWN(Min(ItemIdGetOffset(iid),
										 BLCKSZ - HAMMING_ENTRY_SIZE));
}

/* Guess where the key is, and fetch the line pointers there. */
static void
fetch_items(const HammingWay *way, int count, int *begin)
{
	int			guess = entries_between(way, count, way->low, way->key);
	int			before = bound_offset(guess - GLANCE_ITEMS, count);

	*begin = bound_offset(guess, count);
	__builtin_prefetch(PageGetItemId((Page) way->leaf, before));
	__builtin_prefetch(PageGetItemId((Page) way->leaf, *begin));
}

/* Fetch the tuple that is there. */
static void
fetch_guess(const HammingWay *way, int count, int *begin)
{
	*begin = bound_offset(*begin, count);
	__builtin_prefetch(peek_tuple(way, *begin));
}

/* Guess better by that tuple's key, and fetch the tuples there. */
static void
fetch_entries(const HammingWay *way, int count, int *begin)
{
	int64		found;
	int			end;

	*begin = bound_offset(*begin, count);
	found = hamming_tuple_key((IndexTuple) peek_tuple(way, *begin));
	*begin += entries_between(way, count, found, way->key);
	end = Min(*begin + GLANCE_BEHIND, count);
	*begin = bound_offset(*begin - GLANCE_BEFORE, count);
	for (int offset = *begin; offset <= end; offset++)
		__builtin_prefetch(peek_tuple(way, offset));
}

/* Fetch the leaf pages of all indexes, one step of each at a time. */
static void
fetch_pages(Glance *glances, int count, const Wanted *wanted)
{
	static const FetchStep steps[] = {fetch_items, fetch_guess, fetch_entries};

	for (int step = 0; step < (int) lengthof(steps); step++)
	{
		for (int i = 0; i < count; i++)
		{
			for (int j = 0; glances[i].fit && j < wanted->count; j++)
			{
				HammingWay *way = &glances[i].ways[j];
				int			items;

				if (step == 0)
					way->leaf = hamming_peek_page(glances[i].index,
												  way->blkno);
				items = count_items(way);
				if (items > 0)
					steps[step] (way, items, &glances[i].begin[j]);
			}
		}
	}
}

#endif							/* HAMMING_PLAIN_FETCH */

/* Is an entry within k, by what is different?  For a small k. */
static inline bool
is_within(uint64 apart, int k)
{
	for (; k > 0; k--)
		apart &= apart - 1;
	return apart == 0;
}

/*
 * Is nothing near among the entries wanted of a block, and are they all on
 * this leaf page?  None is on a page to its left: its parent said so, and
 * entries move to the right only.
 *
 * Precondition: the page is locked.
 */
static bool
has_none(Page page, const Wanted *wanted, int block, int begin)
{
	BTPageOpaque opaque = BTPageGetOpaque(page);
	int			offset = P_FIRSTDATAKEY(opaque);
	int			last = PageGetMaxOffsetNumber(page);

	if (!P_ISLEAF(opaque) || P_IGNORE(opaque))
		return false;
	if (begin > offset && begin <= last)
		offset = hamming_page_key(page, begin) < wanted->first[block] ? begin :
			hamming_search(page, offset, begin, wanted->first[block]);
	for (; offset <= last; offset++)
	{
		int64		key = hamming_page_key(page, offset);

		if (key > wanted->last[block])
			return true;
		if (key >= wanted->first[block] &&
			is_within((uint64) key ^ wanted->center[block], wanted->k))
			return false;
	}
	return P_RIGHTMOST(opaque) ||
		hamming_high_key(page) > wanted->last[block];
}

/* Look at the pages of an index: is it surely without anything near? */
static bool
read_pages(Glance *glance, const Wanted *wanted)
{
	bool		none = glance->fit;

	for (int i = 0; none && i < wanted->count; i++)
	{
		Buffer		buffer = hamming_pin_page(glance->index,
											  glance->ways[i].blkno);
		Page		page = BufferGetPage(buffer);

		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		none = hamming_is_page(page) &&
			has_none(page, wanted, i, glance->begin[i]);
		UnlockReleaseBuffer(buffer);
	}
	if (none)
		pgstat_count_index_scan(glance->index);
	return none;
}

/*
 * Find out which indexes surely have nothing within k of a fingerprint: no
 * entry, whether its row is visible to anybody or not.  Of the others a scan
 * has to tell.
 *
 * Precondition: these are up to HAMMING_GLANCES indexes on one column of
 * bigint fingerprints; k is less than SH_BLOCKS; the caller has a snapshot, as
 * pages are gone to by their numbers.
 */
void
hamming_glance(const Relation *indexes, int count, uint64 fingerprint, int k,
			   bool *none)
{
	Glance		glances[HAMMING_GLANCES];
	Wanted		wanted;

	Assert(count <= HAMMING_GLANCES && k < SH_BLOCKS);
	lay_out(fingerprint, k, &wanted);
	for (int i = 0; i < count; i++)
	{
		glances[i].index = indexes[i];
		find_pages(&wanted, &glances[i]);
	}
#ifndef HAMMING_PLAIN_FETCH
	fetch_pages(glances, count, &wanted);
#endif
	for (int i = 0; i < count; i++)
		none[i] = read_pages(&glances[i], &wanted);
}
