/*-------------------------------------------------------------------------
 *
 * table_report.c
 *		simhash_report: the near-duplicates in a table, with advice.
 *
 * The table is read once: of each row, what a report needs goes to a tuplestore,
 * with a number in the order that the DELETE of simhash_dedup_sql goes by.  The
 * engine makes clusters of that, into a second tuplestore; and one query over
 * both writes the lines of the report.
 *
 * Names.  What is written into the two queries about the table itself is looked
 * up by the search_path of the caller, since the expression for the fingerprint
 * is the caller's, and says pg_catalog at each name of ours.  They are analyzed
 * before anything is read, and make sure that the table is the one that was
 * meant: who may rename its schema, or that of the functions in the expression,
 * can put nothing in their place.  All other queries are about tuplestores and
 * the catalogue, and know pg_catalog alone.  Functions of this extension are
 * called here by C, not by a name.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report_table.h"
#include "report/tune.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(simhash_report);

#define SHOWN			5		/* clusters of which a row is shown */

/* A report that is being made. */
typedef struct TableReport
{
	SimhashTable table;
	int64		k;
	const char *within;			/* the argument, as a literal */
	QueryEnvironment *stores;
	SimhashStatement fetch;		/* the rows of the table */
	SimhashStatement show;		/* one of them, by parameters, */
	Oid			show_types[4];	/* of these types */
	EphemeralNamedRelation rows;	/* n, fp, bytes, place, part, c1, c2, ... */
	EphemeralNamedRelation members; /* of clusters, by n */
	EphemeralNamedRelation texts;	/* n, value: rows that are shown */
	SimhashVerify *verify;		/* takes the documents, if they are known */
	SimhashTally tally;			/* of pairs, if documents are known */
	const char *given;			/* what is said of them, as arguments of a call */
} TableReport;

/* The columns of a row that is read. */
enum
{
	ROW_N, ROW_FINGERPRINT, ROW_BYTES, ROW_PLACE, ROW_PART
};

/* Takes the rows of the table, and numbers them. */
typedef struct RowReceiver
{
	DestReceiver pub;
	List	   *parts;			/* tables that rows are in, by oid, if several */
	Oid			part;			/* that of the last row */
	int			rank;			/* and its place among them */
	EphemeralNamedRelation rows;
	SimhashVerify *verify;		/* takes the last column, unless it is NULL */
	MemoryContext scratch;
	int64		n;
} RowReceiver;

/* --- what is asked -------------------------------------------------------- */

/*
 * What a row takes where it is: its header, its pointer, and its columns, as
 * they are compressed or stored apart; a whole row would have to be fetched.
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

/* The query for the rows. */
static char *
write_fetch(const SimhashTable *table)
{
	StringInfoData text;
	bool		here = table->place == SIMHASH_HERE;
	ListCell   *group;

	initStringInfo(&text);
	appendStringInfo(&text, "SELECT 0::pg_catalog.int8 AS n, (%s)::%s AS fp,"
					 " %s AS bytes, %s AS place, %s AS part",
					 table->fingerprint, simhash_fingerprint_type(table),
					 bytes_of_row(table->oid),
					 here ? "t.ctid" : "NULL::pg_catalog.tid",
					 here ? "t.tableoid" : "NULL::pg_catalog.oid");
	foreach(group, table->groups)
		appendStringInfo(&text, ", %s AS c%d", (char *) lfirst(group),
						 foreach_current_index(group) + 1);
	if (table->verify.document != NULL)
		appendStringInfo(&text, ", t.%s AS document",
						 quote_identifier(table->verify.document));
	appendStringInfo(&text, " FROM %s AS t", table->source);
	if (table->key != NIL)
		appendStringInfo(&text, " ORDER BY %s",
						 simhash_list(table->key, "", ", "));
	return text.data;
}

/*
 * The query for a row, of parameters: its number, and where it is.  If that is
 * elsewhere, any row with its fingerprint will do, which is of the same
 * cluster.
 */
