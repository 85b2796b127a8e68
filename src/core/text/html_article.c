/*-------------------------------------------------------------------------
 *
 * html_article.c
 *		The article of a page, by credits.
 *
 * A block, which is the text from one start or end of a line of an element's own to
 * the next, is good if it is long and has few links.  It credits its length to the
 * element around it, three fifths of that to the next, and so on: so an element that
 * has many good blocks, and as little else as can be, has the most, and is the article.
 * What is mostly links is left out of it, and what is in <aside>, <footer> or <nav>.
 *
 * For example of two paragraphs of 100 characters in a <div>, beside which a <nav>
 * of links stands in the <body>, the div has 200, and the body 120.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/html.h"

/* Part of the specification. */
#define GOOD_LEAST		40		/* characters of a good block */
#define GOOD_LINKED		3		/* one in so many may be in links */
#define KEPT_LINKED		2		/* ... in a block that is not left out */
#define PASSED_ON(n)	((n) / 5 * 3 + (n) % 5 * 3 / 5)

/* A tag comes: count the characters before it. */
void
sh_article_count(ShHtml *html)
{
	ShArticle  *article = &html->article;
	uint64_t   *count = sh_html_top(html)->all_flags & SH_LINK ?
	&article->linked : &article->plain;
	const unsigned char *p = html->start + article->counted;

	for (; p < html->to; p++)
		*count += *p > ' ' && (*p & 0xc0) != 0x80;
	article->counted = (size_t) (html->to - html->start);
}

/* Leave the block out, but for the separator that it begins with. */
static void
leave_out(ShHtml *html)
{
	ShArticle  *article = &html->article;

	if (article->block > 0 && article->counted > article->block)
		sh_html_separate(html, html->start[article->block] == '\n' ? SH_GAP_LINE :
						 SH_GAP_TAB);
	html->to -= article->counted - article->block;
}

/* A block ends, which the innermost element with lines of its own gets credit for. */
void
sh_article_end_block(ShHtml *html, ShElement *block)
{
	ShArticle  *article = &html->article;
	uint64_t	all = article->plain + article->linked;
	bool		apart = (block->all_flags & SH_APART) != 0;

	if (!apart && all >= GOOD_LEAST && article->linked * GOOD_LINKED <= all)
		block->credit += article->plain;
	if (apart || article->linked * KEPT_LINKED > all)
		leave_out(html);
	article->counted = article->block = (size_t) (html->to - html->start);
	article->plain = article->linked = 0;
}

/*
 * An element with lines of its own ends, or is taken from among those that are open: is
 * it the article, by the blocks that have ended?
 */
void
sh_article_end_element(ShHtml *html, const ShElement *element)
{
	ShArticle  *article = &html->article;
	bool		paragraph = (element->flags & SH_PARAGRAPH) != 0;

	if (element > html->open)
		element[-1].block->credit += paragraph ? element->credit :
			PASSED_ON(element->credit);
	if (element->credit > article->credit && !paragraph)
	{
		article->credit = element->credit;
		article->start = element->start;
		article->end = article->block;
	}
}
