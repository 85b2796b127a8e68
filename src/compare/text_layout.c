/*-------------------------------------------------------------------------
 *
 * text_layout.c
 *		A text without its layout: what is left are words, numbers, and signs that
 *		mean something.
 *
 * The same text is written with Markdown and without it, as a comment of a program
 * and as a page, with bullets of one kind or another, with numbers of pages here or
 * there.  And C is not C++, nor is 18.5 the same as -18.5.  So a sign is judged by
 * where it stands, and by whether it repeats, before texts are compared:
 *
 *	- What stands before the first word of a line, and apart from it, is layout, as
 *	  bullets, heads, leaders of comments, quote marks, bars of tables; so is what
 *	  closes such a line; and a line without a word, as a rule, unless it is an
 *	  operator, a box, or begins with an emoji, a tick or stars.  But a sign of comments
 *	  that takes out a line of a program, or of settings, says something (text_lines.c).
 *	- So is a run of three equal signs or more, "----", but for a grade, "$$$";
 *	  brackets, quotes, commas and whatever else a sentence is written with; a "*" or
 *	  "_" that has no word on one side, as emphasis; a hyphen between words.
 *	- So are numbers of pages and of items, which count up (text_labels.c); angle brackets
 *	  of addresses, "=", "_", "#" and "~" in those of the web, and the dots of a Russian ё.
 *	- What is left means something: operators, signs of currencies, "-" before a
 *	  number or a word, "!" that negates, "." before a digit, "_" and "#" within names.
 *	  Other symbols, as emoji, a tick, a bar of a table, and a dash or a slash by
 *	  itself are soft: judge.c takes one for another, but not for nothing.  So are "+" and
 *	  "-" where lines of one text begin with both.
 *	- A sign stands for a field of a table that is empty, or has but a dash or dots, between
 *	  separators or quotes: in columns and lists the place is what tells entries apart, where
 *	  elsewhere a label does.  At the end of a line, and of a list, such a field says nothing,
 *	  as many tables have none there; nor do tabs in a program.
 *
 * Decimal digits of all scripts become ASCII digits.  Signs that core/text would not
 * take for tokens are written as patterns of Braille.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/text_lines.h"

#include <utf8proc.h>

/* A text that is being read. */
typedef struct Layout
{
	const unsigned char *end;	/* of the text */
	bool		code;			/* tabs align it, or indent */

	/* what moves */
	const unsigned char *start; /* of what is written */
	unsigned char *out;
	bool		signs;			/* some were written */
	const unsigned char *field; /* of a line, with a separator or a quote
								 * before it */
	const unsigned char *said;	/* ... what is written of it */
	const unsigned char *address;	/* where the last address ends */
} Layout;

/* The character before or behind a place, or a blank. */
typedef struct Place
{
	int32		last;			/* before it, but for blanks; 0 at the begin
								 * of a line */
	int32		before;
	int32		behind;
} Place;

/* Is it a dash, or a minus? */
static inline bool
is_dash(int32 c)
{
	return c == '-' || c == 0x2212 ||
		(c >= 0x80 && utf8proc_category(c) == UTF8PROC_CATEGORY_PD);
}

/* Does it separate fields of a table, within a line? */
static inline bool
is_separator(int32 c)
{
	return c == ',' || c == ';';
}

/* The end of a line, which may be that of the text. */
static const unsigned char *
find_line_end(const unsigned char *from, const unsigned char *end)
{
	const unsigned char *feed = memchr(from, '\n', (Size) (end - from));

	return feed == NULL ? end : feed;
}

/* --- signs ------------------------------------------------------------------ */

/* Write a sign. */
static inline void
write_sign(Layout *layout, int32 c)
{
	layout->signs = true;
	layout->out += utf8proc_encode_char(c, layout->out);
}

/* Write a sign that core/text would not see, as a pattern of Braille. */
static inline void
write_pattern(Layout *layout, int32 c)
{
	write_sign(layout, 0x2800 | (c & 0xff));
}

