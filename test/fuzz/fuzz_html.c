/*-------------------------------------------------------------------------
 *
 * fuzz_html.c
 *		Any bytes as a page of HTML.
 *
 * The text has no more bytes than there is room for, and the article no more than
 * the text; a page that is valid UTF-8 has a text that is.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "core/text/characters.h"
#include "core/text/html.h"

static ShHtmlNames names;

/* Are the bytes valid UTF-8? */
static bool
is_valid(const uint8_t *p, const uint8_t *end)
{
	size_t		length;

	for (; p < end; p += length)
	{
		if (sh_utf8_decode(p, end, &length) < 0)
			return false;
	}
	return true;
}

/* The text of a page, or its article, in just as much room as was promised. */
static size_t
read_page(const uint8_t *bytes, size_t length, bool article, const char *empty)
{
	uint8_t    *page = malloc(length + 1);
	uint8_t    *text = malloc(SH_HTML_BYTES(length));
	size_t		n;

	/*
	 * One byte is left out at the front, so that the end is that of the
	 * block.
	 */
	memcpy(page + 1, bytes, length);
	n = sh_html_text(&names, page + 1, length, text, article, empty,
					 no_pause);
	CHECK(n <= SH_HTML_BYTES(length));
	CHECK(!is_valid(bytes, bytes + length) || is_valid(text, text + n));
	free(page);
	free(text);
	return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	size_t		whole = read_page(bytes, length, false, NULL);

	CHECK(read_page(bytes, length, true, NULL) <= whole);
	CHECK(read_page(bytes, length, false, "\342\220\243") >= whole);
	return 0;
}
