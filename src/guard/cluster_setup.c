/*-------------------------------------------------------------------------
 *
 * cluster_setup.c
 *		simhash_add_clusters(): a table that begins to keep clusters, while
 *		others go on writing to it.
 *
 * Each step is a transaction of its own.  Where a call was stopped, the next one
 * goes on; which step that is, the catalogue says.
 *
 * 1. make		The column, the table of the clusters, and triggers that have the
 *				option "later": rows that arrive have no cluster, NULL, and so has
 *				a row whose fingerprint, group or document changes.
 * 2. compute	The clusters of all rows in a snapshot, into a work table.  For
 *				"star" the representatives go into the table of the clusters.
 * 3. fill		Rows get what the work table says, in batches.
 * 4. finish	The index on the column, and the triggers without "later".
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
 * Step 4.  CREATE TRIGGER waits for whoever is writing to the table.  So when
 * it is done, all rows without a cluster are committed, and stay what they are or
 * get one: step 5 finds them all, in whatever snapshot it has.
 *
 * Step 5, connected.  Say A and B have no clusters and are near.  A gets one
 * first, and does not find B's; then B finds A.  A row N that arrives and is
 * near A, by then in a cluster or not, finds it or is found by it.  So every pair
 * of near rows is found by whichever of the two gets its cluster later, as in
 * guard_cluster.c, whose locks hold for updates as well.
 *
 * Step 5, star.  The representatives of step 2 were added when no trigger added
 * any, and are committed before step 4 ends.  Later ones are added by the
 * triggers, under their locks.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/cluster_setup.h"

#include "access/relation.h"
#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "common/shortest_dec.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/ruleutils.h"

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
	char	   *fingerprint;
	int64		k;
	char	   *kind;
	char	   *since;			/* NULL for none, as what follows */
	List	   *within;
	char	   *document;
	char	   *profile;
	char	   *similarity;
	char	   *at_least;
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
 * The arguments of the triggers, as strings.
 */
static List *
list_arguments(const Setup *setup, const char *clusters)
{
	List	   *list = list_make3(setup->fingerprint, setup->kind,
								  psprintf(INT64_FORMAT, setup->k));
	const struct
	{
		const char *name;
		const char *value;
	}			options[] = {
		{"cluster", setup->call.column},
		{"clusters", clusters},
		{"since", setup->since},
		{"within", setup->within == NIL ? NULL :
		simhash_cluster_columns(setup->within, ",") + 1},
		{"document", setup->document},
		{"profile", setup->profile},
		{"similarity", setup->similarity},
		{"at_least", setup->at_least}
	};

	for (size_t i = 0; i < lengthof(options); i++)
	{
		if (options[i].value != NULL)
			list = lappend(list, psprintf("%s=%s", options[i].name,
										  options[i].value));
	}
	return list;
}

/*
 * The condition of the trigger that gives clusters: always true, and if the
 * fingerprint is generated it has the expression by which the clusters are made,
 * for check_expression() in guard_clusters.c.  PostgreSQL keeps it as it keeps
 * that of the column, whatever is renamed, dumped and restored.
 */
static char *
write_condition(const Setup *setup)
{
	const ClusterCall *call = &setup->call;
	Node	   *expression =
	simhash_guard_expression(call->relation,
							 simhash_guard_column(call->relation,
												  setup->fingerprint));

	if (expression == NULL)
		return "";
	return psprintf(" WHEN (COALESCE(true, (%s) IS NULL))",
					deparse_expression(expression,
									   deparse_context_for("new", call->table),
									   true, true));
}

/* Make the triggers, or replace them. */
static void
make_triggers(Setup *setup, const char *clusters, bool later)
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
		{"merge", "AFTER INSERT OR UPDATE ON %s FOR EACH ROW",
		!later && strcmp(setup->kind, "connected") == 0},
		{"truncate", "AFTER TRUNCATE ON %s FOR EACH STATEMENT", true}
	};
	char	   *condition = write_condition(setup);
	StringInfoData arguments;
	ListCell   *lc;

	initStringInfo(&arguments);
	foreach(lc, list_arguments(setup, clusters))
		appendStringInfo(&arguments, "%s%s", arguments.len == 0 ? "" : ", ",
						 quote_literal_cstr(lfirst(lc)));
	for (size_t i = 0; i < lengthof(triggers); i++)
	{
		StringInfoData command;

		if (!triggers[i].wanted)
			continue;
		initStringInfo(&command);
		appendStringInfo(&command, "CREATE %sTRIGGER %s ",
						 later ? "" : "OR REPLACE ",
						 quote_identifier(triggers[i].suffix == NULL ? name :
										  makeObjectName(name, NULL, triggers[i].suffix)));
		appendStringInfo(&command, triggers[i].event, call->name);
		appendStringInfo(&command, "%s EXECUTE FUNCTION %s.simhash_guard(%s%s)",
						 i == 0 ? condition : "",
						 quote_identifier(get_namespace_name(get_func_namespace(call->function))),
						 arguments.data, later ? ", 'later'" : "");
		simhash_cluster_alter(call, command.data);
	}
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

