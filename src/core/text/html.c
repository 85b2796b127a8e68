/*-------------------------------------------------------------------------
 *
 * html.c
 *		HTML page -> the text that a reader sees.
 *
 * The page is cut as the tokenizer of the HTML standard cuts it, whatever bytes
 * come: there are no errors.  docs/fingerprint.md specifies what is text; in short:
 *
 *	- Tags, comments, declarations, scripts and styles are none, nor what a browser
 *	  shows to nobody; character references are what they stand for.
 *	- Elements on lines of their own are separated by a line feed, the cells of a
 *	  table by a tab; what is inline joins, so that "<b>w</b>ord" is one word.
 *	- Blanks are one space, where they do not fall away beside a separator; in a
 *	  pre they stay.
 *
 * For example "<h1>A&amp;B</h1> <p>some\n <b>te</b>xt<script>x</script>." becomes
 * "A&B\nsome text.".
 *
 * Most of a page is text without tags, and values of attributes.  The one is
 * copied eight bytes at a time, the other left to memchr.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/html.h"

#include <string.h>

/* Bytes that end a name, or a value. */
#define BLANK		1
#define SLASH		2
#define GREATER		4
#define EQUALS		8

static const unsigned char ends[256] = {
	['\t'] = BLANK,['\n'] = BLANK,['\f'] = BLANK,['\r'] = BLANK,[' '] = BLANK,
	['/'] = SLASH,['>'] = GREATER,['='] = EQUALS
};

/* A byte again and again. */
#define EACH(byte)		((byte) * UINT64_C(0x0101010101010101))

/* In each byte of a word that is 0, the upper bit; perhaps in some above it. */
static inline uint64_t
zeros(uint64_t word)
{
	return (word - EACH(1)) & ~word & EACH(0x80);
}

/* A small letter of what may be a capital. */
static inline unsigned char
lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* The first byte that is not one of those. */
static inline const unsigned char *
skip(const unsigned char *p, const unsigned char *end, int which)
{
	while (p < end && ends[*p] & which)
		p++;
	return p;
}

/* The first byte that is one of those. */
static inline const unsigned char *
skip_to(const unsigned char *p, const unsigned char *end, int which)
{
	while (p < end && !(ends[*p] & which))
		p++;
	return p;
}

/* The first such byte, or the end. */
static inline const unsigned char *
find_byte(const unsigned char *p, const unsigned char *end, int byte)
{
	const unsigned char *found = memchr(p, byte, (size_t) (end - p));

	return found == NULL ? end : found;
}

/* Pause where bytes are read that are far from those of the last time, or before them. */
static inline void
pause_at(ShHtml *html, const unsigned char *p)
{
	if ((uintptr_t) p - (uintptr_t) html->paused >= SH_HTML_STRIDE)
	{
		html->paused = p;
		html->pause();
	}
}

/* Do the bytes begin with a name, in capitals or not? */
static inline bool
begins_with(const unsigned char *p, const unsigned char *end, const char *name)
{
	for (; *name != '\0'; name++, p++)
	{
		if (p == end || lower(*p) != (unsigned char) *name)
			return false;
	}
	return true;
}

/* Is that the name, and nothing else? */
static inline bool
is_name(const unsigned char *p, const unsigned char *end, const char *name)
{
	return begins_with(p, end, name) && (size_t) (end - p) == strlen(name);
}

/* --- text ----------------------------------------------------------------- */

/* Write a character. */
static inline void
write_character(ShHtml *html, const unsigned char *bytes, size_t length, bool pre)
{
	if (!pre && length == 1 && ends[*bytes] == BLANK)
	{
		sh_html_separate(html, SH_GAP_SPACE);
		return;
	}
	sh_html_write_gap(html);
	memcpy(html->to, bytes, length);
	html->to += length;
}

/*
 * Copy bytes that are neither the start of a tag or a reference, nor blanks but
 * for a single space between others, up to an end; returns where this ends.
 */
