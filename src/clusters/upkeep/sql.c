/*-------------------------------------------------------------------------
 *
 * sql.c
 *		Commands about clusters: written from templates, and run.
 *
 * The words of their templates (query/template.c) are those of the terms, with
 *
 *		{root} {rows}			the root: its name, and as FROM names it
 *		{cluster} {fingerprint} {document} {since}
 *								its columns
 *		{clusters} {columns}	the table of the clusters, and all its columns
 *		{id} {copy_of} {unused_since} {merged_into} {star fingerprint} {star document}
 *								its columns
 *		{star} {row}			the representative of a cluster, as a list: columns of the
 *								table of the clusters, or of a row "d" of the root
 *		{document of d} {key of d}
 *								of a row of the root, "d" or "t": its document, and the key by
 *								which _simhash_clusters_by_... tells rows apart
 *		{cluster now}			that of a row "t" of the root
 *		{sequence}				of the ids, as a regclass
 *		{work}					the work table (fill.c)
 *		{schema}				of the extension
 *
 * and the lists "group", columns of the root, and "star group", beside these those of the
 * table of the clusters, which for connected clusters has none.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/upkeep/step.h"

#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "actions.h"

/* The name of a column, quoted. */
static const char *
name_of(Oid table, AttrNumber column)
{
	return quote_identifier(get_attname(table, column, false));
}

/* Columns of the group, of the root or of the table of the clusters, as a list. */
static List *
list_group(const ClusterCall *call, bool theirs)
{
	const ClusterTerms *terms = call->terms;
	const AttrNumber *group = theirs ? terms->group : terms->terms.group;
	List	   *list = NIL;

	for (int i = 0; i < terms->terms.ngroup; i++)
	{
		if (group[i] != 0)
			list = lappend(list, makeString(unconstify(char *, name_of(theirs ? terms->clusters : terms->root, group[i]))));
	}
	return list;
}

