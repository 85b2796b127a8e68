/*-------------------------------------------------------------------------
 *
 * windows.h
 *		Tokens -> features, and their hashes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_WINDOWS_H
#define SH_WINDOWS_H

#include "core/text/profile.h"
#include "core/text/text.h"

/* Features handed out at a time. */
#define SH_BATCH		512

/* What the hashes of features are handed to, as they occur, SH_BATCH at most. */
typedef void (*ShHashReader) (void *state, const uint64_t *hashes, size_t n);

/* A feature: the bytes start .. end - 1 of the normalised text held. */
typedef struct ShFeature
{
	uint32_t	start;
	uint32_t	end;
} ShFeature;

/* The features that the tokens held give, in batches. */
typedef struct ShWindows
{
	const ShProfile *profile;
	const ShText *text;
	bool		whole;			/* the document is one single feature */
	int			size;			/* tokens of the next window */
	size_t		last;			/* last token of the next window */
} ShWindows;

extern void sh_windows_begin(ShWindows *windows, const ShProfile *profile,
							 const ShText *text, bool ended);
extern size_t sh_windows_next(ShWindows *windows, ShFeature *features);
extern size_t sh_windows_hashes(ShWindows *windows, uint64_t *hashes);
extern uint64_t sh_feature_hash(const ShProfile *profile,
								const unsigned char *feature, size_t length);

#endif							/* SH_WINDOWS_H */