static inline const unsigned char *
copy_plain(ShHtml *html, const unsigned char *p, const unsigned char *end)
{
	while (end - p >= 8 && html->gap == SH_GAP_NONE)
	{
		uint64_t	word = sh_load_little(p);
		uint64_t	spaces = zeros(word ^ EACH(' '));
		uint64_t	stops = zeros(word ^ EACH('<')) | zeros(word ^ EACH('&')) |
		((word - EACH(' ')) & ~word & EACH(0x80)) | (spaces & spaces >> 8);
		size_t		n = 8;

		if (stops != 0)
			n = (size_t) __builtin_ctzll(stops) / 8;
		n -= n > 0 && p[n - 1] == ' ';
		memcpy(html->to, p, 8);
		html->to += n;
		p += n;
		if (stops != 0)
			break;
	}
	return p;
}

/* Read text up to the next "<" but one that stands at the start, or to a pause. */
static void
read_text(ShHtml *html)
{
	const unsigned char *p = html->at;
	const unsigned char *end = html->end;
	size_t		most = (size_t) (end - p);
	const unsigned char *stop = p + (most < SH_HTML_STRIDE ? most : SH_HTML_STRIDE);
	bool		pre = (sh_html_top(html)->all_flags & SH_PRE) != 0;

	if (sh_html_top(html)->hidden)
	{
		html->at = find_byte(p + 1, end, '<');
		return;
	}
	do
	{
		unsigned char bytes[8];
		size_t		length;
		size_t		read = *p == '&' ? sh_html_reference(p, end, bytes, &length) : 0;

		if (read > 0)
			write_character(html, bytes, length, pre);
		else
			write_character(html, p, read = 1, pre);
		p = copy_plain(html, p + read, stop);
	} while (p < stop && *p != '<');
	html->at = p;
}

/* Read text without tags and references, up to there. */
static void
copy_raw(ShHtml *html, const unsigned char *end)
{
	bool		pre = (sh_html_top(html)->all_flags & SH_PRE) != 0;

	if (!sh_html_top(html)->hidden)
	{
		for (const unsigned char *p = html->at; p < end; p++)
		{
			write_character(html, p, 1, pre);
			pause_at(html, p);
		}
	}
	html->at = end;
}

/* --- attributes ----------------------------------------------------------- */

/* Is a property of a style of that value, by the last or important declaration? */
static bool
style_has(ShHtml *html, const unsigned char *p, const unsigned char *end,
		  const char *property, const char *value)
{
	bool		has = false;
	bool		important = false;

	while (p < end)
	{
		const unsigned char *stop = find_byte(p, end, ';');
		const unsigned char *colon = find_byte(p, stop, ':');
		const unsigned char *bang = find_byte(colon, stop, '!');
		const unsigned char *name_end = colon;

		pause_at(html, p);
		p = skip(p, colon, BLANK);
		while (name_end > p && ends[name_end[-1]] == BLANK)
			name_end--;
		if (colon < stop && is_name(p, name_end, property) &&
			(bang < stop || !important))
		{
			p = skip(colon + 1, bang, BLANK);
			has = begins_with(p, bang, value) &&
				skip(p + strlen(value), bang, BLANK) == bang;
			important |= bang < stop;
		}
		p = stop + (stop < end);
	}
	return has;
}

/* Note what an attribute makes of its element. */
static void
note_attribute(ShHtml *html, ShTag *tag, const unsigned char *name,
			   const unsigned char *name_end, const unsigned char *value,
			   const unsigned char *value_end)
{
	switch (name_end - name)
	{
		case 4:
			tag->open |= is_name(name, name_end, "open");
			if (is_name(name, name_end, "href"))
				tag->flags |= SH_LINK;
			break;
		case 5:
			if (!is_name(name, name_end, "style") || tag->styled)
				break;
			tag->styled = true;
			if (style_has(html, value, value_end, "display", "none") ||
				style_has(html, value, value_end, "visibility", "hidden"))
				tag->flags |= SH_OUT;
			break;
		case 6:
			tag->hidden |= is_name(name, name_end, "hidden");
			break;
	}
}

