/*-------------------------------------------------------------------------
 *
 * document.h
 *		Document -> fingerprint, by a profile.
 *
 * This is the one job of core/fingerprint.  In come the bytes of a document and a
 * profile; core/text makes hashes of features of them; tally.c says what each adds
 * to the weight of its feature; families.h has what makes fingerprints of that.
 * bag.c lists the features with their weights, for those who compare documents
 * exactly.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_DOCUMENT_H
#define SH_DOCUMENT_H

#include "core/fingerprint/families.h"
#include "core/fingerprint/tally.h"
#include "core/text/fold.h"
#include "core/text/profile.h"
#include "core/text/text.h"
#include "core/text/characters.h"
#include "core/text/windows.h"

/*
 * A document being read, by a profile of our own (recipes.c reads documents by
 * the profiles of other programs).  Before the first document all of it is
 * zero, but for the part of the tally that the caller fills in.
 */
typedef struct ShDocument
{
	const ShProfile *profile;
	int			words;			/* of its fingerprint; the caller may set more */
	ShSums		sums[SH_WORDS];
	ShTally		tally;
	bool		counting;		/* features are in the tally, not in "firsts" */
	ShFirsts	firsts;
	ShText		text;
	ShLetters	letters;		/* if it folds; from document to document */
} ShDocument;

/*
 * What the features of a document are handed to, some at a time: those that
 * "windows" enumerates.  Returns false when it wants no more.
 */
typedef bool (*ShDocumentSink) (void *state, ShWindows *windows);

/* Where the hashes of a document go. */
typedef struct ShHashStream
{
	ShHashReader read;
	void	   *state;
} ShHashStream;

/* Bytes of a document whose letters are folded at once. */
#define SH_FOLDED_AT_ONCE	1024

/* Room for what n hashes can gain: each twice, and one more that is written. */
#define SH_GAINED(n)	(2 * (n) + 1)

extern void sh_document_begin(ShDocument *document, const ShProfile *profile);
extern size_t sh_document_sift(ShDocument *document, uint64_t *hashes,
							   size_t n);
extern void sh_document_add(ShDocument *document, uint64_t *hashes, size_t n);
extern void sh_document_add_hashes(void *document, const uint64_t *hashes,
								   size_t n);
extern void sh_document_feed(ShDocument *document,
							 const unsigned char *bytes, size_t length);
extern bool sh_document_end(ShDocument *document, uint64_t *fingerprint);

/*
 * The functions that read are inline, so that the compiler knows the sink and
 * need not call it by a pointer.
 */

/*
 * Hand the features that the text held has completed to the sink, and forget
 * that text, but for the tokens with which further features begin.  Returns
 * what the sink returns.
 */
static inline bool
sh_document_hand_over(ShDocument *document, bool ended, ShDocumentSink sink,
					  void *state)
{
	ShWindows	windows;
	bool		more;

	sh_windows_begin(&windows, document->profile, &document->text, ended);
	more = sink(state, &windows);
	if (!ended)
		sh_text_retire(&document->text, (size_t) document->profile->max - 1);
	return more;
}

/* Read more of a document whose letters are folded, if they are to be. */
static inline bool
sh_document_read_folded(ShDocument *document, const unsigned char *bytes,
						size_t length, ShDocumentSink sink, void *state)
{
	const unsigned char *end = bytes + length;

	while ((bytes = sh_text_feed(&document->text, bytes, end)) < end)
	{
		if (!sh_document_hand_over(document, false, sink, state))
			return false;
	}
	return true;
}

/*
 * Read more of the document; the caller must not cut within a character.
 * Features are handed over when there is no room for more text: most documents
 * have them handed over once, all together, at the end.  False when the sink
 * wants no more.
 */
static inline bool
sh_document_read(ShDocument *document, const unsigned char *bytes,
				 size_t length, ShDocumentSink sink, void *state)
{
	unsigned char letters[SH_LETTERS_BYTES(SH_FOLDED_AT_ONCE)];
	bool		more = true;

	if (!document->profile->folds)
		return sh_document_read_folded(document, bytes, length, sink, state);
	while (more && length > 0)
	{
		size_t		n = length <= SH_FOLDED_AT_ONCE ? length :
		sh_utf8_cut(bytes, SH_FOLDED_AT_ONCE);

		more = sh_document_read_folded(document, letters,
									   sh_letters_fold(&document->letters, bytes,
													   bytes + n, letters),
									   sink, state);
		bytes += n;
		length -= n;
	}
	return more;
}

/* ShDocumentSink: hand the hashes of the features to the reader of the stream. */
static inline bool
sh_document_hand_hashes(void *stream, ShWindows *windows)
{
	const ShHashStream *to = stream;
	uint64_t	hashes[SH_BATCH];
	size_t		n;

	while ((n = sh_windows_hashes(windows, hashes)) > 0)
		to->read(to->state, hashes, n);
	return true;
}

/* End the document: hand over the features that are left. */
static inline void
sh_document_read_end(ShDocument *document, ShDocumentSink sink, void *state)
{
	if (sh_text_full(&document->text) &&
		!sh_document_hand_over(document, false, sink, state))
		return;
	sh_text_end(&document->text);
	(void) sh_document_hand_over(document, true, sink, state);
}

#endif							/* SH_DOCUMENT_H */
