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
#include "commands/progress.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/rel.h"

#include "index/hamming.h"
#include "index/hamming_build.h"

typedef struct HammingBuild
{
	HammingSort *sort;
	double		rows;			/* that have entries */
} HammingBuild;

/* Called for each row of the table: put its entries to the sort. */
static void
build_row(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		  bool alive, void *state)
{
	HammingBuild *build = (HammingBuild *) state;
	HammingRow	row;
	int			block;

	(void) alive;
	if (!hamming_row(index, values, isnull, &row))
		return;
	for (block = 0; block < SH_INDEX_BLOCKS; block++)
		hamming_sort_put(build->sort,
						 hamming_key(sh_entry(row.fingerprint ^ row.shift,
											  block)),
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

/* Build the index. */
IndexBuildResult *
hamming_build(Relation heap, Relation index, IndexInfo *info)
{
	IndexBuildResult *result;
	HammingBuild build;

	hamming_check_columns(index);
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
