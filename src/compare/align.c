/*-------------------------------------------------------------------------
 *
 * align.c
 *		What differs between two lists of words: as little as can be.
 *
 * The shortest script of words left out and put in that makes the one list the
 * other, by E. W. Myers, "An O(ND) difference algorithm and its variations",
 * Algorithmica 1 (1986): for d = 0, 1, 2 ... words that differ, how far each diagonal
 * is reached.  It takes time and memory by the length and by the square of what
 * differs, and gives up where this is more than is allowed, as such lists are not
 * alike.  What both begin and end with is left out first.  Where so much differs that
 * it takes longer, a longest common part is followed by 64 words at once, as H. Hyyro
 * counts it, "Bit-parallel LCS-length computation revisited" (2004), and what is not
 * in that part is read off the bits of each step.
 *
 * A place in which words stand on both sides is a replacement: something stands for
 * something else.  Where a word in between is in both by chance, a shortest script
 * may have two places, of which one leaves out and the other puts in:
 *
 *		the court granted    the motion of Anna
 *		the court of Bert denied the motion     ->  of Bert denied | of Anna
 *
 * So two such places become one if there are no more words between them than either
 * has, soft signs not counted: a comparison that finds more replacements finds fewer
 * texts alike, not more.
 * Of two equal words either may be left out, so it is asked how near places may be.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#include <math.h>

#include "port/pg_bitutils.h"

#define STEP_BLOCKS		8		/* of 64 words, that another step takes as
								 * long as */

/* Where a word stands among 64 of a list. */
typedef struct Match
{
	uint64		hash;
	uint64		mask;
	uint32		block;
	uint32		next;			/* where it stands next; 0 for nowhere */
} Match;

/* The words of a list, and where they stand. */
typedef struct Matches
{
	uint32		last_slot;
	uint32	   *slots;			/* by hashes: the first match; 0 in an empty
								 * one */
	Match	   *list;			/* from 1 on */
} Matches;

/* Two lists of words, without what both begin and end with. */
typedef struct Alignment
{
	const SimhashWord *a;
	const SimhashWord *b;
	int32		na;
	int32		nb;
	int32		skipped;		/* words that both begin with */
	int32	  **reached;		/* by d: words of a, of each diagonal */
	SimhashDifference *found;	/* from the last place to the first */
	uint32		n;
} Alignment;

/* Leave out what both lists begin and end with. */
static void
trim(Alignment *align)
{
	while (align->na > 0 && align->nb > 0 && align->a->hash == align->b->hash)
	{
		align->a++;
		align->b++;
		align->na--;
		align->nb--;
		align->skipped++;
	}
	while (align->na > 0 && align->nb > 0 &&
		   align->a[align->na - 1].hash == align->b[align->nb - 1].hash)
	{
		align->na--;
		align->nb--;
	}
}

/*
 * Where diagonal k, the i-th of d, is reached by d differences from those of d - 1:
 * by a word put in from the next diagonal, or by one left out from the last.
 */
static inline int32
step(const int32 *before, int32 d, int32 i, bool *put_in)
{
	*put_in = i == 0 || (i < d && before[i - 1] < before[i]);
	return *put_in ? before[i] : before[i - 1] + 1;
}

/* The slot of a word, or the empty one where it belongs. */
static inline uint32 *
find_slot(const Matches *matches, uint64 hash)
{
	uint32		i = (uint32) hash & matches->last_slot;

	while (matches->slots[i] != 0 && matches->list[matches->slots[i]].hash != hash)
		i = (i + 1) & matches->last_slot;
	return &matches->slots[i];
}

/* Find where each word of the first list stands. */
static Matches
find_matches(const Alignment *align)
{
	Matches		matches;
	uint32		n = 0;

	matches.last_slot = pg_nextpower2_32((uint32) align->na * 2) - 1;
	matches.slots = palloc0((matches.last_slot + 1) * sizeof *matches.slots);
	matches.list = palloc((align->na + 1) * sizeof *matches.list);
	for (int32 i = align->na; i-- > 0;)
	{
		uint32	   *slot = find_slot(&matches, align->a[i].hash);
		uint32		block = (uint32) i / 64;

		if (*slot == 0 || matches.list[*slot].block != block)
		{
			Match		match = {align->a[i].hash, 0, block, *slot};

			matches.list[++n] = match;
			*slot = n;
		}
		matches.list[*slot].mask |= UINT64CONST(1) << (i % 64);
	}
	return matches;
}

/*
 * Follow a longest common part through the second list: after each of its words, a bit
 * that is clear is a word of the first list by which that part is longer than without
 * it.  A block changes only where the word stands, or by what is carried into it.
 */
