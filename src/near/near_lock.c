/*-------------------------------------------------------------------------
 *
 * near_lock.c
 *		How simhash_guard() sees near-duplicates that are being inserted at
 *		the same time.
 *
 * Guarantee.  Of two rows within the guard's radius that two sessions insert
 * at the same time, at least one session finds the other's row and waits for
 * the outcome of its transaction, at every isolation level.  So never do both
 * commit without the guard having acted on one of them.
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
 * later.  In both cases the locks are kept until the server has inserted the row
 * and frees its memory (near_statement.c): it inserts a row as soon as its
 * BEFORE triggers have run.  (Neither COPY nor the executor gathers rows to
 * insert them together into a table with such triggers.)  The same goes for
 * INSERT ... ON CONFLICT, which may take its row out of the index again, wait
 * for another transaction, and put the row back without a call of the trigger.
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
 * - Two transactions with several rows each find, by the action "conflict", what
 *	 the other has found before: rows found are locked until it ends.
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
 * The locks of a row.  Two fingerprints that differ in at most k bits are to
 * have a lock in common, whatever their width, and unrelated ones seldom.
 *
 * Cut them into p parts, and hand out k + 1 units to the parts, as evenly as
 * can be.  In some part they differ in fewer bits than it got units: otherwise
 * they would differ in k + 1.  Say in at most r bits there.  Cut that part into
 * r + 1 blocks: they agree in one of these, as r bits spoil at most r blocks.
 * So a lock for each block of each part serves.  Blocks may get so short that
 * unrelated rows often agree in one.  Cut the part into r + 2 blocks instead:
 * then they agree in two, and a lock for each pair of blocks of a part serves,
 * with twice as many bits.
 *
 * For example, 256 bits within 31: 16 parts of 16 bits get two units each, so
 * that some part differs in one bit at most.  Cut into three blocks, of 5, 5
 * and 6 bits, it has a pair of blocks that agree.  That is 48 locks, of 10 or
 * 11 bits each.
 *
 * Which p, and single blocks or pairs, follows from the width and k alone: that
 * by which locks and waiting cost least.  The chance that two unrelated rows
 * have a lock in common is the number of locks, each by two to the minus bits
 * in it.  If even the best is too high, there is one lock for the whole table.
 *
 *		bits	within	parts	blocks of each	locks	chance
 *		  64	 3		 1		4				 4		.0001
 *		  64	 8		 3		4, by pairs		18		.01
 *		  64	13		 2		8, by pairs		56		.24
 *		 256	31		16		3, by pairs		48		.03
 *		 256	40		14		4 or 5, by pairs	81		.14
 *		 576	31		 1		32				32		.0001
 *
 * With the option "within" all of them are locks of the row's group
 * (near_group.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include <math.h>

#include "common/hashfn.h"
#include "lib/qunique.h"
#include "utils/resowner.h"

/*
 * Limits of the work done.
 *
 * MOST_CHANCE	of two unrelated rows to have a lock in common; where it would
 *				be more, there is one lock for all.
 * LOCK_COST	what a lock costs, in units of a wait for another session.
 */
#define MOST_CHANCE		0.25
#define LOCK_COST		0.001

/* Sets our locks apart from those of pg_advisory_lock, which use 1 and 2. */
#define GUARD_LOCK_CLASS	0x5348

/* The lock of a value, for the table at the root of what is searched. */
LOCKTAG
simhash_near_lock_tag(Oid root, uint32 value)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, root, value, GUARD_LOCK_CLASS);
	return tag;
}

/* One number from two, well mixed. */
static uint64
mix_numbers(uint64 a, uint64 b)
{
	uint64		both[2] = {a, b};

	return hash_bytes_extended((const unsigned char *) both, sizeof both, 0);
}

/* In how many bits two fingerprints within the radius may differ in a part. */
static inline int
part_radius(int radius, int parts, int part)
{
	return (radius + 1 + part) / parts - 1;
}

/*
 * How many locks a row has by a scheme, and the chance that two unrelated rows
 * have one of them in common, if bits are spread evenly.
 */
static int
count_locks(const NearScheme *scheme, int width, double *chance)
{
	int			locks = 0;

	*chance = 0;
	for (int i = 0; i < scheme->parts; i++)
	{
		int			blocks = part_radius(scheme->radius, scheme->parts, i) +
		scheme->agree;
		double		bits = (double) width / scheme->parts / blocks;
		int			n = scheme->agree == 1 ? blocks :
		blocks * (blocks - 1) / 2;

		locks += n;
		*chance += n * exp2(-bits * scheme->agree);
	}
	return locks;
}

/*
 * The scheme by which rows of such fingerprints are locked: the cheapest one.
 * Statements of one row are common, so the last one is remembered.
 */
