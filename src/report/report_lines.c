/*-------------------------------------------------------------------------
 *
 * report_lines.c
 *		The lines of simhash_report: a query over what has been found.
 *
 * It reads two tuplestores, the rows of the table (simhash_row) and the
 * members of clusters (simhash_member), a third one with the rows that are
 * shown (simhash_text), and the catalogue.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "utils/builtins.h"

/* What to do with the rows that could go. */
static char *
advise_of_delete(const SimhashTableReport *report)
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
write_facts(StringInfo text, const SimhashTableReport *report)
{
	bool		bits = report->table.type != INT8OID;
	const List *columns = report->table.columns;
	char	   *groups = simhash_list(columns, ", ", "");
	char	   *grouped = simhash_list(columns, " AND NULL IS DISTINCT FROM ",
									   "");

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
					 simhash_write_number(report->table.compare.at_least),
					 report->table.oid);
}

/* The lines of figures, each with its place. */
static void
write_figures(StringInfo text, const SimhashTableReport *report)
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

/* The advice where an estimate decides which rows are redundant. */
static char *
advise_of_estimate(const SimhashTable *table)
{
	if (table->compare.document == NULL)
		return "'Rows would go by an estimate: no document is compared. Name the"
			" column of the documents, as in document => ''body''.'";
	return psprintf("'Rows would go by an estimate: no document is compared.'"
					" || CASE WHEN compared = 0 THEN '' ELSE format("
					"' Of %%s of them, drawn at random, %%s %%%% have a similarity"
					" (%s) of %s or more to the row that would stay; the least"
					" similar has %%s. Leave out similarity => ''none'' to have"
					" all compared.', compared,"
					" round(100.0 * alike / compared, 1), least) END",
					table->compare.similarity,
					simhash_write_number(table->compare.at_least));
}

/* Which distance finds nearly all that is similar; NULL if that is not known. */
static char *
advise_of_distance(const SimhashTableReport *report)
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
write_advice(StringInfo text, const SimhashTableReport *report)
{
	const SimhashTable *table = &report->table;
	const char *distance = table->compare.document == NULL ? NULL
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
							  table->compare.similarity,
							  simhash_write_number(table->compare.at_least)),
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

/* The query for all lines. */
char	   *
simhash_write_lines(const SimhashTableReport *report)
{
	StringInfoData text;

	initStringInfo(&text);
	write_facts(&text, report);
	write_figures(&text, report);
	write_advice(&text, report);
	return text.data;
}
