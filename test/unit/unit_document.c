/*-------------------------------------------------------------------------
 *
 * unit_document.c
 *		Unit tests of documents: golden vectors, hostile bytes, weights.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <math.h>
#include <string.h>

#include "core/foreign/foreign.h"
#include "core/fingerprint/document.h"
#include "core/lanes.h"

#define KINDS		4000		/* features that are counted, at most */

static ShProfiles profiles = {.allocate = malloc};
static ShDocument document;

/* Undo the escapes of PostgreSQL's COPY that the files use, in place. */
static size_t
unescape(char *s)
{
	static const char from[] = "bfnrtv";
	static const char to[] = "\b\f\n\r\t\v";
	char	   *start = s;
	char	   *out = s;

	for (; *s != '\0'; s++)
	{
		const char *known;

		if (*s != '\\')
		{
			*out++ = *s;
			continue;
		}
		known = strchr(from, *++s);
		*out++ = known != NULL ? to[known - from] : *s;
	}
	*out = '\0';
	return (size_t) (out - start);
}

/* The end of a slice, not within a character. */
static const unsigned char *
slice_end(const unsigned char *from, const unsigned char *end, size_t slice)
{
	if ((size_t) (end - from) <= slice)
		return end;
	for (from += slice; from < end && (*from & 0xc0) == 0x80;)
		from++;
	return from;
}

/* The fingerprint of a document that is handed over in slices. */
static bool
fingerprint(const ShProfile *profile, const char *bytes, size_t length,
			size_t slice, uint64_t *result)
{
	const unsigned char *from = (const unsigned char *) bytes;
	const unsigned char *end = from + length;

	sh_document_begin(&document, profile);
	while (from < end)
	{
		const unsigned char *stop = slice_end(from, end, slice);

		sh_document_feed(&document, from, (size_t) (stop - from));
		from = stop;
	}
	return sh_document_end(&document, result);
}

/* Add the features that are complete, and forget as much text as can be. */
static void
add_complete(bool ended)
{
	ShWindows	windows;
	uint64_t	hashes[SH_GAINED(SH_BATCH)];
	size_t		n;

	sh_windows_begin(&windows, document.profile, &document.text, ended);
	while ((n = sh_windows_hashes(&windows, hashes)) > 0)
		sh_sums_add(document.sums, hashes,
					sh_document_sift(&document, hashes, n));
	sh_text_retire(&document.text, (size_t) document.profile->max - 1);
}

/* The same, where features are added and text is forgotten at each slice. */
static bool
eager_fingerprint(const ShProfile *profile, const char *bytes, size_t length,
				  size_t slice, uint64_t *result)
{
	const unsigned char *from = (const unsigned char *) bytes;
	const unsigned char *end = from + length;

	sh_document_begin(&document, profile);
	while (from < end)
	{
		from = sh_text_feed(&document.text, from, slice_end(from, end, slice));
		add_complete(false);
	}
	sh_text_end(&document.text);
	add_complete(true);
	return sh_sums_fingerprint(document.sums, result);
}

/* The document with the given label in the file of texts. */
static size_t
find_text(FILE * texts, const char *label, char *line, size_t size, char **text)
{
	rewind(texts);
	while (fgets(line, (int) size, texts) != NULL)
	{
		char	   *tab = strchr(line, '\t');

		line[strcspn(line, "\n")] = '\0';
		CHECK(tab != NULL);
		*tab = '\0';
		if (strcmp(line, label) != 0)
			continue;
		*text = tab + 1;
		return unescape(*text);
	}
	CHECK(!"label is among the texts");
	return 0;
}

