/*-------------------------------------------------------------------------
 *
 * light_edits.h
 *		Light edits of a text, as people and programs make them.
 *
 * What is put into a text comes from other documents of the same set, so that
 * it is of the same language.  All is decided by the state of a generator of
 * random numbers that the caller seeds.
 *
 * A word is what stands between white space, or one character of a script
 * written without spaces.  A sentence ends with a full stop or the like and a
 * space, with a full stop of such a script, or with a paragraph.  A paragraph
 * ends with an empty line; with a line, if the text has no empty ones.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef LIGHT_EDITS_H
#define LIGHT_EDITS_H

#include "documents.h"

/* The kinds of edits, and what users call them. */
typedef enum EditKind
{
	EDIT_SOURCE,				/* a line of 30 to 60 letters before it */
	EDIT_ADVERT,				/* 100 to 200 letters behind it */
	EDIT_DROP,					/* one sentence left out */
	EDIT_REPLACE,				/* one sentence, another text's instead */
	EDIT_WORDS,					/* one word in a hundred, at least one */
	EDIT_CHARACTERS,			/* one character in a hundred, at least one */
	EDIT_CUT,					/* the last fifth cut off */
	EDIT_MOVE,					/* one paragraph moved */
	EDIT_CASE,					/* capitals and punctuation */
	EDIT_TEMPLATE,				/* the same lines around each text */
	EDIT_KINDS
} EditKind;

static const char *const edit_names[EDIT_KINDS] = {
	"source", "advert", "drop", "replace", "words", "characters", "cut",
	"move", "case", "template"
};

/* A text as code points. */
typedef struct Text
{
	uint32_t   *points;
	size_t		n;
	size_t		allocated;
} Text;

/* From .. to - 1 of a text. */
typedef struct Span
{
	size_t		from;
	size_t		to;
} Span;

/* A list of spans. */
typedef struct Spans
{
	Span	   *spans;
	size_t		n;
	size_t		allocated;
} Spans;

