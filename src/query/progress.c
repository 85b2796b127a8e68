/*-------------------------------------------------------------------------
 *
 * progress.c
 *		Where a long call is: for others in pg_stat_activity, and in notices.
 *
 * The server's own views of progress know only the server's commands, and
 * shared memory of our own would have to be preloaded.  But every session has
 * a name that all may read, application_name in pg_stat_activity.  If
 * simhash.progress asks for it, a call that takes more than a second borrows
 * that name: "simhash_pairs searching 42 %", which is 42 % of that phase; what
 * comes after it nobody knows yet.  The setting application_name itself does
 * not change, so logs do not either, and when the call has ended, well or not,
 * the name is put back.  By default nothing is shown, as monitoring may know
 * sessions by their names.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "query/query.h"

#include "utils/backend_status.h"

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

static int	progress_mode = PROGRESS_OFF;

/* The call that is running; its query may have begun another one. */
static SimhashProgress *call = NULL;

/* Does the session show where a call is in place of its own name? */
static bool renamed = false;

/* Define the setting. */
void
simhash_progress_init(void)
{
	DefineCustomEnumVariable("simhash.progress",
							 "Shows how far long reports are.",
							 "\"activity\" shows it in pg_stat_activity as the application name of the session, \"notice\" sends notices as well.",
							 &progress_mode, PROGRESS_OFF,
							 progress_modes, PGC_USERSET, 0,
							 NULL, NULL, NULL);
}

/* Is it time to say something again? */
static bool
is_time(void)
{
	return progress_mode != PROGRESS_OFF &&
		TimestampDifferenceExceeds(call->said, GetCurrentTimestamp(),
								   EVERY_MS);
}

/* Say where the call is. */
static void
say(const char *where)
{
	char		name[NAMEDATALEN];

	snprintf(name, sizeof name, "%s %s", call->name, where);
	pgstat_report_appname(name);
	renamed = true;
	call->said = GetCurrentTimestamp();
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
	call = progress;
}

/* A step begins that may take long and say no more. */
void
simhash_progress_step(const char *what)
{
	if (progress_mode != PROGRESS_OFF)
		say(what);
}

/*
 * So many rows have been read, or listed.  The number of rows is kept from the
 * caller of a SECURITY DEFINER function, who may not be allowed to read them.
 */
void
simhash_progress_rows(const char *what, int64 rows)
{
	if (is_time())
		say(InLocalUserIdChange() ? what :
			psprintf("%s, " INT64_FORMAT " rows", what, rows));
}

/* Such a part of a phase, 0 to 1, has been done. */
void
simhash_progress_part(const char *phase, double done)
{
	if (is_time())
		say(psprintf("%s %.0f %%", phase, done * 100));
}

/* The same of the search, which sorts before it begins. */
void
simhash_progress_done(void *context pg_attribute_unused(), double done)
{
	CHECK_FOR_INTERRUPTS();
	if (done > 0)
		simhash_progress_part("searching", done);
	else if (is_time())
		say("sorting");
}

/*
 * The call has ended, well or not.  The session gets its own name back, unless
 * an outer call goes on, which will say where it is.
 */
void
simhash_progress_end(SimhashProgress *progress)
{
	call = progress->outer;
	if (call != NULL || !renamed)
		return;
	renamed = false;
	pgstat_report_appname(application_name ? application_name : "");
}

/* Do the work of a call from its beginning to its end. */
void
simhash_show_progress(const char *name, void (*work) (void *context),
					  void *context)
{
	SimhashProgress progress;

	simhash_progress_begin(&progress, name);
	PG_TRY();
	{
		work(context);
	}
	PG_FINALLY();
	{
		simhash_progress_end(&progress);
	}
	PG_END_TRY();
}
