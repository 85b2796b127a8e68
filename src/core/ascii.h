/*-------------------------------------------------------------------------
 *
 * ascii.h
 *		Where the words of ASCII text begin and end.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_ASCII_H
#define SH_ASCII_H

#include <stddef.h>
#include <stdint.h>

#define SH_WORDS_BYTES	1024	/* bytes searched at once, at most */
#define SH_WORDS_MAX	(SH_WORDS_BYTES / 2 + 8)	/* room for their words */

/* What 64 bytes are: bit i is about byte i. */
typedef struct ShBlock
{
	uint64_t	word;			/* an ASCII letter or digit */
	uint64_t	other;			/* not ASCII */
} ShBlock;

/* A way to classify 64 bytes. */
typedef struct ShClassifier
{
	const char *name;
	ShBlock		(*classify) (const unsigned char *bytes);
} ShClassifier;

/* For tests, those that this processor has; the last one has no name. */
extern const ShClassifier sh_classifiers[];

extern size_t sh_ascii_words(const unsigned char *bytes, size_t n,
							 uint16_t *starts, uint16_t *ends, size_t *next);

#endif							/* SH_ASCII_H */
