/*-------------------------------------------------------------------------
 *
 * profile.c
 *		Profiles: frozen recipes from tokens to weighted feature hashes.
 *
 * A feature is a window of successive tokens, as the bytes of the normalised
 * text from the start of the first to the end of the last; its hash is the
 * XXH3 (64 bits, seed 0) of those bytes.
 *
 * A feature that occurs n times weighs w(n), where w depends on the profile.
 * We never need to know n at the end: w only ever grows by one, so it is
 * enough to say at each occurrence whether the weight has just grown, and to
 * add the hash once more if so.  For w = 1 + floor(log2(n)) that is when n is
 * a power of two, for floor(sqrt(n)) when n is a square, for 1 when n is 1.
 *
 * Counting needs a table.  To bound it, a document's features are counted in
 * sections of SH_SECTION: after each section counting starts anew.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "profile.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SLOTS_MIN		512		/* slots of the first table */
#define SLOTS_SPARE		16		/* slots a feature that are too many */

/* The profiles.  Rows are added, never changed. */
const ShProfile sh_profiles[] = {
	{"word-2", SH_UNIT_WORD, 2, 2, SH_DAMP_BINARY,
	"pairs of words, once each"},
	{"word-1-2", SH_UNIT_WORD, 1, 2, SH_DAMP_LOG,
	"words and pairs of words, logarithmic weights"},
	{"word-1", SH_UNIT_WORD, 1, 1, SH_DAMP_COUNT,
	"words, counted"},
	{"word-3", SH_UNIT_WORD, 3, 3, SH_DAMP_BINARY,
	"shingles of three words, once each"},
	{"word-4", SH_UNIT_WORD, 4, 4, SH_DAMP_BINARY,
	"shingles of four words, once each"},
	{"char-3", SH_UNIT_CHARACTER, 3, 3, SH_DAMP_LOG,
	"3-grams of characters, logarithmic weights"},
	{"char-4", SH_UNIT_CHARACTER, 4, 4, SH_DAMP_LOG,
	"4-grams of characters, logarithmic weights"},
	{"char-5", SH_UNIT_CHARACTER, 5, 5, SH_DAMP_LOG,
	"5-grams of characters, logarithmic weights"},

	/* what other implementations compute, bit for bit */
	{"python-simhash", SH_UNIT_PYTHON_LETTER, 4, 4, SH_DAMP_COUNT,
	"Simhash(text) of the Python package simhash"},
	{"seomoz-shingle", SH_UNIT_PYTHON_WORD, 4, 4, SH_DAMP_COUNT,
	"seomoz/simhash-py: MD5 of shingles of four words"},
	{"clickhouse-ngram", SH_UNIT_BYTE, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's ngramSimHash(text): 32 bits"},
	{"clickhouse-ngram-ci", SH_UNIT_BYTE_CI, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's ngramSimHashCaseInsensitive(text): 32 bits"},
	{"clickhouse-ngram-utf8", SH_UNIT_UTF8, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's ngramSimHashUTF8(text): 32 bits"},
	{"clickhouse-ngram-ci-utf8", SH_UNIT_UTF8_CI, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's ngramSimHashCaseInsensitiveUTF8(text): 32 bits"},
	{"clickhouse-word-shingle", SH_UNIT_CLICKHOUSE_WORD, 3, 3, SH_DAMP_COUNT,
	"ClickHouse's wordShingleSimHash(text): 32 bits"},
	{"clickhouse-word-shingle-ci", SH_UNIT_CLICKHOUSE_WORD_CI, 3, 3,
		SH_DAMP_COUNT,
	"ClickHouse's wordShingleSimHashCaseInsensitive(text): 32 bits"},
};
const int	sh_profile_count = sizeof sh_profiles / sizeof sh_profiles[0];
const ShProfile *const sh_default_profile = &sh_profiles[0];

/* The profile of that name, or NULL. */
const ShProfile *
sh_profile_find(const char *name, size_t length)
{
	for (int i = 0; i < sh_profile_count; i++)
	{
		if (strlen(sh_profiles[i].name) == length &&
			memcmp(sh_profiles[i].name, name, length) == 0)
			return &sh_profiles[i];
	}
	return NULL;
}

/* What users call a damping. */
const char *
sh_damping_name(ShDamping damping)
{
	static const char *const names[] = {"count", "sqrt", "log", "binary"};

	return names[damping];
}

/* What users call a unit. */
const char *
sh_unit_name(ShUnit unit)
{
	switch (unit)
	{
		case SH_UNIT_WORD:
		case SH_UNIT_PYTHON_WORD:
		case SH_UNIT_CLICKHOUSE_WORD:
		case SH_UNIT_CLICKHOUSE_WORD_CI:
			return "word";
		case SH_UNIT_CHARACTER:
		case SH_UNIT_PYTHON_LETTER:
		case SH_UNIT_UTF8:
		case SH_UNIT_UTF8_CI:
			return "character";
		case SH_UNIT_BYTE:
		case SH_UNIT_BYTE_CI:
			return "byte";
	}
	return "";
}

/*
 * Begin to enumerate the features that end with a fresh token.  "ended" tells
 * that the document has ended: one that is shorter than the shortest window
 * is then a single feature, whole.
 */
void
sh_windows_begin(ShWindows *windows, const ShProfile *profile,
				 const ShText *text, bool ended)
{
	windows->profile = profile;
	windows->text = text;
	windows->whole = ended && text->total > 0 &&
		text->total < (uint64_t) profile->min;
	windows->size = profile->min;
	windows->last = text->fresh;
}

/*
 * Get up to SH_BATCH features, as ranges of text->bytes, in the order of the
 * token that they end with, shorter ones first.  Returns 0 at the end.
 */
size_t
sh_windows_next(ShWindows *windows, ShToken *features)
{
	const ShText *text = windows->text;
	size_t		n = 0;

	if (windows->whole)
	{
		windows->whole = false;
		features[0].start = text->tokens[0].start;
		features[0].end = text->tokens[text->ntokens - 1].end;
		windows->last = text->ntokens;
		return 1;
	}
	while (n < SH_BATCH && windows->last < text->ntokens)
	{
		if (windows->last + 1 >= (size_t) windows->size)
		{
			size_t		first = windows->last + 1 - (size_t) windows->size;

			features[n].start = text->tokens[first].start;
			features[n].end = text->tokens[windows->last].end;
			n++;
		}
		if (++windows->size > windows->profile->max)
		{
			windows->size = windows->profile->min;
			windows->last++;
		}
	}
	return n;
}

/* The hash of a feature. */
uint64_t
sh_feature_hash(const unsigned char *feature, size_t length)
{
	return XXH3_64bits(feature, length);
}

/*
 * Begin to count, with an empty table.  Keeps the memory that there is, unless
 * the last document used so little of it that to grow a table again takes less
 * time than to clear this one: a long document must not make all the short
 * ones after it slow.
 */
void
sh_tally_begin(ShTally *tally)
{
	if (tally->slots > SLOTS_MIN &&
		tally->occupied < tally->slots / SLOTS_SPARE)
		sh_tally_end(tally);
	if (tally->slots > 0)
		memset(tally->counts, 0, tally->slots * sizeof *tally->counts);
	tally->occupied = 0;
	tally->seen = 0;
}

/* Where the hash stands in the table, or else a free slot for it. */
static inline size_t
tally_slot(const ShTally *tally, uint64_t hash)
{
	size_t		slot = (size_t) (hash * tally->multiplier >> 32) &
	(tally->slots - 1);

	while (tally->counts[slot] != 0 && tally->hashes[slot] != hash)
		slot = (slot + 1) & (tally->slots - 1);
	return slot;
}

/*
 * Double the table.  "allocate" may leave by longjmp: the table is then as it
 * was before.
 */
static void
tally_grow(ShTally *tally)
{
	ShTally		old = *tally;
	size_t		slots = old.slots > 0 ? 2 * old.slots : SLOTS_MIN;
	uint64_t   *hashes = tally->allocate(slots * (sizeof *hashes +
												  sizeof(uint32_t)));

	tally->slots = slots;
	tally->hashes = hashes;
	tally->counts = (uint32_t *) (hashes + slots);
	memset(tally->counts, 0, tally->slots * sizeof *tally->counts);
	for (size_t i = 0; i < old.slots; i++)
	{
		if (old.counts[i] != 0)
		{
			size_t		slot = tally_slot(tally, old.hashes[i]);

			tally->hashes[slot] = old.hashes[i];
			tally->counts[slot] = old.counts[i];
		}
	}
	if (old.slots > 0)
		tally->release(old.hashes);
}

/* True when a feature that has now occurred n times has gained weight. */
static inline bool
weight_grows(ShDamping damping, uint32_t n)
{
	uint32_t	root;

	switch (damping)
	{
		case SH_DAMP_COUNT:
			return true;
		case SH_DAMP_BINARY:
			return n == 1;
		case SH_DAMP_LOG:
			return (n & (n - 1)) == 0;
		case SH_DAMP_SQRT:
			root = (uint32_t) sqrt((double) n);
			return root * root == n;
	}
	return false;
}

/*
 * The count that stands for a hash, 0 when it is new.  The caller must make it
 * more than 0 before the next call.
 */
uint32_t   *
sh_tally_count(ShTally *tally, uint64_t hash)
{
	size_t		slot;

	if (2 * tally->occupied >= tally->slots)
		tally_grow(tally);
	slot = tally_slot(tally, hash);
	if (tally->counts[slot] == 0)
	{
		tally->hashes[slot] = hash;
		tally->occupied++;
	}
	return &tally->counts[slot];
}

/* Count one occurrence; true when it adds to the feature's weight. */
bool
sh_tally_add(ShTally *tally, ShDamping damping, uint64_t hash)
{
	if (damping == SH_DAMP_COUNT)
		return true;
	if (tally->seen == SH_SECTION)
		sh_tally_begin(tally);
	tally->seen++;
	return weight_grows(damping, ++*sh_tally_count(tally, hash));
}

/* Give the memory back. */
void
sh_tally_end(ShTally *tally)
{
	if (tally->slots > 0)
	{
		tally->release(tally->hashes);
		tally->slots = 0;
	}
}
