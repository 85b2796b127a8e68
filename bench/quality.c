/*-------------------------------------------------------------------------
 *
 * quality.c
 *		Distances between all pairs of documents, by every profile.
 *
 * usage: quality FINGERPRINTS [PROFILE THRESHOLD] < documents
 *
 * The input is documents, each as a line of its cluster (a number) and its
 * length in bytes, the bytes, and a line end.  Two documents are alike when
 * they have the same cluster; or, with arguments, when the Jaccard similarity
 * of their sets of features by the profile is at least the threshold.
 * FINGERPRINTS is a file of rows of recipe, document (from 0 on) and
 * fingerprint (\N for none), tab-separated and sorted: what was computed
 * elsewhere.
 *
 * The output has a row for each combination that occurs: family, profile,
 * alike (0 or 1), tenths of the Jaccard similarity by the default profile
 * (of pairs alike; else 0), length class of the shorter, distance, pairs.
 * bench/quality.py makes tables of it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "document.h"
#include "minhash.h"
#include "python.h"

#define BANDS			11		/* tenths of a similarity, 0 to 10 */
#define LENGTHS			4		/* shorter than 250, 1000, 4000; longer */
#define CLASSES			(2 * BANDS * LENGTHS)

/* A document of the input. */
typedef struct Entry
{
	long		cluster;
	size_t		length;
	unsigned char *bytes;
	uint64_t   *set;			/* its features, sorted, each once */
	size_t		features;
	bool		exists;			/* it has a fingerprint */
	uint64_t	fingerprint;
	uint64_t	minhash;
}			Entry;

/* A growing list of hashes. */
typedef struct HashList
{
	uint64_t   *hashes;
	size_t		n;
	size_t		allocated;
}			HashList;

static Entry * entries;
static size_t nentries;
static unsigned char *classes;	/* of each pair */
static ShDocument document;

/* Get memory or give up. */
static void *
allocate(size_t bytes)
{
	void	   *result = malloc(bytes);

	if (result == NULL)
		exit(2);
	return result;
}

/* Append n hashes. */
static void
append(HashList * list, const uint64_t *hashes, size_t n)
{
	if (list->n + n > list->allocated)
	{
		list->allocated = 2 * (list->n + n);
		list->hashes = realloc(list->hashes,
							   list->allocated * sizeof *list->hashes);
		if (list->hashes == NULL)
			exit(2);
	}
	memcpy(list->hashes + list->n, hashes, n * sizeof *hashes);
	list->n += n;
}

/* Append the features that the text held has completed. */
static void
append_windows(HashList * list, bool ended)
{
	const ShText *text = &document.text;
	ShWindows	windows;
	ShFeature	features[SH_BATCH];
	size_t		n;

	sh_windows_begin(&windows, document.profile, text, ended);
	while ((n = sh_windows_next(&windows, features)) > 0)
	{
		for (size_t i = 0; i < n; i++)
		{
			uint64_t	hash = sh_feature_hash(text->bytes + features[i].start,
											   features[i].end -
											   features[i].start);

			append(list, &hash, 1);
		}
	}
}

/* What the core calls between long stretches of work. */
static void
no_pause(void)
{
}

/* The hashes of the features by a profile of another implementation. */
static void
append_compat(HashList * list, const ShProfile *profile, const Entry * entry)
{
	ShCompat	compat;
	const unsigned char *bytes = entry->bytes;
	unsigned char *lower = NULL;
	size_t		length = entry->length;
	uint64_t	hash;

	if (sh_compat_lowers(profile))
	{
		lower = allocate(SH_PYTHON_LOWER_BYTES(length));
		length = sh_python_lower(lower, bytes, length, no_pause);
		bytes = lower;
	}
	sh_compat_begin(&compat, profile, bytes, length, no_pause);
	while (sh_compat_next(&compat, &hash))
		append(list, &hash, 1);
	free(lower);
}

