/*-------------------------------------------------------------------------
 *
 * hashes.c
 *		The hashes of a document's features, as they occur.
 *
 * For those that weigh features otherwise than the profile does.  Every
 * occurrence is handed over, in batches, and the reader can say that it has
 * seen enough.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

/* Where the hashes of a document go. */
typedef struct HashStream
{
	ShDocument *document;
	SimhashHashReader read;
	void	   *state;
	bool		enough;
} HashStream;

/* ShDocumentSink: hand the hashes of the features to the reader. */
static bool
hand_over(void *state, ShWindows *windows)
{
	HashStream *stream = state;
	uint64		hashes[SH_BATCH];
	size_t		n;

	while (!stream->enough && (n = sh_windows_hashes(windows, hashes)) > 0)
		stream->enough = !stream->read(stream->state, hashes, n);
	return !stream->enough;
}

/*
 * SimhashReader: read the slice, and hand over the features of those before it,
 * so that not much more is read than the reader wants.
 */
static void
feed_stream(void *state, const unsigned char *bytes, Size length)
{
	HashStream *stream = state;

	if (!stream->enough && stream->document->text.total > 0)
		(void) sh_document_hand_over(stream->document, false, hand_over,
									 stream);
	if (!stream->enough)
		(void) sh_document_read(stream->document, bytes, length, hand_over,
								stream);
}

/* Hand over the features, read as another implementation does. */
static void
read_compat(const ShProfile *profile, text *document,
			SimhashHashReader read, void *state)
{
	ShCompat	compat;
	uint64		hashes[SH_BATCH];
	size_t		n;

	simhash_compat_begin(&compat, profile, document);
	do
	{
		CHECK_FOR_INTERRUPTS();
		for (n = 0; n < SH_BATCH; n++)
		{
			if (!sh_compat_next(&compat, &hashes[n]))
				break;
		}
	} while (n > 0 && read(state, hashes, n) && n == SH_BATCH);
	simhash_compat_end(&compat, document);
}

/*
 * Hand over the hashes of the features of a document, each as often as it
 * occurs, until there are none left or the reader returns false.  The reader
 * can use the tally of the document that simhash_begin_document has begun.
 */
void
simhash_read_hashes(ShDocument *workspace, text *document,
					SimhashHashReader read, void *state)
{
	HashStream	stream = {workspace, read, state, false};

	if (sh_compat_profile(workspace->profile))
	{
		read_compat(workspace->profile, document, read, state);
		return;
	}
	simhash_read_text(workspace->profile, document, feed_stream, &stream);
	if (!stream.enough)
		sh_document_read_end(workspace, hand_over, &stream);
}
