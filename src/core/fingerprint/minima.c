/*-------------------------------------------------------------------------
 *
 * minima.c
 *		Feature hashes -> 64 minima -> fingerprint of the second family.
 *
 * Put the features of two documents in one random order.  The first feature
 * of one document is the first of the other, too, with a probability that is
 * their Jaccard similarity J, the share of their features that both have
 * (Broder 1997, "On the resemblance and containment of documents").  Keep one
 * bit of that first feature, and two documents differ in it with probability
 * (1 - J) / 2; so 64 such bits differ in 32 (1 - J) on average (Li and Koenig
 * 2010, "b-Bit Minwise Hashing").
 *
 * Sixty-four orders would cost 64 operations a feature.  We take one, and cut
 * it in 64: the high bits of a feature's scrambled hash choose a bin, and each
 * bin keeps the least hash that it sees.  Of a document with few features
 * some bins stay empty.  Such a bin looks at other bins, in an order that is
 * its own and the same for every document, and takes what the first one that
 * is filled holds: where both documents fill that one they agree as before,
 * so the estimate stays unbiased (Shrivastava 2017, "Optimal Densification
 * for Fast and Accurate Minwise Hashing").  A feature that occurs again
 * changes no minimum, so nothing has to be counted.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/fingerprint/minima.h"

#include "core/fingerprint/wide.h"

/* Part of the specification (docs/fingerprint.md). */
#define STEP_FACTOR		UINT64_C(6364136223846793005)
#define STEP_TERM		UINT64_C(1442695040888963407)

#define BEGINNING		16		/* bins of a walk that are looked up */
#define FEW_BINS		8		/* filled, so that walks would be long */

/* The bin that a value chooses. */
static inline unsigned
bin_of(uint64_t value)
{
	return (unsigned) (value >> 58);
}

/* Begin with every bin empty. */
void
sh_minima_begin(ShMinima *minima)
{
	minima->filled = 0;
	for (int i = 0; i < SH_BITS; i++)
		minima->least[i] = UINT64_MAX;
}

/* Add n hashes. */
void
sh_minima_add(ShMinima *minima, const uint64_t *hashes, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64_t	value = hashes[i] * SH_SCRAMBLE;
		unsigned	bin = bin_of(value);
		uint64_t	least = minima->least[bin];

		minima->least[bin] = value < least ? value : least;
		minima->filled |= UINT64_C(1) << bin;
	}
}

/*
 * Of each bit, the turn at which its walk first comes to each bin.  The walk
 * has the full period of 2^64, so it comes to every bin.
 */
static void
make_turns(unsigned char turns[SH_BITS][SH_BITS])
{
	for (unsigned i = 0; i < SH_BITS; i++)
	{
		uint64_t	met = 0;
		uint64_t	walk = sh_mix(i + 1);

		for (unsigned char turn = 0; turn < SH_BITS;)
		{
			unsigned	bin = bin_of(walk);

			if ((met >> bin & 1) == 0)
				turns[i][bin] = turn++;
			met |= UINT64_C(1) << bin;
			walk = walk * STEP_FACTOR + STEP_TERM;
		}
	}
}

/* How a walk begins: its first bins, and which have been met up to each. */
typedef struct Beginning
{
	uint64_t	met[BEGINNING];
	unsigned char bins[BEGINNING];
}			Beginning;

/* How the walk of each bit begins. */
static void
make_beginnings(Beginning * beginnings)
{
	for (unsigned i = 0; i < SH_BITS; i++)
	{
		uint64_t	met = 0;
		uint64_t	walk = sh_mix(i + 1);

		for (int turn = 0; turn < BEGINNING; turn++)
		{
			met |= UINT64_C(1) << bin_of(walk);
			beginnings[i].met[turn] = met;
			beginnings[i].bins[turn] = (unsigned char) bin_of(walk);
			walk = walk * STEP_FACTOR + STEP_TERM;
		}
	}
}

/*
 * The turn in which the walk first comes to a filled bin, if that is early
 * enough: halved again and again, as no processor can foresee it.
 */
static inline unsigned
first_turn(const Beginning * beginning, uint64_t filled)
{
	unsigned	turn = 0;

	for (unsigned half = BEGINNING / 2; half > 0; half /= 2)
		turn += (filled & beginning->met[turn + half - 1]) == 0 ? half : 0;
	return turn;
}

/* The first filled bin on the walk of bit i, of the n that are filled. */
static unsigned
long_walk(uint64_t filled, int n, unsigned i)
{
	static unsigned char turns[SH_BITS][SH_BITS];
	static bool made = false;
	unsigned	best;
	uint64_t	walk;

	if (n > FEW_BINS)
	{
		for (walk = sh_mix(i + 1); (filled >> bin_of(walk) & 1) == 0;)
			walk = walk * STEP_FACTOR + STEP_TERM;
		return bin_of(walk);
	}
	if (!made)
		make_turns(turns);
	made = true;
	best = (unsigned) __builtin_ctzll(filled);
	for (uint64_t rest = filled & (filled - 1); rest != 0; rest &= rest - 1)
	{
		unsigned	bin = (unsigned) __builtin_ctzll(rest);

		if (turns[i][bin] < turns[i][best])
			best = bin;
	}
	return best;
}

/*
 * The bin that each bit is taken from: its own, or when that is empty the first
 * filled one on its walk.  Where few are filled the walk is long, and it is
 * quicker to ask of each when the walk would come to it.
 */
static void
choose_bins(uint64_t filled, int n, unsigned char *bins)
{
	static Beginning beginnings[SH_BITS];
	static bool made = false;

	if (!made)
		make_beginnings(beginnings);
	made = true;
	for (unsigned i = 0; i < SH_BITS; i++)
		bins[i] = (unsigned char) i;
	for (uint64_t rest = ~filled; rest != 0; rest &= rest - 1)
	{
		unsigned	i = (unsigned) __builtin_ctzll(rest);
		const		Beginning *beginning = &beginnings[i];

		if ((filled & beginning->met[BEGINNING - 1]) != 0)
			bins[i] = beginning->bins[first_turn(beginning, filled)];
		else
			bins[i] = (unsigned char) long_walk(filled, n, i);
	}
}

/*
 * The fingerprint: bit i is one bit of the least hash of its bin, another for
 * each i.  False when nothing was added; then there is no fingerprint.
 */
bool
sh_minima_fingerprint(const ShMinima *minima, uint64_t *fingerprint)
{
	uint64_t	filled = minima->filled;
	int			n = __builtin_popcountll(filled);
	uint64_t	result = 0;
	unsigned char bins[SH_BITS];

	if (n == 0)
		return false;
	choose_bins(filled, n, bins);
	for (unsigned i = 0; i < SH_BITS; i++)
	{
		uint64_t	value = minima->least[bins[i]];

		result |= (sh_mix(value + i * SH_SCRAMBLE) & 1) << i;
	}
	*fingerprint = result;
	return true;
}
