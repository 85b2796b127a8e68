/*-------------------------------------------------------------------------
 *
 * unit_pairs.c
 *		Unit tests of pairs and clusters, against brute force.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "core/pairs/clusters.h"
#include "core/pairs/parts.h"

/* The kinds of data; random_value knows what they are. */
enum
{
	UNIFORM, CLUSTERED, EQUAL, LOW_HALF, ONE_BLOCK, SPARSE, FEW_BITS, SKEWED,
	CROWD, CROWDS, KINDS
};

/* How rows are in groups; random_group knows what they are. */
enum
{
	NO_GROUPS, FEW_GROUPS, MANY_GROUPS, MEETING, NEIGHBOURS, GROUPINGS
};

/* What a search reports. */
typedef struct Found
{
	const ShPairs *pairs;
	int			radius;
	size_t		count;
	size_t		room;
	uint64_t   *pair;
	size_t		next;			/* pair to hand out */
	int			last;			/* the last progress told, of 1000 */
}			Found;

static size_t crowds_found;
static size_t groups_met;

static uint64_t
random_flips(int n)
{
	uint64_t	flips = 0;

	while (n-- > 0)
		flips |= UINT64_C(1) << random_below(SH_BITS);
	return flips;
}

static uint64_t
random_value(int kind, const uint64_t *values, size_t i, int radius)
{
	uint64_t	value = random_bits();

	switch (kind)
	{
		case CLUSTERED:
			return i == 0 || random_below(4) == 0 ? value
				: values[random_below(i)] ^
				random_flips((int) random_below((uint64_t) radius + 3));
		case EQUAL:
			return UINT64_C(0x0123456789abcdef);
		case LOW_HALF:
			return value >> 32;
		case ONE_BLOCK:
			return value & ~(UINT64_C(0xffff) << 16 * (radius % 4));
		case SPARSE:
			return value & random_bits() & random_bits() & random_bits();
		case FEW_BITS:
			return value & UINT64_C(0x8001000420001081);
		case SKEWED:
			return random_below(3) == 0 ? value
				: (value & UINT64_C(0x00000ffff0000000)) | random_flips(1);
		case CROWD:
			return UINT64_C(0x0123456789abcdef) ^
				random_flips((int) random_below((uint64_t) radius + 2));
		case CROWDS:
			return random_below(8) == 0 ? value
				: (random_below(4) << 30) * 0x10204081u ^
				random_flips((int) random_below((uint64_t) radius + 2));
		default:
			return value;
	}
}

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

static void
note_pair(void *context, uint32_t a, uint32_t b, int distance)
{
	Found	   *found = context;
	const uint64_t *values = found->pairs->values;

	CHECK(a < found->pairs->distinct && b < found->pairs->distinct);
	CHECK(distance == sh_distance(values[a], values[b]));
	CHECK(distance > 0 && distance <= found->radius);
	if (found->count == found->room)
	{
		found->room = found->room * 2 + 64;
		found->pair = realloc(found->pair,
							  found->room * sizeof *found->pair);
	}
	found->pair[found->count++] = a < b ? (uint64_t) a << 32 | b
		: (uint64_t) b << 32 | a;
}

