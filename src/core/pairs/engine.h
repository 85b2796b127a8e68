/*-------------------------------------------------------------------------
 *
 * engine.h
 *		All pairs of fingerprints within a distance.
 *
 * The job of this folder: in come the fingerprints of rows in memory, with
 * their groups if they have any; out come all pairs within a distance, or the
 * clusters that pairs make.  rows.c sorts and collapses the rows, plan.c chooses
 * how to search, engine.c searches, by means of sides.c and compare.c.
 * crowds.c and clusters.c make clusters, wide_pairs.c searches fingerprints of
 * several words.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_ENGINE_H
#define SH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

#define SH_COMPARE_BEYOND	16	/* values that may be read beyond the last */

typedef struct ShCompare ShCompare;

/* The same functions, written for the instructions of some processors. */
typedef struct ShCompareKind
{
	const char *name;
	bool		(*usable) (void);	/* on the processor that we run on? */

	/* Compare one value with many; some beyond them are read, no more. */
	void		(*one) (const ShCompare *compare, uint64_t one,
						const uint64_t *many, size_t n);

	/* Compare each with each within every run of 2 to limit values. */
	void		(*runs) (const ShCompare *compare, const uint64_t *values,
						 size_t start, const uint32_t *ends, size_t n, size_t limit);
} ShCompareKind;

/* What to look for, whom to tell, and the instructions to do it with. */
struct ShCompare
{
	int			radius;
	void		(*match) (void *context, uint64_t a, uint64_t b);
	void	   *context;
	const ShCompareKind *kind;
};

#define SH_PAIRS_ROWS	INT32_MAX	/* the most rows */

/*
 * Rows by fingerprint.  Distinct fingerprints are numbered in ascending
 * order; rows[first[i]] up to rows[first[i + 1] - 1] are the rows that have
 * number i, in ascending order.  Where rows are in groups, a fingerprint is
 * that of a row combined with its group, and all rows that have it are in the
 * same group.  Where fingerprints have several words, hashes stand in for them,
 * and distinct fingerprints are numbered in the order of these.
 */
typedef struct ShPairs
{
	uint32_t	n;				/* rows */
	uint32_t	distinct;		/* different fingerprints */
	uint64_t   *values;			/* fingerprints of the rows, then distinct */
	uint64_t   *work;			/* two arrays to work in, free for the caller */
	uint64_t   *spare;			/* between calls */
	uint32_t   *rows;
	uint32_t   *first;
	uint32_t   *directory;		/* where values with given leading bits begin */
	int			directory_shift;
	uint32_t   *ends;			/* where the values with each key end */

	const uint32_t *groups;		/* of the rows, or NULL if all are in one */
	uint64_t	seed;			/* any number, for hashes */

	const uint64_t *wide;		/* the words of each row, or NULL */
	int			words;			/* of a row, if so */

	const ShCompareKind *kind;	/* how to compare */

	/*
	 * Called now and then with the part that is done, 0 to 1; need not
	 * return.
	 */
	void		(*progress) (void *context, double done);
	void	   *progress_context;
	double		progress_start; /* what is done before the search */
	double		progress_share; /* what the search adds */
} ShPairs;

/* Tell that such a part is done, if anybody wants to know. */
static inline void
sh_pairs_tell(const ShPairs *pairs, double done)
{
	if (pairs->progress != NULL)
		pairs->progress(pairs->progress_context, done);
}

/* The hash of a group, by any number. */
static inline uint64_t
sh_group_hash(uint64_t seed, uint32_t group)
{
	return sh_mix(seed + group * SH_SCRAMBLE);
}

/* The row that comes first of those with a fingerprint. */
static inline uint32_t
sh_pairs_first_row(const ShPairs *pairs, uint32_t number)
{
	return pairs->rows[pairs->first[number]];
}

