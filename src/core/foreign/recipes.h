/*-------------------------------------------------------------------------
 *
 * recipes.h
 *		Documents read as other implementations read them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_RECIPES_H
#define SH_RECIPES_H

#include "core/text/profile.h"

#define SH_COMPAT_WINDOW	4	/* pieces of a feature, at most */

/* A stretch of the document. */
typedef struct ShStretch
{
	const unsigned char *bytes;
	size_t		length;
} ShStretch;

/*
 * A document being read.  After sh_compat_next the pieces[0 .. have - 1] are
 * the feature.
 */
typedef struct ShCompat
{
	/* what stays */
	const ShProfile *profile;
	const struct ShScheme *scheme;	/* see recipes.c */
	ShStretch		document;		/* UTF-8, in lower case if that is asked for */
	void		(*pause) (void);	/* called between long stretches of work */

	/* what moves */
	const unsigned char *next;	/* where reading goes on */
	bool		begun;
	bool		read;			/* no piece is left */
	bool		ended;			/* no feature is left */
	int			have;
	ShStretch		pieces[SH_COMPAT_WINDOW];
} ShCompat;

extern bool sh_compat_profile(const ShProfile *profile);
extern bool sh_compat_lowers(const ShProfile *profile);
extern const char *sh_compat_joiner(const ShProfile *profile);
extern void sh_compat_begin(ShCompat *compat, const ShProfile *profile,
							const unsigned char *bytes, size_t length,
							void (*pause) (void));
extern bool sh_compat_next(ShCompat *compat, uint64_t *hash);
extern uint64_t sh_compat_hash(const ShProfile *profile,
							   const unsigned char *bytes, size_t length,
							   void (*pause) (void));

#endif							/* SH_RECIPES_H */