/* The hashes of the features of a document, as they occur. */
static void
list_hashes(HashList * list, const ShProfile *profile, const Entry * entry)
{
	const unsigned char *from = entry->bytes;
	const unsigned char *end = from + entry->length;

	list->n = 0;
	if (sh_compat_profile(profile))
	{
		append_compat(list, profile, entry);
		return;
	}
	sh_document_begin(&document, profile);
	while (from < end)
	{
		from = sh_text_feed(&document.text, from, end);
		append_windows(list, false);
		sh_text_retire(&document.text, (size_t) profile->max - 1);
	}
	sh_text_end(&document.text);
	append_windows(list, true);
}

/* The SimHash fingerprint of the hashes. */
static bool
by_simhash(const HashList * list, const ShProfile *profile, uint64_t *result)
{
	ShSums		sums = {0};

	sh_tally_begin(&document.tally);
	for (size_t i = 0; i < list->n; i++)
	{
		if (sh_tally_add(&document.tally, profile->damping, list->hashes[i]))
			sh_sums_add(&sums, &list->hashes[i], 1);
	}
	return sh_sums_fingerprint(&sums, result);
}

/* The MinHash fingerprint of the hashes. */
static bool
by_minhash(const HashList * list, uint64_t *result)
{
	ShMinima	minima;

	sh_minima_begin(&minima);
	sh_minima_add(&minima, list->hashes, list->n);
	return sh_minima_fingerprint(&minima, result);
}

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
	return (double) common / (double) (a->features + b->features - common);
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
	int			band = alike ? (int) (10 * jaccard(a, b)) : 0;

	return (unsigned char) ((alike * BANDS + band) * LENGTHS +
							length_class(a, b));
}

/* Find out of each pair whether it is alike, and its class. */
static void
classify_pairs(const char *profile, double threshold)
{
	unsigned char *class = classes = allocate(nentries * nentries / 2 + 1);

	if (profile != NULL)
		make_sets(sh_profile_find(profile, strlen(profile)));
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
count_pairs(const char *family, const char *profile)
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
				printf("%s\t%s\t%d\t%d\t%d\t%d\t%ld\n", family, profile,
					   c / (BANDS * LENGTHS), c / LENGTHS % BANDS, c % LENGTHS,
					   d, counts[c][d]);
		}
	}
}

/* Read the documents. */
static void
read_documents(void)
{
	long		cluster;
	size_t		length;
	size_t		allocated = 0;

	while (scanf("%ld %zu", &cluster, &length) == 2 && getchar() == '\n')
	{
		Entry	   *entry;

		if (nentries == allocated)
		{
			allocated = 2 * allocated + 64;
			entries = realloc(entries, allocated * sizeof *entries);
			if (entries == NULL)
				exit(2);
		}
		entry = &entries[nentries++];
		entry->cluster = cluster;
		entry->length = length;
		entry->bytes = allocate(length + 1);
		if (fread(entry->bytes, 1, length, stdin) != length)
			exit(2);
	}
}

/* Count the pairs by the fingerprints of a profile, of both families. */
static void
count_profile(const ShProfile *profile)
{
	HashList	list = {0};

	for (size_t i = 0; i < nentries; i++)
	{
		Entry	   *entry = &entries[i];

		list_hashes(&list, profile, entry);
		entry->exists = by_simhash(&list, profile, &entry->fingerprint);
		if (!sh_compat_profile(profile))
			by_minhash(&list, &entry->minhash);
	}
	free(list.hashes);
	count_pairs("simhash", profile->name);
	if (sh_compat_profile(profile))
		return;
	for (size_t i = 0; i < nentries; i++)
		entries[i].fingerprint = entries[i].minhash;
	count_pairs("minhash", profile->name);
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
				count_pairs("simhash", last);
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
		count_pairs("simhash", last);
	if (!feof(file))
		exit(2);
	fclose(file);
}

int
main(int argc, char **argv)
{
	document.tally.allocate = allocate;
	document.tally.release = free;
	document.tally.multiplier = UINT64_C(0x9e3779b97f4a7c15);
	if (argc < 2)
		return 2;
	read_documents();
	classify_pairs(argc > 3 ? argv[2] : NULL, argc > 3 ? atof(argv[3]) : 0);
	for (int p = 0; p < sh_profile_count; p++)
		count_profile(&sh_profiles[p]);
	count_others(argv[1]);
	return 0;
}
