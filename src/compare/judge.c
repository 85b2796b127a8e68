/*-------------------------------------------------------------------------
 *
 * judge.c
 *		Whether one of two documents may go for the other.
 *
 * Documents are alike when the Jaccard similarity of their sets of features is high
 * enough, and so little differs between their words, one after the other, that it
 * may be an edit.  Each of these measures is one that a further difference can only
 * lower, so nothing becomes alike by it:
 *
 *	- A word, a number or a sign that stands for another is no edit: the entries of
 *	  a form, a fact that has changed, a price, a date, an operator look like that.
 *	  Signs and words that negate may not be put in or left out, either, nor what may
 *	  make another number of one beside it, or another unit (facts.c).
 *	- Words and numbers may be put in, or left out, but not both: what stands elsewhere has
 *	  moved, as a value to another entry, or a step to another place; and what is not the
 *	  same stands for another.
 *	- A slip of typing, in a word of some letters that begins with the same one,
 *	  costs 1; so does a word that is written as two, or a digit read for a letter.
 *	- Words that are put in or left out cost as many as they are, and INSIDE more,
 *	  or as many as stand between them and the next such place or an end, if these
 *	  are fewer: at the ends greetings and sources stand.  So what is left out between
 *	  two places does not make one of them that costs less.
 *	- All that costs no more than a share of the words, which is SHARE for the usual
 *	  similarity of .8, more for a lower one, and nothing for 1.  So in a title of ten
 *	  words a single one counts.
 *
 * Whether a word that stands for another is an entry or an edit, two documents cannot
 * tell; families.c asks the rows near to them.  If they say that it is none, it costs
 * OTHER_WORD.  If there are too few of these, or it is a fact, the verdict is a doubt: if
 * it negates, is a number in words, in Roman letters or a letter by itself, stands beside
 * a number, as a unit or a month does, or stands here for what stands for it elsewhere.
 *
 * Arrays of features have no order.  They are alike when the Jaccard similarity is
 * high enough, of the multisets and with two features more that differ, too.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#define SHARE			1.5		/* of the words, times what the similarity
								 * leaves */
#define INSIDE			8		/* words */
#define OTHER_WORD		10
#define SURPLUS			2		/* features that are taken to differ besides */
#define NUMBER_COST		3		/* that is put in or left out */

/* What a doubt is called, by verdict. */
const char *const simhash_doubts[] = {
	NULL, NULL, NULL, "entries", "words", "digits", "signs", "order"
};

/* What has been found of two documents. */
typedef struct Judging
{
	const SimhashWords *a;
	const SimhashWords *b;
	SimhashFamily *family;		/* or NULL */
	uint32		cost;
	uint32		same;			/* words of both before this place, but for
								 * soft signs */
	uint32		same_before;	/* ... before the last place that was counted */
	uint32		gaps;			/* words between places, each up to INSIDE,
								 * added up */
	uint32		largest;		/* of these */
	uint32		others;			/* words that stand for others */
	uint32		entries;		/* ... that are entries */
	SimhashDifference *replaced;	/* places in which words stand for others */
	uint32		n_replaced;
	bool		facts;			/* words differ that are no edit in any family */
	bool		moved;			/* words are left out here, and put in there */
	bool		lack;			/* ... others than these */
	bool		digits;			/* numbers differ */
	bool		signs;
} Judging;

/* Words of some kinds in a place of a list. */
static uint32
count_kinds(const SimhashWords *words, uint32 from, uint32 n, int kinds)
{
	uint32		count = 0;

	for (uint32 i = from; i < from + n; i++)
		count += (words->list[i].kind & kinds) != 0;
	return count;
}

/* Have two places the same words of some kinds, one after the other? */
static bool
same_kinds(const Judging *judging, const SimhashDifference *place, int kinds)
{
	uint32		i = 0;

	for (uint32 j = 0; j < place->nb; j++)
	{
		const SimhashWord *word = &judging->b->list[place->b + j];

		if ((word->kind & kinds) == 0)
			continue;
		while (i < place->na && (judging->a->list[place->a + i].kind & kinds) == 0)
			i++;
		if (i == place->na || judging->a->list[place->a + i++].hash != word->hash)
			return false;
	}
	return count_kinds(judging->a, place->a + i, place->na - i, kinds) == 0;
}

