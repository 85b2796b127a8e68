/*-------------------------------------------------------------------------
 *
 * text_lines.c
 *		What a line of a text begins and ends with, and what kind of line it is.
 *
 * A line has leaders before its first word, as bullets, heads, leaders of comments, and
 * maybe a trailer that closes it, which are layout; unless they say something, as a
 * box, an emoji, or a sign of comments that takes out a line of a program.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/text_lines.h"

#include <utf8proc.h>

/* Where a stretch ends without its last characters that are blank, or that are not. */
const unsigned char *
simhash_skip_back(const unsigned char *from, const unsigned char *end, bool blanks)
{
	while (end > from)
	{
		const unsigned char *at = end - 1;
		Size		length;

		while (at > from && (*at & 0xc0) == 0x80)
			at--;
		if (simhash_is_blank(sh_utf8_decode(at, end, &length)) != blanks)
			break;
		end = at;
	}
	return end;
}

/* Where a line begins, behind blanks and what is ignored, as a mark of byte order. */
static const unsigned char *
skip_blanks(const unsigned char *from, const unsigned char *end)
{
	Size		length;

	for (; from < end; from += length)
	{
		int32		c = sh_utf8_decode(from, end, &length);

		if (!simhash_is_blank(c) && !simhash_is_ignored(c))
			break;
	}
	return from;
}

/*
 * Where a line of a text begins, without "%" of a comment, too: the line before or behind
 * it has such a sign, or the text has no other line.  Behind a number it is per cent.
 */
const unsigned char *
simhash_begin_line(const unsigned char *begin, const unsigned char *line,
				   const unsigned char *line_end, const unsigned char *end)
{
	const unsigned char *first = skip_blanks(line, line_end);
	const unsigned char *next = first;
	const unsigned char *before;
	const unsigned char *other;

	while (next < line_end && *next == '%')
		next++;
	if (next == first || simhash_skip(next, line_end, true) == next)
		return first;
	before = simhash_skip_back(begin, line, true);
	for (other = before; other > begin && other[-1] != '\n'; other--)
		;
	if (other < before && *skip_blanks(other, before) == '%')
		return next;
	if (other < before && simhash_digit_value(before[-1]) >= 0)
		return first;
	other = skip_blanks(line_end, end);
	return (other < end ? *other == '%' : before == begin) ? next : first;
}

/* Has a stretch a character of a word? */
bool
simhash_has_word(const unsigned char *from, const unsigned char *end)
{
	Size		length;

	for (; from < end; from += length)
	{
		if (simhash_is_of_word(sh_utf8_decode(from, end, &length)))
			return true;
	}
	return false;
}

/* Does a stretch begin with a digit? */
bool
simhash_begins_with_digit(const unsigned char *from, const unsigned char *end)
{
	Size		length;

	return from < end && simhash_digit_value(sh_utf8_decode(from, end, &length)) >= 0;
}

/* The next character that is not ignored; a blank at the end. */
int32
simhash_next_character(const unsigned char *from, const unsigned char *end)
{
	for (Size length; from < end; from += length)
	{
		int32		c = sh_utf8_decode(from, end, &length);

		if (!simhash_is_ignored(c))
			return c;
	}
	return ' ';
}

/* Does a sign count: of punctuation, a symbol of a currency, or of mathematics but for arrows? */
static bool
is_mark(int32 c)
{
	utf8proc_category_t category = utf8proc_category(c);

	return simhash_is_section(c) || category == UTF8PROC_CATEGORY_SC ||
		(category == UTF8PROC_CATEGORY_SM && (c < 0x2190 || c > 0x21ff));
}

/* Is it a symbol that says something at the begin of a line, too: no bullet? */
bool
simhash_is_emblem(int32 c)
{
	if (c == 0x2191 || c == 0x2193)
		return true;
	if (utf8proc_category(c) != UTF8PROC_CATEGORY_SO || (c >= 0x2500 && c < 0x25a0) ||
		c == 0x2756 || c == 0x2794 || (c >= 0x2798 && c <= 0x27bf))
		return false;
	return c < 0x25a0 || c > 0x25ff ||
		memchr("\xa0\xa1\xb2\xb3\xbc\xbd\xc9\xcb\xce\xcf\xef", c & 0xff, 11) != NULL;
}

/* A box that is ticked, or not: "[x]", "[*]", "[ ]", and at the begin of a line "( )"; or 0. */
int32
simhash_read_tick(const unsigned char *from, const unsigned char *end, bool begins)
{
	const char *mark;

	if (end - from < 3 || from[2] != (*from == '[' ? ']' : ')') ||
		!(*from == '[' || (*from == '(' && begins)) || (end - from > 3 && from[3] > ' '))
		return 0;
	mark = strchr(" xX*", from[1]);
	return from[1] == '\0' || mark == NULL ? 0 : *mark == ' ' ? 0x2610 : 0x2612;
}

