/*-------------------------------------------------------------------------
 *
 * digest.c
 *		Hash functions that other implementations use.
 *
 * Fingerprints of our own need none of these.  They are here so that those of
 * others can be computed bit for bit, and are written to be read: MD5 as in
 * RFC 1321, CRC-32C as in RFC 3720, and hashlittle2 of Bob Jenkins' lookup3.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/foreign/foreign.h"

#include <stdbool.h>
#include <string.h>


/* --- MD5 ----------------------------------------------------------------- */

/* floor(2^32 * |sin(i + 1)|) */
static const uint32_t md5_sines[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
	0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
	0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
	0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
	0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
	0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
	0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
	0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
	0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
	0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
	0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391
};

static inline uint32_t
rotate_left(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

/* Four bytes, the least significant first. */
static inline uint32_t
read_32(const unsigned char *p)
{
	return (uint32_t) p[0] | (uint32_t) p[1] << 8 |
		(uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}

/* Digest a block of 64 bytes. */
static void
md5_block(uint32_t state[4], const unsigned char *block)
{
	static const int shifts[4][4] = {
		{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}
	};
	uint32_t	a = state[0],
				b = state[1],
				c = state[2],
				d = state[3];

	for (int i = 0; i < 64; i++)
	{
		uint32_t	f;
		int			word;
		uint32_t	next;

		switch (i / 16)
		{
			case 0:
				f = (b & c) | (~b & d);
				word = i;
				break;
			case 1:
				f = (b & d) | (c & ~d);
				word = (5 * i + 1) % 16;
				break;
			case 2:
				f = b ^ c ^ d;
				word = (3 * i + 5) % 16;
				break;
			default:
				f = c ^ (b | ~d);
				word = 7 * i % 16;
				break;
		}
		f += a + md5_sines[i] + read_32(block + 4 * word);
		next = b + rotate_left(f, shifts[i / 16][i % 4]);
		a = d;
		d = c;
		c = b;
		b = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

/* Begin an MD5. */
void
sh_md5_begin(ShMd5 *md5)
{
	md5->state[0] = 0x67452301;
	md5->state[1] = 0xefcdab89;
	md5->state[2] = 0x98badcfe;
	md5->state[3] = 0x10325476;
	md5->length = 0;
}

/* Digest more bytes. */
void
sh_md5_feed(ShMd5 *md5, const unsigned char *bytes, size_t length)
{
	size_t		held = (size_t) (md5->length % sizeof md5->block);

	md5->length += length;
	while (held + length >= sizeof md5->block)
	{
		size_t		n = sizeof md5->block - held;

		memcpy(md5->block + held, bytes, n);
		md5_block(md5->state, md5->block);
		bytes += n;
		length -= n;
		held = 0;
	}
	if (length > 0)
		memcpy(md5->block + held, bytes, length);
}

/* End it. */
void
sh_md5_end(ShMd5 *md5, unsigned char digest[SH_MD5_BYTES])
{
	static const unsigned char padding[64] = {0x80};
	uint64_t	bits = md5->length * 8;
	unsigned char tail[8];

	sh_md5_feed(md5, padding, 64 - (size_t) ((md5->length + 8) % 64));
	for (int i = 0; i < 8; i++)
		tail[i] = (unsigned char) (bits >> (8 * i));
	sh_md5_feed(md5, tail, sizeof tail);
	for (int i = 0; i < SH_MD5_BYTES; i++)
		digest[i] = (unsigned char) (md5->state[i / 4] >> (8 * (i % 4)));
}

/* --- CRC-32C ------------------------------------------------------------- */

/* The CRC of a byte, and of those from it on: what its bits add. */
#define CRC(i) \
	(((i) & 1 ? UINT32_C(0xf26b8303) : 0) ^ ((i) & 2 ? UINT32_C(0xe13b70f7) : 0) ^ \
	 ((i) & 4 ? UINT32_C(0xc79a971f) : 0) ^ ((i) & 8 ? UINT32_C(0x8ad958cf) : 0) ^ \
	 ((i) & 16 ? UINT32_C(0x105ec76f) : 0) ^ ((i) & 32 ? UINT32_C(0x20bd8ede) : 0) ^ \
	 ((i) & 64 ? UINT32_C(0x417b1dbc) : 0) ^ ((i) & 128 ? UINT32_C(0x82f63b78) : 0))
#define CRC_4(i)	CRC(i), CRC((i) + 1), CRC((i) + 2), CRC((i) + 3)
#define CRC_16(i)	CRC_4(i), CRC_4((i) + 4), CRC_4((i) + 8), CRC_4((i) + 12)
#define CRC_64(i)	CRC_16(i), CRC_16((i) + 16), CRC_16((i) + 32), CRC_16((i) + 48)

/*
 * Continue a CRC-32C over more bytes, each OR'ed with the mask.  There is no
 * final complement: that is for the caller.
 */
uint32_t
sh_crc32c(uint32_t crc, const unsigned char *bytes, size_t length,
		  unsigned char mask)
{
	static const uint32_t table[256] = {
		CRC_64(0), CRC_64(64), CRC_64(128), CRC_64(192)
	};

	for (size_t i = 0; i < length; i++)
		crc = crc >> 8 ^ table[(crc ^ (bytes[i] | mask)) & 0xff];
	return crc;
}

/* --- lookup3 ------------------------------------------------------------- */

/* Up to twelve bytes as three words, zeros after the last. */
static void
read_words(uint32_t words[3], const unsigned char *bytes, size_t length)
{
	unsigned char padded[12] = {0};

	if (length > 0)
		memcpy(padded, bytes, length < 12 ? length : 12);
	for (int i = 0; i < 3; i++)
		words[i] = read_32(padded + 4 * i);
}

/*
 * hashlittle2 with both seeds 0: its *pc in the upper half of the result, its
 * *pb in the lower.
 */
uint64_t
sh_lookup3(const unsigned char *bytes, size_t length)
{
	static const int mix[6] = {4, 6, 8, 16, 19, 4};
	static const int final[7] = {14, 11, 25, 16, 4, 14, 24};
	uint32_t	x[3];			/* a, b and c */
	uint32_t	words[3];

	x[0] = x[1] = x[2] = 0xdeadbeef + (uint32_t) length;
	for (; length > 12; bytes += 12, length -= 12)
	{
		read_words(words, bytes, 12);
		for (int i = 0; i < 3; i++)
			x[i] += words[i];
		for (int i = 0; i < 6; i++)
		{
			uint32_t   *to = &x[i % 3];
			uint32_t	before = x[(i + 2) % 3];

			*to = (*to - before) ^ rotate_left(before, mix[i]);
			x[(i + 2) % 3] = before + x[(i + 1) % 3];
		}
	}
	if (length == 0)
		return (uint64_t) x[2] << 32 | x[1];
	read_words(words, bytes, length);
	for (int i = 0; i < 3; i++)
		x[i] += words[i];
	for (int i = 0; i < 7; i++)
	{
		uint32_t	before = x[(i + 1) % 3];
		uint32_t   *to = &x[(i + 2) % 3];

		*to = (*to ^ before) - rotate_left(before, final[i]);
	}
	return (uint64_t) x[2] << 32 | x[1];
}
