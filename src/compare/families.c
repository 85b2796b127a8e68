/*-------------------------------------------------------------------------
 *
 * families.c
 *		Whether a word that stands for another is an entry of a form, by the rows
 *		near to it.
 *
 * A form is one text with other entries in the same places; a campaign is one text
 * with an edit here and there.  Two of its rows do not tell which of them they are of:
 * in both some word stands for another.  A family does, the rows that are similar to
 * one and the same, its base:
 *
 *		base		dear ann  the meeting is on monday  in the small hall
 *		others		dear bob  the meeting is on monday  in the small hall
 *					dear eve  the meeting was on monday in the small hall
 *					dear jim  the meeting is on monday  in the small room
 *
 * Each of them is aligned with the base, and for each word of the base, and each gap
 * between two, it is counted what stands there.  At the second word no half of the rows
 * has the same: that is an entry.  So is a word where few others come again and again, as "granted" and
 * "denied" do.  Elsewhere nearly all have the same, and what is another in one of them
 * is an edit of it.  A row that has nothing there says nothing, and fewer than
 * SIMHASH_FAMILY_LEAST that have something say too little.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#include "nodes/bitmapset.h"
#include "utils/builtins.h"

#define SLOT_OF_WORD(i)	(2 * (i) + 1)
#define SLOT_OF_GAP(i)	(2 * (i))	/* before the word */

#define SAME			0		/* a filler: as in the base */
#define LEFT_OUT		1
#define NO_FILLER		4		/* of no row */
#define AGAIN			3		/* rows that share a second filler ... */
#define AGAIN_SHARE		5		/* ... and one in so many does */

struct SimhashFamily
{
	SimhashWords base;
	uint32		most;			/* rows that it may have */
	uint32		rows;			/* with the base */
	uint32		slots;			/* of the base: gap 0, word 0, gap 1 ... */
	uint32	   *fillers;		/* of each row: by slot */
	Bitmapset  *entries;		/* slots */
	Bitmapset  *sparse;			/* words that are entries, by the rows that
								 * have something there */
	Bitmapset  *agreed;			/* gaps in which most of these have the same */

	/* what moves: what is known of the two texts that it is asked about */
	const SimhashMember *members[2];
};

/* Begin a family around a base, in the current memory context. */
SimhashFamily *
simhash_family_begin(const SimhashWords *base, uint32 most)
{
	SimhashFamily *family = palloc0(sizeof *family);

	family->base = *base;
	simhash_copy_words(&family->base, CurrentMemoryContext);
	family->slots = 2 * base->n + 1;
	family->fillers = MemoryContextAllocHuge(CurrentMemoryContext, (Size) most * family->slots *
											 sizeof *family->fillers);
	family->most = most;
	family->rows = 1;
	memset(family->fillers, SAME, family->slots * sizeof *family->fillers);
	return family;
}

/* A number for some words. */
static uint32
filler_of(const SimhashWords *words, uint32 from, uint32 n)
{
	uint64		hash = LEFT_OUT;

	for (uint32 i = from; i < from + n; i++)
		hash = sh_mix(hash + words->list[i].hash);
	return n == 0 ? LEFT_OUT : (uint32) hash | 2;
}

/* Add a row, unless it is too different from the base. */
void
simhash_family_add(SimhashFamily *family, const SimhashWords *words)
{
	uint32		n = family->base.n;
	uint32	   *fillers = family->fillers + (Size) family->rows * family->slots;
	SimhashDifference *places;
	uint32		count;

	if (family->rows == family->most ||
		!simhash_align(&family->base, words, Min(n, SIMHASH_ALIGNED_MOST), &places,
					   &count))
		return;
	memset(fillers, SAME, family->slots * sizeof *fillers);
	for (uint32 i = 0; i < count; i++)
	{
		uint32		filler = filler_of(words, places[i].b, places[i].nb);

		for (uint32 j = 0; j < places[i].na; j++)
			fillers[SLOT_OF_WORD(places[i].a + j)] = filler;
		if (places[i].na == 0)
			fillers[SLOT_OF_GAP(places[i].a)] = filler;
	}
	family->rows++;
}

