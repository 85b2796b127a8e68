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
 * Step 4.  It waits for those who are writing to the table.  So when it is done, all
 * rows without a cluster are committed, and stay what they are or get one: step 5
 * finds them all, in whatever snapshot it has.
 *
 * Step 5, connected.  Say A and B have no clusters and are near.  A gets one
 * first, and does not find B's; then B finds A.  A row N that arrives and is
 * near A, by then in a cluster or not, finds it or is found by it.  So every pair
 * of near rows is found by whichever of the two gets its cluster later, as in
 * connected.c, whose locks hold for updates as well.
 *
 * Step 5, star.  The representatives of step 2 were added when no trigger added
 * any, and are committed before step 4 ends.  Later ones are added by the
 * triggers, under their locks.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/upkeep/step.h"

#include "pairs/pairs.h"

PG_FUNCTION_INFO_V1(simhash_add_clusters);
PG_FUNCTION_INFO_V1(simhash_drop_clusters);

/* Fail unless the clusters have been made by the same arguments: by the same deed. */
static void
check_arguments(const ClusterSetup *setup)
{
	const ClusterCall *call = &setup->call;
	const ClusterTerms *terms = call->terms;
	ClusterTerms asked = *terms;

	asked.star = setup->star;
	asked.terms = simhash_upkeep_read_terms(setup);
	asked.since = setup->since == NULL ? 0 : get_attnum(call->table, setup->since);
	if (asked.terms.ngroup != terms->terms.ngroup ||
		strcmp(simhash_clusters_write(&asked, call->function),
			   simhash_clusters_write(terms, call->function)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("clusters are kept in column \"%s\" of \"%s\" with other arguments",
						call->column, RelationGetRelationName(call->relation)),
				 errhint("Give the same arguments, or another \"column\", or CALL simhash_drop_clusters(...) first.")));
}

/*
 * The terms, which say how far the set-up is, in memory of the call; NULL if it has
 * not begun.
 */
static ClusterTerms *
see_how_far(ClusterSetup *setup)
{
	ClusterCall *call = &setup->call;
	ClusterTerms *copy = NULL;

	simhash_upkeep_begin_table(call, AccessShareLock);
	if (simhash_clusters_find(call->relation, call->column) != NULL)
	{
		(void) simhash_upkeep_find(call);
		if (simhash_upkeep_has_triggers(call, false))
		{
			check_arguments(setup);
			copy = MemoryContextAlloc(call->outer, sizeof *copy);
			*copy = *call->terms;
		}
		else if (!setup->adopt)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("clusters are no longer kept in column \"%s\" of \"%s\"",
							call->column, RelationGetRelationName(call->relation)),
					 errdetail("Triggers that keep them have been dropped, alone or with an index that they need."),
					 errhint("CALL simhash_mend_clusters(...) makes them again.")));
	}
	simhash_upkeep_end_step(call);
	return copy;
}

/*
 * Step 4.  The table of the clusters is locked before the root: nobody who has the
 * root locked needs it yet.  So while we wait for somebody who reads it for long, as
 * pg_dump does, others can write to the root.
 */
static void
finish(ClusterSetup *setup, Oid clusters)
{
	ClusterCall *call = &setup->call;
	ClusterTerms *terms;
	Oid			work;

	simhash_progress_step("finishing");
	LockRelationOid(clusters, AccessExclusiveLock);
	terms = simhash_upkeep_begin_step(call, ShareRowExclusiveLock);
	if (setup->index && !simhash_clusters_has_index(call->relation, terms->cluster))
		simhash_upkeep_alter(call, simhash_upkeep_sql(call, "CREATE INDEX ON {root} ({cluster})"));
	simhash_upkeep_depend(call);
	work = terms->work;
	terms->later = false;
	terms->work = InvalidOid;
	simhash_upkeep_write_deed(call, false);
	(void) simhash_upkeep_run(call, psprintf("DROP TABLE %s",
											 simhash_quoted_name(work)));
	simhash_upkeep_end_step(call);
}

/* Take the texts of rows that have gone since the clusters were computed. */
static void
take_texts(ClusterCall *call)
{
	if (simhash_upkeep_begin_step(call, AccessShareLock)->document != 0)
		(void) simhash_upkeep_write(call, "UPDATE ONLY {clusters} AS t SET {star document} = NULL WHERE %s",
									simhash_upkeep_text_left(call));
	simhash_upkeep_end_step(call);
}

/* Do all steps that are not done, the first again if what it made is gone or another's. */
static void
add_clusters(ClusterCall *call)
{
	ClusterSetup *setup = (ClusterSetup *) call;
	ClusterTerms *terms = see_how_far(setup);
	bool		done = terms != NULL && !terms->later;

	while (terms == NULL)
	{
		simhash_upkeep_create(setup);
		terms = see_how_far(setup);
	}
	if (!done)
	{
		if (!OidIsValid(terms->work))
			simhash_upkeep_compute(setup);
		simhash_upkeep_fill(call);
		finish(setup, terms->clusters);
		if (!setup->index)
			ereport(NOTICE,
					(errmsg("column \"%s\" has no index", call->column),
					 errhint("CREATE INDEX CONCURRENTLY makes one without holding up writers.")));
	}
	if (simhash_upkeep_join(call, ROWS_WITHOUT_CLUSTER, NULL, false) == 0 && done)
		ereport(NOTICE,
				(errmsg("clusters are kept in column \"%s\" of \"%s\" already",
						call->column, get_rel_name(call->table))));
	if (!done)
		take_texts(call);
}

