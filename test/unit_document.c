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

#include "core/foreign/recipes.h"
#include "core/fingerprint/document.h"
#include "core/lanes.h"

#define KINDS		4000		/* features that are counted, at most */

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
		sh_sums_add(&document.sums, hashes,
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
	return sh_sums_fingerprint(&document.sums, result);
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
		const ShProfile *profile = sh_profile_find(name, strlen(name));
		char	   *text;
		size_t		length = find_text(texts, label, text_line,
									   sizeof text_line, &text);
		static const size_t slices[] = {SIZE_MAX, 1, 7, 100};

		CHECK(profile != NULL);
		for (int i = 0; i < 8; i++)
		{
			uint64_t	result;
			char		ours[32] = "\\N";

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
	int			min = 1 + (int) random_below(SH_WINDOW_MAX);
	char		name[40];
	const ShProfile *profile;

	if (random_below(2))
	{
		/* what other implementations do is not for the tokeniser */
		do
			profile = &sh_profiles[random_below((uint64_t) sh_profile_count)];
		while (sh_compat_profile(profile));
		return profile;
	}
	snprintf(name, sizeof name, "%s-%d-%d%s",
			 random_below(2) ? "word" : "char", min,
			 min + (int) random_below((uint64_t) (SH_WINDOW_MAX - min + 1)),
			 dampings[random_below(sizeof dampings / sizeof *dampings)]);
	profile = sh_profile_find(name, strlen(name));
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
		{"char-2-count", "char-2-2-count"}
	};
	static const char *const none[] = {
		"", "word", "word-", "word-0", "word-11", "word-2-1", "word-1-11",
		"word-02", "word-1-02", "word-2-", "word-2-once", "word-2-count-",
		"word-2-2-2", "word-2-count-log", "Word-2", "char-0", "char-100000000000",
		"word--1", "word-1--2", "word-N", "word-2 ", "word-2-coun", "char"
	};
	int			kinds = 0;

	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
	{
		const ShProfile *a = sh_profile_find(same[i][0], strlen(same[i][0]));
		const ShProfile *b = sh_profile_find(same[i][1], strlen(same[i][1]));

		CHECK(a != NULL && a == b);
		CHECK(strlen(a->name) <= strlen(same[i][0]) &&
			  strlen(a->name) <= strlen(same[i][1]));
	}
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		CHECK(sh_profile_find(none[i], strlen(none[i])) == NULL);
	CHECK(sh_profile_find("word-2-counted", strlen("word-2-count")) != NULL);
	for (int round = 0; round < 20000; round++)
	{
		const ShProfile *a = random_profile();

		CHECK(sh_profile_find(a->name, strlen(a->name)) == a);
		kinds += a->damping == SH_DAMP_SQRT;
	}
	CHECK(kinds > 1000);
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
	const ShProfile *profile = sh_profile_find("word-10", 7);
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
		"\xc4\xb0", "\xc3\x9f", "\xe2\x85\xa7"
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

/* What a tally lists is what it has counted. */
static void
check_list(ShTally *tally)
{
	static uint64_t hashes[KINDS + 2 * SH_LANES];
	static uint32_t counts[KINDS + 2 * SH_LANES];
	size_t		slot = 0;
	size_t		features = 0;
	size_t		occurrences = 0;
	size_t		n;

	do
	{
		size_t		max = SH_LANES + random_below(SH_LANES);

		n = sh_tally_list(tally, &slot, hashes + features, counts + features,
						  max);
		CHECK(n <= max);
		features += n;
	} while (n > 0);
	CHECK(slot == tally->slots && features == tally->occupied);
	for (size_t i = 0; i < features; i++)
	{
		CHECK(counts[i] == *sh_tally_count(tally, hashes[i]));
		occurrences += counts[i];
	}
	CHECK(occurrences == tally->seen);
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
		check_list(tally);
		check_list(&other);
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
		sh_profile_find("word-2", 6);
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

/* A long document leaves no large table to the short ones that follow. */
static void
test_table_shrinks(void)
{
	static char text[100000];
	uint64_t	result;

	for (size_t i = 0; i < sizeof text; i++)
		text[i] = i % 8 == 7 ? ' ' : (char) ('a' + random_below(26));
	CHECK(fingerprint(sh_default_profile, text, sizeof text, sizeof text,
					  &result));
	CHECK(document.tally.slots > 1024);
	for (int i = 0; i < 3; i++)
		CHECK(fingerprint(sh_default_profile, "a short one", 11, 11, &result));
	CHECK(document.tally.slots <= 1024);
}

int
main(void)
{
	seed_random();
	document.tally.allocate = malloc;
	document.tally.release = free;
	document.tally.multiplier = random_bits() | 1;
	test_golden("test/golden_texts.tsv", "test/golden.tsv");
	test_names();
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
	sh_tally_end(&document.tally);
	return 0;
}
