/*-------------------------------------------------------------------------
 *
 * text_lines.h
 *		The parts of a text that text_layout.c and text_labels.c both read.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_TEXT_LINES_H
#define SIMHASH_TEXT_LINES_H

#include "compare/compare.h"

/* Is a code point part of a word? */
static inline bool
simhash_is_of_word(int32 c)
{
	if (c < 0x80)
		return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
	c = sh_classify(c) & ~SH_INERT;
	return c == SH_WORD || c == SH_IDEOGRAPHIC || c == SH_PHONETIC || c == SH_MARK;
}

/* Is it nothing but a distance between others? */
static inline bool
simhash_is_blank(int32 c)
{
	return c <= ' ' || c == 0xa0 || c == 0x3000 || (c >= 0x2000 && c <= 0x200a);
}

/* The first character from a place on that is blank, or that is not. */
static inline const unsigned char *
simhash_skip(const unsigned char *from, const unsigned char *end, bool blanks)
{
	Size		length;

	while (from < end && simhash_is_blank(sh_utf8_decode(from, end, &length)) == blanks)
		from += length;
	return from;
}

/* A line that may begin with the number of an item, or be that of a page. */
typedef struct SimhashLabel
{
	const unsigned char *line;
	const unsigned char *end;	/* of what is left out */
	bool		item;
	uint64		word;			/* what is in the line besides, hashed */
	int32		number;
	int32		first;			/* of those that count up to it */
	bool		counts;			/* up: it is layout */
} SimhashLabel;

/* Those of a text, in the order of its lines. */
typedef struct SimhashLabels
{
	SimhashLabel *list;
	uint32		n;
	uint32		room;
} SimhashLabels;

/* text_labels.c */
extern void simhash_note_label(SimhashLabels *labels, const unsigned char *from,
							   const unsigned char *end);
extern void simhash_find_counting(SimhashLabels *labels);

#endif							/* SIMHASH_TEXT_LINES_H */
