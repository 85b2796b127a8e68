/*-------------------------------------------------------------------------
 *
 * hamming_sort.c
 *		Sorting the entries of an index that is being built.
 *
 * An entry is a key and a TID, 16 bytes in all.  They are gathered in an array
 * of maintenance_work_mem, sorted there, and written out as a run whenever it
 * is full; the runs, each a temporary file, are merged at the end.  This
 * is a plain external merge sort.  The server's own (tuplesort.c) sorts tuples
 * of any kind and pays for that with three times the memory for each entry
 * and a call for each comparison: with it a build takes twice the time of the
 * processor, or three times if all entries fit into memory.
 *
 * A run takes a block of memory, HAMMING_MERGE_MOST of them or an eighth of
 * the memory are merged at once.  As soon as there are so many, not merged
 * before, they are merged to one; as soon as there are so many of these, they
 * are, and so on.  With runs of 1 MB and sixteen at once:
 *
 *		runs written		at hand
 *			15				15 of 1 MB
 *			16				1 of 16 MB
 *			40				2 of 16 MB, 8 of 1 MB
 *			256				1 of 256 MB
 *
 * So an entry is written once for each power of sixteen, and an eighth of the
 * memory comes on top for each.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "index/hamming.h"
#include "index/build/hamming_build.h"

/*
 * Limits of the work done.
 *
 * HAMMING_MERGE_MOST	runs that are merged at once at most; more cost seeks
 *						rather than writes.
 */
#define HAMMING_MERGE_MOST		500

