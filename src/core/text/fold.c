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

#include <utf8proc.h>

#include "core/text/characters.h"

#if UTF8PROC_VERSION_MAJOR * 100 + UTF8PROC_VERSION_MINOR < 207
#error "simhash needs utf8proc 2.7 or later, which knows Unicode 14.0"
#endif

/* The canonical combining class of a code point. */
static inline int
class_of(int32_t c)
{
	return utf8proc_get_property(c)->combining_class;
}

/*
 * Bring the marks on each letter into the order of their classes; those of one
 * class keep theirs.  Letters have class 0, so no mark is shifted across one.
 */
static void
order_marks(int32_t *text, utf8proc_ssize_t n)
{
	for (utf8proc_ssize_t i = 1; i < n; i++)
	{
		int32_t		mark = text[i];
		int			class = class_of(mark);
		utf8proc_ssize_t at = i;

		for (; class > 0 && at > 0 && class_of(text[at - 1]) > class; at--)
			text[at] = text[at - 1];
		text[at] = mark;
	}
}

/*
 * Decompose part of a piece; returns its code points, or a negative number.  The
 * library does all this in one call, but takes four times as long where many marks
 * stand on a letter.
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
	order_marks(folded, n);
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

/* Begin a piece. */
void
sh_piece_begin(ShRunPiece *piece)
{
	piece->length = 0;
	piece->chars = 0;
	piece->inert = true;
}

/*
 * End a piece: write its normal form, for which there must be room for
 * SH_FOLDED_MAX * 4 bytes, and return its length.  Another piece can begin.
 *
 * Some versions of utf8proc lose a U+11A7 after a Hangul syllable.  No
 * composition goes across its left side, so what is before it is normalised
 * by itself, and every version gives the same.
 */
size_t
sh_piece_end(ShRunPiece *piece, unsigned char *to)
{
	const unsigned char *part = piece->bytes;
	const unsigned char *end = part + piece->length;
	size_t		n = 0;

	if (piece->inert)
	{
		memcpy(to, part, piece->length);
		n = piece->length;
	}
	else
	{
		for (const unsigned char *p = part + 1; p + 3 <= end; p++)
		{
			if (memcmp(p, "\xe1\x86\xa7", 3) == 0)
			{
				n += fold_part(part, (size_t) (p - part), piece->folded,
							   to + n);
				part = p;
			}
		}
		n += fold_part(part, (size_t) (end - part), piece->folded, to + n);
	}
	sh_piece_begin(piece);
	return n;
}
