/*-------------------------------------------------------------------------
 *
 * letters.h
 *		Letters as another keyboard, or a hurried writer, would type them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_LETTERS_H
#define SH_LETTERS_H

#include <stddef.h>

#include "core/text/fold.h"

/* Bytes that n bytes of text fold to, at most. */
#define SH_LETTERS_BYTES(n)	((n) * (SH_FOLD_BYTES + 2) / 3 + 2)

extern size_t sh_letters_fold(const unsigned char *from,
							  const unsigned char *end, unsigned char *to);

#endif							/* SH_LETTERS_H */
