/*-------------------------------------------------------------------------
 *
 * hamming_scan.c
 *		Scans of a hamming index: conditions, plans, and handing out matches.
 *
 * A scan takes any number of conditions, each of them a ball: "~=" is the ball
 * of radius 3.  The ball with the smallest radius is searched for, the others
 * are tested on the entries that turn up.  Entries lack two bits of the
 * fingerprint, so a match at the radius, or one less, has to be rechecked in
 * the table.  Of a stored ball an entry has the center alone, so every match
 * of an index of balls is rechecked.
 *
 * An index on several columns is searched within a group of rows that are equal
 * in all columns but the fingerprint (hamming_columns.c).  Every match is
 * rechecked, as rows of other groups may turn up.  A scan that does not know
 * the group cannot go by the index at all; the planner is told never to make
 * one (hamming_cost.c).  Should there be one nevertheless, it reads the table
 * and leaves the conditions to the executor.
 *
 * Blocks are passed through one after the other (entries.c says why each
 * row comes up once).  With ORDER BY, hamming_knn.c decides on the passes.
 * Fingerprints of several words are searched word by word (hamming_words.c).
 * Without any condition on the fingerprint the scan returns all rows; those
 * whose fingerprint is NULL have no entry, and are looked up in the table at
 * the end.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#include "compat.h"
#include "index/hamming_scan.h"
#include "index/hamming_build.h"
#include "search/search.h"

/* How many entries a page has, to begin with. */
static int
entries_per_page(Relation index, const ShLayout *layout)
{
	double		pages = index->rd_rel->relpages;
	double		entries = index->rd_rel->reltuples *
	hamming_row_entries(layout);

	if (pages <= 0 || entries <= 0)
		return HAMMING_PER_PAGE;
	return (int) Min(entries / pages, BLCKSZ / HAMMING_ENTRY_SIZE);
}

/* Start a scan. */
IndexScanDesc
hamming_beginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	HammingScan *so = (HammingScan *) palloc0(sizeof(HammingScan));

	so->layout = hamming_layout(index);
	so->tree.ncenters = hamming_row_entries(so->layout);
	so->tree.centers = (HammingChild *)
		palloc(so->tree.ncenters * sizeof(HammingChild));
	so->asked.balls = (HammingBall *) palloc(sizeof(HammingBall) * Max(nkeys, 1));
	so->matches.pinned = InvalidBuffer;
	so->plan_k = -1;
	so->runs.kept_for = -1;
	so->extent.rows = -1;
	so->extent.layout = so->layout;
	so->runs.page_entries = entries_per_page(index, so->layout);
	so->tree.height = HAMMING_MAX_HEIGHT - 1;
	hamming_forget_path(&so->tree);
	if (norderbys > 0)
	{
		scan->xs_orderbyvals = (Datum *) palloc0(sizeof(Datum) * norderbys);
		scan->xs_orderbynulls = (bool *) palloc(sizeof(bool) * norderbys);
		memset(scan->xs_orderbynulls, true, sizeof(bool) * norderbys);
	}
	scan->opaque = so;
	return scan;
}

/* Take a ball of the kind that an index is searched for; false if none is in it. */
bool
hamming_take_ball(Relation index, const ShLayout *layout, Datum datum,
				  HammingBall *ball)
{
	SimhashSearched indexed = hamming_indexed(index);
	SimhashBall argument;
	SimhashBitBall bits;

	if (indexed == SIMHASH_BITS || indexed == SIMHASH_BIT_BALLS)
	{
		if (!simhash_get_bit_ball(datum, &bits))
			return false;
		hamming_cut_bits(layout, &bits.center, &ball->center);
		ball->radius = bits.radius;
		return true;
	}
	if (indexed == SIMHASH_BALLS ? !simhash_get_ball(datum, &argument) :
		!simhash_get_scanned_ball(datum, &argument))
		return false;
	sh_cut_word(layout, (uint64) argument.center, &ball->center);
	ball->radius = argument.radius;
	return true;
}

/*
 * Turn a condition into a ball; false if it can hold for no row.
 *
 * A stored ball is near another one if their distance is at most the lesser
 * of the two radii, of which the index does not know the stored one.
 */
