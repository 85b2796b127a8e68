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
#include "clusters/upkeep/step.h"

#include "utils/ruleutils.h"
#include "utils/typcache.h"

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
simhash_upkeep_each_group(const ClusterCall *call, bool theirs,
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
		AttrNumber	column = *simhash_clusters_column(call->terms, i);

		if (simhash_clusters_keys[i].theirs && column != 0)
			appendStringInfo(&list, "%s%s", list.len == 0 ? "" : ", ",
							 name_of(call->terms->clusters, column));
	}
	appendStringInfoString(&list, simhash_upkeep_each_group(call, true, ", %s"));
	return list.data;
}

/* The document of a row of the root, which has that alias. */
static char *
write_document(const ClusterCall *call, const char *alias)
{
	const NearTerms *near = &call->terms->terms;

	if (near->expression == NULL)
		return psprintf("%s.%s", alias, name_of(call->table, near->document));
	return psprintf("(%s)", simhash_write_expression(call->relation, near->expression,
													 alias, true));
}

/* What takes the place of a letter. */
static const char *
expand(const ClusterCall *call, char letter)
{
	const ClusterTerms *terms = call->terms;

	for (int i = 0; i < CLUSTER_KEYS; i++)
	{
		if (simhash_clusters_keys[i].letter == letter)
			return name_of(simhash_clusters_keys[i].theirs ? terms->clusters :
						   terms->root, *simhash_clusters_column(terms, i));
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
			return simhash_upkeep_sql(call, terms->document == 0 ? ", &F%s" : ", &F, &D%s",
									  simhash_upkeep_each_group(call, true, ", %s"));
		case 'p':
			return simhash_upkeep_sql(call, terms->document == 0 ? ", d.&f%s" : ", d.&f, &v%s",
									  simhash_upkeep_each_group(call, false, ", d.%s"));
		case 'v':
			return write_document(call, "d");
		case 'w':
			return write_document(call, "t");
		case 'K':
		case 'k':
			return psprintf(call->parted ? "pg_catalog.concat(%1$c.tableoid, %1$c.ctid)" : "%1$c.ctid",
							letter == 'K' ? 'd' : 't');
		case 'n':
			return simhash_upkeep_sql(call, "&S.simhash_current_cluster('%u'::pg_catalog.regclass, t.&c, %s::pg_catalog.name)",
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
simhash_upkeep_sql(const ClusterCall *call, const char *format,...)
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

/*
 * Run a command; returns how many rows it is about.  It names the root, its partitions, the
 * table of the clusters and the work table; a condition of the caller's may name others.
 */
uint64
simhash_upkeep_run(const ClusterCall *call, const char *command)
{
	List	   *relations = NIL;

	if (call->anew == NULL)
		relations = list_copy(call->tables);
	if (relations != NIL && call->terms != NULL)
		relations = lappend_oid(lappend_oid(relations, call->terms->clusters), call->terms->work);
	return simhash_run_command(relations, command, 0, NULL, NULL);
}

/* Run a command that writes clusters to a table, which the trigger takes in that way. */
uint64
simhash_upkeep_run_writing(const ClusterCall *call, const char *command, Oid table,
						   ClusterWriting how)
{
	ClusterWriter before = simhash_clusters_begin_writing(table, how);
	uint64		rows = 0;

	PG_TRY();
	{
		rows = simhash_upkeep_run(call, command);
	}
	PG_FINALLY();
	{
		simhash_clusters_end_writing(before);
	}
	PG_END_TRY();
	return rows;
}

/*
 * A number that a query has yielded; 0 for NULL.  A query reads the tables as they are
 * by then: without a lock they may have been altered since the deed was read.
 */
int64
simhash_upkeep_number(uint64 row, int column)
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

/* --- what commands are made of --------------------------------------------- */

/*
 * In conditions a row of the root is "d", and one of the table of the clusters "t",
 * where no comment says otherwise.
 */

/* What a query calls the document. */
#define DOCUMENT	"simhash document"

/* What is compared of documents, as arguments. */
static char *
write_documents(const ClusterTerms *terms)
{
	const NearTerms *near = &terms->terms;

	if (near->compare.measure == SIMHASH_NO_MEASURE)
		return "NULL::pg_catalog.text, NULL::pg_catalog.text,"
			" NULL::pg_catalog.float8, NULL::pg_catalog.text,"
			" NULL::pg_catalog.int8";
	return psprintf("'" DOCUMENT "'::pg_catalog.text, '%s'::pg_catalog.text,"
					" '%.17g'::pg_catalog.float8, %s::pg_catalog.text,"
					" %s::pg_catalog.int8",
					simhash_measures[near->compare.measure].name, near->compare.at_least,
					quote_literal_cstr(near->compare.profile->name),
					near->compare.measure == SIMHASH_HAMMING ? psprintf("'%d'", (int) near->compare.at_most) : "NULL");
}

/*
 * The query for rows "t" whose clusters are computed: what tells them apart, and the
 * columns that they are compared by.
 */
static char *
write_rows(const ClusterCall *call, const char *within, const char *condition,
		   bool theirs)
{
	const char *fingerprint = simhash_upkeep_sql(call, theirs ? "t.&F" : "t.&f");

	return psprintf("SELECT %s, %s%s%s%s FROM %s AS t WHERE %s IS NOT NULL%s%s%s",
					theirs ? "t.ctid" : simhash_upkeep_sql(call, "&k"),
					fingerprint,
					call->terms->terms.compare.measure == SIMHASH_NO_MEASURE ? "" :
					simhash_upkeep_sql(call, theirs ? ", t.&D AS \"" DOCUMENT "\"" :
									   ", &w AS \"" DOCUMENT "\""),
					within == NULL ? "" : psprintf(", %s", within),
					simhash_upkeep_each_group(call, theirs, ", t.%s"),
					simhash_upkeep_sql(call, theirs ? "&T" : "&R"), fingerprint,
					simhash_upkeep_each_group(call, theirs, " AND t.%s IS NOT NULL"),
					condition == NULL ? "" : psprintf(" AND %s", condition),
					theirs ? simhash_upkeep_sql(call, " AND t.&i &> 0 ORDER BY t.&i") :
					call->parted ? " ORDER BY t.tableoid, t.ctid" : "");
}

/*
 * The call that computes clusters: of the rows of the root that can have one, and of
 * which a condition on "t" holds, if it is not NULL; or of the representatives.  If
 * the expression "within" is given, only rows for which it is equal are compared.
 */
char	   *
simhash_upkeep_query(const ClusterCall *call, const char *within,
					 const char *condition, bool representatives)
{
	bool		parted = call->parted && !representatives;

	return simhash_upkeep_sql(call, "&S._simhash_clusters_by_%s(%s::pg_catalog.text,"
							  " '%d'::pg_catalog.int8, '%s'::pg_catalog.text,"
							  " '%s'::pg_catalog.text, '1'::pg_catalog.int8, %s)",
							  parted ? "text" : "ctid",
							  quote_literal_cstr(write_rows(call, within, condition,
															representatives)),
							  call->terms->terms.radius,
							  call->terms->star ? "star" : "connected",
							  parted || representatives ? "first" : "lowest",
							  write_documents(call->terms));
}

/* A column of a row, quoted. */
static char *
column_of(Oid table, AttrNumber column, const char *alias)
{
	return psprintf("%s.%s", alias,
					quote_identifier(get_attname(table, column, false)));
}

/* The type of a column of fingerprints, which our function takes exactly. */
static char *
write_type(Oid table, AttrNumber column)
{
	Oid			type;
	int32		modifier;
	Oid			collation;

	get_atttypetypmodcoll(table, column, &type, &modifier, &collation);
	type = getBaseTypeAndTypmod(type, &modifier);
	return format_type_extended(type, modifier, FORMAT_TYPE_TYPEMOD_GIVEN |
								FORMAT_TYPE_FORCE_QUALIFY);
}

/*
 * That a row is not near the representative of its cluster.  Their documents are not
 * compared: the row may have been compared with another row of the cluster.
 */
static char *
write_not_near(const ClusterCall *call)
{
	const ClusterTerms *terms = call->terms;
	const NearTerms *near = &terms->terms;
	StringInfoData group;

	initStringInfo(&group);
	for (int i = 0; i < near->ngroup; i++)
	{
		Oid			type = get_atttype(call->table, near->group[i]);

		appendStringInfoString(&group, " AND ");
		generate_operator_clause(&group, column_of(call->table, near->group[i], "d"), type,
								 lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr,
								 column_of(terms->clusters, terms->group[i], "t"), type);
	}
	return simhash_upkeep_sql(call, "EXISTS (SELECT FROM &T AS t WHERE t.&i &= d.&c"
							  " AND (&S.hamming(d.&f::%s, t.&F::%s) &< %d%s) IS NOT TRUE)",
							  write_type(call->table, near->column),
							  write_type(terms->clusters, terms->fingerprint),
							  near->radius + 1, group.data);
}

/* The condition for such rows; the argument is the list of ids, or the condition. */
char	   *
simhash_upkeep_rows(const ClusterCall *call, ClusterRows which,
					const char *argument)
{
	char	   *fit = simhash_upkeep_sql(call, "d.&f IS NOT NULL%s",
										 simhash_upkeep_each_group(call, false, " AND d.%s IS NOT NULL"));

	switch (which)
	{
		case ROWS_WITHOUT_CLUSTER:
			return simhash_upkeep_sql(call, "d.&c IS NULL AND %s", fit);
		case ROWS_MISFIT:
			return simhash_upkeep_sql(call, "d.&c IS NOT NULL AND (d.&c &< 1 OR NOT (%s))",
									  fit);
		case ROWS_NOT_NEAR:
			return write_not_near(call);
		case ROWS_OF_CLUSTERS:
			return simhash_upkeep_sql(call, "d.&c &= ANY ('%s')", argument);
		case ROWS_ASKED_FOR:
			break;
	}
	return psprintf("(%s)", argument);
}

/*
 * That a row of the table of the clusters is neither a cluster nor a copy, or a link
 * that does not lead to an older cluster.
 */
char	   *
simhash_upkeep_bad_row(const ClusterCall *call)
{
	return simhash_upkeep_sql(call, call->terms->star ?
							  "(t.&i &< 1) &= (t.&o IS NULL)" :
							  "((t.&i &< 1) &= (t.&o IS NULL) OR NOT t.&m &< COALESCE(t.&o, t.&i))");
}

/* That a representative has a text which no row of its cluster has any more. */
char	   *
simhash_upkeep_text_left(const ClusterCall *call)
{
	return simhash_upkeep_sql(call, "t.&D IS NOT NULL AND NOT EXISTS (SELECT FROM &R AS d"
							  " WHERE d.&c &= COALESCE(t.&o, t.&i)"
							  " AND &v::pg_catalog.text COLLATE pg_catalog.\"C\" &= t.&D::pg_catalog.text)");
}
