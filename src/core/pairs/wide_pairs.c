/*-------------------------------------------------------------------------
 *
 * wide_pairs.c
 *		All pairs of fingerprints of several words within a distance.
 *
 * Guarantee.  Every two different fingerprints within the distance k are
 * reported, once, whatever the data and for every k up to sh_wide_most(),
 * unless they are of different groups.  Memory is 8 bytes a row and word for
 * the fingerprints, what engine.c needs, and 8 bytes a row more.
 *
 * Mechanics.  Each word w gets a radius r(w), such that
 *
 *		the sum of r(w) + 1 over all words is k + 1.
 *
 * In a pair that is beyond the radius of every word, each word differs in
 * r(w) + 1 bits or more, together k + 1: so a pair within k is within the
 * radius of one word or more.  A word of radius -1 adds nothing, and need not
 * be looked at.  By each of the others we let engine.c find all pairs of its
 * values within the radius, and compare the fingerprints that have these.
 *
 * Which radii.  If the bits are even, it is best to give all words the same,
 * k / words.  But then the time is lost on a word that many fingerprints have
 * in common, as where images have the same border: there all are candidates.
 * So we look at some pairs of fingerprints drawn at random, how many of them
 * would be candidates by each word and radius, add what engine.c needs to find
 * them, and choose the radii that promise the least work in all.  Where it is
 * less to compare each fingerprint with each, since they are few or nearly all
 * are near to each other, we do that.
 *
 * Each pair once.  Words are taken in turn.  A pair is reported only by the
 * first one within whose radius it is.
 *
 * A worked example: 256 bits, k = 31.  There are four words of radius 7.  Of a
 * million random fingerprints some 20 pairs are within 7 in a given word.  If
 * the first word is the same in all, the others get the radii 10, 10 and 9.
 *
 * Equal fingerprints have been collapsed before (rows.c), by a hash.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/wide_pairs.h"

#include <math.h>
#include <string.h>

#include "core/cpu.h"

#define SAMPLES			65536	/* pairs to look at for the radii, at most, */
#define SAMPLES_EACH	16		/* and for each fingerprint */
#define TILE			256		/* fingerprints that stay in the cache */

/* Costs in nanoseconds, roughly. */
#define EQUAL_COST		10.0	/* of a candidate with the same word */
#define NEAR_COST		50.0	/* of another one, found by engine.c */
#define COMPARE_COST	2.0		/* of each two, when all are compared */

#define TICK			(1 << 16)	/* candidates between two calls of
									 * progress */
#define RADII			(SH_PAIRS_RADIUS + 2)	/* of a word, from -1 on */
#define MOST			(SH_MAX_WORDS * (SH_PAIRS_RADIUS + 1))

/* The greatest k for fingerprints of a width. */
int
sh_wide_most(int width)
{
	return sh_words_of(width) * (SH_PAIRS_RADIUS + 1) - 1;
}

/* The memory that n rows need besides their words and what engine.c needs. */
size_t
sh_wide_bytes(uint32_t n)
{
	return ((size_t) n * 2 + 1) * sizeof(uint32_t);
}

/* --- the fingerprints ----------------------------------------------------- */

/* The words of a fingerprint. */
static inline const uint64_t *
words_of(const ShWide *wide, uint32_t number)
{
	return wide->wide + (size_t) number * (size_t) wide->words;
}

/* By what to move each word of a fingerprint, to part groups; see rows.c. */
static inline uint64_t
shift_of(const ShWide *wide, uint32_t number)
{
	return wide->all->groups == NULL ? 0
		: sh_group_hash(wide->all->seed, sh_pairs_group(wide->all, number));
}

/* Leave only the words of distinct fingerprints, in the order of these. */
static void
keep_distinct(const ShPairs *all, uint64_t *words, size_t n)
{
	for (size_t w = 0; w < n; w++)
	{
		sh_pairs_tell(all, 0);
		for (uint32_t i = 0; i < all->distinct; i++)
			all->work[i] = words[all->rows[all->first[i]] * n + w];
		for (uint32_t i = 0; i < all->distinct; i++)
			words[i * n + w] = all->work[i];
	}
}

/*
 * Begin with rows that sh_pairs_collapse has collapsed by these words of
 * theirs.  What "all" has in the arrays "rows" and "first" moves to the given
 * memory, of sh_wide_bytes(); all else is worked in.
 */
void
sh_wide_begin(ShWide *wide, ShPairs *all, uint64_t *words, void *memory,
			  int width)
{
	uint32_t   *rows = memory;
	uint32_t   *first = rows + all->n;

	memset(wide, 0, sizeof *wide);
	wide->all = all;
	wide->wide = words;
	wide->width = width;
	wide->words = sh_words_of(width);
	keep_distinct(all, words, (size_t) wide->words);
	memcpy(rows, all->rows, all->n * sizeof *rows);
	memcpy(first, all->first, ((size_t) all->distinct + 1) * sizeof *first);
	all->rows = rows;
	all->first = first;
}

