/*-------------------------------------------------------------------------
 *
 * hamming_columns.c
 *		The columns of a hamming index: one has fingerprints, the others divide
 *		the rows into groups.
 *
 * An index on (site, fp) finds near-duplicates within a site.  It stores, in
 * place of the fingerprint, the exclusive or of the fingerprint and a hash of
 * the site, the shift of the group.  All fingerprints of a group are moved by
 * the same shift, so distances among them stay what they are, and a search
 * within the group is one for the query moved likewise:
 *
 *		site	fp			shift		stored
 *		a		...0000		...1010		...1010
 *		a		...0001		...1010		...1011		1 away from the first
 *		b		...0001		...0110		...0111		anywhere
 *
 * Fingerprints of another group are moved by another shift, and lie as if at
 * random.  Some lie near by chance, or because two groups share a hash; so
 * every match is rechecked in the table.  Nothing else of the index has to know
 * of groups.
 *
 * A row that is NULL in one of the other columns is moved by what the rest of
 * them say.  No condition by = holds for it, and no exclusion constraint: it is
 * met by scans that do not know the group, and by chance.
 *
 * The shift is part of what an index file says.  It is made of the values that
 * the 64-bit hash functions of PostgreSQL's types yield for the seed
 * GROUP_SEED, which stay the same from version to version, as hash partitions
 * rely on it too (but for what group_hash.c says).  They are mixed in the order
 * of the columns.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/hamming.h"

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#define GROUP_SEED	INT64CONST(0x73696d68617368)

/* May a column have the fingerprints?  Its class has no hash of them. */
static inline bool
may_be_fingerprint(Relation index, int column)
{
	return !OidIsValid(index_getprocid(index, column + 1, HAMMING_HASH_PROC));
}

/* How many columns may have the fingerprints. */
static int
count_fingerprint_columns(Relation index)
{
	int			count = 0;

	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
		count += may_be_fingerprint(index, i);
	return count;
}

/* Does the exclusion constraint of an index, if any, compare a column by =? */
static bool
is_excluded_by_equality(Relation index, int column)
{
	Oid		   *operators;
	Oid		   *functions;
	uint16	   *strategies;
	bool		result;

	if (!index->rd_index->indisexclusion)
		return false;
	RelationGetExclusionInfo(index, &operators, &functions, &strategies);
	result = strategies[column] == SIMHASH_EQUAL_STRATEGY;
	pfree(operators);
	pfree(functions);
	pfree(strategies);
	return result;
}

/*
 * The column of fingerprints, from 0 on; the others are compared by =.  It is
 * the one whose class is for fingerprints.  A bigint may be a fingerprint or a
 * number that names a group, and the class for fingerprints is the default for
 * both.  Where several columns have it, it is the one that the exclusion
 * constraint does not compare by =; of an index without a constraint, one that
 * is no bigint, or else the last.  So an index on (tenant, fp) stays what it is
 * when tenant becomes a bigint, for which PostgreSQL makes it anew with the
 * class that is the default then.  -1 if there is not exactly one.
 */
int
hamming_fingerprint_column(Relation index)
{
	int			columns = index->rd_index->indnkeyatts;
	bool		several;
	int			found = -1;

	if (columns == 1)
		return 0;
	several = count_fingerprint_columns(index) > 1;
	for (int i = 0; i < columns; i++)
	{
		bool		is_bigint = index->rd_opcintype[i] == INT8OID;

		if (!may_be_fingerprint(index, i) ||
			(several && is_excluded_by_equality(index, i)))
			continue;
		if (found < 0)
			found = i;
		else if (index->rd_index->indisexclusion)
			return -1;
		else if (index->rd_opcintype[found] == INT8OID)
			found = i;
		else if (!is_bigint)
			return -1;
	}
	return found;
}

/*
 * The expression that a column of an index, from 0 on, is; as it is stored.
 * Those that the server has at hand for the planner
 * (RelationGetIndexExpressions) are simplified, and that calls immutable
 * functions with constant arguments, which are code of the table's owner.
 * Besides, what they say of a type depends on which functions could be inlined.
 */
Node	   *
hamming_column_expression(Relation index, int column)
{
	int			before = 0;
	bool		isnull;
	Datum		stored = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
										 Anum_pg_index_indexprs, &isnull);

	for (int i = 0; i < column; i++)
		before += index->rd_index->indkey.values[i] == InvalidAttrNumber;
	return list_nth(stringToNode(TextDatumGetCString(stored)), before);
}

/*
 * The type of a column of an index, from 0 on, in the table; of a domain, that
 * which it is made of.
 */
Oid
hamming_column_type(Relation index, int column)
{
	AttrNumber	number = index->rd_index->indkey.values[column];

	return getBaseType(number != InvalidAttrNumber
					   ? get_atttype(index->rd_index->indrelid, number)
					   : exprType(hamming_column_expression(index, column)));
}

/* Fail if a column has a type whose hashes do not agree with its equality. */
static void
check_hash(Relation index, int column)
{
	Oid			type = hamming_column_type(index, column);

	if (!may_be_fingerprint(index, column) &&
		!simhash_can_hash(type, index->rd_indcollation[column]))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column %d of index \"%s\" may have equal values with different hashes",
						column + 1, RelationGetRelationName(index)),
				 errdetail("So it is with char(n) and name within type %s under a nondeterministic collation.",
						   format_type_be(type))));
}

