/*-------------------------------------------------------------------------
 *
 * row_groups.c
 *		The groups that a report is confined to: rows that are equal in the
 *		columns of the query after the fingerprint.
 *
 * Groups are numbered as they come.  Columns are compared as by GROUP BY:
 * with the default operator class of their type, which only a superuser can
 * make, and with their collation.  A row with a NULL is in a group of its
 * own, since it equals no row.
 *
 * A hash table holds each group once, with a copy of its values.  It is needed
 * only while rows are read.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "common/hashfn.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/typcache.h"

#include "search/search.h"

/* A column of groups. */
typedef struct GroupColumn
{
	int			place;			/* in the query, from 0 on */
	TypeCacheEntry *type;
	Oid			collation;
} GroupColumn;

/* A group that has been met. */
typedef struct KnownGroup
{
	const Datum *values;
	uint32		hash;
	uint32		number;
	char		status;			/* of the place in the table */
} KnownGroup;

struct groups_hash;

struct SimhashGroups
{
	int			n;				/* columns */
	GroupColumn *columns;
	Datum	   *row;			/* the values of the row that is looked at */
	uint32		count;			/* groups so far */
	struct groups_hash *table;
	MemoryContext context;		/* of all these */
	MemoryContext scratch;		/* of one row */
};

/* The hash of the values of a row, combined as those of several keys are. */
static uint32
hash_values(SimhashGroups *groups, const Datum *values)
{
	uint32		hash = 0;

	for (int i = 0; i < groups->n; i++)
	{
		GroupColumn *column = &groups->columns[i];

		hash = pg_rotate_left32(hash, 1) ^
			simhash_hash(&column->type->hash_proc_finfo, column->collation, values[i]);
	}
	return murmurhash32(hash);
}

/* Are the values of two rows equal? */
static bool
equal_values(SimhashGroups *groups, const Datum *a, const Datum *b)
{
	for (int i = 0; i < groups->n; i++)
	{
		GroupColumn *column = &groups->columns[i];

		if (!DatumGetBool(FunctionCall2Coll(&column->type->eq_opr_finfo,
											column->collation, a[i], b[i])))
			return false;
	}
	return true;
}

#define SH_PREFIX groups
#define SH_ELEMENT_TYPE KnownGroup
#define SH_KEY_TYPE const Datum *
#define SH_KEY values
#define SH_HASH_KEY(table, key) hash_values((table)->private_data, key)
#define SH_EQUAL(table, a, b) equal_values((table)->private_data, a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, group) (group)->hash
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Prepare to compare the values of a column; fail if that cannot be done. */
static void
begin_column(GroupColumn *column, Form_pg_attribute attribute)
{
	TypeCacheEntry *type = lookup_type_cache(attribute->atttypid,
											 TYPECACHE_EQ_OPR_FINFO |
											 TYPECACHE_HASH_PROC_FINFO);

	if (!OidIsValid(type->eq_opr_finfo.fn_oid) ||
		!OidIsValid(type->hash_proc_finfo.fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("cannot group rows by a column of type %s",
						format_type_be(attribute->atttypid)),
				 errdetail("Rows are grouped by column \"%s\" of the query, but its type has no default operator class for hashing.",
						   NameStr(attribute->attname)),
				 errhint("Leave the column out, or have the query cast it to another type, such as text.")));
	if (!simhash_can_hash(attribute->atttypid, attribute->attcollation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot group rows by a column of type %s",
						format_type_be(attribute->atttypid)),
				 errdetail("Values of column \"%s\" of the query may be equal and have different hashes, as char(n) and name in arrays and rows under a nondeterministic collation.",
						   NameStr(attribute->attname)),
				 errhint("Have the query return its parts as columns, or cast it to text.")));
	column->type = type;
	column->collation = attribute->attcollation;
}

/*
 * Begin to number the groups of rows of a query, by its columns but for others
 * that are none of groups.  All memory is in a child of the given context.
 */
SimhashGroups *
simhash_groups_begin(TupleDesc desc, const Bitmapset *others,
					 MemoryContext parent)
{
	MemoryContext context = AllocSetContextCreate(parent, "simhash groups",
												  ALLOCSET_DEFAULT_SIZES);
	SimhashGroups *groups = MemoryContextAllocZero(context, sizeof *groups);

	groups->context = context;
	groups->scratch = AllocSetContextCreate(context, "simhash group",
											ALLOCSET_DEFAULT_SIZES);
	groups->columns = MemoryContextAllocZero(context, (Size) desc->natts *
											 sizeof *groups->columns);
	groups->row = MemoryContextAlloc(context, (Size) desc->natts *
									 sizeof *groups->row);
	for (int i = 0; i < desc->natts; i++)
	{
		if (bms_is_member(i, others))
			continue;
		groups->columns[groups->n].place = i;
		begin_column(&groups->columns[groups->n++], TupleDescAttr(desc, i));
	}
	groups->table = groups_create(context, 1024, groups);
	return groups;
}

/* A copy of the values of a row, for as long as the groups last. */
static const Datum *
copy_values(SimhashGroups *groups, const Datum *values)
{
	MemoryContext old = MemoryContextSwitchTo(groups->context);
	Datum	   *copy = palloc((Size) groups->n * sizeof *copy);

	for (int i = 0; i < groups->n; i++)
	{
		const TypeCacheEntry *type = groups->columns[i].type;

		if (type->typlen == -1)
			copy[i] = PointerGetDatum(PG_DETOAST_DATUM_COPY(values[i]));
		else
			copy[i] = datumCopy(values[i], type->typbyval, type->typlen);
	}
	MemoryContextSwitchTo(old);
	return copy;
}

/* The number of the group of such values, of which *known is a copy that stays. */
uint32
simhash_group_of(SimhashGroups *groups, const Datum *values, const Datum **known)
{
	MemoryContext old = MemoryContextSwitchTo(groups->scratch);
	bool		found;
	KnownGroup *group = groups_insert(groups->table, values, &found);

	if (!found)
	{
		group->values = copy_values(groups, values);
		group->number = groups->count++;
	}
	*known = group->values;
	MemoryContextSwitchTo(old);
	MemoryContextReset(groups->scratch);
	return group->number;
}

/*
 * The number of a row's group, and whether the row is alone in it by a NULL, as its
 * fingerprint may be.
 */
uint32
simhash_group_number(SimhashGroups *groups, TupleTableSlot *slot, bool *alone)
{
	const Datum *known;

	*alone = slot->tts_isnull[1];
	for (int i = 0; i < groups->n; i++)
	{
		int			place = groups->columns[i].place;

		*alone = *alone || slot->tts_isnull[place];
		groups->row[i] = slot->tts_values[place];
	}
	return *alone ? groups->count++ : simhash_group_of(groups, groups->row, &known);
}

/* The memory that groups take. */
int64
simhash_groups_bytes(const SimhashGroups *groups)
{
	return (int64) MemoryContextMemAllocated(groups->context, false);
}

/* Free all that was needed to give numbers. */
void
simhash_groups_end(SimhashGroups *groups)
{
	if (groups != NULL)
		MemoryContextDelete(groups->context);
}
