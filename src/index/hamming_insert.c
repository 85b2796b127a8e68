/*-------------------------------------------------------------------------
 *
 * hamming_insert.c
 *		Insertion into a hamming index, by the btree code.
 *
 * Entries of dead rows are left to vacuum: scans mark none, and an update that
 * leaves the fingerprint alone is an insertion like any other.  The btree code
 * would have the table tell which rows are dead by a list of TIDs, no two of
 * which may be the same; on a page with entries of two blocks they may be.
 * README says what that costs.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/hamming.h"

HammingInserted hamming_inserted_hook = NULL;

/* What the statement at hand remembers of the index. */
typedef struct HammingInsertion
{
	HammingIndexState state;
	Relation	view;
} HammingInsertion;

static const HammingInsertion *
get_insertion(Relation index, IndexInfo *info)
{
	if (info->ii_AmCache == NULL)
	{
		HammingInsertion *insertion = (HammingInsertion *)
		MemoryContextAlloc(info->ii_Context, sizeof *insertion);

		hamming_init_state(index, &insertion->state);
		insertion->view = hamming_btree_view(index, info->ii_Context);
		info->ii_AmCache = insertion;
	}
	return (const HammingInsertion *) info->ii_AmCache;
}

/* Insert a row. */
bool
hamming_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck check, bool unchanged,
			   IndexInfo *info)
{
	const HammingInsertion *insertion = get_insertion(index, info);
	const HammingIndexState *state = &insertion->state;
	int			blocks = state->layout->blocks;
	Datum		fingerprint = values[state->fingerprint];
	uint64		entries[HAMMING_MOST_ENTRIES];
	int64		keys[HAMMING_MOST_ENTRIES] = {0};
	int			count = hamming_row(index, state, values, isnull, entries);
	bool		null = count == 0;

	(void) check;
	(void) unchanged;
	for (int i = 0; i < count; i++)
		keys[i] = hamming_key(entries[i]);
	for (int i = 0; i < count; i += blocks)
		hamming_warm(index, &keys[i], blocks);

	hamming_show_view(insertion->view, index);
	for (int i = 0; i < Max(count, 1); i++)
	{
		Datum		key = Int64GetDatum(keys[i]);

		btinsert(insertion->view, &key, &null, tid, heap, UNIQUE_CHECK_NO, false,
				 info);
	}
	hamming_leave_view(insertion->view, index);
	if (count > 0 && hamming_inserted_hook != NULL)
		hamming_inserted_hook(heap, RelationGetRelid(index), fingerprint, tid);
	return false;
}
