/*-------------------------------------------------------------------------
 *
 * setup.c
 *		simhash_add_clusters(): a table that begins to keep clusters, while
 *		others go on writing to it.
 *
 * Each step is a transaction of its own.  Where a call was stopped, the next one
 * goes on; which step that is, the catalogue says.
 *
 * 1. make		The column, the table of the clusters, its deed (terms.c), which
 *				says that clusters come later, and the triggers: rows that arrive
 *				have no cluster, NULL, and so has a row whose fingerprint, group
 *				or document changes.
 * 2. compute	The clusters of all rows in a snapshot, into a work table.  For
 *				"star" the representatives go into the table of the clusters.
 * 3. fill		Rows get what the work table says, in batches.
 * 4. finish	The index on the column, and the deed without "later".
 * 5. rest		Rows that still have no cluster are updated one by one, so that
 *				the trigger treats them as if they arrived.
 *
 *	 Guarantee.  When a call has ended without an error, every row with a
 *	 fingerprint and a group is in the cluster that it would be in if it had
 *	 arrived by now, or was there when the clusters were computed.
 *
 * Step 3.  A row gets what was computed only if it is the very version of a row
 * that was there in step 2: it has the same ctid and xmin, and its table the
 * same file.  That says it all.  The transaction xmin had ended by then, so it
 * never puts another row in that place; only VACUUM FULL and the like do, and
 * these make a new file.  Whatever else became of a row, step 5 sees to it.  So
 * step 3 may leave out what it likes, and does, around what others have locked: to
 * wait for long with a batch of rows in hand would invite deadlocks.
 *
 * Step 4.  It waits for whoever is writing to the table.  So when it is done, all
 * rows without a cluster are committed, and stay what they are or get one: step 5
 * finds them all, in whatever snapshot it has.
 *
 * Step 5, connected.  Say A and B have no clusters and are near.  A gets one
 * first, and does not find B's; then B finds A.  A row N that arrives and is
 * near A, by then in a cluster or not, finds it or is found by it.  So every pair
 * of near rows is found by whichever of the two gets its cluster later, as in
 * trigger.c, whose locks hold for updates as well.
 *
 * Step 5, star.  The representatives of step 2 were added when no trigger added
 * any, and are committed before step 4 ends.  Later ones are added by the
 * triggers, under their locks.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/bind.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/trigger.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "clusters/join.h"
#include "clusters/members.h"
#include "clusters/commands.h"
#include "clusters/table.h"
#include "core/pairs/wide_pairs.h"
#include "guard/guard.h"
#include "pairs/pairs.h"
#include "relation.h"

PG_FUNCTION_INFO_V1(simhash_add_clusters);

/*
 * Limits of the work done.
 *
 * BATCH_MS		that a transaction aims at which fills rows in, and holds them.
 * BATCH_FIRST	pages of the work table, of some 100 rows, that it begins with.
 * BATCH_MAX	of these: the next may take longer than those before.
 */
#define BATCH_MS		50
#define BATCH_FIRST		10
#define BATCH_MAX		50

/* The arguments. */
typedef struct Setup
{
	ClusterCall call;
	GuardAsked	asked;
	bool		star;			/* the kind */
	char	   *since;			/* NULL for none */
	char	   *schema;			/* of what is made; NULL for the table's */
	bool		index;
	bool		adopt;			/* columns that are there */
} Setup;

/* A part of the work table: the rows of one table, in its pages. */
typedef struct WorkPart
{
	Oid			table;
	Oid			node;			/* its file, when the clusters were computed */
	BlockNumber first;
	BlockNumber last;
} WorkPart;

/* A name that is free in a schema. */
static char *
free_name(Oid schema, const char *first, const char *second)
{
	char	   *name = makeObjectName(first, second, NULL);

	for (int i = 1; OidIsValid(get_relname_relid(name, schema)); i++)
		name = makeObjectName(first, second, psprintf("%d", i));
	return name;
}

/* The same with the schema, quoted. */
static char *
qualify(Oid schema, const char *name)
{
	return quote_qualified_identifier(get_namespace_name(schema), name);
}

/* Fail if the table is none whose rows can be clustered. */
static void
check_table(Setup *setup)
{
	Relation	relation = setup->call.relation;

	simhash_refuse_foreign_tables(setup->call.table, AccessShareLock,
								  "clusters",
								  "Detach what is on other servers.");
	if (relation->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" is a temporary table",
						RelationGetRelationName(relation)),
				 errhint("simhash_clusters computes the clusters of any rows.")));
	if (!setup->call.parted && has_subclass(setup->call.table) &&
		find_inheritance_children(setup->call.table, NoLock) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" has children by inheritance",
						RelationGetRelationName(relation)),
				 errdetail("Its triggers do not fire for their rows."),
				 errhint("Clusters are kept across the partitions of a partitioned table.")));
}

