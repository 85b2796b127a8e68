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

/*
 * NFKC_Casefold, but that the library is not asked to drop what may be
 * ignored: which code points these are is not promised to stay the same, and
 * those of Unicode 14.0 have been dropped already.
 */
#define FOLD_OPTIONS \
	(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | \
	 UTF8PROC_CASEFOLD)

/*
 * Write the normal form of part of a piece; returns its bytes.  Should the
 * library fail, which it has no reason to, the part is written as it is.
 */
static size_t
fold_part(const unsigned char *part, size_t length, int32_t *folded,
		  unsigned char *to)
{
	utf8proc_ssize_t n;

	n = utf8proc_decompose(part, (utf8proc_ssize_t) length, folded,
						   SH_FOLDED_MAX, FOLD_OPTIONS);
	if (n >= 0 && n <= SH_FOLDED_MAX)
		n = utf8proc_reencode(folded, n, FOLD_OPTIONS);
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
