/*-------------------------------------------------------------------------
 *
 * commands.c
 *		What commands about clusters are made of.
 *
 * In conditions a row of the root is "d", and one of the table of the clusters "t",
 * where no comment says otherwise.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/step.h"

#include "utils/ruleutils.h"
#include "utils/typcache.h"

/* What a query calls the document. */
#define DOCUMENT	"simhash document"

/* What is compared of documents, as arguments. */
static char *
write_documents(const ClusterTerms *terms)
{
	const GuardTerms *its = &terms->terms;

	if (its->measure == SIMHASH_NO_MEASURE)
		return "NULL::pg_catalog.text, NULL::pg_catalog.text,"
			" NULL::pg_catalog.float8, NULL::pg_catalog.text,"
			" NULL::pg_catalog.int8";
	return psprintf("'" DOCUMENT "'::pg_catalog.text, '%s'::pg_catalog.text,"
					" '%.17g'::pg_catalog.float8, %s::pg_catalog.text,"
					" %s::pg_catalog.int8",
					simhash_measures[its->measure].name, its->at_least,
					quote_literal_cstr(its->profile->name),
					its->measure == SIMHASH_HAMMING ? psprintf("'%d'", its->at_most) : "NULL");
}

/*
 * The query for rows "t" whose clusters are computed: what tells them apart, and the
 * columns that they are compared by.
 */
static char *
write_rows(const ClusterCall *call, const char *within, const char *condition,
		   bool theirs)
{
	const char *fingerprint = simhash_cluster_sql(call, theirs ? "t.&F" : "t.&f");

	return psprintf("SELECT %s, %s%s%s%s FROM %s AS t WHERE %s IS NOT NULL%s%s%s",
					theirs ? "t.ctid" : simhash_cluster_sql(call, "&k"),
					fingerprint,
					call->terms->terms.measure == SIMHASH_NO_MEASURE ? "" :
					simhash_cluster_sql(call, theirs ? ", t.&D AS \"" DOCUMENT "\"" :
										", &w AS \"" DOCUMENT "\""),
					within == NULL ? "" : psprintf(", %s", within),
					simhash_cluster_each_group(call, theirs, ", t.%s"),
					simhash_cluster_sql(call, theirs ? "&T" : "&R"), fingerprint,
					simhash_cluster_each_group(call, theirs, " AND t.%s IS NOT NULL"),
					condition == NULL ? "" : psprintf(" AND %s", condition),
					theirs ? simhash_cluster_sql(call, " AND t.&i &> 0 ORDER BY t.&i") :
					call->parted ? " ORDER BY t.tableoid, t.ctid" : "");
}

/*
 * The call that computes clusters: of the rows of the root that can have one, and of
 * which a condition on "t" holds, if it is not NULL; or of the representatives.  If
 * the expression "within" is given, only rows for which it is equal are compared.
 */
char	   *
simhash_cluster_query(const ClusterCall *call, const char *within,
					  const char *condition, bool representatives)
{
	bool		parted = call->parted && !representatives;

	return simhash_cluster_sql(call, "&S._simhash_clusters_by_%s(%s::pg_catalog.text,"
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
name_of(Oid table, AttrNumber column, const char *alias)
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
	const GuardTerms *its = &terms->terms;
	StringInfoData group;

	initStringInfo(&group);
	for (int i = 0; i < its->ngroup; i++)
	{
		Oid			type = get_atttype(call->table, its->group[i]);

		appendStringInfoString(&group, " AND ");
		generate_operator_clause(&group, name_of(call->table, its->group[i], "d"), type,
								 lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr,
								 name_of(terms->clusters, terms->group[i], "t"), type);
	}
	return simhash_cluster_sql(call, "EXISTS (SELECT FROM &T AS t WHERE t.&i &= d.&c"
							   " AND (&S.hamming(d.&f::%s, t.&F::%s) &< %d%s) IS NOT TRUE)",
							   write_type(call->table, its->column),
							   write_type(terms->clusters, terms->fingerprint),
							   its->radius + 1, group.data);
}

/* The condition for such rows; the argument is the list of ids, or the condition. */
char	   *
simhash_cluster_rows(const ClusterCall *call, ClusterRows which,
					 const char *argument)
{
	char	   *fit = simhash_cluster_sql(call, "d.&f IS NOT NULL%s",
										  simhash_cluster_each_group(call, false, " AND d.%s IS NOT NULL"));

	switch (which)
	{
		case ROWS_WITHOUT_CLUSTER:
			return simhash_cluster_sql(call, "d.&c IS NULL AND %s", fit);
		case ROWS_MISFIT:
			return simhash_cluster_sql(call, "d.&c IS NOT NULL AND (d.&c &< 1 OR NOT (%s))",
									   fit);
		case ROWS_NOT_NEAR:
			return write_not_near(call);
		case ROWS_OF_CLUSTERS:
			return simhash_cluster_sql(call, "d.&c &= ANY ('%s')", argument);
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
simhash_cluster_bad_row(const ClusterCall *call)
{
	return simhash_cluster_sql(call, call->terms->star ?
							   "(t.&i &< 1) &= (t.&o IS NULL)" :
							   "((t.&i &< 1) &= (t.&o IS NULL) OR NOT t.&m &< COALESCE(t.&o, t.&i))");
}

/* That a representative has a text which no row of its cluster has any more. */
char	   *
simhash_cluster_text_left(const ClusterCall *call)
{
	return simhash_cluster_sql(call, "t.&D IS NOT NULL AND NOT EXISTS (SELECT FROM &R AS d"
							   " WHERE d.&c &= COALESCE(t.&o, t.&i)"
							   " AND &v::pg_catalog.text COLLATE pg_catalog.\"C\" &= t.&D::pg_catalog.text)");
}
