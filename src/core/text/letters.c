/*-------------------------------------------------------------------------
 *
 * letters.c
 *		Letters as another keyboard, or a hurried writer, would type them.
 *
 * People leave accents out in capitals, vowel signs in Arabic and Hebrew, and what
 * their keyboard lacks.  A profile does so only if its name says it: to Vietnamese,
 * or in a dictionary, an accent is another word.
 *
 * Each code point is taken by itself: it is brought to its NFKC_Casefold,
 * decomposed; the marks of Latin, Greek, Cyrillic, Hebrew and Arabic that this
 * leaves are dropped, and letters that have no decomposition but a common
 * substitute are replaced.  Marks of Indic scripts stay, and so do separators,
 * symbols, and scripts written without spaces.  docs/fingerprint.md specifies it.
 *
 * For example "ÖĞRENCİ" and "ogrenci" become "ogrenci", "Łódź" becomes "lodz",
 * and "كِتَاب" becomes "كتاب".
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/fold.h"

#include <stdbool.h>
#include <string.h>

#include <utf8proc.h>

#include "core/text/characters.h"

/*
 * Limits of the work done.  From LETTERS_END on, letters that NFKC_Casefold leaves
 * alone stay.
 */
#define LETTERS_END		0x2000

/*
 * Part of the specification: these stay, as what NFKC_Casefold makes of them is
 * for profiles, and not in the encodings that they come from.
 */
static const int32_t kept[][2] = {
	{0xb5, 0xb5}, {0x3131, 0x318e}, {0xffa1, 0xffdc}
};

/* Part of the specification: marks in these ranges are dropped. */
static const int32_t dropped[][2] = {
	{0x300, 0x337}, {0x339, 0x36f}, {0x483, 0x489}, {0x591, 0x5c7}, {0x610, 0x61a},
	{0x64b, 0x65f}, {0x670, 0x670}, {0x6d6, 0x6ed}, {0x898, 0x89f},
	{0x8ca, 0x8ff}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x20d0, 0x20ff},
	{0xfe20, 0xfe2f}
};

/* Part of the specification: what is replaced, by one or two code points. */
static const int32_t replaced[][3] = {
	{0xe6, 'a', 'e'}, {0xf0, 'd'}, {0xf8, 'o'}, {0xfe, 't', 'h'},
	{0x111, 'd'}, {0x127, 'h'}, {0x131, 'i'}, {0x142, 'l'},
	{0x14b, 'n'}, {0x153, 'o', 'e'}, {0x167, 't'}, {0x199, 'k'},
	{0x1b4, 'y'}, {0x253, 'b'}, {0x254, 'o'}, {0x257, 'd'},
	{0x259, 'e'}, {0x25b, 'e'}, {0x2bb, '\''}, {0x2bc, '\''},
	{0x629, 0x647}, {0x649, 0x64a}, {0x671, 0x627}, {0x6a9, 0x643},
	{0x6c1, 0x647}, {0x6c3, 0x647}, {0x6cc, 0x64a}, {0x6d5, 0x647},
	{0x2044, '/'}
};

/* Part of the specification: digits of Arabic and of Persian, by their zeros. */
static const int32_t zeros[] = {0x660, 0x6f0};

#define TATWEEL			0x640

/* Does a code point stay as it is? */
static bool
is_kept(int32_t c, int class)
{
	ShKind		kind = (ShKind) (class & ~SH_INERT);

	if (kind != SH_WORD)
		return kind != SH_MARK && kind != SH_IGNORED;
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
	{
		if (c >= kept[i][0] && c <= kept[i][1])
			return true;
	}
	return (class & SH_INERT) != 0 && c >= LETTERS_END;
}

/* Is a decomposed code point dropped? */
static bool
is_dropped(int32_t c)
{
	if (c == TATWEEL)
		return true;
	for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
	{
		if (c >= dropped[i][0] && c <= dropped[i][1])
			return (sh_classify(c) & ~SH_INERT) == SH_MARK;
	}
	return false;
}

/* Write what a decomposed code point becomes; returns how many they are. */
static int
replace_letter(int32_t c, int32_t *to)
{
	to[0] = c;
	for (size_t i = 0; i < sizeof replaced / sizeof replaced[0]; i++)
	{
		if (replaced[i][0] == c)
		{
			to[0] = replaced[i][1];
			to[1] = replaced[i][2];
			return to[1] == 0 ? 1 : 2;
		}
	}
	for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++)
	{
		if (c >= zeros[i] && c <= zeros[i] + 9)
			to[0] = '0' + (c - zeros[i]);
	}
	return is_dropped(c) ? 0 : 1;
}

/*
 * Fold a code point that is no separator; returns the bytes written.  Should the
 * library fail, which it has no reason to, it is dropped.
 */
static size_t
fold_letter(int32_t c, unsigned char *to)
{
	int32_t		parts[SH_EXPANSION];
	int32_t		folded[2 * SH_EXPANSION + 1];
	int			boundary = 0;
	int			have = 0;
	utf8proc_ssize_t n;

	n = utf8proc_decompose_char(c, parts, SH_EXPANSION, SH_FOLD_OPTIONS,
								&boundary);
	for (utf8proc_ssize_t i = 0; i < n && n <= SH_EXPANSION; i++)
		have += replace_letter(parts[i], folded + have);
	n = utf8proc_reencode(folded, have, SH_FOLD_OPTIONS);
	if (n <= 0)
		return 0;
	memcpy(to, folded, (size_t) n);
	return (size_t) n;
}

/* The same, of one that may have been folded before. */
static size_t
fold_remembered(ShLetters *letters, int32_t c, unsigned char *to)
{
	int			slot = c % SH_LETTERS_SLOTS;
	size_t		n;

	if (letters->slots[slot].c == c)
	{
		n = letters->slots[slot].length;
		memcpy(to, letters->slots[slot].bytes, n);
		return n;
	}
	n = fold_letter(c, to);
	if (n <= SH_LETTERS_BYTES_KEPT)
	{
		letters->slots[slot].c = c;
		letters->slots[slot].length = (unsigned char) n;
		memcpy(letters->slots[slot].bytes, to, n);
	}
	return n;
}

/*
 * Fold the bytes from .. end - 1, which must not be cut within a character;
 * returns the bytes written, for which there is to be room.
 */
size_t
sh_letters_fold(ShLetters *letters, const unsigned char *from,
				const unsigned char *end, unsigned char *to)
{
	unsigned char *start = to;

	while (from < end)
	{
		size_t		length;
		int32_t		c;
		int			class;

		if (*from < 0x80)
		{
			unsigned char byte = *from++;

			*to++ = byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
			continue;
		}
		c = sh_utf8_decode(from, end, &length);
		class = sh_classify(c);
		if (is_kept(c, class))
		{
			memcpy(to, from, length);
			to += length;
		}
		else if ((class & ~SH_INERT) != SH_IGNORED)
			to += fold_remembered(letters, c, to);
		from += length;
	}
	return (size_t) (to - start);
}
