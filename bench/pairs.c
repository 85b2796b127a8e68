/*-------------------------------------------------------------------------
 *
 * pairs.c
 *		The engine of all pairs, beside a straight program.
 *
 * usage: pairs ROWS K [straight]
 *
 * Nine of ten fingerprints are random, one of ten is another one with up to
 * five bits flipped.  The straight program does what one would write in an
 * afternoon for k = 3: four times, turn the fingerprints by 16 bits, sort
 * them together with their row numbers by the leading 16 bits (one counting
 * sort), compare each with each where those are equal.  Prints seconds.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "clusters.h"

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
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

static void
join_pair(void *context, uint32_t a, uint32_t b, int distance)
{
	(void) distance;
	sh_clusters_join(context, a, b);
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
			start[(sh_rotate(values[i], block) >> 48) + 1]++;
		for (int key = 0; key < 65536; key++)
			start[key + 1] += start[key];
		for (uint32_t i = 0; i < n; i++)
		{
			uint64_t	turned = sh_rotate(values[i], block);
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

int
main(int argc, char **argv)
{
	uint32_t	n = argc > 1 ? (uint32_t) atof(argv[1]) : 1000000;
	int			radius = argc > 2 ? atoi(argv[2]) : 3;
	uint64_t   *values = malloc(n * sizeof *values);
	uint32_t   *parent = malloc(n * sizeof *parent);
	void	   *memory = malloc(sh_pairs_bytes(n));
	ShPairs		pairs;
	ShClusters	clusters;
	double		begin,
				grouped,
				searched;
	size_t		equal = 0;

	random_state = 1;
	for (uint32_t i = 0; i < n; i++)
	{
		values[i] = random_bits();
		if (i > 0 && random_below(10) == 0)
		{
			values[i] = values[random_below(i)];
			for (uint64_t flips = random_below(6); flips > 0; flips--)
				values[i] ^= UINT64_C(1) << random_below(SH_BITS);
		}
	}
	if (argc > 3)
	{
		begin = now();
		pairs_found = straight(values, n);
		printf("%u rows, k = %d: straight %.2f s, %zu pairs\n", n, radius,
			   now() - begin, pairs_found);
		return 0;
	}
	memset(memory, 0, sh_pairs_bytes(n));
	begin = now();
	sh_pairs_begin(&pairs, values, memory, n);
	sh_pairs_group(&pairs);
	grouped = now();
	sh_pairs_find(&pairs, radius, count_pair, &pairs);
	searched = now();
	for (uint32_t i = 0; i < pairs.distinct; i++)
	{
		size_t		rows = rows_of(&pairs, i);

		equal += rows * (rows - 1) / 2;
	}
	printf("%u rows, k = %d: group %.2f s, search %.2f s, %zu pairs, "
		   "%.1f bytes a row\n", n, radius, grouped - begin,
		   searched - grouped, pairs_found + equal,
		   (double) sh_pairs_bytes(n) / n + sizeof *values);
	sh_clusters_begin(&clusters, &pairs, parent);
	begin = now();
	sh_pairs_find(&pairs, radius, join_pair, &clusters);
	sh_clusters_list(&clusters, 2);
	printf("%u rows, k = %d: clusters %.2f s more than grouping, %u clusters\n",
		   n, radius, now() - begin, clusters.count);
	return 0;
}
