/*-------------------------------------------------------------------------
 *
 * hamming_sort.c
 *		Sorting entries: of an index that is being built, or of rows found.
 *
 * An entry is a key and a TID, 16 bytes in all.  They are gathered in an array
 * that grows to the memory allowed, sorted there, and written to a temporary
 * file, a stretch, whenever it is full.  In the end all stretches are merged,
 * with a block of each in memory.  With maintenance_work_mem = 64 MB, entries of
 * a billion rows make a thousand stretches, whose blocks are 8 MB.  Where the
 * blocks would take more than is allowed, the array grows, so that both stay
 * small: with 1 MB, of a billion rows, some 32 MB each rather than 1 and 512.
 *
 * The server's own sort (tuplesort.c) sorts tuples of any kind, and pays for
 * that with three times the memory for each entry and a call for each
 * comparison: with it a build takes twice the time of the processor, or three
 * times if all entries fit into memory.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/binaryheap.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#include "index/build/hamming_sort.h"

/* Entries that there is room for to begin with. */
#define HAMMING_SORT_ROOM	1024

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

/* Entries that have been sorted and written, and the next of them. */
typedef struct SortedStretch
{
	HammingEntry head;
	BufFile    *file;
} SortedStretch;

struct HammingSort
{
	MemoryContext context;
	size_t		most;			/* entries that memory may hold, */
	size_t		room;			/* that it has room for now, */
	size_t		count;			/* and that it holds */
	size_t		next;			/* to hand out, if nothing was written */
	HammingEntry *entries;
	List	   *stretches;
	binaryheap *heap;			/* of those, by the next entry */
};

/* Begin to sort within so many kilobytes, but at least one megabyte. */
HammingSort *
hamming_sort_begin(int kilobytes)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "hamming sort",
												  ALLOCSET_DEFAULT_SIZES);
	HammingSort *sort = MemoryContextAllocZero(context, sizeof(HammingSort));

	sort->context = context;
	sort->most = Max((size_t) kilobytes, 1024) * 1024 / sizeof(HammingEntry);
	sort->room = HAMMING_SORT_ROOM;
	sort->entries = MemoryContextAlloc(context,
									   sort->room * sizeof(HammingEntry));
	return sort;
}

/* Sort what is in memory, and write it out. */
static void
write_stretch(HammingSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	SortedStretch *stretch = palloc(sizeof(SortedStretch));

	sort_entries(sort->entries, sort->count);
	stretch->file = BufFileCreateTemp(false);
	BufFileWrite(stretch->file, sort->entries,
				 sort->count * sizeof(HammingEntry));
	sort->stretches = lappend(sort->stretches, stretch);
	if ((size_t) list_length(sort->stretches) * BLCKSZ >
		sort->most * sizeof(HammingEntry))
		sort->most *= 2;
	sort->count = 0;
	MemoryContextSwitchTo(old);
}

/* Add an entry. */
void
hamming_sort_put(HammingSort *sort, int64 key, uint64 tid)
{
	HammingEntry *entry;

	if (sort->count == sort->room && sort->room < sort->most)
	{
		sort->room = Min(sort->room * 2, sort->most);
		sort->entries = repalloc_huge(sort->entries,
									  sort->room * sizeof(HammingEntry));
	}
	else if (sort->count == sort->room)
		write_stretch(sort);
	entry = &sort->entries[sort->count++];
	entry->key = key;
	entry->tid = tid;
}

/* Read the next entry of a stretch; false at its end. */
static bool
advance_stretch(SortedStretch *stretch)
{
	size_t		got = BufFileRead(stretch->file, &stretch->head,
								  sizeof(stretch->head));

	if (got != 0 && got != sizeof(stretch->head))
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file: read only %zu of %zu bytes",
						got, sizeof(stretch->head))));
	return got != 0;
}

/* The order of stretches in a heap, which has the greatest first. */
static int
compare_stretches(Datum a, Datum b, void *arg)
{
	(void) arg;
	return compare_entries(&((SortedStretch *) DatumGetPointer(b))->head,
						   &((SortedStretch *) DatumGetPointer(a))->head);
}

/* No more entries will be added; get ready to hand them out. */
void
hamming_sort_perform(HammingSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(sort->context);
	ListCell   *lc;

	if (sort->stretches == NIL)
		sort_entries(sort->entries, sort->count);
	else
	{
		write_stretch(sort);
		pfree(sort->entries);
		sort->heap = binaryheap_allocate(list_length(sort->stretches),
										 compare_stretches, NULL);
		foreach(lc, sort->stretches)
		{
			SortedStretch *stretch = lfirst(lc);

			if (BufFileSeek(stretch->file, 0, 0, SEEK_SET) != 0)
				ereport(ERROR,
						(errcode_for_file_access(),
						 errmsg("could not seek in a temporary file: %m")));
			advance_stretch(stretch);
			binaryheap_add_unordered(sort->heap, PointerGetDatum(stretch));
		}
		binaryheap_build(sort->heap);
	}
	MemoryContextSwitchTo(old);
}

/* Hand out the next entry; false at the end. */
bool
hamming_sort_next(HammingSort *sort, HammingEntry *entry)
{
	SortedStretch *stretch;

	if (sort->heap == NULL)
	{
		if (sort->next >= sort->count)
			return false;
		*entry = sort->entries[sort->next++];
		return true;
	}
	if (binaryheap_empty(sort->heap))
		return false;
	stretch = (SortedStretch *) DatumGetPointer(binaryheap_first(sort->heap));
	*entry = stretch->head;
	if (advance_stretch(stretch))
		binaryheap_replace_first(sort->heap, PointerGetDatum(stretch));
	else
		(void) binaryheap_remove_first(sort->heap);
	return true;
}

/* Give back what a sort holds. */
void
hamming_sort_end(HammingSort *sort)
{
	ListCell   *lc;

	foreach(lc, sort->stretches)
		BufFileClose(((SortedStretch *) lfirst(lc))->file);
	MemoryContextDelete(sort->context);
}
