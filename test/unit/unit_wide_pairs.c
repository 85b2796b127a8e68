/*-------------------------------------------------------------------------
 *
 * unit_wide_pairs.c
 *		Unit tests of pairs of fingerprints of several words, against brute
 *		force.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "core/pairs/wide_pairs.h"

#define MOST_BYTES		(SH_MOST_WIDTH / 8)

/* The kinds of data; random_row knows what they are. */
enum
{
	UNIFORM, CLUSTERED, DUPLICATES, ONE_WORD, BORDER, SPARSE, FEW_BITS, CROWD,
	KINDS
};

/* How rows are in groups. */
enum
{
	NO_GROUPS, FEW_GROUPS, MANY_GROUPS, GROUPINGS
};

/* The rows of a test, and what has been found of them. */
typedef struct Rows
{
	uint32_t	n;
	int			width;
	unsigned char (*bytes)[MOST_BYTES];
	uint32_t   *groups;			/* or NULL */
	uint64_t   *words;
	uint64_t   *values;
	void	   *memory;
	void	   *kept;
	ShPairs		all;
	ShWide		wide;
	int			k;
	unsigned char *found;		/* of a * n + b: that many times; or NULL */
	int			last;			/* the last progress told, of 1000 */
	double		told;			/* the same, exactly */
}			Rows;

static size_t pairs_found;
static size_t words_skipped;
static size_t strangers_met;
static size_t told_again;

static void
flip(unsigned char *bytes, uint64_t bit)
{
	bytes[bit / 8] ^= (unsigned char) (0x80 >> bit % 8);
}

/* Fill a row, the i-th of its kind. */
static void
random_row(Rows * rows, int kind, uint32_t i)
{
	unsigned char *bytes = rows->bytes[i];
	uint64_t	width = (uint64_t) rows->width;
	uint64_t	flips = random_below((uint64_t) rows->k + 3);

	memset(bytes, 0, MOST_BYTES);
	for (uint64_t bit = 0; bit < width; bit++)
	{
		bool		one = random_below(2) == 0;

		if (kind == SPARSE)
			one = random_below(16) == 0;
		else if (kind == BORDER && bit < width / 2)
			one = bit == i % 3;
		else if (kind == ONE_WORD && bit >= 64 && i % 8 != 0)
			one = false;
		else if (kind == FEW_BITS)
			one = one && bit % 29 == 0;
		else if (kind == CROWD)
			one = bit % 3 == 0;
		if (one)
			flip(bytes, bit);
	}
	if (i > 0 && (kind == CLUSTERED || kind == DUPLICATES) &&
		random_below(4) > 0)
		memcpy(bytes, rows->bytes[random_below(i)], MOST_BYTES);
	else if (kind != CROWD)
		return;
	while (kind != DUPLICATES && flips-- > 0)
		flip(bytes, random_below(width));
}

/* In how many bits do two rows differ, counted byte by byte? */
static int
distance(const Rows * rows, uint32_t a, uint32_t b)
{
	int			n = 0;

	for (int i = 0; i < (rows->width + 7) / 8; i++)
		n += __builtin_popcount(rows->bytes[a][i] ^ rows->bytes[b][i]);
	return n;
}

static bool
same_group(const Rows * rows, uint32_t a, uint32_t b)
{
	return rows->groups == NULL || rows->groups[a] == rows->groups[b];
}

/* ShPairSink */
static void
note_pair(void *context, uint32_t a, uint32_t b, int apart)
{
	Rows	   *rows = context;
	const ShPairs *all = &rows->all;
	uint32_t	x = all->rows[all->first[a]];
	uint32_t	y = all->rows[all->first[b]];

	CHECK(a < all->distinct && b < all->distinct && a != b);
	CHECK(apart == distance(rows, x, y));
	CHECK(apart == sh_wide_distance(&rows->wide, a, b));
	CHECK(apart > 0 && apart <= rows->k && same_group(rows, x, y));
	if (rows->found != NULL)
		rows->found[(size_t) (x < y ? x : y) * rows->n + (x < y ? y : x)]++;
	pairs_found++;
}

