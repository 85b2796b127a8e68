/*-------------------------------------------------------------------------
 *
 * trigger.c
 *		simhash_cluster(), the trigger by which every row gets the id of its
 *		cluster as it arrives.
 *
 * simhash_add_clusters() makes the triggers, and the table of the clusters that
 * they are bound to (terms.c).  Ids come from the identity of that table.
 *
 * star.  The table has the representative of each cluster: its fingerprint,
 * its group and, if documents are compared, its document.  A row is looked up
 * there, not in its own table, and joins the nearest representative within the
 * distance.  If there is none it becomes one.  Representatives do not change,
 * so neither does the cluster of a row.
 *
 *	 Guarantee.  No two representatives of a group are near each other, and
 *	 nobody waits for another's transaction, at any isolation level.
 *
 *	 A representative is added under the locks of guard_lock.c, so that of two
 *	 sessions with rows near each other one sees what the other has added.  If
 *	 the only representative near a row is not committed yet, our row joins it
 *	 all the same.  Its transaction may still be rolled back, so we add a copy of
 *	 it as our own: a row with a number of its own, a negative one, which says
 *	 of what cluster it is one.  So an id stands for one row at most.  Nobody else
 *	 may have added a representative near it meanwhile: the copy is made under
 *	 the locks of the original, and only if that is still there.
 *
 *	 For example, the distance is 3, and nothing is there.
 *
 *	 A	inserts 0: cluster 1, represented by 0
 *	 B	inserts 7: finds that; adds -2, a copy of 1; its own row is in cluster 1
 *	 A	rolls back: the copy stays, and 63, three bits away from B's row but six
 *		from 0, starts a cluster whatever A does
 *
 *	 The same is done with a representative that simhash_trim_clusters() is about
 *	 to delete (trim.c).  What has been added for rows that did not get in goes
 *	 as the transaction ends (starts.c), and a text with its row (texts.c).
 *
 * connected.  A row is looked up in its own table.  All rows within the
 * distance count: if they are in one cluster it joins that, if they are in
 * several these are merged, and the oldest id stays (forest.c).  The version that
 * an update replaces counts among them, so that a small change moves no row.  Here a row
 * has to wait for a transaction that has inserted a row near it, unless that is
 * in a cluster which it joins anyway.  A row that another transaction is about
 * to delete counts: it was there when ours arrived.
 *
 *	 The row may still not get in: INSERT ... ON CONFLICT may drop it, or another
 *	 trigger.  So what is near several clusters is noted when the trigger is
 *	 called BEFORE, and looked up once more and merged when it is called AFTER.
 *	 The note says which calls have to look at all; it decides nothing.
 *
 * Update.  A row whose fingerprint, group or, where it counts, document changes
 * is treated as if it were new.  Otherwise it keeps its cluster, whatever the
 * statement writes: by an id of somebody else's cluster two that have nothing in
 * common would be merged.  Only what its own cluster is called by now is taken.
 * An update may move a row to another partition, where it arrives as if inserted;
 * it is recognised, and keeps its cluster, and the locks under which it was found
 * until it is in.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "rewrite/rewriteManip.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "clusters/forest.h"
#include "clusters/notes.h"
#include "clusters/members.h"
#include "clusters/starts.h"
#include "clusters/table.h"
#include "clusters/texts.h"
#include "clusters/trigger.h"
#include "guard/guard.h"

PG_FUNCTION_INFO_V1(simhash_cluster);

/* The trigger of one table. */
typedef struct ClusterTrigger
{
	Guard		guard;
	const ClusterTerms *terms;
	AttrNumber	cluster;		/* columns of that table */
	AttrNumber	since;			/* or 0 */
} ClusterTrigger;

/* The command of ours that is writing, if any. */
static ClusterWriter writer = {InvalidOid, CLUSTERS_AS_GIVEN, 0};

/* How many triggers are at work, one inside the other. */
static int
trigger_depth(void)
{
	return DatumGetInt32(OidFunctionCall0(F_PG_TRIGGER_DEPTH));
}

/*
 * Have the clusters that are written to a table taken in that way until further
 * notice; returns what was so before.
 */