/*
 * Fail if a column of the group, the fingerprint or the document cannot be
 * clustered by: not when the first row is written, and the column is there.
 */
static void
check_columns(const Setup *setup, const GuardTerms *terms)
{
	Relation	relation = setup->call.relation;
	GuardColumn *group = palloc(Max(terms->ngroup, 1) * sizeof *group);
	int			most = sh_wide_most(terms->type.width);

	if (terms->radius > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("clusters are found within a distance of at most %d of %d bits, not %d",
						most, terms->type.width, terms->radius)));
	if (terms->document != 0)
		simhash_guard_check_document(relation, terms->document);
	simhash_guard_bind_group(group, relation, terms->ngroup, terms->group);
	for (int i = -1; i < terms->ngroup; i++)
	{
		Form_pg_attribute column =
		simhash_guard_attribute(relation, i < 0 ? terms->column : terms->group[i]);

		simhash_guard_check_stored(relation, column->attnum);
		if (column->attidentity)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
					 errmsg("column \"%s\" is an identity column",
							NameStr(column->attname)),
					 errhint("No two rows have it equal, or near.")));
		if (i >= 0 && !OidIsValid(group[i].hash.fn_oid))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("could not identify a hash function for type %s",
							format_type_be(column->atttypid)),
					 errdetail("Column \"%s\" cannot tell groups of rows apart.",
							   NameStr(column->attname))));
	}
}

/* What is asked for, in columns of the table. */
static GuardTerms
read_terms(const Setup *setup)
{
	GuardTerms	terms = simhash_guard_read_terms(&setup->asked,
												 setup->call.relation);

	if (terms.document == 0 &&
		(setup->asked.document != NULL || setup->asked.profile != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("document and profile are for similarity or at_least, which are not given")));

	/*
	 * Everybody can read the deed, and documents are compared without the
	 * seed.
	 */
	terms.profile = sh_profile_plain(terms.profile);
	check_columns(setup, &terms);
	return terms;
}

/*
 * Add a column to the table, or take that over which is there: a plain one, that
 * clusters are not found by.
 */
static AttrNumber
add_column(Setup *setup, const GuardTerms *its, const char *name, Oid type)
{
	ClusterCall *call = &setup->call;
	AttrNumber	number = get_attnum(call->table, name);
	bool		fits = number > 0 && number != its->column &&
	number != its->document;
	Form_pg_attribute column;

	if (number == InvalidAttrNumber)
	{
		simhash_cluster_alter(call, psprintf("ALTER TABLE %s ADD COLUMN %s %s",
											 call->name, quote_identifier(name),
											 format_type_be_qualified(type)));
		return get_attnum(call->table, name);
	}
	if (!setup->adopt)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" already exists",
						name, RelationGetRelationName(call->relation)),
				 errhint("Give another name: \"column\" => ..., since => ...; or adopt => true, if it is left of earlier clusters.")));
	for (int i = 0; i < its->ngroup; i++)
		fits &= number != its->group[i];
	column = fits ? simhash_guard_attribute(call->relation, number) : NULL;
	if (column == NULL || column->atttypid != type || column->attnotnull ||
		column->atthasdef || column->attidentity)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("column \"%s\" of relation \"%s\" cannot be taken over",
						name, RelationGetRelationName(call->relation)),
				 errdetail("It is not a plain column of type %s, without default and NOT NULL, for nothing else.",
						   format_type_be(type))));
	return number;
}

/*
 * Drop what is left of earlier clusters of a column that is taken over, and would
 * be in the way: triggers, and the deed.  Their table stays, as whoever has it
 * may need it.
 */
