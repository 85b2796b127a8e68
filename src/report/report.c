/*-------------------------------------------------------------------------
 *
 * report.c
 *		simhash_report: the near-duplicates in a table, with advice.
 *
 * The table is read once: of each row, what a report needs goes to a
 * tuplestore, with a number in the order in which the DELETE of
 * simhash_dedup_sql keeps the first row.  The engine makes clusters of that,
 * into a second tuplestore; and one query over both writes the lines of the
 * report.
 *
 * Names.  In the two queries about the table itself names are looked up by
 * the search_path of the caller, since the expression for the fingerprint is
 * the caller's; names that do not come from the caller are qualified by
 * pg_catalog.  Both are analyzed before anything is read, and then it is
 * checked that the table is the one that was meant.  So somebody who renames
 * its schema, or that of functions in the expression, cannot put others in
 * their place.  All other queries are about tuplestores and the catalogue,
 * and see pg_catalog alone.  Functions of this extension are called from C,
 * not by their names.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(simhash_report);

#define SHOWN			5		/* clusters of which a row is shown */

/* The columns of a row that is read. */
enum
{
	ROW_N, ROW_FINGERPRINT, ROW_BYTES, ROW_PLACE, ROW_PART
};

/* Takes the rows of the table, and numbers them. */
typedef struct RowNumbering
{
	List	   *parts;			/* oids of tables with rows, if several */
	Oid			part;			/* that of the last row */
	int			rank;			/* and its place among them */
	EphemeralNamedRelation store;
	SimhashDocuments *documents;	/* take the last column, unless NULL */
	MemoryContext scratch;
	int64		n;
} RowNumbering;

/* --- what is asked -------------------------------------------------------- */

/*
 * The bytes of a row: its header, its pointer, and its columns as they are
 * stored, so that nothing has to be decompressed or fetched from TOAST.
 */
static char *
bytes_of_row(Oid relation)
{
	StringInfoData sum;
	Relation	rel = relation_open(relation, NoLock);

	initStringInfo(&sum);
	appendStringInfoString(&sum, "28::pg_catalog.int8");
	for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), i);

		if (!column->attisdropped && !simhash_is_virtual(column))
			appendStringInfo(&sum, " OPERATOR(pg_catalog.+)"
							 " coalesce(pg_catalog.pg_column_size(t.%s), 0)",
							 quote_identifier(NameStr(column->attname)));
	}
	relation_close(rel, NoLock);
	return sum.data;
}

/* The type of the fingerprint, as it is written in a cast that runs no code. */
static const char *
fingerprint_type(const SimhashTable *table)
{
	if (table->type == INT8OID)
		return "pg_catalog.int8";
	if (table->width > 0)
		return psprintf("pg_catalog.bit(%d)", table->width);
	return "pg_catalog.varbit";
}

/* The query for the rows. */
static char *
write_fetch(const SimhashTable *table)
{
	StringInfoData text;
	bool		here = table->place == SIMHASH_HERE;
	ListCell   *group;
	ListCell   *column;

	initStringInfo(&text);
	appendStringInfo(&text, "SELECT 0::pg_catalog.int8 AS n, (%s)::%s AS fp,"
					 " %s AS bytes, %s AS place, %s AS part",
					 table->fingerprint, fingerprint_type(table),
					 bytes_of_row(table->oid),
					 here ? "t.ctid" : "NULL::pg_catalog.tid",
					 here ? "t.tableoid" : "NULL::pg_catalog.oid");
	forboth(group, table->groups, column, table->columns)
		appendStringInfo(&text, ", %s AS %s", (char *) lfirst(group),
						 (char *) lfirst(column));
	if (table->compare.document != NULL)
		appendStringInfo(&text, ", t.%s AS document",
						 quote_identifier(table->compare.document));
	appendStringInfo(&text, " FROM %s AS t", table->source);
	if (table->key != NIL)
		appendStringInfo(&text, " ORDER BY %s",
						 simhash_list(table->key, "", ", "));
	return text.data;
}

