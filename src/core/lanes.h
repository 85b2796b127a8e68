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

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

#define SH_LANES		64		/* numbers that a mask describes */

/* Bit i of the mask: values[i] is at most so much. */
static inline uint64_t
sh_at_most(const uint16_t *values, uint16_t limit)
{
	uint64_t	mask = 0;

#if defined(__SSE2__)
	const		__m128i most = _mm_set1_epi16((short) limit);
	const		__m128i zero = _mm_setzero_si128();

	/* Nothing remains of such a value when the limit is taken from it. */
	for (int i = 0; i < SH_LANES; i += 16)
	{
		const		__m128i *v = (const __m128i *) (values + i);
		__m128i		low = _mm_subs_epu16(_mm_loadu_si128(v), most);
		__m128i		high = _mm_subs_epu16(_mm_loadu_si128(v + 1), most);

		low = _mm_packs_epi16(_mm_cmpeq_epi16(low, zero),
							  _mm_cmpeq_epi16(high, zero));
		mask |= (uint64_t) _mm_movemask_epi8(low) << i;
	}
#elif defined(__ARM_NEON) && defined(__aarch64__)
	static const uint8_t bits[8] = {1, 2, 4, 8, 16, 32, 64, 128};

	for (int i = 0; i < SH_LANES; i += 8)
	{
		uint16x8_t	set = vcleq_u16(vld1q_u16(values + i), vdupq_n_u16(limit));

		mask |= (uint64_t) vaddv_u8(vand_u8(vmovn_u16(set), vld1_u8(bits))) << i;
	}
#else
	for (int i = 0; i < SH_LANES; i++)
		mask |= (uint64_t) (values[i] <= limit) << i;
#endif
	return mask;
}

#endif							/* SH_LANES_H */
