/*-------------------------------------------------------------------------
 *
 * unit_ascii.c
 *		Unit tests of the reading of ASCII words, against its definition.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "core/text/ascii.h"

/* True for ASCII letters and digits. */
static int
is_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		(c >= 'A' && c <= 'Z');
}

/* What stands for a byte in the normalised text. */
static unsigned char
normal_form(unsigned char c)
{
	if (!is_word(c))
		return ' ';
	return c >= 'A' && c <= 'Z' ? (unsigned char) (c - 'A' + 'a') : c;
}

/* Check what is made of 64 bytes. */
static void
check_block(const ShAsciiKind *kind, const unsigned char *bytes)
{
	unsigned char normal[64];
	ShBlock		block = kind->classify(bytes, normal);

	for (int i = 0; i < 64; i++)
	{
		CHECK((block.word >> i & 1) == (uint64_t) is_word(bytes[i]));
		CHECK((block.other >> i & 1) == (bytes[i] >= 0x80));
		CHECK(bytes[i] >= 0x80 || normal[i] == normal_form(bytes[i]));
	}
}

/* Each byte in each place beside each other, and at random. */
static void
test_classify(const ShAsciiKind *kind)
{
	unsigned char bytes[64];

	for (int a = 0; a < 256; a++)
	{
		for (int b = 0; b < 256; b++)
		{
			for (int i = 0; i < 64; i++)
				bytes[i] = (unsigned char) ((i + a) % 3 == 0 ? a : b);
			check_block(kind, bytes);
		}
	}
	for (int round = 0; round < 100000; round++)
	{
		for (int i = 0; i < 64; i++)
			bytes[i] = (unsigned char) random_bits();
		check_block(kind, bytes);
	}
}

/*
 * Check the words read from a text, which is copied to where no byte may
 * follow, as are the results.
 */
static void
check_words(const ShAsciiKind *kind, const unsigned char *text, size_t n)
{
	size_t		before = random_below(100);
	unsigned char *bytes = malloc(n > 0 ? n : 1);
	unsigned char *words = malloc(before + SH_ASCII_BYTES + SH_ASCII_BEYOND);
	uint16_t   *ends = malloc((SH_ASCII_BYTES / 2 + SH_ENDS_BEYOND) *
							  sizeof *ends);
	size_t		used = before;
	size_t		done;
	size_t		count;
	size_t		at = before;
	size_t		found = 0;
	size_t		limit;

	memcpy(bytes, text, n);
	done = kind->read(bytes, n, words, &used);
	count = kind->find_spaces(words, before, used, ends);
	CHECK(done <= n && used <= before + done);
	for (size_t i = 0; i < done; i++)
	{
		CHECK(bytes[i] < 0x80);
		if (is_word(bytes[i]))
		{
			CHECK(words[at++] == normal_form(bytes[i]));
			continue;
		}
		if (i == 0 || !is_word(bytes[i - 1]))
			continue;
		CHECK(found < count && ends[found] == at);
		CHECK(words[at++] == ' ');
		found++;
	}
	CHECK(at == used && found == count);
	CHECK(done == 0 || !is_word(bytes[done - 1]));

	/* Nothing was left that should have been read. */
	for (limit = done; limit < n && is_word(bytes[limit]); limit++)
		;
	CHECK(limit == n || bytes[limit] >= 0x80 || limit >= SH_ASCII_BYTES ||
		  limit - done >= SH_ASCII_BLOCK);
	free(bytes);
	free(words);
	free(ends);
}

/* Words of texts of all lengths, of several mixtures. */
static void
test_words(const ShAsciiKind *kind)
{
	/* eight characters each, and the end of the string */
	static const char mixtures[][8 + 1] = {
		"a       ", "a ", "ab.Z0~@[", "aaaaaaaa", "        ", "aaaaaaa ",
		"`{/:\x1f\x7f\x80\xff", "aaaaaa \xc3"
	};
	static unsigned char text[SH_ASCII_BYTES + 200];

	for (size_t n = 0; n <= sizeof text; n++)
	{
		for (size_t m = 0; m < sizeof mixtures / sizeof *mixtures; m++)
		{
			for (size_t i = 0; i < n; i++)
				text[i] = (unsigned char) mixtures[m][random_below(8)];
			check_words(kind, text, n);
		}
		memset(text, 'a', n);
		if (n > 0)
			text[random_below(n)] = (unsigned char) random_bits();
		check_words(kind, text, n);
		for (size_t i = 0; i < n; i++)
			text[i] = i % 2 ? 'x' : ' ';
		check_words(kind, text, n);
		for (size_t i = 0; i < n; i++)
			text[i] = random_below(80) ? 'y' : ' ';
		check_words(kind, text, n);
	}
}

int
main(void)
{
	seed_random();
	for (int i = 0; i < sh_ascii_kinds_count; i++)
	{
		const ShAsciiKind *kind = &sh_ascii_kinds[i];

		if (!kind->usable())
			continue;
		test_classify(kind);
		test_words(kind);
		printf("words read by %s\n", kind->name);
	}
	return 0;
}
