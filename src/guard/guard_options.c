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
#include "guard/guard_options.h"

#include "access/sysattr.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "relation.h"

/* The actions, in the order of GuardAction. */
static const char *const actions[] = {"reject", "skip", "mark", "conflict"};

/* The families of the option "fill", by the measure that they estimate. */
static const char *const families[] = {
	[SIMHASH_JACCARD] = "minhash",
	[SIMHASH_COSINE] = "simhash"
};

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
#define ANY				(ONLY(GUARD_REJECT) | ONLY(GUARD_SKIP) | ONLY(GUARD_MARK) | \
						 ONLY(GUARD_CONFLICT))

static const GuardOption options[] = {
	{"document", false, NULL, ANY},
	{"fill", false, "document", ANY},
	{"profile", false, "document", ANY},
	{"similarity", false, NULL, ANY},
	{"at_least", false, NULL, ANY},
	{"at_most", false, "document", ANY},
	{"compare", false, NULL, ANY},
	{"within", false, NULL, ANY},
	{"time", false, "for", ANY},
	{"for", false, "time", ANY},
	{"except", false, NULL, ANY},
	{"mark", false, NULL, ONLY(GUARD_MARK)},
	{"notice", true, NULL, ONLY(GUARD_SKIP)}
};

/* The hints of all errors in the arguments. */
static const char arguments_hint[] =
"The arguments of simhash_guard are a column, an action ('reject', 'skip', 'mark' or 'conflict'), a distance, and options: 'document=column', 'fill=family', 'profile=name', 'within=column,...', 'except=column,...', 'similarity=measure', 'at_least=number', 'at_most=bits', 'compare=rows', 'time=column', 'for=interval', 'mark=column', 'notice'.";
static const char renamed_hint[] =
" The arguments of a trigger name columns as they were when it was created. Drop it and create it again.";

/* Fail because of an argument: the message, and what the arguments may be. */
#define argument_error(...) \
	ereport(ERROR, \
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE), \
			 errmsg(__VA_ARGS__), \
			 errhint("%s", arguments_hint)))