/* In how many bits do two fingerprints differ? */
int
sh_wide_distance(const ShWide *wide, uint32_t a, uint32_t b)
{
	return (int) sh_distance_bytes((const unsigned char *) words_of(wide, a),
								   (const unsigned char *) words_of(wide, b),
								   (size_t) wide->words * sizeof(uint64_t));
}

/* --- the radii ------------------------------------------------------------ */

/*
 * Which part of all pairs is within each radius in each word?  Pairs of
 * different groups count as what they are to the search.
 */
static void
sample_pairs(const ShWide *wide, double within[][RADII])
{
	uint32_t	distinct = wide->all->distinct;
	uint32_t	samples = distinct < SAMPLES / SAMPLES_EACH
	? distinct * SAMPLES_EACH : SAMPLES;

	memset(within, 0, sizeof *within * (size_t) wide->words);
	for (uint32_t i = 0; i < samples; i++)
	{
		uint64_t	random = sh_mix(wide->all->seed + i);
		uint32_t	a = (uint32_t) ((random >> 32) * distinct >> 32);
		uint32_t	b = (uint32_t) ((random & UINT32_MAX) *
									(distinct - 1) >> 32);
		uint64_t	shift;

		b += b >= a;
		shift = shift_of(wide, a) ^ shift_of(wide, b);
		for (int w = 0; w < wide->words; w++)
		{
			int			apart = sh_distance(words_of(wide, a)[w] ^ shift,
											words_of(wide, b)[w]);

			for (int radius = apart; radius <= SH_PAIRS_RADIUS; radius++)
				within[w][radius + 1] += 1.0 / samples;
		}
	}
}

/* The estimated time to find and compare the candidates of each word. */
static void
estimate_costs(const ShWide *wide, double cost[][RADII])
{
	uint32_t	n = wide->all->distinct;
	double		pairs = (double) n * (n - 1) / 2;

	sample_pairs(wide, cost);
	for (int w = 0; w < wide->words; w++)
	{
		int			bits = wide->width * (w + 1) / wide->words -
		wide->width * w / wide->words;

		double		equal = 0;

		cost[w][0] = 0;
		for (int radius = 0; radius <= SH_PAIRS_RADIUS; radius++)
		{
			ShPairPlan	plan;

			(void) sh_pair_plan(&plan, ~UINT64_C(0) >> (SH_BITS - bits), n, 0,
								radius, sh_pairs_key_bits(n));
			if (radius == 0)
				equal = cost[w][1];
			cost[w][radius + 1] = plan.cost + pairs *
				(equal * EQUAL_COST +
				 (cost[w][radius + 1] - equal) * NEAR_COST);
		}
	}
}

/*
 * Choose the radii: least[j] is the least cost of the words up to w, if
 * their radii, each with 1 added, sum up to j; taken[w][j] is what w has of
 * these.  Returns the least cost.
 */
static double
choose_radii(ShWide *wide)
{
	double		cost[SH_MAX_WORDS][RADII];
	double		least[MOST + 1] = {0};
	uint8_t		taken[SH_MAX_WORDS][MOST + 1];
	int			left = wide->k + 1;

	estimate_costs(wide, cost);
	for (int j = 0; j <= left; j++)
		least[j] = j == 0 ? 0 : HUGE_VAL;
	for (int w = 0; w < wide->words; w++)
	{
		for (int j = left; j >= 0; j--)
		{
			double		best = HUGE_VAL;

			taken[w][j] = 0;
			for (int some = 0; some < RADII && some <= j; some++)
			{
				double		sum = least[j - some] + cost[w][some];

				if (sum < best)
				{
					best = sum;
					taken[w][j] = (uint8_t) some;
				}
			}
			least[j] = best;
		}
	}
	for (int w = wide->words; w-- > 0;)
	{
		int			some = taken[w][left];

		wide->radius[w] = some - 1;
		wide->share[w] = cost[w][some] / least[wide->k + 1];
		left -= some;
	}
	return least[wide->k + 1];
}

/* --- candidates ----------------------------------------------------------- */

/*
 * Report two fingerprints if they are a pair, and no word before this one has
 * found it.
 */
static inline void
report_if_pair(const ShWide *wide, uint32_t a, uint32_t b)
{
	const uint64_t *x = words_of(wide, a);
	const uint64_t *y = words_of(wide, b);
	int			sum = 0;

	for (int w = 0; w < wide->words; w++)
	{
		int			apart = sh_distance(x[w], y[w]);

		sum += apart;
		if (sum > wide->k || (w < wide->at && apart <= wide->radius[w]))
			return;
	}
	if (sh_pairs_group(wide->all, a) == sh_pairs_group(wide->all, b))
		wide->sink(wide->context, a, b, sum);
}

