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
 *	  Numbers and signs may not be put in or left out by themselves, either, nor may
 *	  a word or two of which one negates.
 *	- A slip of typing, in a word of some letters that begins with the same one,
 *	  costs 1; so does a word that is written as two, or a digit read for a letter.
 *	- Words that are put in or left out cost as many as they are, and within the
 *	  document INSIDE more; at its ends, where greetings and sources stand, ENDS.
 *	- All that costs no more than a share of the words, which is SHARE for the usual
 *	  similarity of .8, more for a lower one, and nothing for 1.  So in a title of ten
 *	  words a single one counts.
 *
 * Whether a word that stands for another is an entry or an edit, two documents cannot
 * tell; families.c asks the rows near to them.  If they say that it is none, it costs
 * OTHER_WORD.  If there are too few of these, the verdict is a doubt.
 *
 * Arrays of features have no order.  They are alike when the Jaccard similarity is
 * high enough, of the multisets and with two features more that differ, too.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#define SHARE			1.5		/* of the words, times what the similarity leaves */
#define INSIDE			8
#define ENDS			1
#define OTHER_WORD		10
#define SLIP_LETTERS	4		/* of a word that may have a slip ... */
#define SLIP_OTHER		5		/* ... by which another letter stands there */
#define SLIP_WORDS		8		/* in a place */
#define SLIP_BYTES		64		/* of a word */
#define SURPLUS			2		/* features that are taken to differ besides */
#define NEGATED_WORDS	3		/* in a place that may negate */

/* What a doubt is called, by verdict. */
const char *const simhash_doubts[] = {
	NULL, NULL, NULL, "entries", "words", "digits", "signs"
};

/* Words that negate, of languages with many speakers, between blanks. */
static const char negations[] =
" not no never without cannot nor neither non un "
" nicht kein keine keinen keiner keinem nie niemals ohne "
" ne pas jamais sans aucun aucune ni nunca sin ningún ninguna senza mai "
" não nem sem nenhum niet geen nooit zonder inte ej aldrig ikke aldri ingen "
" nie nigdy bez nem не нет никогда без ні δεν không değil tidak bukan "
" 不 没 沒 未 非 无 無 勿 否 ";

