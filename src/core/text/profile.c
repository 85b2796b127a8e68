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
 * Each can read pages of HTML, as word-2-html, or articles in them, as word-2-article,
 * fold letters, as word-2-fold, and have a seed, as word-2-seed-4711: one that others do
 * not know, so that they cannot choose texts by their fingerprints.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/profile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Part of the specification: what a name ends with by markup, and if it folds; and
 * what stands before a seed, and how long that is.
 */
#define FOLD		"-fold"
static const char *const markup_tails[SH_MARKUPS][2] = {
	{"", FOLD}, {"-html", "-html" FOLD}, {"-article", "-article" FOLD}
};
#define SEED		"-seed-"
#define SEED_DIGITS	19

#define NO_SEED		false, SH_MARKUP_NONE, NULL, 0, NULL

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
	{"daft-ngram", SH_UNIT_DAFT_CHARACTER, 3, 3, SH_DAMP_COUNT,
	"Daft's simhash(text), of 3-grams", NO_SEED},
	{"mfonda-word", SH_UNIT_GO_WORD, 1, 1, SH_DAMP_COUNT,
	"Go's mfonda/simhash: NewWordFeatureSet(text), as in httpx", NO_SEED},
};
const int	sh_profile_count = sizeof sh_profiles / sizeof sh_profiles[0];
const ShProfile *const sh_default_profile = &sh_profiles[0];

/* In place of a profile where features are given, so that nothing is cut. */
const ShProfile sh_no_profile = {
	"", SH_UNIT_WORD, 1, 1, SH_DAMP_COUNT, "features that are given", NO_SEED
};

/* The profiles named by a rule. */
const ShPattern sh_patterns[] = {
	{"word-N-M-damping-html-fold-seed-S", "word-", SH_UNIT_WORD,
	"N to M words, both from 1 to 10; all behind N can be left out"},
	{"char-N-M-damping-html-fold-seed-S", "char-", SH_UNIT_CHARACTER,
	"N to M characters, both from 1 to 10; all behind N can be left out"},
	{"symbol-N-M-damping-html-fold-seed-S", "symbol-", SH_UNIT_SYMBOL,
	"N to M words or symbols, both from 1 to 10; all behind N can be left out"},
};
const int	sh_pattern_count = sizeof sh_patterns / sizeof sh_patterns[0];

/* A profile that has no row, made when it was first asked for. */
typedef struct ShMade
{
	ShProfile	profile;
	struct ShMade *next;
} ShMade;

static const char *const damping_names[] = {
	"count", "sqrt", "log", "binary", "capped"
};

/* What users call a damping. */
const char *
sh_damping_name(ShDamping damping)
{
	return damping_names[damping];
}

/*
 * The damping of a profile whose name does not tell it.  What occurs twice is
 * rarely the same by chance where features are long, and to count it serves
 * best where they are single words.
 */
static ShDamping
usual_damping(const ShProfile *recipe)
{
	if (recipe->unit == SH_UNIT_CHARACTER || recipe->min < recipe->max)
		return SH_DAMP_LOG;
	return recipe->min == 1 ? SH_DAMP_COUNT : SH_DAMP_BINARY;
}

/* Do two profiles differ in nothing but their names and descriptions? */
static bool
same_recipe(const ShProfile *a, const ShProfile *b)
{
	return a->unit == b->unit && a->min == b->min && a->max == b->max &&
		a->damping == b->damping && a->folds == b->folds &&
		a->markup == b->markup && a->seed == b->seed && a->plain == b->plain;
}

/* The list that a profile is in if it was made. */
static ShMade **
list_of_made(ShProfiles *profiles, const ShProfile *recipe)
{
	uint64_t	windows = (uint64_t) (recipe->min * SH_WINDOW_MAX + recipe->max);

	return &profiles->made[(recipe->seed + windows) % SH_PROFILE_LISTS];
}

/* The profile of a recipe, if it was made. */
static const ShProfile *
find_made(ShProfiles *profiles, const ShProfile *recipe)
{
	for (ShMade *one = *list_of_made(profiles, recipe); one != NULL; one = one->next)
	{
		if (same_recipe(&one->profile, recipe))
			return &one->profile;
	}
	return NULL;
}

/* Add a number to a name, which has room for the longest one that is made. */
static void
add_number(char *name, uint64_t number)
{
	char		digits[SEED_DIGITS + 2];
	char	   *p = &digits[SEED_DIGITS + 1];

	*p = '\0';
	do
		*--p = (char) ('0' + number % 10);
	while ((number /= 10) > 0);
	strcat(name, p);
}

