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

#include <math.h>

#include "access/sysattr.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/varlena.h"

#include "relation.h"

/* The actions, in the order of GuardAction. */
static const char *const actions[] = {"reject", "skip", "mark", "conflict", NULL};

/* The families of the option "fill", by the measure that they estimate. */
static const char *const families[] = {
	[SIMHASH_JACCARD] = "minhash",
	[SIMHASH_COSINE] = "simhash",
	NULL
};

/* What an argument is, and how errors call that. */
typedef enum ArgumentType
{
	TYPE_FLAG,					/* an option that is its name alone */
	TYPE_TEXT,
	TYPE_CHOICE,				/* a name of a list */
	TYPE_NUMBER,
	TYPE_WHOLE,
	TYPE_INTERVAL,
	TYPE_COLUMN,
	TYPE_COLUMNS,
	TYPE_TABLE
} ArgumentType;

static const char *const types[] = {
	[TYPE_CHOICE] = "a name that it takes",
	[TYPE_NUMBER] = "a number",
	[TYPE_WHOLE] = "a whole number",
	[TYPE_INTERVAL] = "an interval from 0 on, such as 30 days",
	[TYPE_COLUMNS] = "names of columns, separated by commas",
	[TYPE_TABLE] = "the name of a table, or schema.table"
};

/* The arguments by their places: three that have one, and the options. */
typedef enum ArgumentPlace
{
	THE_COLUMN, THE_ACTION, THE_DISTANCE,
	THE_DOCUMENT, THE_FILL, THE_PROFILE, THE_WITHIN, THE_EXCEPT,
	THE_SIMILARITY, THE_AT_LEAST, THE_AT_MOST, THE_COMPARE,
	THE_TIME, THE_FOR, THE_APART, THE_MARK, THE_NOTICE
}			ArgumentPlace;

#define FIRST_OPTION	THE_DOCUMENT

/* An argument; an option is name=value, or the name alone if it is a flag. */
typedef struct GuardArgument
{
	const char *name;
	ArgumentType type;
	const char *value;			/* "=" and how the hint calls it */
	int			needs;			/* options, of which one is given; 0: none */
	int			actions;		/* that it is for; 0: any */
	const char *const *choices;
} GuardArgument;

/* A set of actions, or of options, that has one. */
#define ONLY(number)	(1 << (number))
#define COMPARES		(ONLY(THE_SIMILARITY) | ONLY(THE_AT_LEAST) | ONLY(THE_AT_MOST))

static const GuardArgument all_arguments[] = {
	[THE_COLUMN] = {"column", TYPE_COLUMN},
	[THE_ACTION] = {"action", TYPE_CHOICE,.choices = actions},
	[THE_DISTANCE] = {"distance", TYPE_WHOLE},
	[THE_DOCUMENT] = {"document", TYPE_COLUMN, "=column", COMPARES | ONLY(THE_FILL)},
	[THE_FILL] = {"fill", TYPE_CHOICE, "=minhash|simhash", ONLY(THE_DOCUMENT), 0, families},
	[THE_PROFILE] = {"profile", TYPE_TEXT, "=name", ONLY(THE_DOCUMENT)},
	[THE_WITHIN] = {"within", TYPE_COLUMNS, "=column,..."},
	[THE_EXCEPT] = {"except", TYPE_COLUMNS, "=column,..."},
	[THE_SIMILARITY] = {"similarity", TYPE_TEXT, "=measure"},
	[THE_AT_LEAST] = {"at_least", TYPE_NUMBER, "=number"},
	[THE_AT_MOST] = {"at_most", TYPE_WHOLE, "=bits", ONLY(THE_DOCUMENT)},
	[THE_COMPARE] = {"compare", TYPE_WHOLE, "=rows", COMPARES},
	[THE_TIME] = {"time", TYPE_COLUMN, "=column", ONLY(THE_FOR)},
	[THE_FOR] = {"for", TYPE_INTERVAL, "=interval", ONLY(THE_TIME)},
	[THE_APART] = {"apart", TYPE_TABLE, "=table"},
	[THE_MARK] = {"mark", TYPE_COLUMN, "=column", 0, ONLY(GUARD_MARK)},
	[THE_NOTICE] = {"notice", TYPE_FLAG, "", 0, ONLY(GUARD_SKIP)}
};

