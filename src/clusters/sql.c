/*-------------------------------------------------------------------------
 *
 * sql.c
 *		Commands about clusters: written from templates, and run.
 *
 * A command names tables and columns, which may have any names, and operators,
 * of which a search_path may have others.  In a template two characters stand for
 * each, so that it can be read.
 *
 *		&R &r	the root: as FROM names it, and its name
 *		&c &f &d &s	its columns: cluster, fingerprint, document, since
 *		&T &t	the table of the clusters: as FROM names it, and its name
 *		&i &o &u &m	its columns: cluster, copy_of, unused_since, merged_into
 *		&F &D	its columns: fingerprint, document; &A, a list of all
 *		&S		our schema
 *		&= &! &< &> &- &/	operators of pg_catalog: = <> < > - /
 *
 * For example, of a table "news" within the schema public,
 *
 *		DELETE FROM &T AS t WHERE t.&i &= %d
 *
 * with the argument 7 is DELETE FROM ONLY public.news_clusters AS t WHERE
 * t.cluster OPERATOR(pg_catalog.=) 7.  Otherwise a template is a format of
 * printf(), whose arguments are put in as they are.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/step.h"

/* The letters of columns, and where the terms have their numbers. */
static const struct
{
	char		letter;
	bool		theirs;			/* of the table of the clusters */
	size_t		place;
}			column_letters[] = {
#define PLACE(member)	offsetof(ClusterTerms, member)
#define THEIRS(column)	PLACE(columns) + (column) * sizeof(AttrNumber)
	{'c', false, PLACE(cluster)},
	{'f', false, PLACE(terms.column)},
	{'d', false, PLACE(terms.document)},
	{'s', false, PLACE(since)},
	{'i', true, THEIRS(CLUSTER_ID)},
	{'o', true, THEIRS(CLUSTER_COPY_OF)},
	{'M', true, THEIRS(CLUSTER_MADE)},
	{'u', true, THEIRS(CLUSTER_UNUSED_SINCE)},
	{'m', true, THEIRS(CLUSTER_MERGED_INTO)},
	{'a', true, THEIRS(CLUSTER_MERGED_AT)},
	{'F', true, PLACE(fingerprint)},
	{'D', true, PLACE(document)}
};

/* The command of ours that is writing clusters to a table, if any. */
static struct ClusterWriter
{
	Oid			table;			/* InvalidOid for none */
	ClusterWriting how;
	int			depth;			/* of triggers, where it fires ours */
}			writer;

/* How many triggers are at work, one inside the other. */
static int
trigger_depth(void)
{
	return DatumGetInt32(OidFunctionCall0(F_PG_TRIGGER_DEPTH));
}

/*
 * Is a command of ours writing to a table in that way, and not one of a trigger that
 * fires for it?
 */
bool
simhash_clusters_are_written(Oid table, ClusterWriting how)
{
	return writer.table == table && writer.how == how &&
		writer.depth == trigger_depth();
}

/* The name of a column, quoted. */
static const char *
name_of(Oid table, AttrNumber column)
{
	return quote_identifier(get_attname(table, column, false));
}

/*
 * The columns of the group, of either table, each put into a format and one after
 * the other.
 */
char	   *
simhash_cluster_each_group(const ClusterCall *call, bool theirs,
						   const char *format)
{
	const ClusterTerms *terms = call->terms;
	Oid			table = theirs ? terms->clusters : terms->root;
	const AttrNumber *group = theirs ? terms->group : terms->terms.group;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < terms->terms.ngroup; i++)
	{
		/* The table of connected clusters has none of them. */
		if (group[i] != 0)
			appendStringInfo(&text, format, name_of(table, group[i]));
	}
	return text.data;
}

/* The number of the column that a row of the table of letters is about. */
static AttrNumber
column_at(const ClusterTerms *terms, size_t i)
{
	return *(const AttrNumber *) ((const char *) terms + column_letters[i].place);
}

/* All columns of ours of the table of the clusters, in a list. */
static const char *
list_columns(const ClusterCall *call)
{
	StringInfoData list;

	initStringInfo(&list);
	for (size_t i = 0; i < lengthof(column_letters); i++)
	{
		AttrNumber	column = column_at(call->terms, i);

		if (column_letters[i].theirs && column != 0)
			appendStringInfo(&list, "%s%s", list.len == 0 ? "" : ", ",
							 name_of(call->terms->clusters, column));
	}
	appendStringInfoString(&list, simhash_cluster_each_group(call, true, ", %s"));
	return list.data;
}

