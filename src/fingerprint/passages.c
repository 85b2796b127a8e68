/*-------------------------------------------------------------------------
 *
 * passages.c
 *		A document -> its passages, with a fingerprint each.
 *
 * A document that quotes part of another one is not near it, but a passage of
 * the one is near a passage of the other (core/text/borders.c).  Places are
 * those of the text as it is stored, so that substr() yields the passage, and
 * its fingerprint is minhash() of that.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"

#include "core/text/borders.h"

PG_FUNCTION_INFO_V1(simhash_passages);

/* What is handed slices of a document. */
typedef struct Reading
{
	ShWordReader reader;
	SimhashWordsReader read;
	void	   *state;
} Reading;

/* SimhashReader: read the words of a slice. */
static void
feed_words(void *state, const unsigned char *bytes, Size length)
{
	Reading    *reading = state;
	const unsigned char *end = bytes + length;

	while ((bytes = sh_words_feed(&reading->reader, bytes, end)) < end)
	{
		reading->read(reading->state, reading->reader.held,
					  reading->reader.n);
		reading->reader.n = 0;
	}
}

/*
 * Hand over the words of a document, some at a time; returns the number of its
 * characters.  A character of EUC_JIS_2004 can be two code points; all those
 * that are not ASCII are handed over one by one, to have one place each.
 */
uint32
simhash_read_words(text *document, SimhashWordsReader read, void *state)
{
	Reading    *reading = palloc(sizeof *reading);
	const char *bytes = VARDATA_ANY(document);
	Size		length = VARSIZE_ANY_EXHDR(document);
	uint32		place = 0;

	sh_words_begin(&reading->reader, GetDatabaseEncoding() == PG_SQL_ASCII);
	reading->read = read;
	reading->state = state;
	if (GetDatabaseEncoding() == PG_EUC_JIS_2004)
	{
		for (Size n; length > 0; bytes += n, length -= n)
		{
			for (n = 0; n < length && !IS_HIGHBIT_SET(bytes[n]); n++)
				;
			reading->reader.place = place;
			reading->reader.one = n == 0;
			place += n > 0 ? n : 1;
			if (n == 0)
				n = Min(length,
						(Size) pg_encoding_mblen(PG_EUC_JIS_2004, bytes));
			simhash_read_utf8(bytes, n, feed_words, reading);
		}
		reading->reader.place = place;
	}
	else
		simhash_read_utf8(bytes, length, feed_words, reading);
	sh_words_end(&reading->reader);
	read(state, reading->reader.held, reading->reader.n);
	place = reading->reader.place;
	pfree(reading);
	return place;
}

/* A document being cut. */
typedef struct Cutter
{
	FunctionCallInfo fcinfo;
	const ShProfile *profile;
	const char *document;
	Size		length;

	/* the passage that is being read: where it begins */
	int			nr;
	uint32		place;			/* characters before it */
	const char *at;				/* ... in the document as it is stored */

	text	   *copy;			/* of a passage */
	ShPassages	passages;
} Cutter;

/* Return the passage that ends before a place, of so many bytes, as a row. */
static void
put_passage(Cutter *cutter, uint32 end, Size length)
{
	Datum		values[4];
	bool		nulls[4] = {false};
	uint64		fingerprint;

	SET_VARSIZE(cutter->copy, length + VARHDRSZ);
	memcpy(VARDATA(cutter->copy), cutter->at, length);
	nulls[3] = !simhash_wide_minhash(cutter->profile, cutter->copy, 1,
									 &fingerprint);
	values[0] = Int32GetDatum(++cutter->nr);
	values[1] = Int32GetDatum(cutter->place + 1);
	values[2] = Int32GetDatum(end - cutter->place);
	values[3] = Int64GetDatum((int64) fingerprint);
	simhash_put_row(cutter->fcinfo, values, nulls);
}

/* How many bytes the next characters of the document take. */
static Size
bytes_of(const Cutter *cutter, uint32 characters)
{
	const char *p = cutter->at;
	const char *end = cutter->document + cutter->length;
	int			encoding = GetDatabaseEncoding();

	for (; characters > 0 && p < end; characters--)
		p += Min(end - p, pg_encoding_mblen(encoding, p));
	return p - cutter->at;
}

/*
 * ShBorderSink: a passage begins, so the one before it is complete.  Where the
 * document is read as it is stored, the border says at which byte.
 */
static void
end_passage(void *state, const ShBorder *border)
{
	Cutter	   *cutter = state;
	const char *border_at = cutter->document + border->byte;
	Size		length;

	if (border->start == cutter->place)
		return;					/* within a character: see above */
	length = simhash_server_is_utf8() ? (Size) (border_at - cutter->at) :
		bytes_of(cutter, border->start - cutter->place);
	put_passage(cutter, border->start, length);
	cutter->place = border->start;
	cutter->at += length;
}

/* SimhashWordsReader: look for borders. */
static void
cut_words(void *state, const ShWord *words, size_t n)
{
	sh_passages_add(&((Cutter *) state)->passages, words, n);
}

/* Return the passages of a document, if it has a word. */
static void
cut_document(FunctionCallInfo fcinfo, text *document,
			 const ShProfile *profile, int words)
{
	Cutter	   *cutter = palloc(sizeof *cutter);
	uint32		end;

	document = simhash_visible_text(profile, document);
	memset(cutter, 0, offsetof(Cutter, passages));
	cutter->fcinfo = fcinfo;
	cutter->profile = sh_profile_of_text(&simhash_known_profiles, profile);
	cutter->document = cutter->at = VARDATA_ANY(document);
	cutter->length = VARSIZE_ANY_EXHDR(document);
	cutter->copy = MemoryContextAllocHuge(CurrentMemoryContext,
										  cutter->length + VARHDRSZ);
	sh_passages_begin(&cutter->passages, words, end_passage, cutter);
	end = simhash_read_words(document, cut_words, cutter);
	sh_passages_end(&cutter->passages);
	if (cutter->passages.at > 0)
		put_passage(cutter, end,
					cutter->document + cutter->length - cutter->at);
}

/*
 * simhash_passages(document text, profile text DEFAULT NULL,
 *		words bigint DEFAULT 25)
 *		-> setof (nr integer, start integer, length integer, fp bigint)
 *
 * The passages of a document, in order: of so many words on average, at least
 * half of that, at most four times as many, cut where the content says so.
 * Each is substr(document, start, length), and fp is minhash of that; together
 * they are the document.  By a profile of pages the document is the text of the
 * page.  No row when the document has no word, or is NULL.
 *
 * Errors: undefined_object when there is no such profile,
 * invalid_parameter_value unless words is from 4 to 1000.
 */
Datum
simhash_passages(PG_FUNCTION_ARGS)
{
	int64		words;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		return (Datum) 0;
	words = PG_GETARG_INT64(2);
	(void) simhash_check_range("", "words", words, SH_PASSAGE_MIN,
							   SH_PASSAGE_MAX, 0);
	cut_document(fcinfo, PG_GETARG_TEXT_PP(0),
				 simhash_profile_argument(fcinfo, 1), (int) words);
	return (Datum) 0;
}