static void
clear_away(Setup *setup)
{
	ClusterCall *call = &setup->call;
	ClusterTerms *old = simhash_clusters_find(call->relation, call->column);
	Oid			clusters = old != NULL ? old->clusters :
	get_relname_relid(makeObjectName(RelationGetRelationName(call->relation),
									 psprintf("%ss", call->column), NULL),
					  RelationGetNamespace(call->relation));

	(void) simhash_cluster_drop_triggers(call, InvalidOid);
	if (old != NULL)
	{
		(void) simhash_cluster_drop_triggers(call, old->clusters);
		(void) simhash_cluster_run(psprintf("DROP POLICY %s ON %s",
											quote_identifier(NameStr(old->policy)),
											simhash_quoted_name(old->clusters)));
	}
	if (OidIsValid(clusters) &&
		get_attnum(clusters, "cluster") != InvalidAttrNumber)
		ereport(NOTICE,
				(errmsg("table \"%s\", of earlier clusters, is left as it is",
						get_rel_name(clusters)),
				 errhint("DROP TABLE, when it is not needed any more.")));
}

/* Write a column for CREATE TABLE, as the table has it. */
static void
write_column(const Setup *setup, AttrNumber number, bool needed,
			 StringInfo columns)
{
	Relation	relation = setup->call.relation;
	Form_pg_attribute column = simhash_guard_attribute(relation, number);
	const char *name = NameStr(column->attname);

	if (strcmp(name, "cluster") == 0 || strcmp(name, "made") == 0 ||
		strcmp(name, "copy_of") == 0 || strcmp(name, "unused_since") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("the table of the clusters has a column \"%s\" of its own",
						name),
				 errhint("Rename that of \"%s\".",
						 RelationGetRelationName(relation))));
	appendStringInfo(columns, ", %s %s", quote_identifier(name),
					 format_type_extended(column->atttypid, column->atttypmod,
										  FORMAT_TYPE_TYPEMOD_GIVEN |
										  FORMAT_TYPE_FORCE_QUALIFY));
	if (OidIsValid(column->attcollation))
		appendStringInfo(columns, " COLLATE %s",
						 generate_collation_name(column->attcollation));
	if (needed)
		appendStringInfoString(columns, " NOT NULL");
}

/*
 * Take a new table from those whom default privileges have given it to: it has
 * values of rows that a policy may hide from them, and what they write into it
 * would be taken for ours.
 */
static void
revoke_all(const char *table)
{
	simhash_cluster_run_each(psprintf("SELECT DISTINCT pg_catalog.format('REVOKE ALL ON %%s FROM %%s', c.oid::pg_catalog.regclass,"
									  " CASE WHEN a.grantee OPERATOR(pg_catalog.=) '0' THEN 'PUBLIC'"
									  " ELSE a.grantee::pg_catalog.regrole::pg_catalog.text END)"
									  " FROM pg_catalog.pg_class AS c,"
									  " LATERAL pg_catalog.aclexplode(c.relacl) AS a"
									  " WHERE c.oid OPERATOR(pg_catalog.=) %s::pg_catalog.regclass"
									  " AND a.grantee OPERATOR(pg_catalog.<>) c.relowner",
									  quote_literal_cstr(table)));
}

/*
 * Make the table of the clusters, and know its columns: they are numbered as they
 * are written.
 */
static void
make_clusters(const Setup *setup, ClusterTerms *terms)
{
	const GuardTerms *its = &terms->terms;
	Relation	relation = setup->call.relation;
	Oid			schema = setup->schema == NULL ?
	RelationGetNamespace(relation) : get_namespace_oid(setup->schema, false);
	char	   *name = free_name(schema, RelationGetRelationName(relation),
								 psprintf("%ss", setup->call.column));
	char	   *table = qualify(schema, name);
	AttrNumber	n = 0;
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE %sTABLE %s (cluster pg_catalog.int8"
					 " PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY",
					 relation->rd_rel->relpersistence ==
					 RELPERSISTENCE_UNLOGGED ? "UNLOGGED " : "", table);
	terms->columns[CLUSTER_ID] = ++n;
	terms->group = palloc0(Max(its->ngroup, 1) * sizeof(AttrNumber));
	if (terms->star)
	{
		appendStringInfoString(&command,
							   ", made pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()");
		terms->columns[CLUSTER_MADE] = ++n;
		write_column(setup, its->column, true, &command);
		terms->fingerprint = ++n;
		for (int i = 0; i < its->ngroup; i++)
		{
			write_column(setup, its->group[i], true, &command);
			terms->group[i] = ++n;
		}
		if (its->document != 0)
		{
			write_column(setup, its->document, false, &command);
			terms->document = ++n;
		}
	}
	else
	{
		appendStringInfoString(&command,
							   ", merged_into pg_catalog.int8 NOT NULL"
							   ", merged_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()");
		terms->columns[CLUSTER_MERGED_INTO] = ++n;
		terms->columns[CLUSTER_MERGED_AT] = ++n;
	}
	appendStringInfoString(&command, ", copy_of pg_catalog.int8,"
						   " unused_since pg_catalog.timestamptz)");
	terms->columns[CLUSTER_COPY_OF] = ++n;
	terms->columns[CLUSTER_UNUSED_SINCE] = ++n;
	(void) simhash_cluster_run(command.data);
	if (terms->star)
		(void) simhash_cluster_run(psprintf("CREATE INDEX ON %s (copy_of) WHERE copy_of IS NOT NULL",
											table));
	terms->clusters = get_relname_relid(name, schema);
	revoke_all(table);
	revoke_all(simhash_quoted_name(simhash_clusters_sequence(terms)));
}

