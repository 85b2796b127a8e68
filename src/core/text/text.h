/*-------------------------------------------------------------------------
 *
 * text.h
 *		UTF-8 document -> normalised text, cut into tokens.
 *
 * This is the first step of what core/text does: from the bytes of a document to
 * the hashes of its features.  In come UTF-8 and a profile (profile.h); text.c makes
 * tokens, windows.c makes features of them and hashes these.  For passages, words
 * with their places come out of word_places.c instead, and borders.c and
 * shared_runs.c work on those.  Nothing here depends on locale or collation.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_TEXT_H
#define SH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/ascii.h"
#include "core/text/fold.h"
#include "core/text/characters.h"
#include "core/lanes.h"

/*
 * Limits of the work done.  SH_WINDOW_MAX is part of the specification of
 * fingerprints (docs/fingerprint.md); the others only size buffers.
 */
#define SH_WINDOW_MAX	10		/* tokens of the longest feature */
#define SH_TEXT_BYTES	(48 * 1024) /* normalised text held at a time */
#define SH_TEXT_TOKENS	8192	/* tokens held at a time */

/* What a token is. */
typedef enum ShUnit
{
	SH_UNIT_WORD,				/* a word, or a gram of an unspaced script */
	SH_UNIT_CHARACTER,			/* a code point of the normalised text */
	SH_UNIT_SYMBOL,				/* a word, or a symbol */

	/* those of other programs, which recipes.c reads */
	SH_UNIT_COMPAT,
	SH_UNIT_PYTHON_LETTER = SH_UNIT_COMPAT,
	SH_UNIT_PYTHON_WORD,
	SH_UNIT_BYTE,
	SH_UNIT_BYTE_CI,
	SH_UNIT_UTF8,
	SH_UNIT_UTF8_CI,
	SH_UNIT_CLICKHOUSE_WORD,
	SH_UNIT_CLICKHOUSE_WORD_CI,
	SH_UNIT_JAVA_WORD,
	SH_UNIT_DAFT_CHARACTER,
	SH_UNIT_GO_WORD
} ShUnit;

/* What may be read and written behind the tokens held, and is of no use. */
#define SH_TOKENS_BEYOND	SH_LANES

/*
 * The tokeniser.  It holds a stretch of the normalised text at a time, with
 * the tokens that are complete in it: token i is bytes[starts[i] .. ends[i] - 1].
 * Tokens from "fresh" on are those that sh_text_retire has not been called for.
 */
typedef struct ShText
{
	/* set as a document begins */
	ShUnit		unit;
	const ShAsciiKind *ascii;
	int			gram;			/* code points of a phonetic one */

	/* what the caller reads */
	uint64_t	total;			/* tokens of the document so far */
	size_t		ntokens;
	size_t		fresh;
	size_t		used;			/* bytes held */

	/* the run being read; SH_SEPARATOR between runs */
	ShKind		run;
	bool		gap;			/* a separator stands behind what was read of
								 * it */
	bool		run_written;	/* some of it is in the normalised text */
	bool		run_cut;		/* some token of it is complete */
	size_t		gram_start;		/* where its next gram starts ... */
	size_t		gram_end;		/* ... and ends, as far as it is known */
	int			gram_have;		/* characters in between */

	/* buffers; the piece of the run is what is not yet normalised of it */
	ShRunPiece	piece;
	uint16_t	starts[SH_TEXT_TOKENS + SH_TOKENS_BEYOND];
	uint16_t	ends[SH_TEXT_TOKENS + SH_TOKENS_BEYOND];
	unsigned char bytes[SH_TEXT_BYTES];
} ShText;

extern void sh_text_begin(ShText *text, ShUnit unit);
extern bool sh_text_full(const ShText *text);
extern const unsigned char *sh_text_feed(ShText *text,
										 const unsigned char *from,
										 const unsigned char *end);
extern void sh_text_end(ShText *text);
extern void sh_text_retire(ShText *text, size_t keep);

#endif							/* SH_TEXT_H */
