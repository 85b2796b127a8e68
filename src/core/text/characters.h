/*-------------------------------------------------------------------------
 *
 * characters.h
 *		UTF-8 decoded, and what a code point is to the tokeniser.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_CHARACTERS_H
#define SH_CHARACTERS_H

#include <stddef.h>
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

/*
 * Bytes of the UTF-8 character at p, by its first byte.  Only for text that
 * is known to be valid: the normalised text, and nothing else.
 */
static inline size_t
sh_utf8_length(unsigned char lead)
{
	return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/*
 * The most bytes, up to n, that do not end within a character.  The byte behind
 * them can be read.
 */
static inline size_t
sh_utf8_cut(const unsigned char *bytes, size_t n)
{
	for (int i = 0; i < 3 && n > 0 && (bytes[n] & 0xc0) == 0x80; i++)
		n--;
	return n;
}

/*
 * Decode the character at p, which is before end.  Sets *length to its bytes.
 * A byte that starts no valid character is a character of its own, -1.
 */
static inline int32_t
sh_utf8_decode(const unsigned char *p, const unsigned char *end, size_t *length)
{
	size_t		left = (size_t) (end - p);
	int32_t		c = *p;

	*length = 1;
	if (c < 0x80)
		return c;
	if ((c & 0xf0) == 0xe0 && left >= 3 &&
		(p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80)
	{
		c = (c & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
		if (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))
			return -1;
		*length = 3;
		return c;
	}
	if (c >= 0xc2 && c <= 0xdf && left >= 2 && (p[1] & 0xc0) == 0x80)
	{
		*length = 2;
		return (c & 0x1f) << 6 | (p[1] & 0x3f);
	}
	if (c < 0xf0 || left < 4 || (p[1] & 0xc0) != 0x80 ||
		(p[2] & 0xc0) != 0x80 || (p[3] & 0xc0) != 0x80)
		return -1;
	c = (c & 0x0f) << 18 | (p[1] & 0x3f) << 12 | (p[2] & 0x3f) << 6 |
		(p[3] & 0x3f);
	if (c < 0x10000 || c > 0x10ffff)
		return -1;
	*length = 4;
	return c;
}

#endif							/* SH_CHARACTERS_H */