ClusterWriter
simhash_clusters_set_writer(Oid table, ClusterWriting how)
{
	ClusterWriter before = writer;

	writer = (ClusterWriter)
	{
		table, how, trigger_depth() + 1
	};
	return before;
}

/* Have it as it was before. */
void
simhash_clusters_reset_writer(ClusterWriter before)
{
	writer = before;
}

/*
 * Is a command of ours writing to a table in that way, and not one of a trigger that
 * fires for it?
 */
static bool
is_written(Oid table, ClusterWriting how)
{
	return writer.table == table && writer.how == how &&
		writer.depth == trigger_depth();
}

/* Have the server call what must know of changes and of transactions. */
void
simhash_clusters_init(void)
{
	simhash_clusters_watch();
	simhash_clusters_note_init();
	simhash_clusters_starts_init();
}

/* Fail unless we are called as a trigger. */
static void
check_context(FunctionCallInfo fcinfo)
{
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_cluster was not called by the trigger manager")));
}

/* Fail as we are called as a trigger that nobody makes. */
pg_noreturn static void
complain_of_event(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("simhash_cluster is no trigger for such an event"),
			 errhint("CALL simhash_add_clusters(...) makes such triggers.")));
}

/*
 * The deed that a trigger of a relation leads to.  It says of which table, and
 * that must be the relation, or what the relation is a partition of: whoever has
 * made the trigger gets no further.
 */
static ClusterTerms *
get_terms(Relation relation, const Trigger *trigger)
{
	Oid			table = RelationGetRelid(relation);
	Oid			clusters = simhash_clusters_of_trigger(trigger);
	ClusterTerms *terms;

	if (!OidIsValid(clusters))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("trigger \"%s\" has no condition that names a table of clusters",
						trigger->tgname),
				 errhint("CALL simhash_add_clusters(...) makes such triggers.")));
	terms = simhash_clusters_read(clusters);
	if (terms == NULL)
		simhash_clusters_complain(clusters);
	if (terms->root != table &&
		!list_member_oid(get_partition_ancestors(table), terms->root))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("trigger \"%s\" names a table that has no clusters of \"%s\"",
						trigger->tgname, RelationGetRelationName(relation)),
				 errhint("CALL simhash_add_clusters(...) makes such triggers.")));
	simhash_clusters_check_table(terms);
	return terms;
}

/*
 * Have a statement know what its trigger stands for, unless it does.  While rows
 * get no clusters yet the table of these is not touched: what sets them up has it
 * locked before the other.
 */
static void
begin_statement(GuardStatement *statement, Relation relation,
				const Trigger *trigger)
{
	GuardSpace *space = &statement->space;
	Oid			schema = get_func_namespace(trigger->tgfoid);
	ClusterTerms *terms;
	Relation	root;

	if (statement->terms != NULL)
		return;
	terms = get_terms(relation, trigger);
	root = table_open(terms->root, AccessShareLock);
	simhash_clusters_set_type(terms, root);
	if (!terms->later)
		LockRelationOid(terms->clusters, RowExclusiveLock);
	if (terms->star && !terms->later)
	{
		Relation	clusters = simhash_clusters_open(terms);
		GuardTerms	searched = simhash_clusters_searched(terms, clusters);

		simhash_guard_bind_space(space, clusters, &searched,
								 terms->columns[CLUSTER_ID], schema);
		table_close(clusters, NoLock);
	}
	else
		simhash_guard_bind_space(space, root, &terms->terms, terms->cluster,
								 schema);
	table_close(root, NoLock);
	statement->locks.root = space->root;

	/* No guard of the column has these. */
	statement->locks.seed = PG_UINT32_MAX + (uint64) space->terms.column;
	statement->locks.scheme =
		simhash_guard_scheme(space->terms.type.width, space->terms.radius);
	statement->terms = terms;
}

/* Fail unless a column that is written to has the type of what is written. */
static void
check_type(Relation relation, AttrNumber column, Oid type)
{
	Form_pg_attribute attribute;

	if (column == 0)
		return;
	attribute = simhash_guard_attribute(relation, column);
	if (attribute->atttypid != type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is not of type %s, as that of clusters",
						NameStr(attribute->attname),
						RelationGetRelationName(relation),
						format_type_be(type))));
	simhash_guard_refuse_generated(relation, column,
								   "CALL simhash_drop_clusters(...), and simhash_add_clusters(...) again.");
}