static int
compare_keys(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
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

/* Exactly the pairs that brute force finds, each once. */
static void
check_pairs(ShPairs *pairs, int radius, Found * found)
{
	size_t		count = 0;

	memset(found, 0, sizeof *found);
	found->pairs = pairs;
	found->radius = radius;
	sh_pairs_find(pairs, radius, note_pair, found);
	if (found->count > 0)
		qsort(found->pair, found->count, sizeof *found->pair, compare_keys);
	for (uint32_t a = 0; a < pairs->distinct; a++)
	{
		for (uint32_t b = a + 1; b < pairs->distinct; b++)
		{
			if (sh_distance(pairs->values[a], pairs->values[b]) > radius ||
				sh_pairs_group(pairs, a) != sh_pairs_group(pairs, b))
				continue;
			CHECK(count < found->count);
			CHECK(found->pair[count] == ((uint64_t) a << 32 | b));
			count++;
		}
	}
	CHECK(count == found->count);
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
	if (found.count > 0)
		qsort(found.pair, found.count, sizeof *found.pair, compare_keys);
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

/* Some instructions that can be used here. */
static const ShCompareKind *
some_kind(void)
{
	const ShCompareKind *kind;

	do
	{
		kind = &sh_compare_kinds[random_below((uint64_t)
											  sh_compare_kinds_count)];
	} while (!kind->usable());
	return kind;
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

/* Hands out parts to one of several processes: those that hash to it. */
typedef struct Share
{
	uint32_t	process;
	uint32_t	processes;
	uint32_t	next[2 * (SH_PAIRS_RADIUS + 1)];
}			Share;

static uint32_t
next_share(void *context, int step)
{
	Share	   *share = context;
	uint32_t	part;

	CHECK(step >= 0 && step < 2 * (SH_PAIRS_RADIUS + 1));
	do
		part = share->next[step]++;
	while (sh_group_hash((uint64_t) step, part) % share->processes !=
		   share->process);
	return part;
}

/* Several processes find together what one finds alone, each pair once. */
static void
test_sharing(int kind, int radius, uint32_t n)
{
	uint64_t   *values = malloc((n + 1) * sizeof *values);
	void	   *memory = malloc(sh_pairs_bytes(n));
	ShPairs		pairs;
	ShCrowds	crowds;
	Found		alone = {0};
	Found		shared = {0};
	Share		share = {0};

	for (uint32_t i = 0; i < n; i++)
		values[i] = random_value(kind, values, i, radius);
	sh_pairs_begin(&pairs, values, memory, n);
	sh_pairs_collapse(&pairs);
	sh_crowds_begin(&crowds, &pairs, radius, 300);
	sh_crowds_find(&crowds);
	alone.pairs = shared.pairs = &pairs;
	alone.radius = shared.radius = radius;
	share.processes = 1 + (uint32_t) random_below(4);
	for (; share.process < share.processes; share.process++)
	{
		void	   *own = malloc(sh_pairs_helper_bytes(n));
		ShPairs		helper;

		sh_pairs_help(&helper, &pairs, values, memory, own);
		memset(share.next, 0, sizeof share.next);
		helper.next_part = next_share;
		helper.part_context = &share;
		sh_pairs_find_beside(&helper, radius, crowds.alone, note_pair,
							 &shared);
		free(own);
	}
	sh_pairs_find_beside(&pairs, radius, crowds.alone, note_pair, &alone);
	CHECK(alone.count == shared.count);
	if (alone.count > 0)
	{
		qsort(alone.pair, alone.count, sizeof *alone.pair, compare_keys);
		qsort(shared.pair, shared.count, sizeof *shared.pair, compare_keys);
		CHECK(memcmp(alone.pair, shared.pair,
					 alone.count * sizeof *alone.pair) == 0);
	}
	free(alone.pair);
	free(shared.pair);
	free(memory);
	free(values);
}

/* The pairs of two parts of a block, or of one; into found. */
static void
find_in_parts(Found * found, const ShPairPlan *plan, int block, int prefix,
			  const uint32_t *part)
{
	const ShPairs *all = found->pairs;
	uint32_t	width = (uint32_t) (plan->block[block].width - prefix);
	uint64_t   *values = malloc((all->distinct + 1) * sizeof *values);
	void	   *memory = malloc(sh_pairs_bytes(all->distinct));
	uint32_t   *ends = malloc(2 * sizeof *ends << width);
	uint32_t	n = 0;
	uint32_t	of_first = 0;
	Found		some = {0};
	ShPairPlan	turned;
	int			by = sh_turn_plan(plan, block, &turned);
	ShPairs		pairs;

	if (random_below(4) == 0)
	{
		by = 0;
		turned = *plan;
	}
	for (uint32_t i = 0; i < all->distinct; i++)
	{
		uint64_t	value = sh_turn(all->values[i], by);
		uint32_t	at = sh_part_of(value, &turned.block[block], prefix);

		CHECK(at == sh_part_of(all->values[i], &plan->block[block], prefix));
		if (at == part[0] || at == part[1])
			values[n++] = value;
		of_first += at == part[0];
	}
	if (part[0] != part[1] && (of_first == 0 || of_first == n))
		n = 0;
	sh_pairs_begin(&pairs, values, memory, n);
	pairs.kind = some_kind();
	sh_pairs_collapse(&pairs);
	sh_pairs_begin_search(&pairs);
	some.pairs = &pairs;
	some.radius = found->radius;
	sh_pairs_find_in_parts(&pairs, &turned, block, prefix, found->radius,
						   ends, note_pair, &some);
	for (size_t i = 0; i < some.count; i++)
	{
		int			back = (SH_BITS - by) % SH_BITS;
		uint64_t	a = sh_turn(pairs.values[some.pair[i] >> 32], back);
		uint64_t	b = sh_turn(pairs.values[(uint32_t) some.pair[i]], back);

		note_pair(found, sh_pairs_number(all, a), sh_pairs_number(all, b),
				  sh_distance(a, b));
	}
	free(some.pair);
	free(ends);
	free(memory);
	free(values);
}

/* A search by parts finds what one in memory does, each pair once. */
static void
test_parts(int kind, int radius, uint32_t n)
{
	uint64_t   *values = malloc((n + 1) * sizeof *values);
	void	   *memory = malloc(sh_pairs_bytes(n));
	uint64_t	bits = 0;
	Found		parts = {0};
	ShPairPlan	plan;
	ShPairs		pairs;
	Found		found;

	for (uint32_t i = 0; i < n; i++)
	{
		values[i] = random_value(kind, values, i, radius);
		bits |= values[i] ^ values[0];
	}
	sh_pairs_begin(&pairs, values, memory, n);
	sh_pairs_collapse(&pairs);
	check_pairs(&pairs, radius, &found);
	parts.pairs = &pairs;
	parts.radius = radius;
	sh_pairs_plan_parts(&plan, bits, n, radius);
	for (int block = 0; block < plan.blocks; block++)
	{
		int			width = plan.block[block].width;
		int			prefix = (int) random_below(width < 4 ? width + 1u : 5);
		uint32_t	part[2];

		for (part[0] = 0; part[0] < UINT32_C(1) << prefix; part[0]++)
		{
			for (part[1] = 0; part[1] <= part[0]; part[1]++)
			{
				if (sh_parts_meet(&plan.block[block], part[0], part[1]))
					find_in_parts(&parts, &plan, block, prefix, part);
			}
		}
	}
	CHECK(parts.count == found.count);
	if (parts.count > 0)
	{
		qsort(parts.pair, parts.count, sizeof *parts.pair, compare_keys);
		CHECK(memcmp(parts.pair, found.pair,
					 found.count * sizeof *found.pair) == 0);
	}
	free(parts.pair);
	free(found.pair);
	free(memory);
	free(values);
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
			test_sharing(kind, radius, (uint32_t) random_below(3000));
			test_parts(kind, radius, (uint32_t) random_below(3000));
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

static void
note_match(void *context, uint64_t a, uint64_t b)
{
	*(uint64_t *) context += a * 3 + b;
}

/* What "one" and "take" of a kind do with n values. */
static void
check_one(const ShCompareKind *kind, int radius, uint64_t *values, size_t n)
{
	uint64_t	found = 0;
	uint64_t	expected = 0;
	uint64_t	sum = 0;
	ShCompare	compare = {radius, note_match, &found, kind};
	uint64_t	one = random_below(2) == 0 || n == 0 ? random_bits()
	: values[random_below(n)];
	size_t		near = 0;
	size_t		taken;

	for (size_t i = 0; i < n; i++)
	{
		sum += values[i] * values[i];
		if (sh_distance(one, values[i]) > radius)
			continue;
		note_match(&expected, one, values[i]);
		near++;
	}
	kind->one(&compare, one, values, n);
	CHECK(found == expected);
	taken = kind->take(one, radius, values, n);
	CHECK(taken == near);
	for (size_t i = 0; i < n; i++)
	{
		sum -= values[i] * values[i];
		CHECK((sh_distance(one, values[i]) <= radius) == (i < taken));
	}
	CHECK(sum == 0);
}

/* Each kind of instructions does what brute force does. */
static void
test_instructions(const ShCompareKind *kind)
{
	uint64_t	values[300 + SH_COMPARE_BEYOND] = {0};
	uint32_t	ends[300];

	for (int round = 0; round < 2000; round++)
	{
		int			radius = (int) random_below(SH_PAIRS_RADIUS + 1);
		size_t		limit = 2 + random_below(40);
		size_t		n = random_below(5);
		size_t		first = n;
		size_t		runs = random_below(60);
		uint64_t	expected = 0;
		uint64_t	sum = 0;
		ShCompare	compare = {radius, note_match, &sum, kind};

		for (size_t run = 0; run < runs; run++)
		{
			size_t		start = n;
			size_t		size = random_below(5) == 0 ? random_below(50)
			: random_below(4);

			for (; n < start + size && n < 300; n++)
				values[n] = random_value(CLUSTERED, values + first,
										 n - first, radius);
			ends[run] = (uint32_t) n;
			for (size_t i = start; i < n && n - start <= limit; i++)
			{
				for (size_t j = i + 1; j < n; j++)
				{
					if (sh_distance(values[i], values[j]) <= radius)
						note_match(&expected, values[i], values[j]);
				}
			}
		}
		kind->runs(&compare, values, first, ends, runs, limit);
		CHECK(sum == expected);
		check_one(kind, radius, values + first, n - first);
	}
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
	for (int i = 0; i < sh_compare_kinds_count; i++)
	{
		const ShCompareKind *kind = &sh_compare_kinds[i];

		printf("%s: %s\n", kind->name,
			   kind->usable() ? "tested" : "not on this processor");
		if (kind->usable())
			test_instructions(kind);
	}
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
