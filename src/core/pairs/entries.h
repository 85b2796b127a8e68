/*-------------------------------------------------------------------------
 *
 * entries.h
 *		How a fingerprint is cut into index keys, and which keys to look up
 *		to find every fingerprint within a Hamming distance.
 *
 * Nothing here knows of PostgreSQL; entries.c begins with the reasoning and a
 * worked example.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_ENTRIES_H
#define SH_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Limits of the work done.
 *
 * SH_INDEX_BLOCKS	entries an index holds for a fingerprint, one a block.
 * SH_INDEX_BITS	bits of the fingerprint that an entry keeps; the two others
 *					make room for the number of the block.
 * SH_LOST_BITS		how far a distance between entries may fall short of the
 *					distance between the fingerprints.
 */
#define SH_INDEX_BLOCKS		4
#define SH_INDEX_BITS		62
#define SH_LOST_BITS		2

#define SH_INDEX_MASK		((UINT64_C(1) << SH_INDEX_BITS) - 1)

/*
 * How far the entries of a block are searched: in how many bits the first one,
 * two, three and four blocks of an entry, in the order of the ring, may differ
 * from the query.  Below 0: not searched.
 */
typedef struct ShReach
{
	int			within[SH_INDEX_BLOCKS];
} ShReach;

/* How much a search has to do, as far as can be told beforehand. */
typedef struct ShSearchWork
{
	double		probes;			/* keys looked up */
	double		entries;		/* entries compared */
	double		pages;			/* leaf pages read */
	double		cost;			/* all of it, in units of one comparison */
} ShSearchWork;

/* How far each block is searched, and how much there is to do for that. */
typedef struct ShSearchPlan
{
	int			radius[SH_INDEX_BLOCKS];	/* -1: the block is not searched */
	ShSearchWork blocks[SH_INDEX_BLOCKS];
	ShSearchWork total;			/* of all blocks together */
} ShSearchPlan;

/*
 * The index that a plan is made for.  Where entries are not spread evenly,
 * "crowd" tells how many times more than usual of them share the query's own
 * key in a block, and a key at distance 1 from that.
 */
typedef struct ShExtent
{
	double		rows;			/* entries of one block */
	double		per_page;		/* entries on a leaf page */
	double		crowd[SH_INDEX_BLOCKS][2];
} ShExtent;

/* Bits of a block. */
static inline int
sh_block_width(int block)
{
	return block < 2 ? 16 : 15;
}

/* How far the bits of a block are from the top of the kept 62. */
static inline int
sh_block_offset(int block)
{
	return block < 3 ? 16 * block : 47;
}

/* Rotate the lower 62 bits of a value to the left. */
static inline uint64_t
sh_rotate62(uint64_t value, int by)
{
	return ((value << by) | (value >> (SH_INDEX_BITS - by))) & SH_INDEX_MASK;
}

/* The entry of a fingerprint in a block: number of the block, rotated bits. */
static inline uint64_t
sh_entry(uint64_t fp, int block)
{
	return ((uint64_t) block << SH_INDEX_BITS) |
		sh_rotate62(fp >> SH_LOST_BITS, sh_block_offset(block));
}

/* Where the bits of block "of" lie in an entry of block "block". */
static inline uint64_t
sh_entry_mask(int block, int of)
{
	int			width = sh_block_width(of);
	uint64_t	bits = (UINT64_C(1) << width) - 1;

	bits <<= SH_INDEX_BITS - sh_block_offset(of) - width;
	return sh_rotate62(bits, sh_block_offset(block));
}

/*
 * The lowest bit of the i-th block of an entry, counted in the order of the
 * ring from the entry's own.
 */
static inline int
sh_ring_end(int block, int i)
{
	static const uint8_t ends[SH_INDEX_BLOCKS][SH_INDEX_BLOCKS] = {
		{46, 30, 15, 0}, {46, 31, 16, 0}, {47, 32, 16, 0}, {47, 31, 15, 0}
	};

	return ends[block][i];
}

/* The least entry of a block under a probe. */
static inline uint64_t
sh_entry_first(int block, uint32_t probe)
{
	return ((uint64_t) block << SH_INDEX_BITS) |
		((uint64_t) probe << (SH_INDEX_BITS - sh_block_width(block)));
}

/* The greatest entry of a block under a probe. */
static inline uint64_t
sh_entry_last(int block, uint32_t probe)
{
	return sh_entry_first(block, probe) |
		((UINT64_C(1) << (SH_INDEX_BITS - sh_block_width(block))) - 1);
}

/* The probe under which a fingerprint's own entry lies. */
static inline uint32_t
sh_entry_key(uint64_t fp, int block)
{
	return (uint32_t) ((sh_entry(fp, block) & SH_INDEX_MASK) >>
					   (SH_INDEX_BITS - sh_block_width(block)));
}

/* Does a plan read all entries of block 0, rather than probe? */
static inline bool
sh_is_pass(const ShSearchPlan *plan)
{
	return plan->radius[0] >= sh_block_width(0);
}

extern ShReach sh_shells(int radius);
extern ShReach sh_reach(const int *radius, int block);
extern bool sh_reaches(const ShReach *reach, int block, const int *apart);
extern bool sh_next_range(const ShReach *reach, const ShReach *done, int block,
						  uint64_t center, uint64_t from, int fine,
						  uint64_t *low, uint64_t *high);

extern double sh_shell_size(int width, int radius);
extern double sh_ball_size(int width, int radius);
extern void sh_even_extent(ShExtent *extent, double rows, double per_page);
extern double sh_shell_cost(const ShExtent *extent, int block, int radius);
extern double sh_pass_cost(const ShExtent *extent);
extern int	sh_next_block(const ShExtent *extent, const int *done);
extern void sh_plan_search(const ShExtent *extent, int k, ShSearchPlan *plan);

#endif							/* SH_ENTRIES_H */