/* --- places ------------------------------------------------------------------- */

/* Count the words between the last place in which words were put in or left out, and another. */
static void
count_gap(Judging *judging)
{
	uint32		gap = Min(judging->same - judging->same_before, INSIDE);

	judging->same_before = judging->same;
	judging->gaps += gap;
	judging->largest = Max(judging->largest, gap);
}

/* Judge words that are put in, or left out. */
static void
judge_added(Judging *judging, const SimhashDifference *place)
{
	const SimhashWords *words = place->na > 0 ? judging->a : judging->b;
	uint32		from = place->na > 0 ? place->a : place->b;
	uint32		n = place->na + place->nb;
	uint32		soft = count_kinds(words, from, n, SIMHASH_SOFT);

	if (n == soft)
		return;
	if (judging->family != NULL &&
		simhash_family_has_entry(judging->family, judging->a, judging->b, place))
	{
		judging->entries += n;
		return;
	}
	judging->signs |= count_kinds(words, from, n, SIMHASH_SIGN) > 0;
	if (count_kinds(words, from, n, ~SIMHASH_SIGNS) == 0 && judging->signs)
		return;					/* a doubt, however short the text is */
	judging->digits |= (from > 0 && simhash_change_number(words, from, n, from - 1)) ||
		(from + n < words->n && simhash_change_number(words, from, n, from + n));
	judging->others += simhash_count_negations(words, from, n);
	judging->facts |= simhash_count_negations(words, from, n) > 0;
	judging->cost += (NUMBER_COST - 1) * count_kinds(words, from, n, SIMHASH_NUMBER);
	judging->cost += n - soft;
	count_gap(judging);
}

/* Is a word a letter, or a number in Roman ones? */
static bool
is_lettered(const SimhashWords *words, uint32 i)
{
	const SimhashWord *word = &words->list[i];
	uint32		n = 0;

	while (n < word->length && memchr("ivxlcdm", words->forms[word->start + n], 7) != NULL)
		n++;
	return word->kind == SIMHASH_WORD && (n == word->length || word->length == 1);
}

/* Are the numbers that are written in words, or in letters, of two places the same? */
static bool
same_numbers(const Judging *judging, const SimhashDifference *place)
{
	uint64		listed = 0;
	uint64		lettered = 0;
	bool		both[2] = {false, false};

	for (uint32 i = 0; i < place->na + place->nb; i++)
	{
		bool		second = i >= place->na;
		const SimhashWords *words = second ? judging->b : judging->a;
		uint32		at = second ? place->b + i - place->na : place->a + i;
		uint64		hash = second ? -words->list[at].hash : words->list[at].hash;

		if (simhash_is_number_word(words, at))
			listed += hash;
		else if (is_lettered(words, at))
		{
			lettered += hash;
			both[second] = true;
		}
	}
	return listed == 0 && (lettered == 0 || !both[0] || !both[1]);
}

/* Do words that stand for others tell another fact, whatever their family says? */
static bool
have_other_facts(const Judging *judging, const SimhashDifference *place)
{
	const SimhashWords *a = judging->a;
	uint32		end = place->a + place->na;

	return simhash_count_negations(a, place->a, place->na) !=
		simhash_count_negations(judging->b, place->b, place->nb) ||
		!same_numbers(judging, place) ||
		(place->a > 0 && a->list[place->a - 1].kind == SIMHASH_NUMBER) ||
		(end < a->n && a->list[end].kind == SIMHASH_NUMBER);
}

