/*-------------------------------------------------------------------------
 *
 * document.c
 *		Document -> fingerprint, by a profile.
 *
 * The data flows text -> tokens -> features -> hashes -> sums, a buffer at a
 * time, so that memory does not grow with the document.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/fingerprint/document.h"

/*
 * Leave in the array those of n hashes of the document's features, in any
 * order, that add to the weight of their feature, and return how many.  One
 * that adds two is there twice; the array must have room for SH_GAINED(n).
 */
size_t
sh_document_sift(ShDocument *document, uint64_t *hashes, size_t n)
{
	ShTally    *tally = &document->tally;

	if (!document->counting)
	{
		ShFirsts   *firsts = &document->firsts;

		if (sh_firsts_sift(firsts, tally->multiplier,
						   document->profile->damping == SH_DAMP_CAPPED,
						   hashes, &n))
			return n;
		document->counting = true;
		sh_tally_sift(tally, SH_DAMP_BINARY, firsts->hashes, firsts->n);
	}
	return sh_tally_sift(tally, document->profile->damping, hashes, n);
}

/* Add the features that the text held has completed. */
static void
add_features(ShDocument *document, bool ended)
{
	const ShText *text = &document->text;
	const ShProfile *profile = document->profile;
	ShWindows	windows;
	uint64_t	hashes[SH_GAINED(SH_BATCH)];
	size_t		n;

	sh_windows_begin(&windows, profile, text, ended);
	while ((n = sh_windows_hashes(&windows, hashes)) > 0)
	{
		n = sh_document_sift(document, hashes, n);
		sh_sums_add(&document->sums, hashes, n);
	}
}

/* Begin to read a document. */
void
sh_document_begin(ShDocument *document, const ShProfile *profile)
{
	document->profile = profile;
	/* What other implementations cut into, text.c does not know. */
	sh_text_begin(&document->text,
				  profile->unit < SH_UNIT_COMPAT ? profile->unit : SH_UNIT_WORD);
	document->counting = profile->damping != SH_DAMP_BINARY &&
		profile->damping != SH_DAMP_CAPPED;
	sh_tally_begin(&document->tally);
	sh_firsts_begin(&document->firsts);
	sh_sums_begin(&document->sums);
}

/* Add the features of the text held, and forget it. */
static void
make_room(ShDocument *document)
{
	add_features(document, false);
	sh_text_retire(&document->text, (size_t) document->profile->max - 1);
}

/*
 * Read more of it; the caller must not cut within a character.  Features wait
 * until there is no room for more text: most documents have them added once,
 * all together.
 */
void
sh_document_feed(ShDocument *document,
				 const unsigned char *bytes, size_t length)
{
	const unsigned char *end = bytes + length;

	while ((bytes = sh_text_feed(&document->text, bytes, end)) < end)
		make_room(document);
}

/* End it.  False when the document has no feature, hence no fingerprint. */
bool
sh_document_end(ShDocument *document, uint64_t *fingerprint)
{
	if (sh_text_full(&document->text))
		make_room(document);
	sh_text_end(&document->text);
	add_features(document, true);
	return sh_sums_fingerprint(&document->sums, fingerprint);
}
