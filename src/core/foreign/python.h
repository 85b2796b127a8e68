/*-------------------------------------------------------------------------
 *
 * python.h
 *		Characters as Python sees them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_PYTHON_H
#define SH_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room that n bytes may need in lower case. */
#define SH_PYTHON_LOWER_BYTES(n)	((n) + (n) / 2 + 1)

extern size_t sh_python_decode(const unsigned char *p,
							   const unsigned char *end, int32_t *c);
extern bool sh_python_is_letter(int32_t c);
extern size_t sh_python_lower(unsigned char *to, const unsigned char *bytes,
							  size_t length, void (*pause) (void));

#endif							/* SH_PYTHON_H */
