/*-------------------------------------------------------------------------
 *
 * guard_current.c
 *		What a cluster is by now, as SQL asks it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/relation.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

PG_FUNCTION_INFO_V1(simhash_current_cluster);

/*
 * A trigger that keeps clusters in a column of a table, in memory of ours: that
 * of the relation goes when somebody else changes anything about the table.  If
 * there is none, NULL, or an error.
 */
Trigger    *
simhash_guard_cluster_trigger(Relation relation, const char *column,
							  bool missing_ok)
{
	for (int i = 0; relation->trigdesc != NULL &&
		 i < relation->trigdesc->numtriggers; i++)
	{
		Trigger    *trigger = &relation->trigdesc->triggers[i];
		const char *name = simhash_guard_option(trigger, "cluster");
		TriggerDesc one = {.triggers = trigger,.numtriggers = 1};

		if (name == NULL || strcmp(name, column) != 0 ||
			simhash_guard_option(trigger, "clusters") == NULL)
			continue;
		trigger = CopyTriggerDesc(&one)->triggers;
		if (simhash_c_function(trigger->tgfoid) == simhash_guard)
			return trigger;
	}
	if (missing_ok)
		return NULL;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s\" keeps no clusters in a column \"%s\"",
					RelationGetRelationName(relation), column),
			 errhint("CALL simhash_add_clusters(...) has it keep them.")));
}

/*
 * simhash_current_cluster(relation regclass, cluster bigint,
 *		"column" name DEFAULT 'cluster') -> bigint
 *
 * What a cluster of a table, kept by simhash_add_clusters(), is now: the id that
 * it was merged into, or its own.
 *
 * Errors: undefined_table; object_not_in_prerequisite_state where no clusters
 * are kept in that column; insufficient_privilege for whoever may not read the column.
 */
Datum
simhash_current_cluster(PG_FUNCTION_ARGS)
{
	Oid			table = PG_GETARG_OID(0);
	int64		id = PG_GETARG_INT64(1);
	char	   *column = NameStr(*PG_GETARG_NAME(2));
	Relation	relation = try_relation_open(table, AccessShareLock);
	Trigger    *trigger;

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", table)));
	trigger = simhash_guard_cluster_trigger(relation, column, false);
	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck(table, get_attnum(table, column), GetUserId(),
							  ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(relation->rd_rel->relkind),
					   RelationGetRelationName(relation));
	if (strcmp(trigger->tgargs[1], "connected") == 0)
	{
		Oid			root = simhash_guard_origin(relation, trigger).table;
		GuardClusters its = {1, 1, &id};

		its = simhash_guard_current(simhash_guard_clusters_table(trigger, root,
																 AccessShareLock),
									&its, GetActiveSnapshot());
		id = its.ids[0];
	}
	relation_close(relation, AccessShareLock);
	PG_RETURN_INT64(id);
}