static char *
write_show(const SimhashTable *table)
{
	const char *type = simhash_fingerprint_type(table);

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
 * Analyze a query about the table, in which that is all that it is FROM.  Fail
 * if its name means something else by now.
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
analyze_all(TableReport *report)
{
	report->show_types[0] = INT8OID;
	report->show_types[1] = TIDOID;
	report->show_types[2] = OIDOID;
	report->show_types[3] = report->table.type == INT8OID ? INT8OID : VARBITOID;
	report->fetch.text = write_fetch(&report->table);
	analyze_about(&report->fetch, &report->table);
	report->show.text = write_show(&report->table);
	report->show.types = report->show_types;
	report->show.ntypes = lengthof(report->show_types);
	analyze_about(&report->show, &report->table);
}

/* --- what is found -------------------------------------------------------- */

/* A tuplestore that queries can read by a name. */
static EphemeralNamedRelation
add_store(TableReport *report, const char *name, TupleDesc columns)
{
	EphemeralNamedRelation store = palloc0(sizeof *store);

	store->md.name = pstrdup(name);
	store->md.tupdesc = columns;
	store->md.enrtype = ENR_NAMED_TUPLESTORE;
	store->reldata = tuplestore_begin_heap(true, false, work_mem);
	register_ENR(report->stores, store);
	return store;
}

/* How many rows are in a store: the planner is told. */
static int64
count_store(EphemeralNamedRelation store)
{
	int64		n = tuplestore_tuple_count(store->reldata);

	store->md.enrtuples = (double) n;
	return n;
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
ask_into(TableReport *report, const char *text, Tuplestorestate *store)
{
	SimhashStatement statement = {.text = text,.stores = report->stores};
	int			level = simhash_enter_catalog();

	simhash_analyze(&statement);
	run_into(&statement, NULL, store);
	simhash_leave_catalog(level);
	return simhash_columns(&statement);
}

/* RowReceiver: there is nothing to begin. */
static void
row_startup(DestReceiver *self pg_attribute_unused(),
			int operation pg_attribute_unused(),
			TupleDesc desc pg_attribute_unused())
{
}

/* A row is in another table than the last one. */
static void
enter_part(RowReceiver *receiver, Oid part)
{
	receiver->part = part;
	receiver->rank = 0;
	while (receiver->rank < list_length(receiver->parts) &&
		   list_nth_oid(receiver->parts, receiver->rank) != part)
		receiver->rank++;
	if (receiver->rank == list_length(receiver->parts) ||
		receiver->rank > PG_INT16_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot number the rows of table %s",
						get_rel_name(part)),
				 errdetail("It has become a partition since the report began, or there are more than %d.",
						   PG_INT16_MAX)));
}

/*
 * The number of a row, by its table and its place there; or if it is elsewhere,
 * by the order in which it came.
 */
static int64
number_row(RowReceiver *receiver, TupleTableSlot *slot)
{
	ItemPointer place =
	(ItemPointer) DatumGetPointer(slot->tts_values[ROW_PLACE]);
	Oid			part = DatumGetObjectId(slot->tts_values[ROW_PART]);

	if (slot->tts_isnull[ROW_PLACE])
		return receiver->n;
	if (receiver->parts != NIL && part != receiver->part)
		enter_part(receiver, part);
	return (int64) receiver->rank << 48 |
		(int64) ItemPointerGetBlockNumberNoCheck(place) << 16 |
		ItemPointerGetOffsetNumberNoCheck(place);
}

/*
 * RowReceiver: keep a row, with its number.  The documents of those that have a
 * fingerprint are kept by themselves.
 */
