/*-------------------------------------------------------------------------
 *
 * logs.c
 *		The logs of a removal: what went, and what moved or was dropped.
 *
 * The log of the table has whole rows as they were, with the key of the row that
 * stayed.  Beside it there is one for each child whose rows move: whole rows as they
 * were, what was done, and what key and moved columns are since.  Each statement that
 * changed rows is a step, by its number.  Columns of the log's own are called
 * "simhash step" and so on, with underscores where the table has such names.
 *
 * The comment of the log says in JSON which tables there are, so it goes where the
 * log goes, by pg_dump and all:
 *
 *		log of simhash_dedup_apply: [{"table": "public.docs", "log": "public.gone",
 *		"key": ["id"], "moving": [], "generated": ["fp"]}, ...]
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/comment.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "clusters/cluster.h"
#include "relation.h"
#include "report/report.h"

/* How many underscores follow "simhash" in names of columns: the most; -1 for no such name. */
static int
most_underscores(Oid oid)
{
	Relation	relation = relation_open(oid, AccessShareLock);
	TupleDesc	columns = RelationGetDescr(relation);
	int			most = -1;

	for (int i = 0; i < columns->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(columns, i)->attname);
		int			n;

		if (strncmp(name, "simhash", 7) != 0)
			continue;
		n = (int) strspn(name + 7, "_");
		if (name[7 + n] == ' ')
			most = Max(most, n);
	}
	relation_close(relation, NoLock);
	return most;
}

/* What the names of a log's own columns begin with. */
static char *
write_own(int underscores)
{
	char	   *own = psprintf("simhash%*s ", underscores, "");

	memset(own + 7, '_', underscores);
	return own;
}

/* Say where the log of a table is, and how its own columns are called. */
static void
name_log(RemovalTable *table, Oid schema, const char *log, char *own)
{
	const List *moving = table->moving;
	ListCell   *lc;

	table->log = quote_qualified_identifier(get_namespace_name(schema), log);
	table->own = own;
	table->followed = list_concat_unique(list_copy(table->key), table->moving);
	table->moving = NIL;
	foreach(lc, table->followed)
	{
		String	   *now = makeString(simhash_removal_own(table, psprintf("now %d", foreach_current_index(lc) + 1)));

		table->now = lappend(table->now, now);
		if (list_member(moving, lfirst(lc)))
		{
			table->moving = lappend(table->moving, lfirst(lc));
			table->moving_now = lappend(table->moving_now, now);
		}
	}
}

/* Append a list of names to a JSON object. */
static void
append_names(StringInfo json, const char *name, const List *names)
{
	ListCell   *lc;

	appendStringInfo(json, ", \"%s\": [", name);
	foreach(lc, names)
	{
		appendStringInfoString(json, foreach_current_index(lc) == 0 ? "" : ", ");
		escape_json(json, strVal(lfirst(lc)));
	}
	appendStringInfoChar(json, ']');
}

/* What the comment of the log says. */
static char *
write_comment(const Removal *removal)
{
	StringInfoData json;
	ListCell   *lc;

	initStringInfo(&json);
	appendStringInfoString(&json, SIMHASH_LOG_COMMENT);
	foreach(lc, removal->tables)
	{
		const RemovalTable *table = lfirst(lc);

		appendStringInfoString(&json, foreach_current_index(lc) == 0 ? "[{\"table\": " : ", {\"table\": ");
		escape_json(&json, table->name);
		appendStringInfoString(&json, ", \"log\": ");
		escape_json(&json, table->log);
		append_names(&json, "key", table->key);
		append_names(&json, "moving", table->moving);
		append_names(&json, "generated", table->generated);
		appendStringInfoChar(&json, '}');
	}
	appendStringInfoChar(&json, ']');
	return json.data;
}

/* A name in the comment of a log, quoted as this server quotes it: which words need it depends on the version. */
#define QUOTED(name) \
	"(SELECT pg_catalog.string_agg(pg_catalog.quote_ident(u.part), '.' ORDER BY u.n)" \
	" FROM pg_catalog.unnest(pg_catalog.parse_ident(" name ", false)) WITH ORDINALITY AS u (part, n))"
#define QUOTED_LIST(list) \
	"'" list "', ARRAY(SELECT " QUOTED("e.name") " FROM pg_catalog.jsonb_array_elements_text(x {->} '" list "') AS e (name))"

/* What the comment of a log says, as JSON in which the same has one form. */
static char *
read_comment(const Removal *removal, const char *comment)
{
	(void) simhash_removal_do(removal, NULL, NULL, 0,
							  "SELECT coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object("
							  "'table', " QUOTED("x {->>} 'table'") ", 'log', " QUOTED("x {->>} 'log'") ", "
							  QUOTED_LIST("key") ", " QUOTED_LIST("moving") ", " QUOTED_LIST("generated") ") ORDER BY n), '[]')"
							  " FROM pg_catalog.jsonb_array_elements(%s::pg_catalog.jsonb) WITH ORDINALITY AS t (x, n)",
							  quote_literal_cstr(comment + strlen(SIMHASH_LOG_COMMENT)));
	return simhash_removal_text(0, 1);
}

