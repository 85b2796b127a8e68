/*-------------------------------------------------------------------------
 *
 * bind.c
 *		What binds the table of the clusters to the table whose rows are in them:
 *		the deed (terms.c), triggers, and dependencies.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/bind.h"

#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_trigger.h"
#include "commands/defrem.h"
#include "commands/trigger.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "clusters/cluster.h"
#include "clusters/table.h"
#include "clusters/template.h"
#include "relation.h"

/* Kinds of clusters that have a trigger, as sets. */
#define STAR		1
#define CONNECTED	2
#define VERIFIED	4

/* The triggers; the first is the one that gives rows their clusters. */
static const struct
{
	const char *suffix;
	const char *event;
	int16		type;
	int			kinds;
}			triggers[] = {

	{
		NULL, "BEFORE INSERT OR UPDATE ON %s FOR EACH ROW",
		TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT |
		TRIGGER_TYPE_UPDATE, STAR | CONNECTED
	},
	{
		"merge", "AFTER INSERT OR UPDATE ON %s FOR EACH ROW",
		TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE, CONNECTED
	},
	{
		"text", "AFTER UPDATE OR DELETE ON %s FOR EACH ROW",
		TRIGGER_TYPE_ROW | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE, VERIFIED
	},
	{
		"truncate", "AFTER TRUNCATE ON %s FOR EACH STATEMENT",
		TRIGGER_TYPE_TRUNCATE, STAR | CONNECTED
	}
};

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

/*
 * Have triggers depend on a table or column besides, which is not dropped without
 * CASCADE from then on: the one that gives rows their clusters, or all.  A dump has
 * no such dependencies.
 */
static void
depend(const ClusterCall *call, const ClusterTerms *terms, bool all,
	   Oid relation, AttrNumber column)
{
	const TriggerDesc *its = call->relation->trigdesc;
	ObjectAddress other = {RelationRelationId, relation, column};

	for (int i = 0; i < its->numtriggers; i++)
	{
		const Trigger *trigger = &its->triggers[i];
		ObjectAddress address = {TriggerRelationId, trigger->tgoid, 0};

		if ((all || TRIGGER_FOR_BEFORE(trigger->tgtype)) &&
			simhash_clusters_of_trigger(trigger) == terms->clusters)
			recordDependencyOn(&address, &other, DEPENDENCY_NORMAL);
	}
}

/* Is a trigger there, or not needed for the kind? */
static bool
has_trigger(Relation relation, const ClusterTerms *terms, int i)
{
	const TriggerDesc *all = relation->trigdesc;
	int			kinds = !terms->star ? CONNECTED :
	terms->document == 0 ? STAR : STAR | VERIFIED;

	if ((triggers[i].kinds & kinds) == 0)
		return true;
	for (int j = 0; all != NULL && j < all->numtriggers; j++)
	{
		if (all->triggers[j].tgtype == triggers[i].type &&
			simhash_clusters_of_trigger(&all->triggers[j]) == terms->clusters)
			return true;
	}
	return false;
}

/* Are all triggers there? */
bool
simhash_clusters_has_triggers(Relation relation, const ClusterTerms *terms)
{
	bool		all = true;

	for (size_t i = 0; i < lengthof(triggers); i++)
		all &= has_trigger(relation, terms, i);
	return all;
}

/*
 * Make the triggers that are not there; true if the one is among them that gives
 * rows their clusters, which must depend on indexes besides.
 */
bool
simhash_clusters_make_triggers(ClusterCall *call, const ClusterTerms *terms)
{
	char	   *name = makeObjectName("simhash", call->column, NULL);
	bool		first = !has_trigger(call->relation, terms, 0);

	for (size_t i = 0; i < lengthof(triggers); i++)
	{
		StringInfoData command;

		if (has_trigger(call->relation, terms, i))
			continue;
		initStringInfo(&command);
		appendStringInfo(&command, "CREATE TRIGGER %s ",
						 quote_identifier(free_trigger(call->table, name,
													   triggers[i].suffix)));
		appendStringInfo(&command, triggers[i].event, call->name);
		appendStringInfo(&command, " WHEN ('%u'::pg_catalog.regclass IS NOT NULL)"
						 " EXECUTE FUNCTION %s.simhash_cluster()",
						 terms->clusters, simhash_cluster_schema(call));
		simhash_cluster_alter(call, command.data);
	}
	if (first)
		depend(call, terms, true, call->table, terms->cluster);
	return first;
}

/* The triggers of the table of the clusters itself. */
static const struct
{
	const char *command;		/* with its columns, if it takes them */
	int16		type;
}			guards[] = {

	{
		"CREATE TRIGGER simhash_clusters BEFORE INSERT OR DELETE OR UPDATE OF &A"
		" ON &N EXECUTE FUNCTION &S.simhash_cluster()",
		TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_DELETE | TRIGGER_TYPE_UPDATE
	},
	{
		"CREATE TRIGGER simhash_clusters_truncate AFTER TRUNCATE"
		" ON &N EXECUTE FUNCTION &S.simhash_cluster()",
		TRIGGER_TYPE_TRUNCATE
	}
};

/* Is such a trigger there? */
static bool
has_guard(const ClusterTerms *terms, int i)
{
	Relation	clusters = table_open(terms->clusters, AccessShareLock);
	const TriggerDesc *its = clusters->trigdesc;
	bool		found = false;

	for (int j = 0; its != NULL && j < its->numtriggers; j++)
		found |= its->triggers[j].tgtype == guards[i].type &&
			simhash_c_function(its->triggers[j].tgfoid) == simhash_cluster;
	table_close(clusters, AccessShareLock);
	return found;
}

/* Are others kept from writing to the table of the clusters? */
bool
simhash_clusters_is_protected(const ClusterTerms *terms)
{
	return has_guard(terms, 0) && has_guard(terms, 1);
}

/* Keep them from it. */
void
simhash_clusters_protect(const ClusterCall *call, const ClusterTerms *terms)
{
	for (size_t i = 0; i < lengthof(guards); i++)
	{
		if (!has_guard(terms, i))
			(void) simhash_cluster_do(call, terms, guards[i].command);
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
		depend(call, terms, false, index, 0);
}

/* What is searched for the clusters of a row. */
GuardSpace
simhash_clusters_space(const ClusterCall *call, const ClusterTerms *terms)
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
void
simhash_clusters_depend(const ClusterCall *call, const ClusterTerms *terms)
{
	GuardSpace	space = simhash_clusters_space(call, terms);
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
void
simhash_clusters_write_deed(const ClusterCall *call, const ClusterTerms *terms, bool anew)
{
	(void) simhash_cluster_run(psprintf("%s POLICY %s ON %s%s USING (%s)",
										anew ? "CREATE" : "ALTER",
										quote_identifier(NameStr(terms->policy)),
										simhash_quoted_name(terms->clusters),
										anew ? " AS RESTRICTIVE" : "",
										simhash_clusters_write(terms, call->function)));
}

/* Make the index by which rows find representatives. */
void
simhash_clusters_make_index(const ClusterCall *call, const ClusterTerms *terms)
{
	GuardSpace	space = simhash_clusters_space(call, terms);

	(void) simhash_cluster_run(psprintf("CREATE INDEX ON %s USING hamming (%s)",
										simhash_quoted_name(terms->clusters),
										simhash_guard_index_columns(&space)));
}