static void
note_progress(void *context, double done)
{
	Rows	   *rows = context;

	CHECK(done >= 0 && done <= 1.0001);
	CHECK((int) (done * 1000) >= rows->last);
	rows->last = (int) (done * 1000);
	told_again += done > 0 && done == rows->told;
	rows->told = done;
}

/* Put the rows into words, and collapse them. */
static void
begin(Rows * rows)
{
	size_t		words = (size_t) sh_words_of(rows->width);
	uint32_t	n = rows->n;

	rows->words = malloc((n + 1) * words * sizeof *rows->words);
	rows->values = malloc((n + 1) * sizeof *rows->values);
	rows->memory = malloc(sh_pairs_bytes(n));
	rows->kept = malloc(sh_wide_bytes(n));
	for (uint32_t i = 0; i < n; i++)
		sh_cut_whole(rows->width, rows->bytes[i], rows->words + i * words);
	sh_pairs_begin(&rows->all, rows->values, rows->memory, n);
	rows->all.groups = rows->groups;
	rows->all.wide = rows->words;
	rows->all.words = (int) words;
}

/* The distinct fingerprints are those of the rows. */
static void
check_distinct(const Rows * rows)
{
	const ShPairs *all = &rows->all;

	CHECK(all->first[0] == 0 && all->first[all->distinct] == rows->n);
	for (uint32_t i = 0; i < all->distinct; i++)
	{
		uint32_t	row = all->rows[all->first[i]];

		CHECK(all->first[i] < all->first[i + 1]);
		for (uint32_t j = all->first[i] + 1; j < all->first[i + 1]; j++)
		{
			CHECK(all->rows[j - 1] < all->rows[j]);
			CHECK(distance(rows, row, all->rows[j]) == 0);
			CHECK(same_group(rows, row, all->rows[j]));
		}
	}
}

/* Exactly the pairs that brute force finds, each once. */
static void
check_pairs(const Rows * rows)
{
	const ShPairs *all = &rows->all;

	for (uint32_t a = 0; a < all->distinct; a++)
	{
		for (uint32_t b = a + 1; b < all->distinct; b++)
		{
			uint32_t	x = all->rows[all->first[a]];
			uint32_t	y = all->rows[all->first[b]];
			int			apart = same_group(rows, x, y) ? distance(rows, x, y)
			: rows->width + 1;

			CHECK(apart > 0);
			CHECK(rows->found[(size_t) (x < y ? x : y) * rows->n +
							  (x < y ? y : x)] == (apart <= rows->k));
		}
	}
}

/* Search the rows, once they have been begun. */
static void
search(Rows * rows)
{
	sh_pairs_collapse(&rows->all);
	sh_wide_begin(&rows->wide, &rows->all, rows->words, rows->kept,
				  rows->width);
	check_distinct(rows);
	rows->found = calloc((size_t) rows->n * rows->n + 1, 1);
	rows->all.progress = note_progress;
	rows->all.progress_context = rows;
	sh_wide_find(&rows->wide, rows->k, note_pair, rows);
	check_pairs(rows);
	memset(rows->found, 0, (size_t) rows->n * rows->n);
	rows->last = 0;
	rows->wide.by_words = true;
	sh_wide_find(&rows->wide, rows->k, note_pair, rows);
	check_pairs(rows);
	for (int w = 0; w < rows->wide.words; w++)
		words_skipped += rows->wide.radius[w] < 0;
	free(rows->found);
	free(rows->words);
	free(rows->values);
	free(rows->memory);
	free(rows->kept);
	free(rows->groups);
	free(rows->bytes);
}

