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
 * step 3 may leave out what it likes, and does, for what others have locked: to
 * wait with a batch of rows in hand would invite deadlocks.
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
#include "clusters/step.h"

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

#include "clusters/table.h"
#include "core/pairs/wide_pairs.h"
#include "guard/guard_row.h"

PG_FUNCTION_INFO_V1(simhash_add_clusters);

/*
 * Limits of the work done.
 *
 * BATCH_PAGES	of the work table, to be filled in by one transaction: some
 *				100 rows each.
 * REST_MAX		rows without a cluster to be looked up at once.
 * FRUITLESS_MAX	times that none of these gets one, before we give up.
 * PATIENCE		how long a batch waits for a lock: less than a deadlock lasts
 *				before it is noticed, so that nobody is the victim of one.
 */
#define BATCH_PAGES		100
#define REST_MAX		10000
#define FRUITLESS_MAX	10
#define PATIENCE		"100ms"

/* The arguments. */
typedef struct Setup
{
	ClusterCall call;
	GuardAsked	asked;
	bool		star;			/* the kind */
	char	   *since;			/* NULL for none */
	char	   *schema;			/* of what is made; NULL for the table's */
	bool		index;
} Setup;

/* A part of the work table: the rows of one table, in its pages. */
typedef struct WorkPart
{
	Oid			table;
	Oid			node;			/* its file, when the clusters were computed */
	BlockNumber first;
	BlockNumber last;
} WorkPart;

/* A row. */
typedef struct Place
{
	Oid			table;
	ItemPointerData tid;
} Place;

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

/*
 * A name that no trigger of the table has: those of two columns may be the same
 * as far as there is room for them.
 */
static char *
free_trigger(Oid table, const char *first, const char *second)
{
	char	   *name = makeObjectName(first, second, NULL);

	for (int i = 1; OidIsValid(get_trigger_oid(table, name, true)); i++)
		name = makeObjectName(first, second, psprintf("%d", i));
	return name;
}

/* Make the triggers. */
static void
make_triggers(Setup *setup, Oid clusters)
{
	ClusterCall *call = &setup->call;
	char	   *name = makeObjectName("simhash", call->column, NULL);
	const struct
	{
		const char *suffix;
		const char *event;
		bool		wanted;
	}			triggers[] = {
		{NULL, "BEFORE INSERT OR UPDATE ON %s FOR EACH ROW", true},
		{"merge", "AFTER INSERT OR UPDATE ON %s FOR EACH ROW", !setup->star},
		{"truncate", "AFTER TRUNCATE ON %s FOR EACH STATEMENT", true}
	};

	for (size_t i = 0; i < lengthof(triggers); i++)
	{
		StringInfoData command;

		if (!triggers[i].wanted)
			continue;
		initStringInfo(&command);
		appendStringInfo(&command, "CREATE TRIGGER %s ",
						 quote_identifier(free_trigger(call->table, name,
													   triggers[i].suffix)));
		appendStringInfo(&command, triggers[i].event, call->name);
		appendStringInfo(&command, " WHEN ('%u'::pg_catalog.regclass IS NOT NULL)"
						 " EXECUTE FUNCTION %s.simhash_cluster()", clusters,
						 quote_identifier(get_namespace_name(get_func_namespace(call->function))));
		simhash_cluster_alter(call, command.data);
	}
}

/*
 * Have the trigger depend on something besides, which is not dropped without
 * CASCADE from then on.  A dump has no such dependencies.
 */
static void
depend(const ClusterCall *call, const ClusterTerms *terms, Oid relation,
	   AttrNumber column)
{
	const TriggerDesc *triggers = call->relation->trigdesc;
	ObjectAddress other = {RelationRelationId, relation, column};

	for (int i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];
		ObjectAddress address = {TriggerRelationId, trigger->tgoid, 0};

		if (TRIGGER_FOR_BEFORE(trigger->tgtype) &&
			simhash_clusters_of_trigger(trigger) == terms->clusters)
			recordDependencyOn(&address, &other, DEPENDENCY_NORMAL);
	}
}