/* Step 1. */
static void
make(Setup *setup)
{
	ClusterCall *call = &setup->call;
	ClusterTerms terms = {.star = setup->star,.later = true,.policy = {"simhash_clusters"}};
	ObjectAddress table = {RelationRelationId, call->table, 0};
	ObjectAddress clusters = {RelationRelationId, InvalidOid, 0};

	simhash_cluster_begin_step(call, AccessExclusiveLock);
	check_table(setup);
	terms.root = call->table;
	terms.terms = read_terms(setup);
	if (setup->adopt)
		clear_away(setup);
	terms.cluster = add_column(setup, &terms.terms, call->column, INT8OID);
	if (setup->since != NULL)
		terms.since = add_column(setup, &terms.terms, setup->since,
								 TIMESTAMPTZOID);
	make_clusters(setup, &terms);
	simhash_clusters_write_deed(call, &terms, true);
	simhash_clusters_make_triggers(call, &terms);
	simhash_clusters_protect(call, &terms);

	/* Without the table there are no clusters. */
	clusters.objectId = terms.clusters;
	recordDependencyOn(&clusters, &table, DEPENDENCY_AUTO);
	if (!terms.star)
		simhash_clusters_depend(call, &terms);
	simhash_cluster_end_step(call);
}

/* Fail unless the clusters have been made by the same arguments. */
static void
check_arguments(const Setup *setup, const ClusterTerms *terms)
{
	const ClusterCall *call = &setup->call;
	GuardTerms	asked = read_terms(setup);
	const GuardTerms *its = &terms->terms;
	bool		same = terms->star == setup->star &&
	its->column == asked.column && its->radius == asked.radius &&
	its->ngroup == asked.ngroup && its->document == asked.document &&
	its->measure == asked.measure &&
	(its->document == 0 ||
	 (its->at_least == asked.at_least && its->profile == asked.profile)) &&
	terms->since == (setup->since == NULL ? 0 :
					 get_attnum(call->table, setup->since));

	for (int i = 0; same && i < asked.ngroup; i++)
		same = its->group[i] == asked.group[i];
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("clusters are kept in column \"%s\" of \"%s\" with other arguments",
						call->column, RelationGetRelationName(call->relation)),
				 errhint("Give the same, or another \"column\", or CALL simhash_drop_clusters(...) before.")));
}

/* Add the representatives, and the index by which rows find them. */
static void
add_representatives(const ClusterCall *call, const ClusterTerms *terms)
{
	simhash_progress_step("adding representatives");
	(void) simhash_clusters_write_table(call, terms,
										psprintf("INSERT INTO &N (&i%s) SELECT w.cluster%s FROM ONLY %s AS w"
												 " JOIN &R AS d ON d.ctid &= w.place%s WHERE w.starts",
												 simhash_cluster_represented(call, terms, true),
												 simhash_cluster_represented(call, terms, false),
												 simhash_cluster_escape(simhash_quoted_name(terms->work)),
												 call->parted ? " AND d.tableoid &= w.part" : ""));
	simhash_progress_step("indexing representatives");
	simhash_clusters_make_index(call, terms);
	simhash_clusters_depend(call, terms);
}

/*
 * The query of the work table.  Where columns are taken over, a cluster gets the
 * id that most of its rows have, or if another has more rows with that one beyond
 * the greatest that is there; and rows that can be in no cluster, but have an id,
 * are to have none.
 */