/*
 * Is a column generated by an expression of a deed?  That was written as text and
 * read, without the cast to the column's type.  What has been text once, in a deed
 * or a dump, may also come back as another tree, with casts of constants
 * elsewhere; so both are simplified.
 */
static bool
is_generated_by(Relation relation, AttrNumber column, Node *expression)
{
	Form_pg_attribute attribute = simhash_guard_attribute(relation, column);
	Node	   *its = simhash_guard_expression(relation, column);

	expression = coerce_to_target_type(NULL, expression, exprType(expression),
									   attribute->atttypid,
									   attribute->atttypmod,
									   COERCION_ASSIGNMENT,
									   COERCE_IMPLICIT_CAST, -1);
	if (its == NULL || expression == NULL)
		return false;
	assign_expr_collations(NULL, expression);
	return equal(eval_const_expressions(NULL, its),
				 eval_const_expressions(NULL, expression));
}

/* The columns of the table whose rows are in clusters, in a relation. */
static AttrMap *
map_columns(const ClusterTerms *terms, Relation relation)
{
	Relation	root = table_open(terms->root, AccessShareLock);
	AttrMap    *map = simhash_map_columns(RelationGetDescr(root),
										  RelationGetDescr(relation));

	table_close(root, NoLock);
	return map;
}

/*
 * A column that is generated by another expression than that by which the clusters
 * were made, as it is after ALTER COLUMN ... SET EXPRESSION: what represents them
 * has fingerprints, or groups, that are no more.  0 if there is none.
 */
AttrNumber
simhash_clusters_other_expression(Relation relation, const ClusterTerms *terms)
{
	AttrMap    *map = map_columns(terms, relation);
	ListCell   *lc;

	foreach(lc, terms->generated)
	{
		ClusterGenerated *generated = lfirst(lc);
		AttrNumber	column = map->attnums[generated->column - 1];
		bool		whole;

		if (!is_generated_by(relation, column,
							 map_variable_attnos(generated->expression, 1, 0,
												 map, InvalidOid, &whole)))
			return column;
	}
	return 0;
}

/* Fail if there is such a column. */
static void
check_generated(Relation relation, const ClusterTerms *terms)
{
	AttrNumber	column = simhash_clusters_other_expression(relation, terms);

	if (column != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of relation \"%s\" is not generated as it was when the clusters were made",
						NameStr(simhash_guard_attribute(relation, column)->attname),
						RelationGetRelationName(relation)),
				 errhint("CALL simhash_drop_clusters(...), and simhash_add_clusters(...) again.")));
}

/*
 * What the trigger stands for, found out at the first row of a statement for a
 * table, in memory that lives at least as long as the statement.
 */
static ClusterTrigger *
bind(Relation relation, const Trigger *trigger, MemoryContext context)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	ClusterTrigger *its = palloc0(sizeof *its);
	Guard	   *guard = &its->guard;
	const ClusterTerms *terms;
	AttrMap    *map;

	guard->name = pstrdup(trigger->tgname);
	guard->statement =
		simhash_guard_statement(context,
								simhash_guard_origin(relation, trigger).trigger);
	begin_statement(guard->statement, relation, trigger);
	terms = its->terms = guard->statement->terms;
	map = map_columns(terms, relation);
	its->cluster = map->attnums[terms->cluster - 1];
	its->since = terms->since == 0 ? 0 : map->attnums[terms->since - 1];
	check_type(relation, its->cluster, INT8OID);
	check_type(relation, its->since, TIMESTAMPTZOID);
	check_generated(relation, terms);
	simhash_guard_bind(guard, relation, &terms->terms, map);
	simhash_guard_check_shard(trigger->tgname, relation, &guard->terms);
	if (terms->star)
		guard->place.table = terms->clusters;
	MemoryContextSwitchTo(old);
	return its;
}