/* Write so many empty fields. */
static void
write_fields(Layout *layout, Size n)
{
	for (; n > 0; n--)
		write_sign(layout, SIMHASH_EMPTY_SIGN);
}

/* Leave out empty fields at the end of a line or of a list, which tables have or have not. */
static void
trim_fields(Layout *layout)
{
	Size		length = strlen(SIMHASH_EMPTY_MARK);
	unsigned char *end = layout->out;

	for (;;)
	{
		while (end > layout->start && end[-1] == ' ')
			end--;
		if ((Size) (end - layout->start) < length ||
			memcmp(end - length, SIMHASH_EMPTY_MARK, length) != 0)
			break;
		end -= length;
	}
	if (end < layout->out)
		*end++ = ' ';
	layout->out = end;
}

/* How many such signs has a stretch? */
static Size
count_signs(int32 sign, const unsigned char *from, const unsigned char *end)
{
	Size		n = 0;

	for (; from < end; from++)
		n += *from == sign;
	return n;
}

/* Does a "-" here say something? */
static bool
is_minus(Place place)
{
	return !simhash_is_of_word(place.before) && place.before != ')' && !is_dash(place.before) &&
		(simhash_is_of_word(place.behind) || (place.behind < 0x80 && place.behind > ' ' && strchr("<>=+$&", place.behind) != NULL) ||
		 (place.behind >= 0x80 && (utf8proc_category(place.behind) == UTF8PROC_CATEGORY_SC ||
								   utf8proc_category(place.behind) == UTF8PROC_CATEGORY_SM)));
}

/*
 * A sign that stands by itself between two words, or beside brackets, an operator or a
 * dash, as a symbol that counts only for another one; 0 if it is none.  Those of birth
 * and death, "(*1920)" and "(†1920)", stand before a year, too.
 */
static int32
lone_sign(int32 c, Place place)
{
	if ((c == '*' || c == 0x2020) && (simhash_is_blank(place.before) || place.before == '(') &&
		(simhash_is_blank(place.behind) || simhash_digit_value(place.behind) >= 0))
		return c == '*' ? 0x2573 : 0x271d;
	if (c == '/' && place.behind == '/' && simhash_is_blank(place.before))
		return 0x2572;			/* a quotient without a fraction */
	if (is_dash(c) && is_separator(place.before) &&
		(is_separator(place.behind) || simhash_is_blank(place.behind)))
		return 0x2500;
	if ((!simhash_is_blank(place.before) || !simhash_is_blank(place.behind)) &&
		!((c == '*' || c == '/' || c == '-') &&
		  (((place.before == ')' || place.before == ']') && simhash_is_of_word(place.behind)) ||
		   (simhash_is_of_word(place.before) && place.behind == '('))))
		return 0;
	return c == '*' ? 0x2573 : c == '/' ? 0x2571 : c == '|' ? SIMHASH_BAR_SIGN : is_dash(c) ? 0x2500 : 0;
}

/* Does a sign of ASCII mean something where it stands? */
static bool
means_something(int32 c, Place place)
{
	bool		word_before = simhash_is_of_word(place.before);
	bool		word_behind = simhash_is_of_word(place.behind);

	switch (c)
	{
		case '+':
		case '=':
		case '<':
		case '>':
		case '^':
		case '%':
		case '$':
		case '&':
			return true;
		case '*':
			return (word_before && word_behind) || place.behind == '=';
		case '/':
			return place.behind == '=';
		case '_':
			return word_before && word_behind;
		case '#':
			return word_before;
		case '|':
			return place.behind == '|' || place.before == '|' || place.behind == '=';
		case ':':
			return place.before == ':';
		case '!':
			return place.behind == '=' ||
				(!word_before && place.before != '!' &&
				 (word_behind || (place.behind > ' ' && place.behind < 0x80 &&
								  strchr("($_*@~&./{-", place.behind) != NULL)));
		case '~':
			return !word_before && place.before != '~' && place.before != '.' &&
				((word_behind && simhash_digit_value(place.behind) < 0) ||
				 place.behind == '(' || place.behind == '_' || place.behind == '/');
		case '.':
			return word_behind && place.before != '.' && !word_before &&
				simhash_digit_value(place.behind) >= 0;
	}
	return false;
}

