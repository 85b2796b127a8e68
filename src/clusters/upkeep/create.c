/*-------------------------------------------------------------------------
 *
 * create.c
 *		The first step of simhash_add_clusters(): what is asked for is checked, and
 *		the column, the table of the clusters, its deed and the triggers are made.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/upkeep/step.h"

#include "access/sysattr.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

/* The columns that are ours of the table of the clusters. */
static const char *const own_columns[CLUSTER_COLUMNS] = {
	"cluster", "copy_of", "made", "unused_since", "merged_into", "merged_at"
};

/* Fail if clusters cannot be kept for the rows of such a table. */
static void
check_table(ClusterSetup *setup)
{
	Relation	relation = setup->call.relation;
	Oid			schema = setup->schema == NULL ? InvalidOid :
	get_namespace_oid(setup->schema, false);

	simhash_refuse_foreign_tables(setup->call.table, AccessShareLock,
								  "clusters",
								  "Detach what is on other servers.");
	if (relation->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" is a temporary table",
						RelationGetRelationName(relation)),
				 errhint("simhash_clusters computes the clusters of any rows.")));
	if (isAnyTempNamespace(schema))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the table of the clusters cannot be in schema \"%s\" of temporary tables",
						setup->schema),
				 errhint("Clusters last as long as \"%s\": name a schema that does.",
						 RelationGetRelationName(relation))));
	if (!setup->call.parted &&
		find_inheritance_children(setup->call.table, NoLock) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" has children by inheritance",
						RelationGetRelationName(relation)),
				 errdetail("Its triggers do not fire for their rows."),
				 errhint("Clusters are kept across the partitions of a partitioned table.")));
}

/*
 * Fail if rows cannot be clustered by the columns of the fingerprint, the group and
 * the document.  The trigger would fail as well, but only at the first row.
 */
static void
check_columns(const ClusterSetup *setup, const NearTerms *terms)
{
	Relation	relation = setup->call.relation;
	NearColumn *group = palloc(Max(terms->ngroup, 1) * sizeof *group);

	(void) simhash_near_bind_document(relation, terms);
	simhash_near_bind_group(group, relation, terms->ngroup, terms->group);
	for (int i = -1; i < terms->ngroup; i++)
	{
		Form_pg_attribute column =
		simhash_near_attribute(relation, i < 0 ? terms->column : terms->group[i]);

		simhash_near_check_stored(relation, column->attnum);
		if (column->attidentity)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
					 errmsg("column \"%s\" is an identity column",
							NameStr(column->attname)),
					 errhint("It numbers rows: it is no fingerprint, and not equal in any two rows.")));
		if (i >= 0 && !OidIsValid(group[i].hash.fn_oid))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("could not identify a hash function for type %s",
							format_type_be(column->atttypid)),
					 errdetail("Column \"%s\" cannot tell groups of rows apart.",
							   NameStr(column->attname))));
	}
}

/* What the caller asks for, in numbers of columns. */
NearTerms
simhash_upkeep_read_terms(const ClusterSetup *setup)
{
	NearTerms	terms = simhash_near_read_terms(&setup->asked,
												setup->call.relation);

	if (terms.compare.measure == SIMHASH_NO_MEASURE &&
		(setup->asked.options.document != NULL || setup->asked.options.profile != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("arguments \"document\" and \"profile\" are for similarity or at_least, which are not given"),
				 errhint("Give similarity => 'jaccard', too, or leave them out.")));

	if (terms.compare.measure == SIMHASH_CONTAINMENT && !setup->star)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("similarity \"containment\" is for clusters of the kind star"),
				 errdetail("Of two rows the one may contain the other, and not the other way round: which are connected would depend on which came first."),
				 errhint("Give kind => 'star', or similarity => 'jaccard'.")));

	/* Everybody can read the deed, so it must not name the seed of a profile. */
	terms.compare.profile = sh_profile_plain(terms.compare.profile);
	check_columns(setup, &terms);
	return terms;
}

/*
 * Add a column to the table, or take over the one that is there, if it is a plain
 * one which clusters are not found by.
 */
