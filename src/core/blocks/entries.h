/*-------------------------------------------------------------------------
 *
 * entries.h
 *		How a fingerprint is cut into index keys, and which keys to look up
 *		to find every fingerprint within a Hamming distance.
 *
 * Nothing here knows of PostgreSQL; entries.c begins with the reasoning and a
 * worked example.
 *
 * The job of this folder: in come fingerprints, and queries with a distance; out
 * come the parts by which an index finds the ones for the other.  layout.c cuts
 * fingerprints of any width, entries.c makes the entries of hamming indexes and
 * plans searches of them, probes.c lists the keys to look up in btree indexes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_ENTRIES_H
#define SH_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bits.h"
#include "core/blocks/layout.h"

/* "In any number of bits". */
#define SH_ANY				64

/*
 * How far the entries of a block are searched: in how many bits the first one,
 * two, three and four blocks of an entry, in the order of the ring, may differ
 * from the query.  Below 0: not searched.
 */
typedef struct ShReach
{
	int			within[SH_WORD_BLOCKS];
} ShReach;

/* How much a search has to do, as far as can be told beforehand. */
typedef struct ShSearchWork
{
	double		probes;			/* keys looked up */
	double		entries;		/* entries compared */
	double		pages;			/* leaf pages read */
	double		cost;			/* all of it, in units of one comparison */
} ShSearchWork;

/* How far each block of a word is searched, and how much there is to do for that. */
typedef struct ShSearchPlan
{
	int			radius[SH_WORD_BLOCKS]; /* -1: the block is not searched */
	ShSearchWork blocks[SH_WORD_BLOCKS];
	ShSearchWork total;			/* of all blocks together */
} ShSearchPlan;

/*
 * The word of an index that a plan is made for.  Where entries are not spread evenly,
 * "crowd" tells how many times more than usual of them share the query's own
 * key in a block, and a key at distance 1 from that.
 */
typedef struct ShExtent
{
	const ShLayout *layout;
	double		rows;			/* entries of one block */
	double		per_page;		/* entries on a leaf page */
	double		crowd[SH_WORD_BLOCKS][2];
} ShExtent;

/* The bits that entries keep of a word. */
static inline uint64_t
sh_kept_mask(const ShLayout *layout)
{
	return ~UINT64_C(0) >> (64 - layout->kept);
}

/* Rotate the kept bits of a word to the left. */
static inline uint64_t
sh_rotate_kept(const ShLayout *layout, uint64_t value, int by)
{
	return ((value << by) | (value >> (layout->kept - by))) &
		sh_kept_mask(layout);
}

/* The number of a block of a word, where an entry has it. */
static inline uint64_t
sh_entry_tag(const ShLayout *layout, int word, int block)
{
	return (uint64_t) (word * layout->blocks + block) << layout->shift;
}

/* The entry of a word in a block: number of the block, rotated bits. */
static inline uint64_t
sh_entry(const ShLayout *layout, uint64_t bits, int word, int block)
{
	return sh_entry_tag(layout, word, block) |
		sh_rotate_kept(layout, bits, layout->offsets[block]) <<
		(layout->shift - layout->kept);
}

/*
 * An entry without the number of its block, and without what it leaves empty:
 * the kept bits of its word, rotated.
 */
static inline uint64_t
sh_bare_entry(const ShLayout *layout, uint64_t entry)
{
	return entry >> (layout->shift - layout->kept) & sh_kept_mask(layout);
}

/* The least and the greatest entry of a block that is, bare, the given one. */
static inline uint64_t
sh_least_entry(const ShLayout *layout, int word, int block, uint64_t bare)
{
	return sh_entry_tag(layout, word, block) |
		bare << (layout->shift - layout->kept);
}

static inline uint64_t
sh_greatest_entry(const ShLayout *layout, int word, int block, uint64_t bare)
{
	return sh_least_entry(layout, word, block, bare) |
		((UINT64_C(1) << (layout->shift - layout->kept)) - 1);
}

/* The i-th block in the order of the ring from a given one, i < blocks. */
static inline int
sh_ring_block(const ShLayout *layout, int block, int i)
{
	return block + i < layout->blocks ? block + i : block + i - layout->blocks;
}

/*
 * The lowest bit of the i-th block of a bare entry, counted in the order of
 * the ring from the entry's own.
 */
static inline int
sh_ring_end(const ShLayout *layout, int block, int i)
{
	return layout->ends[block][i];
}

/*
 * In how many bits does each block differ from the query, if an entry of the
 * given block differs from it in those of "bare"?
 */
static inline void
sh_apart(const ShLayout *layout, int block, uint64_t bare, int *apart)
{
	int			above = 0;

	for (int i = 0; i < layout->blocks; i++)
	{
		int			sum = sh_distance(bare >> sh_ring_end(layout, block, i), 0);

		apart[sh_ring_block(layout, block, i)] = sum - above;
		above = sum;
	}
}

/* Is a fingerprint found by a block?  See sh_apart() for "apart". */
static inline bool
sh_reaches(const ShLayout *layout, const ShReach *reach, int block,
		   const int *apart)
{
	int			sum = 0;

	for (int i = 0; i < layout->blocks; i++)
	{
		sum += apart[sh_ring_block(layout, block, i)];
		if (sum > reach->within[i])
			return false;
	}
	return true;
}

/* The least entry of a block under a probe. */
static inline uint64_t
sh_entry_first(const ShLayout *layout, int word, int block, uint32_t probe)
{
	return sh_entry_tag(layout, word, block) |
		((uint64_t) probe << (layout->shift - layout->widths[block]));
}

/* The greatest entry of a block under a probe. */
static inline uint64_t
sh_entry_last(const ShLayout *layout, int word, int block, uint32_t probe)
{
	return sh_entry_first(layout, word, block, probe) |
		((UINT64_C(1) << (layout->shift - layout->widths[block])) - 1);
}

/* The probe under which a word's own entry lies. */
static inline uint32_t
sh_entry_key(const ShLayout *layout, uint64_t bits, int block)
{
	return (uint32_t) (sh_rotate_kept(layout, bits, layout->offsets[block]) >>
					   (layout->kept - layout->widths[block]));
}

/* Does a plan read all entries of block 0, rather than probe? */
static inline bool
sh_is_pass(const ShLayout *layout, const ShSearchPlan *plan)
{
	return plan->radius[0] >= layout->widths[0];
}

extern ShReach sh_shells(int radius);
extern ShReach sh_reach(const ShLayout *layout, const int *radius, int block);
extern bool sh_next_range(const ShLayout *layout, const ShReach *reach,
						  const ShReach *done, int block,
						  uint64_t center, uint64_t from, int fine,
						  uint64_t *low, uint64_t *high);

extern void sh_even_extent(ShExtent *extent, const ShLayout *layout,
						   double rows, double per_page);
extern void sh_plan_pass(const ShExtent *extent, ShSearchPlan *plan);
extern void sh_plan_search(const ShExtent *extent, int k, ShSearchPlan *plan);

#endif							/* SH_ENTRIES_H */