static bool
key_to_ball(Relation index, const ShLayout *layout, ScanKey key,
			HammingBall *ball)
{
	SimhashSearched indexed = hamming_indexed(index);

	if (key->sk_strategy == SIMHASH_EQUAL_STRATEGY)
	{
		sh_cut_word(layout, (uint64) hamming_integer(key->sk_argument,
													 key->sk_subtype),
					&ball->center);
		ball->radius = 0;
	}
	else if (key->sk_strategy == SIMHASH_NEAR_STRATEGY &&
			 indexed == SIMHASH_FINGERPRINTS)
	{
		sh_cut_word(layout, (uint64) DatumGetInt64(key->sk_argument),
					&ball->center);
		ball->radius = SH_NEAR;
	}
	else if (!hamming_take_ball(index, layout, key->sk_argument, ball))
		return false;
	ball->certain = -1;
	if (layout->words == 1 &&
		(indexed == SIMHASH_FINGERPRINTS || indexed == SIMHASH_BITS))
		ball->certain = ball->radius - layout->lost;
	return true;
}

/*
 * Find out which group is asked for: one condition by = on each column but the
 * fingerprint says it.  Further ones are left to the recheck.
 *
 * Precondition: no condition is NULL.
 */
static void
take_group(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	Relation	index = scan->indexRelation;
	int			fingerprint = hamming_fingerprint_column(index);
	int			columns = index->rd_index->indnkeyatts;
	int			column;

	so->asked.grouped = columns > 1;
	so->asked.no_group = false;
	so->asked.shift = 0;
	for (column = 0; column < columns; column++)
	{
		ScanKey		key = NULL;
		int			i;

		if (column == fingerprint)
			continue;
		for (i = 0; i < scan->numberOfKeys && key == NULL; i++)
		{
			if (scan->keyData[i].sk_attno == column + 1 &&
				scan->keyData[i].sk_strategy == SIMHASH_EQUAL_STRATEGY)
				key = &scan->keyData[i];
		}
		if (key == NULL)
			so->asked.no_group = true;
		else
			so->asked.shift =
				hamming_add_to_shift(so->asked.shift, index, column,
									 key->sk_argument, key->sk_subtype);
	}
}

/* Take a condition on the fingerprint; the smallest ball goes first. */
static void
take_ball(HammingScan *so, HammingBall ball)
{
	HammingBall *balls = so->asked.balls;

	if (so->asked.shift != 0)
		hamming_shift(so->layout, so->asked.shift, &ball.center);
	balls[so->asked.nballs] = ball;
	if (ball.radius < balls[0].radius)
	{
		balls[so->asked.nballs] = balls[0];
		balls[0] = ball;
	}
	so->asked.nballs++;
}

/* Take the conditions. */
static void
take_conditions(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	Relation	index = scan->indexRelation;
	int			fingerprint = hamming_fingerprint_column(index);
	int			i;

	so->asked.nballs = 0;
	so->asked.impossible = false;
	for (i = 0; i < scan->numberOfKeys; i++)
		so->asked.impossible |= (scan->keyData[i].sk_flags & SK_ISNULL) != 0;
	if (so->asked.impossible)
		return;
	take_group(scan);
	for (i = 0; i < scan->numberOfKeys && !so->asked.no_group; i++)
	{
		HammingBall ball;

		if (scan->keyData[i].sk_attno != fingerprint + 1)
			continue;
		if (key_to_ball(index, so->layout, &scan->keyData[i], &ball))
			take_ball(so, ball);
		else
			so->asked.impossible = true;
	}
}

static void
drop_nulls(HammingScan *so)
{
	if (so->nulls != NULL)
		tuplesort_end(so->nulls);
	so->nulls = NULL;
}

/* Take what the rows are to be near to. */
static void
take_order_center(IndexScanDesc scan, Datum center)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	if (hamming_indexed(scan->indexRelation) == SIMHASH_BITS)
	{
		so->asked.order_bits = simhash_get_bits(center);
		hamming_cut_bits(so->layout, &so->asked.order_bits,
						 &so->asked.order_center);
	}
	else
		sh_cut_word(so->layout, (uint64) DatumGetInt64(center),
					&so->asked.order_center);
}

/*
 * Take the order that is asked for.  A distance to NULL is NULL for every row,
 * so the first other one decides.  Further ones are left to the executor, for
 * which zero is a lower bound of any distance; so are all where the group is not
 * known, and those to a bigint that is not the fingerprint.
 */
