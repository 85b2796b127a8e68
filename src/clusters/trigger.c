/*-------------------------------------------------------------------------
 *
 * trigger.c
 *		simhash_cluster(), the trigger by which every row gets the id of its
 *		cluster as it arrives.
 *
 * simhash_add_clusters() makes the triggers, and the table of the clusters that
 * they are bound to (terms.c).  A row that is inserted gets the id of its cluster
 * before it is in, from star.c or connected.c.
 *
 * Update.  A row whose fingerprint, group or, where documents are compared, document
 * changes is treated as if it were new.  Otherwise it keeps its cluster, whatever the
 * statement writes into the column: by an id of another cluster a user would merge
 * two that have nothing in common.  The only other id that is accepted is that of the
 * cluster into which its own has been merged.
 *
 * An update may move a row to another partition, where it arrives as if inserted.  It
 * is recognised (near_moved.c), and keeps its cluster, and the locks under which this
 * was found until it is in.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

#include "catalog/pg_trigger.h"

PG_FUNCTION_INFO_V1(simhash_cluster);

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
	return simhash_near_set_column(row, relation, column, value, isnull);
}

/* Fail if a number that is written to the column never was a cluster. */
static void
check_number(const ClusterTrigger *trigger, Relation relation, int64 id)
{
	int64		last = simhash_clusters_last(trigger->terms);

	if (id < 1 || id > last)
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 errmsg("no cluster of \"%s\" has ever had the number " INT64_FORMAT,
						RelationGetRelationName(relation), id),
				 errdetail("The clusters of this table have numbers from 1 to " INT64_FORMAT ".", last),
				 errhint("Do not write to column \"%s\": simhash sets it.",
						 NameStr(simhash_near_attribute(relation, trigger->cluster)->attname))));
}

/* Is an id that of a cluster, or of what the cluster has been merged into? */
static bool
is_same(const ClusterTrigger *trigger, int64 cluster, int64 id)
{
	return cluster == id ||
		(!trigger->terms->star &&
		 simhash_clusters_current_of(trigger->terms, cluster, GetLatestSnapshot()) == id);
}

/*
 * The row of an update that changes nothing about what it is near: with the
 * cluster that it had, or what that is called by now, and the time when it came
 * into that.  A command of ours has its way.  While clusters are set up, what the
 * row had may be the id of an earlier cluster: it gets one in the end.
 */
static HeapTuple
keep_cluster(const ClusterTrigger *trigger, const TriggerData *data, HeapTuple row)
{
	Relation	relation = data->tg_relation;
	bool		later = trigger->terms->later;
	bool		isnull = true;
	Datum		since = (Datum) 0;
	int64		id;
	int64		old;
	bool		wasnull = !simhash_clusters_get_number(relation, data->tg_trigtuple,
													   trigger->cluster, &old) || later;

	if (simhash_clusters_are_written(trigger->terms->root, CLUSTERS_AS_GIVEN))
		return row;
	if (!later && simhash_clusters_get_number(relation, row, trigger->cluster, &id) &&
		(wasnull || id != old))
	{
		check_number(trigger, relation, id);
		if (!wasnull && is_same(trigger, old, id))
			old = id;
	}
	if (trigger->since != 0)
		since = heap_getattr(data->tg_trigtuple, trigger->since,
							 RelationGetDescr(relation), &isnull);
	row = write_value(row, relation, trigger->since, since, isnull);
	return write_value(row, relation, trigger->cluster, Int64GetDatum(old), wasnull);
}

/* Does an update move the row here, from another partition, with its cluster? */
static bool
has_moved(const ClusterTrigger *trigger, const TriggerData *data, HeapTuple row)
{
	const NearTrigger *near = &trigger->near;
	const NearMoved *moved = &near->statement->moved;
	int64		id;

	if (!moved->valid || !simhash_clusters_get_number(data->tg_relation, row, trigger->cluster, &id) ||
		moved->cluster != id || !simhash_near_has_moved(near->statement) ||
		!simhash_near_is_as_moved(near))
		return false;
	simhash_clusters_note_row(trigger, id, 0);
	return true;
}

