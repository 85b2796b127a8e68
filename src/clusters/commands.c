/*-------------------------------------------------------------------------
 *
 * commands.c
 *		Parts of commands about clusters, as templates (template.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/commands.h"

#include "access/htup_details.h"
#include "catalog/pg_operator.h"
#include "common/shortest_dec.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* The name of a column in a template. */
static char *
name_of(Oid table, AttrNumber column)
{
	return simhash_cluster_escape(simhash_cluster_name(table, column));
}

/* What tells rows of the table apart, for _simhash_clusters_by_... */
char	   *
simhash_cluster_id(const ClusterCall *call, const char *alias)
{
	return call->parted ?
		psprintf("pg_catalog.concat(%s.tableoid, %s.ctid)", alias, alias) :
		psprintf("%s.ctid", alias);
}

/* What is compared of documents, as arguments. */
static char *
write_documents(const ClusterTerms *terms, bool representatives)
{
	const GuardTerms *its = &terms->terms;
	char		number[DOUBLE_SHORTEST_DECIMAL_LEN];

	if (its->document == 0)
		return "NULL::pg_catalog.text, NULL::pg_catalog.text,"
			" NULL::pg_catalog.float8, NULL::pg_catalog.text";
	(void) double_to_shortest_decimal_buf(its->at_least, number);
	return psprintf("%s::pg_catalog.text, '%s'::pg_catalog.text,"
					" '%s'::pg_catalog.float8, %s::pg_catalog.text",
					quote_literal_cstr(representatives ?
									   get_attname(terms->clusters, terms->document, false) :
									   get_attname(terms->root, its->document, false)),
					simhash_clusters_measure(terms), number,
					quote_literal_cstr(its->profile->name));
}

/* What is asked for what the cluster of a row "t" is by now. */
char	   *
simhash_cluster_current(const ClusterCall *call)
{
	return psprintf("&S.simhash_current_cluster('%u'::pg_catalog.regclass, t.&c, %s::pg_catalog.name)",
					call->table,
					simhash_cluster_escape(quote_literal_cstr(call->column)));
}

/*
 * The query for what is computed of rows "t", of either table: what tells them apart,
 * and the columns that they are compared by; an expression may say within what
 * besides, and a condition of which.
 */
static char *
write_rows(const ClusterCall *call, const ClusterTerms *terms,
		   const char *within, const char *condition, bool representatives)
{
	const GuardTerms *its = &terms->terms;
	Oid			table = representatives ? terms->clusters : call->table;
	const AttrNumber *group = representatives ? terms->group : its->group;
	const char *fingerprint = representatives ? "t.&F" : "t.&f";
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query, "SELECT %s, %s", representatives ? "t.ctid" :
					 simhash_cluster_id(call, "t"), fingerprint);
	if (its->document != 0)
		appendStringInfoString(&query, representatives ? ", t.&D" : ", t.&d");
	if (within != NULL)
		appendStringInfo(&query, ", %s", within);
	for (int i = 0; i < its->ngroup; i++)
		appendStringInfo(&query, ", t.%s", name_of(table, group[i]));
	appendStringInfo(&query, " FROM %s AS t WHERE %s IS NOT NULL",
					 representatives ? "&T" : "&R", fingerprint);
	for (int i = 0; i < its->ngroup; i++)
		appendStringInfo(&query, " AND t.%s IS NOT NULL",
						 name_of(table, group[i]));
	if (condition != NULL)
		appendStringInfo(&query, " AND %s", condition);
	if (representatives)
		appendStringInfoString(&query, " AND t.&i &> 0 ORDER BY t.&i");
	else if (call->parted)
		appendStringInfoString(&query, " ORDER BY t.tableoid, t.ctid");
	return simhash_cluster_write(call, terms, query.data);
}

/*
 * The call that computes the clusters of rows.  They are those that can have one,
 * as far as a condition holds of "t", if any; or the representatives.  They are
 * sought within the clusters that the rows are in now, if an expression says which.
 */
char	   *
simhash_cluster_query(const ClusterCall *call, const ClusterTerms *terms,
					  const char *within, const char *condition,
					  bool representatives)
{
	bool		parted = call->parted && !representatives;
	const char *query = write_rows(call, terms, within, condition,
								   representatives);

	return psprintf("&S._simhash_clusters_by_%s(%s::pg_catalog.text,"
					" '%d'::pg_catalog.int8, '%s'::pg_catalog.text,"
					" '%s'::pg_catalog.text, '1'::pg_catalog.int8, %s)",
					parted ? "text" : "ctid",
					simhash_cluster_escape(quote_literal_cstr(query)),
					terms->terms.radius, terms->star ? "star" : "connected",
					parted || representatives ? "first" : "lowest",
					simhash_cluster_escape(write_documents(terms, representatives)));
}

/*
 * A list of what represents a cluster: the columns of the table of the clusters or,
 * from a row "d", of the other: ", d.fp, d.site".
 */
