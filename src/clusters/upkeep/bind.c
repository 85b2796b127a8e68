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
#include "clusters/upkeep/step.h"

#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_trigger.h"
#include "commands/defrem.h"

#define BOTH		(CLUSTER_STAR | CLUSTER_CONNECTED)
#define VERIFIED	4			/* star, and documents are compared */

/*
 * The triggers, on the root or on the table of the clusters; the first is the one
 * that gives rows their clusters.  Their names begin with "simhash" and the name of
 * the column, or are simhash_clusters, and end with the suffix.
 */
static const struct
{
	bool		theirs;			/* of the table of the clusters */
	const char *suffix;
	const char *event;			/* a template; "%u" is the table of the
								 * clusters */
	int16		type;
	int			kinds;			/* of clusters that have it, as a set */
}			triggers[] = {
#define BOUND	" WHEN ('%u'::pg_catalog.regclass IS NOT NULL)"

	{
		false, NULL, "BEFORE INSERT OR UPDATE ON {root} FOR EACH ROW" BOUND,
		TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT |
		TRIGGER_TYPE_UPDATE, BOTH
	},
	{
		false, "merge", "AFTER INSERT OR UPDATE ON {root} FOR EACH ROW" BOUND,
		TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE, CLUSTER_CONNECTED
	},
	{
		false, "text", "AFTER UPDATE OR DELETE ON {root} FOR EACH ROW" BOUND,
		TRIGGER_TYPE_ROW | TRIGGER_TYPE_UPDATE | TRIGGER_TYPE_DELETE, VERIFIED
	},
	{
		false, "truncate", "AFTER TRUNCATE ON {root} FOR EACH STATEMENT" BOUND,
		TRIGGER_TYPE_TRUNCATE, BOTH
	},
	{
		true, NULL, "BEFORE INSERT OR DELETE OR UPDATE OF {columns} ON {clusters}",
		TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_INSERT | TRIGGER_TYPE_DELETE |
		TRIGGER_TYPE_UPDATE, BOTH
	},
	{
		true, "start", "AFTER INSERT ON {clusters} FOR EACH ROW",
		TRIGGER_TYPE_ROW | TRIGGER_TYPE_INSERT, CLUSTER_STAR
	},
	{
		true, "truncate", "AFTER TRUNCATE ON {clusters}",
		TRIGGER_TYPE_TRUNCATE, BOTH
	}
};

/*
 * A name that no trigger of the root has: those of two columns may be the same as
 * far as there is room for them.
 */
static char *
free_trigger_name(Oid table, const char *first, const char *second)
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
depend_on(const ClusterCall *call, bool all, Oid relation, AttrNumber column)
{
	const TriggerDesc *all_triggers = CopyTriggerDesc(call->relation->trigdesc);
	ObjectAddress other = {RelationRelationId, relation, column};

	for (int i = 0; all_triggers != NULL && i < all_triggers->numtriggers; i++)
	{
		const Trigger *trigger = &all_triggers->triggers[i];
		ObjectAddress address = {TriggerRelationId, trigger->tgoid, 0};

		if ((all || TRIGGER_FOR_BEFORE(trigger->tgtype)) &&
			simhash_clusters_of_trigger(trigger) == call->terms->clusters)
			recordDependencyOn(&address, &other, DEPENDENCY_NORMAL);
	}
}

/* Is a trigger there, or not needed for the kind? */
static bool
has_trigger(const ClusterCall *call, int i)
{
	const ClusterTerms *terms = call->terms;
	bool		theirs = triggers[i].theirs;
	Relation	relation = table_open(theirs ? terms->clusters : call->table,
									  AccessShareLock);
	const TriggerDesc *all = CopyTriggerDesc(relation->trigdesc);
	int			kinds = !terms->star ? CLUSTER_CONNECTED :
	terms->document == 0 ? CLUSTER_STAR : CLUSTER_STAR | VERIFIED;
	bool		found = (triggers[i].kinds & kinds) == 0;

	for (int j = 0; all != NULL && j < all->numtriggers; j++)
	{
		const Trigger *other = &all->triggers[j];

		found |= other->tgtype == triggers[i].type &&
			(theirs ? simhash_c_function(other->tgfoid) == simhash_cluster :
			 simhash_clusters_of_trigger(other) == terms->clusters);
	}
	relation_close(relation, AccessShareLock);
	return found;
}

/* Are all triggers there of the root, and of the table of the clusters, if so asked? */
bool
simhash_upkeep_has_triggers(const ClusterCall *call, bool theirs)
{
	bool		all = true;

	for (size_t i = 0; i < lengthof(triggers); i++)
		all &= triggers[i].theirs > theirs || has_trigger(call, i);
	return all;
}

/*
 * Make the triggers that are not there; true if the one is among them that gives
 * rows their clusters, which must depend on indexes besides.
 */
bool
simhash_upkeep_make_triggers(ClusterCall *call)
{
	char	   *name = makeObjectName("simhash", call->column, NULL);
	bool		first = !has_trigger(call, 0);

	for (size_t i = 0; i < lengthof(triggers); i++)
	{
		const char *named;
		const char *event;

		if (has_trigger(call, i))
			continue;
		named = triggers[i].theirs ?
			makeObjectName("simhash_clusters", triggers[i].suffix, NULL) :
			free_trigger_name(call->table, name, triggers[i].suffix);
		event = simhash_upkeep_sql(call, triggers[i].event, call->terms->clusters);
		simhash_upkeep_alter(call, simhash_upkeep_sql(call, "CREATE TRIGGER %s %s EXECUTE FUNCTION {schema}.simhash_cluster()",
													  quote_identifier(named), event));
	}
	if (first)
		depend_on(call, true, call->table, call->terms->cluster);
	return first;
}

/* Have the trigger depend on an index of a table that it searches. */
static void
depend_on_index(const ClusterCall *call, Oid index)
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
		depend_on(call, false, index, 0);
}

/*
 * Have the trigger depend on the indexes that are searched; fails unless there
 * are any.  To look for them takes a snapshot.
 */
void
simhash_upkeep_depend(const ClusterCall *call)
{
	const ClusterTerms *terms = call->terms;
	NearSpace	space = {0};
	NearPlace	place = {.table = terms->star ? terms->clusters : terms->root,.moves = true};

	simhash_clusters_bind_space(&space, terms, terms->star);
	PushActiveSnapshot(GetTransactionSnapshot());
	simhash_near_find(&space, &place);
	PopActiveSnapshot();
	for (int i = 0; i < place.scope->ntables; i++)
	{
		const NearTable *table = &place.scope->tables[i];

		depend_on_index(call, table->hamming.index);
		for (int j = 0; j < SH_BLOCKS && !OidIsValid(table->hamming.index); j++)
			depend_on_index(call, table->keys[j].index);
	}
}

/* Write the deed, or what has become of it. */
void
simhash_upkeep_write_deed(const ClusterCall *call, bool anew)
{
	(void) simhash_upkeep_do(call, "%s POLICY %s ON {clusters}%s USING (%s)",
							 anew ? "CREATE" : "ALTER",
							 quote_identifier(NameStr(call->terms->policy)),
							 anew ? " AS RESTRICTIVE" : "",
							 simhash_clusters_write(call->terms, call->function));
}

/* Make the index by which rows find representatives. */
void
simhash_upkeep_make_index(const ClusterCall *call)
{
	NearSpace	space = {0};

	simhash_clusters_bind_space(&space, call->terms, true);
	(void) simhash_upkeep_do(call, "CREATE INDEX ON {clusters} USING hamming (%s)",
							 simhash_near_index_columns(&space));
}
