/*-------------------------------------------------------------------------
 *
 * components.c
 *		Clusters of what pairs connect, whichever way the pairs were found.
 *
 * simhash_clusters makes clusters by fingerprints.  Here a query says which
 * rows belong together: pairs whose documents have been compared, say, or
 * that were found by two fingerprints.  apart.c has series of keys made so.
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
	int64		id;				/* the key of a hash table */
	struct Member *parent;		/* the root's is itself */
} Member;

/* All ids. */
typedef struct Components
{
	Oid			types[2];		/* of the ids in the query */
	HTAB	   *members;
} Components;

/* Memory for an id: what the table takes, and the list of all in the end. */
#define MEMBER_BYTES	(sizeof(Member) + 24 + sizeof(Member *))

PG_FUNCTION_INFO_V1(simhash_components);

/* The member that an id is, which is entered if it is new. */
static Member *
enter_id(Components *components, int64 id)
{
	bool		found;
	Size		n = (Size) hash_get_num_entries(components->members);
	Member	   *member = hash_search(components->members, &id, HASH_ENTER,
									 &found);

	if (found)
		return member;
	if (n >= SH_PAIRS_ROWS ||
		(n + 1) * MEMBER_BYTES > (Size) maintenance_work_mem * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("the ids of the pairs do not fit into maintenance_work_mem"),
				 errdetail("An id takes %d bytes.", (int) MEMBER_BYTES),
				 errhint("Increase maintenance_work_mem.")));
	member->parent = member;
	return member;
}

/* The root of a member; the way there is made shorter. */
static Member *
root_of(Member *member)
{
	while (member->parent != member)
		member = member->parent = member->parent->parent;
	return member;
}

/* SimhashRowReader.columns: two ids, which are whole numbers. */
static void
check_id_columns(void *context, TupleDesc desc)
{
	Components *components = context;
	bool		good = desc->natts >= 2;

	for (int i = 0; i < 2 && good; i++)
	{
		Oid			type = getBaseType(TupleDescAttr(desc, i)->atttypid);

		components->types[i] = type;
		good = type == INT8OID || type == INT4OID || type == INT2OID;
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the query must yield two ids, of type bigint or integer"),
				 errhint("For example, 'SELECT a, b FROM pairs'.")));
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
			roots[i] = root_of(enter_id(components,
										simhash_integer(slot->tts_values[i],
														components->types[i])));
	}
	if (roots[0] == NULL || roots[1] == NULL)
		return;
	if (roots[0]->id < roots[1]->id)
		roots[1]->parent = roots[0];
	else
		roots[0]->parent = roots[1];
}

/* For qsort: by cluster, then by id. */
static int
compare_members(const void *a, const void *b)
{
	Member	   *x = *(Member *const *) a;
	Member	   *y = *(Member *const *) b;
	int64		p = root_of(x)->id;
	int64		q = root_of(y)->id;

	if (p == q)
		return x->id < y->id ? -1 : x->id > y->id;
	return p < q ? -1 : 1;
}

/* The ids that a query yields, which has been analyzed, two in a row. */
HTAB	   *
simhash_read_components(const SimhashStatement *query)
{
	Components	components;
	SimhashRowReader reader = {check_id_columns, connect_pair, &components};

	components.members = simhash_make_hash("simhash components", 1024,
										   sizeof(int64), sizeof(Member),
										   CurrentMemoryContext);
	simhash_read(query, &reader);
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
place_ids(HTAB *members, Size n)
{
	Member	  **placed = MemoryContextAllocHuge(CurrentMemoryContext,
												(n + 1) * sizeof *placed);
	HASH_SEQ_STATUS scan;

	hash_seq_init(&scan, members);
	for (Size i = 0; (placed[i] = hash_seq_search(&scan)) != NULL; i++)
		;
	qsort(placed, n, sizeof *placed, compare_members);
	return placed;
}

/* Put out the ids, cluster by cluster. */
static void
put_ids(HTAB *members, FunctionCallInfo fcinfo)
{
	Size		n = (Size) hash_get_num_entries(members);
	Member	  **placed = place_ids(members, n);
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
			values[0] = Int64GetDatum(placed[i]->id);
			values[1] = Int64GetDatum(cluster);
			values[2] = Int64GetDatum(placed[start]->id);
			values[3] = Int64GetDatum((int64) (end - start));
			simhash_put_row(fcinfo, values, nulls);
		}
	}
}

/*
 * simhash_components(query text)
 *		-> setof (id bigint, cluster bigint, representative bigint,
 *		size bigint)
 *
 * The ids that the query yields, two in a row, in clusters: a cluster is all
 * that pairs connect.  Its representative is the lowest id.  An id beside a
 * NULL is connected to nothing by that row.  Further columns are not read.
 *
 * Errors: invalid_parameter_value (no SELECT), datatype_mismatch (no ids),
 * out_of_memory (maintenance_work_mem), whatever the query raises.
 */
Datum
simhash_components(PG_FUNCTION_ARGS)
{
	SimhashStatement query = {
		.text = text_to_cstring(PG_GETARG_TEXT_PP(0)),
		.example = "SELECT a, b FROM pairs"
	};
	HTAB	   *members;

	InitMaterializedSRF(fcinfo, 0);
	simhash_analyze(&query);
	members = simhash_read_components(&query);
	put_ids(members, fcinfo);
	hash_destroy(members);
	return (Datum) 0;
}
