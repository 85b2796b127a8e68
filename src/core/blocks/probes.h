/*-------------------------------------------------------------------------
 *
 * probes.h
 *		Which keys of which blocks to look up for a search within a radius.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_PROBES_H
#define SH_PROBES_H

#include <stdint.h>

#include "core/bits.h"

/* Keys that a block has. */
#define SH_KEYS			(1 << SH_BLOCK_BITS)

/* The keys within a radius of a key, nearest first. */
typedef struct ShProbes
{
	uint32_t	key;
	int			radius;			/* of the block; below 0 there are none */
	int			distance;		/* of the next key */
	uint32_t	mask;			/* what the next key differs in */
} ShProbes;

/* The number of keys within a radius of a key. */
static inline int
sh_probe_count(int block_radius)
{
	return (int) sh_ball_size(SH_BLOCK_BITS, block_radius);
}

extern int	sh_block_radius(int radius, int block);
extern void sh_probes_begin(ShProbes *probes, int16_t key, int block_radius);
extern int	sh_probes_next(ShProbes *probes, int16_t *key);

#endif							/* SH_PROBES_H */