/* SimhashVocabulary.find_lists */
static void
find_lists(const void *context, const char *name, const List **lists)
{
	bool		theirs = strcmp(name, "star group") == 0;

	if (!theirs && strcmp(name, "group") != 0)
		elog(ERROR, "no list \"%s\" of clusters", name);
	lists[0] = list_group(context, theirs);
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
	appendStringInfoString(&list, simhash_upkeep_sql(call, "{star group|, @1|}"));
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

/* SimhashVocabulary.find_word */
static const char *
find_word(const void *context, const char *name)
{
	const ClusterCall *call = context;
	const ClusterTerms *terms = call->terms;

	for (int i = 0; i < CLUSTER_KEYS; i++)
	{
		const ClusterKey *key = &simhash_clusters_keys[i];

		if (strcmp(key->word, name) == 0)
			return name_of(key->theirs ? terms->clusters : terms->root, *simhash_clusters_column(terms, i));
	}
	if (strcmp(name, "root") == 0)
		return call->name;
	if (strcmp(name, "rows") == 0)
		return call->source;
	if (strcmp(name, "clusters") == 0)
		return simhash_quoted_name(terms->clusters);
	if (strcmp(name, "columns") == 0)
		return list_columns(call);
	if (strcmp(name, "star") == 0)
		return simhash_upkeep_sql(call, terms->document == 0 ? "{star fingerprint}{star group|, @1|}" :
								  "{star fingerprint}, {star document}{star group|, @1|}");
	if (strcmp(name, "row") == 0)
		return simhash_upkeep_sql(call, terms->document == 0 ? "d.{fingerprint}{group|, d.@1|}" :
								  "d.{fingerprint}, {document of d}{group|, d.@1|}");
	if (strncmp(name, "document of ", 12) == 0)
		return write_document(call, name + 12);
	if (strncmp(name, "key of ", 7) == 0)
		return psprintf(call->parted ? "pg_catalog.concat(%1$s.tableoid, %1$s.ctid)" : "%1$s.ctid", name + 7);
	if (strcmp(name, "cluster now") == 0)
		return simhash_upkeep_sql(call, "{schema}.simhash_current_cluster('%u'::pg_catalog.regclass, t.{cluster}, %s::pg_catalog.name)",
								  call->table, quote_literal_cstr(call->column));
	if (strcmp(name, "sequence") == 0)
		return psprintf("'%u'::pg_catalog.regclass", simhash_clusters_sequence(terms));
	if (strcmp(name, "work") == 0)
		return simhash_quoted_name(terms->work);
	if (strcmp(name, "schema") == 0)
		return quote_identifier(get_namespace_name(get_func_namespace(call->function)));
	return NULL;
}

/* Write a command, or a part of one, from a template and its arguments. */
char	   *
simhash_upkeep_sql(const ClusterCall *call, const char *template,...)
{
	SimhashVocabulary words = {find_word, find_lists, call};
	va_list		args;
	char	   *command;

	va_start(args, template);
	command = simhash_write_template(&words, template, args);
	va_end(args);
	return command;
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

/*
 * Run a command that writes clusters to a table, which the trigger takes in that way.
 * Foreign keys of the user's own must not have rows of the root go with clusters.
 */
uint64
simhash_upkeep_run_writing(const ClusterCall *call, const char *command, Oid table,
						   ClusterWriting how)
{
	ClusterWriter before = simhash_clusters_begin_writing(table, how);
	SimhashWatch watch = simhash_begin_watch(table == call->table ? InvalidOid : call->table, false, false);
	uint64		rows = 0;

	PG_TRY();
	{
		rows = simhash_upkeep_run(call, command);
	}
	PG_FINALLY();
	{
		simhash_end_watch(watch);
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
	const char *document = call->terms->terms.compare.measure == SIMHASH_NO_MEASURE ? "" :
	simhash_upkeep_sql(call, theirs ? ", t.{star document} AS \"" DOCUMENT "\"" : ", {document of t} AS \"" DOCUMENT "\"");

	return simhash_upkeep_sql(call, theirs ?
							  "SELECT t.ctid, t.{star fingerprint}%s%s{star group|, t.@1|} FROM ONLY {clusters} AS t"
							  " WHERE t.{star fingerprint} IS NOT NULL{star group| AND t.@1 IS DISTINCT FROM NULL|}%s AND t.{id} {>} 0 ORDER BY t.{id}%s" :
							  "SELECT {key of t}, t.{fingerprint}%s%s{group|, t.@1|} FROM {rows} AS t"
							  " WHERE t.{fingerprint} IS NOT NULL{group| AND t.@1 IS DISTINCT FROM NULL|}%s%s",
							  document, within == NULL ? "" : psprintf(", %s", within),
							  condition == NULL ? "" : psprintf(" AND %s", condition),
							  call->parted && !theirs ? " ORDER BY t.tableoid, t.ctid" : "");
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

	return simhash_upkeep_sql(call, "{schema}._simhash_clusters_by_%s(%s::pg_catalog.text,"
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

/* The base type of a column, which our function and operators of enums take exactly. */
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
		Oid			type = getBaseType(get_atttype(call->table, near->group[i]));
		char	   *base = write_type(call->table, near->group[i]);

		appendStringInfoString(&group, " AND ");
		generate_operator_clause(&group, psprintf("%s::%s", column_of(call->table, near->group[i], "d"), base), type,
								 lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr,
								 psprintf("%s::%s", column_of(terms->clusters, terms->group[i], "t"), base), type);
	}
	return simhash_upkeep_sql(call, "EXISTS (SELECT FROM ONLY {clusters} AS t WHERE t.{id} {=} d.{cluster}"
							  " AND ({schema}.hamming(d.{fingerprint}::%s, t.{star fingerprint}::%s) {<} %d%s) IS NOT TRUE)",
							  write_type(call->table, near->column),
							  write_type(terms->clusters, terms->fingerprint),
							  near->radius + 1, group.data);
}

/* The condition for such rows; the argument is the list of ids, or the condition. */
char	   *
simhash_upkeep_rows(const ClusterCall *call, ClusterRows which,
					const char *argument)
{
	char	   *fit = simhash_upkeep_sql(call, "d.{fingerprint} IS NOT NULL{group| AND d.@1 IS DISTINCT FROM NULL|}");

	switch (which)
	{
		case ROWS_WITHOUT_CLUSTER:
			return simhash_upkeep_sql(call, "d.{cluster} IS NULL AND %s", fit);
		case ROWS_MISFIT:
			return simhash_upkeep_sql(call, "d.{cluster} IS NOT NULL AND (d.{cluster} {<} 1 OR NOT (%s))",
									  fit);
		case ROWS_NOT_NEAR:
			return write_not_near(call);
		case ROWS_OF_CLUSTERS:
			return simhash_upkeep_sql(call, "d.{cluster} {=} ANY ('%s')", argument);
		case ROWS_ASKED_FOR:
			break;
	}
	return psprintf("(%s)", argument);
}

/*
 * That a row of the table of the clusters is neither a cluster nor a copy of one, or a
 * link that does not lead to an older cluster.
 */
char	   *
simhash_upkeep_bad_row(const ClusterCall *call)
{
	return simhash_upkeep_sql(call, call->terms->star ?
							  "((t.{id} {<} 1) {=} (t.{copy_of} IS NULL) OR t.{copy_of} {<} 1)" :
							  "((t.{id} {<} 1) {=} (t.{copy_of} IS NULL) OR t.{copy_of} {<} 1 OR t.{merged_into} {<} 1 OR NOT t.{merged_into} {<} COALESCE(t.{copy_of}, t.{id}))");
}

/* That a representative has a text which no row of its cluster has any more. */
char	   *
simhash_upkeep_text_left(const ClusterCall *call)
{
	return simhash_upkeep_sql(call, "t.{star document} IS NOT NULL AND NOT EXISTS (SELECT FROM {rows} AS d"
							  " WHERE d.{cluster} {=} COALESCE(t.{copy_of}, t.{id})"
							  " AND {document of d}::pg_catalog.text COLLATE pg_catalog.\"C\" {=} t.{star document}::pg_catalog.text)");
}