/* The trigger at work. */
static ClusterTrigger *
get_trigger(FunctionCallInfo fcinfo)
{
	TriggerData *data = (TriggerData *) fcinfo->context;

	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra =
			bind(data->tg_relation, data->tg_trigger, fcinfo->flinfo->fn_mcxt);
	return fcinfo->flinfo->fn_extra;
}

/* A number in a column of a row; false if it is NULL. */
static bool
get_number(Relation relation, HeapTuple row, AttrNumber column, int64 *number)
{
	bool		isnull;
	Datum		value = heap_getattr(row, column, RelationGetDescr(relation),
									 &isnull);

	*number = isnull ? 0 : DatumGetInt64(value);
	return !isnull;
}

/* The cluster that a version of a row is in; false if it is in none. */
static bool
get_cluster(const ClusterTrigger *its, Relation relation, HeapTuple row,
			int64 *id)
{
	return get_number(relation, row, its->cluster, id);
}

/*
 * Add a copy of a representative that may go, unless it is gone.  In its place may
 * be another by now, so the search that comes next decides.  Returns the cluster, or 0
 * if there is no copy.
 */
static int64
claim(ClusterTrigger *its, Oid table, ItemPointer tid)
{
	Guard	   *guard = &its->guard;
	Relation	clusters = table_open(table, NoLock);
	TupleTableSlot *slot = table_slot_create(clusters, NULL);
	ItemPointerData place = *tid;
	int64		claimed = 0;

	simhash_guard_unlock(&guard->statement->locks);
	if (simhash_clusters_fetch(clusters, &place, slot))
	{
		bool		isnull;
		int64		id = simhash_clusters_of(its->terms, slot);
		Datum		value = slot_getattr(slot, its->terms->fingerprint, &isnull);
		GuardFingerprint fingerprint =
		simhash_guard_fingerprint(&guard->terms.type, value);

		simhash_guard_enter(guard, &fingerprint);
		if (simhash_clusters_fetch(clusters, &place, slot) &&
			simhash_clusters_of(its->terms, slot) == id)
		{
			int64		number = simhash_clusters_copy(its->terms, clusters, slot,
													   guard->document);

			simhash_clusters_note_start(its->terms, id, number, guard,
										its->cluster);
			claimed = id;
		}
		simhash_guard_unlock(&guard->statement->locks);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, NoLock);
	return claimed;
}

/*
 * May a representative that was found be trimmed before our row is in?  Not if there
 * is a copy of it besides that others may not trim either.
 */
static bool
is_unused(const ClusterTrigger *its, TupleTableSlot *slot)
{
	bool		isnull;
	Relation	clusters;
	bool		copied;

	(void) slot_getattr(slot, its->terms->columns[CLUSTER_UNUSED_SINCE],
						&isnull);
	if (isnull)
		return false;
	clusters = simhash_clusters_open(its->terms);
	copied = simhash_clusters_has_copy(its->terms, clusters,
									   simhash_clusters_of(its->terms, slot));
	table_close(clusters, NoLock);
	return !copied;
}

/* What a representative without a document is compared by: a row of its cluster. */
static text *
stand_in(void *visitor, TupleTableSlot *slot)
{
	const ClusterTerms *terms = ((ClusterTrigger *) visitor)->terms;

	return simhash_clusters_any_document(terms,
										 simhash_clusters_of(terms, slot));
}

/* The cluster of a row: that of the nearest representative, or a new one. */
static int64
join_star(ClusterTrigger *its)
{
	Guard	   *guard = &its->guard;
	GuardSearch *search = &guard->search;
	TupleTableSlot *slot;
	int64		claimed = 0;
	int64		id;

	search->visit = NULL;
	search->stand_in = stand_in;
	search->visitor = its;
	for (;;)
	{
		simhash_guard_enter(guard, &search->center);
		simhash_guard_search(search, guard->place.scope);
		slot = search->match.slot;
		id = slot == NULL ? 0 : simhash_clusters_of(its->terms, slot);
		if (slot == NULL && search->pending.distance >= 0)
			claimed = claim(its, search->pending.table, &search->pending.tid);
		else if (slot != NULL && id != claimed && is_unused(its, slot))
			claimed = claim(its, guard->place.own->table, &slot->tts_tid);
		else
			break;
		simhash_guard_forget_match(search);
	}
	if (slot == NULL)
	{
		id = simhash_clusters_start(its->terms, search);
		simhash_clusters_note_start(its->terms, id, id, guard, its->cluster);
	}
	else
		simhash_clusters_note_join(its->terms, id, guard, its->cluster);
	simhash_guard_forget_match(search);
	simhash_guard_unlock(&guard->statement->locks);
	return id;
}

