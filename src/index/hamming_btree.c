/*-------------------------------------------------------------------------
 *
 * hamming_btree.c
 *		The btree code that a hamming index is built on, and the number of
 *		columns that it sees in such an index.
 *
 * The btree code is reached through its own IndexAmRoutine, as any caller
 * would.  What it has to know of an index it reads in the relation.  It expects
 * an index on one column of type bigint, with a comparison of bigint for its
 * support function 1.  Every column is declared as bigint (amkeytype), and every
 * operator class has that function.  So an index on one column is what the btree
 * code takes it for.  One on several stores one bigint as well
 * (hamming_columns.c), but its relation tells of them all.  While it is in the
 * hands of the btree code it is said to have one; README says what the btree
 * code looks at, and what it would cost to do without.
 *
 * A copy of the relation would not do: the btree code caches its metapage in
 * the relation, and the storage manager and the statistics keep pointers to it.
 *
 * Errors pass through PG_FINALLY, and the numbers are themselves again.  The
 * relation cache may take in changes of the catalogue in between; it leaves
 * these numbers alone, as nothing about the columns of an index can change.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_am.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/hamming.h"

/* The btree's own routines. */
const IndexAmRoutine *
hamming_btree(void)
{
	static const IndexAmRoutine *btree;

	if (btree == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

		btree = GetIndexAmRoutineByAmId(BTREE_AM_OID, false);
		MemoryContextSwitchTo(old);
	}
	return btree;
}

/* Complain of damage, of which the message tells; it has a place for the name. */
void
hamming_corrupted(Relation index, const char *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg(message, RelationGetRelationName(index)),
			 errhint("Please REINDEX it.")));
}

/*
 * Set the number of columns, and the access method, for which only assertions
 * of the btree code ask.
 */
static void
set_columns(Relation index, int columns, Oid am)
{
	RelationGetDescr(index)->natts = columns;
	index->rd_index->indnatts = columns;
	index->rd_index->indnkeyatts = columns;
#ifdef USE_ASSERT_CHECKING
	index->rd_rel->relam = am;
#else
	(void) am;
#endif
}

/*
 * Let the btree code see one column.  hamming_show_all() has to follow, with
 * the access method that is returned.
 */
Oid
hamming_show_one(Relation index)
{
	Oid			am = index->rd_rel->relam;

	set_columns(index, 1, BTREE_AM_OID);
	return am;
}

/* Let everybody see all columns again, as many as pg_class says. */
void
hamming_show_all(Relation index, Oid am)
{
	set_columns(index, RelationGetNumberOfAttributes(index), am);
}
