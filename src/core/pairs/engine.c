/*-------------------------------------------------------------------------
 *
 * engine.c
 *		All pairs of fingerprints within a distance.
 *
 * Guarantee.  Every two different fingerprints within the radius k are
 * reported, once, whatever the data and for every k from 0 to 16, unless they
 * are of different groups (see rows.c); rows with equal fingerprints have been
 * collapsed before.  Memory is 37 bytes a row at most, of which 8 are the
 * fingerprints, whatever k is; groups add 4.
 *
 * Mechanics.  plan.c cuts the bits into blocks, each with a radius, such that
 * every pair within distance k is within that radius in one block or more.
 * For each block we sort the values by it, which puts those with the same key
 * together, and compare the values of a key with those of each key within the
 * radius.  The candidates from several keys are gathered first, so that the
 * comparing, which is most of the work, goes through many at a time.
 *
 * Where two keys have so many values that comparing each with each is dear,
 * since the data are many or skewed, they are searched in the same way: cut
 * anew by the bits in which they differ, less those of the block, for pairs
 * within what the two keys leave of the distance.  So we always search either
 * one side, values among themselves, or two sides, the values of one with
 * those of the other.  Where a sample says that many pairs are near, all are
 * compared.
 *
 * Each pair once.  Blocks are taken in turn.  A pair is reported only where it
 * was not within the radius of a block that was taken before, here or at an
 * outer cut; as each block puts a value under one key only, that is one place.
 *
 * A worked example: k = 3, ten million values that are evenly spread.  There
 * are 4 blocks of 16 bits, of radius 0: by each the values fall into 65536
 * keys of some 152 values, which are compared each with each.  For k = 8 and
 * three million values there are 4 blocks, one of 18 bits and radius 2, the
 * others of 15 or 16 and radius 1.  By the first, some 11 values have the same
 * key, and are compared with those of 171 other keys.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/engine.h"

#include <string.h>

#define DEPTH_MAX		4		/* how often to cut into blocks */
#define RUN_MAX			256		/* values of a key to compare each with each */
#define PRODUCT_MAX		((size_t) 1 << 17)	/* of values of two keys */
#define GATHER			1024	/* candidates to gather */
#define GATHER_MAX		64		/* of one key */
#define SPREAD			8		/* values to copy of a near key that has as
								 * many at most */
#define SLICE			1024	/* keys between two calls of progress */
#define TILE			1024	/* values that stay in the nearest cache */
#define TICK			(1 << 22)	/* work between two calls of progress */
#define SIDES_WIDTH		13		/* bits of the keys of two sides, at most */
#define FOUND			256		/* pairs to report at a time */
#define SAMPLES			64		/* pairs to look at before values are cut, */
#define DENSE			8		/* of which so many within the radius are many */

typedef struct ShSearch
{
	ShPairs    *pairs;
	ShCompare	compare;
	ShPairSink	sink;
	void	   *context;

	uint64_t	chosen;			/* bits of the blocks that we are in */
	int			passed;			/* blocks where pairs have been reported */
	const ShKeyBlock *pass[DEPTH_MAX * (SH_PAIRS_RADIUS + 1)];
	int			depth;			/* how often we have cut into blocks */

	uint32_t   *other_ends;		/* by keys of more than a digit: of the second
								 * of two sides */

	size_t		work;			/* done since progress was told */
	double		done;			/* part of the search that is done */
	double		before;			/* of that, before the outermost block */
	double		share;			/* what that block will add to it */

	size_t		count;			/* pairs found and not reported yet */
	uint64_t	found[FOUND][2];
} ShSearch;

/*
 * The bits in which near keys differ from a key: first none; then, from ends[i]
 * up to ends[i + 1], those of which bit i is the highest.
 */
typedef struct ShFlips
{
	uint32_t	ends[SH_KEYS_MAX + 1];
	uint32_t	list[SH_FLIPS_MAX];
} ShFlips;

/* A key of a block, while the values that have it are searched. */
typedef struct ShKey
{
	const ShKeyBlock *block;
	uint32_t	key;
	ShSide		side;			/* its values */
	const ShSide *others;		/* among which to look */
	bool		same;			/* are those the same values? */
	int			radius;			/* of the search */
	ShFlips		flips;			/* that make near keys */
	size_t		gathered;
	uint64_t	gather[GATHER + SH_COMPARE_BEYOND];
} ShKey;

static void search_sides(ShSearch *search, const ShSide *a, const ShSide *b,
						 int radius, int width);

/* --- comparing ------------------------------------------------------------ */