char	   *
simhash_cluster_represented(const ClusterCall *call, const ClusterTerms *terms,
							bool theirs)
{
	const GuardTerms *its = &terms->terms;
	StringInfoData list;

	initStringInfo(&list);
	appendStringInfoString(&list, theirs ? ", &F" : ", d.&f");
	if (its->document != 0)
		appendStringInfoString(&list, theirs ? ", &D" : ", d.&d");
	for (int i = 0; i < its->ngroup; i++)
		appendStringInfo(&list, theirs ? ", %s" : ", d.%s",
						 theirs ? name_of(terms->clusters, terms->group[i]) :
						 name_of(call->table, its->group[i]));
	return list.data;
}

/* That a row "d" has what it takes to be in a cluster. */
static char *
write_can_be_in_one(const ClusterCall *call, const ClusterTerms *terms)
{
	StringInfoData condition;

	initStringInfo(&condition);
	appendStringInfoString(&condition, "d.&f IS NOT NULL");
	for (int i = 0; i < terms->terms.ngroup; i++)
		appendStringInfo(&condition, " AND d.%s IS NOT NULL",
						 name_of(call->table, terms->terms.group[i]));
	return condition.data;
}

/* That it has no cluster, but what it takes. */
char	   *
simhash_cluster_without(const ClusterCall *call, const ClusterTerms *terms)
{
	return psprintf("d.&c IS NULL AND %s", write_can_be_in_one(call, terms));
}

/* That it has a cluster, but not what it takes, or one that none can be. */
char	   *
simhash_cluster_misfit(const ClusterCall *call, const ClusterTerms *terms)
{
	return psprintf("d.&c IS NOT NULL AND (d.&c &< 1 OR NOT (%s))",
					write_can_be_in_one(call, terms));
}

/*
 * That a row "t" of the table of the clusters is neither a cluster nor a copy, or
 * leads to no older cluster.
 */
const char *
simhash_cluster_bad_row(const ClusterTerms *terms)
{
	return terms->star ? "(t.&i &< 1) &= (t.&o IS NULL)" :
		"((t.&i &< 1) &= (t.&o IS NULL) OR NOT t.&m &< COALESCE(t.&o, t.&i))";
}

/* The equality operator of a type, as SQL names it whatever the search_path is. */
static char *
write_equality(Oid type)
{
	Oid			operator = lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr;
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	char	   *result;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify an equality operator for type %s",
						format_type_be(type))));
	form = (Form_pg_operator) GETSTRUCT(tuple);
	result = psprintf("OPERATOR(%s.%s)",
					  quote_identifier(get_namespace_name(form->oprnamespace)),
					  NameStr(form->oprname));
	ReleaseSysCache(tuple);
	return result;
}

/* A fingerprint, in that column, of the type that our function takes exactly. */
static char *
write_fingerprint(Oid table, AttrNumber column, const char *alias)
{
	Oid			type;
	int32		modifier;
	Oid			collation;

	get_atttypetypmodcoll(table, column, &type, &modifier, &collation);
	type = getBaseTypeAndTypmod(type, &modifier);
	return psprintf("%s.%s::%s", alias, name_of(table, column),
					format_type_extended(type, modifier,
										 FORMAT_TYPE_TYPEMOD_GIVEN |
										 FORMAT_TYPE_FORCE_QUALIFY));
}

/*
 * That a row "d" of the table is not what represents its cluster, or not near that.
 * It need not be similar to it: it may have been compared with another row of the
 * cluster.
 */
char	   *
simhash_cluster_not_near(const ClusterCall *call, const ClusterTerms *terms)
{
	const GuardTerms *its = &terms->terms;
	StringInfoData condition;

	initStringInfo(&condition);
	appendStringInfo(&condition, "EXISTS (SELECT FROM &T AS t WHERE t.&i &= d.&c"
					 " AND (&S.hamming(%s, %s) &< %d",
					 write_fingerprint(call->table, its->column, "d"),
					 write_fingerprint(terms->clusters, terms->fingerprint, "t"),
					 its->radius + 1);
	for (int i = 0; i < its->ngroup; i++)
		appendStringInfo(&condition, " AND d.%s %s t.%s",
						 name_of(call->table, its->group[i]),
						 simhash_cluster_escape(write_equality(get_atttype(call->table,
																		   its->group[i]))),
						 name_of(terms->clusters, terms->group[i]));
	appendStringInfoString(&condition, ") IS NOT TRUE)");
	return condition.data;
}

/* That no row has the text of a representative "t". */
const char *
simhash_cluster_text_left(void)
{
	return "t.&D IS NOT NULL AND NOT EXISTS (SELECT FROM &R AS d"
		" WHERE d.&c &= COALESCE(t.&o, t.&i)"
		" AND d.&d::pg_catalog.text COLLATE pg_catalog.\"C\" &= t.&D::pg_catalog.text)";
}
