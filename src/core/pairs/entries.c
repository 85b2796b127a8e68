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
 * The first finder
 *
 * An entry may be reached through several blocks.  Let done(j) be the radius
 * to which block j has been searched so far.  An entry reached through block b
 * is let through only if d(j) > done(j) for every other block j: otherwise
 * block j has already let it through.
 *
 * Worked example
 *
 * Find all within k = 5.  Six units: radii 1, 1, 0, 0 (16-bit blocks first,
 * their keys being rarer).  Block 0 is looked up under its own key and the 16
 * keys that differ in one bit, block 1 as well, blocks 2 and 3 under one key
 * each: 36 probes.  Take an entry with d = (2, 1, 0, 2).  Block 0 does not
 * reach it; block 1 does, in shell 1, and lets it through as d(0) = 2 > 1;
 * block 2 reaches it too and holds it back, since d(1) = 1 <= done(1) = 1.
 *
 * Crowds
 *
 * Fingerprints of texts are not spread evenly: a key of a block may be shared
 * by a large part of the table.  Told so, a plan gives its units to the other
 * blocks.  If half a million rows share the query's key in block 0, all within
 * 3 are found by radii -1, 1, 0, 0: nineteen probes in place of four, but none
 * of them into the crowd.
 *
 * Nearest first
 *
 * The same units, handed out one at a time for as long as rows are wanted,
 * give nearest neighbours: when the sum of done(j) + 1 has come to k + 1, all
 * rows within k have been let through.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/entries.h"

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

static inline int
count_bits(uint32_t value)
{
	int			n = 0;

	for (; value != 0; value &= value - 1)
		n++;
	return n;
}

/*
 * The least probe not below "from" whose distance to "center" is between
 * "nearest" and "farthest", or SH_NO_PROBE.
 *
 * So probes come in the order of the index, none has to be stored, and a scan
 * may skip forward to where its entries go on.  The answer shares its upper
 * bits with "from", has a one where "from" has a zero, and is free below: find
 * the lowest such place that leaves a way to the wanted distance, then settle
 * the bits below it from the top, zero where that still can be.
 */
uint32_t
sh_entry_probe(uint32_t center, int width, int nearest, int farthest,
			   uint32_t from)
{
	uint32_t	probe = from;
	int			place;
	int			distance;

	if (farthest == 0 && nearest <= 0)
		return from <= center ? center : SH_NO_PROBE;
	if (from >> width)
		return SH_NO_PROBE;

	distance = count_bits(from ^ center);
	if (distance >= nearest && distance <= farthest)
		return from;

	for (place = 0; place < width; place++)
	{
		if (from >> place & 1)
			continue;
		probe = (from >> place | 1) << place;
		distance = count_bits((probe ^ center) >> place);
		if (distance <= farthest && distance + place >= nearest)
			break;
	}
	if (place == width)
		return SH_NO_PROBE;

	while (place-- > 0)
	{
		int			differs = center >> place & 1;	/* were the bit zero */

		if (distance + differs > farthest ||
			distance + differs + place < nearest)
		{
			probe |= UINT32_C(1) << place;
			differs = !differs;
		}
		distance += differs;
	}
	return probe;
}

/* How many keys of a width lie at a distance from a given one. */
double
sh_shell_size(int width, int radius)
{
	double		size = 1;
	int			i;

	if (radius < 0 || radius > width)
		return 0;
	for (i = 1; i <= radius; i++)
		size = size * (width - i + 1) / i;
	return size;
}