/* The group of the rows that have a fingerprint. */
static inline uint32_t
sh_pairs_group(const ShPairs *pairs, uint32_t number)
{
	return pairs->groups == NULL ? 0
		: pairs->groups[sh_pairs_first_row(pairs, number)];
}

#define SH_PAIRS_RADIUS	16		/* the greatest radius */
#define SH_DIGIT		11		/* bits of a key to sort by at a time */
#define SH_KEYS_MAX		(2 * SH_DIGIT)	/* bits of a key */
#define SH_FLIPS_MAX	4096	/* keys within the radius of a key */

/* Some bits, and in how many of them a pair may differ to be looked at. */
typedef struct ShKeyBlock
{
	uint64_t	mask;
	int			low;			/* the lowest bit */
	int			width;			/* bits of a key, which may have holes */
	int			radius;
	double		share;			/* of the work of the plan */
} ShKeyBlock;

/* Blocks of which every pair within the radius meets one or more. */
typedef struct ShPairPlan
{
	double		cost;			/* estimated, in nanoseconds */
	int			blocks;
	ShKeyBlock	block[SH_PAIRS_RADIUS + 1];
} ShPairPlan;

/* The key of a value in a block. */
static inline uint32_t
sh_block_of(uint64_t value, const ShKeyBlock *block)
{
	return (uint32_t) ((value & block->mask) >> block->low);
}

#define SH_PARTS		(1 << SH_DIGIT) /* the values of a digit */

/* Values, room for as many, and where those with each key end. */
typedef struct ShSide
{
	uint64_t   *values;
	uint64_t   *room;
	size_t		n;
	uint32_t   *ends;
} ShSide;

/* The values with a key. */
static inline ShSide
sh_side_of_key(const ShSide *side, uint32_t key)
{
	uint32_t	start = key == 0 ? 0 : side->ends[key - 1];
	ShSide		part = {side->values + start, side->room + start,
	side->ends[key] - start, NULL};

	return part;
}

/* Called with the numbers of two fingerprints, and their distance. */
typedef void (*ShPairSink) (void *context, uint32_t a, uint32_t b,
							int distance);

/* compare.c */
extern const ShCompareKind sh_compare_kinds[];
extern const int sh_compare_kinds_count;

extern const ShCompareKind *sh_compare_fastest(void);
extern size_t sh_take_near(uint64_t one, int radius, uint64_t *values,
						   size_t n);

/* rows.c */
extern size_t sh_pairs_bytes(uint32_t n);
extern int	sh_pairs_key_bits(uint32_t n);
extern void sh_pairs_begin(ShPairs *pairs, uint64_t *values, void *memory,
						   uint32_t n);
extern void sh_pairs_collapse(ShPairs *pairs);
extern void sh_pairs_fetch_number(const ShPairs *pairs, uint64_t value);
extern uint32_t sh_pairs_number(const ShPairs *pairs, uint64_t value);
extern uint32_t *sh_pairs_number_rows(const ShPairs *pairs);

/* plan.c */
extern bool sh_pair_plan(ShPairPlan *plan, uint64_t bits, size_t a, size_t b,
						 int radius, int width);

/* sides.c */
extern void sh_sizes_to_starts(uint32_t *parts, size_t n, uint32_t start);
extern void sh_sort_side(ShSide *side, const ShKeyBlock *block);
extern uint64_t sh_differing_bits(const ShSide *side, uint64_t from);
extern void sh_restore(const ShSide *side, uint64_t *values);

/* engine.c */
extern void sh_pairs_begin_search(ShPairs *pairs);
extern void sh_pairs_find_beside(ShPairs *pairs, int radius, uint32_t alone,
								 ShPairSink sink, void *context);
extern void sh_pairs_find(ShPairs *pairs, int radius, ShPairSink sink,
						  void *context);
extern void sh_pairs_find_between(ShPairs *pairs, int radius, uint32_t start,
								  uint32_t n, uint32_t others, uint32_t m,
								  ShPairSink sink, void *context);

#endif							/* SH_ENGINE_H */
