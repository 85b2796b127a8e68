/*-------------------------------------------------------------------------
 *
 * tally.h
 *		How often features occur, and when that adds to their weight.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_TALLY_H
#define SH_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/damping.h"

/* Part of the specification: features after which counting starts anew. */
#define SH_SECTION		(1 << 20)

/*
 * How often each feature of a section has occurred.  The multiplier, odd and
 * best chosen at random, spreads hashes over the table in a way that the
 * author of a document cannot foresee; no result depends on it.
 */
typedef struct ShTally
{
	/* what stays */
	void	   *(*allocate) (size_t bytes);
	void		(*release) (void *memory);
	uint64_t	multiplier;

	/* what moves */
	size_t		slots;			/* a power of two, or 0 */
	size_t		occupied;
	uint32_t	seen;			/* features since the section began */
	uint64_t   *hashes;
	uint32_t   *counts;			/* behind the hashes; 0 marks a free slot */
} ShTally;

extern void sh_tally_begin(ShTally *tally);
extern uint32_t *sh_tally_count(ShTally *tally, uint64_t hash);
extern uint32_t sh_tally_add(ShTally *tally, ShDamping damping, uint64_t hash);
extern size_t sh_tally_sift(ShTally *tally, ShDamping damping,
							uint64_t *hashes, size_t n);
extern void sh_tally_end(ShTally *tally);

#endif							/* SH_TALLY_H */
