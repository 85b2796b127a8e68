/*-------------------------------------------------------------------------
 *
 * hamming_matches.c
 *		The matches of a scan: gathered page by page, handed out, forgotten.
 *
 * Invariants.  Matches of one page stand together.  If the scan keeps pins,
 * all matches are of the one page that is pinned.  A match whose page is -1 has
 * no place in the index: a nearest-first scan keeps matches so long that their
 * entries may be elsewhere by the time they are handed out.
 *
 * Entries whose rows turn out to be dead to everyone are marked dead when the
 * matches are dropped, all of a page at a time.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "index/hamming_scan.h"

/* Make room for a page of matches more, in the memory of the scan. */
void
hamming_prepare_matches(HammingScan *so)
{
	HammingMatches *matches = &so->matches;
	Size		room = HAMMING_BATCH + HAMMING_PAGE_ENTRIES;

	if (matches->items != NULL)
		return;
	matches->items = (HammingMatch *)
		MemoryContextAlloc(GetMemoryChunkContext(so),
						   room * sizeof(HammingMatch));
	matches->pages = (HammingPage *)
		MemoryContextAlloc(GetMemoryChunkContext(so),
						   room * sizeof(HammingPage));
}

/* Note the page that a match comes from; returns where. */
int
hamming_note_page(HammingMatches *matches, Buffer buffer)
{
	BlockNumber blkno = BufferGetBlockNumber(buffer);
	int			last = matches->npages - 1;

	if (last >= 0 && matches->pages[last].blkno == blkno)
		return last;
	matches->pages[matches->npages].blkno = blkno;
	matches->pages[matches->npages].lsn = BufferGetLSNAtomic(buffer);
	return matches->npages++;
}

/* Complain of the TID of an entry if no row can have it: nobody else looks. */
void
hamming_check_tid(IndexScanDesc scan, ItemPointer tid)
{
	if (unlikely(!ItemPointerIsValid(tid) ||
				 !BlockNumberIsValid(ItemPointerGetBlockNumberNoCheck(tid))))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("an entry of index \"%s\" is of no row",
						RelationGetRelationName(scan->indexRelation)),
				 errhint("Please REINDEX it.")));
}

/*
 * Mark entries dead on the page that matches first .. end - 1 came from.
 *
 * If the page was not pinned in the meantime, its LSN tells whether anything
 * was changed on it, in particular whether vacuum has made place for new rows
 * under the same TIDs.  A page that was pinned may have been split: what was
 * its first entry may be its high key now, which has no TID to go by.
 */
static void
kill_on_page(IndexScanDesc scan, int first, int end)
{
	HammingMatches *matches = &((HammingScan *) scan->opaque)->matches;
	HammingPage *known = &matches->pages[matches->items[first].page];
	Buffer		buffer = ReadBuffer(scan->indexRelation, known->blkno);
	Page		page = BufferGetPage(buffer);
	BTPageOpaque opaque = BTPageGetOpaque(page);
	OffsetNumber last;
	bool		marked = false;
	int			i;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (P_IGNORE(opaque) ||
		(!matches->keep_pin && BufferGetLSNAtomic(buffer) != known->lsn))
	{
		UnlockReleaseBuffer(buffer);
		return;
	}

	last = PageGetMaxOffsetNumber(page);
	for (i = first; i < end; i++)
	{
		HammingMatch *match = &matches->items[i];
		ItemId		iid;

		if (!match->killed || match->offset > last ||
			match->offset < P_FIRSTDATAKEY(opaque))
			continue;
		iid = PageGetItemId(page, match->offset);
		if (!ItemIdIsDead(iid) &&
			ItemPointerEquals(&match->tid,
							  &hamming_page_tuple(page, match->offset)->t_tid))
		{
			ItemIdMarkDead(iid);
			marked = true;
		}
	}
	if (marked)
	{
		opaque->btpo_flags |= BTP_HAS_GARBAGE;
		MarkBufferDirtyHint(buffer, true);
	}
	UnlockReleaseBuffer(buffer);
}

/*
 * Mark the entries dead whose rows were found dead to everyone, so that the
 * next scan does not return them and the next insertion may remove them.
 */
static void
mark_dead(IndexScanDesc scan)
{
	HammingMatches *matches = &((HammingScan *) scan->opaque)->matches;
	int			first;
	int			end;

	for (first = 0; first < matches->count; first = end)
	{
		int			page = matches->items[first].page;
		bool		any = false;

		for (end = first;
			 end < matches->count && matches->items[end].page == page;
			 end++)
			any |= matches->items[end].killed;
		if (any && page >= 0)
			kill_on_page(scan, first, end);
	}
	matches->nkilled = 0;
}

/* Forget the matches at hand, marking the dead ones in the index. */
void
hamming_drop_matches(IndexScanDesc scan)
{
	HammingMatches *matches = &((HammingScan *) scan->opaque)->matches;

	if (matches->nkilled > 0)
		mark_dead(scan);
	if (BufferIsValid(matches->pinned))
		ReleaseBuffer(matches->pinned);
	matches->pinned = InvalidBuffer;
	matches->count = matches->next = matches->npages = 0;
}

/* Free the room for matches. */
void
hamming_free_matches(HammingMatches *matches)
{
	if (matches->items == NULL)
		return;
	pfree(matches->items);
	pfree(matches->pages);
}