/* Count work; say how far we are when enough of it has been done. */
static inline void
count_work(ShSearch *search, size_t work)
{
	ShPairs    *pairs = search->pairs;

	search->work += work;
	if (search->work < TICK)
		return;
	search->work = 0;
	sh_pairs_tell(pairs, pairs->progress_start + pairs->progress_share *
				  (search->done < 1 ? search->done : 1));
}

/*
 * Report the pairs found.  What is known of their values lies all over memory;
 * to ask for that of many at once is several times as fast.
 */
static void
report_found(ShSearch *search)
{
	ShPairs    *pairs = search->pairs;
	uint32_t	number[FOUND][2];

	for (size_t i = 0; i < search->count; i++)
	{
		sh_pairs_fetch_number(pairs, search->found[i][0]);
		sh_pairs_fetch_number(pairs, search->found[i][1]);
	}
	for (size_t i = 0; i < search->count; i++)
	{
		for (int j = 0; j < 2; j++)
		{
			number[i][j] = sh_pairs_number(pairs, search->found[i][j]);
			__builtin_prefetch(&pairs->first[number[i][j]]);
		}
	}
	for (size_t i = 0; i < search->count; i++)
	{
		if (sh_pairs_group(pairs, number[i][0]) ==
			sh_pairs_group(pairs, number[i][1]))
			search->sink(search->context, number[i][0], number[i][1],
						 sh_distance(search->found[i][0],
									 search->found[i][1]));
	}
	search->count = 0;
}

/* Two values within the radius: note them if this is the place to. */
static void
note_match(void *context, uint64_t a, uint64_t b)
{
	ShSearch   *search = context;
	uint64_t	x = a ^ b;

	for (int i = 0; i < search->passed; i++)
	{
		if (sh_distance(x & search->pass[i]->mask, 0) <=
			search->pass[i]->radius)
			return;
	}
	search->found[search->count][0] = a;
	search->found[search->count++][1] = b;
	if (search->count == FOUND)
		report_found(search);
}

/* Keys before the given one have been searched: note it at the outermost. */
static inline void
note_done(ShSearch *search, const ShSide *side, uint32_t key)
{
	if (search->depth == 1 && key > 0)
		search->done = search->before +
			search->share * side->ends[key - 1] / side->n;
}

/*
 * Compare the values of one side with each other, or with those of another
 * side, in tiles that stay in the cache.
 */
static void
compare_sides(ShSearch *search, const ShSide *a, const ShSide *b)
{
	const ShSide *others = b != NULL ? b : a;

	for (size_t tile = 0; tile < others->n; tile += TILE)
	{
		size_t		end = tile + TILE < others->n ? tile + TILE : others->n;

		for (size_t i = 0; i < (b != NULL ? a->n : end - 1); i++)
		{
			size_t		from = b != NULL || i < tile ? tile : i + 1;

			search->compare.kind->one(&search->compare, a->values[i],
									  others->values + from, end - from);
			count_work(search, end - from);
		}
	}
}

/*
 * --- keys and those near them ---------------------------------------------
 *
 * By a block of radius r we search key by key: the values that have the key
 * among themselves, and with those of each near key, which differs from it in
 * at most r bits.  Near keys are made by flipping bits: key ^ flips, for each
 * number "flips" of 1 to r bits.  Two keys that are near to each other meet
 * once, when the lesser one is searched.
 *
 * The values of near keys lie all over memory, and are few.  So we do not
 * compare them one key at a time: search_near copies them into the array
 * "gather", unless there are many, which are compared, or cut into blocks
 * anew, by themselves.  When that is full, compare_gathered compares each
 * value of the key with all that were gathered.
 *
 * Where near keys have a value or two, most time would go to branches that the
 * processor cannot guess, since it waits for memory at each.  So there are
 * hardly any.  The flips of a block are listed beforehand, in ascending order:
 * those that make a greater key are the ones whose highest bit the key lacks,
 * and stand together in the list.  SPREAD values are copied of a near key,
 * however few it has.
 */

/* Compare the values of a key with the candidates gathered. */
static void
compare_gathered(ShSearch *search, ShKey *key)
{
	for (size_t i = 0; i < key->side.n; i++)
		search->compare.kind->one(&search->compare, key->side.values[i],
								  key->gather, key->gathered);
	count_work(search, key->side.n * key->gathered);
	key->gathered = 0;
}

/* Search the values of a key with those of a near one, which has many. */
static void
search_near(ShSearch *search, ShKey *key, uint32_t flips)
{
	ShSide		other = sh_side_of_key(key->others, key->key ^ flips);

	if (other.n <= GATHER_MAX)
	{
		memcpy(key->gather + key->gathered, other.values,
			   other.n * sizeof *other.values);
		key->gathered += other.n;
	}
	else if (key->side.n * other.n <= PRODUCT_MAX)
		compare_sides(search, &key->side, &other);
	else
		search_sides(search, &key->side, &other,
					 key->radius - sh_distance(flips & (key->block->mask >>
														key->block->low), 0),
					 SH_DIGIT);
}

