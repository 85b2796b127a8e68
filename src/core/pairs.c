/*-------------------------------------------------------------------------
 *
 * pairs.c
 *		All pairs of fingerprints within a distance.
 *
 * Guarantee.  Every two different fingerprints within the radius k are
 * reported, once, whatever the data and for every k from 0 to 16; rows with
 * equal fingerprints have been collapsed before.  Memory is 33 bytes a row at
 * most, of which 8 are the fingerprints, whatever k is.
 *
 * Mechanics.  Cut the bits into m = k + c blocks.  A pair within distance k
 * differs in at most k of them, so it agrees in at least c.  Manku, Jain and
 * Das Sarma ("Detecting Near-Duplicates for Web Crawling", 2007) make a
 * sorted table for each choice of c blocks out of m.  We visit those choices
 * as a tree: split the values by block 0, each of the parts by block 1, then
 * by block 2 and so on, return, split all by block 1, and so on, so that
 * choices with a common beginning share its work, and only one array is
 * needed besides the values.  A part that has become small is not split any
 * further: its values are compared each with each.  One that is still large
 * at a leaf of the tree, since the data are skewed, is cut anew into blocks,
 * of those bits only in which its values differ.  The number c is the one
 * with the least estimated work.
 *
 * Each pair once.  At a node of the tree some blocks have been chosen and
 * some passed over.  The pair is reported only where it agrees in the chosen
 * ones and differs in those passed over; for every pair there is exactly
 * one such path, as each step of it follows from where the pair agrees.
 *
 * A split is a counting sort by some bits of a hash of the block, 2048 parts
 * at most at a time.  Values that differ in the block may fall into the same
 * part: that costs comparisons, and the rule above rejects the pair.
 *
 * A worked example: k = 3, ten million values that are evenly spread.  With
 * c = 2 there are 5 blocks of 12 or 13 bits.  Splitting by block 0 makes
 * 8192 parts of 1200 values, each of which is split by block 1 into parts of
 * one or two, then by blocks 2, 3 and 4.  Then come blocks 1 (and 2, 3, 4),
 * 2 (and 3, 4) and 3 (and 4).  No pair can first agree in block 4.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs.h"

#include <string.h>

#define DIGIT			11		/* bits by which to split at a time */
#define PARTS			(1 << DIGIT)
#define CHOSEN_MAX		8		/* blocks to choose, at most */
#define BLOCKS_MAX		(SH_PAIRS_RADIUS + CHOSEN_MAX)
#define DEPTH_MAX		4		/* how often to cut into blocks anew */
#define TILE			1024	/* values that stay in the nearest cache */
#define TICK			(1 << 22)	/* work between two calls of progress */

/* Costs in nanoseconds, roughly: to move a value, to compare two. */
#define MOVE_COST		4.0
#define COMPARE_COST	0.35

/* How the bits are cut into blocks, and in how many a pair must agree. */
typedef struct ShPlan
{
	int			blocks;
	int			agreeing;
	uint64_t	mask[BLOCKS_MAX];
} ShPlan;

/* The path to a node of the tree. */
typedef struct ShSearch
{
	ShPairs    *pairs;
	ShCompare	compare;
	ShPairSink	sink;
	void	   *context;

	uint64_t	agree;			/* bits of the chosen blocks */
	int			passed;			/* blocks passed over */
	uint64_t	differ[DEPTH_MAX * BLOCKS_MAX];
	int			depth;			/* how often we have cut into blocks */

	size_t		work;			/* done since progress was told */
	double		done;			/* part of the search that is done */
	double		share;			/* what the values at hand will add to it */
} ShSearch;

static void search_values(ShSearch *search, uint64_t *values, uint64_t *spare,
						  size_t n);