/* Is a "-" that of a debit, behind an amount, "5.00-"? */
static bool
is_debit(const unsigned char *start, const unsigned char *from, const unsigned char *end)
{
	const unsigned char *next = simhash_skip(from + 1, end, true);

	return (next > from + 1 || next == end) && from - start > 3 &&
		(from[-3] == '.' || from[-3] == ',') && simhash_begins_with_digit(from - 4, from) &&
		simhash_begins_with_digit(from - 2, from) && simhash_begins_with_digit(from - 1, from);
}

/* Does a "!" before a blank negate, as in "if ! test", "[ ! -f x ]", not as in "Oui ! Non"? */
static bool
negates_apart(const unsigned char *start, const unsigned char *from,
			  const unsigned char *end, Place place)
{
	const unsigned char *next = simhash_skip(from + 1, end, true);
	const unsigned char *before = simhash_skip_back(start, from, true);

	return next > from + 1 && end - next > 1 && *next != ')' &&
		((place.last > ' ' && place.last < 0x80 && strchr("[(&|", place.last) != NULL) ||
		 (*next == '-' && simhash_is_of_word(next[1])) ||
		 (before < from && before - start > 1 && memcmp(before - 2, "if", 2) == 0));
}

/* What stands for a sign apart from words that says something there, or 0. */
static int32
sign_apart(int32 c, Place place, const unsigned char *start, const unsigned char *from,
		   Size length, const unsigned char *end)
{
	if ((c == '-' && is_debit(start, from, end)) || (c == '!' && negates_apart(start, from, end, place)))
		return c;
	return from + length < end || from == start || is_separator(place.before) ?
		lone_sign(c, place) : 0;
}

/* Write a character that is not of ASCII, if it says something. */
static void
write_other(Layout *layout, int32 c, const unsigned char *bytes, Size length, Place place)
{
	int32		value = simhash_digit_value(c);
	utf8proc_category_t category = utf8proc_category(c);

	if (value >= 0 && value < 10)
	{
		*layout->out++ = '0' + value;
		return;
	}
	if (c == 0x401 || c == 0x451 || (c == 0x308 && (place.before == 0x415 || place.before == 0x435)))
	{
		/* Russian is written with ё or without */
		if (c != 0x308)
			layout->out += utf8proc_encode_char(c == 0x401 ? 0x415 : 0x435, layout->out);
		return;
	}
	if (simhash_is_of_word(c))
	{
		/*
		 * one that becomes a plain digit or letter, but stands higher or
		 * lower
		 */
		if (category == UTF8PROC_CATEGORY_NO || (c >= 0x2071 && c <= 0x209c))
			write_pattern(layout, c);
	}
	else if (c == 0x266d || c == 0x266e)
		write_pattern(layout, c);	/* flat, natural */
	else if (is_dash(c))
	{
		bool		minus = (c < 0x2014 || c > 0x2015) && is_minus(place);

		layout->signs |= minus;
		*layout->out++ = minus ? '-' : ' ';
		return;
	}
	else if (category == UTF8PROC_CATEGORY_PO || category == UTF8PROC_CATEGORY_PC)
	{
		if (simhash_is_section(c))
			write_pattern(layout, c);
		else if (c == 0xff05)
			write_sign(layout, '%');
		else
			*layout->out++ = ' ';
		return;
	}
	else if (category != UTF8PROC_CATEGORY_SM && category != UTF8PROC_CATEGORY_SC &&
			 category != UTF8PROC_CATEGORY_SO &&
			 (sh_classify(c) & ~SH_INERT) != SH_IGNORED)
	{
		*layout->out++ = ' ';
		return;
	}
	if (c == 0x2611)
	{
		write_sign(layout, 0x2612); /* another tick */
		return;
	}
	layout->signs |= !simhash_is_of_word(c);
	memcpy(layout->out, bytes, length);
	layout->out += length;
}

