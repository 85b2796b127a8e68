/*-------------------------------------------------------------------------
 *
 * memory.h
 *		What the programs share that search by a library in memory.
 *
 * Each is called as
 *
 *	program QUERIES K,N... <FINGERPRINTS
 *
 * and reads fingerprints, a line each, from its standard input and from the file
 * QUERIES.  For each K,N it looks for all fingerprints within distance K of the first N
 * queries; or, for +K,N, for the K nearest ones.  It prints
 *
 *	K,N MICROSECONDS FOUND
 *
 * the processor's time for a query, and how many were found in all; of nearest
 * ones the sum of their distances.  It is one thread.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

typedef std::vector<uint64_t> Codes;

static Codes
read_codes(std::FILE *file)
{
	Codes		codes;
	long long	value;

	while (std::fscanf(file, "%lld", &value) == 1)
		codes.push_back(static_cast<uint64_t>(value));
	return codes;
}

/*
 * Measure what the arguments ask for.  range(k) and nearest(k) make a search, a
 * function of a query that returns what it found; null if the library has none.
 */
template<typename Range, typename Nearest>
static int
measure_all(int argc, char **argv, Range range, Nearest nearest)
{
	std::FILE  *file = std::fopen(argv[1], "r");
	Codes		queries = read_codes(file);

	for (int i = 2; i < argc; i++)
	{
		bool		is_nearest = argv[i][0] == '+';
		char	   *end;
		int			k = std::strtol(argv[i], &end, 10);
		size_t		n = std::strtol(end + 1, nullptr, 10);
		long		found = 0;
		auto		search = is_nearest ? nearest(k) : range(k);
		std::clock_t begin;

		if (!search)
			continue;
		/* The first round warms up. */
		for (size_t q = 0; q < n / 10; q++)
			search(queries[q]);
		begin = std::clock();
		for (size_t q = 0; q < n; q++)
			found += search(queries[q]);
		std::printf("%s %.2f %ld\n", argv[i],
					1e6 * (std::clock() - begin) / CLOCKS_PER_SEC / n, found);
		std::fflush(stdout);
	}
	return 0;
}

#endif