/* Judge words that stand for others. */
static void
judge_replaced(Judging *judging, const SimhashDifference *place)
{
	uint32		slips;

	if (simhash_are_slips(judging->a, judging->b, place, &slips) &&
		(simhash_count_numerals(judging->a, place->a, place->na) == 0 ||
		 simhash_count_numerals(judging->b, place->b, place->nb) == 0))
	{
		judging->cost += slips;
		return;
	}
	if (judging->family != NULL &&
		simhash_family_has_entry(judging->family, judging->a, judging->b, place))
	{
		judging->entries += Max(place->na, place->nb);
		return;
	}
	judging->digits |= !same_kinds(judging, place, SIMHASH_NUMBER);
	judging->signs |= !same_kinds(judging, place, SIMHASH_SIGN | SIMHASH_UNIT);
	judging->replaced[judging->n_replaced++] = *place;
	if (same_kinds(judging, place, SIMHASH_WORD))
	{
		/* the same of each kind, in another order */
		judging->digits |= count_kinds(judging->a, place->a, place->na, SIMHASH_NUMBER) > 0;
		judging->signs |= count_kinds(judging->a, place->a, place->na, SIMHASH_SIGN | SIMHASH_EMPTY) > 0;
		judging->cost++;
	}
	else
		judging->others += Max(count_kinds(judging->a, place->a, place->na, SIMHASH_WORD),
							   count_kinds(judging->b, place->b, place->nb, SIMHASH_WORD));
}

/* Is a word a sign, but a bar of a table? */
static bool
is_grade(const SimhashWords *words, const SimhashWord *word)
{
	Size		length;
	const unsigned char *form = (const unsigned char *) words->forms + word->start;

	return (word->kind & SIMHASH_SIGNS) != 0 &&
		sh_utf8_decode(form, form + word->length, &length) != SIMHASH_BAR_SIGN;
}

/* Does a place make a run of signs longer that both texts have: four stars of three? */
static bool
lengthens_run(const SimhashWords *words, uint32 from, uint32 n)
{
	const SimhashWord *first = &words->list[from];
	const SimhashWord *last = first + n - 1;

	return (from > 0 && is_grade(words, first) && first[-1].hash == first->hash) ||
		(from + n < words->n && is_grade(words, last) && last[1].hash == last->hash);
}

/* Does a number of one text stand where only the other one has one that counts up? */
static bool
stands_for_label(const SimhashWords *a, uint32 at_a, uint32 na, const SimhashWords *b,
				 uint32 at_b, uint32 nb)
{
	return count_kinds(a, at_a, na, SIMHASH_LABEL) > count_kinds(b, at_b, nb, SIMHASH_LABEL) &&
		count_kinds(b, at_b, nb, SIMHASH_NUMBER) > count_kinds(a, at_a, na, SIMHASH_NUMBER);
}

/*
 * Are there more empty fields at the ends of a place than words for them in the other text?
 * Then what stands behind them is in another column.
 */
static bool
shifts_fields(const SimhashWords *words, uint32 from, uint32 n, uint32 others)
{
	const SimhashWord *list = words->list + from;
	uint32		before = 0;
	uint32		behind = 0;

	while (before < n && list[before].kind == SIMHASH_EMPTY)
		before++;
	while (behind < n - before && list[n - behind - 1].kind == SIMHASH_EMPTY)
		behind++;
	return before + behind > others;
}

/*
 * Judge a place.  Soft signs count only for other signs, where nothing else differs; so
 * what stands for nothing but these is put in, or left out.
 */
