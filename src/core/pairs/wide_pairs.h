/*-------------------------------------------------------------------------
 *
 * wide_pairs.h
 *		All pairs of fingerprints of several words within a distance.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_WIDE_PAIRS_H
#define SH_WIDE_PAIRS_H

#include "core/blocks/layout.h"
#include "core/pairs/engine.h"

#define SH_WIDE_WAITING	64		/* candidates to compare together */

/*
 * A search.  "all" are the rows, by fingerprint, and "wide" has the words of
 * each distinct fingerprint.  "word" are the distinct fingerprints by the word
 * that we are at.
 */
typedef struct ShWide
{
	ShPairs    *all;
	const uint64_t *wide;
	int			words;
	int			width;
	int			k;
	int			radius[SH_MAX_WORDS];	/* below 0: not searched by */
	double		share[SH_MAX_WORDS];	/* of the work */
	bool		by_words;		/* even where it is better to compare all */

	ShPairSink	sink;
	void	   *context;

	ShPairs		word;
	int			at;				/* the word that we are at */
	double		done;			/* part of the work before it */
	double		told;			/* part of the work that was told last */
	size_t		compared;		/* candidates, since then */
	size_t		waiting;
	uint32_t	candidate[SH_WIDE_WAITING][2];	/* that may be a pair */
} ShWide;

extern int	sh_wide_most(int width);
extern size_t sh_wide_bytes(uint32_t n);
extern void sh_wide_begin(ShWide *wide, ShPairs *all, uint64_t *words,
						  void *memory, int width);
extern int	sh_wide_distance(const ShWide *wide, uint32_t a, uint32_t b);
extern void sh_wide_find(ShWide *wide, int k, ShPairSink sink, void *context);

#endif							/* SH_WIDE_PAIRS_H */
