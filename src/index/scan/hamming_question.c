/*-------------------------------------------------------------------------
 *
 * hamming_question.c
 *		What a scan of a hamming index is asked for, from its scan keys.
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
 * the group returns all rows, and leaves conditions and order to the executor.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan/hamming_scan.h"

/*
 * Turn a condition into a ball; false if it can hold for no row.
 *
 * A stored ball is near another one if their distance is at most the lesser
 * of the two radii, of which the index does not know the stored one.
 */
static bool
key_to_ball(const HammingIndexState *index, ScanKey key, HammingBall *ball)
{
	const ShLayout *layout = index->layout;
	SimhashSearched indexed = index->indexed;

	if (key->sk_strategy == SIMHASH_EQUAL_STRATEGY)
	{
		sh_cut_word(layout, (uint64) simhash_integer(key->sk_argument,
													 key->sk_subtype),
					&ball->center);
		ball->radius = 0;
	}
	else if (key->sk_strategy == SIMHASH_NEAR_STRATEGY &&
			 indexed == SIMHASH_FINGERPRINTS)
	{
		(void) hamming_cut(index, key->sk_argument, &ball->center);
		ball->radius = SH_NEAR;
	}
	else if (!hamming_cut_ball(index, key->sk_argument, &ball->center,
							   &ball->radius))
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
take_group_shift(IndexScanDesc scan)
{
	HammingScan *so = (HammingScan *) scan->opaque;
	Relation	index = scan->indexRelation;
	int			fingerprint = so->index.fingerprint;
	int			columns = so->index.columns;

	so->asked.grouped = columns > 1;
	so->asked.no_group = false;
	so->asked.shift = 0;
	for (int column = 0; column < columns; column++)
	{
		ScanKey		key = NULL;

		if (column == fingerprint)
			continue;
		for (int i = 0; i < scan->numberOfKeys && key == NULL; i++)
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
	int			fingerprint = so->index.fingerprint;

	so->asked.nballs = 0;
	so->asked.impossible = false;
	so->asked.nulls = true;
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		so->asked.impossible |= (scan->keyData[i].sk_flags & SK_ISNULL) != 0;
		so->asked.nulls &= scan->keyData[i].sk_attno != fingerprint + 1;
	}
	if (so->asked.impossible)
		return;
	take_group_shift(scan);
	for (int i = 0; i < scan->numberOfKeys && !so->asked.no_group; i++)
	{
		HammingBall ball;

		if (scan->keyData[i].sk_attno != fingerprint + 1)
			continue;
		if (key_to_ball(&so->index, &scan->keyData[i], &ball))
			take_ball(so, ball);
		else
			so->asked.impossible = true;
	}
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
	int			fingerprint = so->index.fingerprint;

	so->asked.order_by = -1;
	so->asked.open_order = false;
	for (int i = 0; i < scan->numberOfOrderBys; i++)
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
			(void) hamming_cut(&so->index, order->sk_argument,
							   &so->asked.order_center);
			hamming_shift(so->layout, so->asked.shift,
						  &so->asked.order_center);
		}
	}
}

/* Find out what a scan is asked for. */
void
hamming_ask(IndexScanDesc scan)
{
	take_conditions(scan);
	take_order(scan);
}

/*
 * How far from the center of the order the entries of a row may be that meets
 * all conditions: in all words together at most the distance to the center of a
 * ball and the radius of that ball.
 */
int
hamming_farthest(const HammingScan *so)
{
	const HammingQuestion *asked = &so->asked;
	int			farthest = so->layout->kept * so->layout->words;

	for (int i = 0; i < asked->nballs; i++)
	{
		int			reach = asked->balls[i].radius;

		for (int w = 0; w < so->layout->words; w++)
			reach += sh_distance(asked->balls[i].center.words[w],
								 asked->order_center.words[w]);
		farthest = Min(farthest, reach);
	}
	return farthest;
}