/* What a letter stands for. */
static const char *
expand(const ClusterCall *call, char letter)
{
	const ClusterTerms *terms = call->terms;

	for (size_t i = 0; i < lengthof(column_letters); i++)
	{
		if (column_letters[i].letter == letter)
			return name_of(column_letters[i].theirs ? terms->clusters :
						   call->table, column_at(terms, i));
	}
	switch (letter)
	{
		case 'R':
			return call->source;
		case 'r':
			return call->name;
		case 'T':
			return psprintf("ONLY %s", simhash_quoted_name(terms->clusters));
		case 't':
			return simhash_quoted_name(terms->clusters);
		case 'A':
			return list_columns(call);
		case 'S':
			return quote_identifier(get_namespace_name(get_func_namespace(call->function)));
		case '!':
			return "OPERATOR(pg_catalog.<>)";
		default:
			return psprintf("OPERATOR(pg_catalog.%c)", letter);
	}
}

/* Write a command from a template and its arguments. */
static char *
pg_attribute_printf(2, 0)
write_template(const ClusterCall *call, const char *format, va_list args)
{
	StringInfoData expanded;
	StringInfoData command;
	int			needed;

	initStringInfo(&expanded);
	for (; *format != '\0'; format++)
	{
		if (*format != '&')
		{
			appendStringInfoChar(&expanded, *format);
			continue;
		}
		for (const char *c = expand(call, *++format); *c != '\0'; c++)
			appendStringInfo(&expanded, "%s%c", *c == '%' ? "%" : "", *c);
	}
	initStringInfo(&command);
	do
	{
		va_list		copy;

		va_copy(copy, args);
		needed = appendStringInfoVA(&command, expanded.data, copy);
		va_end(copy);
		if (needed > 0)
			enlargeStringInfo(&command, needed);
	} while (needed > 0);
	return command.data;
}

/* A command, or a part of one. */
char	   *
simhash_cluster_sql(const ClusterCall *call, const char *format,...)
{
	va_list		args;
	char	   *command;

	va_start(args, format);
	command = write_template(call, format, args);
	va_end(args);
	return command;
}

/* Run a command; returns how many rows it is about.  SPI changes the context. */
uint64
simhash_cluster_run(const char *command)
{
	MemoryContext context = CurrentMemoryContext;
	int			result = SPI_execute(command, false, 0);
	uint64		rows = SPI_processed;

	MemoryContextSwitchTo(context);
	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("command did not run: %s", command)));
	return rows;
}

/* Write and run one. */
uint64
simhash_cluster_do(const ClusterCall *call, const char *format,...)
{
	va_list		args;
	char	   *command;

	va_start(args, format);
	command = write_template(call, format, args);
	va_end(args);
	return simhash_cluster_run(command);
}

/* Run one that writes clusters to a table, which the trigger takes in that way. */
uint64
simhash_cluster_run_writing(const char *command, Oid table, ClusterWriting how)
{
	struct ClusterWriter before = writer;
	uint64		rows = 0;

	writer = (struct ClusterWriter)
	{
		table, how, trigger_depth() + 1
	};
	PG_TRY();
	{
		rows = simhash_cluster_run(command);
	}
	PG_FINALLY();
	{
		writer = before;
	}
	PG_END_TRY();
	return rows;
}

/* Write and run one that writes to the table of the clusters. */
uint64
simhash_cluster_write(const ClusterCall *call, const char *format,...)
{
	va_list		args;
	char	   *command;

	va_start(args, format);
	command = write_template(call, format, args);
	va_end(args);
	return simhash_cluster_run_writing(command, call->terms->clusters,
									   CLUSTERS_AS_GIVEN);
}

/* Run the commands that a query yields, all of them found before the first. */
void
simhash_cluster_run_each(const char *query)
{
	uint64		n = simhash_cluster_run(query);
	SPITupleTable *table = SPI_tuptable;

	for (uint64 i = 0; i < n; i++)
		(void) simhash_cluster_run(SPI_getvalue(table->vals[i], table->tupdesc, 1));
	SPI_freetuptable(table);
}

/* A number that a query has yielded; 0 for NULL. */
int64
simhash_cluster_number(uint64 row, int column)
{
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row],
									  SPI_tuptable->tupdesc, column, &isnull);

	return isnull ? 0 : DatumGetInt64(value);
}
