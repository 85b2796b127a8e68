/*-------------------------------------------------------------------------
 *
 * unit_bag.c
 *		Unit tests of bags of features: weights and overlaps, by counting.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <math.h>
#include <stdlib.h>

#include "core/fingerprint/bag.h"

#define KINDS_MAX	2000		/* different hashes */

static void
pause_not(void)
{
}

/* Fill a bag with n hashes out of "kinds", and count them. */
static void
fill(ShBag *bag, ShDamping damping, const uint64_t *hashes, size_t kinds,
	 size_t n, uint32_t *counts)
{
	uint64_t	batch[700];

	memset(counts, 0, kinds * sizeof *counts);
	sh_bag_begin(bag, damping);
	for (size_t done = 0, k; done < n; done += k)
	{
		k = 1 + random_below(700);
		k = k < n - done ? k : n - done;
		for (size_t i = 0; i < k; i++)
		{
			size_t		kind = random_below(kinds);

			batch[i] = hashes[kind];
			counts[kind]++;
		}
		sh_bag_add(bag, batch, k);
	}
	sh_bag_end(bag);
}

/* ShBag.allocate */
static void *
allocate(void *context, size_t bytes)
{
	(void) context;
	return malloc(bytes);
}

/* Two bags, used again and again, against their counts. */
static void
test_overlap(void)
{
	static uint64_t hashes[KINDS_MAX];
	static uint32_t counts[2][KINDS_MAX];
	ShBag		bags[3] = {{0}};

	for (int i = 0; i < 3; i++)
	{
		bags[i].allocate = allocate;
		bags[i].release = free;
		bags[i].multiplier = random_bits() | 1;
	}
	for (int round = 0; round < 300; round++)
	{
		ShDamping	damping = (ShDamping) (round % 5);
		size_t		kinds = 1 + random_below(round % 10 == 0 ? KINDS_MAX : 300);
		size_t		either = 0;
		size_t		both = 0;
		double		dot = 0;
		double		squares[2] = {0};
		double		similarity;
		double		again;
		double		ratio;
		ShFeatures	lists[2];

		for (size_t i = 0; i < kinds; i++)
			hashes[i] = random_bits() >> (round % 3 == 0 ? 48 : 0) << (round % 2 * 16);
		hashes[0] = round % 4 == 0 ? 0 : UINT64_MAX;
		for (size_t i = 1; i < kinds; i++)
		{
			for (size_t j = 0; j < i; j++)
			{
				/* all are different */
				if (hashes[i] == hashes[j])
				{
					hashes[i] += UINT64_C(0x9e3779b97f4a7c15);
					j = (size_t) -1;
				}
			}
		}
		for (int i = 0; i < 2; i++)
			fill(&bags[i], damping, hashes, kinds, random_below(3 * kinds),
				 counts[i]);
		for (size_t i = 0; i < kinds; i++)
		{
			double		w[2];

			for (int j = 0; j < 2; j++)
			{
				w[j] = sh_damp(damping, counts[j][i]);
				squares[j] += w[j] * w[j];
			}
			either += w[0] > 0 || w[1] > 0;
			both += w[0] > 0 && w[1] > 0;
			dot += w[0] * w[1];
		}
		CHECK((double) bags[0].squares == squares[0]);
		CHECK((double) bags[1].squares == squares[1]);
		lists[0] = sh_bag_features(&bags[0]);
		lists[1] = sh_bag_features(&bags[1]);
		sh_bag_load(&bags[2], &lists[0]);
		CHECK(sh_bag_jaccard(&bags[0], &lists[1], pause_not, &similarity) ==
			  (squares[0] > 0 && squares[1] > 0));
		CHECK(sh_bag_jaccard(&bags[2], &lists[1], pause_not, &again) ==
			  (squares[0] > 0 && squares[1] > 0));
		if (squares[0] == 0 || squares[1] == 0)
			continue;
		ratio = (double) both / (double) either;
		CHECK(similarity == ratio);
		CHECK(again == similarity);
		CHECK(sh_bag_cosine(&bags[2], &lists[1], pause_not, &again));
		CHECK(sh_bag_cosine(&bags[1], &lists[0], pause_not, &similarity));
		CHECK(again == similarity);
		CHECK(fabs(similarity - dot / sqrt(squares[0] * squares[1])) < 1e-12);
	}
	for (int i = 0; i < 3; i++)
	{
		free(bags[i].hashes);
		free(bags[i].table);
	}
}

int
main(void)
{
	seed_random();
	test_overlap();
	return 0;
}
