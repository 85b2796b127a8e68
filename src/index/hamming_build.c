/*-------------------------------------------------------------------------
 *
 * hamming_build.c
 *		Building a hamming index: read the table, sort the entries, load them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "index/hamming.h"
#include "index/hamming_build.h"
#include "search/search.h"

typedef struct HammingBuild
{
	HammingSort *sort;
	double		rows;			/* that have a fingerprint */
} HammingBuild;

/*
 * The fingerprint in an indexed value, which is one or is a ball around one.
 * False if there is none.
 */
bool
hamming_datum_fingerprint(Relation index, Datum value, uint64 *fingerprint)
{
	SimhashBall ball;

	if (index->rd_opcintype[0] == INT8OID)
	{
		*fingerprint = (uint64) DatumGetInt64(value);
		return true;
	}
	if (!simhash_get_ball(value, &ball))
		return false;
	*fingerprint = (uint64) ball.center;
	return true;
}

/* Called for each row of the table: put its entries to the sort. */
static void
build_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		  bool alive, void *state)
{
	HammingBuild *build = (HammingBuild *) state;
	uint64		fingerprint;
	int			block;

	(void) alive;
	if (isnull[0] ||
		!hamming_datum_fingerprint(index, values[0], &fingerprint))
		return;
	for (block = 0; block < SH_INDEX_BLOCKS; block++)
		hamming_sort_put(build->sort,
						 hamming_key(sh_entry(fingerprint, block)),
						 hamming_pack_tid(tid));
	build->rows++;
}

/* Load the sorted entries, and tell how far that has come. */
static void
load_entries(Relation index, HammingBuild *build)
{
	HammingLoad *load = hamming_load_begin(index);
	HammingEntry entry;
	int64		rows = 0;
	int			part = 0;

	while (hamming_sort_next(build->sort, &entry))
	{
		hamming_load_add(load, &entry);
		if (++part == SH_INDEX_BLOCKS)
		{
			part = 0;
			pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE,
										 ++rows);
		}
	}
	hamming_load_end(load);
}

/*
 * Fail unless the operator class is one that the index can work with.  Whoever
 * makes a class is a superuser, and may err: what is built for a type of
 * another kind would take its values for pointers.
 */
static void
check_opclass(Relation index)
{
	Oid			opclass = get_index_column_opclass(RelationGetRelid(index), 1);

	if (!hamming_validate(opclass))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("operator class of index \"%s\" is not one for access method hamming",
						RelationGetRelationName(index)),
				 errhint("Use int8_hamming_ops or hamming_ball_ops.")));
}

/* Build the index. */
IndexBuildResult *
hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result;
	HammingBuild build;

	check_opclass(index);
	if (RelationGetNumberOfBlocks(index) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("index \"%s\" already contains data",
						RelationGetRelationName(index))));

	build.sort = hamming_sort_begin(maintenance_work_mem);
	build.rows = 0;

	result = (IndexBuildResult *) palloc(sizeof(IndexBuildResult));
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SCAN);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true,
												 build_row, &build, NULL);
	result->index_tuples = build.rows;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) build.rows);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SORT);
	hamming_sort_perform(build.sort);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_LOAD);
	load_entries(index, &build);
	hamming_sort_end(build.sort);
	return result;
}
