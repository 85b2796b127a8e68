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
 * But a newer ICU has a newer dictionary.  So this is no profile, it is
 * STABLE rather than IMMUTABLE, and whoever stores fingerprints of its words
 * has to compute them again after an upgrade of ICU.
 *
 * Text is brought to the normal form NFKC first, also by ICU: full-width letters
 * and digits, half-width kana and ligatures are the same word as their usual
 * forms, to its dictionary and to lists of words.
 *
 * We use the library that the server has loaded.  Where the server is built
 * without ICU, or its headers were absent when we were built, the function
 * says so.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#if defined(USE_ICU) && defined(__has_include)
#if __has_include(<unicode/ubrk.h>)
#define SIMHASH_ICU
#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#endif
#endif

PG_FUNCTION_INFO_V1(simhash_segment);

#ifdef SIMHASH_ICU

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
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document is too long to segment")));
	result = MemoryContextAllocHuge(CurrentMemoryContext,
									(bytes + 1) * sizeof *result);
	u_strFromUTF8WithSub(result, (int32_t) bytes + 1, length,
						 (const char *) utf8, (int32_t) bytes, 0xfffd, NULL,
						 &status);
	check_icu(status, "");
	return result;
}

/* A text in normal form NFKC. */
static UChar *
normalise(UChar *document, int32_t *length)
{
	UErrorCode	status = U_ZERO_ERROR;
	const UNormalizer2 *nfkc = unorm2_getNFKCInstance(&status);
	int32_t		normal;
	int32_t		needed;
	UChar	   *result;

	check_icu(status, "");
	normal = unorm2_spanQuickCheckYes(nfkc, document, *length, &status);
	check_icu(status, "");
	if (normal == *length)
		return document;
	needed = unorm2_normalize(nfkc, document, *length, NULL, 0, &status);
	if (status == U_BUFFER_OVERFLOW_ERROR)
		status = U_ZERO_ERROR;
	check_icu(status, "");
	result = MemoryContextAllocHuge(CurrentMemoryContext,
									((Size) needed + 1) * sizeof *result);
	*length = unorm2_normalize(nfkc, document, *length, result, needed + 1,
							   &status);
	check_icu(status, "");
	pfree(document);
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

/* The words between the boundaries that the iterator finds. */
static ArrayType *
collect_words(UBreakIterator *iterator, const UChar *document)
{
	ArrayBuildState *words = initArrayResult(TEXTOID, CurrentMemoryContext,
											 false);
	int32_t		start = ubrk_first(iterator);
	int32_t		end;

	while ((end = ubrk_next(iterator)) != UBRK_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (ubrk_getRuleStatus(iterator) >= UBRK_WORD_NONE_LIMIT)
			accumArrayResult(words,
							 PointerGetDatum(from_utf16(document + start,
														end - start)),
							 false, TEXTOID, CurrentMemoryContext);
		start = end;
	}
	return DatumGetArrayTypeP(makeArrayResult(words, CurrentMemoryContext));
}

/* The words of a document in UTF-16. */
static ArrayType *
segment(const UChar *document, int32_t length, const char *locale)
{
	UErrorCode	status = U_ZERO_ERROR;
	UBreakIterator *iterator;
	ArrayType  *volatile result = NULL;

	iterator = ubrk_open(UBRK_WORD, locale, document, length, &status);
	check_icu(status, locale);
	PG_TRY();
	{
		result = collect_words(iterator, document);
	}
	PG_FINALLY();
	{
		ubrk_close(iterator);
	}
	PG_END_TRY();
	return result;
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
 * it fails, program_limit_exceeded for a document of gigabytes.
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
