/*-------------------------------------------------------------------------
 *
 * guard_lock.c
 *		How simhash_guard() sees near-duplicates that are being inserted at
 *		the same time.
 *
 * Guarantee.  Of two rows within the guard's radius that two sessions insert
 * at the same time, at least one session finds the other's row and waits for
 * the outcome of its transaction, at every isolation level.
 *
 * Mechanics.  A search sees rows of transactions in progress, as a unique
 * index does (SnapshotDirty); what it finds of them it waits for, and then it
 * searches again.  That leaves the moment between a search and the row's
 * arrival in the index.  To cover it a session takes locks first, such that
 * any two rows within the radius have one in common, and keeps them until its
 * row is in the index.  The server inserts a row as soon as its BEFORE
 * triggers have run, so the trigger's next call in the session, or the end of
 * the statement, is late enough.  (Calls that nest, because another trigger
 * inserts in turn, and those of several guards of one row keep their locks
 * apart.)  So a session has the locks of one row at a time, however many rows
 * its transaction inserts, and none between statements; two sessions with
 * unrelated rows rarely meet; and as locks are taken in order, and given back
 * before the next are taken or another transaction is waited for, guards do
 * not deadlock among themselves unless their rows are near-duplicates.
 *
 * The locks of a row.  Cut the fingerprint into k + 1 blocks: two that differ
 * in at most k bits agree in a block.  For k = 3 these are the four blocks
 * of 16 bits.  For a larger k such blocks get so short that unrelated rows
 * often agree in one.  Cut into k + 2: two fingerprints within k agree in at
 * least two blocks, so a lock for each pair of blocks serves, with twice as
 * many bits.  For k = 8 that is 45 locks of 12 or 13 bits.  Beyond that
 * we take one lock for the whole table.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard.h"

#include "commands/trigger.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/resowner.h"

#define PAIR_RADIUS_MAX		8	/* beyond it, one lock for the table */
#define LOCKS_MAX			((PAIR_RADIUS_MAX + 2) * (PAIR_RADIUS_MAX + 1) / 2)
#define CALLS_MAX			32	/* calls whose locks are kept apart */

/* Sets our locks apart from those of pg_advisory_lock, which use 1 and 2. */
#define GUARD_LOCK_CLASS	0x5348

/* The locks of one call that is not known to be over. */
typedef struct GuardLocks
{
	int			depth;			/* of nested triggers */
	Oid			root;
	NameData	trigger;
	int			n;
	uint32		values[LOCKS_MAX];
} GuardLocks;

static GuardLocks held[CALLS_MAX];
static int	held_calls = 0;
static LocalTransactionId held_by = InvalidLocalTransactionId;

/* The lock of a value, for the table at the root of what is searched. */
static LOCKTAG
lock_tag(Oid root, uint32 value)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, root, value, GUARD_LOCK_CLASS);
	return tag;
}

/* qsort comparator for lock values. */
static int
compare_values(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return x < y ? -1 : x > y;
}

/* One number from two, well mixed. */
static uint64
mix(uint64 a, uint64 b)
{
	uint64		both[2] = {a, b};

	return hash_bytes_extended((const unsigned char *) both, sizeof both, 0);
}

/* The bits of block i of n, with the number of the block. */
static uint64
block_value(uint64 fingerprint, int i, int n)
{
	int			from = SH_BITS * i / n;
	int			to = SH_BITS * (i + 1) / n;
	uint64		bits = fingerprint >> from;

	if (to - from < SH_BITS)
		bits &= (UINT64CONST(1) << (to - from)) - 1;
	return mix(bits, (uint64) i);
}