/*
 * The profile of a recipe, which is made if it was not; NULL if there is no memory.
 * Behind the name that the recipe has comes a tail, and the seed if there is one: most
 * are found, and need no name.
 */
static const ShProfile *
find_or_make(ShProfiles *profiles, const ShProfile *recipe, const char *tail)
{
	const ShProfile *found = find_made(profiles, recipe);
	ShMade	  **list = list_of_made(profiles, recipe);
	ShMade	   *one;

	if (found != NULL)
		return found;
	one = profiles->allocate(sizeof *one);
	if (one == NULL)
		return NULL;
	one->profile = *recipe;
	strcat(one->profile.name, tail);
	if (recipe->seed != 0)
		add_number(one->profile.name, recipe->seed);
	one->next = *list;
	*list = one;
	profiles->seeded += recipe->seed != 0;
	return &one->profile;
}

/* Release all that were made. */
void
sh_profiles_release(ShProfiles *profiles, void (*release) (void *))
{
	for (int i = 0; i < SH_PROFILE_LISTS; i++)
	{
		for (ShMade *one = profiles->made[i], *next; one != NULL; one = next)
		{
			next = one->next;
			release(one);
		}
	}
}

/*
 * Read a number of tokens, without leading zeros, and move on; 0 when there is
 * none that a window can have.
 */
static int
read_size(const char **p)
{
	char	   *end = (char *) *p;
	long		size = *end >= '1' && *end <= '9' ? strtol(end, &end, 10) : 0;

	*p = end;
	return size > SH_WINDOW_MAX ? 0 : (int) size;
}

/*
 * The profile whose name is p behind what names of the pattern begin with, or NULL.
 * Of the names of a recipe, it has the shortest.
 */
static const ShProfile *
find_by_pattern(ShProfiles *profiles, const ShPattern *pattern, const char *p)
{
	ShProfile	recipe = {
		.unit = pattern->unit,.description = pattern->description
	};
	const ShProfile *found;

	recipe.min = recipe.max = read_size(&p);
	if (p[0] == '-' && p[1] >= '0' && p[1] <= '9')
	{
		p++;
		recipe.max = read_size(&p);
	}
	if (recipe.min == 0 || recipe.max < recipe.min)
		return NULL;
	recipe.damping = usual_damping(&recipe);
	if (*p != '\0')
	{
		int			damping = SH_DAMP_CAPPED;

		while (damping >= 0 &&
			   (*p != '-' || strcmp(p + 1, damping_names[damping]) != 0))
			damping--;
		if (damping < 0)
			return NULL;
		recipe.damping = (ShDamping) damping;
	}
	for (int i = 0; i < sh_profile_count; i++)
	{
		if (same_recipe(&sh_profiles[i], &recipe))
			return &sh_profiles[i];
	}
	found = find_made(profiles, &recipe);
	if (found != NULL)
		return found;
	strcpy(recipe.name, pattern->prefix);
	add_number(recipe.name, (uint64_t) recipe.min);
	if (recipe.max > recipe.min)
	{
		strcat(recipe.name, "-");
		add_number(recipe.name, (uint64_t) recipe.max);
	}
	if (recipe.damping != usual_damping(&recipe))
		strcat(strcat(recipe.name, "-"), damping_names[recipe.damping]);
	return find_or_make(profiles, &recipe, "");
}

/* The profile of a name with nothing behind its damping, or NULL. */
static const ShProfile *
find_bare(ShProfiles *profiles, const char *name)
{
	for (int i = 0; i < sh_profile_count; i++)
	{
		if (strcmp(sh_profiles[i].name, name) == 0)
			return &sh_profiles[i];
	}
	for (int i = 0; i < sh_pattern_count; i++)
	{
		size_t		length = strlen(sh_patterns[i].prefix);

		if (strncmp(name, sh_patterns[i].prefix, length) == 0)
			return find_by_pattern(profiles, &sh_patterns[i], name + length);
	}
	return NULL;
}

/*
 * Read a seed.  False if this is no number, has a leading zero, or is beyond what
 * a bigint holds.
 */
static bool
read_seed(const char *digits, uint64_t *seed)
{
	size_t		length = strspn(digits, "0123456789");

	if (length == 0 || length > SEED_DIGITS || digits[length] != '\0' ||
		(digits[0] == '0' && length > 1))
		return false;
	*seed = strtoull(digits, NULL, 10);
	return *seed <= INT64_MAX;
}

