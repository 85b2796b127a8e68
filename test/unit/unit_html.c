/*-------------------------------------------------------------------------
 *
 * unit_html.c
 *		Unit test of the reader of pages: it pauses within all that may be long.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/text/html.h"

#define PAGE_BYTES	(64 * SH_HTML_STRIDE)

static int	pauses;

static void
count_pause(void)
{
	pauses++;
}

/* A page that begins so, and goes on and on with the rest. */
static void
test_page(const char *begin, const char *rest)
{
	static ShHtmlNames names;
	unsigned char *page = malloc(PAGE_BYTES);
	unsigned char *text = malloc(SH_HTML_BYTES(PAGE_BYTES));
	size_t		length = strlen(begin);

	memcpy(page, begin, length);
	for (size_t n = strlen(rest); length + n <= PAGE_BYTES; length += n)
		memcpy(page + length, rest, n);
	pauses = 0;
	sh_html_text(&names, page, length, text, false, NULL, count_pause);
	CHECK(pauses >= 60);
	free(page);
	free(text);
}

int
main(void)
{
	test_page("", "<b>words and</b> ");
	test_page("<a style=\"", ";");
	test_page("<a style='", "display:block;");
	test_page("<a ", "a b=c ");
	test_page("<!--x", "->");
	test_page("<script>", "<");
	test_page("<script><!--", "-<");
	test_page("<p>", "x");
	test_page("<svg><text><![CDATA[", "]]");
	return 0;
}
