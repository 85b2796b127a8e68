/*-------------------------------------------------------------------------
 *
 * segment.c
 *		Words by dictionary, as ICU finds them.
 *
 * Chinese, Japanese, Thai, Lao, Khmer and Burmese are written without spaces.
 * Profiles cut them into overlapping n-grams, which needs no dictionary and
 * never changes.  ICU, which most servers are built with for their
 * collations, finds words by a dictionary of its own; these can be better
 * features, and are what weights of words, as in jieba's list, are about.
 *
 * But a newer ICU has a newer dictionary.  So this is a function and not a
 * profile, STABLE rather than IMMUTABLE, and stored fingerprints of its words
 * have to be computed again after an upgrade of ICU.
 *
 * Text is brought to the normal form NFKC first, also by ICU: full-width letters
 * and digits, half-width kana and ligatures are the same word as their usual
 * forms, to its dictionary and to lists of words.
 *
 * ICU takes no interrupts, and its time to bring combining marks in order grows
 * with the square of their number.  So it is given a document in pieces, which
 * end where the end of a piece cannot change the result:
 *
 *		to normalise		before a character that combines with none before it
 *		to find words in	behind a line; between a space, or the full stop of
 *							Chinese and Japanese, and a letter
 *
 * A stretch without such a place is cut all the same: combining marks after
 * some thousand, text without gaps after 200,000 characters or so.
 *
 * We use the library that we were built for, which as a rule is the one that the
 * server has loaded.  Where the server is built without ICU, or its headers were
 * absent when we were built, the function fails and says so.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#if defined(USE_ICU) && defined(__has_include)
#if __has_include(<unicode/ubrk.h>)
#define SIMHASH_ICU
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>
#endif
#endif

PG_FUNCTION_INFO_V1(simhash_segment);

#ifdef SIMHASH_ICU

/* Code units after which a piece may end, and those after which it has to. */
#define NORMAL_PIECE	4096
#define NORMAL_MOST		(2 * NORMAL_PIECE)
#define WORDS_PIECE		16384
#define WORDS_MOST		(16 * WORDS_PIECE)

/* Code units of a document, such that a place behind it is an int32_t too. */
#define DOCUMENT_MOST	(PG_INT32_MAX - WORDS_MOST)

/* How much longer the normal form NFKC can be, in code units. */
#define NORMAL_GROWTH	18

#define IDEOGRAPHIC_FULL_STOP	0x3002

/* The words found so far. */
typedef struct Words
{
	ArrayBuildState *array;
	Size		bytes;			/* that the array will have */
} Words;

/* Fails when ICU has reported an error. */
static void
check_icu(UErrorCode status, const char *locale)
{
	if (U_FAILURE(status))
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("could not segment text for locale \"%s\"", locale),
				 errdetail("ICU reports %s.", u_errorName(status))));
}

/* Complain of a document with more text or words than there is room for. */
static void
too_long(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("document is too long to segment"),
			 errhint("Give parts of it, such as left(document, 10000000).")));
}

/* A text as ICU wants it; what is not valid becomes U+FFFD. */
static UChar *
to_utf16(text *document, int32_t *length)
{
	Size		bytes = VARSIZE_ANY_EXHDR(document);
	const unsigned char *utf8 = simhash_whole_utf8(VARDATA_ANY(document),
												   &bytes);
	UErrorCode	status = U_ZERO_ERROR;
	UChar	   *result;

	if (bytes > PG_INT32_MAX - 1)
		too_long();
	result = MemoryContextAllocHuge(CurrentMemoryContext,
									(bytes + 1) * sizeof *result);
	u_strFromUTF8WithSub(result, (int32_t) bytes + 1, length,
						 (const char *) utf8, (int32_t) bytes, 0xfffd, NULL,
						 &status);
	check_icu(status, "");
	return result;
}

/* Where a piece to normalise ends that begins at "from". */
static int32_t
normal_end(const UNormalizer2 *nfkc, const UChar *document, int32_t from,
		   int32_t length)
{
	int32_t		end = from + NORMAL_PIECE;

	if (length - from <= NORMAL_PIECE)
		return length;
	U16_SET_CP_START(document, from, end);
	while (end < length && end - from < NORMAL_MOST)
	{
		UChar32		c;

		U16_GET(document, from, end, length, c);
		if (unorm2_hasBoundaryBefore(nfkc, c))
			break;
		U16_FWD_1(document, end, length);
	}
	return end;
}

