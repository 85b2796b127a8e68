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
#include "postgres.h"

#include "utils/rel.h"

#include "index/hamming.h"
#include "index/scan/hamming_tricks.h"
#include "search/search.h"

HammingInserted hamming_inserted_hook = NULL;

/* Insert the entries of a row; one of NULL if it has no keys. */
static void
insert_entries(Relation index, const int64 *keys, int nkeys, ItemPointer tid,
			   Relation heap, IndexInfo *info)
{
	for (int i = 0; i < Max(nkeys, 1); i++)
	{
		bool		isnull = nkeys == 0;
		Datum		key = isnull ? (Datum) 0 : Int64GetDatum(keys[i]);

		hamming_btree()->aminsert(index, &key, &isnull, tid, heap,
								  UNIQUE_CHECK_NO, false, info);
	}
}

/*
 * Find the keys of a row's entries, and fetch where they belong.  Returns how
 * many there are.
 */
static int
prepare_keys(Relation index, const ShLayout *layout, const ShValue *value,
			 int64 *keys)
{
	for (int word = 0; word < layout->words; word++)
	{
		for (int block = 0; block < layout->blocks; block++)
			keys[block] = hamming_key(sh_entry(layout, value->words[word],
											   word, block));
		hamming_warm(index, keys, layout->blocks);
		keys += layout->blocks;
	}
	return hamming_row_entries(layout);
}

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
	int64		keys[SH_MAX_WORDS * SH_WORD_BLOCKS];
	Datum		fingerprint = values[state->fingerprint];
	ShValue		value;
	int			nkeys = 0;

	(void) check;
	(void) unchanged;
	if (hamming_row(index, state, values, isnull, &value))
		nkeys = prepare_keys(index, state->layout, &value, keys);

	hamming_show_view(insertion->view, index);
	insert_entries(insertion->view, keys, nkeys, tid, heap, info);
	hamming_leave_view(insertion->view, index);
	if (nkeys > 0 && hamming_inserted_hook != NULL)
		hamming_inserted_hook(heap, RelationGetRelid(index), fingerprint, tid);
	return false;
}