/* The golden vectors, in slices of several sizes. */
static void
test_golden(const char *texts_file, const char *golden_file)
{
	static char line[1 << 20];
	static char text_line[1 << 20];
	FILE	   *texts = fopen(texts_file, "r");
	FILE	   *golden = fopen(golden_file, "r");
	int			vectors = 0;

	CHECK(texts != NULL && golden != NULL);
	while (fgets(line, sizeof line, golden) != NULL)
	{
		char	   *label = strtok(line, "\t");
		char	   *name = strtok(NULL, "\t");
		char	   *expected = strtok(NULL, "\t\n");
		const ShProfile *profile = sh_profile_find(&profiles, name, strlen(name));
		char	   *text;
		size_t		length = find_text(texts, label, text_line,
									   sizeof text_line, &text);
		static const size_t slices[] = {SIZE_MAX, 1, 7, 100};

		CHECK(profile != NULL);
		for (int i = 0; i < 8; i++)
		{
			uint64_t	result;
			char		ours[32] = "\\N";

			/* Who feeds the text himself has to fold its letters. */
			if (i >= 4 && profile->folds)
				continue;
			if ((i < 4 ? fingerprint : eager_fingerprint)
				(profile, text, length, slices[i % 4], &result))
				snprintf(ours, sizeof ours, "%lld", (long long) result);
			if (strcmp(ours, expected) != 0)
				fprintf(stderr, "%s by %s, slices of %zu: %s, not %s\n",
						label, name, slices[i % 4], ours, expected);
			CHECK(strcmp(ours, expected) == 0);
		}
		vectors++;
	}
	CHECK(vectors > 1000);
	printf("%d golden vectors\n", vectors);
	fclose(texts);
	fclose(golden);
}

/* A profile of our own: one that has a row, or one that is named by a rule. */
static const ShProfile *
random_profile(void)
{
	static const char *const dampings[] = {
		"", "-count", "-sqrt", "-log", "-binary", "-capped"
	};
	static const char *const units[] = {"word", "char", "symbol"};
	static const char *const seeds[] = {
		"", "", "-seed-0", "-seed-4711", "-seed-9223372036854775807"
	};
	int			min = 1 + (int) random_below(SH_WINDOW_MAX);
	char		name[SH_PROFILE_NAME];
	const ShProfile *profile;

	if (random_below(2))
	{
		/* what other implementations do is not for the tokeniser */
		do
			profile = &sh_profiles[random_below((uint64_t) sh_profile_count)];
		while (sh_compat_profile(profile));
		return profile;
	}
	snprintf(name, sizeof name, "%s-%d-%d%s%s", units[random_below(3)], min,
			 min + (int) random_below((uint64_t) (SH_WINDOW_MAX - min + 1)),
			 dampings[random_below(sizeof dampings / sizeof *dampings)],
			 seeds[random_below(sizeof seeds / sizeof *seeds)]);
	profile = sh_profile_find(&profiles, name, strlen(name));
	CHECK(profile != NULL);
	return profile;
}

