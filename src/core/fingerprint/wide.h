/*-------------------------------------------------------------------------
 *
 * wide.h
 *		Fingerprints of several words of 64 bits.
 *
 * Word 0 is the fingerprint of 64 bits.  Word w is what that would be if the
 * hash of each feature were another one, which the first one and w determine:
 * so whatever gives 64 bits for hashes gives any number of words.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_WIDE_H
#define SH_WIDE_H

#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

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

#endif							/* SH_WIDE_H */