NearScheme
simhash_near_scheme(int width, int radius)
{
	static NearScheme best = {-1, 0, 0};
	static int	best_width;
	double		least = MOST_CHANCE + NEAR_LOCKS_MAX * LOCK_COST;

	if (best.radius == radius && best_width == width)
		return best;
	best.radius = radius;
	best.parts = best.agree = 0;
	best_width = width;
	for (int parts = 1; parts <= Min(radius + 1, NEAR_LOCKS_MAX); parts++)
	{
		for (int agree = 1; agree <= 2; agree++)
		{
			NearScheme	scheme = {radius, parts, agree};
			double		chance;
			int			locks = count_locks(&scheme, width, &chance);

			if (locks <= NEAR_LOCKS_MAX && chance <= MOST_CHANCE &&
				chance + locks * LOCK_COST < least)
			{
				least = chance + locks * LOCK_COST;
				best = scheme;
			}
		}
	}
	return best;
}

/* A number for the bits [from, to) of a fingerprint, and where they are. */
static uint64
block_value(const NearFingerprint *fingerprint, int from, int to)
{
	uint64		value = mix_numbers((uint64) from, (uint64) to);

	while (from < to)
	{
		int			end = Min(to, (from / SH_BITS + 1) * SH_BITS);
		uint64		bits = fingerprint->words[from / SH_BITS];

		bits = bits << from % SH_BITS >> (SH_BITS - (end - from));
		value = mix_numbers(value, bits);
		from = end;
	}
	return value;
}

/* Add the values to lock for the bits [start, end), a part of so many blocks. */
static int
part_values(const NearFingerprint *fingerprint, uint64 seed, int start,
			int end, int blocks, int agree, uint32 *values)
{
	uint64		seen[NEAR_LOCKS_MAX];
	int			n = 0;

	for (int i = 0; i < blocks; i++)
	{
		int			from = start + (end - start) * i / blocks;
		int			to = start + (end - start) * (i + 1) / blocks;

		seen[i] = mix_numbers(seed, block_value(fingerprint, from, to));
		if (agree == 1)
			values[n++] = (uint32) seen[i];
		for (int j = 0; j < i && agree == 2; j++)
			values[n++] = (uint32) mix_numbers(seen[i], seen[j]);
	}
	return n;
}

/*
 * Find the values to lock for a fingerprint and the hash of its group, in order;
 * returns how many.
 */
static int
find_values(NearLocks *locks, const NearFingerprint *fingerprint,
			uint64 group)
{
	const NearScheme *scheme = &locks->scheme;
	uint64		seed = mix_numbers(locks->seed, group);
	int			n = 0;

	if (scheme->parts == 0)
	{
		locks->locks[0] = (uint32) seed;
		return 1;
	}
	for (int i = 0; i < scheme->parts; i++)
		n += part_values(fingerprint, seed,
						 fingerprint->width * i / scheme->parts,
						 fingerprint->width * (i + 1) / scheme->parts,
						 part_radius(scheme->radius, scheme->parts, i) +
						 scheme->agree,
						 scheme->agree, locks->locks + n);
	/* An Oid is a uint32, too. */
	qsort(locks->locks, n, sizeof *locks->locks, oid_cmp);
	return (int) qunique(locks->locks, n, sizeof *locks->locks, oid_cmp);
}

/*
 * Release the locks of the row looked at last.  One that was waited for when
 * the wait was cancelled may have been granted all the same.
 */
void
simhash_near_unlock(NearLocks *locks)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = TopTransactionResourceOwner;
	if (locks->waiting)
	{
		LOCKTAG		tag = simhash_near_lock_tag(locks->root, locks->locks[locks->nheld]);

		locks->waiting = false;
		if (simhash_lock_held(&tag, ExclusiveLock))
			LockRelease(&tag, ExclusiveLock, false);
	}
	while (locks->nheld > 0)
	{
		LOCKTAG		tag = simhash_near_lock_tag(locks->root, locks->locks[--locks->nheld]);

		LockRelease(&tag, ExclusiveLock, false);
	}
	CurrentResourceOwner = owner;
}

/*
 * Take the locks of a row, one after the other.  The locks belong to the
 * transaction, whatever subtransaction or portal we are in, so that they can be
 * released in another.  If we do not come to restore the resource owner, the end
 * of the subtransaction or transaction does.
 */
void
simhash_near_take_locks(NearLocks *locks,
						const NearFingerprint *fingerprint, uint64 group)
{
	int			n = find_values(locks, fingerprint, group);
	ResourceOwner owner = CurrentResourceOwner;

	locks->index = InvalidOid;
	locks->fingerprint = *fingerprint;
	CurrentResourceOwner = TopTransactionResourceOwner;
	while (locks->nheld < n)
	{
		LOCKTAG		tag = simhash_near_lock_tag(locks->root, locks->locks[locks->nheld]);

		/* Another row of ours may have it, which must not lose it. */
		locks->waiting = !simhash_lock_held(&tag, ExclusiveLock);
		(void) LockAcquire(&tag, ExclusiveLock, false, false);
		locks->waiting = false;
		locks->nheld++;
	}
	CurrentResourceOwner = owner;
}
