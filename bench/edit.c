/*-------------------------------------------------------------------------
 *
 * edits.c
 *		Light edits of a text, as people and programs make them.
 *
 * What is put into a text comes from another one, so that it is of the same
 * language when the caller gives one that is.  All is decided by the state of
 * a generator of random numbers that the caller seeds.
 *
 * A word is what stands between white space, or one character of a script
 * written without spaces.  A sentence ends with a full stop or the like and a
 * space, with a full stop of such a script, with a space in a script that has
 * no full stop (Thai, Lao), or with a paragraph.  A paragraph ends with an
 * empty line; with a line, if the text has no empty ones.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "edit.h"

#include <string.h>

#include "core/bits.h"
#include "core/text/characters.h"

/* Limits of the work done. */
#define WORD_MAX_POINTS	128		/* put in the place of a word */
#define LONG_STRETCH	65536	/* steps between two pauses */

#define FIRST_BYTE		UINT32_C(0x110000)	/* that byte 0 is read as */

const char *const sh_edit_names[SH_EDITS] = {
	"source", "advert", "drop", "replace", "words", "characters", "cut",
	"move", "case", "template"
};

/* --- random numbers, and lists that grow --------------------------------- */

/* A random number from 0 to n - 1 (Steele, Lea and Flood 2014: SplitMix64). */
size_t
sh_edit_random(uint64_t *state, size_t n)
{
	return (size_t) (sh_mix(*state += UINT64_C(0x9e3779b97f4a7c15)) % n);
}

/* Have room for n more code points. */
static void
make_room(const ShEditor *editor, ShPoints *text, size_t n)
{
	if (text->n + n <= text->allocated)
		return;
	text->allocated = 2 * (text->n + n);
	text->points = editor->resize(text->points,
								  text->allocated * sizeof *text->points);
}

/* Append code points to the result. */
static void
put_points(ShEditor *editor, const uint32_t *points, size_t n)
{
	ShPoints   *result = &editor->result;

	make_room(editor, result, n);
	if (n > 0)
		memcpy(result->points + result->n, points, n * sizeof *points);
	result->n += n;
}

/* Append one code point to the result. */
static void
put(ShEditor *editor, uint32_t point)
{
	put_points(editor, &point, 1);
}

/* Append a part of a text to the result. */
static void
put_span(ShEditor *editor, const ShPoints *from, size_t start, size_t end)
{
	put_points(editor, from->points + start, end - start);
}

/* Append a span to a list, unless it is empty. */
static void
add_span(const ShEditor *editor, ShSpans *list, size_t from, size_t to)
{
	if (from == to)
		return;
	if (list->n == list->allocated)
	{
		list->allocated = 2 * list->n + 64;
		list->spans = editor->resize(list->spans,
									 list->allocated * sizeof *list->spans);
	}
	list->spans[list->n].from = from;
	list->spans[list->n++].to = to;
}

/* --- UTF-8 ---------------------------------------------------------------- */

/* Read UTF-8; a byte that begins no character is a code point of its own. */
void
sh_edit_read(const ShEditor *editor, ShPoints *text,
			 const unsigned char *bytes, size_t length)
{
	const unsigned char *end = bytes + length;

	text->n = 0;
	make_room(editor, text, length);
	while (bytes < end)
	{
		size_t		used;
		int32_t		point = sh_utf8_decode(bytes, end, &used);

		text->points[text->n++] = point >= 0 ? (uint32_t) point :
			FIRST_BYTE + *bytes;
		bytes += used;
		if (text->n % LONG_STRETCH == 0)
			editor->pause();
	}
}

/* Write UTF-8, SH_EDIT_BYTES at most; returns how many. */
size_t
sh_edit_write(const ShPoints *text, unsigned char *bytes)
{
	unsigned char *to = bytes;

	for (size_t i = 0; i < text->n; i++)
	{
		uint32_t	point = text->points[i];
		int			more = (point >= 0x80) + (point >= 0x800) +
		(point >= 0x10000);

		if (point >= FIRST_BYTE)
		{
			*to++ = (unsigned char) (point - FIRST_BYTE);
			continue;
		}
		*to++ = (unsigned char) (more == 0 ? point :
								 (0xff00u >> (more + 1) & 0xff) |
								 point >> (6 * more));
		while (more-- > 0)
			*to++ = (unsigned char) (0x80 | (point >> (6 * more) & 0x3f));
	}
	return (size_t) (to - bytes);
}

