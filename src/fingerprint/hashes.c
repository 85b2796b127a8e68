/*-------------------------------------------------------------------------
 *
 * hashes.c
 *		The hashes of a document's features, as they occur.
 *
 * For those that weigh features otherwise than the profile does.  Every
 * occurrence is handed over, in batches.
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
} HashStream;

/* ShDocumentSink: hand the hashes of the features to the reader. */
static bool
hand_over(void *state, ShWindows *windows)
{
	HashStream *stream = state;
	uint64		hashes[SH_BATCH];
	size_t		n;

	while ((n = sh_windows_hashes(windows, hashes)) > 0)
		stream->read(stream->state, hashes, n);
	return true;
}

/* SimhashReader: read the slice. */
static void
feed_stream(void *state, const unsigned char *bytes, Size length)
{
	HashStream *stream = state;

	(void) sh_document_read(stream->document, bytes, length, hand_over, stream);
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
		if (n > 0)
			read(state, hashes, n);
	} while (n == SH_BATCH);
	simhash_compat_end(&compat, document);
}

/*
 * Hand over the hashes of the features of a document, each as often as it
 * occurs.  The reader can use the tally of the document that
 * simhash_begin_document has begun.
 */
void
simhash_read_hashes(ShDocument *workspace, text *document,
					SimhashHashReader read, void *state)
{
	HashStream	stream = {workspace, read, state};

	if (sh_compat_profile(workspace->profile))
	{
		read_compat(workspace->profile, document, read, state);
		return;
	}
	simhash_read_text(workspace->profile, document, feed_stream, &stream);
	sh_document_read_end(workspace, hand_over, &stream);
}