/*
 * Of the rows that others are inserting, the first that may be in a cluster
 * other than those which are joined; NULL if there is none.
 */
static GuardPending *
find_arrival(const ClusterTerms *terms, const ClusterNeighbours *neighbours,
			 const ClusterSet *joined)
{
	ListCell   *lc;

	foreach(lc, neighbours->arrivals)
	{
		ClusterArrival *arrival = lfirst(lc);
		ClusterSet	its = {1, 1, &arrival->cluster};

		its = simhash_clusters_current(terms, &its, GetLatestSnapshot());
		if (!simhash_clusters_has(joined, its.ids[0]))
			return &arrival->pending;
	}
	return NULL;
}

/*
 * Is the version of a row that an update replaces near what it is replaced by?  It
 * counts as a row that is there, so that a small change leaves a row where it was.
 */
static bool
is_old_near(const ClusterTrigger *its, const TriggerData *data, int64 *id)
{
	const Guard *guard = &its->guard;
	const GuardTerms *terms = &guard->terms;
	HeapTuple	old = data->tg_trigtuple;
	GuardFingerprint fingerprint;
	text	   *document;
	Datum		value;
	bool		isnull;

	/* It may be of another group. */
	if (!TRIGGER_FIRED_BY_UPDATE(data->tg_event) || guard->place.moves ||
		is_written(its->terms->root, CLUSTERS_ANEW) ||
		!get_cluster(its, data->tg_relation, old, id))
		return false;
	value = heap_getattr(old, terms->column, RelationGetDescr(data->tg_relation),
						 &isnull);
	if (isnull)
		return false;
	fingerprint = simhash_guard_fingerprint(&terms->type, value);
	if (simhash_guard_distance(&fingerprint, &guard->search.center) > terms->radius)
		return false;
	if (terms->document == 0)
		return true;
	document = simhash_guard_document(data->tg_relation, terms->document, old);
	return document != NULL && guard->document != NULL &&
		simhash_guard_similarity(terms, guard->document,
								 DatumGetTextPP(PointerGetDatum(document))) >=
		terms->at_least;
}

/*
 * The cluster of a row: the oldest of those near it, or a new one.  Where it is given
 * one it may be on its way from another partition, by a statement which deletes it
 * there: what that deletes counts.
 */
static int64
join_connected(ClusterTrigger *its, const TriggerData *data, bool given)
{
	Guard	   *guard = &its->guard;
	GuardSearch *search = &guard->search;
	ClusterSet	joined;
	int64		old;
	bool		stays = is_old_near(its, data, &old);
	int64		id;

	search->visit = simhash_clusters_meet;
	search->moving = !stays && given;
	simhash_guard_begin_row(guard->statement);
	for (;;)
	{
		ClusterNeighbours neighbours = {0};
		GuardPending *arrival;

		search->visitor = &neighbours;
		simhash_guard_enter(guard, &search->center);
		simhash_guard_search(search, guard->place.scope);
		if (stays)
			simhash_clusters_add(&neighbours.clusters, old);
		joined = simhash_clusters_current(its->terms, &neighbours.clusters,
										  GetLatestSnapshot());
		arrival = find_arrival(its->terms, &neighbours, &joined);
		if (arrival == NULL && !search->changed)
			break;
		simhash_guard_unlock(&guard->statement->locks);
		if (arrival != NULL)
			simhash_guard_wait(arrival);
	}
	id = joined.n == 0 ? simhash_clusters_new(its->terms) : joined.ids[0];
	if (joined.n > 1)
		simhash_clusters_note(its->terms->clusters, id, &search->center);
	return id;
}

