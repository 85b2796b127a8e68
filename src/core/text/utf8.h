/*-------------------------------------------------------------------------
 *
 * utf8.h
 *		Decoding UTF-8.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_UTF8_H
#define SH_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the UTF-8 character at p, by its first byte.  Only for text that
 * is known to be valid: the normalised text, and nothing else.
 */
static inline size_t
sh_utf8_length(unsigned char lead)
{
	return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/*
 * Decode the character at p, which is before end.  Sets *length to its bytes.
 * A byte that starts no valid character is a character of its own, -1.
 */
static inline int32_t
sh_utf8_decode(const unsigned char *p, const unsigned char *end, size_t *length)
{
	static const int32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	int32_t		c = *p;
	size_t		n;

	*length = 1;
	if (c < 0x80)
		return c;
	if (c < 0xc2 || c > 0xf4)
		return -1;
	n = sh_utf8_length((unsigned char) c);
	if ((size_t) (end - p) < n)
		return -1;
	c &= 0x7f >> n;
	for (size_t i = 1; i < n; i++)
	{
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return -1;
	*length = n;
	return c;
}

#endif							/* SH_UTF8_H */
