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

/* Every processor has these. */
static inline bool
sh_cpu_any(void)
{
	return true;
}

#ifdef __x86_64__

/* AVX2, and an instruction that counts bits. */
static inline bool
sh_cpu_avx2(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}

/* The same, and instructions on single bits. */
static inline bool
sh_cpu_avx2_bmi(void)
{
	return sh_cpu_avx2() && __builtin_cpu_supports("bmi") &&
		__builtin_cpu_supports("bmi2");
}

/* AVX-512 with counts of bits in each of eight 64-bit lanes. */
static inline bool
sh_cpu_avx512_popcount(void)
{
	__builtin_cpu_init();
	return sh_cpu_avx2() && __builtin_cpu_supports("avx512f") &&
		__builtin_cpu_supports("avx512vpopcntdq");
}

#endif							/* __x86_64__ */

#endif							/* SH_CPU_H */