static char *
write_work(const Setup *setup, const ClusterTerms *terms)
{
	const ClusterCall *call = &setup->call;
	const char *column = quote_identifier(call->column);
	char	   *rows =
	psprintf("SELECT d.tableoid AS part, c.relfilenode AS node, d.ctid AS place,"
			 " d.xmin AS version, r.cluster,"
			 " r.id OPERATOR(pg_catalog.=) r.representative AS starts%s%s"
			 " FROM %s AS r %sJOIN %s AS d ON %s OPERATOR(pg_catalog.=) r.id"
			 " JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) d.tableoid",
			 setup->adopt ? ", d." : "",
			 setup->adopt ? psprintf("%s AS was", column) : "",
			 simhash_cluster_write(call, terms, simhash_cluster_query(call, terms, NULL, NULL, false)),
			 setup->adopt ? "RIGHT " : "", call->source,
			 simhash_cluster_id(call, "d"));

	if (!setup->adopt)
		return psprintf("%s ORDER BY 1, 3", rows);
	return psprintf("WITH w AS MATERIALIZED (%s WHERE r.id IS NOT NULL OR d.%s IS NOT NULL),"
					" n AS (SELECT cluster, was, pg_catalog.count(*) AS n FROM w"
					" WHERE cluster IS NOT NULL AND was OPERATOR(pg_catalog.>) 0 GROUP BY 1, 2),"
					" o AS (SELECT DISTINCT ON (cluster) * FROM n ORDER BY cluster, n DESC, was),"
					" k AS (SELECT DISTINCT ON (was) * FROM o ORDER BY was, n DESC, cluster),"
					" i AS (SELECT c.cluster, COALESCE(k.was, (SELECT GREATEST(pg_catalog.max(was), 0) FROM w)"
					" OPERATOR(pg_catalog.+) pg_catalog.row_number() OVER (PARTITION BY k.was IS NULL ORDER BY c.cluster)) AS id"
					" FROM (SELECT DISTINCT cluster FROM w) AS c"
					" LEFT JOIN k ON k.cluster OPERATOR(pg_catalog.=) c.cluster)"
					" SELECT w.part, w.node, w.place, w.version, i.id AS cluster, w.starts FROM w"
					" LEFT JOIN i ON i.cluster OPERATOR(pg_catalog.=) w.cluster ORDER BY 1, 3",
					rows, column);
}

/*
 * Step 2.  All of it reads one snapshot, which is taken when the tables are
 * locked, so that none gets a new file any more.  In a transaction block each
 * command has a snapshot of its own, so there writers wait.  They would anyway,
 * from step 4 to the end of the transaction.
 *
 * The work table is logged: after a crash the next call goes on with it.  Nor
 * would the server start again if it crashed just after an unlogged table was
 * made by a transaction that is rolled back: recovery has the file of its init
 * fork, and finds the other in the way.
 */
static void
compute(Setup *setup)
{
	ClusterCall *call = &setup->call;
	LOCKMODE	lockmode = call->atomic ? ShareRowExclusiveLock : AccessShareLock;
	ClusterTerms *terms;
	Oid			schema;
	char	   *name;

	simhash_progress_step("computing");
	simhash_cluster_begin_step(call, lockmode);

	/* All rows are joined, though the planner expects few of the function. */
	simhash_cluster_set("enable_nestloop", "off");
	simhash_cluster_set("enable_mergejoin", "off");
	if (!call->atomic)
		simhash_cluster_isolate("repeatable read");
	(void) find_all_inheritors(call->table, lockmode, NULL);
	terms = simhash_cluster_find(call);
	schema = get_rel_namespace(terms->clusters);
	name = free_name(schema, get_rel_name(terms->clusters), "fill");
	simhash_cluster_set("work_mem", psprintf("%dkB", maintenance_work_mem));
	(void) simhash_cluster_run(psprintf("CREATE TABLE %s AS %s",
										qualify(schema, name),
										write_work(setup, terms)));
	terms->work = get_relname_relid(name, schema);
	revoke_all(qualify(schema, name));
	(void) simhash_cluster_run(psprintf("COMMENT ON TABLE %s IS 'made by simhash_add_clusters(), to go when it is done'",
										qualify(schema, name)));
	if (terms->star)
		add_representatives(call, terms);
	(void) simhash_cluster_run(psprintf("SELECT pg_catalog.setval('%u'::pg_catalog.regclass, m)"
										" FROM (SELECT GREATEST(pg_catalog.max(cluster),"
										" (SELECT pg_catalog.max(%s) FROM %s)) AS m FROM ONLY %s) AS w"
										" WHERE m OPERATOR(pg_catalog.>) 0",
										simhash_clusters_sequence(terms),
										quote_identifier(call->column),
										call->source, qualify(schema, name)));
	simhash_clusters_write_deed(call, terms, false);
	simhash_cluster_end_step(call);
}

