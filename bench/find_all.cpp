/*-------------------------------------------------------------------------
 *
 * find_all.cpp
 *		How long simhash-cpp takes to find all pairs within distance 3.
 *
 * usage: find_all <FINGERPRINTS
 *
 * Reads fingerprints, a line each, into memory, and prints the seconds of
 * find_all alone, and the number of pairs.  The library must be installed:
 * the header simhash.h, and libsimhash.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <chrono>
#include <cstdio>
#include <unordered_set>

#include <simhash.h>

int
main()
{
	std::unordered_set<Simhash::hash_t> hashes;
	long long	value;

	while (std::scanf("%lld", &value) == 1)
		hashes.insert(static_cast<Simhash::hash_t>(value));

	auto		begin = std::chrono::steady_clock::now();
	auto		pairs = Simhash::find_all(hashes, 4, 3);
	std::chrono::duration<double> taken =
		std::chrono::steady_clock::now() - begin;

	std::printf("%.3f %zu\n", taken.count(), pairs.size());
	return 0;
}