static bool
row_receive(TupleTableSlot *slot, DestReceiver *self)
{
	RowReceiver *receiver = (RowReceiver *) self;
	TupleDesc	columns = receiver->rows->md.tupdesc;
	MemoryContext old;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	if (++receiver->n % SIMHASH_SAY_EVERY == 0)
		simhash_progress_rows("reading", receiver->n);
	old = MemoryContextSwitchTo(receiver->scratch);
	slot->tts_values[ROW_N] = Int64GetDatum(number_row(receiver, slot));
	if (receiver->verify != NULL)
	{
		int			last = columns->natts - 1;

		if (!slot->tts_isnull[ROW_FINGERPRINT])
			simhash_verify_put(receiver->verify, slot->tts_values[last],
							   slot->tts_isnull[last]);
		slot->tts_isnull[last] = true;
	}
	tuplestore_putvalues(receiver->rows->reldata, columns, slot->tts_values,
						 slot->tts_isnull);
	MemoryContextSwitchTo(old);
	MemoryContextReset(receiver->scratch);
	return true;
}

/* Read the table. */
static void
fetch_rows(TableReport *report)
{
	RowReceiver receiver;

	report->rows = add_store(report, "simhash_row",
							 simhash_columns(&report->fetch));
	receiver.parts = NIL;
	receiver.part = InvalidOid;
	receiver.rank = 0;
	if (report->table.parted)
		receiver.parts = find_all_inheritors(report->table.oid,
											 AccessShareLock, NULL);
	list_sort(receiver.parts, list_oid_cmp);
	receiver.rows = report->rows;
	receiver.verify = report->verify;
	receiver.scratch = AllocSetContextCreate(CurrentMemoryContext,
											 "simhash row",
											 ALLOCSET_SMALL_SIZES);
	receiver.n = 0;
	simhash_begin_receiver(&receiver.pub, row_startup, row_receive);
	simhash_run(&report->fetch, NULL, &receiver.pub);
	(void) count_store(report->rows);
}

/* Each column of groups in the store, with something before and after. */
static char *
list_groups(const TableReport *report, const char *before, const char *after)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 1; i <= list_length(report->table.groups); i++)
		appendStringInfo(&list, "%sc%d%s", before, i, after);
	return list.data;
}

/* The query that the engine reads; columns of groups keep their names. */
static char *
write_numbered(const SimhashTable *table)
{
	StringInfoData text;
	ListCell   *group;

	initStringInfo(&text);
	appendStringInfoString(&text, "SELECT n, fp");
	foreach(group, table->groups)
		appendStringInfo(&text, ", c%d AS %s",
						 foreach_current_index(group) + 1,
						 (char *) lfirst(group) + strlen("t."));
	appendStringInfoString(&text, " FROM simhash_row WHERE fp IS NOT NULL");
	return text.data;
}

/* Make the clusters, as the DELETE would. */
static void
make_clusters(TableReport *report)
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
	simhash_analyze(&query);
	simhash_make_stars(&query, report->k, report->verify,
					   report->table.decides, &report->tally,
					   report->members->reldata,
					   report->members->md.tupdesc);
	simhash_leave_catalog(level);
	(void) count_store(report->members);
}

/* Fetch a row of each of the largest clusters. */
static void
show_rows(TableReport *report)
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

/* --- what is said --------------------------------------------------------- */

/* What to do with the rows that could go. */
static char *
advise_of_delete(const TableReport *report)
{
	const SimhashTable *table = &report->table;

	if (table->relkind == RELKIND_MATVIEW)
		return " The rows of a materialized view are those of its tables:"
			" look there.";
	if (table->place == SIMHASH_FOREIGN)
		return " Make the report on each server to have the DELETE written.";
	return psprintf(" simhash_dedup_sql(%s, %s, " INT64_FORMAT "%s%s) writes the"
					" DELETE; read it before you run it.",
					quote_literal_cstr(table->name),
					quote_literal_cstr(table->fingerprint), report->k,
					table->groups == NIL ? "" :
					psprintf(", within => %s", report->within), report->given);
}

