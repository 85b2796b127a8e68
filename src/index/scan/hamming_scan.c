/*-------------------------------------------------------------------------
 *
 * hamming_scan.c
 *		Scans of a hamming index: from the question to the matches.
 *
 * A search takes five stages, each of which hands the next one something
 * finished:
 *
 *	question	what is asked, from the scan keys		hamming_question.c
 *	plan		how far to go in each block				hamming_plan.c
 *	cursor		the leaf pages with what the plan wants	hamming_cursor.c
 *	compare		the entries of a page that are near		hamming_compare.c
 *	matches		what the executor gets					hamming_matches.c
 *
 * Here they are put together.  Blocks are passed through one after the other
 * (entries.c says why each row comes up once).  With ORDER BY, hamming_nearest.c
 * makes plan after plan by what was found.  Fingerprints of several words are
 * searched word by word (hamming_words.c).  Without any condition on the
 * fingerprint the scan returns all rows: those of block 0, and at the end those
 * whose entry is NULL.
 *
 * Nothing here reads the table, or evaluates an expression or predicate of the
 * index: these are code of the table's owner, and would run with the rights of
 * the user who asks.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "index/build/hamming_sort.h"

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

	hamming_init_state(index, &so->index);
	so->layout = so->index.layout;
	so->words = (HammingWords *)
		palloc0(offsetof(HammingWords, plans) +
				so->layout->words * sizeof(HammingPlan));
	so->asked.balls = (HammingBall *) palloc(sizeof(HammingBall) * Max(nkeys, 1));
	so->matches.pinned = InvalidBuffer;
	so->rows = -1;
	so->compare = hamming_compare_fastest();
	so->cursor.page_entries = entries_per_page(index, so->layout);
	if (norderbys > 0)
	{
		scan->xs_orderbyvals = (Datum *) palloc0(sizeof(Datum) * norderbys);
		scan->xs_orderbynulls = (bool *) palloc(sizeof(bool) * norderbys);
		memset(scan->xs_orderbynulls, true, sizeof(bool) * norderbys);
	}
	scan->opaque = so;
	return scan;
}

/* Forget the matches at hand. */
static void
drop_matches(HammingMatches *matches)
{
	if (BufferIsValid(matches->pinned))
		ReleaseBuffer(matches->pinned);
	matches->pinned = InvalidBuffer;
	matches->count = matches->next = 0;
}

/* Drop all that the search before has left. */
static void
forget_search(HammingScan *so)
{
	drop_matches(&so->matches);
	if (so->nearest != NULL)
		hamming_nearest_reset(so);
	if (so->words->found != NULL)
		hamming_sort_end(so->words->found);
	so->words->found = NULL;
	so->started = false;
	so->in_nulls = false;
}

/* Begin anew, with other conditions if there are any. */
void
hamming_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
			   ScanKey orderbys, int norderbys)
{
	(void) nkeys;
	(void) norderbys;
	forget_search((HammingScan *) scan->opaque);
	if (keys && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys,
				scan->numberOfOrderBys * sizeof(ScanKeyData));
	hamming_ask(scan);
}

/*
 * Is there more than one word to search?  Without a condition one is enough to
 * get at all rows.  All rows that are found in several words are rechecked, so
 * their pages need not stay pinned: a place that another row has taken is
 * rechecked, too.
 */
static inline bool
in_words(HammingScan *so)
{
	return so->layout->words > 1 && so->asked.nballs > 0;
}

/* Do the pages of matches have to stay pinned?  hamming_cursor.c says why. */
static bool
wants_pins(IndexScanDesc scan)
{
	return scan->xs_want_itup || !IsMVCCSnapshot(scan->xs_snapshot);
}

/* First use since the last rescan: settle what to do. */
static void
begin_search(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	const HammingBall *ball = so->asked.balls;

	so->started = true;
	so->matches.keep_pin = !in_words(so) && so->asked.order_by < 0 &&
		wants_pins(scan);
	if (so->asked.impossible)
		return;
	simhash_count_search(scan);
	pgstat_count_index_scan(scan->indexRelation);
	if (so->asked.order_by >= 0)
		return;
	if (so->asked.nballs > 0)
		(void) hamming_plan_words(scan, &ball->center, ball->radius, NULL);
	else
		hamming_plan_all_rows(scan);
}

/*
 * Read one leaf page of entries of NULL.  Returns false at the end; otherwise as
 * hamming_read_page().
 */
