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
 *		&P &p	what represents a cluster, as a list that begins with a comma: columns
 *				of the table of the clusters, or of a row "d" of the root
 *		&v &w	the document of a row "d", or "t", of the root
 *		&K &k	what tells a row "d", or "t", of the root apart, for
 *				_simhash_clusters_by_...
 *		&n		which cluster that of a row "t" of the root has become
 *		&q		the sequence of the ids, as a regclass
 *		&W		the name of the work table (fill.c)
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

/* All columns of ours of the table of the clusters, in a list. */
static const char *
list_columns(const ClusterCall *call)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < CLUSTER_KEYS; i++)
	{
		AttrNumber	column = *simhash_cluster_column(call->terms, i);

		if (simhash_cluster_keys[i].theirs && column != 0)
			appendStringInfo(&list, "%s%s", list.len == 0 ? "" : ", ",
							 name_of(call->terms->clusters, column));
	}
	appendStringInfoString(&list, simhash_cluster_each_group(call, true, ", %s"));
	return list.data;
}

/* The document of a row of the root, which has that alias. */
static char *
write_document(const ClusterCall *call, const char *alias)
{
	const GuardTerms *its = &call->terms->terms;

	if (its->expression == NULL)
		return psprintf("%s.%s", alias, name_of(call->table, its->document));
	return psprintf("(%s)", simhash_write_expression(call->relation, its->expression,
													 alias, true));
}

/* What takes the place of a letter. */
static const char *
expand(const ClusterCall *call, char letter)
{
	const ClusterTerms *terms = call->terms;

	for (int i = 0; i < CLUSTER_KEYS; i++)
	{
		if (simhash_cluster_keys[i].letter == letter)
			return name_of(simhash_cluster_keys[i].theirs ? terms->clusters :
						   terms->root, *simhash_cluster_column(terms, i));
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
		case 'P':
			return simhash_cluster_sql(call, terms->document == 0 ? ", &F%s" : ", &F, &D%s",
									   simhash_cluster_each_group(call, true, ", %s"));
		case 'p':
			return simhash_cluster_sql(call, terms->document == 0 ? ", d.&f%s" : ", d.&f, &v%s",
									   simhash_cluster_each_group(call, false, ", d.%s"));
		case 'v':
			return write_document(call, "d");
		case 'w':
			return write_document(call, "t");
		case 'K':
		case 'k':
			return psprintf(call->parted ? "pg_catalog.concat(%1$c.tableoid, %1$c.ctid)" : "%1$c.ctid",
							letter == 'K' ? 'd' : 't');
		case 'n':
			return simhash_cluster_sql(call, "&S.simhash_current_cluster('%u'::pg_catalog.regclass, t.&c, %s::pg_catalog.name)",
									   call->table, quote_literal_cstr(call->column));
		case 'q':
			return psprintf("'%u'::pg_catalog.regclass", simhash_clusters_sequence(terms));
		case 'W':
			return simhash_quoted_name(terms->work);
		case 'S':
			return quote_identifier(get_namespace_name(get_func_namespace(call->function)));
		case '!':
			return "OPERATOR(pg_catalog.<>)";
		default:
			return psprintf("OPERATOR(pg_catalog.%c)", letter);
	}
}

/* Write a command, or a part of one, from a template and its arguments. */
char	   *
simhash_cluster_sql(const ClusterCall *call, const char *format,...)
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
		va_list		args;

		va_start(args, format);
		needed = appendStringInfoVA(&command, expanded.data, args);
		va_end(args);
		if (needed > 0)
			enlargeStringInfo(&command, needed);
	} while (needed > 0);
	return command.data;
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

/*
 * A number that a query has yielded; 0 for NULL.  A query reads the tables as they are
 * by then: without a lock they may have been altered since the deed was read.
 */
int64
simhash_cluster_number(uint64 row, int column)
{
	Oid			type = SPI_gettypeid(SPI_tuptable->tupdesc, column);
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row],
									  SPI_tuptable->tupdesc, column, &isnull);

	if (type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("a number of a cluster is of type %s, not bigint",
						format_type_be(type)),
				 errhint("Another session has altered what clusters are bound to. Call the function again.")));
	return isnull ? 0 : DatumGetInt64(value);
}
