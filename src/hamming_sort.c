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
 * and a call for each comparison.
 *
 * While runs are merged, each takes a block of memory.  With W bytes of memory
 * there are at most 16 n / W runs for n entries, so that their blocks are
 * within W as well as long as W is above 23 MB for a billion rows.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "hamming.h"
#include "hamming_build.h"

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
} HammingRun;

struct HammingSort
{
	/* stays */
	size_t		room;			/* entries that memory holds */

	/* moves */
	HammingEntry *entries;
	size_t		count;
	size_t		next;			/* to hand out, if nothing was written */
	int			nruns;
	int			runs_room;
	HammingRun *runs;			/* a heap by head, once merging */
};

/* Begin to sort within so many kilobytes. */
HammingSort *
hamming_sort_begin(int kilobytes)
{
	HammingSort *sort = (HammingSort *) palloc0(sizeof(HammingSort));
	size_t		bytes = Max((size_t) kilobytes, 1024) * 1024;

	sort->room = bytes / sizeof(HammingEntry);
	sort->entries = (HammingEntry *)
		MemoryContextAllocHuge(CurrentMemoryContext,
							   sort->room * sizeof(HammingEntry));
	sort->runs_room = 16;
	sort->runs = (HammingRun *) palloc(sort->runs_room * sizeof(HammingRun));
	return sort;
}

/* Sort what is in memory and write it out. */
static void
write_run(HammingSort *sort)
{
	HammingRun *run;

	if (sort->nruns == sort->runs_room)
	{
		sort->runs_room *= 2;
		sort->runs = (HammingRun *)
			repalloc(sort->runs, sort->runs_room * sizeof(HammingRun));
	}
	run = &sort->runs[sort->nruns++];
	run->file = BufFileCreateTemp(false);

	sort_entries(sort->entries, sort->count);
	BufFileWrite(run->file, sort->entries,
				 sort->count * sizeof(HammingEntry));
	sort->count = 0;
}

/* Add an entry. */
void
hamming_sort_put(HammingSort *sort, int64 key, uint64 tid)
{
	HammingEntry *entry;

	if (sort->count == sort->room)
		write_run(sort);
	entry = &sort->entries[sort->count++];
	entry->key = key;
	entry->tid = tid;
}

/* Read the next entry of a run; false, and the file closed, at its end. */
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
	BufFileClose(run->file);
	return false;
}

/* Restore the heap of runs below a place. */
static void
sift_down(HammingSort *sort, int place)
{
	HammingRun	moved = sort->runs[place];

	for (;;)
	{
		int			child = 2 * place + 1;

		if (child >= sort->nruns)
			break;
		if (child + 1 < sort->nruns &&
			compare_entries(&sort->runs[child + 1].head,
							&sort->runs[child].head) < 0)
			child++;
		if (compare_entries(&moved.head, &sort->runs[child].head) <= 0)
			break;
		sort->runs[place] = sort->runs[child];
		place = child;
	}
	sort->runs[place] = moved;
}

/* No more entries will be added; get ready to hand them out. */
void
hamming_sort_perform(HammingSort *sort)
{
	int			i;

	if (sort->nruns == 0)
	{
		sort_entries(sort->entries, sort->count);
		return;
	}
	if (sort->count > 0)
		write_run(sort);
	pfree(sort->entries);
	sort->entries = NULL;

	for (i = 0; i < sort->nruns; i++)
	{
		if (BufFileSeek(sort->runs[i].file, 0, 0, SEEK_SET) != 0)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not rewind a temporary file")));
		advance_run(&sort->runs[i]);
	}
	for (i = sort->nruns / 2 - 1; i >= 0; i--)
		sift_down(sort, i);
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

	if (sort->nruns == 0)
		return false;
	*entry = sort->runs[0].head;
	if (!advance_run(&sort->runs[0]))
		sort->runs[0] = sort->runs[--sort->nruns];
	if (sort->nruns > 0)
		sift_down(sort, 0);
	return true;
}

/* Give back what a finished sort holds. */
void
hamming_sort_end(HammingSort *sort)
{
	int			i;

	for (i = 0; i < sort->nruns; i++)
		BufFileClose(sort->runs[i].file);
	if (sort->entries != NULL)
		pfree(sort->entries);
	pfree(sort->runs);
	pfree(sort);
}