/* Is it the comment of a log? */
static bool
is_log_comment(const char *comment)
{
	return comment != NULL && strncmp(comment, SIMHASH_LOG_COMMENT, strlen(SIMHASH_LOG_COMMENT)) == 0;
}

/*
 * Make the log of a table.  Steps are found by an index, when they are put back; without
 * an identity a publication of all tables refuses that.
 */
static void
create_log(const Removal *removal, const RemovalTable *table)
{
	(void) simhash_removal_do(removal, table, NULL, 0, table == removal->table ?
							  "CREATE TABLE {log} AS SELECT t.*, 0::pg_catalog.int8 AS {step},"
							  " NULL::pg_catalog._text AS {kept}, NULL::pg_catalog.int4 AS {distance},"
							  " NULL::pg_catalog.float8 AS {similarity}, pg_catalog.now() AS {removed}"
							  " FROM {to} AS t WITH NO DATA" :
							  "CREATE TABLE {log} AS SELECT t.*, 0::pg_catalog.int8 AS {step},"
							  " NULL::pg_catalog.text AS {action}, {followed|t.@1 AS @2} FROM {to} AS t WITH NO DATA");
	if (table == removal->table)
		(void) simhash_removal_do(removal, table, NULL, 0, "ALTER TABLE {log} ALTER {removed} SET DEFAULT pg_catalog.now()");
	(void) simhash_removal_do(removal, table, NULL, 0, "ALTER TABLE {log} REPLICA IDENTITY FULL");
	(void) simhash_removal_do(removal, table, NULL, 0, "CREATE INDEX ON {log} ({step})");
}

/* The last step in the logs. */
static int64
last_step(const Removal *removal)
{
	int64		last = 0;
	ListCell   *lc;

	foreach(lc, removal->tables)
	{
		(void) simhash_removal_do(removal, lfirst(lc), NULL, 0, "SELECT pg_catalog.max({step}) FROM {log}");
		last = Max(last, DatumGetInt64(simhash_removal_datum(0, 1)));
	}
	return last;
}

/* Has a log all columns of its table, as they are?  One of another type may round values. */
static bool
has_columns(const Removal *removal, Oid table, Oid log)
{
	return simhash_removal_look(removal,
								"SELECT a.attname, a.atttypid, a.atttypmod, a.attcollation FROM pg_catalog.pg_attribute AS a"
								" WHERE a.attrelid {=} '%u'::pg_catalog.oid AND a.attnum {>} 0 AND NOT a.attisdropped EXCEPT"
								" SELECT l.attname, l.atttypid, l.atttypmod, l.attcollation FROM pg_catalog.pg_attribute AS l"
								" WHERE l.attrelid {=} '%u'::pg_catalog.oid",
								table, log) == 0;
}

/* Fail: a log that is there cannot take rows of a table. */
static void
complain_of_log(const RemovalTable *table)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s is no log of a removal from %s as it is now", table->log, table->name),
			 errdetail("Its comment says which tables it is for, and its columns how rows were."),
			 errhint("Take another name for the log. With other \"children\" it has to be another one, too.")));
}

/*
 * Find the logs, or make them, and lock them.  A log that is there serves if what its
 * comment says is still so.
 */
void
simhash_removal_find_logs(Removal *removal)
{
	RangeVar   *said = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(removal->log)));
	Oid			schema = RangeVarGetCreationNamespace(said);
	Oid			log = get_relname_relid(said->relname, schema);
	char	   *there = NULL;
	List	   *names = NIL;
	ListCell   *lc;

	simhash_removal_lock_schema(removal, schema);
	foreach(lc, removal->tables)
	{
		RemovalTable *table = lfirst(lc);
		char	   *name = said->relname;

		for (int n = 1; table != removal->table && (n == 1 || list_member(names, makeString(name))); n++)
			name = makeObjectName(said->relname, get_rel_name(table->oid), psprintf("%d", n));
		names = lappend(names, makeString(name));
		name_log(table, schema, name, write_own(most_underscores(table->oid) + 1));
		if (OidIsValid(log) && table == removal->table)
		{
			simhash_removal_lock(removal, log);
			there = GetComment(log, RelationRelationId, 0);
			there = there != NULL ? there : "";
		}
	}
	if (there != NULL && (!is_log_comment(there) ||
						  strcmp(read_comment(removal, there), read_comment(removal, write_comment(removal))) != 0))
		complain_of_log(removal->table);
	foreach(lc, removal->tables)
	{
		RemovalTable *table = lfirst(lc);

		if (there == NULL)
			create_log(removal, table);
		log = get_relname_relid(strVal(list_nth(names, foreach_current_index(lc))), schema);
		if (!OidIsValid(log))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("table %s, a part of the log, is not there", table->log)));
		simhash_removal_lock(removal, log);
		table->log_oid = log;
		if (there == NULL)
			simhash_revoke_all(log);
		else if (!has_columns(removal, table->oid, log))
			complain_of_log(table);
	}
	if (there == NULL)
		(void) simhash_removal_do(removal, removal->table, NULL, 0, "COMMENT ON TABLE {log} IS %s", quote_literal_cstr(write_comment(removal)));
	removal->done.step = last_step(removal);
}

