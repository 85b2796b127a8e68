/*-------------------------------------------------------------------------
 *
 * guard_lock.h
 *		Locks by which near-duplicates that arrive together meet.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_LOCK_H
#define SIMHASH_GUARD_LOCK_H

#include "guard/guard_fingerprint.h"

#include "storage/lock.h"

/* The most locks that a row can have. */
#define GUARD_LOCKS_MAX		128

/* How the locks of a row are chosen; see guard_lock.c. */
typedef struct GuardScheme
{
	int			radius;
	int			parts;			/* that a fingerprint is cut in; 0: one lock */
	int			agree;			/* blocks of a part that two rows have equal */
} GuardScheme;

/* The locks of the row that was let pass last, while others may not see it. */
typedef struct GuardLocks
{
	Oid			root;			/* what they are locks of */
	uint64		seed;			/* sets them apart from others of that */
	GuardScheme scheme;

	/* how to tell that it is in the index */
	Oid			index;			/* InvalidOid if that cannot be told */
	GuardFingerprint fingerprint;

	/* the locks, those that are held first */
	int			nheld;
	bool		waiting;		/* for the lock that follows */
	uint32		locks[GUARD_LOCKS_MAX];
} GuardLocks;

/* guard_lock.c */
extern LOCKTAG simhash_guard_lock_tag(Oid root, uint32 value);
extern GuardScheme simhash_guard_scheme(int width, int radius);
extern void simhash_guard_take_locks(GuardLocks *locks,
									 const GuardFingerprint *fingerprint,
									 uint64 group);
extern void simhash_guard_unlock(GuardLocks *locks);

#endif							/* SIMHASH_GUARD_LOCK_H */