/* So many have been compared: tell so now and then, and let the caller stop us. */
static inline void
count_compared(ShWide *wide, size_t n)
{
	wide->compared += n;
	if (wide->compared < TICK)
		return;
	wide->compared = 0;
	sh_pairs_tell(wide->all, wide->told);
}

/* Compare the candidates that wait. */
static void
compare_waiting(ShWide *wide)
{
	for (size_t i = 0; i < wide->waiting; i++)
		report_if_pair(wide, wide->candidate[i][0], wide->candidate[i][1]);
	count_compared(wide, wide->waiting);
	wide->waiting = 0;
}

/* Compare each with each, in tiles. */
static void
compare_all(ShWide *wide)
{
	uint32_t	n = wide->all->distinct;

	wide->at = 0;
	for (uint32_t tile = 0; tile < n; tile += TILE)
	{
		uint32_t	end = n - tile < TILE ? n : tile + TILE;

		for (uint32_t i = 0; i + 1 < end; i++)
		{
			uint32_t	from = i < tile ? tile : i + 1;

			for (uint32_t j = from; j < end; j++)
				report_if_pair(wide, i, j);
			count_compared(wide, end - from);
		}
		wide->told = (double) end / n * end / n;
		sh_pairs_tell(wide->all, wide->told);
	}
}

/*
 * Two fingerprints that are near in the word at hand.  They may be far away in
 * memory: ask for them, and compare them together with others.
 */
static inline void
add_candidate(ShWide *wide, uint32_t a, uint32_t b)
{
	wide->candidate[wide->waiting][0] = a;
	wide->candidate[wide->waiting++][1] = b;
	__builtin_prefetch(words_of(wide, a));
	__builtin_prefetch(words_of(wide, b));
	if (wide->waiting == SH_WIDE_WAITING)
		compare_waiting(wide);
}

/*
 * Two values of the word are near, or one is given twice: so are all
 * fingerprints that have them.
 */
static void
add_candidates(void *context, uint32_t a, uint32_t b, int distance)
{
	ShWide	   *wide = context;
	const ShPairs *word = &wide->word;

	(void) distance;
	for (uint32_t i = word->first[a]; i < word->first[a + 1]; i++)
	{
		for (uint32_t j = a == b ? i + 1 : word->first[b];
			 j < word->first[b + 1]; j++)
			add_candidate(wide, word->rows[i], word->rows[j]);
	}
}

/* --- the search ----------------------------------------------------------- */

/* ShPairs.progress of the word: the words before it have been searched. */
static void
tell_word(void *context, double done)
{
	ShWide	   *wide = context;

	wide->told = done < wide->done ? wide->done : done;
	sh_pairs_tell(wide->all, wide->told);
}

/* Sort the distinct fingerprints by the word that we are at. */
static void
begin_word(ShWide *wide)
{
	ShPairs    *all = wide->all;
	ShPairs    *word = &wide->word;

	for (uint32_t i = 0; i < all->distinct; i++)
		all->values[i] = words_of(wide, i)[wide->at] ^ shift_of(wide, i);
	sh_pairs_begin(word, all->values, all->work, all->distinct);
	word->progress = tell_word;
	word->progress_context = wide;
	word->progress_start = wide->done;
	word->progress_share = wide->share[wide->at];
	sh_pairs_collapse(word);
	sh_pairs_tell(word, 0);
}

/* Search by the word that we are at. */
static void
search_by_word(ShWide *wide)
{
	int			radius = wide->radius[wide->at];

	begin_word(wide);
	for (uint32_t a = 0; a < wide->word.distinct; a++)
		add_candidates(wide, a, a, 0);
	if (radius > 0)
		sh_pairs_find(&wide->word, radius, add_candidates, wide);
	compare_waiting(wide);
}

/*
 * Report all pairs of different fingerprints within distance k, from 0 to
 * sh_wide_most().
 */
void
sh_wide_find(ShWide *wide, int k, ShPairSink sink, void *context)
{
	double		n = wide->all->distinct;

	wide->k = k;
	wide->sink = sink;
	wide->context = context;
	wide->done = wide->told = 0;
	if (k == 0 || n < 2)
		return;
	if (choose_radii(wide) > n * n / 2 * COMPARE_COST && !wide->by_words)
	{
		compare_all(wide);
		return;
	}
	for (wide->at = 0; wide->at < wide->words; wide->at++)
	{
		if (wide->radius[wide->at] < 0)
			continue;
		search_by_word(wide);
		wide->done += wide->share[wide->at];
	}
}
