/*-------------------------------------------------------------------------
 *
 * shared_runs.h
 *		The passages that two documents share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_SHARED_RUNS_H
#define SH_SHARED_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a window that occurs more often in a document, only the first are seen. */
#define SH_PLACES_MAX	16

/* A document as the hashes of its words, with its windows of "least" words. */
typedef struct ShWindowTable
{
	/* what the caller fills in; windows and next need room for n */
	const uint64_t *hashes;
	size_t		n;				/* less than 2^32 - 1 */
	size_t		least;
	uint64_t	multiplier;		/* odd, and best chosen at random */
	uint64_t   *windows;		/* the hash of the window at each place */
	uint32_t   *next;			/* the next place of that window, from 1 */
	size_t		slots;			/* a power of two, more than n */
	uint32_t   *table;			/* first places of windows, from 1; 0: free */
} ShWindowTable;

/* A passage that is shared, in words. */
typedef struct ShSharedPassage
{
	size_t		a;
	size_t		b;
	size_t		n;
} ShSharedPassage;

extern void sh_shared_begin(ShWindowTable *a, void (*pause) (void));
extern bool sh_shared_next(const ShWindowTable *a, const uint64_t *hashes,
						   size_t n, void (*pause) (void),
						   ShSharedPassage *passage);

#endif							/* SH_SHARED_RUNS_H */
