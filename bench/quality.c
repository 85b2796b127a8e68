/*-------------------------------------------------------------------------
 *
 * quality.c
 *		Distances between all pairs of documents, by every profile.
 *
 * usage: quality FINGERPRINTS DRAWS [PROFILE THRESHOLD] < documents
 *
 * The documents are read as documents.h says.  Two are alike when they have
 * the same cluster; or, with arguments, when the Jaccard similarity of their
 * sets of features by the profile is at least the threshold.
 * FINGERPRINTS is a file of rows of recipe, document (from 0 on) and
 * fingerprint (\N for none), tab-separated and sorted: what was computed
 * elsewhere.
 *
 * The 64 bits are a random draw, and another hash function gives another: the
 * profiles' fingerprints are made DRAWS times, with hash functions of which
 * the first is the real one.
 *
 * The output has a row for each combination that occurs: draw, family, profile,
 * alike (0 or 1), twentieths of the Jaccard similarity by the default profile,
 * length class of the shorter, distance, pairs.
 * bench/quality.py makes tables of it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <inttypes.h>

#include "documents.h"

#define BANDS			21		/* twentieths of a similarity, 0 to 20 */
#define LENGTHS			4		/* shorter than 250, 1000, 4000; longer */
#define CLASSES			(2 * BANDS * LENGTHS)

static unsigned char *classes;	/* of each pair */
static ShProfiles profiles = {.allocate = malloc};

/* For qsort. */
static int
compare_hashes(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* Give each document the set of its features by a profile. */
static void
make_sets(const ShProfile *profile)
{
	HashList	list = {0};

	for (size_t i = 0; i < nentries; i++)
	{
		Entry	   *entry = &entries[i];

		list_hashes(&list, profile, entry);
		if (list.n > 0)
			qsort(list.hashes, list.n, sizeof *list.hashes, compare_hashes);
		entry->set = allocate((list.n + 1) * sizeof *entry->set);
		entry->features = 0;
		for (size_t j = 0; j < list.n; j++)
		{
			if (j == 0 || list.hashes[j] != list.hashes[j - 1])
				entry->set[entry->features++] = list.hashes[j];
		}
	}
	free(list.hashes);
}

/* The Jaccard similarity of two documents' sets. */
static double
jaccard(const Entry * a, const Entry * b)
{
	size_t		i = 0,
				j = 0,
				common = 0;

	while (i < a->features && j < b->features)
	{
		uint64_t	x = a->set[i];
		uint64_t	y = b->set[j];

		common += x == y;
		i += x <= y;
		j += y <= x;
	}
	return common == 0 ? 0 :
		(double) common / (double) (a->features + b->features - common);
}

/* The length class of a pair. */
static int
length_class(const Entry * a, const Entry * b)
{
	size_t		shorter = a->length < b->length ? a->length : b->length;

	return (shorter >= 250) + (shorter >= 1000) + (shorter >= 4000);
}

/* The class of a pair, given whether it is alike. */
static unsigned char
pair_class(const Entry * a, const Entry * b, bool alike)
{
	int			band = (int) (20 * jaccard(a, b) + 1e-9);

	return (unsigned char) ((alike * BANDS + band) * LENGTHS +
							length_class(a, b));
}

/* Find out of each pair whether it is alike, and its class. */
static void
classify_pairs(const char *profile, double threshold)
{
	unsigned char *class = classes = allocate(nentries * nentries / 2 + 1);

	if (profile != NULL)
		make_sets(sh_profile_find(&profiles, profile, strlen(profile)));
	for (size_t i = 0; i < nentries; i++)
	{
		const		Entry *a = &entries[i];

		for (const Entry * b = a + 1; b < entries + nentries; b++)
			*class++ = profile != NULL ? jaccard(a, b) >= threshold
				: a->cluster == b->cluster;
	}
	make_sets(sh_default_profile);
	class = classes;
	for (size_t i = 0; i < nentries; i++)
	{
		const		Entry *a = &entries[i];

		for (const Entry * b = a + 1; b < entries + nentries; b++, class++)
			*class = pair_class(a, b, *class != 0);
	}
}

/* Count the pairs of each class at each distance; print what there is. */
static void
count_pairs(uint64_t draw, const char *family, const char *profile)
{
	static long counts[CLASSES][SH_BITS + 2];
	const unsigned char *class = classes;

	memset(counts, 0, sizeof counts);
	for (size_t i = 0; i < nentries; i++)
	{
		for (size_t j = i + 1; j < nentries; j++)
		{
			const		Entry *a = &entries[i];
			const		Entry *b = &entries[j];
			int			d = a->exists && b->exists ?
			sh_distance(a->fingerprint, b->fingerprint) : SH_BITS + 1;

			counts[*class++][d]++;
		}
	}
	for (int c = 0; c < CLASSES; c++)
	{
		for (int d = 0; d < SH_BITS + 2; d++)
		{
			if (counts[c][d] > 0)
				printf("%d\t%s\t%s\t%d\t%d\t%d\t%d\t%ld\n", (int) draw,
					   family, profile, c / (BANDS * LENGTHS),
					   c / LENGTHS % BANDS, c % LENGTHS, d, counts[c][d]);
		}
	}
}

/* Count the pairs by the fingerprints of a profile, of both families. */
static void
count_profile(const ShProfile *profile, uint64_t draw)
{
	HashList	list = {0};

	for (size_t i = 0; i < nentries; i++)
	{
		Entry	   *entry = &entries[i];

		list_hashes(&list, profile, entry);
		redraw(&list, draw);
		entry->exists = by_simhash(&list, profile, &entry->fingerprint);
		if (!sh_compat_profile(profile))
			by_minhash(&list, &entry->minhash);
	}
	free(list.hashes);
	count_pairs(draw, "simhash", profile->name);
	if (sh_compat_profile(profile))
		return;
	for (size_t i = 0; i < nentries; i++)
		entries[i].fingerprint = entries[i].minhash;
	count_pairs(draw, "minhash", profile->name);
}

/* Count the pairs by the fingerprints of a file. */
static void
count_others(const char *path)
{
	FILE	   *file = fopen(path, "r");
	char		last[64] = "";
	char		recipe[64];
	char		value[24];
	size_t		i;

	if (file == NULL)
		exit(2);
	while (fscanf(file, "%63[^\t]\t%zu\t%23s%*[\n]", recipe, &i, value) == 3)
	{
		if (strcmp(recipe, last) != 0)
		{
			if (last[0] != '\0')
				count_pairs(0, "simhash", last);
			for (size_t j = 0; j < nentries; j++)
				entries[j].exists = false;
			strcpy(last, recipe);
		}
		if (i >= nentries)
			exit(2);
		entries[i].exists = value[0] != '\\';
		entries[i].fingerprint = (uint64_t) strtoimax(value, NULL, 10);
	}
	if (last[0] != '\0')
		count_pairs(0, "simhash", last);
	if (!feof(file))
		exit(2);
	fclose(file);
}

int
main(int argc, char **argv)
{
	if (argc != 3 && argc != 5)
		return 2;
	begin_documents();
	classify_pairs(argc > 3 ? argv[3] : NULL, argc > 3 ? atof(argv[4]) : 0);
	for (int p = 0; p < sh_profile_count; p++)
	{
		int			draws = sh_compat_profile(&sh_profiles[p]) ? 1 :
		atoi(argv[2]);

		for (int draw = 0; draw < draws; draw++)
			count_profile(&sh_profiles[p], (uint64_t) draw);
	}
	count_others(argv[1]);
	return 0;
}
