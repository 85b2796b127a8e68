/*-------------------------------------------------------------------------
 *
 * unit_passages.c
 *		Unit tests of words, passages and what is shared, by trying everything.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "core/bits.h"
#include "core/text/borders.h"
#include "core/text/shared_runs.h"

#define WORDS_MAX	3000

static int	pauses;

static void
count_pause(void)
{
	pauses++;
}

/* Borders that were found. */
typedef struct Found
{
	size_t		n;
	uint64_t	at[WORDS_MAX];
}			Found;

static void
note(void *state, const ShBorder *border)
{
	Found	   *found = state;

	found->at[found->n++] = border->at;
}

/* Read a document in slices of random lengths, each in memory of its own. */
static size_t
read_words(const char *document, size_t length, size_t most, ShWord *words)
{
	static ShWordReader reader;
	size_t		n = 0;

	sh_words_begin(&reader, false);
	for (size_t done = 0, k; done < length; done += k)
	{
		unsigned char *slice;
		const unsigned char *at;

		k = 1 + random_below(most);
		k = k < length - done ? k : length - done;
		while (done + k < length && (document[done + k] & 0xc0) == 0x80)
			k++;
		at = slice = malloc(k);
		memcpy(slice, document + done, k);
		while ((at = sh_words_feed(&reader, at, slice + k)) < slice + k)
		{
			memcpy(words + n, reader.held, reader.n * sizeof *words);
			n += reader.n;
			reader.n = 0;
		}
		free(slice);
	}
	sh_words_end(&reader);
	memcpy(words + n, reader.held, reader.n * sizeof *words);
	return n + reader.n;
}

/* Words do not depend on how a document is cut into slices. */
static void
test_words(void)
{
	static const char *const parts[] = {
		"a", "Bc", "DEFGHIJKLMNOPQRSTUVWXYZ", "0", " ", "  ", ", ", "\n",
		"\xc3\xa9", "E\xcc\x81", "\xe4\xb8\xad", "\xe3\x81\x8b\xe3\x82\x9a",
		"\xe0\xb8\x81", "\xc2\xad", "\xef\xac\x83", "\xff", "+", " \xcc\x81",
		"=\xcc\xb8", "\xef\xbf\xbb"
	};
	static ShWord whole[WORDS_MAX * 2];
	static ShWord sliced[WORDS_MAX * 2];

	for (int round = 0; round < 2000; round++)
	{
		char		document[4000];
		size_t		length = 0;
		size_t		until = random_below(3900);
		size_t		kinds = 1 + random_below(sizeof parts / sizeof *parts);
		size_t		n;

		while (length < until)
		{
			const char *part = parts[random_below(kinds)];

			memcpy(document + length, part, strlen(part));
			length += strlen(part);
		}
		n = read_words(document, length, 4000, whole);
		CHECK(read_words(document, length, 1 + random_below(200),
						 sliced) == n);
		CHECK(memcmp(whole, sliced, n * sizeof *whole) == 0);
		for (size_t i = 0; i < n; i++)
		{
			CHECK(whole[i].start < whole[i].end);
			CHECK(i == 0 || whole[i - 1].end <= whole[i].start);
		}
	}
}

/* Borders by their definition; places and hashes are of n words. */
static void
find_borders(Found * found, const ShWord *words, size_t n, int mean)
{
	uint64_t	reach = (uint64_t) (mean / 2) * 4;
	static uint64_t hashes[WORDS_MAX];
	static uint64_t places[WORDS_MAX];
	uint64_t	at = 0;
	uint64_t	last = 0;

	for (size_t i = 0; i < n; at += words[i++].quarters)
	{
		places[i] = at;
		hashes[i] = i == 0 ? 0 :
			sh_mix(words[i - 1].hash * SH_SCRAMBLE + words[i].hash);
	}
	found->n = 0;
	for (size_t i = 1; i < n; i++)
	{
		bool		least = places[n - 1] > places[i] + reach;

		for (size_t j = 0; j < n; j++)
		{
			if (j < i && places[j] + reach >= places[i])
				least &= hashes[i] < hashes[j];
			if (j > i && places[j] <= places[i] + reach)
				least &= hashes[i] <= hashes[j];
		}
		if (!least && places[i] < last + 16 * (uint64_t) mean)
			continue;
		last = places[i];
		found->at[found->n++] = last;
	}
}