/* Does a line begin with signs that say what kind of line it is? */
static bool
is_leader(const unsigned char *from, const unsigned char *end)
{
	Size		length;

	if (from == end || simhash_has_word(from, end))
		return false;
	for (; from < end && simhash_is_ignored(sh_utf8_decode(from, end, &length)); from += length)
		;
	if (from < end && *from < 0x80)
		return strchr("#>*-+/|;~_:.\"'($", *from) != NULL &&
			!(end - from == 2 && (from[1] == '=' || from[1] == '|'));
	return from == end || (!is_mark(sh_utf8_decode(from, end, &length)) &&
						   !simhash_is_emblem(sh_utf8_decode(from, end, &length)));
}

/* Where the first word of a line is, behind blanks and leaders. */
const unsigned char *
simhash_skip_leaders(const unsigned char *from, const unsigned char *end)
{
	for (;;)
	{
		const unsigned char *next;

		from = skip_blanks(from, end);
		next = simhash_skip(from, end, false);
		if (!is_leader(from, next) || simhash_read_tick(from, end, true) != 0 ||
			(*from == '(' && next[-1] == ')' && next - from > 2) ||
			(*from == '$' && simhash_begins_with_digit(simhash_skip(next, end, true), end)))
			return from;
		from = next;
	}
}

/*
 * Where a line ends, before blanks and a sign that closes it, as one that it begins with.
 * Another one at its end says something: "- HIV: +".
 */
const unsigned char *
simhash_skip_trailers(const unsigned char *first, const unsigned char *from, const unsigned char *end)
{
	const unsigned char *last;
	Size		length;

	end = simhash_skip_back(from, end, true);
	last = simhash_skip_back(from, end, false);
	(void) sh_utf8_decode(last, end, &length);
	if (*last == '*')
		length = (Size) (end - last);	/* of a hotel, if it has more than one */
	if (last == from || !is_leader(last, end))
		return end;
	return (length == 1 && strchr("*|-#", *last) != NULL) ||
		(*last != '+' && *last != '>' && memcmp(first, last, length) == 0) ? last : end;
}

/* Is a line, from its first sign on, an operator by itself? */
bool
simhash_is_operator_line(const unsigned char *from, const unsigned char *end)
{
	const unsigned char *next = simhash_skip(from, end, false);
	const char *signs;

	if (next == from || next - from > 2 || simhash_skip(next, end, true) < end ||
		(*from == '>' && next[-1] == '>') || next[-1] == '*')
		return false;			/* an empty line that is quoted, once or
								 * twice, or of a comment */
	signs = next - from == 1 || next[-1] == '=' ? "<>=&|%!^+-*/" : "<>=&|%!^";
	for (; from < next; from++)
	{
		if (*from >= 0x80 || strchr(signs, *from) == NULL)
			return false;
	}
	return true;
}

/* Does a line end as a statement does, of three words at most, or behind what is no letter? */
static bool
is_statement(const unsigned char *from, const unsigned char *end)
{
	Size		words = 0;

	end = simhash_skip_back(from, end, true);
	if (end - from < 2 || end[-1] != ';')
		return false;
	if (end[-2] < 0x80 && !simhash_is_of_word(end[-2]))
		return true;
	for (; from < end; words++)
		from = simhash_skip(simhash_skip(from, end, false), end, true);
	return words <= 3;
}

/*
 * Is a line of a program, or of settings, taken out by a sign of comments: "#port 80",
 * "# port = 80", "// free(p);"?  Most where a blank follows the sign are remarks, and a
 * word by itself behind "#" is a tag.  The sign is before the word, behind other leaders.
 */
bool
simhash_is_taken_out(const unsigned char *first, const unsigned char *start, const unsigned char *end)
{
	const unsigned char *sign = start;
	const unsigned char *word;
	const unsigned char *behind;
	const unsigned char *second;
	Size		signs;

	if (memchr("#;/-", *start, 4) == NULL)
	{
		for (word = first; word < start; word = simhash_skip(simhash_skip(word, end, false), end, true))
			sign = word;
	}
	signs = (*sign == '/' || *sign == '-') && end - sign > 1 && sign[1] == *sign ? 2 : 1;
	word = simhash_skip(sign + signs, end, true);
	behind = simhash_skip(word, end, false);
	second = simhash_skip(behind, end, true);
	if (signs == 2 && is_statement(word, end))
		return true;
	if ((signs == 2 ? *sign == '-' : *sign != '#' && *sign != ';') ||
		!simhash_is_of_word(simhash_next_character(word, end)) || simhash_begins_with_digit(word, end))
		return false;
	if (second == end)
		return signs == 2 && word == sign + signs;
	if (*second == '=' || memchr(word, '=', (Size) (behind - word)) != NULL)
		return true;
	if (word == sign + signs)
		return *second != '#';
	return behind[-1] == ':' && *word >= 'a' && *word <= 'z' &&
		simhash_skip(simhash_skip(second, end, false), end, true) == end;
}

/* Does a line with tabs end as those of a program do? */
bool
simhash_ends_code(const unsigned char *line, const unsigned char *end)
{
	const unsigned char *tab = memchr(line, '\t', (Size) (end - line));

	end = simhash_skip_back(line, end, true);
	return tab != NULL && end > tab + 1 &&
		(end[-1] == ';' || end[-1] == '{' || (end[-2] == '*' && end[-1] == '/'));
}
