/*-------------------------------------------------------------------------
 *
 * clusters.c
 *		Makes clusters of rows from the pairs of their fingerprints.
 *
 * There are two kinds.  For example, the rows 1, 2 and 3, in this order, have
 * fingerprints of which 1 and 2 are within the radius, and 2 and 3, but not 1
 * and 3.
 *
 *	- Connected: a cluster is all that pairs connect, directly or through
 *	  others. 1, 2 and 3 are a cluster.
 *	- Stars: a cluster is a center and fingerprints within the radius of it.
 *	  Rows are taken in their order.  If the fingerprint of a row belongs to no
 *	  star yet, it becomes the center of one, and attaches all fingerprints
 *	  within the radius that belong to no star yet.  1 attaches 2; 3 is alone.
 *
 * The first row of a cluster, in the order of the rows, represents it.  In a
 * star that is the first row of the center's fingerprint.
 *
 * A crowd (crowds.c) has too many pairs to look at.  To connect its members it
 * is enough to know that they are a crowd.  For stars, the pairs of a member
 * are searched when it becomes a center; since its first few centers attach
 * most of a crowd, few members become one.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/clusters.h"

#include <string.h>

#define LOOKS			64		/* members of a crowd compared with another */
#define TICK			((uint32_t) 1 << 22)	/* rows that take a while */
#define LISTED			(UINT32_C(1) << 31) /* more than there are rows */

/* Begin with each fingerprint in a cluster of its own. */
void
sh_clusters_begin(ShClusters *clusters, ShPairs *pairs, uint32_t *parent)
{
	memset(clusters, 0, sizeof *clusters);
	clusters->pairs = pairs;
	clusters->parent = parent;
	for (uint32_t i = 0; i < pairs->distinct; i++)
		parent[i] = i;
}

/* --- what pairs connect --------------------------------------------------- */

/* A pair of fingerprints: make their clusters one. */
void
sh_clusters_join(void *context, uint32_t a, uint32_t b, int distance)
{
	ShClusters *clusters = context;

	(void) distance;
	sh_join(clusters->parent, a, b);
}

/*
 * Make two crowds one cluster if a pair connects them.  First LOOKS members of
 * one are compared with the whole of the other, which finds a pair if there
 * are many.  If that finds none, there are so few pairs that a search for all
 * of them is fast.
 */
static void
join_crowds(ShClusters *clusters, const ShCrowds *crowds, const ShCrowd *a,
			const ShCrowd *b)
{
	ShPairs    *pairs = clusters->pairs;
	uint32_t	one = sh_pairs_number(pairs, a->center);
	uint32_t	other = sh_pairs_number(pairs, b->center);

	if (a->group != b->group || sh_distance(a->center, b->center) >
		2 * crowds->reach + crowds->radius)
		return;
	for (uint32_t look = 0; look < LOOKS && look < a->n; look++)
	{
		if (sh_cluster_of(clusters->parent, one) ==
			sh_cluster_of(clusters->parent, other))
			return;
		if (sh_take_near(pairs->work[a->start + look], crowds->radius,
						 pairs->work + b->start, b->n) > 0)
			sh_join(clusters->parent, one, other);
		sh_pairs_tell(pairs, 1);
	}
	sh_pairs_find_between(pairs, crowds->radius, a->start, a->n, b->start,
						  b->n, sh_clusters_join, clusters);
}

/*
 * Put the members of crowds into clusters, and crowds that a pair connects.  It
 * remains to join other pairs; the search for these mixes the members.
 */
void
sh_clusters_connect_crowds(ShClusters *clusters, const ShCrowds *crowds)
{
	ShPairs    *pairs = clusters->pairs;

	for (uint32_t i = 0; i < crowds->count; i++)
	{
		const ShCrowd *crowd = &crowds->crowd[i];
		uint32_t	center = sh_pairs_number(pairs, crowd->center);

		for (uint32_t j = 0; j < crowd->n; j++)
			sh_join(clusters->parent, center,
					sh_pairs_number(pairs, pairs->work[crowd->start + j]));
	}
	for (uint32_t i = 0; i < crowds->count; i++)
	{
		for (uint32_t j = i + 1; j < crowds->count; j++)
			join_crowds(clusters, crowds, &crowds->crowd[i],
						&crowds->crowd[j]);
	}
}

/* --- stars ---------------------------------------------------------------- */

/*
 * Note in "parent", which stars do not need yet, to which crowd each member
 * belongs.  The search for pairs will mix them.
 */
void
sh_clusters_note_crowds(ShClusters *clusters, const ShCrowds *crowds)
{
	ShPairs    *pairs = clusters->pairs;

	for (uint32_t i = 0; i < crowds->count; i++)
	{
		const ShCrowd *crowd = &crowds->crowd[i];

		for (uint32_t j = crowd->start; j < crowd->start + crowd->n; j++)
			clusters->parent[sh_pairs_number(pairs, pairs->work[j])] = i;
	}
}

/* Bring the members back to their crowds, and make "parent" what it was. */
static void
restore_crowds(ShClusters *clusters, const ShCrowds *crowds)
{
	ShPairs    *pairs = clusters->pairs;
	uint32_t	next[SH_CROWDS_MAX];

	for (uint32_t i = 0; i < crowds->count; i++)
		next[i] = crowds->crowd[i].start;
	for (uint32_t i = crowds->alone; i < pairs->distinct; i++)
	{
		uint32_t	member = sh_pairs_number(pairs, pairs->work[i]);

		pairs->spare[next[clusters->parent[member]]++] = pairs->work[i];
		clusters->parent[member] = member;
	}
	memcpy(pairs->work + crowds->alone, pairs->spare + crowds->alone,
		   (pairs->distinct - crowds->alone) * sizeof *pairs->work);
}

