/*-------------------------------------------------------------------------
 *
 * hamming_build.c
 *		Building a hamming index: read the table, sort the entries, load them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/hamming.h"

#include "catalog/index.h"
#include "commands/progress.h"
#include "pgstat.h"

#include "index/build/hamming_sort.h"

typedef struct HammingBuild
{
	HammingSort *sort;
	HammingIndexState index;
	double		rows;
	int64		entries;
} HammingBuild;

/* Called for each row of the table: put its entries to the sort. */
static void
build_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		  bool alive, void *state)
{
	HammingBuild *build = (HammingBuild *) state;
	uint64		entries[HAMMING_MOST_ENTRIES];
	int			count = hamming_row(index, &build->index, values, isnull,
									entries);

	(void) alive;
	for (int i = 0; i < count; i++)
		hamming_sort_put(build->sort, hamming_key(entries[i]),
						 hamming_pack_tid(tid));
	if (count == 0)
		hamming_sort_put(build->sort, PG_INT64_MAX,
						 hamming_pack_tid(tid) | HAMMING_NULL_ENTRY);
	build->rows++;
	build->entries += Max(count, 1);
}

/* Build the index. */
IndexBuildResult *
hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	HammingBuild build = {0};

	hamming_check_columns(index);
	if (RelationGetNumberOfBlocks(index) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("index \"%s\" already contains data",
						RelationGetRelationName(index))));

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SCAN);
	hamming_init_state(index, &build.index);
	build.sort = hamming_sort_begin(maintenance_work_mem);
	result->heap_tuples = table_index_build_scan(heap, index, info, true, true,
												 build_row, &build, NULL);
	result->index_tuples = build.rows;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
								 build.entries);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_SORT);
	hamming_sort_perform(build.sort);

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE,
								 HAMMING_PHASE_LOAD);
	hamming_load(index, build.sort);
	hamming_sort_end(build.sort);
	return result;
}
