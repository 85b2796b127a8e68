/*-------------------------------------------------------------------------
 *
 * guard_key.c
 *		Rows that are there already with the primary key of the row that is
 *		inserted, or with its key in the columns of the option except=column,...:
 *		the two cannot both stay.
 *
 * INSERT ... ON CONFLICT (url) DO UPDATE calls BEFORE INSERT triggers before it
 * looks for a conflict.  So a row whose key is there is not examined when it is
 * inserted.  That lets no near-duplicate in: a unique index refuses the new row, or
 * has the old one updated, and then the guard is called for the update.  To examine
 * it all the same would have it refused for the row that it is about to update, or
 * would give it the key of another, by the action "conflict"; and it would hold the
 * locks of a row that never comes while it waits for the old one.
 *
 * But the old row must keep its key until then.  An update of the key alone is
 * not examined, and takes no locks of the guard.  So the old row is locked FOR
 * KEY SHARE, as a foreign key does it: nobody deletes the row or changes its
 * key before our transaction is over.  If a transaction is inserting or changing the
 * row, we wait for its end first, as ON CONFLICT DO UPDATE does: it may want to lock
 * the row again, or delete it.
 *
 * No two rows may have equal keys in the index even for a while: so it must be
 * unique, not deferrable, valid, without predicate or expression.  Its columns
 * must have their values by now: none is generated, none is that of the mark.
 * It is an index of the table that gets the row, be that a partition or not.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "catalog/pg_index.h"
#include "parser/parse_coerce.h"

/* A key that no two rows have, and how to look one up. */
typedef struct GuardKey
{
	Oid			index;
	int			ncolumns;
	AttrNumber	columns[INDEX_MAX_KEYS];
	ScanKeyData conditions[INDEX_MAX_KEYS];
} GuardKey;

/* The operator by which an index has values of a column for equal, if it has one. */
static Oid
key_equality(Relation index, int i)
{
	Oid			type = index->rd_opcintype[i];

	return get_opfamily_member(index->rd_opfamily[i], type, type,
							   BTEqualStrategyNumber);
}

/* Does an index refuse each row whose key is there, at once? */
static bool
is_unique_at_once(Relation relation, Relation index, AttrNumber mark)
{
	Form_pg_index form = index->rd_index;

	if (index->rd_rel->relam != BTREE_AM_OID || !form->indisunique ||
		!form->indimmediate || !form->indisvalid ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber	column = form->indkey.values[i];

		if (column <= 0 || column == mark || !OidIsValid(key_equality(index, i)) ||
			simhash_near_attribute(relation, column)->attgenerated)
			return false;
	}
	return true;
}

/* Are the columns of an index these, columns of the root, in any order? */
static bool
has_columns(Relation index, List *columns, const AttrMap *map)
{
	int			found = 0;
	ListCell   *lc;

	foreach(lc, columns)
	{
		for (int i = 0; i < index->rd_index->indnkeyatts; i++)
			found += index->rd_index->indkey.values[i] ==
				simhash_near_mapped(map, lfirst_int(lc));
	}
	return found == list_length(columns) &&
		found == index->rd_index->indnkeyatts;
}

/* The key that a unique index is for. */
static GuardKey *
make_guard_key(Relation index)
{
	GuardKey   *key = palloc0(sizeof *key);

	key->index = RelationGetRelid(index);
	key->ncolumns = index->rd_index->indnkeyatts;
	for (int i = 0; i < key->ncolumns; i++)
	{
		key->columns[i] = index->rd_index->indkey.values[i];
		ScanKeyEntryInitialize(&key->conditions[i], 0, i + 1,
							   BTEqualStrategyNumber, InvalidOid,
							   index->rd_indcollation[i],
							   get_opcode(key_equality(index, i)), (Datum) 0);
	}
	return key;
}

/*
 * Find the keys of a table, which no two rows have equal: that of the option
 * "except", and the primary key if it serves.  The column of the mark is part of
 * none.
 */
List	   *
simhash_guard_find_keys(const GuardTrigger *guard, Relation relation,
						const AttrMap *map)
{
	const GuardArguments *arguments = &guard->arguments;
	List	   *keys = NIL;
	bool		found = arguments->excepted == NULL;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(relation))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		bool		named = arguments->except != NIL &&
		has_columns(index, arguments->except, map);

		if ((named || index->rd_index->indisprimary) &&
			is_unique_at_once(relation, index, arguments->mark))
		{
			found |= named;
			keys = lappend(keys, make_guard_key(index));
		}
		index_close(index, NoLock);
	}
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("trigger \"%s\": there is no unique key (%s) of table \"%s\" for the option \"except\"",
						guard->near.name, arguments->excepted,
						RelationGetRelationName(relation)),
				 errhint("It takes the columns of a unique index or constraint that is not deferrable, and has no predicate, expressions, or generated columns.")));
	return keys;
}

/*
 * Is a row with a key of the one that is inserted there?  If we may wait, it is one
 * that keeps its key until our transaction is over.
 */
bool
simhash_guard_key_is_there(List *keys, Relation relation, HeapTuple row,
						   bool wait)
{
	ListCell   *lc;

	foreach(lc, keys)
	{
		GuardKey   *key = lfirst(lc);
		NearPending pending;
		bool		isnull = false;

		for (int i = 0; i < key->ncolumns && !isnull; i++)
			key->conditions[i].sk_argument =
				heap_getattr(row, key->columns[i], RelationGetDescr(relation),
							 &isnull);
		while (!isnull && simhash_near_look_up(relation, key->index,
											   key->ncolumns,
											   key->conditions, &pending))
		{
			CHECK_FOR_INTERRUPTS();
			if (!wait || (!TransactionIdIsValid(pending.xid) &&
						  !ItemPointerIndicatesMovedPartitions(&pending.tid) &&
						  simhash_near_hold_row(relation, &pending, false)))
				return true;
			simhash_near_wait(&pending);
		}
	}
	return false;
}

/*
 * Look for the row whose primary key is a value of that type, as "pending" says then.
 * False if keys of the table are of another type, or of several columns.
 */
bool
simhash_guard_find_key(Relation relation, Oid type, Datum value, NearPending *pending)
{
	Oid			oid = RelationGetPrimaryKeyIndex(relation, true);
	Relation	index;
	GuardKey   *key = NULL;

	if (!OidIsValid(oid))
		return false;
	index = index_open(oid, AccessShareLock);
	if (index->rd_index->indnkeyatts == 1 && index->rd_rel->relam == BTREE_AM_OID &&
		IsBinaryCoercible(type, index->rd_opcintype[0]))
		key = make_guard_key(index);
	index_close(index, NoLock);
	if (key == NULL)
		return false;
	key->conditions[0].sk_argument = value;
	(void) simhash_near_look_up(relation, oid, 1, key->conditions, pending);
	return true;
}
