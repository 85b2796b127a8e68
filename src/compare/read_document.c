/*-------------------------------------------------------------------------
 *
 * read_document.c
 *		What is known of a document to compare it with others: its features, and, to
 *		align them with those of another, its words in their order.
 *
 * For the words layout is left out first (text_layout.c); what is left is cut and normalised as by
 * the profile "symbol-1", and phonetic scripts by code point.  The normal
 * forms are kept, so that a slip of typing can be told from another word.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#include <utf8proc.h>

/* A document that is being read. */
typedef struct WordReading
{
	ShDocument *document;
	SimhashWords *words;
	int			omitted;		/* kinds of words that are left out */
} WordReading;

/*
 * Does a symbol count only for another one: emoji and the like, and arrows as in
 * "read more →", but no pattern of Braille, which stands for a sign that counts?
 */
static bool
is_soft(int32 c)
{
	return c == 0x2190 || c == 0x2192 ||
		(c >= 0x80 && (c < 0x2800 || c > 0x28ff) && utf8proc_category(c) == UTF8PROC_CATEGORY_SO);
}

/* What is a token? */
static SimhashWordKind
kind_of(const unsigned char *from, const unsigned char *end)
{
	Size		length;
	int32		c = sh_utf8_decode(from, end, &length);
	int			kind = sh_classify(c) & ~SH_INERT;

	if (c == SIMHASH_LABEL_SIGN)
		return SIMHASH_LABEL;
	if (c == SIMHASH_EMPTY_SIGN)
		return SIMHASH_EMPTY;
	if (kind == SH_SYMBOL || kind == SH_SEPARATOR)
		return c == '%' || c == '&' || utf8proc_category(c) == UTF8PROC_CATEGORY_SC ?
			SIMHASH_UNIT : is_soft(c) ? SIMHASH_SOFT_SIGN : SIMHASH_SIGN;
	for (; from < end; from += length)
	{
		length = 1;
		if ((*from >= '0' && *from <= '9') ||
			(*from >= 0x80 && simhash_digit_value(sh_utf8_decode(from, end, &length)) >= 0))
			return SIMHASH_NUMBER;
	}
	return SIMHASH_WORD;
}

/* Make room for so many more words, and bytes of their normal forms. */
static void
make_room(SimhashWords *words, uint32 n, Size bytes)
{
	if (words->n + n > words->room)
	{
		words->room = Max(words->n + n, words->room * 2);
		words->list = repalloc_huge(words->list, words->room * sizeof *words->list);
	}
	if (words->bytes + bytes > words->bytes_room)
	{
		words->bytes_room = (uint32) Max(words->bytes + bytes, (Size) words->bytes_room * 2);
		words->forms = repalloc_huge(words->forms, words->bytes_room);
	}
}

/* ShDocumentSink: append the tokens. */
static bool
take_words(void *state, ShWindows *windows)
{
	WordReading *reading = state;
	SimhashWords *words = reading->words;
	ShWindows	same = *windows;
	ShFeature	features[SH_BATCH];
	uint64_t	hashes[SH_BATCH];
	size_t		n;

	while ((n = sh_windows_next(windows, features)) > 0)
	{
		(void) sh_windows_hashes(&same, hashes);
		CHECK_FOR_INTERRUPTS();
		make_room(words, (uint32) n, features[n - 1].end - features[0].start);
		for (size_t i = 0; i < n; i++)
		{
			const unsigned char *from = windows->text->bytes + features[i].start;
			Size		length = features[i].end - features[i].start;
			SimhashWord *word = &words->list[words->n];

			word->kind = kind_of(from, from + length);
			/* An accent by itself begins with a blank, and says nothing. */
			if (*from == ' ' || word->kind & reading->omitted)
				continue;
			word->hash = hashes[i];
			words->signs += word->kind == SIMHASH_SIGN ? word->hash : 0;
			word->start = words->bytes;
			word->length = (uint16) length;
			memcpy(words->forms + words->bytes, from, length);
			words->bytes += length;
			words->n++;
		}
	}
	return true;
}

/* SimhashReader: cut a slice. */
static void
feed_words(void *state, const unsigned char *bytes, Size length)
{
	WordReading *reading = state;

	(void) sh_document_read(reading->document, bytes, length, take_words, reading);
}

/* The profile that words are cut by, their letters folded or not. */
static const ShProfile *
words_profile(bool folds)
{
	static const ShProfile *profiles[2];
	const char *name = folds ? "symbol-1-fold" : "symbol-1";

	if (profiles[folds] == NULL)
		profiles[folds] = simhash_comparing_profile(sh_profile_find(&simhash_known_profiles, name, strlen(name)));
	return profiles[folds];
}

/*
 * The words of a document, in the current memory context, but for kinds that do not
 * count; letters are folded as by the profile.
 */
SimhashWords
simhash_read_aligned(const SimhashComparison *comparison, text *document)
{
	const ShProfile *profile = comparison->profile;
	SimhashWords words = {0};
	WordReading reading = {
		.words = &words,.omitted = simhash_measures[comparison->measure].omitted
	};
	Size		length;
	const unsigned char *whole = simhash_visible_utf8(profile, document, SIMHASH_EMPTY_MARK, &length);
	unsigned char *plain = MemoryContextAllocHuge(CurrentMemoryContext, 3 * length + 1);
	bool		signs;

	length = simhash_leave_layout(whole, length, plain, &signs);
	if (whole != (unsigned char *) VARDATA_ANY(document))
		pfree(unconstify(unsigned char *, whole));
	words.room = (uint32) (length / 5 + SH_BATCH);
	words.bytes_room = (uint32) (length + 16);
	words.list = MemoryContextAllocHuge(CurrentMemoryContext,
										words.room * sizeof *words.list);
	words.forms = MemoryContextAllocHuge(CurrentMemoryContext, words.bytes_room);
	reading.document = simhash_begin_document(words_profile(profile->folds));
	reading.document->text.gram = 1;
	if (!signs)
		reading.document->text.unit = SH_UNIT_WORD; /* the same, and faster */
	for (Size done = 0, n; done < length; done += n)
	{
		n = Min(length - done, 65536);
		if (n < length - done)
			n = sh_utf8_cut(plain + done, n);
		feed_words(&reading, plain + done, n);
	}
	sh_document_read_end(reading.document, take_words, &reading);
	pfree(plain);
	return words;
}

/* The features of a document, or an array of features, which stay in the bag. */
ShFeatures
simhash_read_features(const SimhashComparison *comparison, ShBag *bag, Datum value)
{
	if (comparison->arrays)
		simhash_fill_bag_of(bag, DatumGetArrayTypeP(value));
	else
		simhash_fill_bag(bag, comparison->measure == SIMHASH_COSINE ?
						 comparison->profile->damping : SH_DAMP_COUNT,
						 comparison->profile, DatumGetTextPP(value));
	return sh_bag_features(bag);
}

/* What is known of a document: both. */
SimhashDocument
simhash_read_document(const SimhashComparison *comparison, ShBag *bag, Datum value)
{
	SimhashDocument document = {.words = {0}};
	Datum		body = comparison->arrays ? value : PointerGetDatum(DatumGetTextPP(value));

	document.features = simhash_read_features(comparison, bag, body);
	if (simhash_measures[comparison->measure].aligned && !comparison->arrays)
		document.words = simhash_read_aligned(comparison, (text *) DatumGetPointer(body));
	return document;
}
