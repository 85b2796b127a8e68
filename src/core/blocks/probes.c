/*-------------------------------------------------------------------------
 *
 * probes.c
 *		Which keys of which blocks to look up for a search within a radius.
 *
 * Guarantee.  Let p and q be fingerprints at a distance of at most k.  Then
 * in at least one block b the keys of p and q differ in at most
 * sh_block_radius(k, b) bits.  So the rows found by looking up, in every
 * block b, every key within that radius of q's key include every row within
 * distance k of q; comparing the fingerprints throws out the others.
 *
 * Mechanics.  With m = 4 blocks write k = 4a + r, 0 <= r < 4.  We search the
 * blocks 0 .. r within radius a and the others within a - 1 (Norouzi, Punjani
 * and Fleet 2012, "Fast Search in Hamming Space with Multi-Index Hashing").
 * Suppose a pair escaped: it would differ in at least a + 1 bits in each of
 * r + 1 blocks and in at least a bits in each of the 3 - r others, in all
 * (r + 1)(a + 1) + (3 - r)a = 4a + r + 1 = k + 1 bits.  A contradiction.
 *
 * The keys within radius a of a key number C(16,0) + ... + C(16,a): 1, 17,
 * 137, 697, 2517 for a = 0 .. 4.
 *
 * A worked example, k = 5.  a = 1 and r = 1: blocks 0 and 1 are searched
 * within radius 1, 17 keys each, blocks 2 and 3 within radius 0, one key
 * each: 36 probes.  For a pair to escape it must differ in 2 or more bits of
 * block 0, 2 of block 1, 1 of block 2 and 1 of block 3: 6 bits, not 5.
 *
 * entries.c enumerates too, for the hamming index, and cannot stand in for
 * this: its blocks have 16, 16, 15 and 15 bits, its radii depend on the size
 * of the index, and its keys come in ascending order, from any key on, as a
 * scan of pages wants them.  Here radii must be the same for ever, as they are
 * in plans and queries, and keys come nearest first, one small step each.
 *
 * From k = 28 on the probes would outnumber the keys of a block.  Then all
 * of block 0 is searched, and the other blocks need not be searched at all.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/blocks/probes.h"

/* From this radius on, all keys of one block are searched. */
#define ALL_KEYS_RADIUS		28

/*
 * The radius within which a block must be searched to find all within the
 * given radius; -1 when the block need not be searched.
 */
int
sh_block_radius(int radius, int block)
{
	int			a = radius / SH_BLOCKS;

	if (radius >= ALL_KEYS_RADIUS)
		return block == 0 ? SH_BLOCK_BITS : -1;
	return block <= radius % SH_BLOCKS ? a : a - 1;
}

/* Begin to enumerate the keys within a radius of a key. */
void
sh_probes_begin(ShProbes *probes, int16_t key, int block_radius)
{
	probes->key = (uint16_t) key;
	probes->radius = block_radius;
	probes->distance = 0;
	probes->mask = 0;
}

/*
 * Get the next key, and return its distance from the key in the middle; -1
 * when there are no more.
 */
int
sh_probes_next(ShProbes *probes, int16_t *key)
{
	int			distance = probes->distance;
	uint32_t	mask = probes->mask;

	if (distance > probes->radius || distance > SH_BLOCK_BITS)
		return -1;
	*key = (int16_t) (probes->key ^ mask);

	/* The next mask with as many bits set, if 16 bits hold one. */
	if (mask != 0)
		mask = sh_next_of_weight(mask);
	if (mask == 0 || mask >= SH_KEYS)
	{
		probes->distance++;
		mask = (UINT32_C(1) << probes->distance) - 1;
	}
	probes->mask = mask;
	return distance;
}