/* Take the end of a name off, if it is that. */
static bool
take_suffix(char *name, const char *suffix)
{
	size_t		length = strlen(name);
	size_t		ours = strlen(suffix);

	if (length < ours || strcmp(name + length - ours, suffix) != 0)
		return false;
	name[length - ours] = '\0';
	return true;
}

/* A profile that reads documents first as is said; NULL if there is no memory. */
static const ShProfile *
read_first(ShProfiles *profiles, const ShProfile *bare, ShMarkup markup, bool folds)
{
	const ShProfile *found = bare;
	ShProfile	recipe = *bare;

	if (folds)
	{
		recipe.folds = true;
		found = find_or_make(profiles, &recipe, FOLD);
	}
	if (markup != SH_MARKUP_NONE && found != NULL)
	{
		recipe.markup = markup;
		recipe.of_text = found;
		found = find_or_make(profiles, &recipe, markup_tails[markup][folds]);
	}
	return found;
}

/*
 * The profile without a seed of a name, and the seed that the name ends with, or
 * 0; NULL if there is no profile of that name.
 */
static const ShProfile *
read_name(ShProfiles *profiles, const char *name, size_t length, uint64_t *seed)
{
	char		bare[SH_PROFILE_NAME];
	char	   *tail;
	bool		folds;
	int			markup = SH_MARKUPS - 1;
	const ShProfile *found;

	if (length >= sizeof bare || memchr(name, '\0', length) != NULL)
		return NULL;
	memcpy(bare, name, length);
	bare[length] = '\0';
	tail = strstr(bare, SEED);
	*seed = 0;
	if (tail != NULL && !read_seed(tail + strlen(SEED), seed))
		return NULL;
	if (tail == bare)
		return &sh_no_profile;
	if (tail != NULL)
		*tail = '\0';
	folds = take_suffix(bare, FOLD);
	while (!take_suffix(bare, markup_tails[markup][false]))
		markup--;
	found = find_bare(profiles, bare);
	/* Other programs read texts, do not fold, and hash as they do. */
	if (found != NULL && found->unit >= SH_UNIT_COMPAT &&
		(folds || markup != SH_MARKUP_NONE || tail != NULL))
		return NULL;
	return found == NULL ? NULL : read_first(profiles, found, (ShMarkup) markup, folds);
}

/* Are there all the profiles with a seed that may be asked for by name? */
bool
sh_profiles_full(const ShProfiles *profiles)
{
	return profiles->seeded >= SH_PROFILE_SEEDED;
}

/* Is there a profile of that name, whether or not sh_profile_find makes it? */
bool
sh_profile_exists(ShProfiles *profiles, const char *name, size_t length)
{
	uint64_t	seed;

	return read_name(profiles, name, length, &seed) != NULL;
}

/* What differs from a plain profile in its seed alone. */
static ShProfile
with_seed(const ShProfile *plain, uint64_t seed)
{
	ShProfile	recipe = *plain;

	recipe.seed = seed;
	recipe.plain = plain;
	return recipe;
}

/*
 * The profile that differs from the given one in its seed alone, or, by seed 0, has
 * none; NULL if there is no memory.  It is made even if sh_profiles_full(): the
 * process needs a profile with a seed of its own to compare documents.
 */
const ShProfile *
sh_profile_seeded(ShProfiles *profiles, const ShProfile *profile, uint64_t seed)
{
	const ShProfile *plain = sh_profile_plain(profile);
	ShProfile	recipe = with_seed(plain, seed);

	return seed == 0 ? plain : find_or_make(profiles, &recipe, SEED);
}

/*
 * The profile of that name; NULL if there is no such profile, or if it has a seed,
 * is not made yet, and sh_profiles_full().
 */
const ShProfile *
sh_profile_find(ShProfiles *profiles, const char *name, size_t length)
{
	uint64_t	seed;
	const ShProfile *plain = read_name(profiles, name, length, &seed);
	ShProfile	recipe;

	if (plain == NULL || seed == 0)
		return plain;
	recipe = with_seed(plain, seed);
	if (sh_profiles_full(profiles))
		return find_made(profiles, &recipe);
	return find_or_make(profiles, &recipe, SEED);
}

/* What users call a unit: the names are in the order of ShUnit. */
const char *
sh_unit_name(ShUnit unit)
{
	static const char *const names[] = {
		"word", "character", "word or symbol",
		"character", "word", "byte", "byte", "character", "character", "word",
		"word", "word", "character", "word"
	};

	return names[unit];
}