/* The value of an argument, as its type has it. */
typedef struct ArgumentValue
{
	const char *text;			/* NULL if it is not given */
	int			choice;
	double		number;
	Interval   *period;
	List	   *names;			/* of columns, */
	List	   *columns;		/* their numbers, */
	AttrNumber	column;			/* and the last of these */
	List	   *tables;
} ArgumentValue;

static const char renamed_hint[] =
" The arguments of a trigger name columns as they were when it was created. Drop it and create it again.";

/* Write a set of options, as they are given. */
static char *
write_options(int set, const char *between)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = FIRST_OPTION; i < (int) lengthof(all_arguments); i++)
	{
		if ((set & ONLY(i)) != 0)
			appendStringInfo(&list, "%s'%s%s'", list.len > 0 ? between : "",
							 all_arguments[i].name, all_arguments[i].value);
	}
	return list.data;
}

/* The hint of all errors in the arguments. */
static char *
arguments_hint(void)
{
	return psprintf("The arguments of simhash_guard are a column, an action ('reject', 'skip', 'mark' or 'conflict'), a distance, and options: %s.",
					write_options(-1, ", "));
}

/* Fail because of an argument: the message, and what the arguments may be. */
#define argument_error(...) \
	do { \
		const char *arguments_hint_ = arguments_hint(); \
		ereport(ERROR, \
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE), \
				 errmsg(__VA_ARGS__), \
				 errhint("%s", arguments_hint_))); \
	} while (0)

/* The value of an option, as a text; NULL if the argument is another. */
static const char *
option_text(const GuardArgument *option, const char *argument)
{
	size_t		length = strlen(option->name);

	if (strncmp(argument, option->name, length) != 0 ||
		argument[length] != *option->value)
		return NULL;
	return argument + length + (*option->value == '=' ? 1 : 0);
}

/* Is a text a number, maybe a whole one, which an int bounds? */
static bool
read_number(const char *text, bool whole, double *number)
{
	char	   *end;

	*number = strtod(text, &end);
	if (end == text ||*end != '\0' || (whole && *number != floor(*number)))
		return false;
	if (whole)
		*number = Max(Min(*number, PG_INT32_MAX), PG_INT32_MIN);
	return true;
}

/*
 * Names of columns, as they are or in double quotes, with commas between them; NIL if
 * a text is no such list.
 */
static List *
read_names(const char *text)
{
	List	   *names;

	return SplitGUCList(pstrdup(text), ',', &names) ? names : NIL;
}

/* Say to which option it belongs that a text is no interval. */
static void
say_option(void *period)
{
	errhint("Argument \"for\" is \"%s\". It must be an interval, such as '30 days'.",
			(const char *) period);
}

/* Is a text an interval that is not negative? */
static bool
read_interval(const char *text, Interval **period)
{
	Interval	zero = {0};
	ErrorContextCallback callback = {error_context_stack, say_option, unconstify(char *, text)};

	error_context_stack = &callback;
	*period = DatumGetIntervalP(DirectFunctionCall3(interval_in,
													CStringGetDatum(text),
													ObjectIdGetDatum(InvalidOid),
													Int32GetDatum(-1)));
	error_context_stack = callback.previous;
	return DatumGetBool(DirectFunctionCall2(interval_ge, IntervalPGetDatum(*period),
											IntervalPGetDatum(&zero)));
}