static void
test_rows(int kind, int grouping, int width, int k, uint32_t n)
{
	Rows		rows = {0};

	rows.n = n;
	rows.width = width;
	rows.k = k;
	rows.bytes = malloc((n + 1) * sizeof *rows.bytes);
	for (uint32_t i = 0; i < n; i++)
		random_row(&rows, kind, i);
	if (grouping != NO_GROUPS)
	{
		rows.groups = malloc((n + 1) * sizeof *rows.groups);
		for (uint32_t i = 0; i < n; i++)
			rows.groups[i] = (uint32_t) random_below(grouping == FEW_GROUPS
													 ? 3 : n);
	}
	begin(&rows);
	rows.all.seed = random_bits();
	search(&rows);
}

/* Every kind of data, many widths, radii up to the greatest. */
static void
test_all_kinds(void)
{
	static const int widths[] = {65, 72, 100, 128, 192, 256, 300, 576, 1024};

	for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
	{
		int			most = sh_wide_most(widths[i]);

		for (int kind = 0; kind < KINDS; kind++)
		{
			for (uint32_t n = 0; n < 4; n++)
				test_rows(kind, (int) (n % GROUPINGS), widths[i],
						  (int) random_below((uint64_t) most + 1), n);
			test_rows(kind, NO_GROUPS, widths[i], 1 + kind % 4, 200);
			test_rows(kind, FEW_GROUPS, widths[i], widths[i] / 8, 200);
			test_rows(kind, MANY_GROUPS, widths[i], most, 100);
			test_rows(kind, (int) random_below(GROUPINGS), widths[i],
					  (int) random_below((uint64_t) most + 1),
					  100 + (uint32_t) random_below(200));
		}
	}
	for (int kind = 0; kind < KINDS; kind++)
		test_rows(kind, NO_GROUPS, 256, 31, 2000);
}

/* Words that hash to the same as others by the first seed are told apart. */
static void
test_collisions(void)
{
	Rows		rows = {0};
	uint64_t	seed = random_bits();

	rows.n = 40;
	rows.width = 128;
	rows.k = 20;
	rows.bytes = malloc(rows.n * sizeof *rows.bytes);
	for (uint32_t i = 0; i < rows.n; i++)
		random_row(&rows, CLUSTERED, i);
	begin(&rows);
	for (uint32_t i = 0; i < rows.n; i++)
	{
		uint64_t   *word = rows.words + i * 2;

		word[1] = rows.words[1] ^ (sh_mix(seed ^ word[0]) + seed) ^
			(sh_mix(seed ^ rows.words[0]) + seed);
		for (int bit = 0; bit < 128; bit++)
		{
			unsigned char *byte = &rows.bytes[i][bit / 8];
			int			mask = 0x80 >> bit % 8;

			*byte = (unsigned char) ((*byte & ~mask) |
									 (word[bit / 64] >> (63 - bit % 64) & 1 ?
									  mask : 0));
		}
	}
	rows.all.seed = seed;
	search(&rows);
	strangers_met += rows.all.seed != seed;
}

/* Half of the words are the same in all: the others bear the search. */
static void
test_border(void)
{
	uint32_t	n = 30000;
	Rows		rows = {0};

	rows.n = n;
	rows.width = 256;
	rows.k = 31;
	rows.bytes = malloc(n * sizeof *rows.bytes);
	for (uint32_t i = 0; i < n; i++)
		random_row(&rows, BORDER, i);
	begin(&rows);
	sh_pairs_collapse(&rows.all);
	sh_wide_begin(&rows.wide, &rows.all, rows.words, rows.kept, rows.width);
	rows.wide.by_words = true;
	sh_wide_find(&rows.wide, rows.k, note_pair, &rows);
	CHECK(rows.wide.radius[0] == -1 && rows.wide.radius[1] == -1);
	CHECK(rows.wide.radius[2] + rows.wide.radius[3] == 30);
	free(rows.words);
	free(rows.values);
	free(rows.memory);
	free(rows.kept);
	free(rows.bytes);
}

int
main(void)
{
	seed_random();
	test_all_kinds();
	test_collisions();
	test_border();
	CHECK(pairs_found > 10000);
	CHECK(words_skipped > 100);
	CHECK(strangers_met > 0);
	CHECK(told_again > 0);
	return 0;
}