/* What all lines are computed from. */
static void
write_facts(StringInfo text, const TableReport *report)
{
	bool		bits = report->table.type != INT8OID;
	char	   *groups = list_groups(report, ", ", "");
	char	   *grouped = list_groups(report, " AND ",
									  " IS DISTINCT FROM NULL");

	appendStringInfo(text,
					 "WITH total AS MATERIALIZED ("
					 " SELECT coalesce(sum(total), 0) AS total,"
					 " coalesce(sum(present), 0) AS present,"
					 " coalesce(sum(mates), 0) AS matching,"
					 " 1 + (coalesce(sum(mates::float8 * mates) / nullif(sum(mates), 0), 0) - 1)"
					 " / 65536 AS expected"
					 " FROM (SELECT count(*) AS total, count(fp) AS present,"
					 " CASE WHEN true%s THEN count(fp) END AS mates"
					 " FROM simhash_row GROUP BY ()%s) AS g)", grouped, groups);

	/*
	 * How rows share keys: a look-up of a row's fingerprint reads, in each
	 * block, the rows of its group that have its key.  Bit strings have as
	 * many blocks of 16 bits as they have room for.
	 */
	appendStringInfo(text,
					 ", block AS MATERIALIZED ("
					 " SELECT block, max(rows) AS most,"
					 " sum(rows * rows) / sum(rows) AS mean"
					 " FROM (SELECT block, %s AS key, count(*)::float8 AS rows"
					 " FROM simhash_row, generate_series(0, %s) AS block"
					 " WHERE fp IS NOT NULL%s GROUP BY 1, 2%s) AS g"
					 " GROUP BY block)",
					 bits ? "substring(fp, block * 16 + 1, 16)" :
					 "(fp >> (48 - 16 * block)) & 65535",
					 bits ? "length(fp) / 16 - 1" : "3", grouped, groups);
	appendStringInfo(text,
					 ", cluster AS MATERIALIZED ("
					 " SELECT cluster, representative, size,"
					 " max(distance) AS farthest"
					 " FROM simhash_member GROUP BY 1, 2, 3)"
					 ", gone AS MATERIALIZED ("
					 " SELECT distance, bytes, similarity"
					 " FROM simhash_member JOIN simhash_row ON n = id"
					 " WHERE id <> representative)"
					 ", saved AS MATERIALIZED ("
					 " SELECT count(*) AS rows,"
					 " count(*) FILTER (WHERE distance = 0) AS equal,"
					 " coalesce(sum(bytes), 0) AS bytes,"
					 " count(similarity) AS compared,"
					 " count(*) FILTER (WHERE similarity >= %s) AS alike,"
					 " round(min(similarity)::numeric, 3) AS least FROM gone)"
					 ", referring AS MATERIALIZED ("
					 " SELECT string_agg(format('%%s (%%s)', conrelid::regclass, conname),"
					 " ', ' ORDER BY conrelid::regclass::text, conname) AS keys"
					 " FROM pg_constraint WHERE contype = 'f'"
					 " AND confrelid = %u AND conparentid = 0)",
					 simhash_write_number(report->table.verify.at_least),
					 report->table.oid);
}

/* The lines of figures, each with its place. */
static void
write_figures(StringInfo text, const TableReport *report)
{
	appendStringInfoString(text,
						   " SELECT section, item, value FROM ("
						   "SELECT 1 AS part, 0::numeric AS place, 'table' AS section,"
						   " 'rows' AS item, total::text AS value FROM total"
						   " UNION ALL SELECT 2, 0, 'table', 'fingerprints',"
						   " present::text FROM total"
						   " UNION ALL SELECT 3, 0, 'table',"
						   " 'rows without a fingerprint', (total - present)::text FROM total");
	if (report->table.groups != NIL)
		appendStringInfoString(text,
							   " UNION ALL SELECT 4, 0, 'table',"
							   " 'rows without a group', (present - matching)::text FROM total");
	appendStringInfoString(text,
						   " UNION ALL SELECT 5, block, 'keys', format('block %s', block),"
						   " format('%s rows to a look-up where %s are to be expected;"
						   " its commonest key has %s %% of the rows', round(mean),"
						   " round(expected), round((100 * most / matching)::numeric, 1))"
						   " FROM block, total"
						   " UNION ALL SELECT 6, 0, 'duplicates', 'clusters',"
						   " count(*)::text FROM cluster"
						   " UNION ALL SELECT 7, 0, 'duplicates', 'redundant rows',"
						   " rows::text FROM saved"
						   " UNION ALL SELECT 8, 0, 'duplicates',"
						   " 'of them with the same fingerprint', equal::text FROM saved"
						   " UNION ALL SELECT 9, 0, 'duplicates',"
						   " 'bytes of redundant rows', bytes::text FROM saved"
						   " UNION ALL SELECT 9, 1, 'duplicates',"
						   " 'similarity of the least similar of them',"
						   " least::text FROM saved WHERE compared = rows AND rows > 0"
						   " UNION ALL SELECT 10, low, 'sizes',"
						   " format('clusters of %s to %s rows', 1::bigint << low,"
						   " (2::bigint << low) - 1), count(*)::text"
						   " FROM (SELECT floor(log(2, size))::int AS low FROM cluster) AS s"
						   " GROUP BY low"
						   " UNION ALL SELECT 11, distance, 'distances',"
						   " format('rows at distance %s', distance), count(*)::text"
						   " FROM gone GROUP BY distance"
						   " UNION ALL SELECT 12, row_number() OVER (ORDER BY size DESC, cluster),"
						   " 'largest clusters', format('%s rows, up to distance %s',"
						   " size, farthest), value"
						   " FROM cluster JOIN simhash_text ON n = representative");
}

