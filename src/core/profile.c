/*-------------------------------------------------------------------------
 *
 * profile.c
 *		Profiles: frozen recipes from documents to weighted features.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "profile.h"

#include <string.h>

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
