/*-------------------------------------------------------------------------
 *
 * guard_options.c
 *		The arguments of simhash_guard(): a column, an action, a distance, and
 *		options, each of them a text.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The actions, in the order of GuardAction. */
static const char *const actions[] = {
	"reject", "skip", "mark", "star", "connected"
};

/* The families of the option "fill", in the order of GuardFill. */
static const char *const families[] = {NULL, "simhash", "minhash"};

/* An option: name=value, or the name alone if it is a flag. */
typedef struct GuardOption
{
	const char *name;
	bool		flag;
	const char *needs;			/* an option, or NULL */
	int			actions;		/* that it is for */
} GuardOption;

/* Sets of actions. */
#define ONLY(action)	(1 << (action))
#define KEEPS_OUT		(ONLY(GUARD_REJECT) | ONLY(GUARD_SKIP) | ONLY(GUARD_MARK))
#define KEEPS_CLUSTERS	(ONLY(GUARD_STAR) | ONLY(GUARD_CONNECTED))
#define ANY				(KEEPS_OUT | KEEPS_CLUSTERS)

static const GuardOption options[] = {
	{"document", false, NULL, ANY},
	{"fill", false, "document", KEEPS_OUT},
	{"profile", false, "document", ANY},
	{"similarity", false, NULL, ANY},
	{"at_least", false, NULL, ANY},
	{"within", false, NULL, ANY},
	{"except", false, NULL, KEEPS_OUT},
	{"mark", false, NULL, ONLY(GUARD_MARK)},
	{"notice", true, NULL, ONLY(GUARD_SKIP)},
	{"cluster", false, NULL, KEEPS_CLUSTERS},
	{"clusters", false, "cluster", KEEPS_CLUSTERS},
	{"since", false, "cluster", KEEPS_CLUSTERS},
	{"later", true, "cluster", KEEPS_CLUSTERS}
};

/* Beside errmsg: what all errors in the arguments of a trigger have in common. */
int
simhash_guard_argument_error(void)
{
	errcode(ERRCODE_INVALID_PARAMETER_VALUE);
	return errhint("The arguments of simhash_guard are a column, an action ('reject', 'skip' or 'mark'), a distance, and options: 'document=column', 'fill=family', 'profile=name', 'within=column,...', 'except=column,...', 'similarity=measure', 'at_least=number', 'mark=column', 'notice'.");
}

/* The column of that name; fails when there is none. */
AttrNumber
simhash_guard_column(Relation relation, const char *name)
{
	AttrNumber	column = get_attnum(RelationGetRelid(relation), name);

	if (column <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(relation)),
				 errhint("The arguments of a trigger name columns as they were when it was made. Make it anew.")));
	return column;
}

/* The value of an option of that name, or NULL if the argument is another. */
static const char *
option_value(const char *argument, const char *name)
{
	size_t		length = strlen(name);

	if (strncmp(argument, name, length) != 0)
		return NULL;
	argument += length;
	return *argument == '=' ? argument + 1 : *argument == '\0' ? argument : NULL;
}

/* The value of the option of that name that a trigger has; NULL for none. */
const char *
simhash_guard_option(const Trigger *trigger, const char *name)
{
	const char *value = NULL;

	for (int i = 3; i < trigger->tgnargs && value == NULL; i++)
		value = option_value(trigger->tgargs[i], name);
	return value;
}

/* The column that an option names; 0 if it is not given. */
static AttrNumber
option_column(Relation relation, const Trigger *trigger, const char *name)
{
	const char *value = simhash_guard_option(trigger, name);

	return value == NULL ? 0 : simhash_guard_column(relation, value);
}

/* Which option an argument is; fails if it is none. */
static const GuardOption *
find_option(const Guard *guard, const char *argument)
{
	for (size_t i = 0; i < lengthof(options); i++)
	{
		if (option_value(argument, options[i].name) != NULL &&
			(strchr(argument, '=') == NULL) == options[i].flag)
			return &options[i];
	}
	ereport(ERROR,
			(errmsg("trigger \"%s\": unknown option \"%s\"",
					guard->name, argument),
			 simhash_guard_argument_error()));
}

/* Fail unless an option goes with the action and the other options. */
static void
check_option(const Guard *guard, const Trigger *trigger,
			 const GuardOption *option)
{
	if ((option->actions & ONLY(guard->action)) == 0)
		ereport(ERROR,
				(errmsg("trigger \"%s\": option \"%s\" is not for the action \"%s\"",
						guard->name, option->name, actions[guard->action]),
				 simhash_guard_argument_error()));
	if (option->needs != NULL &&
		simhash_guard_option(trigger, option->needs) == NULL)
		ereport(ERROR,
				(errmsg("trigger \"%s\": option \"%s\" needs an option %s=column",
						guard->name, option->name, option->needs),
				 simhash_guard_argument_error()));
}

