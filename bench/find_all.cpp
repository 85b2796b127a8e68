/*-------------------------------------------------------------------------
 *
 * find_all.cpp
 *		How long simhash-cpp takes to find all pairs within distance 3.
 *
 * usage: find_all BLOCKS... <FINGERPRINTS
 *
 * Reads fingerprints, a line each, into memory.  For each number of blocks
 * prints the seconds of find_all alone, the number of pairs, and the number
 * of blocks.  The library must be installed: the header simhash.h, and
 * libsimhash.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unordered_set>

#include <simhash.h>

int
main(int argc, char **argv)
{
	std::unordered_set<Simhash::hash_t> hashes;
	long long	value;

	while (std::scanf("%lld", &value) == 1)
		hashes.insert(static_cast<Simhash::hash_t>(value));

	for (int i = 1; i < argc; i++)
	{
		auto		begin = std::chrono::steady_clock::now();
		auto		pairs = Simhash::find_all(hashes, std::atoi(argv[i]), 3);
		std::chrono::duration<double> taken =
			std::chrono::steady_clock::now() - begin;

		std::printf("%.3f %zu %s\n", taken.count(), pairs.size(), argv[i]);
	}
	return 0;
}
