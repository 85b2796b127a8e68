/*-------------------------------------------------------------------------
 *
 * alike.c
 *		Whether the similarity of two documents is evidence that one may go for
 *		the other.
 *
 * Documents are alike when the Jaccard similarity of their sets of features is
 * high enough, and none of these explains it:
 *
 *	- Repetition.  In a log or a table of measurements the same few words occur
 *	  again and again, so the sets of two that have nothing to do with each other
 *	  are nearly the same.  And a text that a hundred copies of an advertisement
 *	  are put before has hardly more features than the text with one.  So the
 *	  counts of features must be similar as well (the Jaccard similarity of
 *	  multisets).  Where windows three times as long repeat themselves, too, or
 *	  few features do, as in a list of answers, "yes" or "no", any two have them
 *	  about equally often.  There all must be the same, one after the other; also
 *	  where both have the same few features, as of items and states.
 *	- Order.  What stands between two occurrences of a word can change places with
 *	  what stands between two others, and all pairs of words stay: a list of users
 *	  and their roles where another one is the admin.  The longer windows do not
 *	  stay.  A change of r tokens in a row, or none where others come in between,
 *	  takes r + m - 1 windows of m tokens, and r + 3m - 1 of 3m: at most five times
 *	  as many (m = 2, r = 0).  What takes more of them is no change here and there.
 *	  Only a word that is written twice in a row takes nine for one, and that from
 *	  the longer document; so ten are allowed for one that this has lost, but six, as
 *	  for another word (m and 3m of each), where features repeat, as few are lost
 *	  whatever changes; and five where longer windows repeat at times: in a list of
 *	  rooms and their guests each guest who is here more often and there less is
 *	  another word, but those who change rooms are not seen.  Exchanges beside
 *	  something else may be within that.
 *	  Documents that have the same features equally often must have the same words
 *	  one after the other.  This, too, is called repetition.
 *	- Symbols.  Documents whose words are the same one after the other, where only
 *	  digits or symbols differ: C and C++, -18.5 and 18.5, versions, prices.  What
 *	  normalisation makes equal, as 10⁵ and 105, or leaves out, as the "!" of "!=",
 *	  is looked for in the document itself.
 *	- Shortness.  Of a title of six words another one is left with similarity .83
 *	  by a word more, which may say all: "documentation", "32 bits".  So unless all
 *	  are the same, two features that differ are added to those that do: a word
 *	  more or less is allowed from twelve words on, for the default of .8.
 *	- Chance.  Where rows taken at random are similar, as records that share a
 *	  long text are, only what goes beyond that counts: a similarity s of a level
 *	  of chance c is worth (s - c) / (1 - c), as in Cohen's kappa (1960).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include <utf8proc.h>

#include "utils/builtins.h"

#define LONGER			3		/* times as many tokens in a longer window */
/* Do features, or windows, of both occur so often on average?  From twice on any have them. */
#define OCCUR(list, times)	(a->list.total >= (times) * a->list.n && b->list.total >= (times) * b->list.n)
#define LISTS			(4.0 / 3)	/* times that longer windows occur in
									 * lists */
#define FEW				64		/* features are those of lists of states */
#define CHANCE_MIN		0.2		/* a level of chance that counts */
#define SURPLUS			2		/* features that are taken to differ besides
								 * those that do */

/* --- what is known of a document ------------------------------------------ */

/* What chain_tokens is told, and has found so far. */
typedef struct TokenChain
{
	ShDocument *document;
	uint64		hash;			/* it begins with what nobody can foresee */
	bool		marks;			/* digits and symbols count, too */
	bool		minus;			/* the last token is a '-' */
	int32_t		before;			/* the last two code points of the document */
	int32_t		last;
} TokenChain;

/* Is the category of a code point one of these? */
static inline bool
is_of(int32_t c, utf8proc_category_t first, utf8proc_category_t last)
{
	utf8proc_category_t category = utf8proc_category(c);

	return category >= first && category <= last;
}

