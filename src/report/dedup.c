/*-------------------------------------------------------------------------
 *
 * dedup.c
 *		simhash_dedup_sql: a DELETE that keeps one row of each cluster.
 *
 * Rows are told apart by ctid, so a table needs no key; in a table with
 * partitions or children by tableoid and ctid.  Both together are a text,
 * whose order means nothing: the query orders the rows, and the first of them
 * is kept.  The DELETE may be run when the table has got children that it had
 * not when the DELETE was written: so where ctid is all, it is FROM ONLY the
 * table.
 *
 * Others may change the table meanwhile.  The clusters are those of the
 * snapshot of the statement, so each row of a cluster that loses one is
 * locked before that goes.  Locking waits for a transaction that is changing
 * the row.  If that has deleted the row, it is not among those locked; if it
 * has updated the row, the new version is locked, which has another ctid.  A
 * row is deleted only if it was locked as it was found, and if the row that
 * is kept in its stead was, too, which nobody can change from then on until
 * the transaction ends.  Other rows of such a cluster stay until the
 * statement is run again.  Rows are always locked in the same order, so of
 * two such statements one waits for the other, and never the other way round.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

PG_FUNCTION_INFO_V1(simhash_dedup_sql);

/* What is to be written. */
typedef struct Dedup
{
	SimhashTable table;
	int64		k;
	const char *kind;
	const char *keep;			/* NULL: the first in the table */
	const char *id;				/* what tells rows apart: an expression */
	const char *schema;			/* of this extension, quoted */
} Dedup;

/* The column of the documents after others, if these decide. */
static char *
write_document(const SimhashTable *table, const char *before)
{
	return !table->decides ? "" :
		psprintf(", %s%s", before, quote_identifier(table->compare.document));
}

/* Fail: nothing that can be used tells the rows apart. */
static void
complain_of_place(const Dedup *dedup)
{
	const SimhashTable *table = &dedup->table;
	char	   *query = psprintf("SELECT id, %s%s FROM %s", table->fingerprint,
								 write_document(table, ""), table->name);

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 table->place == SIMHASH_FOREIGN ?
			 errmsg("%s has rows on other servers", table->name) :
			 errmsg("%s is distributed and has no primary key of numbers, texts or uuids",
					table->name),
			 errhint("While nobody changes the rows, delete by a column that tells them apart: DELETE FROM %s WHERE id IN (SELECT id FROM simhash_clusters(%s, " INT64_FORMAT ", %s%s) WHERE id <> representative).",
					 table->name, quote_literal_cstr(query), dedup->k,
					 quote_literal_cstr(dedup->kind), !table->decides ? "" :
					 simhash_write_options(&table->compare))));
}

/* What tells rows apart, as an expression. */
static char *
write_id(const SimhashTable *table)
{
	if (list_length(table->key) == 1)
		return psprintf("%s::pg_catalog.text", (char *) linitial(table->key));
	if (table->key != NIL)
		return psprintf("%s::pg_catalog.text)",
						simhash_list(table->key, "pg_catalog.quote_literal(",
									 "::pg_catalog.text)"
									 " OPERATOR(pg_catalog.||) ','"
									 " OPERATOR(pg_catalog.||) "));
	return table->parted ? "pg_catalog.concat(t.tableoid, t.ctid)" : "t.ctid";
}

/*
 * The query for the rows among which clusters are sought.  In ORDER BY the
 * name of what the query yields comes before that of a column, so expressions
 * get names that nobody means.
 */
static char *
write_dedup_rows(const Dedup *dedup)
{
	const SimhashTable *table = &dedup->table;
	const char *order = dedup->keep;

	if (order == NULL && table->key != NIL)
		order = simhash_list(table->key, "", ", ");
	else if (order == NULL && table->parted)
		order = "t.tableoid, t.ctid";
	return psprintf("SELECT %s%s, (%s)%s%s%s%s FROM %s AS t WHERE (%s) IS NOT NULL%s%s",
					dedup->id, table->key != NIL || table->parted ?
					" AS \"simhash id\"" : "",
					table->fingerprint,
					get_attnum(table->oid, table->fingerprint) > 0 ? "" :
					" AS \"simhash fingerprint\"", write_document(table, "t."),
					table->groups != NIL ? ", " : "",
					simhash_list(table->groups, "", ", "), table->source,
					table->fingerprint, order != NULL ? " ORDER BY " : "",
					order != NULL ? order : "");
}