/* What has been found of two documents. */
typedef struct Judging
{
	const SimhashWords *a;
	const SimhashWords *b;
	SimhashFamily *family;		/* or NULL */
	uint32		cost;
	uint32		others;			/* words that stand for others */
	uint32		entries;		/* ... that are entries */
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

/* Has a place a word that negates? */
static bool
negates(const SimhashWords *words, uint32 from, uint32 n)
{
	char		word[SLIP_BYTES];

	for (uint32 i = from; i < from + n && n <= NEGATED_WORDS; i++)
	{
		Size		length = words->list[i].length;

		if (length == 0 || length > sizeof word - 3)
			continue;
		word[0] = ' ';
		memcpy(word + 1, words->forms + words->list[i].start, length);
		strcpy(word + 1 + length, " ");
		if (strstr(negations, word) != NULL)
			return true;
	}
	return false;
}

/* --- slips of typing ---------------------------------------------------------- */

/* Letters of some words, one after the other. */
typedef struct Letters
{
	int			n;
	int32		list[SLIP_BYTES * SLIP_WORDS];
} Letters;

/* The letters of some words; false if there is anything else, or too much. */
static bool
collect_letters(const SimhashWords *words, uint32 from, uint32 n, Letters *letters)
{
	letters->n = 0;
	if (n > SLIP_WORDS)
		return false;
	for (uint32 i = from; i < from + n; i++)
	{
		const SimhashWord *word = &words->list[i];
		const unsigned char *bytes = (const unsigned char *) words->forms + word->start;
		const unsigned char *end = bytes + word->length;

		if ((word->kind & (SIMHASH_WORD | SIMHASH_NUMBER)) == 0 || word->length > SLIP_BYTES)
			return false;
		for (Size length; bytes < end; bytes += length)
			letters->list[letters->n++] = sh_utf8_decode(bytes, end, &length);
	}
	return true;
}

/* Is one of two characters a digit that a scanner takes for the other, a letter? */
static bool
look_alike(int32 a, int32 b)
{
	static const char pairs[] = "1l 1i 0o 5s 8b 6b 9g 2z";
	char		pair[] = {Min(a, b), Max(a, b), '\0'};

	return a < 0x80 && b < 0x80 && strstr(pairs, pair) != NULL;
}

/* Is a character a letter? */
static bool
is_letter(int32 c)
{
	return simhash_digit_value(c) < 0;
}

/*
 * Do letters differ by a slip at most: one more or less, another one, two that have
 * changed places?  No digit is a slip, unless it looks like the letter.
 */
static bool
differ_by_slip(const Letters *a, const Letters *b)
{
	const Letters *longer = a->n >= b->n ? a : b;
	const Letters *other = longer == a ? b : a;
	int			surplus = longer->n - other->n;
	int			i = 0;
	int			rest;

	while (i < other->n && longer->list[i] == other->list[i])
		i++;
	rest = other->n - i;
	if (surplus == 0 && rest == 0)
		return true;
	if (surplus > 1 || other->n < SLIP_LETTERS || i == 0)
		return false;
	if (surplus == 1)
		return is_letter(longer->list[i]) &&
			memcmp(&longer->list[i + 1], &other->list[i], rest * sizeof(int32)) == 0;
	if (memcmp(&longer->list[i + 1], &other->list[i + 1], (rest - 1) * sizeof(int32)) == 0)
		return look_alike(longer->list[i], other->list[i]) ||
			(other->n >= SLIP_OTHER && is_letter(longer->list[i]) && is_letter(other->list[i]));
	return rest >= 2 && longer->list[i] == other->list[i + 1] &&
		longer->list[i + 1] == other->list[i] &&
		is_letter(longer->list[i]) && is_letter(other->list[i]) &&
		memcmp(&longer->list[i + 2], &other->list[i + 2], (rest - 2) * sizeof(int32)) == 0;
}

/* Are the words of a place the same but for slips?  Counts these. */
bool
simhash_are_slips(const SimhashWords *x, const SimhashWords *y,
				  const SimhashDifference *place, uint32 *slips)
{
	uint32		each = place->na == place->nb ? 1 : Max(place->na, place->nb);
	Letters		a;
	Letters		b;

	*slips = 0;
	for (uint32 i = 0; i < place->na && i < place->nb; i += each, ++*slips)
	{
		if (!collect_letters(x, place->a + i, Min(each, place->na), &a) ||
			!collect_letters(y, place->b + i, Min(each, place->nb), &b) ||
			!differ_by_slip(&a, &b))
			return false;
	}
	return true;
}

/* --- places ------------------------------------------------------------------- */

/* Judge words that are put in, or left out. */
static void
judge_added(Judging *judging, const SimhashDifference *place)
{
	const SimhashWords *words = place->na > 0 ? judging->a : judging->b;
	uint32		from = place->na > 0 ? place->a : place->b;
	uint32		n = place->na + place->nb;
	bool		ends = (place->a == 0 && place->b == 0) ||
	(place->a + place->na == judging->a->n && place->b + place->nb == judging->b->n);
	uint32		soft = count_kinds(words, from, n, SIMHASH_SOFT_SIGN);

	if (n == soft)
		return;
	if (count_kinds(words, from, n, SIMHASH_WORD) == 0 ||
		(!ends && (words->list[from].kind == SIMHASH_SIGN ||
				   words->list[from + n - 1].kind == SIMHASH_SIGN)))
	{
		bool		signs = count_kinds(words, from, n, SIMHASH_SIGN) > 0;

		judging->signs |= signs;
		judging->digits |= !signs;
	}
	if (negates(words, from, n))
		judging->others++;
	judging->cost += n - soft + (ends ? ENDS : INSIDE);
}

/* Judge words that stand for others. */
static void
judge_replaced(Judging *judging, const SimhashDifference *place)
{
	int			signs = SIMHASH_SIGN | SIMHASH_SOFT_SIGN;
	uint32		slips;

	if (simhash_are_slips(judging->a, judging->b, place, &slips))
	{
		judging->cost += slips;
		return;
	}
	if (judging->family != NULL &&
		simhash_family_has_entry(judging->family, judging->a, place))
	{
		judging->entries += Max(place->na, place->nb);
		return;
	}
	judging->digits |= !same_kinds(judging, place, SIMHASH_NUMBER);
	judging->signs |= !same_kinds(judging, place, signs);
	if (same_kinds(judging, place, SIMHASH_WORD))
		judging->cost++;
	else
		judging->others += Max(count_kinds(judging->a, place->a, place->na, SIMHASH_WORD),
							   count_kinds(judging->b, place->b, place->nb, SIMHASH_WORD));
}

/*
 * Judge the words of two documents.  With what is known of a family there is no doubt
 * for other words.
 */
static SimhashVerdict
judge_words(double at_least, const SimhashWords *a, const SimhashWords *b,
			SimhashFamily *family)
{
	Judging		judging = {.a = a,.b = b,.family = family};
	double		most = SHARE * (1 - at_least) * Min(a->n, b->n);
	SimhashDifference *places;
	uint32		n;

	if (family != NULL)
		simhash_family_ask(family);
	if (!simhash_align(a, b, (uint32) Min(2 * most + 4, SIMHASH_ALIGNED_MOST), &places, &n))
		return SIMHASH_UNLIKE;
	for (uint32 i = 0; i < n; i++)
	{
		if (places[i].na > 0 && places[i].nb > 0)
			judge_replaced(&judging, &places[i]);
		else
			judge_added(&judging, &places[i]);
	}
	judging.cost += judging.entries + (family == NULL ? 1 : OTHER_WORD) * judging.others;
	if (judging.cost > 0 && judging.cost > most)
		return SIMHASH_UNLIKE;
	return judging.entries > 0 ? SIMHASH_OTHER_ENTRIES :
		judging.signs ? SIMHASH_OTHER_SIGNS :
		judging.digits ? SIMHASH_OTHER_DIGITS :
		judging.others == 0 ? SIMHASH_ALIKE :
		family == NULL ? SIMHASH_OTHER_WORDS : SIMHASH_ALIKE_IN_FAMILY;
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
 * Are two texts alike, or two arrays, whose sets of features are similar enough and
 * have so much in common?
 */
static SimhashVerdict
judge_alike(const SimhashComparison *comparison, const SimhashDocument *a,
			const SimhashDocument *b, ShOverlap overlap, SimhashFamily *family)
{
	double		at_least = comparison->at_least;
	MemoryContext scratch;
	MemoryContext old;
	SimhashVerdict verdict;

	if (comparison->arrays)
		return jaccard(overlap.least, a->features.total, b->features.total) < at_least ||
			((overlap.common < a->features.n || overlap.common < b->features.n) &&
			 jaccard(overlap.common, a->features.n, b->features.n + SURPLUS) < at_least) ?
			SIMHASH_UNLIKE : SIMHASH_ALIKE;
	scratch = AllocSetContextCreate(CurrentMemoryContext, "simhash alignment",
									ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(scratch);
	verdict = judge_words(at_least, &a->words, &b->words, family);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return verdict;
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
 * Judge two documents, of which the features of the first are in a bag, too; sets
 * their similarity, or -1 when one of them has no feature.  Containment is that of
 * the first document.
 */
SimhashVerdict
simhash_judge(const SimhashComparison *comparison, const SimhashDocument *a,
			  const SimhashDocument *b, const ShBag *bag, SimhashFamily *family,
			  double *similarity)
{
	const SimhashMeasureKind *kind = &simhash_measures[comparison->measure];
	ShOverlap	overlap;

	*similarity = -1;
	if (a->features.n == 0 ||
		(b->features.n == 0 && comparison->measure != SIMHASH_CONTAINMENT))
		return SIMHASH_UNLIKE;
	if (comparison->measure == SIMHASH_HAMMING)
		return judge_fingerprints(comparison, a, b, similarity);
	if (comparison->measure == SIMHASH_COSINE)
	{
		(void) sh_bag_cosine(bag, &b->features, simhash_pause, similarity);
		return *similarity >= comparison->at_least ? SIMHASH_ALIKE : SIMHASH_UNLIKE;
	}
	overlap = sh_bag_overlap(bag, &b->features, simhash_pause);
	*similarity = kind->sets ? jaccard(overlap.common, a->features.n, b->features.n) :
		(double) overlap.common / (double) a->features.n;
	if (*similarity < comparison->at_least)
		return SIMHASH_UNLIKE;
	return kind->aligned ? judge_alike(comparison, a, b, overlap, family) : SIMHASH_ALIKE;
}