/* --- words, sentences and paragraphs -------------------------------------- */

/* True of white space. */
static bool
is_space(uint32_t point)
{
	return point == ' ' || (point >= '\t' && point <= '\r') ||
		point == 0xa0 || point == 0x3000;
}

/* True of a range of code points. */
static bool
is_within(uint32_t point, uint32_t first, uint32_t last)
{
	return point >= first && point <= last;
}

/* True of characters of Chinese and Japanese. */
static bool
is_ideographic(uint32_t point)
{
	return is_within(point, 0x3041, 0x9fff) || point == 0x3005 ||
		is_within(point, 0xf900, 0xfaff) || is_within(point, 0x20000, 0x3ffff);
}

/* True of letters of Thai and Lao, which have spaces for full stops. */
static bool
is_without_stops(uint32_t point)
{
	return is_within(point, 0x0e01, 0x0eff);
}

/* True where a word is one character: Burmese and Khmer as well. */
static bool
is_unspaced(uint32_t point)
{
	return is_ideographic(point) || is_without_stops(point) ||
		is_within(point, 0x1000, 0x1049) || is_within(point, 0x1780, 0x17d3);
}

/* True where a word begins or ends, or is. */
static bool
parts_words(uint32_t point)
{
	return is_space(point) || is_unspaced(point);
}

/* True of what ends a sentence whatever follows. */
static bool
is_full_stop(uint32_t point)
{
	return point == 0x3002 || point == 0xff01 || point == 0xff1f ||
		point == 0x061f || point == 0x06d4 ||	/* Arabic, Urdu */
		point == 0x0964 || point == 0x0965 ||	/* of the scripts of India */
		point == 0x104a || point == 0x104b ||	/* Burmese */
		point == 0x17d4 || point == 0x17d5 ||	/* Khmer */
		point == 0x0589 || point == 0x1362; /* Armenian, Ethiopic */
}

/* True of what is neither a letter nor a digit nor space, roughly. */
static bool
is_punctuation(uint32_t point)
{
	return (point > ' ' && point < 0x7f && !is_within(point, '0', '9') &&
			!is_within(point | 0x20, 'a', 'z')) ||
		is_within(point, 0x2010, 0x203a) ||
		is_within(point, 0x3001, 0x3002) ||
		is_within(point, 0xff01, 0xff0f) || point == 0xff1a ||
		point == 0xff1b || point == 0xff1f;
}

/* List the words. */
static void
find_words(const ShEditor *editor, const ShPoints *text, ShSpans *words)
{
	size_t		start = 0;

	words->n = 0;
	for (size_t i = 0; i < text->n; i++)
	{
		uint32_t	point = text->points[i];

		if (i % LONG_STRETCH == 0)
			editor->pause();
		if (!parts_words(point))
			continue;
		add_span(editor, words, start, i);
		start = i + 1;
		if (is_unspaced(point))
			add_span(editor, words, i, i + 1);
	}
	add_span(editor, words, start, text->n);
}

/* True when a paragraph ends with the code point there. */
static bool
ends_paragraph(const ShPoints *text, size_t i, bool by_line)
{
	return text->points[i] == '\n' &&
		(by_line || (i + 1 < text->n && text->points[i + 1] == '\n'));
}

/* True when a sentence ends with the code point there. */
static bool
ends_sentence(const ShPoints *text, size_t i)
{
	uint32_t	point = text->points[i];

	if (is_full_stop(point))
		return true;
	if (point != '.' && point != '!' && point != '?' &&
		!is_without_stops(point))
		return false;
	return i + 1 < text->n && is_space(text->points[i + 1]);
}

