/*-------------------------------------------------------------------------
 *
 * engine.h
 *		All pairs of fingerprints within a distance.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_ENGINE_H
#define SH_ENGINE_H

#include <stdint.h>

#include "core/pairs/plan.h"
#include "core/pairs/rows.h"
#include "core/pairs/sides.h"

/* Called with the numbers of two fingerprints, and their distance. */
typedef void (*ShPairSink) (void *context, uint32_t a, uint32_t b,
							int distance);

extern void sh_pairs_begin_search(ShPairs *pairs);
extern void sh_pairs_find_beside(ShPairs *pairs, int radius, uint32_t alone,
								 ShPairSink sink, void *context);
extern void sh_pairs_find(ShPairs *pairs, int radius, ShPairSink sink,
						  void *context);
extern void sh_pairs_find_within(ShPairs *pairs, int radius, uint32_t start,
								 uint32_t n, ShPairSink sink, void *context);
extern void sh_pairs_find_between(ShPairs *pairs, int radius, uint32_t start,
								  uint32_t n, uint32_t others, uint32_t m,
								  ShPairSink sink, void *context);

#endif							/* SH_ENGINE_H */