/*
 * The value of a decimal digit, of whatever script; of another number the code
 * point; -1 if it is none.  Unicode has the ten of a script in a row, and none
 * in Han.
 */
static inline int32_t
number_value(int32_t c)
{
	int32_t		n = 0;

	if (c < 0x660 || (c > 0x3400 && c < 0xa620))
		return c >= '0' && c <= '9' ? c - '0' : -1;
	while (n < 10 && utf8proc_category(c - n) == UTF8PROC_CATEGORY_ND)
		n++;
	return n > 0 ? n - 1 :
		is_of(c, UTF8PROC_CATEGORY_NL, UTF8PROC_CATEGORY_NO) ? c : -1;
}

/* Add a word of eight bytes. */
static inline uint64
chain_word(uint64 hash, uint64 word)
{
	return sh_mix(hash * SH_SCRAMBLE + word);
}

/* Add bytes of a token, if any; none is 0, so a word of less than eight is the last. */
static inline uint64
chain_part(uint64 hash, const unsigned char *from, const unsigned char *end)
{
	uint64		word = 0;

	for (; from < end; from++)
	{
		word = word << 8 | *from;
		if (word >> 56 != 0)
		{
			hash = chain_word(hash, word);
			word = 0;
		}
	}
	return chain_word(hash, word);
}

/*
 * Add a token: its digits, if they count, and what is between them.  A minus
 * before a digit or a symbol, as in -5, -$5 and ->, is said; others are hyphens.
 */
static inline void
chain_token(TokenChain *tokens, const unsigned char *from,
			const unsigned char *end)
{
	const unsigned char *part = from;
	uint64		hash = tokens->hash;	/* in a register */
	int32_t		number = -1;

	/* letters, most of what there is */
	while (!tokens->minus && from < end && *from >= 'a' && *from <= 'z')
		from++;
	for (size_t length; from < end; from += length)
	{
		int32_t		c = sh_utf8_decode(from, end, &length);
		int32_t		before = number;

		/* the normal form of one half is 1, U+2044, 2; folded, 1/2 */
		number = !tokens->marks && (c == 0x2044 || c == '/') ? 0 : number_value(c);
		if (tokens->minus && (number >= 0 ||
							  utf8proc_category(c) >= UTF8PROC_CATEGORY_SM))
			hash = chain_word(hash, '-');
		tokens->minus = false;
		if (number < 0)
			continue;
		hash = part < from ? chain_part(hash, part, from) : hash;
		part = from + length;
		if (tokens->marks)
			hash = chain_word(hash, before < 0 ? ~(uint64) number : (uint64) number);
	}
	tokens->hash = part < end ? chain_part(hash, part, end) : hash;
}

/* ShDocumentSink: chain up the tokens. */
static bool
chain_tokens(void *state, ShWindows *windows)
{
	TokenChain *tokens = state;
	ShFeature	batch[SH_BATCH];
	size_t		n;

	while ((n = sh_windows_next(windows, batch)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < n; i++)
		{
			const unsigned char *from = windows->text->bytes + batch[i].start;
			const unsigned char *end = windows->text->bytes + batch[i].end;

			/* An accent by itself begins with a blank, and says nothing. */
			if (*from >= 'a' || strchr(" -!?:`", *from) == NULL)
				chain_token(tokens, from, end);
			tokens->minus = *from == '-';
		}
	}
	return true;
}

/*
 * A code point, or the one before it, if that means something and would not be
 * seen in the tokens, or be taken for another; or else 0.  A '.' before a letter may
 * end a sentence, and a '_' that is not within a name is an emphasis or a rule.
 * Line breaks and case may not matter here.
 */
