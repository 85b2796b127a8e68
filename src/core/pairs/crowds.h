/*-------------------------------------------------------------------------
 *
 * crowds.h
 *		Crowds: many different fingerprints, nearly all near to each other.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_CROWDS_H
#define SH_CROWDS_H

#include "core/pairs/engine.h"

#define SH_CROWDS_MAX	256		/* crowds to set apart */
#define SH_CROWD_LEAST	1024	/* values that make a crowd */

/* Values that pairs among themselves connect. */
typedef struct ShCrowd
{
	uint64_t	center;			/* one of them */
	uint32_t	group;			/* of them all */
	uint32_t	start;			/* where they are in the array "work" */
	uint32_t	n;
} ShCrowd;

/* All values, in the array "work": those in no crowd, then crowd by crowd. */
typedef struct ShCrowds
{
	ShPairs    *pairs;
	int			radius;
	int			reach;			/* from a center to the others of its crowd */
	uint32_t	least;
	uint32_t	alone;			/* values in no crowd */
	uint32_t	count;
	ShCrowd		crowd[SH_CROWDS_MAX];
} ShCrowds;

extern void sh_crowds_begin(ShCrowds *crowds, ShPairs *pairs, int radius,
							uint32_t least);
extern void sh_crowds_find(ShCrowds *crowds);

#endif							/* SH_CROWDS_H */