/* The next random number. */
static uint64_t
random_next(uint64_t *state)
{
	return mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

/* A random number from 0 to n - 1. */
static size_t
random_below(uint64_t *state, size_t n)
{
	return (size_t) (random_next(state) % n);
}

/* Append code points. */
static void
text_append(Text *text, const uint32_t *points, size_t n)
{
	if (text->n + n > text->allocated)
	{
		text->allocated = 2 * (text->n + n);
		text->points = realloc(text->points,
							   text->allocated * sizeof *text->points);
		if (text->points == NULL)
			exit(2);
	}
	if (n > 0)
		memcpy(text->points + text->n, points, n * sizeof *points);
	text->n += n;
}

/* Append one code point. */
static void
text_put(Text *text, uint32_t point)
{
	text_append(text, &point, 1);
}

/* Append a part of another text. */
static void
text_append_span(Text *text, const Text *from, Span span)
{
	text_append(text, from->points + span.from, span.to - span.from);
}

/* Read UTF-8, which must be valid. */
static void
text_decode(Text *text, const unsigned char *bytes, size_t length)
{
	text->n = 0;
	for (size_t i = 0; i < length;)
	{
		unsigned char first = bytes[i++];
		int			more = first < 0xc0 ? 0 : first < 0xe0 ? 1 :
			first < 0xf0 ? 2 : 3;
		uint32_t	point = more == 0 ? first : first & (0x3f >> more);

		for (; more > 0 && i < length; more--)
			point = point << 6 | (bytes[i++] & 0x3f);
		text_put(text, point);
	}
}

/* Write UTF-8, up to four bytes a code point; returns how many. */
static size_t
text_encode(const Text *text, unsigned char *bytes)
{
	unsigned char *to = bytes;

	for (size_t i = 0; i < text->n; i++)
	{
		uint32_t	point = text->points[i];
		int			more = (point >= 0x80) + (point >= 0x800) +
			(point >= 0x10000);

		*to++ = (unsigned char) (more == 0 ? point : (0xff00u >> (more + 1) & 0xff) |
								 point >> (6 * more));
		while (more-- > 0)
			*to++ = 0x80 | (point >> (6 * more) & 0x3f);
	}
	return (size_t) (to - bytes);
}

/* True of white space. */
static bool
is_space(uint32_t point)
{
	return point == ' ' || (point >= '\t' && point <= '\r') ||
		point == 0xa0 || point == 0x3000;
}

/* True of characters of Chinese and Japanese. */
static bool
is_ideographic(uint32_t point)
{
	return (point >= 0x3041 && point <= 0x9fff) || point == 0x3005 ||
		(point >= 0xf900 && point <= 0xfaff) || point >= 0x20000;
}

/* True of what is neither a letter nor a digit nor space, roughly. */
static bool
is_punctuation(uint32_t point)
{
	return (point > ' ' && point < 0x7f &&
			!(point >= '0' && point <= '9') &&
			!((point | 0x20) >= 'a' && (point | 0x20) <= 'z')) ||
		(point >= 0x2010 && point <= 0x203a) ||
		(point >= 0x3001 && point <= 0x3002) ||
		(point >= 0xff01 && point <= 0xff0f) || point == 0xff1a ||
		point == 0xff1b || point == 0xff1f;
}

/* Append a span, unless it is empty. */
static void
add_span(Spans *list, size_t from, size_t to)
{
	if (from == to)
		return;
	if (list->n == list->allocated)
	{
		list->allocated = 2 * list->n + 64;
		list->spans = realloc(list->spans,
							  list->allocated * sizeof *list->spans);
		if (list->spans == NULL)
			exit(2);
	}
	list->spans[list->n++] = (Span) {from, to};
}

/* List the words. */
static void
find_words(const Text *text, Spans *words)
{
	size_t		start = 0;

	words->n = 0;
	for (size_t i = 0; i < text->n; i++)
	{
		uint32_t	point = text->points[i];

		if (!is_space(point) && !is_ideographic(point))
			continue;
		add_span(words, start, i);
		start = i + 1;
		if (is_ideographic(point))
			add_span(words, i, i + 1);
	}
	add_span(words, start, text->n);
}

/* True when a paragraph ends with the code point there. */
static bool
ends_paragraph(const Text *text, size_t i, bool by_line)
{
	return text->points[i] == '\n' &&
		(by_line || (i + 1 < text->n && text->points[i + 1] == '\n'));
}

/* List the paragraphs, or the sentences, with the space behind them. */
static void
find_parts(const Text *text, Spans *parts, bool sentences)
{
	bool		by_line = true;
	size_t		start = 0;

	for (size_t i = 0; i < text->n && by_line; i++)
		by_line = !ends_paragraph(text, i, false);
	parts->n = 0;
	for (size_t i = 0; i < text->n; i++)
	{
		uint32_t	point = text->points[i];
		bool		end = ends_paragraph(text, i, by_line);

		if (sentences && (point == '.' || point == '!' || point == '?'))
			end |= i + 1 < text->n && is_space(text->points[i + 1]);
		if (sentences)
			end |= point == 0x3002 || point == 0xff01 || point == 0xff1f;
		if (!end)
			continue;
		while (i + 1 < text->n && is_space(text->points[i + 1]))
			i++;
		add_span(parts, start, i + 1);
		start = i + 1;
	}
	add_span(parts, start, text->n);
}

/*
 * Append successive words of another text, as many as have so many letters; a
 * character of Chinese or Japanese counts for three.
 */
static void
append_words(Text *result, const Text *other, size_t letters, uint64_t *state)
{
	size_t		i;

	if (other->n == 0)
		return;
	i = random_below(state, other->n);
	while (i > 0 && !is_space(other->points[i - 1]) &&
		   !is_ideographic(other->points[i - 1]))
		i--;
	for (size_t met = 0; i < other->n && met < letters; i++)
	{
		uint32_t	point = other->points[i];

		text_put(result, is_space(point) ? ' ' : point);
		met += is_ideographic(point) ? 3 : 1;
	}
	while (i < other->n && !is_space(other->points[i]) &&
		   !is_ideographic(other->points[i]))
		text_put(result, other->points[i++]);
}

/* Leave out a sentence, or put another text's into its place. */
static bool
edit_sentence(Text *result, const Text *text, const Text *other, bool replace,
			  uint64_t *state)
{
	static Spans parts;
	Span		span;

	find_parts(text, &parts, true);
	if (parts.n < 2)
		return false;
	span = parts.spans[random_below(state, parts.n)];
	text_append_span(result, text, (Span) {0, span.from});
	if (replace)
	{
		find_parts(other, &parts, true);
		if (parts.n == 0)
			return false;
		text_append_span(result, other,
						 parts.spans[random_below(state, parts.n)]);
		text_put(result, ' ');
	}
	text_append_span(result, text, (Span) {span.to, text->n});
	return result->n > 0;
}

/* Put other words into the places of one in a hundred. */
static bool
edit_words(Text *result, const Text *text, const Text *other, uint64_t *state)
{
	static Spans words;
	static Spans others;
	size_t		changes;
	size_t		at = 0;

	find_words(text, &words);
	find_words(other, &others);
	if (words.n == 0 || others.n == 0)
		return false;
	changes = (words.n + 50) / 100;
	if (changes == 0)
		changes = 1;
	for (size_t i = 0; i < words.n && changes > 0; i++)
	{
		if (random_below(state, words.n - i) >= changes)
			continue;
		changes--;
		text_append_span(result, text, (Span) {at, words.spans[i].from});
		text_append_span(result, other,
						 others.spans[random_below(state, others.n)]);
		at = words.spans[i].to;
	}
	text_append_span(result, text, (Span) {at, text->n});
	return true;
}

/* Put other characters into the places of one in a hundred. */
static bool
edit_characters(Text *result, const Text *text, const Text *other,
				uint64_t *state)
{
	size_t		changes = (text->n + 50) / 100;

	text_append(result, text->points, text->n);
	if (changes == 0)
		changes = 1;
	for (size_t tries = 0; changes > 0 && tries < 100 * text->n; tries++)
	{
		uint32_t   *point = &result->points[random_below(state, text->n)];
		uint32_t	new = other->points[random_below(state, other->n)];

		if (is_space(*point) || is_punctuation(*point) || is_space(new) ||
			is_punctuation(new) || *point == new)
			continue;
		*point = new;
		changes--;
	}
	return changes == 0;
}

/* Move a paragraph; if there are fewer than three, a sentence. */
static bool
edit_move(Text *result, const Text *text, uint64_t *state)
{
	static Spans parts;
	size_t		from;
	size_t		to;

	find_parts(text, &parts, false);
	if (parts.n < 3)
		find_parts(text, &parts, true);
	if (parts.n < 2)
		return false;
	from = random_below(state, parts.n);
	to = random_below(state, parts.n - 1);
	for (size_t i = 0, next = 0; i < parts.n; i++)
	{
		if (next == from)
			next++;
		text_append_span(result, text,
						 parts.spans[i == to + (to >= from) ? from : next++]);
		text_put(result, '\n');
	}
	return true;
}

/* Change every fourth capital or small letter, and every other mark. */
static bool
edit_case(Text *result, const Text *text, uint64_t *state)
{
	static const char marks[] = ".,;:!-";

	for (size_t i = 0; i < text->n; i++)
	{
		uint32_t	point = text->points[i];
		size_t		choice = random_below(state, 4);

		if (point < 0x80 && (point | 0x20) >= 'a' && (point | 0x20) <= 'z')
			text_put(result, choice == 0 ? point ^ 0x20 : point);
		else if (!is_punctuation(point) || choice > 1)
			text_put(result, point);
		else if (choice == 1)
			text_put(result, (uint32_t) marks[random_below(state, 6)]);
	}
	return true;
}

/*
 * Edit a text.  "around" is the document that lines for the template come
 * from, at the place that its own state chooses.  False when the text is not
 * of the kind that can be edited so.
 */
static bool
edit_text(EditKind kind, Text *result, const Text *text, const Text *other,
		  const Text *around, uint64_t around_state, uint64_t *state)
{
	size_t		letters = 1 + random_below(state, 100);

	result->n = 0;
	if (text->n == 0 || other->n == 0 || around->n == 0)
		return false;
	switch (kind)
	{
		case EDIT_SOURCE:
			append_words(result, other, 30 + letters * 30 / 100, state);
			text_put(result, '\n');
			text_append(result, text->points, text->n);
			return true;
		case EDIT_ADVERT:
			text_append(result, text->points, text->n);
			text_put(result, '\n');
			append_words(result, other, 100 + letters, state);
			return true;
		case EDIT_DROP:
			return edit_sentence(result, text, other, false, state);
		case EDIT_REPLACE:
			return edit_sentence(result, text, other, true, state);
		case EDIT_WORDS:
			return edit_words(result, text, other, state);
		case EDIT_CHARACTERS:
			return edit_characters(result, text, other, state);
		case EDIT_CUT:
			text_append(result, text->points, text->n - text->n / 5);
			return true;
		case EDIT_MOVE:
			return edit_move(result, text, state);
		case EDIT_CASE:
			return edit_case(result, text, state);
		case EDIT_TEMPLATE:
			append_words(result, around, 60, &around_state);
			text_put(result, '\n');
			text_append(result, text->points, text->n);
			text_put(result, '\n');
			append_words(result, around, 120, &around_state);
			return true;
		case EDIT_KINDS:
			break;
	}
	return false;
}

#endif							/* LIGHT_EDITS_H */
