/*-------------------------------------------------------------------------
 *
 * slips.c
 *		Whether words are the same but for a slip of typing, or of a scanner.
 *
 * A slip is a letter more or less, another letter, two letters that have changed
 * places, a digit that looks like the letter, a word that is written as two.  A word of
 * a few letters, or one that begins with another letter, is another word: cat, car; and
 * so is another digit, and a word where both documents have both elsewhere: causal,
 * casual; and so is a number in Roman letters, XVII, XVIII, and a piece of a gene or a
 * protein.  And so are months, days, numbers, directions and negations that differ by a
 * letter: junio, julio.  Of a syllable of Hangul one part may be another; a whole one
 * within a word is no slip.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#define SLIP_LETTERS	4		/* of a word that may have a slip ... */
#define SLIP_OTHER		5		/* ... by which another letter stands there */
#define SLIP_WORDS		8		/* in a place */
#define SEQUENCE_BASES	8		/* letters of a word that may be a piece of a
								 * gene, or of a protein, beside another one
								 * as long */
#define SEQUENCE_LETTERS 25		/* ... of one that is, whatever stands there */
#define SLIP_BYTES		64		/* of a word */

#define HANGUL_FIRST	0xac00	/* of the syllables of Hangul ... */
#define HANGUL_SYLLABLES 11172
#define HANGUL_VOWELS	21
#define HANGUL_ENDS		28

/*
 * What months, days of the week, numbers, directions and negations have where others of
 * the same language have what stands behind it, but not this, and are the same but for a
 * slip; as they are once folded.  What follows ^ begins a word.
 */
static const char *const other_facts[][2] = {
	/* June and July, or other months */
	{"jun", "jul"}, {"jún", "júl"}, {"jūn", "jūl"}, {"juun", "juul"}, {"iuni", "iuli"},
	{"huny", "huly"}, {"yuny", "yuly"}, {"ιουν", "ιουλ"}, {"ιούν", "ιούλ"}, {"июн", "июл"},
	{"юн", "юл"}, {"јун", "јул"}, {"հուն", "հուլ"}, {"ივნ", "ივლ"}, {"יוני", "יולי"},
	{"يوني", "يولي"}, {"ئازار", "ئایار"}, {"ئىيۇن", "ئىيۇل"},
	/* days */
	{"tirsd", "torsd"}, {"שישי", "שלישי"},
	/* numbers */
	{"sesent", "setent"}, {"setzè", "setè"}, {"setzen", "seten"}, {"sesd", "sepd"}, {"sesc", "sepc"},
	{"tond", "tiond"}, {"tend", "tiend"}, {"hat", "hét"}, {"nnegye", "negye"},
	{"birin", "binin"}, {"девят", "десят"}, {"девет", "десет"}, {"дзевя", "дзеся"},
	{"дзявя", "дзяся"}, {"devet", "deset"}, {"devát", "desát"}, {"devia", "desia"},
	{"dziewi", "dziesi"}, {"رابع", "سابع"}, {"هشت", "هفت"}, {"تصد", "تاد"},
	{"שישית", "שלישית"}, {"חמישים", "חמישי"}, {"חמישית", "חמישים"},
	{"שישים", "שישי"}, {"שישית", "שישים"}, {"साठव", "सातव"}, {"त\u0940सव", "त\u0940सर"},
	{"일", "이"}, {"일", "칠"}, {"이", "오"}, {"삼", "사"},
	/* in and out, on and off, west and east */
	{"^вы", "^в"}, {"^ви", "^в"}, {"^wy", "^w"}, {"^vý", "^v"}, {"^ie", "^iz"}, {"^an", "^ab"},
	{"^an", "^av"}, {"^auf", "^aus"}, {"oest", "est"}, {"^sub", "^sup"},
	{"^abd", "^add"}, {"dessus", "dessous"}, {"ureter", "urethr"},
	/* who gives and who gets: employer, employee */
	{"yer", "yee"}, {"iner", "inee"},
	/* negations */
	{"mıyor", "ıyor"}, {"miyor", "iyor"}, {"muyor", "uyor"}, {"müyor", "üyor"}, {"mır", "ır"},
	{"mir", "ir"}, {"mur", "ur"}, {"mür", "ür"}, {"mır", "yır"}, {"mir", "yir"}, {"mur", "yur"},
	{"mür", "yür"}, {"sız", "nız"}, {"siz", "niz"}, {"suz", "nuz"}, {"süz", "nüz"},
	{"obero", "bero"}, {"^ifn", "^if"}, {"^نن", "^ن"}, {"^oo", "^o"}, {"^uu", "^u"}
};

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

/* Is it a syllable of Hangul, which has more than one letter? */
static bool
is_syllable(int32 c)
{
	return c >= HANGUL_FIRST && c < HANGUL_FIRST + HANGUL_SYLLABLES;
}