/* The number of a fingerprint that is there. */
static uint32_t
number_of(const ShPairs *pairs, uint64_t value)
{
	const uint32_t *entry = pairs->directory +
	((value - pairs->values[0]) >> pairs->directory_shift);
	uint32_t	low = entry[0];
	uint32_t	high = entry[1];

	while (high - low > 1)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (pairs->values[middle] <= value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Count work; say how far we are when enough of it has been done. */
static inline void
tick(ShSearch *search, size_t work)
{
	ShPairs    *pairs = search->pairs;

	search->work += work;
	if (search->work < TICK)
		return;
	search->work = 0;
	if (pairs->progress != NULL)
		pairs->progress(pairs->progress_context,
						search->done < 1 ? search->done : 1);
}

/* Two values within the radius: report them if this is the place to. */
static void
match(void *context, uint64_t a, uint64_t b)
{
	ShSearch   *search = context;
	uint64_t	x = a ^ b;

	if ((x & search->agree) != 0)
		return;
	for (int i = 0; i < search->passed; i++)
	{
		if ((x & search->differ[i]) == 0)
			return;
	}
	search->sink(search->context, number_of(search->pairs, a),
				 number_of(search->pairs, b), sh_distance(a, b));
}

/* Compare each value with each, in tiles that stay in the cache. */
static void
compare_all(ShSearch *search, const uint64_t *values, size_t n)
{
	double		done = search->done;

	for (size_t tile = 0; tile < n; tile += TILE)
	{
		size_t		end = tile + TILE < n ? tile + TILE : n;

		search->done = done + search->share * ((double) tile / n * tile / n);
		for (size_t i = 0; i + 1 < end; i++)
		{
			size_t		from = i < tile ? tile : i + 1;

			search->compare.one(&search->compare, values[i], values + from,
								end - from);
			tick(search, end - from);
		}
	}
}

/* The number of choices of r out of n. */
static double
choices(int n, int r)
{
	double		result = 1;

	for (int i = 1; i <= r; i++)
		result = result * (n - r + i) / i;
	return result;
}

/*
 * The time to search n values that differ in so many bits, by choosing c out
 * of k + c blocks.
 */
static double
estimated_cost(double n, int bits, int k, int c)
{
	double		size = n;		/* of a part */
	double		cost = 0;

	for (int level = 1; level <= c; level++)
	{
		int			block = bits * level / (k + c) - bits * (level - 1) / (k + c);

		cost += choices(k + level, level) * n * (size < 1 ? size : 1) *
			MOVE_COST * (block > DIGIT && size > PARTS ? 2 : 1);
		size /= (double) (UINT64_C(1) << block);
	}
	return cost + choices(k + c, c) * n * size / 2 * COMPARE_COST;
}

/* Cut those bits into blocks; false when it is better to compare all. */
static bool
make_plan(ShPlan *plan, uint64_t bits, size_t n, int k)
{
	int			count = sh_distance(bits, 0);
	double		best = estimated_cost(n, count, k, 0);

	plan->agreeing = 0;
	for (int c = 1; c <= CHOSEN_MAX && c <= count - k; c++)
	{
		double		cost = estimated_cost(n, count, k, c);

		if (cost < best)
		{
			best = cost;
			plan->agreeing = c;
		}
	}
	plan->blocks = k + plan->agreeing;
	for (int i = 0; i < plan->blocks && plan->agreeing > 0; i++)
	{
		int			size = count * (i + 1) / plan->blocks -
		count * i / plan->blocks;

		plan->mask[i] = 0;
		for (; size > 0; size--)
		{
			uint64_t	bit = UINT64_C(1) << (sh_bit_length(bits) - 1);

			plan->mask[i] |= bit;
			bits ^= bit;
		}
	}
	return plan->agreeing > 0;
}

/* Part of a hash of a block of a value, from 0 to 2^digit - 1. */
static inline uint32_t
block_hash(uint64_t value, uint64_t mask, int used, int digit)
{
	return (uint32_t) (((value & mask) * UINT64_C(0x9e3779b97f4a7c15))
					   << used >> (SH_BITS - digit));
}

static void search_blocks(ShSearch *search, const ShPlan *plan, int from, int need,
						  uint64_t *values, uint64_t *spare, size_t n);

/*
 * Split the values by a block, of whose hash some bits have been used
 * before, and search the parts for pairs that agree in it and in so many
 * further blocks.  The parts lie in "spare", and what the search of one needs
 * is where it would be in "values"; so all is copied back in the end.
 */
static void
split(ShSearch *search, const ShPlan *plan, int block, int need,
	  uint64_t *values, uint64_t *spare, size_t n, int used)
{
	uint32_t	ends[PARTS];
	uint64_t	mask = plan->mask[block];
	int			left = sh_distance(mask, 0) + 1 - used;
	int			digit = sh_bit_length(n);
	int			next = need == 0 ? search->compare.radius + 1
	: plan->blocks - block - need;
	size_t		limit = (size_t) (2 * MOVE_COST / COMPARE_COST) * next;
	uint32_t	start = 0;
	bool		moved = false;
	double		done = search->done;
	double		share = search->share;

	digit = digit > DIGIT ? DIGIT : digit;
	digit = digit > left ? left : digit;
	memset(ends, 0, sizeof *ends << digit);
	for (size_t i = 0; i < n; i++)
		ends[block_hash(values[i], mask, used, digit)]++;
	for (uint32_t part = 0; part < UINT32_C(1) << digit; part++)
	{
		uint32_t	count = ends[part];

		ends[part] = start;
		start += count;
	}
	for (size_t i = 0; i < n; i++)
		spare[ends[block_hash(values[i], mask, used, digit)]++] = values[i];
	tick(search, n);
	search->compare.runs(&search->compare, spare, ends,
						 (size_t) 1 << digit, limit);
	start = 0;
	for (uint32_t part = 0; part < UINT32_C(1) << digit; start = ends[part++])
	{
		size_t		size = ends[part] - start;

		if (size <= limit)
			continue;
		search->done = done + share * start / n;
		search->share = share * size / n;
		if (digit < left)
			split(search, plan, block, need, spare + start, values + start,
				  size, used + digit);
		else if (need > 0)
			search_blocks(search, plan, block + 1, need,
						  spare + start, values + start, size);
		else
			search_values(search, spare + start, values + start, size);
		moved = true;
	}
	if (moved)
		memcpy(values, spare, n * sizeof *values);
}

/*
 * Search the values for pairs that agree in so many blocks of those from a
 * given one.  They may come back in another order.
 */
static void
search_blocks(ShSearch *search, const ShPlan *plan, int from, int need,
			  uint64_t *values, uint64_t *spare, size_t n)
{
	int			passed = search->passed;
	double		share = search->share;
	double		done = search->done;

	for (int block = from; block + need <= plan->blocks; block++)
	{
		search->done = done;
		search->share = share * choices(plan->blocks - block - 1, need - 1) /
			choices(plan->blocks - from, need);
		done += search->share;
		search->agree |= plan->mask[block];
		split(search, plan, block, need - 1, values, spare, n, 0);
		search->agree &= ~plan->mask[block];
		search->differ[search->passed++] = plan->mask[block];
	}
	search->passed = passed;
}

/* Search the values, by the bits in which they differ. */
static void
search_values(ShSearch *search, uint64_t *values, uint64_t *spare, size_t n)
{
	uint64_t	bits = 0;
	ShPlan		plan;

	for (size_t i = 1; i < n; i++)
		bits |= values[i] ^ values[0];
	bits &= ~search->agree;
	if (search->depth == DEPTH_MAX ||
		!make_plan(&plan, bits, n, search->compare.radius))
	{
		compare_all(search, values, n);
		return;
	}
	search->depth++;
	search_blocks(search, &plan, 0, plan.agreeing, values, spare, n);
	search->depth--;
}

/* Report all pairs of different fingerprints within the radius, 0 to 16. */
void
sh_pairs_find(ShPairs *pairs, int radius, ShPairSink sink, void *context)
{
	ShSearch	search;

	if (radius == 0 || pairs->distinct < 2)
		return;
	memset(&search, 0, sizeof search);
	search.pairs = pairs;
	search.sink = sink;
	search.context = context;
	search.share = 1;
	sh_compare_begin(&search.compare, radius, match, &search);
	memcpy(pairs->work, pairs->values,
		   pairs->distinct * sizeof *pairs->values);
	search_values(&search, pairs->work, pairs->spare, pairs->distinct);
}
