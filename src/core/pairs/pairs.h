/*-------------------------------------------------------------------------
 *
 * pairs.h
 *		All pairs of fingerprints within a distance.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_PAIRS_H
#define SH_PAIRS_H

#include <stdint.h>

#include "core/pairs/plan.h"
#include "core/pairs/rows.h"

/* Called with the numbers of two fingerprints, and their distance. */
typedef void (*ShPairSink) (void *context, uint32_t a, uint32_t b,
							int distance);

extern void sh_pairs_begin_search(ShPairs *pairs);
extern void sh_pairs_find_beside(ShPairs *pairs, int radius, uint32_t alone,
								 ShPairSink sink, void *context);
extern double sh_pairs_cost(uint32_t n, int radius);
extern void sh_pairs_find(ShPairs *pairs, int radius, ShPairSink sink,
						  void *context);
extern void sh_pairs_find_within(ShPairs *pairs, int radius, uint32_t start,
								 uint32_t n, ShPairSink sink, void *context);
extern void sh_pairs_find_between(ShPairs *pairs, int radius, uint32_t start,
								  uint32_t n, uint32_t others, uint32_t m,
								  ShPairSink sink, void *context);

/* By parts, where memory does not hold all values. */
extern void sh_pairs_plan_parts(ShPairPlan *plan, uint64_t bits, uint32_t n,
								int radius);
extern uint64_t sh_turn(uint64_t value, int by);
extern int	sh_turn_plan(const ShPairPlan *plan, int number,
						 ShPairPlan *turned);
extern uint32_t sh_part_of(uint64_t value, const ShKeyBlock *block,
						   int prefix);
extern bool sh_parts_meet(const ShKeyBlock *block, uint32_t x, uint32_t y);
extern void sh_pairs_find_in_parts(ShPairs *pairs, const ShPairPlan *plan,
								   int number, int prefix, int radius,
								   uint32_t *ends, ShPairSink sink,
								   void *context);

#endif							/* SH_PAIRS_H */