/* Write a sign of ASCII, if it says something. */
static void
write_ascii(Layout *layout, int32 c, Place place)
{
	if (!(c == '-' ? is_minus(place) : means_something(c, place)))
		*layout->out++ = ' ';
	else if (c == '.' || c == '_' || (c == '&' && (place.before == '&' || place.behind == '&')))
		write_pattern(layout, c);	/* no "and" */
	else
		write_sign(layout, c);
}

/* How many equal characters stand at a place? */
static Size
count_equal(const unsigned char *from, const unsigned char *end)
{
	Size		n = 1;

	while (from + n < end && from[n] == *from)
		n++;
	return n;
}

/*
 * Write a run of equal signs, if it may be a grade or an operator, "$$$", "+++", "<<<",
 * as a symbol that counts only for another one; returns its length.  That beside a word
 * is emphasis.
 */
static Size
write_run(Layout *layout, const unsigned char *from, const unsigned char *end,
		  Place place)
{
	const char *kinds = "*+$<>";
	const char *kind = strchr(kinds, *from);
	Size		n = count_equal(from, end);

	if (*from == '|')
		write_fields(layout, n - 1);
	else if ((kind == NULL && !(*from == '-' && n == 3)) ||
			 simhash_is_of_word(simhash_next_character(from + n, end)) ||
			 !(simhash_is_blank(place.before) || simhash_digit_value(place.before) >= 0))
		*layout->out++ = ' ';
	else
		write_sign(layout, kind == NULL ? 0x2500 :
				   0x4dc0 + 8 * (int32) (kind - kinds) + (int32) Min(n - 2, 7));
	return n;
}

/*
 * Is there nothing where a value may be, that no label tells: between commas, semicolons,
 * bars or the "&" of a table of TeX, or in quotes between such?  What is in another column
 * is another entry.
 */
static bool
is_empty_entry(int32 c, Place place, const unsigned char *from, const unsigned char *end)
{
	const unsigned char *next = simhash_skip(from + 1, end, true);

	switch (c)
	{
		case ',':
		case ';':
			/* ",, " and ", " at the begin of a line are slips, or layout */
			return next < end && next == from + 1 ? place.last == 0 || place.last == c :
				place.last == c && place.before == ' ';
		case '|':
		case '&':
			return next > from + 1 && (next == end || *next == c);
		case '"':
		case '\'':
			if (count_equal(from, end) != 2)
				return false;
			next = simhash_skip(from + 2, end, true);
			return (place.last == 0 || place.before == '\t' ||
					(place.last < 0x80 && strchr(",;[(", place.last) != NULL)) &&
				(next == end || next[-1] == '\t' || strchr(",;])", *next) != NULL);
	}
	return false;
}

/* Is a line that has no word an item of a list, with nothing in its quotes, or a dash? */
static bool
is_blank_line(const unsigned char *first, const unsigned char *end)
{
	Place		nowhere = {0};

	while (first < end && (*first == '-' || *first == '>'))
		first = simhash_skip(first + 1, end, true);
	end = simhash_skip_back(first, end, true);
	return first < end && (*first == '"' || *first == '\'') &&
		(is_empty_entry(*first, nowhere, first, end) ||
		 (end - first > 3 && first[1] != *first && end[-2] == *first && end[-1] == ','));
}

/*
 * Where an address ends that begins at a place: "https://...", from its colon on, or one
 * in angle brackets, "<ann@example.org>", which are layout; or the place.
 */
