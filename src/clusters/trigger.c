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
 *	 all the same.  Its transaction may still be rolled back, so we add the same
 *	 representative, with the same id, once more as our own: a claim.  Nobody
 *	 else may have added one near it meanwhile.  So the claim is made under the
 *	 locks of the representative, and only if it is still there.
 *
 *	 For example, the distance is 3, and nothing is there.
 *
 *	 A	inserts 0: cluster 1, represented by 0
 *	 B	inserts 7: finds that; claims it, so that there are two rows (1, 0), one
 *		of either transaction; its own row is in cluster 1
 *	 A	rolls back: what B has added stays, and 63, three bits away from B's
 *		row but six from 0, starts a cluster whatever A does
 *
 * connected.  A row is looked up in its own table.  All rows within the
 * distance count: if they are in one cluster it joins that, if they are in
 * several these are merged, and the oldest id stays (forest.c).  Here a row
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
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "rewrite/rewriteManip.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "clusters/forest.h"
#include "clusters/notes.h"
#include "clusters/table.h"
#include "clusters/trigger.h"
#include "guard/guard_row.h"

PG_FUNCTION_INFO_V1(simhash_cluster);

/* The trigger of one table. */
typedef struct ClusterTrigger
{
	Guard		guard;
	const ClusterTerms *terms;
	AttrNumber	cluster;		/* columns of that table */
	AttrNumber	since;			/* or 0 */
} ClusterTrigger;

/* The table to which a command of ours writes clusters, or InvalidOid. */
static Oid	filling = InvalidOid;

/*
 * Have the clusters that are written to a table taken as they are, until further
 * notice; returns of what table that was true before.
 */
Oid
simhash_clusters_fill(Oid table)
{
	Oid			before = filling;

	filling = table;
	return before;
}

/* Have the server call what must know of changes and of transactions. */
void
simhash_clusters_init(void)
{
	simhash_clusters_watch();
	simhash_clusters_note_init();
}

/* Fail unless we are called as one of the three triggers. */
static void
check_context(FunctionCallInfo fcinfo)
{
	TriggerEvent event;
	bool		row;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_cluster was not called by the trigger manager")));
	event = ((TriggerData *) fcinfo->context)->tg_event;
	row = TRIGGER_FIRED_FOR_ROW(event) && !TRIGGER_FIRED_INSTEAD(event) &&
		(TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event));
	if (!row && !(TRIGGER_FIRED_AFTER(event) &&
				  TRIGGER_FIRED_BY_TRUNCATE(event)))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_cluster must be fired FOR EACH ROW by INSERT or UPDATE, or AFTER TRUNCATE"),
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

/*
 * Fail if a column is generated by another expression than that by which the
 * clusters were made, as it is after ALTER COLUMN ... SET EXPRESSION: what
 * represents them has fingerprints, or groups, that are no more.
 */
static void
check_generated(Relation relation, const ClusterTerms *terms,
				const AttrMap *map)
{
	ListCell   *lc;

	foreach(lc, terms->generated)
	{
		ClusterGenerated *generated = lfirst(lc);
		AttrNumber	column = map->attnums[generated->column - 1];
		bool		whole;

		if (!is_generated_by(relation, column,
							 map_variable_attnos(generated->expression, 1, 0,
												 map, InvalidOid, &whole)))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("column \"%s\" of relation \"%s\" is not generated as it was when the clusters were made",
							NameStr(simhash_guard_attribute(relation, column)->attname),
							RelationGetRelationName(relation)),
					 errhint("CALL simhash_drop_clusters(...), and simhash_add_clusters(...) again.")));
	}
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
	check_generated(relation, terms, map);
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

/*
 * Add a representative that depends on another transaction as our own, unless
 * it is gone.  In its place may be another by now, so the search that comes next
 * decides.
 */
static void
claim(Guard *guard, const GuardPending *pending)
{
	const GuardTable *table = guard->place.own;
	Relation	clusters = table_open(pending->table, NoLock);
	TupleTableSlot *slot = table_slot_create(clusters, NULL);
	ItemPointerData tid = pending->tid;
	int64		id;
	int64		claimed;

	simhash_guard_unlock(&guard->statement->locks);
	if (simhash_clusters_fetch(clusters, &tid, slot) &&
		simhash_clusters_get(table, slot, &id))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, table->column, &isnull);
		GuardFingerprint fingerprint =
		simhash_guard_fingerprint(&guard->terms.type, value);

		simhash_guard_enter(guard, &fingerprint);
		if (simhash_clusters_fetch(clusters, &tid, slot) &&
			simhash_clusters_get(guard->place.own, slot, &claimed) &&
			claimed == id)
			simhash_clusters_represent(clusters, slot);
		simhash_guard_unlock(&guard->statement->locks);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, NoLock);
}

