/*-------------------------------------------------------------------------
 *
 * fold.h
 *		The normal form of a piece of a run, and letters without their marks.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_FOLD_H
#define SH_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Limits of the work done.  SH_PIECE_MAX is part of the specification of
 * fingerprints (docs/fingerprint.md); the others only size buffers.
 */
#define SH_PIECE_MAX	128		/* code points normalised at once */
#define SH_EXPANSION	18		/* code points that one may fold to */
#define SH_FOLDED_MAX	(SH_PIECE_MAX * SH_EXPANSION)
#define SH_FOLD_BYTES	33		/* bytes that one really folds to, at most */

/*
 * NFKC_Casefold, but that the library is not asked to drop what may be
 * ignored: which code points these are is not promised to stay the same, and
 * those of Unicode 14.0 have been dropped already.
 */
#define SH_FOLD_OPTIONS \
	(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD)

/* A piece of a run being read: so many code points, in so many bytes. */
typedef struct ShRunPiece
{
	size_t		length;
	int			chars;
	bool		inert;			/* its normal form is itself */
	unsigned char bytes[SH_PIECE_MAX * 4];
	int32_t		folded[SH_FOLDED_MAX + 1];	/* of use while it is normalised */
} ShRunPiece;

extern void sh_piece_begin(ShRunPiece *piece);
extern size_t sh_piece_end(ShRunPiece *piece, unsigned char *to);

/* Add code points, of which "inert" says whether all are SH_INERT. */
static inline void
sh_piece_add(ShRunPiece *piece, const unsigned char *bytes, size_t length,
			 int chars, bool inert)
{
	memcpy(piece->bytes + piece->length, bytes, length);
	piece->length += length;
	piece->chars += chars;
	piece->inert &= inert;
}

/* letters.c */

#define SH_LETTERS_SLOTS	4096
#define SH_LETTERS_BYTES_KEPT	11

/* What code points have become: the caller's, and all zero at first. */
typedef struct ShLetters
{
	struct
	{
		int32_t		c;			/* 0: nothing is known */
		unsigned char length;
		unsigned char bytes[SH_LETTERS_BYTES_KEPT];
	}			slots[SH_LETTERS_SLOTS];
} ShLetters;

/* Bytes that n bytes of text fold to, at most. */
#define SH_LETTERS_BYTES(n)	((n) * (SH_FOLD_BYTES + 2) / 3 + 2)

extern size_t sh_letters_fold(ShLetters *letters, const unsigned char *from,
							  const unsigned char *end, unsigned char *to);

#endif							/* SH_FOLD_H */
