/*-------------------------------------------------------------------------
 *
 * utf8.c
 *		Between the server encoding and the UTF-8 that core/ reads.
 *
 * Fingerprints depend on the text, not on how a server stores it: whatever
 * is hashed is UTF-8.  A document is converted a slice at a time, so that a
 * query can be cancelled and memory stays bounded; a feature is converted
 * whole.  In SQL_ASCII databases bytes are taken as they are.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "catalog/namespace.h"
#include "catalog/pg_conversion.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(simhash_fold);

/* Limits of the work done. */
#define SLICE_BYTES			(4 * 1024)	/* read between two interrupt checks */
#define CONVERT_BYTES		(8 * 1024)	/* brought to UTF-8 at a time */
#define UTF8_BYTES			(CONVERT_BYTES * MAX_CONVERSION_GROWTH) /* and back */

/* True when texts are stored as what core/ reads. */
bool
simhash_server_is_utf8(void)
{
	return GetDatabaseEncoding() == PG_UTF8 ||
		GetDatabaseEncoding() == PG_SQL_ASCII;
}

/* The function that converts from the server encoding to UTF-8. */
static Oid
conversion_to_utf8(void)
{
	static Oid	conversion = InvalidOid;

	if (!OidIsValid(conversion))
	{
		/* In pg_catalog, whatever conversions the search path offers. */
		conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE,
										   GetDatabaseEncoding(), PG_UTF8);
		if (!OidIsValid(conversion))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot fingerprint texts in encoding %s",
							GetDatabaseEncodingName()),
					 errdetail("There is no conversion to UTF8.")));
	}
	return conversion;
}

/* Hand over a text that is not in UTF-8, converting it by and by. */
static void
read_converted(const char *bytes, Size length, SimhashReader read, void *state)
{
	int			encoding = GetDatabaseEncoding();
	Oid			conversion = conversion_to_utf8();
	unsigned char *buffer;

	buffer = palloc(UTF8_BYTES + 1);
	while (length > 0)
	{
		int			n = (int) Min(length, CONVERT_BYTES);

		CHECK_FOR_INTERRUPTS();
		n = pg_encoding_mbcliplen(encoding, bytes, n, n);
		if (n == 0)
			n = (int) length;	/* cut short: the conversion complains */
		pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8,
									  (unsigned char *) unconstify(char *, bytes),
									  n, buffer,
									  UTF8_BYTES + 1,
									  false);
		read(state, buffer, strlen((char *) buffer));
		bytes += n;
		length -= n;
	}
	pfree(buffer);
}

/* Hand over UTF-8 in slices that end between characters. */
void
simhash_read_slices(const unsigned char *bytes, Size length,
					SimhashReader read, void *state)
{
	while (length > 0)
	{
		Size		n = Min(length, SLICE_BYTES);

		sh_ascii_prefetch(bytes, n);
		CHECK_FOR_INTERRUPTS();
		if (n < length)
			n = sh_utf8_cut(bytes, n);
		read(state, bytes, n);
		bytes += n;
		length -= n;
	}
}

/* Hand over a text as UTF-8, in such slices. */
void
simhash_read_utf8(const char *bytes, Size length,
				  SimhashReader read, void *state)
{
	if (simhash_server_is_utf8())
		simhash_read_slices((const unsigned char *) bytes, length, read, state);
	else
		read_converted(bytes, length, read, state);
}

/* What simhash_whole_utf8 is collecting. */
typedef struct WholeText
{
	unsigned char *bytes;
	Size		length;
} WholeText;

/* SimhashReader: append the slice. */
static void
append_slice(void *state, const unsigned char *bytes, Size length)
{
	WholeText  *whole = state;

	memcpy(whole->bytes + whole->length, bytes, length);
	whole->length += length;
}

/*
 * A text as UTF-8, in one piece, and its length.  It is the text itself where
 * the server stores UTF-8, else a copy in the current memory context.
 */
const unsigned char *
simhash_whole_utf8(const char *bytes, Size *length)
{
	WholeText	whole = {NULL, 0};

	if (simhash_server_is_utf8())
		return (const unsigned char *) bytes;
	/* What is not written to takes no memory. */
	whole.bytes = MemoryContextAllocHuge(CurrentMemoryContext,
										 *length * MAX_CONVERSION_GROWTH + 1);
	read_converted(bytes, *length, append_slice, &whole);
	*length = whole.length;
	return whole.bytes;
}

