/*-------------------------------------------------------------------------
 *
 * foreign.h
 *		What other programs compute, bit for bit.
 *
 * In come documents in UTF-8, and profiles whose unit is SH_UNIT_COMPAT or more;
 * out come the hashes of the features that the other program would have, one by
 * one.  What is added up of them is as for profiles of our own (document.h), as
 * each weighs 1.  hashbits.c is by itself: tokens to a fingerprint of any width.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_FOREIGN_H
#define SH_FOREIGN_H

#include "core/text/profile.h"
#include "core/text/windows.h"

/* --- digest.c -------------------------------------------------------------- */

#define SH_MD5_BYTES	16
#define SH_CRC32C_INIT	UINT32_C(0xffffffff)

/* An MD5 being computed. */
typedef struct ShMd5
{
	uint32_t	state[4];
	uint64_t	length;			/* bytes so far */
	unsigned char block[64];	/* those that fill no block yet */
} ShMd5;

extern void sh_md5_begin(ShMd5 *md5);
extern void sh_md5_feed(ShMd5 *md5, const unsigned char *bytes, size_t length);
extern void sh_md5_end(ShMd5 *md5, unsigned char digest[SH_MD5_BYTES]);
extern uint32_t sh_crc32c(uint32_t crc, const unsigned char *bytes,
						  size_t length, unsigned char mask);
extern uint64_t sh_lookup3(const unsigned char *bytes, size_t length);

/* --- hashbits.c ------------------------------------------------------------ */

#define SH_HASHBITS_MAX		1024
#define SH_HASHBITS_LIMBS	(SH_HASHBITS_MAX / 32)

/* Tokens being added up; all zero at first, but for "bits". */
typedef struct ShHashbits
{
	int			bits;
	int64_t		sums[SH_HASHBITS_MAX];
} ShHashbits;

extern void sh_hashbits_add(ShHashbits *sums, const unsigned char *bytes,
							size_t length, void (*pause) (void));
extern void sh_hashbits_write(const ShHashbits *sums, unsigned char *bits);

/* --- python.c -------------------------------------------------------------- */

/* Room that n bytes may need in lower case. */
#define SH_LOWER_BYTES(n)	((n) + (n) / 2 + 1)

/* Writes the lower case of a document; returns the bytes written. */
typedef size_t ShLower (unsigned char *to, const unsigned char *bytes,
						size_t length, void (*pause) (void));

extern bool sh_python_is_letter(int32_t c);
extern ShLower sh_python_lower;

/* --- recipes.c ------------------------------------------------------------- */

#define SH_COMPAT_WINDOW	4	/* pieces of a feature, at most */

/* A stretch of the document. */
typedef struct ShPiece
{
	const unsigned char *bytes;
	size_t		length;
} ShPiece;

/*
 * A document being read.  After sh_compat_next the pieces[0 .. have - 1] are
 * the feature.
 */
typedef struct ShCompat
{
	/* set by sh_compat_begin */
	const ShProfile *profile;
	const struct ShScheme *scheme;	/* see recipes.c */
	ShPiece		document;		/* UTF-8, in lower case if that is asked for */
	void		(*pause) (void);	/* called between long stretches of work */

	/* how far the document has been read */
	const unsigned char *next;	/* where reading goes on */
	bool		begun;
	bool		read;			/* no piece is left */
	bool		ended;			/* no feature is left */
	int			have;
	ShPiece		pieces[SH_COMPAT_WINDOW];
} ShCompat;

extern bool sh_compat_profile(const ShProfile *profile);
extern ShLower *sh_compat_lower(const ShProfile *profile);
extern bool sh_compat_half(const ShProfile *profile);
extern const char *sh_compat_joiner(const ShProfile *profile);
extern void sh_compat_begin(ShCompat *compat, const ShProfile *profile,
							const unsigned char *bytes, size_t length,
							void (*pause) (void));
extern bool sh_compat_next(ShCompat *compat, uint64_t *hash);
extern void sh_compat_read(ShCompat *compat, ShHashReader read, void *state);
extern uint64_t sh_compat_hash(const ShProfile *profile,
							   const unsigned char *bytes, size_t length,
							   void (*pause) (void));

#endif							/* SH_FOREIGN_H */