/* The values to lock for a fingerprint in the column; returns how many. */
static int
lock_values(AttrNumber column, uint64 fingerprint, int radius, uint32 *values)
{
	uint64		scheme = mix((uint64) column,
							 (uint64) Min(radius, PAIR_RADIUS_MAX + 1));
	int			n = 0;

	if (radius > PAIR_RADIUS_MAX)
		values[n++] = (uint32) scheme;
	else if (radius <= SH_NEAR)
	{
		for (int i = 0; i <= radius; i++)
			values[n++] = (uint32)
				mix(scheme, block_value(fingerprint, i, radius + 1));
	}
	else
	{
		uint64		blocks[PAIR_RADIUS_MAX + 2];

		for (int i = 0; i < radius + 2; i++)
		{
			blocks[i] = mix(scheme, block_value(fingerprint, i, radius + 2));
			for (int j = 0; j < i; j++)
				values[n++] = (uint32) mix(blocks[i], blocks[j]);
		}
	}
	qsort(values, n, sizeof *values, compare_values);
	return n;
}

/* How deeply triggers are nested; 0 outside them. */
static int
trigger_depth(void)
{
	return DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, (Datum) 0));
}

/* Give back the locks of the calls from the given one on. */
static void
release_from(int call)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = TopTransactionResourceOwner;
	while (held_calls > call)
	{
		GuardLocks *locks = &held[held_calls - 1];

		while (locks->n > 0)
		{
			LOCKTAG		tag = lock_tag(locks->root, locks->values[--locks->n]);

			LockRelease(&tag, ExclusiveLock, false);
		}
		held_calls--;
	}
	CurrentResourceOwner = owner;
}

/* Forget the locks of another transaction: they went with it. */
static void
forget_past(void)
{
	if (held_by == simhash_current_lxid())
		return;
	held_calls = 0;
	held_by = simhash_current_lxid();
}

/* Give back the locks of the row at hand, the last ones taken. */
void
simhash_guard_unlock(void)
{
	release_from(held_calls - 1);
}

/*
 * Give back the locks of a statement that is over, whose triggers were deeper
 * than what runs now.
 */
void
simhash_guard_end_statement(void *arg pg_attribute_unused())
{
	int			depth = trigger_depth();
	int			call = 0;

	forget_past();
	while (call < held_calls && held[call].depth <= depth)
		call++;
	release_from(call);
}

/*
 * Give back the locks of rows that are in the index by now, or never will be:
 * those of deeper triggers, and, if this trigger has been called before, those
 * of the row that it was called for, and later ones.
 */
static void
release_past(Oid root, const char *trigger)
{
	int			depth = trigger_depth();
	int			call;

	forget_past();
	for (call = 0; call < held_calls; call++)
	{
		if (held[call].depth > depth)
			break;
		if (held[call].depth == depth && held[call].root == root &&
			strcmp(NameStr(held[call].trigger), trigger) == 0)
			break;
	}
	release_from(call);
}

/*
 * Take the locks of a row.  They belong to the transaction, whatever
 * subtransaction or portal we are in, so that a later call can give them
 * back.
 */
void
simhash_guard_lock(Oid root, const char *trigger, AttrNumber column,
				   uint64 fingerprint, int radius)
{
	uint32		values[LOCKS_MAX];
	int			n = lock_values(column, fingerprint, radius, values);
	ResourceOwner owner = CurrentResourceOwner;
	GuardLocks *locks;

	release_past(root, trigger);
	if (held_calls == CALLS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
				 errmsg("too many triggers with simhash_guard are at work at the same time")));
	locks = &held[held_calls++];
	locks->depth = trigger_depth();
	locks->root = root;
	namestrcpy(&locks->trigger, trigger);
	locks->n = 0;
	PG_TRY();
	{
		CurrentResourceOwner = TopTransactionResourceOwner;
		for (int i = 0; i < n; i++)
		{
			LOCKTAG		tag = lock_tag(root, values[i]);

			if (i > 0 && values[i] == values[i - 1])
				continue;
			LockAcquire(&tag, ExclusiveLock, false, false);
			locks->values[locks->n++] = values[i];
		}
	}
	PG_FINALLY();
	{
		CurrentResourceOwner = owner;
	}
	PG_END_TRY();
}
