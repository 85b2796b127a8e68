/*-------------------------------------------------------------------------
 *
 * hamming_btree.c
 *		The btree code that a hamming index is built on, and the disguise in
 *		which it sees such an index.
 *
 * The btree code is reached through its own IndexAmRoutine, as any caller
 * would.  What it has to know of an index it reads in the relation.  It expects
 * an index on one column of type bigint, with a comparison function for it.  An
 * index on one column of fingerprints is that, but for its access method, of
 * which only assertions of the btree code take notice.  An index on several
 * columns stores one bigint as well (hamming_columns.c), but its relation tells
 * of them all.  So while it is in the hands of the btree code its relation is
 * changed:
 *
 *		relation of (site, lang, fp)		as the btree code sees it
 *		natts, indnatts,
 *		indnkeyatts				3			1
 *		rd_support[0]			hash		comparison
 *		relam					hamming		btree, for assertions
 *
 * The arrays with an element for each column begin at the fingerprint's for
 * that time.  Every column of the index is declared as bigint (amkeytype), so
 * the first one of the tuple descriptor will do for the only one.
 *
 * None of that could be said by a copy of the relation: the btree code caches
 * its metapage in the relation, and the storage manager and the statistics keep
 * pointers to it.  README lists what the btree code looks at, and says what it
 * would cost to do without.
 *
 * Errors pass through PG_FINALLY, and the relation is itself again.  A session
 * that ends in between frees the relation at most, in whole, and frees nothing
 * by the pointers that are moved.  The relation cache may take in changes of
 * the catalogue in between.  That sets relam back and moves no pointer, as
 * nothing about the columns of an index can change.  Nobody but the assertions
 * of the btree code would notice.
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

/* Let the arrays of a relation begin some columns further on, or back. */
static void
shift_columns(Relation index, int columns)
{
	index->rd_opfamily += columns;
	index->rd_opcintype += columns;
	index->rd_indcollation += columns;
	index->rd_indoption += columns;
	index->rd_support += columns * HAMMING_PROCS;
	index->rd_supportinfo += columns * HAMMING_PROCS;
}

/* Set the number of columns. */
static void
set_columns(Relation index, int columns)
{
	RelationGetDescr(index)->natts = columns;
	index->rd_index->indnatts = columns;
	index->rd_index->indnkeyatts = columns;
}

/*
 * Put an index into the disguise, if it needs one.  Whatever comes,
 * hamming_show_itself() has to follow.
 *
 * The comparison function is looked up before, as that asks for all columns.
 */
void
hamming_show_btree(Relation index, HammingDisguise *disguise)
{
	disguise->worn = false;
#ifndef USE_ASSERT_CHECKING
	if (index->rd_index->indnkeyatts == 1)
		return;
#endif
	disguise->am = index->rd_rel->relam;
	disguise->columns = index->rd_index->indnkeyatts;
	disguise->fingerprint = hamming_fingerprint_column(index);
	(void) index_getprocinfo(index, disguise->fingerprint + 1,
							 HAMMING_COMPARE_PROC);
	set_columns(index, 1);
	shift_columns(index, disguise->fingerprint);
	index->rd_rel->relam = BTREE_AM_OID;
	disguise->worn = true;
}

/* Take the disguise off, if it is worn. */
void
hamming_show_itself(Relation index, HammingDisguise *disguise)
{
	if (!disguise->worn)
		return;
	disguise->worn = false;
	index->rd_rel->relam = disguise->am;
	shift_columns(index, -disguise->fingerprint);
	set_columns(index, disguise->columns);
}
