/*-------------------------------------------------------------------------
 *
 * entries.c
 *		Exact search in Hamming space by multi-index hashing.
 *
 * What is guaranteed
 *
 * Given a query and a distance k, the probes made here reach an entry of every
 * fingerprint within k of the query, whatever the data; and the rule below
 * lets every fingerprint through exactly once, without remembering any.
 *
 * Entries
 *
 * An index holds each fingerprint four times.  An entry has 64 bits: the
 * number of its block (2 bits), then the upper 62 bits of the fingerprint,
 * rotated so that the bits of that block come first.  So the entries that
 * agree with the query on one block are neighbours in the order of the keys,
 * and an entry found by one block still tells all about the other three.
 *
 *	fingerprint  ffff ffff ffff ffff gggg gggg gggg gggg hhhh ... iiii ii..
 *				 |-- block 0: 16 --| |-- block 1: 16 --|  15      15    2 lost
 *
 * The same two bits are dropped from all four entries.  That is what makes the
 * rule of the first finder (below) exact: were each entry to drop other bits,
 * an entry could not tell what the entries of its row in other blocks look
 * like.  The distance d62 between entries and the distance d64 between
 * fingerprints obey d62 <= d64 <= d62 + 2.  All that follows speaks of d62; a
 * row with d62 <= k - 2 is within k for certain, one with d62 in (k - 2, k]
 * has to be looked at once more.
 *
 * The pigeonhole
 *
 * Let d(j) be the number of bits in which block j of an entry differs from
 * the query, and r(j) >= -1 the radius within which block j is searched (-1:
 * not at all).  If d(j) > r(j) for every block, then the whole distance is at
 * least the sum of r(j) + 1.  So the blocks together reach every entry within
 * k as soon as
 *
 *		(r(0) + 1) + (r(1) + 1) + (r(2) + 1) + (r(3) + 1)  >=  k + 1
 *
 * (Norouzi, Punjani, Fleet 2012, "Fast Search in Hamming Space with
 * Multi-Index Hashing", have this for radii that differ by one at most.)  A
 * plan hands out these k + 1 units one by one, each to the block whose next
 * shell costs least.  A shell is the set of keys at one distance from the
 * key of the query: block j is searched within r by looking up its shells 0
 * to r.  As shells grow quickly, the radii stay within one of each other.
 *
 * The ring
 *
 * More can be said.  Let u(j) = r(j) + 1, the units of block j.  An entry
 * within k differs in at most k bits, one less than there are units, so the sum
 * of d(j) - u(j) over all blocks is below 0.  Then, going round the blocks as
 * in a ring, there is a block b to begin with such that
 *
 *		d(b)						<  u(b)
 *		d(b) + d(b+1)				<  u(b) + u(b+1)
 *		d(b) + d(b+1) + d(b+2)		<  u(b) + u(b+1) + u(b+2)
 *
 * and so on to the fourth: its chain.  (This is the cycle lemma.  Let S(i) be
 * the sum of d(j) - u(j) over j < i, going round and round, and b the last of
 * the places 0 to 3 where S is greatest.  S(i) < S(b) for i from b + 1 to 3 as
 * b is the last, and beyond as each round lowers S.  Qin and Xiao 2018,
 * "Pigeonring: A Principle for Faster Thresholded Similarity Search".)
 *
 * An entry of block b has the blocks b, b+1, b+2, b+3 one after the other.  So
 * what the chain allows is a set of prefixes of entries, in the order of the
 * index: within the run of a key one need look only where the next block
 * agrees well enough.  sh_next_range() tells where.  A ShReach holds the
 * limits of a chain.
 *
 * The first finder
 *
 * An entry may be reached through several blocks.  As it holds all of them, it
 * tells by itself which chains it satisfies.  An entry reached through block b
 * is let through only if it satisfies the chain of b, and that of no block
 * that was searched before.
 *
 * Worked example
 *
 * Find all within k = 5.  Six units: radii 1, 1, 0, 0 (16-bit blocks first,
 * their keys being rarer).  Block 0 is looked up under its own key and the 16
 * keys that differ in one bit, block 1 as well, blocks 2 and 3 under one key
 * each: 36 probes.  Units are 2, 2, 1, 1, so the limits of the chains are
 *
 *		block 0		1, 3, 4, 5		block 2		0, 1, 3, 5
 *		block 1		1, 2, 3, 5		block 3		0, 2, 4, 5
 *
 * Take an entry with d = (2, 1, 0, 2).  Block 0 does not reach it.  Block 1
 * does, in shell 1, and lets it through, as d(1) = 1, d(1) + d(2) = 1,
 * d(1) + d(2) + d(3) = 3, and 5 in all.  Block 2 reaches it too, with 0; but
 * then 2 differing bits are too many, so it need not be read there at all.
 * One with d = (0, 0, 0, 0) is let through by block 0 and held back by the
 * others.
 *
 * Crowds
 *
 * Fingerprints of texts are not spread evenly: a key of a block may be shared
 * by a large part of the table.  Told so, a plan gives its units to the other
 * blocks.  If half a million rows share the query's key in block 0, all within
 * 3 are found by radii -1, 1, 0, 0: nineteen probes in place of four, but none
 * of them into the crowd.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/blocks/entries.h"

#include <math.h>

/*
 * What things cost, in comparisons of an entry held in the processor's cache.
 *
 * SH_ROWS_FAR		rows from which on pages are far away in memory.
 * SH_COST_SEEK		going down the tree to a leaf page.
 * SH_COST_PAGE		reading a leaf page next to the last one.
 *
 * Chosen so that of probes and a pass the faster one is taken on indexes of
 * 10^5, 10^6 and 10^7 random fingerprints in shared buffers, for all k from 7
 * to 16 and nearest first.  Leaf pages are fetched ahead, so that they cost
 * little as long as the memory keeps up.
 */
