/*-------------------------------------------------------------------------
 *
 * word_places.h
 *		UTF-8 document -> its words, with their places.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_WORD_PLACES_H
#define SH_WORD_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/ascii.h"
#include "core/text/fold.h"
#include "core/text/characters.h"

#define SH_WORD_PLACES_HELD	1024	/* words held at a time */

/*
 * Lengths of text are measured in quarters of a word: a word of a spaced script
 * and an ideograph are four, a phonetic code point is one.
 */
#define SH_QUARTERS		4

/* A word: where it is, in characters and bytes of what is read, and its hash. */
typedef struct ShWord
{
	uint64_t	hash;			/* of its normal form */
	uint32_t	start;			/* characters of the document before it */
	uint32_t	end;			/* ... and before what is behind it */
	uint32_t	byte;			/* bytes of the document before it */
	uint32_t	quarters;
} ShWord;

/* A document being read.  What is complete waits in "held" for the caller. */
typedef struct ShWordReader
{
	/* set as a document begins */
	const ShAsciiKind *ascii;
	bool		bytes;			/* places are counted in bytes */

	/* what the caller reads, and takes by setting n to 0 */
	size_t		n;
	ShWord		held[SH_WORD_PLACES_HELD];

	/* how far it has been read; the caller may set two before it feeds */
	bool		one;			/* what is fed has one place, "place" */
	uint32_t	place;
	uint32_t	byte;

	/* the word being read */
	ShKind		run;			/* SH_SEPARATOR when there is none */
	ShWord		word;
	ShRunPiece	piece;			/* of it; empty between two pieces of a run */

	/* its normal form */
	unsigned char normal[SH_FOLDED_MAX * 4 + 8];
} ShWordReader;

extern void sh_words_begin(ShWordReader *reader, bool bytes);
extern const unsigned char *sh_words_feed(ShWordReader *reader,
										  const unsigned char *from,
										  const unsigned char *end);
extern void sh_words_end(ShWordReader *reader);

#endif							/* SH_WORD_PLACES_H */