/* The place of a name among n; n if it is not among them. */
static int
find_name(const char *name, const char *const *names, int n)
{
	int			i = 0;

	while (i < n && strcmp(name, names[i]) != 0)
		i++;
	return i;
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
static const char *
find_value(const Trigger *trigger, const char *name)
{
	const char *value = NULL;

	for (int i = 3; i < trigger->tgnargs && value == NULL; i++)
		value = option_value(trigger->tgargs[i], name);
	return value;
}

/*
 * The names of columns in an option of a trigger, as they are or in double
 * quotes, with commas between them.  NIL if there is no such list.
 */
static List *
find_names(const Trigger *trigger, const char *option)
{
	const char *value = find_value(trigger, option);
	List	   *names;

	return value != NULL && SplitGUCList(pstrdup(value), ',', &names) ?
		names : NIL;
}

/* Fail unless an argument is an option that goes with the action and others. */
static void
check_option(const Trigger *trigger, const char *argument, GuardAction action)
{
	const GuardOption *option = NULL;

	for (size_t i = 0; i < lengthof(options); i++)
	{
		if (option_value(argument, options[i].name) != NULL &&
			(strchr(argument, '=') == NULL) == options[i].flag)
			option = &options[i];
	}
	if (option == NULL)
		argument_error("trigger \"%s\": unknown option \"%s\"",
					   trigger->tgname, argument);
	if ((option->actions & ONLY(action)) == 0)
		argument_error("trigger \"%s\": option \"%s\" is not for the action \"%s\"",
					   trigger->tgname, option->name, actions[action]);
	if (option->needs != NULL && find_value(trigger, option->needs) == NULL)
		argument_error("trigger \"%s\": option \"%s\" needs an option \"%s\"",
					   trigger->tgname, option->name, option->needs);
}

/* An argument that is a number; false if it is none. */
static bool
read_number(const char *argument, int *number)
{
	char	   *end;
	long		n;

	n = strtol(argument, &end, 10);
	*number = (int) Max(Min(n, INT_MAX), INT_MIN);
	return end != argument && *end == '\0';
}

/* What the trigger asks for, columns by their names. */
static GuardAsked
read_asked(const Trigger *trigger, SimhashMeasure fill)
{
	GuardAsked	asked = {
		.who = psprintf("trigger \"%s\"", trigger->tgname),
		.hint = arguments_hint,
		.renamed = renamed_hint,
		.fingerprint = "column",
		.column = trigger->tgargs[0],
		.distance = "distance",
		.within = find_names(trigger, "within"),
		.document = find_value(trigger, "document"),
		.profile = find_value(trigger, "profile"),
		.similarity = find_value(trigger, "similarity"),
		.at_least = find_value(trigger, "at_least"),
		.at_most = find_value(trigger, "at_most"),
		.fills = fill
	};
	int			radius;

	if (!read_number(trigger->tgargs[2], &radius))
		argument_error("trigger \"%s\": distance \"%s\" is not a number",
					   trigger->tgname, trigger->tgargs[2]);
	asked.radius = radius;
	if (asked.within == NIL && find_value(trigger, "within") != NULL)
		argument_error("trigger \"%s\": option \"within\" needs names of columns, separated by commas",
					   trigger->tgname);
	if (asked.document != NULL && fill == SIMHASH_NO_MEASURE &&
		asked.similarity == NULL && asked.at_least == NULL &&
		asked.at_most == NULL)
		argument_error("trigger \"%s\": option \"document\" needs an option similarity=measure, at_least=number or fill=family",
					   trigger->tgname);
	return asked;
}

/* Find the column of the mark, which must not be one that the guard reads. */
static AttrNumber
read_mark(const Trigger *trigger, Relation root, const GuardArguments *arguments)
{
	const char *name = find_value(trigger, "mark");
	AttrNumber	mark = name == NULL ? 0 :
	simhash_find_column(RelationGetRelid(root), name, "mark", renamed_hint);

	if (arguments->action == GUARD_MARK && mark == 0)
		argument_error("trigger \"%s\": action \"mark\" needs an option mark=column",
					   trigger->tgname);
	if (mark != 0 &&
		(mark == arguments->terms.column || mark == arguments->terms.time ||
		 bms_is_member(mark - FirstLowInvalidHeapAttributeNumber,
					   simhash_guard_document_columns(&arguments->terms))))
		argument_error("trigger \"%s\": option \"mark\" needs a column that the guard does not read",
					   trigger->tgname);
	for (int i = 0; i < arguments->terms.ngroup && mark != 0; i++)
	{
		if (arguments->terms.group[i] == mark)
			argument_error("trigger \"%s\": option \"within\" cannot take column \"%s\", which is that of the mark",
						   trigger->tgname, name);
	}
	return mark;
}

/*
 * Read the arguments of the trigger.  The columns that they name are those of
 * the table that it was made for.
 */
GuardArguments *
simhash_guard_read_arguments(Relation root, const Trigger *trigger)
{
	GuardArguments *arguments = palloc0(sizeof *arguments);
	const char *fill = find_value(trigger, "fill");
	const char *time = find_value(trigger, "time");
	const char *most = find_value(trigger, "compare");
	GuardAsked	asked;
	ListCell   *lc;

	if (trigger->tgnargs < 3)
		argument_error("trigger \"%s\": simhash_guard needs three arguments",
					   trigger->tgname);
	arguments->action = find_name(trigger->tgargs[1], actions,
								  lengthof(actions));
	if (arguments->action == lengthof(actions))
		argument_error("trigger \"%s\": unknown action \"%s\"",
					   trigger->tgname, trigger->tgargs[1]);
	for (int i = 3; i < trigger->tgnargs; i++)
		check_option(trigger, trigger->tgargs[i], arguments->action);
	arguments->fill = fill == NULL ? SIMHASH_NO_MEASURE :
		find_name(fill, families, lengthof(families));
	if (fill != NULL && arguments->fill == lengthof(families))
		argument_error("trigger \"%s\": cannot fill fingerprints by \"%s\"",
					   trigger->tgname, fill);
	asked = read_asked(trigger, arguments->fill);
	arguments->terms = simhash_guard_read_terms(&asked, root);
	simhash_guard_read_time(&arguments->terms, root,
							time == NULL ? 0 :
							simhash_find_column(RelationGetRelid(root), time, "time",
												renamed_hint),
							find_value(trigger, "for"));
	if (most != NULL && (!read_number(most, &arguments->terms.most) ||
						 arguments->terms.most < 1 ||
						 arguments->terms.measure == SIMHASH_NO_MEASURE))
		argument_error("trigger \"%s\": option \"compare\" needs a number of rows, and an option similarity=measure",
					   trigger->tgname);
	arguments->mark = read_mark(trigger, root, arguments);
	arguments->notice = find_value(trigger, "notice") != NULL;
	arguments->excepted = find_value(trigger, "except");
	if (arguments->excepted != NULL)
		arguments->excepted = pstrdup(arguments->excepted);
	foreach(lc, find_names(trigger, "except"))
		arguments->except = lappend_int(arguments->except,
										simhash_find_column(RelationGetRelid(root), lfirst(lc),
															"except", renamed_hint));
	return arguments;
}

/* Lock by those columns of the group only that another guard has, too. */
static void
restrict_locks(GuardSpace *space, const Trigger *other)
{
	List	   *names = find_names(other, "within");

	for (int i = 0; i < space->terms.ngroup; i++)
	{
		bool		found = false;
		ListCell   *lc;

		foreach(lc, names)
			found |= get_attnum(space->root, lfirst(lc)) ==
			space->group[i].column;
		space->group[i].in_locks &= found;
	}
}

/*
 * What to lock for.  Rows that come through different guards of a column, say
 * one for INSERT and one for UPDATE, must meet: all lock for the largest
 * distance among them, and for the columns of the group that all of them have.
 */
void
simhash_guard_bind_locks(GuardStatement *statement, Relation root,
						 const Trigger *trigger)
{
	static List *noticed = NIL; /* triggers, once a session each */
	GuardSpace *space = &statement->space;
	int			radius = space->terms.radius;
	const TriggerDesc *all = CopyTriggerDesc(root->trigdesc);

	for (int i = 0; all != NULL && i < all->numtriggers; i++)
	{
		Trigger    *its = &all->triggers[i];
		int			its_radius;

		if (its->tgfoid == trigger->tgfoid && its->tgnargs >= 3 &&
			get_attnum(space->root, its->tgargs[0]) == space->terms.column &&
			read_number(its->tgargs[2], &its_radius))
		{
			radius = Max(radius, its_radius);
			restrict_locks(space, its);
		}
	}
	statement->locks.root = space->root;
	statement->locks.seed = (uint64) space->terms.column;
	statement->locks.scheme =
		simhash_guard_scheme(space->terms.type.width, radius);
	if (statement->locks.scheme.parts == 0 &&
		!list_member_oid(noticed, statement->trigger))
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

		noticed = lappend_oid(noticed, statement->trigger);
		MemoryContextSwitchTo(old);
		ereport(NOTICE,
				(errmsg("trigger \"%s\" has rows of table \"%s\" inserted one at a time",
						trigger->tgname, RelationGetRelationName(root)),
				 errdetail("Within distance %d of %d bits one lock serves all sessions%s.",
						   radius, space->terms.type.width,
						   space->terms.ngroup > 0 ? ", or all of a group" : ""),
				 errhint("Take a smaller distance, or a wider fingerprint.")));
	}
}
