/*-------------------------------------------------------------------------
 *
 * components.c
 *		Clusters of what pairs connect, whichever way the pairs were found.
 *
 * simhash_clusters makes clusters by fingerprints.  Here a query says which
 * rows belong together: pairs whose documents have been compared, say, or
 * that were found by two fingerprints.  apart.c has series of keys made so.
 * Ids that are no whole numbers are numbered as groups are (row_groups.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "search/search.h"

/* An id, in a tree of ids that pairs connect; its root is the lowest of them. */
typedef struct Member
{
	int64		id;				/* the key of a hash table: a whole number, or
								 * that of an id of another type */
	struct Member *parent;		/* the root's is itself */
	Datum		value[FLEXIBLE_ARRAY_MEMBER];	/* that id of another type */
} Member;

/* All ids. */
typedef struct Components
{
	Oid			id_type;		/* that they are to have */
	Oid			types[2];		/* of the ids in the query */
	HTAB	   *members;
	MemoryContext context;		/* of all these */

	/* of ids that are no whole numbers */
	SimhashGroups *numbers;		/* or else NULL */
	SortSupportData order;
} Components;

/* Memory for an id: what the table takes, and the list of all in the end. */
#define MEMBER_BYTES(components) \
	(offsetof(Member, value) + 24 + sizeof(Member *) + \
	 ((components)->numbers == NULL ? 0 : sizeof(Datum)))

PG_FUNCTION_INFO_V1(simhash_components);

/* The member that an id of that type is, which is entered if it is new. */
static Member *
enter_id(Components *components, Datum value, Oid type)
{
	bool		found;
	Size		n = (Size) hash_get_num_entries(components->members) + 1;
	Size		bytes = n * MEMBER_BYTES(components);
	const Datum *known = NULL;
	int64		id = components->numbers == NULL ? simhash_integer(value, type) :
	simhash_group_of(components->numbers, &value, &known);
	Member	   *member = hash_search(components->members, &id, HASH_ENTER,
									 &found);

	if (found)
		return member;
	if (known != NULL)
	{
		member->value[0] = *known;
		bytes += (Size) simhash_groups_bytes(components->numbers);
	}
	if (n > SH_PAIRS_ROWS || bytes > (Size) maintenance_work_mem * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("the ids of the pairs do not fit into maintenance_work_mem"),
				 errdetail("An id takes %d bytes.", (int) (bytes / n)),
				 errhint("Increase maintenance_work_mem.")));
	member->parent = member;
	return member;
}

/* The order of two ids. */
static int
compare_ids(Components *components, const Member *a, const Member *b)
{
	if (components->numbers != NULL)
		return components->order.comparator(a->value[0], b->value[0], &components->order);
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The root of a member; the way there is made shorter. */
static Member *
root_of(Member *member)
{
	while (member->parent != member)
		member = member->parent = member->parent->parent;
	return member;
}

/* SimhashRowReader.columns: two ids, which are whole numbers or of the type wanted. */
static void
check_id_columns(void *context, TupleDesc desc)
{
	Components *components = context;
	bool		whole = components->id_type == INT8OID;
	bool		good = desc->natts >= 2;

	for (int i = 0; i < 2 && good; i++)
	{
		Oid			type = TupleDescAttr(desc, i)->atttypid;

		if (type != components->id_type)
			type = getBaseType(type);
		components->types[i] = type;
		good = type == components->id_type || (whole && (type == INT4OID || type == INT2OID));
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the query must yield two ids, of type %s", whole ? "bigint or integer" :
						format_type_be(components->id_type)),
				 errhint("For example, 'SELECT a, b FROM pairs'; simhash_components_as(NULL::uuid, ...) takes ids of another type.")));
	if (!whole)
	{
		simhash_begin_id_order(&components->order, components->id_type, components->context);
		components->numbers = simhash_groups_begin(desc, bms_add_range(NULL, 1, desc->natts - 1),
												   components->context);
	}
}

/*
 * SimhashRowReader.row: a pair connects its ids.  An id beside a NULL is
 * connected to nothing.
 */
static void
connect_pair(void *context, TupleTableSlot *slot)
{
	Components *components = context;
	Member	   *roots[2] = {NULL, NULL};

	for (int i = 0; i < 2; i++)
	{
		if (!slot->tts_isnull[i])
			roots[i] = root_of(enter_id(components, slot->tts_values[i],
										components->types[i]));
	}
	if (roots[0] == NULL || roots[1] == NULL)
		return;
	if (compare_ids(components, roots[0], roots[1]) < 0)
		roots[1]->parent = roots[0];
	else
		roots[0]->parent = roots[1];
}