/* Search the values of a key with those of the keys that some flips make. */
static void
search_flips(ShSearch *search, ShKey *key, const uint32_t *flips,
			 const uint32_t *end)
{
	const uint32_t *ends = key->others->ends;
	const uint64_t *values = key->others->values;

	for (; flips < end; flips++)
	{
		uint32_t	near = key->key ^ *flips;
		uint32_t	start = near == 0 ? 0 : ends[near - 1];
		uint32_t	n = ends[near] - start;

		if (key->gathered > GATHER - GATHER_MAX)
			compare_gathered(search, key);
		if (n > SPREAD)
			search_near(search, key, *flips);
		else
		{
			memcpy(key->gather + key->gathered, values + start,
				   SPREAD * sizeof *values);
			key->gathered += n;
		}
	}
}

/* Search the values of a key with those of all keys within the radius. */
static void
search_key(ShSearch *search, ShKey *key)
{
	const ShFlips *flips = &key->flips;

	if (!key->same)
		search_flips(search, key, flips->list,
					 flips->list + flips->ends[key->block->width]);
	else
	{
		if (key->side.n <= RUN_MAX)
			compare_sides(search, &key->side, NULL);
		else
			search_sides(search, &key->side, NULL, key->radius, SH_DIGIT);
		for (int bit = 0; bit < key->block->width; bit++)
		{
			if ((key->key >> bit & 1) == 0)
				search_flips(search, key, flips->list + flips->ends[bit],
							 flips->list + flips->ends[bit + 1]);
		}
	}
	compare_gathered(search, key);
	count_work(search, flips->ends[key->block->width]);
}

/* List the flips of keys of so many bits within a radius. */
static void
list_flips(ShFlips *flips, int width, int radius)
{
	uint32_t	n = 1;

	flips->list[0] = 0;
	flips->ends[0] = n;
	for (int bit = 0; bit < width; bit++)
	{
		for (uint32_t i = 0; i < flips->ends[bit]; i++)
		{
			if (sh_distance(flips->list[i], 0) < radius)
				flips->list[n++] = flips->list[i] | UINT32_C(1) << bit;
		}
		flips->ends[bit + 1] = n;
	}
}

/* Search values sorted by a block of radius 0. */
static void
search_equal(ShSearch *search, ShSide *side, int radius, uint32_t keys)
{
	for (uint32_t slice = 0; slice < keys; slice += SLICE)
	{
		uint32_t	n = keys - slice < SLICE ? keys - slice : SLICE;

		search->compare.kind->runs(&search->compare, side->values,
								   slice == 0 ? 0 : side->ends[slice - 1],
								   side->ends + slice, n, RUN_MAX);
		for (uint32_t key = slice; key < slice + n; key++)
		{
			ShSide		part = sh_side_of_key(side, key);

			note_done(search, side, key);
			count_work(search, part.n);
			if (part.n > RUN_MAX)
				search_sides(search, &part, NULL, radius, SH_DIGIT);
		}
	}
}

/* Search one or two sides, sorted by a block, for pairs within its radius. */
static void
search_block(ShSearch *search, const ShKeyBlock *block, ShSide *a, ShSide *b,
			 int radius)
{
	uint32_t	keys = UINT32_C(1) << block->width;
	ShKey		key;

	if (b == NULL && block->radius == 0)
	{
		search_equal(search, a, radius, keys);
		return;
	}
	key.block = block;
	key.others = b != NULL ? b : a;
	key.same = b == NULL;
	key.radius = radius;
	list_flips(&key.flips, block->width, block->radius);
	key.gathered = 0;
	for (key.key = 0; key.key < keys; key.key++)
	{
		key.side = sh_side_of_key(a, key.key);
		if (key.side.n == 0)
			continue;
		note_done(search, a, key.key);
		search_key(search, &key);
	}
}

/* --- the search ----------------------------------------------------------- */

/* Search by one block after another. */
static void
search_blocks(ShSearch *search, const ShPairPlan *plan, ShSide *a, ShSide *b,
			  int radius)
{
	uint64_t	chosen = search->chosen;
	int			passed = search->passed;

	for (int i = 0; i < plan->blocks; i++)
	{
		const ShKeyBlock *block = &plan->block[i];

		sh_sort_side(a, block);
		count_work(search, a->n);
		if (b != NULL)
		{
			sh_sort_side(b, block);
			count_work(search, b->n);
		}
		if (search->depth == 1)
			search->share = block->share;
		search->chosen = chosen | block->mask;
		search_block(search, block, a, b, radius);
		search->pass[search->passed++] = block;
		if (search->depth == 1)
			search->done = search->before += block->share;
	}
	search->chosen = chosen;
	search->passed = passed;
}