#define SH_ROWS_FAR			4e6
#define SH_COST_SEEK(extent)	((extent)->rows < SH_ROWS_FAR ? 80.0 : 800.0)
#define SH_COST_PAGE(extent)	((extent)->rows < SH_ROWS_FAR ? 120.0 : 400.0)

/* What is searched of a block within a radius, whatever the other blocks. */
ShReach
sh_shells(int radius)
{
	ShReach		reach = {{radius, SH_ANY, SH_ANY, SH_ANY}};

	return reach;
}

/*
 * What has to be searched of a block, given the radii of all: the chain that
 * begins with it, but for a pass, which reads all.
 */
ShReach
sh_reach(const ShLayout *layout, const int *radius, int block)
{
	ShReach		reach = sh_shells(radius[block]);
	int			sum = -1;

	if (radius[block] < 0 || radius[block] >= layout->widths[block])
		return reach;
	for (int i = 0; i < layout->blocks; i++)
	{
		sum += radius[(block + i) % layout->blocks] + 1;
		reach.within[i] = sum;
	}
	return reach;
}

/* The place of the uppermost bit of a value that is not zero. */
static inline int
top_bit(uint64_t value)
{
	return sh_bit_length(value) - 1;
}

/*
 * Entries differ from the query as "apart" says in the bits from "free" on, in
 * any way in those from "fine" up to there, and in none below.  Are all of
 * them within reach?
 */
static bool
all_within(const ShLayout *layout, const ShReach *reach, int block,
		   uint64_t apart, int free, int fine)
{
	for (int i = 0; i < layout->blocks; i++)
	{
		int			end = sh_ring_end(layout, block, i);
		int			known = end > free ? end : free;
		int			least = end > fine ? end : fine;
		int			n = sh_distance(apart >> known, 0);

		if (free > least)
			n += free - least;
		if (n > reach->within[i])
			return false;
		if (end <= fine)
			break;
	}
	return true;
}

/*
 * Of entries that differ from the query as "apart" says in the bits from
 * "fine" on, where is the uppermost bit that brings them out of reach?
 * -1: they may be within.
 */
static int
first_beyond(const ShLayout *layout, const ShReach *reach, int block,
			 uint64_t apart, int fine)
{
	int			i;

	for (i = 0; i < layout->blocks; i++)
	{
		int			end = sh_ring_end(layout, block, i);

		if (sh_distance(apart >> (end > fine ? end : fine), 0) >
			reach->within[i])
			break;
		if (end <= fine)
			return -1;
	}
	for (int n = reach->within[i]; n > 0; n--)
		apart ^= UINT64_C(1) << top_bit(apart);
	return top_bit(apart);
}

/*
 * Settle the bits from "place" down to "fine", which are zero: let them stay
 * so, from the top, where that can be, and be the query's otherwise.  Above,
 * the entry differs from the query in "apart" bits.
 */
