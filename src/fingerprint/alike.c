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
 *	  multisets); and where at least half of what both documents have repeats
 *	  itself, so must be windows three times as long.  These survive less: if a
 *	  share c of windows of n words is left by changes here and there, c^3 is left
 *	  of windows of 3n words.  That much is asked for.  Where the longer windows
 *	  repeat themselves, too, as in a list of answers, "yes" or "no", any two have
 *	  them about equally often.  There all must be the same, one after the other.
 *	- Order.  What stands between two occurrences of a word can change places with
 *	  what stands between two others, and all pairs of words stay: a list of users
 *	  and their roles where another one is the admin.  So documents that have the
 *	  same features equally often must have the same words one after the other.
 *	  This, too, is called repetition.
 *	- Symbols.  Documents whose words are the same one after the other, where only
 *	  digits or symbols differ: C and C++, -18.5 and 18.5, versions, prices.
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

#include <math.h>
#include <utf8proc.h>

#include "utils/builtins.h"

#define LONGER			3		/* times as many tokens in a longer window */
#define REPEATS			2		/* occurrences of an average feature, from
								 * which on longer windows are looked at */
#define CHANCE_MIN		0.2		/* a level of chance that counts */
#define SURPLUS			2		/* features that are taken to differ besides
								 * those that do */

/* --- what is known of a document ------------------------------------------ */

/* A hash of bytes, eight at a time; it begins with what nobody can foresee. */
typedef struct ByteChain
{
	uint64		hash;
	uint64		bytes;			/* the last ones */
	uint64		n;				/* all */
} ByteChain;

/* What chain_tokens is told, and has found so far. */
typedef struct TokenChain
{
	ShDocument *document;
	ByteChain	chain;
	bool		digits;			/* they count, too */
	bool		minus;			/* the last token is a '-' */
} TokenChain;

/* Add a byte. */
static inline void
chain_byte(ByteChain *chain, unsigned char byte)
{
	chain->bytes = chain->bytes << 8 | byte;
	if (++chain->n % 8 == 0)
		chain->hash = sh_mix(chain->hash * SH_SCRAMBLE + chain->bytes);
}

/*
 * The value of a decimal digit, of whatever script; -1 if it is none.  Unicode
 * has the ten of a script in a row, and none in Han or kana.
 */
static inline int
digit_value(int32_t c)
{
	int			value = -1;

	if (c < 0x660 || (c > 0x1c59 && c < 0xa620))
		return c >= '0' && c <= '9' ? c - '0' : -1;
	while (value < 9 &&
		   utf8proc_category(c - value - 1) == UTF8PROC_CATEGORY_ND)
		value++;
	return value;
}

/*
 * Add a token: its digits, if they count, and what is between them.  A minus
 * before a digit or a symbol, as in -5, -$5 and ->, is said; others are hyphens.
 */
static inline void
chain_token(TokenChain *tokens, const unsigned char *from,
			const unsigned char *end)
{
	ByteChain	chain = tokens->chain;	/* in registers */
	bool		digits = false;
	bool		begun = false;	/* something behind the last blank */

	for (size_t length; from < end; from += length)
	{
		int32_t		c = sh_utf8_decode(from, end, &length);
		int			digit = digit_value(c);

		if (begun && digits != (digit >= 0))
			chain_byte(&chain, ' ');
		digits = digit >= 0;
		if (tokens->minus &&
			(digits || utf8proc_category(c) >= UTF8PROC_CATEGORY_SM))
			chain_byte(&chain, '-');
		tokens->minus = false;
		begun = !digits || tokens->digits;
		for (size_t i = 0; begun && i < (digits ? 1 : length); i++)
			chain_byte(&chain, digits ? '0' + digit : from[i]);
	}
	if (begun)
		chain_byte(&chain, ' ');
	tokens->chain = chain;
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
			if (strchr(" -!?:`", *from) == NULL)
				chain_token(tokens, from, end);
			tokens->minus = *from == '-';
		}
	}
	return true;
}

/* SimhashReader: chain up the tokens of a slice, but for the last few. */
static void
feed_chain(void *state, const unsigned char *bytes, Size length)
{
	TokenChain *tokens = state;

	(void) sh_document_read(tokens->document, bytes, length, chain_tokens,
							tokens);
}

