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
 * Several processes that build an index together each sort a part of the
 * entries so, and write all of it to files that the others can read.  Then any
 * of them can go through the entries of all parts in order, from any place on.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>

#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "index/hamming.h"
#include "index/hamming_build.h"

/*
 * Limits of the work done.
 *
 * HAMMING_MERGE_MOST	runs that are merged at once at most; more cost seeks
 *						rather than writes.
 * HAMMING_SHORT_RUN	entries of a run of a part, which is written in any case:
 *						as many as the processor's cache has good use for.
 * HAMMING_SHORT_RUNS	runs of that size; the next ones are twice as long.
 * HAMMING_SAMPLE		entries looked at for each range that those of all
 *						parts are divided into.
 */
#define HAMMING_MERGE_MOST		500
#define HAMMING_SHORT_RUN		(2 * 1024 * 1024)
#define HAMMING_SHORT_RUNS		128
#define HAMMING_SAMPLE			64

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
	int			number;			/* in the name of a shared file */
} HammingRun;

struct HammingSort
{
	/* stays */
	size_t		most;			/* entries that memory holds */
	int			order;			/* runs to merge at once */
	FileSet    *files;			/* where others find the runs; NULL: nowhere */
	int			part;			/* which part of the entries these are */

	/* moves */
	HammingEntry *entries;
	size_t		room;			/* for a run */
	size_t		count;
	size_t		next;			/* to hand out, if nothing was written */
	int			nruns;
	int			runs_room;
	HammingRun *runs;			/* by falling level, while they are written */
	int			nheap;			/* while read, the first are a heap by head */
	int			files_made;
};

/* Begin to sort within so many kilobytes. */
HammingSort *
hamming_sort_begin(int kilobytes)
{
	HammingSort *sort = (HammingSort *) palloc0(sizeof(HammingSort));
	size_t		bytes = Max((size_t) kilobytes, 1024) * 1024;

	sort->most = bytes / sizeof(HammingEntry);
	sort->room = sort->most;
	sort->order = Max(Min(bytes / (8 * BLCKSZ), HAMMING_MERGE_MOST), 2);
	sort->entries = (HammingEntry *)
		MemoryContextAllocHuge(CurrentMemoryContext,
							   sort->most * sizeof(HammingEntry));
	sort->runs_room = 16;
	sort->runs = (HammingRun *) palloc(sort->runs_room * sizeof(HammingRun));
	return sort;
}

/* Begin to sort a part of the entries, which others shall read. */
HammingSort *
hamming_sort_begin_part(int kilobytes, FileSet *files, int part)
{
	HammingSort *sort = hamming_sort_begin(kilobytes);

	sort->files = files;
	sort->part = part;
	sort->room = Min(sort->most, HAMMING_SHORT_RUN);
	return sort;
}

/* The name of the file of a run, or of the list of them (number -1). */
static const char *
file_name(int part, int number)
{
	static char name[32];

	if (number < 0)
		snprintf(name, sizeof(name), "part%d", part);
	else
		snprintf(name, sizeof(name), "part%d.run%d", part, number);
	return name;
}

/* Make the file of a run that is to be written. */
static void
create_run(HammingSort *sort, HammingRun *run, int level)
{
	run->level = level;
	run->number = sort->files_made++;
	if (sort->files == NULL)
		run->file = BufFileCreateTemp(false);
	else
		run->file = BufFileCreateFileSet(sort->files,
										 file_name(sort->part, run->number));
}