static AttrNumber
add_column(ClusterSetup *setup, const NearTerms *near, const char *name, Oid type)
{
	ClusterCall *call = &setup->call;
	AttrNumber	number = get_attnum(call->table, name);
	bool		fits = number > 0 && number != near->column &&
	!bms_is_member(number - FirstLowInvalidHeapAttributeNumber,
				   simhash_near_document_columns(near));
	Form_pg_attribute column;
	ListCell   *lc;

	if (number == InvalidAttrNumber)
	{
		simhash_upkeep_alter(call, psprintf("ALTER TABLE %s ADD COLUMN %s %s",
											call->name, quote_identifier(name),
											format_type_be_qualified(type)));
		return get_attnum(call->table, name);
	}
	if (!setup->adopt)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" already exists",
						name, RelationGetRelationName(call->relation)),
				 errhint("Give another name: \"column\" => ..., since => ...; or adopt => true, if it is left of earlier clusters.")));
	for (int i = 0; i < near->ngroup; i++)
		fits &= number != near->group[i];
	foreach(lc, find_all_inheritors(call->table, NoLock, NULL))
	{
		Oid			table = lfirst_oid(lc);

		/* Before PostgreSQL 16 a partition may do so alone. */
		fits &= !get_attgenerated(table, get_attnum(table, name));
	}
	column = fits ? simhash_near_attribute(call->relation, number) : NULL;
	if (column == NULL || column->atttypid != type || column->attnotnull ||
		column->atthasdef || column->attidentity)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
				 errmsg("column \"%s\" of relation \"%s\" cannot be taken over",
						name, RelationGetRelationName(call->relation)),
				 errdetail("It must be of type %s, not generated, without default, identity and NOT NULL, and clusters must not be found by it.",
						   format_type_be(type))));
	return number;
}

/*
 * A column of earlier clusters is taken over: drop what is left of these and would be
 * in the way, triggers and the deed.  Their table stays, as its owner may need it.
 */
static void
clear_away(ClusterSetup *setup)
{
	ClusterCall *call = &setup->call;
	ClusterTerms *old = simhash_clusters_find(call->relation, call->column);
	Oid			clusters = old != NULL ? old->clusters :
	get_relname_relid(makeObjectName(RelationGetRelationName(call->relation),
									 psprintf("%ss", call->column), NULL),
					  RelationGetNamespace(call->relation));

	(void) simhash_upkeep_drop_triggers(call, InvalidOid);
	if (old != NULL)
	{
		(void) simhash_upkeep_drop_triggers(call, old->clusters);
		(void) simhash_upkeep_run(call, psprintf("DROP POLICY %s ON %s",
												 quote_identifier(NameStr(old->policy)),
												 simhash_quoted_name(old->clusters)));
	}
	if (OidIsValid(clusters) &&
		get_attnum(clusters, "cluster") != InvalidAttrNumber)
		ereport(NOTICE,
				(errmsg("table \"%s\" of earlier clusters is left as it is",
						get_rel_name(clusters)),
				 errhint("DROP TABLE removes it when it is no longer needed.")));
}

/*
 * Write a column for CREATE TABLE, as the root has it; returns its number there.  That of
 * texts is of no domain, which might not allow NULL for a text that has gone.
 */
