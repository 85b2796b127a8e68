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
#include "core/fingerprint/families.h"

#include <string.h>

#include "core/text/windows.h"

/* Part of the specification (docs/fingerprint.md). */
#define STEP_FACTOR		UINT64_C(6364136223846793005)
#define STEP_TERM		UINT64_C(1442695040888963407)

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

/* Make the walks. */
static void
make_walks(ShWalks *walks)
{
	for (unsigned i = 0; i < SH_BITS; i++)
	{
		uint64_t	met = 0;
		uint64_t	walk = sh_mix(i + 1);
		unsigned	bin = i;

		for (unsigned char turn = 0; turn < SH_BITS;)
		{
			if ((met >> bin & 1) == 0)
			{
				walks->turns[bin][i] = turn;
				walks->bins[i][turn++] = (unsigned char) bin;
			}
			met |= UINT64_C(1) << bin;
			bin = bin_of(walk);
			walk = walk * STEP_FACTOR + STEP_TERM;
		}
	}
	walks->made = true;
}

/*
 * The bin that each bit is taken from: its own, or when that is empty the first
 * filled one on its walk, which is the least turn of all that are filled.  That
 * has no branch that a processor would have to foresee, and sixteen bits are
 * compared by one instruction.
 */
static void
choose_bins(uint64_t filled, ShWalks *walks, unsigned char *bins)
{
	unsigned char turns[SH_BITS];

	if (!walks->made)
		make_walks(walks);
	memset(turns, SH_BITS, sizeof turns);
	for (uint64_t rest = filled; rest != 0; rest &= rest - 1)
	{
		const unsigned char *others = walks->turns[__builtin_ctzll(rest)];

		for (int i = 0; i < SH_BITS; i++)
			turns[i] = others[i] < turns[i] ? others[i] : turns[i];
	}
	for (int i = 0; i < SH_BITS; i++)
		bins[i] = walks->bins[i][turns[i]];
}

/*
 * The fingerprint: bit i is one bit of the least hash of its bin, another for
 * each i.  False when nothing was added; then there is no fingerprint.
 */
bool
sh_minima_fingerprint(const ShMinima *minima, ShWalks *walks,
					  uint64_t *fingerprint)
{
	uint64_t	result = 0;
	unsigned char bins[SH_BITS];

	if (minima->filled == 0)
		return false;
	choose_bins(minima->filled, walks, bins);
	for (unsigned i = 0; i < SH_BITS; i++)
	{
		uint64_t	value = minima->least[bins[i]];

		result |= (sh_mix(value + i * SH_SCRAMBLE) & 1) << i;
	}
	*fingerprint = result;
	return true;
}

/* Begin with nothing added, for so many words. */
void
sh_wide_minima_begin(ShWideMinima *wide, int words)
{
	wide->words = words;
	for (int w = 0; w < words; w++)
		sh_minima_begin(&wide->minima[w]);
}

/* ShHashReader: add the hashes, SH_BATCH at most. */
void
sh_wide_minima_add(void *wide, const uint64_t *hashes, size_t n)
{
	ShWideMinima *to = wide;
	uint64_t	others[SH_BATCH];

	sh_minima_add(&to->minima[0], hashes, n);
	for (int w = 1; w < to->words; w++)
	{
		sh_word_hashes(others, hashes, n, w);
		sh_minima_add(&to->minima[w], others, n);
	}
}

/* The fingerprint, in all words; false when nothing was added. */
bool
sh_wide_minima_fingerprint(const ShWideMinima *wide, ShWalks *walks,
						   uint64_t *fingerprint)
{
	bool		exists = false;

	for (int w = 0; w < wide->words; w++)
		exists = sh_minima_fingerprint(&wide->minima[w], walks, &fingerprint[w]);
	return exists;
}