/*
 * The query for a row; the parameters are its number, its place, and its
 * fingerprint.  Where the rows are on other servers, any row with the
 * fingerprint will do, as it is in the same cluster.
 */
static char *
write_show(const SimhashTable *table)
{
	const char *type = fingerprint_type(table);

	return psprintf("SELECT $1 AS n,"
					" pg_catalog.left(pg_catalog.concat(t.*), 200) AS value"
					" FROM %s AS t WHERE %s LIMIT 1", table->source,
					table->place == SIMHASH_HERE ?
					"t.ctid OPERATOR(pg_catalog.=) $2"
					" AND t.tableoid OPERATOR(pg_catalog.=) $3" :
					psprintf("(%s)::%s OPERATOR(pg_catalog.=) $4::%s",
							 table->fingerprint, type, type));
}

/*
 * Analyze a query FROM the table alone.  Fail if the name of the table means
 * another one by now.
 */
static void
analyze_about(SimhashStatement *statement, const SimhashTable *table)
{
	List	   *from;
	RangeTblEntry *rte = NULL;

	simhash_analyze(statement);
	from = statement->query->jointree->fromlist;
	if (list_length(from) == 1 && IsA(linitial(from), RangeTblRef))
		rte = rt_fetch(linitial_node(RangeTblRef, from)->rtindex,
					   statement->query->rtable);
	if (rte == NULL || rte->rtekind != RTE_RELATION ||
		rte->relid != table->oid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s has been renamed", table->name),
				 errhint("Try again.")));
}

/* Analyze what is asked of the table. */
static void
analyze_all(SimhashTableReport *report)
{
	static Oid	types[2][4] = {
		{INT8OID, TIDOID, OIDOID, INT8OID},
		{INT8OID, TIDOID, OIDOID, VARBITOID}
	};

	report->fetch.text = write_fetch(&report->table);
	analyze_about(&report->fetch, &report->table);
	report->show.text = write_show(&report->table);
	report->show.types = types[report->table.type != INT8OID];
	report->show.ntypes = lengthof(types[0]);
	analyze_about(&report->show, &report->table);
}

/* --- what is found -------------------------------------------------------- */

/* A tuplestore that queries can read by a name. */
static EphemeralNamedRelation
add_store(SimhashTableReport *report, const char *name, TupleDesc columns)
{
	EphemeralNamedRelation store = palloc0(sizeof *store);

	store->md.name = pstrdup(name);
	store->md.tupdesc = columns;
	store->md.enrtype = ENR_NAMED_TUPLESTORE;
	store->reldata = tuplestore_begin_heap(true, false, work_mem);
	register_ENR(report->stores, store);
	return store;
}

/* Run a query whose rows go to a store. */
static void
run_into(const SimhashStatement *statement, ParamListInfo parameters,
		 Tuplestorestate *store)
{
	DestReceiver *receiver = CreateTuplestoreDestReceiver();

	SetTuplestoreDestReceiverParams(receiver, store, CurrentMemoryContext,
									false, NULL, NULL);
	simhash_run(statement, parameters, receiver);
}

/* The same for a query over stores and the catalogue; returns its columns. */
static TupleDesc
ask_into(SimhashTableReport *report, const char *text, Tuplestorestate *store)
{
	SimhashStatement statement = {.text = text,.stores = report->stores};
	int			level = simhash_enter_catalog();

	simhash_analyze(&statement);
	run_into(&statement, NULL, store);
	simhash_leave_catalog(level);
	return simhash_columns(&statement);
}

/*
 * The number of a row, by its table and its place there; or if it is
 * elsewhere, by the order in which it came.
 */