/* The OID of a table that the comment of a log names; InvalidOid if it is not there. */
static Oid
look_up_named(const char *name)
{
	RangeVar   *named = makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(name ? name : "")));

	return RangeVarGetRelid(named, NoLock, true);
}

/* The OID of one that has to be there. */
static Oid
find_named(const char *name)
{
	Oid			oid = look_up_named(name);

	if (!OidIsValid(oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table %s, which the comment of the log names, is not there", name),
				 errhint("If it has been renamed, or its schema, write its name into the comment; if it has been dropped, take it out.")));
	return oid;
}

/* Fail if the comment of the log names another table, that is there: rows would come back to this one. */
static void
check_named(const Removal *removal, const char *name)
{
	Oid			oid = look_up_named(name);

	if (OidIsValid(oid) && oid != removal->relation)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the log is of %s, and not of %s", name, removal->table->name),
				 errhint("If %s has been renamed since, write its name into the comment.", removal->table->name)));
}

/* Fail: a table is not what it was. */
static void
complain_of_change(const RemovalTable *table)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s has another primary key, or other columns, than it had", table->name),
			 errhint("Rename or drop columns of the log, %s, likewise, and in the comment.", table->log)));
}

/*
 * Find the columns of a log that come back to its table: of those that it had, all but what
 * is still generated.  Columns that it has got meanwhile get their defaults, and those of
 * clusters what these give a row that arrives.
 */
static void
find_columns(RemovalTable *table, Oid oid)
{
	Relation	relation = relation_open(table->oid, NoLock);
	Relation	log = relation_open(oid, NoLock);
	TupleDesc	columns = RelationGetDescr(log);
	List	   *settable = table->settable;

	table->columns = table->settable = NIL;
	for (int i = 0; i < columns->natts; i++)
	{
		char	   *attname = pstrdup(NameStr(TupleDescAttr(columns, i)->attname));
		String	   *name = makeString(pstrdup(quote_identifier(attname)));

		if (TupleDescAttr(columns, i)->attisdropped || strncmp(attname, table->own, strlen(table->own)) == 0)
			continue;
		table->columns = lappend(table->columns, name);
		if (list_member(settable, name))
			table->settable = lappend(table->settable, name);
		if (list_member(table->generated, name))
			continue;
		if (!list_member(settable, name))
			complain_of_change(table);
		if (!simhash_clusters_fill(relation, attname))
			table->same = lappend(table->same, name);
	}
	relation_close(log, NoLock);
	relation_close(relation, NoLock);
}

/*
 * Find the tables whose rows the logs have, by the comment of the table's own log, and
 * lock all.
 */
void
simhash_removal_read_logs(Removal *removal)
{
	char	   *comment;
	uint64		n;
	SPITupleTable *found;

	simhash_removal_lock(removal, removal->log_oid);
	comment = GetComment(removal->log_oid, RelationRelationId, 0);
	n = !is_log_comment(comment) ? 0 :
		simhash_removal_do(removal, NULL, NULL, 0,
						   "SELECT x {->>} 'table', x {->>} 'log',"
						   " ARRAY(SELECT pg_catalog.jsonb_array_elements_text(x {->} 'key')),"
						   " ARRAY(SELECT pg_catalog.jsonb_array_elements_text(x {->} 'moving')),"
						   " ARRAY(SELECT pg_catalog.jsonb_array_elements_text(x {->} 'generated'))"
						   " FROM pg_catalog.jsonb_array_elements(%s::pg_catalog.jsonb) WITH ORDINALITY AS t (x, n)"
						   " ORDER BY n", quote_literal_cstr(read_comment(removal, comment)));
	if (n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is no log of simhash_dedup_apply", get_rel_name(removal->log_oid)),
				 errhint("A log says in its comment of which tables it is.")));
	found = SPI_tuptable;
	for (uint64 i = 0; i < n; i++)
	{
		const char *name = SPI_getvalue(found->vals[i], found->tupdesc, 1);
		RemovalTable *table = i == 0 ? removal->table : simhash_removal_table(removal, find_named(name));
		Oid			log = i == 0 ? removal->log_oid :
		find_named(SPI_getvalue(found->vals[i], found->tupdesc, 2));

		if (i == 0)
			check_named(removal, name);
		simhash_removal_lock(removal, log);
		table->log_oid = log;
		SPI_tuptable = found;
		table->moving = simhash_removal_list(i, 4);
		table->generated = simhash_removal_list(i, 5);
		name_log(table, get_rel_namespace(log), get_rel_name(log), write_own(Max(most_underscores(log), 0)));
		if (!equal(table->key, simhash_removal_list(i, 3)) ||
			list_difference(table->moving, table->columns) != NIL)
			complain_of_change(table);
		find_columns(table, log);
	}
}
