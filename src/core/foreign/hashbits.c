/*-------------------------------------------------------------------------
 *
 * hashbits.c
 *		The fingerprint of any width of a well-known Python class.
 *
 * A token is hashed as strings once were in Python, but modulo 2^bits: x begins
 * as the first code point times 128; for each code point, the first included,
 * it is multiplied by 1000003 and xored with the code point; in the end with
 * the number of code points.  The hash of an empty token is 0.  A bit of the
 * fingerprint is 1 when at least half of the tokens have it in their hash, so
 * that without tokens all bits are.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/foreign/foreign.h"

#include "core/text/characters.h"

#define FACTOR			UINT32_C(1000003)
#define STRETCH			(64 * 1024) /* bytes between two pauses */
#define ESCAPED			0xdc00	/* how Python reads a byte that is not UTF-8 */

/* Multiply x, of so many limbs with the lowest one first, and xor it. */
static void
step(uint32_t *x, int limbs, uint32_t c)
{
	uint64_t	carry = 0;

	for (int i = 0; i < limbs; i++)
	{
		carry += (uint64_t) x[i] * FACTOR;
		x[i] = (uint32_t) carry;
		carry >>= 32;
	}
	x[0] ^= c;
}

/* Add a token. */
void
sh_hashbits_add(ShHashbits *sums, const unsigned char *bytes, size_t length,
				void (*pause) (void))
{
	const unsigned char *end = bytes + length;
	const unsigned char *paused = NULL;
	int			limbs = (sums->bits + 31) / 32;
	uint32_t	x[SH_HASHBITS_LIMBS] = {0};
	uint32_t	n = 0;

	while (bytes < end)
	{
		size_t		k;
		int32_t		c = sh_utf8_decode(bytes, end, &k);

		if (c < 0)
			c = ESCAPED + *bytes;
		if (n++ == 0)
			x[0] = (uint32_t) c << 7;
		step(x, limbs, (uint32_t) c);
		bytes += k;
		if (paused == NULL || bytes - paused > STRETCH)
		{
			pause();
			paused = bytes;
		}
	}
	x[0] ^= n;
	for (int bit = 0; bit < sums->bits; bit++)
		sums->sums[bit] += x[bit / 32] >> bit % 32 & 1 ? 1 : -1;
}

/* Write the fingerprint, most significant bit first, to bytes that are 0. */
void
sh_hashbits_write(const ShHashbits *sums, unsigned char *bits)
{
	for (int i = 0; i < sums->bits; i++)
	{
		if (sums->sums[sums->bits - 1 - i] >= 0)
			bits[i / 8] |= (unsigned char) (0x80 >> i % 8);
	}
}
