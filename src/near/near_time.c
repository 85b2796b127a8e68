/*-------------------------------------------------------------------------
 *
 * near_time.c
 *		The options time=column and for=interval of simhash_guard(): a row whose
 *		time is further from ours than that does not count.
 *
 * With 'for=7 days' a text may come again after a week, or be entered late with a time
 * of more than a week before.  Times are compared as timestamps, with or without time
 * zone as the column has it; days and months are counted back from the later one as
 * the server does, in the time zone of the session: so it does not matter which of two
 * rows comes first.  A row whose time is NULL or infinite always counts.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "utils/date.h"

/* Take the options. */
void
simhash_near_read_time(NearTerms *terms, Relation root, AttrNumber column,
					   Interval *period)
{
	Oid			type;

	type = getBaseType(simhash_near_attribute(root, column)->atttypid);
	simhash_near_refuse_generated(root, column,
								  "The option \"time\" takes a plain column.");
	if (type != DATEOID && type != TIMESTAMPOID && type != TIMESTAMPTZOID)
		simhash_near_refuse_type(root, column, "date or timestamp");
	terms->time = column;
	terms->time_type = type;
	terms->period = period;
}

/*
 * The time of a row that is in a slot; the end of all time for NULL, and for a date
 * that no timestamp has.
 */
TimestampTz
simhash_near_time(const NearTerms *terms, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, terms->time, &isnull);

	if (isnull)
		return DT_NOEND;
	if (terms->time_type == DATEOID)
	{
		if (DatumGetDateADT(value) >= TIMESTAMP_END_JULIAN - POSTGRES_EPOCH_JDATE)
			return DT_NOEND;
		value = DirectFunctionCall1(date_timestamp, value);
	}
	return DatumGetTimestampTz(value);
}

/*
 * Does a row, which is in a slot, count for one of that time?  All count where the
 * period goes back beyond the first timestamp, months being no longer than 31 days.
 */
bool
simhash_near_is_in_time(const NearTerms *terms, TimestampTz time,
						TupleTableSlot *slot)
{
	PGFunction	minus = terms->time_type == TIMESTAMPTZOID ?
	timestamptz_mi_interval : timestamp_mi_interval;
	const Interval *period = terms->period;
	TimestampTz other = simhash_near_time(terms, slot);
	TimestampTz later = Max(time, other);

	return TIMESTAMP_NOT_FINITE(time) || TIMESTAMP_NOT_FINITE(other) ||
		(double) later - period->time - USECS_PER_DAY *
		(31.0 * period->month + period->day) <= MIN_TIMESTAMP ||
		Min(time, other) >= DatumGetTimestampTz(DirectFunctionCall2(minus,
																	TimestampTzGetDatum(later),
																	IntervalPGetDatum(period)));
}
