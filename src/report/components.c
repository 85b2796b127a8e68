/*-------------------------------------------------------------------------
 *
 * components.c
 *		Clusters of what pairs connect, whichever way the pairs were found.
 *
 * simhash_clusters makes clusters by fingerprints.  Here a query says which
 * rows belong together: pairs that were verified, say, or found by two
 * fingerprints.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/tuplestore.h"

#define FETCHED			10000	/* pairs fetched at a time */

/* Memory for an id: its member, what the table adds, its place in the list. */
#define MEMBER_BYTES	(sizeof(Member) + 24 + sizeof(Member *))

/* An id, and the way to the lowest one of its cluster. */
typedef struct Member
{
	int64		id;				/* the key of a hash table */
	struct Member *parent;		/* itself if it is the lowest */
	int64		size;			/* of the lowest: ids of its cluster */
} Member;

PG_FUNCTION_INFO_V1(simhash_components);

/* The lowest member of the cluster of one.  The way there becomes shorter. */
static Member *
find_lowest(Member *member)
{
	while (member->parent != member)
	{
		member->parent = member->parent->parent;
		member = member->parent;
	}
	return member;
}

/* The member with that id, entered if it is new. */
static Member *
enter(HTAB *members, int64 id)
{
	bool		found;
	Member	   *member = hash_search(members, &id, HASH_ENTER, &found);

	if (!found)
	{
		member->parent = member;
		member->size = 1;
		if (hash_get_num_entries(members) * (Size) MEMBER_BYTES >
			(Size) maintenance_work_mem * 1024)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("the pairs have more ids than maintenance_work_mem has memory for"),
					 errdetail("An id takes %d bytes.", (int) MEMBER_BYTES),
					 errhint("Increase maintenance_work_mem.")));
	}
	return member;
}

/* Two members are of one cluster. */
static void
connect(Member *a, Member *b)
{
	a = find_lowest(a);
	b = find_lowest(b);
	if (a == b)
		return;
	if (a->id > b->id)
	{
		Member	   *swap = a;

		a = b;
		b = swap;
	}
	b->parent = a;
	a->size += b->size;
}

/* Fail unless the query yields two ids, which are whole numbers. */
static void
check_columns(TupleDesc desc, Oid *types)
{
	bool		good = desc->natts >= 2;

	for (int i = 0; i < 2 && good; i++)
	{
		types[i] = getBaseType(TupleDescAttr(desc, i)->atttypid);
		good = types[i] == INT8OID || types[i] == INT4OID ||
			types[i] == INT2OID;
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the query must yield two ids, of type bigint or integer"),
				 errhint("For example, 'SELECT a, b FROM pairs'.")));
}

/* An id of a row, as a bigint. */
static int64
get_id(HeapTuple tuple, TupleDesc desc, int column, Oid type, bool *isnull)
{
	Datum		value = SPI_getbinval(tuple, desc, column, isnull);

	if (type == INT2OID)
		return DatumGetInt16(value);
	if (type == INT4OID)
		return DatumGetInt32(value);
	return *isnull ? 0 : DatumGetInt64(value);
}

/* A pair connects its ids; a NULL connects nothing. */
static void
read_pair(HTAB *members, HeapTuple tuple, TupleDesc desc, const Oid *types)
{
	bool		nulls[2];
	int64		a = get_id(tuple, desc, 1, types[0], &nulls[0]);
	int64		b = get_id(tuple, desc, 2, types[1], &nulls[1]);
	Member	   *first = nulls[0] ? NULL : enter(members, a);
	Member	   *second = nulls[1] ? NULL : enter(members, b);

	if (first != NULL && second != NULL)
		connect(first, second);
}

/* Run the query, and connect the ids of each row. */
static void
read_pairs(HTAB *members, const char *query)
{
	SPIPlanPtr	plan;
	Portal		portal;
	Oid			types[2];

	SPI_connect();
	plan = simhash_prepare_query(query, "SELECT a, b FROM pairs",
								 CURSOR_OPT_PARALLEL_OK);
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, true);
	check_columns(portal->tupDesc, types);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		SPI_cursor_fetch(portal, true, FETCHED);
		if (SPI_processed == 0)
			break;
		for (uint64 i = 0; i < SPI_processed; i++)
			read_pair(members, SPI_tuptable->vals[i], SPI_tuptable->tupdesc,
					  types);
		SPI_freetuptable(SPI_tuptable);
	}
	SPI_cursor_close(portal);
	SPI_finish();
}

/* For qsort: by cluster, then by id. */
static int
compare_members(const void *a, const void *b)
{
	const Member *x = *(Member *const *) a;
	const Member *y = *(Member *const *) b;

	if (x->parent->id != y->parent->id)
		return x->parent->id < y->parent->id ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Put out the members, cluster by cluster. */
static void
put_members(HTAB *members, ReturnSetInfo *result)
{
	long		n = hash_get_num_entries(members);
	Member	  **sorted;
	HASH_SEQ_STATUS scan;
	Member	   *member;
	int64		cluster = 0;
	long		i = 0;

	sorted = MemoryContextAllocHuge(CurrentMemoryContext,
									Max(n, 1) * sizeof *sorted);
	hash_seq_init(&scan, members);
	while ((member = hash_seq_search(&scan)) != NULL)
	{
		member->parent = find_lowest(member);
		sorted[i++] = member;
	}
	qsort(sorted, n, sizeof *sorted, compare_members);
	for (i = 0; i < n; i++)
	{
		Datum		values[4];
		bool		nulls[4] = {false};

		CHECK_FOR_INTERRUPTS();
		cluster += sorted[i]->parent == sorted[i];
		values[0] = Int64GetDatum(sorted[i]->id);
		values[1] = Int64GetDatum(cluster);
		values[2] = Int64GetDatum(sorted[i]->parent->id);
		values[3] = Int64GetDatum(sorted[i]->parent->size);
		tuplestore_putvalues(result->setResult, result->setDesc, values,
							 nulls);
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
	char	   *query = text_to_cstring(PG_GETARG_TEXT_PP(0));
	HTAB	   *members;
	HASHCTL		control;

	InitMaterializedSRF(fcinfo, 0);
	control.keysize = sizeof(int64);
	control.entrysize = sizeof(Member);
	control.hcxt = CurrentMemoryContext;
	members = hash_create("simhash components", 1024, &control,
						  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	read_pairs(members, query);
	put_members(members, (ReturnSetInfo *) fcinfo->resultinfo);
	hash_destroy(members);
	return (Datum) 0;
}