/* A text in normal form NFKC. */
static UChar *
normalise(UChar *document, int32_t *length)
{
	UErrorCode	status = U_ZERO_ERROR;
	const UNormalizer2 *nfkc = unorm2_getNFKCInstance(&status);
	const int32_t most = (Min(*length, NORMAL_MOST) + 1) * NORMAL_GROWTH;
	Size		room = (Size) *length + most;
	UChar	   *result;
	Size		done = 0;
	int32_t		from;
	int32_t		end;

	check_icu(status, "");
	result = MemoryContextAllocHuge(CurrentMemoryContext,
									room * sizeof *result);
	for (from = 0; from < *length; from = end)
	{
		CHECK_FOR_INTERRUPTS();
		end = normal_end(nfkc, document, from, *length);
		if (room - done < (Size) most)
		{
			room *= 2;
			result = repalloc_huge(result, room * sizeof *result);
		}
		done += unorm2_normalize(nfkc, document + from, end - from,
								 result + done, most, &status);
		if (status == U_STRING_NOT_TERMINATED_WARNING)
			status = U_ZERO_ERROR;
		check_icu(status, "");
		if (done > DOCUMENT_MOST)
			too_long();
	}
	pfree(document);
	*length = (int32_t) done;
	return result;
}

/* A stretch of UTF-16 as text. */
static text *
from_utf16(const UChar *from, int32_t length)
{
	UErrorCode	status = U_ZERO_ERROR;
	int32_t		bytes;
	char	   *buffer = palloc(3 * (Size) length + 1);
	text	   *result;

	u_strToUTF8(buffer, 3 * length + 1, &bytes, from, length, &status);
	check_icu(status, "");
	result = simhash_feature_text((unsigned char *) buffer, bytes);
	pfree(buffer);
	return result;
}

/* Where a piece to find words in ends that begins at "from". */
static int32_t
words_end(const UChar *document, int32_t from, int32_t length)
{
	int32_t		end = from + WORDS_PIECE;

	if (length - from <= WORDS_PIECE)
		return length;
	for (; end < length && end - from < WORDS_MOST; end++)
	{
		UChar		before = document[end - 1];

		if (before == '\n' ||
			((before == ' ' || before == IDEOGRAPHIC_FULL_STOP) &&
			 u_isalpha(document[end])))
			return end;
	}
	if (end < length)
		U16_SET_CP_START(document, from, end);
	return end;
}

/* Add a word to those found so far. */
static void
add_word(Words *words, text *word)
{
	words->bytes += INTALIGN(VARSIZE(word));
	if (words->bytes > MaxAllocSize - 1024 ||
		words->array->nelems >= (int) (MaxAllocSize / sizeof(Datum) / 2))
		too_long();
	accumArrayResult(words->array, PointerGetDatum(word), false, TEXTOID,
					 CurrentMemoryContext);
	pfree(word);
}

/* The words between the boundaries that the iterator finds in a piece. */
static void
collect_words(UBreakIterator *iterator, const UChar *piece, Words *words)
{
	int32_t		start = ubrk_first(iterator);
	int32_t		end;

	while ((end = ubrk_next(iterator)) != UBRK_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (ubrk_getRuleStatus(iterator) >= UBRK_WORD_NONE_LIMIT)
			add_word(words, from_utf16(piece + start, end - start));
		start = end;
	}
}

/* The words of a document in UTF-16. */
static ArrayType *
segment(const UChar *document, int32_t length, const char *locale)
{
	UErrorCode	status = U_ZERO_ERROR;
	UBreakIterator *iterator;
	Words		words = {0};
	int32_t		from;
	int32_t		end;

	words.array = initArrayResult(TEXTOID, CurrentMemoryContext, false);
	iterator = ubrk_open(UBRK_WORD, locale, NULL, 0, &status);
	check_icu(status, locale);
	PG_TRY();
	{
		for (from = 0; from < length; from = end)
		{
			CHECK_FOR_INTERRUPTS();
			end = words_end(document, from, length);
			ubrk_setText(iterator, document + from, end - from, &status);
			check_icu(status, locale);
			collect_words(iterator, document + from, &words);
		}
	}
	PG_FINALLY();
	{
		ubrk_close(iterator);
	}
	PG_END_TRY();
	return DatumGetArrayTypeP(makeArrayResult(words.array,
											  CurrentMemoryContext));
}

#endif							/* SIMHASH_ICU */

/*
 * simhash_segment(document text, locale text DEFAULT 'zh') -> text[]
 *
 * The words of the document in order, as ICU's word break iterator for the
 * locale finds them in its normal form NFKC; punctuation and spaces are left
 * out.  Upper case stays as it is.
 *
 * Errors: feature_not_supported without ICU, external_routine_exception when
 * it fails, program_limit_exceeded for a document with too many words.
 */
Datum
simhash_segment(PG_FUNCTION_ARGS)
{
#ifdef SIMHASH_ICU
	char	   *locale = text_to_cstring(PG_GETARG_TEXT_PP(1));
	int32_t		length;
	UChar	   *document = to_utf16(PG_GETARG_TEXT_PP(0), &length);

	document = normalise(document, &length);
	PG_RETURN_ARRAYTYPE_P(segment(document, length, locale));
#else
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("simhash was built without ICU"),
			 errhint("Build it where the headers of ICU are installed, for a server that has ICU.")));
	PG_RETURN_NULL();
#endif
}
