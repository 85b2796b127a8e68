/*-------------------------------------------------------------------------
 *
 * progress.c
 *		Where a long call is: for others in pg_stat_activity, and in notices.
 *
 * The server's own views of progress know only the server's commands, and
 * shared memory of our own would have to be preloaded.  But every session has
 * a name that all may read, application_name in pg_stat_activity, and a call
 * that takes more than a second may well borrow it: "simhash_pairs 42 %, 12 s
 * left".  The setting application_name itself does not change, so logs do not
 * either, and in the end the name is put back, whatever has happened.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "query/query.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#define EVERY_MS		1000	/* between two messages */

typedef enum ProgressMode
{
	PROGRESS_OFF,
	PROGRESS_ACTIVITY,
	PROGRESS_NOTICE
}			ProgressMode;

static const struct config_enum_entry progress_modes[] = {
	{"off", PROGRESS_OFF, false},
	{"activity", PROGRESS_ACTIVITY, false},
	{"notice", PROGRESS_NOTICE, false},
	{NULL, 0, false}
};

static int	progress_mode = PROGRESS_ACTIVITY;

/* The call that is running; its query may have begun another one. */
static SimhashProgress *call = NULL;

/* Define the setting. */
void
simhash_progress_init(void)
{
	DefineCustomEnumVariable("simhash.progress",
							 "Shows how far long reports are.",
							 "\"activity\" shows it in pg_stat_activity as the application name of the session, \"notice\" sends notices as well.",
							 &progress_mode, PROGRESS_ACTIVITY,
							 progress_modes, PGC_USERSET, 0,
							 NULL, NULL, NULL);
}

/* Is it time to say something? */
static bool
is_time(TimestampTz now)
{
	if (progress_mode == PROGRESS_OFF ||
		!TimestampDifferenceExceeds(call->said, now, EVERY_MS))
		return false;
	call->said = now;
	return true;
}

/* Say where we are. */
static void
say(const char *where)
{
	char		name[NAMEDATALEN];

	snprintf(name, sizeof name, "%s %s", call->name, where);
	pgstat_report_appname(name);
	call->renamed = true;
	if (progress_mode == PROGRESS_NOTICE)
		ereport(NOTICE, errmsg_internal("%s", name));
}

/* Begin a call, of which the caller keeps the state until it ends. */
void
simhash_progress_begin(SimhashProgress *progress, const char *name)
{
	progress->outer = call;
	progress->name = name;
	progress->said = GetCurrentTimestamp();
	progress->searching = 0;
	progress->renamed = false;
	call = progress;
}

/* A step begins, which may take long and say no more. */
void
simhash_progress_step(const char *what)
{
	if (progress_mode == PROGRESS_OFF)
		return;
	call->said = GetCurrentTimestamp();
	say(what);
}

/*
 * So many rows have been read, or listed.  How many there are is nothing for the
 * caller of a function that reads with its owner's rights.
 */
void
simhash_progress_rows(const char *what, int64 rows)
{
	char		where[NAMEDATALEN];

	if (!is_time(GetCurrentTimestamp()))
		return;
	snprintf(where, sizeof where, "%s", what);
	if (!InLocalUserIdChange())
		snprintf(where, sizeof where, "%s, " INT64_FORMAT " rows", what, rows);
	say(where);
}

/* Such a part of something, 0 to 1, has been done. */
void
simhash_progress_part(const char *what, double done)
{
	char		where[NAMEDATALEN];

	if (!is_time(GetCurrentTimestamp()))
		return;
	snprintf(where, sizeof where, "%s %.0f %%", what, done * 100);
	say(where);
}

/* Such a part of the search, 0 to 1, has been done. */
void
simhash_progress_done(void *context pg_attribute_unused(), double done)
{
	TimestampTz now = GetCurrentTimestamp();
	char		where[NAMEDATALEN];

	CHECK_FOR_INTERRUPTS();
	if (call->searching == 0 || done <= 0)
		call->searching = now;
	if (!is_time(now))
		return;
	if (done > 0)
		snprintf(where, sizeof where, "%.0f %%, %.0f s left", done * 100,
				 (double) (now - call->searching) / USECS_PER_SEC *
				 (1 - done) / done);
	else
		snprintf(where, sizeof where, "sorting");
	say(where);
}

/*
 * The call has ended, well or not.  The session gets its own name back, or
 * keeps this one until the outer call says where it is.
 */
void
simhash_progress_end(SimhashProgress *progress)
{
	call = progress->outer;
	if (!progress->renamed)
		return;
	if (call != NULL)
		call->renamed = true;
	else
		pgstat_report_appname(application_name ? application_name : "");
}