/* Write a value into a column of a row, unless it is there. */
static HeapTuple
write_value(HeapTuple row, Relation relation, AttrNumber column, Datum value,
			bool isnull)
{
	bool		wasnull;
	Datum		old;

	if (column == 0)
		return row;
	old = heap_getattr(row, column, RelationGetDescr(relation), &wasnull);
	if (isnull == wasnull &&
		(isnull || DatumGetInt64(value) == DatumGetInt64(old)))
		return row;
	return simhash_guard_set_column(row, relation, column, value, isnull);
}

/* Write a row's cluster into it, and when that was. */
static HeapTuple
set_cluster(const ClusterTrigger *its, Relation relation, HeapTuple row,
			int64 id, bool isnull)
{
	row = write_value(row, relation, its->cluster, Int64GetDatum(id), isnull);
	return write_value(row, relation, its->since,
					   TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()),
					   isnull);
}

/* Fail if a number that is written to the column never was a cluster. */
static void
check_number(const ClusterTrigger *its, Relation relation, int64 id)
{
	int64		last = simhash_clusters_last(its->terms);

	if (id < 1 || id > last)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("no cluster of \"%s\" has ever had the number " INT64_FORMAT,
						RelationGetRelationName(relation), id),
				 errdetail("Those of this table are from 1 to " INT64_FORMAT ".", last),
				 errhint("Leave column \"%s\" to simhash.",
						 NameStr(simhash_guard_attribute(relation, its->cluster)->attname))));
}

/*
 * The row of an update that changes nothing about what it is near: with the
 * cluster that it had, or what that is called by now, and the time when it came
 * into that.  A command of ours has its way.  While clusters are set up, what the
 * row had may be the id of an earlier cluster: it gets one in the end.
 */
static HeapTuple
keep_cluster(const ClusterTrigger *its, const TriggerData *data, HeapTuple row)
{
	Relation	relation = data->tg_relation;
	TupleDesc	desc = RelationGetDescr(relation);
	bool		isnull = true;
	Datum		since = (Datum) 0;
	int64		id;
	int64		old;
	bool		wasnull = !get_cluster(its, relation, data->tg_trigtuple, &old) ||
	its->terms->later;

	if (is_written(its->terms->root, CLUSTERS_AS_GIVEN))
		return row;
	if (!its->terms->later && get_cluster(its, relation, row, &id) &&
		(wasnull || id != old))
	{
		check_number(its, relation, id);
		if (!its->terms->star && !wasnull)
		{
			ClusterSet	own = {1, 1, &old};

			own = simhash_clusters_current(its->terms, &own,
										   GetLatestSnapshot());
			if (own.ids[0] == id)
				old = id;
		}
	}
	if (its->since != 0)
		since = heap_getattr(data->tg_trigtuple, its->since, desc, &isnull);
	row = write_value(row, relation, its->since, since, isnull);
	return write_value(row, relation, its->cluster, Int64GetDatum(old), wasnull);
}

/* Has a row the cluster that the update gave it by which it moves here? */
static bool
has_moved(const ClusterTrigger *its, const TriggerData *data, HeapTuple row)
{
	const Guard *guard = &its->guard;
	const GuardMoved *moved = &guard->statement->moved;
	int64		id;

	if (!moved->valid || !get_cluster(its, data->tg_relation, row, &id) ||
		moved->cluster != id || !simhash_guard_has_moved(guard->statement) ||
		!simhash_guard_is_as_moved(guard))
		return false;
	simhash_clusters_note_join(its->terms, id, guard, its->cluster);
	return true;
}

/* Is what a row that is inserted has for its cluster called that by now? */
static bool
is_same(const ClusterTrigger *its, int64 given, int64 id)
{
	ClusterSet	set = {1, 1, &given};

	if (its->terms->star || given == id)
		return given == id;
	set = simhash_clusters_current(its->terms, &set, GetLatestSnapshot());
	return set.ids[0] == id;
}

/*
 * The row with its cluster, or NULL in its stead.  A row that is inserted with the
 * cluster that it is given is one that is moved, and has the time that it says.
 */