/* Read a value, where "=" stands; returns its end, and what is behind it. */
static const unsigned char *
read_value(const unsigned char **value, const unsigned char *end,
		   const unsigned char **next)
{
	const unsigned char *p = skip(*value + 1, end, BLANK);
	const unsigned char *stop;

	if (p < end && (*p == '"' || *p == '\''))
	{
		stop = find_byte(p + 1, end, *p);
		*value = p + 1;
		*next = stop + (stop < end);
		return stop;
	}
	*value = p;
	return *next = skip_to(p, end, BLANK | GREATER);
}

/* Read the attributes of a tag, and its ">"; false when that is missing. */
static bool
read_attributes(ShHtml *html, ShTag *tag)
{
	const unsigned char *end = html->end;
	const unsigned char *p = html->at;

	for (;;)
	{
		const unsigned char *name = skip(p, end, BLANK | SLASH);
		const unsigned char *name_end;
		const unsigned char *value;
		const unsigned char *value_end;

		pause_at(html, p);
		if (name == end)
			return false;
		if (*name == '>')
		{
			tag->closes = name > p && name[-1] == '/';
			html->at = name + 1;
			return true;
		}
		name_end = skip_to(name + 1, end, BLANK | SLASH | GREATER | EQUALS);
		p = value = value_end = skip(name_end, end, BLANK);
		if (p < end && *p == '=')
			value_end = read_value(&value, end, &p);
		note_attribute(html, tag, name, name_end, value, value_end);
	}
}

/* --- markup --------------------------------------------------------------- */

/* The end of a comment that begins there, behind "<!--". */
static const unsigned char *
comment_end(ShHtml *html, const unsigned char *p)
{
	const unsigned char *end = html->end;
	const unsigned char *start = p;

	for (; (p = find_byte(p, end, '>')) < end; p++)
	{
		size_t		n = (size_t) (p - start);

		pause_at(html, p);
		/* The shortest comments are "<!-->" and "<!--->". */
		if (n == 0 || (n == 1 && p[-1] == '-') ||
			(n >= 2 && p[-1] == '-' && p[-2] == '-') ||
			(n >= 3 && p[-1] == '!' && p[-2] == '-' && p[-3] == '-'))
			return p + 1;
	}
	return end;
}

/* Read what begins with "<!". */
static void
read_declaration(ShHtml *html)
{
	const unsigned char *p = html->at;
	const unsigned char *end = html->end;

	if (begins_with(p, end, "<!--"))
		html->at = comment_end(html, p + 4);
	else if (sh_html_top(html)->foreign && end - p >= 9 &&
			 memcmp(p, "<![CDATA[", 9) == 0)
	{
		html->at = p = p + 9;
		while ((p = find_byte(p, end, ']')) < end && !begins_with(p, end, "]]>"))
			pause_at(html, p++);
		copy_raw(html, p);
		html->at = p + (p < end ? 3 : 0);
	}
	else
	{
		p = find_byte(p, end, '>');
		html->at = p + (p < end);
	}
}

/* Is a name there, and does it end? */
static inline bool
tag_is(const unsigned char *p, const unsigned char *end, const char *before,
	   const unsigned char *name, size_t length)
{
	if (!begins_with(p, end, before))
		return false;
	p += strlen(before);
	if ((size_t) (end - p) <= length || !(ends[p[length]] & (BLANK | SLASH | GREATER)))
		return false;
	for (size_t i = 0; i < length; i++)
	{
		if (lower(p[i]) != lower(name[i]))
			return false;
	}
	return true;
}

/*
 * Where the end tag of a raw element begins.  In a script, what is like a comment
 * may have scripts in it, with their end tags.
 */
