/*-------------------------------------------------------------------------
 *
 * hamming_matches.c
 *		The matches of a scan: gathered page by page, and handed out.
 *
 * If the scan keeps pins, all matches are of the one page that is pinned.
 *
 * Entries whose rows are dead to everyone are not marked so: to remove them
 * before vacuum comes is up to the btree code, and that would take entries of
 * which no two on a page have one TID.  README says what that costs.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/scan/hamming_scan.h"

/*
 * Add a match, of whose distance nothing is known yet.
 *
 * Precondition: there are less than HAMMING_BATCH, or a page has been read
 * since there were.
 */
HammingMatch *
hamming_add_match(HammingScan *so, ItemPointer tid)
{
	HammingMatches *matches = &so->matches;
	HammingMatch *match;

	if (matches->items == NULL)
		matches->items = (HammingMatch *)
			MemoryContextAlloc(GetMemoryChunkContext(so),
							   (HAMMING_BATCH + HAMMING_PAGE_ENTRIES) *
							   sizeof(HammingMatch));
	match = &matches->items[matches->count++];
	match->tid = *tid;
	match->distance = 0;
	match->recheck = true;
	return match;
}

/*
 * The next match to hand out, or NULL.  Complains of its TID if no row can
 * have it: nobody else looks.
 */
HammingMatch *
hamming_next_match(IndexScanDesc scan)
{
	HammingMatches *matches = &((HammingScan *) scan->opaque)->matches;
	HammingMatch *match;

	if (matches->next >= matches->count)
		return NULL;
	match = &matches->items[matches->next++];
	if (unlikely(!ItemPointerIsValid(&match->tid) ||
				 !BlockNumberIsValid(ItemPointerGetBlockNumberNoCheck(&match->tid))))
		hamming_corrupted(scan->indexRelation,
						  "an entry of index \"%s\" does not point to a row");
	return match;
}

/* Unlock a page; unpin it, unless its matches are to keep the pin. */
void
hamming_leave_page(HammingMatches *matches, Buffer buffer, int before)
{
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	if (matches->keep_pin && matches->count > before)
		matches->pinned = buffer;
	else
		ReleaseBuffer(buffer);
}

/* Forget the matches at hand. */
void
hamming_drop_matches(HammingScan *so)
{
	HammingMatches *matches = &so->matches;

	if (BufferIsValid(matches->pinned))
		ReleaseBuffer(matches->pinned);
	matches->pinned = InvalidBuffer;
	matches->count = matches->next = 0;
}