/* Take the value of an argument; false if it is none of the type. */
static bool
read_value(Relation root, const GuardArgument *argument, ArgumentValue *value)
{
	ListCell   *lc;

	switch (argument->type)
	{
		case TYPE_FLAG:
		case TYPE_TEXT:
			return true;
		case TYPE_CHOICE:
			while (argument->choices[value->choice] != NULL &&
				   strcmp(argument->choices[value->choice], value->text) != 0)
				value->choice++;
			return argument->choices[value->choice] != NULL;
		case TYPE_NUMBER:
		case TYPE_WHOLE:
			return read_number(value->text, argument->type == TYPE_WHOLE, &value->number);
		case TYPE_INTERVAL:
			return read_interval(value->text, &value->period);
		case TYPE_TABLE:
			value->tables = simhash_near_find_apart(root, value->text);
			return value->tables != NIL;
		case TYPE_COLUMN:
			value->names = list_make1(unconstify(char *, value->text));
			break;
		case TYPE_COLUMNS:
			value->names = read_names(value->text);
	}
	foreach(lc, value->names)
	{
		value->column = simhash_find_column(RelationGetRelid(root), lfirst(lc),
											argument->name, renamed_hint);
		value->columns = lappend_int(value->columns, value->column);
	}
	return value->names != NIL;
}

/* Fail unless an option goes with the action, and with those that are given. */
static void
check_option(const Trigger *trigger, const GuardArgument *option,
			 GuardAction action, int given)
{
	if (option->actions != 0 && (option->actions & ONLY(action)) == 0)
		argument_error("trigger \"%s\": option \"%s\" is not for the action \"%s\"",
					   trigger->tgname, option->name, actions[action]);
	if (option->needs != 0 && (option->needs & given) == 0)
		argument_error("trigger \"%s\": option \"%s\" needs an option %s",
					   trigger->tgname, option->name,
					   write_options(option->needs, " or "));
}

/* Read the arguments of a trigger, each by its row of the table. */
static void
read_values(Relation root, const Trigger *trigger, ArgumentValue *values)
{
	int			given = 0;

	if (trigger->tgnargs < FIRST_OPTION)
		argument_error("trigger \"%s\": simhash_guard needs three arguments",
					   trigger->tgname);
	for (int i = 0; i < trigger->tgnargs; i++)
	{
		const char *text = i < FIRST_OPTION ? trigger->tgargs[i] : NULL;
		int			n = Min(i, FIRST_OPTION - 1);

		while (text == NULL && ++n < (int) lengthof(all_arguments))
			text = option_text(&all_arguments[n], trigger->tgargs[i]);

		if (text == NULL)
			argument_error("trigger \"%s\": unknown option \"%s\"",
						   trigger->tgname, trigger->tgargs[i]);
		if (values[n].text !=NULL)
			argument_error("trigger \"%s\": option \"%s\" is given twice",
						   trigger->tgname, all_arguments[n].name);
		values[n].text = pstrdup(text);
		given |= ONLY(n);
		if (!read_value(root, &all_arguments[n], &values[n]))
			argument_error("trigger \"%s\": argument \"%s\" is \"%s\", not %s",
						   trigger->tgname, all_arguments[n].name, text,
						   types[all_arguments[n].type]);
	}
	for (int n = FIRST_OPTION; n < (int) lengthof(all_arguments); n++)
	{
		if (values[n].text !=NULL)
			check_option(trigger, &all_arguments[n], values[THE_ACTION].choice, given);
	}
}

/* Fail unless there is a column for a mark, and the guard does not read it. */
static void
check_mark(const Trigger *trigger, const GuardArguments *arguments)
{
	const NearTerms *terms = &arguments->terms;
	AttrNumber	mark = arguments->mark;
	bool		is_read = mark == terms->column || mark == terms->time ||
	bms_is_member(mark - FirstLowInvalidHeapAttributeNumber,
				  simhash_near_document_columns(terms));

	for (int i = 0; i < terms->ngroup; i++)
		is_read |= mark == terms->group[i];
	if (mark == 0 || is_read)
		argument_error("trigger \"%s\": action \"mark\" needs an option 'mark=column', with a column that the guard does not read",
					   trigger->tgname);
}