/*
 * The parts of the work table, in memory of the call.  The owner may have put
 * something else in its place, so no type is taken for granted.
 */
static List *
list_parts(Setup *setup)
{
	ClusterCall *call = &setup->call;
	ClusterTerms *terms;
	List	   *list = NIL;

	simhash_cluster_begin_step(call, AccessShareLock);
	terms = simhash_cluster_find(call);
	if (get_rel_relkind(terms->work) != RELKIND_RELATION)
		simhash_clusters_complain(terms->clusters);
	(void) simhash_cluster_run(psprintf("SELECT part::pg_catalog.oid, node::pg_catalog.oid,"
										" pg_catalog.min(ctid)::pg_catalog.tid,"
										" pg_catalog.max(ctid)::pg_catalog.tid"
										" FROM ONLY %s GROUP BY 1, 2 ORDER BY 3",
										simhash_quoted_name(terms->work)));
	MemoryContextSwitchTo(call->outer);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		WorkPart   *part = palloc(sizeof *part);
		Datum		values[4];
		bool		isnull[4];

		for (int j = 0; j < 4; j++)
			values[j] = SPI_getbinval(SPI_tuptable->vals[i],
									  SPI_tuptable->tupdesc, j + 1, &isnull[j]);
		if (isnull[0] || isnull[1] || isnull[2] || isnull[3])
			simhash_clusters_complain(terms->clusters);
		part->table = DatumGetObjectId(values[0]);
		part->node = DatumGetObjectId(values[1]);
		part->first = ItemPointerGetBlockNumber((ItemPointer) DatumGetPointer(values[2]));
		part->last = ItemPointerGetBlockNumber((ItemPointer) DatumGetPointer(values[3]));
		list = lappend(list, part);
	}
	SPI_freetuptable(SPI_tuptable);
	MemoryContextSwitchTo(call->context);
	simhash_cluster_end_step(call);
	return list;
}

/*
 * The command that fills a batch in.  Rows that have their cluster are left alone.
 */
static char *
write_fill(const Setup *setup, const char *work, const WorkPart *part,
		   BlockNumber start, int pages)
{
	const char *column = quote_identifier(setup->call.column);

	return psprintf("UPDATE ONLY %s AS d SET %s = w.cluster%s%s FROM ONLY %s AS w"
					" WHERE w.ctid OPERATOR(pg_catalog.>=) '(%u,0)'"
					" AND w.ctid OPERATOR(pg_catalog.<) '(%u,0)'"
					" AND w.part OPERATOR(pg_catalog.=) '%u'"
					" AND d.ctid OPERATOR(pg_catalog.=) w.place"
					" AND d.xmin OPERATOR(pg_catalog.=) w.version"
					" AND COALESCE(d.%s OPERATOR(pg_catalog.<>) w.cluster, true)",
					simhash_quoted_name(part->table), column,
					setup->since == NULL ? "" : ", ",
					setup->since == NULL ? "" :
					psprintf("%s = NULL", quote_identifier(setup->since)),
					work, start, start + pages, part->table, column);
}

/*
 * Fill a batch in; false if there is nothing to be filled in that part.  Where
 * others have a row it may be given up.
 */
static bool
fill_batch(Setup *setup, const WorkPart *part, BlockNumber start, int pages,
		   bool *filled)
{
	ClusterCall *call = &setup->call;
	ClusterTerms *terms;
	Relation	relation;
	bool		good;

	simhash_cluster_begin_step(call, RowExclusiveLock);
	terms = simhash_cluster_find(call);
	relation = simhash_clusters_open_part(call, part->table);
	good = relation != NULL && terms->later && OidIsValid(terms->work) &&
		relation->rd_rel->relfilenode == part->node;
	if (good)
	{
		/* The rows are looked up where they are. */
		simhash_cluster_set("enable_hashjoin", "off");
		simhash_cluster_set("enable_mergejoin", "off");
		*filled = simhash_clusters_try(write_fill(setup, simhash_quoted_name(terms->work),
												  part, start, pages),
									   call->table, CLUSTERS_AS_GIVEN, false);
	}
	if (relation != NULL)
		relation_close(relation, NoLock);
	simhash_cluster_end_step(call);
	return good;
}

