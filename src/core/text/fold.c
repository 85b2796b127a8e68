/*-------------------------------------------------------------------------
 *
 * fold.c
 *		The normal form of a piece of a run: NFKC_Casefold.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/fold.h"

#include <string.h>

#include <utf8proc.h>

#include "core/text/utf8.h"

/*
 * Limits of the work done.  Marks are sorted by shifting them as long as no more
 * stand on a letter, which in any language is so.
 */
#define SHIFTED_MAX		16
#define CLASSES			256		/* canonical combining classes */

/* The canonical combining class of a code point. */
static inline int
class_of(int32_t c)
{
	return utf8proc_get_property(c)->combining_class;
}

/* Bring marks into the order of their classes; those of one class keep theirs. */
static void
sort_marks(int32_t *marks, size_t n)
{
	int32_t		sorted[SH_FOLDED_MAX];
	size_t		places[CLASSES + 1] = {0};

	if (n <= SHIFTED_MAX)
	{
		for (size_t i = 1; i < n; i++)
		{
			int32_t		mark = marks[i];
			size_t		at = i;

			for (; at > 0 && class_of(marks[at - 1]) > class_of(mark); at--)
				marks[at] = marks[at - 1];
			marks[at] = mark;
		}
		return;
	}
	for (size_t i = 0; i < n; i++)
		places[class_of(marks[i]) + 1]++;
	for (int class = 1; class < CLASSES; class++)
		places[class] += places[class - 1];
	for (size_t i = 0; i < n; i++)
		sorted[places[class_of(marks[i])]++] = marks[i];
	memcpy(marks, sorted, n * sizeof *marks);
}

/* Bring the marks on each letter into canonical order. */
static void
order_marks(int32_t *text, size_t n)
{
	size_t		start = 0;		/* of the marks that are being read */

	for (size_t i = 0; i <= n; i++)
	{
		if (i < n && class_of(text[i]) != 0)
			continue;
		if (i - start > 1)
			sort_marks(text + start, i - start);
		start = i + 1;
	}
}

/*
 * Decompose part of a piece; returns its code points, or a negative number.  The
 * library does all this in one call, but takes the square of the number of marks
 * on a letter to sort them.
 */
static utf8proc_ssize_t
decompose(const unsigned char *part, size_t length, int32_t *folded)
{
	const unsigned char *end = part + length;
	utf8proc_ssize_t n = 0;
	int			boundary = 0;

	while (part < end)
	{
		size_t		bytes;
		int32_t		c = sh_utf8_decode(part, end, &bytes);
		utf8proc_ssize_t more;

		more = utf8proc_decompose_char(c, folded + n, SH_FOLDED_MAX - n,
									   SH_FOLD_OPTIONS, &boundary);
		if (more < 0 || n + more > SH_FOLDED_MAX)
			return -1;
		n += more;
		part += bytes;
	}
	order_marks(folded, (size_t) n);
	return n;
}

/*
 * Write the normal form of part of a piece; returns its bytes.  Should the
 * library fail, which it has no reason to, the part is written as it is.
 */
static size_t
fold_part(const unsigned char *part, size_t length, int32_t *folded,
		  unsigned char *to)
{
	utf8proc_ssize_t n;

	n = decompose(part, length, folded);
	if (n >= 0)
		n = utf8proc_reencode(folded, n, SH_FOLD_OPTIONS);
	if (n >= 0 && n <= SH_FOLDED_MAX * 4)
	{
		memcpy(to, folded, (size_t) n);
		return (size_t) n;
	}
	memcpy(to, part, length);
	return length;
}

/*
 * Write the normal form of a piece; returns its bytes.  There must be room for
 * SH_FOLDED_MAX * 4 of them, and for SH_FOLDED_MAX + 1 code points in "folded".
 *
 * Some versions of utf8proc lose a U+11A7 after a Hangul syllable.  No
 * composition goes across its left side, so what is before it is normalised
 * by itself, and every version gives the same.
 */
size_t
sh_fold(const unsigned char *piece, size_t length, int32_t *folded,
		unsigned char *to)
{
	const unsigned char *part = piece;
	const unsigned char *end = piece + length;
	size_t		n = 0;

	for (const unsigned char *p = part + 1; p + 3 <= end; p++)
	{
		if (memcmp(p, "\xe1\x86\xa7", 3) == 0)
		{
			n += fold_part(part, (size_t) (p - part), folded, to + n);
			part = p;
		}
	}
	return n + fold_part(part, (size_t) (end - part), folded, to + n);
}