static AttrNumber
write_column(const ClusterSetup *setup, StringInfo columns, AttrNumber number,
			 const char *constraint, AttrNumber *last)
{
	Relation	relation = setup->call.relation;
	Form_pg_attribute column = simhash_near_attribute(relation, number);
	const char *name = NameStr(column->attname);
	int32		modifier = column->atttypmod;
	Oid			type = *constraint != '\0' ? column->atttypid :
	getBaseTypeAndTypmod(column->atttypid, &modifier);

	/* The last are those of connected clusters, which copy no columns. */
	for (int i = 0; i < CLUSTER_MERGED_INTO; i++)
	{
		if (strcmp(name, own_columns[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("the table of the clusters has a column \"%s\" of its own",
							name),
					 errhint("Rename that of \"%s\".",
							 RelationGetRelationName(relation))));
	}
	appendStringInfo(columns, ", %s %s%s%s%s", quote_identifier(name),
					 format_type_extended(type, modifier,
										  FORMAT_TYPE_TYPEMOD_GIVEN |
										  FORMAT_TYPE_FORCE_QUALIFY),
					 OidIsValid(column->attcollation) ? " COLLATE " : "",
					 OidIsValid(column->attcollation) ?
					 generate_collation_name(column->attcollation) : "",
					 constraint);
	return ++(*last);
}

/*
 * Make a table for its owner alone, with a name of two parts that is free in the
 * schema, for its row type as well; the definition follows the name.
 */
Oid
simhash_upkeep_create_table(const ClusterCall *call, Oid schema, const char *first, const char *second,
							bool unlogged, const char *definition)
{
	char	   *name = makeObjectName(first, second, NULL);
	Oid			table;

	for (int i = 1; OidIsValid(get_relname_relid(name, schema)) ||
		 SearchSysCacheExists2(TYPENAMENSP, CStringGetDatum(name), ObjectIdGetDatum(schema)); i++)
		name = makeObjectName(first, second, psprintf("%d", i));
	(void) simhash_upkeep_run(call, psprintf("CREATE %sTABLE %s %s",
											 unlogged ? "UNLOGGED " : "",
											 quote_qualified_identifier(get_namespace_name(schema), name),
											 definition));
	table = get_relname_relid(name, schema);
	simhash_revoke_all(table);
	return table;
}

/* Make the table of the clusters, and know its columns. */
static void
create_clusters(const ClusterSetup *setup, ClusterTerms *terms)
{
	const NearTerms *near = &terms->terms;
	Relation	root = setup->call.relation;
	Oid			schema = setup->schema == NULL ?
	RelationGetNamespace(root) : get_namespace_oid(setup->schema, false);
	AttrNumber	last = 2;
	StringInfoData columns;

	initStringInfo(&columns);
	appendStringInfo(&columns, "(cluster pg_catalog.int8 PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY, %s",
					 terms->star ? "made pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()" :
					 "merged_into pg_catalog.int8 NOT NULL, merged_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.now()");
	terms->group = palloc0(Max(near->ngroup, 1) * sizeof(AttrNumber));
	if (terms->star)
	{
		terms->fingerprint = write_column(setup, &columns, near->column, " NOT NULL", &last);
		for (int i = 0; i < near->ngroup; i++)
			terms->group[i] = write_column(setup, &columns, near->group[i], " NOT NULL", &last);
		if (near->document != 0)
			terms->document = write_column(setup, &columns, near->document, "", &last);
		else if (near->expression != NULL)
		{
			appendStringInfo(&columns, ", document %s",
							 format_type_be_qualified(exprType(near->expression)));
			terms->document = ++last;
		}
	}
	appendStringInfoString(&columns, ", copy_of pg_catalog.int8, unused_since pg_catalog.timestamptz)");
	terms->clusters =
		simhash_upkeep_create_table(&setup->call, schema, RelationGetRelationName(root),
									psprintf("%ss", setup->call.column),
									root->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED,
									columns.data);
	for (int i = 0; i < CLUSTER_COLUMNS; i++)
	{
		if (terms->star ? i < CLUSTER_MERGED_INTO : i != CLUSTER_MADE)
			terms->columns[i] = get_attnum(terms->clusters, own_columns[i]);
	}
	if (terms->star)
		(void) simhash_upkeep_do(&setup->call, "CREATE INDEX ON {clusters} (copy_of) WHERE copy_of IS NOT NULL");
	simhash_revoke_all(simhash_clusters_sequence(terms));
}

/* Do step 1 of the set-up. */
void
simhash_upkeep_create(ClusterSetup *setup)
{
	ClusterCall *call = &setup->call;
	ClusterTerms terms = {.star = setup->star,.root = call->table,.later = true,.policy = {"simhash_clusters"}};
	ObjectAddress root = {RelationRelationId, call->table, 0};
	ObjectAddress dependent;

	simhash_upkeep_begin_table(call, AccessExclusiveLock);
	check_table(setup);
	call->terms = &terms;
	terms.terms = simhash_upkeep_read_terms(setup);
	if (setup->adopt)
		clear_away(setup);
	terms.cluster = add_column(setup, &terms.terms, call->column, INT8OID);
	if (setup->since != NULL)
		terms.since = add_column(setup, &terms.terms, setup->since,
								 TIMESTAMPTZOID);
	create_clusters(setup, &terms);
	simhash_upkeep_write_deed(call, true);
	(void) simhash_upkeep_make_triggers(call);

	/* Without the root there are no clusters. */
	ObjectAddressSet(dependent, RelationRelationId, terms.clusters);
	recordDependencyOn(&dependent, &root, DEPENDENCY_AUTO);
	if (!terms.star)
		simhash_upkeep_depend(call);
	simhash_upkeep_end_step(call);
}