static uint64_t
settle_below(const ShLayout *layout, const ShReach *reach, int block,
			 uint64_t center, uint64_t entry,
			 int place, int fine, int apart)
{
	for (int i = 0; i < layout->blocks && place > fine; i++)
	{
		int			end = sh_ring_end(layout, block, i);
		uint64_t	ones;

		if (end >= place)
			continue;
		end = end > fine ? end : fine;
		ones = (center & ((UINT64_C(1) << place) - 1)) >> end << end;
		for (; ones != 0 && apart < reach->within[i]; apart++)
			ones ^= UINT64_C(1) << top_bit(ones);
		entry |= ones;
		place = end;
	}
	return entry;
}

/*
 * The least entry not below "from" that may be within reach as far as its bits
 * from "fine" on tell; those below are zero, unless it is "from" itself.
 * Returns false if there is none.
 *
 * It shares its upper bits with "from", has a one where "from" has a zero, and
 * is free below.  That place is the lowest one, not below where "from" gets
 * out of reach, at which there is a zero and a one can be afforded.
 */
static bool
next_entry(const ShLayout *layout, const ShReach *reach, int block,
		   uint64_t center, uint64_t from,
		   int fine, uint64_t *entry)
{
	uint64_t	start = from >> fine << fine;
	uint64_t	apart = start ^ center;
	int			place = first_beyond(layout, reach, block, apart, fine);
	int			i = 0;
	int			n;

	*entry = from;
	if (place < 0)
		return true;
	for (;; place++)
	{
		uint64_t	above;

		n = sh_distance(apart >> place >> 1, 0);
		if (start >> place & 1)
			continue;
		if (place >= layout->kept)
			return false;
		if (apart >> place & 1)
			break;				/* the one is the query's */
		for (i = 0; sh_ring_end(layout, block, i) > place; i++)
			;
		if (n < reach->within[i])
		{
			n++;
			break;
		}
		/* Nothing to be had before a difference is undone. */
		above = apart >> place >> 1;
		if (above == 0)
			return false;
		place += __builtin_ctzll(above);
	}
	*entry = settle_below(layout, reach, block, center,
						  (start >> place | 1) << place, place, fine, n);
	return true;
}

/*
 * The next range of entries of a block, not below "from", in which some may be
 * within reach and were not done before, as far as their bits from "fine" on
 * tell.  Entries are without the number of their block.  Returns false if
 * there is none.
 *
 * So ranges come in the order of the index, none has to be stored, and a scan
 * may skip forward to where its entries go on.  In between nothing is within
 * reach that is not done.
 */
bool
sh_next_range(const ShLayout *layout, const ShReach *reach,
			  const ShReach *done, int block,
			  uint64_t center, uint64_t from, int fine,
			  uint64_t *low, uint64_t *high)
{
	int			most = layout->kept;

	/* What is done is told key by key. */
	if (done->within[0] >= 0)
		most = fine > sh_ring_end(layout, block, 0) ? fine : sh_ring_end(layout, block, 0);

	/* One key, told in full: the most frequent case by far. */
	if (reach->within[0] == 0 && done->within[0] < 0 &&
		fine == sh_ring_end(layout, block, 0))
	{
		*low = center >> fine << fine;
		*high = *low | ((UINT64_C(1) << fine) - 1);
		if (*low < from)
			*low = from;
		return *low <= *high;
	}

	for (;; from = *high + 1)
	{
		int			end = fine;
		uint64_t	apart;

		if (from > sh_kept_mask(layout) ||
			!next_entry(layout, reach, block, center, from, fine, low))
			return false;
		apart = *low ^ center;
		while (end < most && !(*low >> end & 1) &&
			   all_within(layout, reach, block, apart, end + 1, fine))
			end++;
		*high = *low | ((UINT64_C(1) << end) - 1);
		if (!all_within(layout, done, block, apart, end, 0))
			return true;
	}
}

/* How many keys of a width lie at a distance from a given one. */
static double
shell_size(int width, int radius)
{
	double		size = 1;

	if (radius < 0 || radius > width)
		return 0;
	for (int i = 1; i <= radius; i++)
		size = size * (width - i + 1) / i;
	return size;
}

/* Leaf pages of one block. */
static double
block_pages(const ShExtent *extent)
{
	return extent->rows / extent->per_page + 1;
}

/* The size of an index whose entries are spread evenly. */
void
sh_even_extent(ShExtent *extent, const ShLayout *layout,
			   double rows, double per_page)
{
	extent->layout = layout;
	extent->rows = rows;
	extent->per_page = per_page;
	for (int block = 0; block < SH_WORD_BLOCKS; block++)
		extent->crowd[block][0] = extent->crowd[block][1] = 1;
}

