/*-------------------------------------------------------------------------
 *
 * parts.h
 *		All pairs where memory does not hold all fingerprints.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_PARTS_H
#define SH_PARTS_H

#include "core/pairs/pairs.h"

extern uint64_t sh_turn(uint64_t value, int by);
extern int	sh_turn_plan(const ShPairPlan *plan, int number,
						 ShPairPlan *turned);
extern uint32_t sh_part_of(uint64_t value, const ShKeyBlock *block,
						   int prefix);
extern void sh_pairs_plan_parts(ShPairPlan *plan, uint64_t bits, uint32_t n,
								int radius);
extern bool sh_parts_meet(const ShKeyBlock *block, uint32_t x, uint32_t y);
extern void sh_pairs_find_in_parts(ShPairs *pairs, const ShPairPlan *plan,
								   int number, int prefix, int radius,
								   uint32_t *ends, ShPairSink sink,
								   void *context);

#endif							/* SH_PARTS_H */