static inline int32_t
unseen_mark(int32_t before, int32_t last, int32_t c)
{
	if (last > ' ' && (last <= ':' || last == '_') &&
		((last == ':' && c == ':') || (last == '!' && (c == '=' || c == '(')) ||
		 (strchr("!._-", last) != NULL && before != last &&
		  is_of(c, last == '.' ? UTF8PROC_CATEGORY_ND : UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_ND) &&
		  is_of(before, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_ND) == (last == '_'))))
		return last;
	return c >= 0x80 &&
		(is_of(c, UTF8PROC_CATEGORY_NO, UTF8PROC_CATEGORY_PD) ||
		 c == 0xa7 || c == 0xb6 || c == 0x66a || c == 0x2020 || c == 0x2021 ||
		 (c >= 0x2030 && c <= 0x2037) || (c >= 0x2071 && c <= 0x209c) || (c >= 0xe0020 && c <= 0xe007f)) ? c : 0;
}

/* Read some of the document. */
static inline void
read_tokens(TokenChain *tokens, const unsigned char *bytes, Size length)
{
	(void) sh_document_read(tokens->document, bytes, length, chain_tokens,
							tokens);
}

/*
 * SimhashReader: chain up the tokens of a slice, but for the last few.  If marks
 * count, a dash is read as a '-' as well, and before any other that would not be
 * seen a symbol is read, a pattern of Braille.
 */
static void
feed_chain(void *state, const unsigned char *bytes, Size length)
{
	TokenChain *tokens = state;
	const unsigned char *end = bytes + length;
	const unsigned char *from = bytes;	/* what is not yet read */

	for (size_t n; tokens->marks && bytes < end; bytes += n)
	{
		int32_t		c = sh_utf8_decode(bytes, end, &n);
		int32_t		mark = unseen_mark(tokens->before, tokens->last, c);
		unsigned char symbol[] = {0xe2, 0xa0 | (mark >> 6 & 3), 0x80 | (mark & 0x3f)};

		if ((sh_classify(c) & ~SH_INERT) == SH_IGNORED && (c < 0xe0020 || c > 0xe007f))
			continue;
		if (mark != 0)
		{
			bool		dash = mark > '-' && utf8proc_category(mark) == UTF8PROC_CATEGORY_PD;

			read_tokens(tokens, from, (Size) (bytes - from));
			read_tokens(tokens, dash ? (const unsigned char *) "-" : symbol,
						dash ? 1 : sizeof symbol);
			from = bytes;
		}
		tokens->before = tokens->last;
		tokens->last = c;
	}
	read_tokens(tokens, from, (Size) (end - from));
}

/* The hash of the tokens of a document by a profile. */
static uint64
chain_document(const char *profile, bool marks, text *document)
{
	const ShProfile *cut =
	simhash_comparing_profile(sh_profile_find(profile, strlen(profile)));
	TokenChain	tokens = {.document = simhash_begin_document(cut),
	.hash = cut->seed,.marks = marks};

	tokens.document->text.gram = 1;
	simhash_read_utf8(VARDATA_ANY(document), VARSIZE_ANY_EXHDR(document),
					  feed_chain, &tokens);
	sh_document_read_end(tokens.document, chain_tokens, &tokens);
	return sh_mix(tokens.hash);
}

/* A profile whose windows are longer than those of another one. */
static const ShProfile *
longer_profile(const ShProfile *profile)
{
	int			size = profile->unit >= SH_UNIT_COMPAT ? 1 : profile->max;
	char		name[SH_PROFILE_NAME];

	snprintf(name, sizeof name, "%s-%d-count%s",
			 profile->unit == SH_UNIT_CHARACTER ? "char" :
			 profile->unit == SH_UNIT_SYMBOL ? "symbol" : "word",
			 Min(LONGER * size, SH_WINDOW_MAX), profile->folds ? "-fold" : "");
	return sh_profile_find(name, strlen(name));
}

/* The features that are in a bag, and how often they occur. */
SimhashEvidence
simhash_features_evidence(const ShBag *bag)
{
	SimhashEvidence evidence = {.features = sh_bag_features(bag)};

	return evidence;
}

