/*-------------------------------------------------------------------------
 *
 * crowds.c
 *		Finds crowds, sets of many fingerprints that are nearly all within the
 *		radius of each other, so that clusters need not look at all their
 *		pairs.
 *
 * For example, a table has a hundred thousand variants of one text, and a
 * million other texts.  The variants make five billion pairs.  simhash_pairs
 * has to list them all, but simhash_clusters only has to know that the
 * variants are connected, or which of them are near to a few centers.  So the
 * variants are set apart as a crowd, and pairs are then searched among the
 * other fingerprints, and between these and the crowd, but not within the
 * crowd.
 *
 * How a crowd is found.
 *
 *	1. Fingerprints are sorted, so that a crowd shows as a range in which far
 *	   more fingerprints than expected have the same leading bits
 *	   (sh_crowds_find).
 *	2. A few values of the range are tried as a center.  One that has many
 *	   others of the range within the radius is the center of a crowd
 *	   (try_range).
 *	3. What is within twice the radius of the center, and in the same group of
 *	   rows, is a candidate (set_apart).
 *	4. The center is the first member.  A look from a member makes members of
 *	   all candidates within the radius of it.  Each member in turn looks, as
 *	   long as looks still gain enough members for what they cost
 *	   (look_around).  So the pairs of a crowd connect all of its members.
 *
 * A crowd that is not found, or candidates that did not become members, cost
 * time in the search that follows.  The result is the same.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/clusters.h"

#include <string.h>

#define SAMPLES			4		/* values to try as a center */
#define LOOKS			64		/* looks after which their gain is weighed */
#define LOOKS_MAX		4096	/* looks from members of one crowd */

/* Begin with all values, sorted, and no crowd. */
void
sh_crowds_begin(ShCrowds *crowds, ShPairs *pairs, int radius, uint32_t least)
{
	crowds->pairs = pairs;
	crowds->radius = radius;
	crowds->reach = 2 * radius;
	crowds->least = least;
	crowds->alone = pairs->distinct;
	crowds->count = 0;
	sh_pairs_begin_search(pairs);
}

/* Has the crowd of this center been set apart? */
static bool
is_known(const ShCrowds *crowds, uint64_t center)
{
	for (uint32_t i = 0; i < crowds->count; i++)
	{
		if (sh_distance(center, crowds->crowd[i].center) <= crowds->radius)
			return true;
	}
	return false;
}

/*
 * Step 4 above, for n candidates, of which the first is the center.  Brings
 * the members to the front, and returns their number.
 *
 * A look costs as many comparisons as there are candidates that are no
 * members. Each member that it gains spares the search that follows the pairs
 * with the other members.  So the last LOOKS looks were worth it if members
 * gained times members is no less than LOOKS times candidates left.
 */
static uint32_t
look_around(const ShCrowds *crowds, uint64_t *values, uint32_t n)
{
	const ShPairs *pairs = crowds->pairs;
	uint32_t	members = 1;
	uint32_t	before = 0;

	for (uint32_t look = 0; look < members && members < n; look++)
	{
		if (look % LOOKS == 0 && look > 0)
		{
			if ((double) (members - before) * members <
				(double) LOOKS * (n - members) || look >= LOOKS_MAX)
				break;
			before = members;
		}
		members += (uint32_t)
			sh_take_near(values[look], crowds->radius,
						 values + members, n - members);
		sh_pairs_tell(pairs, 0);
	}
	return members;
}

/* Move the values in a group of rows to the front; how many are they? */
static uint32_t
bring_group_forward(const ShPairs *pairs, uint32_t group, uint64_t *values, uint32_t n)
{
	uint32_t	taken = 0;

	if (pairs->groups == NULL)
		return n;
	for (uint32_t i = 0; i < n; i++)
	{
		uint64_t	value = values[i];

		if (sh_pairs_group(pairs, sh_pairs_number(pairs, value)) != group)
			continue;
		values[i] = values[taken];
		values[taken++] = value;
	}
	return taken;
}

