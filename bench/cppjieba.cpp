/*-------------------------------------------------------------------------
 *
 * cppjieba.cpp
 *		The rate of yanyiwu's simhash, whose words are cut by cppjieba.
 *
 * usage: cppjieba DICTIONARIES <DOCUMENTS
 *
 * DICTIONARIES is the directory dict of cppjieba; a document is a line.  Each
 * yields the fingerprint of its 200 most telling words.  Prints megabytes a
 * second, dictionaries not counted.  The headers must be installed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include <simhash/Simhasher.hpp>

int
main(int argc, char **argv)
{
	const std::string dict = argc > 1 ? argv[1] : "";
	simhash::Simhasher hasher(dict + "/jieba.dict.utf8",
							  dict + "/hmm_model.utf8", dict + "/idf.utf8",
							  dict + "/stop_words.utf8");
	std::vector<std::string> documents;
	uint64_t	fingerprint;
	uint64_t	all = 0;
	double		bytes = 0;

	for (std::string line; std::getline(std::cin, line);)
		documents.push_back(line);

	std::clock_t begin = std::clock();

	for (const auto &document: documents)
	{
		hasher.make(document, 200, fingerprint);
		all ^= fingerprint;
		bytes += static_cast<double>(document.size());
	}

	double		taken =
		static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;

	std::fprintf(stderr, "%llx\n", static_cast<unsigned long long>(all));
	std::printf("%.4g\n", bytes / 1e6 / taken);
	return 0;
}
