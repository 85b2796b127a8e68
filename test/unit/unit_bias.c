/*-------------------------------------------------------------------------
 *
 * unit_bias.c
 *		Wherever features are chosen, or ordered, by their hashes, each bit of
 *		what comes out is set as often as not.
 *
 * Whoever takes the smallest hashes takes those of which the high bits are
 * zeros.  So every way from features to a fingerprint is gone through with many
 * sets of features at random, and each bit counted, and the bits in which one
 * fingerprint differs from the next.
 *
 * Each weight, and the number of features added up, is odd: no sum is then 0,
 * which would make a bit 0 without any bias in the choice.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "core/fingerprint/document.h"
#include "core/fingerprint/families.h"
#include "core/weights/idf.h"

#define SETS			2000
#define FEATURES		1001
#define WORDS			3		/* of wide fingerprints that are looked at */

/*
 * How many standard deviations a count may be off.  Some 3,000 counts are
 * looked at; by chance one of them is off so far in six runs of a million.
 */
#define SIGMAS			6.0

static ShProfiles profiles = {.allocate = malloc};
static ShWalks walks;

static void
no_pause(void)
{
}

/* What has been counted of the fingerprints of one kind. */
typedef struct Counts
{
	const char *what;
	int			parameter;
	int			n;
	int			ones[SH_BITS];
	uint64_t	last;
	long		distance;		/* of each to the last one */
}			Counts;

static void
begin_counts(Counts * counts, const char *what, int parameter)
{
	memset(counts, 0, sizeof *counts);
	counts->what = what;
	counts->parameter = parameter;
}

static void
count(Counts * counts, uint64_t fingerprint)
{
	for (int bit = 0; bit < SH_BITS; bit++)
		counts->ones[bit] += (int) (fingerprint >> bit & 1);
	if (counts->n++ % 2)
		counts->distance += __builtin_popcountll(fingerprint ^ counts->last);
	counts->last = fingerprint;
}

/* Half of n coins show heads, give or take chance. */
static void
check_half(const Counts * counts, const char *of, int bit, double heads,
		   double n)
{
	double		off = (heads - n / 2) / (sqrt(n) / 2);

	if (fabs(off) > SIGMAS)
		printf("%s, %d: %s %d is %.3f, %.1f sigma off\n", counts->what,
			   counts->parameter, of, bit, heads / n, off);
	CHECK(fabs(off) <= SIGMAS);
}

static void
check_counts(const Counts * counts)
{
	for (int bit = 0; bit < SH_BITS; bit++)
		check_half(counts, "bit", bit, counts->ones[bit], counts->n);
	check_half(counts, "distance", 0, (double) counts->distance,
			   (double) (counts->n / 2) * SH_BITS);
}

/* The top k of features, in three classes of weight or one, in wide words. */
static void
test_top(size_t k, int classes)
{
	static ShIdfEntry entries[FEATURES];
	Counts		counts[WORDS];

	for (int w = 0; w < WORDS; w++)
		begin_counts(&counts[w], classes == 1 ? "ties" : "top", (int) k);
	for (int set = 0; set < SETS; set++)
	{
		for (int i = 0; i < FEATURES; i++)
		{
			entries[i].hash = random_bits();
			entries[i].value = 1 + 2 * random_below((uint64_t) classes);
		}
		k = sh_idf_take_top(entries, FEATURES, k, random_bits(), no_pause);
		for (int w = 0; w < WORDS; w++)
		{
			ShIdfSums	sums;
			uint64_t	fingerprint;

			sh_idf_sums_begin(&sums);
			for (size_t i = 0; i < k; i++)
				sh_idf_sums_add(&sums, sh_word_hash(entries[i].hash, w),
								entries[i].value);
			CHECK(sh_idf_sums_fingerprint(&sums, &fingerprint));
			count(&counts[w], fingerprint);
		}
	}
	for (int w = 0; w < WORDS; w++)
		check_counts(&counts[w]);
}

/* The minima of n features, in wide words. */
static void
test_minima(size_t n)
{
	uint64_t	hashes[FEATURES];
	uint64_t	others[FEATURES];
	Counts		counts[WORDS];

	for (int w = 0; w < WORDS; w++)
		begin_counts(&counts[w], "minima", (int) n);
	for (int set = 0; set < SETS; set++)
	{
		for (size_t i = 0; i < n; i++)
			hashes[i] = random_bits();
		for (int w = 0; w < WORDS; w++)
		{
			ShMinima	minima;
			uint64_t	fingerprint;

			sh_minima_begin(&minima);
			sh_word_hashes(others, hashes, n, w);
			sh_minima_add(&minima, others, n);
			CHECK(sh_minima_fingerprint(&minima, &walks, &fingerprint));
			count(&counts[w], fingerprint);
		}
	}
	for (int w = 0; w < WORDS; w++)
		check_counts(&counts[w]);
}

/* ShTally.allocate */
static void *
allocate(void *context, size_t bytes)
{
	(void) context;
	return malloc(bytes);
}

/* Texts of 302 words at random, by a profile. */
static void
test_texts(const char *name)
{
	static ShDocument document;
	const ShProfile *profile = sh_profile_find(&profiles, name, strlen(name));
	Counts		counts;

	CHECK(profile != NULL);
	document.tally.allocate = allocate;
	document.tally.release = free;
	document.tally.multiplier = random_bits() | 1;
	begin_counts(&counts, name, 0);
	for (int set = 0; set < SETS; set++)
	{
		uint64_t	fingerprint;

		sh_document_begin(&document, profile);
		for (int i = 0; i < 302; i++)
		{
			unsigned char word[8];

			for (int c = 0; c < 7; c++)
				word[c] = (unsigned char) ('a' + random_below(26));
			word[7] = ' ';
			sh_document_feed(&document, word, sizeof word);
		}
		CHECK(sh_document_end(&document, &fingerprint));
		count(&counts, fingerprint);
	}
	check_counts(&counts);
	sh_tally_end(&document.tally);
}

int
main(void)
{
	static const size_t some[] = {1, 5, 51, 301};

	seed_random();
	for (size_t i = 0; i < sizeof some / sizeof *some; i++)
	{
		test_top(some[i], 1);
		test_top(some[i], 3);
		test_minima(some[i]);
	}
	test_minima(64);
	test_texts("word-2-capped");
	test_texts("word-2");
	test_texts("word-1-2");
	test_texts("word-2-log");
	return 0;
}
