/*-------------------------------------------------------------------------
 *
 * unit_pairs.c
 *		Unit tests of pairs and clusters, against brute force.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit_pairs.h"

#include "core/pairs/clusters.h"

/* How rows are in groups; random_group knows what they are. */
enum
{
	NO_GROUPS, FEW_GROUPS, MANY_GROUPS, MEETING, NEIGHBOURS, GROUPINGS
};

static size_t crowds_found;
static size_t groups_met;

/*
 * Put a row into a group.  Its fingerprint may change: with the first hashes
 * groups meet, or do not meet but are near to each other.
 */
static uint32_t
random_group(int grouping, uint64_t *value, uint64_t seed, uint32_t n)
{
	uint32_t	group = (uint32_t) random_below(grouping == MANY_GROUPS
												? n / 2 + 1 : 4);

	if (grouping == NEIGHBOURS)
		*value = (*value & ~UINT64_C(3)) | group;
	if (grouping == MEETING || grouping == NEIGHBOURS)
		*value ^= sh_group_hash(seed, group);
	return group;
}

/* Are two rows a pair? */
static bool
is_pair(const ShPairs *pairs, const uint64_t *original, uint32_t i, uint32_t j,
		int radius)
{
	return sh_distance(original[i], original[j]) <= radius &&
		(pairs->groups == NULL || pairs->groups[i] == pairs->groups[j]);
}

/* The rows are those given, by fingerprint, then in order. */
static void
check_groups(const ShPairs *pairs, const uint64_t *original)
{
	CHECK(pairs->first[0] == 0 && pairs->first[pairs->distinct] == pairs->n);
	for (uint32_t i = 0; i < pairs->distinct; i++)
	{
		CHECK(pairs->first[i] < pairs->first[i + 1]);
		CHECK(i == 0 || pairs->values[i - 1] < pairs->values[i]);
		for (uint32_t j = pairs->first[i]; j < pairs->first[i + 1]; j++)
		{
			uint32_t	row = pairs->rows[j];

			CHECK((pairs->groups == NULL ? original[row] : original[row] ^
				   sh_group_hash(pairs->seed, pairs->groups[row])) ==
				  pairs->values[i]);
			CHECK(sh_pairs_group(pairs, i) ==
				  (pairs->groups == NULL ? 0 : pairs->groups[row]));
			CHECK(j == pairs->first[i] || pairs->rows[j - 1] < row);
		}
	}
}

/* The first row of each row's cluster, by the slow way, into label. */
static void
slow_clusters(const ShPairs *pairs, const uint64_t *original, int radius,
			  bool star, uint32_t *label)
{
	uint32_t	n = pairs->n;

	for (uint32_t i = 0; i < n; i++)
		label[i] = UINT32_MAX;
	for (uint32_t center = 0; center < n; center++)
	{
		bool		grown = true;

		if (label[center] != UINT32_MAX)
			continue;
		label[center] = center;
		while (grown)
		{
			grown = false;
			for (uint32_t i = 0; i < n; i++)
			{
				if (label[i] != UINT32_MAX)
					continue;
				for (uint32_t j = star ? center : 0; j < n; j++)
				{
					if (label[j] == center &&
						is_pair(pairs, original, i, j, radius))
					{
						label[i] = center;
						grown = !star;
						break;
					}
					if (star)
						break;
				}
			}
		}
	}
}

/* The listed clusters are those of the slow way with enough members. */
static void
check_clusters(ShClusters *clusters, const uint64_t *original, int radius,
			   bool star, uint32_t least)
{
	uint32_t	n = clusters->pairs->n;
	uint32_t   *label = malloc((n + 1) * 2 * sizeof *label);
	uint32_t   *size = label + n + 1;
	uint32_t	start = 0;
	uint32_t	last = 0;
	uint32_t	listed = 0;

	sh_clusters_list(clusters, least);
	slow_clusters(clusters->pairs, original, radius, star, label);
	memset(size, 0, n * sizeof *size);
	for (uint32_t i = 0; i < n; i++)
		size[label[i]]++;
	for (uint32_t i = 0; i < n; i++)
		listed += size[i] >= least;
	CHECK(clusters->count == listed);
	for (uint32_t c = 0; c < clusters->count; start = clusters->ends[c++])
	{
		uint32_t	first = clusters->members[start];

		CHECK(c == 0 || first > last);
		last = first;
		CHECK(clusters->ends[c] - start == size[first]);
		for (uint32_t i = start; i < clusters->ends[c]; i++)
		{
			uint32_t	row = clusters->members[i];

			CHECK(label[row] == first);
			CHECK(i == start || clusters->members[i - 1] < row);
			CHECK(sh_distance(clusters->pairs->values[clusters->number[row]],
							  clusters->pairs->values[clusters->number[first]])
				  == sh_distance(original[row], original[first]));
		}
	}
	free(label);
}

/* Put all that pairs connect into clusters. */
static void
connect(ShClusters *clusters, ShCrowds *crowds)
{
	sh_crowds_find(crowds);
	sh_clusters_connect_crowds(clusters, crowds);
	sh_pairs_find_beside(clusters->pairs, crowds->radius, crowds->alone,
						 sh_clusters_join, clusters);
}

