/*-------------------------------------------------------------------------
 *
 * ascii.h
 *		ASCII text -> normalised text, cut into words.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_ASCII_H
#define SH_ASCII_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SH_ASCII_BLOCK	64		/* bytes that a mask describes */
#define SH_ASCII_BYTES	2048	/* bytes read at once, at most */
#define SH_ASCII_AHEAD	1024	/* bytes asked for before they are read */

/* What may be read and written behind what is asked for, and is of no use. */
#define SH_ASCII_BEYOND	SH_ASCII_BLOCK	/* bytes of normalised text */
#define SH_ENDS_BEYOND	8		/* ends of words */

/* What 64 bytes are: bit i is about byte i. */
typedef struct ShBlock
{
	uint64_t	word;			/* an ASCII letter or digit */
	uint64_t	other;			/* not ASCII */
} ShBlock;

/* The same functions, written for the instructions of some processors. */
typedef struct ShAsciiKind
{
	const char *name;
	bool		(*usable) (void);	/* on the processor that we run on? */

	/*
	 * Classify 64 bytes, and copy them: letters in lower case, digits as they
	 * are, a space in place of any other ASCII.
	 */
	ShBlock		(*classify) (const unsigned char *bytes,
							 unsigned char *normal);

	/*
	 * Copy words to the normalised text, each with a space behind it, as far
	 * as the first of n bytes are seen to be complete words; before them is
	 * no word.  Adds to *used what was written there; returns how many bytes
	 * were read, of which the last is of no word.
	 */
	size_t		(*read) (const unsigned char *bytes, size_t n,
						 unsigned char *text, size_t *used);

	/* Find the spaces in text[from .. to - 1]; returns how many there are. */
	size_t		(*find_spaces) (const unsigned char *text, size_t from,
								size_t to, uint16_t *places);
} ShAsciiKind;

extern const ShAsciiKind sh_ascii_kinds[];
extern const int sh_ascii_kinds_count;

extern const ShAsciiKind *sh_ascii_fastest(void);

/*
 * Have the beginning of a text fetched that will be read soon.  Reading takes
 * less time than waiting for memory, and asks for the rest as it goes.
 */
static inline void
sh_ascii_prefetch(const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n && i < SH_ASCII_AHEAD; i += SH_ASCII_BLOCK)
		__builtin_prefetch(bytes + i);
}

#endif							/* SH_ASCII_H */