static uint64 *
follow_common(const Alignment *align, uint32 blocks)
{
	Matches		matches = find_matches(align);
	uint64	   *rows = palloc(((Size) align->nb + 1) * blocks * sizeof *rows);

	memset(rows, 0xff, blocks * sizeof *rows);
	for (int32 j = 0; j < align->nb; j++)
	{
		uint64	   *bits = rows + (Size) (j + 1) * blocks;
		uint32		at = *find_slot(&matches, align->b[j].hash);
		bool		carry = false;

		memcpy(bits, bits - blocks, blocks * sizeof *bits);
		for (uint32 block = 0; block < blocks && (carry || at != 0); block++)
		{
			uint64		mask = 0;
			uint64		before;
			uint64		sum;

			if (!carry)
				block = matches.list[at].block;
			if (at != 0 && matches.list[at].block == block)
			{
				mask = matches.list[at].mask;
				at = matches.list[at].next;
			}
			before = bits[block];
			sum = before + (before & mask) + carry;
			bits[block] = sum | (before & ~mask);
			carry = sum < before || (carry && sum == before);
		}
		if (j % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
	}
	return rows;
}

/*
 * Find how many differences there are, up to most; returns a larger number if more.
 * Diagonals of the list of d are those from -d to d, of which every other one is there.
 */
static int32
reach_end(Alignment *align, int32 most)
{
	align->reached = palloc((most + 1) * sizeof *align->reached);
	for (int32 d = 0; d <= most; d++)
	{
		int32	   *reached = palloc((d + 1) * sizeof *reached);

		CHECK_FOR_INTERRUPTS();
		align->reached[d] = reached;
		for (int32 i = 0; i <= d; i++)
		{
			bool		put_in;
			int32		x = d == 0 ? 0 : step(align->reached[d - 1], d, i, &put_in);
			int32		y = x - (2 * i - d);

			while (x < align->na && y < align->nb && align->a[x].hash == align->b[y].hash)
			{
				x++;
				y++;
			}
			reached[i] = x;
			if (x >= align->na && y >= align->nb)
				return d;
		}
	}
	return most + 1;
}

/* Note a word that only one list has, before those that are noted. */
static void
note_word(Alignment *align, int32 x, int32 y, bool put_in)
{
	SimhashDifference *last = align->n == 0 ? NULL : &align->found[align->n - 1];

	if (last == NULL || last->a != (uint32) (x + !put_in) || last->b != (uint32) (y + put_in))
	{
		last = &align->found[align->n++];
		last->na = last->nb = 0;
	}
	last->a = (uint32) x;
	last->b = (uint32) y;
	last->na += !put_in;
	last->nb += put_in;
}

/* Go back from the end, over d differences. */
static void
go_back(Alignment *align, int32 d)
{
	int32		x = align->na;
	int32		k = align->na - align->nb;

	for (; d > 0; d--)
	{
		int32		i = (k + d) / 2;
		bool		put_in;
		int32		start = step(align->reached[d - 1], d, i, &put_in);

		x = put_in ? start : start - 1;
		note_word(align, x, start - k - put_in, put_in);
		k += put_in ? 1 : -1;
	}
}

/* Go back from the end by the bits of a longest common part. */
static void
go_back_by_bits(Alignment *align, const uint64 *rows, uint32 blocks)
{
	int32		x = align->na;
	int32		y = align->nb;

	while (x > 0 || y > 0)
	{
		const uint64 *row = rows + (Size) y * blocks + Max(x - 1, 0) / 64;
		uint64		bit = UINT64CONST(1) << (Max(x - 1, 0) % 64);

		if (x > 0 && *row & bit)
			note_word(align, --x, y, false);
		else if (x == 0 || (row[-(int64) blocks] & bit) == 0)
			note_word(align, x, --y, true);
		else
		{
			x--;
			y--;
		}
	}
}

/* Find the words that only one list has, unless they are more than that. */
static bool
find_words(Alignment *align, int32 most)
{
	uint32		blocks = (uint32) (align->na + 63) / 64;
	int32		limit = Min(most, (int32) sqrt((double) align->nb * (blocks + STEP_BLOCKS)));
	int32		d = reach_end(align, limit);
	uint64	   *rows = NULL;

	if (d > limit && limit < most)
	{
		rows = follow_common(align, blocks);
		d = align->nb - align->na;
		for (int32 i = 0; i < align->na; i++)
			d += 2 * (int32) (rows[(Size) align->nb * blocks + i / 64] >> (i % 64) & 1);
	}
	if (d > most)
		return false;
	align->found = palloc((d + 1) * sizeof *align->found);
	if (rows == NULL)
		go_back(align, d);
	else
		go_back_by_bits(align, rows, blocks);
	return true;
}

/*
 * Across how many of so many words behind it, or before it, may a place move that is in
 * one list alone?  As far as each word equals the one that it would be left out for.
 */
static uint32
count_moves(const Alignment *align, const SimhashDifference *place, uint32 most, bool behind)
{
	const SimhashWord *list = place->nb == 0 ? align->a + place->a : align->b + place->b;
	uint32		n = place->na + place->nb;
	uint32		moves = 0;

	if (place->na > 0 && place->nb > 0)
		return 0;
	list += behind ? 0 : (int32) n - 1;
	while (moves < most && (behind ? list[moves].hash == list[moves + n].hash :
							list[-(int32) moves].hash == list[-(int32) (moves + n)].hash))
		moves++;
	return moves;
}

/* Soft signs among so many words, as empty fields of a table are. */
static uint32
count_soft(const SimhashWord *list, uint32 n)
{
	uint32		soft = 0;

	for (uint32 i = 0; i < n; i++)
		soft += (list[i].kind & SIMHASH_SOFT) != 0;
	return soft;
}

/* Put the places in order, and make one of those that are a replacement together. */
static void
order_places(Alignment *align)
{
	uint32		n = 0;
	SimhashDifference *list = align->found;
	uint32	   *hard = palloc(align->n * sizeof *hard + 1); /* words of a place */

	for (uint32 i = 0; i < align->n / 2; i++)
	{
		SimhashDifference other = list[i];

		list[i] = list[align->n - 1 - i];
		list[align->n - 1 - i] = other;
	}
	for (uint32 i = 0; i < align->n; i++)
	{
		SimhashDifference next = list[i];
		uint32		words = next.na - count_soft(align->a + next.a, next.na) +
		next.nb - count_soft(align->b + next.b, next.nb);

		while (n > 0)
		{
			SimhashDifference *last = &list[n - 1];
			uint32		gap = next.a - last->a - last->na;
			uint32		soft = count_soft(align->a + next.a - gap, gap);
			uint32		between = gap;

			if ((last->na == 0 && next.na == 0) || (last->nb == 0 && next.nb == 0))
				break;
			between -= count_moves(align, last, between, true);
			between -= count_moves(align, &next, between, false);
			between -= Min(between, soft);
			if (Max(between, 1) > Min(hard[n - 1], words))
				break;
			words += hard[n - 1] + 2 * (gap - soft);
			next.na += next.a - last->a;
			next.nb += next.b - last->b;
			next.a = last->a;
			next.b = last->b;
			n--;
		}
		hard[n] = words;
		list[n++] = next;
	}
	align->n = n;
}

/* Find the places in which two lists of words differ. */
static bool
find_places(const SimhashWords *a, const SimhashWords *b, uint32 most,
			SimhashDifference **differences, uint32 *n)
{
	Alignment	align = {
		.a = a->list,.b = b->list,.na = (int32) a->n,.nb = (int32) b->n
	};

	trim(&align);
	most = Min(most, (uint32) (align.na + align.nb));
	if ((uint32) abs(align.na - align.nb) > most)
		return false;
	if (align.na == 0 || align.nb == 0)
	{
		align.found = palloc(sizeof *align.found);
		align.found->a = align.found->b = 0;
		align.found->na = (uint32) align.na;
		align.found->nb = (uint32) align.nb;
		align.n = most > 0;
	}
	else
	{
		if (!find_words(&align, (int32) most))
			return false;
		order_places(&align);
	}
	for (uint32 i = 0; i < align.n; i++)
	{
		align.found[i].a += (uint32) align.skipped;
		align.found[i].b += (uint32) align.skipped;
	}
	*differences = align.found;
	*n = align.n;
	return true;
}

/* Does a list come before another one, in an order that is the same in all sessions? */
static bool
comes_first(const SimhashWords *a, const SimhashWords *b)
{
	for (uint32 i = 0; i < a->n && i < b->n; i++)
	{
		const SimhashWord *x = &a->list[i];
		const SimhashWord *y = &b->list[i];

		if (x->hash == y->hash)
			continue;
		return x->length != y->length ? x->length < y->length :
			memcmp(a->forms + x->start, b->forms + y->start, x->length) < 0;
	}
	return a->n < b->n;
}

/*
 * Find the places in which two lists of words differ, in their order, in the current
 * memory context.  False if more than most words are in one list alone.  Of several
 * shortest scripts it is always the same one, whichever list is given first.
 */
bool
simhash_align(const SimhashWords *a, const SimhashWords *b, uint32 most,
			  SimhashDifference **differences, uint32 *n)
{
	if (comes_first(a, b))
		return find_places(a, b, most, differences, n);
	if (!find_places(b, a, most, differences, n))
		return false;
	for (uint32 i = 0; i < *n; i++)
	{
		SimhashDifference other = (*differences)[i];
		SimhashDifference mine = {other.b, other.nb, other.a, other.na};

		(*differences)[i] = mine;
	}
	return true;
}