static void
judge_place(Judging *judging, const SimhashDifference *place)
{
	SimhashDifference rest = *place;
	bool		soft_a = count_kinds(judging->a, place->a, place->na, ~SIMHASH_SOFT) == 0;
	bool		soft_b = count_kinds(judging->b, place->b, place->nb, ~SIMHASH_SOFT) == 0;

	judging->signs |= (place->na > 0 && (place->nb == 0 || soft_a) &&
					   lengthens_run(judging->a, place->a, place->na)) ||
		(place->nb > 0 && (place->na == 0 || soft_b) &&
		 lengthens_run(judging->b, place->b, place->nb)) ||
		shifts_fields(judging->a, place->a, place->na,
					  count_kinds(judging->b, place->b, place->nb, ~SIMHASH_EMPTY)) ||
		shifts_fields(judging->b, place->b, place->nb,
					  count_kinds(judging->a, place->a, place->na, ~SIMHASH_EMPTY));
	if (soft_a && soft_b && (place->na == 0 || place->nb == 0))
		return;
	if ((soft_a || soft_b) && place->na > 0 && place->nb > 0 &&
		count_kinds(judging->a, place->a, place->na, ~SIMHASH_SIGNS) == 0 &&
		count_kinds(judging->b, place->b, place->nb, ~SIMHASH_SIGNS) == 0)
	{
		judging->signs = true;
		return;
	}
	/* the last page may be too short to be known for one */
	if (place->a + place->na < judging->a->n || place->b + place->nb < judging->b->n)
		judging->digits |= stands_for_label(judging->a, place->a, place->na, judging->b, place->b, place->nb) ||
			stands_for_label(judging->b, place->b, place->nb, judging->a, place->a, place->na);
	rest.na = soft_a ? 0 : place->na;
	rest.nb = soft_b ? 0 : place->nb;
	if (soft_a || soft_b)
		judge_added(judging, &rest);
	else
		judge_replaced(judging, &rest);
}

/* For qsort: words by their hashes. */
static int
compare_hashes(const void *a, const void *b)
{
	uint64		x = *(const uint64 *) a;
	uint64		y = *(const uint64 *) b;

	return x < y ? -1 : x > y;
}

/* Hashes of words, to be compared with others. */
typedef struct Hashes
{
	uint32		n;
	uint64	   *list;
} Hashes;

/* Take the words and numbers in a place of a list. */
static void
take_facts(Hashes *hashes, const SimhashWords *words, uint32 from, uint32 n)
{
	for (uint32 i = from; i < from + n; i++)
	{
		if (words->list[i].kind & (SIMHASH_WORD | SIMHASH_NUMBER))
			hashes->list[hashes->n++] = words->list[i].hash;
	}
}

/* Have both one that is the same? */
static bool
have_common(Hashes *a, Hashes *b)
{
	qsort(a->list, a->n, sizeof *a->list, compare_hashes);
	qsort(b->list, b->n, sizeof *b->list, compare_hashes);
	for (uint32 i = 0, j = 0; i < a->n && j < b->n;)
	{
		int			order = compare_hashes(&a->list[i], &b->list[j]);

		if (order == 0)
			return true;
		i += order < 0;
		j += order > 0;
	}
	return false;
}

/* Has one document words or numbers, in places that differ, that the other one has in such? */
static bool
have_moved(const Judging *judging, const SimhashDifference *places, uint32 n)
{
	Hashes		a = {0, palloc(judging->a->n * sizeof *a.list + 1)};
	Hashes		b = {0, palloc(judging->b->n * sizeof *b.list + 1)};

	for (uint32 i = 0; i < n; i++)
	{
		take_facts(&a, judging->a, places[i].a, places[i].na);
		take_facts(&b, judging->b, places[i].b, places[i].nb);
	}
	return have_common(&a, &b);
}

/* Is one word here two there, of which one is a number: "75mg", "75 mg"? */
static bool
is_parted(const Judging *judging, const SimhashDifference *place)
{
	bool		first = place->na == 1;
	const SimhashWords *words = first ? judging->a : judging->b;
	const SimhashWords *others = first ? judging->b : judging->a;
	const SimhashWord *word = &words->list[first ? place->a : place->b];
	const SimhashWord *part = &others->list[first ? place->b : place->a];

	return place->na + place->nb == 3 && place->na * place->nb == 2 &&
		part[0].kind + part[1].kind == SIMHASH_WORD + SIMHASH_NUMBER &&
		part[0].length + part[1].length == word->length &&
		memcmp(words->forms + word->start, others->forms + part->start, word->length) == 0;
}

/*
 * Judge what is left out here and put in there, as something that moves is, whichever of
 * the shortest scripts was found: that costs no more than both, but is a doubt.  So are
 * signs that are soft.
 */