/* List the paragraphs, or the sentences, with the space behind them. */
static void
find_parts(const ShEditor *editor, const ShPoints *text, ShSpans *parts,
		   bool sentences)
{
	bool		by_line = true;
	size_t		start = 0;

	for (size_t i = 0; i < text->n && by_line; i++)
		by_line = !ends_paragraph(text, i, false);
	editor->pause();
	parts->n = 0;
	for (size_t i = 0; i < text->n; i++)
	{
		if (i % LONG_STRETCH == 0)
			editor->pause();
		if (!ends_paragraph(text, i, by_line) &&
			!(sentences && ends_sentence(text, i)))
			continue;
		while (i + 1 < text->n && is_space(text->points[i + 1]))
			i++;
		add_span(editor, parts, start, i + 1);
		start = i + 1;
	}
	add_span(editor, parts, start, text->n);
}

/* --- the edits -------------------------------------------------------------- */

/*
 * Append successive words of a text, as many as have so many letters, or up to
 * the end of the text; a character of Chinese or Japanese counts for three.
 */
static void
put_words(ShEditor *editor, const ShPoints *other, size_t letters,
		  uint64_t *state)
{
	size_t		i = sh_edit_random(state, other->n);

	while (i > 0 && !parts_words(other->points[i - 1]))
		i--;
	for (size_t met = 0; i < other->n && met < letters; i++)
	{
		uint32_t	point = other->points[i];

		put(editor, is_space(point) ? ' ' : point);
		met += is_ideographic(point) ? 3 : 1;
	}
	while (i < other->n && !parts_words(other->points[i]))
		put(editor, other->points[i++]);
}

/* Leave out a sentence, or put one of the other text into its place. */
static bool
edit_sentence(ShEditor *editor, bool replace, uint64_t *state)
{
	const ShPoints *text = &editor->text;
	ShSpan		span;

	find_parts(editor, text, &editor->parts, true);
	if (editor->parts.n < 2)
		return false;
	span = editor->parts.spans[sh_edit_random(state, editor->parts.n)];
	put_span(editor, text, 0, span.from);
	if (replace)
	{
		ShSpan		new;

		find_parts(editor, &editor->other, &editor->parts, true);
		new = editor->parts.spans[sh_edit_random(state, editor->parts.n)];
		put_span(editor, &editor->other, new.from, new.to);
		put(editor, ' ');
	}
	put_span(editor, text, span.to, text->n);
	return editor->result.n > 0;
}

/*
 * Put words of the other text into the places of one in a hundred.  Of what is
 * too long for a word, as a file in base64, the beginning is put there.
 */
static bool
edit_words(ShEditor *editor, uint64_t *state)
{
	const ShPoints *text = &editor->text;
	const ShSpans *words = &editor->parts;
	const ShSpans *others = &editor->others;
	size_t		changes;
	size_t		at = 0;

	find_words(editor, text, &editor->parts);
	find_words(editor, &editor->other, &editor->others);
	if (words->n == 0 || others->n == 0)
		return false;
	changes = (words->n + 50) / 100;
	if (changes == 0)
		changes = 1;
	for (size_t i = 0; i < words->n && changes > 0; i++)
	{
		ShSpan		new;

		if (sh_edit_random(state, words->n - i) >= changes)
			continue;
		changes--;
		new = others->spans[sh_edit_random(state, others->n)];
		put_span(editor, text, at, words->spans[i].from);
		if (new.to - new.from > WORD_MAX_POINTS)
			new.to = new.from + WORD_MAX_POINTS;
		put_span(editor, &editor->other, new.from, new.to);
		at = words->spans[i].to;
	}
	put_span(editor, text, at, text->n);
	return true;
}

