/*-------------------------------------------------------------------------
 *
 * simhash.h
 *		What all wings share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_H
#define SIMHASH_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/hsearch.h"

#include "compat.h"
#include "core/bits.h"
#include "core/cpu.h"

/* Make a hash table in a context; each entry begins with its key. */
static inline HTAB *
simhash_make_hash(const char *name, int entries, Size key, Size entry,
				  MemoryContext context)
{
	HASHCTL		control = {.keysize = key,.entrysize = entry,.hcxt = context};

	return hash_create(name, entries, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

#endif							/* SIMHASH_H */