/* Attach a fingerprint to a center, unless it is attached already. */
static void
attach_to_star(uint32_t *parent, uint32_t center, uint32_t member)
{
	if (parent[member] == member)
		parent[member] = center;
}

/*
 * Attach to a center the fingerprints of crowds that are within the radius,
 * and take them out of their crowds: they belong to a star from now on.
 */
static void
attach_crowds(ShClusters *clusters, ShCrowds *crowds, uint32_t center)
{
	ShPairs    *pairs = clusters->pairs;
	uint64_t	value = pairs->values[center];
	uint32_t	group = sh_pairs_group(pairs, center);

	for (uint32_t i = 0; i < crowds->count; i++)
	{
		ShCrowd    *crowd = &crowds->crowd[i];
		uint64_t   *values = pairs->work + crowd->start;
		uint32_t	near;

		if (crowd->group != group || sh_distance(value, crowd->center) >
			crowds->reach + crowds->radius)
			continue;
		near = (uint32_t) sh_take_near(value, crowds->radius, values,
									   crowd->n);
		for (uint32_t j = 0; j < near; j++)
			attach_to_star(clusters->parent, center,
						   sh_pairs_number(pairs, values[j]));
		crowd->start += near;
		crowd->n -= near;
	}
	sh_pairs_tell(pairs, 1);
}

/*
 * Make stars, once crowds have been noted and pairs sought.  "next" returns one
 * pair after another, in ascending order, but none of two fingerprints that are
 * both in crowds.  The upper 32 bits of a pair are the first row of a
 * fingerprint, the lower 32 bits that of the other fingerprint, which comes
 * later.
 */
void
sh_clusters_stars(ShClusters *clusters, ShCrowds *crowds,
				  bool (*next) (void *context, uint64_t *pair), void *context)
{
	ShPairs    *pairs = clusters->pairs;
	uint32_t   *parent = clusters->parent;
	uint32_t   *number = (uint32_t *) pairs->spare;
	uint32_t   *crowded = number + pairs->n;	/* a bit a fingerprint */
	uint64_t	pair;
	bool		more = next(context, &pair);

	restore_crowds(clusters, crowds);
	memset(number, 0xff, pairs->n * sizeof *number);
	memset(crowded, 0, pairs->n / 8 + 4);
	for (uint32_t i = 0; i < pairs->distinct; i++)
		number[sh_pairs_first_row(pairs, i)] = i;
	for (uint32_t i = crowds->alone; i < pairs->distinct; i++)
	{
		uint32_t	member = sh_pairs_number(pairs, pairs->work[i]);

		crowded[member / 32] |= UINT32_C(1) << member % 32;
	}
	for (uint32_t row = 0; row < pairs->n; row++)
	{
		uint32_t	center = number[row];
		bool		is_center = center != UINT32_MAX &&
		parent[center] == center;

		if (is_center && crowds->count > 0 &&
			(crowded[center / 32] >> center % 32 & 1))
			attach_crowds(clusters, crowds, center);
		for (; more && pair >> 32 == row; more = next(context, &pair))
		{
			if (is_center)
				attach_to_star(parent, center, number[(uint32_t) pair]);
		}
	}
}

/* --- the list ------------------------------------------------------------- */

/* The root of the cluster of a row: a fingerprint, or a row if of_rows. */
static inline uint32_t
cluster_of_row(const ShClusters *clusters, uint32_t row)
{
	return sh_cluster_of(clusters->parent, clusters->of_rows ? row
						 : clusters->number[row]);
}

/*
 * List the clusters with at least so many rows, by their first row.  Uses the
 * memory that pairs work in.
 */
void
sh_clusters_list(ShClusters *clusters, uint32_t least)
{
	ShPairs    *pairs = clusters->pairs;
	uint32_t   *size = (uint32_t *) pairs->spare;
	uint32_t	end = 0;

	clusters->number = sh_pairs_number_rows(pairs);
	clusters->members = clusters->number + pairs->n;
	clusters->ends = size + pairs->n;
	clusters->count = 0;
	memset(size, 0, pairs->n * sizeof *size);
	for (uint32_t row = 0; row < pairs->n; row++)
	{
		if (row % TICK == 0)
			sh_pairs_tell(pairs, 1);
		size[cluster_of_row(clusters, row)]++;
	}

	/*
	 * When the first row of a cluster comes, its size is known and no longer
	 * needed.  From then on size[i] is where the next row goes, with LISTED.
	 */
	for (uint32_t row = 0; row < pairs->n; row++)
	{
		uint32_t	i = cluster_of_row(clusters, row);

		if (row % TICK == 0)
			sh_pairs_tell(pairs, 1);
		if (size[i] < LISTED)
		{
			uint32_t	start = end;

			if (size[i] < least)
				continue;
			end += size[i];
			clusters->ends[clusters->count++] = end;
			size[i] = LISTED | start;
		}
		clusters->members[size[i]++ & ~LISTED] = row;
	}
}
