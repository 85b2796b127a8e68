/*-------------------------------------------------------------------------
 *
 * template.c
 *		Commands about clusters, written from templates.
 *
 * A command names tables and columns, which may have any names, and operators,
 * of which a search_path may have others.  In a template two characters stand for
 * each, so that it can be read.
 *
 *		&R		the table whose rows are in clusters, as FROM names it
 *		&c &f &d	its columns: cluster, fingerprint, document
 *		&T		the table of the clusters, as FROM names it; &N, INSERT INTO
 *		&i &o &u &m	its columns: cluster, copy_of, unused_since, merged_into
 *		&F &D	its columns: fingerprint, document; &A, a list of all
 *		&S		our schema
 *		&= &! &< &> &- &/	operators of pg_catalog: = <> < > - /
 *		&&		the character &
 *
 * For example, of a table "news" within the schema public,
 *
 *		DELETE FROM &T AS t WHERE t.&i &= 7
 *
 * is DELETE FROM ONLY public.news_clusters AS t WHERE t.cluster
 * OPERATOR(pg_catalog.=) 7.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/template.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "relation.h"

/* All columns of ours of the table of the clusters, in a list. */
static const char *
list_columns(const ClusterTerms *terms)
{
	StringInfoData list;

	initStringInfo(&list);
	appendStringInfoString(&list, simhash_cluster_name(terms->clusters,
													   terms->columns[CLUSTER_ID]));
	for (int i = CLUSTER_ID + 1; i < CLUSTER_COLUMNS + 2 + terms->terms.ngroup; i++)
	{
		AttrNumber	column = i < CLUSTER_COLUMNS ? terms->columns[i] :
		i == CLUSTER_COLUMNS ? terms->fingerprint :
		i == CLUSTER_COLUMNS + 1 ? terms->document :
		terms->group[i - CLUSTER_COLUMNS - 2];

		if (column != 0)
			appendStringInfo(&list, ", %s", simhash_cluster_name(terms->clusters, column));
	}
	return list.data;
}

/* What a letter stands for. */
static const char *
expand(const ClusterCall *call, const ClusterTerms *terms, char letter)
{
	Oid			table = terms->clusters;
	const AttrNumber *columns = terms->columns;

	switch (letter)
	{
		case 'R':
			return call->source;
		case 'c':
			return simhash_cluster_name(call->table, terms->cluster);
		case 'f':
			return simhash_cluster_name(call->table, terms->terms.column);
		case 'd':
			return simhash_cluster_name(call->table, terms->terms.document);
		case 'T':
			return psprintf("ONLY %s", simhash_quoted_name(table));
		case 'N':
			return simhash_quoted_name(table);
		case 'i':
			return simhash_cluster_name(table, columns[CLUSTER_ID]);
		case 'o':
			return simhash_cluster_name(table, columns[CLUSTER_COPY_OF]);
		case 'u':
			return simhash_cluster_name(table, columns[CLUSTER_UNUSED_SINCE]);
		case 'm':
			return simhash_cluster_name(table, columns[CLUSTER_MERGED_INTO]);
		case 'F':
			return simhash_cluster_name(table, terms->fingerprint);
		case 'D':
			return simhash_cluster_name(table, terms->document);
		case 'A':
			return list_columns(terms);
		case 'S':
			return simhash_cluster_schema(call);
		default:
			return psprintf("OPERATOR(pg_catalog.%s)", letter == '!' ? "<>" :
							psprintf("%c", letter));
	}
}

/*
 * What is put into a template as it is: names, and parts that have been written.
 */
char	   *
simhash_cluster_escape(const char *text)
{
	StringInfoData escaped;

	initStringInfo(&escaped);
	for (; *text !='\0'; text ++)
	{
		appendStringInfoChar(&escaped, *text);
		if (*text == '&')
			appendStringInfoChar(&escaped, '&');
	}
	return escaped.data;
}

/* Write a command. */
char	   *
simhash_cluster_write(const ClusterCall *call, const ClusterTerms *terms,
					  const char *template)
{
	StringInfoData command;

	initStringInfo(&command);
	for (; *template != '\0'; template++)
	{
		if (*template != '&')
			appendStringInfoChar(&command, *template);
		else if (*++template == '&')
			appendStringInfoChar(&command, '&');
		else
			appendStringInfoString(&command, expand(call, terms, *template));
	}
	return command.data;
}

/* Write and run a command; returns how many rows it is about. */
uint64
simhash_cluster_do(const ClusterCall *call, const ClusterTerms *terms,
				   const char *template)
{
	return simhash_cluster_run(simhash_cluster_write(call, terms, template));
}

/* The same of one that writes to the table of the clusters. */
uint64
simhash_clusters_write_table(const ClusterCall *call, const ClusterTerms *terms,
							 const char *template)
{
	return simhash_cluster_run_writing(simhash_cluster_write(call, terms, template),
									   terms->clusters, CLUSTERS_AS_GIVEN);
}
