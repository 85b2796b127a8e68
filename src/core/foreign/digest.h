/*-------------------------------------------------------------------------
 *
 * digest.h
 *		Hash functions that other implementations use.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_DIGEST_H
#define SH_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define SH_MD5_BYTES	16
#define SH_CRC32C_INIT	UINT32_C(0xffffffff)

/* An MD5 being computed. */
typedef struct ShMd5
{
	uint32_t	state[4];
	uint64_t	length;			/* bytes so far */
	unsigned char block[64];	/* those that fill no block yet */
} ShMd5;

extern void sh_md5_begin(ShMd5 *md5);
extern void sh_md5_feed(ShMd5 *md5, const unsigned char *bytes, size_t length);
extern void sh_md5_end(ShMd5 *md5, unsigned char digest[SH_MD5_BYTES]);
extern uint32_t sh_crc32c(uint32_t crc, const unsigned char *bytes,
						  size_t length, unsigned char mask);
extern uint64_t sh_lookup3(const unsigned char *bytes, size_t length);

#endif							/* SH_DIGEST_H */