/* Have the trigger depend on an index of a table that it searches. */
static void
depend_on_index(const ClusterCall *call, const ClusterTerms *terms, Oid index)
{
	Oid			table;

	if (!OidIsValid(index))
		return;
	if (get_rel_relispartition(index))
		index = llast_oid(get_partition_ancestors(index));
	table = IndexGetRelation(index, false);

	/* A partition must be free to go, with an index of its own. */
	if (!call->parted || table == call->table ||
		!get_rel_relispartition(table))
		depend(call, terms, index, 0);
}

/* What is searched for the clusters of a row. */
static GuardSpace
get_space(const ClusterCall *call, const ClusterTerms *terms)
{
	Relation	root = terms->star ? simhash_clusters_open(terms) :
	table_open(terms->root, AccessShareLock);
	GuardTerms	searched = terms->star ?
	simhash_clusters_searched(terms, root) : terms->terms;
	GuardSpace	space = {0};

	simhash_guard_bind_space(&space, root, &searched, 0,
							 get_func_namespace(call->function));
	table_close(root, NoLock);
	return space;
}

/*
 * Have the trigger depend on the indexes that are searched; fails unless there
 * are any.  To look for them takes a snapshot.
 */
static void
depend_on_indexes(const ClusterCall *call, const ClusterTerms *terms)
{
	GuardSpace	space = get_space(call, terms);
	GuardPlace	place = {.table = space.root,.moves = true};

	PushActiveSnapshot(GetTransactionSnapshot());
	simhash_guard_find(&space, &place);
	PopActiveSnapshot();
	for (int i = 0; i < place.scope->ntables; i++)
	{
		const GuardTable *table = &place.scope->tables[i];

		depend_on_index(call, terms, table->hamming.index);
		for (int j = 0; j < SH_BLOCKS; j++)
			depend_on_index(call, terms, OidIsValid(table->hamming.index) ?
							InvalidOid : table->keys[j].index);
	}
}

/* Write the deed, or what has become of it. */
static void
write_deed(const ClusterCall *call, const ClusterTerms *terms, bool anew)
{
	(void) simhash_cluster_run(psprintf("%s POLICY %s ON %s%s USING (%s)",
										anew ? "CREATE" : "ALTER",
										quote_identifier(NameStr(terms->policy)),
										simhash_quoted_name(terms->clusters),
										anew ? " AS RESTRICTIVE" : "",
										simhash_clusters_write(terms, call->function)));
}

/* Fail if the table is none whose rows can be clustered. */
static void
check_table(Setup *setup)
{
	Relation	relation = setup->call.relation;
	const char *columns[] = {setup->call.column, setup->since};

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
	for (int i = 0; i < 2; i++)
	{
		if (columns[i] != NULL &&
			get_attnum(setup->call.table, columns[i]) != InvalidAttrNumber)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" already exists",
							columns[i], RelationGetRelationName(relation)),
					 errhint("Give another name: \"column\" => ..., since => ...")));
	}
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
	check_columns(setup, &terms);
	return terms;
}

