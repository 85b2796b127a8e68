/*-------------------------------------------------------------------------
 *
 * hamming_insert.c
 *		Insertion into a hamming index, by the btree code.
 *
 * An insertion that finds its page full first has the btree code look for
 * entries of dead rows there: those that scans have marked dead, and when the
 * row is a new version of one with the same fingerprint, any others ("bottom-
 * up deletion").  Which rows are dead is up to the access method of the table,
 * to which the btree code hands the TIDs of the page.
 *
 * In a btree no two entries share a TID, and the heap's code asserts so.  Here
 * two may, on a page that holds entries of more than one block: the only page
 * of a small index, or one where a block ends and the next begins.  So between
 * the two there is an adapter.  It hands over one entry for each TID, and what
 * it learns of that one holds for the others: the TIDs of a page are distinct
 * by the time they get to the table, on every page and in every build.
 *
 *		entries on the page		a:7  b:3  c:7  d:5
 *		handed over				b:3  d:5  a:7
 *		deletable, says the heap		  a:7
 *		deleted					a:7  c:7
 *
 * The adapter gets there as the table's access method: the btree code is given
 * a copy of the table's relation with that one routine replaced.  The copy is
 * on the stack, and nothing of it is kept.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/tableam.h"
#include "utils/rel.h"

#include "index/hamming.h"
#include "index/hamming_tricks.h"
#include "search/search.h"

/* A table as the btree code sees it. */
typedef struct HammingTable
{
	RelationData rel;			/* a copy of *heap, with the adapter */
	Relation	heap;
	Relation	index;
	HammingDisguise disguise;	/* of the index */
} HammingTable;

/* An entry that is not handed over, as another one with its TID is. */
typedef struct HammingTwin
{
	TM_IndexDelete entry;
	int16		other;			/* the id of the one that is */
} HammingTwin;

HammingInserted hamming_inserted_hook = NULL;

static TableAmRoutine adapter;
static const TableAmRoutine *adapted;	/* what it was made from */

static TransactionId delete_entries(Relation rel, TM_IndexDeleteOp *op);

/* Make the table look as the btree code has to see it. */
static void
show_table(HammingTable *table)
{
	if (adapted != table->heap->rd_tableam)
	{
		adapted = table->heap->rd_tableam;
		adapter = *adapted;
		adapter.index_delete_tuples = delete_entries;
	}
	table->rel = *table->heap;
	table->rel.rd_tableam = &adapter;
}

/* Order by TID; among those of one TID, as they lie on the page. */
static int
compare_deletes(const void *a, const void *b)
{
	const TM_IndexDelete *left = (const TM_IndexDelete *) a;
	const TM_IndexDelete *right = (const TM_IndexDelete *) b;
	int32		order = ItemPointerCompare((ItemPointer) &left->tid,
										   (ItemPointer) &right->tid);

	return order != 0 ? order : left->id - right->id;
}

/*
 * Take all but one of the entries of each TID out of what is to be deleted.
 * What is known of them, and the room that they take up, goes to that one.
 * Returns how many were taken out.
 */
static int
set_twins_aside(TM_IndexDeleteOp *op, HammingTwin *twins)
{
	TM_IndexDelete *entries = op->deltids;
	int			ntwins = 0;
	int			kept = 1;
	int			i;

	qsort(entries, op->ndeltids, sizeof(TM_IndexDelete), compare_deletes);
	for (i = 1; i < op->ndeltids; i++)
	{
		TM_IndexDelete *other = &entries[kept - 1];
		TM_IndexStatus *from = &op->status[entries[i].id];
		TM_IndexStatus *to = &op->status[other->id];

		if (!ItemPointerEquals(&entries[i].tid, &other->tid))
		{
			entries[kept++] = entries[i];
			continue;
		}
		to->knowndeletable |= from->knowndeletable;
		to->promising |= from->promising;
		to->freespace += from->freespace;
		twins[ntwins].entry = entries[i];
		twins[ntwins++].other = other->id;
	}
	op->ndeltids = kept;
	return ntwins;
}

/*
 * The adapter: index_delete_tuples of the table that the btree code sees.
 *
 * The table's own routine may look into the catalogue, and what that finds
 * changed it takes into both relations.  So the index must be itself meanwhile,
 * and the table is made up once more.
 */
static TransactionId
delete_entries(Relation rel, TM_IndexDeleteOp *op)
{
	HammingTable *table = (HammingTable *) rel;
	HammingTwin *twins = palloc(op->ndeltids * sizeof(HammingTwin));
	int			ntwins = set_twins_aside(op, twins);
	TransactionId horizon;
	int			i;

	hamming_show_itself(table->index, &table->disguise);
	horizon = table_index_delete_tuples(table->heap, op);
	hamming_show_btree(table->index, &table->disguise);
	show_table(table);
	for (i = 0; i < ntwins; i++)
	{
		if (!op->status[twins[i].other].knowndeletable)
			continue;
		op->status[twins[i].entry.id].knowndeletable = true;
		op->deltids[op->ndeltids++] = twins[i].entry;
	}
	pfree(twins);
	return horizon;
}

/* Insert the entries of a row. */
static void
insert_entries(HammingTable *table, const int64 *keys, int nkeys,
			   ItemPointer tid, bool unchanged, IndexInfo *info)
{
	const IndexAmRoutine *btree = hamming_btree();
	int			i;

	for (i = 0; i < nkeys; i++)
	{
		Datum		key = Int64GetDatum(keys[i]);
		bool		isnull = false;

		btree->aminsert(table->index, &key, &isnull, tid, &table->rel,
						UNIQUE_CHECK_NO, unchanged, info);
	}
}

/* Find the keys of a row's entries, and fetch where they belong. */
static void
prepare_keys(Relation index, const ShLayout *layout, const ShValue *value,
			 int64 *keys)
{
	int			word;
	int			block;

	for (word = 0; word < layout->words; word++)
	{
		for (block = 0; block < layout->blocks; block++)
			keys[block] = hamming_key(sh_entry(layout, value->words[word],
											   word, block));
		hamming_warm(index, keys, layout->blocks);
		keys += layout->blocks;
	}
}

/* The layout of an index, which the statement at hand remembers. */
static const ShLayout *
known_layout(Relation index, IndexInfo *info)
{
	if (info->ii_AmCache == NULL)
		info->ii_AmCache = unconstify(ShLayout *, hamming_layout(index));
	return (const ShLayout *) info->ii_AmCache;
}

/* Insert a row. */
bool
hamming_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
			   Relation heap, IndexUniqueCheck check, bool unchanged,
			   IndexInfo *info)
{
	HammingTable table;
	const ShLayout *layout = known_layout(index, info);
	int64		keys[SH_MAX_WORDS * SH_WORD_BLOCKS];
	ShValue		value;

	(void) check;
	if (!hamming_row(index, layout, values, isnull, &value))
		return false;

	table.heap = heap;
	table.index = index;
	prepare_keys(index, layout, &value, keys);
	show_table(&table);
	hamming_show_btree(index, &table.disguise);
	PG_TRY();
	{
		insert_entries(&table, keys, hamming_row_entries(layout), tid,
					   unchanged, info);
	}
	PG_FINALLY();
	{
		hamming_show_itself(index, &table.disguise);
	}
	PG_END_TRY();
	if (hamming_inserted_hook != NULL)
		hamming_inserted_hook(heap, RelationGetRelid(index),
							  values[hamming_fingerprint_column(index)], tid);
	return false;
}