static int64
number_row(RowNumbering *rows, TupleTableSlot *slot)
{
	ItemPointer place =
	(ItemPointer) DatumGetPointer(slot->tts_values[ROW_PLACE]);
	Oid			part = DatumGetObjectId(slot->tts_values[ROW_PART]);

	if (slot->tts_isnull[ROW_PLACE])
		return rows->n;
	if (rows->parts != NIL && part != rows->part)
	{
		int			n = Min(list_length(rows->parts), PG_INT16_MAX + 1);

		rows->part = part;
		rows->rank = 0;
		while (rows->rank < n && list_nth_oid(rows->parts, rows->rank) != part)
			rows->rank++;
		if (rows->rank == n)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("cannot number the rows of table %s",
							get_rel_name(part)),
					 errdetail("It has become a partition since the report began, or there are more than %d.",
							   PG_INT16_MAX)));
	}
	return (int64) rows->rank << 48 |
		(int64) ItemPointerGetBlockNumberNoCheck(place) << 16 |
		ItemPointerGetOffsetNumberNoCheck(place);
}

/*
 * SimhashRowReader.row: keep a row, with its number.  The documents of those
 * that have a fingerprint are kept by themselves.
 */
static void
keep_numbered_row(void *context, TupleTableSlot *slot)
{
	RowNumbering *rows = context;
	TupleDesc	columns = rows->store->md.tupdesc;
	MemoryContext old;

	if (++rows->n % SIMHASH_SAY_EVERY == 0)
		simhash_progress_rows("reading", rows->n);
	old = MemoryContextSwitchTo(rows->scratch);
	slot->tts_values[ROW_N] = Int64GetDatum(number_row(rows, slot));
	if (rows->documents != NULL)
	{
		int			last = columns->natts - 1;

		if (!slot->tts_isnull[ROW_FINGERPRINT])
			simhash_documents_put(rows->documents, slot->tts_values[last],
							   slot->tts_isnull[last]);
		slot->tts_isnull[last] = true;
	}
	tuplestore_putvalues(rows->store->reldata, columns, slot->tts_values,
						 slot->tts_isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(rows->scratch);
}

/* Read the table. */
static void
fetch_rows(SimhashTableReport *report)
{
	RowNumbering rows = {.documents = report->table.documents};
	SimhashRowReader reader = {NULL, keep_numbered_row, &rows};

	report->rows = add_store(report, "simhash_row",
							 simhash_columns(&report->fetch));
	if (report->table.parted)
		rows.parts = find_all_inheritors(report->table.oid, AccessShareLock,
										 NULL);
	list_sort(rows.parts, list_oid_cmp);
	rows.store = report->rows;
	rows.scratch = AllocSetContextCreate(CurrentMemoryContext, "simhash row",
										 ALLOCSET_SMALL_SIZES);
	simhash_read(&report->fetch, &reader);
	report->rows->md.enrtuples = (double) rows.n;
}

/* The query that the engine reads; columns of groups keep their names. */
static char *
write_numbered(const SimhashTable *table)
{
	StringInfoData text;
	ListCell   *group;
	ListCell   *column;

	initStringInfo(&text);
	appendStringInfoString(&text, "SELECT n, fp");
	forboth(group, table->groups, column, table->columns)
		appendStringInfo(&text, ", %s AS %s", (char *) lfirst(column),
						 (char *) lfirst(group) + strlen("t."));
	appendStringInfoString(&text, " FROM simhash_row WHERE fp IS NOT NULL");
	return text.data;
}

/* Make the clusters, as the DELETE would. */
static void
make_report_clusters(SimhashTableReport *report)
{
	SimhashStatement query = {.stores = report->stores};
	SimhashStatement like = {
		.text = "SELECT 0::int8 AS id, 0::int8 AS cluster,"
		" 0::int8 AS representative, 0::int4 AS distance, 0::int8 AS size,"
		" 0::float8 AS similarity"
	};
	int			level = simhash_enter_catalog();

	simhash_analyze(&like);
	report->members = add_store(report, "simhash_member",
								simhash_columns(&like));
	query.text = write_numbered(&report->table);
	simhash_make_stars(&query, report->k, report->table.documents,
					   report->table.decides, &report->tally,
					   report->members->reldata,
					   report->members->md.tupdesc);
	simhash_leave_catalog(level);
	report->members->md.enrtuples =
		(double) tuplestore_tuple_count(report->members->reldata);
}

/* Fetch a row of each of the largest clusters. */
static void
show_rows(SimhashTableReport *report)
{
	Tuplestorestate *largest = tuplestore_begin_heap(false, false, work_mem);
	ParamListInfo parameters = makeParamList(report->show.ntypes);
	TupleTableSlot *slot;

	report->texts = add_store(report, "simhash_text",
							  simhash_columns(&report->show));
	slot = MakeSingleTupleTableSlot(ask_into(report,
											 "SELECT n, place, part, fp"
											 " FROM (SELECT * FROM simhash_member"
											 " WHERE id = representative"
											 " ORDER BY size DESC, cluster"
											 " LIMIT " CppAsString2(SHOWN) ") AS m"
											 " JOIN simhash_row ON n = representative",
											 largest), &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(largest, true, false, slot))
	{
		slot_getallattrs(slot);
		for (int i = 0; i < report->show.ntypes; i++)
		{
			parameters->params[i].value = slot->tts_values[i];
			parameters->params[i].isnull = slot->tts_isnull[i];
			parameters->params[i].pflags = PARAM_FLAG_CONST;
			parameters->params[i].ptype = report->show.types[i];
		}
		run_into(&report->show, parameters, report->texts->reldata);
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(largest);
}

/* The arguments; the first four must not be null. */
static void
get_report_arguments(SimhashTableReport *report, FunctionCallInfo fcinfo)
{
	SimhashDocumentOptions given = simhash_document_options(fcinfo, 4);
	SimhashTable *table = &report->table;

	for (int i = 0; i < 4; i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("relation, fingerprint, k and within must not be null")));
	}
	report->k = PG_GETARG_INT64(2);
	report->within = quote_literal_cstr(OidOutputFunctionCall(F_ARRAY_OUT,
															  PG_GETARG_DATUM(3)));
	simhash_find_table(table, PG_GETARG_OID(0), "rpmf",
					   text_to_cstring(PG_GETARG_TEXT_PP(1)),
					   PG_GETARG_ARRAYTYPE_P(3), report->k, &given);
	report->given = simhash_write_options(&given);
	report->stores = create_queryEnv();
}

