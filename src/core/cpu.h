/*-------------------------------------------------------------------------
 *
 * cpu.h
 *		What the processor that we run on can do.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_CPU_H
#define SH_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Every processor has these. */
static inline bool
sh_cpu_any(void)
{
	return true;
}

#ifdef __x86_64__

/*
 * What functions are compiled for that need AVX2, and are called only where
 * sh_cpu_avx2() is true.  Every processor that has it counts bits and finds
 * single ones by one instruction, too, unless a virtual machine hides that.
 */
#define SIMHASH_AVX2	__attribute__((target("avx2,bmi,popcnt")))

static inline bool
sh_cpu_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
		__builtin_cpu_supports("popcnt");
}

/* sh_distance(), by an instruction. */
static inline SIMHASH_AVX2 int
sh_cpu_avx2_distance(uint64_t a, uint64_t b)
{
	return __builtin_popcountll(a ^ b);
}

#endif							/* __x86_64__ */

/*
 * Define the function "name", which returns the first of an array of kinds
 * that can be used on the processor that we run on.  Kinds are the same
 * functions, written for the instructions of some processors; they stand in
 * the array with the fastest first, and the last one can be used everywhere.
 * Nothing is kept, for the sake of threads: asking takes a few instructions.
 */
#define SH_CPU_DEFINE_FASTEST(name, Kind, kinds) \
const Kind * \
name(void) \
{ \
	const Kind *kind = (kinds); \
\
	while (!kind->usable()) \
		kind++; \
	return kind; \
} \
extern const Kind *name(void)

#endif							/* SH_CPU_H */
