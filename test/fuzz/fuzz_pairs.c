/*-------------------------------------------------------------------------
 *
 * fuzz_pairs.c
 *		Any fingerprints: all pairs, and clusters.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "core/pairs/clusters.h"

#define ROWS_MAX	200

static uint64_t original[ROWS_MAX];
static uint32_t groups[ROWS_MAX];
static uint32_t n;
static int	radius;
static bool grouped;

/* How often each two rows have been found, a below b. */
static uint8_t found[ROWS_MAX][ROWS_MAX];

/* Rows, each anything or some bits from the one before. */
static void
take_rows(Input * input)
{
	for (n = 0; n < ROWS_MAX && input->left > 0; n++)
	{
		uint64_t	how = take(input, 1);
		int			flips = (int) (how % 16);

		original[n] = n == 0 || flips == 15 ? take(input, 8)
			: original[n - 1 - how / 16 % n];
		while (flips < 15 && flips-- > 0)
			original[n] ^= UINT64_C(1) << take(input, 1) % 64;
		groups[n] = grouped ? (uint32_t) take(input, 1) % 4 : 0;
	}
}

/* ShPairSink: note which rows they are. */
static void
note(void *context, uint32_t a, uint32_t b, int distance)
{
	const ShPairs *pairs = context;

	CHECK(a < pairs->distinct && b < pairs->distinct && a != b);
	CHECK(distance == sh_distance(pairs->values[a], pairs->values[b]));
	for (uint32_t i = pairs->first[a]; i < pairs->first[a + 1]; i++)
	{
		for (uint32_t j = pairs->first[b]; j < pairs->first[b + 1]; j++)
		{
			uint32_t	x = pairs->rows[i];
			uint32_t	y = pairs->rows[j];

			found[x < y ? x : y][x < y ? y : x]++;
		}
	}
}

/* Are two rows a pair? */
static bool
is_pair(uint32_t a, uint32_t b)
{
	return groups[a] == groups[b] &&
		sh_distance(original[a], original[b]) <= radius;
}

/* Each pair once; rows with the same fingerprint are collapsed. */
static void
check_pairs(ShPairs *pairs)
{
	memset(found, 0, sizeof found);
	sh_pairs_find(pairs, radius, note, pairs);
	for (uint32_t a = 0; a < n; a++)
	{
		for (uint32_t b = a + 1; b < n; b++)
			CHECK(found[a][b] == (is_pair(a, b) &&
								  original[a] != original[b]));
	}
}

/* The least row that pairs connect with a row. */
static void
label_rows(uint32_t *label)
{
	bool		changed = true;

	for (uint32_t i = 0; i < n; i++)
		label[i] = i;
	while (changed)
	{
		changed = false;
		for (uint32_t a = 0; a < n; a++)
		{
			for (uint32_t b = 0; b < n; b++)
			{
				if (label[b] < label[a] && is_pair(a, b))
				{
					label[a] = label[b];
					changed = true;
				}
			}
		}
	}
}

/* Connected clusters, with crowds or without. */
static void
check_clusters(ShPairs *pairs, uint32_t crowd)
{
	uint32_t	parent[ROWS_MAX + 1];
	uint32_t	label[ROWS_MAX];
	uint32_t	start = 0;
	ShClusters	clusters;
	ShCrowds	crowds;

	sh_clusters_begin(&clusters, pairs, parent);
	sh_crowds_begin(&crowds, pairs, radius, crowd);
	sh_crowds_find(&crowds);
	sh_clusters_connect_crowds(&clusters, &crowds);
	sh_pairs_find_beside(pairs, radius, crowds.alone, sh_clusters_join,
						 &clusters);
	sh_clusters_list(&clusters, 1);
	label_rows(label);
	for (uint32_t c = 0; c < clusters.count; start = clusters.ends[c++])
	{
		uint32_t	size = 0;

		for (uint32_t i = start; i < clusters.ends[c]; i++)
			CHECK(label[clusters.members[i]] == clusters.members[start]);
		for (uint32_t i = 0; i < n; i++)
			size += label[i] == clusters.members[start];
		CHECK(size == clusters.ends[c] - start);
	}
	CHECK(start == n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	Input		input = {bytes, length};
	uint64_t	values[ROWS_MAX + 1];
	int			kind = take_between(&input, 0, sh_compare_kinds_count - 1);
	uint32_t	crowd = (uint32_t) take_between(&input, 4, 60);
	void	   *memory;
	ShPairs		pairs;

	radius = take_between(&input, 0, SH_PAIRS_RADIUS);
	grouped = take(&input, 1) % 2 == 1;
	take_rows(&input);
	memcpy(values, original, sizeof original);
	memory = malloc(sh_pairs_bytes(n));
	sh_pairs_begin(&pairs, values, memory, n);
	if (sh_compare_kinds[kind].usable())
		pairs.kind = &sh_compare_kinds[kind];
	pairs.groups = grouped ? groups : NULL;
	sh_pairs_collapse(&pairs);
	check_pairs(&pairs);
	check_clusters(&pairs, crowd);
	free(memory);
	return 0;
}