/* Make the report; its lines go to the result. */
static void
make_report(void *context)
{
	SimhashTableReport *report = context;

	analyze_all(report);
	fetch_rows(report);
	make_report_clusters(report);
	show_rows(report);
	(void) ask_into(report, simhash_write_lines(report), report->result);
}

/*
 * simhash_report(relation regclass, fingerprint text, k bigint DEFAULT 3,
 *		within text[] DEFAULT '{}', document text DEFAULT NULL,
 *		similarity text DEFAULT NULL, at_least double precision DEFAULT NULL,
 *		profile text DEFAULT NULL)
 *		-> setof (section text, item text, value text)
 *
 * The near-duplicates in a table, or within groups of its rows: how many, how
 * large the clusters are, how keys are used; and advice, in sentences.  Where
 * the column is known that the documents are in, these decide as in the
 * DELETE.
 *
 * Errors: null_value_not_allowed, wrong_object_type (not a table), those of
 * simhash_check_fingerprint, undefined_column (within),
 * object_not_in_prerequisite_state (the table has been renamed), those of
 * simhash_clusters.
 */
Datum
simhash_report(PG_FUNCTION_ARGS)
{
	SimhashTableReport *report = palloc0(sizeof *report);

	get_report_arguments(report, fcinfo);
	InitMaterializedSRF(fcinfo, 0);
	report->result = ((ReturnSetInfo *) fcinfo->resultinfo)->setResult;
	simhash_show_progress("simhash_report", make_report, report);
	tuplestore_end(report->rows->reldata);
	tuplestore_end(report->members->reldata);
	tuplestore_end(report->texts->reldata);
	return (Datum) 0;
}