/* The cluster of a row: that of the nearest representative, or a new one. */
static int64
join_star(ClusterTrigger *its)
{
	Guard	   *guard = &its->guard;
	GuardSearch *search = &guard->search;
	int64		id;

	search->visit = NULL;
	for (;;)
	{
		simhash_guard_enter(guard, &search->center);
		simhash_guard_search(search, guard->place.scope);
		if (search->match.slot != NULL || search->pending.distance < 0)
			break;
		claim(guard, &search->pending);
	}
	if (search->match.slot == NULL)
		id = simhash_clusters_start(its->terms, guard->place.own, search);
	else
		(void) simhash_clusters_get(guard->place.own, search->match.slot, &id);
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

/* The cluster of a row: the oldest of those near it, or a new one. */
static int64
join_connected(ClusterTrigger *its)
{
	Guard	   *guard = &its->guard;
	GuardSearch *search = &guard->search;
	ClusterSet	joined;
	int64		id;

	search->visit = simhash_clusters_meet;
	simhash_guard_begin_row(guard->statement);
	for (;;)
	{
		ClusterNeighbours neighbours = {0};
		GuardPending *arrival;

		search->visitor = &neighbours;
		simhash_guard_enter(guard, &search->center);
		simhash_guard_search(search, guard->place.scope);
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

/* The cluster that a version of a row is in; false if it is in none. */
static bool
get_cluster(const ClusterTrigger *its, Relation relation, HeapTuple row,
			int64 *id)
{
	bool		isnull;
	Datum		value = heap_getattr(row, its->cluster,
									 RelationGetDescr(relation), &isnull);

	*id = isnull ? 0 : DatumGetInt64(value);
	return !isnull;
}

/*
 * The row of an update that changes nothing about what it is near: with the
 * cluster that it had, or what that is called by now, and the time when it came
 * into that.  A command of ours has its way.
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
	bool		wasnull = !get_cluster(its, relation, data->tg_trigtuple, &old);

	if (filling == its->terms->root)
		return row;
	if (!its->terms->star && !its->terms->later && !wasnull &&
		get_cluster(its, relation, row, &id) && id != old)
	{
		ClusterSet	own = {1, 1, &old};

		own = simhash_clusters_current(its->terms, &own, GetLatestSnapshot());
		if (own.ids[0] == id)
			old = id;
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

	return moved->valid &&
		get_cluster(its, data->tg_relation, row, &id) && moved->cluster == id &&
		simhash_guard_has_moved(guard->statement) &&
		simhash_guard_is_as_moved(guard);
}

/* The row with its cluster, or NULL in its stead. */
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
	if (update && guard->need == GUARD_AS_BEFORE)
		row = keep_cluster(its, data, row);
	stays = update ? guard->need == GUARD_AS_BEFORE :
		has_moved(its, data, row);
	isnull = !get_cluster(its, relation, row, &id);
	if (!stays || isnull)
	{
		simhash_guard_unlock(&guard->statement->locks);
		isnull = its->terms->later || guard->need == GUARD_NONE_NEAR;
		if (!isnull)
			id = its->terms->star ? join_star(its) : join_connected(its);
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

	/* Whoever is inserting a row near ours waits for us, and merges then. */
	do
	{
		simhash_guard_search(search, guard->place.scope);
	} while (search->changed);
	simhash_clusters_merge(its->terms, &neighbours.clusters);
}

/* The table is empty; a partition that is says nothing of the rest. */
static void
empty(const TriggerData *data)
{
	ClusterTerms *terms = get_terms(data->tg_relation, data->tg_trigger);

	if (terms->root == RelationGetRelid(data->tg_relation))
		simhash_clusters_truncate(terms);
}

/*
 * CREATE TRIGGER name BEFORE INSERT OR UPDATE ON table FOR EACH ROW
 *		WHEN ('table of the clusters'::regclass IS NOT NULL)
 *		EXECUTE FUNCTION simhash_cluster()
 *
 * and the same AFTER INSERT OR UPDATE FOR EACH ROW, and AFTER TRUNCATE.
 *
 * Give each row the id of its cluster, as simhash_add_clusters() has set it up;
 * merge clusters that a row connects; and empty the table of the clusters with
 * the other.
 *
 * Errors: trigger_protocol_violated; object_not_in_prerequisite_state where the
 * table of the clusters is none, or that of another table, or where the
 * fingerprint is generated otherwise than it was;
 * insufficient_privilege where the tables have different owners.
 */
Datum
simhash_cluster(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	HeapTuple	row = NULL;

	/* Tables of clusters may be bound to one another by hand. */
	check_stack_depth();
	check_context(fcinfo);
	if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
		empty(data);
	else if (TRIGGER_FIRED_AFTER(data->tg_event))
	{
		if (simhash_clusters_any_notes())
			merge_around(get_trigger(fcinfo), data);
	}
	else
	{
		row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple :
			data->tg_trigtuple;
		row = join(get_trigger(fcinfo), data, row);
	}
	return PointerGetDatum(row);
}
