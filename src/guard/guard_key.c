/*-------------------------------------------------------------------------
 *
 * guard_key.c
 *		Rows that have the primary key of the row that is inserted, or its key
 *		in the columns of the option except=column,...: the two cannot both stay.
 *
 * INSERT ... ON CONFLICT (url) DO UPDATE calls BEFORE INSERT triggers before it
 * looks for a conflict.  The row that it is going to update is often near the
 * new one, and must not be the reason to refuse it.  So an inserted row
 * is not compared with the row of the same key.  That lets no near-duplicate
 * in: a unique index refuses the new row, or has the old one updated, and then
 * the guard is called for the update.
 *
 * But the old row must keep its key until then.  An update of the key alone is
 * not examined, and takes no locks of the guard.  So the old row is locked FOR
 * KEY SHARE, as a foreign key does it: nobody deletes the row or changes its
 * key before our transaction is over.  If a transaction is doing so already, we
 * wait for its end.
 *
 * No two rows may have equal keys in the index even for a while: so it must be
 * unique, not deferrable, valid, without predicate or expression.  Its columns
 * must have their values by now: none is generated, none is that of the mark.
 * It is an index of the table that the trigger was made for, so it spans all
 * of its partitions; as it has the columns by which they are told apart, the
 * row of the same key is in the same partition.
 *
 * Keys are compared as the index does it, by the equality of its operator
 * classes, which only superusers can create, and under its collations.  A NULL
 * is equal to nothing.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard_options.h"

#include "catalog/pg_index.h"

/* Columns that no two rows have equal. */
typedef struct GuardKey
{
	int			ncolumns;
	AttrNumber	columns[INDEX_MAX_KEYS];	/* in the guard's table */
	GuardEquality equalities[INDEX_MAX_KEYS];
} GuardKey;

/* The column of a table that stands in a column of a root's index. */
static AttrNumber
table_column(const AttrMap *map, Relation index, int i)
{
	AttrNumber	column = index->rd_index->indkey.values[i];

	return column <= 0 ? 0 : map->attnums[column - 1];
}

/* Does an index refuse each row whose key is there, at once? */
static bool
is_unique_at_once(Relation relation, const AttrMap *map, Relation index,
				  AttrNumber mark)
{
	Form_pg_index form = index->rd_index;

	if (index->rd_rel->relam != BTREE_AM_OID || !form->indisunique ||
		!form->indimmediate || !form->indisvalid ||
		!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return false;
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber	column = table_column(map, index, i);

		if (column == 0 || column == mark ||
			simhash_guard_attribute(relation, column)->attgenerated)
			return false;
	}
	return true;
}

/* Are the columns of an index these, in any order? */
static bool
has_columns(Relation index, List *columns)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		if (!list_member_int(columns, index->rd_index->indkey.values[i]))
			return false;
	}
	return list_length(columns) == index->rd_index->indnkeyatts;
}

/* The key that a unique index of the root is for the rows of a table. */
static GuardKey *
make_guard_key(const AttrMap *map, Relation index)
{
	GuardKey   *key = palloc(sizeof *key);

	key->ncolumns = index->rd_index->indnkeyatts;
	for (int i = 0; i < key->ncolumns; i++)
	{
		Oid			type = index->rd_opcintype[i];
		Oid			operator = get_opfamily_member(index->rd_opfamily[i], type,
												   type, BTEqualStrategyNumber);

		key->columns[i] = table_column(map, index, i);
		key->equalities[i].collation = index->rd_indcollation[i];
		fmgr_info(get_opcode(operator), &key->equalities[i].equals);
	}
	return key;
}

/*
 * Find the keys of a table, which no two rows have equal: that of the option
 * "except", columns of the root, and the primary key if it serves.  The column
 * of the mark is part of none.
 */
List	   *
simhash_guard_find_keys(const GuardTrigger *guard, Relation relation,
						const AttrMap *map)
{
	const GuardArguments *arguments = &guard->arguments;
	Relation	root = table_open(guard->guard.statement->space.root,
								  AccessShareLock);
	List	   *keys = NIL;
	bool		found = arguments->excepted == NULL;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(root))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		bool		named = arguments->except != NIL &&
		has_columns(index, arguments->except);

		if ((named || index->rd_index->indisprimary) &&
			is_unique_at_once(relation, map, index, arguments->mark))
		{
			found |= named;
			keys = lappend(keys, make_guard_key(map, index));
		}
		index_close(index, NoLock);
	}
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("trigger \"%s\": there is no unique key (%s) of table \"%s\" for the option \"except\"",
						guard->guard.name, arguments->excepted,
						RelationGetRelationName(root)),
				 errhint("It takes the columns of a unique index or constraint that is not deferrable, and has no predicate, expressions, or generated columns.")));
	table_close(root, NoLock);
	return keys;
}

/* Do two rows have the same key? */
static bool
has_same_key(GuardKey *key, HeapTuple row, TupleTableSlot *slot)
{
	for (int i = 0; i < key->ncolumns; i++)
	{
		bool		isnull;
		bool		othernull;
		Datum		value = heap_getattr(row, key->columns[i],
										 slot->tts_tupleDescriptor, &isnull);
		Datum		other = slot_getattr(slot, key->columns[i], &othernull);

		if (isnull || othernull ||
			!simhash_guard_equal(&key->equalities[i], value, other))
			return false;
	}
	return true;
}

/* Does a row found, of the same table, have a key of the inserted row? */
bool
simhash_guard_same_key(List *keys, HeapTuple inserted, TupleTableSlot *slot)
{
	ListCell   *lc;

	foreach(lc, keys)
	{
		if (has_same_key(lfirst(lc), inserted, slot))
			return true;
	}
	return false;
}

/*
 * Lock a row so that it keeps its key until the end of the transaction,
 * waiting for others if "wait" says so.  A row that our own command has
 * inserted needs no lock.
 */
TM_Result
simhash_guard_hold_key(Relation relation, ItemPointer tid, bool wait)
{
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	TM_FailureData failure;
	TM_Result	result = table_tuple_lock(relation, tid, SnapshotAny, slot,
										  GetCurrentCommandId(false),
										  LockTupleKeyShare,
										  wait ? LockWaitBlock : LockWaitSkip,
										  0, &failure);

	ExecDropSingleTupleTableSlot(slot);
	return result == TM_Invisible ? TM_Ok : result;
}