/* Borders as they are found while words are read, some at a time. */
static void
test_borders(void)
{
	static ShWord words[WORDS_MAX];
	static ShPassages passages;
	static Found found;
	static Found expected;

	for (int round = 0; round < 400; round++)
	{
		size_t		n = random_below(1000);
		uint64_t	kinds = 1 + random_below(round % 4 == 0 ? 3 : 2000);
		uint64_t	phonetic = random_below(3);
		int			mean = SH_PASSAGE_MIN + (int) random_below(40);

		for (size_t i = 0; i < n; i++)
		{
			words[i].hash = random_below(kinds);
			words[i].quarters = random_below(2) < phonetic ? 1 : 4;
		}
		/* Stretches of one word, too. */
		for (size_t i = n / 3; i < n / 2 && round % 3 == 0; i++)
			words[i].hash = 1;
		found.n = 0;
		sh_passages_begin(&passages, mean, note, &found);
		for (size_t done = 0, k; done < n; done += k)
		{
			k = 1 + random_below(300);
			k = k < n - done ? k : n - done;
			sh_passages_add(&passages, words + done, k);
		}
		sh_passages_end(&passages);
		find_borders(&expected, words, n, mean);
		CHECK(found.n == expected.n);
		CHECK(memcmp(found.at, expected.at, found.n * sizeof *found.at) == 0);
	}
}

/*
 * The longest run of at least so many words of a that begins at word b of the
 * other, if any, at the first places where there is one.
 */
static size_t
longest_run(const uint64_t *a, size_t na, const uint64_t *b, size_t nb,
			size_t least, size_t *place)
{
	size_t		most = 0;
	int			places = 0;

	for (size_t i = 0; i < na && places < SH_PLACES_MAX; i++)
	{
		size_t		n = 0;

		while (i + n < na && n < nb && a[i + n] == b[n])
			n++;
		places += n >= least;
		if (n > most)
		{
			most = n;
			*place = i;
		}
	}
	return most;
}

/* What is shared, by trying each pair of places. */
static void
test_shared(void)
{
	for (int round = 0; round < 2000; round++)
	{
		uint64_t	a[60];
		uint64_t	b[60];
		uint64_t	windows[60];
		uint32_t	next[60];
		uint32_t	table[128];
		ShWindowTable t = {a, random_below(61), 1 + random_below(6),
		random_bits() | 1, windows, next, 128, table};
		size_t		n = random_below(61);
		uint64_t	kinds = 1 + random_below(5);
		ShSharedPassage passage = {0, 0, 0};
		size_t		from = 0;

		for (int i = 0; i < 60; i++)
		{
			a[i] = random_below(kinds);
			b[i] = random_below(kinds);
		}
		sh_shared_begin(&t, count_pause);
		for (size_t i = 0; i < n; i++)
		{
			size_t		place = 0;
			size_t		run = longest_run(a, t.n, b + i, n - i, t.least,
										  &place);

			if (i < from || run < t.least)
				continue;
			CHECK(sh_shared_next(&t, b, n, count_pause, &passage));
			CHECK(passage.b == i && passage.n == run && passage.a == place);
			from = i + run;
		}
		CHECK(!sh_shared_next(&t, b, n, count_pause, &passage));
	}
}

/* What takes long can be interrupted, also if each word begins a passage. */
static void
test_pauses(void)
{
	static const uint64_t a[2] = {1, 2};
	static uint64_t b[1000001];
	const size_t n = sizeof b / sizeof *b;
	uint64_t	windows[2];
	uint32_t	next[2];
	uint32_t	table[4];
	ShWindowTable t = {a, 2, 1, 1, windows, next, 4, table};
	ShSharedPassage passage = {0, 0, 0};
	size_t		passages = 0;

	for (size_t i = 0; i < n; i++)
		b[i] = i == 0 ? 0 : 2 - i % 2;
	sh_shared_begin(&t, count_pause);
	pauses = 0;
	while (sh_shared_next(&t, b, n, count_pause, &passage))
		passages++;
	CHECK(passages == n / 2);
	CHECK(pauses >= 15);
}

int
main(void)
{
	seed_random();
	test_words();
	test_borders();
	test_shared();
	test_pauses();
	return 0;
}
