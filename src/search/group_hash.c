/*-------------------------------------------------------------------------
 *
 * group_hash.c
 *		Hashes of values that are compared by =, to tell groups of rows apart.
 *
 * Values that are equal must have the same hash.  PostgreSQL's functions keep
 * to that, but for two, under a nondeterministic collation: that of name takes
 * no account of the collation, and that of char(n) counts trailing blanks up to
 * version 15, where the comparison leaves them out.  So values of both types
 * are hashed as text here, those of char(n) without the blanks.  For example,
 * under a collation that takes no account of case 'Ab' and 'aB    ' of type
 * char(6) are hashed as 'Ab' and 'aB', which have one hash.  Under any other
 * collation the hashes are those of the types' own functions, in each version
 * of PostgreSQL.
 *
 * Within arrays, rows and ranges the functions of these types are called by
 * others, and yield what they do; simhash_can_hash() knows.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"

#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/*
 * Make a text of a name or a char(n), as the hash function tells; false for
 * values of other types.
 */
static bool
as_hashed_text(Oid function, Datum *value)
{
	BpChar	   *padded;

	switch (function)
	{
		case F_HASHNAME:
		case F_HASHNAMEEXTENDED:
			*value = CStringGetTextDatum(NameStr(*DatumGetName(*value)));
			return true;
		case F_HASHBPCHAR:
		case F_HASHBPCHAREXTENDED:
			padded = DatumGetBpCharPP(*value);
			*value = PointerGetDatum(cstring_to_text_with_len(VARDATA_ANY(padded),
															  bpchartruelen(VARDATA_ANY(padded),
																			VARSIZE_ANY_EXHDR(padded))));
			return true;
		default:
			return false;
	}
}

/*
 * Hash a value by the hash function of its type.  Copies of it may be left in
 * the memory context.
 */
uint32
simhash_hash(FmgrInfo *function, Oid collation, Datum value)
{
	if (as_hashed_text(function->fn_oid, &value))
		return DatumGetUInt32(DirectFunctionCall1Coll(hashtext, collation,
													  value));
	return DatumGetUInt32(FunctionCall1Coll(function, collation, value));
}

/* The same by the hash function of 64 bits, with a seed. */
uint64
simhash_hash_extended(FmgrInfo *function, Oid collation, Datum value,
					  int64 seed)
{
	if (as_hashed_text(function->fn_oid, &value))
		return DatumGetUInt64(DirectFunctionCall2Coll(hashtextextended,
													  collation, value,
													  Int64GetDatum(seed)));
	return DatumGetUInt64(FunctionCall2Coll(function, collation, value,
											Int64GetDatum(seed)));
}

/* Do equal values of a type have one hash, within a value of another type? */
static bool
can_hash_part(Oid type, Oid collation)
{
	type = getBaseType(type);
	if (type == NAMEOID || type == BPCHAROID)
		return !OidIsValid(collation) ||
			get_collation_isdeterministic(collation);
	return simhash_can_hash(type, collation);
}

/* The same of all columns of a row. */
static bool
can_hash_row(Oid type)
{
	TupleDesc	desc;
	bool		fine = true;

	/* What is in a row of no declared type only the row itself knows. */
	if (type == RECORDOID)
		return false;
	desc = lookup_rowtype_tupdesc(type, -1);
	for (int i = 0; fine && i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		fine = attribute->attisdropped ||
			can_hash_part(attribute->atttypid, attribute->attcollation);
	}
	ReleaseTupleDesc(desc);
	return fine;
}

/*
 * Do equal values of a type that has a hash function have one hash, under a
 * collation?
 */
bool
simhash_can_hash(Oid type, Oid collation)
{
	Oid			part;

	check_stack_depth();
	type = getBaseType(type);
	part = get_element_type(type);
	if (OidIsValid(part))
		return can_hash_part(part, collation);
	if (type_is_multirange(type))
		type = get_multirange_range(type);
	if (type_is_range(type))
		return can_hash_part(get_range_subtype(type),
							 get_range_collation(type));
	return !type_is_rowtype(type) || can_hash_row(type);
}