/* The action of that name. */
static GuardAction
read_action(const Guard *guard, const char *name)
{
	for (size_t i = 0; i < lengthof(actions); i++)
	{
		if (strcmp(name, actions[i]) == 0)
			return (GuardAction) i;
	}
	ereport(ERROR,
			(errmsg("trigger \"%s\": unknown action \"%s\"", guard->name, name),
			 simhash_guard_argument_error()));
}

/* The distance that a trigger has as its third argument; false if none. */
bool
simhash_guard_radius(const Trigger *trigger, int *radius)
{
	char	   *end;
	long		number;

	number = strtol(trigger->tgargs[2], &end, 10);
	*radius = (int) Max(Min(number, INT_MAX), INT_MIN);
	return end != trigger->tgargs[2] && *end == '\0';
}

/* What the option "fill" says. */
static GuardFill
read_fill(const Guard *guard, const char *name)
{
	if (name == NULL)
		return GUARD_FILL_NONE;
	for (size_t i = 1; i < lengthof(families); i++)
	{
		if (strcmp(name, families[i]) == 0)
			return (GuardFill) i;
	}
	ereport(ERROR,
			(errmsg("trigger \"%s\": cannot fill fingerprints by \"%s\"",
					guard->name, name),
			 simhash_guard_argument_error()));
}

/* Read the options, which follow the first three arguments. */
static void
read_options(Guard *guard, Relation relation, const Trigger *trigger)
{
	const char *profile = simhash_guard_option(trigger, "profile");

	for (int i = 3; i < trigger->tgnargs; i++)
		check_option(guard, trigger, find_option(guard, trigger->tgargs[i]));
	if (profile != NULL)
		guard->profile = simhash_get_profile(cstring_to_text(profile));
	guard->document = option_column(relation, trigger, "document");
	guard->fill = read_fill(guard, simhash_guard_option(trigger, "fill"));
	guard->mark = option_column(relation, trigger, "mark");
	guard->cluster = option_column(relation, trigger, "cluster");
	guard->since = option_column(relation, trigger, "since");
	guard->notice = simhash_guard_option(trigger, "notice") != NULL;
	guard->later = simhash_guard_option(trigger, "later") != NULL;
	if (guard->document != 0 && guard->fill == GUARD_FILL_NONE &&
		simhash_guard_option(trigger, "similarity") == NULL &&
		simhash_guard_option(trigger, "at_least") == NULL)
		ereport(ERROR,
				(errmsg("trigger \"%s\": option \"document\" needs an option similarity=measure%s",
						guard->name, GUARD_CLUSTERS(guard->action) ? "" :
						", at_least=number or fill=family"),
				 simhash_guard_argument_error()));
	if (guard->action == GUARD_MARK && guard->mark == 0)
		ereport(ERROR,
				(errmsg("trigger \"%s\": action \"mark\" needs an option mark=column",
						guard->name),
				 simhash_guard_argument_error()));
	if (GUARD_CLUSTERS(guard->action) &&
		simhash_guard_option(trigger, "clusters") == NULL)
		ereport(ERROR,
				(errmsg("trigger \"%s\": action \"%s\" needs options cluster=column and clusters=table",
						guard->name, actions[guard->action]),
				 errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errhint("CALL simhash_add_clusters(...) makes such triggers.")));
}

/* Read the arguments of the trigger. */
void
simhash_guard_read_arguments(Guard *guard, Relation relation,
							 const Trigger *trigger)
{
	if (trigger->tgnargs < 3)
		ereport(ERROR,
				(errmsg("trigger \"%s\": simhash_guard needs three arguments",
						guard->name),
				 simhash_guard_argument_error()));
	guard->fingerprint.column = simhash_guard_column(relation,
													 trigger->tgargs[0]);
	guard->action = read_action(guard, trigger->tgargs[1]);
	if (!simhash_guard_radius(trigger, &guard->radius))
		ereport(ERROR,
				(errmsg("trigger \"%s\": distance \"%s\" is not a number",
						guard->name, trigger->tgargs[2]),
				 simhash_guard_argument_error()));
	guard->type = simhash_guard_type(relation, guard->fingerprint.column);
	simhash_check_radius(guard->radius, guard->type.width);
	read_options(guard, relation, trigger);
}
