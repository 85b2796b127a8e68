/*-------------------------------------------------------------------------
 *
 * compare.h
 *		Fingerprints compared with many others, by the fastest instructions.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_COMPARE_H
#define SH_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/bits.h"

#define SH_COMPARE_BEYOND	16	/* values that may be read beyond the last */

typedef struct ShCompare ShCompare;

/* The same functions, written for the instructions of some processors. */
typedef struct ShCompareKind
{
	const char *name;
	bool		(*usable) (void);	/* on the processor that we run on? */

	/* Compare one value with many; some beyond them are read, no more. */
	void		(*one) (const ShCompare *compare, uint64_t one,
						const uint64_t *many, size_t n);

	/* Compare each with each within every run of 2 to limit values. */
	void		(*runs) (const ShCompare *compare, const uint64_t *values,
						 size_t start, const uint32_t *ends, size_t n, size_t limit);
} ShCompareKind;

/* What to look for, whom to tell, and the instructions to do it with. */
struct ShCompare
{
	int			radius;
	void		(*match) (void *context, uint64_t a, uint64_t b);
	void	   *context;
	const ShCompareKind *kind;
};

extern const ShCompareKind sh_compare_kinds[];
extern const int sh_compare_kinds_count;

extern const ShCompareKind *sh_compare_fastest(void);
extern size_t sh_take_near(uint64_t one, int radius, uint64_t *values,
						   size_t n);

#endif							/* SH_COMPARE_H */