/* May a letter be typed for another one?  That of Hangul is a part of a syllable. */
static bool
is_near_letter(int32 a, int32 b)
{
	int32		x = a - HANGUL_FIRST;
	int32		y = b - HANGUL_FIRST;

	if (!is_letter(a) || !is_letter(b))
		return false;
	if (!is_syllable(a) || !is_syllable(b))
		return true;
	return (x % HANGUL_ENDS != y % HANGUL_ENDS) +
		(x / HANGUL_ENDS % HANGUL_VOWELS != y / HANGUL_ENDS % HANGUL_VOWELS) +
		(x / HANGUL_ENDS / HANGUL_VOWELS != y / HANGUL_ENDS / HANGUL_VOWELS) <= 1;
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
		return is_letter(longer->list[i]) && (i == other->n || !is_syllable(longer->list[i])) &&
			memcmp(&longer->list[i + 1], &other->list[i], rest * sizeof(int32)) == 0;
	if (memcmp(&longer->list[i + 1], &other->list[i + 1], (rest - 1) * sizeof(int32)) == 0)
		return look_alike(longer->list[i], other->list[i]) ||
			(other->n >= SLIP_OTHER && is_near_letter(longer->list[i], other->list[i]));
	return rest >= 2 && longer->list[i] == other->list[i + 1] && !is_syllable(longer->list[i]) &&
		longer->list[i + 1] == other->list[i] &&
		is_letter(longer->list[i]) && is_letter(other->list[i]) &&
		memcmp(&longer->list[i + 2], &other->list[i + 2], (rest - 2) * sizeof(int32)) == 0;
}

/* Is a word a number in Roman letters, maybe with the "e" of siècle? */
static bool
is_roman(const Letters *word)
{
	for (int i = 0; i < word->n; i++)
	{
		if (word->list[i] >= 0x80 || strchr("ivxlcdm", word->list[i]) == NULL)
			return i > 0 && i == word->n - 1 && word->list[i] == 'e';
	}
	return true;
}

/* Has a word so many letters, of such ones only? */
static bool
is_spelt(const SimhashWords *words, uint32 i, const char *letters, uint32 length)
{
	const SimhashWord *word = &words->list[i];
	const char *form = words->forms + word->start;

	for (uint32 k = 0; k < word->length; k++)
	{
		if (form[k] == '\0' || strchr(letters, form[k]) == NULL)
			return false;
	}
	return word->length >= length;
}

/*
 * Is a word a piece of a gene or a protein, of which each letter counts: of bases, or of
 * amino acids beside one as long, or so long that it is no word of a language?
 */
static bool
is_sequence(const SimhashWords *words, uint32 i)
{
	static const char *const acids = "acdefghiklmnpqrstvwy";
	bool		acid = is_spelt(words, i, acids, SEQUENCE_BASES);

	for (uint32 k = i - (i > 0); acid && k <= i + 1 && k < words->n; k++)
	{
		if (k != i && words->list[k].length == words->list[i].length &&
			is_spelt(words, k, acids, SEQUENCE_BASES))
			return true;
	}
	return is_spelt(words, i, "acgtun", SEQUENCE_BASES) ||
		is_spelt(words, i, "abcdefghijklmnopqrstuvwxyz", SEQUENCE_LETTERS);
}

/* Is a word somewhere in a document? */
static bool
has_word(const SimhashWords *words, const SimhashWord *word)
{
	for (uint32 i = 0; i < words->n; i++)
	{
		if (words->list[i].hash == word->hash)
			return true;
	}
	return false;
}

/* Has a word some letters at a place?  Those behind ^ are at its begin. */
static bool
has_at(const SimhashWords *words, const SimhashWord *word, Size at, const char *letters)
{
	if (*letters == '^')
		return at == 0 && has_at(words, word, at, letters + 1);
	return at + strlen(letters) <= word->length &&
		memcmp(words->forms + word->start + at, letters, strlen(letters)) == 0;
}

/* Are two words, the same but for a slip, other facts? */
static bool
are_other_facts(const SimhashWords *x, const SimhashWord *a, const SimhashWords *y,
				const SimhashWord *b)
{
	for (Size i = 0; i < lengthof(other_facts); i++)
	{
		const char *const *facts = other_facts[i];

		for (Size at = 0; at < a->length; at++)
		{
			bool		first = has_at(x, a, at, facts[0]);

			if (first != has_at(y, b, at, facts[0]) &&
				(first ? has_at(y, b, at, facts[1]) : has_at(x, a, at, facts[1])))
				return true;
		}
	}
	return false;
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
		CHECK_FOR_INTERRUPTS(); /* documents are long */
		if (!collect_letters(x, place->a + i, Min(each, place->na), &a) ||
			!collect_letters(y, place->b + i, Min(each, place->nb), &b) ||
			!differ_by_slip(&a, &b) || (is_roman(&a) && is_roman(&b)) ||
			(each > 1 && simhash_count_negations(x, place->a, place->na) != simhash_count_negations(y, place->b, place->nb)) ||
			(each == 1 && ((has_word(x, &y->list[place->b + i]) && has_word(y, &x->list[place->a + i])) ||
						   is_sequence(x, place->a + i) || is_sequence(y, place->b + i) ||
						   are_other_facts(x, &x->list[place->a + i], y, &y->list[place->b + i]))))
			return false;
	}
	return true;
}
