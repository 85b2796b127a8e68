/*-------------------------------------------------------------------------
 *
 * profile.c
 *		Profiles: frozen recipes from documents to weighted features.
 *
 * Some have a row in a table: those in common use, and those that compute what
 * other programs compute.  The others are named by a rule, docs/fingerprint.md
 * says which, and are made when they are first asked for.
 *
 * A recipe may have several names, as word-2, word-2-2 and word-2-binary: then
 * the shortest is that of the profile, and the others find the same one.
 *
 * Each can fold letters, as word-2-fold, and have a seed, as word-2-seed-4711: one
 * that others do not know, so that they cannot choose texts by their fingerprints.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/profile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAMPINGS	5
#define SEEDED_SLOTS	4096	/* of the table of those with a seed */

/*
 * Part of the specification: what a name ends with that folds, and what stands
 * before a seed, and how long that is.
 */
#define FOLD		"-fold"
#define SEED		"-seed-"
#define SEED_DIGITS	19

#define NO_SEED		false, 0, NULL

/*
 * The profiles that have a row, the default first.  Rows are added, never
 * changed, and the default stays the default.
 */
const ShProfile sh_profiles[] = {
	{"word-2-capped", SH_UNIT_WORD, 2, 2, SH_DAMP_CAPPED,
	"pairs of words, repeated ones up to seven times as heavy", NO_SEED},
	{"word-2", SH_UNIT_WORD, 2, 2, SH_DAMP_BINARY,
	"pairs of words, once each", NO_SEED},
	{"word-1-2", SH_UNIT_WORD, 1, 2, SH_DAMP_LOG,
	"words and pairs of words, logarithmic weights", NO_SEED},
	{"word-1", SH_UNIT_WORD, 1, 1, SH_DAMP_COUNT,
	"words, counted", NO_SEED},
	{"word-3", SH_UNIT_WORD, 3, 3, SH_DAMP_BINARY,
	"shingles of three words, once each", NO_SEED},
	{"word-4", SH_UNIT_WORD, 4, 4, SH_DAMP_BINARY,
	"shingles of four words, once each", NO_SEED},
	{"char-3", SH_UNIT_CHARACTER, 3, 3, SH_DAMP_LOG,
	"3-grams of characters, logarithmic weights", NO_SEED},
	{"char-4", SH_UNIT_CHARACTER, 4, 4, SH_DAMP_LOG,
	"4-grams of characters, logarithmic weights", NO_SEED},
	{"char-5", SH_UNIT_CHARACTER, 5, 5, SH_DAMP_LOG,
	"5-grams of characters, logarithmic weights", NO_SEED},

	/* what other implementations compute, bit for bit */
	{"python-simhash", SH_UNIT_PYTHON_LETTER, 4, 4, SH_DAMP_COUNT,
	"Simhash(text) of the Python package simhash", NO_SEED},
	{"seomoz-shingle", SH_UNIT_PYTHON_WORD, 4, 4, SH_DAMP_COUNT,
	"seomoz/simhash-py: MD5 of shingles of four words", NO_SEED},
	{"clickhouse-ngram", SH_UNIT_BYTE, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's ngramSimHash(text): 32 bits", NO_SEED},
	{"clickhouse-ngram-ci", SH_UNIT_BYTE_CI, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's ngramSimHashCaseInsensitive(text): 32 bits", NO_SEED},
	{"clickhouse-ngram-utf8", SH_UNIT_UTF8, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's ngramSimHashUTF8(text): 32 bits", NO_SEED},
	{"clickhouse-ngram-ci-utf8", SH_UNIT_UTF8_CI, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's ngramSimHashCaseInsensitiveUTF8(text): 32 bits", NO_SEED},
	{"clickhouse-word-shingle", SH_UNIT_CLICKHOUSE_WORD, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's wordShingleSimHash(text): 32 bits", NO_SEED},
	{"clickhouse-word-shingle-ci", SH_UNIT_CLICKHOUSE_WORD_CI, 3, 3,
		SH_DAMP_COUNT,
	"ClickHouse's wordShingleSimHashCaseInsensitive(text): 32 bits", NO_SEED},
	{"java-hashcode", SH_UNIT_JAVA_WORD, 1, 1, SH_DAMP_COUNT,
	"Java's text.split(\" \"), each hashed by hashCode(): 32 bits", NO_SEED},
};
const int	sh_profile_count = sizeof sh_profiles / sizeof sh_profiles[0];
const ShProfile *const sh_default_profile = &sh_profiles[0];

/* In place of a profile where features are given, so that nothing is cut. */
const ShProfile sh_no_profile = {
	"", SH_UNIT_WORD, 1, 1, SH_DAMP_COUNT, "features that are given", NO_SEED
};

/* The profiles named by a rule. */
const ShPattern sh_patterns[] = {
	{"word-N-M-damping-fold-seed-S", "word-", SH_UNIT_WORD,
	"N to M words, both from 1 to 10; all behind N can be left out"},
	{"char-N-M-damping-fold-seed-S", "char-", SH_UNIT_CHARACTER,
	"N to M characters, both from 1 to 10; all behind N can be left out"},
	{"symbol-N-M-damping-fold-seed-S", "symbol-", SH_UNIT_SYMBOL,
	"N to M words or symbols, both from 1 to 10; all behind N can be left out"},
};
const int	sh_pattern_count = sizeof sh_patterns / sizeof sh_patterns[0];

/* Those that were asked for; a name that is empty marks one that was not. */
static ShProfile made[sizeof sh_patterns / sizeof sh_patterns[0]]
[			SH_WINDOW_MAX][SH_WINDOW_MAX][DAMPINGS];

/* The same for those that fold, whatever the other ones are. */
static ShProfile folding[sizeof sh_patterns / sizeof sh_patterns[0]]
[			SH_WINDOW_MAX][SH_WINDOW_MAX][DAMPINGS];

/* Those with a seed, in lists by the slots that it chooses. */
typedef struct ShSeeded
{
	ShProfile	profile;
	struct ShSeeded *next;
} ShSeeded;

static ShSeeded *seeded[SEEDED_SLOTS];
static int	seeded_count = 0;

void	   *(*sh_profile_allocate) (size_t bytes) = malloc;

/* What users call a damping. */
const char *
sh_damping_name(ShDamping damping)
{
	static const char *const names[DAMPINGS] = {
		"count", "sqrt", "log", "binary", "capped"
	};

	return names[damping];
}

/*
 * The damping of a profile whose name does not tell it.  What occurs twice is
 * rarely the same by chance where features are long, and to count it serves
 * best where they are single words.
 */
static ShDamping
usual_damping(ShUnit unit, int min, int max)
{
	if (unit == SH_UNIT_CHARACTER || min < max)
		return SH_DAMP_LOG;
	return min == 1 ? SH_DAMP_COUNT : SH_DAMP_BINARY;
}

/* The profile of a recipe, with the shortest of its names. */
static const ShProfile *
find_recipe(int pattern, int min, int max, ShDamping damping)
{
	ShUnit		unit = sh_patterns[pattern].unit;
	ShProfile  *profile = &made[pattern][min - 1][max - 1][damping];

	for (int i = 0; i < sh_profile_count; i++)
	{
		const ShProfile *listed = &sh_profiles[i];

		if (listed->unit == unit && listed->min == min &&
			listed->max == max && listed->damping == damping)
			return listed;
	}
	if (profile->name[0] == '\0')
	{
		bool		usual = damping == usual_damping(unit, min, max);

		profile->unit = unit;
		profile->min = min;
		profile->max = max;
		profile->damping = damping;
		profile->description = sh_patterns[pattern].description;
		snprintf(profile->name, sizeof profile->name,
				 max > min ? "%s%d-%d%s%s" : "%s%d%.0d%s%s",
				 sh_patterns[pattern].prefix, min, max > min ? max : 0,
				 usual ? "" : "-", usual ? "" : sh_damping_name(damping));
	}
	return profile;
}

/*
 * Read a number of tokens, without leading zeros, and move on; 0 when there is
 * none that a window can have.
 */
static int
read_size(const char **p, const char *end)
{
	const char *start = *p;
	int			size = 0;

	while (*p < end && **p >= '0' && **p <= '9' && size <= SH_WINDOW_MAX)
		size = 10 * size + (*(*p)++ - '0');
	return size > SH_WINDOW_MAX || *start == '0' ? 0 : size;
}

/* The profile that a name stands for by one of the patterns, or NULL. */
static const ShProfile *
find_by_pattern(int pattern, const char *name, size_t length)
{
	const char *prefix = sh_patterns[pattern].prefix;
	const char *end = name + length;
	const char *p = name + strlen(prefix);
	int			min;
	int			max;

	if (length <= strlen(prefix) || memcmp(name, prefix, strlen(prefix)) != 0)
		return NULL;
	min = max = read_size(&p, end);
	if (end - p >= 2 && p[0] == '-' && p[1] >= '0' && p[1] <= '9')
	{
		p++;
		max = read_size(&p, end);
	}
	if (min == 0 || max < min)
		return NULL;
	if (p == end)
		return find_recipe(pattern, min, max,
						   usual_damping(sh_patterns[pattern].unit, min, max));
	for (int damping = 0; damping < DAMPINGS; damping++)
	{
		const char *its = sh_damping_name((ShDamping) damping);

		if (*p == '-' && (size_t) (end - p) == strlen(its) + 1 &&
			memcmp(p + 1, its, strlen(its)) == 0)
			return find_recipe(pattern, min, max, (ShDamping) damping);
	}
	return NULL;
}

/* Has the process all the profiles with a seed that may be asked for by name? */
bool
sh_profiles_full(void)
{
	return seeded_count >= SH_PROFILE_SEEDED;
}

/* The profile that differs from a plain one in its seed alone, if it is made. */
static const ShProfile *
find_seeded(const ShProfile *plain, uint64_t seed)
{
	if (seed == 0)
		return plain;
	for (ShSeeded *one = seeded[seed % SEEDED_SLOTS]; one != NULL; one = one->next)
	{
		if (one->profile.seed == seed && one->profile.plain == plain)
			return &one->profile;
	}
	return NULL;
}

/*
 * The profile that differs from one in its seed alone, 0 being none; NULL if
 * there is no memory.  That there are many does not matter: those by which the
 * process compares, with a seed of its own, are needed all the same.
 */
const ShProfile *
sh_profile_seeded(const ShProfile *profile, uint64_t seed)
{
	const ShProfile *plain = sh_profile_plain(profile);
	const ShProfile *found = find_seeded(plain, seed);
	ShSeeded  **list = &seeded[seed % SEEDED_SLOTS];
	ShSeeded   *one;

	if (found != NULL)
		return found;
	one = sh_profile_allocate(sizeof *one);
	if (one == NULL)
		return NULL;
	one->profile = *plain;
	one->profile.seed = seed;
	one->profile.plain = plain;
	snprintf(one->profile.name, sizeof one->profile.name,
			 "%.*s" SEED "%" PRIu64, SH_PROFILE_PLAIN, plain->name, seed);
	one->next = *list;
	*list = one;
	seeded_count++;
	return &one->profile;
}

/*
 * Read the seed that a name ends with, and cut it off.  False if it has none, or
 * one with a leading zero, or beyond what a bigint holds.
 */
static bool
read_seed(const char *name, size_t *length, uint64_t *seed)
{
	size_t		digits = *length;
	const size_t prefix = strlen(SEED);

	while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits == *length || digits < prefix ||
		*length - digits > SEED_DIGITS ||
		memcmp(name + digits - prefix, SEED, prefix) != 0 ||
		(name[digits] == '0' && *length - digits > 1))
		return false;
	*seed = 0;
	for (size_t i = digits; i < *length; i++)
		*seed = 10 * *seed + (uint64_t) (name[i] - '0');
	*length = digits - prefix;
	return *seed <= INT64_MAX;
}

/* The profile that differs from one of our own in that it folds letters. */
static const ShProfile *
find_folding(const ShProfile *profile)
{
	ShProfile  *found;
	int			pattern = 0;

	while (sh_patterns[pattern].unit != profile->unit)
		pattern++;
	found = &folding[pattern][profile->min - 1][profile->max - 1][profile->damping];
	if (found->name[0] == '\0')
	{
		*found = *profile;
		found->folds = true;
		snprintf(found->name, sizeof found->name, "%.*s" FOLD,
				 SH_PROFILE_PLAIN - (int) strlen(FOLD), profile->name);
	}
	return found;
}

/* The profile of a name with nothing behind its damping, or NULL. */
static const ShProfile *
find_bare(const char *name, size_t length)
{
	const ShProfile *found = NULL;

	for (int i = 0; i < sh_profile_count; i++)
	{
		if (strlen(sh_profiles[i].name) == length &&
			memcmp(sh_profiles[i].name, name, length) == 0)
			return &sh_profiles[i];
	}
	for (int i = 0; i < sh_pattern_count && found == NULL; i++)
		found = find_by_pattern(i, name, length);
	return found;
}

/* The profile of a name without a seed, or NULL. */
static const ShProfile *
find_plain(const char *name, size_t length)
{
	const ShProfile *found = find_bare(name, length);
	size_t		fold = strlen(FOLD);

	if (found != NULL || length <= fold ||
		memcmp(name + length - fold, FOLD, fold) != 0)
		return found;
	found = find_bare(name, length - fold);
	/* Other programs do not fold. */
	return found == NULL || found->unit >= SH_UNIT_COMPAT ? NULL :
		find_folding(found);
}

/* The profile of that name, or NULL. */
const ShProfile *
sh_profile_find(const char *name, size_t length)
{
	const ShProfile *found = find_plain(name, length);
	uint64_t	seed;

	if (found != NULL || !read_seed(name, &length, &seed))
		return found;
	found = length == 0 ? &sh_no_profile : find_plain(name, length);
	/* Other programs hash as they do. */
	if (found == NULL || found->unit >= SH_UNIT_COMPAT)
		return NULL;
	return sh_profiles_full() ? find_seeded(found, seed) :
		sh_profile_seeded(found, seed);
}

/* What users call a unit. */
const char *
sh_unit_name(ShUnit unit)
{
	static const char *const names[] = {
		[SH_UNIT_WORD] = "word",
		[SH_UNIT_CHARACTER] = "character",
		[SH_UNIT_SYMBOL] = "word or symbol",
		[SH_UNIT_PYTHON_LETTER] = "character",
		[SH_UNIT_PYTHON_WORD] = "word",
		[SH_UNIT_BYTE] = "byte",
		[SH_UNIT_BYTE_CI] = "byte",
		[SH_UNIT_UTF8] = "character",
		[SH_UNIT_UTF8_CI] = "character",
		[SH_UNIT_CLICKHOUSE_WORD] = "word",
		[SH_UNIT_CLICKHOUSE_WORD_CI] = "word",
		[SH_UNIT_JAVA_WORD] = "word"
	};

	return names[unit];
}