static const unsigned char *
find_address_end(const unsigned char *from, const unsigned char *end)
{
	const unsigned char *at = from + 1;
	bool		found = *from == ':';

	if (end - from < 4 || (found && memcmp(from, "://", 3) != 0) || (!found && *from != '<'))
		return from;
	for (Size length = 1; at < end && *at > ' ' && strchr("<>\"')]}|", *at) == NULL; at += length)
	{
		int32		c = sh_utf8_decode(at, end, &length);

		if (c < 0 || (c >= 0x80 && !simhash_is_of_word(c) && !simhash_is_ignored(c)))
			break;
		found |= (c == '@' && simhash_is_of_word(at[-1])) || (c == ':' && end - at > 3 && memcmp(at, "://", 3) == 0);
	}
	return *from == ':' ? at : found && at < end && *at == '>' ? at + 1 : from;
}

/* Is a sign one of an address, where it says nothing? */
static bool
is_of_address(Layout *layout, const unsigned char *from, const unsigned char *end)
{
	if (from >= layout->address)
		layout->address = find_address_end(from, end);
	return from < layout->address && *from < 0x80 && strchr("<>=_#~", *from) != NULL;
}

/* Begin a field of a line, with the separator before it. */
static void
begin_field(Layout *layout, const unsigned char *from)
{
	layout->field = from;
	layout->said = layout->out;
}

/*
 * End a field of a line.  A sign stands for one that has something, as "--", ".", "?" or a
 * dash in quotes, of which nothing is written; behind the end of a list there is none.
 */
static void
end_field(Layout *layout, const unsigned char *end)
{
	const unsigned char *first = layout->field + 1;

	while (first < end && *first <= ' ')
		first++;
	if ((*layout->field == *end || *layout->field == '"' || *layout->field == '\'') &&
		first < end && memchr(first, ']', (Size) (end - first)) == NULL &&
		simhash_skip(layout->said, layout->out, true) == layout->out)
		write_sign(layout, SIMHASH_EMPTY_SIGN);
	begin_field(layout, end);
}

/* Write a stretch of a line without its layout. */
static void
write_signs(Layout *layout, const unsigned char *from, const unsigned char *end)
{
	const unsigned char *start = from;
	Place		place = {0, ' ', ' '};

	begin_field(layout, from);
	for (Size length; from < end; from += length)
	{
		int32		c = sh_utf8_decode(from, end, &length);
		bool		blank = simhash_is_blank(c);
		int32		tick;

		if (simhash_is_ignored(c))
			continue;			/* nobody looks behind it again and again */
		if (is_separator(c) || c == '|' || (c == '\t' && !layout->code))
			end_field(layout, from);
		if (blank || (c < 0x80 && simhash_is_of_word(c)))
		{
			if (c == '\t' && place.before == c && !layout->code &&
				place.last != ':' && place.last != '=')
				write_sign(layout, SIMHASH_EMPTY_SIGN);
			else
				*layout->out++ = blank ? ' ' : (unsigned char) c;
			place.before = blank && c != '\t' ? ' ' : c;
			place.last = blank ? place.last : c;
			continue;
		}
		tick = simhash_is_blank(place.before) ? simhash_read_tick(from, end, from == start) : 0;
		if (c == ']')
			trim_fields(layout);
		if (is_of_address(layout, from, end))
			*layout->out++ = ' ';
		else if (c == '|' && *start == '|' && end[-1] == '|')
			write_sign(layout, from + 1 < end && from[1] == '|' ? SIMHASH_EMPTY_SIGN : ' ');
		else if (is_empty_entry(c, place, from, end))
			write_sign(layout, SIMHASH_EMPTY_SIGN);
		else if (c < 0x80 && !is_separator(c) &&
				 count_equal(from, end) >= (c == '*' && simhash_is_blank(place.before) && simhash_is_blank(simhash_next_character(from + 2, end)) ? 2 : 3))
			length = write_run(layout, from, end, place);
		else if (tick != 0)
		{
			write_sign(layout, tick);
			length = 3;
		}
		else
		{
			int32		apart;

			place.behind = simhash_next_character(from + length, end);
			apart = sign_apart(c, place, start, from, length, end);
			if (apart != 0)
				write_sign(layout, apart);
			else if (c >= 0x80)
				write_other(layout, c, from, length, place);
			else
				write_ascii(layout, c, place);
		}
		place.before = place.last = c;
	}
	*layout->out++ = ' ';
}