/*
 * Say so if = of a column's type is not the = that the index knows: then the
 * class is that of another type which has the same bytes, as text is for citext.
 */
static void
notice_equality(Relation index, int column)
{
	Oid			type = hamming_column_type(index, column);
	Oid			equality = lookup_type_cache(type,
											 TYPECACHE_EQ_OPR)->eq_opr;

	if (may_be_fingerprint(index, column) ||
		type == index->rd_opcintype[column] ||
		op_in_opfamily(equality, index->rd_opfamily[column]))
		return;
	ereport(NOTICE,
			(errmsg("index \"%s\" does not serve = of type %s, which column %d has",
					RelationGetRelationName(index),
					format_type_be_qualified(type), column + 1),
			 errdetail("It compares by = of type %s.",
					   format_type_be(index->rd_opcintype[column])),
			 errhint("Index an expression that makes equal values the same, such as lower(name), and compare that.")));
}

/*
 * Fail unless an index is on one column of fingerprints and others that are
 * compared by =, of classes that the index can work with.  Only superusers make
 * classes, but they may err: a class for a type of another kind would have its
 * values taken for pointers.
 */
void
hamming_check_columns(Relation index)
{
	int			fingerprint;

	/* Is the index being made, and not filled anew by TRUNCATE or REINDEX? */
	bool		new = index->rd_createSubid != InvalidSubTransactionId ||
	!index->rd_index->indisvalid;

	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		if (!hamming_validate(get_index_column_opclass(RelationGetRelid(index),
													   i + 1)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
					 errmsg("operator class of column %d of index \"%s\" is not one for access method hamming",
							i + 1, RelationGetRelationName(index)),
					 errhint("Use a class of this extension for fingerprints, and for other columns the default class of their type.")));
	}
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		check_hash(index, i);
		if (new)
			notice_equality(index, i);
	}
	fingerprint = hamming_fingerprint_column(index);
	if (count_fingerprint_columns(index) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("index \"%s\" has no column of fingerprints",
						RelationGetRelationName(index)),
				 errhint("One column has to be a fingerprint, of type bigint or bit(n), or a ball. To index documents, index their fingerprint, as in (minhash(body)).")));
	if (fingerprint < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("index \"%s\" has several columns that may be the fingerprint",
						RelationGetRelationName(index)),
				 index->rd_index->indisexclusion
				 ? errhint("Compare exactly one column of fingerprints by ~=, and others by =.")
				 : errhint("An index may have one column of balls or bit strings.")));
	if (count_fingerprint_columns(index) > 1 &&
		index->rd_opcintype[fingerprint] == INT8OID &&
		!index->rd_index->indisexclusion && new)
		ereport(NOTICE,
				(errmsg("index \"%s\" takes column %d for the fingerprint, and compares the others by =",
						RelationGetRelationName(index), fingerprint + 1),
				 errhint("Give each other column of type bigint a class that says so, as in (tenant_id int8_equal_ops, fp).")));
}

/* The function that hashes values of a type to which a column is compared. */
static FmgrInfo *
hash_function(Relation index, int column, Oid type, FmgrInfo *room)
{
	Oid			function;

	if (type == index->rd_opcintype[column])
		return index_getprocinfo(index, column + 1, HAMMING_HASH_PROC);
	function = get_opfamily_proc(index->rd_opfamily[column], type, type,
								 HAMMING_HASH_PROC);
	if (!OidIsValid(function))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("operator family of column %d of index \"%s\" has no hash function for type %s",
						column + 1, RelationGetRelationName(index),
						format_type_be(type))));
	fmgr_info(function, room);
	return room;
}

/*
 * The hash of a value to which a column is compared by =.  The type is that of
 * the value, or InvalidOid for the column's own.
 */
static uint64
hash_value(Relation index, int column, Datum value, Oid type)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext scratch = NULL;
	FmgrInfo	room;
	uint64		hash;

	if (!OidIsValid(type))
		type = index->rd_opcintype[column];

	/*
	 * Of values that are passed by reference copies may be left behind, and
	 * the hash itself is one where a bigint is.
	 */
	if (!FLOAT8PASSBYVAL || !get_typbyval(type))
	{
		scratch = AllocSetContextCreate(old, "hamming group",
										ALLOCSET_SMALL_SIZES);
		MemoryContextSwitchTo(scratch);
	}
	if (may_be_fingerprint(index, column))
		hash = DatumGetUInt64(DirectFunctionCall2(hashint8extended,
												  Int64GetDatum(simhash_integer(value, type)),
												  Int64GetDatum(GROUP_SEED)));
	else
		hash = simhash_hash_extended(hash_function(index, column, type, &room),
									 index->rd_indcollation[column], value,
									 GROUP_SEED);
	MemoryContextSwitchTo(old);
	if (scratch != NULL)
		MemoryContextDelete(scratch);
	return hash;
}

/*
 * Add the value of one more column to the shift of a group; the first is added
 * to 0 (the mixing is that of SplitMix64: Steele, Lea and Flood 2014).
 */
uint64
hamming_add_to_shift(uint64 shift, Relation index, int column, Datum value,
					 Oid type)
{
	shift ^= hash_value(index, column, value, type);
	return sh_mix(shift + SH_SCRAMBLE);
}
