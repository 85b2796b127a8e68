/*-------------------------------------------------------------------------
 *
 * text_lines.h
 *		The parts of a text that text_layout.c, text_lines.c and text_labels.c read.
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

/* Is a character as if it were not there? */
static inline bool
simhash_is_ignored(int32 c)
{
	return c >= 0x80 && (sh_classify(c) & ~SH_INERT) == SH_IGNORED;
}

/* Is a character of punctuation that counts: sections, per mille, minutes? */
static inline bool
simhash_is_section(int32 c)
{
	return c == 0xa7 || c == 0xb6 || c == 0x66a || (c >= 0x2030 && c <= 0x2037);
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

/* text_lines.c */
extern const unsigned char *simhash_skip_back(const unsigned char *from,
											  const unsigned char *end, bool blanks);
extern const unsigned char *simhash_begin_line(const unsigned char *begin,
											   const unsigned char *line,
											   const unsigned char *line_end,
											   const unsigned char *end);
extern bool simhash_has_word(const unsigned char *from, const unsigned char *end);
extern bool simhash_begins_with_digit(const unsigned char *from, const unsigned char *end);
extern int32 simhash_next_character(const unsigned char *from, const unsigned char *end);
extern bool simhash_is_emblem(int32 c);
extern int32 simhash_read_tick(const unsigned char *from, const unsigned char *end, bool begins);
extern const unsigned char *simhash_skip_leaders(const unsigned char *from,
												 const unsigned char *end);
extern const unsigned char *simhash_skip_trailers(const unsigned char *first,
												  const unsigned char *from,
												  const unsigned char *end);
extern bool simhash_is_operator_line(const unsigned char *from, const unsigned char *end);
extern bool simhash_is_taken_out(const unsigned char *first, const unsigned char *start,
								 const unsigned char *end);
extern bool simhash_ends_code(const unsigned char *line, const unsigned char *end);

/* text_labels.c */
extern void simhash_note_label(SimhashLabels *labels, const unsigned char *from,
							   const unsigned char *end);
extern void simhash_find_counting(SimhashLabels *labels);

#endif							/* SIMHASH_TEXT_LINES_H */
