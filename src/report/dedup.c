/*-------------------------------------------------------------------------
 *
 * dedup.c
 *		What removes the rows of a table that are near-duplicates is made of.
 *
 * The text of the DELETE is put together in SQL, in the extension's script:
 * simhash_dedup_sql.  What it has in common with simhash_dedup_plan is here: the call
 * that decides which rows go.
 *
 * Rows are told apart by ctid, so a table needs no key; in a table with
 * partitions or children by tableoid and ctid.  Both together are a text,
 * whose order means nothing: the query orders the rows, and the first of them
 * is kept.  The DELETE may be run when the table has got children that it had
 * not when the DELETE was written: so where ctid is all, it is FROM ONLY the
 * table.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "catalog/objectaddress.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "common/shortest_dec.h"
#include "relation.h"
#include "search/search.h"

PG_FUNCTION_INFO_V1(simhash_dedup_table);
PG_FUNCTION_INFO_V1(simhash_query_rows);

/* Fail: nothing that can be used tells the rows apart. */
static void
complain_of_place(const SimhashTable *table)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s has rows on other servers that no primary key of numbers, texts or uuids tells apart",
					table->name),
			 errhint("While nobody changes the rows, delete by a column that tells them apart, those that simhash_clusters says another one represents.")));
}

/* Are rows told apart by a text, and not by ctid alone? */
static bool
is_by_text(const SimhashTable *table)
{
	return table->parted || table->place != SIMHASH_HERE;
}

/* What tells rows of t apart while a statement runs, as an expression. */
static const char *
write_id(const SimhashTable *table)
{
	if (table->place == SIMHASH_HERE)
		return table->parted ? "pg_catalog.concat(t.tableoid, t.ctid)" : "t.ctid";
	if (list_length(table->key) == 1)
		return psprintf("t.%s::pg_catalog.text", (char *) linitial(table->key));
	return psprintf("%s::pg_catalog.text)",
					simhash_list(table->key, "pg_catalog.quote_literal(t.",
								 "::pg_catalog.text)"
								 " OPERATOR(pg_catalog.||) ','"
								 " OPERATOR(pg_catalog.||) "));
}

/* The query for the rows among which clusters are sought. */
static char *
write_dedup_rows(const SimhashTable *table)
{
	char	   *columns = psprintf("%s%s, (%s)%s",
								   table->key == NIL ?
								   "pg_catalog.row_number() OVER ()::pg_catalog.text" :
								   write_id(table),
								   is_by_text(table) ? " AS \"simhash id\"" : "",
								   table->fingerprint,
								   get_attnum(table->oid, table->fingerprint) > 0 ?
								   "" : " AS \"simhash fingerprint\"");

	return simhash_write_rows(table, columns);
}

/* The names of the columns that a decision about two rows rests upon. */
static List *
list_compared(const SimhashTable *table)
{
	List	   *names = NIL;
	int			column = 0;

	while ((column = bms_next_member(table->compared, column)) > 0)
	{
		char	   *name = get_attname(table->oid, (AttrNumber) column, false);

		/* Of a row as a whole, some may have been dropped. */
		if (get_attnum(table->oid, name) == column)
			names = lappend(names, name);
	}
	return names;
}

/* What is known of a table, as a row of SQL. */
static Datum
make_row(const SimhashTable *table, int64 k, TupleDesc columns)
{
	static const char *const places[] = {"here", "foreign", "distributed"};
	const SimhashDocumentOptions *options = &table->compare;
	bool		known = table->documents != NULL;
	bool		keyed = table->key != NIL;
	char		least[DOUBLE_SHORTEST_DECIMAL_LEN];
	const char *texts[] = {
		table->name, table->source,
		get_rel_relkind(table->oid) == RELKIND_MATVIEW ? "view" : places[table->place],
		table->place == SIMHASH_FOREIGN ? NULL : write_id(table),
		keyed ? simhash_write_key(table, "t") : NULL,
		write_dedup_rows(table),
		simhash_write_cast(table->fingerprint, table->type, table->type),
		known ? simhash_write_cast(table->document, table->document_type, table->documents->type) : NULL,
		options->similarity, known ? options->profile : NULL,
		known && !options->limited ? least : NULL,
		simhash_write_apart(table)
	};
	Datum		values[lengthof(texts) + 6] = {0};
	bool		nulls[lengthof(texts) + 6] = {false};
	Datum	   *value = values + lengthof(texts);

	/* It is read again, whatever the settings of the session. */
	(void) double_to_shortest_decimal_buf(options->at_least, least);
	for (int i = 0; i < (int) lengthof(texts); i++)
	{
		nulls[i] = texts[i] == NULL;
		if (!nulls[i])
			values[i] = CStringGetTextDatum(texts[i]);
	}
	*value++ = Int64GetDatum(k);
	*value++ = BoolGetDatum(table->decides);
	*value++ = BoolGetDatum(is_by_text(table));
	*value++ = BoolGetDatum(known && table->documents->comparison.arrays);
	nulls[value - values] = !options->limited;
	*value++ = Int64GetDatum(options->at_most);
	*value++ = PointerGetDatum(strlist_to_textarray(list_compared(table)));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values,
											 nulls));
}

