/*-------------------------------------------------------------------------
 *
 * memory_dyft.cpp
 *		Searches by dyft: tries of four pieces, made for one distance each.
 *
 * memory.h says how it is called.  dyft has no search for the nearest.  Its headers
 * must be installed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <algorithm>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>

/* The library leaves it to others to include what it needs. */
#include <unistd.h>

#include <tinyformat/tinyformat.h>
#include <mi_frame.hpp>

#include "memory.h"

typedef std::function<long(uint64_t)> Search;
typedef dyft::mi_frame<dyft::mart_index<64>> Index;

int
main(int argc, char **argv)
{
	dyft::vcode_array<64> codes(read_codes(stdin), 1);
	std::unique_ptr<Index> index;

	return measure_all(argc, argv,[&](int k) -> Search {
		index.reset(new Index(&codes, k, std::max(2, std::min(4, k)), 0, 1.0));
		for (uint32_t i = 0; i < codes.get_size(); i++)
			index->append();
		return[&, k](uint64_t q) -> long {
			long		found = 0;

			index->range_search(&q,[&](uint32_t i) {
				found += dyft::vcode_tools<64>::get_hamdist(&q,
															codes.access(i), 1) <= k;
			});
			return found;
		};
	},[](int) -> Search { return nullptr; });
}
