/*-------------------------------------------------------------------------
 *
 * pages.c
 *		Documents that are pages of HTML.
 *
 * The text that a reader sees is made whole, before anything else is done with a
 * document: its size is about that of the page.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "utils/memutils.h"

#include "core/text/html.h"

PG_FUNCTION_INFO_V1(simhash_html);
PG_FUNCTION_INFO_V1(simhash_article);

/*
 * The text of a page in UTF-8, in the current memory context, behind so many bytes
 * that are left free, and with a mark in cells that are empty, or none; sets its length.
 */
static unsigned char *
read_page(text *document, ShMarkup markup, const char *empty, Size before, Size *length)
{
	static ShHtmlNames names;
	const unsigned char *page;
	unsigned char *result;

	*length = VARSIZE_ANY_EXHDR(document);
	page = simhash_whole_utf8(VARDATA_ANY(document), length);
	/* What is not written to takes no memory. */
	result = MemoryContextAllocHuge(CurrentMemoryContext,
									before + SH_HTML_BYTES(*length));
	*length = sh_html_text(&names, page, *length, result + before,
						   markup == SH_MARKUP_ARTICLE, empty, simhash_pause);
	if (page != (unsigned char *) VARDATA_ANY(document))
		pfree(unconstify(unsigned char *, page));
	return result;
}

/*
 * The text of a document in UTF-8, whole, and its length: the document itself where
 * nothing is to be done, else a copy in the current memory context.  Cells of a page that
 * are empty have a mark of up to three bytes.
 */
const unsigned char *
simhash_visible_utf8(const ShProfile *profile, text *document, const char *empty, Size *length)
{
	if (profile->markup != SH_MARKUP_NONE)
		return read_page(document, profile->markup, empty, 0, length);
	*length = VARSIZE_ANY_EXHDR(document);
	return simhash_whole_utf8(VARDATA_ANY(document), length);
}

/* Hand over the text of a document as UTF-8, in slices that end between characters. */
void
simhash_read_text(const ShProfile *profile, text *document,
				  SimhashReader read, void *state)
{
	unsigned char *page;
	Size		length;

	if (profile->markup == SH_MARKUP_NONE)
	{
		simhash_read_utf8(VARDATA_ANY(document), VARSIZE_ANY_EXHDR(document),
						  read, state);
		return;
	}
	page = read_page(document, profile->markup, NULL, 0, &length);
	simhash_read_slices(page, length, read, state);
	pfree(page);
}

/* The text of a page, or of its article. */
static text *
page_text(text *document, ShMarkup markup)
{
	Size		length;
	unsigned char *page = read_page(document, markup, NULL, VARHDRSZ, &length);
	text	   *result = (text *) page;

	if (!AllocSizeIsValid(length + VARHDRSZ))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("text of the page is too long")));
	if (!simhash_server_is_utf8())
	{
		result = simhash_feature_text(page + VARHDRSZ, length);
		pfree(page);
	}
	else
		SET_VARSIZE(result, length + VARHDRSZ);
	return result;
}

/* The text of a document, which is the document itself by most profiles. */
text	   *
simhash_visible_text(const ShProfile *profile, text *document)
{
	return profile->markup == SH_MARKUP_NONE ? document :
		page_text(document, profile->markup);
}

/*
 * simhash_html(document text) -> text
 *
 * The text that a reader of a page of HTML sees (docs/fingerprint.md, section 18),
 * whatever the document is: to put before a profile.
 *
 * Errors: program_limit_exceeded when it takes more than a text can have.
 */
Datum
simhash_html(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(page_text(PG_GETARG_TEXT_PP(0), SH_MARKUP_HTML));
}

/*
 * simhash_article(document text) -> text
 *
 * The article of a page of HTML, without what a site puts around it
 * (docs/fingerprint.md, section 19): the part with the longest text that is no link;
 * all the text where there is none.
 *
 * Errors: as simhash_html(document).
 */
Datum
simhash_article(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(page_text(PG_GETARG_TEXT_PP(0), SH_MARKUP_ARTICLE));
}