/* The next of the pairs that were found, in order. */
static bool
next_pair(void *context, uint64_t *pair)
{
	Found	   *found = context;

	if (found->next == found->count)
		return false;
	*pair = found->pair[found->next++];
	return true;
}

/* Make stars; whoever does so wants the pairs in the order of rows. */
static void
make_stars(ShClusters *clusters, ShPairs *pairs, int radius, uint32_t *parent,
		   uint32_t crowd)
{
	ShCrowds	crowds;
	Found		found;

	memset(&found, 0, sizeof found);
	found.pairs = pairs;
	found.radius = radius;
	sh_clusters_begin(clusters, pairs, parent);
	sh_crowds_begin(&crowds, pairs, radius, crowd);
	sh_crowds_find(&crowds);
	sh_clusters_note_crowds(clusters, &crowds);
	sh_pairs_find_beside(pairs, radius, crowds.alone, note_pair, &found);
	for (size_t i = 0; i < found.count; i++)
	{
		uint32_t	a = pairs->rows[pairs->first[found.pair[i] >> 32]];
		uint32_t	b = pairs->rows[pairs->first[(uint32_t) found.pair[i]]];

		found.pair[i] = a < b ? (uint64_t) a << 32 | b
			: (uint64_t) b << 32 | a;
	}
	sort_pairs(&found);
	sh_clusters_stars(clusters, &crowds, next_pair, &found);
	free(found.pair);
}

/* Clusters of both kinds; what is a crowd is a matter of chance. */
static void
test_clusters(ShPairs *pairs, const uint64_t *original, int radius)
{
	uint32_t   *parent = malloc((pairs->n + 1) * sizeof *parent);
	uint32_t	least = 1 + (uint32_t) random_below(3);
	ShCrowds	crowds;
	ShClusters	clusters;

	sh_clusters_begin(&clusters, pairs, parent);
	sh_crowds_begin(&crowds, pairs, radius, 4 + (uint32_t) random_below(40));
	connect(&clusters, &crowds);
	crowds_found += crowds.count;
	check_clusters(&clusters, original, radius, false, least);
	make_stars(&clusters, pairs, radius, parent,
			   4 + (uint32_t) random_below(40));
	check_clusters(&clusters, original, radius, true, least);
	free(parent);
}

static void
test_groups(int kind, int grouping, int radius, uint32_t n)
{
	uint64_t   *original = malloc((n + 1) * sizeof *original);
	uint32_t   *groups = malloc((n + 1) * sizeof *groups);
	uint64_t	seed = random_bits();
	uint64_t   *values = malloc((n + 1) * sizeof *values);
	void	   *memory = malloc(sh_pairs_bytes(n));
	ShPairs		pairs;
	Found		found;

	for (uint32_t i = 0; i < n; i++)
		original[i] = random_value(kind, original, i, radius);
	for (uint32_t i = 0; i < n; i++)
		groups[i] = random_group(grouping, &original[i], seed, n);
	memcpy(values, original, n * sizeof *values);
	sh_pairs_begin(&pairs, values, memory, n);
	pairs.kind = some_kind();
	pairs.groups = grouping == NO_GROUPS ? NULL : groups;
	pairs.seed = seed;
	sh_pairs_collapse(&pairs);
	check_groups(&pairs, original);
	check_pairs(&pairs, radius, &found);
	if (n <= 300)
		test_clusters(&pairs, original, radius);
	groups_met += pairs.seed != seed;
	free(found.pair);
	free(memory);
	free(values);
	free(groups);
	free(original);
}

static void
test_rows(int kind, int radius, uint32_t n)
{
	test_groups(kind, NO_GROUPS, radius, n);
	test_groups(kind, 1 + (int) random_below(GROUPINGS - 1), radius, n);
}

/* Every kind of data, every radius, a few rows or some thousands. */
static void
test_all_kinds(void)
{
	for (int radius = 0; radius <= SH_PAIRS_RADIUS; radius++)
	{
		for (int kind = 0; kind < KINDS; kind++)
		{
			for (uint32_t n = 0; n < 5; n++)
				test_rows(kind, radius, n);
			test_rows(kind, radius, 100 + (uint32_t) random_below(200));
			test_rows(kind, radius, 500 + (uint32_t) random_below(1000));
		}
	}

	/* Crowds of many shapes: stars and connections within and between. */
	for (int round = 0; round < 200; round++)
		test_rows(round % 2 == 0 ? CROWD : CROWDS, 1 + round % 16,
				  100 + (uint32_t) random_below(200));

	/* So many that the values of two keys are worth another cut. */
	test_rows(SKEWED, 4, 6000);
	test_rows(ONE_BLOCK, 9, 6000);
	test_rows(SPARSE, 3, 6000);
	test_rows(CLUSTERED, 16, 6000);
}

