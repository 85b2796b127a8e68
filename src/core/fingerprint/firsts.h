/*-------------------------------------------------------------------------
 *
 * firsts.h
 *		The features that occur for the first time in a document.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_FIRSTS_H
#define SH_FIRSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SH_FIRSTS_MAX	2048	/* features of a document, at most */
#define SH_FIRSTS_BITS	13		/* binary digits of a slot's number */
#define SH_FIRSTS_SLOTS	(1 << SH_FIRSTS_BITS)

/* The features of a document so far. */
typedef struct ShFirsts
{
	/* from document to document; all zero at first */
	uint16_t	base;			/* what stands for the first feature */
	uint16_t	slots[SH_FIRSTS_SLOTS];

	/* of this document */
	size_t		n;
	uint64_t	hashes[SH_FIRSTS_MAX];
	uint8_t		counts[SH_FIRSTS_MAX];	/* up to SH_CAP, if they matter */
} ShFirsts;

extern void sh_firsts_begin(ShFirsts *firsts);
extern bool sh_firsts_sift(ShFirsts *firsts, uint64_t multiplier, bool capped,
						   uint64_t *hashes, size_t *n);

#endif							/* SH_FIRSTS_H */