static HeapTuple
join(ClusterTrigger *its, const TriggerData *data, HeapTuple row)
{
	Guard	   *guard = &its->guard;
	Relation	relation = data->tg_relation;
	bool		update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	bool		stays;
	int64		id = 0;
	bool		isnull;

	simhash_guard_take_row(guard, data, row, 0);
	if (update)
		stays = guard->need == GUARD_AS_BEFORE &&
			!is_written(its->terms->root, CLUSTERS_ANEW);
	else
		stays = has_moved(its, data, row);
	if (update && stays)
		row = keep_cluster(its, data, row);
	isnull = !get_cluster(its, relation, row, &id);
	if (!stays || isnull)
	{
		bool		given = !update && !isnull;
		int64		old = id;

		simhash_guard_unlock(&guard->statement->locks);
		isnull = its->terms->later || guard->need == GUARD_NONE_NEAR;
		if (!isnull)
			(void) simhash_clusters_see_greatest(its->terms, false);
		if (!isnull)
			id = its->terms->star ? join_star(its) :
				join_connected(its, data, given);
		if (!isnull && given && is_same(its, old, id))
			row = write_value(row, relation, its->cluster, Int64GetDatum(id), false);
		else
			row = set_cluster(its, relation, row, id, isnull);
	}
	simhash_guard_note_update(guard, data, 0);
	guard->statement->moved.valid &= !isnull;
	guard->statement->moved.cluster = id;
	return row;
}

/* A row is in: if it is near several clusters, merge these. */
static void
merge_around(ClusterTrigger *its, const TriggerData *data)
{
	Guard	   *guard = &its->guard;
	GuardSearch *search = &guard->search;
	ClusterNeighbours neighbours = {0};
	HeapTuple	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ?
	data->tg_newtuple : data->tg_trigtuple;
	int64		id;

	if (its->terms->star || its->terms->later)
		return;
	simhash_guard_take_row(guard, data, row, 0);
	if (guard->need == GUARD_NONE_NEAR ||
		!get_cluster(its, data->tg_relation, row, &id) ||
		!simhash_clusters_is_noted(its->terms->clusters, id, &search->center))
		return;
	simhash_guard_find(search->space, &guard->place);
	search->self = NULL;
	search->visit = simhash_clusters_meet;
	search->visitor = &neighbours;
	simhash_clusters_add(&neighbours.clusters, id);
	if (is_old_near(its, data, &id))
		simhash_clusters_add(&neighbours.clusters, id);

	/* Whoever is inserting a row near ours waits for us, and merges then. */
	do
	{
		simhash_guard_search(search, guard->place.scope);
	} while (search->changed);
	simhash_clusters_merge(its->terms, &neighbours.clusters);
}

/*
 * A row has gone, or has another document, or is in another cluster: take its
 * document from what represents the cluster that it was in.
 */
static void
forget_document(const TriggerData *data)
{
	Relation	relation = data->tg_relation;
	const ClusterTerms *terms;
	HeapTuple	row = data->tg_trigtuple;
	AttrMap    *map;
	AttrNumber	document;
	AttrNumber	cluster;
	text	   *text;
	int64		id;
	int64		other;

	/* What keeps the clusters may be gone, with CASCADE. */
	if (TRIGGER_FIRED_BY_INSERT(data->tg_event) ||
		simhash_clusters_read_owned(simhash_clusters_of_trigger(data->tg_trigger),
									relation->rd_rel->relowner) == NULL)
		return;
	terms = get_terms(relation, data->tg_trigger);

	/* What sets clusters up sees to it in the end, and has the table locked. */
	if (!terms->star || terms->document == 0 || terms->later)
		return;
	map = map_columns(terms, relation);
	document = map->attnums[terms->terms.document - 1];
	cluster = map->attnums[terms->cluster - 1];
	simhash_guard_check_document(relation, document);
	check_type(relation, cluster, INT8OID);
	text = simhash_guard_document(relation, document, row);

	if (text == NULL || !get_number(relation, row, cluster, &id))
		return;
	if (TRIGGER_FIRED_BY_UPDATE(data->tg_event) &&
		simhash_guard_keeps_document(relation, document, row, data->tg_newtuple) &&
		get_number(relation, data->tg_newtuple, cluster, &other) && other == id)
		return;
	simhash_clusters_take_text(terms, id, text);
}