/* What progress says grows from 0 to 1. */
static void
note_progress(void *context, double done)
{
	Found	   *found = context;

	CHECK(done >= 0 && done <= 1);
	CHECK((int) (done * 1000) >= found->last);
	found->last = (int) (done * 1000);
}

static void
ignore_pair(void *context, uint32_t a, uint32_t b, int distance)
{
	(void) context;
	CHECK(a != b && distance > 0);
}

/* A hundred thousand rows: splits in several steps, progress. */
static void
test_many(int kind, int radius)
{
	uint32_t	n = 100000;
	uint64_t   *values = malloc(n * sizeof *values);
	void	   *memory = malloc(sh_pairs_bytes(n));
	ShPairs		pairs;
	Found		found;

	for (uint32_t i = 0; i < n; i++)
		values[i] = random_value(kind, values, i, radius);
	sh_pairs_begin(&pairs, values, memory, n);
	memset(&found, 0, sizeof found);
	pairs.progress = note_progress;
	pairs.progress_context = &found;
	sh_pairs_collapse(&pairs);
	sh_pairs_find(&pairs, radius, ignore_pair, &found);
	CHECK(radius < 8 || found.last > 500);
	free(memory);
	free(values);
}

/* A crowd that pairs would take hours to list is connected, one cluster. */
static void
test_crowd(void)
{
	uint32_t	n = 300000;
	uint64_t   *values = malloc(n * sizeof *values);
	uint32_t   *parent = malloc(n * sizeof *parent);
	void	   *memory = malloc(sh_pairs_bytes(n));
	ShPairs		pairs;
	ShCrowds	crowds;
	ShClusters	clusters;

	for (uint32_t i = 0; i < n; i++)
		values[i] = random_value(CROWD, NULL, i, 7);
	sh_pairs_begin(&pairs, values, memory, n);
	sh_pairs_collapse(&pairs);
	CHECK(pairs.distinct > 100000);
	sh_clusters_begin(&clusters, &pairs, parent);
	sh_crowds_begin(&crowds, &pairs, 8, SH_CROWD_LEAST);
	connect(&clusters, &crowds);
	CHECK(crowds.count > 0);
	sh_clusters_list(&clusters, 1);
	CHECK(clusters.count == 1);
	free(memory);
	free(parent);
	free(values);
}

/*
 * Crowds beside so many others that the search sorts their members: each is a
 * cluster of its own, and its stars are as if it were alone.
 */
static void
test_crowds_beside(void)
{
	uint32_t	n = 20000;
	int			radius = 6;
	uint64_t   *values = malloc(n * sizeof *values);
	uint64_t   *original = malloc(n * sizeof *original);
	uint32_t   *parent = malloc(n * sizeof *parent);
	uint32_t   *label = malloc(n * sizeof *label);
	void	   *memory = malloc(sh_pairs_bytes(n));
	uint64_t	centers[3] = {random_bits(), random_bits(), random_bits()};
	ShPairs		pairs;
	ShCrowds	crowds;
	ShClusters	clusters;

	for (uint32_t i = 0; i < n; i++)
		values[i] = i % 2 == 0 ? random_bits() : centers[i / 2 % 3] ^
			random_flips((int) random_below(6));
	memcpy(original, values, n * sizeof *values);
	sh_pairs_begin(&pairs, values, memory, n);
	sh_pairs_collapse(&pairs);
	sh_clusters_begin(&clusters, &pairs, parent);
	sh_crowds_begin(&crowds, &pairs, radius, SH_CROWD_LEAST);
	connect(&clusters, &crowds);
	CHECK(crowds.count == 3);
	sh_clusters_list(&clusters, 2);
	CHECK(clusters.count == 3);

	make_stars(&clusters, &pairs, radius, parent, SH_CROWD_LEAST);
	sh_clusters_list(&clusters, 1);
	for (uint32_t i = 0; i < n; i++)
		label[i] = UINT32_MAX;
	for (uint32_t c = 0, i = 0; c < clusters.count; c++)
	{
		uint32_t	center = clusters.members[i];

		for (; i < clusters.ends[c]; i++)
		{
			CHECK(sh_distance(original[clusters.members[i]],
							  original[center]) <= radius);
			label[clusters.members[i]] = center;
		}
	}
	for (uint32_t row = 0; row < n; row++)
	{
		uint32_t	i = 1;

		/* Only rows of crowds are near to each other. */
		while (row % 2 == 1 && i < row &&
			   (label[i] != i ||
				sh_distance(original[row], original[i]) > radius))
			i += 2;
		CHECK(label[row] == (row % 2 == 1 && i < row ? i : row));
	}
	free(memory);
	free(label);
	free(parent);
	free(original);
	free(values);
}

int
main(void)
{
	seed_random();
	test_all_kinds();
	test_many(UNIFORM, 3);
	test_many(LOW_HALF, 3);
	test_many(UNIFORM, 10);
	test_many(ONE_BLOCK, 4);
	test_crowd();
	test_crowds_beside();
	printf("%zu crowds, groups met %zu times\n", crowds_found, groups_met);
	CHECK(crowds_found > 100 && groups_met > 20);
	return 0;
}
