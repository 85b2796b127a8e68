/*-------------------------------------------------------------------------
 *
 * minima.h
 *		Feature hashes -> 64 minima -> fingerprint of the second family.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_MINIMA_H
#define SH_MINIMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

/* The least of the scrambled hashes in each bin. */
typedef struct ShMinima
{
	uint64_t	filled;			/* bit i: bin i holds something */
	uint64_t	least[SH_BITS];
} ShMinima;

extern void sh_minima_begin(ShMinima *minima);
extern void sh_minima_add(ShMinima *minima, const uint64_t *hashes, size_t n);
extern bool sh_minima_fingerprint(const ShMinima *minima,
								  uint64_t *fingerprint);

#endif							/* SH_MINIMA_H */