/* Write a column for CREATE TABLE, as the table has it. */
static void
write_column(const Setup *setup, AttrNumber number, bool needed,
			 StringInfo columns)
{
	Relation	relation = setup->call.relation;
	Form_pg_attribute column = simhash_guard_attribute(relation, number);
	const char *name = NameStr(column->attname);

	if (strcmp(name, "cluster") == 0 || strcmp(name, "made") == 0)
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
	appendStringInfo(&command, "CREATE %sTABLE %s (cluster pg_catalog.int8",
					 relation->rd_rel->relpersistence ==
					 RELPERSISTENCE_UNLOGGED ? "UNLOGGED " : "", table);
	terms->columns[CLUSTER_ID] = ++n;
	terms->group = palloc0(Max(its->ngroup, 1) * sizeof(AttrNumber));
	if (terms->star)
	{
		appendStringInfoString(&command,
							   " NOT NULL GENERATED BY DEFAULT AS IDENTITY,"
							   " made pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()");
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
							   " PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,"
							   " parent pg_catalog.int8, rank pg_catalog.int4 NOT NULL DEFAULT 0,"
							   " current pg_catalog.int8 NOT NULL,"
							   " merged_into pg_catalog.int8, merged_at pg_catalog.timestamptz");
		for (int i = CLUSTER_PARENT; i < CLUSTER_COLUMNS; i++)
			terms->columns[i] = ++n;
	}
	appendStringInfoChar(&command, ')');
	(void) simhash_cluster_run(command.data);
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
	simhash_cluster_alter(call, psprintf("ALTER TABLE %s ADD COLUMN %s pg_catalog.int8%s%s%s",
										 call->name, quote_identifier(call->column),
										 setup->since == NULL ? "" : ", ADD COLUMN ",
										 setup->since == NULL ? "" :
										 quote_identifier(setup->since),
										 setup->since == NULL ? "" :
										 " pg_catalog.timestamptz"));
	terms.cluster = get_attnum(call->table, call->column);
	if (setup->since != NULL)
		terms.since = get_attnum(call->table, setup->since);
	make_clusters(setup, &terms);
	write_deed(call, &terms, true);
	make_triggers(setup, terms.clusters);
	depend(call, &terms, call->table, terms.cluster);

	/* Without the table there are no clusters. */
	clusters.objectId = terms.clusters;
	recordDependencyOn(&clusters, &table, DEPENDENCY_AUTO);
	if (!terms.star)
		depend_on_indexes(call, &terms);
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
	const GuardTerms *its = &terms->terms;
	StringInfoData columns;
	StringInfoData values;
	GuardSpace	space;

	initStringInfo(&columns);
	initStringInfo(&values);
	for (int i = -1; i <= its->ngroup; i++)
	{
		bool		document = i == its->ngroup;
		AttrNumber	from = document ? its->document :
		i < 0 ? its->column : its->group[i];
		AttrNumber	to = document ? terms->document :
		i < 0 ? terms->fingerprint : terms->group[i];

		if (to == 0)
			continue;
		appendStringInfo(&columns, ", %s",
						 simhash_cluster_name(terms->clusters, to));
		appendStringInfo(&values, ", d.%s",
						 simhash_cluster_name(call->table, from));
	}
	(void) simhash_cluster_run(psprintf("INSERT INTO %s (%s%s)"
										" SELECT w.cluster%s FROM ONLY %s AS w"
										" JOIN %s AS d ON d.ctid OPERATOR(pg_catalog.=) w.place%s"
										" WHERE w.starts",
										simhash_quoted_name(terms->clusters),
										simhash_cluster_name(terms->clusters,
															 terms->columns[CLUSTER_ID]),
										columns.data, values.data,
										simhash_quoted_name(terms->work),
										call->source,
										call->parted ? " AND d.tableoid OPERATOR(pg_catalog.=) w.part" : ""));
	space = get_space(call, terms);
	(void) simhash_cluster_run(psprintf("CREATE INDEX ON %s USING hamming (%s)",
										simhash_quoted_name(terms->clusters),
										simhash_guard_index_columns(&space)));
	depend_on_indexes(call, terms);
}

