/*-------------------------------------------------------------------------
 *
 * hamming_table.c
 *		Rows of the table that a scan of the index has to look at itself.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "index/hamming_scan.h"

/*
 * Begin to sort numbers, in the memory of the scan; of which only so many, the
 * least ones, are wanted, if "bound" is not 0.
 */
Tuplesortstate *
hamming_begin_numbers(HammingScan *so, int64 bound)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(so));
	Tuplesortstate *sort = tuplesort_begin_datum(INT8OID, Int8LessOperator,
												 InvalidOid, false, work_mem,
												 NULL,
												 TUPLESORT_ALLOWBOUNDED);

	if (bound > 0)
		tuplesort_set_bound(sort, bound);
	MemoryContextSwitchTo(old);
	return sort;
}

/* Have each row of the table that the snapshot sees passed to a callback. */
void
hamming_read_table(IndexScanDesc scan, IndexBuildCallback callback, void *state)
{
	Relation	index = scan->indexRelation;
	Relation	heap = scan->heapRelation;
	IndexInfo  *info = BuildIndexInfo(index);
	bool		opened = heap == NULL;

	if (opened)
		heap = relation_open(index->rd_index->indrelid, NoLock);

	/* A scan with a snapshot of its own is what the table does for this. */
	info->ii_Concurrent = true;
	table_index_build_scan(heap, index, info, true, false, callback, state,
						   simhash_table_beginscan(heap, scan->xs_snapshot, NULL));
	if (opened)
		relation_close(heap, NoLock);
}