/* How many keys of a width lie within a distance of a given one. */
double
sh_ball_size(int width, int radius)
{
	double		size = 0;
	int			i;

	for (i = 0; i <= radius; i++)
		size += sh_shell_size(width, i);
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
sh_even_extent(ShExtent *extent, double rows, double per_page)
{
	int			block;

	extent->rows = rows;
	extent->per_page = per_page;
	for (block = 0; block < SH_INDEX_BLOCKS; block++)
		extent->crowd[block][0] = extent->crowd[block][1] = 1;
}

/* Entries under the probes of a shell, all together. */
static double
shell_entries(const ShExtent *extent, int block, int radius)
{
	int			width = sh_block_width(block);
	double		entries = sh_shell_size(width, radius) *
	extent->rows / (UINT32_C(1) << width) *
	extent->crowd[block][radius > 0];

	return entries < extent->rows ? entries : extent->rows;
}

/*
 * Leaf pages read for a shell: each probe starts somewhere on a page and goes
 * on for as many entries as share the key, and no page is read twice.
 */
static double
shell_pages(const ShExtent *extent, int block, int radius)
{
	double		all = block_pages(extent);
	double		pages = sh_shell_size(sh_block_width(block), radius) +
	shell_entries(extent, block, radius) / extent->per_page;

	return pages < all ? pages : all;
}

/* What there is to do for one shell of a block. */
static ShSearchWork
shell_work(const ShExtent *extent, int block, int radius)
{
	ShSearchWork work;
	double		seeks;

	work.probes = sh_shell_size(sh_block_width(block), radius);
	work.entries = shell_entries(extent, block, radius);
	work.pages = shell_pages(extent, block, radius);
	seeks = work.probes < work.pages ? work.probes : work.pages;
	work.cost = seeks * SH_COST_SEEK(extent) +
		work.pages * SH_COST_PAGE(extent) + work.entries;
	return work;
}

/* What there is to do to read all entries of a block. */
static ShSearchWork
pass_work(const ShExtent *extent)
{
	ShSearchWork work;

	work.probes = 1;
	work.entries = extent->rows;
	work.pages = block_pages(extent);
	work.cost = work.pages * SH_COST_PAGE(extent) + work.entries;
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

/* The cost of one shell of a block. */
double
sh_shell_cost(const ShExtent *extent, int block, int radius)
{
	return shell_work(extent, block, radius).cost;
}

/* The cost of reading all entries of a block. */
double
sh_pass_cost(const ShExtent *extent)
{
	return pass_work(extent).cost;
}

/*
 * The block whose next shell costs least, given how far each has been
 * searched, or -1 if there is none left.
 */
int
sh_next_block(const ShExtent *extent, const int *done)
{
	int			best = -1;
	double		best_cost = 0;
	int			block;

	for (block = 0; block < SH_INDEX_BLOCKS; block++)
	{
		double		cost;

		if (done[block] >= sh_block_width(block))
			continue;
		cost = sh_shell_cost(extent, block, done[block] + 1);
		if (best < 0 || cost < best_cost)
		{
			best = block;
			best_cost = cost;
		}
	}
	return best;
}

/* A plan that has not searched anything so far. */
static void
clear_plan(ShSearchPlan *plan)
{
	const ShSearchWork none = {0, 0, 0, 0};
	int			block;

	plan->total = none;
	for (block = 0; block < SH_INDEX_BLOCKS; block++)
	{
		plan->radius[block] = -1;
		plan->blocks[block] = none;
	}
}

/*
 * Plan the search for all within k: the cheapest radii, or all of block 0
 * where that is cheaper still.
 */
void
sh_plan_search(const ShExtent *extent, int k, ShSearchPlan *plan)
{
	ShSearchWork pass = pass_work(extent);
	int			units;

	clear_plan(plan);
	for (units = 0; units <= k && plan->total.cost < pass.cost; units++)
	{
		int			block = sh_next_block(extent, plan->radius);
		ShSearchWork shell;

		if (block < 0)
			break;
		shell = shell_work(extent, block, ++plan->radius[block]);
		add_work(&plan->blocks[block], &shell);
		add_work(&plan->total, &shell);
	}
	if (units > k && plan->total.cost < pass.cost)
		return;

	clear_plan(plan);
	plan->radius[0] = sh_block_width(0);
	plan->blocks[0] = plan->total = pass;
}
