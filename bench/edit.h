/*-------------------------------------------------------------------------
 *
 * edits.h
 *		Light edits of a text, as people and programs make them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_EDITS_H
#define SH_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of edits; the light ones come first. */
typedef enum ShEdit
{
	SH_EDIT_SOURCE,				/* a line of 30 to 60 letters before it */
	SH_EDIT_ADVERT,				/* 100 to 200 letters behind it */
	SH_EDIT_DROP,				/* one sentence left out */
	SH_EDIT_REPLACE,			/* one sentence, another text's instead */
	SH_EDIT_WORDS,				/* one word in a hundred, at least one */
	SH_EDIT_CHARACTERS,			/* one character in a hundred, at least one */
	SH_EDIT_CUT,				/* the last fifth cut off */
	SH_EDIT_MOVE,				/* one paragraph moved */
	SH_EDIT_CASE,				/* capitals and punctuation */
	SH_EDIT_TEMPLATE,			/* lines before and behind it */
	SH_EDITS
} ShEdit;

#define SH_LIGHT_EDITS	SH_EDIT_CUT /* the kinds before it */

/* What users call them. */
extern const char *const sh_edit_names[SH_EDITS];

/* A text as code points; what is not UTF-8 is kept as well. */
typedef struct ShPoints
{
	uint32_t   *points;
	size_t		n;
	size_t		allocated;
} ShPoints;

/* From .. to - 1 of a text. */
typedef struct ShSpan
{
	size_t		from;
	size_t		to;
} ShSpan;

/* A list of spans. */
typedef struct ShSpans
{
	ShSpan	   *spans;
	size_t		n;
	size_t		allocated;
} ShSpans;

/*
 * What edits texts.  The caller fills in the functions and leaves the others
 * zero, reads what is to be edited into "text" and "other", and finds the copy
 * in "result".  All memory comes from "resize", and is the caller's to free.
 */
typedef struct ShEditor
{
	/* set by the caller */
	void	   *(*resize) (void *memory, size_t bytes); /* of NULL: allocate */
	void		(*pause) (void);	/* called between long stretches of work */

	/* texts */
	ShPoints	text;			/* that is edited */
	ShPoints	other;			/* what is put into it comes from there */
	ShPoints	result;

	/* lists in use */
	ShSpans		parts;
	ShSpans		others;
} ShEditor;

extern void sh_edit_read(const ShEditor *editor, ShPoints *text,
						 const unsigned char *bytes, size_t length);
extern bool sh_edit(ShEditor *editor, ShEdit kind, const ShPoints *around,
					uint64_t around_state, uint64_t *state);
extern size_t sh_edit_write(const ShPoints *text, unsigned char *bytes);
extern size_t sh_edit_random(uint64_t *state, size_t n);

/* The bytes that sh_edit_write writes, at most. */
#define SH_EDIT_BYTES(text)	(4 * (text)->n)

#endif							/* SH_EDITS_H */