/* The hash of the tokens of a document by a profile. */
static uint64
chain_document(const char *profile, bool digits, text *document)
{
	const ShProfile *cut =
	simhash_comparing_profile(sh_profile_find(profile, strlen(profile)));
	TokenChain	tokens = {.document = simhash_begin_document(cut),
	.chain.hash = cut->seed,.digits = digits};

	tokens.document->text.gram = 1;
	simhash_read_utf8(VARDATA_ANY(document), VARSIZE_ANY_EXHDR(document),
					  feed_chain, &tokens);
	sh_document_read_end(tokens.document, chain_tokens, &tokens);
	return sh_mix(sh_mix(tokens.chain.hash + tokens.chain.bytes) + tokens.chain.n);
}

/* A profile whose windows are longer than those of another one. */
static const ShProfile *
longer_profile(const ShProfile *profile)
{
	bool		foreign = profile->unit >= SH_UNIT_COMPAT;
	int			size = foreign ? sh_default_profile->max : profile->max;
	char		name[SH_PROFILE_NAME];

	snprintf(name, sizeof name, "%s-%d-count%s",
			 profile->unit == SH_UNIT_CHARACTER ? "char" :
			 profile->unit == SH_UNIT_SYMBOL ? "symbol" : "word",
			 Min(LONGER * size, SH_WINDOW_MAX), profile->folds ? "-fold" : "");
	return sh_profile_find(name, strlen(name));
}

/* The occurrences in a list. */
static uint64
occurrences(const ShFeatures *list)
{
	uint64		sum = 0;

	for (size_t i = 0; i < list->n; i++)
		sum += list->weights[i];
	return sum;
}

/* The features that are in a bag, and how often they occur. */
SimhashEvidence
simhash_features_evidence(const ShBag *bag)
{
	SimhashEvidence evidence = {.features = sh_bag_features(bag)};

	evidence.total = occurrences(&evidence.features);
	return evidence;
}

/*
 * What is known of a document whose features are in a bag, counted.  Longer
 * windows, if they are to be looked at, go to another bag, and stay there.
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
	if (evidence.total >= REPEATS * evidence.features.n)
	{
		simhash_fill_bag(longer, SH_DAMP_COUNT, longer_profile(profile),
						 document);
		evidence.longer = sh_bag_features(longer);
		evidence.longer_total = occurrences(&evidence.longer);
	}
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

/* What at_least leaves for the multisets of longer windows. */
static double
least_of_longer(const ShProfile *profile, double at_least)
{
	const ShProfile *longer = longer_profile(profile);
	int			size = profile->unit >= SH_UNIT_COMPAT ?
	sh_default_profile->max : profile->max;
	double		share = pow(2 * at_least / (1 + at_least),
							(double) longer->max / size);

	return share / (2 - share);
}

/*
 * Are the longer windows of two documents too different, if these repeat; or do they
 * repeat themselves, as any two would have them?
 */
static bool
longer_differ(const ShProfile *profile, double at_least,
			  const SimhashEvidence *a, const SimhashEvidence *b,
			  const ShBag *longer)
{
	return a->longer.n > 0 && b->longer.n > 0 &&
		((a->longer_total >= REPEATS * a->longer.n && a->marks != b->marks &&
		  b->longer_total >= REPEATS * b->longer.n) ||
		 multiset_jaccard(sh_bag_overlap(longer, &b->longer,
										 simhash_pause).least,
						  a->longer_total, b->longer_total) <
		 least_of_longer(profile, at_least));
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
	if (multiset_jaccard(overlap.least, a->total, b->total) < at_least ||
		longer_differ(profile, at_least, a, b, longer) ||
		(profile->unit < SH_UNIT_COMPAT && overlap.least == a->total &&
		 overlap.least == b->total && a->words != b->words))
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

/* The value of "at_least"; fails if it is out of range, or NaN. */
double
simhash_check_at_least(double at_least)
{
	if (!(at_least >= 0 && at_least <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"at_least\" is %g", at_least),
				 errhint("It must be from 0 to 1.")));
	return at_least;
}
