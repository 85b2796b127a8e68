/*-------------------------------------------------------------------------
 *
 * unit.h
 *		What the unit tests of the core share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef UNIT_H
#define UNIT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Stop at the first thing that is not so. */
#define CHECK(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: not so: %s\n", \
					__FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

static uint64_t random_state;

/* Seed the random numbers, from SIMHASH_SEED if it is set; print the seed. */
static inline void
seed_random(void)
{
	const char *seed = getenv("SIMHASH_SEED");

	random_state = seed != NULL ? strtoull(seed, NULL, 10)
		: (uint64_t) time(NULL) * 1000003u;
	printf("SIMHASH_SEED=%llu\n", (unsigned long long) random_state);
}

/* Is this a run that may take long, as SIMHASH_SECONDS says by being set? */
static inline int
long_run(void)
{
	return getenv("SIMHASH_SECONDS") != NULL;
}

/* A random number (Steele, Lea and Flood 2014: SplitMix64). */
static inline uint64_t
random_bits(void)
{
	uint64_t	z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* A random number below n. */
static inline uint64_t
random_below(uint64_t n)
{
	return random_bits() % n;
}

#endif							/* UNIT_H */