/* An argument of type name, or NULL. */
static char *
get_name(FunctionCallInfo fcinfo, int argument)
{
	return PG_ARGISNULL(argument) ? NULL : pstrdup(NameStr(*PG_GETARG_NAME(argument)));
}

/* Read the arguments. */
static void
get_arguments(ClusterSetup *setup, FunctionCallInfo fcinfo)
{
	simhash_check_not_null(fcinfo, 0, 1, 2, 3, 4, 6, 12, 14);
	setup->star = simhash_choose(fcinfo, 3, "star", "connected");
	for (int i = 4; i <= 5; i++)
	{
		if (!PG_ARGISNULL(i) && *NameStr(*PG_GETARG_NAME(i)) == '\0')
			simhash_complain_of_empty(fcinfo, i);
	}
	setup->asked = (NearAsked)
	{
		.who = "simhash_add_clusters",
			.hint = "For example, CALL simhash_add_clusters('docs', 'fp', document => 'body', similarity => 'jaccard', within => '{site}').",
			.renamed = "",
			.fingerprint = "fingerprint",
			.column = text_to_cstring(PG_GETARG_TEXT_PP(1)),
			.distance = "k",
			.pairs = true,
			.radius = PG_GETARG_INT64(2),
			.within = simhash_get_columns(PG_GETARG_ARRAYTYPE_P(6), "within"),
			.options = simhash_document_options(fcinfo, 7),
			.fills = SIMHASH_NO_MEASURE
	};
	setup->since = get_name(fcinfo, 5);
	setup->index = PG_GETARG_BOOL(12);
	setup->schema = get_name(fcinfo, 13);
	setup->adopt = PG_GETARG_BOOL(14);
}

/*
 * CALL simhash_add_clusters(relation regclass, fingerprint text,
 *		k bigint DEFAULT 3, kind text DEFAULT 'star',
 *		"column" name DEFAULT 'cluster', since name DEFAULT NULL,
 *		within text[] DEFAULT '{}', document text DEFAULT NULL,
 *		similarity text DEFAULT NULL, at_least double precision DEFAULT NULL,
 *		profile text DEFAULT NULL, at_most bigint DEFAULT NULL,
 *		indexed boolean DEFAULT true, schema name DEFAULT NULL, adopt boolean DEFAULT false)
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
	ClusterSetup setup = {.call.sets_up = true};

	get_arguments(&setup, fcinfo);
	simhash_upkeep_call(&setup.call, fcinfo, 4, add_clusters);
	PG_RETURN_VOID();
}

/* --- taking down ----------------------------------------------------------- */

/* What the call is for. */
static void
drop_clusters(ClusterCall *call)
{
	ClusterTerms *terms;

	simhash_upkeep_begin_table(call, AccessExclusiveLock);
	terms = simhash_clusters_find(call->relation, call->column);
	if (terms != NULL && terms->root == call->table)
	{
		call->terms = terms;
		(void) simhash_upkeep_drop_triggers(call, terms->clusters);
		(void) simhash_upkeep_do(call, "DROP TABLE {clusters}");
		if (OidIsValid(terms->work))
			(void) simhash_upkeep_do(call, "DROP TABLE {work}");
		simhash_upkeep_alter(call, simhash_upkeep_sql(call, terms->since == 0 ?
													  "ALTER TABLE {root} DROP COLUMN {cluster}" :
													  "ALTER TABLE {root} DROP COLUMN {cluster}, DROP COLUMN {since}"));
	}
	else if (simhash_upkeep_drop_triggers(call, InvalidOid) > 0)
		ereport(NOTICE,
				(errmsg("dropped triggers of \"%s\" whose table of clusters is gone",
						RelationGetRelationName(call->relation)),
				 errdetail("It is no longer known in which column, and in which table, they kept clusters."),
				 errhint("Drop the column and the table of the clusters by hand.")));
	else
		simhash_clusters_complain_of_none(call->relation, call->column);
	simhash_upkeep_end_step(call);
}

/*
 * CALL simhash_drop_clusters(relation regclass, "column" name DEFAULT 'cluster')
 *
 * Undo what simhash_add_clusters() has made, all of it or as far as it came:
 * triggers, the table of the clusters, column, that of the time, and index.
 *
 * Errors: object_not_in_prerequisite_state where no clusters are kept in that
 * column, insufficient_privilege without ownership,
 * dependent_objects_still_exist for a view of the user's own.
 */
Datum
simhash_drop_clusters(PG_FUNCTION_ARGS)
{
	ClusterCall call = {.shared = true};

	simhash_upkeep_call(&call, fcinfo, 1, drop_clusters);
	PG_RETURN_VOID();
}