/* Is a place an entry, by what least rows or more have there, in order, but for nothing? */
static bool
is_entry(const uint32 *fillers, uint32 rows, uint32 nothing, uint32 least)
{
	uint32		some = 0;
	uint32		first = 0;
	uint32		second = 0;

	for (uint32 i = 0, n; i < rows; i += n)
	{
		for (n = 1; i + n < rows && fillers[i + n] == fillers[i]; n++)
			;
		if (fillers[i] == nothing)
			continue;
		some += n;
		second = Max(second, Min(n, first));
		first = Max(first, n);
	}
	return some < least || 2 * first < some || (second >= AGAIN && second * AGAIN_SHARE >= some);
}

/* All rows are there: find the entries.  What is put in at the ends is none. */
void
simhash_family_end(SimhashFamily *family)
{
	uint32		rows = family->rows;
	uint32	   *fillers = palloc(rows * sizeof *fillers);

	for (uint32 i = 0; i < family->slots; i++)
	{
		bool		gap = i == SLOT_OF_GAP(i / 2);

		CHECK_FOR_INTERRUPTS();
		for (uint32 row = 0; row < rows; row++)
			fillers[row] = family->fillers[(Size) row * family->slots + i];
		qsort(fillers, rows, sizeof *fillers, oid_cmp);
		if (i > 0 && i + 1 < family->slots && is_entry(fillers, rows, NO_FILLER, 0))
			family->entries = bms_add_member(family->entries, (int) i);
		if (gap && !is_entry(fillers, rows, SAME, SIMHASH_FAMILY_LEAST))
			family->agreed = bms_add_member(family->agreed, (int) i);
		if (!gap && is_entry(fillers, rows, LEFT_OUT, SIMHASH_FAMILY_LEAST))
			family->sparse = bms_add_member(family->sparse, (int) i);
	}
	pfree(family->fillers);
	pfree(fillers);
}

/* Which word of the base each word of a text is, by the places where they differ. */
static void
map_words(int32 *map, uint32 n, const SimhashDifference *places, uint32 count)
{
	int32		word = 0;
	uint32		at = 0;

	for (uint32 i = 0; at < n || i < count;)
	{
		if (i < count && at == places[i].b)
		{
			for (uint32 j = 0; j < places[i].nb; j++)
				map[at++] = -1;
			word = (int32) (places[i].a + places[i].na);
			i++;
		}
		else
			map[at++] = word++;
	}
}

/* Which words of a text stand at each entry of its family, likewise. */
static void
find_entries(SimhashDifference *entries, const SimhashFamily *family,
			 const SimhashDifference *places, uint32 count)
{
	uint32		next = 0;
	int			slot = -1;

	for (; (slot = bms_next_member(family->entries, slot)) >= 0; entries++)
	{
		uint32		word = (uint32) slot / 2;
		uint32		shift;

		memset(entries, 0, sizeof *entries);
		if (slot == SLOT_OF_GAP((int) word))
			continue;
		while (next < count && places[next].a + places[next].na <= word)
			next++;
		if (next < count && places[next].a <= word)
		{
			*entries = places[next];
			continue;
		}
		shift = next == 0 ? 0 : places[next - 1].b + places[next - 1].nb -
			places[next - 1].a - places[next - 1].na;
		entries->a = word;
		entries->b = word + shift;
		entries->na = entries->nb = 1;
	}
}

