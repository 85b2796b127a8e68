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
 * index does (SnapshotDirty); if what it finds depends on one, the session
 * waits for its end and searches again.  That leaves the gap between a search
 * and the arrival of the row in the index.  To cover it a session takes locks
 * before it searches, such that any two rows within the radius have one in
 * common, and keeps them until its row is in the index.  Of two sessions with
 * near-duplicates one gets the common lock first, and the other searches when
 * the row of the first is in the index, or is not to be.
 *
 * When the row is in.  The hamming index says so itself, as it inserts the
 * row (simhash_guard_inserted).  A btree of keys does not, nor does that help
 * where other sessions may search by another index; then the locks are kept
 * until the trigger's next call in the statement, or the end of the statement:
 * the server inserts a row as soon as its BEFORE triggers have run.  (COPY and
 * the executor do not gather rows for tables with such triggers.)  So it is
 * for INSERT ... ON CONFLICT, too, which may take its row out of the index
 * again, wait for another transaction, and put it back without asking us.
 *
 * A worked interleaving.  The radius is 3.  Session A inserts 0, session B
 * inserts 7, three bits away; all of their blocks but the last agree.
 *
 *	A	takes the locks of 0: four of them, in order
 *	B	takes the locks of 7: waits for A at the first that both need
 *	A	searches, finds nothing; the row goes to the heap, the indexes of the
 *		table, the hamming index last; the locks are given back
 *	B	gets its locks, searches, finds A's row in progress; gives its locks
 *		back, and waits for A's transaction
 *	A	commits
 *	B	takes its locks again, searches, finds A's row committed
 *
 * Had A rolled back, B would have found nothing, and its row would be in.  Had
 * B come between A's search and A's insertion without locks, neither would
 * have seen the other.
 *
 * No deadlock.  Locks are taken in order, so sessions that wait for locks
 * only, as for rows that are no near-duplicates, do not form a cycle.  Who
 * waits for a transaction has none of the guard's locks.  And the transaction
 * waited for has its row in the index: if that was its only row, it takes no
 * more locks.  So a cycle takes transactions of several rows, each waiting for
 * the other's near-duplicate, as with a unique index; or other waits in the
 * gap, while locks are held: another trigger of the row that waits, a second
 * guard of the row (which keeps the first one's locks as it waits for a
 * transaction), or a unique index.
 *
 * No exhaustion.  A session has the locks of one row at a time, however many
 * rows its transaction inserts, and none between statements.  Calls that nest,
 * because another trigger inserts in turn, and those of several guards of one
 * row keep their locks apart.
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

#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/resowner.h"

#define PAIR_RADIUS_MAX		8	/* beyond it, one lock for the table */
#define LOCKS_MAX			((PAIR_RADIUS_MAX + 2) * (PAIR_RADIUS_MAX + 1) / 2)
#define CALLS_MAX			32	/* calls whose locks are kept apart */

/* Sets our locks apart from those of pg_advisory_lock, which use 1 and 2. */
#define GUARD_LOCK_CLASS	0x5348

/* A row between the guard and its index, and the locks held meanwhile. */
typedef struct GuardedRow
{
	/* whose */
	MemoryContext statement;
	Oid			root;
	NameData	trigger;

	/* how to know that it is in the index */
	Oid			index;			/* InvalidOid if that cannot be known */
	uint64		fingerprint;
	int			depth;			/* of nested triggers, the guard included */

	/* the locks */
	int			n;
	uint32		values[LOCKS_MAX];
	bool		waiting;		/* for the last of them */
} GuardedRow;

/* Of one transaction, as they nest: the innermost is the last. */
static GuardedRow rows[CALLS_MAX];
static int	nrows = 0;
static LocalTransactionId rows_of = InvalidLocalTransactionId;

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