static void
judge_moves(Judging *judging, const SimhashDifference *places, uint32 n)
{
	static const int kinds[] = {SIMHASH_WORD | SIMHASH_UNIT | SIMHASH_NUMBER, SIMHASH_NUMBER,
	SIMHASH_SOFT_SIGN};
	uint32		moved[lengthof(kinds)];
	bool		common;

	for (size_t k = 0; k < lengthof(kinds); k++)
	{
		uint32		a = 0;
		uint32		b = 0;

		for (uint32 i = 0; i < n; i++)
		{
			if (is_parted(judging, &places[i]) ||
				(k == 0 && count_kinds(judging->a, places[i].a, places[i].na, ~SIMHASH_SOFT) > 0 &&
				 count_kinds(judging->b, places[i].b, places[i].nb, ~SIMHASH_SOFT) > 0))
				continue;		/* words for each other have been judged */
			a += count_kinds(judging->a, places[i].a, places[i].na, kinds[k]);
			b += count_kinds(judging->b, places[i].b, places[i].nb, kinds[k]);
		}
		moved[k] = Min(a, b);
	}
	judging->digits |= moved[1] > 0;
	judging->signs |= moved[2] > 0;
	common = (moved[0] > 0 || judging->family != NULL) && have_moved(judging, places, n);
	judging->moved = moved[0] > 0 && common;
	judging->lack = moved[0] > 0 && !common;
	judging->facts |= common;
}

/*
 * Judge where the words of two documents differ.  With what is known of a family there
 * is no doubt for other words.  Sets at how many ends words are put in or left out.
 */
static SimhashVerdict
judge_places(double at_least, const SimhashWords *a, const SimhashWords *b,
			 SimhashFamily *family, uint32 *ends)
{
	Judging		judging = {.a = a,.b = b,.family = family};
	double		most = SHARE * (1 - at_least) * Min(a->n, b->n);
	SimhashDifference *places;
	uint32		n;
	uint32		end = 0;		/* of the last place, in the first document */
	uint32		word_cost = family == NULL ? 1 : OTHER_WORD;

	if (!simhash_align(a, b, (uint32) Min(2 * most + 4, SIMHASH_ALIGNED_MOST), &places, &n))
		return SIMHASH_UNLIKE;
	judging.replaced = palloc(n * sizeof *places + 1);
	for (uint32 i = 0; i < n; i++)
	{
		judging.same += count_kinds(a, end, places[i].a - end, ~SIMHASH_SOFT);
		end = places[i].a + places[i].na;
		judge_place(&judging, &places[i]);
		if (judging.cost + word_cost * judging.others > most)
			return SIMHASH_UNLIKE;	/* most that are near end here */
	}
	*ends = n > 0 && places[0].a == 0 && places[0].b == 0;
	*ends += n > 0 && places[n - 1].a + places[n - 1].na == a->n &&
		places[n - 1].b + places[n - 1].nb == b->n;
	judging.same += count_kinds(a, end, a->n - end, ~SIMHASH_SOFT);
	count_gap(&judging);
	if (n > 0 && judging.entries == 0)
		judge_moves(&judging, places, n);
	judging.cost += judging.gaps - judging.largest + judging.entries + word_cost * judging.others;
	if (judging.cost > most)
		return SIMHASH_UNLIKE;
	for (uint32 i = 0; i < judging.n_replaced && family != NULL; i++)
		judging.facts |= have_other_facts(&judging, &judging.replaced[i]);
	return judging.entries > 0 ? SIMHASH_OTHER_ENTRIES :
		judging.signs ? SIMHASH_OTHER_SIGNS :
		judging.digits ? SIMHASH_OTHER_DIGITS :
		judging.lack || (judging.others > 0 && (family == NULL || judging.facts)) ? SIMHASH_OTHER_WORDS :
		judging.moved ? SIMHASH_OTHER_ORDER :
		judging.others > 0 ? SIMHASH_ALIKE_IN_FAMILY : SIMHASH_ALIKE;
}

/* --- documents ------------------------------------------------------------------ */