/*
 * Set the crowd of a center apart, unless too few values belong to it: move
 * its members to the end of the values that are in no crowd yet.
 */
static void
set_apart(ShCrowds *crowds, uint64_t center)
{
	const ShPairs *pairs = crowds->pairs;
	uint64_t   *values = pairs->work;
	uint32_t	alone = crowds->alone;
	ShCrowd    *crowd = &crowds->crowd[crowds->count];
	uint32_t	group;
	uint32_t	near;
	uint32_t	members;
	uint32_t	moves;

	group = sh_pairs_group(pairs, sh_pairs_number(pairs, center));
	near = (uint32_t) sh_take_near(center, crowds->reach, values, alone);
	near = bring_group_forward(pairs, group, values, near);
	if (near < crowds->least ||
		sh_take_near(center, 0, values, near) == 0)
		return;
	members = look_around(crowds, values, near);
	if (members < crowds->least)
		return;
	moves = members < alone - members ? members : alone - members;
	for (uint32_t i = 0; i < moves; i++)
	{
		uint64_t	value = values[i];

		values[i] = values[alone - moves + i];
		values[alone - moves + i] = value;
	}
	crowds->alone = alone - members;
	crowd->center = center;
	crowd->group = group;
	crowd->start = crowds->alone;
	crowd->n = members;
	crowds->count++;
}

/*
 * The middle of some values: each of its bits is what most of them have.  It
 * need not be one of them.
 */
static uint64_t
middle_of(const uint64_t *values, uint32_t n)
{
	uint32_t	ones[SH_BITS] = {0};
	uint64_t	middle = 0;

	for (uint32_t i = 0; i < n; i++)
	{
		for (int bit = 0; bit < SH_BITS; bit++)
			ones[bit] += values[i] >> bit & 1;
	}
	for (int bit = 0; bit < SH_BITS; bit++)
		middle |= (uint64_t) (ones[bit] > n / 2) << bit;
	return middle;
}

/* The value that is nearest to a given one. */
static uint64_t
nearest_of(const uint64_t *values, uint32_t n, uint64_t to)
{
	uint64_t	nearest = values[0];

	for (uint32_t i = 1; i < n; i++)
	{
		if (sh_distance(values[i], to) < sh_distance(nearest, to))
			nearest = values[i];
	}
	return nearest;
}

/* Look for a crowd among values that begin with the same bits. */
static void
try_range(ShCrowds *crowds, uint32_t start, uint32_t n)
{
	const ShPairs *pairs = crowds->pairs;
	const uint64_t *values = pairs->values + start;
	uint64_t   *copy = pairs->spare;

	for (uint32_t sample = 0; sample <= SAMPLES; sample++)
	{
		uint64_t	center = sample == 0
		? nearest_of(values, n, middle_of(values, n))
		: values[(uint64_t) n * (2 * sample - 1) / (2 * SAMPLES)];

		if (crowds->count == SH_CROWDS_MAX || is_known(crowds, center))
			continue;
		memcpy(copy, values, n * sizeof *copy);
		if (sh_take_near(center, crowds->radius, copy, n) >=
			crowds->least / 4)
			set_apart(crowds, center);
		sh_pairs_tell(pairs, 0);
	}
}

/* Set crowds apart. */
void
sh_crowds_find(ShCrowds *crowds)
{
	const ShPairs *pairs = crowds->pairs;
	uint32_t	n = pairs->distinct;
	uint32_t	start = 0;
	int			shift;

	if (crowds->radius == 0 || n < crowds->least)
		return;
	shift = sh_bit_length(pairs->values[n - 1] ^ pairs->values[0]) -
		sh_bit_length(n / (crowds->least / 16 + 1));
	for (uint32_t i = 1; i <= n; i++)
	{
		if (i < n && (shift <= 0 || pairs->values[i] >> shift ==
					  pairs->values[start] >> shift))
			continue;
		if (i - start >= crowds->least)
			try_range(crowds, start, i - start);
		start = i;
	}
}
