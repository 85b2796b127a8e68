/*-------------------------------------------------------------------------
 *
 * kinds.h
 *		What a code point is to the tokeniser.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_KINDS_H
#define SH_KINDS_H

#include <stdint.h>

/* What a code point is to the tokeniser; see unicode_table.h. */
typedef enum ShKind
{
	SH_SEPARATOR,				/* ends a run */
	SH_WORD,					/* letter or digit of a spaced script */
	SH_IDEOGRAPHIC,				/* of an unspaced script, about a syllable */
	SH_PHONETIC,				/* of an unspaced script, about a sound */
	SH_MARK,					/* continues whatever run it stands in */
	SH_IGNORED,					/* is as if it were not there */
	SH_SYMBOL					/* ends a run, and is a token where asked for */
} ShKind;

#define SH_INERT	8			/* flag beside the kind: never normalised */

/* The table of unicode_table.h, which text.c includes. */
extern const unsigned char sh_unicode_index[4352];
extern const unsigned char sh_unicode_page[][256];

/* The kind of a code point, with SH_INERT; of no code point, -1, a separator. */
static inline int
sh_classify(int32_t c)
{
	if (c < 0)
		return SH_SEPARATOR;
	return sh_unicode_page[sh_unicode_index[c >> 8]][c & 0xff];
}

#endif							/* SH_KINDS_H */
