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

#include "accumulate.h"
#include "profile.h"
#include "text.h"
#include "windows.h"

/*
 * A document being read, by a profile of our own (for the others see
 * compat.h).  The caller fills in the tally's "what stays".
 */
typedef struct ShDocument
{
	const ShProfile *profile;
	ShSums		sums;
	ShTally		tally;
	ShText		text;
} ShDocument;

extern void sh_document_begin(ShDocument *document, const ShProfile *profile);
extern void sh_document_feed(ShDocument *document,
							 const unsigned char *bytes, size_t length);
extern bool sh_document_end(ShDocument *document, uint64_t *fingerprint);

#endif							/* SH_DOCUMENT_H */
