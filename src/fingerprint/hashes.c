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

/* A document whose hashes are handed to a reader, slice by slice. */
typedef struct HashStream
{
	ShDocument *document;
	ShHashStream to;
} HashStream;

/* SimhashReader: read the slice. */
static void
feed_stream(void *state, const unsigned char *bytes, Size length)
{
	HashStream *stream = state;

	(void) sh_document_read(stream->document, bytes, length,
							sh_document_hand_hashes, &stream->to);
}

/* Hand over the features, read as another implementation does. */
static void
read_compat(const ShProfile *profile, text *document, ShHashReader read, void *state)
{
	ShCompat	compat;

	simhash_compat_begin(&compat, profile, document);
	sh_compat_read(&compat, read, state);
	simhash_compat_end(&compat, document);
}

/*
 * Hand over the hashes of the features of a document, each as often as it
 * occurs.  The reader can use the tally of the document that
 * simhash_begin_document has begun.
 */
void
simhash_read_hashes(ShDocument *workspace, text *document,
					ShHashReader read, void *state)
{
	HashStream	stream = {workspace, {read, state}};

	if (sh_compat_profile(workspace->profile))
	{
		read_compat(workspace->profile, document, read, state);
		return;
	}
	simhash_read_text(workspace->profile, document, feed_stream, &stream);
	sh_document_read_end(workspace, sh_document_hand_hashes, &stream.to);
}