static const unsigned char *
raw_end(ShHtml *html, const unsigned char *name, size_t length, bool script)
{
	const unsigned char *p = html->at;
	const unsigned char *end = html->end;
	bool		comment = false;
	bool		nested = false;

	for (;; p++)
	{
		if (!comment)
			p = find_byte(p, end, '<');
		else
			while (p < end && *p != '<' && *p != '-')
				p++;
		pause_at(html, p);
		if (p == end)
			return end;
		if (tag_is(p, end, "</", name, length))
		{
			if (!nested)
				return p;
			nested = false;
		}
		else if (comment && begins_with(p, end, "-->"))
			comment = nested = false;
		else if (comment && tag_is(p, end, "<", name, length))
			nested = true;
		else if (script && !comment && begins_with(p, end, "<!--"))
		{
			comment = true;
			p++;
		}
	}
}

/* Read a tag whose name begins there; one that has no ">" is none. */
static void
read_tag(ShHtml *html, const unsigned char *name, bool start)
{
	const unsigned char *end = html->end;
	const unsigned char *p = name;
	ShTag		tag = {0};
	size_t		length;
	uint32_t	flags;

	for (; p < end && !(ends[*p] & (BLANK | SLASH | GREATER)); p++)
		tag.name = sh_html_hash(tag.name, lower(*p));
	length = (size_t) (p - name);
	html->at = p;
	if (!read_attributes(html, &tag))
	{
		html->at = end;
		return;
	}
	if (!start)
	{
		sh_html_end_tag(html, tag.name);
		return;
	}
	flags = sh_html_start_tag(html, &tag);
	if (flags & SH_RAW)
		copy_raw(html, flags & SH_PLAINTEXT ? end :
				 raw_end(html, name, length, flags & SH_SCRIPT));
	else if (flags & SH_PRE)
	{
		html->at += begins_with(html->at, end, "\r\n");
		html->at += begins_with(html->at, end, "\n");
	}
}

/* Read what "<" begins; false if that is text. */
static bool
read_markup(ShHtml *html)
{
	const unsigned char *p = html->at + 1;
	const unsigned char *end = html->end;
	bool		slash = p < end && *p == '/';

	p += slash;
	if (p == end)
		return false;
	if (lower(*p) >= 'a' && lower(*p) <= 'z')
		read_tag(html, p, !slash);
	else if (slash || *p == '!' || *p == '?')
		read_declaration(html);
	else
		return false;
	return true;
}

/* What is written of a page whose article is wanted: that alone; or 0. */
static size_t
leave_article(ShHtml *html, unsigned char *text)
{
	const ShArticle *article = &html->article;
	size_t		start;

	sh_html_end(html);
	if (article->credit == 0)
		return 0;
	start = article->start + (article->start > 0);	/* the separator */
	memmove(text, text + start, article->end - start);
	return article->end - start;
}

/*
 * Write the text of a page, or of its article if it has one; returns its bytes, for
 * which there is to be room for SH_HTML_BYTES.  Cells of a page that are empty have the
 * text "empty", of up to three bytes, if it is not NULL; those of an article have none.
 * Between long stretches of work "pause" is called.
 */
size_t
sh_html_text(ShHtmlNames *names, const unsigned char *page, size_t length,
			 unsigned char *text, bool article, const char *empty,
			 void (*pause) (void))
{
	ShHtml		html;
	size_t		n;

	html.names = names;
	html.at = page;
	html.end = page + length;
	html.start = html.to = text;
	html.gap = SH_GAP_NONE;
	html.empty = article ? NULL : empty;
	html.pause = pause;
	html.paused = page;
	memset(&html.article, 0, sizeof html.article);
	html.article.wanted = article;
	sh_html_begin(&html);
	if (begins_with(page, html.end, "\xef\xbb\xbf"))
		html.at += 3;
	while (html.at < html.end)
	{
		pause_at(&html, html.at);
		if (*html.at != '<' || !read_markup(&html))
			read_text(&html);
	}
	if (!article)
		return (size_t) (html.to - text);
	n = leave_article(&html, text);
	return n > 0 ? n : sh_html_text(names, page, length, text, false, empty, pause);
}