static void
take_order(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	int			fingerprint = hamming_fingerprint_column(scan->indexRelation);
	int			i;

	so->asked.order_by = -1;
	so->asked.open_order = false;
	for (i = 0; i < scan->numberOfOrderBys; i++)
	{
		ScanKey		order = &scan->orderByData[i];

		scan->xs_orderbynulls[i] = (order->sk_flags & SK_ISNULL) != 0;
		scan->xs_orderbyvals[i] = Int32GetDatum(0);
		if (scan->xs_orderbynulls[i])
			continue;
		if (so->asked.no_group || order->sk_attno != fingerprint + 1)
			so->asked.open_order = true;
		else if (so->asked.order_by < 0)
		{
			so->asked.order_by = i;
			take_order_center(scan, order->sk_argument);
			hamming_shift(so->layout, so->asked.shift,
						  &so->asked.order_center);
		}
	}
}

/* Drop all that the search before has left. */
static void
reset(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	hamming_drop_matches(scan);
	drop_nulls(so);
	hamming_nearest_reset(so);
	hamming_words_reset(so);
	so->started = false;
	hamming_drop_passes(&so->runs);
}

/* Begin anew, with other conditions if there are any. */
void
hamming_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
			   ScanKey orderbys, int norderbys)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	(void) nkeys;
	(void) norderbys;
	reset(scan);
	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys,
				scan->numberOfOrderBys * sizeof(ScanKeyData));

	take_conditions(scan);
	take_order(scan);
	so->want_nulls = so->asked.nballs == 0;
}

/*
 * Is there more than one word to search?  Without a condition or an order,
 * one is enough to get at all rows.
 */
static inline bool
in_words(HammingScan *so)
{
	return so->layout->words > 1 &&
		(so->asked.nballs > 0 || so->asked.order_by >= 0);
}

/* First use since the last rescan: settle what to do. */
static void
start(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	so->started = true;
	so->matches.keep_pin = scan->xs_want_itup ||
		!IsMVCCSnapshot(scan->xs_snapshot) ||
		!RelationNeedsWAL(scan->indexRelation);
	if (so->asked.impossible)
		return;
	simhash_count_search(scan);
	pgstat_count_index_scan(scan->indexRelation);
	if (so->asked.no_group)
		return;

	if (in_words(so))
		return;
	hamming_plan(scan);
	if (so->asked.order_by < 0)
		hamming_add_passes(so);
}

/*
 * Rescan for what another scan was told to search for: to take a value of SQL
 * apart once is enough for several indexes.
 *
 * Precondition: both indexes have one column, of one type, and both scans as
 * many conditions; no order is asked for.
 */
void
hamming_rescan_like(IndexScanDesc scan, IndexScanDesc other)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	const HammingConditions *asked =
	&((HammingScan *) other->opaque)->asked;
	HammingBall *balls = so->asked.balls;

	Assert(so->layout == ((HammingScan *) other->opaque)->layout);
	Assert(scan->numberOfKeys == other->numberOfKeys);

	/* As index_rescan() does. */
	if (scan->xs_heapfetch != NULL)
		table_index_fetch_reset(scan->xs_heapfetch);
	scan->kill_prior_tuple = false;
	scan->xs_heap_continue = false;

	reset(scan);
	memcpy(balls, asked->balls, asked->nballs * sizeof *balls);
	so->asked = *asked;
	so->asked.balls = balls;
	so->want_nulls = asked->nballs == 0;
}

/*
 * Begin the search that hamming_rescan() was told of, as far as that goes
 * without waiting for memory.  C code that searches several indexes begins one
 * search before it goes on with another.  Rescans of such a scan may be under
 * different snapshots, so it does not go by pages that an earlier one has seen.
 */
void
hamming_begin_search(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	hamming_forget_path(&so->tree);
	start(scan);
	if (!in_words(so))
		(void) hamming_next_run(scan);
}

/* Let go of all that a search holds, whether it has come to its end or not. */
void
hamming_end_search(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	hamming_drop_matches(scan);
	hamming_words_reset(so);
	hamming_forget_path(&so->tree);
}

/*
 * Read pages until there is a batch of matches, or a page of them if that page
 * has to stay pinned.
 */
static void
fill_matches(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	while (so->matches.count < HAMMING_BATCH && !BufferIsValid(so->matches.pinned) &&
		   hamming_read_page(scan))
		;
}

/* Called for each row of the table; remember those that have no entries. */
static void
note_null(Relation index, ItemPointer tid, Datum *values, bool *isnull,
		  bool alive, void *state)
{
	HammingScan *so = (HammingScan *) state;
	ShValue		ignored;

	(void) alive;
	if (!so->asked.no_group &&
		hamming_row(index, so->layout, values, isnull, &ignored))
		return;
	tuplesort_putdatum(so->nulls, Int64GetDatum(hamming_pack_tid(tid)), false);
}

