/*-------------------------------------------------------------------------
 *
 * guard_clusters.c
 *		The table of the clusters that a trigger names by its option "clusters".
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

/* Complain of a table that is none of clusters. */
void
simhash_guard_complain_of_table(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("\"%s\" is not a table of clusters", name),
			 errhint("CALL simhash_drop_clusters(...) and simhash_add_clusters(...) make it anew.")));
}

/*
 * The table that the option "clusters" of a trigger names, for as long as the
 * transaction; fails if it is not there, or somebody else's.  The root is the
 * table that the trigger was made for.
 */
Oid
simhash_guard_clusters_table(const Trigger *trigger, Oid root,
							 LOCKMODE lockmode)
{
	const char *name = simhash_guard_option(trigger, "clusters");
	List	   *names;
	Oid			schema = InvalidOid;
	Oid			table = InvalidOid;
	Relation	relation = NULL;
	Relation	owner;

	if (name == NULL)
		ereport(ERROR,
				(errmsg("trigger \"%s\" names no table of clusters",
						trigger->tgname),
				 simhash_guard_argument_error()));
	names = textToQualifiedNameList(cstring_to_text(name));
	if (list_length(names) == 2)
		schema = get_namespace_oid(strVal(linitial(names)), true);
	if (OidIsValid(schema))
		table = get_relname_relid(strVal(lsecond(names)), schema);
	if (OidIsValid(table))
		relation = try_relation_open(table, lockmode);
	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table %s of the clusters of \"%s\" does not exist",
						name, get_rel_name(root)),
				 errdetail("Trigger \"%s\" names it so.", trigger->tgname),
				 errhint("If it was renamed, make the trigger anew with its name; otherwise CALL simhash_drop_clusters(...).")));
	if (relation->rd_rel->relkind != RELKIND_RELATION)
		simhash_guard_complain_of_table(name);
	owner = relation_open(root, AccessShareLock);
	if (relation->rd_rel->relowner != owner->rd_rel->relowner)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("tables %s and \"%s\" have different owners",
						name, RelationGetRelationName(owner)),
				 errhint("ALTER TABLE ... OWNER TO gives both to the same role.")));

	/* A crash empties it, and ids would be given once more. */
	if (relation->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED &&
		owner->rd_rel->relpersistence != RELPERSISTENCE_UNLOGGED)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table %s is unlogged, but \"%s\" is not",
						name, RelationGetRelationName(owner)),
				 errhint("ALTER TABLE %s SET LOGGED.", name)));
	relation_close(owner, NoLock);
	relation_close(relation, NoLock);
	return table;
}

/* Find the table of the clusters; returns the root of what is searched. */
Oid
simhash_guard_bind_clusters(Guard *guard, Oid root, const Trigger *trigger)
{
	AttrNumber	column;

	guard->clusters = simhash_guard_clusters_table(trigger, root,
												   RowExclusiveLock);
	column = get_attnum(guard->clusters, "cluster");
	if (column > 0 && get_atttype(guard->clusters, column) == INT8OID)
		guard->sequence = simhash_identity_sequence(guard->clusters, column);
	if (!OidIsValid(guard->sequence))
		simhash_guard_complain_of_table(get_rel_name(guard->clusters));
	return guard->action == GUARD_STAR ? guard->clusters : root;
}

/* Fail unless a column that is written to has the type of what is written. */
static void
check_type(const Guard *guard, Relation relation, AttrNumber column,
		   const char *option, Oid type)
{
	if (column != 0 &&
		simhash_guard_attribute(relation, column)->atttypid != type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("trigger \"%s\": option \"%s\" needs a column of type %s",
						guard->name, option, format_type_be(type))));
}

/* Fail unless a column is the same in the table of the clusters. */
static void
check_same(Relation relation, AttrNumber column, Relation clusters)
{
	Form_pg_attribute ours = simhash_guard_attribute(relation, column);
	Form_pg_attribute theirs =
	simhash_guard_attribute(clusters,
							simhash_guard_column(clusters,
												 NameStr(ours->attname)));

	if (ours->atttypid != theirs->atttypid ||
		ours->atttypmod != theirs->atttypmod ||
		ours->attcollation != theirs->attcollation)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" has not the type and collation that it has in \"%s\"",
						NameStr(theirs->attname),
						RelationGetRelationName(clusters),
						RelationGetRelationName(relation))));
}

/*
 * Fail if the fingerprint is generated by another expression than that by which
 * the clusters were made, as it is after ALTER COLUMN ... SET EXPRESSION: what
 * represents them has fingerprints that are no more.  The condition of the
 * trigger tells (see write_condition() in cluster_setup.c); one that was made
 * without it tells nothing.
 */
static void
check_expression(const Guard *guard, Relation relation,
				 const Trigger *trigger)
{
	Node	   *expression = simhash_guard_expression(relation,
													  guard->fingerprint.column);
	Node	   *condition = trigger->tgqual == NULL ? NULL :
	stringToNode(trigger->tgqual);
	NullTest   *test;

	if (expression == NULL || condition == NULL ||
		!IsA(condition, CoalesceExpr) ||
		list_length(((CoalesceExpr *) condition)->args) != 2 ||
		!IsA(lsecond(((CoalesceExpr *) condition)->args), NullTest))
		return;
	test = lsecond(((CoalesceExpr *) condition)->args);
	ChangeVarNodes((Node *) test, PRS2_NEW_VARNO, 1, 0);
	if (!equal(test->arg, expression))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of relation \"%s\" is not generated as it was when the clusters were made",
						get_attname(guard->table, guard->fingerprint.column,
									false),
						RelationGetRelationName(relation)),
				 errhint("CALL simhash_drop_clusters(...), and simhash_add_clusters(...) again.")));
}

/* Check the types of columns, and how the fingerprint is generated. */
void
simhash_guard_check_clusters(const Guard *guard, Relation relation,
							 const Trigger *trigger)
{
	Relation	clusters;

	if (TRIGGER_FOR_BEFORE(trigger->tgtype))
		check_expression(guard, relation, trigger);
	check_type(guard, relation, guard->cluster, "cluster", INT8OID);
	check_type(guard, relation, guard->since, "since", TIMESTAMPTZOID);
	if (guard->action != GUARD_STAR)
		return;
	clusters = table_open(guard->clusters, NoLock);
	if (simhash_guard_attribute(clusters, simhash_guard_column(clusters, "made"))->atttypid != TIMESTAMPTZOID)
		simhash_guard_complain_of_table(RelationGetRelationName(clusters));
	check_same(relation, guard->fingerprint.column, clusters);
	for (int i = 0; i < guard->statement->ngroup; i++)
		check_same(relation, guard->group[i].column, clusters);
	if (guard->compared != 0)
		check_same(relation, guard->compared, clusters);
	table_close(clusters, NoLock);
}