/* Put characters of the other text into the places of one in a hundred. */
static bool
edit_characters(ShEditor *editor, uint64_t *state)
{
	const ShPoints *text = &editor->text;
	const ShPoints *other = &editor->other;
	size_t		changes = (text->n + 50) / 100;

	put_span(editor, text, 0, text->n);
	if (changes == 0)
		changes = 1;
	for (size_t tries = 0; changes > 0 && tries < 100 * text->n; tries++)
	{
		uint32_t   *point = &editor->result.points[sh_edit_random(state,
																  text->n)];
		uint32_t	new = other->points[sh_edit_random(state, other->n)];

		if (tries % LONG_STRETCH == 0)
			editor->pause();
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
edit_move(ShEditor *editor, uint64_t *state)
{
	const ShPoints *text = &editor->text;
	const ShSpans *parts = &editor->parts;
	size_t		from;
	size_t		to;

	find_parts(editor, text, &editor->parts, false);
	if (parts->n < 3)
		find_parts(editor, text, &editor->parts, true);
	if (parts->n < 2)
		return false;
	from = sh_edit_random(state, parts->n);
	to = sh_edit_random(state, parts->n - 1);
	for (size_t i = 0, next = 0; i < parts->n; i++)
	{
		ShSpan		part;

		if (next == from)
			next++;
		part = parts->spans[i == to + (to >= from) ? from : next++];
		put_span(editor, text, part.from, part.to);
		put(editor, '\n');
	}
	return true;
}

/* Change every fourth capital or small letter, and every other mark. */
static void
edit_case(ShEditor *editor, uint64_t *state)
{
	static const char marks[] = ".,;:!-";

	for (size_t i = 0; i < editor->text.n; i++)
	{
		uint32_t	point = editor->text.points[i];
		size_t		choice = sh_edit_random(state, 4);

		if (i % LONG_STRETCH == 0)
			editor->pause();
		if (point < 0x80 && is_within(point | 0x20, 'a', 'z'))
			put(editor, choice == 0 ? point ^ 0x20 : point);
		else if (!is_punctuation(point) || choice > 1)
			put(editor, point);
		else if (choice == 1)
			put(editor, (uint32_t) marks[sh_edit_random(state, 6)]);
	}
}

/* Put lines before and behind the text. */
static void
edit_template(ShEditor *editor, const ShPoints *around, uint64_t state)
{
	put_words(editor, around, 60, &state);
	put(editor, '\n');
	put_span(editor, &editor->text, 0, editor->text.n);
	put(editor, '\n');
	put_words(editor, around, 120, &state);
}

/*
 * Edit the text.  "around" is where the lines for the template come from, from
 * the place that its own state chooses.  False when the text cannot be edited
 * so, or stays what it is.
 */
bool
sh_edit(ShEditor *editor, ShEdit kind, const ShPoints *around,
		uint64_t around_state, uint64_t *state)
{
	const ShPoints *text = &editor->text;
	const ShPoints *result = &editor->result;
	size_t		letters = 1 + sh_edit_random(state, 100);
	bool		done = true;

	editor->result.n = 0;
	if (text->n == 0 || editor->other.n == 0 || around->n == 0)
		return false;
	switch (kind)
	{
		case SH_EDIT_SOURCE:
			put_words(editor, &editor->other, 30 + letters * 30 / 100, state);
			put(editor, '\n');
			put_span(editor, text, 0, text->n);
			break;
		case SH_EDIT_ADVERT:
			put_span(editor, text, 0, text->n);
			put(editor, '\n');
			put_words(editor, &editor->other, 100 + letters, state);
			break;
		case SH_EDIT_DROP:
		case SH_EDIT_REPLACE:
			done = edit_sentence(editor, kind == SH_EDIT_REPLACE, state);
			break;
		case SH_EDIT_WORDS:
			done = edit_words(editor, state);
			break;
		case SH_EDIT_CHARACTERS:
			done = edit_characters(editor, state);
			break;
		case SH_EDIT_CUT:
			put_span(editor, text, 0, text->n - text->n / 5);
			break;
		case SH_EDIT_MOVE:
			done = edit_move(editor, state);
			break;
		case SH_EDIT_CASE:
			edit_case(editor, state);
			break;
		case SH_EDIT_TEMPLATE:
			edit_template(editor, around, around_state);
			break;
		case SH_EDITS:
			return false;
	}
	return done && (result->n != text->n ||
					memcmp(result->points, text->points,
						   text->n * sizeof *text->points) != 0);
}