/* A text as a literal. */
static const char *
write_text(const char *text)
{
	return text == NULL ? "NULL" : quote_literal_cstr(text);
}

/* The call that finds the clusters, by arguments of the very types. */
static char *
write_clusters_call(const Dedup *dedup)
{
	const SimhashTable *table = &dedup->table;
	const SimhashDocumentOptions none = {.document = NULL};
	const SimhashDocumentOptions *compare = table->decides ? &table->compare
	: &none;
	bool		by_text = table->parted || table->key != NIL;

	return psprintf("%s._simhash_clusters_by_%s(\n"
					"        %s::pg_catalog.text,\n"
					"        k => " INT64_FORMAT "::pg_catalog.int8,"
					" kind => %s::pg_catalog.text,\n"
					"        keep => '%s'::pg_catalog.text,"
					" min_size => 2::pg_catalog.int8,\n"
					"        document => %s::pg_catalog.text,"
					" similarity => %s::pg_catalog.text,\n"
					"        at_least => %s::pg_catalog.float8,"
					" profile => %s::pg_catalog.text)\n"
					"    WHERE id OPERATOR(pg_catalog.<>) representative",
					dedup->schema, by_text ? "text" : "ctid",
					write_text(write_dedup_rows(dedup)), dedup->k,
					write_text(dedup->kind),
					dedup->keep == NULL && !by_text ? "lowest" : "first",
					write_text(compare->document),
					write_text(compare->similarity),
					compare->bounded ? simhash_write_number(compare->at_least)
					: "NULL",
					write_text(compare->profile));
}

/*
 * The DELETE. Rows are not locked in a distributed table: Citus does not join
 * it with the clusters, which are local, but compares its keys with a list of
 * them.
 */
static char *
write_delete(const Dedup *dedup)
{
	const SimhashTable *table = &dedup->table;

	if (table->key != NIL)
		return psprintf("DELETE FROM %s AS t\n"
						"WHERE %s OPERATOR(pg_catalog.=) ANY (\n"
						"    SELECT id FROM %s)",
						table->name, dedup->id, write_clusters_call(dedup));
	return psprintf("WITH redundant AS MATERIALIZED (\n"
					"    SELECT id, representative\n"
					"    FROM %s\n"
					"), locked AS MATERIALIZED (\n"
					"    SELECT %s AS id\n"
					"    FROM %s AS t JOIN (\n"
					"        SELECT id FROM redundant\n"
					"        UNION SELECT representative FROM redundant) AS r\n"
					"        ON %s OPERATOR(pg_catalog.=) r.id\n"
					"    ORDER BY t.tableoid, t.ctid FOR UPDATE OF t\n"
					")\n"
					"DELETE FROM %s AS t\n"
					"USING redundant AS r, locked AS gone, locked AS kept\n"
					"WHERE gone.id OPERATOR(pg_catalog.=) r.id\n"
					"    AND kept.id OPERATOR(pg_catalog.=) r.representative\n"
					"    AND %s OPERATOR(pg_catalog.=) r.id",
					write_clusters_call(dedup), dedup->id, table->source,
					dedup->id,
					table->source, dedup->id);
}

/* How it is decided which rows are copies, as a comment. */
static char *
remark_on_documents(const Dedup *dedup)
{
	const SimhashTable *table = &dedup->table;

	if (!table->decides)
		return "-- by an estimate: rows go by their fingerprints, no document is compared;\n"
			"-- simhash_report says how similar they are, where it can read the documents\n";
	return psprintf("-- each row that goes is similar to %s: %s >= %s\n",
					strcmp(dedup->kind, "star") == 0 ? "the row that stays"
					: "another row of its cluster",
					table->compare.similarity,
					simhash_write_number(table->compare.at_least));
}