/* Set a setting until the end of the step, or of a subtransaction. */
static void
set(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
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

	simhash_cluster_begin_step(call, lockmode);

	/* All rows are joined, though the planner expects few of the function. */
	set("enable_nestloop", "off");
	if (!call->atomic)
		simhash_cluster_isolate("repeatable read");
	(void) find_all_inheritors(call->table, lockmode, NULL);
	terms = simhash_cluster_find(call);
	schema = get_rel_namespace(terms->clusters);
	name = free_name(schema, get_rel_name(terms->clusters), "fill");
	set("work_mem", psprintf("%dkB", maintenance_work_mem));
	(void) simhash_cluster_run(psprintf("CREATE TABLE %s AS"
										" SELECT d.tableoid AS part, c.relfilenode AS node,"
										" d.ctid AS place, d.xmin AS version, r.cluster,"
										" r.id OPERATOR(pg_catalog.=) r.representative AS starts"
										" FROM %s AS r JOIN %s AS d"
										" ON %s OPERATOR(pg_catalog.=) r.id"
										" JOIN pg_catalog.pg_class AS c"
										" ON c.oid OPERATOR(pg_catalog.=) d.tableoid%s",
										qualify(schema, name),
										simhash_cluster_query(call, terms, NULL),
										call->source, simhash_cluster_id(call, "d"),
										call->parted ? " ORDER BY 1" : ""));
	terms->work = get_relname_relid(name, schema);
	revoke_all(qualify(schema, name));
	(void) simhash_cluster_run(psprintf("COMMENT ON TABLE %s IS 'made by simhash_add_clusters(), to go when it is done'",
										qualify(schema, name)));
	if (terms->star)
		add_representatives(call, terms);
	(void) simhash_cluster_run(psprintf("SELECT pg_catalog.setval('%u'::pg_catalog.regclass,"
										" pg_catalog.max(cluster)) FROM ONLY %s"
										" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0",
										simhash_clusters_sequence(terms),
										qualify(schema, name)));
	write_deed(call, terms, false);
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
 * Run a command, of a call if it writes clusters, in a subtransaction; false if it
 * fails because of what others do: they have the rows locked, if that is not to be
 * waited for, or have moved them to another partition.  No error must leave the subtransaction open:
 * nobody else would end it.
 */
static bool
try_to_run(ClusterCall *call, const char *command, bool wait)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		set("lock_timeout", wait ? "0" : PATIENCE);
		if (call == NULL)
			(void) simhash_cluster_run(command);
		else
			(void) simhash_cluster_run_filling(call, command);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (error != NULL && error->sqlerrcode != ERRCODE_T_R_SERIALIZATION_FAILURE &&
		(wait || error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE))
		ReThrowError(error);
	return error == NULL;
}

/* The command that fills a batch in; it waits for nobody if it need not. */
static char *
write_fill(const Setup *setup, const char *work, const WorkPart *part,
		   BlockNumber start, bool wait)
{
	const char *column = quote_identifier(setup->call.column);
	const char *table = simhash_quoted_name(part->table);
	char	   *rows = psprintf("w.ctid OPERATOR(pg_catalog.>=) '(%u,0)'"
								" AND w.ctid OPERATOR(pg_catalog.<) '(%u,0)'"
								" AND w.part OPERATOR(pg_catalog.=) '%u'"
								" AND d.ctid OPERATOR(pg_catalog.=) w.place"
								" AND d.xmin OPERATOR(pg_catalog.=) w.version"
								" AND d.%s IS NULL",
								start, start + BATCH_PAGES, part->table,
								column);

	if (wait)
		return psprintf("UPDATE ONLY %s AS d SET %s = w.cluster"
						" FROM ONLY %s AS w WHERE %s",
						table, column, work, rows);
	return psprintf("WITH l AS MATERIALIZED (SELECT d.ctid AS place, w.cluster"
					" FROM ONLY %s AS w, ONLY %s AS d WHERE %s"
					" FOR NO KEY UPDATE OF d SKIP LOCKED)"
					" UPDATE ONLY %s AS d SET %s = l.cluster FROM l"
					" WHERE d.ctid OPERATOR(pg_catalog.=) l.place",
					work, table, rows, table, column);
}

/* Lock a table that rows are in, if it still is one of ours. */
static Relation
open_part(const ClusterCall *call, Oid table)
{
	List	   *tables = call->table == table ? list_make1_oid(table) :
	find_all_inheritors(call->table, NoLock, NULL);

	return list_member_oid(tables, table) ?
		try_relation_open(table, RowExclusiveLock) : NULL;
}

/* Fill a batch in; false if there is nothing to be filled in that part. */
static bool
fill_batch(Setup *setup, const WorkPart *part, BlockNumber start)
{
	ClusterCall *call = &setup->call;
	ClusterTerms *terms;
	Relation	relation;
	bool		good;

	simhash_cluster_begin_step(call, RowExclusiveLock);
	terms = simhash_cluster_find(call);
	relation = open_part(call, part->table);
	good = relation != NULL && terms->later && OidIsValid(terms->work) &&
		relation->rd_rel->relfilenode == part->node;
	if (good)
	{
		const char *work = simhash_quoted_name(terms->work);

		/* The rows are looked up where they are. */
		set("enable_hashjoin", "off");
		set("enable_mergejoin", "off");
		if (!try_to_run(call, write_fill(setup, work, part, start, true),
						false))
			(void) try_to_run(call, write_fill(setup, work, part, start, false),
							  true);
	}
	if (relation != NULL)
		relation_close(relation, NoLock);
	simhash_cluster_end_step(call);
	return good;
}