/*
 * Append UTF-8 to a text that is not in UTF-8.  A character that its encoding
 * lacks (a feature is normalised, so it can hold characters that the document
 * does not) is written \+ with six hexadecimal digits, as in the U&'' string
 * constants of SQL.  Stretches are converted at once, as in EUC_JIS_2004 two code
 * points can be one character.
 */
static void
append_converted(StringInfo out, const unsigned char *bytes, Size length)
{
	Oid			conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE, PG_UTF8,
												   GetDatabaseEncoding());
	int			room = (int) Min(length, UTF8_BYTES) * MAX_CONVERSION_GROWTH + 1;
	char	   *buffer = palloc(room);

	while (length > 0)
	{
		int			n = (int) Min(length, UTF8_BYTES);
		int			done;

		CHECK_FOR_INTERRUPTS();
		if ((Size) n < length)
			n = (int) sh_utf8_cut(bytes, n);
		done = pg_do_encoding_conversion_buf(conversion, PG_UTF8,
											 GetDatabaseEncoding(),
											 unconstify(unsigned char *, bytes),
											 n, (unsigned char *) buffer, room,
											 true);
		appendStringInfoString(out, buffer);
		bytes += done;
		length -= done;
		if (done < n)
		{
			appendStringInfo(out, "\\+%06X", utf8_to_unicode(bytes));
			length -= pg_utf_mblen(bytes);
			bytes += pg_utf_mblen(bytes);
		}
	}
	pfree(buffer);
}

/* SimhashReader: append the slice, folded. */
static void
append_folded(void *state, const unsigned char *bytes, Size length)
{
	static ShLetters letters;
	StringInfo	out = state;
	unsigned char *folded;

	if (simhash_server_is_utf8())
	{
		enlargeStringInfo(out, (int) SH_LETTERS_BYTES(length));
		out->len += (int) sh_letters_fold(&letters, bytes, bytes + length,
										  (unsigned char *) out->data + out->len);
		return;
	}
	folded = palloc(SH_LETTERS_BYTES(length));
	append_converted(out, folded,
					 sh_letters_fold(&letters, bytes, bytes + length, folded));
	pfree(folded);
}

/*
 * simhash_fold(document text) -> text
 *
 * The document in lower case, without accents and vowel signs, and with other
 * letters as another keyboard would write them (docs/fingerprint.md, section 17):
 * to put before a profile, where these are not to make a difference.
 *
 * Errors: program_limit_exceeded when it takes more than a text can have.
 */
Datum
simhash_fold(PG_FUNCTION_ARGS)
{
	text	   *document = PG_GETARG_TEXT_PP(0);
	Size		length = VARSIZE_ANY_EXHDR(document);
	StringInfoData out;

	initStringInfo(&out);
	out.len = VARHDRSZ;
	enlargeStringInfo(&out, (int) length);
	simhash_read_utf8(VARDATA_ANY(document), length, append_folded, &out);
	SET_VARSIZE(out.data, out.len);
	PG_RETURN_TEXT_P((text *) out.data);
}

/* What core/ calls between long stretches of work. */
void
simhash_pause(void)
{
	CHECK_FOR_INTERRUPTS();
}

/* What bags, tallies and exact sums of core/ take memory by, in a context. */
void	   *
simhash_allocate(void *context, size_t bytes)
{
	return MemoryContextAllocHuge(context, bytes);
}

/* The hash, by a profile, of a feature given in the server encoding. */
uint64
simhash_hash_feature(const ShProfile *profile, const char *bytes, Size length)
{
	const unsigned char *utf8 = simhash_whole_utf8(bytes, &length);
	uint64		hash;

	if (sh_compat_profile(profile))
		hash = sh_compat_hash(profile, utf8, length, simhash_pause);
	else
		hash = sh_feature_hash(profile, utf8, length);
	if (utf8 != (const unsigned char *) bytes)
		pfree(unconstify(unsigned char *, utf8));
	return hash;
}

/* The same of a feature given as text. */
uint64
simhash_hash_text(const ShProfile *profile, Datum feature)
{
	text	   *t = DatumGetTextPP(feature);

	return simhash_hash_feature(profile, VARDATA_ANY(t),
								VARSIZE_ANY_EXHDR(t));
}

/* Bring a feature from UTF-8 to the server encoding. */
text	   *
simhash_feature_text(const unsigned char *bytes, Size length)
{
	StringInfoData out;
	text	   *result;

	if (simhash_server_is_utf8())
		return cstring_to_text_with_len((const char *) bytes, (int) length);
	initStringInfo(&out);
	append_converted(&out, bytes, length);
	result = cstring_to_text_with_len(out.data, out.len);
	pfree(out.data);
	return result;
}
