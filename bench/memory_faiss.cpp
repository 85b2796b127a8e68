/*-------------------------------------------------------------------------
 *
 * memory_faiss.cpp
 *		Searches by faiss: four hashes of 16 bits, and a scan of all.
 *
 * memory.h says how it is called.  IndexBinaryMultiHash within K finds what shares
 * one of four pieces up to K / 4 bits, which is every answer.  Its nearest ones are not
 * exact, so they are taken from IndexBinaryFlat.  The library must be installed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include <functional>

#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <omp.h>

#include "memory.h"

typedef std::function<long(uint64_t)> Search;

static const uint8_t *
as_bytes(const uint64_t *codes)
{
	return reinterpret_cast<const uint8_t *>(codes);
}

int
main(int argc, char **argv)
{
	faiss::IndexBinaryMultiHash hashes(64, 4, 16);
	faiss::IndexBinaryFlat flat(64);
	Codes		codes = read_codes(stdin);

	omp_set_num_threads(1);
	hashes.own_fields = true;
	hashes.add(codes.size(), as_bytes(codes.data()));
	flat.add(codes.size(), as_bytes(codes.data()));
	return measure_all(argc, argv,[&](int k) -> Search {
		hashes.nflip = k / 4;
		return[&hashes, k](uint64_t q) -> long {
			faiss::RangeSearchResult result(1);

			hashes.range_search(1, as_bytes(&q), k + 1, &result);
			return static_cast<long>(result.lims[1]);
		};
	},[&](int k) -> Search {
		return[&flat, k](uint64_t q) -> long {
			std::vector<int32_t> distances(k);
			std::vector<faiss::IndexBinary::idx_t> labels(k);
			long		sum = 0;

			flat.search(1, as_bytes(&q), k, distances.data(), labels.data());
			for (int distance : distances)
				sum += distance;
			return sum;
		};
	});
}
