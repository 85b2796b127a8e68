/*-------------------------------------------------------------------------
 *
 * families.h
 *		Hashes of features -> words of a fingerprint, by two families.
 *
 * SimHash adds the hashes up in 64 sums and keeps the signs (accumulate.c);
 * MinHash keeps the least hashes, one bit of each (minima.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_FAMILIES_H
#define SH_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

/*
 * Fingerprints of several words of 64 bits: word 0 is the fingerprint of 64 bits.
 * Word w is what that would be if the hash of each feature were another one, which
 * the first one and w determine: so whatever gives 64 bits for hashes gives any
 * number of words.
 */
#define SH_WORDS		16		/* words of a fingerprint, at most */

/* The hash of a feature for a word. */
static inline uint64_t
sh_word_hash(uint64_t hash, int word)
{
	return word == 0 ? hash : sh_mix(hash + (uint64_t) word * SH_SCRAMBLE);
}

/* The hashes of n features for a word. */
static inline void
sh_word_hashes(uint64_t *result, const uint64_t *hashes, size_t n, int word)
{
	for (size_t i = 0; i < n; i++)
		result[i] = sh_word_hash(hashes[i], word);
}

/* --- accumulate.c ---------------------------------------------------------- */

/*
 * How often each bit was set in the hashes that were added: 64 counts, of
 * which planes[p] holds the binary digit of weight 2^p, that of the count for
 * bit i in its own bit i.  All zero when nothing has been added.
 */
typedef struct ShSums
{
	uint64_t	total;			/* hashes added */
	uint64_t	planes[SH_BITS];
} ShSums;

extern void sh_sums_begin(ShSums *sums);
extern void sh_sums_add(ShSums *sums, const uint64_t *hashes, size_t n);
extern bool sh_sums_fingerprint(const ShSums *sums, uint64_t *fingerprint);

/* --- minima.c -------------------------------------------------------------- */

/* The least of the scrambled hashes in each bin. */
typedef struct ShMinima
{
	uint64_t	filled;			/* bit i: bin i holds something */
	uint64_t	least[SH_BITS];
} ShMinima;

/*
 * Of each bin and bit, the turn at which the walk of the bit first comes to the
 * bin, and of each bit and turn the bin.  A bit's walk begins at its own bin,
 * and has the full period of 2^64, so it comes to every bin.  The caller keeps
 * them, all zero at first, and they are made when they are first needed.
 */
typedef struct ShWalks
{
	bool		made;
	unsigned char turns[SH_BITS][SH_BITS];	/* [bin][bit] */
	unsigned char bins[SH_BITS][SH_BITS];	/* [bit][turn] */
} ShWalks;

extern void sh_minima_begin(ShMinima *minima);
extern void sh_minima_add(ShMinima *minima, const uint64_t *hashes, size_t n);
extern bool sh_minima_fingerprint(const ShMinima *minima, ShWalks *walks,
								  uint64_t *fingerprint);

/* The minima of so many words. */
typedef struct ShWideMinima
{
	int			words;
	ShMinima	minima[SH_WORDS];
} ShWideMinima;

extern void sh_wide_minima_begin(ShWideMinima *wide, int words);
extern void sh_wide_minima_add(void *wide, const uint64_t *hashes, size_t n);
extern bool sh_wide_minima_fingerprint(const ShWideMinima *wide, ShWalks *walks,
									   uint64_t *fingerprint);

#endif							/* SH_FAMILIES_H */
