/*-------------------------------------------------------------------------
 *
 * guard_fingerprint.h
 *		What a column of fingerprints has.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_FINGERPRINT_H
#define SIMHASH_GUARD_FINGERPRINT_H

#include "core/blocks/layout.h"
#include "search/search.h"

#include "utils/rel.h"

/* What a column of fingerprints has: INT8OID, or BITOID of that width. */
typedef struct GuardType
{
	Oid			oid;
	int			width;			/* bits of each */
} GuardType;

/* A fingerprint; the first bit is at the top of the first word. */
typedef struct GuardFingerprint
{
	int			width;
	uint64		words[SH_MAX_WORDS];	/* 0 beyond the width */
} GuardFingerprint;

/* Words that so many bits take. */
#define GUARD_WORDS(width)	(((width) + SH_BITS - 1) / SH_BITS)

/* A column of a relation. */
static inline Form_pg_attribute
simhash_guard_attribute(Relation relation, AttrNumber column)
{
	return TupleDescAttr(RelationGetDescr(relation), column - 1);
}

/* guard_fingerprint.c */
extern GuardType simhash_guard_type(Relation relation, AttrNumber column);
extern GuardFingerprint simhash_guard_fingerprint(const GuardType *type,
												  Datum value);
extern int	simhash_guard_distance(const GuardFingerprint *a,
								   const GuardFingerprint *b);

#endif							/* SIMHASH_GUARD_FINGERPRINT_H */