/*
 * Read the arguments of the trigger.  The columns that they name are those of
 * the table that it was made for.
 */
GuardArguments *
simhash_guard_read_arguments(Relation root, const Trigger *trigger)
{
	GuardArguments *arguments = palloc0(sizeof *arguments);
	ArgumentValue values[lengthof(all_arguments)] = {0};
	NearAsked	asked = {
		.who = psprintf("trigger \"%s\"", trigger->tgname),
		.hint = arguments_hint(),
		.renamed = renamed_hint,
		.fingerprint = "column",
		.distance = "distance",
		.fills = SIMHASH_NO_MEASURE
	};

	read_values(root, trigger, values);
	if (values[THE_FILL].text !=NULL)
		asked.fills = values[THE_FILL].choice;
	asked.column = values[THE_COLUMN].text;
	asked.radius = (int64) values[THE_DISTANCE].number;
	asked.within = values[THE_WITHIN].names;
	asked.options.document = values[THE_DOCUMENT].text;
	asked.options.profile = values[THE_PROFILE].text;
	asked.options.similarity = values[THE_SIMILARITY].text;
	asked.options.bounded = values[THE_AT_LEAST].text !=NULL;
	asked.options.at_least = asked.options.bounded ? values[THE_AT_LEAST].number : SIMHASH_AT_LEAST;
	asked.options.limited = values[THE_AT_MOST].text !=NULL;
	asked.options.at_most = (int64) values[THE_AT_MOST].number;
	arguments->terms = simhash_near_read_terms(&asked, root);
	if (values[THE_COMPARE].text !=NULL)
		arguments->terms.most = (int) simhash_check_range(asked.who, "compare",
														  (int64) values[THE_COMPARE].number,
														  1, PG_INT64_MAX, 0);
	if (values[THE_TIME].column != 0)
		simhash_near_read_time(&arguments->terms, root, values[THE_TIME].column,
							   values[THE_FOR].period);
	arguments->action = values[THE_ACTION].choice;
	arguments->fill = asked.fills;
	arguments->mark = values[THE_MARK].column;
	if (arguments->action == GUARD_MARK)
		check_mark(trigger, arguments);
	arguments->apart = values[THE_APART].tables;
	arguments->notice = values[THE_NOTICE].text !=NULL;
	arguments->excepted = values[THE_EXCEPT].text;
	arguments->except = values[THE_EXCEPT].columns;
	return arguments;
}

/* Lock by those columns of the group only that another guard has, too. */
static void
restrict_locks(NearSpace *space, const Trigger *other)
{
	List	   *names = NIL;

	for (int i = FIRST_OPTION; i < other->tgnargs; i++)
	{
		const char *text = option_text(&all_arguments[THE_WITHIN], other->tgargs[i]);

		if (text !=NULL)
			names = read_names(text);
	}

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
simhash_guard_bind_locks(NearStatement *statement, Relation root,
						 const Trigger *trigger)
{
	static List *noticed = NIL; /* triggers, once a session each */
	NearSpace  *space = &statement->space;
	int			radius = space->terms.radius;
	const TriggerDesc *all = CopyTriggerDesc(root->trigdesc);

	for (int i = 0; all != NULL && i < all->numtriggers; i++)
	{
		Trigger    *other = &all->triggers[i];
		double		its_radius;

		if (other->tgfoid == trigger->tgfoid && other->tgnargs >= FIRST_OPTION &&
			get_attnum(space->root, other->tgargs[0]) == space->terms.column &&
			read_number(other->tgargs[THE_DISTANCE], true, &its_radius))
		{
			radius = Max(radius, (int) its_radius);
			restrict_locks(space, other);
		}
	}
	statement->locks.root = space->root;
	statement->locks.seed = (uint64) space->terms.column;
	statement->locks.scheme =
		simhash_near_scheme(space->terms.type.width, radius);
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