/*
 * Gather the rows that have no entries, in the order of the table: those
 * without a fingerprint, and those that are NULL in another column.  All rows
 * if the group is not known, as then no entries are read.
 */
static void
collect_nulls(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	so->nulls = hamming_begin_numbers(so, 0);
	hamming_read_table(scan, note_null, so);
	tuplesort_performsort(so->nulls);
}

/* The next row that has no entries. */
static bool
next_null(IndexScanDesc scan, ItemPointer tid)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	Datum		place;

	if (!so->want_nulls || so->asked.impossible)
		return false;
	if (so->nulls == NULL)
		collect_nulls(scan);
	if (!simhash_sorted_datum(so->nulls, &place))
		return false;
	hamming_unpack_tid((uint64) DatumGetInt64(place), tid);
	return true;
}

/* The next match, or NULL. */
static HammingMatch *
next_match(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingMatch *match;

	if (!so->started)
		start(scan);
	if (so->matches.next >= so->matches.count)
	{
		hamming_drop_matches(scan);
		if (so->asked.impossible)
			return NULL;
		if (in_words(so))
			hamming_words_fill(scan);
		else if (so->asked.order_by >= 0)
			hamming_nearest_fill(scan);
		else
			fill_matches(scan);
		hamming_unpin_path(&so->tree);
		if (so->matches.count == 0)
			return NULL;
	}
	match = &so->matches.items[so->matches.next++];
	hamming_check_tid(scan, &match->tid);
	return match;
}

/*
 * Return an index tuple without content.  The planner goes by the index alone
 * only where no column is wanted, as there is none that the index can return.
 */
static void
return_nothing(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	if (so->nothing == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(so));
		Datum		values[INDEX_MAX_KEYS] = {0};
		bool		isnull[INDEX_MAX_KEYS];

		memset(isnull, true, sizeof(isnull));
		so->nothing = index_form_tuple(RelationGetDescr(scan->indexRelation),
									   values, isnull);
		MemoryContextSwitchTo(old);
	}
	scan->xs_itup = so->nothing;
	scan->xs_itupdesc = RelationGetDescr(scan->indexRelation);
}

/* Return the next row. */
bool
hamming_gettuple(IndexScanDesc scan, ScanDirection dir)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingMatch *match;
	int			fingerprint;
	int			i;

	if (dir != ForwardScanDirection)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("hamming indexes cannot be scanned backwards")));

	if (scan->kill_prior_tuple && so->matches.next > 0)
	{
		so->matches.items[so->matches.next - 1].killed = true;
		so->matches.nkilled++;
	}

	if (scan->xs_want_itup)
		return_nothing(scan);
	match = next_match(scan);
	if (match != NULL)
	{
		scan->xs_heaptid = match->tid;
		scan->xs_recheck = match->recheck || so->asked.grouped;
		if (so->asked.order_by >= 0)
			scan->xs_orderbyvals[so->asked.order_by] =
				Int32GetDatum(match->distance);
		scan->xs_recheckorderby = so->asked.order_by >= 0 ||
			so->asked.open_order;
		return true;
	}

	/* The rows that follow have no fingerprint, if the group is known. */
	fingerprint = hamming_fingerprint_column(scan->indexRelation);
	for (i = 0; i < scan->numberOfOrderBys; i++)
	{
		if (!so->asked.no_group &&
			scan->orderByData[i].sk_attno == fingerprint + 1)
			scan->xs_orderbynulls[i] = true;
	}
	scan->xs_recheck = so->asked.grouped;
	scan->xs_recheckorderby = so->asked.open_order;
	return next_null(scan, &scan->xs_heaptid);
}

/* Add all rows to a bitmap. */
int64
hamming_getbitmap(IndexScanDesc scan, TIDBitmap *tbm)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingMatch *match;
	ItemPointerData tid;
	int64		count = 0;

	((HammingScan *) scan->opaque)->repeats = true;
	while ((match = next_match(scan)) != NULL)
	{
		tbm_add_tuples(tbm, &match->tid, 1,
					   match->recheck || so->asked.grouped);
		count++;
	}
	while (next_null(scan, &tid))
	{
		tbm_add_tuples(tbm, &tid, 1, so->asked.grouped);
		count++;
	}
	return count;
}

/* End a scan. */
void
hamming_endscan(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	hamming_drop_matches(scan);
	drop_nulls(so);
	hamming_nearest_reset(so);
	hamming_words_reset(so);
	hamming_forget_path(&so->tree);
	hamming_free_matches(&so->matches);
	pfree(so->tree.centers);
	pfree(so->asked.balls);
	pfree(so);
}
