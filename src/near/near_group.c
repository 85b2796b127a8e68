/*-------------------------------------------------------------------------
 *
 * near_group.c
 *		The option within=column,... of simhash_guard(): groups of rows, such
 *		as those of one site, each of which is guarded by itself.
 *
 * Two rows are of one group if they are equal in all columns that the option
 * names, by the equality that the type of the column has by default and under
 * the collation of the column, as in a unique index.  A row with a NULL among
 * them is of no group, so it has no near-duplicates.
 *
 * For example, with within=site,lang the rows ('a.example', 'en', 0) and
 * ('a.example', 'de', 0) may both stay, while ('a.example', 'en', 1) is a
 * near-duplicate of the first.
 *
 * Equality is found by the type alone: it is that of the default operator
 * class, which only superusers can create.  No name is looked up, so no
 * operator or cast that the owner of a table has planted can take its place.
 *
 * The locks of a row (near_lock.c) follow from its group, so that sessions
 * with rows of different groups do not wait for each other.  Rows that come
 * through different guards of one fingerprint must meet, too, say one within
 * site,lang and one within site.  What is a near-duplicate for either of them
 * has the same site.  So locks follow from the columns that all guards of the
 * fingerprint have in common.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "common/hashfn.h"
#include "utils/typcache.h"

/* Find out how the values of the columns of a group are compared. */
void
simhash_near_bind_group(NearColumn *group, Relation relation, int n,
						const AttrNumber *columns)
{
	for (int i = 0; i < n; i++)
	{
		Form_pg_attribute attribute = simhash_near_attribute(relation,
															 columns[i]);
		TypeCacheEntry *type = lookup_type_cache(getBaseType(attribute->atttypid),
												 TYPECACHE_EQ_OPR |
												 TYPECACHE_HASH_PROC);

		if (!OidIsValid(type->eq_opr))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("could not identify an equality operator for type %s",
							format_type_be(attribute->atttypid)),
					 errdetail("Column \"%s\" of relation \"%s\" cannot tell groups of rows apart.",
							   NameStr(attribute->attname),
							   RelationGetRelationName(relation)),
					 errhint("The option \"within\" takes columns of types that have a default operator class for btree or hash.")));
		group[i].column = columns[i];
		group[i].operator = type->eq_opr;
		group[i].equality.collation = attribute->attcollation;
		group[i].in_locks = true;
		fmgr_info(get_opcode(type->eq_opr), &group[i].equality.equals);
		group[i].hash.fn_oid = InvalidOid;
		if (OidIsValid(type->hash_proc) &&
			simhash_can_hash(attribute->atttypid, attribute->attcollation))
			fmgr_info(type->hash_proc, &group[i].hash);
	}
}

/* Are two values of a column, not NULL, equal? */
bool
simhash_near_equal(NearEquality *equality, Datum value, Datum other)
{
	return DatumGetBool(FunctionCall2Coll(&equality->equals,
										  equality->collation, value, other));
}

/* Is a row, with the group in these columns, of the group of our row? */
bool
simhash_near_is_of_group(const NearSearch *search, const AttrNumber *columns,
						 TupleTableSlot *slot)
{
	for (int i = 0; i < search->space->terms.ngroup; i++)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, columns[i], &isnull);

		if (isnull || !simhash_near_equal(&search->space->group[i].equality,
										  search->group[i], value))
			return false;
	}
	return true;
}

/*
 * A number for the group of a row as far as it matters to locks, whatever
 * order its columns are named in.  Groups that happen to share a number wait
 * for each other more than they need to, as do all groups that differ in
 * columns of types that cannot be hashed.
 */
uint64
simhash_near_group_hash(const NearSpace *space, const Datum *values)
{
	uint64		hash = 0;

	for (int i = 0; i < space->terms.ngroup; i++)
	{
		NearColumn *column = &space->group[i];

		if (column->in_locks && OidIsValid(column->hash.fn_oid))
			hash += hash_combine64(column->column,
								   simhash_hash(&column->hash,
												column->equality.collation,
												values[i]));
	}
	return hash;
}
