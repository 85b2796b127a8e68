/*-------------------------------------------------------------------------
 *
 * html.h
 *		HTML page -> the text that a reader sees.
 *
 * In come the bytes of a page in UTF-8, out goes its visible text.  html.c cuts the
 * page into tags and text, as the HTML standard's tokenizer does;
 * html_elements.c says what each element is, and which ones are open;
 * html_references.c knows the character references; html_article.c finds the
 * article among what else a page has.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_HTML_H
#define SH_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

/*
 * Limits of the work done.  SH_HTML_OPEN is part of the specification of
 * fingerprints (docs/fingerprint.md).
 */
#define SH_HTML_OPEN	512		/* elements open at a time */
#define SH_HTML_STRIDE	(64 * 1024) /* bytes between two pauses */

/*
 * Bytes that the text of a page of n bytes takes, at most, with what may be
 * written behind it: the five of "&nGt;" become six.
 */
#define SH_HTML_BYTES(n)	((n) + (n) / 5 + 16)

/* What an element does to the text. */
#define SH_BLOCK		0x1		/* is on lines of its own */
#define SH_CELL			0x2		/* is in a column of its own */
#define SH_PRE			0x8		/* keeps blanks */
#define SH_OUT			0x10	/* shows nothing */
#define SH_FOLDED		0x20	/* shows only what is SH_SHOWN */
#define SH_SHOWN		0x40
#define SH_LINK			0x80	/* is a link */
#define SH_PARAGRAPH	0x4000	/* is no article */
#define SH_BREAK		0x8000	/* ends a line */
#define SH_OWN			0x10000 /* is SH_BLOCK or SH_CELL, and seen from its
								 * start */
#define SH_APART		0x20000 /* is no part of an article */

/* What an element does to the reading. */
#define SH_VOID			0x100	/* has no content */
#define SH_RAW			0x200	/* has no tags before its own end */
#define SH_SCRIPT		0x400	/* ... and knows comments */
#define SH_PLAINTEXT	0x800	/* ... and no end */
#define SH_FOREIGN		0x1000	/* has elements of SVG or MathML */
#define SH_HTML			0x2000	/* ... of HTML again */

/* An open element. */
typedef struct ShElement
{
	uint64_t	name;			/* its hash */
	uint32_t	flags;
	uint32_t	roles;			/* to the start and end of others */

	/* what those around it add */
	uint32_t	all_flags;
	uint32_t	all_roles;
	uint64_t	all_names;		/* a bit for each, which some share */
	bool		foreign;		/* what is in it is no HTML */
	bool		hidden;
	bool		shown_hidden;	/* and what is SH_SHOWN in it? */
	struct ShElement *block;	/* the innermost one with lines of its own */

	/* as an article */
	size_t		start;			/* text before it */
	uint64_t	credit;
} ShElement;

/* What is known of the article of a page, in characters that are no blanks. */
typedef struct ShArticle
{
	bool		wanted;
	uint64_t	plain;			/* of the text since the last block ended */
	uint64_t	linked;			/* ... in links */
	size_t		counted;		/* text before what is not counted */
	size_t		block;			/* text before the block */
	uint64_t	credit;			/* of the best element so far */
	size_t		start;			/* text before it */
	size_t		end;			/* ... and before what is behind it */
} ShArticle;

/* A tag. */
typedef struct ShTag
{
	uint64_t	name;
	bool		closes;			/* ends with "/>" */
	bool		hidden;			/* has the attribute of that name */
	bool		open;			/* ... of that */
	bool		styled;			/* has a style: the first one counts */
	uint32_t	flags;			/* what others make of its element */
} ShTag;

/* Where the kinds of elements are found by their names; the foreign ones by others. */
#define SH_HTML_SLOTS	1024

/* The caller keeps it, all zero at first; it is filled for the first page. */
typedef struct ShHtmlNames
{
	bool		filled;
	struct ShHtmlSlot
	{
		uint64_t	name;
		const struct ShElementKind *kind;	/* NULL in an empty one */
	}			slots[SH_HTML_SLOTS];
} ShHtmlNames;

/* A page being read. */
typedef struct ShHtml
{
	ShHtmlNames *names;
	const unsigned char *at;
	const unsigned char *end;
	const unsigned char *start; /* of the text */
	unsigned char *to;
	void		(*pause) (void);	/* between stretches of work */
	const unsigned char *paused;	/* where that was last */
	unsigned char gap;			/* blank before what comes: the greatest wins */
#define SH_GAP_NONE		0
#define SH_GAP_SPACE	1
#define SH_GAP_TAB		2
#define SH_GAP_LINE		3
	const char *empty;			/* written in a cell that is empty; or NULL */
	int			depth;			/* of the innermost element */
	ShArticle	article;
	ShElement	open[SH_HTML_OPEN + 2]; /* the first is the page, the last one
										 * is closed at once */
} ShHtml;

/* The innermost element. */
static inline const ShElement *
sh_html_top(const ShHtml *html)
{
	return &html->open[html->depth];
}

/* A separator comes, unless a stronger one has come. */
static inline void
sh_html_separate(ShHtml *html, unsigned char gap)
{
	if (html->gap < gap)
		html->gap = gap;
}

/* Write the separator that is due. */
static inline void
sh_html_write_gap(ShHtml *html)
{
	static const unsigned char gaps[] = {0, ' ', '\t', '\n'};

	if (html->gap != SH_GAP_NONE && html->to > html->start)
		*html->to++ = gaps[html->gap];
	html->gap = SH_GAP_NONE;
}

/* Add a byte to the hash of a name, which begins as 0. */
static inline uint64_t
sh_html_hash(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * SH_SCRAMBLE;
}

/* html.c */
extern size_t sh_html_text(ShHtmlNames *names, const unsigned char *page,
						   size_t length, unsigned char *text, bool article,
						   const char *empty, void (*pause) (void));

/* html_elements.c */
extern void sh_html_begin(ShHtml *html);
extern uint32_t sh_html_start_tag(ShHtml *html, const ShTag *tag);
extern void sh_html_end_tag(ShHtml *html, uint64_t name);
extern void sh_html_end(ShHtml *html);

/* html_article.c */
extern void sh_article_count(ShHtml *html);
extern void sh_article_end_block(ShHtml *html, ShElement *block);
extern void sh_article_end_element(ShHtml *html, const ShElement *element);

/* html_references.c */
extern size_t sh_html_reference(const unsigned char *p,
								const unsigned char *end,
								unsigned char *to, size_t *length);

#endif							/* SH_HTML_H */