/*
 * The row with its cluster, or NULL if it can have none.  A row that is inserted with
 * the id of the cluster that it joins is one that moves here from another partition,
 * or is restored, so it keeps the time that it has.
 */
static HeapTuple
join_cluster(ClusterTrigger *trigger, const TriggerData *data, HeapTuple row)
{
	NearTrigger *near = &trigger->near;
	Relation	relation = data->tg_relation;
	bool		update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	bool		stays;
	int64		id = 0;
	bool		isnull;

	simhash_near_take_row(near, data, row);
	if (update)
		stays = near->need == NEAR_AS_BEFORE &&
			!simhash_clusters_are_written(trigger->terms->root, CLUSTERS_ANEW);
	else
		stays = has_moved(trigger, data, row);
	if (update && stays)
		row = keep_cluster(trigger, data, row);
	isnull = !simhash_clusters_get_number(relation, row, trigger->cluster, &id);
	if (!stays || isnull)
	{
		bool		given = !update && !isnull;
		int64		old = id;

		simhash_near_unlock(&near->statement->locks);
		isnull = trigger->terms->later || near->need == NEAR_NONE_NEAR;
		if (!isnull)
		{
			(void) simhash_clusters_see_greatest(trigger->terms, false);
			id = trigger->terms->star ? simhash_clusters_join_star(trigger) :
				simhash_clusters_join_connected(trigger, data, given);
		}
		if (isnull || !given || !is_same(trigger, old, id))
			row = write_value(row, relation, trigger->since,
							  TimestampTzGetDatum(GetCurrentTransactionStartTimestamp()),
							  isnull);
		row = write_value(row, relation, trigger->cluster, Int64GetDatum(id), isnull);
	}
	near->statement->moved.valid = false;
	if (update && !isnull)
		simhash_near_note_update(near, data);
	near->statement->moved.cluster = id;
	return row;
}

/*
 * A row has gone, or has another document, or is in another cluster: take its
 * document from what represents the cluster that it was in.  Nothing else is computed
 * of a row that is deleted.  A function in SECURITY DEFINER, or a foreign key, may do
 * that with rights that the session lacks, in which PL/pgSQL may remember types of its
 * own: then any document is taken.
 */
static void
forget_document(const TriggerData *data)
{
	Relation	relation = data->tg_relation;
	const ClusterTerms *terms;
	NearDocument document = {0};
	AttrNumber	cluster;
	text	   *gone;
	int64		id;
	int64		other;

	/* What keeps the clusters may be gone, with CASCADE. */
	if (TRIGGER_FIRED_BY_INSERT(data->tg_event) ||
		simhash_clusters_read_owned(simhash_clusters_of_trigger(data->tg_trigger),
									relation->rd_rel->relowner) == NULL)
		return;
	terms = simhash_clusters_get_terms(relation, data->tg_trigger);

	/* What sets clusters up sees to it in the end, and has the table locked. */
	if (!terms->star || terms->document == 0 || terms->later)
		return;
	if (!TRIGGER_FIRED_BY_DELETE(data->tg_event) || !InLocalUserIdChange() ||
		simhash_is_of_core(terms->terms.expression))
		document = simhash_clusters_bind_document(terms, relation);
	cluster = simhash_clusters_map_columns(terms, relation)->attnums[terms->cluster - 1];
	simhash_clusters_check_plain(relation, cluster);
	if (!simhash_clusters_get_number(relation, data->tg_trigtuple, cluster, &id))
		return;
	gone = simhash_near_get_document(&document, data->tg_trigslot);
	if ((gone == NULL && document.context != NULL) ||
		(TRIGGER_FIRED_BY_UPDATE(data->tg_event) &&
		 simhash_near_same_document(gone, simhash_near_get_document(&document, data->tg_newslot)) &&
		 simhash_clusters_get_number(relation, data->tg_newtuple, cluster, &other) && other == id))
		return;
	simhash_clusters_take_text(terms, id, gone);
}

