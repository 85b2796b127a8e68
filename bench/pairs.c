/*-------------------------------------------------------------------------
 *
 * pairs.c
 *		The engine of all pairs, beside a straight program.
 *
 * usage: pairs ROWS engine|clusters|crowd|straight|bytes|write [K]
 *
 * Nine of ten fingerprints are random, one of ten is another one with up to
 * five bits flipped.  The straight program does what one would write in an
 * afternoon for k = 3: four times, turn the fingerprints by 16 bits, sort
 * them together with their row numbers by the leading 16 bits (one counting
 * sort), compare each with each where those are equal.
 *
 * In a "crowd" all are one fingerprint with up to k bits flipped, so that
 * many are distinct and nearly all near to each other; clusters are made of it.
 *
 * Prints seconds of the processor, and the number of pairs or clusters; or
 * what the engine takes in bytes a row; or the fingerprints, in decimal.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "core/pairs/clusters.h"

/* The processor time that was used so far, in seconds. */
static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static size_t pairs_found;

/* The number of rows that have a fingerprint. */
static size_t
rows_of(const ShPairs *pairs, uint32_t i)
{
	return pairs->first[i + 1] - pairs->first[i];
}

static void
count_pair(void *context, uint32_t a, uint32_t b, int distance)
{
	(void) distance;
	pairs_found += rows_of(context, a) * rows_of(context, b);
}

/* The fingerprint turned so that the given block comes first. */
static inline uint64_t
turn(uint64_t fingerprint, int block)
{
	int			n = SH_BLOCK_BITS * block;

	return n == 0 ? fingerprint
		: fingerprint << n | fingerprint >> (SH_BITS - n);
}

/* Count the pairs within distance 3, block by block. */
static size_t
straight(uint64_t *values, uint32_t n)
{
	struct Row
	{
		uint64_t	value;
		uint32_t	row;
	}		   *sorted = malloc(n * sizeof *sorted);
	uint32_t   *start = malloc(65537 * sizeof *start);
	size_t		found = 0;

	for (int block = 0; block < SH_BLOCKS; block++)
	{
		memset(start, 0, 65537 * sizeof *start);
		for (uint32_t i = 0; i < n; i++)
			start[(turn(values[i], block) >> 48) + 1]++;
		for (int key = 0; key < 65536; key++)
			start[key + 1] += start[key];
		for (uint32_t i = 0; i < n; i++)
		{
			uint64_t	turned = turn(values[i], block);
			struct Row *to = &sorted[start[turned >> 48]++];

			to->value = turned;
			to->row = i;
		}
		for (uint32_t i = 0, end = 0; i < n; i = end)
		{
			uint64_t	key = sorted[i].value >> 48;

			for (end = i; end < n && sorted[end].value >> 48 == key; end++)
			{
				for (uint32_t j = i; j < end; j++)
				{
					uint64_t	x = sorted[j].value ^ sorted[end].value;
					bool		first = true;

					if (__builtin_popcountll(x) > 3)
						continue;
					for (int b = SH_BLOCKS - block; b < SH_BLOCKS; b++)
						first = first && sh_block_key(x, b) != 0;
					found += first;
				}
			}
		}
	}
	free(start);
	free(sorted);
	return found;
}

/* Make up the fingerprints; those of a crowd when it has a radius. */
static uint64_t *
make_values(uint32_t n, int crowd)
{
	uint64_t   *values = malloc(n * sizeof *values);

	random_state = 1;
	for (uint32_t i = 0; i < n; i++)
	{
		values[i] = random_bits();
		if (i > 0 && (crowd > 0 || random_below(10) == 0))
		{
			values[i] = values[crowd > 0 ? 0 : random_below(i)];
			for (uint64_t flips = random_below(crowd > 0 ? crowd + 1 : 6);
				 flips > 0; flips--)
				values[i] ^= UINT64_C(1) << random_below(SH_BITS);
		}
	}
	return values;
}

/* Count the pairs within the radius by the engine; or list the clusters. */
static size_t
engine(uint64_t *values, uint32_t n, int radius, bool clusters)
{
	void	   *memory = malloc(sh_pairs_bytes(n));
	uint32_t   *parent = malloc(n * sizeof *parent);
	ShPairs		pairs;
	ShClusters	found;
	ShCrowds	crowds;

	sh_pairs_begin(&pairs, values, memory, n);
	sh_pairs_collapse(&pairs);
	if (clusters)
	{
		sh_clusters_begin(&found, &pairs, parent);
		sh_crowds_begin(&crowds, &pairs, radius, SH_CROWD_LEAST);
		sh_crowds_find(&crowds);
		sh_clusters_connect_crowds(&found, &crowds);
		sh_pairs_find_beside(&pairs, radius, crowds.alone, sh_clusters_join,
							 &found);
		sh_clusters_list(&found, 2);
		return found.count;
	}
	sh_pairs_find(&pairs, radius, count_pair, &pairs);
	for (uint32_t i = 0; i < pairs.distinct; i++)
	{
		size_t		rows = rows_of(&pairs, i);

		pairs_found += rows * (rows - 1) / 2;
	}
	return pairs_found;
}

int
main(int argc, char **argv)
{
	uint32_t	n = argc > 2 ? (uint32_t) atof(argv[1]) : 0;
	const char *what = argc > 2 ? argv[2] : "";
	int			radius = argc > 3 ? atoi(argv[3]) : 3;
	uint64_t   *values = make_values(n, strcmp(what, "crowd") == 0 ? radius : 0);
	double		begin = now();
	size_t		found;

	if (strcmp(what, "bytes") == 0)
	{
		printf("%.1f\n", (double) sh_pairs_bytes(n) / n + sizeof *values);
		return 0;
	}
	if (strcmp(what, "write") == 0)
	{
		for (uint32_t i = 0; i < n; i++)
			printf("%lld\n", (long long) (int64_t) values[i]);
		return 0;
	}
	if (strcmp(what, "straight") == 0)
		found = straight(values, n);
	else if (strcmp(what, "engine") == 0)
		found = engine(values, n, radius, false);
	else if (strcmp(what, "clusters") == 0 || strcmp(what, "crowd") == 0)
		found = engine(values, n, radius, true);
	else
	{
		fputs("usage: pairs ROWS engine|clusters|crowd|straight|bytes|write "
			  "[K]\n", stderr);
		return 2;
	}
	printf("%.3f %zu\n", now() - begin, found);
	return 0;
}