/* Step 3. */
static void
fill(Setup *setup)
{
	ListCell   *lc;

	foreach(lc, list_parts(setup))
	{
		WorkPart   *part = lfirst(lc);

		for (uint64 start = part->first; start <= part->last;
			 start += BATCH_PAGES)
		{
			CHECK_FOR_INTERRUPTS();
			if (!fill_batch(setup, part, (BlockNumber) start))
				break;
		}
	}
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

	LockRelationOid(clusters, AccessExclusiveLock);
	simhash_cluster_begin_step(call, ShareRowExclusiveLock);
	terms = simhash_cluster_find(call);
	if (setup->index)
		simhash_cluster_alter(call, psprintf("CREATE INDEX ON %s (%s)", call->name,
											 quote_identifier(call->column)));
	depend_on_indexes(call, terms);
	work = terms->work;
	terms->later = false;
	terms->work = InvalidOid;
	write_deed(call, terms, false);
	(void) simhash_cluster_run(psprintf("DROP TABLE %s",
										simhash_quoted_name(work)));
	simhash_cluster_end_step(call);
}

/* Which rows have no cluster, but what it takes. */
static char *
write_rest(ClusterCall *call)
{
	ClusterTerms *terms = simhash_cluster_find(call);
	StringInfoData condition;

	initStringInfo(&condition);
	appendStringInfo(&condition, "%s IS NULL AND %s IS NOT NULL",
					 quote_identifier(call->column),
					 simhash_cluster_name(call->table, terms->terms.column));
	for (int i = 0; i < terms->terms.ngroup; i++)
		appendStringInfo(&condition, " AND %s IS NOT NULL",
						 simhash_cluster_name(call->table,
											  terms->terms.group[i]));
	return condition.data;
}

/* Look up some rows without a cluster; they are in memory of the call. */
static Place *
find_rest(Setup *setup, uint64 *n)
{
	ClusterCall *call = &setup->call;
	Place	   *places;

	simhash_cluster_begin_step(call, AccessShareLock);
	*n = simhash_cluster_run(psprintf("SELECT tableoid, ctid FROM %s WHERE %s LIMIT %d",
									  call->source, write_rest(call),
									  REST_MAX));
	places = MemoryContextAlloc(call->outer, Max(*n, 1) * sizeof *places);
	for (uint64 i = 0; i < *n; i++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		bool		isnull;

		places[i].table = DatumGetObjectId(SPI_getbinval(tuple, desc, 1,
														 &isnull));
		places[i].tid = *(ItemPointer) DatumGetPointer(SPI_getbinval(tuple,
																	 desc, 2,
																	 &isnull));
	}
	SPI_freetuptable(SPI_tuptable);
	simhash_cluster_end_step(call);
	return places;
}

/*
 * Have the trigger give a row its cluster, unless it is gone, has one by now, or
 * is on its way to another partition.  The transaction holds no row while it
 * waits, and need not be on disk when it ends: what is lost by a crash is found
 * again.
 */
static bool
join(Setup *setup, Place *place)
{
	ClusterCall *call = &setup->call;
	Relation	relation;
	bool		joined = false;

	simhash_cluster_begin_step(call, RowExclusiveLock);
	relation = open_part(call, place->table);
	if (!call->atomic)
		(void) set_config_option("synchronous_commit", "off", PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0,
								 false);
	if (relation != NULL)
	{
		const char *column = quote_identifier(call->column);
		char	   *command =
		psprintf("UPDATE ONLY %s SET %s = NULL"
				 " WHERE ctid OPERATOR(pg_catalog.=) '(%u,%u)' AND %s"
				 " RETURNING %s IS NOT NULL",
				 simhash_quoted_name(place->table), column,
				 ItemPointerGetBlockNumber(&place->tid),
				 ItemPointerGetOffsetNumber(&place->tid), write_rest(call),
				 column);

		if (try_to_run(NULL, command, true))
		{
			bool		isnull;

			joined = SPI_processed > 0 &&
				DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0],
										   SPI_tuptable->tupdesc, 1, &isnull));
			SPI_freetuptable(SPI_tuptable);
		}
		relation_close(relation, NoLock);
	}
	simhash_cluster_end_step(call);
	return joined;
}