/* Fail unless a command of ours is writing to the table of the clusters. */
static void
refuse_writing(const TriggerData *data)
{
	Relation	relation = data->tg_relation;

	if (simhash_clusters_are_written(RelationGetRelid(relation), CLUSTERS_AS_GIVEN))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("only simhash may write to table \"%s\" of clusters",
					RelationGetRelationName(relation)),
			 errdetail("Rows could get the ids of other clusters, and ids could be given twice."),
			 errhint("simhash_trim_clusters removes rows that are not needed, simhash_mend_clusters repairs the table. To restore only data, use pg_restore --disable-triggers.")));
}

/*
 * A table is empty.  If it is the root, empty the table of the clusters as well; if
 * it is a partition there may be rows in others.  If it is the table of the clusters,
 * fail unless the root is empty.
 */
static void
see_empty(const TriggerData *data)
{
	Oid			table = RelationGetRelid(data->tg_relation);
	ClusterTerms *terms;

	if (OidIsValid(simhash_clusters_of_trigger(data->tg_trigger)))
	{
		terms = simhash_clusters_get_terms(data->tg_relation, data->tg_trigger);
		if (terms->root == table)
			simhash_clusters_truncate(terms);
		return;
	}
	terms = simhash_clusters_read(table);
	if (terms == NULL)
		simhash_clusters_complain(table);
	simhash_clusters_check_table(terms);
	if (simhash_clusters_any_row(terms))
		refuse_writing(data);
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
 * and AFTER TRUNCATE, to keep others from writing to it, and AFTER INSERT FOR EACH
 * ROW, to take back stars whose row did not get in.
 *
 * Errors: trigger_protocol_violated; object_not_in_prerequisite_state where the
 * table of the clusters has no deed, or that of another table, or where the
 * fingerprint is generated otherwise than it was, or ids would be given twice, or
 * where somebody writes to the table of the clusters; check_violation where a number
 * is written to the column that never was a cluster;
 * insufficient_privilege where the tables have different owners.
 */
Datum
simhash_cluster(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	HeapTuple	row = NULL;
	bool		update;
	bool		each;

	/* Tables of clusters may be bound to one another by hand. */
	check_stack_depth();
	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_cluster was not called by the trigger manager")));
	update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	each = TRIGGER_FIRED_FOR_ROW(data->tg_event);
	if (each && TRIGGER_FIRED_BEFORE(data->tg_event) &&
		(update || TRIGGER_FIRED_BY_INSERT(data->tg_event)))
		row = join_cluster(simhash_clusters_trigger(fcinfo), data,
						   update ? data->tg_newtuple : data->tg_trigtuple);
	else if (each && TRIGGER_FIRED_AFTER(data->tg_event))
	{
		if (!OidIsValid(simhash_clusters_of_trigger(data->tg_trigger)))
			simhash_clusters_see_start(fcinfo);
		else if (TRIGGER_FOR_DELETE(data->tg_trigger->tgtype))
			forget_document(data);
		else if (simhash_clusters_any_merge())
			simhash_clusters_merge_around(simhash_clusters_trigger(fcinfo), data);
	}
	else if (!each && TRIGGER_FIRED_AFTER(data->tg_event) &&
			 TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
		see_empty(data);
	else if (!each && TRIGGER_FIRED_BEFORE(data->tg_event) &&
			 !OidIsValid(simhash_clusters_of_trigger(data->tg_trigger)))
		refuse_writing(data);
	else
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("simhash_cluster cannot be a trigger for this event"),
				 errhint("CALL simhash_add_clusters(...) makes such triggers.")));
	return PointerGetDatum(row);
}
