/*-------------------------------------------------------------------------
 *
 * accumulate.h
 *		Feature hashes -> 64 sums -> fingerprint.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_ACCUMULATE_H
#define SH_ACCUMULATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

/*
 * How often each bit was set in the hashes that were added: 64 counts, of
 * which planes[p] holds the binary digit of weight 2^p, that of the count for
 * bit i in its own bit i.  All zero when nothing has been added.
 */
typedef struct ShSums
{
	uint64_t	total;			/* hashes added */
	uint64_t	planes[SH_BITS];
} ShSums;

extern void sh_sums_begin(ShSums *sums);
extern void sh_sums_add(ShSums *sums, const uint64_t *hashes, size_t n);
extern bool sh_sums_fingerprint(const ShSums *sums, uint64_t *fingerprint);

#endif							/* SH_ACCUMULATE_H */
