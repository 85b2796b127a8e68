/*-------------------------------------------------------------------------
 *
 * guard_lock.c
 *		How simhash_guard() sees near-duplicates that are being inserted at
 *		the same time.
 *
 * Guarantee.  Of two rows within the guard's radius that two sessions insert
 * at the same time, at least one session finds the other's row and waits for
 * the outcome of its transaction, at every isolation level.  So never do both
 * commit without the guard having rejected, skipped or marked one of them.
 *
 * Mechanics.  A search sees rows of transactions in progress, as a unique
 * index does (SnapshotDirty); if the result depends on one, the session waits
 * for its end and searches again.  That leaves the gap between the search and
 * the moment when the row arrives in the index.  To cover it a session takes
 * locks before it searches and keeps them until its row is in the index.  They
 * are chosen so that any two rows within the radius have a lock in common.  Of
 * two sessions with near-duplicates one gets the common lock first.  The other
 * gets it when the row of the first is in the index, or will never be, and
 * searches only then.
 *
 * When the row is in.  The hamming index says so itself, as it inserts the
 * row (hamming_inserted_hook).  A btree of keys does not.  Nor is that enough
 * where other sessions may search by another index, which may get the row
 * later.  In both cases the locks are kept until the trigger's next call in
 * the statement, or the end of the statement: the server inserts a row as soon
 * as its BEFORE triggers have run.  (Neither COPY nor the executor gathers
 * rows to insert them together into a table with such triggers.)  The same
 * goes for INSERT ... ON CONFLICT, which may take its row out of the index
 * again, wait for another transaction, and put the row back without a call of
 * the trigger.
 *
 * A worked interleaving.  The radius is 3.  Session A inserts 0, session B
 * inserts 7, three bits away; all of their blocks but the last agree.
 *
 *	A	takes the locks of 0: four of them, in order
 *	B	takes the locks of 7: waits for A at the first that both need
 *	A	searches, finds nothing; the row goes to the table and its indexes; when
 *		it is in the hamming index, the locks are released
 *	B	gets its locks, searches, finds A's row in progress; releases them, and
 *		waits for A's transaction
 *	A	commits
 *	B	takes its locks again, searches, finds A's row committed
 *
 * Had A rolled back, B would have found nothing, and its row would be in.  Had
 * B searched between A's search and A's insertion, which the locks prevent,
 * neither would have seen the other's row.
 *
 * Deadlocks.  As with a unique index, there are some that nobody can prevent.
 * First what cannot happen:
 *
 * - Sessions that wait for nothing but these locks, each with those of one row
 *	 at a time, do not deadlock: the locks of a row are taken in order.
 * - A session that waits for another's transaction holds no lock of the row
 *	 that is to wait.  So transactions that insert one row each do not deadlock:
 *	 the one waited for has its row in the index, and wants no more locks.
 *
 * What can happen, and what the server resolves by ending one transaction:
 *
 * - Two transactions with several rows each insert a near-duplicate of a row
 *	 that the other has inserted before.
 * - A session holds the locks of a row, which is not in the index yet, and
 *	 waits for a transaction that comes to want one of them.  What it waits in
 *	 may be another trigger of the row, which may insert a row in turn, a unique
 *	 index, or a second guard of the row.
 *
 * How many.  A trigger holds the locks of one row at a time in a statement,
 * however many rows the statement inserts, and none between statements; there
 * is no table of them that could fill up.  Statements that nest, because a
 * trigger inserts in turn, and several guards of one row have locks of their
 * own.  If one lock belongs to two rows, the lock manager counts to two, and
 * the lock is released when both rows have released it.
 *
 * The locks of a row.  Cut the fingerprint into k + 1 blocks: two that differ
 * in at most k bits agree in a block.  For k = 3 these are the four blocks
 * of 16 bits.  For a larger k such blocks get so short that unrelated rows
 * often agree in one.  Cut into k + 2: two fingerprints within k agree in at
 * least two blocks, so a lock for each pair of blocks serves, with twice as
 * many bits.  For k = 8 that is 45 locks of 12 or 13 bits.  Beyond that
 * we take one lock for the whole table.  With the option "within" all of them
 * are locks of the row's group (guard_group.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "common/hashfn.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/resowner.h"

/* Sets our locks apart from those of pg_advisory_lock, which use 1 and 2. */
#define GUARD_LOCK_CLASS	0x5348

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