/*
 * The share of the entries under a key that has to be read if the next block
 * may differ in so many bits.  It is 1 if they are on one page.  Otherwise
 * prefixes are so long that one takes less than a page.
 *
 * Where there is a crowd, we do not know how it is spread, and so assume the
 * usual number of entries.
 */
static double
key_share(const ShExtent *extent, int block, int limit)
{
	double		pages = extent->rows / extent->per_page /
	(UINT32_C(1) << extent->layout->widths[block]);
	int			width = extent->layout->widths[(block + 1) % extent->layout->blocks];
	int			bits = 0;

	while (bits < width && pages > UINT32_C(1) << bits)
		bits++;
	return limit >= bits ? 1 : sh_ball_size(bits, limit) / (UINT32_C(1) << bits);
}

/*
 * What there is to do for one shell of a block, where the next block may
 * differ in so many bits.  Each probe starts somewhere on a leaf page and goes
 * on for a share of as many entries as have the key, and no page is read twice.
 */
static ShSearchWork
shell_work(const ShExtent *extent, int block, int radius, int limit)
{
	int			width = extent->layout->widths[block];
	double		all = block_pages(extent);
	ShSearchWork work;
	double		seeks;

	work.probes = shell_size(width, radius);
	work.entries = work.probes * extent->rows / (UINT32_C(1) << width) *
		extent->crowd[block][radius > 0];
	if (work.entries > extent->rows)
		work.entries = extent->rows;
	work.entries *= key_share(extent, block, limit);
	work.pages = work.probes + work.entries / extent->per_page;
	if (work.pages > all)
		work.pages = all;
	seeks = work.probes < work.pages ? work.probes : work.pages;
	work.cost = seeks * SH_COST_SEEK(extent) +
		work.pages * SH_COST_PAGE(extent) + work.entries;
	return work;
}

/* What there is to do to read all entries of a block. */
static ShSearchWork
pass_work(const ShExtent *extent)
{
	double		pages = block_pages(extent);
	ShSearchWork work = {1, extent->rows, pages,
	pages * SH_COST_PAGE(extent) + extent->rows};

	return work;
}

/* Add some work to other work. */
static void
add_work(ShSearchWork *sum, const ShSearchWork *work)
{
	sum->probes += work->probes;
	sum->entries += work->entries;
	sum->pages += work->pages;
	sum->cost += work->cost;
}

/* What the next shell of a block costs; infinity if there is none left. */
static double
next_cost(const ShExtent *extent, int block, int done)
{
	return done < extent->layout->widths[block] ?
		shell_work(extent, block, done + 1, SH_ANY).cost : HUGE_VAL;
}

/* Put down what the radii of a plan cost, all chains considered. */
static void
weigh_plan(const ShExtent *extent, ShSearchPlan *plan)
{
	for (int block = 0; block < extent->layout->blocks; block++)
	{
		ShReach		reach = sh_reach(extent->layout, plan->radius, block);

		for (int radius = 0; radius <= plan->radius[block]; radius++)
		{
			ShSearchWork shell = shell_work(extent, block, radius,
											reach.within[1] - radius);

			add_work(&plan->blocks[block], &shell);
		}
		add_work(&plan->total, &plan->blocks[block]);
	}
}

static const ShSearchPlan no_plan = {.radius = {-1, -1, -1, -1}};

/* Plan to read all entries of block 0. */
void
sh_plan_pass(const ShExtent *extent, ShSearchPlan *plan)
{
	*plan = no_plan;
	plan->radius[0] = extent->layout->widths[0];
	plan->blocks[0] = plan->total = pass_work(extent);
}

/*
 * Plan the search for all within k: the cheapest radii, or all of block 0
 * where that is cheaper still.
 *
 * Radii are chosen as if chains were of one block, in which case each shell has
 * a cost of its own.
 */
void
sh_plan_search(const ShExtent *extent, int k, ShSearchPlan *plan)
{
	double		most = pass_work(extent).cost;
	double		next[SH_WORD_BLOCKS];
	double		cost = 0;

	*plan = no_plan;
	for (int block = 0; block < extent->layout->blocks; block++)
		next[block] = next_cost(extent, block, -1);
	for (int units = 0; units <= k && cost < most; units++)
	{
		int			best = 0;

		for (int block = 1; block < extent->layout->blocks; block++)
		{
			if (next[block] < next[best])
				best = block;
		}
		cost += next[best];
		next[best] = next_cost(extent, best, ++plan->radius[best]);
	}
	if (cost < most)
		weigh_plan(extent, plan);
	else
		sh_plan_pass(extent, plan);
}