/* Write a column for CREATE TABLE, as the table has it. */
static void
write_column(const Setup *setup, const char *name, bool needed,
			 StringInfo columns)
{
	Relation	relation = setup->call.relation;
	Form_pg_attribute column =
	simhash_guard_attribute(relation, simhash_guard_column(relation, name));

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

/* Make the table of the clusters, of a trigger that is there already. */
static void
make_clusters(const Setup *setup, const Guard *guard, const char *clusters)
{
	StringInfoData command;
	ListCell   *lc;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE %sTABLE %s (cluster pg_catalog.int8",
					 setup->call.relation->rd_rel->relpersistence ==
					 RELPERSISTENCE_UNLOGGED ? "UNLOGGED " : "", clusters);
	if (guard->action == GUARD_STAR)
	{
		appendStringInfoString(&command,
							   " NOT NULL GENERATED BY DEFAULT AS IDENTITY,"
							   " made pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()");
		write_column(setup, setup->fingerprint, true, &command);
		foreach(lc, setup->within)
			write_column(setup, lfirst(lc), true, &command);
		if (guard->compared != 0)
			write_column(setup, get_attname(guard->table, guard->compared, false),
						 false, &command);
	}
	else
		appendStringInfoString(&command,
							   " PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,"
							   " merged_into pg_catalog.int8, merged_at pg_catalog.timestamptz,"
							   " parent pg_catalog.int8, rank pg_catalog.int4 NOT NULL DEFAULT 0,"
							   " current pg_catalog.int8 NOT NULL");
	appendStringInfoChar(&command, ')');
	(void) simhash_cluster_run(command.data);
	revoke_all(clusters);
}

/*
 * What the trigger stands for, checked as if it gave rows clusters: "connected"
 * needs an index.  The table that "star" searches gets its own in step 2.
 */
static Guard *
bind(Setup *setup, const Trigger *trigger)
{
	Trigger		copy = *trigger;

	if (strcmp(setup->kind, "connected") == 0 &&
		strcmp(copy.tgargs[copy.tgnargs - 1], "later") == 0)
		copy.tgnargs--;
	return simhash_cluster_bind(&setup->call, &copy);
}

/* Step 1. */
static void
make(Setup *setup)
{
	ClusterCall *call = &setup->call;
	Guard		guard = {.table = setup->call.table};
	Trigger    *trigger;
	Oid			schema;
	char	   *name;
	char	   *clusters;
	char	   *work;

	simhash_cluster_begin_step(call, AccessExclusiveLock);
	schema = RelationGetNamespace(call->relation);
	check_table(setup);
	name = free_name(schema, RelationGetRelationName(call->relation),
					 psprintf("%ss", call->column));
	clusters = qualify(schema, name);
	work = makeObjectName(name, NULL, "fill");
	if (OidIsValid(get_relname_relid(work, schema)))
		simhash_cluster_complain_of_work(work);
	simhash_cluster_alter(call, psprintf("ALTER TABLE %s ADD COLUMN %s pg_catalog.int8%s%s%s",
										 call->name, quote_identifier(call->column),
										 setup->since == NULL ? "" : ", ADD COLUMN ",
										 setup->since == NULL ? "" :
										 quote_identifier(setup->since),
										 setup->since == NULL ? "" :
										 " pg_catalog.timestamptz"));
	make_triggers(setup, clusters, true);
	trigger = simhash_guard_cluster_trigger(call->relation, call->column,
											false);
	guard.name = trigger->tgname;
	simhash_guard_read_arguments(&guard, call->relation, trigger);
	simhash_guard_bind_similarity(&guard, call->relation, trigger);
	make_clusters(setup, &guard, clusters);
	(void) bind(setup, trigger);
	simhash_cluster_end_step(call);
}

/* Fail unless the triggers have been made with the same arguments. */
static void
check_arguments(const Setup *setup, const ClusterParts *parts)
{
	List	   *arguments = list_arguments(setup, parts->clusters);
	bool		same = parts->trigger->tgnargs - parts->later ==
	list_length(arguments);

	for (int i = 0; same && i < list_length(arguments); i++)
		same = strcmp(parts->trigger->tgargs[i],
					  list_nth(arguments, i)) == 0;
	if (!same)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("clusters are kept in column \"%s\" of \"%s\" with other arguments",
						setup->call.column,
						RelationGetRelationName(setup->call.relation)),
				 errhint("Give the same, or another \"column\", or CALL simhash_drop_clusters(...) before.")));
}

