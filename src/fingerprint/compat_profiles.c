/*-------------------------------------------------------------------------
 *
 * compat_profiles.c
 *		Fingerprints that other implementations compute.
 *
 * The name of a profile asks for them, as in simhash(document,
 * 'python-simhash'), and recipes.c does the work.
 *
 * A document without features has a fingerprint here, because it has one
 * there: 0, or 64 ones.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/*
 * Begin to read a document.  Where it has to be converted, or brought to
 * lower case, that is done at once, in the current memory context: up to four
 * times the size of the document for the time being.
 */
void
simhash_compat_begin(ShCompat *compat, const ShProfile *profile,
					 text *document)
{
	Size		length = VARSIZE_ANY_EXHDR(document);
	const unsigned char *bytes = simhash_whole_utf8(VARDATA_ANY(document),
													&length);

	if (sh_compat_lower(profile) != NULL)
	{
		unsigned char *lower;

		lower = MemoryContextAllocHuge(CurrentMemoryContext,
									   SH_LOWER_BYTES(length));
		length = sh_compat_lower(profile) (lower, bytes, length, simhash_pause);
		if (bytes != (unsigned char *) VARDATA_ANY(document))
			pfree(unconstify(unsigned char *, bytes));
		bytes = lower;
	}
	sh_compat_begin(compat, profile, bytes, length, simhash_pause);
}

/* End it: release what simhash_compat_begin has allocated. */
void
simhash_compat_end(ShCompat *compat, text *document)
{
	const unsigned char *bytes = compat->document.bytes;

	if (bytes != (unsigned char *) VARDATA_ANY(document))
		pfree(unconstify(unsigned char *, bytes));
}

/*
 * The feature that was just read, to be shown.  One that consists of bytes
 * can end within a character: it is shown as bytea would be.
 */
text	   *
simhash_compat_feature(const ShCompat *compat)
{
	StringInfoData out;
	text	   *result;

	initStringInfo(&out);
	for (int i = 0; i < compat->have; i++)
	{
		if (i > 0)
			appendStringInfoString(&out, sh_compat_joiner(compat->profile));
		appendBinaryStringInfo(&out, (const char *) compat->pieces[i].bytes,
							   (int) compat->pieces[i].length);
	}
	if (pg_encoding_verifymbstr(PG_UTF8, out.data, out.len) == out.len)
		result = simhash_feature_text((unsigned char *) out.data, out.len);
	else
	{
		char	   *hex = palloc(2 * out.len + 3);

		strcpy(hex, "\\x");
		hex[2 + hex_encode(out.data, out.len, hex + 2)] = '\0';
		result = cstring_to_text(hex);
		pfree(hex);
	}
	pfree(out.data);
	return result;
}