/*
 * Are many pairs of the values of two sides, or of one given twice, within the
 * radius?  Most blocks would find each of these again, only to dismiss it,
 * and it costs no more to compare all than to report those.
 */
static bool
are_dense(const ShSearch *search, const ShSide *a, const ShSide *b)
{
	int			near = 0;

	for (uint64_t i = 0; i < SAMPLES; i++)
	{
		uint64_t	x = a->values[sh_mix(2 * i) % a->n];
		uint64_t	y = b->values[sh_mix(2 * i + 1) % b->n];

		near += sh_distance(x, y) <= search->compare.radius;
	}
	return near >= DENSE;
}

/*
 * Search the values of one side among themselves, or with those of another,
 * for pairs that can be within so many bits besides those chosen.  The keys
 * have so many bits at most.  The order of the values changes.
 */
static void
search_sides(ShSearch *search, const ShSide *a, const ShSide *b, int radius,
			 int width)
{
	uint32_t	ends[2][SH_PARTS];
	ShSide		left = *a;
	ShSide		right = b != NULL ? *b : *a;
	uint64_t	bits;
	ShPairPlan	plan;

	if (a->n == 0 || (b != NULL && b->n == 0))
		return;
	bits = sh_differing_bits(a, a->values[0]);
	if (b != NULL)
		bits |= sh_differing_bits(b, a->values[0]);
	bits &= ~search->chosen;
	if (search->depth == DEPTH_MAX || are_dense(search, a, b != NULL ? b : a) ||
		!sh_pair_plan(&plan, bits, a->n, b != NULL ? b->n : 0, radius, width))
	{
		compare_sides(search, a, b);
		return;
	}
	left.ends = width > SH_DIGIT ? search->pairs->ends : ends[0];
	right.ends = width > SH_DIGIT ? search->other_ends : ends[1];
	search->depth++;
	search_blocks(search, &plan, &left, b != NULL ? &right : NULL, radius);
	search->depth--;
	sh_restore(&left, a->values);
	if (b != NULL)
		sh_restore(&right, b->values);
}

/*
 * Report the pairs of one of n values of the array "work", those from "start"
 * on, and one of m values from "others" on; among the n themselves if m is 0.
 * The order of the values changes.
 */
void
sh_pairs_find_between(ShPairs *pairs, int radius, uint32_t start, uint32_t n,
					  uint32_t others, uint32_t m, ShPairSink sink,
					  void *context)
{
	ShSide		a = {pairs->work + start, pairs->spare + start, n, NULL};
	ShSide		b = {pairs->work + others, pairs->spare + others, m, NULL};
	uint32_t	other_ends[1 << SIDES_WIDTH];
	int			width = sh_pairs_key_bits(pairs->n);
	ShSearch	search;

	memset(&search, 0, offsetof(ShSearch, found));
	search.pairs = pairs;
	search.other_ends = other_ends;
	if (m > 0 && width > SIDES_WIDTH)
		width = SIDES_WIDTH;
	search.sink = sink;
	search.context = context;
	search.compare.radius = radius;
	search.compare.match = note_match;
	search.compare.context = &search;
	search.compare.kind = pairs->kind;
	if (radius > 0)
		search_sides(&search, &a, m > 0 ? &b : NULL, radius, width);
	report_found(&search);
}

/*
 * Report the pairs of the array "work", but none of two that come after the
 * first "alone" values.  The order of these changes, and of those after them.
 */
void
sh_pairs_find_beside(ShPairs *pairs, int radius, uint32_t alone,
					 ShPairSink sink, void *context)
{
	uint32_t	crowded = pairs->distinct - alone;
	double		end = pairs->progress_start + pairs->progress_share;

	if (crowded > 0)
		pairs->progress_share /= 2;
	sh_pairs_find_between(pairs, radius, 0, alone, 0, 0, sink, context);
	pairs->progress_start += pairs->progress_share;
	if (crowded > 0)
		sh_pairs_find_between(pairs, radius, 0, alone, alone, crowded, sink,
							  context);
	pairs->progress_start = end;
	pairs->progress_share = 0;
}

/* Put all values into the array "work". */
void
sh_pairs_begin_search(ShPairs *pairs)
{
	memcpy(pairs->work, pairs->values,
		   pairs->distinct * sizeof *pairs->values);
}

/* Report all pairs of different fingerprints within the radius, 0 to 16. */
void
sh_pairs_find(ShPairs *pairs, int radius, ShPairSink sink, void *context)
{
	sh_pairs_begin_search(pairs);
	sh_pairs_find_beside(pairs, radius, pairs->distinct, sink, context);
}
