/*-------------------------------------------------------------------------
 *
 * unit_pairs.h
 *		What the unit tests of pairs share: data, and what a search reports.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef UNIT_PAIRS_H
#define UNIT_PAIRS_H

#include "unit.h"

#include <string.h>

#include "core/pairs/engine.h"

/* The kinds of data; random_value knows what they are. */
enum
{
	UNIFORM, CLUSTERED, EQUAL, LOW_HALF, ONE_BLOCK, SPARSE, FEW_BITS, SKEWED,
	CROWD, CROWDS, KINDS
};

/* What a search reports. */
typedef struct Found
{
	const ShPairs *pairs;
	int			radius;
	size_t		count;
	size_t		room;
	uint64_t   *pair;
	size_t		next;			/* pair to hand out */
	int			last;			/* the last progress told, of 1000 */
}			Found;

/* Up to n bits. */
static inline uint64_t
random_flips(int n)
{
	uint64_t	flips = 0;

	while (n-- > 0)
		flips |= UINT64_C(1) << random_below(SH_BITS);
	return flips;
}

/* The i-th value of a kind of data; those before it are given. */
static inline uint64_t
random_value(int kind, const uint64_t *values, size_t i, int radius)
{
	uint64_t	value = random_bits();

	switch (kind)
	{
		case CLUSTERED:
			return i == 0 || random_below(4) == 0 ? value
				: values[random_below(i)] ^
				random_flips((int) random_below((uint64_t) radius + 3));
		case EQUAL:
			return UINT64_C(0x0123456789abcdef);
		case LOW_HALF:
			return value >> 32;
		case ONE_BLOCK:
			return value & ~(UINT64_C(0xffff) << 16 * (radius % 4));
		case SPARSE:
			return value & random_bits() & random_bits() & random_bits();
		case FEW_BITS:
			return value & UINT64_C(0x8001000420001081);
		case SKEWED:
			return random_below(3) == 0 ? value
				: (value & UINT64_C(0x00000ffff0000000)) | random_flips(1);
		case CROWD:
			return UINT64_C(0x0123456789abcdef) ^
				random_flips((int) random_below((uint64_t) radius + 2));
		case CROWDS:
			return random_below(8) == 0 ? value
				: (random_below(4) << 30) * 0x10204081u ^
				random_flips((int) random_below((uint64_t) radius + 2));
		default:
			return value;
	}
}

/* Some instructions that can be used here. */
static inline const ShCompareKind *
some_kind(void)
{
	const ShCompareKind *kind;

	do
	{
		kind = &sh_compare_kinds[random_below((uint64_t)
											  sh_compare_kinds_count)];
	} while (!kind->usable());
	return kind;
}

/* ShPairSink: note a pair, which has to be one. */
static inline void
note_pair(void *context, uint32_t a, uint32_t b, int distance)
{
	Found	   *found = context;
	const uint64_t *values = found->pairs->values;

	CHECK(a < found->pairs->distinct && b < found->pairs->distinct);
	CHECK(distance == sh_distance(values[a], values[b]));
	CHECK(distance > 0 && distance <= found->radius);
	if (found->count == found->room)
	{
		found->room = found->room * 2 + 64;
		found->pair = realloc(found->pair,
							  found->room * sizeof *found->pair);
	}
	found->pair[found->count++] = a < b ? (uint64_t) a << 32 | b
		: (uint64_t) b << 32 | a;
}

/* The order of pairs, for qsort(). */
static inline int
compare_keys(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* Put the pairs of a search in order. */
static inline void
sort_pairs(Found * found)
{
	if (found->count > 0)
		qsort(found->pair, found->count, sizeof *found->pair, compare_keys);
}

/* Two searches have reported the same pairs, each as often. */
static inline void
check_same(Found * a, Found * b)
{
	CHECK(a->count == b->count);
	sort_pairs(a);
	sort_pairs(b);
	CHECK(a->count == 0 ||
		  memcmp(a->pair, b->pair, a->count * sizeof *a->pair) == 0);
}

/* Exactly the pairs that brute force finds, each once. */
static inline void
check_pairs(ShPairs *pairs, int radius, Found * found)
{
	size_t		count = 0;

	memset(found, 0, sizeof *found);
	found->pairs = pairs;
	found->radius = radius;
	sh_pairs_find(pairs, radius, note_pair, found);
	sort_pairs(found);
	for (uint32_t a = 0; a < pairs->distinct; a++)
	{
		for (uint32_t b = a + 1; b < pairs->distinct; b++)
		{
			if (sh_distance(pairs->values[a], pairs->values[b]) > radius ||
				sh_pairs_group(pairs, a) != sh_pairs_group(pairs, b))
				continue;
			CHECK(count < found->count);
			CHECK(found->pair[count] == ((uint64_t) a << 32 | b));
			count++;
		}
	}
	CHECK(count == found->count);
}

#endif							/* UNIT_PAIRS_H */
