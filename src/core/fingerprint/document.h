/*-------------------------------------------------------------------------
 *
 * document.h
 *		Document -> fingerprint, by a profile.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_DOCUMENT_H
#define SH_DOCUMENT_H

#include "core/fingerprint/accumulate.h"
#include "core/fingerprint/firsts.h"
#include "core/text/profile.h"
#include "core/fingerprint/tally.h"
#include "core/text/text.h"
#include "core/text/windows.h"

/*
 * A document being read, by a profile of our own (for the others see
 * compat.h).  All zero at first, but that the caller fills in the tally's "what
 * stays".
 */
typedef struct ShDocument
{
	const ShProfile *profile;
	ShSums		sums;
	ShTally		tally;
	bool		counting;		/* features are in the tally, not in "firsts" */
	ShFirsts	firsts;
	ShText		text;
} ShDocument;

/* Room for what n hashes can gain: each twice, and one more that is written. */
#define SH_GAINED(n)	(2 * (n) + 1)

extern void sh_document_begin(ShDocument *document, const ShProfile *profile);
extern size_t sh_document_sift(ShDocument *document, uint64_t *hashes,
							   size_t n);
extern void sh_document_feed(ShDocument *document,
							 const unsigned char *bytes, size_t length);
extern bool sh_document_end(ShDocument *document, uint64_t *fingerprint);

#endif							/* SH_DOCUMENT_H */