/* Add the representatives, and the index by which rows find them. */
static void
add_representatives(Setup *setup, const Guard *guard,
					const ClusterParts *parts)
{
	ClusterCall *call = &setup->call;
	List	   *columns = list_concat(list_make1(setup->fingerprint),
									  setup->within);

	if (guard->compared != 0)
		columns = lappend(list_copy(columns),
						  get_attname(guard->table, guard->compared, false));
	(void) simhash_cluster_run(psprintf("INSERT INTO %s (cluster%s)"
										" SELECT w.cluster%s FROM ONLY %s AS w"
										" JOIN %s AS d ON d.ctid OPERATOR(pg_catalog.=) w.place%s"
										" WHERE w.starts",
										parts->clusters,
										simhash_cluster_columns(columns, ", "),
										simhash_cluster_columns(columns, ", d."),
										parts->work, call->source,
										call->parted ? " AND d.tableoid OPERATOR(pg_catalog.=) w.part" : ""));
	(void) simhash_cluster_run(psprintf("CREATE INDEX ON %s USING hamming (%s)",
										parts->clusters,
										simhash_guard_index_columns(guard->statement,
																	setup->fingerprint)));
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
	ClusterParts parts;
	Guard	   *guard;

	simhash_cluster_begin_step(call, lockmode);

	/* All rows are joined, though the planner expects few of the function. */
	set("enable_nestloop", "off");
	if (!call->atomic)
		simhash_cluster_isolate("repeatable read");
	(void) find_all_inheritors(call->table, lockmode, NULL);
	parts = simhash_cluster_find(call, false);
	guard = bind(setup, parts.trigger);
	set("work_mem", psprintf("%dkB", maintenance_work_mem));
	(void) simhash_cluster_run(psprintf("CREATE TABLE %s AS"
										" SELECT d.tableoid AS part, c.relfilenode AS node,"
										" d.ctid AS place, d.xmin AS version, r.cluster,"
										" r.id OPERATOR(pg_catalog.=) r.representative AS starts"
										" FROM %s AS r JOIN %s AS d"
										" ON %s OPERATOR(pg_catalog.=) r.id"
										" JOIN pg_catalog.pg_class AS c"
										" ON c.oid OPERATOR(pg_catalog.=) d.tableoid%s",
										parts.work,
										simhash_cluster_query(call, guard, NULL),
										call->source, simhash_cluster_id(call, "d"),
										call->parted ? " ORDER BY 1" : ""));
	revoke_all(parts.work);
	(void) simhash_cluster_run(psprintf("COMMENT ON TABLE %s IS 'made by simhash_add_clusters(), to go when it is done'",
										parts.work));
	if (guard->action == GUARD_STAR)
		add_representatives(setup, guard, &parts);
	(void) simhash_cluster_run(psprintf("SELECT pg_catalog.setval('%u'::pg_catalog.regclass,"
										" pg_catalog.max(cluster)) FROM ONLY %s"
										" HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 0",
										guard->sequence, parts.work));
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
	ClusterParts parts;
	List	   *list = NIL;

	simhash_cluster_begin_step(call, AccessShareLock);
	parts = simhash_cluster_find(call, false);
	(void) simhash_cluster_run(psprintf("SELECT part::pg_catalog.oid, node::pg_catalog.oid,"
										" pg_catalog.min(ctid)::pg_catalog.tid,"
										" pg_catalog.max(ctid)::pg_catalog.tid"
										" FROM ONLY %s GROUP BY 1, 2 ORDER BY 3",
										parts.work));
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
			simhash_cluster_complain_of_work(parts.work_name);
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
 * Run a command, in a subtransaction; false if it fails because of what others
 * do: they have the rows locked, if that is not to be waited for, or have moved
 * them to another partition.  No error must leave the subtransaction open:
 * nobody else would end it.
 */
static bool
try_to_run(const char *command, bool wait)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		if (!wait)
			set("lock_timeout", PATIENCE);
		(void) simhash_cluster_run(command);
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
	ClusterParts parts;
	Relation	relation;
	bool		good;

	simhash_cluster_begin_step(call, RowExclusiveLock);
	parts = simhash_cluster_find(call, false);
	relation = open_part(call, part->table);
	good = relation != NULL && parts.later && OidIsValid(parts.work_table) &&
		relation->rd_rel->relfilenode == part->node;
	if (good)
	{
		/* The rows are looked up where they are. */
		set("enable_hashjoin", "off");
		set("enable_mergejoin", "off");
		if (!try_to_run(write_fill(setup, parts.work, part, start, true),
						false))
			(void) try_to_run(write_fill(setup, parts.work, part, start,
										 false),
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

		for (BlockNumber start = part->first; start <= part->last;
			 start += BATCH_PAGES)
		{
			CHECK_FOR_INTERRUPTS();
			if (!fill_batch(setup, part, start))
				break;
		}
	}
}

/* The column of the documents, if that is known; otherwise NULL. */
static const char *
find_document(const Setup *setup)
{
	Relation	relation = setup->call.relation;
	Node	   *source =
	simhash_guard_expression(relation,
							 simhash_guard_column(relation,
												  setup->fingerprint));
	SimhashRecipe recipe;
	Node	   *document;

	if (setup->document != NULL || source == NULL ||
		!simhash_get_recipe(source, &recipe))
		return setup->document;
	document = simhash_unlabeled(recipe.document);
	return !IsA(document, Var) || exprType(document) != TEXTOID ? NULL :
		get_attname(setup->call.table, ((Var *) document)->varattno, false);
}

/* Make the view of the clusters by size, of the rows that whoever asks may see. */
static void
make_view(const Setup *setup)
{
	const char *document = find_document(setup);
	const ClusterCall *call = &setup->call;
	Oid			schema = RelationGetNamespace(call->relation);
	const char *column = quote_identifier(call->column);
	const char *since = setup->since == NULL ? NULL :
	quote_identifier(setup->since);
	char	   *view =
	qualify(schema, free_name(schema, RelationGetRelationName(call->relation),
							  psprintf("%s_sizes", call->column)));
	char	   *current = strcmp(setup->kind, "star") == 0 ? "c.cluster" :
	psprintf("%s.simhash_current_cluster(%s::pg_catalog.regclass, c.cluster, %s::pg_catalog.name)",
			 quote_identifier(get_namespace_name(get_func_namespace(call->function))),
			 quote_literal_cstr(call->name), quote_literal_cstr(call->column));

	(void) simhash_cluster_run(psprintf("CREATE VIEW %s WITH (security_invoker = true) AS SELECT %s AS cluster,"
										" pg_catalog.sum(c.size)::pg_catalog.int8 AS size,"
										" pg_catalog.sum(c.new)::pg_catalog.int8 AS new,"
										" pg_catalog.max(c.latest) AS latest,"
										" pg_catalog.min(c.example) AS example FROM"
										" (SELECT %s AS cluster, pg_catalog.count(*) AS size,"
										" %s AS new, %s AS latest, %s AS example"
										" FROM %s WHERE %s IS NOT NULL GROUP BY 1) AS c GROUP BY 1",
										view, current, column,
										since == NULL ? "NULL::pg_catalog.int8" :
										psprintf("pg_catalog.count(*) FILTER (WHERE %s OPERATOR(pg_catalog.>)"
												 " (pg_catalog.now() OPERATOR(pg_catalog.-) '1 day'::pg_catalog.interval))",
												 since),
										since == NULL ? "NULL::pg_catalog.timestamptz" :
										psprintf("pg_catalog.max(%s)", since),
										document == NULL ? "NULL::pg_catalog.text" :
										psprintf("pg_catalog.min(pg_catalog.left(%s, 200))",
												 quote_identifier(document)),
										call->name, column));
	(void) simhash_cluster_run(psprintf("COMMENT ON VIEW %s IS '%s'", view,
										CLUSTER_VIEW_COMMENT));
}

/* Step 4. */
static void
finish(Setup *setup)
{
	ClusterCall *call = &setup->call;
	ClusterParts parts;

	simhash_cluster_begin_step(call, ShareRowExclusiveLock);
	parts = simhash_cluster_find(call, false);
	if (setup->index)
		simhash_cluster_alter(call, psprintf("CREATE INDEX ON %s (%s)", call->name,
											 quote_identifier(call->column)));
	make_triggers(setup, parts.clusters, false);
	(void) bind(setup, simhash_guard_cluster_trigger(call->relation,
													 call->column, false));
	make_view(setup);
	(void) simhash_cluster_run(psprintf("DROP TABLE %s", parts.work));
	simhash_cluster_end_step(call);
}

/* Which rows have no cluster, but what it takes. */
static char *
write_rest(const Setup *setup)
{
	StringInfoData condition;
	ListCell   *lc;

	initStringInfo(&condition);
	appendStringInfo(&condition, "%s IS NULL AND %s IS NOT NULL",
					 quote_identifier(setup->call.column),
					 quote_identifier(setup->fingerprint));
	foreach(lc, setup->within)
		appendStringInfo(&condition, " AND %s IS NOT NULL",
						 quote_identifier(lfirst(lc)));
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
									  call->source, write_rest(setup),
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
				 ItemPointerGetOffsetNumber(&place->tid), write_rest(setup),
				 column);

		if (try_to_run(command, true))
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

	for (size_t i = 0; i < lengthof(needed); i++)
	{
		if (PG_ARGISNULL(needed[i]))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("relation, fp, k, kind, column, within and index must not be null")));
	}
	setup->kind = get_string(fcinfo, 3, false);
	if (strcmp(setup->kind, "star") != 0 &&
		strcmp(setup->kind, "connected") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown kind \"%s\"", setup->kind),
				 errhint("It is star or connected.")));
	simhash_cluster_begin(&setup->call, fcinfo, PG_GETARG_OID(0),
						  NameStr(*PG_GETARG_NAME(4)));
	setup->kind = get_string(fcinfo, 3, false);
	setup->fingerprint = get_string(fcinfo, 1, true);
	setup->k = PG_GETARG_INT64(2);
	setup->since = get_string(fcinfo, 5, true);
	setup->within = get_names(PG_GETARG_ARRAYTYPE_P(6));
	setup->document = get_string(fcinfo, 7, true);
	setup->profile = get_string(fcinfo, 8, false);
	setup->similarity = get_string(fcinfo, 9, false);
	if (!PG_ARGISNULL(10))
	{
		setup->at_least = palloc(DOUBLE_SHORTEST_DECIMAL_LEN);
		(void) double_to_shortest_decimal_buf(PG_GETARG_FLOAT8(10),
											  setup->at_least);
	}
	setup->index = PG_GETARG_BOOL(11);
}