/* Step 3.  A batch that was given up is begun anew, a page at first, or left out. */
static void
fill(Setup *setup)
{
	List	   *parts = list_parts(setup);
	int			pages = BATCH_FIRST;
	ListCell   *lc;

	foreach(lc, parts)
	{
		WorkPart   *part = lfirst(lc);
		uint64		start = part->first;

		while (start <= part->last)
		{
			TimestampTz began = GetCurrentTimestamp();
			bool		filled;
			double		ms;

			CHECK_FOR_INTERRUPTS();
			simhash_progress_part("filling", (double) start /
								  (((WorkPart *) llast(parts))->last + 1.0));
			if (!fill_batch(setup, part, (BlockNumber) start, pages, &filled))
				break;
			if (filled || pages == 1)
				start += pages;
			ms = (GetCurrentTimestamp() - began) / 1000.0;
			pages = !filled ? 1 :
				Max(1, Min(pages * Min(BATCH_MS / Max(ms, 1), 2), BATCH_MAX));
		}
	}
}

/* Make the index by which rows of a cluster are found, unless there is one. */
static void
make_cluster_index(ClusterCall *call, const ClusterTerms *terms)
{
	Relation	index = simhash_clusters_open_index(call->relation,
													terms->cluster, false);

	if (index != NULL)
		index_close(index, AccessShareLock);
	else
		simhash_cluster_alter(call, psprintf("CREATE INDEX ON %s (%s)", call->name,
											 quote_identifier(call->column)));
}

/*
 * Step 4.  The table of the clusters is locked first: nobody needs it yet who has
 * the other, and whoever reads it for long, as a dump does, holds up no writers.
 */
static void
finish(Setup *setup, Oid clusters)
{
	ClusterCall *call = &setup->call;
	ClusterTerms *terms;
	Oid			work;

	simhash_progress_step("finishing");
	LockRelationOid(clusters, AccessExclusiveLock);
	simhash_cluster_begin_step(call, ShareRowExclusiveLock);
	terms = simhash_cluster_find(call);
	if (setup->index)
		make_cluster_index(call, terms);
	simhash_clusters_depend(call, terms);
	work = terms->work;
	terms->later = false;
	terms->work = InvalidOid;
	simhash_clusters_write_deed(call, terms, false);
	(void) simhash_cluster_run(psprintf("DROP TABLE %s",
										simhash_quoted_name(work)));
	simhash_cluster_end_step(call);
}

/* An argument of type text or name, or NULL. */
static char *
get_string(FunctionCallInfo fcinfo, int argument, bool name)
{
	if (PG_ARGISNULL(argument))
		return NULL;
	return name ? pstrdup(NameStr(*PG_GETARG_NAME(argument))) :
		text_to_cstring(PG_GETARG_TEXT_PP(argument));
}

/* The names in an array. */
static List *
get_names(ArrayType *array)
{
	List	   *names = NIL;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &values, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("within must not contain nulls")));
		names = lappend(names, pstrdup(NameStr(*DatumGetName(values[i]))));
	}
	return names;
}

/* Read the arguments, in memory of the call. */
static void
get_arguments(Setup *setup, FunctionCallInfo fcinfo)
{
	static const int needed[] = {0, 1, 2, 3, 4, 6, 11, 13};
	char	   *kind;
	char		number[DOUBLE_SHORTEST_DECIMAL_LEN];

	for (size_t i = 0; i < lengthof(needed); i++)
	{
		if (PG_ARGISNULL(needed[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("relation, fp, k, kind, column, within, index and adopt must not be null")));
	}
	kind = get_string(fcinfo, 3, false);
	setup->star = strcmp(kind, "star") == 0;
	if (!setup->star && strcmp(kind, "connected") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown kind \"%s\"", kind),
				 errhint("It is star or connected.")));
	simhash_cluster_begin(&setup->call, fcinfo, PG_GETARG_OID(0),
						  NameStr(*PG_GETARG_NAME(4)));
	setup->asked = (GuardAsked)
	{
		.who = "simhash_add_clusters",
			.column = get_string(fcinfo, 1, true),
			.radius = PG_GETARG_INT64(2),
			.within = get_names(PG_GETARG_ARRAYTYPE_P(6)),
			.document = get_string(fcinfo, 7, true),
			.profile = get_string(fcinfo, 8, false),
			.similarity = get_string(fcinfo, 9, false),
			.fills = SIMHASH_NO_MEASURE
	};
	if (!PG_ARGISNULL(10))
	{
		(void) double_to_shortest_decimal_buf(PG_GETARG_FLOAT8(10), number);
		setup->asked.at_least = pstrdup(number);
	}
	setup->since = get_string(fcinfo, 5, true);
	setup->index = PG_GETARG_BOOL(11);
	setup->schema = get_string(fcinfo, 12, true);
	setup->adopt = PG_GETARG_BOOL(13);
}

