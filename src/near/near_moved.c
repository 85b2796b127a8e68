/*-------------------------------------------------------------------------
 *
 * near_moved.c
 *		Rows that an UPDATE moves to another partition.
 *
 * Such an update is a DELETE in the one and an INSERT in the other.  What is to
 * become of the row has been decided by BEFORE UPDATE; when it arrives there
 * must be no second decision, and least of all may it be skipped, as it is gone
 * from where it was.
 *
 * The server does not say that an insertion is the end of an update.  So the
 * last update is kept in mind, with what it made of the row.  It is for that
 * row alone: before the next row of a statement the server resets the memory
 * that a trigger is called in, and then it is forgotten (near_statement.c).
 * That the row has moved by now can be seen from its old version, in a heap.
 * So rows that a statement inserts besides, as MERGE, ON CONFLICT and WITH do,
 * are not mistaken for it.
 *
 * For example, a guard skips, p1 has two rows near each other, from before the
 * guard, and UPDATE p SET day = ... moves both to p2:
 *
 *		BEFORE UPDATE in p1		nothing compared changes: passes, is noted
 *		BEFORE INSERT in p2		is what was noted: passes
 *		BEFORE UPDATE in p1		likewise, of the other row
 *		BEFORE INSERT in p2		likewise, though the first is near
 *
 * All that rests on the call BEFORE UPDATE.  So a guard that skips is refused
 * where an UPDATE could insert a row into a partition without that call.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "replication/logicalworker.h"

/*
 * Does a trigger fire in all partitions or in none, whatever the setting of
 * session_replication_role is?  In each of them it has the same name.
 */
static bool
fires_alike(const NearOrigin *origin, const Trigger *trigger)
{
	ListCell   *lc;

	if (simhash_near_fires_alike == origin->trigger)
		return true;
	foreach(lc, find_all_inheritors(origin->table, AccessShareLock, NULL))
	{
		Relation	table = table_open(lfirst_oid(lc), NoLock);
		bool		alike = true;

		for (int i = 0; table->trigdesc != NULL &&
			 i < table->trigdesc->numtriggers; i++)
		{
			Trigger    *other = &table->trigdesc->triggers[i];

			if (strcmp(other->tgname, trigger->tgname) == 0)
				alike = other->tgenabled == trigger->tgenabled ||
					table->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
		}
		table_close(table, NoLock);
		if (!alike)
			return false;
	}
	simhash_near_fires_alike = origin->trigger;
	return true;
}

/* What lets a row come to a partition without BEFORE UPDATE; NULL if nothing. */
static const char *
way_around_update(const Trigger *trigger, const NearOrigin *origin)
{
	if (get_rel_relispartition(origin->table))
		return "It is not on the partitioned table itself.";
	if (!TRIGGER_FOR_UPDATE(trigger->tgtype))
		return "It does not fire for UPDATE.";
	if (trigger->tgnattr > 0)
		return "It fires only for updates of some columns.";
	if (trigger->tgqual != NULL)
		return "It has a WHEN condition, which another trigger may change.";
	if (!fires_alike(origin, trigger))
		return "It is not enabled in the same way in all partitions.";
	if (IsLogicalWorker())
		return "Logical replication applies such an UPDATE as a DELETE and an INSERT.";
	return NULL;
}

/*
 * Fail if a guard that skips might leave out the insertion by which an update
 * moves a row.
 */
void
simhash_near_check_moves(Relation relation, const Trigger *trigger,
						 const NearOrigin *origin)
{
	const char *way;

	if (!relation->rd_rel->relispartition ||
		!TRIGGER_FOR_INSERT(trigger->tgtype))
		return;
	way = way_around_update(trigger, origin);
	if (way != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" might delete rows that an UPDATE moves to partition \"%s\"",
						trigger->tgname, RelationGetRelationName(relation)),
				 errdetail("It skips near-duplicates. %s", way),
				 errhint("Make the trigger on the partitioned table, BEFORE INSERT OR UPDATE, without columns and conditions, or take another action.")));
}

/*
 * Remember what an update in a partition has made of a row, in case the row
 * moves to another one.
 */
void
simhash_near_note_update(NearTrigger *near, const TriggerData *data)
{
	NearMoved  *moved = &near->statement->moved;
	text	   *document = near->search.document;

	moved->valid = data->tg_relation->rd_rel->relispartition;
	if (!moved->valid)
		return;
	simhash_near_begin_row(near->statement);
	moved->table = RelationGetRelid(data->tg_relation);
	moved->tid = data->tg_trigtuple->t_self;
	moved->compared = near->need != NEAR_NONE_NEAR;
	moved->fingerprint = near->search.center;
	moved->time = near->search.time;
	moved->document = document == NULL ? NULL :
		(text *) DatumGetPointer(datumCopy(PointerGetDatum(document), false,
										   -1));
	moved->group = palloc(near->terms.ngroup * sizeof(Datum));
	for (int i = 0; i < near->terms.ngroup && moved->compared; i++)
	{
		Form_pg_attribute column =
		simhash_near_attribute(data->tg_relation, near->terms.group[i]);

		moved->group[i] = datumCopy(near->search.group[i], column->attbyval,
									column->attlen);
	}
}

/*
 * Has our transaction moved the row that the statement updated last, and that is
 * remembered, to another partition?  Only a heap shows that; in other tables each such
 * row counts as moved.
 */
bool
simhash_near_has_moved(const NearStatement *statement)
{
	const NearMoved *moved = &statement->moved;
	HeapTupleHeaderData header;
	Relation	relation;
	bool		result = true;

	relation = table_open(moved->table, NoLock);
	if (relation->rd_rel->relam == HEAP_TABLE_AM_OID)
		result = simhash_near_read_header(relation,
										  (ItemPointer) &moved->tid,
										  &header) &&
			HeapTupleHeaderIndicatesMovedPartitions(&header) &&
			TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(&header));
	table_close(relation, NoLock);
	return result;
}

/*
 * Does the row at hand have the values, of those that are compared, which the
 * update gave to the row that is remembered?  Another trigger may have changed
 * them since.
 */
bool
simhash_near_is_as_moved(const NearTrigger *near)
{
	const NearMoved *moved = &near->statement->moved;

	if (near->need != NEAR_COMPARE || !moved->compared ||
		moved->time != near->search.time ||
		simhash_near_distance(&moved->fingerprint, &near->search.center) != 0)
		return false;
	for (int i = 0; i < near->terms.ngroup; i++)
	{
		if (!simhash_near_equal(&near->statement->space.group[i].equality,
								near->search.group[i], moved->group[i]))
			return false;
	}
	return simhash_near_same_document(near->search.document, moved->document);
}