/* The values to lock for a fingerprint; returns how many. */
static int
lock_values(const Guard *guard, uint64 fingerprint, uint32 *values)
{
	int			radius = guard->lock_radius;
	uint64		scheme = mix((uint64) guard->root_column,
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

/* Forget the rows of another transaction: the locks went with it. */
static void
forget_past(void)
{
	if (rows_of == simhash_current_lxid())
		return;
	nrows = 0;
	rows_of = simhash_current_lxid();
}

/*
 * Give back the locks of a row.  One that was waited for when the wait was
 * cancelled may have been granted all the same.
 */
static void
release(GuardedRow *row)
{
	ResourceOwner owner = CurrentResourceOwner;

	CurrentResourceOwner = TopTransactionResourceOwner;
	while (row->n > 0)
	{
		LOCKTAG		tag = lock_tag(row->root, row->values[--row->n]);

		if (!row->waiting || simhash_lock_held(&tag, ExclusiveLock))
			LockRelease(&tag, ExclusiveLock, false);
		row->waiting = false;
	}
	CurrentResourceOwner = owner;
}

/* Give back the locks of the rows from the given one on. */
static void
release_from(int first)
{
	while (nrows > first)
		release(&rows[--nrows]);
}

/* Give back the locks of the row at hand, the last ones taken. */
void
simhash_guard_unlock(void)
{
	release_from(nrows - 1);
}

/* Give back the locks of a statement that is over. */
void
simhash_guard_end_statement(void *arg)
{
	const Guard *guard = arg;
	int			first = 0;

	forget_past();
	while (first < nrows && rows[first].statement != guard->statement)
		first++;
	release_from(first);
}

/*
 * A guard goes on to another row: give back the locks of the row before, which
 * is in the index by now, or never will be, and of what it brought about.
 */
void
simhash_guard_next_row(const Guard *guard)
{
	int			first;

	forget_past();
	for (first = 0; first < nrows; first++)
	{
		GuardedRow *row = &rows[first];

		if (row->statement == guard->statement && row->root == guard->root &&
			strcmp(NameStr(row->trigger), guard->name) == 0)
			break;
	}
	release_from(first);
}

/*
 * Take the locks of a row.  They belong to the transaction, whatever
 * subtransaction or portal we are in, so that they can be given back in
 * another.
 */
void
simhash_guard_lock(const Guard *guard, uint64 fingerprint)
{
	uint32		values[LOCKS_MAX];
	int			n = lock_values(guard, fingerprint, values);
	ResourceOwner owner = CurrentResourceOwner;
	GuardedRow *row;

	if (nrows == CALLS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_STATEMENT_TOO_COMPLEX),
				 errmsg("too many triggers with simhash_guard are at work at the same time")));
	row = &rows[nrows++];
	row->statement = guard->statement;
	row->root = guard->root;
	namestrcpy(&row->trigger, guard->name);
	row->index = guard->own->only_way ? guard->own->hamming_index : InvalidOid;
	row->fingerprint = fingerprint;
	row->depth = trigger_depth();
	row->n = 0;
	row->waiting = false;
	PG_TRY();
	{
		CurrentResourceOwner = TopTransactionResourceOwner;
		for (int i = 0; i < n; i++)
		{
			LOCKTAG		tag = lock_tag(row->root, values[i]);

			if (i > 0 && values[i] == values[i - 1])
				continue;
			row->values[row->n++] = values[i];
			row->waiting = true;
			LockAcquire(&tag, ExclusiveLock, false, false);
			row->waiting = false;
		}
	}
	PG_FINALLY();
	{
		CurrentResourceOwner = owner;
	}
	PG_END_TRY();
}

/*
 * Is a row of the heap inserted on trial, by INSERT ... ON CONFLICT?  Taken
 * for granted of tables that are no heaps.
 */
static bool
is_speculative(Relation heap, ItemPointer tid)
{
	Buffer		buffer;
	Page		page;
	ItemId		item;
	HeapTupleHeader tuple;
	bool		speculative;

	if (heap->rd_rel->relam != HEAP_TABLE_AM_OID)
		return true;
	buffer = ReadBuffer(heap, ItemPointerGetBlockNumber(tid));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	item = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));
	tuple = (HeapTupleHeader) PageGetItem(page, item);
	speculative = HeapTupleHeaderIsSpeculative(tuple);
	UnlockReleaseBuffer(buffer);
	return speculative;
}

/*
 * The hamming index has taken in a row: if it was ours, its locks have served
 * their purpose.  One of the same fingerprint that a trigger of our row has
 * inserted is deeper in nested triggers.
 */
void
simhash_guard_inserted(Relation heap, Oid index, uint64 fingerprint,
					   ItemPointer tid)
{
	int			depth;

	if (nrows == 0)
		return;
	forget_past();
	depth = trigger_depth() + 1;
	for (int i = nrows - 1; i >= 0; i--)
	{
		GuardedRow *row = &rows[i];

		if (row->n > 0 && row->index == index && row->depth == depth &&
			row->fingerprint == fingerprint && !is_speculative(heap, tid))
			release(row);
	}
}
