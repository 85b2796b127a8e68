/*-------------------------------------------------------------------------
 *
 * hashbits.h
 *		The fingerprint of any width of a well-known Python class.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_HASHBITS_H
#define SH_HASHBITS_H

#include <stddef.h>
#include <stdint.h>

#define SH_HASHBITS_MAX		1024
#define SH_HASHBITS_LIMBS	(SH_HASHBITS_MAX / 32)

/* Tokens being added up; all zero at first, but for "bits". */
typedef struct ShHashbits
{
	int			bits;
	int64_t		sums[SH_HASHBITS_MAX];
} ShHashbits;

extern void sh_hashbits_add(ShHashbits *sums, const unsigned char *bytes,
							size_t length, void (*pause) (void));
extern void sh_hashbits_write(const ShHashbits *sums, unsigned char *bits);

#endif							/* SH_HASHBITS_H */