/*
 * What is known of a document whose features are in a bag, counted.  Longer
 * windows go to another bag, and stay there.
 */
SimhashEvidence
simhash_text_evidence(const ShBag *bag, ShBag *longer,
					  const ShProfile *profile, text *document)
{
	SimhashEvidence evidence = simhash_features_evidence(bag);

	evidence.words = chain_document(profile->folds ? "word-1-fold" : "word-1",
									false, document);
	evidence.marks = chain_document(profile->folds ? "symbol-1-fold" : "symbol-1",
									true, document);
	simhash_fill_bag(longer, SH_DAMP_COUNT, longer_profile(profile), document);
	evidence.longer = sh_bag_features(longer);
	return evidence;
}

/* --- two documents -------------------------------------------------------- */

/* The similarity asked for where rows at random have some already. */
double
simhash_beyond_chance(double at_least, double chance)
{
	double		needed = chance + (1 - chance) * at_least;

	return chance < CHANCE_MIN ? at_least : needed;
}

/* The Jaccard similarity of two multisets, rounded as a variable is. */
static double
multiset_jaccard(uint64 least, uint64 a, uint64 b)
{
	double		jaccard = (double) least / (double) (a + b - least);

	return jaccard;
}

/*
 * Have two documents lost more of their longer windows than the features that they have
 * lost explain (ten for one, six where features repeat, five in lists); or do these
 * repeat themselves, or few features, as any two would have them?
 */
static bool
longer_differ(const SimhashEvidence *a, const SimhashEvidence *b, uint64 least,
			  bool repeat, const ShBag *bag)
{
	uint64		longer = sh_bag_overlap(bag, &b->longer, simhash_pause).least;
	uint64		most = (Max(a->features.total, b->features.total) - least) *
	(!repeat ? 10 : OCCUR(longer, LISTS) ? 5 : 6);

	return a->longer.n > 0 && b->longer.n > 0 &&
		(a->longer.total + b->longer.total - 2 * longer > most ||
		 (a->marks != b->marks && (OCCUR(longer, 2) ||
								   (repeat && a->words != b->words && Max(a->features.n, b->features.n) < FEW))));
}

/*
 * Are two documents alike?  The features of the first are in a bag, its longer
 * windows, if there are some, in another one.  Sets the Jaccard similarity of
 * their sets of features, if both have some.
 */
SimhashVerdict
simhash_judge(const ShProfile *profile, double at_least, double chance,
			  const SimhashEvidence *a, const SimhashEvidence *b,
			  const ShBag *bag, const ShBag *longer, double *similarity)
{
	ShOverlap	overlap;

	if (a->features.n == 0 || b->features.n == 0)
		return SIMHASH_UNLIKE;
	overlap = sh_bag_overlap(bag, &b->features, simhash_pause);
	*similarity = multiset_jaccard(overlap.common, a->features.n, b->features.n);
	if (*similarity < at_least)
		return SIMHASH_UNLIKE;
	if (multiset_jaccard(overlap.least, a->features.total, b->features.total) < at_least ||
		longer_differ(a, b, overlap.least, *similarity == 1 || OCCUR(features, 2), longer) ||
		(profile->unit < SH_UNIT_COMPAT && overlap.least == a->features.total &&
		 overlap.least == b->features.total && a->words != b->words))
		return SIMHASH_BY_REPETITION;
	if (a->words == b->words && a->marks != b->marks)
		return SIMHASH_BUT_FOR_SYMBOLS;
	if (*similarity < 1 &&
		multiset_jaccard(overlap.common, a->features.n,
						 b->features.n + SURPLUS) < at_least)
		return SIMHASH_TOO_SHORT;
	if (*similarity < simhash_beyond_chance(at_least, chance))
		return SIMHASH_BY_CHANCE;
	return SIMHASH_ALIKE;
}