/* Step 5; returns how many rows it gave clusters. */
static uint64
join_rest(Setup *setup)
{
	uint64		total = 0;
	int			fruitless = 0;

	for (;;)
	{
		uint64		n;
		uint64		joined = 0;
		Place	   *places = find_rest(setup, &n);

		for (uint64 i = 0; i < n; i++)
		{
			CHECK_FOR_INTERRUPTS();
			joined += join(setup, &places[i]);
		}
		pfree(places);
		total += joined;
		if (n == 0)
			return total;

		/* Others may have seen to them; not again and again. */
		fruitless = joined > 0 ? 0 : fruitless + 1;
		if (fruitless == FRUITLESS_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("rows without a cluster do not let themselves be updated"),
					 errhint("Triggers of the table may keep them from it.")));
	}
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
	static const int needed[] = {0, 1, 2, 3, 4, 6, 11};
	char	   *kind;
	char		number[DOUBLE_SHORTEST_DECIMAL_LEN];

	for (size_t i = 0; i < lengthof(needed); i++)
	{
		if (PG_ARGISNULL(needed[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("relation, fp, k, kind, column, within and index must not be null")));
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
		check_arguments(setup, terms);
		copy = MemoryContextAlloc(call->outer, sizeof *copy);
		*copy = *terms;
	}
	simhash_cluster_end_step(call);
	return copy;
}

/*
 * CALL simhash_add_clusters(relation regclass, fp name, k bigint DEFAULT 3,
 *		kind text DEFAULT 'star', "column" name DEFAULT 'cluster',
 *		since name DEFAULT NULL, within name[] DEFAULT '{}',
 *		document name DEFAULT NULL, profile text DEFAULT NULL,
 *		similarity text DEFAULT NULL,
 *		at_least double precision DEFAULT NULL, index boolean DEFAULT true,
 *		schema name DEFAULT NULL)
 *
 * Have a table keep the clusters of its rows in a column of its own, and give
 * those that are there theirs.  What was stopped is gone on with by the same call.
 * The table of the clusters is made in that schema, or in the table's own.
 *
 * Errors: insufficient_privilege without ownership, wrong_object_type for what
 * is not a table, feature_not_supported for temporary tables and those with
 * foreign partitions or children, duplicate_column, duplicate_object for clusters
 * that are kept with other arguments, invalid_parameter_value,
 * invalid_column_definition, undefined_column, undefined_function,
 * undefined_schema, datatype_mismatch and object_not_in_prerequisite_state as
 * simhash_guard, active_sql_transaction within REPEATABLE READ.
 */
Datum
simhash_add_clusters(PG_FUNCTION_ARGS)
{
	Setup		setup = {0};
	ClusterTerms *terms;
	bool		done;

	get_arguments(&setup, fcinfo);
	terms = look(&setup);
	done = terms != NULL && !terms->later;
	if (terms == NULL)
	{
		make(&setup);
		terms = look(&setup);
	}
	if (!done)
	{
		if (!OidIsValid(terms->work))
			compute(&setup);
		fill(&setup);
		finish(&setup, terms->clusters);
		if (!setup.index)
			ereport(NOTICE,
					(errmsg("column \"%s\" has no index", setup.call.column),
					 errhint("CREATE INDEX CONCURRENTLY makes one without holding up writers.")));
	}
	if (join_rest(&setup) == 0 && done)
		ereport(NOTICE,
				(errmsg("clusters are kept in column \"%s\" of \"%s\" already",
						setup.call.column,
						get_rel_name(setup.call.table))));
	simhash_cluster_end(&setup.call);
	PG_RETURN_VOID();
}