/*
 * _simhash_dedup_table(relation regclass, fingerprint text, k bigint, kind text,
 *		keep text, within text[], document text, similarity text,
 *		at_least double precision, profile text, at_most bigint, apart regclass,
 *		condition text, moment text, near_in interval, reports boolean)
 *		-> (name text, source text, place text, id text, key text, rows text,
 *		fp text, doc text, similarity text, profile text, bound text, series text,
 *		k bigint, decides boolean, by_text boolean, arrays boolean, at_most bigint,
 *		compared text[])
 *
 * What the texts of a report and of a removal are made of, where it takes more than
 * a look into the catalogue.  The table; how FROM names it; whether its rows are
 * here.  Of a row t: what tells it apart while a statement runs, and for whoever
 * reads a plan; its fingerprint and document, cast.  The query for the rows among
 * which clusters are sought.  How documents are compared, with what follows from the
 * fingerprint, and whether they decide.  The query for pairs of keys to leave alone, or
 * NULL.  Whether t is told apart by a text, documents are arrays; and which columns all
 * this reads.
 *
 * Errors: null_value_not_allowed, wrong_object_type (not a table), those of
 * simhash_read_source, invalid_parameter_value (k, kind, near_in, what is said of
 * documents or not said), undefined_object (profile), datatype_mismatch (apart), and
 * unless it is for a report feature_not_supported (rows on other servers that nothing
 * tells apart).
 */
Datum
simhash_dedup_table(PG_FUNCTION_ARGS)
{
	SimhashTable table;
	int64		k = simhash_find_table(&table, fcinfo);
	TupleDesc	columns;

	(void) simhash_choose(fcinfo, SIMHASH_OF_KIND, "star", "connected");
	if (!PG_GETARG_BOOL(SIMHASH_OF_REPORTS) && table.place != SIMHASH_HERE &&
		(table.place == SIMHASH_FOREIGN || !table.keyed))
		complain_of_place(&table);
	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	PG_RETURN_DATUM(make_row(&table, k, columns));
}

/*
 * _simhash_plan_rows(relation regclass, query text, apart regclass)
 *		-> setof (gone text[], kept text[], distance integer,
 *		similarity double precision, doubt text, family bigint, differs text,
 *		evidence bigint)
 * _simhash_report_rows(the same)
 *		-> setof (kind text, cluster bigint, n bigint, bytes bigint,
 *		distance integer, similarity double precision, doubt text, family bigint,
 *		value text)
 *
 * The rows of a query about a table, and one of pairs that are apart (or the same),
 * which must have such columns.
 *
 * Errors: datatype_mismatch, object_not_in_prerequisite_state (the table has been
 * renamed meanwhile), whatever the query raises.
 */
Datum
simhash_query_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	SimhashStatement query = {
		.text = text_to_cstring(PG_GETARG_TEXT_PP(1)),
		.example = "SELECT",
		.relations = list_make2_oid(PG_GETARG_OID(0), PG_GETARG_OID(2)),
		.source = simhash_clusters,
		.ours = true
	};
	TupleDesc	columns;

	InitMaterializedSRF(fcinfo, 0);
	simhash_analyze(&query);
	columns = simhash_columns(&query);
	for (int i = 0; i < Max(columns->natts, result->setDesc->natts); i++)
	{
		if (columns->natts != result->setDesc->natts ||
			TupleDescAttr(columns, i)->atttypid !=
			TupleDescAttr(result->setDesc, i)->atttypid)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("the query yields other columns than the function does")));
	}
	simhash_run_into(&query, result->setResult);
	return (Datum) 0;
}