/* For qsort_arg: by cluster, then by id. */
static int
compare_members(const void *a, const void *b, void *arg)
{
	Member	   *x = *(Member *const *) a;
	Member	   *y = *(Member *const *) b;
	Member	   *p = root_of(x);
	Member	   *q = root_of(y);

	CHECK_FOR_INTERRUPTS();
	return p == q ? compare_ids(arg, x, y) : compare_ids(arg, p, q);
}

/* Read the ids that a query yields, which has been analyzed, two in a row. */
static void
read_ids(Components *components, const SimhashStatement *query)
{
	SimhashRowReader reader = {check_id_columns, connect_pair, components};
	Size		value = components->id_type == INT8OID ? 0 : sizeof(Datum);

	components->context = CurrentMemoryContext;
	components->members = simhash_make_hash("simhash components", 1024, sizeof(int64),
											offsetof(Member, value) + value,
											components->context);
	simhash_read(query, &reader);
}

/* The same of ids that are whole numbers. */
HTAB	   *
simhash_read_components(const SimhashStatement *query)
{
	Components	components = {.id_type = INT8OID};

	read_ids(&components, query);
	return components.members;
}

/* The lowest id of those that pairs connect with this one; false if it is in none. */
bool
simhash_find_component(HTAB *members, int64 id, int64 *lowest)
{
	Member	   *member = hash_search(members, &id, HASH_FIND, NULL);

	if (member != NULL)
		*lowest = root_of(member)->id;
	return member != NULL;
}

/* The ids by cluster; clusters are in the order of their lowest ids. */
static Member **
place_ids(Components *components, Size n)
{
	Member	  **placed = MemoryContextAllocHuge(CurrentMemoryContext,
												(n + 1) * sizeof *placed);
	HASH_SEQ_STATUS scan;

	hash_seq_init(&scan, components->members);
	for (Size i = 0; (placed[i] = hash_seq_search(&scan)) != NULL; i++)
		;
	qsort_arg(placed, n, sizeof *placed, compare_members, components);
	return placed;
}

/* The id that a member is. */
static Datum
id_of(const Components *components, const Member *member)
{
	return components->numbers == NULL ? Int64GetDatum(member->id) : member->value[0];
}

/* Put out the ids, cluster by cluster. */
static void
put_ids(Components *components, FunctionCallInfo fcinfo)
{
	Size		n = (Size) hash_get_num_entries(components->members);
	Member	  **placed = place_ids(components, n);
	int64		cluster = 0;
	Size		end;

	for (Size start = 0; start < n; start = end)
	{
		cluster++;
		for (end = start + 1; end < n &&
			 root_of(placed[end]) == root_of(placed[start]); end++)
			;
		for (Size i = start; i < end; i++)
		{
			Datum		values[4];
			bool		nulls[4] = {false};

			CHECK_FOR_INTERRUPTS();
			values[0] = id_of(components, placed[i]);
			values[1] = Int64GetDatum(cluster);
			values[2] = id_of(components, placed[start]);
			values[3] = Int64GetDatum((int64) (end - start));
			simhash_put_row(fcinfo, values, nulls);
		}
	}
}

/*
 * simhash_components(query text)
 *		-> setof (id bigint, cluster bigint, representative bigint,
 *		size bigint)
 * simhash_components_as(id_type anyelement, query text)
 *		-> setof (id anyelement, cluster bigint, representative anyelement,
 *		size bigint)
 *
 * The ids that the query yields, two in a row, in clusters: a cluster is all
 * that pairs connect.  Its representative is the lowest id.  An id beside a
 * NULL is connected to nothing by that row.  Further columns are not read.
 *
 * Errors: invalid_parameter_value (no SELECT), datatype_mismatch (no ids),
 * undefined_function (ids without order or hash), out_of_memory
 * (maintenance_work_mem), whatever the query raises.
 */
Datum
simhash_components(PG_FUNCTION_ARGS)
{
	SimhashStatement query = {
		.text = simhash_text_argument(fcinfo, PG_NARGS() - 1),
		.example = "SELECT a, b FROM pairs"
	};
	Components	components = {0};

	InitMaterializedSRF(fcinfo, 0);
	components.id_type = TupleDescAttr(((ReturnSetInfo *) fcinfo->resultinfo)->setDesc, 0)->atttypid;
	simhash_analyze(&query);
	read_ids(&components, &query);
	put_ids(&components, fcinfo);
	hash_destroy(components.members);
	return (Datum) 0;
}
