/*-------------------------------------------------------------------------
 *
 * hamming_runs.c
 *		What to read of a hamming index, in the order of its keys.
 *
 * A pass goes through one block and reads the entries under the probes of its
 * shells, in the order of their keys.  A run is a range of keys to read: one
 * probe, or several with so few entries between them that to read on is
 * cheaper than to go down the tree again.
 *
 * For example, block 0 is searched within 1 around the key 0x0004.  Its probes
 * are 0000, 0004, 0005, 0006, 000c, 0014 and so on.  With 100 entries under
 * each key, 0004 to 0006 are one run, and all others runs of their own.  With
 * one entry under each, 0000 to 0084 are one run, as there are less than 64
 * entries between any two probes up to there.
 *
 * Leaf pages lie all over the memory, and waiting for them is most of what a
 * search costs.  So up to HAMMING_AHEAD runs are laid out before the first of
 * them is read: the tree is asked for the page of each, and that page is
 * fetched into the processor's cache meanwhile.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "index/hamming_scan.h"
#include "index/hamming_tricks.h"

/* Entries fewer than this between two probes are read, not searched across. */
#define HAMMING_SKIP_ENTRIES	64.0

/* Drop all passes. */
void
hamming_drop_passes(HammingRuns *runs)
{
	runs->have_run = false;
	runs->nahead = runs->next_ahead = 0;
	runs->npasses = 0;
	runs->pass = 0;
	runs->next_probe = 0;
}

/*
 * Add a pass through the shells nearest .. farthest of a block, around
 * runs->center.  "done" tells how far each other block has been searched, -1
 * for not at all: what those have found, this pass leaves out.
 *
 * Precondition: passes are added in the order of their blocks.
 */
void
hamming_add_pass(HammingRuns *runs, int block, int nearest, int farthest,
				 const int *done)
{
	HammingPass *pass = &runs->passes[runs->npasses++];

	pass->block = block;
	pass->nearest = nearest;
	pass->farthest = farthest;
	memcpy(pass->done, done, sizeof(pass->done));
	pass->center_key = hamming_key(sh_entry(runs->center, block));
	pass->center_probe = sh_entry_key(runs->center, block);
}

/* Lay out the next run of the passes.  Returns false if there is none. */
static bool
lay_out_run(HammingScan *so, HammingRun *run)
{
	HammingRuns *runs = &so->runs;

	for (; runs->pass < runs->npasses; runs->pass++, runs->next_probe = 0)
	{
		HammingPass *pass = &runs->passes[runs->pass];
		int			width = sh_block_width(pass->block);
		double		density = so->extent.rows / (1 << width);
		uint32		first;
		uint32		last;

		first = last = sh_entry_probe(pass->center_probe, width, pass->nearest,
									  pass->farthest, runs->next_probe);
		if (first == SH_NO_PROBE)
			continue;
		if (pass->nearest <= 0 && pass->farthest >= width)
			last = (1 << width) - 1;
		else if (pass->farthest > 0)
			for (;;)
			{
				uint32		next = sh_entry_probe(pass->center_probe, width,
												  pass->nearest,
												  pass->farthest, last + 1);

				if (next == SH_NO_PROBE ||
					(next - last - 1) * density >= HAMMING_SKIP_ENTRIES)
					break;
				last = next;
			}

		run->pass = pass;
		run->low = hamming_key(sh_entry_first(pass->block, first));
		run->high = hamming_key(sh_entry_last(pass->block, last));
		runs->next_probe = last + 1;
		return true;
	}
	return false;
}

/*
 * Find where a run begins.  Returns false if the index is empty.
 *
 * A serializable transaction must hold a predicate lock on what it has looked
 * at, and an empty index has no page to lock, so it locks the relation.  An
 * insertion may have come in between: so we look again afterwards.
 */
static bool
locate(IndexScanDesc scan, HammingRun *run)
{
	if (hamming_locate(scan, run))
		return true;
	if (!IsolationIsSerializable())
		return false;
	PredicateLockRelation(scan->indexRelation, scan->xs_snapshot);
	return hamming_locate(scan, run);
}

/*
 * Turn to the next run that begins on the page at hand, if it is known already
 * that there is one.  Called with that page locked, so it looks at no other.
 */
bool
hamming_next_run_on_page(HammingRuns *runs, BlockNumber blkno)
{
	runs->have_run = runs->nahead > 0 &&
		runs->ahead[runs->next_ahead].blkno == blkno;
	if (runs->have_run)
	{
		runs->run = runs->ahead[runs->next_ahead];
		runs->next_ahead = (runs->next_ahead + 1) % HAMMING_AHEAD;
		runs->nahead--;
	}
	return runs->have_run;
}

/*
 * Turn to the next run of the passes.  Returns false, and drops the passes, if
 * there is none.
 */
bool
hamming_next_run(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingRuns *runs = &so->runs;

	while (runs->nahead < HAMMING_AHEAD)
	{
		HammingRun *run =
		&runs->ahead[(runs->next_ahead + runs->nahead) % HAMMING_AHEAD];

		if (!lay_out_run(so, run))
			break;
		if (!locate(scan, run))
		{
			runs->nahead = 0;
			break;
		}
		hamming_fetch_ahead(scan->indexRelation, run->blkno, run->place,
							runs->page_entries);
		if (BlockNumberIsValid(run->next))
			hamming_fetch_ahead(scan->indexRelation, run->next, 0,
								runs->page_entries);
		runs->nahead++;
	}
	if (runs->nahead > 0)
		return hamming_next_run_on_page(runs,
										runs->ahead[runs->next_ahead].blkno);
	hamming_drop_passes(runs);
	return false;
}
