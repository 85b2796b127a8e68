/*-------------------------------------------------------------------------
 *
 * compare.h
 *		Fingerprints compared each with each, by the fastest instructions.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_COMPARE_H
#define SH_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include "bits.h"

typedef struct ShCompare ShCompare;

/* What to look for, whom to tell, and the instructions to do it with. */
struct ShCompare
{
	int			radius;
	void		(*match) (void *context, uint64_t a, uint64_t b);
	void	   *context;

	void		(*one) (const ShCompare *compare, uint64_t one,
						const uint64_t *many, size_t n);
	void		(*runs) (const ShCompare *compare, const uint64_t *values,
						 const uint32_t *ends, size_t n, size_t limit);
};

extern void sh_compare_begin(ShCompare *compare, int radius,
							 void (*match) (void *, uint64_t, uint64_t),
							 void *context);
extern void sh_compare_portable(ShCompare *compare);

#endif							/* SH_COMPARE_H */