/* Keep others from writing to the table of the clusters. */
static void
refuse(const TriggerData *data)
{
	Relation	relation = data->tg_relation;

	if (is_written(RelationGetRelid(relation), CLUSTERS_AS_GIVEN))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s\" of clusters is kept by simhash",
					RelationGetRelationName(relation)),
			 errdetail("Rows would get ids of other clusters, or those of theirs given once more."),
			 errhint("simhash_trim_clusters takes from it what is not needed, simhash_mend_clusters mends it. To restore data alone takes pg_restore --disable-triggers.")));
}

/*
 * The table whose rows are in clusters is empty: so is that of the clusters.  A
 * partition that is says nothing of the rest.  Nor may that of the clusters be
 * emptied alone.
 */
static void
empty(const TriggerData *data)
{
	Oid			table = RelationGetRelid(data->tg_relation);
	ClusterTerms *terms;

	if (OidIsValid(simhash_clusters_of_trigger(data->tg_trigger)))
	{
		terms = get_terms(data->tg_relation, data->tg_trigger);
		if (terms->root == table)
			simhash_clusters_truncate(terms);
		return;
	}
	terms = simhash_clusters_read(table);
	if (terms == NULL)
		simhash_clusters_complain(table);
	simhash_clusters_check_table(terms);
	if (simhash_clusters_any_row(terms))
		refuse(data);
}

/* The trigger at work before or after a statement. */
static void
see_statement(const TriggerData *data)
{
	if (TRIGGER_FIRED_BEFORE(data->tg_event) &&
		!OidIsValid(simhash_clusters_of_trigger(data->tg_trigger)))
		refuse(data);
	else if (TRIGGER_FIRED_BEFORE(data->tg_event))
		complain_of_event();
	else if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
		empty(data);
	else
		complain_of_event();
}

/*
 * CREATE TRIGGER name BEFORE INSERT OR UPDATE ON table FOR EACH ROW
 *		WHEN ('table of the clusters'::regclass IS NOT NULL)
 *		EXECUTE FUNCTION simhash_cluster()
 *
 * gives each row the id of its cluster, as simhash_add_clusters() has set it up.
 * The same AFTER INSERT OR UPDATE FOR EACH ROW, for connected clusters, merges those
 * that a row connects; AFTER UPDATE OR DELETE FOR EACH ROW, where documents
 * are compared, takes the text of a row from what represents its cluster; AFTER
 * TRUNCATE empties the table of the clusters.  On that table itself the trigger
 * has no condition, and fires BEFORE INSERT OR UPDATE OR DELETE FOR EACH STATEMENT
 * and AFTER TRUNCATE, to keep others from writing to it.
 *
 * Errors: trigger_protocol_violated; object_not_in_prerequisite_state where the
 * table of the clusters is none, or that of another table, or where the
 * fingerprint is generated otherwise than it was, or ids would be given twice, or
 * for who writes to the table of the clusters; check_violation where a number is
 * written to the column that never was a cluster;
 * insufficient_privilege where the tables have different owners.
 */
Datum
simhash_cluster(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	HeapTuple	row = NULL;
	bool		update;

	/* Tables of clusters may be bound to one another by hand. */
	check_stack_depth();
	check_context(fcinfo);
	update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	if (!TRIGGER_FIRED_FOR_ROW(data->tg_event))
		see_statement(data);
	else if (TRIGGER_FIRED_BEFORE(data->tg_event) &&
			 (update || TRIGGER_FIRED_BY_INSERT(data->tg_event)))
		row = join(get_trigger(fcinfo), data,
				   update ? data->tg_newtuple : data->tg_trigtuple);
	else if (!TRIGGER_FIRED_AFTER(data->tg_event))
		complain_of_event();
	else if (TRIGGER_FOR_DELETE(data->tg_trigger->tgtype))
		forget_document(data);
	else if (simhash_clusters_any_notes())
		merge_around(get_trigger(fcinfo), data);
	return PointerGetDatum(row);
}
