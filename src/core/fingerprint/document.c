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

#include <string.h>

#include "core/foreign/foreign.h"

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

/* Begin to read a document. */
void
sh_document_begin(ShDocument *document, const ShProfile *profile)
{
	document->profile = profile;
	/* By a profile of another program recipes.c reads, and not text.c. */
	sh_text_begin(&document->text,
				  profile->unit < SH_UNIT_COMPAT ? profile->unit : SH_UNIT_WORD);
	document->counting = profile->damping != SH_DAMP_BINARY &&
		profile->damping != SH_DAMP_CAPPED;
	sh_tally_begin(&document->tally);
	sh_firsts_begin(&document->firsts);
	for (int w = 0; w < document->words; w++)
		sh_sums_begin(&document->sums[w]);
	document->words = 1;
}

/*
 * Add the weight that n features have gained by occurring once more to the sums of
 * the document.  The hashes are overwritten, and need the room that
 * sh_document_sift says.
 */
void
sh_document_add(ShDocument *document, uint64_t *hashes, size_t n)
{
	uint64_t	others[SH_GAINED(SH_BATCH)];

	n = sh_document_sift(document, hashes, n);
	sh_sums_add(&document->sums[0], hashes, n);
	for (int w = 1; w < document->words; w++)
	{
		sh_word_hashes(others, hashes, n, w);
		sh_sums_add(&document->sums[w], others, n);
	}
}

/* ShHashReader: add features that have not been read by this document. */
void
sh_document_add_hashes(void *document, const uint64_t *hashes, size_t n)
{
	uint64_t	gained[SH_GAINED(SH_BATCH)];

	memcpy(gained, hashes, n * sizeof *hashes);
	sh_document_add(document, gained, n);
}

/* ShDocumentSink: add the features to the sums of the document. */
static bool
add_features(void *state, ShWindows *windows)
{
	ShDocument *document = state;
	uint64_t	hashes[SH_GAINED(SH_BATCH)];
	size_t		n;

	while ((n = sh_windows_hashes(windows, hashes)) > 0)
		sh_document_add(document, hashes, n);
	return true;
}

/* Read more of a document whose fingerprint is wanted; see sh_document_read. */
void
sh_document_feed(ShDocument *document, const unsigned char *bytes,
				 size_t length)
{
	(void) sh_document_read(document, bytes, length, add_features, document);
}

/*
 * End it, and write its fingerprint, of so many words.  False when the document has
 * no feature, hence no fingerprint, but by the recipe of another program.  Where that
 * makes a bit 1 that half of the features have, and not more, one feature more with all
 * bits makes half of the others more than half.
 */
bool
sh_document_end(ShDocument *document, uint64_t *fingerprint)
{
	static const uint64_t ones = UINT64_MAX;
	bool		compat = sh_compat_profile(document->profile);

	sh_document_read_end(document, add_features, document);
	for (int w = 0; w < document->words; w++)
	{
		if (compat && sh_compat_half(document->profile))
			sh_sums_add(&document->sums[w], &ones, 1);
		(void) sh_sums_fingerprint(&document->sums[w], &fingerprint[w]);
	}
	return compat || document->sums[0].total > 0;
}
