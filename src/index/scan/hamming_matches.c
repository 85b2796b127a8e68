/*-------------------------------------------------------------------------
 *
 * hamming_matches.c
 *		The matches of a scan, which are gathered page by page.
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
#include "index/scan/hamming_scan.h"

#include "utils/memutils.h"

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