/*
 * How many fields are empty before the first word of a line, by the bars there?  That of
 * a line without others is layout, and so is one where another closes the line; "|| a" is
 * an operator.
 */
static Size
count_opening_bars(const unsigned char *first, const unsigned char *start,
				   const unsigned char *last, const unsigned char *end)
{
	bool		operator = first[0] == '|' && first[1] == '|' &&
	simhash_is_blank(simhash_next_character(first + 2, end));
	Size		opening = first < start ? count_signs('|', first, start) :
	*first == '|' && !operator;

	if (opening > 0 && (last[-1] == '|' || count_signs('|', last, end) > 0))
		return opening - 1;
	return count_signs('|', Max(start, first + 1), last) > 0 ? opening : 0;
}

/* Is a line that begins there an item that such a sign begins? */
static bool
is_item_of(int32 sign, const unsigned char *first, const unsigned char *end)
{
	return first + 1 < end && *first == sign && first[1] <= ' ';
}

/*
 * Write a text in UTF-8 without its layout; returns the length, and whether there are
 * signs.  There must be room for three times the length, and one byte more.
 */
Size
simhash_leave_layout(const unsigned char *from, Size length, unsigned char *out,
					 bool *signs)
{
	Layout		layout = {.end = from + length,.start = out,.out = out};
	SimhashLabels labels = {NULL, 0, 0};
	uint32		label = 0;
	bool		plus = false;	/* items begin with "+", or it is a diff, so
								 * "-" says something */

	for (const unsigned char *line = from, *end; line < layout.end; line = end + 1)
	{
		end = find_line_end(line, layout.end);
		layout.code |= simhash_ends_code(line, end);
		simhash_note_label(&labels, simhash_skip_leaders(simhash_begin_line(from, line, end, layout.end), end), end);
		plus |= is_item_of('+', simhash_skip(line, end, true), end) ||
			(end - line > 2 && memcmp(line, "@@ ", 3) == 0);
	}
	simhash_find_counting(&labels);
	for (const unsigned char *line = from, *end; line < layout.end; line = end + 1)
	{
		const unsigned char *first;
		const unsigned char *start;

		CHECK_FOR_INTERRUPTS();
		end = find_line_end(line, layout.end);
		first = simhash_begin_line(from, line, end, layout.end);
		start = simhash_skip_leaders(first, end);
		if (label < labels.n && labels.list[label].line == start)
		{
			if (labels.list[label].counts)
			{
				start = labels.list[label].end;
				if (!labels.list[label].item)
					write_sign(&layout, SIMHASH_LABEL_SIGN);
			}
			label++;
		}
		if (simhash_has_word(start, end))
		{
			const unsigned char *last = simhash_skip_trailers(first, start, end);
			bool		tabs = !layout.code && memchr(start, '\t', (Size) (last - start)) != NULL;
			Size		bars = count_opening_bars(first, start, last, end);

			if (plus && (is_item_of('+', first, end) || is_item_of('-', first, end)))
				write_sign(&layout, *first == '+' ? 0x2795 : 0x2796);
			if (simhash_is_taken_out(first, start, end))
				write_pattern(&layout, '#');
			write_fields(&layout, (tabs ? count_signs('\t', line, start) : 0) + bars);
			write_signs(&layout, start, last);
			trim_fields(&layout);
		}
		else if (simhash_is_operator_line(start < end ? start : first, end) || is_blank_line(first, end) ||
				 (start < end && (simhash_is_emblem(simhash_next_character(start, end)) || simhash_read_tick(start, end, true) != 0)))
			write_signs(&layout, start < end ? start : first, simhash_skip_back(first, end, true));
		else if (first < end && *first == ']')
			trim_fields(&layout);
	}
	if (labels.list != NULL)
		pfree(labels.list);
	*signs = layout.signs;
	return (Size) (layout.out - out);
}
