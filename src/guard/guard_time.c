/*-------------------------------------------------------------------------
 *
 * guard_time.c
 *		The options time=column and for=interval of simhash_guard(): a row whose
 *		time is older than ours by more than that does not count.
 *
 * With 'for=7 days' a text may come again after a week.  Times are compared as
 * timestamps, with or without time zone as the column has it; days and months are
 * counted as the server does, in the time zone of the session.  A row whose time
 * is NULL always counts, and so does a newer one.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "utils/date.h"

/* Say to which option it belongs that a text is no interval. */
static void
say_option(void *period)
{
	errhint("Argument \"for\" is \"%s\". It must be an interval, such as '30 days'.",
			(const char *) period);
}

/* Take the options, if there are any. */
void
simhash_guard_read_time(GuardTerms *terms, Relation root, AttrNumber column,
						const char *period)
{
	Oid			type;
	Interval	zero = {0};
	ErrorContextCallback callback = {error_context_stack, say_option, unconstify(char *, period)};

	if (column == 0)
		return;
	type = getBaseType(simhash_guard_attribute(root, column)->atttypid);
	simhash_guard_refuse_generated(root, column,
								   "The option \"time\" takes a plain column.");
	if (type != DATEOID && type != TIMESTAMPOID && type != TIMESTAMPTZOID)
		simhash_guard_refuse_type(root, column, "date or timestamp");
	terms->time = column;
	terms->time_type = type;
	error_context_stack = &callback;
	terms->period = DatumGetIntervalP(DirectFunctionCall3(interval_in,
														  CStringGetDatum(period),
														  ObjectIdGetDatum(InvalidOid),
														  Int32GetDatum(-1)));
	error_context_stack = callback.previous;
	if (DatumGetBool(DirectFunctionCall2(interval_lt,
										 IntervalPGetDatum(terms->period),
										 IntervalPGetDatum(&zero))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"for\" is \"%s\"", period),
				 errhint("It must be an interval that is not negative, such as '30 days'.")));
}

/*
 * The time of a row that is in a slot; the end of all time for NULL, and for a date
 * that no timestamp has.
 */
TimestampTz
simhash_guard_time(const GuardTerms *terms, TupleTableSlot *slot)
{
	bool		isnull = true;
	Datum		value = (Datum) 0;

	if (terms->time != 0)
		value = slot_getattr(slot, terms->time, &isnull);
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
 * From what time on does a row count for one of that time?  All count where that is
 * before the first timestamp, months being no longer than 31 days.
 */
TimestampTz
simhash_guard_oldest(const GuardTerms *terms, TimestampTz time)
{
	PGFunction	minus = terms->time_type == TIMESTAMPTZOID ?
	timestamptz_mi_interval : timestamp_mi_interval;
	const Interval *period = terms->period;

	if (time == DT_NOEND ||
		(double) time - period->time - USECS_PER_DAY *
		(31.0 * period->month + period->day) <= MIN_TIMESTAMP)
		return DT_NOBEGIN;
	return DatumGetTimestampTz(DirectFunctionCall2(minus,
												   TimestampTzGetDatum(time),
												   IntervalPGetDatum(period)));
}
