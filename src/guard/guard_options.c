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
static const char *const actions[] = {"reject", "skip", "mark"};

/* An option: name=value, or the name alone if there is nothing to read. */
typedef struct GuardOption
{
	const char *name;
	const char *needs;			/* an option, or NULL */
	const char *action;			/* that it is for, or NULL for any */
	void		(*read) (Guard *guard, Relation relation, const char *value);
} GuardOption;

/* Beside errmsg: what all errors in the arguments of a trigger have in common. */
int
simhash_guard_argument_error(void)
{
	errcode(ERRCODE_INVALID_PARAMETER_VALUE);
	return errhint("The arguments of simhash_guard are a column, an action ('reject', 'skip' or 'mark'), a distance, and options: 'document=column', 'profile=name', 'within=column,...', 'except=column,...', 'verify=measure>=similarity', 'mark=column', 'notice'.");
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

static void
read_document(Guard *guard, Relation relation, const char *value)
{
	guard->document = simhash_guard_column(relation, value);
}

static void
read_profile(Guard *guard, Relation relation, const char *value)
{
	(void) relation;
	guard->profile = simhash_get_profile(cstring_to_text(value));
}

static void
read_verify(Guard *guard, Relation relation, const char *value)
{
	(void) relation;
	if (!simhash_guard_read_verify(guard, value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("trigger \"%s\": \"%s\" is nothing to verify",
						guard->name, value),
				 errhint("It is a measure, jaccard or cosine, and the least similarity of near-duplicates, as in 'verify=jaccard>=0.8'.")));
}

static void
read_within(Guard *guard, Relation relation, const char *value)
{
	(void) relation;
	guard->within = pstrdup(value);
}

static void
read_except(Guard *guard, Relation relation, const char *value)
{
	(void) relation;
	guard->except = pstrdup(value);
}

static void
read_mark(Guard *guard, Relation relation, const char *value)
{
	guard->mark = simhash_guard_column(relation, value);
}

static const GuardOption options[] = {
	{"document", NULL, NULL, read_document},
	{"profile", "document", NULL, read_profile},
	{"verify", "document", NULL, read_verify},
	{"within", NULL, NULL, read_within},
	{"except", NULL, NULL, read_except},
	{"mark", NULL, "mark", read_mark},
	{"notice", NULL, "skip", NULL}
};

/* The value of an option of that name, or NULL if the argument is another. */
static const char *
option_value(const char *argument, const char *name)
{
	size_t		length = strlen(name);

	return strncmp(argument, name, length) == 0 && argument[length] == '=' ?
		argument + length + 1 : NULL;
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

/* Which option an argument is; fails if it is none. */
static const GuardOption *
find_option(const Guard *guard, const char *argument)
{
	for (size_t i = 0; i < lengthof(options); i++)
	{
		if (options[i].read != NULL ?
			option_value(argument, options[i].name) != NULL :
			strcmp(argument, options[i].name) == 0)
			return &options[i];
	}
	if (option_value(argument, "fingerprint") != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("trigger \"%s\": a guard computes no expressions",
						guard->name),
				 errhint("Make the column a generated one: GENERATED ALWAYS AS (%s) STORED.",
						 option_value(argument, "fingerprint"))));
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
	if (option->action != NULL &&
		strcmp(option->action, actions[guard->action]) != 0)
		ereport(ERROR,
				(errmsg("trigger \"%s\": option \"%s\" is for the action \"%s\"",
						guard->name, option->name, option->action),
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

/* Read the options, which follow the first three arguments. */
static void
read_options(Guard *guard, Relation relation, const Trigger *trigger)
{
	guard->profile = sh_default_profile;
	for (int i = 3; i < trigger->tgnargs; i++)
	{
		const char *argument = trigger->tgargs[i];
		const GuardOption *option = find_option(guard, argument);

		check_option(guard, trigger, option);
		if (option->read != NULL)
			option->read(guard, relation, option_value(argument, option->name));
		else
			guard->notice = true;
	}
	if (guard->action == GUARD_MARK && guard->mark == 0)
		ereport(ERROR,
				(errmsg("trigger \"%s\": action \"mark\" needs an option mark=column",
						guard->name),
				 simhash_guard_argument_error()));
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
	guard->column = simhash_guard_column(relation, trigger->tgargs[0]);
	guard->action = read_action(guard, trigger->tgargs[1]);
	if (!simhash_guard_radius(trigger, &guard->radius))
		ereport(ERROR,
				(errmsg("trigger \"%s\": distance \"%s\" is not a number",
						guard->name, trigger->tgargs[2]),
				 simhash_guard_argument_error()));
	guard->type = simhash_guard_type(relation, guard->column);
	simhash_check_radius(guard->radius, guard->type.width);
	read_options(guard, relation, trigger);
}