/* Remove the file of a run that has been read. */
static void
drop_run(HammingSort *sort, HammingRun *run)
{
	BufFileClose(run->file);
	if (sort->files != NULL)
		BufFileDeleteFileSet(sort->files,
							 file_name(sort->part, run->number), false);
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

/* Go to an entry of a run, by its number. */
static void
seek_run(HammingRun *run, int64 place)
{
	if (BufFileSeek(run->file, 0, place * sizeof(HammingEntry),
					SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in a temporary file")));
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
		seek_run(&runs[i], 0);
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

	create_run(sort, &merged, runs[0].level + 1);
	begin_merge(runs, count);
	while (next_of_runs(runs, &left, &entry))
	{
		CHECK_FOR_INTERRUPTS();
		BufFileWrite(merged.file, &entry, sizeof(entry));
	}
	for (int i = 0; i < count; i++)
		drop_run(sort, &runs[i]);
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

	create_run(sort, run, 0);

	sort_entries(sort->entries, sort->count);
	BufFileWrite(run->file, sort->entries,
				 sort->count * sizeof(HammingEntry));
	sort->count = 0;
	if (sort->nruns % HAMMING_SHORT_RUNS == 0)
		sort->room = Min(sort->most, 2 * sort->room);

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

	if (sort->count == sort->room)
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

/*
 * No more entries will be added to a part: write out all of it, and a list of
 * the runs, for others to read.
 */
void
hamming_sort_end_part(HammingSort *sort)
{
	BufFile    *list;

	write_last_run(sort);
	list = BufFileCreateFileSet(sort->files, file_name(sort->part, -1));
	for (int i = 0; i < sort->nruns; i++)
	{
		BufFileWrite(list, &sort->runs[i].number, sizeof(int));
		BufFileExportFileSet(sort->runs[i].file);
	}
	BufFileExportFileSet(list);
	BufFileClose(list);
	hamming_sort_end(sort);
}

/* Add the runs of a part to those to read. */
static void
open_part(HammingSort *sort, int part)
{
	BufFile    *list = BufFileOpenFileSet(sort->files, file_name(part, -1),
										  O_RDONLY, false);
	int			number;

	while (BufFileRead(list, &number, sizeof(number)) == sizeof(number))
	{
		HammingRun *run = add_run(sort);

		run->number = number;
		run->level = 0;
		run->file = BufFileOpenFileSet(sort->files, file_name(part, number),
									   O_RDONLY, false);
	}
	BufFileClose(list);
}

/* Begin to read the entries of all parts; hamming_sort_seek() comes next. */
HammingSort *
hamming_sort_open_parts(FileSet *files, int parts)
{
	HammingSort *sort = (HammingSort *) palloc0(sizeof(HammingSort));

	sort->files = files;
	sort->runs_room = 16;
	sort->runs = (HammingRun *) palloc(sort->runs_room * sizeof(HammingRun));
	for (int part = 0; part < parts; part++)
		open_part(sort, part);
	return sort;
}

/* The number of entries in a run. */
static inline int64
run_length(HammingRun *run)
{
	return BufFileSize(run->file) / sizeof(HammingEntry);
}

/* How many entries of a run come before one; the next is read after them. */
static int64
search_run(HammingRun *run, const HammingEntry *from)
{
	int64		low = 0;
	int64		high = run_length(run);

	while (low < high)
	{
		int64		middle = low + (high - low) / 2;

		CHECK_FOR_INTERRUPTS();
		seek_run(run, middle);
		advance_run(run);
		if (compare_entries(&run->head, from) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	seek_run(run, low);
	return low;
}

/*
 * Have the entries of all parts handed out from one on.  Returns how many come
 * before it.
 */
int64
hamming_sort_seek(HammingSort *sort, const HammingEntry *from)
{
	int64		before = 0;

	sort->nheap = 0;
	for (int i = 0; i < sort->nruns; i++)
	{
		HammingRun	run = sort->runs[i];

		before += search_run(&run, from);
		if (advance_run(&run))
		{
			sort->runs[i] = sort->runs[sort->nheap];
			sort->runs[sort->nheap++] = run;
		}
	}
	make_heap(sort->runs, sort->nheap);
	return before;
}

/*
 * Find entries that divide those of all parts into ranges of about the same
 * size: bounds[i] is where range i begins.  They are taken from a sample.
 */
void
hamming_sort_divide(HammingSort *sort, int ranges, HammingEntry *bounds)
{
	int64		total = 0;
	int64		step;
	int64		place = 0;
	int			count = 0;
	HammingEntry *sample;

	for (int i = 0; i < sort->nruns; i++)
		total += run_length(&sort->runs[i]);
	step = Max(total / (ranges * HAMMING_SAMPLE), 1);
	sample = (HammingEntry *) palloc((total / step + 1) *
									 sizeof(HammingEntry));

	/* One entry in so many, as if the runs lay behind each other. */
	for (int i = 0; i < sort->nruns; i++)
	{
		HammingRun	run = sort->runs[i];
		int64		length = run_length(&run);

		for (; place < length; place += step)
		{
			CHECK_FOR_INTERRUPTS();
			seek_run(&run, place);
			advance_run(&run);
			sample[count++] = run.head;
		}
		place -= length;
	}
	sort_entries(sample, count);
	for (int i = 1; i < ranges; i++)
		bounds[i] = sample[(int64) count * i / ranges];
	bounds[0].key = PG_INT64_MIN;
	bounds[0].tid = 0;
	pfree(sample);
}
