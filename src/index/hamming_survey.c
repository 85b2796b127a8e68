/*-------------------------------------------------------------------------
 *
 * hamming_survey.c
 *		Looking whether a query falls among a crowd.
 *
 * A crowd is a key of a block that far more rows share than chance would
 * have it.  For example, half a million pages of one web site begin with the
 * same menu, and agree in block 2.  Searches are planned for entries that are
 * spread evenly (entries.c): such a plan would read all half million.
 *
 * So before a search begins we look at the inner pages of the btree.  They
 * tell where the entries under the query's own key begin in each block, which
 * the search has to know anyway, and whether they end within a reasonable
 * number of leaf pages.  If they do in every block, the search goes ahead as
 * planned.  Otherwise the crowds are measured, under the query's keys and
 * under those that differ in one bit, and the search is planned anew, with
 * smaller radii in crowded blocks and greater ones in the others.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "index/hamming_scan.h"

/*
 * The leaf pages that the entries under one key may take before we call them
 * a crowd: HAMMING_CROWD_PAGES, and HAMMING_CROWD_TIMES the pages that are to
 * be expected besides.  To read that many costs about as much as to measure.
 */
#define HAMMING_CROWD_PAGES		64
#define HAMMING_CROWD_TIMES		4

/* The first and the last key of a probe. */
static inline int64
first_key(HammingScan *so, int block, uint32 probe)
{
	return hamming_key(sh_entry_first(so->layout, so->runs.word, block, probe));
}

static inline int64
last_key(HammingScan *so, int block, uint32 probe)
{
	return hamming_key(sh_entry_last(so->layout, so->runs.word, block, probe));
}

/* Is there a crowd under the query's own key? */
static bool
meets_crowd(IndexScanDesc scan, int block)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingChild *leaf = hamming_center(so, block);
	uint32		probe = sh_entry_key(so->layout, so->runs.center, block);
	int64		low = first_key(so, block, probe);
	int64		high = last_key(so, block, probe);
	double		expected = so->extent.rows / so->extent.per_page /
	(1 << so->layout->widths[block]);

	if (leaf->low <= low && high <= leaf->high)
		return false;
	if (!hamming_descend(scan, low, leaf) || leaf->high >= high)
		return false;
	return hamming_reaches(&so->tree, low, high,
						   HAMMING_CROWD_PAGES +
						   (int) (HAMMING_CROWD_TIMES * expected));
}

/* How many times more entries than usual are under a probe. */
static double
crowd_under(IndexScanDesc scan, int block, uint32 probe)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	double		share = hamming_share(scan, last_key(so, block, probe)) -
	hamming_share(scan, first_key(so, block, probe));

	return share * hamming_row_entries(so->layout) *
		(1 << so->layout->widths[block]);
}

/* Measure the crowd in a block. */
static void
measure(IndexScanDesc scan, int block)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	uint32		probe = sh_entry_key(so->layout, so->runs.center, block);
	int			width = so->layout->widths[block];
	double		neighbors = 0;
	int			i;

	CHECK_FOR_INTERRUPTS();
	for (i = 0; i < width; i++)
		neighbors += crowd_under(scan, block, probe ^ (1 << i));
	so->extent.crowd[block][0] = Max(crowd_under(scan, block, probe), 1);
	so->extent.crowd[block][1] = Max(neighbors / width, 1);
}

/*
 * Look around the query.  Returns true, with so->extent saying so, if there is
 * a crowd in some block.
 */
bool
hamming_survey(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	bool		crowded = false;
	int			block;

	if (so->extent.rows < HAMMING_CROWD_PAGES * so->extent.per_page)
		return false;

	for (block = 0; block < so->layout->blocks; block++)
	{
		if (so->asked.order_by >= 0 || so->plan.radius[block] >= 0)
			crowded |= meets_crowd(scan, block);
	}
	if (!crowded)
		return false;

	for (block = 0; block < so->layout->blocks; block++)
		measure(scan, block);
	so->crowded = true;
	return true;
}