/* Find what a family knows of a text, in the current memory context. */
SimhashMember
simhash_family_member(const SimhashFamily *family, const SimhashWords *words)
{
	SimhashMember member = {
		.map = MemoryContextAllocHuge(CurrentMemoryContext, words->n * sizeof *member.map + 1)
	};
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "simhash alignment",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	SimhashDifference *places;
	uint32		count;

	memset(member.map, 0xff, words->n * sizeof *member.map);
	if (simhash_align(&family->base, words, SIMHASH_ALIGNED_MOST, &places, &count))
	{
		map_words(member.map, words->n, places, count);
		member.entries = MemoryContextAlloc(old, bms_num_members(family->entries) *
											sizeof *member.entries + 1);
		find_entries(member.entries, family, places, count);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return member;
}

/*
 * Does something stand for something else in a place of two texts, which begins or ends
 * with the same word?  An entry may have an edit beside it.
 */
static bool
replaces(const SimhashWords *a, const SimhashWords *b, const SimhashDifference *place)
{
	SimhashWords x = *a;
	SimhashWords y = *b;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "simhash entry",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	SimhashDifference *places;
	uint32		count = 0;
	uint32		slips;
	bool		found;

	x.list += place->a;
	x.n = place->na;
	y.list += place->b;
	y.n = place->nb;
	found = !simhash_align(&x, &y, x.n + y.n, &places, &count);
	for (uint32 i = 0; i < count && !found; i++)
		found = places[i].na > 0 && places[i].nb > 0 &&
			!simhash_are_slips(&x, &y, &places[i], &slips);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return found;
}

/*
 * Ask a family about two of its texts, which it knows: do they differ by an entry?
 * What one of them has not is no difference, nor is a slip.
 */
bool
simhash_family_differ(SimhashFamily *family, const SimhashWords *a, const SimhashMember *of_a,
					  const SimhashWords *b, const SimhashMember *of_b)
{
	int			n = of_a->entries == NULL || of_b->entries == NULL ? 0 :
	bms_num_members(family->entries);

	family->members[0] = of_a;
	family->members[1] = of_b;
	for (int i = 0; i < n; i++)
	{
		const SimhashDifference *x = &of_a->entries[i];
		const SimhashDifference *y = &of_b->entries[i];
		SimhashDifference place = {x->b, x->nb, y->b, y->nb};
		uint32		slips;

		if (place.na > 0 && place.nb > 0 && x->na == y->na &&
			filler_of(a, place.a, place.na) != filler_of(b, place.b, place.nb) &&
			!simhash_are_slips(a, b, &place, &slips) &&
			((a->list[place.a].hash != b->list[place.b].hash &&
			  a->list[place.a + place.na - 1].hash != b->list[place.b + place.nb - 1].hash) ||
			 replaces(a, b, &place)))
			return true;
	}
	return false;
}

/*
 * Is there an entry among some words of a text of n words, or beside them?  Where words
 * are put in, only a gap of the base is, within it; where they are left out, they may
 * have been one among others.  What stands for something else in a gap is one, unless
 * most put the same there.
 */
static bool
has_entry(const SimhashFamily *family, const int32 *map, uint32 n, uint32 from,
		  uint32 end, bool put_in)
{
	int			left;
	int			right;
	int			next;

	while (from > 0 && map[from - 1] < 0)
		from--;
	while (end < n && map[end] < 0)
		end++;
	left = from > 0 ? map[from - 1] + 1 : 0;
	right = end < n ? map[end] : (int) family->base.n;
	if (put_in)
		return from > 0 && end < n && left == right &&
			bms_is_member(SLOT_OF_GAP(left), family->entries);
	if (left == right)
		return !bms_is_member(SLOT_OF_GAP(left), family->agreed);
	next = bms_next_member(family->entries, SLOT_OF_GAP(left) - 1);
	if (next < 0 || next > SLOT_OF_GAP(right))
		next = bms_next_member(family->sparse, SLOT_OF_GAP(left));
	return next >= 0 && next <= SLOT_OF_GAP(right);
}

/* Is an entry where the two texts differ? */
bool
simhash_family_has_entry(const SimhashFamily *family, const SimhashWords *a,
						 const SimhashWords *b, const SimhashDifference *place)
{
	bool		put_in = place->na == 0 || place->nb == 0;

	return has_entry(family, family->members[0]->map, a->n, place->a, place->a + place->na, put_in) ||
		has_entry(family, family->members[1]->map, b->n, place->b, place->b + place->nb, put_in);
}
