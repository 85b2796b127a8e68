/*-------------------------------------------------------------------------
 *
 * unit_ascii.c
 *		Unit tests of the search for ASCII words, against its definition.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "ascii.h"

/* True for ASCII letters and digits. */
static int
is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		(c >= 'A' && c <= 'Z');
}

/* Check what a classifier makes of 64 bytes. */
static void
check_block(const ShClassifier *classifier, const unsigned char *bytes)
{
	ShBlock		block = classifier->classify(bytes);

	for (int i = 0; i < 64; i++)
	{
		CHECK((block.word >> i & 1) == (uint64_t) is_word(bytes[i]));
		CHECK((block.other >> i & 1) == (bytes[i] >= 0x80));
	}
}

/* Every classifier: each byte in each place beside each other, and at random. */
static void
test_classifiers(void)
{
	for (const ShClassifier *c = sh_classifiers; c->name != NULL; c++)
	{
		unsigned char bytes[64];

		for (int a = 0; a < 256; a++)
		{
			for (int b = 0; b < 256; b++)
			{
				for (int i = 0; i < 64; i++)
					bytes[i] = (unsigned char) ((i + a) % 3 == 0 ? a : b);
				check_block(c, bytes);
			}
		}
		for (int round = 0; round < 100000; round++)
		{
			for (int i = 0; i < 64; i++)
				bytes[i] = (unsigned char) random_bits();
			check_block(c, bytes);
		}
		printf("classifier %s\n", c->name);
	}
}

/* Check the words of a text, which is copied to where no byte may follow. */
static void
check_words(const unsigned char *text, size_t n)
{
	unsigned char *bytes = malloc(n > 0 ? n : 1);
	uint16_t	starts[SH_WORDS_MAX];
	uint16_t	ends[SH_WORDS_MAX];
	size_t		next;
	size_t		count;
	size_t		end = 0;
	size_t		found = 0;
	size_t		start = 0;

	memcpy(bytes, text, n);
	count = sh_ascii_words(bytes, n, starts, ends, &next);
	while (end < n && end < SH_WORDS_BYTES && bytes[end] < 0x80)
		end++;
	for (size_t i = 0; i < end; i++)
	{
		if (is_word(bytes[i]))
			continue;
		if (start < i)
		{
			CHECK(found < count);
			CHECK(starts[found] == start && ends[found] == i);
			found++;
		}
		start = i + 1;
	}
	CHECK(found == count);
	CHECK(next == start);
	free(bytes);
}

/* Words of texts of all lengths, of several mixtures. */
static void
test_words(void)
{
	static const char mixtures[][8] = {
		"a       ", "a ", "ab.Z0~@[", "aaaaaaaa", "        ", "aaaaaaa ",
		"`{/:\x1f\x7f\x80\xff", "aaaaaa \xc3"
	};
	static unsigned char text[SH_WORDS_BYTES + 200];

	for (size_t n = 0; n <= sizeof text; n++)
	{
		for (size_t m = 0; m < sizeof mixtures / sizeof *mixtures; m++)
		{
			for (size_t i = 0; i < n; i++)
				text[i] = (unsigned char) mixtures[m][random_below(8)];
			check_words(text, n);
		}
		memset(text, 'a', n);
		if (n > 0)
			text[random_below(n)] = (unsigned char) random_bits();
		check_words(text, n);
		for (size_t i = 0; i < n; i++)
			text[i] = i % 2 ? 'x' : ' ';
		check_words(text, n);
	}
}

int
main(void)
{
	seed_random();
	test_classifiers();
	test_words();
	return 0;
}
