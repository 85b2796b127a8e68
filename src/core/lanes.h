/*-------------------------------------------------------------------------
 *
 * lanes.h
 *		64 numbers compared at once.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_LANES_H
#define SH_LANES_H

#include <stdint.h>

#ifdef __wasm_simd128__
#include <wasm_simd128.h>
#endif

#define SH_LANES		64		/* numbers that a mask describes */

/* Eight numbers, which need not be aligned as a vector is; and a byte of each. */
typedef uint16_t ShEight __attribute__((vector_size(16), aligned(2), may_alias));
typedef int8_t ShEightBytes __attribute__((vector_size(8)));

/*
 * What gathers the lowest bits of eight bytes in the highest byte of the product,
 * that of the byte which lies first in memory as bit 0.
 */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define SH_GATHER		UINT64_C(0x8040201008040201)
#else
#define SH_GATHER		UINT64_C(0x0102040810204080)
#endif

/* Bit i of the mask: values[i] is at most so much. */
static inline uint64_t
sh_at_most(const uint16_t *values, uint16_t limit)
{
	uint64_t	mask = 0;

#ifdef __wasm_simd128__
	for (int i = 0; i < SH_LANES; i += 8)
		mask |= (uint64_t) wasm_i16x8_bitmask((v128_t) (*(const ShEight *) (values + i) <= limit)) << i;
#else
	for (int i = 0; i < SH_LANES; i += 8)
	{
		ShEightBytes set = __builtin_convertvector(*(const ShEight *) (values + i) <= limit,
												   ShEightBytes);

		mask |= (((uint64_t) set & UINT64_C(0x0101010101010101)) * SH_GATHER >> 56) << i;
	}
#endif
	return mask;
}

#endif							/* SH_LANES_H */