/*
 * The values to lock for a fingerprint and the hash of its group, in order;
 * returns how many.
 */
static int
lock_values(const GuardStatement *statement, uint64 fingerprint, uint64 group,
			uint32 *values)
{
	int			radius = statement->lock_radius;
	uint64		scheme = mix((uint64) statement->root_column,
							 (uint64) Min(radius, GUARD_PAIR_RADIUS + 1));
	int			n = 0;

	scheme = mix(scheme, group);

	if (radius > GUARD_PAIR_RADIUS)
		values[n++] = (uint32) scheme;
	else if (radius <= SH_NEAR)
	{
		for (int i = 0; i <= radius; i++)
			values[n++] = (uint32)
				mix(scheme, block_value(fingerprint, i, radius + 1));
	}
	else
	{
		uint64		blocks[GUARD_PAIR_RADIUS + 2];

		for (int i = 0; i < radius + 2; i++)
		{
			blocks[i] = mix(scheme, block_value(fingerprint, i, radius + 2));
			for (int j = 0; j < i; j++)
				values[n++] = (uint32) mix(blocks[i], blocks[j]);
		}
	}
	qsort(values, n, sizeof *values, compare_values);
	return (int) qunique(values, n, sizeof *values, compare_values);
}

/*
 * Release the locks of the row looked at last.  One that was waited for when
 * the wait was cancelled may have been granted all the same.
 */
void
simhash_guard_unlock(GuardStatement *statement)
{
	GuardedRow *row = &statement->row;
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = TopTransactionResourceOwner;
	if (row->waiting)
	{
		LOCKTAG		tag = lock_tag(statement->root, row->locks[row->nheld]);

		row->waiting = false;
		if (simhash_lock_held(&tag, ExclusiveLock))
			LockRelease(&tag, ExclusiveLock, false);
	}
	while (row->nheld > 0)
	{
		LOCKTAG		tag = lock_tag(statement->root, row->locks[--row->nheld]);

		LockRelease(&tag, ExclusiveLock, false);
	}
	CurrentResourceOwner = owner;
}

/* Take the locks of a row, one after the other. */
static void
take_locks(GuardStatement *statement, uint64 fingerprint, uint64 group)
{
	GuardedRow *row = &statement->row;
	int			n = lock_values(statement, fingerprint, group, row->locks);

	while (row->nheld < n)
	{
		LOCKTAG		tag = lock_tag(statement->root, row->locks[row->nheld]);

		/* Another row of ours may have it, which must not lose it. */
		row->waiting = !simhash_lock_held(&tag, ExclusiveLock);
		(void) LockAcquire(&tag, ExclusiveLock, false, false);
		row->waiting = false;
		row->nheld++;
	}
}

/*
 * Take the locks of a row, and learn what has become of the tables meanwhile.
 * The locks belong to the transaction, whatever subtransaction or portal we
 * are in, so that they can be released in another.
 */
void
simhash_guard_lock(Guard *guard, uint64 fingerprint)
{
	GuardStatement *statement = guard->statement;
	GuardedRow *row = &statement->row;
	uint64		group = simhash_guard_group_hash(statement,
												 guard->group_values);
	ResourceOwner owner = CurrentResourceOwner;
	const GuardTable *own;

	row->index = InvalidOid;
	PG_TRY();
	{
		CurrentResourceOwner = TopTransactionResourceOwner;
		take_locks(statement, fingerprint, group);
	}
	PG_FINALLY();
	{
		CurrentResourceOwner = owner;
	}
	PG_END_TRY();
	own = simhash_guard_tables(guard);
	if (own->only_way)
		row->index = own->hamming.index;
	row->caller = guard->caller;
	row->fingerprint = fingerprint;
}