/*
 * How far the set-up is: the terms, in memory of the caller's, or NULL if there
 * are none.
 */
static ClusterTerms *
look(Setup *setup)
{
	ClusterCall *call = &setup->call;
	ClusterTerms *terms;
	ClusterTerms *copy = NULL;

	simhash_cluster_begin_step(call, AccessShareLock);
	terms = simhash_clusters_find(call->relation, call->column);
	if (terms != NULL)
	{
		terms = simhash_cluster_find(call);
		if (simhash_clusters_has_triggers(call->relation, terms))
			check_arguments(setup, terms);
		else if (setup->adopt)
			terms = NULL;
		else
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("clusters are not kept in column \"%s\" of \"%s\" any more",
							call->column, RelationGetRelationName(call->relation)),
					 errdetail("Triggers that keep them are gone, with an index or by themselves."),
					 errhint("CALL simhash_mend_clusters(...) makes it again.")));
	}
	if (terms != NULL)
	{
		copy = MemoryContextAlloc(call->outer, sizeof *copy);
		*copy = *terms;
	}
	simhash_cluster_end_step(call);
	return copy;
}

/* Take the texts of rows that have gone since the clusters were computed. */
static void
take_texts(ClusterCall *call)
{
	ClusterTerms *terms;

	simhash_cluster_begin_step(call, AccessShareLock);
	terms = simhash_cluster_find(call);
	if (terms->document != 0)
		(void) simhash_clusters_write_table(call, terms,
											psprintf("UPDATE &T AS t SET &D = NULL WHERE %s",
													 simhash_cluster_text_left()));
	simhash_cluster_end_step(call);
}

/* Do all steps that are not done. */
static void
set_up(void *argument)
{
	Setup	   *setup = argument;
	ClusterTerms *terms = look(setup);
	bool		done = terms != NULL && !terms->later;

	if (terms == NULL)
	{
		make(setup);
		terms = look(setup);
	}
	if (!done)
	{
		if (!OidIsValid(terms->work))
			compute(setup);
		fill(setup);
		finish(setup, terms->clusters);
		if (!setup->index)
			ereport(NOTICE,
					(errmsg("column \"%s\" has no index", setup->call.column),
					 errhint("CREATE INDEX CONCURRENTLY makes one without holding up writers.")));
	}
	if (simhash_clusters_join_rest(&setup->call) == 0 && done)
		ereport(NOTICE,
				(errmsg("clusters are kept in column \"%s\" of \"%s\" already",
						setup->call.column,
						get_rel_name(setup->call.table))));
	if (!done)
		take_texts(&setup->call);
}

/*
 * CALL simhash_add_clusters(relation regclass, fp name, k bigint DEFAULT 3,
 *		kind text DEFAULT 'star', "column" name DEFAULT 'cluster',
 *		since name DEFAULT NULL, within name[] DEFAULT '{}',
 *		document name DEFAULT NULL, profile text DEFAULT NULL,
 *		similarity text DEFAULT NULL,
 *		at_least double precision DEFAULT NULL, index boolean DEFAULT true,
 *		schema name DEFAULT NULL, adopt boolean DEFAULT false)
 *
 * Have a table keep the clusters of its rows in a column of its own, and give
 * those that are there theirs.  What was stopped is gone on with by the same call.
 * The table of the clusters is made in that schema, or in the table's own.
 * Columns that earlier clusters have left may be taken over, with their ids.
 *
 * Errors: insufficient_privilege without ownership, wrong_object_type for what
 * is not a table, feature_not_supported for temporary tables and those with
 * foreign partitions or children, duplicate_column, duplicate_object for clusters
 * that are kept with other arguments, invalid_parameter_value,
 * invalid_column_definition, undefined_column, undefined_function,
 * undefined_schema, datatype_mismatch and object_not_in_prerequisite_state as
 * simhash_guard, active_sql_transaction within REPEATABLE READ,
 * object_in_use where another session sets clusters of the table up.
 */
Datum
simhash_add_clusters(PG_FUNCTION_ARGS)
{
	Setup		setup = {0};

	get_arguments(&setup, fcinfo);
	simhash_cluster_alone(&setup.call, "simhash_add_clusters", set_up, &setup);
	simhash_cluster_end(&setup.call);
	PG_RETURN_VOID();
}
