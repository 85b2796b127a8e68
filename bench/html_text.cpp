/*-------------------------------------------------------------------------
 *
 * html_text.cpp
 *		How fast Gumbo makes trees of pages, and the text is read off them.
 *
 * usage: html_text TIMES PAGE...
 *
 * Reads the pages into memory.  Prints megabytes of pages a second of the
 * processor's time, of the median of so many times over all of them.  Gumbo
 * must be installed: the header gumbo.h, and libgumbo.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gumbo.h>

/* The text of a node and those below it, but for scripts and styles. */
static void
add_text(const GumboNode *node, std::string &text)
{
	const GumboVector *children;

	if (node->type == GUMBO_NODE_TEXT || node->type == GUMBO_NODE_WHITESPACE)
		text += node->v.text.text;
	if (node->type != GUMBO_NODE_ELEMENT ||
		node->v.element.tag == GUMBO_TAG_SCRIPT ||
		node->v.element.tag == GUMBO_TAG_STYLE)
		return;
	children = &node->v.element.children;
	for (unsigned i = 0; i < children->length; i++)
		add_text(static_cast<const GumboNode *>(children->data[i]), text);
	text += ' ';
}

int
main(int argc, char **argv)
{
	std::vector<std::string> pages;
	std::vector<double> seconds;
	size_t		bytes = 0,
				texts = 0;

	for (int i = 2; i < argc; i++)
	{
		std::ifstream file(argv[i], std::ios::binary);

		pages.emplace_back(std::istreambuf_iterator<char>(file),
						   std::istreambuf_iterator<char>());
		bytes += pages.back().size();
	}
	for (int times = std::atoi(argv[1]); times > 0; times--)
	{
		std::clock_t begin = std::clock();

		for (const std::string &page : pages)
		{
			GumboOutput *output =
				gumbo_parse_with_options(&kGumboDefaultOptions, page.data(), page.size());
			std::string text;

			add_text(output->root, text);
			texts += text.size();
			gumbo_destroy_output(&kGumboDefaultOptions, output);
		}
		seconds.push_back(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
	}
	std::sort(seconds.begin(), seconds.end());
	std::printf("%.4f\n", bytes / 1e6 / seconds[seconds.size() / 2]);
	return texts == 0;
}
