/*-------------------------------------------------------------------------
 *
 * unit_letters.c
 *		Unit tests of folded letters and of marks that are put in order.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include <utf8proc.h>

#include "core/text/fold.h"
#include "core/text/characters.h"

#define CODE_POINTS	0x110000

static ShLetters letters;

/* Write a code point as UTF-8, surrogates too; returns its bytes. */
static size_t
put_character(unsigned char *to, int32_t c)
{
	int			n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (int i = n - 1; i > 0; i--, c >>= 6)
		to[i] = (unsigned char) (0x80 | (c & 0x3f));
	to[0] = (unsigned char) (n == 1 ? c : (0xf00 >> n & 0xff) | c);
	return (size_t) n;
}

/* Fold a text that has no room behind it, into as much as was promised. */
static size_t
fold(const unsigned char *text, size_t length, unsigned char *result)
{
	unsigned char *from = malloc(length + 1);
	unsigned char *exact = malloc(SH_LETTERS_BYTES(length));
	size_t		n;

	memcpy(from + 1, text, length);
	n = sh_letters_fold(&letters, from + 1, from + 1 + length, exact);
	CHECK(n <= SH_LETTERS_BYTES(length));
	memcpy(result, exact, n);
	free(from);
	free(exact);
	return n;
}

/*
 * No code point, alone or again and again, folds to more than there is room for;
 * ignored ones go, separators stay, and that of many is what each becomes.
 */
static void
test_bound(void)
{
	static unsigned char text[50 * 4];
	static unsigned char result[SH_LETTERS_BYTES(50 * 4)];
	unsigned char one[SH_LETTERS_BYTES(4)];

	for (int32_t c = 0; c < CODE_POINTS; c++)
	{
		size_t		length = put_character(text, c);
		size_t		n = fold(text, length, one);
		int			kind = sh_classify(c) & ~SH_INERT;
		size_t		times = c % 16 == 0 || n > 9 ? 50 : 2;

		if (c >= 0xd800 && c < 0xe000)
			kind = SH_SEPARATOR;
		CHECK((n > 0) || kind != SH_SEPARATOR);
		if (kind == SH_IGNORED)
			CHECK(n == 0);
		if (kind == SH_SEPARATOR || kind == SH_SYMBOL)
			CHECK(n == length && memcmp(one, text, n) == 0);
		for (size_t i = 1; i < times; i++)
			memcpy(text + i * length, text, length);
		CHECK(fold(text, times * length, result) == times * n);
		for (size_t i = 0; i < times; i++)
			CHECK(memcmp(result + i * n, one, n) == 0);
	}
}

/* Any bytes: what is folded at once is folded in parts, and twice as once. */
static void
test_hostile(void)
{
	static unsigned char text[400];
	static unsigned char whole[SH_LETTERS_BYTES(400)];
	static unsigned char parts[SH_LETTERS_BYTES(400) + 400];

	for (int round = 0; round < 20000; round++)
	{
		size_t		n = 0;
		size_t		done = 0;
		size_t		length;
		size_t		got = 0;

		while (n < 390 && random_below(100))
		{
			if (round % 2)
				text[n++] = (unsigned char) random_bits();
			else
				n += put_character(text + n, (int32_t)
								   random_below(round % 4 ? CODE_POINTS :
												0x3000));
		}
		length = fold(text, n, whole);
		while (done < n)
		{
			size_t		k = 1 + random_below(n - done);

			while (done + k < n && (text[done + k] & 0xc0) == 0x80)
				k++;
			got += fold(text + done, k, parts + got);
			done += k;
		}
		CHECK(got == length && memcmp(whole, parts, got) == 0);
	}
}

/* ASCII becomes lower case. */
static void
test_ascii(void)
{
	unsigned char text[128];
	unsigned char result[SH_LETTERS_BYTES(128)];

	for (int c = 0; c < 128; c++)
		text[c] = (unsigned char) c;
	CHECK(fold(text, 128, result) == 128);
	for (int c = 0; c < 128; c++)
		CHECK(result[c] == (c >= 'A' && c <= 'Z' ? c + 32 : c));
}

/* What the library makes of a piece, all at once. */
static size_t
normalise(const unsigned char *piece, size_t length, unsigned char *to)
{
	static utf8proc_int32_t buffer[SH_FOLDED_MAX + 1];
	utf8proc_ssize_t n;

	n = utf8proc_decompose(piece, (utf8proc_ssize_t) length, buffer,
						   SH_FOLDED_MAX, SH_FOLD_OPTIONS);
	CHECK(n >= 0 && n <= SH_FOLDED_MAX);
	n = utf8proc_reencode(buffer, n, SH_FOLD_OPTIONS);
	CHECK(n >= 0);
	memcpy(to, buffer, (size_t) n);
	return (size_t) n;
}

/* A random code point: one of many marks, or a letter that they stand on. */
static int32_t
random_character(int32_t *marks, size_t n, uint64_t letters)
{
	static const int32_t some[] = {
		'a', 'q', 0x1ea5, 0xac00, 0x304b, 0x915, 0x5d0, 0x3b1, 0x1f00, 0x41
	};
	int32_t		c;

	if (random_below(100) >= letters)
		return marks[random_below(n)];
	if (random_below(4))
		return some[random_below(10)];
	do
		c = (int32_t) random_below(CODE_POINTS);
	while ((c >= 0xd800 && c < 0xe000) || c == 0x11a7);
	return c;
}

/* Marks, few and many on a letter, are put in order as the library does it. */
static void
test_marks(void)
{
	static int32_t marks[CODE_POINTS];
	static ShRunPiece folded;
	static unsigned char ours[SH_FOLDED_MAX * 4];
	static unsigned char its[SH_FOLDED_MAX * 4];
	size_t		n = 0;

	for (int32_t c = 0; c < CODE_POINTS; c++)
		if (utf8proc_get_property(c)->combining_class != 0)
			marks[n++] = c;
	CHECK(n > 800);
	for (int round = 0; round < 30000; round++)
	{
		unsigned char piece[SH_PIECE_MAX * 4];
		size_t		length = 0;
		size_t		chars = 1 + random_below(SH_PIECE_MAX);
		uint64_t	letters = (uint64_t) (round % 4) * 20;
		size_t		some = round % 3 ? n : 1 + random_below(60);
		size_t		bytes;

		for (size_t i = 0; i < chars; i++)
			length += put_character(piece + length,
									random_character(marks, some, letters));
		sh_piece_begin(&folded);
		sh_piece_add(&folded, piece, length, (int) chars, false);
		bytes = sh_piece_end(&folded, ours);
		CHECK(bytes == normalise(piece, length, its));
		CHECK(memcmp(ours, its, bytes) == 0);
	}
}

int
main(void)
{
	seed_random();
	test_ascii();
	test_bound();
	test_hostile();
	test_marks();
	return 0;
}