/* What there is to say of rows that would go by an estimate, if they would. */
static char *
advise_of_estimate(const SimhashTable *table)
{
	if (table->verify.document == NULL)
		return "'Rows would go by an estimate: no document is compared. Name the"
			" column of the documents, as in document => ''body''.'";
	return psprintf("'Rows would go by an estimate: no document is compared.'"
					" || CASE WHEN compared = 0 THEN '' ELSE format("
					"' Of %%s of them, drawn at random, %%s %%%% have a similarity"
					" (%s) of %s or more to the row that would stay; the least"
					" similar has %%s. Leave out similarity => ''none'' to have"
					" all compared.', compared,"
					" round(100.0 * alike / compared, 1), least) END",
					table->verify.similarity,
					simhash_write_number(table->verify.at_least));
}

/* Which distance finds nearly all that is similar; NULL if that is not known. */
static char *
advise_of_distance(const TableReport *report)
{
	SimhashRate best = {.k = 0};
	SimhashRate rate;

	if (!simhash_recommend(&report->tally, &best) || best.k == report->k)
		return NULL;
	rate = simhash_rate(&report->tally, (int) report->k);
	return psprintf("Of the rows that are similar to another one, as %d drawn at"
					" random show, distance " INT64_FORMAT " finds %.3g %%, at %.3g"
					" comparisons a row, and distance %d finds %.3g %%, at %.3g.",
					report->tally.sample, report->k, 100 * rate.recall,
					rate.comparisons, best.k, 100 * best.recall,
					best.comparisons);
}

