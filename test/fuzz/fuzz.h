/*-------------------------------------------------------------------------
 *
 * fuzz.h
 *		What the fuzz targets share.
 *
 * A target is a function that is given bytes, reads from them what to do, does
 * it, and stops at the first thing that is not so.  libFuzzer makes the bytes,
 * changing those that have led to code not seen before.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libFuzzer keeps the bytes that have led here. */
#define CHECK(condition) \
	do { \
		if (!(condition)) \
		{ \
			fprintf(stderr, "%s:%d: not so: %s\n", \
					__FILE__, __LINE__, #condition); \
			abort(); \
		} \
	} while (0)

extern int	LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* What is left of the input. */
typedef struct Input
{
	const uint8_t *bytes;
	size_t		left;
}			Input;

/* A number of so many bytes; those that are missing are 0. */
static inline uint64_t
take(Input * input, int bytes)
{
	uint64_t	result = 0;

	for (; bytes > 0 && input->left > 0; bytes--, input->left--)
		result = result << 8 | *input->bytes++;
	return result;
}

/* A number from "least" to "most". */
static inline int
take_between(Input * input, int least, int most)
{
	return least + (int) (take(input, 2) % (uint64_t) (most - least + 1));
}

/* The core asks now and then whether it should stop. */
static inline void
no_pause(void)
{
}

#endif							/* FUZZ_H */