/* What the reader of the DELETE has to know, as comments. */
static char *
write_remarks(const Dedup *dedup)
{
	const SimhashTable *table = &dedup->table;
	char	   *name = pstrdup(table->name);
	int			level = simhash_enter_catalog();
	char	   *keys = simhash_ask(psprintf("SELECT string_agg(translate(format('-- %%s refers to it by %%I: %%s',"
											" conrelid::regclass, conname, CASE confdeltype"
											" WHEN 'c' THEN 'ON DELETE CASCADE takes rows along'"
											" WHEN 'n' THEN 'ON DELETE SET NULL'"
											" WHEN 'd' THEN 'ON DELETE SET DEFAULT'"
											" ELSE 'may refuse the DELETE' END),"
											" chr(10) || chr(13), '  ') || chr(10), ''"
											" ORDER BY conrelid::regclass::text, conname)"
											" FROM pg_constraint WHERE contype = 'f'"
											" AND confrelid = %u AND conparentid = 0",
											table->oid));

	simhash_leave_catalog(level);
	/* a line break in the name would end the comment */
	for (char *c = name; (c = strpbrk(c, "\r\n")) != NULL;)
		*c = ' ';
	return psprintf("%s%s%s%s", remark_on_documents(dedup),
					keys == NULL ? "" : keys,
					check_enable_rls(table->oid, InvalidOid, true) ==
					RLS_ENABLED ?
					"-- row security: only rows that you may see\n" : "",
					table->key == NIL ? "" :
					psprintf("-- distributed: rows are not locked; before it, in the same transaction,\n"
							 "-- LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE\n",
							 name));
}

/* Look at the arguments. */
static void
get_dedup_arguments(Dedup *dedup, FunctionCallInfo fcinfo)
{
	SimhashTable *table = &dedup->table;
	Oid			schema = get_func_namespace(fcinfo->flinfo->fn_oid);
	SimhashDocumentOptions options = simhash_document_options(fcinfo, 6);

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) ||
		PG_ARGISNULL(3) || PG_ARGISNULL(5))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("relation, fingerprint, k, kind and within must not be null")));
	dedup->k = PG_GETARG_INT64(2);
	dedup->kind = text_to_cstring(PG_GETARG_TEXT_PP(3));
	if (!PG_ARGISNULL(4))
		dedup->keep = text_to_cstring(PG_GETARG_TEXT_PP(4));
	dedup->schema = quote_identifier(get_namespace_name(schema));
	simhash_find_table(table, PG_GETARG_OID(0), "rpf",
					   text_to_cstring(PG_GETARG_TEXT_PP(1)),
					   PG_GETARG_ARRAYTYPE_P(5), dedup->k, &options);
	(void) simhash_choose(fcinfo, 3, "kind", "star", "connected");
	if (table->place != SIMHASH_HERE && table->key == NIL)
		complain_of_place(dedup);
	dedup->id = write_id(table);
}

/*
 * simhash_dedup_sql(relation regclass, fingerprint text, k bigint DEFAULT 3,
 *		kind text DEFAULT 'star', keep text DEFAULT NULL,
 *		within text[] DEFAULT '{}', document text DEFAULT NULL,
 *		similarity text DEFAULT NULL, at_least double precision DEFAULT NULL,
 *		profile text DEFAULT NULL) -> text
 *
 * The DELETE that would keep one row of each cluster, as text to read.  Where
 * the column is known that the documents are in, these decide.
 *
 * Errors: null_value_not_allowed, wrong_object_type (not a table), those of
 * simhash_check_fingerprint, undefined_column (within, document),
 * invalid_parameter_value (k, kind, what is said of documents),
 * undefined_object (profile), feature_not_supported (rows on other servers
 * that nothing tells apart).
 */
Datum
simhash_dedup_sql(PG_FUNCTION_ARGS)
{
	Dedup		dedup = {.k = 0};

	get_dedup_arguments(&dedup, fcinfo);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s%s", write_remarks(&dedup),
											  write_delete(&dedup))));
}
