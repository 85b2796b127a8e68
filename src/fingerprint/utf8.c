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
#include "catalog/pg_namespace.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/* Limits of the work done. */
#define SLICE_BYTES			(4 * 1024)	/* read between two interrupt checks */
#define CONVERT_BYTES		(8 * 1024)	/* brought to UTF-8 at a time */

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

	buffer = palloc(CONVERT_BYTES * MAX_CONVERSION_GROWTH + 1);
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
									  CONVERT_BYTES * MAX_CONVERSION_GROWTH + 1,
									  false);
		read(state, buffer, strlen((char *) buffer));
		bytes += n;
		length -= n;
	}
	pfree(buffer);
}

/* Hand over a text as UTF-8, in slices that end between characters. */
void
simhash_read_utf8(const char *bytes, Size length,
				  SimhashReader read, void *state)
{
	if (!simhash_server_is_utf8())
	{
		read_converted(bytes, length, read, state);
		return;
	}
	while (length > 0)
	{
		Size		n = Min(length, SLICE_BYTES);

		sh_ascii_prefetch((const unsigned char *) bytes, n);
		CHECK_FOR_INTERRUPTS();
		if (n < length)
		{
			for (int i = 0; i < 3 && (bytes[n] & 0xc0) == 0x80; i++)
				n--;
		}
		read(state, (const unsigned char *) bytes, n);
		bytes += n;
		length -= n;
	}
}

/* What simhash_whole_utf8 is collecting. */
typedef struct WholeText
{
	unsigned char *bytes;
	Size		length;
	Size		allocated;
} WholeText;

/* SimhashReader: append the slice. */
static void
append_slice(void *state, const unsigned char *bytes, Size length)
{
	WholeText  *whole = state;

	if (whole->length + length > whole->allocated)
	{
		whole->allocated = Max(2 * whole->allocated, whole->length + length);
		whole->bytes = repalloc_huge(whole->bytes, whole->allocated);
	}
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
	WholeText	whole;

	if (simhash_server_is_utf8())
		return (const unsigned char *) bytes;
	whole.allocated = 2 * *length + 16;
	whole.bytes = MemoryContextAllocHuge(CurrentMemoryContext,
										 whole.allocated);
	whole.length = 0;
	read_converted(bytes, *length, append_slice, &whole);
	*length = whole.length;
	return whole.bytes;
}

/* What core/ calls between long stretches of work. */
void
simhash_pause(void)
{
	CHECK_FOR_INTERRUPTS();
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
		hash = sh_feature_hash(utf8, length);
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

/*
 * Bring a feature from UTF-8 to the server encoding.  A character that the
 * encoding lacks (a feature is normalised, so it can hold characters that the
 * document does not) is written \+ with six hexadecimal digits, as in the
 * U&'' string constants of SQL.
 */
text	   *
simhash_feature_text(const unsigned char *bytes, Size length)
{
	StringInfoData out;
	Oid			conversion;
	text	   *result;

	if (simhash_server_is_utf8())
		return cstring_to_text_with_len((const char *) bytes, (int) length);

	conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE, PG_UTF8,
									   GetDatabaseEncoding());
	initStringInfo(&out);
	while (length > 0)
	{
		int			n = pg_utf_mblen(bytes);
		unsigned char buffer[MAX_UNICODE_EQUIVALENT_STRING + 1];
		int			done;

		done = pg_do_encoding_conversion_buf(conversion, PG_UTF8,
											 GetDatabaseEncoding(),
											 (unsigned char *) unconstify(unsigned char *, bytes),
											 n, buffer, sizeof buffer, true);
		if (done == n)
			appendStringInfoString(&out, (char *) buffer);
		else
			appendStringInfo(&out, "\\+%06X", utf8_to_unicode(bytes));
		bytes += n;
		length -= n;
	}
	result = cstring_to_text_with_len(out.data, out.len);
	pfree(out.data);
	return result;
}