/* What there is to be done: which of the steps has been done last. */
static void
look(Setup *setup, bool *made, bool *later, bool *computed)
{
	ClusterParts parts;

	simhash_cluster_begin_step(&setup->call, AccessShareLock);
	parts = simhash_cluster_find(&setup->call, true);
	*made = parts.trigger != NULL;
	*later = parts.later;
	*computed = OidIsValid(parts.work_table);
	if (*made)
		check_arguments(setup, &parts);
	simhash_cluster_end_step(&setup->call);
}

/*
 * CALL simhash_add_clusters(relation regclass, fp name, k bigint DEFAULT 3,
 *		kind text DEFAULT 'star', "column" name DEFAULT 'cluster',
 *		since name DEFAULT NULL, within name[] DEFAULT '{}',
 *		document name DEFAULT NULL, profile text DEFAULT NULL,
 *		similarity text DEFAULT NULL,
 *		at_least double precision DEFAULT NULL, index boolean DEFAULT true)
 *
 * Have a table keep the clusters of its rows in a column of its own, and give
 * those that are there theirs.  What was stopped is gone on with by the same call.
 *
 * Errors: insufficient_privilege without ownership, wrong_object_type for what
 * is not a table, feature_not_supported for temporary tables and those with
 * foreign partitions or children, duplicate_column, duplicate_table,
 * duplicate_object for clusters that are kept with other arguments,
 * invalid_parameter_value, undefined_column, datatype_mismatch and
 * object_not_in_prerequisite_state as simhash_guard,
 * active_sql_transaction within REPEATABLE READ.
 */
Datum
simhash_add_clusters(PG_FUNCTION_ARGS)
{
	Setup		setup = {.k = 0};
	bool		made;
	bool		later;
	bool		computed;
	bool		done;

	get_arguments(&setup, fcinfo);
	look(&setup, &made, &later, &computed);
	done = made && !later;
	if (!made)
		make(&setup);
	if (!done)
	{
		if (!computed)
			compute(&setup);
		fill(&setup);
		finish(&setup);
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