/* The Jaccard similarity of two multisets, rounded as a variable is. */
static double
jaccard(uint64 least, uint64 a, uint64 b)
{
	double		jaccard = (double) least / (double) (a + b - least);

	return jaccard;
}

/*
 * Are two texts alike, or two arrays, whose sets of features are similar enough, and have
 * so much in common?  What is left out within a text leaves features across that
 * place, and at an end none: these are counted, too, or more that is left out, up to an
 * end, would make texts more similar.
 */
SimhashVerdict
simhash_judge_words(const SimhashComparison *comparison, const SimhashDocument *a,
					const SimhashDocument *b, const ShOverlap *overlap,
					SimhashFamily *family)
{
	double		at_least = comparison->at_least;
	MemoryContext scratch;
	MemoryContext old;
	SimhashVerdict verdict;
	uint32		ends = 0;

	if (comparison->arrays)
		return jaccard(overlap->least, a->features.total, b->features.total) < at_least ||
			((overlap->common < a->features.n || overlap->common < b->features.n) &&
			 jaccard(overlap->common, a->features.n, b->features.n + SURPLUS) < at_least) ?
			SIMHASH_UNLIKE : SIMHASH_ALIKE;
	scratch = AllocSetContextCreate(CurrentMemoryContext, "simhash alignment",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(scratch);
	verdict = judge_places(at_least, &a->words, &b->words, family, &ends);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	ends *= (uint32) comparison->profile->max - 1;
	return jaccard(overlap->common, a->features.n, b->features.n + ends) < at_least ?
		SIMHASH_UNLIKE : verdict;
}

/* Are two fingerprints near enough?  Their similarity is the share of equal bits. */
static SimhashVerdict
judge_fingerprints(const SimhashComparison *comparison, const SimhashDocument *a,
				   const SimhashDocument *b, double *similarity)
{
	int64		distance =
	sh_distance_bytes((const unsigned char *) a->features.hashes,
					  (const unsigned char *) b->features.hashes,
					  a->features.n * sizeof(uint64));

	*similarity = 1 - (double) distance / comparison->width;
	return distance <= comparison->at_most ? SIMHASH_ALIKE : SIMHASH_UNLIKE;
}

/*
 * Judge two documents by their features alone, of which those of the first are in a bag,
 * too; sets their similarity, or -1 when one of them has no feature.  Containment is that
 * of the first document.  What is alike by that may not be by its words.
 */
SimhashVerdict
simhash_judge_features(const SimhashComparison *comparison, const SimhashDocument *a,
					   const SimhashDocument *b, const ShBag *bag, ShOverlap *overlap,
					   double *similarity)
{
	*similarity = -1;
	if (a->features.n == 0 ||
		(b->features.n == 0 && comparison->measure != SIMHASH_CONTAINMENT))
		return SIMHASH_UNLIKE;
	if (comparison->measure == SIMHASH_HAMMING)
		return judge_fingerprints(comparison, a, b, similarity);
	if (comparison->measure == SIMHASH_COSINE)
		(void) sh_bag_cosine(bag, &b->features, simhash_pause, similarity);
	else
	{
		*overlap = sh_bag_overlap(bag, &b->features, simhash_pause);
		*similarity = simhash_measures[comparison->measure].sets ?
			jaccard(overlap->common, a->features.n, b->features.n) :
			(double) overlap->common / (double) a->features.n;
	}
	return *similarity >= comparison->at_least ? SIMHASH_ALIKE : SIMHASH_UNLIKE;
}

/* Judge two documents, likewise, by whatever the measure asks. */
SimhashVerdict
simhash_judge(const SimhashComparison *comparison, const SimhashDocument *a,
			  const SimhashDocument *b, const ShBag *bag, SimhashFamily *family,
			  double *similarity)
{
	ShOverlap	overlap;
	SimhashVerdict verdict = simhash_judge_features(comparison, a, b, bag, &overlap,
													similarity);

	return verdict == SIMHASH_ALIKE && simhash_measures[comparison->measure].aligned ?
		simhash_judge_words(comparison, a, b, &overlap, family) : verdict;
}
