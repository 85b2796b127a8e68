/*-------------------------------------------------------------------------
 *
 * unit_edits.c
 *		Unit tests of the edits of texts, of any bytes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "../../bench/edit.c"

#define BYTES_MAX	400

static ShEditor editor;
static long pauses;

/* Change the size of memory. */
static void *
resize(void *memory, size_t bytes)
{
	memory = realloc(memory, bytes);
	CHECK(memory != NULL);
	return memory;
}

/* Count the pauses. */
static void
count_pause(void)
{
	pauses++;
}

/* Words, sentences, paragraphs, characters of four scripts, and rubbish. */
static size_t
random_bytes(unsigned char *bytes)
{
	static const char *const pieces[] = {
		"word ", "Other", ". ", "! ", "\n", "\n\n", " ", "\xe5\xa4\xa9",
		"\xe3\x80\x82", "\xe0\xb8\x81", "\xe0\xb8\x81 ", "\xf0\x9f\x98\x80",
		"\xe5\xa4", "\xff", "\x80", "?", "--", "\xc3\xa9"
	};
	size_t		kinds = sizeof pieces / sizeof pieces[0];
	size_t		n = 0;

	for (size_t i = random_below(60); i > 0; i--)
	{
		const char *piece = pieces[random_below(kinds)];

		CHECK(n + strlen(piece) <= BYTES_MAX);
		memcpy(bytes + n, piece, strlen(piece));
		n += strlen(piece);
	}
	return n;
}

/* What is read is what is written. */
static void
check_written(const ShPoints * text, const unsigned char *bytes, size_t n)
{
	static unsigned char written[4 * BYTES_MAX];

	CHECK(SH_EDIT_BYTES(text) <= sizeof written);
	CHECK(sh_edit_write(text, written) == n);
	CHECK(memcmp(written, bytes, n) == 0);
}

/* True when the code points from "at" on are those of the text. */
static bool
has_text(const ShPoints * result, size_t at, const ShPoints * text)
{
	return result->n >= at + text->n &&
		memcmp(result->points + at, text->points,
			   text->n * sizeof *text->points) == 0;
}

/* What a kind of edits does to a text, as far as it can be told in a line. */
static bool
is_right(ShEdit kind, const ShPoints * text, const ShPoints * result)
{
	size_t		same = 0;

	switch (kind)
	{
		case SH_EDIT_SOURCE:
			return has_text(result, result->n - text->n, text) &&
				result->points[result->n - text->n - 1] == '\n';
		case SH_EDIT_ADVERT:
			return has_text(result, 0, text) &&
				result->points[text->n] == '\n';
		case SH_EDIT_DROP:
			return result->n < text->n;
		case SH_EDIT_CHARACTERS:
			for (size_t i = 0; i < text->n; i++)
				same += text->points[i] == result->points[i];
			return result->n == text->n && same + 1 + text->n / 50 >= text->n;
		case SH_EDIT_CUT:
			return result->n == text->n - text->n / 5;
		case SH_EDIT_MOVE:
			return result->n > text->n;
		case SH_EDIT_CASE:
			return result->n <= text->n;
		default:
			return result->n > 0;
	}
}

/* Edit random texts in every way, twice alike. */
static void
test_random(void)
{
	unsigned char bytes[2][BYTES_MAX];
	unsigned char first[8 * BYTES_MAX];
	long		edited[SH_EDITS] = {0};

	for (int round = 0; round < 20000; round++)
	{
		ShEdit		kind = (ShEdit) random_below(SH_EDITS);
		size_t		lengths[2];
		uint64_t	seed = random_bits();
		uint64_t	states[2] = {seed, seed};
		size_t		n;

		for (int i = 0; i < 2; i++)
			lengths[i] = random_bytes(bytes[i]);
		sh_edit_read(&editor, &editor.text, bytes[0], lengths[0]);
		sh_edit_read(&editor, &editor.other, bytes[1], lengths[1]);
		check_written(&editor.text, bytes[0], lengths[0]);
		if (!sh_edit(&editor, kind, &editor.other, seed, &states[0]))
			continue;
		CHECK(lengths[0] > 0 && lengths[1] > 0);
		CHECK(editor.result.n != editor.text.n ||
			  !has_text(&editor.result, 0, &editor.text));
		CHECK(is_right(kind, &editor.text, &editor.result));
		CHECK(SH_EDIT_BYTES(&editor.result) <= sizeof first);
		n = sh_edit_write(&editor.result, first);
		CHECK(sh_edit(&editor, kind, &editor.other, seed, &states[1]));
		CHECK(states[0] == states[1]);
		CHECK(n <= 4 * BYTES_MAX);
		check_written(&editor.result, first, n);
		edited[kind]++;
	}
	for (int kind = 0; kind < SH_EDITS; kind++)
		CHECK(edited[kind] > 100);
}

/* A long text is edited with pauses, one without letters in bounded time. */
static void
test_long(void)
{
	size_t		n = 500000;
	unsigned char *bytes = malloc(n);
	uint64_t	state = 1;

	CHECK(bytes != NULL);
	memset(bytes, '?', n);
	sh_edit_read(&editor, &editor.text, bytes, n);
	sh_edit_read(&editor, &editor.other, bytes, n);
	for (int kind = 0; kind < SH_EDITS; kind++)
	{
		pauses = 0;
		sh_edit(&editor, (ShEdit) kind, &editor.other, state, &state);
		CHECK(pauses >= 7 || kind == SH_EDIT_SOURCE ||
			  kind == SH_EDIT_ADVERT || kind == SH_EDIT_CUT ||
			  kind == SH_EDIT_TEMPLATE);
	}
	free(bytes);
}

int
main(void)
{
	seed_random();
	editor.resize = resize;
	editor.pause = count_pause;
	test_random();
	test_long();
	free(editor.text.points);
	free(editor.other.points);
	free(editor.result.points);
	free(editor.parts.spans);
	free(editor.others.spans);
	return 0;
}
