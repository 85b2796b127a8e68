/*-------------------------------------------------------------------------
 *
 * fuzz_entries.c
 *		Any fingerprints in an index, any query.
 *
 * The entries of all words and blocks are sorted, as in the index; what the
 * ranges of a plan let through is what brute force finds, each once.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "core/bits.h"
#include "core/blocks/entries.h"

#define VALUES_MAX	64

static ShLayout layout;
static uint64_t values[VALUES_MAX];
static int	n;

/* Words near to the query, or anything. */
static void
take_values(Input * input, uint64_t center)
{
	for (n = 0; n < VALUES_MAX && input->left > 0; n++)
	{
		int			flips = take_between(input, 0, 12);

		values[n] = flips == 12 ? take(input, 8) : center;
		while (flips < 12 && flips-- > 0)
			values[n] ^= UINT64_C(1) << take(input, 1) % 64;
		values[n] &= sh_kept_mask(&layout);
	}
}

/* In how many bits the blocks of a word differ, as its entries of one tell. */
static void
count_apart(uint64_t center, uint64_t value, int block, int *by_block)
{
	int			by = layout.offsets[block];

	sh_apart(&layout, block, sh_rotate_kept(&layout, center ^ value, by),
			 by_block);
	for (int of = 0; of < layout.blocks; of++)
		CHECK(by_block[of] == sh_distance(sh_entry_key(&layout, center, of),
										  sh_entry_key(&layout, value, of)));
}

/* Do the ranges of a block let a value through? */
static bool
is_found(const ShReach *reach, int block, uint64_t center, uint64_t value,
		 int given)
{
	static const ShReach nothing = {{-1, -1, -1, -1}};
	uint64_t	query = sh_rotate_kept(&layout, center, layout.offsets[block]);
	uint64_t	bare = sh_rotate_kept(&layout, value, layout.offsets[block]);
	uint64_t	low = 1;
	uint64_t	high = 0;
	int			by_block[SH_WORD_BLOCKS] = {0};
	int			steps = 0;

	if (reach->within[0] < 0)
		return false;
	count_apart(center, value, block, by_block);
	if (!sh_reaches(&layout, reach, block, by_block))
		return false;

	/* Who is let through lies in a range; go there from somewhere before. */
	for (uint64_t from = bare >> given << given; low > high || high < bare;
		 from = high + 1)
	{
		CHECK(++steps < 100000);
		CHECK(sh_next_range(&layout, reach, &nothing, block, query, from, 0,
							&low, &high));
		CHECK(low >= from && low <= high);
	}
	CHECK(low <= bare);
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	Input		input = {bytes, length};
	int			width = take_between(&input, SH_LEAST_WIDTH, SH_MOST_WIDTH);
	int			k = take_between(&input, 0, 20);
	int			magnitude = take_between(&input, 1, 10);
	int			given = take_between(&input, 0, 10);
	uint64_t	center = take(&input, 8);
	double		rows = 1;
	ShExtent	extent;
	ShSearchPlan plan;

	if (take(&input, 1) % 2 == 0)
		width = 64;
	CHECK(sh_make_layout(width, &layout));
	center &= sh_kept_mask(&layout);
	for (int i = 0; i < magnitude; i++)
		rows *= 10;
	sh_even_extent(&extent, &layout, rows, 330);
	for (int block = 0; block < layout.blocks; block++)
	{
		extent.crowd[block][0] = 1 + (double) take(&input, 1) * 100;
		extent.crowd[block][1] = 1 + (double) take(&input, 1);
	}
	sh_plan_search(&extent, k, &plan);
	if (sh_is_pass(&layout, &plan))
		return 0;
	take_values(&input, center);
	for (int i = 0; i < n; i++)
	{
		int			distance = sh_distance(values[i], center);
		int			found = 0;

		for (int block = 0; block < layout.blocks; block++)
		{
			ShReach		reach = sh_reach(&layout, plan.radius, block);

			found += is_found(&reach, block, center, values[i],
							  given);
		}
		CHECK(found > 0 || distance > k);
		CHECK(found <= 1 || distance < k);
	}
	return 0;
}
