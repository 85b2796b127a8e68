/*-------------------------------------------------------------------------
 *
 * clusters.c
 *		Clusters of rows, made from pairs of fingerprints.
 *
 * A cluster is either all that pairs connect, directly or through others, or
 * a star: a center and fingerprints that are near to it.  Stars are made
 * greedily: row by row, a fingerprint that is not a member of a star when its
 * first row comes becomes a center, and takes what is near and not taken yet.
 *
 * Pairs within a crowd (crowds.c) are too many to look at.  For what is
 * connected it is enough that they connect it.  For stars, when a member of a
 * crowd becomes a center, we look for what is near to it then; most of the
 * crowd is taken by the first few.
 *
 * In both the first row of a cluster, in the order of the rows, stands for
 * it: rows with a common fingerprint are ordered, and the center of a star
 * comes before its members.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/clusters.h"

#include <string.h>

#define LOOKS			64		/* from one crowd at another */
#define TICK			((uint32_t) 1 << 22)	/* rows that take a while */
#define LISTED			(UINT32_C(1) << 31) /* more than there are rows */

/* The number that stands for the cluster of a number. */
static uint32_t
cluster_of(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i)
		i = parent[i] = parent[parent[i]];
	return i;
}

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

/* Make the clusters of two fingerprints one. */
static void
join(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = cluster_of(parent, a);
	b = cluster_of(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

/* A pair of fingerprints. */
static void
join_pair(void *context, uint32_t a, uint32_t b, int distance)
{
	ShClusters *clusters = context;

	(void) distance;
	join(clusters->parent, a, b);
}

/*
 * Two crowds may be one cluster.  A few looks from one at the other tell if
 * they lie close; only if these see nothing it is worth searching for all
 * pairs, which are not many then.
 */
static void
join_crowds(ShClusters *clusters, const ShCrowds *crowds, const ShCrowd *a,
			const ShCrowd *b)
{
	ShPairs    *pairs = clusters->pairs;
	uint32_t	one = sh_pairs_number(pairs, a->center);
	uint32_t	other = sh_pairs_number(pairs, b->center);

	if (sh_distance(a->center, b->center) >
		2 * crowds->reach + crowds->radius)
		return;
	for (uint32_t look = 0; look < LOOKS && look < a->n; look++)
	{
		if (cluster_of(clusters->parent, one) ==
			cluster_of(clusters->parent, other))
			return;
		if (pairs->kind->take(pairs->work[a->start + look], crowds->radius,
							  pairs->work + b->start, b->n) > 0)
			join(clusters->parent, one, other);
		sh_pairs_tell(pairs, 1);
	}
	sh_pairs_find_between(pairs, crowds->radius, a->start, a->n, b->start,
						  b->n, join_pair, clusters);
}

/* Put all fingerprints that pairs connect into clusters. */
void
sh_clusters_connect(ShClusters *clusters, ShCrowds *crowds)
{
	ShPairs    *pairs = clusters->pairs;

	sh_crowds_find(crowds);
	for (uint32_t i = 0; i < crowds->count; i++)
	{
		const ShCrowd *crowd = &crowds->crowd[i];
		uint32_t	center = sh_pairs_number(pairs, crowd->center);

		for (uint32_t j = 0; j < crowd->n; j++)
			join(clusters->parent, center,
				 sh_pairs_number(pairs, pairs->work[crowd->start + j]));
	}
	sh_crowds_pairs(crowds, join_pair, clusters);
	for (uint32_t i = 0; i < crowds->count; i++)
	{
		for (uint32_t j = i + 1; j < crowds->count; j++)
			join_crowds(clusters, crowds, &crowds->crowd[i],
						&crowds->crowd[j]);
	}
}

/* --- stars ---------------------------------------------------------------- */

/* The row that comes first of those with a fingerprint. */
static inline uint32_t
first_row(const ShPairs *pairs, uint32_t number)
{
	return pairs->rows[pairs->first[number]];
}

/* Attach a fingerprint to a center, unless it is attached already. */
static void
attach(uint32_t *parent, uint32_t center, uint32_t member)
{
	if (parent[member] == member)
		parent[member] = center;
}

/*
 * A center attaches what is near to it in the crowds.  That is done with, and
 * need not be looked at again.
 */
static void
attach_crowds(ShClusters *clusters, ShCrowds *crowds, uint32_t center)
{
	ShPairs    *pairs = clusters->pairs;
	uint64_t	value = pairs->values[center];

	for (uint32_t i = 0; i < crowds->count; i++)
	{
		ShCrowd    *crowd = &crowds->crowd[i];
		uint64_t   *values = pairs->work + crowd->start;
		uint32_t	near;

		if (sh_distance(value, crowd->center) >
			crowds->reach + crowds->radius)
			continue;
		near = (uint32_t) pairs->kind->take(value, crowds->radius, values,
											crowd->n);
		for (uint32_t j = 0; j < near; j++)
			attach(clusters->parent, center,
				   sh_pairs_number(pairs, values[j]));
		crowd->start += near;
		crowd->n -= near;
	}
	sh_pairs_tell(pairs, 1);
}

/*
 * Make stars.  "next" gives one pair after another, but none within a crowd
 * or between two: the greater half is the first row of one fingerprint, the
 * other half of another that comes later; they are in order.
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

	memset(number, 0xff, pairs->n * sizeof *number);
	memset(crowded, 0, pairs->n / 8 + 4);
	for (uint32_t i = 0; i < pairs->distinct; i++)
		number[first_row(pairs, i)] = i;
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
				attach(parent, center, number[(uint32_t) pair]);
		}
	}
}

/* --- the list ------------------------------------------------------------- */

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

	clusters->number = (uint32_t *) pairs->work;
	clusters->members = clusters->number + pairs->n;
	clusters->ends = size + pairs->n;
	clusters->count = 0;
	memset(size, 0, pairs->distinct * sizeof *size);
	for (uint32_t i = 0; i < pairs->distinct; i++)
	{
		uint32_t	first = pairs->first[i];
		uint32_t	next = pairs->first[i + 1];

		if (i % TICK == 0)
			sh_pairs_tell(pairs, 1);
		size[cluster_of(clusters->parent, i)] += next - first;
		for (uint32_t j = first; j < next; j++)
			clusters->number[pairs->rows[j]] = i;
	}

	/* The size of a listed cluster makes way for where its next row goes. */
	for (uint32_t row = 0; row < pairs->n; row++)
	{
		uint32_t	i = cluster_of(clusters->parent, clusters->number[row]);

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
