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

#include "access/parallel.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/rel.h"

#include "compat.h"
#include "index/hamming.h"
#include "index/hamming_build.h"

typedef struct HammingBuild
{
	HammingSort *sort;
	HammingIndexState index;
	HammingRead read;
} HammingBuild;

extern PGDLLEXPORT void simhash_hamming_build_worker(dsm_segment *seg,
													 shm_toc *toc);

/* Called for each row of the table: put its entries to the sort. */
static void
build_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		  bool alive, void *state)
{
	HammingBuild *build = (HammingBuild *) state;
	const ShLayout *layout = build->index.layout;
	ShValue		value;

	(void) alive;
	build->read.rows++;
	if (!hamming_row(index, &build->index, values, isnull, &value))
	{
		hamming_sort_put(build->sort, PG_INT64_MAX,
						 hamming_pack_tid(tid) | HAMMING_NULL_ENTRY);
		build->read.entries++;
		return;
	}
	for (int word = 0; word < layout->words; word++)
		for (int block = 0; block < layout->blocks; block++)
			hamming_sort_put(build->sort,
							 hamming_key(sh_entry(layout,
												  value.words[word],
												  word, block)),
							 hamming_pack_tid(tid));
	build->read.entries += hamming_row_entries(layout);
}

/*
 * Put the entries of the rows that a scan hands out to a sort; of all rows, if
 * the scan is NULL.  Returns the number of rows.
 */
static double
read_rows(Relation heap, Relation index, IndexInfo *info, HammingSort *sort,
		  TableScanDesc scan, HammingRead *read)
{
	HammingBuild build = {.sort = sort};
	double		rows;

	hamming_init_state(index, &build.index);
	rows = table_index_build_scan(heap, index, info, true,
								  !IsParallelWorker(), build_row, &build,
								  scan);
	*read = build.read;
	return rows;
}

/* A worker of a parallel build begins here. */
void
simhash_hamming_build_worker(dsm_segment *seg, shm_toc *toc)
{
	hamming_parallel_work(seg, toc, read_rows);
}

/* Build the index by this process alone. */
static void
build_serially(Relation heap, Relation index, IndexInfo *info,
			   IndexBuildResult *result)
{
	HammingSort *sort = hamming_sort_begin(maintenance_work_mem);
	HammingLoad *load;
	HammingRead read;

	result->heap_tuples = read_rows(heap, index, info, sort, NULL, &read);
	result->index_tuples = read.rows;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 (int64) result->index_tuples);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SORT);
	hamming_sort_perform(sort);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_LOAD);
	load = hamming_load_begin(index, &read);
	hamming_load_reserve(load);
	hamming_load_all(load, sort);
	hamming_load_end(load);
	hamming_sort_end(sort);
}

/* Build the index. */
IndexBuildResult *
hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	int			workers;

	hamming_check_columns(index);
	if (RelationGetNumberOfBlocks(index) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("index \"%s\" already contains data",
						RelationGetRelationName(index))));

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SCAN);
	workers = simhash_build_workers(heap, index, info);
	if (workers == 0 ||
		!hamming_parallel_build(heap, index, info, workers, read_rows, result))
		build_serially(heap, index, info, result);
	return result;
}
