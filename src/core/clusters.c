/*-------------------------------------------------------------------------
 *
 * clusters.c
 *		Clusters of rows, made from pairs of fingerprints.
 *
 * A cluster is either all that pairs connect, directly or through others, or
 * a star: a center and fingerprints that are near to it.  Stars are made
 * greedily.  When the pairs come in the order of their first rows, then of
 * their second rows, a fingerprint that is not a member of a star when it
 * comes first becomes a center, and takes what is near and not taken yet.
 *
 * In both the first row of a cluster, in the order of the rows, stands for
 * it: rows with a common fingerprint are ordered, and the center of a star
 * comes before its members.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters.h"

#include <string.h>

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

/* Make the clusters of two fingerprints one. */
void
sh_clusters_join(ShClusters *clusters, uint32_t a, uint32_t b)
{
	uint32_t   *parent = clusters->parent;

	a = cluster_of(parent, a);
	b = cluster_of(parent, b);
	if (a < b)
		parent[b] = a;
	else
		parent[a] = b;
}

/*
 * Attach a fingerprint to the star of another, unless either is a member of a
 * star already.  To be called in the order described above.
 */
void
sh_clusters_attach(ShClusters *clusters, uint32_t center, uint32_t member)
{
	uint32_t   *parent = clusters->parent;

	if (parent[center] == center && parent[member] == member)
		parent[member] = center;
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

	clusters->number = (uint32_t *) pairs->work;
	clusters->members = clusters->number + pairs->n;
	clusters->ends = size + pairs->n;
	clusters->count = 0;
	memset(size, 0, pairs->distinct * sizeof *size);
	for (uint32_t i = 0; i < pairs->distinct; i++)
	{
		uint32_t	first = pairs->first[i];
		uint32_t	next = pairs->first[i + 1];

		size[cluster_of(clusters->parent, i)] += next - first;
		for (uint32_t j = first; j < next; j++)
			clusters->number[pairs->rows[j]] = i;
	}

	/* The size of a listed cluster makes way for where its next row goes. */
	for (uint32_t row = 0; row < pairs->n; row++)
	{
		uint32_t	i = cluster_of(clusters->parent, clusters->number[row]);

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