/* The lines of advice. */
static void
write_advice(StringInfo text, const TableReport *report)
{
	const SimhashTable *table = &report->table;
	const char *distance = table->verify.document == NULL ? NULL
	: advise_of_distance(report);

	appendStringInfo(text,
					 " UNION ALL SELECT 13, 0, 'advice', 'delete', CASE WHEN rows > 0"
					 " THEN format('%%s of %%s rows (%%s %%%%, %%s) could go, each within"
					 " distance %%s of a row that would stay%s.', rows, total,"
					 " round(100.0 * rows / total, 1), pg_size_pretty(bytes), "
					 INT64_FORMAT ") || %s"
					 " ELSE 'No two rows%s are within distance " INT64_FORMAT "%s.' END"
					 " FROM saved, total",
					 !table->decides ? "" :
					 psprintf(" and similar to it (%s >= %s)",
							  table->verify.similarity,
							  simhash_write_number(table->verify.at_least)),
					 report->k, quote_literal_cstr(advise_of_delete(report)),
					 table->decides ? " of similar documents" : "",
					 report->k, table->groups != NIL ? " in a group" : "");
	if (distance != NULL)
		appendStringInfo(text, " UNION ALL SELECT 13, 2, 'advice', 'distance', %s",
						 quote_literal_cstr(distance));
	if (!table->decides)
		appendStringInfo(text,
						 " UNION ALL SELECT 13, 1, 'advice', 'estimate', %s"
						 " FROM saved WHERE rows > 0",
						 advise_of_estimate(table));
	appendStringInfoString(text,
						   " UNION ALL SELECT 14, 0, 'advice', 'foreign keys',"
						   " format('Other rows may refer to those that would go: %s."
						   " Point them to the rows that stay first: a DELETE fails"
						   " otherwise, or takes them along.', keys)"
						   " FROM referring, saved WHERE rows > 0 AND keys IS NOT NULL"
						   " UNION ALL SELECT 15, 0, 'advice', 'no fingerprint',"
						   " format('The rows without a fingerprint (%s) match nothing"
						   " and are not part of this report.', total - present)"
						   " FROM total WHERE total > present"
						   " UNION ALL SELECT 16, 0, 'advice', 'no group',"
						   " format('The rows with a NULL in a column of \"within\" (%s) match"
						   " nothing.', present - matching)"
						   " FROM total WHERE matching < present"
						   " UNION ALL SELECT 17, 0, 'advice', 'keys',"
						   " format('Some keys are common: in one block a look-up reads"
						   " %s times as many rows as it would if keys were even."
						   " The largest clusters, or a constant part of all texts,"
						   " are the likely cause.', round(worst))"
						   " FROM (SELECT max(mean / expected) AS worst FROM block, total"
						   " WHERE present > 65536) AS w WHERE worst > 10"
						   ") AS line ORDER BY part, place");
}

/* Put out the lines. */
static void
put_lines(TableReport *report, ReturnSetInfo *result)
{
	StringInfoData text;

	initStringInfo(&text);
	write_facts(&text, report);
	write_figures(&text, report);
	write_advice(&text, report);
	(void) ask_into(report, text.data, result->setResult);
}

/* What is said of documents, as it would be in a call. */
static char *
write_given(const SimhashVerifyOptions *given)
{
	StringInfoData text;

	initStringInfo(&text);
	if (given->document != NULL)
		appendStringInfo(&text, ", document => %s",
						 quote_literal_cstr(given->document));
	if (given->similarity != NULL)
		appendStringInfo(&text, ", similarity => %s",
						 quote_literal_cstr(given->similarity));
	if (given->bounded)
		appendStringInfo(&text, ", at_least => %s",
						 simhash_write_number(given->at_least));
	if (given->profile != NULL)
		appendStringInfo(&text, ", profile => %s",
						 quote_literal_cstr(given->profile));
	return text.data;
}

/* The arguments; the first four must not be null. */
static void
get_arguments(TableReport *report, FunctionCallInfo fcinfo)
{
	SimhashVerifyOptions given = simhash_verify_arguments(fcinfo, 4);
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
	report->given = write_given(&given);
	report->verify = table->documents;
	report->stores = create_queryEnv();
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
 * the column is known that the documents are in, these decide as in the DELETE.
 *
 * Errors: null_value_not_allowed, wrong_object_type (not a table), those of
 * simhash_check_fingerprint, undefined_column (within),
 * object_not_in_prerequisite_state (the table has been renamed), those of
 * simhash_clusters.
 */
Datum
simhash_report(PG_FUNCTION_ARGS)
{
	TableReport *report = palloc0(sizeof *report);
	SimhashProgress progress;

	get_arguments(report, fcinfo);
	InitMaterializedSRF(fcinfo, 0);
	simhash_progress_begin(&progress, "simhash_report");
	PG_TRY();
	{
		analyze_all(report);
		fetch_rows(report);
		make_clusters(report);
		show_rows(report);
		put_lines(report, (ReturnSetInfo *) fcinfo->resultinfo);
	}
	PG_FINALLY();
	{
		simhash_progress_end(&progress);
	}
	PG_END_TRY();
	tuplestore_end(report->rows->reldata);
	tuplestore_end(report->members->reldata);
	tuplestore_end(report->texts->reldata);
	return (Datum) 0;
}