static inline int
compare_entries(const HammingEntry *a, const HammingEntry *b)
{
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

#define ST_SORT sort_entries
#define ST_ELEMENT_TYPE HammingEntry
#define ST_COMPARE(a, b) compare_entries(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* A sorted run, being read. */
typedef struct HammingRun
{
	HammingEntry head;
	BufFile    *file;
	int			level;			/* how often its entries have been merged */
} HammingRun;

struct HammingSort
{
	/* stays */
	size_t		most;			/* entries that memory holds */
	int			order;			/* runs to merge at once */

	/* moves */
	HammingEntry *entries;
	size_t		count;
	size_t		next;			/* to hand out, if nothing was written */
	int			nruns;
	int			runs_room;
	HammingRun *runs;			/* by falling level, while they are written */
	int			nheap;			/* while read, the first are a heap by head */
};

/* Begin to sort within so many kilobytes. */
HammingSort *
hamming_sort_begin(int kilobytes)
{
	HammingSort *sort = (HammingSort *) palloc0(sizeof(HammingSort));
	size_t		bytes = Max((size_t) kilobytes, 1024) * 1024;

	sort->most = bytes / sizeof(HammingEntry);
	sort->order = Max(Min(bytes / (8 * BLCKSZ), HAMMING_MERGE_MOST), 2);
	sort->entries = (HammingEntry *)
		MemoryContextAllocHuge(CurrentMemoryContext,
							   sort->most * sizeof(HammingEntry));
	sort->runs_room = 16;
	sort->runs = (HammingRun *) palloc(sort->runs_room * sizeof(HammingRun));
	return sort;
}

/* Read the next entry of a run; false at its end. */
static bool
advance_run(HammingRun *run)
{
	size_t		got = BufFileRead(run->file, &run->head, sizeof(run->head));

	if (got == sizeof(run->head))
		return true;
	if (got != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read a temporary file")));
	return false;
}

/* Restore a heap of runs below a place. */
static void
sift_down(HammingRun *runs, int nruns, int place)
{
	HammingRun	moved = runs[place];

	for (;;)
	{
		int			child = 2 * place + 1;

		if (child >= nruns)
			break;
		if (child + 1 < nruns &&
			compare_entries(&runs[child + 1].head, &runs[child].head) < 0)
			child++;
		if (compare_entries(&moved.head, &runs[child].head) <= 0)
			break;
		runs[place] = runs[child];
		place = child;
	}
	runs[place] = moved;
}

/* Make a heap of runs whose first entries have been read. */
static void
make_heap(HammingRun *runs, int nruns)
{
	for (int i = nruns / 2 - 1; i >= 0; i--)
		sift_down(runs, nruns, i);
}

/* Make a heap of runs that have been written. */
static void
begin_merge(HammingRun *runs, int nruns)
{
	for (int i = 0; i < nruns; i++)
	{
		if (BufFileSeek(runs[i].file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not seek in a temporary file")));
		advance_run(&runs[i]);
	}
	make_heap(runs, nruns);
}

/*
 * Take the least entry out of a heap of runs; false if there is none.  Runs
 * that come to their end are moved behind the others.
 */
static bool
next_of_runs(HammingRun *runs, int *nruns, HammingEntry *entry)
{
	if (*nruns == 0)
		return false;
	*entry = runs[0].head;
	if (!advance_run(&runs[0]))
	{
		HammingRun	ended = runs[0];

		runs[0] = runs[--*nruns];
		runs[*nruns] = ended;
	}
	if (*nruns > 0)
		sift_down(runs, *nruns, 0);
	return true;
}

/* Make one run of the last runs. */
static void
merge_last(HammingSort *sort, int count)
{
	HammingRun *runs = &sort->runs[sort->nruns - count];
	int			left = count;
	HammingRun	merged;
	HammingEntry entry;

	merged.level = runs[0].level + 1;
	merged.file = BufFileCreateTemp(false);
	begin_merge(runs, count);
	while (next_of_runs(runs, &left, &entry))
	{
		CHECK_FOR_INTERRUPTS();
		BufFileWrite(merged.file, &entry, sizeof(entry));
	}
	for (int i = 0; i < count; i++)
		BufFileClose(runs[i].file);
	runs[0] = merged;
	sort->nruns -= count - 1;
}

/* Place for one more run. */
static HammingRun *
add_run(HammingSort *sort)
{
	if (sort->nruns == sort->runs_room)
	{
		sort->runs_room *= 2;
		sort->runs = (HammingRun *)
			repalloc(sort->runs, sort->runs_room * sizeof(HammingRun));
	}
	return &sort->runs[sort->nruns++];
}

/*
 * Sort what is in memory and write it out.  Where that makes enough runs of
 * one level, merge them.  Levels never rise from one run to the next, so those
 * of the last one's level are the last ones.
 */
static void
write_run(HammingSort *sort)
{
	HammingRun *run = add_run(sort);

	run->level = 0;
	run->file = BufFileCreateTemp(false);
	sort_entries(sort->entries, sort->count);
	BufFileWrite(run->file, sort->entries,
				 sort->count * sizeof(HammingEntry));
	sort->count = 0;

	while (sort->nruns >= sort->order &&
		   sort->runs[sort->nruns - sort->order].level ==
		   sort->runs[sort->nruns - 1].level)
		merge_last(sort, sort->order);
}

/* Add an entry. */
void
hamming_sort_put(HammingSort *sort, int64 key, uint64 tid)
{
	HammingEntry *entry;

	if (sort->count == sort->most)
		write_run(sort);
	entry = &sort->entries[sort->count++];
	entry->key = key;
	entry->tid = tid;
}

/* Write out what is in memory, and give the memory back. */
static void
write_last_run(HammingSort *sort)
{
	if (sort->count > 0)
		write_run(sort);
	pfree(sort->entries);
	sort->entries = NULL;
	while (sort->nruns > sort->order)
		merge_last(sort, Min(sort->order, sort->nruns - sort->order + 1));
}

/* No more entries will be added; get ready to hand them out. */
void
hamming_sort_perform(HammingSort *sort)
{
	if (sort->nruns == 0)
	{
		sort_entries(sort->entries, sort->count);
		return;
	}
	write_last_run(sort);
	begin_merge(sort->runs, sort->nruns);
	sort->nheap = sort->nruns;
}

/* Hand out the next entry; false at the end. */
bool
hamming_sort_next(HammingSort *sort, HammingEntry *entry)
{
	if (sort->entries != NULL)
	{
		if (sort->next >= sort->count)
			return false;
		*entry = sort->entries[sort->next++];
		return true;
	}

	return next_of_runs(sort->runs, &sort->nheap, entry);
}

/* Give back what a finished sort holds. */
void
hamming_sort_end(HammingSort *sort)
{
	for (int i = 0; i < sort->nruns; i++)
		BufFileClose(sort->runs[i].file);
	if (sort->entries != NULL)
		pfree(sort->entries);
	pfree(sort->runs);
	pfree(sort);
}