static bool
read_nulls(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	int			before = so->matches.count;
	Buffer		buffer = hamming_walk(scan, &so->nulls);
	Page		page;
	OffsetNumber offset;

	if (!BufferIsValid(buffer))
		return false;
	page = BufferGetPage(buffer);
	offset = P_FIRSTDATAKEY(BTPageGetOpaque(page));
	for (; offset <= PageGetMaxOffsetNumber(page); offset++)
	{
		IndexTuple	itup = hamming_page_tuple(page, offset);

		if (!P_IGNORE(BTPageGetOpaque(page)) && IndexTupleHasNulls(itup))
			hamming_add_match(so, &itup->t_tid)->recheck = false;
	}
	hamming_leave_page(&so->matches, buffer, before);
	return true;
}

/*
 * Read pages by a function until there is a batch of matches, or a page of them
 * if that page has to stay pinned.
 */
static void
fill_matches(IndexScanDesc scan, bool (*read_page) (IndexScanDesc scan))
{
	HammingMatches *matches = &((HammingScan *) scan->opaque)->matches;

	while (matches->count < HAMMING_BATCH &&
		   !BufferIsValid(matches->pinned) && read_page(scan))
		;
}

/* Find the next matches, if there are any. */
static void
find_matches(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	if (so->in_nulls)
		;
	else if (so->asked.order_by >= 0)
		hamming_nearest_fill(scan);
	else if (in_words(so) && !so->repeats)
		hamming_words_fill(scan);
	else
		fill_matches(scan, hamming_read_words);
	if (so->matches.count > 0 || !so->asked.nulls)
		return;
	if (!so->in_nulls)
	{
		so->in_nulls = true;
		so->matches.keep_pin = wants_pins(scan);
		hamming_begin_walk(scan, PG_INT64_MAX, &so->nulls);
	}
	fill_matches(scan, read_nulls);
}

/*
 * The next match, or NULL.  Complains of its TID if no row can have it: nobody
 * else looks.
 */
static HammingMatch *
next_match(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingMatches *matches = &so->matches;
	HammingMatch *match;

	if (!so->started)
		begin_search(scan);
	if (so->asked.impossible)
		return NULL;
	if (matches->next >= matches->count)
	{
		drop_matches(matches);
		find_matches(scan);
		if (matches->count == 0)
			return NULL;
	}
	match = &matches->items[matches->next++];
	if (unlikely(!ItemPointerIsValid(&match->tid) ||
				 !BlockNumberIsValid(ItemPointerGetBlockNumberNoCheck(&match->tid))))
		hamming_corrupted(scan->indexRelation,
						  "an entry of index \"%s\" does not point to a row");
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

/*
 * Say how far a row is from what the order is by.  A row without a fingerprint
 * is no distance away; it comes last.
 */
static void
set_distances(IndexScanDesc scan, const HammingMatch *match)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	scan->xs_recheckorderby = so->asked.open_order;
	if (!so->in_nulls)
	{
		if (so->asked.order_by < 0)
			return;
		scan->xs_orderbyvals[so->asked.order_by] =
			Int32GetDatum(match->distance);
		scan->xs_recheckorderby = true;
		return;
	}
	for (int i = 0; i < scan->numberOfOrderBys; i++)
	{
		if (scan->orderByData[i].sk_attno == so->index.fingerprint + 1)
			scan->xs_orderbynulls[i] = true;
	}
}

/* Return the next row. */
bool
hamming_gettuple(IndexScanDesc scan, ScanDirection dir)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingMatch *match;

	if (dir != ForwardScanDirection)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("hamming indexes cannot be scanned backwards")));

	if (scan->xs_want_itup)
		return_nothing(scan);
	match = next_match(scan);
	if (match == NULL)
		return false;
	scan->xs_heaptid = match->tid;
	scan->xs_recheck = match->recheck || so->asked.grouped;
	set_distances(scan, match);
	return true;
}

/* Add all rows to a bitmap. */
int64
hamming_getbitmap(IndexScanDesc scan, TIDBitmap *tbm)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	HammingMatch *match;
	int64		count = 0;

	so->repeats = true;
	while ((match = next_match(scan)) != NULL)
	{
		tbm_add_tuples(tbm, &match->tid, 1,
					   match->recheck || so->asked.grouped);
		count++;
	}
	return count;
}

/* End a scan. */
void
hamming_endscan(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;

	forget_search(so);
	if (so->matches.items != NULL)
		pfree(so->matches.items);
	pfree(so->asked.balls);
	pfree(so->words);
	pfree(so);
}
