/*-------------------------------------------------------------------------
 *
 * find_all.cpp
 *		How long simhash-cpp takes to find all pairs within distance 3.
 *
 * usage: find_all BLOCKS... <FINGERPRINTS
 *
 * Reads fingerprints, a line each, into memory.  For each number of blocks
 * prints the processor's seconds of find_all alone, the number of pairs, and the number
 * of blocks.  The library must be installed: the header simhash.h, and
 * libsimhash.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <cstdio>
#include <cstdlib>
#include <ctime>
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
		std::clock_t begin = std::clock();
		auto		pairs = Simhash::find_all(hashes, std::atoi(argv[i]), 3);
		double		taken =
			static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;

		std::printf("%.3f %zu %s\n", taken, pairs.size(), argv[i]);
	}
	return 0;
}
