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

#include "core/text/profile.h"

/* Part of the specification: features after which counting starts anew. */
#define SH_SECTION		(1 << 20)

/*
 * How often each feature of a section has occurred.  The multiplier, odd and
 * best chosen at random, spreads hashes over the table in a way that the
 * author of a document cannot foresee; no result depends on it.
 */
typedef struct ShTally
{
	/* set by the caller, once */
	void	   *(*allocate) (void *context, size_t bytes);
	void		(*release) (void *memory);
	void	   *context;
	uint64_t	multiplier;

	/* the table */
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

/* --- firsts.c ------------------------------------------------------------- */

#define SH_FIRSTS_MAX	2048	/* features of a document, at most */
#define SH_FIRSTS_BITS	13		/* binary digits of a slot's number */
#define SH_FIRSTS_SLOTS	(1 << SH_FIRSTS_BITS)

/* The features of a document so far. */
typedef struct ShFirsts
{
	/* from document to document; all zero at first */
	uint16_t	base;			/* the number of the first feature */
	uint16_t	slots[SH_FIRSTS_SLOTS];

	/* of this document */
	size_t		n;
	uint64_t	hashes[SH_FIRSTS_MAX];
	uint8_t		counts[SH_FIRSTS_MAX];	/* up to SH_CAP, if they matter */
} ShFirsts;

extern void sh_firsts_begin(ShFirsts *firsts);
extern bool sh_firsts_sift(ShFirsts *firsts, uint64_t multiplier, bool capped,
						   uint64_t *hashes, size_t *n);

#endif							/* SH_TALLY_H */