/* A recipe is one profile, under each of its names, and the shortest is its. */
static void
test_names(void)
{
	static const char *const same[][2] = {
		{"word-2", "word-2-2-binary"}, {"word-2-capped", "word-2-2-capped"},
		{"word-1-1", "word-1"},
		{"word-1-count", "word-1"}, {"word-1-2-log", "word-1-2"},
		{"char-4-4-log", "char-4"}, {"word-5-binary", "word-5"},
		{"word-10-10-sqrt", "word-10-sqrt"}, {"char-1-10-log", "char-1-10"},
		{"char-2-count", "char-2-2-count"},
		{"symbol-1", "symbol-1-1-count"}, {"symbol-2", "symbol-2-2-binary"},
		{"symbol-1-2-log", "symbol-1-2"}, {"word-2", "word-2-seed-0"},
		{"word-2-seed-7", "word-2-2-binary-seed-7"},
		{"symbol-3-4-seed-9223372036854775807",
		"symbol-3-4-log-seed-9223372036854775807"},
		{"symbol-9-10-capped-seed-9223372036854775807",
		"symbol-9-10-capped-seed-9223372036854775807"}
	};
	static const char *const none[] = {
		"", "word", "word-", "word-0", "word-11", "word-2-1", "word-1-11",
		"word-02", "word-1-02", "word-2-", "word-2-once", "word-2-count-",
		"word-2-2-2", "word-2-count-log", "Word-2", "char-0", "char-100000000000",
		"word--1", "word-1--2", "word-N", "word-2 ", "word-2-coun", "char",
		"symbol", "symbol-", "symbol-0", "symbols-1", "symbol-11",
		"word-2-seed", "word-2-seed-", "word-2-seed-01", "word-2-seed-00",
		"word-2-seed--1", "word-2-seed-+1", "word-2-seed-1 ", "word-2-seed-x1",
		"word-2-seed-9223372036854775808", "word-2-seed-18446744073709551616",
		"word-2-seed-99999999999999999999", "word-2-seed-1-seed-2",
		"word-2-seed-0-seed-1", "word-2-seed-1-seed-0", "word-2-seed-1-count",
		"seed-1", "word-seed-1", "word-11-seed-1", "word-2seed-1",
		"python-simhash-seed-1", "clickhouse-ngram-seed-1",
		"java-hashcode-seed-0", "-seed-", "-seed-1-seed-1"
	};
	int			kinds = 0;

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
	{
		const ShProfile *a = sh_profile_find(&profiles, same[i][0], strlen(same[i][0]));
		const ShProfile *b = sh_profile_find(&profiles, same[i][1], strlen(same[i][1]));

		CHECK(a != NULL && a == b);
		CHECK(strlen(a->name) <= strlen(same[i][0]) &&
			  strlen(a->name) <= strlen(same[i][1]));
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(sh_profile_find(&profiles, none[i], strlen(none[i])) == NULL);
	CHECK(sh_profile_find(&profiles, "word-2-counted", strlen("word-2-count")) != NULL);
	for (int round = 0; round < 20000; round++)
	{
		const ShProfile *a = random_profile();

		CHECK(sh_profile_find(&profiles, a->name, strlen(a->name)) == a);
		kinds += a->damping == SH_DAMP_SQRT;
	}
	CHECK(kinds > 1000);
}

/* A profile with a seed is one, and differs from the plain one in that alone. */
static void
test_seeds(void)
{
	static const uint64_t seeds[] = {
		1, 4711, 4711 + 4096, 4711 + 8192, INT64_MAX, UINT64_MAX
	};
	const ShProfile *plain = sh_profile_find(&profiles, "symbol-2-3-sqrt", 15);
	const ShProfile *seeded[sizeof seeds / sizeof *seeds];
	const ShProfile *given;

	for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
	{
		ShProfile	expected = *plain;

		seeded[i] = sh_profile_seeded(&profiles, plain, seeds[i]);
		CHECK(seeded[i] != NULL && seeded[i]->seed == seeds[i]);
		CHECK(sh_profile_plain(seeded[i]) == plain);
		CHECK(sh_profile_seeded(&profiles, seeded[i], 0) == plain);
		CHECK(!sh_profile_given(seeded[i]));
		/* a seed takes the place of another */
		CHECK(sh_profile_seeded(&profiles, seeded[0], seeds[i]) == seeded[i]);
		expected.seed = seeds[i];
		expected.plain = plain;
		memcpy(expected.name, seeded[i]->name, sizeof expected.name);
		CHECK(expected.unit == seeded[i]->unit &&
			  expected.min == seeded[i]->min &&
			  expected.max == seeded[i]->max &&
			  expected.damping == seeded[i]->damping &&
			  expected.description == seeded[i]->description);
		if (seeds[i] <= INT64_MAX)
			CHECK(sh_profile_find(&profiles, seeded[i]->name,
								  strlen(seeded[i]->name)) == seeded[i]);
		else
			CHECK(sh_profile_find(&profiles, seeded[i]->name,
								  strlen(seeded[i]->name)) == NULL);
		for (size_t j = 0; j < i; j++)
			CHECK(seeded[i] != seeded[j] &&
				  sh_feature_hash(seeded[i], (unsigned char *) "a b", 3) !=
				  sh_feature_hash(seeded[j], (unsigned char *) "a b", 3));
	}
	CHECK(strcmp(seeded[1]->name, "symbol-2-3-sqrt-seed-4711") == 0);
	CHECK(sh_profile_seeded(&profiles, plain, 0) == plain);

	/* what stands in place of a profile has a name that can be found again */
	given = sh_profile_seeded(&profiles, &sh_no_profile, 4711);
	CHECK(strcmp(given->name, "-seed-4711") == 0);
	CHECK(sh_profile_given(given) && sh_profile_given(&sh_no_profile));
	CHECK(sh_profile_find(&profiles, "-seed-4711", 10) == given);
	CHECK(sh_profile_find(&profiles, "-seed-0", 7) == &sh_no_profile);
}

/* There are as many with a seed as there may be; those that there are, stay. */
static void
test_many_seeds(void)
{
	const ShProfile *first = sh_profile_seeded(&profiles, sh_default_profile, 4711);
	uint64_t	seed = UINT64_C(1) << 40;
	int			made = 0;

	for (; !sh_profiles_full(&profiles); seed++, made++)
	{
		char		name[SH_PROFILE_NAME];
		const ShProfile *one;

		snprintf(name, sizeof name, "word-2-capped-seed-%llu",
				 (unsigned long long) seed);
		one = sh_profile_find(&profiles, name, strlen(name));
		CHECK(one != NULL && one->seed == seed);
		CHECK(strcmp(one->name, name) == 0);
	}
	CHECK(made < SH_PROFILE_SEEDED && made > SH_PROFILE_SEEDED - 5000);
	CHECK(sh_profile_find(&profiles, "word-2-seed-1099511627775", 25) == NULL);
	CHECK(sh_profile_find(&profiles, "word-2-capped-seed-4711", 23) == first);
	CHECK(sh_profile_find(&profiles, "word-2-capped-seed-0", 20) == sh_default_profile);
	/* what the process needs itself is made all the same */
	CHECK(sh_profile_seeded(&profiles, sh_default_profile, UINT64_MAX - 1)->seed ==
		  UINT64_MAX - 1);
	CHECK(sh_profile_seeded(&profiles, sh_default_profile, 4711) == first);
	CHECK(sh_profile_seeded(&profiles, sh_default_profile, 0) == sh_default_profile);
	CHECK(sh_profile_seeded(&profiles, sh_default_profile, seed - 1) != NULL);
}

/* Write a code point as UTF-8; returns its bytes. */
static size_t
put_character(char *to, int32_t c)
{
	int			n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (int i = n - 1; i > 0; i--, c >>= 6)
		to[i] = (char) (0x80 | (c & 0x3f));
	to[0] = (char) (n == 1 ? c : (0xf00 >> n & 0xff) | c);
	return (size_t) n;
}

/*
 * Separators within a run of an unspaced script make no difference, wherever
 * slices end and text is forgotten; nor do marks behind them.
 */
static void
test_joined(void)
{
	static const char *const separators[] = {
		" ", "\n", ", ", "\xe3\x80\x82", "\xc2\xa0", "\xe3\x80\x80", "\xff",
		" \xcc\x81", "\t\xcc\xa3\xcc\x81", "\xe2\x80\x9c", "...  (",
		"\xe2\x80\x8b ", "\xef\xbf\xb9 "
	};
	static char spaced[200000];
	static char joined[100000];

	for (int round = 0; round < 600; round++)
	{
		const ShProfile *profile = random_profile();
		size_t		most = round % 20 ? 300 : 20000;
		size_t		left = random_below(most);
		size_t		often = 1 + random_below(40);
		size_t		n = 0;
		size_t		m = 0;
		uint64_t	whole = 0;
		uint64_t	result = 0;

		while (left > 0)
		{
			size_t		run = 1 + random_below(left);
			int32_t		first = random_below(2) ? 0xe01 : 0x4e00;
			bool		inner = false;

			left -= run;
			for (; run > 0; run--, inner = true)
			{
				size_t		bytes = put_character(joined + m, first +
												  (int32_t) random_below(40));
				const char *separator = separators[random_below(13)];

				if (inner && random_below(often) == 0)
				{
					strcpy(spaced + n, separator);
					n += strlen(separator);
				}
				memcpy(spaced + n, joined + m, bytes);
				n += bytes;
				m += bytes;
			}
			/* what ends the run, as a separator might not */
			memcpy(spaced + n, " aB ", 4);
			memcpy(joined + m, " aB ", 4);
			n += 4;
			m += 4;
		}
		CHECK(n <= sizeof spaced && m <= sizeof joined);
		CHECK(fingerprint(profile, joined, m, SIZE_MAX, &whole) ==
			  fingerprint(profile, spaced, n, SIZE_MAX, &result));
		CHECK(whole == result);
		CHECK(eager_fingerprint(profile, joined, m, 1 + random_below(300),
								&result) ==
			  fingerprint(profile, spaced, n, 1 + random_below(300), &whole));
		CHECK(whole == result);
		CHECK(eager_fingerprint(profile, spaced, n, 1 + random_below(50),
								&result) ==
			  fingerprint(profile, spaced, n, SIZE_MAX, &whole));
		CHECK(whole == result);
	}
}

/* What has no fingerprint: separators with marks behind them. */
static void
test_lone_marks(void)
{
	static const char *const texts[] = {
		"\xcc\x81", " \xcc\x81", "\xcc\x81\xcc\xa3 \xcc\x81", ".\xe2\x83\xa3",
		"\xef\xbf\xb9\xef\xbf\xba\xef\xbf\xbb", "\xef\xb8\x8f\xe2\x83\xa3"
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
	{
		uint64_t	result;

		CHECK(!fingerprint(sh_default_profile, texts[i], strlen(texts[i]), 1,
						   &result));
		CHECK(!fingerprint(sh_profile_find(&profiles, "symbol-1", 8), texts[i],
						   strlen(texts[i]), 1, &result));
	}
	for (int i = 0; i < 2; i++)
	{
		uint64_t	result;

		CHECK(fingerprint(sh_profile_find(&profiles, i ? "symbol-1" : "word-1",
										  i ? 8 : 6), "*\xe2\x83\xa3", 4, 1,
						  &result) == (i == 1));
	}
}

/* No code point folds to more bytes than buffers have room for. */
static void
test_expansion(void)
{
	size_t		most = 0;

	for (uint32_t c = 0x80; c < 0x110000; c++)
	{
		unsigned char bytes[4];
		int			n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

		for (int i = n - 1; i > 0; i--)
			bytes[i] = (unsigned char) (0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
		bytes[0] = (unsigned char) ((0xf00 >> n & 0xff) | c >> 6 * (n - 1));
		sh_text_begin(&document.text, SH_UNIT_WORD);
		sh_text_feed(&document.text, bytes, bytes + n);
		sh_text_end(&document.text);
		if (document.text.used > most)
			most = document.text.used;
	}
	CHECK(most == SH_FOLD_BYTES);
}

/*
 * The longest features there can be, of words that fold to all that one can:
 * the buffer has room for one more word beside those that are kept.
 */
static void
test_longest(void)
{
	static char bytes[200 * (SH_PIECE_MAX * 3 + 1)];
	const ShProfile *profile = sh_profile_find(&profiles, "word-10", 7);
	uint64_t	whole = 0;
	uint64_t	result = 0;
	size_t		n = 0;

	for (int word = 0; word < 200; word++)
	{
		for (int i = 0; i < SH_PIECE_MAX; i++, n += 3)
			memcpy(bytes + n, "\xef\xb7\xba", 3);
		bytes[n++] = word % 7 == 0 ? 'a' : ' ';
	}
	CHECK(fingerprint(profile, bytes, n, SIZE_MAX, &whole));
	CHECK(eager_fingerprint(profile, bytes, n, 100, &result));
	CHECK(whole == result);
}

/* Random bytes, and bytes chosen to be trouble, must do no harm. */
static void
test_hostile(void)
{
	static const char *const pieces[] = {
		"\xef\xb7\xba",			/* folds to 18 code points */
		"\xe1\x86\xa7", "\xea\xb0\x80", "\xe1\x84\x80\xe1\x85\xa1",
		"\xcc\x81", "\xcd\x85", "\xe3\x82\x99", "\xc2\xad", "\xcc\xb8",
		"\xf0\xaf\xbf\xbf", "\xf4\x8f\xbf\xbf", "\xed\xa0\x80", "\xc0\x80",
		"\xf8\x88", "\xe4\xb8\xad", "\xe0\xb8\x81", "A", " ", "\0", "\xff",
		"\xc4\xb0", "\xc3\x9f", "\xe2\x85\xa7",
		"\xe0\xb8\x81\xe0\xb8\x82", "\xe3\x81\x8b", "+", "=\xcc\xb8", "\xe2\x83\xa3",
		"\xef\xbf\xbb", "\xe2\x82\xac", "\n"
	};
	static char bytes[200000];

	for (int round = 0; round < 400; round++)
	{
		const ShProfile *profile = random_profile();
		size_t		length = random_below(round % 20 ? 600 : 150000);
		int			some = (int) random_below(sizeof pieces / sizeof *pieces);
		size_t		n = 0;
		uint64_t	whole;
		uint64_t	result;

		while (n < length)
		{
			const char *piece;

			if (round % 3 == 0)
			{
				bytes[n++] = (char) random_bits();
				continue;
			}
			piece = pieces[round % 3 == 1 ? (int) random_below(sizeof pieces / sizeof *pieces) : some];
			strcpy(bytes + n, piece);
			n += strlen(piece) + (*piece == '\0');
		}
		whole = result = 0;
		CHECK(fingerprint(profile, bytes, n, 1, &whole) ==
			  fingerprint(profile, bytes, n, SIZE_MAX, &result));
		CHECK(whole == result);
		CHECK(fingerprint(profile, bytes, n, 1 + random_below(3000), &result) ==
			  eager_fingerprint(profile, bytes, n, 1 + random_below(300), &whole));
		CHECK(whole == result);
	}
}

/*
 * A document may end when there is no room for what its last word, not yet
 * normalised, can become.
 */
static void
test_full_text(void)
{
	static char bytes[SH_TEXT_BYTES + SH_PIECE_MAX * 3];
	int			full = 0;

	for (size_t n = SH_TEXT_BYTES / 2; n < SH_TEXT_BYTES; n += 31)
	{
		size_t		length = n;
		uint64_t	whole = 0;
		uint64_t	result = 0;

		for (size_t i = 0; i < n; i++)
			bytes[i] = i % 9 == 8 ? ' ' : (char) ('a' + random_below(26));
		for (int i = 1; i < SH_PIECE_MAX; i++, length += 3)
			memcpy(bytes + length, "\xef\xb7\xba", 3);
		sh_document_begin(&document, sh_default_profile);
		sh_document_feed(&document, (unsigned char *) bytes, length);
		full += sh_text_full(&document.text);
		CHECK(sh_document_end(&document, &whole));
		CHECK(eager_fingerprint(sh_default_profile, bytes, length, 100,
								&result));
		CHECK(whole == result);
	}
	CHECK(full > 10);
}

/*
 * Text read many bytes at once gives what it gives byte by byte: words of
 * every length, at every place, with what ends them.
 */
static void
test_ascii(void)
{
	static const char *const ends[] = {
		" ", ", ", "  ", "-", "\n\n", "\xc3\xa9", "\xcc\x81", " \xe2\x80\x9c",
		"\xe4\xb8\xad", "\xc2\xad", "\xff", "\x7f", "."
	};
	static char bytes[20000];

	for (int round = 0; round < 1500; round++)
	{
		const ShProfile *profile = random_profile();
		size_t		least = round % 5 == 0 ? 100 : 0;
		size_t		n = 0;
		uint64_t	whole = 0;
		uint64_t	result = 0;
		size_t		length = random_below(round % 50 ? 400 : 15000);

		while (n < length)
		{
			size_t		word = least + random_below(least ? 60 : 20);
			const char *end = ends[random_below(round % 2 ? 5 : 13)];

			for (size_t i = 0; i < word; i++)
				bytes[n++] = "abcdefgXYZ019"[random_below(13)];
			strcpy(bytes + n, end);
			n += strlen(end);
		}
		CHECK(fingerprint(profile, bytes, n, 1, &whole) ==
			  fingerprint(profile, bytes, n, SIZE_MAX, &result));
		CHECK(whole == result);
		CHECK(eager_fingerprint(profile, bytes, n, 1 + random_below(200),
								&result) ==
			  fingerprint(profile, bytes, n, 7, &whole));
		CHECK(whole == result);
	}
}

/* What the slots of a tally hold is what it has counted. */
static void
check_slots(ShTally *tally)
{
	size_t		features = 0;
	size_t		occurrences = 0;

	for (size_t slot = 0; slot < tally->slots; slot++)
	{
		if (tally->counts[slot] == 0)
			continue;
		features++;
		occurrences += tally->counts[slot];
		CHECK(tally->counts[slot] ==
			  *sh_tally_count(tally, tally->hashes[slot]));
	}
	CHECK(features == tally->occupied && occurrences == tally->seen);
}

/* Hashes counted many at once gain what they gain one by one. */
static void
test_sift(void)
{
	ShTally    *tally = &document.tally;
	ShTally		other = *tally;

	other.slots = 0;
	for (int round = 0; round < 400; round++)
	{
		ShDamping	damping = (ShDamping) (round % 5);
		uint64_t	kinds = 1 + random_below(round % 3 ? 50 : KINDS);
		uint64_t	gained = 0;
		uint64_t	sum = 0;

		sh_tally_begin(tally);
		sh_tally_begin(&other);
		for (int batch = 0; batch < 30; batch++)
		{
			uint64_t	hashes[SH_GAINED(700)];
			size_t		n = random_below(700);
			size_t		kept;
			uint32_t	gain;

			for (size_t i = 0; i < n; i++)
			{
				/* 0 is a hash like any other */
				hashes[i] = random_below(kinds) * UINT64_C(0x9e3779b97f4a7c15);
				gain = sh_tally_add(&other, damping, hashes[i]);
				gained += gain;
				sum += gain * hashes[i];
			}
			kept = sh_tally_sift(tally, damping, hashes, n);
			CHECK(kept <= (damping == SH_DAMP_CAPPED ? 2 * n : n));
			gained -= kept;
			for (size_t i = 0; i < kept; i++)
				sum -= hashes[i];
			CHECK(gained == 0 && sum == 0);
		}
		check_slots(tally);
		check_slots(&other);
	}
	sh_tally_end(&other);
}

/* A section ends in the middle of a batch where it should. */
static void
test_sift_section(void)
{
	ShTally    *tally = &document.tally;
	uint64_t	hashes[300];
	size_t		gained = 0;

	sh_tally_begin(tally);
	for (size_t done = 0; done < SH_SECTION + 300; done += 300)
	{
		for (int i = 0; i < 300; i++)
			hashes[i] = 42;
		gained += sh_tally_sift(tally, SH_DAMP_BINARY, hashes, 300);
		CHECK(gained == (done + 300 > SH_SECTION ? 2 : 1));
	}
}

/*
 * What is found to occur for the first time is what the tally says, in many
 * documents one after the other, with hashes that share their slots.
 */
static void
test_firsts(void)
{
	static ShFirsts firsts;
	ShTally    *tally = &document.tally;

	for (int round = 0; round < 3000; round++)
	{
		uint64_t	kinds = 1 + random_below(round % 3 ? 50 : KINDS);
		uint64_t	step = round % 2 ? UINT64_C(0x9e3779b97f4a7c15) : 1;
		size_t		most = round % 5 ? 300 : 3000;
		size_t		features = 0;
		bool		capped = round % 7 < 3;

		sh_tally_begin(tally);
		sh_firsts_begin(&firsts);
		for (;;)
		{
			uint64_t	hashes[SH_GAINED(700)];
			size_t		n = random_below(700);
			size_t		kept = n;
			uint64_t	sum = 0;
			bool		fits = features + n <= SH_FIRSTS_MAX;

			if (features + n > most)
				break;
			features += n;
			for (size_t i = 0; i < n; i++)
				hashes[i] = random_below(kinds) * step;
			for (size_t i = 0; fits && i < n; i++)
			{
				sum += (hashes[i] + 1) *
					sh_tally_add(tally, capped ? SH_DAMP_CAPPED :
								 SH_DAMP_BINARY, hashes[i]);
			}
			CHECK(sh_firsts_sift(&firsts, tally->multiplier, capped, hashes,
								 &kept) ==
				  fits);
			CHECK(fits || kept == n);
			if (!fits)
				break;
			for (size_t i = 0; i < kept; i++)
				sum -= hashes[i] + 1;
			CHECK(sum == 0);
		}
	}
}

/* A document that outgrows "firsts" is one as if there were none. */
static void
test_long_documents(void)
{
	for (int round = 0; round < 300; round++)
	{
		static unsigned char text[40000];
		const ShProfile *profile = round % 3 ? sh_default_profile :
		sh_profile_find(&profiles, "word-2", 6);
		size_t		n = random_below(sizeof text);
		uint64_t	kinds = 2 + random_below(round % 2 ? 100 : 4);
		uint64_t	other;
		uint64_t	result;
		bool		found;

		for (size_t i = 0; i < n; i++)
			text[i] = (unsigned char) "0123456789abcdef  "[random_below(18)];
		for (size_t i = 0; i + 4 < n; i += 4)
			sprintf((char *) text + i, "%03d ", (int) random_below(kinds));
		found = fingerprint(profile, (char *) text, n, SIZE_MAX, &result);
		sh_document_begin(&document, profile);
		document.counting = true;
		sh_document_feed(&document, text, n);
		CHECK(sh_document_end(&document, &other) == found);
		CHECK(other == result);
	}
}

/* Weights grow as the damping says, and anew in each section. */
static void
test_damping(void)
{
	ShTally    *tally = &document.tally;
	uint64_t	weight[5] = {0};

	for (ShDamping damping = SH_DAMP_COUNT; damping <= SH_DAMP_CAPPED; damping++)
	{
		sh_tally_begin(tally);
		for (uint32_t n = 1; n <= SH_SECTION / 2; n++)
		{
			uint64_t	expected[5] = {n, (uint64_t) sqrt((double) n),
			1 + (uint64_t) log2((double) n), 1, n < 4 ? 2 * n - 1 : 7};

			/* Another feature in between, never the same twice. */
			CHECK(sh_tally_add(tally, damping, UINT64_C(1) << 40 | n));
			weight[damping] += sh_tally_add(tally, damping, 42);
			CHECK(weight[damping] == expected[damping]);
			CHECK(sh_damp(damping, n) == expected[damping]);
		}
		CHECK(sh_tally_add(tally, damping, 42));
		CHECK(sh_tally_add(tally, damping, 42) ==
			  sh_damp(damping, 2) - sh_damp(damping, 1));
	}
}

/*
 * A long document leaves no large table to short ones that are counted, whereas
 * those that are not keep it for the next long one.
 */
static void
test_table_shrinks(void)
{
	static char text[100000];
	uint64_t	result;

	for (size_t i = 0; i < sizeof text; i++)
		text[i] = i % 8 == 7 ? ' ' : (char) ('a' + random_below(26));
	CHECK(fingerprint(sh_default_profile, text, sizeof text, sizeof text,
					  &result));
	for (int i = 0; i < 3; i++)
		CHECK(fingerprint(sh_default_profile, "a short one", 11, 11, &result));
	CHECK(document.tally.slots > 1024);
	for (int i = 0; i < 3; i++)
		CHECK(fingerprint(sh_profile_find(&profiles, "word-2-sqrt", 11), "a short one",
						  11, 11, &result));
	CHECK(document.tally.slots <= 1024);
}

/* ShTally.allocate */
static void *
allocate(void *context, size_t bytes)
{
	(void) context;
	return malloc(bytes);
}

int
main(void)
{
	seed_random();
	document.tally.allocate = allocate;
	document.tally.release = free;
	document.tally.multiplier = random_bits() | 1;
	test_golden("test/golden/golden_texts.tsv", "test/golden/golden.tsv");
	test_names();
	test_seeds();
	test_joined();
	test_lone_marks();
	test_expansion();
	test_longest();
	test_hostile();
	test_full_text();
	test_ascii();
	test_sift();
	test_sift_section();
	test_firsts();
	test_long_documents();
	test_damping();
	test_table_shrinks();
	test_many_seeds();
	sh_tally_end(&document.tally);
	return 0;
}
